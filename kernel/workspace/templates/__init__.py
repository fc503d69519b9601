"""[core] Text templates as notes use them: Go's template language with the usual helper functions."""

"""[core] Documents, notebooks and the data folder as files of an archive."""

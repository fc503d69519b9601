"""[core] What can go wrong with a template."""

from __future__ import annotations


class TemplateFailed(ValueError):
    """A template that cannot be read or executed; the message is worded as Go's own."""

"""How many files (sockets among them) this process may have open. A leaf."""

from __future__ import annotations

import contextlib


def raise_file_limit(wanted: int) -> None:
    """Let the process have ``wanted`` open files, or as many as the system allows it. Never fails; never lowers."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

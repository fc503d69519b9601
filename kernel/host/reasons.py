"""Why a connection failed, in words for whoever asked for it."""

from __future__ import annotations


def reason_of(error: BaseException) -> str:
    """The kind of an error and the first words that it or one of its causes has; of several causes the first counts."""
    name = type(error).__name__
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
            continue
        words = str(getattr(found, "strerror", None) or found).strip()
        if words:
            return f"{name} {words}"
        found = found.__cause__ or found.__context__
    return name

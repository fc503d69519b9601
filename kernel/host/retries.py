"""What a call allows a host that sends reads again by itself: how often, and that each try counts (R79, R266)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class RetryTerms:
    """``retries_max``: further tries (kernelOptions.readRetries). ``before_try``: counts one more, or raises."""

    retries_max: int
    before_try: Callable[[], None]


# Nobody's call: the host's own rule.
retry_terms: Final[ContextVar[RetryTerms | None]] = ContextVar("retry_terms", default=None)

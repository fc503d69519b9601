"""Bounds of kept task results (R234-R237), with their units."""

from __future__ import annotations

from typing import Final

from kernel.limits import MIB

# A finished call's result is kept this long, counted from its end; at the last second it is gone.
RESULT_TTL_S: Final = 10 * 60
RESULTS_MAX: Final = 128
RESULTS_BYTES_MAX: Final = 8 * MIB
# One result, as JSON. A larger one keeps its end only.
RESULT_BYTES_MAX: Final = MIB

"""The bounds of fault plans, with their units."""

from __future__ import annotations

from typing import Final

# One delay.
DELAY_S_MAX: Final = 3600.0
# Rules in force at once.
RULES_MAX: Final = 1000
# One plan file.
PLAN_BYTES_MAX: Final = 1024 * 1024
# One jump of the clock: a year.
JUMP_S_MAX: Final = 366 * 24 * 3600.0
# Notifications of one storm, per stream.
STORM_MAX: Final = 1000
# Longest wait of one request for a rule to strike.
WAIT_S_MAX: Final = 60.0

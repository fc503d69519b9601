"""[core] Every bound of the scheduler, with its unit. Holds no behaviour."""

from __future__ import annotations

from typing import Final

READ_SLOTS: Final = 4
"""Runs of the read lane at one time (requirements O, R201)."""

MUTATION_SLOTS: Final = 1
"""Runs of the mutation lane at one time (R202); more than one gives up the order of writes."""

ADMITTED_REQUESTS_MAX: Final = 128
"""Tickets in flight: preparing + queued + holding a slot (R207). Overflow: ``QueueFull``, nothing executed."""

RETRY_AFTER_MS: Final = 1_000
"""What ``QueueFull`` advises, in milliseconds. A constant: the scheduler does not know how long works take."""

RUNS_PER_STEP_MAX: Final = 4
"""Works that one slot may run back to back without giving the event loop a turn in between."""

assert MUTATION_SLOTS + READ_SLOTS <= ADMITTED_REQUESTS_MAX

POINTS_MAX: Final = 10_000
"""Where a cancel sweep gives up: a scenario with more scheduling points than this does not end."""

SCHEDULES_MAX: Final = 50_000
"""Where the enumeration of schedules gives up: the scenario is too large to be exhausted."""

SCENARIO_S_MAX: Final = 3_600
"""Virtual seconds a scenario may take: a lost wake-up becomes an immediate ``trio.TooSlowError``."""

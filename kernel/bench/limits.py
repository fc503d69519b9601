"""The bench's bounds, with their units."""

from __future__ import annotations

from typing import Final

# --- load --------------------------------------------------------------------------------------------------------
CONNECTIONS_MAX: Final = 10_000
WORKERS_MAX: Final = 64
ROUNDS_MAX: Final = 100
ROUND_S_MAX: Final = 3_600.0
RATE_PER_S_MAX: Final = 1_000_000.0
# What an open loop still waits for after its last intended request; what is then open counts with its age.
GRACE_S: Final = 2.0
# Intended requests that wait for a free connection; past it the load is more than this generator can hold.
BACKLOG_MAX: Final = 1_000_000
# One window of the curves over time.
WINDOW_S: Final = 0.1
WINDOWS_MAX: Final = 600

# --- answers -----------------------------------------------------------------------------------------------------
HEAD_BYTES_MAX: Final = 64 * 1024
BODY_BYTES_MAX: Final = 256 * 1024 * 1024
RECEIVE_BYTES: Final = 256 * 1024

# --- processes ---------------------------------------------------------------------------------------------------
READY_S_MAX: Final = 60.0
END_S_MAX: Final = 20.0
# How often the lanes are looked at (GET …/health), in seconds.
SAMPLE_S: Final = 0.05
SAMPLE_TIMEOUT_S: Final = 2.0

# --- histogram ---------------------------------------------------------------------------------------------------
# Microseconds: an hour.
VALUE_US_MAX: Final = 3_600_000_000
# Two values in one bucket differ by less than one part in this many.
BUCKETS_PER_OCTAVE: Final = 128

# --- reports -----------------------------------------------------------------------------------------------------
REPORT_BYTES_MAX: Final = 256 * 1024 * 1024
# A change smaller than this is none, however quiet the rounds were.
CHANGE_MIN: Final = 0.02
# A peer may have to be installed first.
PEER_READY_S_MAX: Final = 600.0

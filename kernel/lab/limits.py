"""The laboratory's bounds, with their units."""

from __future__ import annotations

from typing import Final

# A kernel's start, and its orderly end.
READY_S_MAX: Final = 60.0
END_S_MAX: Final = 20.0
# One client under one plan; past it the client is killed with its children and the verdict is "hung".
CLIENT_S: Final = 60.0
CLIENT_S_MAX: Final = 3600.0
# What a client may print; past it it is killed and the verdict is "flooded".
CLIENT_OUTPUT_BYTES_MAX: Final = 4 * 1024 * 1024
# The tail of its output that a report shows.
OUTPUT_SHOWN_BYTES: Final = 4 * 1024
# One recorded exchange's body in a report or a recording's judgement; the recording itself keeps all of it.
BODY_JUDGED_BYTES_MAX: Final = 8 * 1024 * 1024
# All bytes of one recording.
RECORDING_BYTES_MAX: Final = 256 * 1024 * 1024
# Lives of one kernel in one run: a plan that kills every one of them must not loop.
LIVES_MAX: Final = 8
# One control request.
CONTROL_S_MAX: Final = 90.0

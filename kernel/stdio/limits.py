"""Bounds of the stdio server, with their units."""

from __future__ import annotations

from typing import Final

from kernel.limits import MIB

# One line on standard input: what one POST to the endpoint may hold.
MESSAGE_BYTES_MAX: Final = 36 * MIB
READ_BYTES: Final = 64 * 1024
# Requests that are not answered yet. The coordinator admits 128 tool calls; beyond this the answer is "busy".
IN_FLIGHT_MAX: Final = 256
# Messages that wait for the client to read. Beyond it notifications are dropped; answers wait.
OUTGOING_MAX: Final = 256
# The stream of list changes is opened again so long after it broke.
LISTEN_AGAIN_S: Final = 5.0
# So often it is looked whether anybody still reads the answers, while there is nothing to write.
OUTPUT_WATCH_S: Final = 1.0
# After a signal the cancelled calls have so long to be answered.
FAREWELL_S_MAX: Final = 5.0

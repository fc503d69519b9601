"""Every bound of the HTTP server, with its unit. What is past a bound is answered, then closed; never buffered.

Bodies have their bound on the route (``kernel.wire.Route.body_bytes_max``, decision 33).
"""

from __future__ import annotations

from typing import Final

# --- heads -----------------------------------------------------------------------------------------------------
# Request line and headers together; also one chunk line with its extensions, and a trailer block. Past it: 431.
HEAD_BYTES_MAX: Final = 32 * 1024
# From the first byte of a head to its end: 408.
HEAD_S_MAX: Final = 10.0
# Between two requests of a connection: closed without an answer.
IDLE_S_MAX: Final = 75.0
# Memoised heads: entries times bytes bounds what the cache holds (2 MiB).
HEAD_CACHE_ENTRIES_MAX: Final = 512
HEAD_CACHE_HEAD_BYTES_MAX: Final = 4 * 1024

# --- bodies ----------------------------------------------------------------------------------------------------
# All bodies being held at once, over all connections (decision 33). Past it: 503 with Retry-After.
BODIES_BYTES_MAX: Final = 256 * 1024 * 1024
# A body may take this long, and a second more for each BODY_BYTES_PER_S_MIN that did arrive: 408.
BODY_GRACE_S_MAX: Final = 30.0
BODY_BYTES_PER_S_MIN: Final = 64 * 1024
# What is still read of a refused body, so that the client gets to see the answer before the close.
LINGER_BYTES_MAX: Final = 1024 * 1024
LINGER_S_MAX: Final = 1.0
# An unread body up to this size is skipped rather than answered with a close.
SKIPPED_BODY_BYTES_MAX: Final = 256 * 1024

# --- connections -----------------------------------------------------------------------------------------------
# A client that takes no byte of its answer for this long is aborted.
SEND_STALL_S_MAX: Final = 30.0
# All answers that slow readers have not taken to their end, over all connections. Past it the one that has been at it
# the longest is aborted.
ANSWERS_OWED_BYTES_MAX: Final = 256 * 1024 * 1024
# A longer body is sent behind its head, not joined with it: no second copy of it waits for the reader.
JOINED_BODY_BYTES_MAX: Final = 64 * 1024
RECEIVE_BYTES_MAX: Final = 64 * 1024
# Pipelined requests answered in a row before other tasks get a turn.
PIPELINED_PER_TURN_MAX: Final = 16
# While the lanes are full: requests let in per turn of the event loop, the others wait in order of arrival.
ENTRIES_PER_TURN_MAX: Final = 4
# How often deadlines are compared with the clock: their precision.
SWEEP_PERIOD_S: Final = 1.0
RETRY_AFTER_S: Final = 1

# --- WebSocket -------------------------------------------------------------------------------------------------
# One message (siyuan-api E1). Past it: close code 1009.
WEBSOCKET_MESSAGE_BYTES_MAX: Final = 8 * 1024 * 1024
WEBSOCKET_CLOSE_S_MAX: Final = 2.0

# --- server-sent events ----------------------------------------------------------------------------------------
# What a stream may owe its reader. Past either one the stream is aborted: the client connects again and asks anew.
SSE_BACKLOG_EVENTS_MAX: Final = 1024
SSE_BACKLOG_BYTES_MAX: Final = 4 * 1024 * 1024
SSE_KEEP_ALIVE_S: Final = 15.0

# --- multipart forms -------------------------------------------------------------------------------------------
FORM_PARTS_MAX: Final = 1000
FORM_PART_HEAD_BYTES_MAX: Final = 8 * 1024

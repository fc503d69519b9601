"""Every bound of the MCP endpoint, with its unit. One home: docs/limits.md is printed from here."""

from __future__ import annotations

from typing import Final

# --- messages ---
JSON_DEPTH_MAX: Final = 128  # nested arrays and objects in one message; deeper ones are parse errors
PARSE_INLINE_BYTES_MAX: Final = 64 * 1024  # larger bodies are parsed in a worker thread
BATCH_ENTRIES_MAX: Final = 128  # one 2025-03-26 batch
HEAD_PLANS_MAX: Final = 512  # memoised routing heads

# --- sessions (decision 15) ---
SESSIONS_MAX: Final = 256
SESSION_IDLE_S: Final = 30 * 60
SESSIONS_FULL_RETRY_S: Final = 1  # Retry-After of the 503

# --- confirmations (R127, R128, decisions 23 and 36) ---
CONFIRMATIONS_PENDING_MAX: Final = 128
CONFIRMATION_TTL_S: Final = 5 * 60

# --- streams (R257-R260) ---
STREAMS_PER_PRINCIPAL_MAX: Final = 4
STREAMS_MAX: Final = 64
STREAM_LIFE_S: Final = 10 * 60  # handshake GET streams only; a listen stream lives as long as its client
STREAM_RETRY_S: Final = 5  # Retry-After of the 429
SURFACE_CHECK_S: Final = 5.0
SURFACE_BURST_S: Final = 1.0  # after a notification the next one waits at least this long
KEEP_ALIVE_S: Final = 15.0
SEND_S_MAX: Final = 30.0  # one event; a reader that does not take it by then is dropped
UNWATCHED_S: Final = 0.1  # so long a POST waits before its connection is watched for a disconnect
SILENCE_S: Final = 15.0  # after it a waiting POST becomes an event stream
EVENTS_BUFFERED_MAX: Final = 256  # per POST stream; overflow drops notifications, never the answer

# --- server requests to handshake clients (conformance fixtures only) ---
SERVER_REQUEST_S_MAX: Final = 60.0

# --- the official Tasks extension ---
TASK_AFTER_S: Final = 5.0  # so long a call of a client that takes tasks is waited for before it becomes one
TASK_POLL_MS: Final = 1_000
TASK_INPUT_S_MAX: Final = 5 * 60.0  # a task waits this long for an answer (conformance fixtures only)

# --- results ---
COMPLETION_VALUES_MAX: Final = 100  # by the protocol
DISCOVER_TTL_MS: Final = 60_000
LIST_TTL_MS: Final = 5_000  # no longer than a change takes to be announced (SURFACE_CHECK_S)
READ_TTL_MS: Final = 0
SKILLS_TTL_MS: Final = 300_000

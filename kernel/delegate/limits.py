"""Bounds of a delegate, with their units (R172, R189, R190, R246-R248)."""

from __future__ import annotations

from typing import Final

from kernel.limits import MIB

# --- the wire ---
CONNECT_S_MAX: Final = 5.0
# An answer that takes longer becomes an event stream, which says something every 15 s; after so long nobody is there.
SILENCE_S_MAX: Final = 60.0
# One answer as a whole (downloads are streamed and have a bound of their own).
ANSWER_BYTES_MAX: Final = 64 * MIB
CHUNK_BYTES: Final = 64 * 1024

# --- a lost answer (R246-R248) ---
RESULT_QUERIES_MAX: Final = 3
RESULT_QUERY_S_MAX: Final = 2.0
RESULT_QUERY_APART_S: Final = 0.1

# --- a cancelled call: the control request may come before the call is admitted ---
CANCEL_REQUESTS_MAX: Final = 10
CANCEL_REQUEST_S_MAX: Final = 2.0
CANCEL_REQUESTS_APART_S: Final = 0.1

# --- uploads (R168, R172) ---
UPLOAD_BYTES_MAX: Final = 10 * MIB
LOOKUP_S_MAX: Final = 5.0
UPLOAD_S_MAX: Final = 120.0

# --- downloads (R189, R190) ---
DOWNLOAD_BYTES_MAX: Final = 512 * MIB
DOWNLOAD_FILE_S_MAX: Final = 120.0

"""Every bound of the kernel's surface, with its unit. Bodies have theirs in ``kernel.limits``."""

from __future__ import annotations

from typing import Final

# What is parsed, encoded, packed or read beyond this goes to a thread: the event loop does not wait for it.
INLINE_BYTES_MAX: Final = 64 * 1024
# A file from this size on is sent piece by piece: memory does not grow with it.
STREAMED_BYTES_MIN: Final = 1024 * 1024
STREAM_PIECE_BYTES: Final = 256 * 1024

# --- pushes and broadcast channels -------------------------------------------------------------------------------
# What one WebSocket may still owe its reader. Past either one it is cut off; nobody who publishes ever waits.
OUTBOX_MESSAGES_MAX: Final = 4096
OUTBOX_BYTES_MAX: Final = 16 * 1024 * 1024

# --- access -------------------------------------------------------------------------------------------------------
# Remembered verdicts on request heads (which are remembered themselves).
VERDICTS_MAX: Final = 512

# --- signing in --------------------------------------------------------------------------------------------------
# So many wrong access codes are forgiven before a captcha is asked for.
WRONG_CODES_MAX: Final = 3
# How long a sealed session is believed (30 days), and how long "remember me" keeps its cookie.
SESSION_MS_MAX: Final = 30 * 24 * 60 * 60 * 1000
REMEMBER_S: Final = 30 * 24 * 60 * 60
SEALED_SESSION_CHARS_MAX: Final = 4096

# --- files -------------------------------------------------------------------------------------------------------
# A search through the folders of a notebook lets others run after so many entries.
WALKED_PER_TURN_MAX: Final = 256
# More ranges than this in one request are answered with the whole file.
RANGES_MAX: Final = 100
# An SVG deeper or longer than this is not served (422).
SVG_DEPTH_MAX: Final = 256
SVG_PARTS_MAX: Final = 1_000_000
# What one archive may hold once unpacked.
UNPACKED_BYTES_MAX: Final = 512 * 1024 * 1024
# How long an archive waits to be told its notebook (30 minutes).
STAGED_S_MAX: Final = 30 * 60
# How long an analysed vault waits for its import (30 minutes), and the end of an import is told (10 minutes).
VAULT_READY_S_MAX: Final = 30 * 60
VAULT_RESULT_S_MAX: Final = 10 * 60
# What a forwarded request may bring back, and how often it may be sent on.
FORWARDED_BYTES_MAX: Final = 64 * 1024 * 1024
FORWARDED_REDIRECTS_MAX: Final = 3

# --- the kernel's own MCP endpoint -------------------------------------------------------------------------------
# Sessions kept; the real kernel keeps every one for ever.
OFFICIAL_SESSIONS_MAX: Final = 1024
# Tools of one plugin, and the size of the file that declares them.
PLUGIN_TOOLS_MAX: Final = 256
PLUGIN_TOOLS_BYTES_MAX: Final = 1024 * 1024
# What a tool reads of one file, and how many entries it walks.
TOOL_FILE_BYTES_MAX: Final = 64 * 1024 * 1024

# Records up to this size are written by the event loop itself while no sync is under way.
RECORDS_INLINE_BYTES_MAX: Final = 64 * 1024
# Steps of SQLite's machine that a light statement may take on the loop, once or twice so many; then it goes to a thread.
LIGHT_STEPS: Final = 2_000
# Searches run on the loop as long as the workspace holds no more blocks, and no more bytes in its documents.
LIGHT_SEARCH_BLOCKS_MAX: Final = 1_000
LIGHT_SEARCH_BYTES_MAX: Final = 512 * 1024

"""Bounds of the tools, with their units. What a schema states and what a handler does come from here."""

from __future__ import annotations

from typing import Final

# --- windows over a document's Markdown ---
WINDOW_BLOCKS_DEFAULT: Final = 50
WINDOW_BLOCKS_MAX: Final = 200
WINDOW_TOKENS_DEFAULT: Final = 2000
WINDOW_TOKENS_MAX: Final = 32_000
WINDOW_CONTENT_BYTES_MAX: Final = 262_144
CHARS_PER_TOKEN: Final = 4

# --- pages ---
PAGE_SIZE_DEFAULT: Final = 50
PAGE_SIZE_MAX: Final = 200
SEARCH_PAGE_SIZE_DEFAULT: Final = 32
SEARCH_PAGE_SIZE_MAX: Final = 128
SHOWN_HITS_MAX: Final = 20
SQL_ROWS_DEFAULT: Final = 200
SQL_ROWS_MAX: Final = 1000
RECENT_BLOCKS_SAMPLED_MAX: Final = 3

# --- trees and batches ---
TREE_DEPTH_DEFAULT: Final = 3
TREE_DEPTH_MAX: Final = 20
BATCH_KRAMDOWN_IDS_MAX: Final = 20
OVERWRITE_DESCENDANTS_MAX: Final = 10_000
PROTECTED_BLOCKS_SHOWN_MAX: Final = 50
LINK_TARGETS_MAX: Final = 100
FS_SEARCH_LINE_CHARS_MAX: Final = 200
FS_SEARCH_PATTERN_CHARS_MAX: Final = 1000

# --- host reads that may lag behind a write: waits between tries ---
INDEXING_WAITS_S: Final = (0.12, 0.24)
NOTEBOOK_OPENING_WAITS_S: Final = (0.15, 0.15)

# --- files ---
TEMPLATE_PAGE_SIZE_DEFAULT: Final = 20
TEMPLATE_READ_CHARS_DEFAULT: Final = 8000
TEMPLATE_READ_CHARS_MAX: Final = 20_000
UPLOAD_LARGE_MB_DEFAULT: Final = 10
INLINE_EXPORT_BYTES_MAX: Final = 8_388_608
IMAGE_BYTES_MAX: Final = 20_971_520

# --- a remote host's settings ---
REMOTE_SETTINGS_EVERY_S: Final = 5.0
REMOTE_SETTINGS_FIRST_S_MAX: Final = 2.0

# --- MCP Apps ---
APP_CARDS_MAX: Final = 20
APP_REASON_CHARS_MAX: Final = 1000
CARD_CANDIDATES_MAX: Final = 100
CARD_CANDIDATES_MS_MAX: Final = 10 * 60 * 1000

# --- memory and statistics ---
MEMORY_STALE_AFTER_MS: Final = 7 * 24 * 60 * 60 * 1000
ANALYTICS_FILE_BYTES_MAX: Final = 2_097_152
ANALYTICS_TEXT_CHARS_MAX: Final = 20_000
SAFE_INTEGER_MAX: Final = 9_007_199_254_740_991
FORM_ARGUMENT_CHARS_MAX: Final = 1800
# How long one call waits for the write that holds its statistics, and when a write is given up.
STATISTICS_S_MAX: Final = 5.0
STATISTICS_ABANDONED_AFTER_S: Final = 20.0
# How often somebody looks for calls that wait too long, and for calls to show as running.
STATISTICS_SWEEP_S: Final = 0.1
# A pattern looks at this much of a line: its cost grows with the square of it.
REGEX_LINE_CHARS_MAX: Final = 10_000

# --- databases: a change shows in a read after one of these waits, or not at all ---
AV_SHOWS_AFTER_WAITS_S: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
AV_RENDER_PAGE_SIZE_DEFAULT: Final = 10
AV_SEARCH_SCANNED_MAX: Final = 32

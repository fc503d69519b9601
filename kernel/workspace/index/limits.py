"""Limits of the index, each with its unit."""

from __future__ import annotations

from typing import Final

# Ids bound to one statement; longer lists go in several statements.
IDS_PER_STATEMENT_MAX: Final = 400
# Rows whose place in the full-text index is out of date; beyond it the full-text index is built anew when asked.
STALE_TEXTS_MAX: Final = 20_000
# Statements of users that may read at the same time, each on a connection of its own.
READERS_MAX: Final = 8
# After a block query was shown, seconds until its row holds the text of its results.
EMBED_CONTENT_DELAY_S: Final = 1.0
# Documents whose blocks are known one by one (to index only what changed), counted in blocks right below them.
KNOWN_TOP_BLOCKS_MAX: Final = 50_000
# Rows that one step puts into the full-text index, between which other tasks run.
TEXTS_PER_STEP: Final = 500
# Three letters in a row of one word that its rows are found by; what is longer is found by its beginning.
TRIGRAMS_ASKED_MAX: Final = 32
# Pages of the database that a connection keeps; the operating system keeps the rest of the file.
WRITER_CACHE_KIB: Final = 16 * 1024
READER_CACHE_KIB: Final = 4 * 1024

"""The strict write's limits, with units. One home; ``docs/limits.md`` is printed from it."""

from __future__ import annotations

from typing import Final

# Leases (R8, R43, decision 24).
LEASE_TTL_S: Final = 600.0
LEASES_PER_SCOPE_MAX: Final = 4
LEASES_MAX: Final = 1024

# Request ids and receipts (R26-R32).
REQUEST_ID_HEX_MIN: Final = 4
REQUEST_ID_HEX_MAX: Final = 64
REQUEST_ID_TTL_S: Final = 600.0
RECEIPT_TTL_S: Final = 7 * 24 * 3600.0
# Ids that are issued and not yet executed, or executing.
LEDGER_LIVE_MAX: Final = 2048
# Receipts that are answered without asking the database (all of them are in it).
RECEIPTS_CACHED_MAX: Final = 1024
# Calls whose rows share one sync: a group is what waited while the one before was written.
LEDGER_GROUP_MAX: Final = 256
# How long a step waits for somebody else's lock on the file, in seconds.
LEDGER_LOCK_WAIT_S: Final = 5.0
# An AV receipt is small by specification; what is larger is not kept.
RECEIPT_BYTES_MAX: Final = 64 * 1024

# Short hashes (R44-R46).
SHORT_HASH_HEX_MIN: Final = 4

# Read-back and the boundary (decisions 26, 47).
READBACK_DELAYS_S: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
COMMIT_BOUND_S: Final = 30.0

# Above this, normalising and hashing leave the event loop's thread.
HASH_INLINE_BYTES_MAX: Final = 64 * 1024

# Probes that page: flashcards of a deck (upstream record: all pages, else the preflight is refused).
CARDS_PER_PAGE: Final = 512
CARD_PAGES_MAX: Final = 128
# One batch read of block states.
BLOCKS_PER_READ_MAX: Final = 256
# Documents below one that is to be moved or removed; each is part of the state.
SUBTREE_DOCUMENTS_MAX: Final = 10_000
# Blocks that carry a tag or refer to a block: each is part of the manifest.
MANIFEST_BLOCKS_MAX: Final = 4_096

"""Limits of the workspace, each with its unit."""

from __future__ import annotations

from typing import Final

# Memory: parsed documents kept at hand, counted in nodes (a node takes about half a kilobyte).
LOADED_NODES_MAX: Final = 200_000
# Ids of blocks that updates have left out, the oldest forgotten first.
LEFT_OUT_IDS_MAX: Final = 20_000
# A title or a notebook name, in code points.
TITLE_RUNES_MAX: Final = 512
# Levels of documents below a notebook, unless conf.fileTree.allowCreateDeeper.
DOCUMENT_LEVELS_MAX: Final = 7
# Blocks that one getDoc shows unless it is told otherwise.
SHOWN_BLOCKS_DEFAULT: Final = 102_400
# A dynamic reference anchor, in code points, before it is cut with "...".
ANCHOR_RUNES_MAX: Final = 96
# Undo steps kept per document.
UNDO_STEPS_MAX: Final = 64
# The name of an asset, in bytes of UTF-8, its extension included.
ASSET_NAME_BYTES_MAX: Final = 189
# A template: actions and calls executed, characters made, definitions inside one another.
TEMPLATE_STEPS_MAX: Final = 200_000
TEMPLATE_OUTPUT_CHARS_MAX: Final = 8 * 1024 * 1024
TEMPLATE_DEPTH_MAX: Final = 100
# What an imported archive may unpack to, in bytes.
IMPORT_BYTES_MAX: Final = 1024 * 1024 * 1024
# Readings of editor DOM that are kept for the moment (an update reads the same up to three times), and their length.
REMEMBERED_DOMS_MAX: Final = 16
REMEMBERED_DOM_CHARS_MAX: Final = 8 * 1024
# Documents that one run may enter before it numbers those that are left anew; one less than a power of two.
DOCUMENTS_ENTERED_MAX: Final = (1 << 24) - 1
# Blocks whose documents are remembered until the map changes.
LATELY_FOUND_MAX: Final = 256
# Ids that have come lately and are not packed yet.
UNPACKED_HOLDINGS_MAX: Final = 32_768
# What was made of whole documents lately, in characters over all of them, and of one.
RENDERINGS_CHARS_MAX: Final = 4 * 1024 * 1024
RENDERING_CHARS_MAX: Final = 1024 * 1024
# Blocks of which is known when they were last referred to.
RECENT_TARGETS_MAX: Final = 512

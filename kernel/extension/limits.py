"""Bounds of the bridge to the official endpoint, with their units."""

from __future__ import annotations

from typing import Final

from kernel.limits import MIB

LIST_PAGES_MAX: Final = 100
# One call, from its first byte to the last of its answer, however slowly that comes.
ENDPOINT_REQUEST_S_MAX: Final = 120.0
ENDPOINT_CONNECT_S_MAX: Final = 5.0
# One look at the list, all its pages: whoever asked for it is waiting.
LIST_S_MAX: Final = 30.0
# One answer as a whole; of a list, all pages.
ANSWER_BYTES_MAX: Final = 64 * MIB
# A longer name is no action: clients and models take no more characters.
TOOL_NAME_CHARS_MAX: Final = 128
# So many entries that cannot be offered are named, with so many characters of what they are called.
UNUSABLE_SHOWN_MAX: Final = 20
UNUSABLE_NAME_CHARS_MAX: Final = 64

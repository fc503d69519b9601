"""Bounds of the bridge to the official endpoint, with their units."""

from __future__ import annotations

from typing import Final

LIST_PAGES_MAX: Final = 100
ENDPOINT_REQUEST_S_MAX: Final = 120.0
# A longer name is no action: clients and models take no more characters.
TOOL_NAME_CHARS_MAX: Final = 128
# So many entries that cannot be offered are named, with so many characters of what they are called.
UNUSABLE_SHOWN_MAX: Final = 20
UNUSABLE_NAME_CHARS_MAX: Final = 64

"""Bounds of the bridge to the official endpoint, with their units."""

from __future__ import annotations

from typing import Final

LIST_PAGES_MAX: Final = 100
ENDPOINT_REQUEST_S_MAX: Final = 120.0

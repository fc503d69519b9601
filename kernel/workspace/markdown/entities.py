"""[core] Character references, decoded in the kernel's two ways: strictly in Markdown, loosely in attribute values."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Final

REPLACEMENT: Final = "\ufffd"

_STRICT: Final = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,8})|#([0-9]{1,8})|([a-zA-Z][a-zA-Z0-9]{0,30}));")
_LOOSE: Final = re.compile(r"&(?:#[xX]([0-9a-fA-F]+);?|#([0-9]+);?|([a-zA-Z0-9]+;))")
_NAMED: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|nbsp);)([a-zA-Z0-9]+;?)")
_CODES_MAX: Final = 0x10FFFF
# Browsers read the C1 range of a numeric reference as Windows-1252.
_WINDOWS_1252: Final = {
    code: bytes([code]).decode("cp1252") for code in range(0x80, 0xA0) if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def unescape_strictly(text: str) -> str:
    """Decode the references that end in a semicolon; a code that is no character becomes U+FFFD."""
    return _STRICT.sub(_strict, text) if "&" in text else text


def unescape(text: str) -> str:
    """Decode as an HTML parser does, save that names need their semicolon and give their first character only."""
    return _LOOSE.sub(_loose, text) if "&" in text else text


def restrict_names(markup: str) -> str:
    """``markup`` in which an HTML parser decodes the same names as ``unescape``, and to the same characters."""
    return _NAMED.sub(_restricted, markup) if "&" in markup else markup


def _restricted(match: re.Match[str]) -> str:
    value = html5.get(match[1], "") if match[1].endswith(";") else ""
    if not value:
        return f"&amp;{match[1]}"
    return match[0] if len(value) == 1 else f"&#{ord(value[0])};"


def _strict(match: re.Match[str]) -> str:
    if match[3]:
        return html5.get(match[3] + ";", match[0])
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if _is_character(code) else REPLACEMENT


def _is_character(code: int) -> bool:
    if code > _CODES_MAX or 0xD800 <= code <= 0xDFFF or 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE:
        return False
    return not (code <= 0x08 or code == 0x0B or 0x0E <= code <= 0x1F or 0x7F <= code <= 0x9F)


def _loose(match: re.Match[str]) -> str:
    if match[3]:
        return html5.get(match[3], match[0])[: None if match[3] not in html5 else 1]
    code = int(match[1], 16) if match[1] else int(match[2])
    if code == 0 or code > _CODES_MAX or 0xD800 <= code <= 0xDFFF:
        return REPLACEMENT
    return _WINDOWS_1252.get(code) or chr(code)

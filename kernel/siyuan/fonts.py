"""Fonts of the machine: family, weight and full name, read from the files' own tables."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Files looked at, and bytes of one name table: a broken or hostile folder does not hold anybody up.
FILES_MAX: Final = 5000
NAMES_BYTES_MAX: Final = 1024 * 1024
WEIGHT_DEFAULT: Final = 400
_SUFFIXES: Final = frozenset({".ttf", ".otf", ".ttc", ".otc"})
_COLLECTION: Final = b"ttcf"
_KINDS: Final = frozenset({b"\0\1\0\0", b"OTTO", b"true"})
_FAMILY: Final = 1
_FULL_NAME: Final = 4
_TYPOGRAPHIC_FAMILY: Final = 16
_WINDOWS: Final = 3
_ENGLISH: Final = 0x409
Font = dict[str, str | int]


def font_folders() -> list[Path]:
    """Where this system keeps its fonts."""
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    if sys.platform == "win32":
        return [Path("C:/Windows/Fonts"), home / "AppData/Local/Microsoft/Windows/Fonts"]
    shared = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts")]
    return [*shared, home / ".fonts", home / ".local/share/fonts"]


def list_fonts(folders: Iterable[Path]) -> list[Font]:
    """Every font once, by its full name; what cannot be read is passed over. Reads files: call it in a thread."""
    found: dict[str, Font] = {}
    for path in _font_files(folders):
        try:
            with path.open("rb") as file:
                for font in _fonts_in(file):
                    found.setdefault(str(font["displayName"]), font)
        except (OSError, struct.error, UnicodeDecodeError):
            continue
    return [found[name] for name in sorted(found)]


def _font_files(folders: Iterable[Path]) -> Iterator[Path]:
    count = 0
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
            if path.suffix.lower() in _SUFFIXES:
                count += 1
                if count > FILES_MAX:
                    return
                yield path


def _fonts_in(file: BinaryIO) -> Iterator[Font]:
    starts = [0]
    if file.read(4) == _COLLECTION:
        _, count = struct.unpack(">II", file.read(8))
        starts = list(struct.unpack(f">{min(count, 256)}I", file.read(4 * min(count, 256))))
    for start in starts:
        font = _font_at(file, start)
        if font is not None:
            yield font


def _font_at(file: BinaryIO, start: int) -> Font | None:
    file.seek(start)
    if file.read(4) not in _KINDS:
        return None
    (count,) = struct.unpack(">H6x", file.read(8))
    tables = {}
    for _ in range(count):
        tag, offset, length = struct.unpack(">4s4xII", file.read(16))
        tables[tag] = (offset, length)
    if b"name" not in tables:
        return None
    names = _names(_table(file, tables[b"name"]))
    family = names.get(_TYPOGRAPHIC_FAMILY) or names.get(_FAMILY, "")
    if not family:
        return None
    weight = WEIGHT_DEFAULT
    if b"OS/2" in tables:
        (weight,) = struct.unpack_from(">H", _table(file, tables[b"OS/2"]), 4)
    return {"family": family, "weight": weight, "displayName": names.get(_FULL_NAME) or family}


def _table(file: BinaryIO, place: tuple[int, int]) -> bytes:
    file.seek(place[0])
    return file.read(min(place[1], NAMES_BYTES_MAX))


def _names(table: bytes) -> dict[int, str]:
    """The names in English, else in whatever language comes first."""
    count, strings = struct.unpack_from(">2xHH", table)
    names: dict[int, str] = {}
    for number in range(count):
        platform, _, language, kind, length, offset = struct.unpack_from(">6H", table, 6 + 12 * number)
        if platform != _WINDOWS or kind not in (_FAMILY, _FULL_NAME, _TYPOGRAPHIC_FAMILY):
            continue
        text = table[strings + offset : strings + offset + length].decode("utf-16-be")
        if kind not in names or language == _ENGLISH:
            names[kind] = text
    return names

"""[core] The picture that a person reads back after too many wrong access codes: text in, PNG out."""

from __future__ import annotations

import struct
import zlib
from typing import Final

ALPHABET: Final = "ABCDEFGHKLMNPQRSTUVWXYZ23456789"
TEXT_LENGTH: Final = 4
WIDTH_PX: Final = 100
HEIGHT_PX: Final = 26
_SCALE: Final = 3
_GLYPH_COLUMNS: Final = 5
_GLYPH_ROWS: Final = 7

# Five columns by seven rows: each number is one row, its highest bit the leftmost column.
_GLYPHS: Final[dict[str, tuple[int, ...]]] = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "B": (30, 17, 17, 30, 17, 17, 30),
    "C": (14, 17, 16, 16, 16, 17, 14),
    "D": (30, 17, 17, 17, 17, 17, 30),
    "E": (31, 16, 16, 30, 16, 16, 31),
    "F": (31, 16, 16, 30, 16, 16, 16),
    "G": (14, 17, 16, 23, 17, 17, 15),
    "H": (17, 17, 17, 31, 17, 17, 17),
    "K": (17, 18, 20, 24, 20, 18, 17),
    "L": (16, 16, 16, 16, 16, 16, 31),
    "M": (17, 27, 21, 21, 17, 17, 17),
    "N": (17, 25, 21, 19, 17, 17, 17),
    "P": (30, 17, 17, 30, 16, 16, 16),
    "Q": (14, 17, 17, 17, 21, 18, 13),
    "R": (30, 17, 17, 30, 20, 18, 17),
    "S": (15, 16, 16, 14, 1, 1, 30),
    "T": (31, 4, 4, 4, 4, 4, 4),
    "U": (17, 17, 17, 17, 17, 17, 14),
    "V": (17, 17, 17, 17, 17, 10, 4),
    "W": (17, 17, 17, 21, 21, 27, 17),
    "X": (17, 17, 10, 4, 10, 17, 17),
    "Y": (17, 17, 10, 4, 4, 4, 4),
    "Z": (31, 1, 2, 4, 8, 16, 31),
    "2": (14, 17, 1, 6, 8, 16, 31),
    "3": (30, 1, 1, 14, 1, 1, 30),
    "4": (2, 6, 10, 18, 31, 2, 2),
    "5": (31, 16, 30, 1, 1, 17, 14),
    "6": (6, 8, 16, 30, 17, 17, 14),
    "7": (31, 1, 2, 4, 8, 8, 8),
    "8": (14, 17, 17, 14, 17, 17, 14),
    "9": (14, 17, 17, 15, 1, 2, 12),
}


def text_from(entropy: bytes) -> str:
    """The text that ``TEXT_LENGTH`` random bytes stand for."""
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in entropy[:TEXT_LENGTH])


def picture(text: str, entropy: bytes) -> bytes:
    """A PNG of ``text``; the random bytes move the letters and sprinkle dots."""
    rows = [bytearray(b"\xff" * WIDTH_PX) for _ in range(HEIGHT_PX)]
    for index, char in enumerate(text):
        _draw(rows, _GLYPHS[char], left=6 + index * 24 + entropy[index] % 4, top=1 + entropy[index] // 4 % 4)
    for first, second in zip(entropy[::2], entropy[1::2], strict=False):
        rows[second % HEIGHT_PX][first % WIDTH_PX] = 0
    return _png(rows)


def _draw(rows: list[bytearray], glyph: tuple[int, ...], *, left: int, top: int) -> None:
    for row, bits in enumerate(glyph):
        for column in range(_GLYPH_COLUMNS):
            if bits >> (_GLYPH_COLUMNS - 1 - column) & 1:
                for y in range(_SCALE):
                    start = left + column * _SCALE
                    rows[top + row * _SCALE + y][start : start + _SCALE] = bytes(_SCALE)


def _png(rows: list[bytearray]) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", WIDTH_PX, len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", pixels) + part(b"IEND", b"")

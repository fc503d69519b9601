"""Fonts of the machine, read from their own tables."""

from __future__ import annotations

import struct
from pathlib import Path

from kernel.siyuan.fonts import font_folders, list_fonts
from tests.siyuan.kernel_in_memory import MemoryKernel


def font_bytes(names: dict[int, str], *, weight: int = 700, start: int = 0) -> bytes:
    """A font file of a name table (in English and another language) and a weight."""
    entries, strings = b"", b""
    for kind, text in names.items():
        for language in (0x407, 0x409):
            raw = (text if language == 0x409 else "anders").encode("utf-16-be")
            entries += struct.pack(">6H", 3, 1, language, kind, len(raw), len(strings))
            strings += raw
    count = 2 * len(names) + 1
    entries += struct.pack(">6H", 1, 0, 0, 1, 0, 0)
    table = struct.pack(">HHH", 0, count, 6 + 12 * count) + entries + strings
    weights = struct.pack(">HHH", 0, 0, weight)
    first = start + 12 + 32
    head = b"\0\1\0\0" + struct.pack(">H6x", 2)
    head += struct.pack(">4s4xII", b"name", first, len(table))
    head += struct.pack(">4s4xII", b"OS/2", first + len(table), len(weights))
    return head + table + weights


def test_family_weight_and_full_name_are_read(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/a.TTF").write_bytes(font_bytes({1: "Serif", 4: "Serif Bold", 16: "Great Serif"}))
    (tmp_path / "b.otf").write_bytes(font_bytes({1: "Plain"}, weight=400))
    collection = b"ttcf" + struct.pack(">III", 0, 1, 16)
    (tmp_path / "c.ttc").write_bytes(collection + font_bytes({1: "In It"}, start=16))
    for name, content in (("broken.ttf", b"\0\1\0\0"), ("other.ttf", b"text"), ("note.txt", b"x")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "nameless.ttf").write_bytes(font_bytes({}))
    assert list_fonts([tmp_path, tmp_path / "none"]) == [
        {"family": "In It", "weight": 700, "displayName": "In It"},
        {"family": "Plain", "weight": 400, "displayName": "Plain"},
        {"family": "Great Serif", "weight": 700, "displayName": "Serif Bold"},
    ]


async def test_fonts_are_looked_for_once() -> None:
    kernel = MemoryKernel()
    first = await kernel.call("system/getSysFonts")
    assert await kernel.call("system/getSysFonts") is first
    assert all(folder.is_absolute() for folder in font_folders())

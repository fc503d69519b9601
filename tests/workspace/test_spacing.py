"""Blanks between scripts."""

from __future__ import annotations

import pytest

from kernel.workspace.spacing import spaced


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("中文abc中文", "中文 abc 中文"),
        ("中文 123中", "中文 123 中"),
        ("かなkana한글", "かな kana 한글"),
        ("plain text", "plain text"),
        ("中文，abc", "中文，abc"),
        ("", ""),
    ],
)
def test_a_blank_stands_where_the_scripts_meet(text: str, better: str) -> None:
    assert spaced(text) == better
    assert spaced(better) == better

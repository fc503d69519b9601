"""Counting and plain texts for templates."""

from __future__ import annotations

import pytest

from kernel.workspace import block_words
from kernel.workspace.block_words import block_stat, content_of, text_counts, text_of_markdown
from kernel.workspace.markdown.context import MarkdownError
from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_a_block_is_counted_as_one_and_a_document_by_its_blocks(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(
        await kernel.notebook(), "/Doc", "two words\n\n[link](https://x.y) ![p](assets/p.png)"
    )
    first, _ = await kernel.children(root_id)
    one, whole = block_stat(kernel.workspace, first), block_stat(kernel.workspace, root_id)
    assert one is not None
    assert whole is not None
    assert (one["RuneCount"], one["WordCount"], one["BlockCount"]) == (8, 2, 1)
    assert (whole["LinkCount"], whole["ImageCount"], whole["RefCount"], whole["BlockCount"]) == (1, 1, 0, 2)


async def test_what_is_unknown_or_cannot_be_read_is_not_counted(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    assert block_stat(kernel.workspace, "20240101000000-unknown") is None
    kernel.workspace.forget_tree(root_id)
    kernel.workspace.files.write(f"data/{box}/{root_id}.sy", b"{")
    assert block_stat(kernel.workspace, root_id) is None


@pytest.mark.parametrize(("text", "counts"), [("two words", (8, 2)), ("鲸鱼 sea", (5, 3)), ("", (0, 0))])
def test_a_text_has_runes_and_words(text: str, counts: tuple[int, int]) -> None:
    assert text_counts(text) == counts


# Markdown, its plain text, its content: as recorded of the real kernel.
SAID = [
    ("a **b** `c` [l](u)\n\n# d\n\n* x", "a b  ldx", "a b c l\nd\nx"),
    ("> q1\n>\n> q2\n>\n> q3\n\nend", "q1q2q3end", "q1\nq2q3\nend"),
    ("* aa\n\n  bb\n\n  cc\n* dd", "aabbccdd", "aa\nbbcc\ndd"),
    ("* aa\n  * bb\n  * cc\n* dd", "aabbccdd", "aabb\ncc\ndd"),
    ("{{{row\naa\n\nbb\n\n}}}\n\ncc", "aabbcc", "aa\nbb\ncc"),
    ("> [!NOTE] title\n> aa\n>\n> bb\n>\n> cc", "aabbcc", "aa\nbbcc"),
    ("a\n\nb\n\nc", "abc", "ab\nc"),
    ("鲸\n\nb", "鲸b", "鲸\nb"),
    ("| a | b |\n| --- | --- |\n| c | d |\n\nafter", "abcdafter", "abcd\nafter"),
    ("```go\ncode\n```\n\n$$\nmath\n$$\n\n$x$ ==m== #tag#", " m tag", "code\nmath\nx m tag"),
    ('text ![alt](a.png "title")\n\n![](c)', "text alt", "text alt\n"),
    ("<u>u</u> <kbd>k</kbd> &amp; \\*", "<u>u</u> <kbd>k</kbd>  ", "<u>u</u> <kbd>k</kbd> & *"),
    ("x :siyuan: y", "x  y", "x :siyuan: y"),
    ("line one\nline two  \nthree", "line oneline twothree", "line oneline twothree"),
    ("((20240101000000-abcdefg 'anchor')) ((20240101000000-abcdefg))", "anchor ", "anchor "),
    ('<div>html</div>\n\n<iframe src="a"></iframe>\n\nafter', "after", "after"),
    ("x**`y` z**", "x z", "xy z"),
    ("", "", ""),
]


@pytest.mark.parametrize(("markdown", "text", "content"), SAID)
def test_markdown_is_told_as_text_and_as_content(kernel: MemoryKernel, markdown: str, text: str, content: str) -> None:
    assert text_of_markdown(kernel.workspace, markdown) == text
    assert content_of(kernel.workspace, markdown) == content


def test_markdown_that_the_kernel_gives_up_on_says_nothing(
    kernel: MemoryKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gives_up(*_: object, **__: object) -> None:
        raise MarkdownError("too deep")

    monkeypatch.setattr(block_words, "parse_markdown", gives_up)
    assert content_of(kernel.workspace, "a") == ""

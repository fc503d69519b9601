"""What an agent reads of a block's Kramdown, and takes back when it edits."""

from __future__ import annotations

import pytest

from kernel.tools.editable import editable

ID = "20240101120000-abcdefg"
IAL = f'{{: id="{ID}" updated="20240101120000"}}'


@pytest.mark.parametrize(
    ("kind", "kramdown", "text"),
    [
        ("p", f"plain\n{IAL}", "plain"),
        ("p", "without attributes  ", "without attributes"),
        ("p", f'**red**{{: style="color: red;"}} x\n{IAL}', '**red**{: style="color: red;"} x'),
        ("p", f'see (({ID} "it\'s"))\n{IAL}', f"see (({ID} 'it\\'s'))"),
        ("p", f'<span data-type="block-ref" data-id="{ID}">a &amp;\n b</span>', f"(({ID} 'a & b'))"),
        ("p", '<span data-type="block-ref">x</span>', '<span data-type="block-ref">x</span>'),
        ("p", '<span data-type="strong tag">one</span> <span data-type="tag">#two#</span>', "#one# #two#"),
        ("p", '<span data-type="tag">\u200b</span>', '<span data-type="tag"></span>'),
        ("p", "#\u200btag\u200b#\u2060", "#tag#"),
        ("c", f"```\n\u200dcode\u200b\n```\n{IAL}", "```\n\u200dcode\u200b\n```"),
        (
            "l",
            f"* {IAL}one\n  {IAL}\n* [ ] {IAL}two\n  {IAL}\n\n  1. {IAL}three\n     {IAL}\n{IAL}",
            "* one\n* [ ] two\n\n  1. three",
        ),
        ("l", f"* {IAL}x\n  {IAL}\n\n  ```\n  {IAL}\n  ```\n  {IAL}\n{IAL}", f"* x\n\n  ```\n  {IAL}\n  ```"),
        ("b", f"> one\n> {IAL}\n>\n> two\n> {IAL}\n{IAL}", "> one\n> two"),
        ("b", f"> one\n> {IAL}\n>\n>\n> two\n> {IAL}\n{IAL}", "> one\n> two"),
        ("b", f"> * {IAL}a\n>   {IAL}\n> * {IAL}\n>   {IAL}\n> {IAL}\n{IAL}", "> * a"),
        ("s", f"{{{{{{row\n* {IAL}\n  a\n  {IAL}\n{IAL}\n\n}}}}}}\n{IAL}", "{{{row\n  a\n\n}}}"),
        ("b", f"> $$\n> {IAL}\n> $$\n> {IAL}\n{IAL}", f"> $$\n> {IAL}\n> $$"),
    ],
)
def test_a_block_reads_as_it_may_be_written_again(kind: str, kramdown: str, text: str) -> None:
    assert editable(kramdown, kind) == text


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    assert editable("````\n```\n\u200b\n````\n\u200b", "c") == "````\n```\n\u200b\n````"

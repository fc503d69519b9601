"""Rare Markdown, read and written again: as observed on the real kernel."""

from __future__ import annotations

import itertools
import re

import pytest

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.inlines import MARK_DEPTH_MAX, parse_inlines
from kernel.workspace.markdown.pipeline import markdown_to_blocks
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.tree import Node

_LIST = re.compile(r"\{: ((?:[\w-]+=\"[^\"]*\" ?)+)\}")
_PAIR = re.compile(r"([\w-]+)=\"([^\"]*)\"")
_MADE = re.compile(r"(?!2020)\d{14}(?:-[0-9a-z]{7})?")


def _own(found: re.Match[str]) -> str:
    """A list of attributes without those that every block gets."""
    pairs = [
        (name, value) for name, value in _PAIR.findall(found[1]) if name != "updated" and not _MADE.fullmatch(value)
    ]
    return "{: " + " ".join(f'{name}="{value}"' for name, value in sorted(pairs)) + "}" if pairs else ""


def written(markdown: str, *, keep_empty: bool = False) -> str:
    """The blocks of ``markdown`` as kramdown, without what is new in each parse, and without empty lines."""
    numbers = itertools.count(1)
    context = MarkdownContext(lambda: f"20261130120000-{next(numbers):07d}", lambda _: True)
    blocks = markdown_to_blocks(markdown, context, keep_empty=keep_empty).blocks
    document = Node("NodeDocument", id="20261130120000-docdocd", properties={}, children=blocks)
    return without_ids(render_kramdown(document))


def without_ids(kramdown: str) -> str:
    lines = _LIST.sub(_own, kramdown).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip("> "))


OBSERVED = [
    ('a\n\n{: custom-a="1"} b\n{: id="20200101000000-abcdefg"}', 'a\n{: custom-a="1" id="20200101000000-abcdefg"}'),
    ('a\n\n{: custom-a="1"} b', 'a\n{: custom-a="1"}'),
    ('{: custom-a="1"} b', '{: custom-a="1"} b'),
    ('a\n{: id="" updated="20200101000000"}', "a"),
    ('a\n{: id=""}', "a"),
    ('a\n{: custom-x="1"}\n{: custom-x="1"}', 'a\n{: custom-x="1"}'),
    ("`$a$`", "`$a$`"),
    ("`a $x$ b`", "`a $x$ b`"),
    ("`a\\\\b`", "`a\\\\b`"),
    ('`((20200101000000-abcdefg "x"))`', "`(())`"),
    ('* <div>\n  x\n  {: id="20200101000000-abcdefg"}', '-\n  <div>\n  x\n  </div>\n  {: id="20200101000000-abcdefg"}'),
    (
        '* <div>\n  x\n    {: id="20200101000000-abcdefg"}\n* b',
        '-\n  <div>\n  x\n  </div>\n  {: id="20200101000000-abcdefg"}\n- b',
    ),
    ('<div>\nx\n{: id="20200101000000-abcdefg"}\ny', '<div>\nx\n</div>\n{: id="20200101000000-abcdefg"}\ny'),
    ("<div>&#0;</div>", "<div>�</div>"),
    ("a &#0; b", "a � b"),
    ('[a](b "&#0;")', '[a](b "�")'),
    ("* {:{ v>[-", "- {:{ v>[-"),
    ('* {: custom-a="b"}{: custom-c="d"} x', '- {: custom-a="b"}\n  {: custom-c="d"}'),
    ('* [ ] {: custom-a="b"} x', "- [ ]"),
    ('1. {: custom-a="b"} x', '1. {: custom-a="b"}x'),
    ('* {: custom-a="b"} {: custom-c="d"} y', '- {: custom-a="b"}\n  {: custom-c="d"}'),
    (
        '* {: id="20200101000000-abcdefg"}\n  {: custom-c="d"} y',
        '- {: id="20200101000000-abcdefg"}\n  {: custom-c="d"}',
    ),
    ('* \n  {: custom-c="d"} y', '-\n  {: custom-c="d"}'),
    ('**<img src="a">**', "![](a)"),
    ('**<img src="a" alt="b">**', "![b](a)"),
    ("*![a:smile:b](c)*", "![a](c)"),
    ("**![x\\*y](c)**", "![x](c)"),
    ("**![a &amp; b](c)**", "![a ](c)"),
    ("*![a\nb](c)*", "![a](c)"),
    ("<", "<"),
    ("a\n<", "a\n<"),
    ("<!x", "<!x"),
    ("<!A x>", "<!A x>"),
    ("<?php ?>\n\nb", "<?php ?>\nb"),
    ("<!-- a\nb -->", "<!-- a\nb -->"),
    ("<a =b>", "<a =b>"),
    ("<a st>", "<a st>"),
    ("<a st>\n\nb", "<a st>\nb"),
    ("<a b c>x", "<a b c>x"),
    ("<a b=c>x", "<a b=c>x"),
    ("<u>x</u>", "<u>x</u>"),
    ('<u><span data-type="a" data-href="u">l</span></u>', "<u>[l](u)</u>"),
    ("<u>:smile:</u>", "<u>😄😄:smile:</u>"),
    ("<u>a :smile: b</u>", "<u>a 😄😄:smile: b</u>"),
    ("<u>*a*</u>", "<u>a</u>"),
    ("<u>[l](m)</u>", "<u>[l](m)</u>"),
    ("<u><div></script></p><button></u>", "<div></script></p><button></u>"),
    ('<span data-type="strong">a</span><span data-type="em">b</span>', "**a**\u200b*b*"),
    ("&#99999999;", "&#99999999;"),
    ("&#x110000;", "�"),
    ("&#1234567;", "�"),
    ("&#12345678;", "&#12345678;"),
    ("&#;", "&#;"),
    ("&#x;", "&#x;"),
    ("&#x41;", "A"),
    ("&#X41;", "A"),
    ("&#0065;", "A"),
    ("&#00000065;", "&#00000065;"),
    ("$a\\\\$b", "$a\\\\$b"),
    ("$a\\\\$b$", "$a\\\\$b$"),
    ("$x\\\\$ y $z$", "$x\\\\$ y $z$"),
    ('<img src="a" width="5">{: style="width: 5px;"}', '![](a){: style="width: 5px;"}'),
    ('<img src="a" width="5">{: style="width: 9px;"}', '![](a){: style="width: 5px;"}{: style="width: 9px;"}'),
    ('<img src="a" width="5">{: custom-a="1"}', '![](a){: style="width: 5px;"}{: custom-a="1"}'),
    ('<img src="a" height="9em">', '![](a){: style="height: 9em"}'),
    ("   $$\tx\n$$", "$$\n$$\tx\n$$"),
    ("$$\tx\n$$", "$$\nx\n$$"),
    ("  $$a\nb\n$$", "$$\n$$a\nb\n$$"),
    ("((\n\x0b\n20200101000000-abcdefg))", "((\n\n20200101000000-abcdefg))"),
    ('((20200101000000-abcdefg\n\x0b\n"x"))', '((20200101000000-abcdefg\n\n"x"))'),
    ('((20200101000000-abcdefg "x"\n\x0b\n))', '((20200101000000-abcdefg "x"\n\n))'),
    ('((20200101000000-abcdefg  "x"  ))', '((20200101000000-abcdefg "x"))'),
    ('((20200101000000-abcdefg\n"x"))', '((20200101000000-abcdefg "x"))'),
    ("(( 20200101000000-abcdefg))", "((20200101000000-abcdefg '20200101000000-abcdefg'))"),
    (
        "<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg>>",
        "<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg>>",
    ),
    (
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t">>',
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t">>',
    ),
    (
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>>',
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>>',
    ),
    ('<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" x>>', ""),
    (
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" >>',
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t">>',
    ),
    (
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "">>',
        '<<assets/a-20200101000000-abcdefg.pdf/20200101000000-abcdefg "">>',
    ),
    ('[a](b "t\\"u")', '[a](b "t\\&quot;u")'),
    ('[a](b)"', '[a](b)"'),
    ('[a](b)"x"', '[a](b)"x"'),
    ("[a](<b>\n\x0b\n)", "[a](<b>\n\n)"),
    ('[a](<b>\n\x0b\n"t")', '[a](<b>\n\n"t")'),
    ("[a](<b> )", "[a](b)"),
    ('[a](<b>  "t")', '[a](b "t")'),
    ("[a](<b\\>c>)", "[a](b\\&gt;c)"),
    ('[a](b\\) "t")', '[a](b\\) "t")'),
    ('[a](\\( "t")', '[a](\\( "t")'),
    ('[a](b\\( "t") c)', '[a](b\\( "t") c)'),
    ("[a](<b>", "[a]("),
    ('[a](<b> "t"', '[a](<b> "t"'),
    ('[a](<b>)"x"', '[a](b)"x"'),
    ('[a](b "t" x)', '[a](b "t" x)'),
    ("[a](<b> x)", "[a](<b> x)"),
    ("| a | b |\n|-|- -|\n| c | d |", "| a | b |\n|-|- -|\n| c | d |"),
    ("| a | b | c |\n|-||-|\n| d | e | f |", "| a | b | c |\n|-||-|\n| d | e | f |"),
    ("| a |\n|:-:|", '|a|\n| :-: |\n{: colgroup=""}'),
    ("| a |\n |-| \n| b |", '|a|\n| ---|\n|b|\n{: colgroup=""}'),
    ("|a|b|\n|-|\n|c|", "|a|b|\n|-|\n|c|"),
    ("| a |\n| |\n| b |", "| a |\n| |\n| b |"),
    ("{{{foo\na\n}}}", "{{{foo\na\n}}}"),
    ("{{{row\na\n\nb\n}}}\n\nc", "{{{row\na\nb\n}}}\nc"),
    ("{{{row\n{{{col\na\n\nb\n}}}\n\nc\n}}}", "{{{row\n{{{col\na\nb\n}}}\nc\n}}}"),
    ("{{{row\n> a\n}}}\nb", "{{{row\n> a\n}}}\nb"),
    ("}}}", "}}}"),
    ("{{{col\n* a\n\n}}}\n\nx", "{{{col\n- a\n}}}\nx"),
    ("> [!NOTE]", "> [!NOTE]"),
    ("> [!NOTE]\n> a", "> [!NOTE]\n> a"),
    ("> [!NOTE] x", "> [!NOTE] x"),
    ("> [!NOTE]\n>\n> a", "> [!NOTE]\n> a"),
    ('> {: custom-a="1"}\n> a', '> {: custom-a="1"}\n> a'),
    ('* {: custom-a="1"}', "-"),
    ('> [!NOTE]\n> {: custom-a="1"}', "> [!NOTE]"),
    ("> [!TIP] :smile: t\n> b", "> [!TIP] 😄 t\n> b"),
    ("> [!X] 😀 t\n> b", "> [!X] 😀 t\n> b"),
    ('`a`{: style="color:red"}', '`a`{: style="color:red"}'),
    ('**a**{: style="color:red"} b', '**a**{: style="color:red"} b'),
    ("~~:a~~", "~~:a~~"),
    ("<a@b.c>x", "[a@b.c](mailto:a@b.c)x"),
    ("x<a@b.c>", "x<a@b.c>"),
    ("<a@b.c>", "[a@b.c](mailto:a@b.c)"),
    ("a<https://x.y>b", "a[https://x.y](https://x.y)b"),
    ("</u>^<em><a@b.c><u>", "</u>^<em><a@b.c>"),
    ("`<kbd>a</kbd>`", "`<kbd>a</kbd>`"),
    ('`[a](b "c")`', '`[a](b "c")`'),
    ("`![a](b)`", "`![a](b)`"),
    ("`:smile:`", "`:smile:`"),
    ("a\n\t$$b\n$$", "a\n\t$$b\n$$\n$$"),
    ("* a\n\t$$\n\tb\n\t$$", "- a\n  $$\n  $$"),
    ("[a](b{: x)", "[a](b{: x)"),
    ('a {: style="x"} b', 'a {: style="x"} b'),
    ('**a**{: style="x"}**b**', '**a**{: style="x"}**b**'),
    ("a\\] \nb", "a\\]\nb"),
    ("\\*  \nb", "\\*\nb"),
    (
        "see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg>> end",
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg">> end',
    ),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t">> end',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t">> end',
    ),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>> end', "see t>> end"),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" x>> end', "see > end"),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"\n>> end',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"\n>> end',
    ),
    (
        "see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg>> more text here end",
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg">> more text here end',
    ),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" \n\x0b\n>> end',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"\n>> end',
    ),
    (
        "see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefgxx>> end",
        "see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefgxx>> end",
    ),
    (
        "<<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg>> and more",
        '<<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg">> and more',
    ),
    ('<<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>> and more', "t>> and more"),
    ('<<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" x>> and more', "> and more"),
    ('* <div>\n  {: custom-a="1"}\n  </div>', '-\n  <div>\n  {: custom-a="1"}\n  </div>'),
    ("* {{{row\n  a\n\n  b\n  }}}", "-\n  {{{row\n  a\n  b\n  }}}"),
    ('* > {: custom-a="1"}', '- >\n  > {: custom-a="1"}'),
    ('* `{: custom-a="1"}` x', '- `{: custom-a="1"}` x'),
    ('* | {: a="b"} |\n  |-|', '- |{: a="b"}|\n  | -----------|\n  {: colgroup=""}'),
    ('* # {: id="20200101000000-abcdefg"} x', '- {: id="20200101000000-abcdefg"}# x'),
    ('* ```\n  {: id="20200101000000-abcdefg"} x\n  ```', '- {: id="20200101000000-abcdefg"}\n  ```\n  x\n  ```'),
    (
        '* # {: id="20200101000000-abcdefg" custom-a="b"} x\n\n  y',
        '- {: custom-a="b" id="20200101000000-abcdefg"}# x\n  y',
    ),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>>',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t>>',
    ),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" x', "see x"),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" ',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"',
    ),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"y>> end', "see > end"),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" \n\x0b\n>> end',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"\n>> end',
    ),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t" \n\x0b\nzz end', "see\n\nzz end"),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg " end', "see  end"),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"> end', "see end"),
    ('see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "é" é>> end', "see >> end"),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"',
    ),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"x',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "t"x',
    ),
    (
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "\\"t">> end',
        'see <<assets/paper-20200101000000-abcdefg.pdf/20200101000000-abcdefg "\\"t">> end',
    ),
]


@pytest.mark.parametrize(("markdown", "kramdown"), OBSERVED)
def test_rare_markdown_is_read_as_observed(markdown: str, kramdown: str) -> None:
    assert written(markdown) == kramdown


# Where blocks are put into a document, a list of attributes without a block keeps an empty paragraph.
IN_BLOCKS = [
    ('a\n{: custom-x="1"}\n{: custom-x="1"}', 'a\n{: custom-x="1"}\n{: custom-x="1"}'),
    ('{: custom-x="1"}', '{: custom-x="1"}'),
    ('{: custom-x="1"}\n{: custom-x="1"}', '{: custom-x="1"}\n{: custom-x="1"}'),
    ('> {: custom-x="1"}\n> {: custom-x="1"}', '> {: custom-x="1"}\n> {: custom-x="1"}'),
    ('* a\n  {: custom-x="1"}\n  {: custom-x="1"}', '- a\n  {: custom-x="1"}\n  {: custom-x="1"}'),
    (
        '# a\n{: custom-x="1"}\n{: custom-y="1"}\n{: custom-y="1"}',
        '# a\n{: custom-x="1"}\n{: custom-y="1"}\n{: custom-y="1"}',
    ),
    ('> [!NOTE]\n> {: custom-a="1"}', '> [!NOTE]\n> {: custom-a="1"}'),
    ('{{{row\n{: custom-a="1"}\n}}}', '{{{row\n{: custom-a="1"}\n}}}'),
    ('a\n{: id="20200101000000-abcdefg"}\n{: id="20200101000000-abcdefg"}', 'a\n{: id="20200101000000-abcdefg"}'),
]


@pytest.mark.parametrize(("markdown", "kramdown"), IN_BLOCKS)
def test_lists_of_attributes_alone_keep_a_paragraph_in_blocks(markdown: str, kramdown: str) -> None:
    assert written(markdown, keep_empty=True) == kramdown


def test_a_mark_in_a_mark_is_read_as_markdown_only_so_deep() -> None:
    read, kept = (parse_inlines("<b>*a*</b>", depth=depth) for depth in (MARK_DEPTH_MAX - 1, MARK_DEPTH_MAX))
    assert [(one.fields["TextMarkType"], one.fields["TextMarkTextContent"]) for one in read] == [("strong em", "a")]
    assert [(one.fields["TextMarkType"], one.fields["TextMarkTextContent"]) for one in kept] == [("strong", "*a*")]


def test_no_block_is_known_where_nobody_says_which_are() -> None:
    assert not MarkdownContext(lambda: "20261130120000-0000001").known_id("20200101000000-abcdefg")

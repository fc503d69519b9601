"""What an Obsidian note's text holds, and what becomes of it."""

from __future__ import annotations

import itertools

import pytest

from kernel.workspace.imports.vault.plan import Heading, Note, Plan, planned
from kernel.workspace.imports.vault.scan import scanned
from kernel.workspace.imports.vault.targets import leads_out, link_target, unescaped, wiki_target
from kernel.workspace.imports.vault.transform import converted

ID = "20240101000000-{:07}"


def new_ids() -> itertools.count[int]:
    return itertools.count(1)


def plan_of(*files: str) -> Plan:
    numbers = new_ids()
    return planned(files, lambda: ID.format(next(numbers)))


def targets(text: str) -> list[str]:
    return [link.target for link in scanned(text).links]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[a]] ![[b|c]]", ["a", "b"]),
        ("`[[a]]` ``[[a]] ` ``[[b]]", ["b"]),
        ("\\[[a]] [[b]]", ["b"]),
        ("```\n[[a]]\n```\n[[b]]", ["b"]),
        ("````\n```\n[[a]]\n````\n[[b]]", ["b"]),
        ("~~~\n[[a]]", []),
        ("    [[a]]\n\n[[b]]", ["b"]),
        ("- item\n\n    [[a]]\nx [[b]]", ["b"]),
        ("text\n    [[a]]", ["a"]),
        ("\t[[a]]\n", []),
        ("---\nx: '[[a]]'\n---\n[[b]]", ["b"]),
        ("---\nx: '[[a]]'\n[[b]]", ["a", "b"]),
        ("$[[a]]$ $$[[b]]$$ [[c]]", ["c"]),
        ("$ [[a]]", ["a"]),
        ("%%[[a]]%% [[b]]", ["b"]),
        ("%% [[a]]", ["a"]),
        ("<!-- [[a]] -->[[b]]", ["b"]),
        ("<!-- [[a]]", []),
        ("<div>\n[[a]]\n</div>[[b]]", ["b"]),
        ("x <i>\n[[a]]\n</i>", ["a"]),
        ("<b>[[a]]</b>[[b]]</B>", ["b"]),
        ("<br/>[[a]]</br>", ["a"]),
        ("a < b [[a]] > c", ["a"]),
        ('<a title="\n>[[a]]">[[b]]', ["b"]),
        ("[[a\nb]]", ["a\nb"]),
        ("[[a [[b", []),
        ("```\n<i>\n```\n[[a]]</i>", ["a"]),
        ("x <i>\nx <i>\n[[a]]</i>", ["a"]),
        ("[[[a]]", ["[a"]),
    ],
)
def test_links_are_found_where_nothing_hides_them(text: str, found: list[str]) -> None:
    assert targets(text) == found


def test_the_rest_of_a_note_is_counted() -> None:
    scan = scanned("a ^one\n\nb ^two\n\nc ^one\n\n`x` [^1] %%c%%\n\n[^1]: d\n\n`^no`\r\n^no\r\n")
    assert (scan.names, scan.repeated, scan.footnotes, scan.comments) == (["one", "two"], {"one"}, 2, 1)
    assert [link.alias for link in scanned("[[a| b ]][[c|d|e]]").links] == ["b", "d|e"]


def test_every_note_gets_a_place_and_folders_a_document() -> None:
    plan = plan_of("b/x.md", "b/deep/y.md", "c.md", "c/z.md", "pic.png", "B/k.md", "a?.md", "a\u200b?.md")
    shown = {note.rel: (note.hpath, bool(note.file)) for note in plan.notes}
    assert shown["b/x"] == ("/B/x", True)
    assert shown["b/deep"] == ("/B/deep", False)
    assert shown["c"] == ("/c", True)
    assert shown["c/z"] == ("/c/z", True)
    assert sorted(shown[rel][0] for rel in ("a?", "a\u200b?")) == ["/a?", "/a? (2)"]
    assert plan.renamed == 1
    inner = next(note for note in plan.notes if note.rel == "c/z")
    owner = next(note for note in plan.notes if note.rel == "c")
    assert inner.path == f"/{owner.id}/{inner.id}.sy"
    assert [one.name for one in plan.attachments.values()] == [f"pic-{ID.format(8)}.png"]


def a_plan() -> tuple[Plan, Note]:
    plan = plan_of("Home.md", "sub/Deep.md", "two/Same.md", "one/Same.md", "pic.png", "x/pic2.png", "y/pic2.png")
    home = plan.by_rel["home"]
    for number, (text, chain) in enumerate([("A", "A"), ("B", "A#B"), ("B", "C#B")]):
        home.add_heading(Heading(f"h{number}", text, chain))
    home.block_ids, home.repeated = {"one": "b1", "again": "b2"}, {"again"}
    return plan, home


@pytest.mark.parametrize(
    ("written", "status", "leads_to", "is_ambiguous"),
    [
        ("Deep", "resolved", "sub/Deep", False),
        ("deep.md", "resolved", "sub/Deep", False),
        ("/sub/Deep", "resolved", "sub/Deep", False),
        ("./sub/Deep", "resolved", "sub/Deep", False),
        ("sub/none", "missing", "", False),
        ("../Deep", "unsupported", "", False),
        ("Same", "resolved", "one/Same", True),
        ("#A", "resolved", "h0", False),
        ("#c#b", "resolved", "h2", False),
        ("#B", "resolved", "h1", True),
        ("Home#none", "missing", "", False),
        ("#^one", "resolved", "b1", False),
        ("#^again", "resolved", "b2", True),
        ("#^none", "missing", "", False),
        ("pic.png", "resolved", "pic.png", False),
        ("pic2.png", "resolved", "x/pic2.png", True),
        ("y\\pic2.png", "resolved", "y/pic2.png", False),
        ("none.png", "missing", "", False),
        ("%zz", "unsupported", "", False),
        (" ", "unsupported", "", False),
        (".md", "resolved", "Home", False),
    ],
)
def test_where_a_wiki_link_leads(written: str, status: str, leads_to: str, is_ambiguous: bool) -> None:
    plan, home = a_plan()
    target = wiki_target(plan, home, written)
    assert (target.status, target.is_ambiguous) == (status, is_ambiguous)
    if target.attachment is not None:
        assert target.attachment.file == leads_to
    elif target.note is not None:
        assert leads_to in (target.block_id, target.note.rel)


@pytest.mark.parametrize(
    ("written", "status", "outside"),
    [
        ("sub/Deep.md", "resolved", False),
        ("sub/Deep.md#none", "missing", False),
        ("#A", "resolved", False),
        ("pic.png", "resolved", False),
        ("https://a.b/c.md", "unsupported", False),
        ("mailto:a@b.c", "unsupported", False),
        ("/etc/x.png", "unsupported", True),
        ("../x.md", "unsupported", True),
        ("word", "unsupported", False),
        ("none.md", "missing", False),
        ("", "unsupported", False),
        ("%z", "unsupported", False),
    ],
)
def test_where_a_link_leads(written: str, status: str, outside: bool) -> None:
    plan, home = a_plan()
    assert link_target(plan, home, written).status == status
    assert leads_out(written) == outside


def test_escapes_are_whole_or_the_text_means_nothing() -> None:
    assert [unescaped(text) for text in ("a%20b", "%", "%4", "%e4%b8%ad")] == ["a b", None, None, "中"]


def text_of(text: str) -> str:
    plan, home = a_plan()
    deep, pic = plan.by_rel["sub/deep"].id, plan.attachments["pic.png"].name
    numbers = itertools.count(90)
    done = converted(plan, home, text, lambda: ID.format(next(numbers))).text
    return done.replace(deep, "DEEP").replace(pic, "PIC").replace("20240101000000-00000", "#")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[Deep]]", "((DEEP 'Deep'))"),
        ('[[Deep|it\'s "x"]]', '((DEEP "it\'s \\"x\\""))'),
        ("[[#A#B]] [[#^one]]", "((h1 'B')) ((b1 'Home'))"),
        ("a ![[Deep]] b", "a \n\n{{SELECT * FROM blocks WHERE id = 'DEEP'}}\n\n b"),
        ("![[pic.png]]", "![pic.png](assets/PIC)"),
        ("![[pic.png|20X30]]", '![pic.png](assets/PIC){: style="width: 20px; height: 30px;"}'),
        ("![[pic.png|0]]", "![pic.png](assets/PIC)"),
        ("[[pic.png|a[b]]]", "[a\\[b](assets/PIC)]"),
        ("[[none]] `[[Deep]]`", "[[none]] `[[Deep]]`"),
        ("text ^one", 'text\n{: id="b1"}'),
        ("> text ^one", '> text\n> {: id="b1"}'),
        ("- text ^one\n", '- {: id="b1"}text\n'),
        ("x ^again\n\ny ^again", 'x\n{: id="b2"}\n\ny ^again'),
        ("x ^other", "x ^other"),
        ("a[^n] b[^n]\n\n[^n]: note", 'a((#90 "[1]")) b((#90 "[1]"))\n\n1. note\n   {: id="#90"}\n'),
        ("a[^n]\n\n[^n]: one\n[^n]: two", "a[^n]\n\n[^n]: one\n[^n]: two"),
        (
            "[^b] [^a]\n\n[^a]: 1\n[^b]: 2 [^a]",
            '((#91 "[1]")) ((#90 "[2]"))\n\n1. 2 [^a]\n   {: id="#91"}\n2. 1\n   {: id="#90"}\n',
        ),
    ],
)
def test_a_note_becomes_markdown_of_the_notes(text: str, shown: str) -> None:
    assert text_of(text) == shown

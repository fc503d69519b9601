"""Operations that take a block from one place to another: move, append, folding, and moves in the outline."""

from __future__ import annotations

import pytest

from kernel.workspace.operations import Operation
from kernel.workspace.outline_moves import NOT_INTO_ITSELF, ONLY_TO_TOP_LEVEL, ONLY_TOP_LEVEL
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.test_edits import GONE, do, document, now, place
from tests.workspace.test_moves import texts

TEXT = "one\n\n* a\n* b\n\n{{{row\nx\n\ny\n\n}}}\n\n* [ ] t\n\n# h\n\nsec\n\n# k"
REST = [["x", "y"], [["t"]], "h", "sec", "k"]


@pytest.mark.parametrize(
    ("moved", "name", "target", "shown"),
    [
        ("one", "previousID", "k", [[["a"], ["b"]], *REST, "one"]),
        ("k", "parentID", "root", ["k", "one", [["a"], ["b"]], *REST[:-1]]),
        ("one", "parentID", "^x", [[["a"], ["b"]], ["one", "x", "y"], *REST[1:]]),
        ("one", "parentID", "^t", [[["a"], ["b"]], ["x", "y"], [["one", "t"]], "h", "sec", "k"]),
        ("^b", "previousID", "^t", ["one", [["a"]], ["x", "y"], [["t"], ["b"]], "h", "sec", "k"]),
        ("^t", "previousID", "^a", ["one", [["a"], ["t"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("one", "previousID", "one", ["one", [["a"], ["b"]], *REST]),
        ("^^a", "previousID", "a", ["one", [["a"], ["b"]], *REST]),
    ],
)
async def test_a_block_is_moved(kernel: MemoryKernel, moved: str, name: str, target: str, shown: list[object]) -> None:
    root = await document(kernel, TEXT)
    operation = Operation(action="move", id=place(kernel, root, moved), **{name: place(kernel, root, target)})
    assert do(kernel, operation) is None
    assert now(kernel, root) == shown


FOLDED = "# a\n\nx\n\n# b\n\ny\n\n# c"


@pytest.mark.parametrize(
    ("moved", "name", "target", "shown"),
    [
        ("a", "previousID", "c", ["b", "y", "c", "a", "x"]),
        ("c", "previousID", "a", ["a", "x", "c", "b", "y"]),
        ("a", "previousID", "x", ["a", "x", "b", "y", "c"]),
        ("x", "previousID", "a", ["a", "x", "b", "y", "c"]),
        ("a", "previousID", "b", ["b", "y", "a", "x", "c"]),
    ],
)
async def test_a_folded_heading_takes_its_section_along(
    kernel: MemoryKernel, moved: str, name: str, target: str, shown: list[object]
) -> None:
    root = await document(kernel, FOLDED)
    for head in ("a", "b"):
        assert do(kernel, Operation(action="foldHeading", id=place(kernel, root, head))) is None
    assert (
        do(kernel, Operation(action="move", id=place(kernel, root, moved), **{name: place(kernel, root, target)}))
        is None
    )
    assert now(kernel, root) == shown


async def test_a_move_may_open_what_it_moves(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\nx\n\n# b")
    a = place(kernel, root, "a")
    do(kernel, Operation(action="foldHeading", id=a))
    assert (
        do(kernel, Operation(action="move", id=a, previousID=place(kernel, root, "b"), context={"removeFold": "true"}))
        is None
    )
    assert "fold" not in kernel.workspace.document(root.id).nodes[a].properties
    assert any("-update/" in path for path, _ in kernel.workspace.files.walk("history"))


@pytest.mark.parametrize(
    ("target", "moved", "source_shown", "target_shown"),
    [
        ("end", "one", [[["a"]], "h", "sec"], ["end", "one"]),
        ("end", "^a", ["one", "h", "sec"], ["end", [["a"]]]),
        ("* z", "^a", ["one", "h", "sec"], [[["z"], ["a"]]]),
        ("end", "h", ["one", [["a"]]], ["end", "h", "sec"]),
    ],
)
async def test_a_block_is_put_at_the_end_of_another_document(
    kernel: MemoryKernel, target: str, moved: str, source_shown: list[object], target_shown: list[object]
) -> None:
    root = await document(kernel, "one\n\n1. a\n\n# h\n\nsec")
    other = await document(kernel, target)
    do(kernel, Operation(action="foldHeading", id=place(kernel, root, "h")))
    assert do(kernel, Operation(action="append", id=place(kernel, root, moved), parentID=other.id)) is None
    assert (now(kernel, root), now(kernel, other)) == (source_shown, target_shown)


async def test_a_document_is_put_nowhere_and_an_empty_one_takes_a_list(kernel: MemoryKernel) -> None:
    root, other = await document(kernel, "* a\n* b"), await document(kernel, "x")
    assert do(kernel, Operation(action="append", id=root.id, parentID=other.id)) is None
    assert (
        do(kernel, Operation(action="append", id=place(kernel, root, "^a"), parentID=place(kernel, root, "^a"))) is None
    )
    assert (now(kernel, root), now(kernel, other)) == ([[["a"], ["b"]]], ["x"])
    operations = [Operation(action="delete", id=place(kernel, other, "x"))]
    operations.append(Operation(action="append", id=place(kernel, root, "^a"), parentID=other.id))
    assert do(kernel, *operations) is None
    assert now(kernel, other) == [[["a"]]]


async def test_folding_tells_ids_and_opening_tells_the_dom(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\n## b\n\nx")
    a, b, x = (place(kernel, root, text) for text in "abx")
    for head, hidden in ((b, [x]), (a, [b, x])):
        fold = Operation(action="foldHeading", id=head)
        assert do(kernel, fold) is None
        assert fold["retData"] == hidden
    kernel.workspace.take_events()
    opened = Operation(action="unfoldHeading", id=b)
    assert do(kernel, opened) is None
    assert f'data-node-id="{x}"' in opened["retData"]
    assert not any("fold" in node.properties for node in kernel.workspace.document(root.id).root.walk())
    assert [event.data for event in kernel.workspace.take_events() if event.cmd == "reload"] == [root.id]
    assert do(kernel, Operation(action="unfoldHeading", id=a)) is None
    assert [event.data for event in kernel.workspace.take_events() if event.cmd == "reload"] == []


# --- in the outline ------------------------------------------------------------------------------------------------
OUTLINE = "p\n\n# a\n\nx\n\n## b\n\ny\n\n# c\n\nz"


@pytest.mark.parametrize(
    ("moved", "name", "target", "shown"),
    [
        ("c", "previousID", "a", "p #a x ##b y #c z"),
        ("c", "previousID", "b", "p #a x ##b y ##c z"),
        ("b", "previousID", "c", "p #a x #c z #b y"),
        ("b", "previousID", "a", "p #a x #b y #c z"),
        ("a", "previousID", "c", "p #c z #a x ##b y"),
        ("c", "parentID", "a", "p #a x ##c z ##b y"),
        ("a", "parentID", "c", "p #c z ##a x ###b y"),
        ("b", "parentID", "a", "p #a x ##b y"),
        ("c", "", "", "p #c z #a x ##b y"),
        ("b", "", "", "p #b y #a x #c z"),
        ("a", "", "", "p #a x ##b y #c z"),
        ("a", "previousID", "a", "p #a x ##b y #c z"),
    ],
)
async def test_a_heading_moves_with_its_section_and_takes_its_new_level(
    kernel: MemoryKernel, moved: str, name: str, target: str, shown: str
) -> None:
    root = await document(kernel, OUTLINE)
    where = {name: place(kernel, root, target)} if name else {}
    operation = Operation(action="moveOutlineHeading", id=place(kernel, root, moved), **where)
    assert do(kernel, operation) is None
    found = " ".join(texts(kernel.workspace.document(root.id).root))
    assert found == (shown if "#c" in shown else f"{shown} #c z")
    assert operation["retData"] == root.id


async def test_only_headings_at_the_top_are_moved_and_not_into_themselves(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\n## b\n\n> # q\n\n# c")
    before = now(kernel, root)
    for moved, name, target, told in (
        ("q", "previousID", "a", ONLY_TOP_LEVEL),
        ("c", "previousID", "q", ONLY_TO_TOP_LEVEL),
        ("a", "parentID", "b", NOT_INTO_ITSELF),
    ):
        operation = Operation(
            action="moveOutlineHeading", id=place(kernel, root, moved), **{name: place(kernel, root, target)}
        )
        assert do(kernel, operation) is None
        assert [event.msg for event in kernel.workspace.take_events() if event.cmd == "msg"] == [told]
    assert now(kernel, root) == before
    assert do(kernel, Operation(action="moveOutlineHeading", id=GONE)) is not None


async def test_a_deep_section_goes_no_deeper_than_six(kernel: MemoryKernel) -> None:
    root = await document(kernel, "##### a\n\n###### b\n\n# c\n\n## d")
    do(kernel, Operation(action="moveOutlineHeading", id=place(kernel, root, "c"), parentID=place(kernel, root, "b")))
    assert texts(kernel.workspace.document(root.id).root) == ["#####a", "######b", "######c", "######d"]


async def test_nothing_of_the_outline_moves_that_is_no_heading(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\nx\n\n# b")
    a, x, b = (place(kernel, root, text) for text in "axb")
    for moved, target in ((x, b), (b, x)):
        assert do(kernel, Operation(action="moveOutlineHeading", id=moved, previousID=target)) is None
    assert now(kernel, root) == ["a", "x", "b"]
    assert a != b


async def test_an_opened_section_is_drawn_with_the_numbers_of_its_references(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\nx")
    a, x = place(kernel, root, "a"), place(kernel, root, "x")
    await document(kernel, f"(({x} 'x'))")
    opened = Operation(action="unfoldHeading", id=a)
    assert do(kernel, opened) is None
    assert 'refcount="1"' in opened["retData"]
    assert "refcount" not in kernel.workspace.document(root.id).nodes[x].properties

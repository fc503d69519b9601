"""One operation on one or two trees: insert, append, prepend, update, delete, move, fold."""

from __future__ import annotations

import re

import pytest

from kernel.workspace.intake import dom_of_blocks, markdown_dom
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.transactions import perform
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.test_swaps import block, outline

GONE = "20240101000000-unknown"
OWN = "20240101000000-ownownx"


def do(kernel: MemoryKernel, *operations: Operation) -> str | None:
    return perform(kernel.workspace, Transaction(list(operations)))


async def document(kernel: MemoryKernel, markdown: str) -> Node:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", markdown)
    kernel.workspace.take_events()
    return kernel.workspace.document(root_id).root


def dom(kernel: MemoryKernel, markdown: str) -> str:
    return markdown_dom(kernel.workspace, markdown)


def now(kernel: MemoryKernel, root: Node) -> list[object]:
    return outline(kernel.workspace.document(root.id).root)


def place(kernel: MemoryKernel, root: Node, where: str) -> str:
    """The block that a case names: ``root``, a text, or a place among its parents (``^text`` is one up)."""
    if where == "root":
        return root.id
    node: Node | None = kernel.workspace.document(root.id).nodes[block(kernel, root.id, where.lstrip("^"))]
    for _ in range(where.count("^")):
        assert node is not None
        node = node.parent
    assert node is not None
    return node.id


TEXT = "one\n\n* a\n* b\n\n{{{row\nx\n\ny\n\n}}}\n\n# h\n\nsec\n\n# k"


@pytest.mark.parametrize(
    ("action", "where", "data", "shown"),
    [
        ("nextID", "one", "n", ["n", "one", [["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("previousID", "one", "n\n\nm", ["one", "n", "m", [["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("previousID", "^a", "* n", ["one", [["a"], ["n"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("nextID", "^a", "* n", ["one", [["n"], ["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("parentID", "root", "n\n\nm", ["n", "m", "one", [["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("parentID", "^x", "n", ["one", [["a"], ["b"]], ["n", "x", "y"], "h", "sec", "k"]),
        ("parentID", "one", "n", ["one", "n", [["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("appendInsert", "root", "n\n\nm", ["one", [["a"], ["b"]], ["x", "y"], "h", "sec", "k", "n", "m"]),
        ("appendInsert", "^^a", "n", ["one", [["a"], ["b"], ["n"]], ["x", "y"], "h", "sec", "k"]),
        ("appendInsert", "^^a", "* n\n* m", ["one", [["a"], ["b"], ["n"], ["m"]], ["x", "y"], "h", "sec", "k"]),
        ("appendInsert", "^x", "n", ["one", [["a"], ["b"]], ["x", "y", "n"], "h", "sec", "k"]),
        ("appendInsert", "h", "n\n\nm", ["one", [["a"], ["b"]], ["x", "y"], "h", "sec", "n", "m", "k"]),
        ("appendInsert", "k", "n", ["one", [["a"], ["b"]], ["x", "y"], "h", "sec", "k", "n"]),
        ("prependInsert", "root", "n\n\nm", ["n", "m", "one", [["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("prependInsert", "^^a", "* n\n* m", ["one", [["n"], ["m"], ["a"], ["b"]], ["x", "y"], "h", "sec", "k"]),
        ("prependInsert", "^x", "n", ["one", [["a"], ["b"]], ["n", "x", "y"], "h", "sec", "k"]),
        ("prependInsert", "h", "n", ["one", [["a"], ["b"]], ["x", "y"], "h", "n", "sec", "k"]),
    ],
)
async def test_blocks_are_put_where_the_operation_says(
    kernel: MemoryKernel, action: str, where: str, data: str, shown: list[object]
) -> None:
    root = await document(kernel, TEXT)
    target = place(kernel, root, where)
    if action.endswith("ID"):
        operation = Operation(action="insert", data=dom(kernel, data), **{action: target})
    else:
        operation = Operation(action=action, data=dom(kernel, data), parentID=target)
    assert do(kernel, operation) is None
    assert now(kernel, root) == shown
    assert operation.action == "insert"
    # A list that was put into a list has given its items away, and its id with them.
    assert kernel.workspace.blocks.root_of(operation.id) == (None if data == "* n\n* m" else root.id)


@pytest.mark.parametrize("action", ["insert", "appendInsert"])
async def test_what_stands_nowhere_draws_the_windows_anew(kernel: MemoryKernel, action: str) -> None:
    root = await document(kernel, "one")
    assert do(kernel, Operation(action=action, data=dom(kernel, "n"), parentID=GONE)) is None
    assert [event.cmd for event in kernel.workspace.take_events() if event.cmd == "reloadui"] == ["reloadui"]
    assert now(kernel, root) == ["one"]


async def test_what_cannot_be_put_in_changes_nothing(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    one = place(kernel, root, "one")
    data = dom(kernel, "n")
    for operation in (
        Operation(action="insert", data=5, nextID=one),
        Operation(action="insert", data="", nextID=one),
        Operation(action="insert", data=data, nextID=GONE, previousID=one),
        Operation(action="insert", data=data, nextID=root.id),
        Operation(action="insert", data=data, previousID=root.id),
        Operation(action="update", id=one, data=5),
        Operation(action="update", id=one, data=""),
        Operation(action="update", id=one, data="<wbr>"),
        Operation(action="update", id=root.id, data=data),
        Operation(action="update", id=GONE, data=data),
        Operation(action="doUpdateUpdated", id=one, data=5),
        Operation(action="move", id=root.id, previousID=one),
    ):
        assert do(kernel, operation) is not None
        assert [event.cmd for event in kernel.workspace.take_events()] == ["txerr"]
        assert now(kernel, root) == ["one"]
    for operation in (
        Operation(action="delete", id=GONE),
        Operation(action="delete", id=root.id),
        Operation(action="doUpdateUpdated", id=GONE),
    ):
        assert do(kernel, operation) is None
    assert now(kernel, root) == ["one"]


async def test_a_bad_id_is_replaced_and_bindings_are_dropped(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    bound = dom(kernel, "n").replace("<div ", '<div custom-avs="x" custom-sy-av-s-text-y="z" custom-kept="1" ', 1)
    bad = re.sub(r'data-node-id="[^"]*"', 'data-node-id="bad"', bound, count=1)
    operation = Operation(action="insert", data=bad, previousID=place(kernel, root, "one"))
    assert do(kernel, operation) is None
    node = kernel.workspace.document(root.id).nodes[operation.id]
    assert (operation.id != "bad", [name for name in node.properties if name.startswith("custom-")]) == (
        True,
        ["custom-kept"],
    )
    view = f'<div data-node-id="{OWN}" data-type="NodeAttributeView" data-av-id="bad" data-av-type="table"></div>'
    assert do(kernel, Operation(action="insert", data=view, parentID=root.id)) is None
    assert kernel.workspace.document(root.id).nodes[OWN].fields["AttributeViewID"] != "bad"


async def test_an_item_comes_out_of_its_list_when_it_is_named(kernel: MemoryKernel) -> None:
    root = await document(kernel, "* [ ] t\n* [ ] u")
    data = dom(kernel, "* [ ] n")
    item = data.split('data-type="NodeListItem"')[0].rsplit('data-node-id="', 1)[1][:22]
    assert do(kernel, Operation(action="insert", id=item, data=data, parentID=place(kernel, root, "^^t"))) is None
    assert now(kernel, root) == [[["n"], ["t"], ["u"]]]
    assert (
        do(kernel, Operation(action="insert", data=dom(kernel, "p\n\nq"), parentID=place(kernel, root, "^t"))) is None
    )
    assert now(kernel, root) == [[["n"], ["q", "p", "t"], ["u"]]]


@pytest.mark.parametrize(
    ("where", "data", "shown"),
    [
        ("one", "# new\n\nrest", ["new", [["a"], ["b"]]]),
        ("^a", "* n\n* m", ["one", [["n"], ["b"]]]),
        ("^^a", "text", ["one", "text"]),
        ("a", "A", ["one", [["A"], ["b"]]]),
    ],
)
async def test_an_update_puts_the_first_block_in_the_place(
    kernel: MemoryKernel, where: str, data: str, shown: list[object]
) -> None:
    root = await document(kernel, "one\n\n* a\n* b")
    assert do(kernel, Operation(action="update", id=place(kernel, root, where), data=dom(kernel, data))) is None
    assert now(kernel, root) == shown


async def test_an_update_drops_what_says_nothing(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one\n\ntwo")
    one, two = (place(kernel, root, text) for text in ("one", "two"))
    assert do(kernel, Operation(action="update", id=one, data=dom(kernel, f"x (({two} 'two'))"))) is None
    math = '<div data-node-id="ID" data-type="NodeParagraph"><div contenteditable="true">a<span data-type="inline-math" data-content=" "></span></div></div>'
    assert do(kernel, Operation(action="update", id=two, data=math.replace("ID", two))) is None
    node = kernel.workspace.document(root.id).nodes[two]
    assert [child.type for child in node.children] == ["NodeText"]
    page = dom(kernel, "<div>\na\n</div>").replace("\na\n", "\n\na\n\n")
    assert do(kernel, Operation(action="update", id=two, data=page)) is None
    (html,) = [node.data for node in kernel.workspace.document(root.id).root.children if node.type == "NodeHTMLBlock"]
    assert "\n\n" not in html


async def test_a_folded_heading_in_a_new_container_brings_its_section(kernel: MemoryKernel) -> None:
    root = await document(kernel, "> # h\n>\n> sec\n>\n> # k")
    head = place(kernel, root, "h")
    assert do(kernel, Operation(action="foldHeading", id=head)) is None
    quote = place(kernel, root, "^h")
    sent = kernel.workspace.node(quote)[1].clone()
    next(child for child in sent.children if child.id == place(kernel, root, "sec")).detach()
    assert do(kernel, Operation(action="update", id=quote, data=dom_of_blocks([sent]))) is None
    assert now(kernel, root) == [["h", "sec", "k"]]


async def test_a_heading_that_has_become_less_opens_what_would_hide_it(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\nx\n\n# b\n\ny")
    assert do(kernel, Operation(action="foldHeading", id=place(kernel, root, "a"))) is None
    kernel.workspace.take_events()
    assert do(kernel, Operation(action="update", id=place(kernel, root, "b"), data=dom(kernel, "## b"))) is None
    assert [event.data["id"] for event in kernel.workspace.take_events() if event.cmd == "unfoldHeading"] == [
        place(kernel, root, "a")
    ]
    assert "fold" not in kernel.workspace.document(root.id).nodes[place(kernel, root, "a")].properties


@pytest.mark.parametrize("folds", [False, True])
async def test_a_heading_that_has_outgrown_a_folded_one_is_shown_again(kernel: MemoryKernel, folds: bool) -> None:
    root = await document(kernel, "# a\n\n## b\n\ny")
    a, b = place(kernel, root, "a"), place(kernel, root, "b")
    assert do(kernel, Operation(action="foldHeading", id=a)) is None
    kernel.workspace.take_events()
    data = dom(kernel, "# b")
    data = data.replace(data.split('data-node-id="')[1][:22], b)
    rest = [Operation(action="foldHeading", id=b)] if folds else []
    assert do(kernel, Operation(action="update", id=b, data=data), *rest) is None
    told = [event.data for event in kernel.workspace.take_events() if event.cmd == "transactions"]
    assert told[0][0]["doOperations"][0]["previousID"] == a
    assert (kernel.workspace.document(root.id).nodes[b].properties.get("fold") == "1") is folds


@pytest.mark.parametrize(("follows", "shown"), [(False, ["", "b"]), (True, ["n", "b"])])
async def test_an_emptied_item_gets_a_paragraph_unless_one_follows(
    kernel: MemoryKernel, follows: bool, shown: list[str]
) -> None:
    root = await document(kernel, "* a\n* b")
    item = place(kernel, root, "^a")
    operations = [Operation(action="delete", id=place(kernel, root, "a"))]
    if follows:
        operations.append(Operation(action="insert", data=dom(kernel, "n"), parentID=item))
    assert do(kernel, *operations) is None
    assert now(kernel, root) == [[[one] for one in shown]]


async def test_a_document_that_loses_all_gets_an_empty_paragraph(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    assert do(kernel, Operation(action="delete", id=place(kernel, root, "one"))) is None
    assert now(kernel, root) == [""]


async def test_a_block_is_given_the_time_it_says(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    one = place(kernel, root, "one")
    assert do(kernel, Operation(action="doUpdateUpdated", id=one, data="20300101000000")) is None
    found = kernel.workspace.document(root.id)
    assert (found.nodes[one].properties["updated"], found.root.properties["updated"]) == (
        "20300101000000",
        "20300101000000",
    )


async def test_blocks_after_a_folded_heading_stand_after_its_section(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\nx\n\n# b")
    a = place(kernel, root, "a")
    do(kernel, Operation(action="foldHeading", id=a))
    assert do(kernel, Operation(action="insert", data=dom(kernel, "n\n\nm"), previousID=a)) is None
    assert now(kernel, root) == ["a", "x", "n", "m", "b"]


async def test_a_second_block_of_an_id_is_read_under_one_of_its_own(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one\n\ntwo")
    one = place(kernel, root, "one")
    data = dom(kernel, "n")
    data = data.replace(data.split('data-node-id="')[1][:22], one)
    assert do(kernel, Operation(action="insert", data=data, previousID=place(kernel, root, "two"))) is None
    ids = [child.id for child in kernel.workspace.document(root.id).root.children]
    assert (now(kernel, root), len(set(ids)), ids[0]) == (["one", "two", "n"], 3, one)


async def test_a_block_that_its_document_has_lost_is_not_found(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one\n\ntwo")
    one = place(kernel, root, "one")
    del kernel.workspace.document(root.id).nodes[one]
    assert (
        do(kernel, Operation(action="update", id=one, data=dom(kernel, "n")))
        == f"Transaction failed: block not found [{one}]"
    )


async def test_an_update_with_nothing_in_it_is_refused(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    one = place(kernel, root, "one")
    nothing = '<div class="protyle-attr"></div>'
    assert do(kernel, Operation(action="update", id=one, data=nothing)) == f"block not found [{one}]"
    assert now(kernel, root) == ["one"]


async def test_a_heading_that_has_become_less_under_an_open_one_changes_nothing_else(kernel: MemoryKernel) -> None:
    root = await document(kernel, "# a\n\n# b")
    assert do(kernel, Operation(action="update", id=place(kernel, root, "b"), data=dom(kernel, "## b"))) is None
    assert not any(event.cmd == "unfoldHeading" for event in kernel.workspace.take_events())

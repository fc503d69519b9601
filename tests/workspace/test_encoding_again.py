"""A document is encoded anew only where it was touched: always the same bytes as encoding all of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace.loaded import loaded_document
from kernel.workspace.tree import Node, Tree

ROOT = "20240101000000-rootaaa"
STEP = st.tuples(
    st.sampled_from(["set", "append", "remove", "replace", "move", "inner", "title", "many"]), st.integers(0, 30)
)


def paragraph(number: int) -> Node:
    block_id = f"20240101{number:06d}-abcdefg"
    return Node("NodeParagraph", id=block_id, properties={"id": block_id}, children=[Node("NodeText", data="text")])


def step(root: Node, kind: str, at: int, fresh: int) -> list[Node]:
    """Change the document in some way; what that touches."""
    children = root.children
    if kind == "append" or not children:
        root.append(new := paragraph(fresh))
        return [new, root]
    node = children[at % len(children)]
    if kind == "remove":
        node.detach()
        return [node]
    if kind == "replace":
        node.insert_after(new := paragraph(fresh))
        node.detach()
        return [new, root]
    if kind == "move":
        root.insert(at % (len(children)), node.detach())
        return []
    if kind == "inner":
        node.children[0].data += "!"
        return [node.children[0]]
    touched: list[Node] = {"title": [root], "many": list(children)}.get(kind, [node])
    for one in touched:
        one.properties["custom-number"] = str(fresh)
    return touched


@given(steps=st.lists(STEP, max_size=25), count=st.integers(0, 15))
@settings(max_examples=80, deadline=None)
def test_only_what_was_touched_is_encoded_and_the_bytes_are_those_of_all(
    steps: list[tuple[Any, int]], count: int
) -> None:
    root = Node("NodeDocument", id=ROOT, properties={"id": ROOT}, children=[paragraph(one) for one in range(count)])
    document = loaded_document(Tree(root, box="", path=""))
    document.encode(None)
    for number, (kind, at) in enumerate(steps):
        touched = step(root, kind, at, 100 + number)
        content = document.encode(touched)
        assert content.whole() == loaded_document(document.tree).encode(None).whole()
        assert len(content) == len(content.whole())
        if number % 5 == 4:
            document.take_encoded(content.whole())

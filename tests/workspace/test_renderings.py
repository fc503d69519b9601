"""What was made of a document is given again until something of the document changes, within a bound of characters."""

from __future__ import annotations

import pytest

from kernel.workspace.loaded import Document, loaded_document
from kernel.workspace.renderings import Renderings
from kernel.workspace.tree import Node, Tree
from tests.siyuan.kernel_in_memory import MemoryKernel


def document(name: str) -> Document:
    return loaded_document(Tree(Node("NodeDocument", id=name), box="", path=""))


def made_of(renderings: Renderings, of: Document, text: str, form: str = "md") -> str:
    return renderings.get(of, form, lambda: text)


def test_a_text_is_made_once_for_each_state_and_form() -> None:
    renderings, one = Renderings(), document("one")
    assert made_of(renderings, one, "first") == "first"
    assert made_of(renderings, one, "second") == "first"
    assert made_of(renderings, one, "other", "textmark") == "other"
    one.encode(None)
    assert made_of(renderings, one, "second") == "second"
    # Read anew from its file, it is another object, in another state.
    assert made_of(renderings, document("one"), "third") == "third"


def test_the_texts_asked_for_longest_ago_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.workspace.renderings.RENDERINGS_CHARS_MAX", 10)
    monkeypatch.setattr("kernel.workspace.renderings.RENDERING_CHARS_MAX", 6)
    renderings = Renderings()
    one, two, three = (document(name) for name in ("one", "two", "three"))
    made_of(renderings, one, "11111")
    made_of(renderings, two, "22222")
    made_of(renderings, one, "")
    made_of(renderings, three, "33333")
    assert renderings.chars == 10
    assert [made_of(renderings, of, "new") for of in (one, three, two)] == ["11111", "33333", "new"]
    assert made_of(renderings, two, "") == "new"


@pytest.mark.parametrize(("length", "kept"), [(6, 6), (7, 0)])
def test_a_text_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch, length: int, kept: int) -> None:
    monkeypatch.setattr("kernel.workspace.renderings.RENDERING_CHARS_MAX", 6)
    renderings, one = Renderings(), document("one")
    made_of(renderings, one, "x" * length)
    assert renderings.chars == kept


async def test_a_document_reads_as_it_now_stands_after_every_kind_of_change() -> None:
    made = MemoryKernel()
    root_id = await made.document(await made.notebook(), "/Doc", "alpha\n\nbeta")

    async def text() -> str:
        return str((await made.call("block/getBlockKramdown", id=root_id))["kramdown"])

    first, second = [row["id"] for row in await made.call("block/getChildBlocks", id=root_id)]
    assert "alpha" in await text()
    await made.call("block/updateBlock", id=first, dataType="markdown", data="gamma")
    assert "gamma" in await text()
    await made.call("attr/setBlockAttrs", id=second, attrs={"custom-mark": "delta"})
    assert 'custom-mark="delta"' in await text()
    await made.call("block/deleteBlock", id=second)
    assert "delta" not in await text()
    await made.call("filetree/renameDocByID", id=root_id, title="Renamed")
    assert 'title="Renamed"' in await text()


async def test_a_document_that_is_being_changed_is_not_kept() -> None:
    made = MemoryKernel()
    root_id = await made.document(await made.notebook(), "/Doc", "alpha")
    workspace = made.workspace
    taken = workspace.edit(root_id)
    assert workspace.rendered(taken, "md", lambda: "half changed") == "half changed"
    assert workspace.rendered(taken, "md", lambda: "changed") == "changed"
    workspace.end_call()
    whole = workspace.document(root_id)
    assert workspace.rendered(whole, "md", lambda: "whole") == "whole"
    assert workspace.rendered(whole, "md", lambda: "again") == "whole"

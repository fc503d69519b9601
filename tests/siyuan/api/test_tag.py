"""/api/tag: the tree of tags, and changing one everywhere."""

from __future__ import annotations

from typing import Any

from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel


def _tree(tags: list[dict[str, Any]]) -> dict[str, Any]:
    return {tag["label"]: _tree(tag["children"] or []) for tag in tags}


async def _documents(kernel: MemoryKernel) -> tuple[str, str]:
    box = await kernel.notebook()
    return (
        await kernel.document(box, "/One", "#a/b# and #a/b/c#"),
        await kernel.document(box, "/Two", "#d# and #a/bc#"),
    )


async def test_tags_form_a_tree_by_their_slashes(kernel: MemoryKernel) -> None:
    await _documents(kernel)
    tags = await kernel.call("tag/getTag")
    assert _tree(tags) == {"a": {"a/b": {"a/b/c": {}}, "a/bc": {}}, "d": {}}


async def test_a_sort_order_is_kept_until_the_tags_are_asked_for_without_one(kernel: MemoryKernel) -> None:
    await _documents(kernel)
    tags = await kernel.call("tag/getTag", sort=1)
    assert [tag["label"] for tag in tags] == ["d", "a"]
    assert kernel.restarted().workspace.conf.section("tag")["sort"] == 1
    assert [tag["label"] for tag in await kernel.call("tag/getTag")] == ["a", "d"]
    assert kernel.restarted().workspace.conf.section("tag")["sort"] == 0


async def test_renaming_takes_the_tags_below_along_and_no_others(kernel: MemoryKernel) -> None:
    one, _ = await _documents(kernel)
    frames: list[dict[str, Any]] = []
    kernel.kernel.push.add(PushSession("app", "editor", "protyle", frames.append))
    await kernel.call("tag/renameTag", oldLabel="a/b", newLabel="/x/")
    assert _tree(await kernel.call("tag/getTag")) == {"a": {"a/bc": {}}, "d": {}, "x": {"x/c": {}}}
    assert [frame["data"] for frame in frames if frame["cmd"] == "reload"] == [one]
    assert await kernel.refusal("tag/renameTag", oldLabel="a", newLabel=" / ") == "Tag cannot be empty"


async def test_a_new_label_must_not_read_as_markdown_unless_it_is_in_another_script(kernel: MemoryKernel) -> None:
    await _documents(kernel)
    message = await kernel.refusal("tag/renameTag", oldLabel="d", newLabel="x#y")
    assert message == "Do not include Markdown syntax marker [#]"
    await kernel.call("tag/renameTag", oldLabel="d", newLabel="\u6807#")
    assert "\u6807#" in _tree(await kernel.call("tag/getTag"))


async def test_removing_leaves_the_text(kernel: MemoryKernel) -> None:
    _, two = await _documents(kernel)
    await kernel.call("tag/removeTag", label="d")
    assert _tree(await kernel.call("tag/getTag")) == {"a": {"a/b": {"a/b/c": {}}, "a/bc": {}}}
    rows = await kernel.call("query/sql", stmt=f"SELECT tag FROM blocks WHERE root_id = '{two}' AND type = 'p'")
    assert rows == [{"tag": "#a/bc#"}]
    await kernel.call("tag/removeTag", label="")


async def test_a_label_longer_than_a_pattern_may_be_is_a_tag_that_nobody_uses(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "#a#")
    for letters in (49_998, 50_001):
        long = "x" * letters
        assert (await kernel.call("search/searchTag", k=long))["tags"] == []
        await kernel.call("tag/renameTag", oldLabel=long, newLabel="b")
    assert (await kernel.call("search/searchTag", k="a"))["tags"] == ["<mark>a</mark>"]

"""/api/snippet: all snippets in one file, replaced as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.siyuan.api.snippet import PATH
from tests.siyuan.kernel_in_memory import MemoryKernel

CSS = {"id": "", "name": "A", "type": "css", "enabled": True, "content": "b{}"}
JS = {"id": "x", "name": "b", "type": "js", "enabled": False, "content": "ALERT", "disabledInPublish": True}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"type": "all", "enabled": 2}, ["A", "b"]),
        ({"type": "all", "enabled": 1}, ["A"]),
        ({"type": "all", "enabled": 0}, ["b"]),
        ({"type": "js", "enabled": 2}, ["b"]),
        ({"type": "all", "enabled": 2.5}, ["A"]),
        ({"type": "all", "enabled": 2, "keyword": " alert "}, ["b"]),
        ({"type": "all", "enabled": 2, "keyword": "none"}, []),
    ],
)
async def test_snippets_are_listed_by_type_and_state(given: Any, names: list[str]) -> None:
    kernel = MemoryKernel()
    await kernel.call("snippet/setSnippet", snippets=[CSS, JS])
    shown = (await kernel.call("snippet/getSnippet", **given))["snippets"]
    assert [one["name"] for one in shown] == names


async def test_an_empty_id_gets_a_new_one_and_a_removed_snippet_is_given_back() -> None:
    kernel = MemoryKernel()
    await kernel.call("snippet/setSnippet", snippets=[CSS, JS])
    assert json.loads(kernel.backend.contents[PATH])[0]["id"]
    assert await kernel.call("snippet/removeSnippet", id="x") == JS
    assert await kernel.call("snippet/removeSnippet", id="x") is None
    await kernel.call("snippet/setSnippet", snippets=[])
    assert kernel.backend.contents[PATH] == b"null"


@pytest.mark.parametrize("given", [{}, {"snippets": 5}, {"snippets": ["x"]}, {"snippets": [{"id": "a"}]}])
async def test_what_is_incomplete_stores_nothing(given: Any) -> None:
    kernel = MemoryKernel()
    assert await kernel.call("snippet/setSnippet", **given) is None
    wrong = {**JS, "disabledInPublish": "x"}
    assert await kernel.call("snippet/setSnippet", snippets=[wrong]) is None
    assert PATH not in kernel.backend.contents


async def test_css_cannot_leave_its_element() -> None:
    kernel = MemoryKernel()
    for content in ("b{} </STYLE>", "<script"):
        message = await kernel.refusal("snippet/setSnippet", snippets=[{**CSS, "content": content}])
        assert message == "invalid css snippet content"


async def test_a_stored_snippet_without_an_id_gets_one_and_a_broken_file_is_an_error() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write(PATH, json.dumps([CSS]).encode())
    first = await kernel.call("snippet/getSnippet", type="all", enabled=2)
    assert first["snippets"][0]["id"]
    assert await kernel.call("snippet/getSnippet", type="all", enabled=2) == first
    kernel.workspace.files.write(PATH, b"{}")
    assert (await kernel.refusal("snippet/getSnippet", type="all", enabled=2)).startswith("load snippets failed: ")
    assert (await kernel.refusal("snippet/removeSnippet", id="x")).startswith("remove snippet failed: ")

"""/api/graph: nodes and links, and the settings that are kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kernel.workspace.graph import default_conf
from tests.siyuan.kernel_in_memory import MemoryKernel


async def _linked(kernel: MemoryKernel) -> tuple[str, str]:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    return target, await kernel.document(box, "/Source", f"(({target} 'there'))")


async def test_the_graph_around_a_block_holds_what_it_is_linked_with(kernel: MemoryKernel) -> None:
    target, source = await _linked(kernel)
    await kernel.call("query/sql", stmt="SELECT 1")
    answer = await kernel.call("graph/getLocalGraph", id=target, k="", conf=default_conf(is_local=True), reqId=5)
    assert {target, source} <= {node["id"] for node in answer["nodes"]}
    assert (source, target) in {(link["from"], link["to"]) for link in answer["links"]}
    assert answer["reqId"] == 5


async def test_the_whole_graph_holds_linked_documents(kernel: MemoryKernel) -> None:
    target, source = await _linked(kernel)
    answer = await kernel.call("graph/getGraph", k="", conf=default_conf(is_local=False), reqId=1)
    assert {target, source} <= {node["id"] for node in answer["nodes"]}


async def test_settings_are_kept_and_reset(kernel: MemoryKernel) -> None:
    await _linked(kernel)
    conf = default_conf(is_local=False)
    conf["minRefs"] = 3
    answer = await kernel.call("graph/getGraph", k="", conf={**conf, "unknown": 1}, reqId=1)
    assert answer["conf"] == conf
    assert kernel.restarted().workspace.conf.section("graph")["global"]["minRefs"] == 3
    assert (await kernel.call("graph/resetGraph"))["conf"]["minRefs"] == 0
    assert (await kernel.call("graph/resetLocalGraph"))["conf"] == default_conf(is_local=True)


async def test_chosen_kinds_and_tags_are_nodes_too(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "# Head\n\npara #a/b# #a#")
    heading, paragraph = await kernel.children(root_id)
    conf = default_conf(is_local=True)
    conf["type"] |= {"tag": True, "heading": True, "paragraph": True}
    answer = await kernel.call("graph/getLocalGraph", id=root_id, k="", conf=conf)
    nodes = {node["id"]: node for node in answer["nodes"]}
    assert {root_id, heading, paragraph, "a", "a/b"} == set(nodes)
    assert (nodes[heading]["label"], nodes[paragraph]["title"]) == ("Head", "para #a/b# #a#")
    links = {(link["from"], link["to"]) for link in answer["links"]}
    assert {(root_id, heading), (heading, paragraph), ("a/b", paragraph), ("a", paragraph), ("a/b", "a")} <= links


async def test_a_block_has_a_graph_of_its_own(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "one\n\ntwo")
    first = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", f"(({first} 'there'))")
    (referring,) = await kernel.children(source)
    conf = default_conf(is_local=True)
    conf["type"]["paragraph"] = True
    answer = await kernel.call("graph/getLocalGraph", id=first, k="", conf=conf)
    assert {node["id"] for node in answer["nodes"]} == {first, referring}
    assert [(link["from"], link["to"], link["arrows"]) for link in answer["links"]] == [
        (referring, first, {"to": {"enabled": True}})
    ]
    unknown = await kernel.call("graph/getLocalGraph", id="20200101000000-zzzzzzz", k="", conf=conf)
    assert (unknown["nodes"], unknown["links"], unknown["box"]) == ([], [], "")
    assert await kernel.call("graph/getLocalGraph", reqId=3) == {"reqId": 3}


async def test_a_graph_is_cut_to_a_word_a_tag_or_a_block(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "apple\n\npear #fruit#")
    apple, pear = await kernel.children(root_id)
    conf = default_conf(is_local=False)
    conf["type"]["paragraph"] = True
    for query, wanted in (("appl", apple), ("#fruit#", pear), (pear, pear)):
        answer = await kernel.call("graph/getGraph", k=query, conf=conf)
        assert [node["id"] for node in answer["nodes"]] == [wanted], query
    assert (await kernel.call("graph/getGraph", k="nothing", conf=conf))["nodes"] is None


async def test_only_documents_with_enough_references_are_shown(kernel: MemoryKernel) -> None:
    target, source = await _linked(kernel)
    conf = default_conf(is_local=False) | {"minRefs": 1}
    answer = await kernel.call("graph/getGraph", k="", conf=conf)
    assert {node["id"] for node in answer["nodes"]} == {target, source}
    answer = await kernel.call("graph/getGraph", k="", conf=conf | {"minRefs": 2})
    assert not answer["nodes"]


async def test_daily_notes_are_shown_when_wanted(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    daily = await kernel.document(box, "/daily note/2024-01-01", "text")
    conf = default_conf(is_local=False)
    await kernel.call("notebook/setNotebookConf", notebook=box, conf={"dailyNoteSavePath": "/daily note/x"})
    shown = await kernel.call("graph/getGraph", k="", conf=conf)
    assert daily not in {node["id"] for node in shown["nodes"] or ()}
    shown = await kernel.call("graph/getGraph", k="", conf=conf | {"dailyNote": True})
    assert daily in {node["id"] for node in shown["nodes"]}


async def test_a_graph_without_settings_is_refused_with_the_number_of_the_call(kernel: MemoryKernel) -> None:
    for route in ("getGraph", "getLocalGraph"):
        answer = await kernel.answer(f"graph/{route}", id="20200101000000-zzzzzzz", k="", reqId=9)
        assert (answer.code, answer.msg, answer.data) == (-1, "Field [conf] is required", {"reqId": 9})


async def test_words_that_sqlite_does_not_take_find_nothing(kernel: MemoryKernel) -> None:
    await _linked(kernel)
    for words in ("x" * 50_001, " ".join(["word"] * 300)):
        answer = await kernel.call("graph/getGraph", k=words, conf=default_conf(is_local=False), reqId=1)
        assert answer["nodes"] is None, words[:20]


@pytest.mark.parametrize("call", ["getGraph", "getLocalGraph"])
@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"type": {"tag": "x"}}, "json: cannot unmarshal string into Go struct field TypeFilter.type.tag of type bool"),
        ({"d3": {"linkDistance": 1.5}}, "json: cannot unmarshal number 1.5 into Go struct field D3.d3.linkDistance of type int"),
        ({"type": {"paragraph": {}}}, "json: cannot unmarshal object into Go struct field TypeFilter.type.paragraph of type bool"),
        ("x", "Field [conf] should be of type [Object]"),
    ],
)  # fmt: skip
async def test_settings_of_another_kind_are_refused_and_not_kept(
    kernel: MemoryKernel, call: str, conf: Any, message: str
) -> None:
    document, _ = await _linked(kernel)
    before = copy.deepcopy(kernel.workspace.conf.section("graph"))
    answer = await kernel.answer(f"graph/{call}", id=document, k="", conf=conf, reqId=7)
    assert (answer.code, answer.msg, answer.data) == (-1, message, {"reqId": 7})
    assert kernel.workspace.conf.section("graph") == before


@pytest.mark.parametrize("call", ["getGraph", "getLocalGraph"])
@pytest.mark.parametrize("name", ["type", "d3"])
async def test_a_panel_without_kinds_or_measures_draws_nothing(kernel: MemoryKernel, call: str, name: str) -> None:
    document, _ = await _linked(kernel)
    assert await kernel.call(f"graph/{call}", id=document, k="", conf={name: None}, reqId=7) == {"reqId": 7}

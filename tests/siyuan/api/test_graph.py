"""/api/graph: nodes and links, and the settings that are kept."""

from __future__ import annotations

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

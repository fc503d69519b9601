"""/api/graph: the graph panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.notes_index import read_in_thread
from kernel.workspace.conf_shapes import GLOBAL_GRAPH, LOCAL_GRAPH
from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.graph import Graph, GraphSettings, default_conf, local_graph, whole_graph
from kernel.workspace.index.queries import blocks_by_id

if TYPE_CHECKING:
    import apsw

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Workspace


class _NothingToDraw(Exception):
    """The kinds of blocks, or the measures of the drawing, are given as nothing: the kernel breaks off there."""


async def get_graph(call: Call) -> Any:
    """The whole graph; its settings are kept."""
    request_id = call.arguments.get("reqId")
    try:
        query, conf = call.arguments.optional_str("k"), _conf(call, is_local=False)
    except ApiError as error:
        raise ApiError(error.message, error.code, {"reqId": request_id}) from error
    except _NothingToDraw:
        return {"reqId": request_id}
    settings, daily_dirs = GraphSettings.of(conf), _daily_dirs(call.kernel.workspace)

    def work(reader: apsw.Connection) -> tuple[Graph, str]:
        first_box = reader.execute("SELECT box FROM blocks WHERE type = 'd' ORDER BY rowid LIMIT 1").fetchone()
        return whole_graph(reader, query, settings, daily_dirs), str(first_box[0]) if first_box else ""

    found, box = await read_in_thread(call.kernel, work, with_texts=False)
    return {"nodes": found.nodes or None, "links": found.links, "conf": conf, "box": box, "reqId": request_id}


async def get_local_graph(call: Call) -> Any:
    """The graph around one block; its settings are kept."""
    request_id = call.arguments.get("reqId")
    if call.arguments.get("id") is None:
        return {"reqId": request_id}
    try:
        query, block_id = call.arguments.optional_str("k"), call.arguments.required_str("id")
        conf = _conf(call, is_local=True)
    except ApiError as error:
        raise ApiError(error.message, error.code, {"reqId": request_id}) from error
    except _NothingToDraw:
        return {"reqId": request_id}
    settings, daily_dirs = GraphSettings.of(conf), _daily_dirs(call.kernel.workspace)

    def work(reader: apsw.Connection) -> tuple[Graph, str] | None:
        block = next(iter(blocks_by_id(reader, [block_id])), None)
        return None if block is None else (local_graph(reader, block, query, settings, daily_dirs), block.box)

    shown: dict[str, Any] = {"id": block_id, "conf": conf, "reqId": request_id}
    answer = await read_in_thread(call.kernel, work, with_texts=False)
    if answer is None:
        return {**shown, "box": "", "nodes": [], "links": []}
    found, box = answer
    return {**shown, "box": box, "nodes": found.nodes or None, "links": found.links}


def reset_graph(call: Call) -> Any:
    return {"conf": _keep(call, default_conf(is_local=False), is_local=False)}


def reset_local_graph(call: Call) -> Any:
    return {"conf": _keep(call, default_conf(is_local=True), is_local=True)}


def _conf(call: Call, *, is_local: bool) -> dict[str, Any]:
    """The defaults with what the call says, kept for the next time. Raises ApiError, _NothingToDraw."""
    given = call.arguments.required_object("conf")
    try:
        conf = read(LOCAL_GRAPH if is_local else GLOBAL_GRAPH, given, default_conf(is_local=is_local))
    except Mismatch as error:
        raise ApiError(str(error)) from error
    if conf["type"] is None or conf["d3"] is None:
        raise _NothingToDraw
    return _keep(call, conf, is_local=is_local)


def _keep(call: Call, conf: dict[str, Any], *, is_local: bool) -> dict[str, Any]:
    settings = call.kernel.workspace.conf
    settings.section("graph")["local" if is_local else "global"] = conf
    settings.save()
    return conf


def _daily_dirs(workspace: Workspace) -> list[str]:
    """The top folders in which notebooks keep their daily notes."""
    dirs: dict[str, None] = {}
    for box in workspace.blocks.boxes():
        notebook = workspace.notebooks.get(box)
        path = str(notebook.conf.get("dailyNoteSavePath", "")) if notebook is not None else ""
        if path.count("/") > 1:
            dirs[f"/{path.split('/')[1]}"] = None
    return list(dirs)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/graph/getGraph": get_graph,
    "/api/graph/getLocalGraph": get_local_graph,
    "/api/graph/resetGraph": reset_graph,
    "/api/graph/resetLocalGraph": reset_local_graph,
}

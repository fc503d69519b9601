"""Probes of documents: their heads, their bodies, what lies below them, their order."""

from __future__ import annotations

from typing import Any

from kernel.safety.intent import Observation
from kernel.safety.probes.reading import MISSING, Arguments, Reading, State, document_id, texts, unreadable
from kernel.safety.targets import observation


async def document_heads(reading: Reading, arguments: Arguments) -> Observation:
    """document.rename, set_attr: title, attributes and place; edits of the body do not concern them."""
    state: State = {}
    for name, exists in (await reading.exist(_documents(arguments))).items():
        state[name] = await _head(reading, name) if exists else dict(MISSING)
    return observation(arguments, state)


async def documents(reading: Reading, arguments: Arguments) -> Observation:
    """document.duplicate, timeline.rollback_*: whole documents."""
    return observation(arguments, await reading.blocks(_documents(arguments)))


async def documents_with_subtrees(reading: Reading, arguments: Arguments) -> Observation:
    """document.remove: the documents, and everything below them, which goes along."""
    return observation(arguments, await whole(reading, _documents(arguments)))


async def document_moves(reading: Reading, arguments: Arguments) -> Observation:
    """document.move: where the documents lie, what lies below them, and who is at the destination already."""
    sources = texts(arguments.get("fromIDs")) + [document_id(path) for path in texts(arguments.get("fromPaths"))]
    state: State = {"sources": {}}
    for name, exists in (await reading.exist(sources)).items():
        state["sources"][name] = await head_with_subtree(reading, name) if exists else dict(MISSING)
    destination = str(arguments.get("toID") or arguments.get("toPath") or "")
    state["destination"] = await _children_of(reading, arguments.get("toNotebook"), destination)
    return observation(arguments, state)


async def heading_to_document(reading: Reading, arguments: Arguments) -> Observation:
    """document.heading_to_doc: the heading, its section, and the documents beside the new one."""
    heading = str(arguments["headingID"])
    state: State = {"heading": await reading.block(heading)}
    if state["heading"] != MISSING:
        section = await reading.call("/api/block/getChildBlocks", id=heading)
        state["section"] = await reading.blocks([str(child["id"]) for child in section or ()])
    path = str(arguments.get("targetPath") or "/")
    state["destination"] = await _children_of(reading, arguments["targetNotebook"], path)
    return observation(arguments, state)


async def document_to_heading(reading: Reading, arguments: Arguments) -> Observation:
    """document.doc_to_heading: the document with what lies below it, and the block it goes to."""
    source, target = str(arguments["srcID"]), str(arguments["targetID"])
    state = {
        "source": (await whole(reading, [source]))[source],
        "target": await reading.block(target),
        "place": await reading.call("/api/block/getBlockSiblingID", id=target),
    }
    return observation(arguments, state)


async def link_targets(reading: Reading, arguments: Arguments) -> Observation:
    """document.ensure_link_targets: the parent and the documents that are below it already."""
    notebook, parent = str(arguments["notebook"]), str(arguments["parentId"])
    state = {"children": await _children_of(reading, notebook, parent)}
    if parent != notebook:
        exists = (await reading.exist([parent]))[parent]
        state["parent"] = await _head(reading, parent) if exists else dict(MISSING)
    return observation(arguments, state)


async def document_order(reading: Reading, arguments: Arguments) -> Observation:
    """document.reorder: the structure of R75 under a notebook or a document."""
    parent = str(arguments["parentID"])
    notebooks = {str(entry["id"]) for entry in await reading.notebooks()}
    if parent in notebooks:
        return observation(arguments, await order(reading, parent, "/", None))
    place = await reading.place(parent)
    return observation(arguments, await order(reading, str(place["notebook"]), str(place["path"]), parent))


async def head_with_subtree(reading: Reading, name: str) -> State:
    """A document's head and every document below it."""
    head = await _head(reading, name)
    place = head["place"]
    below = await reading.subtree(str(place["notebook"]), str(place["path"]))
    # Where they lie, not what they say: a move loses no edit.
    return {**head, "below": _only(below, "id", "path")}


async def whole(reading: Reading, ids: list[str]) -> dict[str, State]:
    """Documents in full, with their place and what lies below them."""
    states = await reading.blocks(ids)
    for name, state in states.items():
        if state != MISSING:
            place = await reading.place(name)
            state["place"] = place
            state["below"] = await reading.subtree(str(place["notebook"]), str(place["path"]))
    return states


async def order(reading: Reading, notebook: str, path: str, parent: str | None) -> State:
    """The structure of R75: configuration, and each visible direct child with its place in the order."""
    configured = await reading.call("/api/notebook/getNotebookConf", notebook=notebook)
    configuration = configured.get("conf") if isinstance(configured, dict) else None
    if not isinstance(configuration, dict):
        raise unreadable("the notebook's configuration")
    children = await reading.children(notebook, path)
    ids = [str(child["id"]) for child in children]
    if len(set(ids)) != len(ids):
        raise unreadable("one unambiguous order of the child documents")
    state: State = {
        "notebook": notebook,
        "parentPath": path,
        "notebookConf": configuration,
        "sortMode": configuration.get("sortMode"),
        "children": _only(children, "id", "path", "sort"),
    }
    if parent is not None:
        state["parent"] = {"id": parent, "attributes": await reading.document_attributes(parent)}
    return state


def _documents(arguments: Arguments) -> list[str]:
    ids = texts(arguments.get("id")) + texts(arguments.get("ids")) + texts(arguments.get("documentId"))
    ids += [document_id(path) for path in texts(arguments.get("path")) + texts(arguments.get("paths"))]
    return list(dict.fromkeys(ids))


async def _head(reading: Reading, name: str) -> State:
    return {"attributes": await reading.document_attributes(name), "place": await reading.place(name)}


async def _children_of(reading: Reading, notebook: Any, parent: str) -> list[State] | State:
    """``parent``: a storage path, a document id, or a notebook id."""
    if parent.startswith("/"):
        return _only(await reading.children(str(notebook), parent), "id", "path", "name")
    if parent in {str(entry["id"]) for entry in await reading.notebooks()}:
        return _only(await reading.children(parent, "/"), "id", "path", "name")
    if not (await reading.exist([parent]))[parent]:
        return dict(MISSING)
    place = await reading.place(parent)
    return _only(await reading.children(str(place["notebook"]), str(place["path"])), "id", "path", "name")


def _only(entries: list[State], *names: str) -> list[State]:
    return [{name: entry[name] for name in names} for entry in entries]

"""[core] Documents by title: what a user types into the move dialog (searchDocs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.ids import is_node_id

if TYPE_CHECKING:
    from kernel.workspace.blockmap import DocumentEntry
    from kernel.workspace.notebooks import Notebook
    from kernel.workspace.workspace import Workspace


def search_documents(
    workspace: Workspace, keyword: str, excluded_ids: list[str], notebooks: list[Notebook]
) -> list[dict[str, str]]:
    """Notebooks and documents that match every word; an exact title first, then by path of titles.

    An id finds that document; no word finds every open notebook.
    """
    keyword = keyword.strip()
    opened = {notebook.id: notebook for notebook in notebooks if not notebook.is_closed}
    words = keyword.split()
    found: list[tuple[bool, dict[str, str]]] = []
    if is_node_id(keyword):
        entry = workspace.blocks.documents.get(keyword)
        entries = [entry] if entry is not None else []
    else:
        found += [
            (_is_exact(notebook.name, keyword), _shown(notebook, "/", "/"))
            for notebook in opened.values()
            if not words or any(_holds(workspace, notebook.name, word) for word in words)
        ]
        entries = _matching(workspace, words, excluded_ids) if words else []
    for entry in entries:
        notebook = opened.get(entry.box)
        if notebook is not None:
            found.append((_is_exact(entry.title, keyword), _shown(notebook, entry.path, entry.hpath)))
    found.sort(key=lambda one: (not one[0], one[1]["hPath"]))
    return [data for _, data in found]


def _shown(notebook: Notebook, path: str, hpath: str) -> dict[str, str]:
    return {
        "box": notebook.id,
        "boxIcon": str(notebook.conf["icon"]),
        "hPath": notebook.name + hpath,
        "path": path,
    }


def _is_exact(name: str, keyword: str) -> bool:
    return bool(keyword) and name.casefold() == keyword.casefold()


def _holds(workspace: Workspace, text: str, word: str) -> bool:
    if workspace.conf.section("search")["caseSensitive"]:
        return word in text
    return word.lower() in text.lower()


def _matching(workspace: Workspace, words: list[str], excluded_ids: list[str]) -> list[DocumentEntry]:
    search = workspace.conf.section("search")
    attributes = [name for name in ("name", "alias", "memo") if search[name]]
    found: list[DocumentEntry] = []
    limit = int(search["limit"])
    for entry in workspace.blocks.documents.values():
        if len(found) >= limit:
            break
        texts = [entry.hpath, *(entry.properties.get(name, "") for name in attributes)]
        is_match = all(any(word.lower() in text.lower() for text in texts) for word in words)
        if is_match and not any(one in entry.path for one in excluded_ids):
            found.append(entry)
    return found

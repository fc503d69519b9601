"""[core] Documents by title: what a user types into the move dialog (searchDocs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.ids import is_node_id
from kernel.workspace.names import unescaped_attribute

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
    is_case_sensitive = bool(workspace.conf.section("search")["caseSensitive"])
    opened = {notebook.id: notebook for notebook in notebooks if not notebook.is_closed}
    words = keyword.split()
    found: list[tuple[bool, dict[str, str]]] = []
    if is_node_id(keyword):
        entry = workspace.blocks.documents.get(keyword)
        entries = [entry] if entry is not None else []
    else:
        found += [
            (_is_exact(notebook.name, keyword, is_case_sensitive), _shown(notebook, "/", "/"))
            for notebook in opened.values()
            if not words or any(_holds(notebook.name, word, is_case_sensitive) for word in words)
        ]
        entries = _matching(workspace, words, excluded_ids) if words else []
    for entry in entries:
        notebook = opened.get(entry.box)
        is_shown = entry.id != entry.box or workspace.conf.is_box_doc_enabled
        if notebook is not None and is_shown:
            found.append(
                (_is_exact(entry.title, keyword, is_case_sensitive), _shown(notebook, entry.path, entry.hpath))
            )
    found.sort(key=lambda one: (not one[0], one[1]["hPath"]))
    return [data for _, data in found]


def _shown(notebook: Notebook, path: str, hpath: str) -> dict[str, str]:
    return {
        "box": notebook.id,
        "boxIcon": str(notebook.conf["icon"]),
        "hPath": notebook.name + hpath,
        "path": path,
    }


def _is_exact(name: str, keyword: str, is_case_sensitive: bool) -> bool:
    same = name == keyword if is_case_sensitive else name.casefold() == keyword.casefold()
    return bool(keyword) and same


def _holds(text: str, word: str, is_case_sensitive: bool) -> bool:
    return word in text if is_case_sensitive else word.lower() in text.lower()


def _matching(workspace: Workspace, words: list[str], excluded_ids: list[str]) -> list[DocumentEntry]:
    search = workspace.conf.section("search")
    is_case_sensitive = bool(search["caseSensitive"])
    attributes = [name for name in ("name", "alias", "memo") if search[name]]
    found: list[DocumentEntry] = []
    limit = int(search["limit"])
    for entry in workspace.blocks.documents.values():
        if len(found) >= limit:
            break
        texts = [entry.hpath, *(unescaped_attribute(entry.properties.get(name, "")) for name in attributes)]
        is_match = all(any(_holds(text, word, is_case_sensitive) for text in texts) for word in words)
        if is_match and not any(one in entry.path for one in excluded_ids):
            found.append(entry)
    return found

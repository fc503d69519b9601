"""[core] Today's note of a notebook: found by its path of titles, or made, from a template if the notebook names one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kernel.workspace.boxes import NO_DAILY_NOTE_PATH
from kernel.workspace.documents import Refusal, create_by_hpath
from kernel.workspace.names import trimmed_path
from kernel.workspace.notebooks import DATA
from kernel.workspace.path_template import TemplateError, render_path_template
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

ATTRIBUTE: Final = "custom-dailynote-"
# Renders a template file for a document: its blocks, and the attributes its last line gives the document.
TemplateRenderer = Callable[[str, str], tuple[list[Node], dict[str, str]]]
_TAKEN_OVER: Final = frozenset({"name", "alias", "bookmark", "memo", "icon"})


def daily_note(workspace: Workspace, box: str, render_template: TemplateRenderer | None) -> tuple[Document, bool]:
    """Today's note, and whether it was there already.

    Raises:
        NotFound: ``notebook not found``.
        Refusal: the notebook names no path, or one that cannot be rendered.
    """
    conf = workspace.box(box).conf
    if conf["dailyNoteSavePath"] in ("", "/"):
        raise Refusal(NO_DAILY_NOTE_PATH)
    now = workspace.clock.local()
    try:
        hpath = trimmed_path(render_path_template(conf["dailyNoteSavePath"], now))
    except TemplateError as error:
        raise Refusal(str(error)) from error
    name = f"{ATTRIBUTE}{now:%Y%m%d}"
    found = workspace.blocks.at_hpath(box, hpath)
    if found:
        document = workspace.edit(found[0].id)
        if not document.root.properties.get(name):
            document.root.properties[name] = f"{now:%Y%m%d}"
            workspace.save(document)
        return document, True
    document = create_by_hpath(workspace, box, hpath, [], document_id=workspace.new_id())
    workspace.edit(document.id)
    if conf["dailyNoteTemplatePath"] and render_template is not None:
        _fill(workspace, document, conf["dailyNoteTemplatePath"], render_template)
    document.root.properties[name] = f"{now:%Y%m%d}"
    workspace.save(document)
    return document, False


def _fill(workspace: Workspace, document: Document, template: str, render_template: TemplateRenderer) -> None:
    path = f"{DATA}/templates{template}"
    if not workspace.files.exists(path):
        return
    blocks, attributes = render_template(path, document.id)
    if not blocks:
        return
    for child in list(document.root.children):
        child.detach()
        document.drop(child)
    for block in blocks:
        document.root.append(block)
        document.add(block)
    for name, value in attributes.items():
        if name in _TAKEN_OVER or name.startswith("custom-"):
            document.root.properties[name] = value
    document.root.properties["updated"] = workspace.now_stamp()

"""[core] The rows of tool ``file``: assets, templates, exports. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE_UNLESS_OVERWRITE, EXTERNAL, MANIFEST, READ, SOURCE, STATE
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import any_of, one_form


def _render_has_its_source(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    needed = ("id", "path") if arguments.get("engine") == "template" else ("template",)
    for name in needed:
        if not arguments.get(name):
            yield Problem(name, f"Required for engine {arguments.get('engine')}.")


def _table() -> ToolTable:
    file = ToolTable(
        "file",
        "SiYuan Assets and Exports",
        "Upload and manage assets, read and write templates, export documents and resources.",
        "This endpoint reads no files of its caller: upload the bytes first and pass uploadSource.",
    )
    file.named["digest"] = {"type": "string", "pattern": "^[a-f0-9]{64}$"}
    _add_templates(file)
    _add_exports(file)
    _add_assets(file)
    return file


def _add_templates(file: ToolTable) -> None:
    file.add(
        "upload_asset",
        SOURCE,
        "Store an uploaded file as an asset.",
        'assetsDirPath text = "/assets/"; localFilePath text; uploadSource @digest; confirmLargeFile bool; ~file text',
        tier="basic",
        is_dangerous=True,
        aliases={"file": "localFilePath"},
        rules=(any_of("localFilePath", "uploadSource"),),
        call_form="uploadSource | localFilePath",
    )
    file.add(
        "list_templates",
        READ,
        "List templates.",
        "query text; page int 1.. = 1; pageSize int 1..128 = 20",
        tier="basic",
    )
    file.add(
        "read_template",
        READ,
        "Read a template's Markdown.",
        "path* text; offset int 0.. = 0; limit int 1..20000 = 8000",
        tier="basic",
    )
    file.add(
        "create_template",
        ADDITIVE_UNLESS_OVERWRITE,
        "Make a template; overwrite:true replaces one.",
        "path* text; markdown* text; overwrite bool",
        tier="basic",
    )
    file.add("update_template", STATE, "Replace a template's text.", "path* text; markdown* text", tier="basic")
    file.add("delete_template", STATE, "Delete a template.", "path* text", is_dangerous=True, is_on=False)
    file.add(
        "save_doc_as_template",
        STATE,
        "Save a document as a template.",
        "id* text; name* text; overwrite bool = false",
        tier="basic",
    )
    file.add(
        "render",
        READ,
        "Render a template for a document, or a snippet.",
        "engine* template|sprig; id text; path text; template text; preview bool",
        rules=(_render_has_its_source,),
        call_form="engine, id+path | template",
    )


def _add_exports(file: ToolTable) -> None:
    file.add("export_md", READ, "Export a document as Markdown.", "id* text", tier="basic")
    file.add(
        "export_markdown_snapshot",
        READ,
        "Export many documents as Markdown, page by page, with hashes.",
        "notebookID* text; roots [text] 1..64; documentIDs [text] 1..500; limit int 1..200 = 20; cursor text",
        rules=(one_form(("roots",), ("documentIDs",), message="Give exactly one of roots and documentIDs."),),
        call_form="notebookID, roots | documentIDs",
    )
    file.add(
        "export_resources",
        EXTERNAL,
        "Pack files of the workspace into a ZIP.",
        "paths* [text]; name text; outputPath text; delivery inline|download",
    )
    file.add("list_unused_assets", READ, "List assets that no document uses.")
    file.add(
        "get_doc_assets",
        READ,
        "List a document's assets.",
        'id* text; assetType all|image = "all"',
        tier="basic",
    )
    file.add(
        "audit_image_refs",
        READ,
        "Compare a document's images with an expected list.",
        "id* text; expectedRefs* [text+] 0..4096",
    )
    file.add(
        "read_image",
        READ,
        "Read an image that a document shows.",
        "path* text; id text; documentPath text",
        rules=(one_form(("id",), ("documentPath",), message="Give exactly one of id and documentPath."),),
        call_form="path, id | documentPath",
    )


def _add_assets(file: ToolTable) -> None:
    file.add("get_image_ocr_text", READ, "Read the text recognised in an image.", "path text")
    file.add("remove_unused_assets", MANIFEST, "Remove all assets that no document uses.", is_dangerous=True)
    file.add("rename_asset", STATE, "Rename an asset.", "oldPath* text; newName* text")
    file.add("delete_asset", STATE, "Delete one unused asset.", "path* text", is_dangerous=True)
    file.add(
        "extract_doc",
        EXTERNAL,
        "Hand out a document's Markdown with its assets.",
        "id* text; outputDir text; delivery inline|download",
        tier="basic",
    )


TOOL: Final = _table().done()

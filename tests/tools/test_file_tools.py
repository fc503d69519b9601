"""Tool ``file``: assets, exports, templates and snapshots, on a whole kernel in memory."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernel.tools import file as file_tool
from kernel.tools.configuration import HTTP_FILE
from kernel.tools.file_templates import FOLDER
from tests.tools.notes import Notes, open_notes

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
SOURCE = "a" * 64


class Staging:
    """An upload that waits."""

    def __init__(self, name: str, content: bytes) -> None:
        self.held: tuple[str, bytes] | None = (name, content)

    def staged(self, upload_source: str) -> tuple[str, bytes] | None:
        return self.held if upload_source == SOURCE else None


@pytest.fixture(params=[False, True], ids=["plain", "strict"])
async def notes(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_notes(tmp_path, strict=request.param) as opened:
        yield opened


async def document(notes: Notes, markdown: str, path: str = "/Doc") -> tuple[str, str]:
    """A notebook and a document with this text."""
    box = await notes.memory.notebook("Nb")
    return box, await notes.memory.document(box, path, markdown)


# --- uploads ---


async def test_a_staged_upload_becomes_an_asset(notes: Notes) -> None:
    notes.tools.parts.more["uploads"] = Staging("a.png", PNG)
    told = await notes.call("file", "upload_asset", uploadSource=SOURCE)
    assert (told["uploadedFileName"], told["uploadSource"]) == ("a.png", SOURCE)
    assert await notes.host.read_file("/data/" + told["succMap"]["a.png"]) == PNG
    gone = await notes.refused("file", "upload_asset", uploadSource="b" * 64)
    assert gone["code"] == "upload_source_expired"
    no_source = await notes.refused("file", "upload_asset", localFilePath="/etc/passwd")
    assert no_source["code"] in ("kernel_local_file_unavailable", "validation_error")


async def test_a_large_upload_is_asked_about_first(notes: Notes) -> None:
    await notes.configure(strict=notes.is_strict, uploadLargeFileThresholdMB=1)
    notes.tools.parts.more["uploads"] = Staging("big.bin", b"x" * (1024 * 1024 + 1))
    asked = await notes.call("file", "upload_asset", uploadSource=SOURCE)
    if asked.get("requiresConfirmation"):
        assert (asked["reason"], asked["fileSizeBytes"], asked["thresholdMB"]) == ("file_too_large", 1024 * 1024 + 1, 1)
    confirmed = await notes.call("file", "upload_asset", uploadSource=SOURCE, confirmLargeFile=True)
    assert confirmed["succMap"].keys() == {"big.bin"}


# --- exports ---


async def test_resources_are_packed_and_come_inline_or_by_name(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    await notes.host.write_file("/data/assets/a.txt", b"asset")
    named = await notes.call("file", "export_resources", paths=["/data/assets/a.txt"], name="pack")
    assert named["transport"] == "kernel"
    assert named["path"].endswith(".zip")
    down = await notes.call("file", "export_resources", paths=["/data/assets/a.txt"], delivery="download")
    assert down["downloadPath"].startswith("/")
    inline = await notes.call("file", "export_resources", paths=["/data/assets/a.txt"], outputPath="/mine/pack.zip")
    assert base64.b64decode(inline["dataBase64"]).startswith(b"PK")
    assert (inline["requestedOutputPath"], inline["bytes"] > 0) == ("/mine/pack.zip", True)
    monkeypatch.setattr(file_tool, "INLINE_EXPORT_BYTES_MAX", 3)
    large = await notes.call("file", "export_resources", paths=["/data/assets/a.txt"], outputPath="/mine/pack.zip")
    assert (large["reason"], large["inlineLimitBytes"]) == ("kernel_export_too_large_for_inline", 3)
    assert large["officialApi"]["endpoint"] == "/api/file/getFile"


async def test_what_cannot_be_packed_is_refused(notes: Notes) -> None:
    missing = await notes.raw("file", {"action": "export_resources", "paths": ["/data/none"]})
    assert (missing.is_error, (missing.structured or {})["error"]["code"]) == (True, "api_error")
    empty = await notes.raw("file", {"action": "export_resources", "paths": []})
    assert (empty.structured or {})["error"]["code"] in ("invalid_arguments", "validation_error")


async def test_a_document_is_taken_out_with_its_assets(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    _, block = await document(notes, "Text ![](assets/a.png) [f](assets/b%20c.txt) ![](assets/none.png)")
    await notes.host.write_file("/data/assets/a.png", PNG)
    await notes.host.write_file("/data/assets/b c.txt", b"12345")
    told = await notes.call("file", "extract_doc", id=block)
    assert (told["docName"], told["hPath"], told["complete"]) == ("Doc", "/Doc", False)
    assert told["markdown"].endswith("Text ![](assets/a.png) [f](assets/b%20c.txt) ![](assets/none.png)\n")
    (text,) = (await notes.raw("file", {"action": "extract_doc", "id": block})).content
    assert json.loads(text["text"])["markdown"] == told["markdown"], "a client that reads only the text gets it too"
    found = {asset["path"]: asset for asset in told["assets"]}
    assert base64.b64decode(found["assets/a.png"]["dataBase64"]) == PNG
    assert found["assets/none.png"]["error"] == "unreadable"
    counts = [told[f"{name}AssetCount"] for name in ("extracted", "pointer", "skipped")]
    assert counts == [2, 0, 1]
    monkeypatch.setattr(file_tool, "INLINE_EXPORT_BYTES_MAX", len(PNG))
    cut = await notes.call("file", "extract_doc", id=block)
    assert [asset["encoding"] for asset in cut["assets"][:2]] == ["base64", "official-api"]
    monkeypatch.setattr(file_tool, "INLINE_EXPORT_BYTES_MAX", len(PNG) - 1)
    small = await notes.call("file", "extract_doc", id=block)
    assert (small["assets"][0]["encoding"], small["assets"][0]["bytes"]) == ("official-api", len(PNG))
    pointers = await notes.call("file", "extract_doc", id=block, delivery="download")
    assert {asset["encoding"] for asset in pointers["assets"]} == {"official-api"}
    plain = await notes.call("file", "export_md", id=block)
    assert plain["hPath"] == "/Doc"


# --- assets ---


async def test_assets_of_a_document_are_listed_audited_and_shown(notes: Notes) -> None:
    _, block = await document(notes, "![](assets/a.png) [f](assets/b.txt)")
    await notes.host.write_file("/data/assets/a.png", PNG)
    await notes.host.write_file("/data/assets/b.txt", b"x")
    await notes.host.write_file("/data/assets/lone.txt", b"x")
    images = await notes.call("file", "get_doc_assets", id=block, assetType="image")
    assert (images["assets"], images["count"]) == (["assets/a.png"], 1)
    everything = await notes.call("file", "get_doc_assets", id=block, assetType="all")
    assert set(everything["assets"]) == {"assets/a.png", "assets/b.txt"}
    audit = await notes.call("file", "audit_image_refs", id=block, expectedRefs=["assets/c.png"])
    assert (audit["matches"], audit["missing"], audit["unexpected"]) == (False, ["assets/c.png"], ["assets/a.png"])
    shown = await notes.raw("file", {"action": "read_image", "id": block, "path": "/data/assets/a.png"})
    assert [part for part in shown.content if part["type"] == "image"] == [
        {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}
    ]
    by_path = await notes.raw("file", {"action": "read_image", "documentPath": "/Nb/Doc", "path": "assets/a.png"})
    assert not by_path.is_error
    unused = await notes.call("file", "list_unused_assets")
    assert unused["count"] == 1
    assert (await notes.call("file", "get_image_ocr_text", path="assets/a.png"))["text"] == ""


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a..", "image/gif"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF0000WEBPVP8 ", "image/webp"),
        (b"<svg/>", None),
        (b"RIFF0000WAVE", None),
    ],
)
async def test_an_image_is_known_by_its_first_bytes(tmp_path: Path, content: bytes, kind: str | None) -> None:
    async with open_notes(tmp_path) as notes:
        _, block = await document(notes, "![](assets/a.png)")
        arguments = {"action": "read_image", "id": block, "path": "assets/a.png"}
        assert (await notes.refused("file", **arguments))["code"] == "not_found"
        await notes.host.write_file("/data/assets/a.png", content)
        if kind is None:
            assert (await notes.refused("file", **arguments))["code"] == "unsupported"
        else:
            assert (await notes.raw("file", arguments)).structured["mimeType"] == kind  # type: ignore[index]
        other = await notes.refused("file", "read_image", id=block, path="assets/other.png")
        assert "does not show" in other["message"]


async def test_assets_are_renamed_and_removed(notes: Notes) -> None:
    _, block = await document(notes, "![](assets/old.png)")
    await notes.host.write_file("/data/assets/old.png", PNG)
    await notes.host.write_file("/data/assets/lone.txt", b"x")
    told = await notes.call("file", "rename_asset", oldPath="assets/old.png", newName="fresh")
    assert told["newPath"].startswith("assets/fresh")
    assert told["newPath"] in (await notes.memory.call("block/getBlockKramdown", id=block))["kramdown"]
    removed = await notes.call("file", "delete_asset", path="assets/lone.txt")
    assert "lone.txt" in removed["path"]
    assert await notes.host.read_file("/data/assets/lone.txt") is None
    await notes.host.write_file("/data/assets/more.txt", b"x")
    swept = await notes.call("file", "remove_unused_assets")
    assert "more.txt" in str(swept)
    for path in ("/data/storage/x", "assets/../../x", "assets/"):
        assert (await notes.refused("file", "delete_asset", path=path))["code"] == "path_not_in_workspace"


# --- templates ---


async def test_templates_are_written_read_in_pieces_and_removed(notes: Notes) -> None:
    made = await notes.call("file", "create_template", path="a/t.md", markdown="0123456789")
    assert (made["relativePath"], made["name"], made["totalChars"]) == ("a/t.md", "t", 10)
    assert made["path"].endswith(FOLDER + "a/t.md"), "where the host keeps it"
    assert made["readArgs"] == {"action": "read_template", "path": made["path"]}
    piece = await notes.call("file", "read_template", path=FOLDER + "a/t.md", offset=2, limit=3)
    assert (piece["markdown"], piece["truncated"], piece["nextOffset"]) == ("234", True, 5)
    whole = await notes.call("file", "read_template", path="/a/t.md")
    assert (whole["markdown"], whole["truncated"], "nextOffset" in whole) == ("0123456789", False, False)
    await notes.call("file", "update_template", path="a/t.md", markdown="new")
    assert await notes.host.read_file(FOLDER + "a/t.md") == b"new"
    await notes.call("file", "create_template", path="a/t.md", markdown="again", overwrite=True)
    for number in range(3):
        await notes.call("file", "create_template", path=f"more{number}.md", markdown="x")
    listed = await notes.call("file", "list_templates", pageSize=2)
    assert (listed["truncated"], len(listed["data"]), listed["pageCount"]) == (True, 2, 2)
    await notes.call("file", "delete_template", path="a/t.md")
    assert await notes.host.read_file(FOLDER + "a/t.md") is None
    assert (await notes.refused("file", "read_template", path="a/t.md"))["code"] == "template_not_found"


@pytest.mark.parametrize(
    "path", ["../x.md", "a/../../x.md", "a\\b.md", "/data/other/x.md", " ", "./x.md", "x", "x.txt"]
)
async def test_a_template_lies_in_its_folder(notes: Notes, path: str) -> None:
    refused = await notes.refused("file", "create_template", path=path, markdown="x")
    assert (refused["code"], refused["type"]) == ("invalid_template_path", "api_error")


async def test_a_document_is_saved_as_a_template_and_rendered_in_another(notes: Notes) -> None:
    box, block = await document(notes, "Hello .action{.title}")
    saved = await notes.call("file", "save_doc_as_template", id=block, name="mine")
    assert saved["template"]["relativePath"] == "mine.md"
    if not notes.is_strict:
        assert (await notes.refused("file", "save_doc_as_template", id=block, name="mine"))["code"] == "template_exists"
    await notes.call("file", "save_doc_as_template", id=block, name="mine", overwrite=True)
    other = await notes.memory.document(box, "/Other", "text")
    for path in ("mine.md", saved["template"]["path"]):
        rendered = await notes.call("file", "render", engine="template", id=other, path=path)
        assert "Hello" in rendered["content"]
    sprig = await notes.call("file", "render", engine="sprig", template='{{ "a" | upper }}')
    assert sprig["value"] == "A"
    assert (await notes.refused("file", "render", engine="template", id=other, path="no.md"))[
        "code"
    ] == "template_not_found"


async def test_a_template_larger_than_the_owner_allows_is_refused(notes: Notes) -> None:
    await notes.host.write_file(HTTP_FILE, json.dumps({"kernelOptions": {"templateMaxMiB": 1}}).encode())
    refused = await notes.refused("file", "create_template", path="big.md", markdown="x" * (1024 * 1024 + 1))
    assert (refused["code"], refused["message"]) == ("too_large", "Template exceeds 1 MiB.")
    await notes.call("file", "create_template", path="small.md", markdown="x" * (1024 * 1024))
    assert (await notes.refused("file", "create_template", path="small.md", markdown="x"))["code"] == "template_exists"
    larger = await notes.refused("file", "update_template", path="small.md", markdown="x" * (1024 * 1024 + 1))
    assert larger["code"] == "too_large"


# --- snapshots ---


async def test_a_snapshot_goes_page_by_page_and_its_cursor_is_bound_to_what_it_saw(notes: Notes) -> None:
    box, parent = await document(notes, "one", "/A")
    child = await notes.memory.document(box, "/A/B", "two")
    other = await notes.memory.document(box, "/C", "three")
    first = await notes.call("file", "export_markdown_snapshot", notebookID=box, roots=["/"], limit=2)
    assert first["status"] == "complete"
    assert first["page"]["total"] == 3
    second = await notes.call(
        "file", "export_markdown_snapshot", notebookID=box, roots=["/"], limit=2, cursor=first["page"]["nextCursor"]
    )
    assert second["page"]["hasNext"] is False
    pages = [*first["documents"], *second["documents"]]
    assert {one["id"] for one in pages} == {parent, child, other}
    assert {one["relativePath"] for one in pages} == {"A.md", "A/B.md", "C.md"}
    assert {one["content"].splitlines()[-1] for one in pages} == {"one", "two", "three"}
    below = await notes.call("file", "export_markdown_snapshot", notebookID=box, roots=[parent])
    assert [one["id"] for one in below["documents"]] == [parent, child]
    named = await notes.call("file", "export_markdown_snapshot", notebookID=box, documentIDs=[other, other])
    assert [one["id"] for one in named["documents"]] == [other]
    await notes.memory.document(box, "/D", "four")
    stale = await notes.refused(
        "file", "export_markdown_snapshot", notebookID=box, roots=["/"], limit=2, cursor=first["page"]["nextCursor"]
    )
    assert (stale["code"], "restart" in stale["message"]) == ("state_changed", True)
    foreign = await notes.refused("file", "export_markdown_snapshot", notebookID=box, roots=["/"], cursor="!!")
    assert foreign["code"] == "invalid_arguments"


async def test_a_snapshot_tells_what_it_could_not_take(notes: Notes) -> None:
    box, block = await document(notes, "one", "/Same")
    twin = await notes.memory.document(box, "/same", "two")
    elsewhere = await notes.memory.notebook("Other")
    foreign = await notes.memory.document(elsewhere, "/X", "x")
    nobody = "20200101000000-zzzzzzz"
    told = await notes.call(
        "file", "export_markdown_snapshot", notebookID=box, documentIDs=[block, twin, foreign, nobody]
    )
    assert told["status"] == "partial"
    errors = {one["id"]: one["errors"][0]["code"] for one in told["documents"] if "errors" in one}
    assert errors[foreign] == "permission_denied"
    assert nobody in errors
    assert told["conflicts"] == [{"relativePath": "same.md", "documentIDs": [block, twin]}]
    roots = await notes.call("file", "export_markdown_snapshot", notebookID=box, roots=[f"/{nobody}.sy"])
    assert (roots["status"], roots["errors"][0]["code"]) == ("partial", "enumeration_failed")

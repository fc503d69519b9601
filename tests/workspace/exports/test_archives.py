"""/api/export: documents as archives of Markdown and of stored documents, as the real kernel packs them."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from urllib.parse import unquote

import pytest

from kernel.workspace.exports.choosing import chosen_documents, readable, with_related
from kernel.workspace.exports.markdown_files import MarkdownFiles
from kernel.workspace.exports.settings import ExportSettings
from kernel.workspace.exports.sy_files import emoji_in, sy_files
from kernel.workspace.flashcards.decks import BUILT_IN
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel


class Notes:
    """The documents that the recordings of the real kernel were made with."""

    def __init__(self, kernel: MemoryKernel) -> None:
        self.kernel = kernel
        self.ids: dict[str, str] = {}
        self.box = ""

    async def fill(self) -> None:
        write = self.kernel.workspace.files.write
        write("data/assets/pic-20240101000000-abcdefg.png", b"picture")
        write("data/assets/a b-20240101000000-abcdefh.txt", b"txt")
        self.box = await self.kernel.notebook("golden")
        for hpath, markdown in (
            ("/Par", "# P\n\n![p](assets/pic-20240101000000-abcdefg.png) [x](assets/a%20b-20240101000000-abcdefh.txt)"),
            ("/Par/Kid", "kid (({Par} 'P'))"),
            ("/Par/Kid/Grand", "grand (({Kid} 'K')) end"),
            ("/Empty", ""),
            ("/Empty/Sub", "sub"),
            ("/Other", "see (({Grand} 'G')) and [l](siyuan://blocks/{Par})"),
        ):
            self.ids[hpath.rpartition("/")[2]] = await self.kernel.document(
                self.box, hpath, markdown.format(**self.ids)
            )

    def packed(self, address: str) -> dict[str, bytes]:
        content = self.kernel.workspace.files.read(f"temp{unquote(address)}")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    async def exported(self, route: str, **arguments: Any) -> dict[str, bytes]:
        return self.packed((await self.kernel.call(f"export/{route}", **arguments))["zip"])

    async def markdown(self, title: str, **arguments: Any) -> dict[str, str]:
        found = await self.exported("exportMd", id=self.ids[title], **arguments)
        return {name: content.decode() for name, content in found.items()}


@pytest.fixture
async def notes(kernel: MemoryKernel) -> Notes:
    notes = Notes(kernel)
    await notes.fill()
    return notes


# --- Markdown --------------------------------------------------------------------------------------------------------
async def test_a_document_comes_with_those_below_it_and_its_assets(notes: Notes) -> None:
    answer = await notes.kernel.call("export/exportMd", id=notes.ids["Par"])
    assert answer == {"name": notes.ids["Par"], "zip": "/export/Par.md.zip"}
    assert list(notes.packed(answer["zip"])) == [
        "Par/Kid/Grand.md",
        "Par/Kid.md",
        "Par.md",
        "assets/a b-20240101000000-abcdefh.txt",
        "assets/pic-20240101000000-abcdefg.png",
    ]


async def test_a_single_document_lies_at_the_top_and_links_to_the_others(notes: Notes) -> None:
    assert await notes.markdown("Grand") == {"Grand.md": "# Grand\n\ngrand [K](../Kid.md) end\n"}
    assert await notes.markdown("Other") == {"Other.md": "# Other\n\nsee [G](Par/Kid/Grand.md) and [l](/Par.md)\n"}


async def test_an_empty_document_with_documents_below_it_is_only_their_folder(notes: Notes) -> None:
    assert await notes.markdown("Empty") == {"Empty/Sub.md": "# Sub\n\nsub\n"}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"blockRefMode": 3, "addTitle": False}, "grand K end\n"),
        ({"blockRefMode": 2}, "# Grand\n\ngrand [K](siyuan://blocks/{Kid}) end\n"),
        ({"blockRefTextLeft": "<<", "blockRefTextRight": ">>"}, "# Grand\n\ngrand [<<K>>](../Kid.md) end\n"),
    ],
)
async def test_a_caller_changes_the_settings_for_one_export(notes: Notes, changes: dict[str, Any], wanted: str) -> None:
    assert await notes.markdown("Grand", **changes) == {"Grand.md": wanted.format(**notes.ids)}
    assert (await notes.markdown("Grand"))["Grand.md"].startswith("# Grand\n\ngrand [K](../Kid.md)")


async def test_sub_documents_related_documents_and_asset_ids_are_kept_or_dropped_as_asked(notes: Notes) -> None:
    assert "Par/Kid.md" not in await notes.markdown("Par", includeSubDocs=False)
    related = await notes.markdown("Other", includeRelatedDocs=True)
    assert [name for name in related if name.endswith(".md")] == [
        "Other.md",
        "Par/Kid/Grand.md",
        "Par/Kid.md",
        "Par.md",
    ]
    plain = await notes.markdown("Par", includeSubDocs=False, removeAssetsID=True)
    assert sorted(plain) == ["Par.md", "assets/a b.txt", "assets/pic.png"]
    assert "![p](assets/pic.png) [x](assets/a%20b.txt)" in plain["Par.md"]
    assert (await notes.markdown("Kid", markdownYFM=True))["Par/Kid.md"].startswith("---\ntitle: Kid\n")


async def test_a_notebook_is_exported_whole(notes: Notes) -> None:
    answer = await notes.kernel.call("export/exportNotebookMd", notebook=notes.box)
    assert answer == {"name": "golden.md.zip", "zip": "/export/golden.md.zip"}
    assert {"Empty/Sub.md", "Other.md", "Par.md", "golden.md"} <= set(notes.packed(answer["zip"]))
    unknown = await notes.kernel.call("export/exportNotebookMd", notebook="20200101000000-zzzzzzz")
    assert unknown == {"name": ".", "zip": ""}


async def test_documents_of_one_name_are_told_apart_by_their_ids(notes: Notes) -> None:
    second = await notes.kernel.document(notes.box, "/Other", "another")
    found = await notes.exported("exportMds", ids=[notes.ids["Other"], second])
    assert sorted(found) == [f"Other-{second}.md", "Other.md"]


@pytest.mark.parametrize("arguments", [{"ids": []}, {}, {"ids": ["20200101000000-zzzzzzz"]}, {"ids": "x"}])
async def test_nothing_comes_of_unknown_blocks(notes: Notes, arguments: dict[str, Any]) -> None:
    for route in ("exportMds", "exportSYs"):
        assert (await notes.kernel.answer(f"export/{route}", **arguments)).data is None
    assert (await notes.kernel.answer("export/exportMd", id=notes.ids["Par"], addTitle=5)).data is None


async def test_other_formats_come_out_without_the_documents(notes: Notes) -> None:
    assert await notes.exported("exportRTF", id=notes.ids["Grand"]) == {}
    assert (await notes.kernel.call("export/exportEPUB", id=notes.ids["Grand"]))["zip"] == "/export/Grand.epub.zip"


# --- stored documents ------------------------------------------------------------------------------------------------
async def test_stored_documents_come_with_their_assets_and_their_order(notes: Notes) -> None:
    found = await notes.exported("exportSY", id=notes.ids["Par"])
    par, kid, grand = (notes.ids[title] for title in ("Par", "Kid", "Grand"))
    assert list(found) == [
        "Par/.siyuan/sort.json",
        f"Par/{par}/{kid}/{grand}.sy",
        f"Par/{par}/{kid}.sy",
        f"Par/{par}.sy",
        "Par/assets/a b-20240101000000-abcdefh.txt",
        "Par/assets/pic-20240101000000-abcdefg.png",
    ]
    assert found[f"Par/{par}.sy"] == notes.kernel.workspace.files.read(f"data/{notes.box}/{par}.sy")
    assert set(json.loads(found["Par/.siyuan/sort.json"])) == {par, kid, grand}


async def test_a_notebook_brings_its_settings_closed_and_without_ties_to_others(notes: Notes) -> None:
    found = await notes.exported("exportNotebookSY", id=notes.box)
    conf = json.loads(found["golden/.siyuan/conf.json"])
    assert (conf["name"], conf["closed"], conf["sort"]) == ("golden", True, 0)
    assert f"golden/{notes.box}.sy" in found
    assert "golden/.siyuan/boxDoc.json" in found
    assert await notes.kernel.call("export/exportNotebookSY", id="20200101000000-zzzzzzz") == {"zip": ""}


async def test_flashcards_databases_and_emoji_go_along(notes: Notes) -> None:
    kernel = notes.kernel
    kernel.workspace.files.write("data/emojis/own.png", b"emoji")
    database = "20240101000000-dbdbdbd"
    root_id = await kernel.document(
        notes.box,
        "/Rich",
        f'<div data-type="NodeAttributeView" data-av-id="{database}" data-av-type="table"></div>\n\ncard',
    )
    await kernel.call("av/renderAttributeView", id=database)
    block_id = (await kernel.children(root_id))[-1]
    await kernel.call("attr/setBlockAttrs", id=root_id, attrs={"icon": "own.png"})
    await kernel.call("riff/addRiffCards", deckID="20230218211946-2kw8jgx", blockIDs=[block_id])
    found = await notes.exported("exportSY", id=root_id)
    assert f"Rich/storage/av/{database}.json" in found
    assert "Rich/storage/riff/20230218211946-2kw8jgx.cards" in found
    assert found["Rich/emojis/own.png"] == b"emoji"


# --- what is not there, and what comes along -------------------------------------------------------------------------
GONE = "20200101000000-zzzzzzz"


async def test_documents_that_cannot_be_read_and_assets_that_are_gone_are_left_out(notes: Notes) -> None:
    workspace = notes.kernel.workspace
    assert readable(workspace, GONE) is None
    assert chosen_documents(workspace, [GONE, notes.ids["Kid"]], has_sub_documents=False) == [notes.ids["Kid"]]
    assert with_related(workspace, [GONE, notes.ids["Grand"]], has_related=False)[0] == [notes.ids["Grand"]]
    workspace.files.remove("data/assets/pic-20240101000000-abcdefg.png")
    assert not [name for name in await notes.markdown("Par", includeSubDocs=False) if name.endswith(".png")]
    stored = await notes.exported("exportSY", id=notes.ids["Par"])
    assert not [name for name in stored if name.endswith(".png")]

    async def render(_: object) -> str:
        return "text"

    files = MarkdownFiles(workspace, ExportSettings.of({}, {}))
    await files.add_all([GONE, notes.ids["Grand"]], render, lambda _: 0)
    assert [name for name, content in files.entries.items() if content is not None] == ["Par/Kid/Grand.md"]


async def test_two_assets_that_would_have_one_name_keep_their_ids(notes: Notes) -> None:
    write = notes.kernel.workspace.files.write
    for letter in "xy":
        write(f"data/assets/twin-20240101000000-abcdef{letter}.png", letter.encode())
    markdown = "\n\n".join(f"![t](assets/twin-20240101000000-abcdef{letter}.png)" for letter in "xyx")
    root_id = await notes.kernel.document(notes.box, "/Twins", f"{markdown}\n\n((gone 'x'))")
    found = await notes.exported("exportMd", id=root_id, removeAssetsID=True)
    assert sorted(found) == ["Twins.md", "assets/twin-20240101000000-abcdefy.png", "assets/twin.png"]
    assert found["assets/twin.png"] == b"x"


async def test_an_asset_may_be_a_folder_and_a_pdf_has_annotations(notes: Notes) -> None:
    write = notes.kernel.workspace.files.write
    write("data/assets/pack-20240101000000-abcdefp/one.txt", b"1")
    write("data/assets/pack-20240101000000-abcdefp/sub/two.txt", b"2")
    write("data/assets/book-20240101000000-abcdefb.pdf", b"pdf")
    write("data/assets/book-20240101000000-abcdefb.pdf.sya", b"{}")
    markdown = "[p](assets/pack-20240101000000-abcdefp/) [b](assets/book-20240101000000-abcdefb.pdf)"
    root_id = await notes.kernel.document(notes.box, "/Folder", markdown)
    for route in ("exportMd", "exportSY"):
        names = list(await notes.exported(route, id=root_id))
        assert [name for name in names if name.endswith("two.txt")], route
        assert [name for name in names if name.endswith(".pdf")], route
    assert "Folder/assets/book-20240101000000-abcdefb.pdf.sya" in names


async def test_databases_bring_those_they_are_related_to_and_their_assets(notes: Notes) -> None:
    kernel, first, second = notes.kernel, "20240101000000-dbdbdb1", "20240101000000-dbdbdb2"
    shown = f'<div data-type="NodeAttributeView" data-av-id="{first}" data-av-type="table"></div>'
    gone = f'<div data-type="NodeAttributeView" data-av-id="{GONE}" data-av-type="table"></div>'
    root_id = await kernel.document(notes.box, "/Base", f"{shown}\n\n{gone}\n\nitem")
    kernel.workspace.files.write("data/assets/in-20240101000000-abcdefi.txt", b"in")
    for database in (first, second):
        await kernel.call("av/renderAttributeView", id=database)
    for kind in ("relation", "mAsset"):
        key = {"keyID": f"20240101000000-{kind[:7].lower():0<7}", "keyName": kind, "keyType": kind}
        await kernel.call("av/addAttributeViewKey", avID=first, keyIcon="", previousKeyID="", **key)
    rule = {"action": "updateAttrViewColRelation", "avID": first, "id": second, "keyID": "20240101000000-relatio"}
    operations = {"doOperations": [{**rule, "format": "R", "isTwoWay": False}], "undoOperations": []}
    await kernel.call("transactions", transactions=[operations], reqId=1, app="a", session="s")
    source = {"itemID": "20240101000000-item001", "isDetached": False, "id": notes.ids["Grand"]}
    await kernel.call("av/addAttributeViewBlocks", avID=first, srcs=[source])
    asset = {"type": "file", "name": "in", "content": "assets/in-20240101000000-abcdefi.txt"}
    cell = {"avID": first, "keyID": "20240101000000-masset0", "itemID": "20240101000000-item001"}
    await kernel.call("av/setAttributeViewBlockAttr", **cell, value={"mAsset": [asset]})
    found = await notes.exported("exportSY", id=root_id, includeRelatedDocs=True)
    assert {f"Base/storage/av/{one}.json" for one in (first, second)} <= set(found)
    assert "Base/assets/in-20240101000000-abcdefi.txt" in found
    assert f"Base/storage/av/{GONE}.json" not in found
    entries = sy_files(kernel.workspace, notes.box, [root_id], "", has_related=True)
    assert f"{notes.ids['Grand']}.sy" in entries, "what an item stands for is related"


async def test_emoji_in_texts_go_along_where_they_are_there(notes: Notes) -> None:
    kernel = notes.kernel
    kernel.workspace.files.write("data/emojis/own.png", b"emoji")
    root_id = await kernel.document(notes.box, "/Smile", "a :own: b :gone:")
    await kernel.call("attr/setBlockAttrs", id=root_id, attrs={"icon": "none.png"})
    images = [Node("NodeEmojiImg", data=f'<img src="/emojis/{name}.png"/>') for name in ("own", "gone")]
    document = kernel.workspace.document(root_id)
    for image in images:
        document.root.children[0].append(image)
    assert emoji_in(document.root) == ["emojis/none.png", "emojis/own.png", "emojis/gone.png"]
    entries = sy_files(kernel.workspace, notes.box, [root_id], "", has_related=False)
    assert [name for name in entries if name.startswith("emojis/")] == ["emojis/own.png"]


async def test_decks_without_cards_of_the_documents_stay_and_so_does_an_order_that_is_not_kept(notes: Notes) -> None:
    kernel = notes.kernel
    other = (await kernel.children(notes.ids["Other"]))[0]
    for _ in range(2):
        await kernel.call("riff/addRiffCards", deckID=BUILT_IN, blockIDs=[other])
    kernel.workspace.files.write(f"data/{notes.box}/.siyuan/sort.json", b"{}")
    entries = sy_files(kernel.workspace, notes.box, [notes.ids["Grand"]], "", has_related=False)
    assert [name for name in entries if "riff" in name or name.endswith("sort.json")] == []
    meta = f"data/{notes.box}/.siyuan/boxDoc.json"
    if kernel.workspace.files.exists(meta):
        kernel.workspace.files.remove(meta)
    entries = sy_files(kernel.workspace, notes.box, [notes.ids["Grand"]], "", has_related=False, has_conf=True)
    assert ".siyuan/conf.json" in entries
    assert ".siyuan/boxDoc.json" not in entries


async def test_what_two_documents_show_has_one_name_and_unknown_blocks_are_not_related(notes: Notes) -> None:
    shown = "![p](assets/pic-20240101000000-abcdefg.png)"
    root_id = await notes.kernel.document(notes.box, "/Two", f"{shown} (({GONE} 'x'))")
    await notes.kernel.document(notes.box, "/Two/Below", shown)
    found = await notes.exported("exportMd", id=root_id, removeAssetsID=True)
    assert {"Two.md", "Two/Below.md"} < set(found)
    assert b"assets/pic.png" in found["Two/Below.md"]
    assert with_related(notes.kernel.workspace, [root_id], has_related=True) == ([root_id], frozenset())

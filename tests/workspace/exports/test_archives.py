"""/api/export: documents as archives of Markdown and of stored documents, as the real kernel packs them."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from urllib.parse import unquote

import pytest

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

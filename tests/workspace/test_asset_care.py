"""Looking after assets: which are there, unused or missing; removing and renaming them; their texts."""

from __future__ import annotations

import json

import pytest

from kernel.workspace.asset_care import (
    INVALID_NAME,
    OCR_TEXTS,
    AssetItem,
    all_assets,
    asset_texts,
    database_assets,
    forget_text,
    missing_assets,
    remove_asset,
    remove_unused,
    rename_asset,
    set_text,
    stored_trees,
    unused_assets,
)
from kernel.workspace.documents import Refusal
from tests.siyuan.kernel_in_memory import MemoryKernel

PICTURE = "assets/a-20240101000000-abcdefg.png"
PAPER = "assets/paper-20240101000000-abcdefg.pdf"
SPARE = "assets/spare.txt"
VIEW = "20240101000000-dbdbdbd"
VIEW_FILE = f"data/storage/av/{VIEW}.json"


@pytest.fixture
async def library(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str]:
    """A kernel with three assets, of which a document shows two and one that is missing; (kernel, notebook, document)."""
    for path in (PICTURE, PAPER, SPARE):
        kernel.workspace.files.write(f"data/{path}", path.encode())
    box = await kernel.notebook()
    markdown = f"![p]({PICTURE})\n\n[paper]({PAPER}?p=2) [gone](assets/gone.txt)"
    return kernel, box, await kernel.document(box, "/d", markdown)


def put(kernel: MemoryKernel, *paths: str) -> None:
    for path in paths:
        kernel.workspace.files.write(f"data/{path}", b"x")


async def test_assets_of_notebooks_and_folders_are_listed_and_hidden_ones_are_not(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    put(
        kernel,
        "assets/site/css/a.css",
        "assets/.hidden.txt",
        f"{box}/assets/own.png",
        f"{box}/20240101000000-abcdefg/assets/.git/x",
    )
    assert {path: inner for path, (inner, _) in all_assets(kernel.workspace).items()} == {
        "assets/own.png": f"{box}/assets/own.png",
        "assets/site/css/a.css": "assets/site/css/a.css",
        "assets/site/css/": "assets/site/css",
        "assets/site/": "assets/site",
    }


async def test_documents_that_cannot_be_read_show_no_assets(library: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, root_id = library
    put(kernel, f"{box}/note.txt")
    kernel.workspace.files.write(f"data/{box}/20240101000000-broken0.sy", b'{"Data":"assets/spare.txt"')
    await kernel.document(box, "/without", "text")
    assert [root.id for root in stored_trees(kernel.workspace, box)] == [root_id]
    assert [item.item for item in unused_assets(kernel.workspace)] == [SPARE]


@pytest.mark.parametrize(
    ("database_id", "content", "found"),
    [
        (
            VIEW,
            b'{"keyValues":[{"key":{"type":"mAsset"},"values":[{"mAsset":[{"content":"assets/x"}]}]}]}',
            ["assets/x"],
        ),
        (VIEW, b"{", []),
        (VIEW, b'{"keyValues":["no column"]}', []),
        (VIEW, b"", []),
        ("../../../conf/conf", b"{}", []),
        ("20240101000000-unknown", b"{}", []),
    ],
)
def test_a_database_that_cannot_be_read_holds_no_assets(
    kernel: MemoryKernel, database_id: str, content: bytes, found: list[str]
) -> None:
    kernel.workspace.files.write(VIEW_FILE, content)
    assert database_assets(kernel.workspace, database_id) == found


async def test_what_a_database_names_and_what_a_folder_holds_is_used(library: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, _ = library
    put(kernel, "assets/site/index.html", "assets/ocr-texts.json", f"{PAPER}.sya", "assets/rich.rtfd/inner.txt")
    kernel.workspace.files.write(VIEW_FILE, f'{{"x":"{SPARE}"}}'.encode())
    kernel.workspace.files.write("data/storage/av/README.json", b'{"x":"assets/site/index.html"}')
    await kernel.document(box, "/e", "[rich](assets/rich.rtfd)")
    unused = {item.item for item in unused_assets(kernel.workspace)}
    assert unused == {"assets/site/index.html", "assets/site"}


async def test_the_newest_unused_asset_comes_first(kernel: MemoryKernel) -> None:
    for name in ("old.txt", "new.txt"):
        put(kernel, f"assets/{name}")
        kernel.clock.advance(5)
    assert [item.to_json() for item in unused_assets(kernel.workspace)] == [
        {"item": "assets/new.txt", "name": "new.txt"},
        {"item": "assets/old.txt", "name": "old.txt"},
    ]


async def test_missing_assets_are_those_of_open_documents(library: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, root_id = library
    put(kernel, "assets/.kept/x.png")
    await kernel.document(box, "/e", "![p](assets/.kept/x.png) ![q](assets/.gone/x.png)")
    await kernel.call(
        "attr/setBlockAttrs", id=root_id, attrs={"title-img": "background-image:url(assets/title.png?x=1)"}
    )
    found = missing_assets(kernel.workspace)
    block_id = (await kernel.children(root_id))[1]
    assert [(one.item, one.block_ids) for one in found if not one.item.startswith("assets/.")] == [
        ("assets/gone.txt", (block_id,)),
        ("assets/title.png", (root_id,)),
    ]
    assert [one.item for one in found if one.item.startswith("assets/.")] == ["assets/.gone/x.png"]
    assert AssetItem("assets/a", ("b",)).to_json() == {"item": "assets/a", "name": "a", "blockIDs": ["b"]}
    await kernel.call("notebook/closeNotebook", notebook=box)
    assert missing_assets(kernel.workspace) == []


def test_one_asset_is_removed_with_its_text_and_nothing_else_is(kernel: MemoryKernel) -> None:
    put(kernel, SPARE)
    workspace = kernel.workspace
    set_text(workspace, SPARE, "words")
    for nothing in ("../conf/conf.json", "assets/none.txt"):
        remove_asset(workspace, nothing)
    with pytest.raises(Refusal, match="is not an asset path"):
        remove_asset(workspace, "storage")
    assert remove_asset(workspace, SPARE) == workspace.files.absolute(f"data/{SPARE}")
    assert asset_texts(workspace) == {}
    assert [path.rpartition("-clean/")[2] for path, _ in workspace.files.walk("history")] == [SPARE]


def test_unused_folders_are_removed_with_all_in_them(kernel: MemoryKernel) -> None:
    put(kernel, "assets/site/css/a.css", "assets/site/b.html")
    removed, size = remove_unused(kernel.workspace)
    assert [path.partition("data/assets/")[2] for path in removed] == [
        "site/css/a.css",
        "site/css",
        "site/b.html",
        "site",
    ]
    assert size == 2
    assert not kernel.workspace.files.exists("data/assets/site")


async def test_a_renamed_asset_is_followed_wherever_it_is_named(library: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, root_id = library
    workspace = kernel.workspace
    put(kernel, f"{PICTURE}.sya")
    workspace.files.write(VIEW_FILE, f'{{"x":"{PICTURE}"}}'.encode())
    workspace.files.write("data/storage/av/20240101000000-another.json", b"{}")
    set_text(workspace, PICTURE, "words")
    await kernel.document(box, "/without", "text")
    saved: list[str] = []
    new = rename_asset(workspace, PICTURE, " b:c ", saved.append)
    assert new.startswith("assets/b_c-")
    assert new.endswith(".png")
    assert saved == [root_id]
    assert workspace.files.read(f"data/{new}") == PICTURE.encode()
    assert workspace.files.exists(f"data/{new}.sya")
    assert json.loads(workspace.files.read(VIEW_FILE)) == {"x": new}
    assert asset_texts(workspace)[new] == "words"
    kept = [path for path, _ in workspace.files.walk("history")]
    assert [path.endswith(f"-replace/{box}/{root_id}.sy") for path in kept] == [True]
    assert new.encode() in workspace.files.read(kept[0])


@pytest.mark.parametrize(("name", "renamed"), [(" ", ""), ("spare.txt", "")])
def test_a_name_that_is_none_or_its_own_renames_nothing(kernel: MemoryKernel, name: str, renamed: str) -> None:
    put(kernel, SPARE)
    assert rename_asset(kernel.workspace, f"{SPARE}?p=1", name) == renamed
    assert kernel.workspace.files.exists(f"data/{SPARE}")


def test_a_name_of_dots_is_refused_and_a_missing_file_is_not(kernel: MemoryKernel) -> None:
    with pytest.raises(Refusal) as refusal:
        rename_asset(kernel.workspace, "assets/none.txt", "..")
    assert str(refusal.value) == INVALID_NAME
    new = rename_asset(kernel.workspace, "assets/none.txt", "n")
    assert new.startswith("assets/n-")
    assert new.endswith(".txt")
    put(kernel, SPARE)
    new = rename_asset(kernel.workspace, SPARE, "plain")
    assert kernel.workspace.files.exists(f"data/{new}")
    assert asset_texts(kernel.workspace) == {}


@pytest.mark.parametrize("content", [b"{", b"[]", b'"text"'])
def test_texts_that_cannot_be_read_are_none(kernel: MemoryKernel, content: bytes) -> None:
    kernel.workspace.files.write(OCR_TEXTS, content)
    assert asset_texts(kernel.workspace) == {}


def test_texts_are_kept_in_order_and_written_only_when_they_change(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    set_text(workspace, "assets/b", "two")
    set_text(workspace, "assets/a", "鲸")
    assert workspace.files.read(OCR_TEXTS).decode() == '{\n  "assets/a": "鲸",\n  "assets/b": "two"\n}'
    before = workspace.files.changes
    set_text(workspace, "assets/a", "鲸")
    forget_text(workspace, "assets/unknown")
    assert workspace.files.changes == before
    forget_text(workspace, "assets/a")
    assert asset_texts(workspace) == {"assets/b": "two"}

"""/api/repo: snapshots taken, compared, gone back to."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_without_a_key_nothing_is_kept(kernel: MemoryKernel) -> None:
    assert (await kernel.refusal("repo/createSnapshot", memo="m")).startswith("Failed to create data snapshot: Please")
    assert await kernel.call("repo/checkoutRepo", id="0" * 40) is None


async def test_going_back_restores_the_notes_and_leaves_process_files_alone(kernel: MemoryKernel) -> None:
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    box = await kernel.notebook()
    kept = await kernel.document(box, "/Kept", "one")
    files = kernel.workspace.files
    files.write("data/storage/petal/x/ledger.db", b"open")
    kernel.clock.advance(1)
    await kernel.call("repo/createSnapshot", memo="first")
    first = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]
    assert (first["memo"], first["tag"]) == ("first", "")
    kernel.clock.advance(1)
    late = await kernel.document(box, "/Late", "two")
    await kernel.call("repo/createSnapshot", memo="second")
    second = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]
    differences = await kernel.call("repo/diffRepoSnapshots", left=first["id"], right=second["id"])
    assert "Late" in [file["title"] for file in differences["addsLeft"]]
    assert differences["removesRight"] == []
    await kernel.call("repo/checkoutRepo", id=first["id"])
    assert await kernel.call("block/checkBlockExist", id=kept)
    assert not await kernel.call("block/checkBlockExist", id=late)
    assert files.read("data/storage/petal/x/ledger.db") == b"open"
    assert (await kernel.call("repo/getRepoSnapshots", page=1))[
        "totalCount"
    ] == 3  # nothing has changed since the second


async def test_a_snapshot_without_a_name_is_looked_for_as_the_folder(kernel: MemoryKernel) -> None:
    refusal = await kernel.refusal("av/renderSnapshotAttributeView", snapshot="", id="20240101000000-avavava")
    assert refusal.endswith("/repo/indexes: no such file or directory")


async def test_tags_are_set_listed_and_removed(kernel: MemoryKernel) -> None:
    await kernel.call("repo/initRepoKey")
    snapshot = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]["id"]
    await kernel.call("repo/tagSnapshot", id=snapshot, name="v1")
    tagged = (await kernel.call("repo/getRepoTagSnapshots"))["snapshots"]
    assert [(one["id"], one["tag"]) for one in tagged] == [(snapshot, "v1")]
    await kernel.call("repo/removeRepoTagSnapshot", tag="v1")
    assert (await kernel.call("repo/getRepoTagSnapshots"))["snapshots"] == []
    assert (await kernel.refusal("repo/tagSnapshot", id="0" * 40, name="x")).endswith("no such file or directory")


async def test_a_kept_document_opens_as_dom_nobody_can_edit_and_a_kept_text_as_it_is(kernel: MemoryKernel) -> None:
    await kernel.call("repo/initRepoKey")
    box = await kernel.notebook()
    document = await kernel.document(box, "/Kept & told", "## Head\n\nwords")
    files = kernel.workspace.files
    files.write("data/assets/a.txt", b"plain text")
    files.write("data/assets/a.bin", b"\0\1")
    await kernel.call("repo/createSnapshot", memo="m")

    async def opened(keyword: str) -> dict[str, object]:
        found = (await kernel.call("repo/searchRepoFile", keyword=keyword, page=1))["files"]
        answer = await kernel.call("repo/openRepoSnapshotFile", id=found[0]["fileID"])
        return dict(answer)

    note = await opened(document)
    assert (note["title"], note["displayInText"]) == ("Kept & told", False)
    assert 'data-type="NodeHeading"' in str(note["content"])
    assert 'contenteditable="false"' in str(note["content"])
    assert 'contenteditable="true"' not in str(note["content"])
    text = await opened("a.txt")
    assert (text["title"], text["displayInText"], text["content"]) == ("/assets/a.txt", True, "plain text")
    assert (await opened("a.bin"))["content"] == "/assets/a.bin"


async def test_a_large_kept_document_opens_as_text(kernel: MemoryKernel) -> None:
    await kernel.call("repo/initRepoKey")
    box = await kernel.notebook()
    document = await kernel.document(box, "/Large", "words")
    path = next(path for path, _ in kernel.workspace.files.walk("data") if path.endswith(f"{document}.sy"))
    stored = kernel.workspace.files.read(path)
    kernel.workspace.files.write(path, stored + b" " * (1 << 20))
    await kernel.call("repo/createSnapshot", memo="m")
    found = (await kernel.call("repo/searchRepoFile", keyword=document, page=1))["files"]
    answer = await kernel.call("repo/openRepoSnapshotFile", id=found[0]["fileID"])
    assert answer["displayInText"] is True
    assert str(answer["content"]).startswith("words\n{: id=")


@pytest.mark.parametrize("name", ["a/b", "a\\b", "a:b", 'a"b', "a?"])
async def test_tags_are_names_that_any_file_system_takes(kernel: MemoryKernel, name: str) -> None:
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    snapshot = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]["id"]
    refused = await kernel.refusal("repo/tagSnapshot", id=snapshot, name=name)
    assert refused.startswith("Failed to create data snapshot: Do not include symbols")
    assert (await kernel.refusal("repo/tagSnapshot", id=snapshot, name=" ")).endswith("Input can not be empty")


async def test_a_snapshot_is_taken_only_of_what_has_changed(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    await kernel.call("repo/createSnapshot", memo="nothing new")
    assert (await kernel.call("repo/getRepoSnapshots", page=1))["totalCount"] == 1
    kernel.clock.advance(1)
    await kernel.document(box, "/New", "text")
    await kernel.call("repo/createSnapshot", memo="one more")
    assert (await kernel.call("repo/getRepoSnapshots", page=1))["totalCount"] == 2


async def test_kept_files_are_found_by_title_or_name_and_can_be_downloaded(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Title", "text")
    kernel.workspace.files.write("data/assets/a.txt", b"a")
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    assert (await kernel.call("repo/searchRepoFile", keyword=".sy", page=1))["files"] == []
    found = (await kernel.call("repo/searchRepoFile", keyword="titl", page=1))["files"]
    assert [(one["title"], one["hPath"]) for one in found] == [("Title", "/Title")]
    assert found == (await kernel.call("repo/searchRepoFile", keyword=root_id, page=1))["files"]
    text = (await kernel.call("repo/searchRepoFile", keyword="a.txt", page=1))["files"][0]["fileID"]
    assert await kernel.call("repo/exportRepoFile", id=text) == {"path": "/export/repo/a.txt"}
    assert kernel.workspace.files.read("temp/export/repo/a.txt") == b"a"
    assert (await kernel.answer("repo/getRepoFile", id="x")).data is None


async def test_a_database_is_shown_as_a_snapshot_holds_it(kernel: MemoryKernel) -> None:
    database = "20240101000000-dbdbdbd"
    await kernel.call("av/renderAttributeView", id=database)
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    snapshot = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]["id"]
    shown = await kernel.call("av/renderSnapshotAttributeView", id=database, snapshot=snapshot)
    assert (shown["id"], shown["viewType"]) == (database, "table")
    other = "20240101000000-nonenon"
    missing = await kernel.refusal("av/renderSnapshotAttributeView", id=other, snapshot=snapshot)
    assert missing == "attribute view not found"


async def test_the_cloud_is_empty_and_nothing_moves_there(kernel: MemoryKernel) -> None:
    assert (await kernel.refusal("repo/getCloudRepoTagSnapshots")).startswith("Please initialize the data repo key")
    await kernel.call("repo/initRepoKeyFromPassphrase", **{"pass": "secret"})
    assert await kernel.call("repo/getCloudRepoTagSnapshots") == {"snapshots": []}
    empty = {"snapshots": [], "pageCount": 0, "totalCount": 0}
    assert await kernel.call("repo/getCloudRepoSnapshots", page=1) == empty
    assert await kernel.call("repo/uploadCloudSnapshot", id="x", tag="t") is None
    assert (await kernel.refusal("repo/purgeCloudRepo")).startswith("Failed to purge data repo")


@pytest.mark.parametrize("jump_s", [0, -3600])
async def test_the_latest_snapshot_is_the_one_taken_last_whatever_the_clock_has_done(
    kernel: MemoryKernel, jump_s: float
) -> None:
    await kernel.call("repo/initRepoKey")
    await kernel.notebook()
    for memo in ("one", "two", "three"):
        kernel.workspace.files.write("data/assets/a.txt", memo.encode())
        await kernel.call("repo/createSnapshot", memo=memo)
        kernel.clock.set_wall(jump_s)
    listed = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"]
    assert [one["memo"] for one in listed][:3] == ["three", "two", "one"]

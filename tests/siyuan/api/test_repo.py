"""/api/repo: snapshots taken, compared, gone back to."""

from __future__ import annotations

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
    assert (await kernel.call("repo/getRepoSnapshots", page=1))["totalCount"] == 4


async def test_tags_are_set_listed_and_removed(kernel: MemoryKernel) -> None:
    await kernel.call("repo/initRepoKey")
    snapshot = (await kernel.call("repo/getRepoSnapshots", page=1))["snapshots"][0]["id"]
    await kernel.call("repo/tagSnapshot", id=snapshot, name="v1")
    tagged = (await kernel.call("repo/getRepoTagSnapshots"))["snapshots"]
    assert [(one["id"], one["tag"]) for one in tagged] == [(snapshot, "v1")]
    await kernel.call("repo/removeRepoTagSnapshot", tag="v1")
    assert (await kernel.call("repo/getRepoTagSnapshots"))["snapshots"] == []
    assert (await kernel.refusal("repo/tagSnapshot", id="0" * 40, name="x")).endswith("no such file or directory")

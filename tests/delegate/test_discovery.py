"""Looking a coordinator up on a real disk, and at a scripted address."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernel.delegate.coordinator import SETTINGS_PATH, Coordinator, CoordinatorUnavailable
from kernel.delegate.discovery import AddressDiscovery, RemoteDiscovery, WorkspaceDiscovery, stored_token
from kernel.safety.folder import PLUGIN_STORAGE as STORAGE
from kernel.safety.folder import storage_folder
from kernel.safety.lock import COORDINATOR_LOCK, CoordinatorLock, HeldElsewhere, is_held
from tests.delegate.world import ORIGIN, Said, World, open_world, said

URL = "http://127.0.0.1:6806"


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with open_world(monkeypatch) as opened:
        yield opened


def lock_of(workspace: Path) -> Path:
    return workspace / STORAGE / COORDINATOR_LOCK


async def test_the_kernel_that_holds_the_workspace_is_found_with_its_token(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "conf.json").write_text(json.dumps({"api": {"token": "secret"}}))
    lock = CoordinatorLock.acquire(lock_of(tmp_path), url=URL)
    try:
        assert await WorkspaceDiscovery(tmp_path).find() == Coordinator(URL, "secret")
        assert await WorkspaceDiscovery(tmp_path, "mine").find() == Coordinator(URL, "mine")
        # R142: what the settings say of another listener hides nothing.
        (tmp_path / STORAGE / "mcpHttpSettings").write_text('{"enabled": false, "kernelEndpointEnabled": true}')
        assert (await WorkspaceDiscovery(tmp_path).find()).origin == URL
        (tmp_path / STORAGE / "mcpHttpSettings").write_text('{"kernelEndpointEnabled": false}')
        with pytest.raises(CoordinatorUnavailable, match="switched off"):
            await WorkspaceDiscovery(tmp_path).find()
    finally:
        lock.release()


async def test_what_a_dead_kernel_left_in_the_file_is_not_believed(tmp_path: Path) -> None:
    """Another kernel may answer at that address now, on other notes."""
    path = lock_of(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"pid": 1, "url": URL}))
    with pytest.raises(CoordinatorUnavailable, match="no kernel serves"):
        await WorkspaceDiscovery(tmp_path).find()


async def test_an_empty_or_a_missing_folder_has_no_kernel_and_nothing_is_made_there(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(CoordinatorUnavailable, match="serve --workspace"):
            await WorkspaceDiscovery(place).find()
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"api": 5}', '{"api": {}}', "\x00"])
def test_a_token_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "conf.json").write_text(content)
    assert stored_token(tmp_path) == ""
    assert stored_token(tmp_path / "none") == ""


def test_looking_at_a_lock_neither_takes_nor_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    assert not path.exists()
    lock = CoordinatorLock.acquire(path)
    assert is_held(path)
    assert is_held(path)
    lock.release()
    assert not is_held(path)
    CoordinatorLock.acquire(path).release()


@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        (said({"code": 404, "msg": "no such file"}, 202), True),
        (said({"kernelEndpointEnabled": True}), True),
        (said({"enabled": False}), True),
        (Said(200, (b"no JSON",)), True),
        (said({"error": "off here"}, 404), True),
        (said({"kernelEndpointEnabled": False}), False),
        (said({"code": -1}, 401), False),
        (Said(0), False),
    ],
)
async def test_a_kernel_at_an_address_is_asked_for_its_settings(world: World, answer: Said, is_found: bool) -> None:
    world.coordinator.on("/api/file/getFile", answer)
    discovery = AddressDiscovery(f"{ORIGIN}/sisyphus/mcp", "secret")
    if is_found:
        assert await discovery.find() == Coordinator(ORIGIN, "secret")
    else:
        with pytest.raises(CoordinatorUnavailable):
            await discovery.find()
    (asked,) = world.coordinator.asked
    assert (asked.json, asked.headers["authorization"]) == ({"path": SETTINGS_PATH}, "Bearer secret")


async def test_an_address_where_nobody_is_has_no_kernel(world: World) -> None:
    world.coordinator.is_there = False
    with pytest.raises(CoordinatorUnavailable, match="does not answer"):
        await AddressDiscovery(ORIGIN).find()
    with pytest.raises(CoordinatorUnavailable, match="is not an address"):
        await AddressDiscovery("nowhere").find()


@pytest.mark.parametrize(("failures", "is_taken"), [(0, True), (4, True), (5, False)])
def test_a_start_does_not_fail_because_somebody_looks_at_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, is_taken: bool
) -> None:
    """Whoever looks holds it for a moment; whoever holds it longer is its owner."""
    left = [OSError("held")] * failures

    def lock(_descriptor: int) -> None:
        if left:
            raise left.pop()

    monkeypatch.setattr("kernel.safety.lock._lock", lock)
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    if is_taken:
        CoordinatorLock.acquire(tmp_path / "lock").release()
    else:
        with pytest.raises(HeldElsewhere):
            CoordinatorLock.acquire(tmp_path / "lock")


@pytest.mark.parametrize("has_state_dir", [True, False])
async def test_the_kernel_before_a_remote_siyuan_is_found_by_what_it_was_started_with(
    tmp_path: Path, has_state_dir: bool
) -> None:
    workspace, state = tmp_path / "own", tmp_path / "state" if has_state_dir else None
    (workspace / "conf").mkdir(parents=True)
    (workspace / "conf" / "conf.json").write_text(json.dumps({"api": {"token": "secret"}}))
    folder = storage_folder(workspace, "http://notes.test:6806", state)
    lock = CoordinatorLock.acquire(folder / COORDINATOR_LOCK, url=URL)
    try:
        for written in ("http://notes.test:6806", "http://NOTES.test:6806/"):
            assert await RemoteDiscovery(written, workspace, state).find() == Coordinator(URL, "secret")
        assert (await RemoteDiscovery("http://notes.test:6806", workspace, state, "mine").find()).token == "mine"
        with pytest.raises(CoordinatorUnavailable, match=r"serve --host-url http://other\.test"):
            await RemoteDiscovery("http://other.test", workspace, state).find()
    finally:
        lock.release()
    with pytest.raises(CoordinatorUnavailable, match=r"no kernel serves http://notes\.test:6806"):
        await RemoteDiscovery("http://notes.test:6806", workspace, state).find()

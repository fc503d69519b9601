"""Who coordinates a workspace: found by lock or address, or told to be missing; never somebody else."""

from __future__ import annotations

import pytest

from kernel.delegate.coordinator import (
    Coordinator,
    CoordinatorUnavailable,
    Ownership,
    check_settings,
    from_lock,
    origin_of,
    unavailable,
)
from kernel.errors import ToolError


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:6806", "http://127.0.0.1:6806"),
        ("http://127.0.0.1:6806/plugin/private/x/mcp?token=t#f", "http://127.0.0.1:6806"),
        ("https://notes.example/sisyphus", "https://notes.example"),
        ("http://0.0.0.0:6806", "http://127.0.0.1:6806"),
        ("http://[::]:6806", "http://[::1]:6806"),
        ("http://[::1]:6806", "http://[::1]:6806"),
        ("http://user:secret@localhost:1/x", "http://localhost:1"),
    ],
)
def test_an_address_is_cut_down_to_its_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("url", ["127.0.0.1:6806", "ftp://x", "http://", "http://x:port", "http://[::1", ""])
def test_what_is_no_address_is_nobody(url: str) -> None:
    with pytest.raises(CoordinatorUnavailable, match="is not an address"):
        origin_of(url)


@pytest.mark.parametrize(
    ("url", "is_held", "words"),
    [
        (None, False, "no kernel serves /notes"),
        ("http://127.0.0.1:1", False, "no kernel serves /notes"),  # what a dead owner left is not believed
        (None, True, "does not say where"),
        ("", True, "does not say where"),
    ],
)
def test_a_workspace_without_a_living_owner_that_answers_has_no_coordinator(
    url: str | None, is_held: bool, words: str
) -> None:
    with pytest.raises(CoordinatorUnavailable, match=words):
        from_lock("/notes", "--workspace /notes", url, "t", is_held=is_held)


def test_the_holder_of_the_lock_is_the_coordinator() -> None:
    found = from_lock("/notes", "--workspace /notes", "http://0.0.0.0:6806", "t", is_held=True)
    assert found == Coordinator("http://127.0.0.1:6806", "t")
    assert found.headers() == {"Authorization": "Bearer t"}
    assert Coordinator("http://x").headers() == {}


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"kernelEndpointEnabled": true, "enabled": false}',
        b'{"kernelEndpointEnabled": null, "enabled": true}',
    ],
)
def test_the_endpoint_serves_whatever_the_listener_is_set_to(content: bytes | None) -> None:
    """R142: a closed listener of the settings does not hide the kernel's endpoint."""
    check_settings(content)


@pytest.mark.parametrize("listener", ["true", "false"])
def test_a_switched_off_endpoint_has_no_second_one_behind_it(listener: str) -> None:
    with pytest.raises(CoordinatorUnavailable, match="switched off"):
        check_settings(b'{"kernelEndpointEnabled": false, "enabled": %s}' % listener.encode())


def test_the_owner_of_the_first_write_is_remembered_and_another_is_told() -> None:
    ownership = Ownership()
    ownership.check(Coordinator("http://a:1", "t"))
    ownership.check(Coordinator("http://a:1", "another token"))
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            ownership.check(Coordinator("http://a:2"))
        assert caught.value.code == "write_coordinator_changed"
        assert caught.value.outer["writeAttempted"] is False
    ownership.check(Coordinator("http://a:1"))


@pytest.mark.parametrize(
    ("is_coordinated", "code"), [(True, "write_coordinator_unavailable"), (False, "host_unavailable")]
)
def test_missing_somebody_means_something_else_for_reads_and_writes(is_coordinated: bool, code: str) -> None:
    error = unavailable(CoordinatorUnavailable("gone"), is_coordinated=is_coordinated)
    assert (error.code, error.message, error.kind.safe_to_retry) == (code, "gone", True)

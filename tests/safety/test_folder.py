"""Where ledger and lock lie: one folder for a host, however its address is written, and one host for a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.safety.folder import PLUGIN_STORAGE, host_key, storage_folder

HOME = Path("/notes")


def test_the_ledger_lies_with_the_notes_or_under_the_remote_hosts_name() -> None:
    assert storage_folder(HOME) == HOME / PLUGIN_STORAGE
    assert storage_folder(HOME, "http://a").parent == HOME / "remote"
    assert storage_folder(HOME, "http://a", Path("/state")).parent == Path("/state")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a:6806", "http://a:6806/"),
        ("http://a:6806", "HTTP://A:6806"),
        ("http://a:6806", "http://user:word@a:6806"),
        ("http://a", "http://a:80"),
        ("https://a", "https://a:443/"),
        ("http://[::1]:6806", "http://[::1]:6806/"),
        ("http://a/notes", "http://a/notes/"),
    ],
)
def test_every_spelling_of_an_address_is_one_folder(one: str, other: str) -> None:
    assert host_key(one) == host_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a-b", "http://a.b"),
        ("http://a:6806", "http://a/6806"),
        ("http://a", "https://a"),
        ("http://a:80", "http://a:443"),
        ("http://a/x/y", "http://a/x-y"),
        ("http://a", "http://a/x"),
        ("http://a/X", "http://a/x"),
    ],
)
def test_two_hosts_never_share_a_folder(one: str, other: str) -> None:
    assert host_key(one) != host_key(other)
    assert "/" not in host_key(one)

"""Records through the hosts: the embedded kernel keeps them at once, a planned fault strikes them like any write."""

from __future__ import annotations

import errno

import pytest

from kernel.host.base import HostApiError
from kernel.host.embedded import EmbeddedHost
from kernel.host.records import keep_records
from kernel.tools.configuration import TOOLS_FILE
from kernel.tools.permissions import Level
from kernel.tools.plugin_files import PluginFiles
from kernel.workspace.file_backends import MemoryBackend
from kernel.workspace.records import Record
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.tools.fakes import FakeHost


async def test_the_embedded_host_keeps_records_and_reads_them_back() -> None:
    kernel = MemoryKernel().kernel
    host = EmbeddedHost(kernel)
    await keep_records(host, [Record("/data/storage/petal/x/a", b"1"), Record("/data/storage/petal/x/b", b"2\n", 99)])
    await keep_records(host, [Record("/data/storage/petal/x/b", b"3\n", 99)])
    assert await host.read_file("/data/storage/petal/x/a") == b"1"
    assert await host.read_file("/data/storage/petal/x/b") == b"2\n3\n"


class FarHost(FakeHost):
    """Files behind a wire: only whole ones can be put."""

    def __init__(self) -> None:
        super().__init__({})
        self.put: list[str] = []

    async def write_file(self, path: str, content: bytes) -> None:
        self.put.append(path)
        self.files[path] = content


async def test_a_far_host_gets_whole_files_and_the_old_one_is_kept_when_it_is_full() -> None:
    host = FarHost()
    await keep_records(host, [Record("/data/a", b"1"), Record("/data/a", b"2"), Record("/data/log", b"12345", 10)])
    await keep_records(host, [Record("/data/log", b"67890", 10)])
    assert host.files == {"/data/a": b"2", "/data/log": b"1234567890"}
    await keep_records(host, [Record("/data/log", b"x", 10)])
    assert host.files == {"/data/a": b"2", "/data/log": b"x", "/data/log.1": b"1234567890"}
    await keep_records(host, [Record("/data/big", b"longer than ten", 10)])
    assert host.files["/data/big"] == b"longer than ten"
    assert host.put == ["/data/a", "/data/a", "/data/log", "/data/log", "/data/log.1", "/data/log", "/data/big"]


async def test_a_refusing_disk_is_an_error_of_the_host() -> None:
    kernel = MemoryKernel().kernel
    backend = kernel.workspace.files._backend
    assert isinstance(backend, MemoryBackend)
    backend.refusal = errno.ENOSPC
    with pytest.raises(HostApiError, match="write failed"):
        await keep_records(EmbeddedHost(kernel), [Record("/data/a", b"1")])


async def test_settings_are_read_afresh_and_parsed_only_when_they_differ() -> None:
    host = EmbeddedHost(MemoryKernel().kernel)
    files = PluginFiles(Level.READ)
    empty = await files.configuration(host)
    assert await files.configuration(host) is empty
    await host.write_file(TOOLS_FILE, b'{"userRulesText":"a"}')
    changed = await files.configuration(host)
    assert changed.user_rules == "a"
    assert await files.configuration(host) is changed

    def change(settings: dict[str, object]) -> None:
        settings["userRulesText"] = "b"

    await files.change_settings(host, change)
    assert (await files.configuration(host)).user_rules == "b"
    assert changed.user_rules == "a"

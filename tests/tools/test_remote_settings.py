"""mcpHttpSettings of a remote host: read again and again, kept while the host cannot be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing

from kernel.host.base import HostUnavailable
from kernel.tools.configuration import HTTP_FILE
from kernel.tools.limits import REMOTE_SETTINGS_EVERY_S
from kernel.tools.remote_settings import RemoteHttpSettings
from tests.tools.fakes import FakeHost

OFF = b'{"kernelEndpointEnabled": false, "kernelOptions": {"allowedOrigins": ["https://app.test"]}}'


class Slow(FakeHost):
    """A host whose files are what ``content`` says: an exception is raised, None hangs."""

    content: bytes | Exception | None = b"{}"

    async def read_file(self, path: str) -> bytes | None:
        assert path == HTTP_FILE
        if self.content is None:
            await trio.sleep_forever()
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


@pytest.fixture
async def running(autojump_clock: trio.testing.MockClock) -> AsyncIterator[tuple[Slow, RemoteHttpSettings]]:
    host = Slow()
    settings = RemoteHttpSettings(host)
    async with trio.open_nursery() as nursery:
        await nursery.start(settings.run)
        yield host, settings
        nursery.cancel_scope.cancel()


async def test_a_change_is_seen_with_the_next_look_and_a_failure_changes_nothing(
    running: tuple[Slow, RemoteHttpSettings],
) -> None:
    host, settings = running
    assert settings().serves_endpoint
    for content in (OFF, HostUnavailable("gone", path=HTTP_FILE), OFF):
        host.content = content
        await trio.sleep(REMOTE_SETTINGS_EVERY_S + 0.1)
        assert not settings().serves_endpoint
        assert settings().options.allowed_origins == ("https://app.test",)
    host.content = b"{}"
    await trio.sleep(REMOTE_SETTINGS_EVERY_S + 0.1)
    assert settings().serves_endpoint


async def test_a_host_that_does_not_answer_is_not_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    host = Slow()
    host.content = None
    settings = RemoteHttpSettings(host)
    async with trio.open_nursery() as nursery:
        await nursery.start(settings.run)
        assert settings().serves_endpoint
        nursery.cancel_scope.cancel()

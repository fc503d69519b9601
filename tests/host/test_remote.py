"""The remote host: what is sent how often, and what each strange answer becomes."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError, HostHttpError, HostUnavailable
from kernel.host.budget import ReadBudget
from kernel.host.envelope import failure_code
from kernel.host.limits import FORM_BYTES_EXTRA, HOST_MESSAGE_CHARS_MAX, REMOTE_REQUEST_S_MAX
from kernel.host.remote import RemoteHost
from kernel.host.retries import retry_terms
from kernel.host.scoped import ScopedHost
from kernel.safety.commit import _as_tool_error
from kernel.tools.failures import from_host
from scheduler.ticket import RequestCancelled
from tests.host.test_scoped import Ticket

READ, WRITE = "/api/block/getBlockInfo", "/api/block/updateBlock"
Responder = Callable[[httpx.Request], httpx.Response]


def ok(data: object = None) -> httpx.Response:
    return httpx.Response(200, json={"code": 0, "msg": "", "data": data})


def host_of(respond: Responder) -> tuple[RemoteHost, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def record(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return respond(request)

    transport = httpx.MockTransport(record)
    return RemoteHost("http://host:1/", "secret", transport=transport, retry_waits_s=(0, 0, 0)), seen


async def test_a_call_posts_json_with_the_token_and_returns_data() -> None:
    host, seen = host_of(lambda _: ok({"x": 1}))
    assert await host.call(READ, {"id": "a"}) == {"x": 1}
    assert (seen[0].url.path, json.loads(seen[0].content)) == (READ, {"id": "a"})
    assert seen[0].headers["authorization"] == "Token secret"
    await host.aclose()


@pytest.mark.parametrize(("path", "tries"), [(READ, 4), (WRITE, 1)])
@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_transient_statuses_are_tried_again_for_reads_only(path: str, tries: int, status: int) -> None:
    host, seen = host_of(lambda _: httpx.Response(status, text="busy"))
    with pytest.raises(HostHttpError) as caught:
        await host.call(path)
    assert len(seen) == tries
    assert caught.value.is_ambiguous is (path == WRITE and status != 429)


async def test_a_reset_is_tried_again_for_a_read_and_ambiguous_for_a_write() -> None:
    def reset(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=request)

    host, seen = host_of(reset)
    with pytest.raises(HostUnavailable) as caught:
        await host.call(READ)
    assert (len(seen), caught.value.is_ambiguous) == (4, False)
    with pytest.raises(HostUnavailable) as caught:
        await host.call(WRITE)
    assert (len(seen), caught.value.is_ambiguous) == (5, True)


class Dripping(httpx.AsyncByteStream):
    """An answer of which a byte comes every ten seconds, for ever."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await trio.sleep(10)
            yield b" "


async def test_an_answer_that_drips_is_no_answer(autojump_clock: trio.testing.MockClock) -> None:
    host, seen = host_of(lambda _: httpx.Response(200, stream=Dripping()))
    began = trio.current_time()
    with pytest.raises(HostUnavailable) as caught:
        await host.call(WRITE)
    assert caught.value.is_ambiguous
    assert trio.current_time() - began == pytest.approx(REMOTE_REQUEST_S_MAX)
    with pytest.raises(HostUnavailable) as caught:
        await host.read_file("/data/x")
    assert (caught.value.is_ambiguous, len(seen)) == (False, 5)


@pytest.mark.parametrize("code", [False, "0", 0.0, None])
async def test_a_code_that_is_no_whole_number_is_no_code(code: object) -> None:
    host, _ = host_of(lambda _: httpx.Response(200, json={"code": code, "data": {}}))
    with pytest.raises(HostHttpError):
        await host.call(READ)


async def test_a_write_that_never_left_is_not_ambiguous() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    host, _ = host_of(refuse)
    with pytest.raises(HostUnavailable) as caught:
        await host.call(WRITE)
    assert not caught.value.is_ambiguous


async def test_a_read_that_succeeds_at_the_second_try_is_answered() -> None:
    answers = iter([httpx.Response(503), ok("fine")])
    host, _ = host_of(lambda _: next(answers))
    assert await host.call(READ) == "fine"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_refusals_are_certain_and_not_tried_again(status: int) -> None:
    host, seen = host_of(lambda _: httpx.Response(status, text="no"))
    with pytest.raises(HostHttpError) as caught:
        await host.call(WRITE)
    assert (caught.value.status, caught.value.is_ambiguous, len(seen)) == (status, False, 1)


@pytest.mark.parametrize("body", ["<html>login</html>", "[]", '{"data":1}', '{"code":"0"}'])
async def test_what_is_not_the_envelope_is_malformed(body: str) -> None:
    host, seen = host_of(lambda _: httpx.Response(200, text=body))
    with pytest.raises(HostHttpError) as caught:
        await host.call(READ)
    assert len(seen) == 1
    assert "Invalid SiYuan API response" in caught.value.message
    with pytest.raises(HostHttpError) as caught:
        await host.call(WRITE)
    assert caught.value.is_ambiguous


async def test_an_empty_body_answers_a_write_and_no_question() -> None:
    """The kernel says nothing where its handler gave up; a note with no text would be another answer."""
    host, seen = host_of(lambda _: httpx.Response(200))
    assert await host.call(WRITE) is None
    with pytest.raises(HostHttpError, match="it is empty") as caught:
        await host.call(READ)
    assert (caught.value.is_ambiguous, len(seen)) == (False, 2)


class Endless(httpx.AsyncByteStream):
    """An answer without end; it counts what was taken of it."""

    def __init__(self) -> None:
        self.pieces = 0
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self.is_closed:
            self.pieces += 1
            yield b"x" * 10
        raise httpx.ReadError("closed")

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(("path", "is_ambiguous"), [(READ, False), (WRITE, True)])
async def test_an_answer_is_read_up_to_its_bound_and_no_further(path: str, is_ambiguous: bool) -> None:
    endless = Endless()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=endless))
    host = RemoteHost("http://host:1", transport=transport, retry_waits_s=(0,), answer_bytes_max=100)
    with pytest.raises(HostHttpError, match="longer than 100 bytes") as caught:
        await host.call(path)
    assert (endless.pieces, endless.is_closed, caught.value.is_ambiguous) == (11, True, is_ambiguous)
    await host.aclose()
    exact = httpx.MockTransport(lambda _: httpx.Response(200, content=b'{"code":0,"data":"' + b"x" * 80 + b'"}'))
    host = RemoteHost("http://host:1", transport=exact, answer_bytes_max=100)
    assert await host.call(READ) == "x" * 80


async def test_what_little_unpacks_to_much_is_bounded_as_well() -> None:
    packed = gzip.compress(b" " * 10_000_000)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=packed, headers={"Content-Encoding": "gzip"}))
    host = RemoteHost("http://host:1", transport=transport, retry_waits_s=(), answer_bytes_max=1_000_000)
    with pytest.raises(HostHttpError, match="longer than"):
        await host.read_file("/data/x")


@pytest.mark.parametrize("length", [HOST_MESSAGE_CHARS_MAX, HOST_MESSAGE_CHARS_MAX + 1])
async def test_of_a_long_message_the_beginning_is_passed_on(length: int) -> None:
    host, _ = host_of(lambda _: httpx.Response(200, json={"code": -1, "msg": "m" * length}))
    with pytest.raises(HostApiError) as caught:
        await host.call(READ)
    assert caught.value.message == "m" * HOST_MESSAGE_CHARS_MAX


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HostHttpError(401, "no", path=WRITE), "host_unauthorized"),
        (HostHttpError(403, "no", path=WRITE), "host_unauthorized"),
        (HostHttpError(404, "no", path=WRITE), "host_malformed"),
        (HostHttpError(302, "no", path=WRITE), "host_malformed"),
        (HostHttpError(429, "no", path=WRITE), "host_unavailable"),
        (HostHttpError(501, "no", path=WRITE), "host_unavailable"),
        (HostUnavailable("no", path=WRITE), "host_unavailable"),
    ],
)
def test_reads_and_writes_name_a_failing_host_alike(error: HostError, code: str) -> None:
    assert failure_code(error) == code
    assert from_host(error).code == code
    assert _as_tool_error(error).code == code


async def test_code_minus_one_is_the_hosts_refusal() -> None:
    host, _ = host_of(lambda _: httpx.Response(200, json={"code": -1, "msg": "no", "data": {"x": 1}}))
    with pytest.raises(HostApiError) as caught:
        await host.call(WRITE)
    assert (caught.value.api_code, caught.value.message, caught.value.data) == (-1, "no", {"x": 1})
    assert not caught.value.is_ambiguous


async def test_a_missing_file_is_none_and_other_refusals_are_errors() -> None:
    host, _ = host_of(lambda _: httpx.Response(202, json={"code": 404, "msg": "gone", "data": None}))
    assert await host.read_file("/data/x") is None
    host, _ = host_of(lambda _: httpx.Response(202, json={"code": 403, "msg": "denied", "data": None}))
    with pytest.raises(HostApiError):
        await host.read_file("/data/x")
    host, _ = host_of(lambda _: httpx.Response(202, text="<html>"))
    with pytest.raises(HostError):
        await host.read_file("/data/x")
    host, _ = host_of(lambda _: httpx.Response(200, content=b'{"code":404}'))
    assert await host.read_file("/data/x") == b'{"code":404}'
    host, seen = host_of(lambda _: httpx.Response(500))
    with pytest.raises(HostHttpError):
        await host.read_file("/data/x")
    assert len(seen) == 4


async def test_files_and_assets_are_sent_once_as_forms() -> None:
    host, seen = host_of(lambda _: ok({"succMap": {}}))
    await host.write_file("/data/templates/a.md", b"text")
    assert await host.upload_asset("/assets/", "p.png", b"png") == {"succMap": {}}
    assert b'name="path"' in seen[0].content
    assert b'name="file[]"; filename="p.png"' in seen[1].content
    host, seen = host_of(lambda _: httpx.Response(500))
    with pytest.raises(HostHttpError) as caught:
        await host.write_file("/data/x", b"")
    assert (len(seen), caught.value.is_ambiguous) == (1, True)


async def test_static_files_come_whole_or_in_pieces() -> None:
    host, _ = host_of(lambda r: httpx.Response(200, content=b"abc") if r.url.path == "/a" else httpx.Response(404))
    assert (await host.fetch_static("/a"), await host.fetch_static("/b")) == (b"abc", None)
    assert b"".join([piece async for piece in host.stream_static("/a")]) == b"abc"
    with pytest.raises(HostHttpError):
        _ = [piece async for piece in host.stream_static("/b")]
    host, _ = host_of(lambda _: httpx.Response(403))
    with pytest.raises(HostHttpError):
        await host.fetch_static("/a")


async def test_a_download_that_breaks_off_says_so() -> None:
    def reset(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=request)

    host, seen = host_of(reset)
    with pytest.raises(HostUnavailable):
        _ = [piece async for piece in host.stream_static("/a")]
    assert len(seen) == 1


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_a_calls_own_terms_say_how_often_and_each_try_counts(retries: int) -> None:
    host, seen = host_of(lambda _: httpx.Response(503, text="busy"))
    budget = ReadBudget()
    scoped = ScopedHost(host, Ticket(), ManualClock(), budget=budget, retries=retries, host_retries=True)
    with pytest.raises(HostHttpError):
        await scoped.call(READ)
    assert (len(seen), scoped.calls, budget.requests) == (retries + 1,) * 3
    assert retry_terms.get() is None, "the terms end with the call"


async def test_the_budget_ends_a_remote_hosts_tries() -> None:
    host, seen = host_of(lambda _: httpx.Response(503, text="busy"))
    budget = ReadBudget(2)
    with pytest.raises(ToolError) as caught:
        await ScopedHost(host, Ticket(), ManualClock(), budget=budget, retries=3, host_retries=True).call(READ)
    assert (caught.value.code, len(seen)) == ("read_budget_exceeded", 2)


async def test_a_cancelled_call_tries_no_more() -> None:
    ticket = Ticket()

    def cancel(request: httpx.Request) -> httpx.Response:
        ticket.is_cancelled = True
        return httpx.Response(503)

    host, seen = host_of(cancel)
    with pytest.raises(RequestCancelled):
        await ScopedHost(host, ticket, ManualClock(), retries=3, host_retries=True).call(READ)
    assert len(seen) == 1


async def test_a_form_has_64_kibibytes_beside_its_file_and_not_a_byte_more() -> None:
    """R166."""
    host, seen = host_of(lambda _: ok())
    await host.write_file("/data/templates/a.md", bytes(100))
    room = FORM_BYTES_EXTRA - (len(seen[0].content) - 100)
    await host.write_file(f"/data/templates{'x' * room}/a.md", bytes(100))
    assert len(seen[1].content) == FORM_BYTES_EXTRA + 100
    with pytest.raises(HostApiError, match="form around the file"):
        await host.write_file(f"/data/templates{'x' * (room + 1)}/a.md", bytes(100))
    assert len(seen) == 2

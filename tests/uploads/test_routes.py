"""The two routes: places, time limits, sizes, statuses, on a body that the test deals out piece by piece."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from kernel.clock import ManualClock
from kernel.uploads.limits import FILE_BYTES_MAX, HASH_STEP_BYTES, ITEM_TTL_S, UPLOAD_S_MAX
from kernel.uploads.routes import Uploads
from kernel.wire import BodyTooLarge, ClientGone, Headers, Request, Response

BINARY = {"content-type": "application/octet-stream", "x-sisyphus-file-name": "a.bin"}


class Body:
    """An exchange whose body comes from ``pieces``; ``read`` counts what was asked for."""

    def __init__(self, *pieces: bytes | Exception, hold: trio.Event | None = None, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.request = Request("POST", "/u", "/u", "", Headers(named.items()), body=b"".join(_bytes(pieces)))
        self._pieces = pieces
        self._hold = hold
        self.read = 0

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        if self._hold is not None:
            await self._hold.wait()
        for piece in self._pieces:
            self.read += 1
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def watch_disconnect(self, gone: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()


def _bytes(pieces: tuple[bytes | Exception, ...]) -> list[bytes]:
    return [piece for piece in pieces if isinstance(piece, bytes)]


class World:
    def __init__(self, *, is_enabled: bool = True) -> None:
        self.clock = ManualClock()
        self.is_enabled = is_enabled
        self.uploads = Uploads(self.clock, self._enabled, run_in_thread=self._inline)
        self.threaded = 0

    async def _enabled(self) -> bool:
        return self.is_enabled

    async def _inline(self, parse: Callable[[bytes], tuple[str, bytes]], body: bytes) -> tuple[str, bytes]:
        self.threaded += 1
        return parse(body)

    async def upload(self, *pieces: bytes | Exception, **headers: str) -> tuple[int, dict[str, Any]]:
        return told(await self.uploads.upload(Body(*pieces, **(headers or BINARY))))

    async def lookup(self, body: object) -> tuple[int, dict[str, Any]]:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return told(await self.uploads.lookup(Body(raw)))


def told(answer: object) -> tuple[int, dict[str, Any]]:
    assert isinstance(answer, Response)
    return answer.status, json.loads(answer.body)


async def test_an_upload_is_hashed_as_it_comes_and_answers_its_receipt() -> None:
    world = World()
    status, receipt = await world.upload(b"ab", b"c")
    assert status == 200
    assert receipt["sha256"] == "sha256:v1:" + hashlib.sha256(b"abc").hexdigest()
    assert (receipt["fileName"], receipt["bytes"]) == ("a.bin", 3)
    assert receipt["expiresAt"] == world.clock.wall_ms() + ITEM_TTL_S * 1000
    assert world.uploads.staged(receipt["uploadSource"]) == ("a.bin", b"abc")
    assert world.uploads.statistics() == {"items": 1, "bytes": 3}
    world.clock.advance(ITEM_TTL_S)
    assert world.uploads.staged(receipt["uploadSource"]) is None


@pytest.mark.parametrize("is_large", [False, True])
async def test_json_and_binary_give_the_same_source(is_large: bool) -> None:
    world = World()
    content = "YWJj" * (20_000 if is_large else 1)
    _, binary = await world.upload(b"abc" * (len(content) // 4))
    status, receipt = await world.upload(
        b'{"fileName":"a.bin",', b'"dataBase64":"%s"}' % content.encode(), content_type="application/json"
    )
    assert (status, receipt) == (200, binary)
    assert world.threaded == (1 if is_large else 0)
    assert world.uploads.statistics()["items"] == 1


async def test_exactly_ten_mebibytes_are_taken_and_one_byte_more_ends_the_reading() -> None:
    world = World()
    half = b"x" * (FILE_BYTES_MAX // 2)
    assert (await world.upload(half, half))[0] == 200
    body = Body(half, half, b"x", b"never asked for", **BINARY)
    assert told(await world.uploads.upload(body))[0] == 413
    assert body.read == 3
    assert world.uploads.in_flight == 0


@pytest.mark.parametrize(("length", "status", "read"), [(FILE_BYTES_MAX, 200, 1), (FILE_BYTES_MAX + 1, 413, 0)])
async def test_a_declared_length_over_the_limit_is_refused_before_a_byte(length: int, status: int, read: int) -> None:
    body = Body(b"x", content_length=str(length), **BINARY)
    assert told(await World().uploads.upload(body))[0] == status
    assert body.read == read


async def test_the_servers_own_bound_is_told_in_the_same_words() -> None:
    status, error = await World().upload(BodyTooLarge(7), content_type="application/json")
    assert (status, error["error"]) == (413, "upload_too_large")


async def test_the_third_upload_is_refused_before_its_body_and_a_place_comes_free(nursery: trio.Nursery) -> None:
    world = World()
    hold = trio.Event()
    for name in ("a", "b"):
        nursery.start_soon(world.uploads.upload, Body(b"x", hold=hold, **{**BINARY, "x-sisyphus-file-name": name}))
    await trio.testing.wait_all_tasks_blocked()
    assert world.uploads.in_flight == 2
    third = Body(b"x", **BINARY)
    answer = await world.uploads.upload(third)
    assert isinstance(answer, Response)
    assert (answer.status, third.read, answer.closes) == (429, 0, True)
    assert dict(answer.headers)["Retry-After"] == "1"
    hold.set()
    await trio.testing.wait_all_tasks_blocked()
    assert world.uploads.in_flight == 0
    assert (await world.upload(b"x"))[0] == 200


async def test_a_body_that_does_not_end_gives_its_place_back_after_two_minutes(autojump_clock: MockClock) -> None:
    world = World()
    answer = await world.uploads.upload(Body(b"x", hold=trio.Event(), **BINARY))
    assert isinstance(answer, Response)
    assert (answer.status, answer.closes) == (408, True)
    assert math.isclose(trio.current_time(), UPLOAD_S_MAX, abs_tol=1e-6) or trio.current_time() >= UPLOAD_S_MAX
    assert world.uploads.in_flight == 0


async def test_a_client_that_goes_away_gives_its_place_back() -> None:
    world = World()
    with pytest.raises(ClientGone):
        await world.upload(b"ab", ClientGone())
    assert world.uploads.in_flight == 0
    assert world.uploads.statistics()["items"] == 0


@pytest.mark.parametrize("name", ["%E4%B", "..%2Fx", "a%0D%0Ab", ""])
async def test_a_bad_name_is_refused_unread_and_its_place_is_free_again(name: str) -> None:
    world = World()
    body = Body(b"x", content_type="application/octet-stream", x_sisyphus_file_name=name)
    status, error = told(await world.uploads.upload(body))
    assert (status, error["error"], body.read) == (400, "invalid_upload", 0)
    assert world.uploads.in_flight == 0


async def test_bad_base64_is_400() -> None:
    assert (await World().upload(b'{"fileName":"a","dataBase64":"YR=="}', content_type="application/json"))[0] == 400


async def test_a_full_staging_area_is_429_and_the_same_file_still_finds_its_place() -> None:
    world = World()
    for number in range(64):
        assert (await world.upload(b"%d" % number))[0] == 200
    assert (await world.upload(b"more"))[1]["error"] == "upload_capacity"
    assert (await world.upload(b"more"))[0] == 429
    assert (await world.upload(b"63"))[0] == 200


async def test_other_tasks_get_a_turn_after_every_step_of_hashing(nursery: trio.Nursery) -> None:
    world = World()
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    nursery.start_soon(count)
    await world.upload(b"x" * (10 * HASH_STEP_BYTES))
    # Ten steps have nine gaps; in the last batch of tasks either may come first.
    assert turns >= 9
    nursery.cancel_scope.cancel()


async def test_a_look_up_finds_what_was_staged_and_never_makes_anything() -> None:
    world = World()
    wanted = {"fileName": "a.bin", "sha256": hashlib.sha256(b"abc").hexdigest(), "bytes": 3}
    assert (await world.lookup(wanted))[0] == 404
    _, receipt = await world.upload(b"abc")
    assert await world.lookup(wanted) == (200, receipt)
    assert (await world.lookup({**wanted, "bytes": 4}))[0] == 404
    assert (await world.lookup({**wanted, "fileName": "b"}))[0] == 404
    assert world.uploads.statistics()["items"] == 1


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", {"fileName": "a.bin"}])
async def test_a_malformed_look_up_is_400(body: object) -> None:
    assert (await World().lookup(body))[1]["error"] == "invalid_upload_fingerprint"
    assert (await World().lookup(body))[0] == 400


async def test_nothing_is_staged_or_found_while_the_action_is_switched_off() -> None:
    world = World(is_enabled=False)
    body = Body(b"x", **BINARY)
    assert told(await world.uploads.upload(body))[0] == 403
    assert body.read == 0
    assert (await world.lookup({}))[0] == 403

"""Files too large to be read whole: the same answers as for small ones, piece by piece."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kernel.siyuan.limits import STREAM_PIECE_BYTES, STREAMED_BYTES_MIN
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]
SIZE = STREAMED_BYTES_MIN + 5
CONTENT = os.urandom(SIZE)
PLACE = "/assets/big.bin"


@pytest.fixture
async def world(start: Start, tmp_path: Path) -> World:
    begun = await start(folder=str(tmp_path))
    begun.write("data/assets/big.bin", CONTENT)
    begun.write("data/assets/small.bin", CONTENT[: STREAMED_BYTES_MIN - 1])
    return begun


async def test_a_large_file_comes_whole_with_its_length(world: World) -> None:
    for reply in (
        await world.get(PLACE),
        await world.post("/api/file/getFile", json.dumps({"path": "/data/assets/big.bin"})),
    ):
        assert (reply.status, reply.headers["content-length"]) == (200, str(SIZE))
        assert reply.body == CONTENT
    small = await world.get("/assets/small.bin")
    assert small.body == CONTENT[:-6]


@pytest.mark.parametrize(
    ("wanted", "first", "behind"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes={STREAM_PIECE_BYTES - 1}-{STREAM_PIECE_BYTES}", 262143, 262145),
    ],
)
async def test_a_range_of_it_is_read_where_it_lies(world: World, wanted: str, first: int, behind: int) -> None:
    reply = await world.get(PLACE, Range=wanted)
    assert (reply.status, reply.headers["content-range"]) == (206, f"bytes {first}-{behind - 1}/{SIZE}")
    assert reply.body == CONTENT[first:behind]


async def test_several_ranges_come_as_parts_of_one_answer(world: World) -> None:
    reply = await world.get(PLACE, Range="bytes=0-1,-2")
    assert reply.headers["content-type"].startswith("multipart/byteranges")
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert CONTENT[:2] in reply.body
    assert CONTENT[-2:] in reply.body


async def test_a_range_behind_the_end_and_an_unchanged_file_send_nothing(world: World) -> None:
    assert (await world.get(PLACE, Range=f"bytes={SIZE}-")).status == 416
    reply = await world.get(PLACE)
    unchanged = await world.get(PLACE, If_Modified_Since=reply.headers["last-modified"])
    assert (unchanged.status, unchanged.body) == (304, b"")


async def test_a_head_says_the_length_and_sends_nothing(world: World) -> None:
    world.write("data/public/big.bin", CONTENT)
    reply = await world.ask("HEAD", "/public/big.bin")
    assert (reply.status, reply.headers["content-length"], reply.body) == (200, str(SIZE), b"")


async def test_it_is_packed_on_the_way_where_gzip_is_asked_for(world: World) -> None:
    reply = await world.get(PLACE, Accept_Encoding="gzip")
    assert reply.headers["content-encoding"] == "gzip"
    assert "content-length" not in reply.headers
    assert gzip.decompress(reply.body) == CONTENT


async def test_a_file_that_only_memory_holds_is_sent_from_there(world: World, start: Start) -> None:
    world.kernel.workspace.files.write("data/assets/new.bin", CONTENT)
    assert world.kernel.workspace.files.on_disk("data/assets/new.bin") == ""
    assert (await world.get("/assets/new.bin")).body == CONTENT
    memory = await start()
    memory.write("data/assets/big.bin", CONTENT)
    assert (await memory.get(PLACE)).body == CONTENT


async def test_a_distributions_large_files_are_no_exception(start: Start, tmp_path: Path) -> None:
    stage = tmp_path / "wd" / "stage"
    stage.mkdir(parents=True)
    (stage / "big.js").write_bytes(CONTENT)
    world = await start(working_dir=str(tmp_path / "wd"))
    assert (await world.get("/stage/big.js")).body == CONTENT

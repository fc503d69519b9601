"""512 MiB through a delegate: memory stays flat, the bound is exact, the digest is right."""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from pathlib import Path

import pytest
import trio

from kernel.delegate import files
from kernel.delegate.coordinator import Coordinator
from kernel.delegate.exports import NotSaved, Wanted
from kernel.delegate.limits import DOWNLOAD_BYTES_MAX

pytestmark = pytest.mark.slow
BLOCK = bytes(range(256)) * 256
GROWTH_BYTES_MAX = 32 * 1024 * 1024
TOLD = {"delivery": "download", "downloadPath": "/temp/export/big.zip"}


async def send(size: int, stream: trio.SocketStream) -> None:
    """One download of ``size`` bytes, without saying before how many they are."""
    await stream.receive_some(65536)
    try:
        await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, size, len(BLOCK)):
            piece = BLOCK[: size - start]
            await stream.send_all(b"%x\r\n%s\r\n" % (len(piece), piece))
        await stream.send_all(b"0\r\n\r\n")
    except trio.BrokenResourceError:
        return
    finally:
        await stream.aclose()


def peak_bytes() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
@pytest.mark.parametrize("more", [0, 1])
async def test_512_mebibytes_are_saved_in_flat_memory_and_one_byte_more_is_not(tmp_path: Path, more: int) -> None:
    """R188, R189."""
    target = tmp_path / "big.zip"
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, partial(send, DOWNLOAD_BYTES_MAX + more), 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        origin = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        before = peak_bytes()
        saving = partial(files.saved, Coordinator(origin), Wanted("archive", target), dict(TOLD))
        if more:
            with pytest.raises(NotSaved, match="larger"):
                await saving()
            assert not target.exists()
        else:
            told = await saving()
            assert peak_bytes() - before < GROWTH_BYTES_MAX
            assert told["bytes"] == target.stat().st_size == DOWNLOAD_BYTES_MAX
            digest = hashlib.sha256()
            for _ in range(DOWNLOAD_BYTES_MAX // len(BLOCK)):
                digest.update(BLOCK)
            assert told["sha256"] == f"sha256:v1:{digest.hexdigest()}"
        nursery.cancel_scope.cancel()

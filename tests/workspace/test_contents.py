"""A file's content in pieces: joined when it is needed, the digest known for ever after."""

from __future__ import annotations

import pytest

from kernel.workspace.contents import Pieces, digest_of, whole
from kernel.workspace.file_backends import MemoryBackend
from kernel.workspace.files import Files


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [(Pieces(b"{}"), b"{}"), (Pieces(b"[", [b"1"], b"]"), b"[1]"), (Pieces(b"[", [b"1", b"22"], b"]"), b"[1,22]")],
)
def test_pieces_are_joined_by_commas(pieces: Pieces, expected: bytes) -> None:
    assert len(pieces) == len(expected)
    assert pieces.whole() == whole(pieces) == whole(expected) == expected
    assert pieces.digest == digest_of(expected)


def test_of_what_lies_on_the_disk_only_the_digest_is_kept() -> None:
    files = Files(MemoryBackend(), wall_ms=lambda: 0)
    pieces = Pieces(b"[", [b"1", b"2"], b"]")
    files.write("data/x.sy", pieces)
    assert files.read("data/x.sy") == b"[1,2]"
    stat = files.stat("data/x.sy")
    assert stat is not None
    assert stat.size == 5
    files.flush()
    assert files.read("data/x.sy") == b"[1,2]"
    assert pieces.digest == digest_of(b"[1,2]")
    assert pieces.is_settled

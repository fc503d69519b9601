"""[core] The content of a file as pieces, joined and hashed when somebody needs it whole: at most once for each write
to the disk, and there in the writer's thread, however many edits of a document share that write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DIGEST_BYTES: Final = 16


def digest_of(content: bytes) -> bytes:
    """A fingerprint of a file's content; compared on this machine only."""
    # With the first document: a kernel without any does not hold the library.
    from blake3 import blake3

    return blake3(content).digest(DIGEST_BYTES)


class Pieces:
    """``head``, the pieces with commas between them, ``tail``. The pieces are not changed any more.

    The writer's thread and the loop may ask for the whole at the same time: both come to the same, the last is kept.
    """

    __slots__ = ("_digest", "_head", "_pieces", "_tail", "_whole", "size")

    def __init__(self, head: bytes, pieces: Sequence[bytes] = (), tail: bytes = b"") -> None:
        self._head, self._pieces, self._tail = head, pieces, tail
        self.size = len(head) + sum(map(len, pieces)) + max(len(pieces) - 1, 0) + len(tail)
        self._whole = b""
        self._digest = b""

    def __len__(self) -> int:
        return self.size

    def whole(self) -> bytes:
        """The content. Not after ``settle``."""
        if not self._whole:
            self._whole = b"%s%s%s" % (self._head, b",".join(self._pieces), self._tail)
        return self._whole

    def hash(self) -> None:
        """Work out ``digest`` now."""
        if not self._digest:
            self._digest = digest_of(self.whole())

    @property
    def digest(self) -> bytes:
        """``digest_of`` the content."""
        self.hash()
        return self._digest

    @property
    def is_settled(self) -> bool:
        """Whether the content itself is gone."""
        return not self._pieces and not self._whole and bool(self._digest)

    def settle(self) -> None:
        """The file lies on the disk: only its digest is kept."""
        self.hash()
        self._whole, self._pieces = b"", ()


Content = bytes | Pieces


def whole(content: Content) -> bytes:
    """The bytes of a content."""
    return content if isinstance(content, bytes) else content.whole()

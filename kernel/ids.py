"""Ids and entropy are arguments. The only module that asks the operating system for chance."""

from __future__ import annotations

import random
import re
import secrets
from datetime import datetime
from typing import Final, Protocol

NODE_ID: Final = re.compile(r"\d{14}-[0-9a-z]{7}")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
# A random byte as a letter. Bytes past the last multiple of the alphabet would favour its first letters: left out.
_LETTERS: Final = bytes(ord(_ALPHABET[byte % len(_ALPHABET)]) for byte in range(256))
_UNFAIR: Final = bytes(range(256 - 256 % len(_ALPHABET), 256))


class IdSource(Protocol):
    """Where ids come from. All methods are synchronous and never block."""

    def node_id(self, local: datetime) -> str:
        """A kernel id: ``yyyyMMddHHmmss-`` and seven characters of ``[a-z0-9]``."""
        ...

    def text(self, length: int) -> str:
        """``length`` random characters of ``[a-z0-9]``."""
        ...

    def digest_hex(self) -> str:
        """64 random hexadecimal digits: the pool from which short request ids are cut."""
        ...

    def token(self) -> str:
        """An unguessable URL-safe token of at least 128 bits (sessions, states)."""
        ...

    def entropy(self, size: int) -> bytes:
        """``size`` random bytes (keys, nonces)."""
        ...


class SystemIds:
    """Ids from the operating system's entropy."""

    def node_id(self, local: datetime) -> str:
        return f"{local:%Y%m%d%H%M%S}-{self.text(7)}"

    def text(self, length: int) -> str:
        letters = ""
        while len(letters) < length:
            letters += secrets.token_bytes(2 * length).translate(_LETTERS, _UNFAIR).decode()
        return letters[:length]

    def digest_hex(self) -> str:
        return secrets.token_bytes(32).hex()

    def token(self) -> str:
        return secrets.token_urlsafe(24)

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)


class SeededIds:
    """The same ids from the same seed (tests, simulation). Never for a real endpoint."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def node_id(self, local: datetime) -> str:
        return f"{local:%Y%m%d%H%M%S}-{self.text(7)}"

    def text(self, length: int) -> str:
        return "".join(self._random.choice(_ALPHABET) for _ in range(length))

    def digest_hex(self) -> str:
        return self._random.randbytes(32).hex()

    def token(self) -> str:
        return self._random.randbytes(24).hex()

    def entropy(self, size: int) -> bytes:
        return self._random.randbytes(size)


def is_node_id(text: str) -> bool:
    """Whether ``text`` has the form of a kernel id."""
    return NODE_ID.fullmatch(text) is not None

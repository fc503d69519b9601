"""[core] The ``siyuan`` cookie: a sealed session. The server keeps nothing, so an old cookie outlives a logout."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Final

from kernel.json_text import read_json
from kernel.siyuan.limits import SEALED_SESSION_CHARS_MAX, SESSION_MS_MAX

SESSION_COOKIE: Final = "siyuan"


@dataclass(frozen=True, slots=True)
class Session:
    """What a cookie says: proof of the access code it was opened with, and the captcha last shown."""

    proof: str = ""
    captcha: str = ""

    def proves(self, access_code: str, seal: SessionSeal) -> bool:
        return hmac.compare_digest(self.proof, seal.proof_of(access_code))


class SessionSeal:
    """Seals sessions with the workspace's cookie key. A changed value is no session."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def proof_of(self, access_code: str) -> str:
        """Stands for the access code in a cookie, so that the code itself never lies in a browser."""
        return self._mac(b"access code", access_code.encode())

    def close(self, session: Session, *, wall_ms: int) -> str:
        """The cookie's value."""
        fields = {"proof": session.proof, "captcha": session.captcha, "ms": wall_ms}
        payload = base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=")
        return f"{payload.decode()}.{self._mac(b'session', payload)}"

    def open(self, sealed: str, *, wall_ms: int) -> Session | None:
        payload, dot, mac = sealed.rpartition(".")
        if not dot or len(sealed) > SEALED_SESSION_CHARS_MAX or not sealed.isascii():
            return None
        if not hmac.compare_digest(mac, self._mac(b"session", payload.encode())):
            return None
        try:
            fields = read_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        except (binascii.Error, ValueError):  # pragma: no cover - only with the key itself
            return None
        if not 0 <= wall_ms - int(fields["ms"]) <= SESSION_MS_MAX:
            return None
        return Session(fields["proof"], fields["captcha"])

    def _mac(self, purpose: bytes, data: bytes) -> str:
        return hmac.new(self._key, purpose + b"\0" + data, hashlib.sha256).hexdigest()


def set_cookie(value: str, *, max_age_s: int = 0) -> tuple[str, str]:
    """The header that gives a browser its session; without an age it ends with the browser."""
    age = f"; Max-Age={max_age_s}" if max_age_s else ""
    return ("Set-Cookie", f"{SESSION_COOKIE}={value}; Path=/{age}; HttpOnly")

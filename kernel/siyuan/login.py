"""Logging in with the access code: /api/system/{loginAuth,logoutAuth,getCaptcha} (kernel-facts, HTTP).

Wrong codes are counted for the whole kernel. After the fourth one a captcha is asked for, which the cookie remembers.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api_calls import encoded
from kernel.siyuan.auth import Grant, session_of
from kernel.siyuan.captcha import TEXT_LENGTH, picture, text_from
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.limits import REMEMBER_S, WRONG_CODES_MAX
from kernel.siyuan.push import AUTH_ID
from kernel.siyuan.sessions import Session, SessionSeal, set_cookie
from kernel.siyuan.surface import GET, POST, SurfaceRoute
from kernel.wire import JSON_UTF8, Answer, Exchange, Response

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

LOGIN: Final = "/api/system/loginAuth"
LOGOUT: Final = "/api/system/logoutAuth"
CAPTCHA: Final = "/api/system/getCaptcha"
_PICTURE_ENTROPY_BYTES: Final = 120
_WRONG_CODE: Final = "The lock screen password is incorrect"
_CAPTCHA_WANTED: Final = "Please enter the captcha"
_CAPTCHA_WRONG: Final = "The captcha is incorrect"
_NO_CODE: Final = "Please configure [Settings - Authentication - Lock screen password]"
_SUCCESS: Final = Envelope(0, "", None)


class Login:
    """The three routes and what they share."""

    paths: Final = frozenset({LOGIN, LOGOUT, CAPTCHA})

    def __init__(self, kernel: SiyuanKernel, seal: SessionSeal) -> None:
        self._kernel = kernel
        self._seal = seal
        self._wrong_codes = 0

    def routes(self) -> Iterator[SurfaceRoute]:
        yield SurfaceRoute(LOGIN, POST, self._log_in, "public")
        yield SurfaceRoute(LOGOUT, POST, self._log_out, "public")
        yield SurfaceRoute(CAPTCHA, GET, self._captcha, "public")

    @property
    def _access_code(self) -> str:
        return str(self._kernel.workspace.conf.values.get("accessAuthCode") or "")

    @property
    def _needs_captcha(self) -> bool:
        return self._wrong_codes > WRONG_CODES_MAX

    async def _log_in(self, exchange: Exchange, grant: Grant) -> Answer:
        try:
            arguments = read_object(exchange.request.body)
        except BodyUnreadable as error:
            return await _answer(Envelope(-1, f"Parses request [{LOGIN}] failed: {error}", None))
        wall_ms = self._kernel.clock.wall_ms()
        session = session_of(exchange.request, self._seal, wall_ms=wall_ms) or Session()
        if self._needs_captcha:
            refusal = await self._captcha_refusal(arguments, session)
            if refusal is not None:
                return refusal
        code = arguments.get("authCode")
        if not isinstance(code, str):
            return await _answer(_SUCCESS)  # the kernel's handler breaks off here, without a login
        next_captcha = self._kernel.ids.text(7)
        if not hmac.compare_digest(cleaned(code).encode(), self._access_code.encode()):
            self._wrong_codes += 1
            envelope = Envelope(1 if self._needs_captcha else -1, _WRONG_CODE, None)
            return await self._answer_with(envelope, Session(session.proof, next_captcha))
        self._wrong_codes = 0
        age_s = REMEMBER_S if arguments.get("rememberMe") is True else 0
        proof = self._seal.proof_of(self._access_code)
        # Other sign-in pages of the same person reload by themselves.
        self._kernel.push.push("loginAuth", None, to=(AUTH_ID,))
        return await self._answer_with(_SUCCESS, Session(proof, next_captcha), max_age_s=age_s)

    async def _captcha_refusal(self, arguments: dict[str, Any], session: Session) -> Response | None:
        given = arguments.get("captcha")
        if given is None or given == "":
            return await _answer(Envelope(1, _CAPTCHA_WANTED, None))
        if not isinstance(given, str):
            return await _answer(_SUCCESS)
        if given.lower() == session.captcha.lower():
            return None
        # A captcha can be tried once: another one takes its place.
        return await self._answer_with(
            Envelope(1, _CAPTCHA_WRONG, None), Session(session.proof, self._kernel.ids.text(7))
        )

    async def _log_out(self, exchange: Exchange, grant: Grant) -> Answer:
        if not self._access_code:
            return await _answer(Envelope(-1, _NO_CODE, {"closeTimeout": 5000}))
        answer = await self._answer_with(_SUCCESS, Session())
        self._kernel.push.push("logoutAuth", None, to=("main",))
        return answer

    async def _captcha(self, exchange: Exchange, grant: Grant) -> Answer:
        text = text_from(self._kernel.ids.entropy(TEXT_LENGTH))
        wall_ms = self._kernel.clock.wall_ms()
        session = session_of(exchange.request, self._seal, wall_ms=wall_ms) or Session()
        cookie = set_cookie(self._seal.close(Session(session.proof, text), wall_ms=wall_ms))
        image = picture(text, self._kernel.ids.entropy(_PICTURE_ENTROPY_BYTES))
        return Response(200, (("Content-Type", "image/png"), cookie), image)

    async def _answer_with(self, envelope: Envelope, session: Session, *, max_age_s: int = 0) -> Response:
        sealed = self._seal.close(session, wall_ms=self._kernel.clock.wall_ms())
        return await _answer(envelope, set_cookie(sealed, max_age_s=max_age_s))


def cleaned(code: str) -> str:
    """A typed code without what cannot be seen: controls and format characters anywhere, blanks around it."""
    return "".join(char for char in code if unicodedata.category(char) not in ("Cc", "Cf")).strip()


async def _answer(envelope: Envelope, *headers: tuple[str, str]) -> Response:
    return Response(200, (("Content-Type", JSON_UTF8), *headers), await encoded(envelope))

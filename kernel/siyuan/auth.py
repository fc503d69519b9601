"""[core] Who a request is to the kernel: the order of checks of kernel 3.7.3 (siyuan-api A0.2, kernel-facts 14 and HTTP).

The plugin's own routes use the same checks but the Origin, which ``kernel.http.guard`` has judged there (decision 37).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs, quote_plus, urlsplit

from kernel.siyuan.limits import VERDICTS_MAX
from kernel.siyuan.sessions import SESSION_COOKIE, Session, SessionSeal
from kernel.wire import JSON_UTF8, Headers, Request, Response

_TOKEN_SCHEMES: Final = ("Token ", "token ", "Bearer ", "bearer ")
_BROWSERS: Final = ("SiYuan/", "Mozilla/")
_DAV: Final = ("/webdav", "/caldav", "/carddav")
# With an access code set these still pass, but as nobody in particular (not as an administrator).
_OPEN_PATHS: Final = ("/appearance/", "/stage/build/export/", "/stage/protyle/")
# With an access code set these still pass from this machine, as an administrator.
_LOCAL_PATHS: Final = (
    "/assets/",
    "/export/",
    "/api/system/exit",
    "/api/system/getNetwork",
    "/api/system/getWorkspaceInfo",
)
_FOREIGN: Final = (
    "Auth failed: for security reasons, please set [Lock screen password] when using non-127.0.0.1 access\n\n"
    "为安全起见，使用非 127.0.0.1 访问时请设置 [锁屏密码]"
)
_LOCKED: Final = (
    'Lock screen password authentication failed, please <button onclick="window.location.reload()">refresh</button> '
    "or reopen"
)
_DAV_CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="SiYuan Authorization Require", charset="UTF-8"')


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may do. Without ``is_admin`` only routes that ask for no administrator."""

    is_admin: bool


@dataclass(frozen=True, slots=True, eq=False)
class AccessRules:
    """What decides: the API token, the access code (empty: none) and the workspace's name (for Basic).

    As long as they stand they are one object: verdicts are remembered by it.
    """

    token: str
    access_code: str
    workspace_name: str
    seal: SessionSeal


def check_access(request: Request, rules: AccessRules, *, wall_ms: int, judges_origin: bool = True) -> Grant | Response:
    """The grant of a request to an authenticated route, or its refusal."""
    if not rules.access_code:
        return without_access_code(request.headers, request.query, request.peer, rules, judges_origin=judges_origin)
    decided = _by_token(request.headers, request.query, rules)
    return _by_access_code(request, rules, wall_ms) if decided is None else decided


@lru_cache(maxsize=VERDICTS_MAX)
def without_access_code(
    headers: Headers, query: str, peer: str, rules: AccessRules, *, judges_origin: bool
) -> Grant | Response:
    """The verdict where no access code is set. Nothing else decides it, and a client sends the same head again and again."""
    decided = _by_token(headers, query, rules)
    if decided is not None:
        return decided
    is_local = _comes_from_here(headers, peer, judges_origin=judges_origin)
    return Grant(is_admin=True) if is_local else refused(_FOREIGN)


def refused(message: str) -> Response:
    """401 without a ``data`` member (kernel-facts 1)."""
    text = message.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # The kernel's JSON escapes what HTML could take for a tag.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e")
    return Response(401, (("Content-Type", JSON_UTF8),), f'{{"code":-1,"msg":"{text}"}}'.encode())


def session_of(request: Request, seal: SessionSeal, *, wall_ms: int) -> Session | None:
    """The session that the request's cookie carries, if it is genuine and not too old."""
    sealed = cookie_value(request.headers, SESSION_COOKIE)
    return None if sealed is None else seal.open(sealed, wall_ms=wall_ms)


def cookie_value(headers: Headers, name: str) -> str | None:
    """The first cookie of that name."""
    for line in headers.get_all("cookie"):
        for pair in line.split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value.strip('"')
    return None


# --- tokens ------------------------------------------------------------------------------------------------------
def _by_token(headers: Headers, query: str, rules: AccessRules) -> Grant | Response | None:
    token = headers.derived(_header_token)
    if token:
        return Grant(is_admin=True) if _is_same(token, rules.token) else refused("Auth failed [header: Authorization]")
    if "token=" in query:
        token = parse_qs(query).get("token", [""])[0]
        if token:
            return Grant(is_admin=True) if _is_same(token, rules.token) else refused("Auth failed [query: token]")
    return None


def _header_token(headers: Headers) -> str:
    value = headers.get("authorization") or ""
    for scheme in _TOKEN_SCHEMES:
        if value.startswith(scheme):
            return value[len(scheme) :]
    return ""


def _is_same(given: str, expected: str) -> bool:
    return bool(expected) and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


# --- without an access code ----------------------------------------------------------------------------------------
def _comes_from_here(headers: Headers, peer: str, *, judges_origin: bool) -> bool:
    return (
        is_local_name(peer)
        and headers.derived(_is_sent_from_here)
        and not (judges_origin and headers.derived(_is_from_foreign_page))
    )


def _is_sent_from_here(headers: Headers) -> bool:
    """Whether no proxy says otherwise."""
    reported = headers.derived(_reported_address)
    forwarded_host = headers.get("x-forwarded-host")
    return (reported is None or is_local_name(reported)) and not (
        forwarded_host and not _is_local_authority(forwarded_host)
    )


def _is_from_foreign_page(headers: Headers) -> bool:
    origin = headers.get("origin")
    return bool(origin) and not is_local_origin(str(origin))


def client_address(request: Request) -> str:
    """The address a proxy reports, leftmost first; the peer's own where the report is not all addresses."""
    return request.headers.derived(_reported_address) or request.peer


def _reported_address(headers: Headers) -> str | None:
    for name in ("x-forwarded-for", "x-real-ip"):
        value = headers.get(name)
        reported = [part.strip() for part in value.split(",")] if value else []
        if reported and all(_is_address(part) for part in reported):
            return reported[0]
    return None


@lru_cache(maxsize=256)
def is_local_name(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_local_origin(origin: str) -> bool:
    try:
        return is_local_name(urlsplit(origin).hostname or "")
    except ValueError:
        return False


def _is_local_authority(authority: str) -> bool:
    """A host with a port; without one the kernel takes it for foreign."""
    host, colon, _ = authority.strip().rpartition(":")
    return bool(colon) and is_local_name(host.strip("[]"))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


# --- with an access code -------------------------------------------------------------------------------------------
def _by_access_code(request: Request, rules: AccessRules, wall_ms: int) -> Grant | Response:
    if request.target.startswith(_OPEN_PATHS):
        return Grant(is_admin=False)
    if request.target.startswith(_LOCAL_PATHS) and is_local_name(request.peer):
        return Grant(is_admin=True)
    session = session_of(request, rules.seal, wall_ms=wall_ms)
    if session is not None and session.proves(rules.access_code, rules.seal):
        return Grant(is_admin=True)
    if _has_basic(request.headers.get("authorization") or "", rules):
        return Grant(is_admin=True)
    if request.target.startswith(_DAV):
        return Response(401, (_DAV_CHALLENGE,))
    if not (request.headers.get("user-agent") or "").startswith(_BROWSERS):
        return refused("Auth failed [session]")
    is_websocket = (request.headers.get("upgrade") or "").lower() == "websocket"
    if request.method != "GET" or is_websocket:
        return refused(_LOCKED)
    return found(f"/check-auth?to={quote_plus(request.target)}")


def _has_basic(value: str, rules: AccessRules) -> bool:
    if value[:6].lower() != "basic ":
        return False
    try:
        user, _, password = base64.b64decode(value[6:], validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return user == rules.workspace_name and _is_same(password, rules.access_code)


def found(location: str) -> Response:
    """302 with the short page that a browser never shows."""
    page = f'<a href="{location}">Found</a>.\n\n'
    return Response(302, (("Location", location), ("Content-Type", "text/html; charset=utf-8")), page.encode())

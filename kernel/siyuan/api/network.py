"""/api/network: requests that the kernel sends for a client. They leave the machine only with egress (decision 55)."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.limits import FORWARDED_BYTES_MAX, FORWARDED_REDIRECTS_MAX

if TYPE_CHECKING:
    import httpx

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

TIMEOUT_DEFAULT_MS: Final = 7000
INVALID_URL: Final = 1
BAD_SCHEME: Final = 2
FORWARD_FAILED: Final = 8
READ_FAILED: Final = 9
UNREACHABLE: Final = "dial tcp: network is unreachable"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How bytes are written in JSON, and what the kernel calls it where it fails."""

    name: str
    code: int
    alphabet: str
    decode: Callable[[str], bytes]
    encode: Callable[[bytes], str]


def _hex32_encode(content: bytes) -> str:
    return base64.b32hexencode(content).decode()


_STD64: Final = _Encoding(
    "base64-std",
    3,
    "base64",
    lambda text: base64.b64decode(text, validate=True),
    lambda content: base64.b64encode(content).decode(),
)
_URL64: Final = _Encoding(
    "base64-url",
    4,
    "base64",
    lambda text: base64.b64decode(text, altchars=b"-_", validate=True),
    lambda content: base64.urlsafe_b64encode(content).decode(),
)
_STD32: Final = _Encoding(
    "base32-std", 5, "base32", base64.b32decode, lambda content: base64.b32encode(content).decode()
)
_HEX32: Final = _Encoding("base32-hex", 6, "base32", base64.b32hexdecode, _hex32_encode)
_HEX: Final = _Encoding("hex", 7, "hex", bytes.fromhex, bytes.hex)
_ENCODINGS: Final = {
    "base64": _STD64,
    "base64-std": _STD64,
    "base64-url": _URL64,
    "base32": _STD32,
    "base32-std": _STD32,
    "base32-hex": _HEX32,
    "hex": _HEX,
}


@dataclass(frozen=True, slots=True)
class _Forwarded:
    """One request to send on."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout_s: float
    follows: bool


async def forward_proxy(call: Call) -> Any:
    """Send a request, give back what came: status, headers, body in the encoding asked for."""
    forwarded = _read(call)
    started_s = call.kernel.clock.now()
    response, body = await _send(forwarded, allows_egress=call.kernel.options.allows_egress)
    name = call.arguments.raw_str("responseEncoding") if call.arguments.get("responseEncoding") is not None else "text"
    encoding = _ENCODINGS.get(name)
    headers: dict[str, list[str]] = {}
    for key, value in response.headers.multi_items():
        headers.setdefault("-".join(part.capitalize() for part in key.split("-")), []).append(value)
    return {
        "url": forwarded.url,
        "status": response.status_code,
        "contentType": response.headers.get("content-type", ""),
        "body": encoding.encode(body) if encoding else body.decode("utf-8", "replace"),
        "bodyEncoding": name if encoding else "text",
        "headers": headers,
        "elapsed": int((call.kernel.clock.now() - started_s) * 1000),
    }


def _read(call: Call) -> _Forwarded:
    arguments = call.arguments
    url = arguments.required_str("url")
    scheme, colon, _ = url.partition(":")
    if not colon or " " in url or not scheme.isalpha():
        raise ApiError("invalid [url]", INVALID_URL)
    if scheme.lower() not in ("http", "https"):
        raise ApiError("only http/https is allowed", BAD_SCHEME)
    method = arguments.raw_str("method").upper() if arguments.get("method") is not None else "POST"
    timeout_ms = int(arguments.raw_number("timeout")) if arguments.get("timeout") is not None else TIMEOUT_DEFAULT_MS
    headers = {}
    for pair in arguments.get("headers") or [] if isinstance(arguments.get("headers"), list) else []:
        if isinstance(pair, dict):
            headers.update({key: str(value) for key, value in pair.items()})
    content_type = arguments.raw_str("contentType") if arguments.get("contentType") is not None else "application/json"
    headers["Content-Type"] = content_type
    body = _payload(call)
    return _Forwarded(
        method,
        url,
        headers,
        body,
        (timeout_ms if timeout_ms >= 1 else TIMEOUT_DEFAULT_MS) / 1000,
        arguments.get("redirect") is not False,
    )


def _payload(call: Call) -> bytes | None:
    arguments = call.arguments
    name = arguments.raw_str("payloadEncoding") if arguments.get("payloadEncoding") is not None else "json"
    encoding = _ENCODINGS.get(name)
    if encoding is not None:
        return _decoded(encoding, arguments.raw_str("payload"))
    payload = arguments.get("payload")
    if payload is None or isinstance(payload, str):
        return None if payload is None else payload.encode("utf-8", "replace")
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _decoded(encoding: _Encoding, text: str) -> bytes:
    try:
        return encoding.decode(text)
    except (ValueError, binascii.Error) as error:
        reason = f"illegal {encoding.alphabet} data at input byte 0"
        if encoding is _HEX:
            wrong = next((char for char in text if char not in "0123456789abcdefABCDEF"), "")
            reason = f"encoding/hex: invalid byte: U+{ord(wrong):04X} '{wrong}'" if wrong else "odd length hex string"
        raise ApiError(f"decode {encoding.name} payload failed: {reason}", encoding.code) from error


async def _send(forwarded: _Forwarded, *, allows_egress: bool) -> tuple[httpx.Response, bytes]:
    # Half of the start-up time; only a request that is sent on needs it.
    import httpx

    method, url, body = forwarded.method, forwarded.url, forwarded.body
    failed = f'forward request failed: {method.capitalize()} "{url}": '
    try:
        async with httpx.AsyncClient(timeout=forwarded.timeout_s, trust_env=allows_egress) as client:
            for _ in range(FORWARDED_REDIRECTS_MAX + 1):
                if not allows_egress and not _stays_here(url):
                    raise ApiError(f"{failed}{UNREACHABLE}", FORWARD_FAILED)
                request = client.build_request(method, url, headers=forwarded.headers, content=body)
                response = await client.send(request, stream=True)
                location = response.headers.get("location")
                if not (forwarded.follows and response.status_code in _REDIRECTS and location):
                    return response, await _body(response)
                await response.aclose()
                url = urllib.parse.urljoin(url, location)
                if response.status_code == 303:
                    method, body = "GET", None
        raise ApiError(f"{failed}stopped after {FORWARDED_REDIRECTS_MAX} redirects", FORWARD_FAILED)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ApiError(f"{failed}{str(error) or type(error).__name__}", FORWARD_FAILED) from error


async def _body(response: httpx.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > FORWARDED_BYTES_MAX:
            raise ApiError("read response body failed: too large", READ_FAILED)
        parts.append(part)
    await response.aclose()
    return b"".join(parts)


def _stays_here(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urllib.parse.urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/network/forwardProxy": forward_proxy,
}

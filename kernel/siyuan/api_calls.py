"""/api/*: a request becomes a ``Call``, the answer of ``dispatch`` becomes JSON with the kernel's quirks (A0.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

import msgspec
import trio

from kernel.endpoints import ENDPOINTS
from kernel.http.multipart import FormInvalid, read_form
from kernel.siyuan.answer_order import ordered
from kernel.siyuan.arguments import ApiError, Arguments
from kernel.siyuan.auth import Grant
from kernel.siyuan.dispatch import Envelope, RawAnswer, UnknownRoute, dispatch
from kernel.siyuan.file_streams import whole_file
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.kernel import Call, Form, FormFile
from kernel.siyuan.limits import INLINE_BYTES_MAX
from kernel.siyuan.machine import KERNEL_VERSION
from kernel.siyuan.surface import GET, NOT_FOUND, POST, SurfaceHandler, SurfaceRoute
from kernel.wire import EVENT_STREAM, JSON_UTF8, Answer, Exchange, Request, Response

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

# Reads its arguments if it can, and does without them otherwise.
_LENIENT: Final = frozenset({"/api/notebook/lsNotebooks", "/api/storage/getRecentDocs", "/api/ai/agent/saveSession"})
# Write their answer to an unreadable body twice (A0.1).
_WRITES_TWICE: Final = frozenset({"/api/file/readDir", "/api/file/removeFile", "/api/file/renameFile"})
# Every error of getFile is a 202, the unreadable body included (A8).
_GET_FILE: Final = "/api/file/getFile"
_TRANSACTIONS: Final = "/api/transactions"
_ELSEWHERE: Final = frozenset({"/api/system/bootProgressSSE", "/api/system/uiproc"})
_encode: Final = msgspec.json.Encoder().encode


class BodyArguments(Arguments):
    """Arguments of a body that could not be read: asking for one is the error, as not all handlers ask."""

    __slots__ = ("_problem", "was_asked")

    def __init__(self, problem: str) -> None:
        self._problem = problem
        self.was_asked = False

    @property
    def values(self) -> dict[str, Any]:  # type: ignore[override]
        self.was_asked = True
        raise ApiError(self._problem)


def routes(kernel: SiyuanKernel, *, served_elsewhere: frozenset[str]) -> Iterator[SurfaceRoute]:
    """A route for every endpoint of the table; what is not emulated answers 404 behind the same guards."""
    elsewhere = served_elsewhere | _ELSEWHERE
    for path, endpoint in ENDPOINTS.items():
        if path not in elsewhere and not path.startswith("/api/plugin"):
            handle = _api_handler(kernel, path)
            yield SurfaceRoute(path, endpoint.methods, handle, endpoint.guard, endpoint.is_guarded)
    yield SurfaceRoute("/upload", POST, _api_handler(kernel, "/api/asset/upload"), "admin", is_guarded=True)
    yield SurfaceRoute("/api/system/bootProgressSSE", GET, _boot_progress_events, "public")
    yield SurfaceRoute("/api/system/uiproc", POST, _nothing, "public")


def _api_handler(kernel: SiyuanKernel, path: str) -> SurfaceHandler:
    async def handle(exchange: Exchange, grant: Grant) -> Answer:
        return await answer_call(kernel, path, exchange.request, grant)

    return handle


async def answer_call(kernel: SiyuanKernel, path: str, request: Request, grant: Grant) -> Answer:
    """Run one call and put its answer on the wire."""
    started = kernel.clock.now()
    call = await _call_of(kernel, path, request, grant)
    try:
        answer = await dispatch(call)
    except UnknownRoute:
        return NOT_FOUND
    if isinstance(answer, RawAnswer):
        if answer.file:
            return await whole_file(answer.file, answer.status, answer.headers)
        return Response(answer.status, answer.headers, answer.body)
    shown = Envelope(answer.code, answer.msg, ordered(path, answer.data))
    response = Response(200, (("Content-Type", JSON_UTF8),), await encoded(shown))
    if isinstance(call.arguments, BodyArguments) and call.arguments.was_asked:
        return _unreadable(path, response)
    if path == _TRANSACTIONS:
        elapsed_ms = int((kernel.clock.now() - started) * 1000)
        timing = ("Server-Timing", f"total;dur={elapsed_ms}")
        return Response(200, (*response.headers, timing), response.body)
    return response


async def encoded(envelope: Envelope) -> bytes:
    """The envelope as JSON, as the kernel spells it."""
    return await encoded_json({"code": envelope.code, "msg": envelope.msg, "data": envelope.data})


async def encoded_json(value: Any) -> bytes:
    """A value as JSON, with the characters escaped that HTML could take for markup."""
    try:
        body = _encode(value)
    except UnicodeEncodeError:
        # Half a surrogate pair got into a text: the kernel never has one, it holds the replacement character.
        body = _encode(_replaced(value))
    if len(body) <= INLINE_BYTES_MAX:
        return _html_safe(body)
    return await trio.to_thread.run_sync(_html_safe, body)


def _html_safe(body: bytes) -> bytes:
    for char, escape in _HTML_ESCAPES:
        if char in body:
            body = body.replace(char, escape)
    return body


# All of these stand only inside strings.
_HTML_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_replaced(item) for item in value]
    if isinstance(value, dict):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return value


def _unreadable(path: str, response: Response) -> Response:
    if path in _WRITES_TWICE:
        return Response(200, response.headers, response.body * 2)
    return Response(202, response.headers, response.body) if path == _GET_FILE else response


# --- the request -----------------------------------------------------------------------------------------------------
async def _call_of(kernel: SiyuanKernel, path: str, request: Request, grant: Grant) -> Call:
    form = await _form_of(request)
    if form is not None and request.body.startswith(b"--"):
        arguments: Arguments = BodyArguments(
            f"Parses request [{path}] failed: invalid character '-' in numeric literal"
        )
    else:
        arguments = await _arguments_of(path, request.body)
    call = Call(
        kernel,
        path,
        arguments,
        form=form,
        is_admin=grant.is_admin,
        query=request.query,
        headers=dict(request.headers.items),
    )
    if not isinstance(arguments, BodyArguments):
        call.app = _text(arguments.get("app"))
        call.session = _text(arguments.get("session"))
    return call


async def _arguments_of(path: str, body: bytes) -> Arguments:
    try:
        if len(body) <= INLINE_BYTES_MAX:
            return Arguments(read_object(body))
        return Arguments(await trio.to_thread.run_sync(read_object, body))
    except BodyUnreadable as error:
        if path in _LENIENT:
            return Arguments({})
        return BodyArguments(f"Parses request [{path}] failed: {error}")


async def _form_of(request: Request) -> Form | None:
    content_type = request.headers.get("content-type") or ""
    if content_type.startswith("application/x-www-form-urlencoded"):
        pairs = parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        # Not an error of its own: a JSON body under this type is read as JSON like any other.
        is_form = pairs and not request.body.lstrip().startswith(b"{")
        return _form_from(pairs, [], is_multipart=False) if is_form else None
    if not content_type.startswith("multipart/form-data"):
        return None
    try:
        if len(request.body) <= INLINE_BYTES_MAX:
            parts = read_form(content_type, request.body)
        else:
            parts = await trio.to_thread.run_sync(read_form, content_type, request.body)
    except FormInvalid:
        return None
    files = [FormFile(part.name, part.file_name, part.content) for part in parts if part.file_name]
    return _form_from([(part.name, part.text) for part in parts if not part.file_name], files)


def _form_from(fields: list[tuple[str, str]], files: list[FormFile], *, is_multipart: bool = True) -> Form:
    values: dict[str, str] = {}
    for name, value in fields:
        values.setdefault(name, value)
    return Form(values, files, fields, is_multipart)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- the two that are no calls ---------------------------------------------------------------------------------------
async def _boot_progress_events(exchange: Exchange, grant: Grant) -> Answer:
    """One event: a kernel that answers has booted."""
    event = f'data: {{"details":"v{KERNEL_VERSION} Finishing boot...","progress":100}}\n\n'
    return Response(200, (("Content-Type", EVENT_STREAM), ("Cache-Control", "no-cache")), event.encode())


async def _nothing(exchange: Exchange, grant: Grant) -> Answer:
    return Response(200)

"""One call of one /api endpoint, in process: find the handler, run it, keep the files durable, wrap the answer.

HTTP (``http_api.py``) and the embedded host (``kernel.host.embedded``) both come through here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.endpoints import ENDPOINTS
from kernel.siyuan.arguments import ApiError, EmptyAnswer, Panic
from kernel.siyuan.paths import permission_denied
from kernel.workspace.documents import Refusal
from kernel.workspace.files import StorageError, UnsafePath
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call


class Envelope(msgspec.Struct, frozen=True):
    """``{code, msg, data}``, HTTP 200."""

    code: int
    msg: str
    data: Any
    # A refusal that may have been carried out in part: said to callers in this process, not on the wire.
    is_in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer that is not the envelope (file contents, redirects, empty bodies).

    ``file``: where the body lies on disk, if it is too large to be read for nothing; ``body`` is empty then.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    file: str = ""


ApiAnswer = Envelope | RawAnswer
# A handler returns ``data``, or an Envelope/RawAnswer where it wants more say; it may be async when it must wait.
ApiHandler = Callable[["Call"], Any]

# Calls that rename or remove whole folders: what is on its way to disk arrives first (see ``kernel.workspace.files``).
MOVES_FOLDERS: Final = frozenset(
    f"/api/{path}"
    for path in [
        "notebook/removeNotebook",
        "filetree/moveDocs",
        "filetree/moveDocsByID",
        "filetree/removeDoc",
        "filetree/removeDocByID",
        "filetree/removeDocs",
        "filetree/doc2Heading",
        "file/renameFile",
        "file/removeFile",
        "history/rollbackDocHistory",
        "history/rollbackNotebookHistory",
        "history/rollbackAssetsHistory",
        "history/clearWorkspaceHistory",
        "repo/checkoutRepo",
        "repo/rollbackRepoSnapshotFile",
        "asset/removeUnusedAsset",
        "asset/removeUnusedAssets",
    ]
)
EMPTY: Final = RawAnswer(200, (), b"")
_ANSWERS: Final = (Envelope, RawAnswer)
# What a handler that need not wait returns: looked at first, for asking whether a thing can be awaited costs more.
_AT_ONCE: Final = frozenset({dict, list, str, int, bool, type(None), Envelope, RawAnswer})


class UnknownRoute(LookupError):
    """No such endpoint in the kernel, or one that is not emulated: 404 text, as the kernel answers."""


@functools.cache
def handlers() -> dict[str, ApiHandler]:
    """Every emulated endpoint: path → handler. Each family module in ``kernel.siyuan.api`` brings its HANDLERS."""
    from kernel.siyuan import api

    return api.all_handlers()


async def dispatch(call: Call) -> ApiAnswer:
    """Run one call.

    Raises:
        UnknownRoute: the path is not served; it is counted in ``kernel.unserved`` when the real kernel has it.
    """
    kernel = call.kernel
    handler = handlers().get(call.path)
    if handler is None:
        if call.path in ENDPOINTS:
            kernel.unserved[call.path] = kernel.unserved.get(call.path, 0) + 1
        raise UnknownRoute(call.path)
    return await run_handler(call, handler, moves_folders=call.path in MOVES_FOLDERS)


async def run_handler(call: Call, handler: ApiHandler, *, moves_folders: bool = False) -> ApiAnswer:
    """Run one handler as a call of its own: what it changed is durable, and told, when this returns."""
    kernel = call.kernel
    if moves_folders:
        await kernel.durable.quiesce()
    workspace, durable = kernel.workspace, kernel.durable
    try:
        answer = await _answer(handler, call)
        events = workspace.take_events()
    except BaseException:
        workspace.take_events()
        raise
    finally:
        workspace.end_call()
    try:
        # What the handler changed is on disk before anyone hears of it; then the push frames go out.
        if not durable.is_quiet:
            await durable.settle()
    except StorageError as error:
        return storage_failure(error)
    for event in events:
        kernel.push.deliver(event)
    return answer


def storage_failure(error: StorageError) -> Envelope:
    """The answer when the disk refuses: memory shows what the disk holds, which is nothing of the call unless it is partial."""
    return Envelope(-1, f"write failed: {error.reason}", {"closeTimeout": 7000}, error.is_partial)


async def _answer(handler: ApiHandler, call: Call) -> ApiAnswer:
    try:
        result = handler(call)
        if type(result) not in _AT_ONCE and inspect.isawaitable(result):
            result = await _awaited(result)
    except ApiError as error:
        return Envelope(error.code, error.message, error.data)
    except (Refusal, NotFound) as error:
        return Envelope(-1, str(error), None)
    except CorruptDocument as error:
        return Envelope(-1, f"the document cannot be read: {error}", None)
    except StorageError as error:
        return storage_failure(error)
    except UnsafePath:
        refusal = permission_denied()
        return Envelope(refusal.code, refusal.message, refusal.data)
    except Panic:
        return Envelope(0, "", None)
    except EmptyAnswer:
        return EMPTY
    return result if isinstance(result, _ANSWERS) else Envelope(0, "", result)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result

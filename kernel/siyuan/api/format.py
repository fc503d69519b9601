"""/api/format: typography of a document; fetching what it shows from elsewhere (which is not fetched: decision 55)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import clear_message, show_message
from kernel.siyuan.arguments import ApiError
from kernel.workspace.documents import keep_version
from kernel.workspace.refs import redraw
from kernel.workspace.spacing import network_images, space_document
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Document

DOWNLOADING: Final = "Downloading network file [%s]"
NONE_FOUND: Final = "There is no network file in this document"
MESSAGE: Final = {"closeTimeout": 5000}
DOWNLOADING_MS: Final = 15_000
NONE_FOUND_MS: Final = 3000


def auto_space(call: Call) -> Any:
    """Blanks between scripts, in the whole document; the version before is kept in history."""
    document = _document(call)
    workspace = call.kernel.workspace
    workspace.edit(document.id)
    keep_version(workspace, document.id, "format")
    if space_document(document.root):
        workspace.save(document)
    redraw(workspace, document.id)


def fetch_images(call: Call) -> Any:
    wanted = call.arguments.optional_str("url")
    addresses = network_images(_document(call).root)
    _fail_to_fetch(call, [address for address in addresses if not wanted or address == wanted])


def fetch_assets(call: Call) -> Any:
    _fail_to_fetch(call, network_images(_document(call).root))


def _fail_to_fetch(call: Call, addresses: list[str]) -> None:
    for address in addresses:
        clear_message(call, show_message(call, DOWNLOADING % address, DOWNLOADING_MS))
    show_message(call, NONE_FOUND, NONE_FOUND_MS)


def _document(call: Call) -> Document:
    block_id = call.arguments.required_str("id")
    try:
        return call.kernel.workspace.document(block_id)
    except NotFound as error:
        raise ApiError(str(error), data=MESSAGE) from error


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/format/autoSpace": auto_space,
    "/api/format/netImg2LocalAssets": fetch_images,
    "/api/format/netAssets2LocalAssets": fetch_assets,
}

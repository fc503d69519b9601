"""/api/extension: what the browser extension clips: HTML and the files it shows, given back as Markdown."""

from __future__ import annotations

import posixpath
import urllib.parse
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import Panic
from kernel.siyuan.dispatch import Envelope
from kernel.workspace.assets import store_uploads
from kernel.workspace.web_markdown import web_to_markdown

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

CLIPPED: Final = "Content has been copied to the system clipboard, please go to SiYuan to paste"
ASSETS: Final = "assets"


def copy(call: Call) -> Any:
    """Store the files (named by their addresses), and read the HTML with these addresses replaced."""
    form = call.form
    if form is None or not form.is_multipart or "dom" not in form.values:
        raise Panic("dom")
    workspace = call.kernel.workspace
    folder, box = f"data/{ASSETS}", form.values.get("notebook", "")
    if box and workspace.notebooks.get(box) is not None and workspace.files.is_dir(f"data/{box}/{ASSETS}"):
        folder = f"data/{box}/{ASSETS}"
    markdown = web_to_markdown(form.values["dom"])
    for file in form.files:
        address = urllib.parse.unquote(file.field)
        name = posixpath.basename(urllib.parse.urlsplit(address).path)
        if not name:
            continue
        for path in store_uploads(workspace, [(name, file.content)], folder, ASSETS).values():
            for written in dict.fromkeys((file.field, address)):
                markdown = markdown.replace(f"]({written}", f"]({path}")
    return Envelope(0, CLIPPED, {"md": markdown, "withMath": False})


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/extension/copy": copy,
}

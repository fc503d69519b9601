"""/api/export/exportAttributeView: the view that a block shows as a CSV file, zipped with the assets it names."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.av.guard import guarded
from kernel.siyuan.dispatch import Envelope
from kernel.workspace.documents import Refusal
from kernel.workspace.files import UnsafePath, portable_name
from kernel.workspace.views.rendering import around
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import load
from kernel.workspace.views.tables import csv_rows
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.views.database import Database
    from kernel.workspace.workspace import Workspace

FOLDER: Final = "temp/export/csv"
FAILED_MS: Final = 7000
_BYTE_ORDER_MARK: Final = "\ufeff"


def export_view(call: Call) -> Any:
    """``{zip}``: where the archive is served; a database or a block that is not there is code 1."""
    workspace = call.kernel.workspace
    database_id, block_id = call.arguments.required_str("id"), call.arguments.required_str("blockID")
    try:
        database = load(workspace, database_id)
        if workspace.document(block_id).node(block_id) is None:
            return {"zip": ""}
    except (Refusal, NotFound) as error:
        return Envelope(1, str(error), {"closeTimeout": FAILED_MS})
    view = block_view(workspace, database, block_id)
    rows = csv_rows(around(workspace), database, view)
    name = portable_name(database.name)
    workspace.files.write(f"{FOLDER}/{name}.db.zip", _archive(workspace, database, name, rows))
    return {"zip": f"/export/csv/{name}.db.zip"}


def _archive(workspace: Workspace, database: Database, name: str, rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.csv", _BYTE_ORDER_MARK + text.getvalue())
        for path in _assets(database):
            try:
                archive.writestr(path, workspace.files.read(f"data/{path}"))
            except (FileNotFoundError, IsADirectoryError, UnsafePath):
                continue
    return packed.getvalue()


def _assets(database: Database) -> list[str]:
    """The assets that the database names, each once."""
    named = (
        str(asset["content"]).partition("?")[0]
        for column in database.columns()
        for value in column["values"] or ()
        for asset in value["mAsset"] or ()
    )
    return list(dict.fromkeys(path for path in named if path.startswith("assets/")))


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/export/exportAttributeView": guarded(export_view)}

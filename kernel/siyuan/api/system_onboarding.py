"""/api/system: the first notebook and document of a new user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.onboarding import COMPLETED, NOTEBOOK_CREATED, reconcile
from kernel.workspace.boxes import box_json, create_box, list_boxes, open_box
from kernel.workspace.documents import create_document, created

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

FIRST_NOTEBOOK: Final = "My Notebook"
FIRST_DOCUMENT: Final = "A Fresh Start"
READ_ONLY: Final = "This operation is not supported in read-only mode"


def ensure_onboarding(call: Call) -> Any:
    """Bring a new user as far as a notebook with one document; what is there already stays."""
    conf = call.kernel.workspace.conf
    steps = conf.section("onboarding")
    if not steps["newUser"] or steps["dismissed"]:
        return dict(steps)
    reconcile(call.kernel)
    steps = conf.section("onboarding")
    if steps["newUser"] and steps["state"] != COMPLETED:
        if call.kernel.options.is_readonly or conf.section("publish")["enable"]:
            raise ApiError(READ_ONLY)
        _take_steps(call, steps)
    conf.save()
    return dict(steps)


def _take_steps(call: Call, steps: dict[str, Any]) -> None:
    workspace = call.kernel.workspace
    is_created = False
    if not steps["notebookID"]:
        boxes = list_boxes(workspace)
        if len(boxes) == 1 and boxes[0].name == FIRST_NOTEBOOK:
            steps["notebookID"] = boxes[0].id
        elif boxes:
            steps.update(state=COMPLETED, newUser=False)
            return
        else:
            steps["notebookID"] = create_box(workspace, FIRST_NOTEBOOK).id
            is_created = True
        steps["state"] = NOTEBOOK_CREATED
    box = steps["notebookID"]
    open_box(workspace, box)
    steps["documentID"] = steps["documentID"] or workspace.new_id()
    path = f"/{steps['documentID']}.sy"
    if not workspace.files.exists(f"data/{box}{path}"):
        created(workspace, create_document(workspace, box, path, FIRST_DOCUMENT, []))
        told = {"box": box_json(workspace, workspace.box(box)), "listDocTree": True, "path": path}
        workspace.emit("create", told)
    steps["state"] = COMPLETED
    if is_created:
        workspace.emit("createnotebook", {"box": box_json(workspace, workspace.box(box)), "existed": False})


def dismiss_onboarding(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    conf.section("onboarding")["dismissed"] = True
    conf.save()
    return dict(conf.section("onboarding"))


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/ensureOnboarding": ensure_onboarding,
    "/api/system/dismissOnboarding": dismiss_onboarding,
}

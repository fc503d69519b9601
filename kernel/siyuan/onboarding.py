"""The first steps in an empty workspace: a notebook and a document to begin with (``conf.onboarding``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.boxes import list_boxes

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

PENDING: Final = "pending"
NOTEBOOK_CREATED: Final = "notebook-created"
COMPLETED: Final = "completed"


def prepare_if_empty(kernel: SiyuanKernel) -> bool:
    """A workspace without notebooks begins anew; False where there is one, or nothing may be written."""
    conf = kernel.workspace.conf
    if kernel.options.is_readonly or list_boxes(kernel.workspace):
        return False
    conf.values["onboarding"] = pending()
    return True


def pending() -> dict[str, Any]:
    """The state before the first step."""
    return {"state": PENDING, "newUser": True, "dismissed": False, "notebookID": "", "documentID": ""}


def reconcile(kernel: SiyuanKernel) -> bool:
    """Bring the recorded steps in line with what there still is; True where something was out of line."""
    onboarding = kernel.workspace.conf.section("onboarding")
    boxes = [box.id for box in list_boxes(kernel.workspace)]
    box, document = onboarding["notebookID"], onboarding["documentID"]
    has_box = box in boxes
    if (box and not has_box) or (onboarding["state"] == COMPLETED and not has_box):
        if prepare_if_empty(kernel):
            return True
        onboarding.update(newUser=False, notebookID="", documentID="")
        if box:
            onboarding["state"] = COMPLETED
        return True
    if onboarding["state"] == COMPLETED and not _has_document(kernel, box, document):
        onboarding.update(state=NOTEBOOK_CREATED, documentID="")
        return True
    return False


def _has_document(kernel: SiyuanKernel, box: str, document: str) -> bool:
    return bool(document) and kernel.workspace.files.exists(f"data/{box}/{document}.sy")

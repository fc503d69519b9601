"""After a write: the user's windows are told what changed."""

from __future__ import annotations

from typing import Any

from kernel.host.base import HostError, HostHttpError
from kernel.tools.context import Refresh, ToolContext, Written


async def refreshed(context: ToolContext, written: Written) -> dict[str, Any]:
    """Tell the user's windows what changed. A window that cannot be told never fails the write."""
    if not written.refresh:
        return written.payload
    operations: list[Refresh] = list(dict.fromkeys(written.refresh))
    failures_seen = []
    for operation in operations:
        try:
            await context.host.call(f"/api/ui/{operation.kind}", {"id": operation.id} if operation.id else {})
        except HostHttpError as error:
            # A host without windows serves no such endpoint: there is nobody to tell.
            if error.status != 404:
                failures_seen.append({**operation.as_json(), "message": error.message})
        except HostError as error:
            failures_seen.append({**operation.as_json(), "message": error.message})
    told: dict[str, Any] = {"applied": True, "operations": [operation.as_json() for operation in operations]}
    if failures_seen:
        told["partialFailure"] = failures_seen
    return {**written.payload, "uiRefresh": told}

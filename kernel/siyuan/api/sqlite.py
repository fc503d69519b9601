"""/api/sqlite: what waits for the index is written now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def flush_transaction(call: Call) -> Any:
    """Everything is applied when a call returns; an index that lags on purpose catches up here."""
    for observer in call.kernel.workspace.observers:
        catch_up = getattr(observer, "flush", None)
        if catch_up is not None:
            catch_up()


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/sqlite/flushTransaction": flush_transaction}

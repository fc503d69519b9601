"""/api/sqlite: what waits for the index is written now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.notes_index import settled_index

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


async def flush_transaction(call: Call) -> Any:
    """What was written is in the index from now on, as it stands at this moment: a database that is filled later does
    not change what was indexed of the block that shows it."""
    (await settled_index(call.kernel)).flush()


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/sqlite/flushTransaction": flush_transaction}

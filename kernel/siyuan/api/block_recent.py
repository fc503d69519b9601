"""/api/block/getRecentUpdatedBlocks: what was written last, from the index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.notes_index import settled_index
from kernel.workspace.block_json import block_json
from kernel.workspace.index.queries import recent_paragraphs

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

BLOCKS_MAX: Final = 16


async def get_recent_updated_blocks(call: Call) -> Any:
    index = await settled_index(call.kernel)
    return [block_json(row, before=0) for row in recent_paragraphs(index.connection, BLOCKS_MAX)]


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/block/getRecentUpdatedBlocks": get_recent_updated_blocks}

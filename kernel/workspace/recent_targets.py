"""[core] Which blocks were referred to last: what a reference that is being typed offers first (the recorded kernel).

Only references that somebody has just written count, not those of an index that is built again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kernel.json_text import read_json
from kernel.workspace.limits import RECENT_TARGETS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.workspace.workspace import Workspace

PATH: Final = "data/storage/ref-used.json"


def recent_targets(workspace: Workspace) -> dict[str, int]:
    """The blocks that were referred to, and when (Unix seconds). A file that cannot be read counts as empty."""
    try:
        stored = read_json(workspace.files.read(PATH))
    except (OSError, ValueError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {key: value for key, value in stored.items() if isinstance(value, int)}


def note_targets(workspace: Workspace, block_ids: Iterable[str]) -> None:
    """These blocks were referred to now; of too many those of long ago are forgotten."""
    new = list(dict.fromkeys(block_ids))
    if not new:
        return
    now = int(workspace.clock.local().timestamp())
    used = recent_targets(workspace) | dict.fromkeys(new, now)
    if len(used) > RECENT_TARGETS_MAX:
        used = dict(sorted(used.items(), key=lambda item: item[1], reverse=True)[:RECENT_TARGETS_MAX])
    text = json.dumps(used, indent=2, ensure_ascii=False, sort_keys=True)
    try:
        workspace.files.write(PATH, text.encode())
    except OSError:
        return  # what was written is saved; only the order of offers is not

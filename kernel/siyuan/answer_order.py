"""[core] In which order an answer's data names its fields: clients print them as they come.

The kernel puts most answers together as maps, which it writes by name. The others are records of its own with an order
of their own, which their handlers follow.
"""

from __future__ import annotations

from typing import Any, Final

RECORDS: Final = frozenset(
    f"/api/{route}"
    for route in (
        "ai/agent/getSession",
        "ai/agent/lsSessions",
        "ai/agent/saveSession",
        "ai/embeddingStat",
        "av/createAttributeViewItem",
        "av/getAttributeViewBacklinks",
        "block/getDocInfo",
        "block/getHeadingDeleteTransaction",
        "block/getHeadingInsertTransaction",
        "block/getHeadingLevelTransaction",
        "import/cancelObsidianVaultTask",
        "import/getObsidianVaultTask",
        "import/startObsidianVaultAnalysis",
        "import/startObsidianVaultImport",
        "notebook/setNotebookConf",
        "petal/setPetalEnabled",
        "plugin/getLoadedPlugin",
        "setting/getCloudUser",
        "setting/setAI",
        "setting/setAccount",
        "setting/setAppearance",
        "setting/setBazaar",
        "setting/setEditor",
        "setting/setExport",
        "setting/setFiletree",
        "setting/setFlashcard",
        "setting/setSearch",
        "setting/setSecrets",
        "setting/setSnippet",
        "setting/setVariables",
        "snippet/removeSnippet",
        "system/dismissOnboarding",
        "system/ensureOnboarding",
    )
)


def ordered(route: str, data: Any) -> Any:
    """An answer's data with its own fields in the kernel's order; what lies deeper stays as it is."""
    if isinstance(data, dict) and len(data) > 1 and route not in RECORDS:
        return {name: data[name] for name in sorted(data)}
    return data

"""[core] ``conf/conf.json``: the kernel's settings. Sections are plain dictionaries, as every /api/setting call takes them."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kernel.workspace.files import Files

CONF_PATH: Final = "conf/conf.json"

# What a section holds where conf.json does not say: the defaults of kernel 3.7.3 that rules here depend on.
DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "fileTree": {
        "alwaysSelectOpenedFile": False,
        "openFilesUseCurrentTab": False,
        "docIconClickExpand": False,
        "parentDocClickExpand": False,
        "boxDocEnabled": True,
        "refCreateSaveBox": "",
        "refCreateSavePath": "",
        "docCreateSaveBox": "",
        "docCreateSavePath": "",
        "shorthandSaveBox": "",
        "shorthandSavePath": "",
        "maxListCount": 512,
        "maxOpenTabCount": 8,
        "allowCreateDeeper": False,
        "removeDocWithoutConfirm": False,
        "closeTabsOnStart": False,
        "useSingleLineSave": True,
        "largeFileWarningSize": 8,
        "createDocAtTop": False,
        "sort": 6,
        "recentDocsMaxListCount": 0,
        "noSplitScreenWhenOpenTab": False,
    },
    "editor": {"dynamicLoadBlocks": 192, "generateHistoryInterval": 10, "historyRetentionDays": 30},
    "search": {"limit": 64, "caseSensitive": False, "name": True, "alias": True, "memo": True, "ial": False},
    "tag": {"sort": 0},
}


class Conf:
    """The settings, read once and written through."""

    def __init__(self, files: Files, values: dict[str, Any]) -> None:
        self._files = files
        self.values = values

    @classmethod
    def load(cls, files: Files) -> Conf:
        """What conf.json says, over the defaults. An unreadable file is kept aside as conf.json.broken."""
        values: dict[str, Any] = {}
        if files.exists(CONF_PATH):
            try:
                loaded = json.loads(files.read(CONF_PATH))
                values = loaded if isinstance(loaded, dict) else {}
            except ValueError:
                files.rename(CONF_PATH, f"{CONF_PATH}.broken")
        conf = cls(files, values)
        for name, defaults in DEFAULTS.items():
            section = values.get(name)
            values[name] = {**copy.deepcopy(defaults), **(section if isinstance(section, dict) else {})}
        return conf

    def section(self, name: str) -> dict[str, Any]:
        """The live dictionary of a section; change it, then ``save``."""
        section: dict[str, Any] = self.values.setdefault(name, {})
        return section

    @property
    def token(self) -> str:
        """The API token."""
        return str(self.section("api").get("token", ""))

    @property
    def file_tree(self) -> dict[str, Any]:
        return self.section("fileTree")

    @property
    def is_box_doc_enabled(self) -> bool:
        return bool(self.file_tree["boxDocEnabled"])

    def save(self) -> None:
        """Write conf.json, readable by its owner only: the token stands in it."""
        content = json.dumps(self.values, ensure_ascii=False, indent=2).encode()
        self._files.write(CONF_PATH, content, is_private=True)

    def reload(self) -> None:
        """Take again what the disk holds."""
        self.values = Conf.load(self._files).values

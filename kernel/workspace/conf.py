"""[core] ``conf/conf.json``: the kernel's settings. Sections are plain dictionaries, shaped by ``conf_shapes``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.workspace.conf_bounds import complete, stored_conf
from kernel.workspace.conf_defaults import CONF
from kernel.workspace.go_struct import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.workspace.files import Files

CONF_PATH: Final = "conf/conf.json"
BROKEN_CONF_PATH: Final = f"{CONF_PATH}.broken"


class Conf:
    """The settings, read once and written through. ``new_id`` and ``new_uuid`` name what is stored without a name."""

    def __init__(
        self, files: Files, values: dict[str, Any], new_id: Callable[[], str], new_uuid: Callable[[], str]
    ) -> None:
        self._files = files
        self.values = values
        self.new_id = new_id
        self.new_uuid = new_uuid
        # Whether the file could not be read and was put aside.
        self.was_broken = False

    @classmethod
    def load(cls, files: Files, *, new_id: Callable[[], str], new_uuid: Callable[[], str]) -> Conf:
        """What conf.json says, completed. An unreadable file is kept aside as conf.json.broken."""
        stored: dict[str, Any] = {}
        was_broken = False
        if files.exists(CONF_PATH):
            try:
                loaded = read_json(files.read(CONF_PATH))
                stored = loaded if isinstance(loaded, dict) else {}
            except ValueError:
                files.rename(CONF_PATH, BROKEN_CONF_PATH)
                was_broken = True
        values = stored_conf(stored)
        complete(values, new_id, new_uuid)
        conf = cls(files, values, new_id, new_uuid)
        conf.was_broken = was_broken
        return conf

    def section(self, name: str) -> dict[str, Any]:
        """The live dictionary of a section; change it, then ``save``."""
        section: dict[str, Any] = self.values[name]
        return section

    @property
    def token(self) -> str:
        """The API token."""
        return str(self.section("api")["token"])

    @property
    def file_tree(self) -> dict[str, Any]:
        return self.section("fileTree")

    @property
    def is_box_doc_enabled(self) -> bool:
        return bool(self.file_tree["boxDocEnabled"])

    def complete(self) -> None:
        """Fill in what is missing, as at the start."""
        complete(self.values, self.new_id, self.new_uuid)

    def written(self) -> dict[str, Any]:
        """All settings as they are written."""
        values: dict[str, Any] = written(CONF, self.values)
        return values

    def save(self) -> None:
        """Write conf.json where it differs, readable by its owner only: the token stands in it."""
        content = json.dumps(self.written(), ensure_ascii=False, indent=2).encode("utf-8", "replace")
        if not self._files.exists(CONF_PATH) or self._files.read(CONF_PATH) != content:
            self._files.write(CONF_PATH, content, is_private=True)

    def reload(self) -> None:
        """Take again what the disk holds."""
        self.values = Conf.load(self._files, new_id=self.new_id, new_uuid=self.new_uuid).values

"""[core] ``conf/conf.json``: the kernel's settings. Sections are plain dictionaries, shaped by ``conf_shapes``."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.json_text import read_json
from kernel.workspace.conf_bounds import complete, stored_conf
from kernel.workspace.conf_defaults import CONF
from kernel.workspace.go_struct import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.workspace.files import Files

CONF_PATH: Final = "conf/conf.json"
BROKEN_CONF_PATH: Final = f"{CONF_PATH}.broken"
# Files whose shape is remembered: a process that starts kernels again and again (tests, simulation) reads few of them.
_REMEMBERED_MAX: Final = 8


def _as_written(values: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = written(CONF, values)
    return told


def _content_of(values: dict[str, Any]) -> bytes:
    """The file's bytes. The same settings are written at every start, and often more than once."""
    compact = _compact(values)
    return _spelled(_as_written(values)) if compact is None else _content_again(compact)


@functools.lru_cache(maxsize=_REMEMBERED_MAX)
def _content_again(compact: bytes) -> bytes:
    return _spelled(_as_written(msgspec.json.decode(compact)))


def _spelled(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, indent=2).encode("utf-8", "replace")


def _values_in(content: bytes) -> dict[str, Any]:
    """What a file says, in its shape. Raises ValueError if it is not JSON."""
    compact = _values_again(content)
    values: dict[str, Any] = _shaped(content) if compact is None else msgspec.json.decode(compact)
    return values


@functools.lru_cache(maxsize=_REMEMBERED_MAX)
def _values_again(content: bytes) -> bytes | None:
    return _compact(_shaped(content))


def _shaped(content: bytes) -> dict[str, Any]:
    loaded = read_json(content)
    return stored_conf(loaded if isinstance(loaded, dict) else {})


def _compact(values: dict[str, Any]) -> bytes | None:
    """The values as JSON, if they can be had back from it as they are."""
    try:
        compact = msgspec.json.encode(values)
        return compact if msgspec.json.decode(compact) == values else None
    except (
        msgspec.MsgspecError,
        ValueError,
        TypeError,
        OverflowError,
        RecursionError,
    ):  # half a surrogate pair, a number without end
        return None


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
        content = b"{}"
        was_broken = False
        if files.exists(CONF_PATH):
            content = files.read(CONF_PATH)
        try:
            values = _values_in(content)
        except ValueError:
            files.rename(CONF_PATH, BROKEN_CONF_PATH)
            values, was_broken = stored_conf({}), True
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
        return _as_written(self.values)

    def save(self) -> None:
        """Write conf.json where it differs, readable by its owner only: the token stands in it."""
        content = _content_of(self.values)
        if not self._files.exists(CONF_PATH) or self._files.read(CONF_PATH) != content:
            self._files.write(CONF_PATH, content, is_private=True)

    def reload(self) -> None:
        """Take again what the disk holds."""
        self.values = Conf.load(self._files, new_id=self.new_id, new_uuid=self.new_uuid).values

"""[core] Notebooks: their configuration on disk, their order, and the hidden document each of them has (siyuan-api C4, C5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.workspace.names import is_reserved

if TYPE_CHECKING:
    from kernel.workspace.files import Files

DATA: Final = "data"
SORT_CUSTOM: Final = 6
SORT_AS_TREE: Final = 15
SORT_UNASSIGNED: Final = 256
BOX_DOCUMENT_SPEC: Final = 1

# The members of .siyuan/conf.json in their order, with the value each has where the file does not say.
BOX_CONF_DEFAULTS: Final[dict[str, Any]] = {
    "name": "Untitled",
    "sort": 0,
    "icon": "",
    "closed": True,
    "refCreateSaveBox": "",
    "refCreateSavePath": "",
    "docCreateSaveBox": "",
    "docCreateSavePath": "",
    "dailyNoteSavePath": '/daily note/{{now | date "2006/01"}}/{{now | date "2006-01-02"}}',
    "dailyNoteTemplatePath": "",
    "sortMode": SORT_AS_TREE,
    "encrypted": False,
    "boxCrypt": None,
}
_GO_TYPES: Final = {"str": "string", "bool": "bool", "int": "int"}


class BoxConfError(ValueError):
    """A member of a notebook's configuration that is of another type."""


@dataclass(slots=True)
class Notebook:
    """One notebook as the kernel lists it."""

    id: str
    conf: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.conf["name"])

    @property
    def is_closed(self) -> bool:
        return bool(self.conf["closed"])

    def to_json(self, sub_file_count: int = 0) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "icon": self.conf["icon"],
            "sort": self.conf["sort"],
            "sortMode": self.conf["sortMode"],
            "closed": self.is_closed,
            "subFileCount": sub_file_count,
            "newFlashcardCount": 0,
            "dueFlashcardCount": 0,
            "flashcardCount": 0,
            "encrypted": bool(self.conf["encrypted"]),
            "unlocked": False,
        }


class Notebooks:
    """All notebooks of the workspace. The configuration files are the truth; they are read once and written through."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, Notebook] | None = None

    def forget(self) -> None:
        """Read the folder anew at the next question (a file was changed from outside)."""
        self._known = None

    def get(self, box: str) -> Notebook | None:
        """A notebook, open or closed."""
        return self._all().get(box)

    def opened(self, box: str) -> Notebook | None:
        """A notebook if it is open."""
        found = self.get(box)
        return None if found is None or found.is_closed else found

    def listed(self, sort_mode: int) -> list[Notebook]:
        """Every notebook in the order of ``conf.fileTree.sort``; by default in the order the user gave them."""
        found = sorted(self._all().values(), key=lambda notebook: notebook.id)
        if sort_mode in (0, 1):
            found.sort(key=cmp_to_key(lambda a, b: compare_names(a.name, b.name)), reverse=sort_mode == 1)
        elif sort_mode in (4, 5):
            found.sort(key=lambda notebook: natural_key(notebook.name), reverse=sort_mode == 5)
        elif sort_mode == SORT_CUSTOM:
            found.sort(key=lambda notebook: int(notebook.conf["sort"]))
        elif sort_mode == 10:
            found.reverse()
        return found

    def save(self, box: str, conf: dict[str, Any]) -> Notebook:
        """Write a notebook's configuration."""
        notebook = Notebook(box, conf)
        self._all()[box] = notebook
        self._files.write(f"{DATA}/{box}/.siyuan/conf.json", written_conf(conf))
        return notebook

    def write_box_document_meta(self, box: str) -> None:
        """Note in the notebook's folder which document stands for it."""
        content = json.dumps({"spec": BOX_DOCUMENT_SPEC, "boxDocID": box}, indent=2).encode()
        path = f"{DATA}/{box}/.siyuan/boxDoc.json"
        if not self._files.exists(path) or self._files.read(path) != content:
            self._files.write(path, content)

    def forget_one(self, box: str) -> None:
        self._all().pop(box, None)

    def _all(self) -> dict[str, Notebook]:
        if self._known is None:
            self._known = {}
            for entry in self._files.list(DATA) if self._files.exists(DATA) else ():
                if entry.is_dir and not is_reserved(entry.name) and is_node_id(entry.name):
                    notebook = self._read(entry.name)
                    if notebook is not None:
                        self._known[entry.name] = notebook
        return self._known

    def _read(self, box: str) -> Notebook | None:
        path = f"{DATA}/{box}/.siyuan/conf.json"
        if not self._files.exists(path):
            # The kernel mends a notebook folder without configuration: it becomes a closed, untitled notebook.
            self._known = self._known if self._known is not None else {}
            return self.save(box, new_box_conf())
        try:
            return Notebook(box, merged_box_conf(new_box_conf(), read_json(self._files.read(path))))
        except ValueError:
            return None


def written_conf(conf: dict[str, Any]) -> bytes:
    """A notebook's configuration as its file."""
    return _go_escaped(json.dumps(conf, ensure_ascii=False, indent=2).encode())


def new_box_conf() -> dict[str, Any]:
    """The configuration of a notebook that says nothing of itself."""
    return dict(BOX_CONF_DEFAULTS)


def merged_box_conf(conf: dict[str, Any], changes: Any) -> dict[str, Any]:
    """``conf`` with what ``changes`` says; unknown members are dropped, null leaves a member as it is.

    Raises:
        BoxConfError: a member of the wrong type, in the words of the kernel's decoder.
    """
    merged = dict(conf)
    if changes is None:
        return merged
    if not isinstance(changes, dict):
        raise BoxConfError(f"json: cannot unmarshal {_go_kind(changes)} into Go value of type conf.BoxConf")
    by_name = {name.lower(): name for name in BOX_CONF_DEFAULTS}
    for given, value in changes.items():
        name = by_name.get(given.lower())
        if name is None or value is None or name in ("encrypted", "boxCrypt"):
            continue
        wanted: type = type(BOX_CONF_DEFAULTS[name])
        if wanted is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not wanted:
            kind = _go_kind(value)
            raise BoxConfError(
                f"json: cannot unmarshal {kind} into Go struct field BoxConf.{name} of type {_GO_TYPES[wanted.__name__]}"
            )
        merged[name] = value
    return merged


def _go_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return f"number {value}" if isinstance(value, float) else "number"
    return {"str": "string", "list": "array", "dict": "object"}[type(value).__name__]


def _go_escaped(content: bytes) -> bytes:
    """JSON as Go's encoder writes it: the three characters of HTML as escapes."""
    return content.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def compare_names(left: str, right: str) -> int:
    """Names in alphabetical order as the file tree sorts them: ignoring case, by GB 18030 bytes, the shorter first."""
    a, b = (_collated(text) for text in (left, right))
    return (a > b) - (a < b)


def _collated(text: str) -> bytes:
    return text.removesuffix(".sy").lower().encode("gb18030", "replace")


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Names in natural order: runs of digits compare as numbers."""
    import re

    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]

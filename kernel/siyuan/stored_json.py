"""Small JSON files under ``data/storage`` and ``data/snippets``: read whole, written whole, as the kernel keeps them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kernel.json_text import read_json
from kernel.workspace.files import UnsafePath
from kernel.workspace.go_struct import Mismatch, read, written

if TYPE_CHECKING:
    from kernel.workspace.files import Files
    from kernel.workspace.go_struct import Kind


class StoredJsonInvalid(ValueError):
    """The file holds no JSON of the right type; it is left as it is. The message is the kernel's."""


def stored(files: Files, path: str, kind: Kind) -> Any:
    """What a file holds, as a value of a type; None where there is no file.

    Raises:
        StoredJsonInvalid: it cannot be read as one.
    """
    try:
        if not files.exists(path):
            return None
        return read(kind, read_json(files.read(path)))
    except (Mismatch, UnsafePath) as error:
        raise StoredJsonInvalid(str(error)) from error
    except ValueError as error:
        raise StoredJsonInvalid("invalid JSON") from error


def store(files: Files, path: str, kind: Kind, value: Any, *, indent: int | None = 2) -> None:
    """Write a value; ``indent`` None writes it on one line."""
    separators = None if indent else (",", ":")
    text = json.dumps(written(kind, value), ensure_ascii=False, indent=indent, separators=separators)
    files.write(path, text.encode("utf-8", "replace"))

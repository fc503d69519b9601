"""JSON that somebody else wrote: files of a workspace, answers of other programs."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes | bytearray) -> Any:
    """The value of a JSON text. The library's way to say no depends on what is wrong with a text; here there is one.

    Raises:
        ValueError: it is no JSON, no Unicode, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None

"""What went over the wire between a client and a kernel, as values and as a file. No I/O of its own.

A recording is JSON lines: a head, then one line per piece of one direction of one connection, in the order of time.
Bytes are kept as they were, cuts and resets as what they were, so that whoever reads it sees what the client saw.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

VERSION: Final = 1
Side = Literal["client", "kernel"]
Kind = Literal["open", "data", "end", "reset"]
_SIDES: Final = ("client", "kernel")
_KINDS: Final = ("open", "data", "end", "reset")


class RecordingInvalid(Exception):
    """Not a recording: the line (from 1) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Piece:
    """One event of one connection. ``side``: who sent it, or ended; ``at_s``: seconds since the recording began."""

    connection: int
    at_s: float
    side: Side
    kind: Kind
    data: bytes = b""

    def as_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"c": self.connection, "at": round(self.at_s, 6), "side": self.side, "kind": self.kind}
        if self.data:
            told["data"] = base64.b64encode(self.data).decode()
        return told


def head_line(kernel: str) -> str:
    """The first line of a recording of the kernel at that URL."""
    return json.dumps({"sisyphusRecording": VERSION, "kernel": kernel}) + "\n"


def piece_line(piece: Piece) -> str:
    return json.dumps(piece.as_json()) + "\n"


def read_recording(lines: Iterable[str]) -> Iterator[Piece]:
    """The pieces of a recording file. Raises RecordingInvalid where it stops being one."""
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            told = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise RecordingInvalid(number, f"not JSON: {error}") from None
        if number == 1:
            if not isinstance(told, dict) or told.get("sisyphusRecording") != VERSION:
                raise RecordingInvalid(1, f"not a recording of version {VERSION}")
            continue
        yield _piece(told, number)
    if number == 0:
        raise RecordingInvalid(1, "the file is empty")


def _piece(told: Any, line: int) -> Piece:
    if not isinstance(told, dict) or told.get("side") not in _SIDES or told.get("kind") not in _KINDS:
        raise RecordingInvalid(line, "not a piece of a recording")
    connection, at_s, data = told.get("c"), told.get("at"), told.get("data", "")
    is_number = isinstance(connection, int) and isinstance(at_s, int | float)
    if not is_number or isinstance(at_s, bool) or not isinstance(data, str):
        raise RecordingInvalid(line, "a piece has c, at, side, kind and data")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise RecordingInvalid(line, "data is not base64") from None
    assert isinstance(connection, int)
    assert isinstance(at_s, int | float)
    return Piece(connection, float(at_s), told["side"], told["kind"], content)

"""multipart/form-data: a bounded reader over python-multipart, sans-IO, and a small asynchronous face for it."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from kernel.http.limits import FORM_PART_HEAD_BYTES_MAX, FORM_PARTS_MAX

_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,\-./:=? ]{1,70}")


# It warns of every malformed form; those are the client's fault and become an answer, not a log line.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


class FormInvalid(ValueError):
    """The body is no multipart form, or one past the bounds of parts (400)."""


@dataclass(frozen=True, slots=True)
class PartBegan:
    """The head of one part. ``file_name`` is None for a plain value."""

    name: str
    file_name: str | None
    content_type: str | None


@dataclass(frozen=True, slots=True)
class PartData:
    data: bytes


@dataclass(frozen=True, slots=True)
class PartEnded:
    pass


PartEvent = PartBegan | PartData | PartEnded


@dataclass(slots=True)
class FormPart:
    """One whole part."""

    name: str
    file_name: str | None
    content_type: str | None
    content: bytes = b""

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


@dataclass(slots=True)
class FormReader:
    """Bytes in, part events out. ``finish`` must follow the last ``feed``."""

    parser: MultipartParser = field(init=False)
    content_type: str
    _events: list[PartEvent] = field(default_factory=list)
    _header_name: bytearray = field(default_factory=bytearray)
    _header_value: bytearray = field(default_factory=bytearray)
    _headers: dict[bytes, bytes] = field(default_factory=dict)
    _parts: int = 0
    _is_ended: bool = False

    def __post_init__(self) -> None:
        self.parser = MultipartParser(
            boundary_of(self.content_type),
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_part_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
            max_header_size=FORM_PART_HEAD_BYTES_MAX,
        )

    def feed(self, data: bytes) -> list[PartEvent]:
        """Raises FormInvalid."""
        try:
            self.parser.write(data)
        except MultipartParseError as error:
            raise FormInvalid(str(error)) from None
        events, self._events = self._events, []
        return events

    def finish(self) -> None:
        """Raises FormInvalid where the closing boundary never came."""
        if not self._is_ended:
            raise FormInvalid("the form has no end")

    # --- the parser's callbacks ------------------------------------------------------------------------------
    def _on_part_begin(self) -> None:
        self._parts += 1
        if self._parts > FORM_PARTS_MAX:
            raise FormInvalid(f"a form may have {FORM_PARTS_MAX} parts")
        self._headers = {}

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[bytes(self._header_name).lower()] = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        content_type = self._headers.get(b"content-type")
        file_name = options.get(b"filename")
        began = PartBegan(
            options.get(b"name", b"").decode("utf-8", "replace"),
            None if file_name is None else file_name.decode("utf-8", "replace"),
            None if content_type is None else content_type.decode("latin-1"),
        )
        self._events.append(began)

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(PartData(data[start:end]))

    def _on_part_end(self) -> None:
        self._events.append(PartEnded())

    def _on_end(self) -> None:
        self._is_ended = True


def boundary_of(content_type: str) -> bytes:
    """The boundary of a form's content type. Raises FormInvalid."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or _BOUNDARY.fullmatch(boundary) is None:
        raise FormInvalid("the content type is no multipart/form-data with a boundary")
    return boundary


def read_form(content_type: str, body: bytes) -> list[FormPart]:
    """A whole form that is in memory. Raises FormInvalid."""
    reader = FormReader(content_type)
    parts = list(_gather(reader.feed(body)))
    reader.finish()
    return parts


async def form_events(content_type: str, chunks: AsyncIterable[bytes]) -> AsyncIterator[PartEvent]:
    """The parts of a form while it arrives, never held whole. Raises FormInvalid and what ``chunks`` raises."""
    reader = FormReader(content_type)
    async for chunk in chunks:
        for event in reader.feed(chunk):
            yield event
    reader.finish()


def _gather(events: list[PartEvent]) -> Iterator[FormPart]:
    part: FormPart | None = None
    pieces: list[bytes] = []
    for event in events:
        match event:
            case PartBegan():
                part, pieces = FormPart(event.name, event.file_name, event.content_type), []
            case PartData():
                pieces.append(event.data)
            case PartEnded():
                assert part is not None, "a part ends that never began"
                part.content = b"".join(pieces)
                yield part

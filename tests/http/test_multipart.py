"""Forms: whole and in pieces, with odd names, and broken in every way."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kernel.http.limits import FORM_PARTS_MAX
from kernel.http.multipart import FormInvalid, FormReader, PartBegan, PartData, PartEnded, form_events, read_form

TYPE = "multipart/form-data; boundary=X"
FORM = (
    b'--X\r\nContent-Disposition: form-data; name="path"\r\n\r\n/data/a.txt\r\n'
    b'--X\r\nContent-Disposition: form-data; name="file"; filename="\xe4\xbd\xa0 \\"q\\".txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nline\r\n--Xnot\r\n\0\r\n--X--\r\n"
)


def part(name: str, value: str = "") -> bytes:
    return f'--X\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def test_a_form_gives_its_values_and_files() -> None:
    path, file = read_form(TYPE, FORM)
    assert (path.name, path.file_name, path.text) == ("path", None, "/data/a.txt")
    assert (file.name, file.file_name, file.content_type) == ("file", '你 "q".txt', "text/plain")
    assert file.content == b"line\r\n--Xnot\r\n\0"


async def test_a_form_can_be_read_while_it_arrives() -> None:
    async def drip() -> AsyncIterator[bytes]:
        for byte in FORM:
            yield bytes([byte])

    events = [event async for event in form_events(TYPE, drip())]
    assert [type(event) for event in events if not isinstance(event, PartData)] == [PartBegan, PartEnded] * 2
    assert b"".join(event.data for event in events if isinstance(event, PartData)) == b"/data/a.txtline\r\n--Xnot\r\n\0"


@pytest.mark.parametrize("body", [b"", b"--X", FORM[:-6], b"garbage", b"--Y\r\n", part("a")[:-2]])
def test_broken_forms_are_refused(body: bytes) -> None:
    with pytest.raises(FormInvalid):
        read_form(TYPE, body)


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        'multipart/form-data; boundary="a\x01"',
        "multipart/mixed; boundary=X",
        "multipart/form-data; boundary=" + "x" * 71,
    ],
)
def test_types_without_a_good_boundary_are_refused(content_type: str) -> None:
    with pytest.raises(FormInvalid):
        FormReader(content_type)


@pytest.mark.parametrize("count", [FORM_PARTS_MAX, FORM_PARTS_MAX + 1])
def test_the_number_of_parts_is_bounded(count: int) -> None:
    body = part("a") * count + b"--X--\r\n"
    if count <= FORM_PARTS_MAX:
        assert len(read_form(TYPE, body)) == count
    else:
        with pytest.raises(FormInvalid):
            read_form(TYPE, body)


def test_a_part_without_a_disposition_has_no_name() -> None:
    [only] = read_form(TYPE, b"--X\r\nX: y\r\n\r\nv\r\n--X--\r\n")
    assert (only.name, only.text) == ("", "v")

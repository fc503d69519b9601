"""A trace as a picture: a row per slot, well-formed, and whatever a label says."""

from __future__ import annotations

from xml.etree import ElementTree

from kernel.lab.drawing import as_svg
from kernel.trace import trace_events
from tests.lab.test_trace import ticking, traced_storm

SVG = "{http://www.w3.org/2000/svg}"


async def test_every_slot_has_its_row_and_every_cancel_its_mark() -> None:
    picture = ElementTree.fromstring(as_svg({"traceEvents": await traced_storm()}, "a storm"))
    texts = [element.text for element in picture.iter(f"{SVG}text")]
    assert [text for text in texts if text and "slot" in text] == [f"read slot {number}" for number in range(1, 5)]
    marks = [title.text for circle in picture.iter(f"{SVG}circle") for title in circle]
    assert marks.count("cancel_requested") == 6


def test_a_label_is_only_text() -> None:
    trace = ticking()
    trace.record("admitted", ticket=1, label="<script>")
    trace.record("queued", ticket=1, lane="read")
    trace.record("started", ticket=1, lane="read")
    picture = as_svg(trace_events(trace.events()), "<title>")
    ElementTree.fromstring(picture)
    assert "<script>" not in picture


def test_an_empty_trace_is_an_empty_picture() -> None:
    picture = ElementTree.fromstring(as_svg(trace_events([]), "nothing"))
    texts = [element.text or "" for element in picture.iter(f"{SVG}text")]
    assert (texts[0], texts[-1]) == ("nothing", "0 ms")
    assert [text for text in texts if "slot" in text] == []
    # Every bar and every mark has a title.
    assert list(picture.iter(f"{SVG}title")) == []

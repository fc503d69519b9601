"""The small part of Go's templates that notebook settings use for paths."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kernel.workspace.path_template import TemplateError, go_date, render_path_template

NOW = datetime(2026, 3, 1, 15, 4, 5, 120_000, tzinfo=timezone(timedelta(hours=8), "CST"))


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ('/daily/{{now | date "2006/01"}}/{{ now|date "02" }}', "/daily/2026/03/01"),
        ('/{{date "2006" now}}', "/2026"),
        ("/{{- now -}}", "/2026-03-01 15:04:05.120000 +0800 CST"),
        ("/a{{/* nothing */}}b", "/ab"),
        ('/{{now | date "a\\"b"}}', '/a"b'),
        ("/plain", "/plain"),
    ],
)
def test_dates_are_filled_in(template: str, path: str) -> None:
    assert render_path_template(template, NOW) == path


@pytest.mark.parametrize("template", ["/{{now", "/{{title}}", "/{{now | date 2006}}", "/{{}}"])
def test_what_is_not_understood_is_refused(template: str) -> None:
    with pytest.raises(TemplateError, match=r"^Parse template failed"):
        render_path_template(template, NOW)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("Monday Mon January Jan", "Sunday Sun March Mar"),
        ("06-1-2 _2", "26-3-1  1"),
        ("03:04:05 PM pm", "03:04:05 PM pm"),
        ("3:4:5", "3:4:5"),
        ("15.000 05.999 05,9", "15.120 05.12 05,1"),
        ("MST -0700 -07:00 Z07:00", "CST +0800 +08:00 +08:00"),
    ],
)
def test_a_layout_is_an_example_moment(layout: str, text: str) -> None:
    assert go_date(NOW, layout) == text


def test_a_part_that_says_nothing_is_left_out() -> None:
    noon = datetime(2026, 3, 1, 0, 0, tzinfo=UTC)
    assert go_date(noon, "05.999|05.000|3|Z07:00") == "00|00.000|12|Z"

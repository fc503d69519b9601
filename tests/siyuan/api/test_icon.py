"""/api/icon: a day or a word as a picture."""

from __future__ import annotations

from datetime import date
from xml.etree import ElementTree

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import RawAnswer, dispatch
from kernel.siyuan.dynamic_icon import IconWish, draw_icon
from kernel.siyuan.kernel import Call
from tests.siyuan.kernel_in_memory import MemoryKernel

DAY = date(2026, 3, 1)


def words(svg: str) -> list[str]:
    return [text for text in ElementTree.fromstring(svg).itertext() if text]


@pytest.mark.parametrize(
    ("wish", "shown"),
    [
        (IconWish("1"), ["Mar 2026", "1", "Sun"]),
        (IconWish("2", lang="zh-CN"), ["3月 2026", "1"]),
        (IconWish("3"), ["2026", "Mar"]),
        (IconWish("4"), ["2026"]),
        (IconWish("5"), ["2026", "9W"]),
        (IconWish("6", weekday_type="4"), ["SUNDAY"]),
        (IconWish("6", weekday_type="3"), ["Sunday"]),
        (IconWish("6", weekday_type="2"), ["SUN"]),
        (IconWish("6", lang="zh-CN", weekday_type="2"), ["周天"]),
        (IconWish("6", lang="zh-TW"), ["週日"]),
        (IconWish("6", lang="zh-CN", weekday_type="4"), ["星期天"]),
        (IconWish("7"), ["2026-03-01", "-9"]),
        (IconWish("8", content="<A&B>"), ["<A&B>"]),
        (IconWish("8"), []),
        (IconWish("nope"), ["Mar 2026", "1", "Sun"]),
    ],
)
def test_an_icon_says_what_was_asked_for(wish: IconWish, shown: list[str]) -> None:
    assert words(draw_icon(wish, DAY, date(2026, 3, 10))) == shown


@pytest.mark.parametrize(
    ("color", "expected"), [("red", "#d13d51"), ("#ABCDEF", "#abcdef"), ("123456", "#123456"), ("x;y", "#d13d51")]
)
def test_a_color_is_a_name_or_six_digits(color: str, expected: str) -> None:
    assert f"fill: {expected};" in draw_icon(IconWish("8", color=color), DAY, DAY)


@pytest.mark.parametrize("given", ["2026-02-30", "", "x"])
async def test_without_a_date_today_is_drawn(given: str) -> None:
    kernel = MemoryKernel()
    call = Call(kernel.kernel, "/api/icon/getDynamicIcon", Arguments({}), query=f"type=3&date={given}")
    answer = await dispatch(call)
    assert isinstance(answer, RawAnswer)
    assert words(answer.body.decode())[0] == str(kernel.clock.local().year)
    assert ("X-Content-Type-Options", "nosniff") in answer.headers

"""/api/icon: icons that are drawn when they are asked for."""

from __future__ import annotations

import urllib.parse
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.dispatch import RawAnswer
from kernel.siyuan.dynamic_icon import IconWish, draw_icon

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_HEADERS: Final = (
    ("Content-Type", "image/svg+xml"),
    ("Content-Security-Policy", "script-src 'none'; object-src 'none'; base-uri 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-cache"),
    ("Pragma", "no-cache"),
)


def get_dynamic_icon(call: Call) -> Any:
    """Query: type, color, date (yyyy-mm-dd; today, if it is none), lang, weekdayType, content."""
    asked = dict(urllib.parse.parse_qsl(call.query))
    wish = IconWish(
        kind=asked.get("type", "1"),
        color=asked.get("color", ""),
        lang=asked.get("lang", "") or str(call.kernel.workspace.conf.values["lang"]),
        weekday_type=asked.get("weekdayType", "1"),
        content=asked.get("content", ""),
    )
    today = call.kernel.clock.local().date()
    try:
        shown = date.fromisoformat(asked.get("date", ""))
    except ValueError:
        shown = today
    return RawAnswer(200, _HEADERS, draw_icon(wish, shown, today).encode())


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/icon/getDynamicIcon": get_dynamic_icon,
}

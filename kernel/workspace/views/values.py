"""[core] The cells of a database: what each type holds, says and counts as (siyuan-api A12)."""

from __future__ import annotations

from typing import Any, Final

from kernel.workspace.durations import span
from kernel.workspace.go_struct import Optional, Record
from kernel.workspace.views.format import DATE, FILLED, VALUE, Json, made
from kernel.workspace.views.moments import SECOND_MS, Moment
from kernel.workspace.views.numbers import format_number, short_number

CHECKED: Final = "√"
# Where a type keeps its content, when not under its own name.
_MEMBERS: Final = {"select": "mSelect"}
_LISTS: Final = ("select", "mSelect", "mAsset")
# Types whose content is nothing but a text.
TEXT_TYPES: Final = ("text", "url", "email", "phone", "template")
# Values that are older have no record of edits: all count as edited (7 March 2024).
_EDITS_KNOWN_FROM_MS: Final = 1_709_740_800_000


def member_of(key_type: str) -> str:
    """The field of a value that holds the content of a type; "" for types that hold none."""
    return "" if key_type == "lineNumber" else _MEMBERS.get(key_type, key_type)


def content_of(value: Json, key_type: str = "") -> Any:
    """What a value holds for a type (its own, if not said); None if it holds nothing for it."""
    if value["type"] == "rollup" and key_type not in ("", "rollup"):
        contents = value["rollup"]["contents"] if value["rollup"] else None
        return content_of(contents[0], key_type) if contents else None
    member = member_of(key_type or value["type"])
    return value.get(member) if member else None


def new_value(key_type: str, **fields: Any) -> Json:
    return made(VALUE, type=key_type, **fields)


def is_filled(value: Json) -> bool:
    """Whether rendering has put the value there: it is shown, but not stored."""
    return bool(value.get(FILLED))


def keep(value: Json) -> None:
    """A value that rendering has put there is stored from now on."""
    value.pop(FILLED, None)


def touch(value: Json, now_ms: int) -> None:
    """A value changes now: never at the time it was made, so that edits can be told from creations."""
    value["updatedAt"] = now_ms + SECOND_MS if value["createdAt"] == now_ms else now_ms


# --- text ----------------------------------------------------------------------------------------------------------
def text_of(value: Json | None, moment: Moment, *, is_formatted: bool = True) -> str:
    """What a value says."""
    if value is None:
        return ""
    content = content_of(value)
    if not content:
        return ""
    match value["type"]:
        case "block" | "text" | "url" | "email" | "phone" | "template":
            return str(content["content"]).strip()
        case "number":
            return str(content["formattedContent"]) if is_formatted else f"{content['content']:f}"
        case "date":
            return str(date_content(content, moment)["formattedContent"])
        case "created" | "updated":
            return str(content["formattedContent"])
        case "select":
            return str(content[0]["content"])
        case "mSelect":
            return " ".join(one["content"] for one in content)
        case "mAsset":
            return " ".join(f"{one['name']} {one['content']}" for one in content)
        case "checkbox":
            return CHECKED if content["checked"] else ""
        case "relation" | "rollup":
            said = [text_of(one, moment, is_formatted=is_formatted) for one in content["contents"] or ()]
            return ", ".join(said).strip()
        case _:
            return ""


def is_empty(value: Json | None, *, ignores_blanks: bool = False) -> bool:
    """Whether a value holds nothing; a checkbox always holds something, a type without content too."""
    if value is None:
        return True
    key_type = value["type"]
    content = content_of(value)
    if key_type in ("relation", "rollup"):
        return not (content and content["contents"])
    if key_type in _LISTS:
        if not content or key_type != "select":
            return not content
        return not _text(content[0]["content"], ignores_blanks)
    if content is None:
        return member_of(key_type) in VALUE.fields
    if key_type in ("number", "date", "created", "updated"):
        return not content["isNotEmpty"]
    if key_type == "block" or key_type in TEXT_TYPES:
        return not _text(content["content"], ignores_blanks or key_type == "template")
    return False


def _text(text: str, ignores_blanks: bool) -> str:
    return text.strip() if ignores_blanks else text


def is_edited(value: Json) -> bool:
    """Whether somebody has given the value its content."""
    if value["createdAt"] < _EDITS_KNOWN_FROM_MS or value["type"] in ("updated", "created"):
        return True
    if value["type"] != "checkbox" and not is_empty(value):
        return True
    return bool(value["createdAt"] != value["updatedAt"])


# --- making --------------------------------------------------------------------------------------------------------
def empty_content(key_type: str, *, made_ms: int = 0, has_time: bool = False) -> Any:
    """What a value of a type holds before anything is said; None for types that hold nothing."""
    member = member_of(key_type)
    if member not in VALUE.fields:
        return None
    if key_type in _LISTS:
        return []
    kind = VALUE.fields[member]
    assert isinstance(kind, Optional), "lists are told above"
    assert isinstance(kind.item, Record), "contents are records"
    content = made(kind.item)
    if key_type == "block":
        content.update(created=made_ms, updated=made_ms)
    if key_type == "date":
        content["isNotTime"] = not has_time
    return content


def default_value(
    value_id: str, key_id: str, item_id: str, key_type: str, moment: Moment, *, has_time: bool = False
) -> Json:
    """A value that holds nothing yet, made when its id says. Raises TooShortId."""
    made_ms = moment.made_at(value_id)
    value = new_value(key_type, id=value_id, keyID=key_id, blockID=item_id, createdAt=made_ms, updatedAt=made_ms)
    member = member_of(key_type)
    if member in VALUE.fields:
        value[member] = empty_content(key_type, made_ms=made_ms, has_time=has_time)
    return value


def fill_missing(value: Json, key_type: str) -> None:
    """A value of a type has the content of the type, if only an empty one. A primary value stays as it is."""
    value["type"] = key_type
    member = member_of(key_type)
    if key_type == "block" or member not in VALUE.fields:
        return
    if not value[member]:
        content = empty_content(key_type, has_time=True)
        value[member] = content


# --- numbers and dates ---------------------------------------------------------------------------------------------
def format_content(number: Json) -> None:
    """Write a number as its format wants it."""
    number["formattedContent"] = format_number(number["content"], number["format"]) if number["isNotEmpty"] else ""


def number_content(number: float, number_format: str = "") -> Json:
    """A calculated number."""
    shown = format_number(number, number_format) if number_format else short_number(number)
    whole = int(number) if float(number).is_integer() else number
    return {"content": whole, "isNotEmpty": True, "format": number_format, "formattedContent": shown}


def date_content(date: Json, moment: Moment, *, is_duration: bool = False) -> Json:
    """A date with its text; without a time it is empty."""
    first, second = date["content"], date["content2"]
    shown = made(DATE, content=first, content2=second, isNotTime=date["isNotTime"])
    if not first:
        return shown
    say = moment.day_text if date["isNotTime"] else moment.minute_text
    text = say(first)
    if date["hasEndDate"]:
        text += f" → {say(second)}"
    if is_duration:
        text = span(moment.local(first), moment.local(second))
    shown.update(isNotEmpty=True, isNotEmpty2=True, hasEndDate=date["hasEndDate"], formattedContent=text)
    return shown


def last_bound(times: list[Json]) -> Json:
    """Of times in their order, the last one that was earlier or later than all before: a range looks like it."""
    bound = first = last = times[0]
    for time in times[1:]:
        if time["content"] < first["content"]:
            bound = first = time
        elif time["content"] > last["content"]:
            bound = last = time
    return bound


def time_content(
    first: int, moment: Moment, *, second: int = 0, is_day: bool = False, is_duration: bool = False
) -> Json:
    """The content of a creation or change time."""
    text = moment.day_text(first) if is_day else moment.minute_text(first)
    if second > 0:
        text += f" → {moment.minute_text(second)}"
    if is_duration:
        text = span(moment.local(first), moment.local(second))
    return {
        "content": first,
        "isNotEmpty": False,
        "content2": second,
        "isNotEmpty2": False,
        "formattedContent": text,
    }

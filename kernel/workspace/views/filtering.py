"""[core] Which items a view's filter lets through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from kernel.workspace.views.dates import fits_day, fits_relative
from kernel.workspace.views.format import VALUE, Json, made
from kernel.workspace.views.rollups import gather
from kernel.workspace.views.upgrade import is_group
from kernel.workspace.views.values import content_of, is_empty, member_of

if TYPE_CHECKING:
    from kernel.workspace.views.database import Database
    from kernel.workspace.views.rendered import Item, Rendered
    from kernel.workspace.views.rendering import Around

IS_EMPTY: Final = "Is empty"
IS_NOT_EMPTY: Final = "Is not empty"
CONTAINS: Final = "Contains"
LACKS: Final = "Does not contains"
ANY: Final = ("", "Any")
_TIMES: Final = ("date", "created", "updated")


def filter_items(
    place: Around, database: Database, shown: Rendered, sources: dict[str, Rendered | None] | None = None
) -> None:
    """Keep the items that the view's filter lets through. ``sources``: see ``rollups.sources_of``."""
    filters = shown.view["filters"] or []
    checker = _Checker(place, database, shown, sources or {})
    root = filters[0] if len(filters) == 1 and is_group(filters[0]) else {"combination": "and", "filters": filters}
    shown.items = [item for item in shown.items if checker.lets_pass(root, item)]


class _Checker:
    """One filter over the items of one view."""

    def __init__(self, place: Around, database: Database, shown: Rendered, sources: dict[str, Rendered | None]) -> None:
        self.place = place
        self.database = database
        self.sources = sources
        self.indexes = {one.id: index for index, one in reversed(list(enumerate(shown.fields)))}

    def lets_pass(self, node: Json | None, item: Item) -> bool:
        if node is None:
            return False
        if is_group(node):
            results = (self.lets_pass(child, item) for child in node["filters"] or ())
            return any(results) if node["combination"] == "or" else all(results)
        index = self.indexes.get(node["column"])
        return index is not None and self.fits(item.values[index], node, item.id)

    def fits(self, value: Json, node: Json, item_id: str) -> bool:
        """Whether one cell fits one condition. A condition that is not filled in lets everything pass."""
        wanted, operator = node["value"], node["operator"]
        if wanted is None and node["relativeDate"] is None:
            return True
        if wanted is not None and value["type"] != wanted["type"]:
            # The key has been given another type since the filter was made.
            return True
        if not node["quantifier"] and operator in (IS_EMPTY, IS_NOT_EMPTY):
            return is_empty(value) is (operator == IS_EMPTY)
        if wanted is not None and value["type"] == "rollup" and value["rollup"] and wanted["rollup"]:
            return self._fits_rollup(value, node, item_id)
        if wanted is not None and value["type"] == "relation" and value["relation"] and wanted["relation"]:
            return self._fits_relation(value, node)
        if wanted is not None and value["type"] == "mAsset" and value["mAsset"] is not None:
            return self._fits_assets(value, node)
        return self.compare(value, wanted, node)

    # --- lists -------------------------------------------------------------------------------------------------
    def _fits_rollup(self, value: Json, node: Json, item_id: str) -> bool:
        key = self.database.key(value["keyID"])
        if key is None:
            return False
        related = gather(self.place, self.database, key, item_id, value, self.sources.get(key["id"]))
        if related is None:
            return False
        contents = value["rollup"]["contents"] or []
        if node["operator"] in (IS_EMPTY, IS_NOT_EMPTY):
            is_lacking = len(contents) < len(related["relation"]["contents"] or ())
            return _fits_emptiness(node, [content_of(one) is None for one in contents], is_lacking=is_lacking)
        wanted = node["value"]["rollup"]["contents"]
        if not wanted or self._is_unsaid(wanted[0], node):
            return True
        return _quantified(node, (self.compare(one, wanted[0], node) for one in contents))

    def _is_unsaid(self, wanted: Json, node: Json) -> bool:
        if node["relativeDate"] is not None and wanted["type"] in _TIMES:
            return False
        return content_of(wanted) is None

    def _fits_relation(self, value: Json, node: Json) -> bool:
        named = node["value"]["relation"]["blockIDs"]
        if not named:
            return True
        wanted = made(VALUE, type="block", block={"content": named[0]})
        results = [self.compare(one, wanted, node) for one in value["relation"]["contents"] or ()]
        return all(results) if node["operator"] == LACKS else any(results)

    def _fits_assets(self, value: Json, node: Json) -> bool:
        assets = value["mAsset"]
        if node["operator"] in (IS_EMPTY, IS_NOT_EMPTY):
            blanks = [not (one["name"].strip() or one["content"].strip()) for one in assets]
            return _fits_emptiness(node, blanks, is_lacking=False)
        wanted = node["value"]["mAsset"]
        if not wanted:
            return True
        text = wanted[0]["content"]

        def fits(asset: Json) -> bool:
            said = [asset["content"]] if asset["type"] == "image" else [asset["name"], asset["content"]]
            return any(self.compare_texts(node["operator"], one, text) for one in said)

        return _quantified(node, (fits(one) for one in assets if one["type"] in ("image", "file")))

    # --- single values -----------------------------------------------------------------------------------------
    def compare(self, value: Json, wanted: Json | None, node: Json) -> bool:
        """Whether a value fits an operator and what it is compared with."""
        operator, kind = node["operator"], value["type"]
        if operator in (IS_EMPTY, IS_NOT_EMPTY):
            return is_empty(value) is (operator == IS_EMPTY)
        own = content_of(value)
        other = None if wanted is None else wanted.get(member_of(kind) or "id")
        if own is None:
            return False
        match kind:
            case "date" | "created" | "updated":
                return self._compare_times(kind, own, other, node)
            case "checkbox":
                return _compare_boxes(operator, own["checked"], None if other is None else other["checked"])
            case "select" | "mSelect":
                return _compare_names(operator, own, other)
            case "number":
                return other is not None and _compare_numbers(operator, own, other)
            case "template":
                return other is not None and _compare_templates(operator, own["content"], other["content"])
            case "block" | "text" | "url" | "email" | "phone":
                return other is not None and self.compare_texts(operator, own["content"], other["content"])
            case "relation":
                return self._compare_first(own, other, operator)
            case "mAsset":
                return bool(own) and bool(other) and _compare_names(operator, own, other)
            case _:
                return False

    def _compare_first(self, own: Json, other: Json | None, operator: str) -> bool:
        contents, named = own["contents"], (other or {}).get("blockIDs")
        if not contents or not named or contents[0]["block"] is None:
            return False
        return self.compare_texts(operator, contents[0]["block"]["content"], named[0])

    def _compare_times(self, kind: str, own: Json, other: Json | None, node: Json) -> bool:
        first = node["relativeDate"]
        if kind == "date":
            if other is not None and first is None and not other["isNotEmpty"]:
                return True
            if not own["isNotEmpty"]:
                return False
        moment = self.place.moment
        if first is not None:
            second = node["relativeDate2"] or first
            return fits_relative(moment.local(own["content"]), node["operator"], first, second, moment)
        if other is None:
            return True
        return fits_day(own["content"], node["operator"], other["content"], other["content2"], moment)

    def compare_texts(self, operator: str, text: str, wanted: str) -> bool:
        """Compare texts as the search settings say; nothing to compare with lets everything pass. They have no order."""
        if operator in (">", ">=", "<", "<="):
            return False
        if not self.place.is_case_sensitive:
            text, wanted = text.lower(), wanted.lower()
        return _compare_templates(operator, text, wanted)


def _quantified(node: Json, results: Iterable[bool]) -> bool:
    if node["quantifier"] in ANY:
        return any(results)
    return all(results) if node["quantifier"] == "All" else not any(results)


def _fits_emptiness(node: Json, blanks: list[bool], *, is_lacking: bool) -> bool:
    """``Is empty`` and ``Is not empty`` over a list, of which an entry may be blank, or missing altogether."""
    quantifier = "Any" if node["quantifier"] in ANY else node["quantifier"]
    wants_empty = bool(node["operator"] == IS_EMPTY)
    if not blanks:
        return wants_empty is bool(quantifier != "None")
    match quantifier, wants_empty:
        case "Any", True:
            return is_lacking or any(blanks)
        case "Any", False:
            return not all(blanks)
        case "All", True:
            return not is_lacking and all(blanks)
        case "All", False:
            return not is_lacking and not any(blanks)
        case _, True:
            return is_lacking or not any(blanks)
        case _:
            return all(blanks)


def _compare_numbers(operator: str, own: Json, other: Json) -> bool:
    if not other["isNotEmpty"]:
        return True
    number, wanted = own["content"], other["content"]
    match operator:
        case "=":
            return bool(number == wanted and own["isNotEmpty"])
        case "!=":
            return bool(number != wanted or not own["isNotEmpty"])
        case ">":
            return bool(number > wanted)
        case ">=":
            return bool(number >= wanted)
        case "<":
            return bool(number < wanted)
        case "<=":
            return bool(number <= wanted)
        case _:
            return False


def _compare_boxes(operator: str, is_checked: bool, wanted: bool | None) -> bool:
    match operator:
        case "Is true" | "=":
            return is_checked if wanted is None else is_checked == wanted
        case "Is false":
            return not is_checked
        case "!=":
            return not is_checked if wanted is None else is_checked != wanted
        case _:
            return False


def _compare_names(operator: str, own: list[Json], other: list[Json] | None) -> bool:
    """Options, or assets, by their contents."""
    if not other:
        return True
    has_common = bool({one["content"] for one in own} & {one["content"] for one in other})
    if operator in ("=", CONTAINS):
        return has_common
    return operator in ("!=", LACKS) and not has_common


def _compare_templates(operator: str, text: str, wanted: str) -> bool:
    operators = ("=", "!=", ">", ">=", "<", "<=", CONTAINS, LACKS, "Starts with", "Ends with")
    if operator not in operators:
        return False
    if not wanted.strip():
        return True
    match operator:
        case "=":
            return text == wanted
        case "!=":
            return text != wanted
        case ">":
            return text > wanted
        case ">=":
            return text >= wanted
        case "<":
            return text < wanted
        case "<=":
            return text <= wanted
        case "Contains":
            return wanted in text
        case "Starts with":
            return text.startswith(wanted)
        case "Ends with":
            return text.endswith(wanted)
        case _:
            return wanted not in text

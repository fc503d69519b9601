"""What a database must hold before it is changed. The host stores a filter, an option or a relation under any id, and
answers success: what names a column, a row or a template that is not there is refused before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from kernel.errors import ToolError
from kernel.tools.av_base import carrier, database, key_of, on_database, row_ids
from kernel.tools.context import Arguments, ToolContext
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level

Database = Mapping[str, Any]
_COLUMNS_HINT: Final = 'av(action="get_attribute_view_keys") lists the columns.'
_SELECTS: Final = ("select", "mSelect")
_WRITE: Final = on_database(Level.WRITE)


def column(found: Database, key_id: str, *kinds: str) -> dict[str, Any]:
    """The column, of one of these kinds if any are named.

    Raises:
        ToolError: not_found or invalid_arguments.
    """
    key = key_of(found, key_id)
    if key is None:
        raise refusal(f"There is no column {key_id}.", "not_found", reason="key_not_found", hint=_COLUMNS_HINT)
    if kinds and key.get("type") not in kinds:
        words = f"Column {key_id} is of type {key.get('type')}, not {' or '.join(kinds)}."
        raise refusal(words, "invalid_arguments", reason="key_type_mismatch", hint=_COLUMNS_HINT)
    return key


def require_columns(found: Database, key_ids: Iterable[str]) -> None:
    """Raises ToolError (not_found) for the first column that is not there."""
    for key_id in key_ids:
        column(found, key_id)


def require_rows(found: Database, row_id_list: Iterable[str]) -> None:
    """Raises ToolError (not_found) unless all rows are there."""
    rows = row_ids(found)
    missing = [row for row in row_id_list if row not in rows]
    if missing:
        words = f"There are no rows {', '.join(missing)}."
        raise refusal(words, "not_found", reason="row_not_found", hint="Take row ids from av.render.")


def filtered_columns(filters: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The columns that the leaves of a tree of filters look at."""
    for one in filters:
        yield from filtered_columns(one.get("filters") or [])
        if one.get("column"):
            yield str(one["column"])


async def removable_column(context: ToolContext, arguments: Arguments) -> None:
    """For a strict write: the column is there, and is not the one that names the rows. Else the host answers."""
    await _WRITE(context, arguments)
    if not context.configuration.is_strict:
        return
    if column(await database(context, arguments["avID"]), arguments["keyID"]).get("type") == "block":
        raise refusal("The primary column cannot be removed.", "invalid_arguments", reason="primary_key")


async def column_with_options(context: ToolContext, arguments: Arguments) -> None:
    """The column has options, and no two of the new ones have one name."""
    await _WRITE(context, arguments)
    column(await database(context, arguments["avID"]), arguments["keyID"], *_SELECTS)
    names = [one["name"] for one in arguments["options"]]
    if len(names) != len(set(names)):
        raise refusal("Every option needs a name of its own.", "invalid_arguments", reason="duplicate_options")


async def relation_to(context: ToolContext, arguments: Arguments) -> None:
    """configure_two_way_relation: the column is a relation, and the database it is to point at may be written too."""
    await _WRITE(context, arguments)
    column(await database(context, arguments["avID"]), arguments["keyID"], "relation")
    await _require_writable(context, arguments["destinationAvID"], arguments.get("destinationBlockID"))


async def related_rows(context: ToolContext, arguments: Arguments) -> None:
    """set_relation: rows of both databases. A relation in two directions writes to the other one, too."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    relation = column(found, arguments["keyID"], "relation").get("relation") or {}
    require_rows(found, [arguments["itemID"]])
    target = str(relation.get("avID") or "")
    if not target:
        if arguments["relatedItemIDs"]:
            raise refusal("This relation points at no database yet.", "conflict", reason="relation_not_configured")
        return
    require_rows(await database(context, target), arguments["relatedItemIDs"])
    if relation.get("isTwoWay"):
        await _require_writable(context, target, None)


async def rollup_over(context: ToolContext, arguments: Arguments) -> None:
    """configure_rollup: a rollup, over a relation, of a column that the related database has."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    column(found, arguments["keyID"], "rollup")
    relation = column(found, arguments["relationKeyID"], "relation").get("relation") or {}
    if not relation.get("avID"):
        raise refusal("This relation points at no database yet.", "conflict", reason="relation_not_configured")
    column(await database(context, str(relation["avID"])), arguments["destinationKeyID"])


async def known_template(context: ToolContext, arguments: Arguments) -> None:
    """create_from_template: the database has the template."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    if all(one.get("id") != arguments["templateID"] for one in templates_of(found)):
        words = f"There is no template {arguments['templateID']}."
        raise ToolError(
            "not_found", words, type="internal_error", reason="template_not_found", hint="av.get lists them."
        )


def templates_of(found: Database) -> list[dict[str, Any]]:
    """The templates for new rows of a stored database."""
    stored = found.get("newItemTemplates")
    if isinstance(stored, dict):
        stored = stored.get("templates")
    return list(stored or [])


async def _require_writable(context: ToolContext, av_id: str, block_id: str | None) -> None:
    shown = await carrier(context, av_id, block_id)
    await context.require(shown.notebook, Level.WRITE)

"""/api/query: SQL statements of users."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError, EmptyAnswer
from kernel.siyuan.notes_index import read_in_thread
from kernel.workspace.index import statements

if TYPE_CHECKING:
    import apsw

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


async def sql(call: Call) -> Any:
    """Rows of one statement (siyuan-api C8)."""
    statement = call.arguments.required_str("stmt")
    mode = call.arguments.optional_str("mode")
    try:
        statements.check(statement, mode)
        limit = int(call.kernel.workspace.conf.section("search").get("limit", statements.ROWS_DEFAULT))
        return await read_in_thread(
            call.kernel,
            partial(_run, statement, mode, limit),
            with_texts="_fts" in statement.lower(),
            is_light=statements.is_light(statement),
        )
    except statements.StatementRefused as error:
        raise ApiError(str(error)) from error
    except statements.StatementFailed as error:
        raise ApiError(str(error), 1) from error
    except statements.Unencodable as error:
        raise EmptyAnswer from error


def _run(statement: str, mode: str, limit: int, reader: apsw.Connection) -> list[dict[str, Any]] | None:
    return statements.run(reader, statement, mode, limit)


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/query/sql": sql}

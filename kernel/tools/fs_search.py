"""fs.search: lines of exported Markdown that hold a text. Patterns are bounded before they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _parser  # type: ignore[attr-defined]  # the only way to look at a pattern before it runs
from typing import Any, Final

from kernel.tools.context import Arguments, ToolContext
from kernel.tools.doc_tree import TreeWalk
from kernel.tools.failures import refusal
from kernel.tools.fs_paths import Place, resolve
from kernel.tools.fs_virtual import about, text_of
from kernel.tools.limits import FS_SEARCH_LINE_CHARS_MAX, FS_SEARCH_PATTERN_CHARS_MAX, REGEX_LINE_CHARS_MAX
from kernel.tools.results import page_of
from kernel.tools.windows import clean

Matcher = Callable[[str], bool]
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


async def search(context: ToolContext, arguments: Arguments) -> Any:
    place = await resolve(context, arguments["path"])
    matches = matcher(arguments["query"], is_regex=arguments["regex"], is_cased=arguments["caseSensitive"])
    asked = {"query": arguments["query"], "regex": arguments["regex"], "caseSensitive": arguments["caseSensitive"]}
    extra: dict[str, Any] = {}
    hits: list[dict[str, Any]] = []
    if place.kind == "virtual":
        hits += _hits(place.path, text_of(context, place.path), matches)
        extra = about(context, place.path)
    else:
        for shown, block_id in context.progress.steps(await _documents(context, place), "Searched document"):
            data = await context.call("/api/export/exportMdContent", id=block_id)
            hits += _hits(shown, str((data or {}).get("content") or ""), matches)
    return page_of(hits, arguments["page"], arguments["pageSize"], path=place.path, **extra, **asked)


def matcher(query: str, *, is_regex: bool, is_cased: bool) -> Matcher:
    """Whether one line matches.

    Raises:
        ToolError: a pattern that is wrong, or one that might run for ever.
    """
    if not is_regex:
        wanted = query if is_cased else query.casefold()
        return lambda line: wanted in (line if is_cased else line.casefold())
    if len(query) > FS_SEARCH_PATTERN_CHARS_MAX:
        raise refusal(f"A pattern has at most {FS_SEARCH_PATTERN_CHARS_MAX} characters.", "too_large")
    try:
        pattern = re.compile(query, 0 if is_cased else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise refusal(f"The pattern is not valid: {error}.", "invalid_arguments") from error
    if _may_explode(_parser.parse(query), is_repeated=False):
        raise refusal(
            "The pattern repeats a repetition, which can take for ever.",
            "invalid_arguments",
            hint="Write it without nested * or +.",
        )
    return lambda line: pattern.search(line[:REGEX_LINE_CHARS_MAX]) is not None


def _may_explode(parsed: Any, *, is_repeated: bool) -> bool:
    """Whether a variable repetition stands inside another: the shape whose backtracking is exponential."""
    for operator, value in parsed:
        name = str(operator)
        if name in _REPEATS:
            low, high, inner = value
            varies = high != low and high != 1
            if (varies and is_repeated) or _may_explode(inner, is_repeated=is_repeated or varies):
                return True
        elif any(_may_explode(inner, is_repeated=is_repeated) for inner in _parts(value)):
            return True
    return False


def _parts(value: Any) -> Iterator[Any]:
    """The sub-patterns of one element of a parsed pattern."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)


async def _documents(context: ToolContext, place: Place) -> list[tuple[str, str]]:
    """Path and id of the documents at and below a place, from the live tree."""
    if place.kind == "root":
        found = []
        for notebook in await context.notebooks():
            if context.readable(notebook["id"]) and not notebook.get("closed"):
                inside = Place("notebook", f"/{notebook['name']}", notebook["id"], str(notebook["name"]))
                found += await _documents(context, inside)
        return found
    # A notebook has a document of its own, by its own id.
    own = {"document": (place.path, place.id), "notebook": (f"{place.path}/{place.notebook_name}", place.notebook)}
    found = [own[place.kind]]

    def collect(row: Any, children: Any, shown_path: str) -> dict[str, Any]:
        return {"path": f"{shown_path.rstrip('/')}/{row.get('name')}", "id": row.get("id"), "children": children}

    walk = TreeWalk(context, place.notebook, 1 << 20, collect)
    waiting = list(reversed(await walk.below(place.stored, place.path)))
    while waiting:
        node = waiting.pop()
        found.append((node["path"], node["id"]))
        waiting.extend(reversed(node["children"]))
    return found


def _hits(shown: str, text: str, matches: Matcher) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(clean(text).split("\n"), 1):
        if matches(line):
            hit: dict[str, Any] = {"path": shown, "line": number, "text": line[:FS_SEARCH_LINE_CHARS_MAX]}
            if len(line) > FS_SEARCH_LINE_CHARS_MAX:
                hit |= {"textTruncated": True, "originalTextLength": len(line)}
            yield hit

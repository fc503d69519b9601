"""/api/snippet: CSS and JS snippets, all in one file (siyuan-api A13; kernel-facts 27)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.stored_json import StoredJsonInvalid, store, stored
from kernel.workspace.conf_shapes import record
from kernel.workspace.go_struct import ListOf

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

PATH: Final = "data/snippets/conf.json"
BAD_CSS: Final = "invalid css snippet content"
_SNIPPETS: Final = ListOf(
    record("conf.Snippet", "text: id name type\nbool: enabled disabledInPublish\ntext: content"), is_optional=True
)
DISABLED: Final = 0
ALL: Final = 2


def get_snippet(call: Call) -> Any:
    """Those of a type (or ``all``) that are on (1), off (0), or either (2)."""
    wanted = call.arguments.required_str("type")
    enabled = call.arguments.required_number("enabled")
    keyword = call.arguments.optional_str("keyword").strip().lower()
    found = [
        one
        for one in _load(call, "load snippets failed: ")
        if wanted in ("all", one["type"])
        and (enabled == ALL or one["enabled"] == (int(enabled) != DISABLED))
        and (not keyword or keyword in one["name"].lower() or keyword in one["content"].lower())
    ]
    return {"snippets": found}


def set_snippet(call: Call) -> Any:
    """Replace all. One without all its members stores nothing; only an empty id gets a new one."""
    snippets = [_given(call, one) for one in call.arguments.raw_list("snippets")]
    store(call.kernel.workspace.files, PATH, _SNIPPETS, snippets or None)


def remove_snippet(call: Call) -> Any:
    """Remove one and give it back; null where there is none."""
    snippet_id = call.arguments.required_str("id")
    snippets = _load(call, "remove snippet failed: ")
    gone = next((one for one in snippets if one["id"] == snippet_id), None)
    left = [one for one in snippets if one is not gone]
    store(call.kernel.workspace.files, PATH, _SNIPPETS, left)
    return gone


def _given(call: Call, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Panic("snippets")
    snippet: dict[str, Any] = {"disabledInPublish": False}
    for name, kind in (("id", str), ("name", str), ("type", str), ("content", str), ("enabled", bool)):
        snippet[name] = _member(given, name, kind)
    if given.get("disabledInPublish") is not None:
        snippet["disabledInPublish"] = _member(given, "disabledInPublish", bool)
    snippet["id"] = snippet["id"] or call.kernel.workspace.new_id()
    content = snippet["content"].lower()
    if snippet["type"] == "css" and ("</style" in content or "<script" in content):
        raise ApiError(BAD_CSS)
    return snippet


def _member(given: dict[str, Any], name: str, kind: type) -> Any:
    if not isinstance(given.get(name), kind):
        raise Panic(name)
    return given[name]


def _load(call: Call, failure: str) -> list[dict[str, Any]]:
    files = call.kernel.workspace.files
    try:
        snippets = [one for one in stored(files, PATH, _SNIPPETS) or [] if one is not None]
    except StoredJsonInvalid as error:
        raise ApiError(f"{failure}{error}") from error
    if any(not one["id"] for one in snippets):
        for one in snippets:
            one["id"] = one["id"] or call.kernel.workspace.new_id()
        store(files, PATH, _SNIPPETS, snippets)
    return snippets


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/snippet/getSnippet": get_snippet,
    "/api/snippet/setSnippet": set_snippet,
    "/api/snippet/removeSnippet": remove_snippet,
}

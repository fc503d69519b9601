"""What a result looks like: one JSON line, or text for people. Results go to standard output, all else to the error one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from kernel.cli import tables

if TYPE_CHECKING:
    from kernel.delegate.messages import Refused
    from kernel.tools.registry import Action

# The one member that is the answer itself; the rest is shown below it, on the error stream.
_BODIES: Final = ("markdown", "kramdown", "content", "text", "tree")
_LIST_ITEMS_SHOWN_MAX: Final = 50
_QUIET: Final = frozenset({"uiRefresh", "iconHint", "success", "action", "safety", "validateOnly"})
_PLAIN: Final = frozenset({"value", "safety"})
# A replay has nothing but its safety, at both places.
_SAFETY: Final = frozenset(
    {
        "requestId",
        "writeSafetyMode",
        "writeSafetyGuaranteed",
        "writeAttempted",
        "writeExecuted",
        "replayed",
        "transactionState",
        "previousHash",
        "resultHash",
    }
)
# What to do next, in the words of the command line.
_NEXT_STEPS: Final[dict[str, str]] = {
    "precondition_required": "Say --validate-only first, and then the command that it prints; or --yes for both at once.",
    "preflight_lease_invalid": "Say --validate-only again, and then the command that it prints; or --yes for both at once.",
    "dangerous_action_requires_confirmation": "Ask its user; if they agree, say it again with --confirm.",
}


class Display:
    """Standard output and standard error of one command."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json

    def note(self, words: str) -> None:
        """A word beside the result."""
        click.echo(words, err=True)

    def result(self, action: Action, result: Mapping[str, Any]) -> None:
        """A tool's result."""
        told = result.get("structuredContent")
        if self.is_json:
            print_json(told if isinstance(told, dict) else {"content": result.get("content")})
        elif result.get("isError"):
            self._failure(told if isinstance(told, dict) else {}, _text(result))
        elif isinstance(told, dict) and set(told) <= _PLAIN and isinstance(told.get("value"), str):
            # A foreign tool's answer: its own text says it without the wrapping.
            click.echo(_text(result))
            self._safety(told)
        elif isinstance(told, dict):
            self._success(action, told)
        else:
            click.echo(_text(result))

    def preflight(self, action: Action, told: Mapping[str, Any]) -> None:
        """What a safe write would do, before it is agreed to."""
        field = told.get("preconditionField")
        count = told.get("targetCount")
        words = [f"{action.key} can be written"]
        if isinstance(count, int):
            words.append(f"{count} target" + ("" if count == 1 else "s"))
        words.append(f"request id {told.get('requestId')}")
        if field:
            words.append(f"{field} {told.get(field)}")
        self.note(", ".join(words) + f", until {_clock(told.get('requestIdExpiresAt'))}.")

    def refusal(self, error: Refused) -> None:
        """A JSON-RPC error: the call itself was not understood."""
        if self.is_json:
            print_json({"error": dict(error.error or {"message": str(error)})})
        else:
            self.note(f"The coordinator refused the call: {error}")

    def _failure(self, told: Mapping[str, Any], text: str) -> None:
        error = told.get("error")
        if not isinstance(error, dict):
            self.note(text or "The call failed.")
            return
        self.note(click.style(f"{error.get('code')}: ", fg="red") + str(error.get("message")))
        for one in error.get("fields") or ():
            self.note(f"  {one.get('path') or '(call)'}: {one.get('message')}")
        code = str(error.get("code"))
        for words in (error.get("hint"), _NEXT_STEPS.get(code, error.get("nextStep"))):
            if words:
                self.note(f"  {words}")
        if error.get("taskId"):
            self.note(f"  Ask for it: sisyphus-kernel task result {error['taskId']}")

    def _success(self, action: Action, told: Mapping[str, Any]) -> None:
        if told.get("validateOnly") is True:
            self.preflight(action, told)
            return
        quiet = _QUIET | _SAFETY if told.get("replayed") else _QUIET
        shown = {key: value for key, value in told.items() if key not in quiet}
        body = next((key for key in _BODIES if isinstance(shown.get(key), str)), None)
        if body is not None:
            click.echo(shown.pop(body))
        if tables.is_terminal():
            for key in [key for key, value in shown.items() if tables.columns_of(value)]:
                rows = shown.pop(key)
                tables.print_table("" if key == "value" else key, tables.columns_of(rows), rows)
        if set(shown) == {"value"}:
            click.echo("\n".join(_lines(shown["value"], "")))
        elif shown:
            click.echo("\n".join(_lines(shown, "")), err=body is not None)
        self._safety(told)

    def _safety(self, told: Mapping[str, Any]) -> None:
        safety = told.get("safety")
        if isinstance(safety, dict):
            self.note(_safety_words(safety))


def print_json(value: Any) -> None:
    """One line on standard output, in UTF-8 whatever the console's encoding is."""
    click.echo(json_line(value).encode())


def json_line(value: Any) -> str:
    """One line of JSON, readable where it can be; half a surrogate pair cannot be printed, and is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _safety_words(safety: Mapping[str, Any]) -> str:
    if safety.get("writeSafetyGuaranteed"):
        words = f"{safety.get('transactionState')}, request id {safety.get('requestId')}"
        if safety.get("replayed"):
            words += ", told from the ledger: nothing was written this time"
        return words
    return "done, without a guarantee" + (f" ({safety['reason']})" if safety.get("reason") else "")


def _lines(value: Any, indent: str) -> Iterator[str]:
    """Nested values as indented lines."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list) and item:
                yield f"{indent}{key}:"
                yield from _lines(item, indent + "  ")
            else:
                yield f"{indent}{key}: {_scalar(item)}"
    elif isinstance(value, list):
        for item in value[:_LIST_ITEMS_SHOWN_MAX]:
            yield from _item(item, indent)
        if len(value) > _LIST_ITEMS_SHOWN_MAX:
            yield f"{indent}… and {len(value) - _LIST_ITEMS_SHOWN_MAX} more (--json shows all)"
    else:
        yield f"{indent}{_scalar(value)}"


def _item(item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, dict) and item:
        first = True
        for line in _lines(item, ""):
            yield f"{indent}{'- ' if first else '  '}{line}"
            first = False
    else:
        yield f"{indent}- {_scalar(item)}"


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(result: Mapping[str, Any]) -> str:
    items = result.get("content")
    parts = [str(one["text"]) for one in items if "text" in one] if isinstance(items, list) else []
    return "\n".join(parts)


def _clock(wall_ms: Any) -> str:
    if not isinstance(wall_ms, int):
        return "it expires"
    return f"{datetime.fromtimestamp(wall_ms / 1000, tz=UTC).astimezone():%H:%M:%S}"

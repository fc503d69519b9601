"""What a delegate says and hears: stateless MCP requests, control requests, answers as JSON or events. Does no I/O."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kernel.json_text import read_json

VERSION: Final = "2026-07-28"
META: Final = "io.modelcontextprotocol/"
META_TASK: Final = "io.siyuan.sisyphus/taskId"
# The kernel's own question before a dangerous action, and the field of its form.
QUESTION: Final = "dangerous-action-confirmation"
FIELD: Final = "confirm"
_ACCEPT: Final = "application/json, text/event-stream"
_NAMED_BY: Final = ("name", "uri", "taskId")
_INTERNAL_ERROR: Final = -32603
# Refused before any tool could run; 5xx may come from behind one, but 503 says that it did not begin.
_REFUSED: Final = frozenset({400, 401, 403, 404, 405, 406, 408, 411, 413, 415, 421, 429, 431, 503})


class AnswerLost(Exception):
    """The request may have been carried out, and there is no answer."""


class Refused(Exception):
    """The coordinator did not take the request: nothing was carried out. ``error``: its JSON-RPC error, if it sent one."""

    def __init__(self, message: str, status: int, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error


@dataclass(frozen=True, slots=True)
class Post:
    """One request to be sent: path below the origin, headers, body."""

    path: str
    headers: dict[str, str]
    body: bytes


def rpc(route: str, request_id: Any, method: str, params: Mapping[str, Any]) -> Post:
    """One stateless request; a ``_meta`` that ``params`` bring stands, with what it lacks added."""
    own = params.get("_meta")
    meta = {
        f"{META}protocolVersion": VERSION,
        f"{META}clientCapabilities": {},
        **(own if isinstance(own, dict) else {}),
    }
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}}
    headers = {
        "Content-Type": "application/json",
        "Accept": _ACCEPT,
        "MCP-Protocol-Version": header_value(str(meta[f"{META}protocolVersion"])),
        "Mcp-Method": method,
    }
    name = next((params[key] for key in _NAMED_BY if isinstance(params.get(key), str)), None)
    if name is not None:
        headers["Mcp-Name"] = header_value(name)
    return Post(f"{route}/mcp", headers, json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def header_value(text: str) -> str:
    """A header value as it is, or in the protocol's base64 wrapping where a header could not carry it."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def control(route: str, task_id: str, operation: str) -> Post:
    """One control request about a call (R229)."""
    body = json.dumps({"taskId": task_id, "operation": operation}).encode()
    return Post(f"{route}/tasks", {"Content-Type": "application/json", "Accept": "application/json"}, body)


class EventReader:
    """Server-sent events, piece by piece: the JSON messages of every whole event. Keep-alive comments say nothing."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Any]:
        """The messages that have become whole; what is no JSON is left out."""
        messages: list[Any] = []
        # Only the new piece is looked through: one long line comes in hundreds of them.
        if b"\n" not in piece:
            self._rest += piece
            return messages
        *lines, rest = bytes(self._rest + piece).split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if text.startswith("data:"):
                self._data.append(text[5:].removeprefix(" "))
            elif not text and self._data:
                whole, self._data = "\n".join(self._data), []
                try:
                    messages.append(read_json(whole))
                except ValueError:
                    continue
        return messages


def is_answer(message: Any, request_id: Any) -> bool:
    """Whether a message is the response to that request (5 and "5" are two ids)."""
    if not isinstance(message, dict) or "method" in message or not ("result" in message or "error" in message):
        return False
    found = message.get("id")
    return found == request_id and type(found) is type(request_id)


def read_message(body: bytes) -> Any:
    """A JSON body; None where it is none."""
    try:
        return read_json(body)
    except ValueError:
        return None


def result_of(status: int, message: Any, request_id: Any) -> dict[str, Any]:
    """The result in an answer.

    Raises:
        Refused: nothing was carried out.
        AnswerLost: it may have been.
    """
    if is_answer(message, request_id) and isinstance(message.get("result"), dict):
        return dict(message["result"])
    error = message.get("error") if isinstance(message, dict) else None
    if isinstance(error, dict):
        words = str(error.get("message") or "no message")
        if error.get("code") == _INTERNAL_ERROR and status not in _REFUSED:
            raise AnswerLost(words)
        raise Refused(words, status, error)
    if status in _REFUSED:
        raise Refused(_words(status, message), status)
    raise AnswerLost(f"HTTP {status} without a result")


def _words(status: int, message: Any) -> str:
    told = (message.get("message") or message.get("msg")) if isinstance(message, dict) else None
    return f"HTTP {status}: {told}" if told else f"HTTP {status}"


def question_of(result: Mapping[str, Any]) -> str | None:
    """The words of the kernel's confirmation form; None where the result asks nothing, or something else."""
    if result.get("resultType") != "input_required":
        return None
    requests = result.get("inputRequests")
    asked = requests.get(QUESTION) if isinstance(requests, dict) else None
    if not isinstance(asked, dict) or asked.get("method") != "elicitation/create":
        return None
    params = asked.get("params")
    return str(params.get("message") or "") if isinstance(params, dict) else ""


def answered(params: Mapping[str, Any], result: Mapping[str, Any], action: str) -> dict[str, Any]:
    """The same call with the answer to its question: ``accept``, ``decline`` or ``cancel`` (R134)."""
    response: dict[str, Any] = {"action": action}
    if action == "accept":
        response["content"] = {FIELD: True}
    return {**params, "inputResponses": {QUESTION: response}, "requestState": result.get("requestState")}

"""What both example clients share: a modern-era MCP client of forty lines on the standard library alone."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"


class NoAnswer(Exception):
    """The connection ended, or the time was over, before the answer was whole."""


class Refused(Exception):
    """An HTTP error. ``retry_after_s``: what it asks for; None if it asks for nothing."""

    def __init__(self, status: int, text: str, retry_after_s: float | None) -> None:
        super().__init__(f"HTTP {status} {text[:100]}")
        self.status = status
        self.retry_after_s = retry_after_s


class Client:
    """Calls tools. ``timeout_s`` None: it waits for ever."""

    def __init__(self, url: str, timeout_s: float | None) -> None:
        parts = urlsplit(url)
        self.address = parts.hostname, parts.port
        self.path = parts.path
        self.timeout_s = timeout_s
        self.calls = 0

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured result, a success or a tool's error. Raises NoAnswer, Refused."""
        self.calls += 1
        meta = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": {}}
        params = {"name": name, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": name}
        host, port = self.address
        connection = http.client.HTTPConnection(host or "", port, timeout=self.timeout_s)
        try:
            connection.request("POST", self.path, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(str(error) or type(error).__name__) from None
        finally:
            connection.close()  # in this era closing the connection is the cancel
        if answer.status >= 400 and "jsonrpc" not in text:
            retry = answer.headers.get("Retry-After")
            raise Refused(answer.status, text, None if retry is None else float(retry))
        message = self._message(text, self.calls)
        if "error" in message:
            raise Refused(answer.status, json.dumps(message["error"]), None)
        return dict(message["result"]["structuredContent"])

    @staticmethod
    def _message(text: str, number: int) -> dict[str, Any]:
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")] or [text]
        for line in lines:
            try:
                message = json.loads(line)
            except json.JSONDecodeError:
                continue
            if message.get("id") == number:
                return dict(message)
        raise NoAnswer("the answer is not whole")


def credential(preflight: dict[str, Any]) -> dict[str, Any]:
    """What the commit copies from its preflight."""
    field = preflight.get("preconditionField")
    return {"requestId": preflight["requestId"], **({field: preflight[field]} if field else {})}

"""A client's story for the judge: calls and answers in order, without a wire."""

from __future__ import annotations

import json
from math import inf
from typing import Any

from kernel.lab.exchanges import Exchange
from kernel.lab.verdicts import ClientRun, Evidence, LedgerRow

BLOCK = {"action": "update", "id": "b", "dataType": "markdown", "data": "new"}


class Story:
    """Adds exchanges a second apart; ``evidence`` is what the judge gets."""

    def __init__(self, *, session: str | None = None) -> None:
        self.exchanges: list[Exchange] = []
        self.session = session
        self.now_s = 0.0

    def exchange(self, body: dict[str, Any], *, method: str = "POST") -> Exchange:
        headers = {} if self.session is None else {"mcp-session-id": self.session}
        found = Exchange(len(self.exchanges) + 1, 1, self.now_s, method, "/mcp", headers, json.dumps(body).encode())
        found.is_request_whole = True
        self.exchanges.append(found)
        self.now_s += 1
        return found

    def call(self, tool: str = "block", **arguments: Any) -> Exchange:
        number = len(self.exchanges) + 1
        return self.exchange({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    # --- answers ---

    def answered(self, exchange: Exchange, result: dict[str, Any], *, after_s: float = 0.5) -> Story:
        exchange.status, exchange.answer_headers = 200, {"content-type": "application/json"}
        exchange.answer = json.dumps({"id": json.loads(exchange.body)["id"], "result": result}).encode()
        exchange.is_whole, exchange.ended_s = True, exchange.sent_s + after_s
        return self

    def ok(self, exchange: Exchange, **facts: Any) -> Story:
        return self.answered(exchange, {"structuredContent": facts})

    def error(self, exchange: Exchange, code: str, **facts: Any) -> Story:
        return self.answered(exchange, {"isError": True, "structuredContent": {"error": {"code": code, **facts}}})

    def lost(self, exchange: Exchange, by: Any = "kernel") -> Story:
        exchange.ended_by, exchange.ended_s = by, exchange.sent_s + 0.5 if by else inf
        return self

    def http(self, exchange: Exchange, status: int, **headers: str) -> Story:
        exchange.status, exchange.is_whole, exchange.ended_s = status, True, exchange.sent_s + 0.5
        exchange.answer_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self

    # --- usual calls ---

    def read(self) -> Exchange:
        return self.call(action="get_kramdown", id="b")

    def preflight(self) -> Exchange:
        return self.call(**BLOCK, validateOnly=True)

    def commit(self, request_id: str) -> Exchange:
        return self.call(**BLOCK, requestId=request_id, expectedStateHash="abcd")

    def plain(self) -> Exchange:
        return self.call("file", action="upload_asset", path="/x")

    def evidence(self, exit_code: int | None = 0, *, struck: int = 1, begun: str = "", **more: Any) -> Evidence:
        rows = [LedgerRow(name, "committed", "block", "update", "d") for name in begun.split()]
        run = more.pop("run", None) or ClientRun(exit_code)
        return Evidence(self.exchanges, run, struck, rows, **more)

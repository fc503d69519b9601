"""The kernel's /api over HTTP, in its plainest form: JSON bodies in, envelopes out."""

from __future__ import annotations

import json

import msgspec

from kernel.limits import API_JSON_BODY_BYTES_MAX
from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, UnknownRoute, dispatch
from kernel.siyuan.kernel import Call, SiyuanKernel
from kernel.wire import JSON_UTF8, Answer, Exchange, Request, Response, Route


class KernelSurface:
    def __init__(self, kernel: SiyuanKernel) -> None:
        self._kernel = kernel
        self._route = Route("/api/*", frozenset({"GET", "POST"}), self._handle, API_JSON_BODY_BYTES_MAX)

    def authorize(self, request: Request) -> Response | None:
        return None

    def resolve(self, head: object) -> Route | Answer:
        return self._route

    async def _handle(self, exchange: Exchange) -> Answer:
        request = exchange.request
        arguments = json.loads(request.body) if request.body else {}
        try:
            answer = await dispatch(Call(self._kernel, request.path, Arguments(arguments)))
        except UnknownRoute:
            return Response(404, (("Content-Type", "text/plain"),), b"404 page not found")
        if isinstance(answer, Envelope):
            body = msgspec.json.encode({"code": answer.code, "msg": answer.msg, "data": answer.data})
            return Response(200, (("Content-Type", JSON_UTF8),), body)
        return Response(answer.status, answer.headers, answer.body)

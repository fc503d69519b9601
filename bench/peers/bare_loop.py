"""A peer: the least a server on Trio and h11 can do for a trivial call, the yardstick L: ``bare_loop.py PORT``.

One task per connection, h11 both ways, one typed decode, one encode, one send. No router, no lanes, no tools.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import h11
import msgspec
import trio

_TYPE = ("Content-Type", "application/json")
_RESULT = {"content": [{"type": "text", "text": '{"version":"3.7.3"}'}], "structuredContent": {"version": "3.7.3"}}


class Call(msgspec.Struct):
    id: int
    method: str
    params: dict[str, Any]


_decode = msgspec.json.Decoder(Call).decode
_encode = msgspec.json.Encoder().encode


async def serve(sock: socket.socket) -> None:
    try:
        await answer_all(sock)
    except OSError:
        pass  # the client left
    finally:
        trio.lowlevel.notify_closing(sock)
        sock.close()


async def answer_all(sock: socket.socket) -> None:
    wire = h11.Connection(h11.SERVER)
    while True:
        body = b""
        while not isinstance(event := wire.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                await trio.lowlevel.wait_readable(sock)
                wire.receive_data(sock.recv(65536))
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.ConnectionClosed):
                return
        call = _decode(body)
        told = _encode({"jsonrpc": "2.0", "id": call.id, "result": {"resultType": "complete", **_RESULT}})
        headers = [_TYPE, ("Content-Length", str(len(told)))]
        out = wire.send(h11.Response(status_code=200, headers=headers)) or b""
        out += wire.send(h11.Data(data=told)) or b""
        out += wire.send(h11.EndOfMessage()) or b""
        sock.send(out)
        if wire.our_state is h11.MUST_CLOSE:
            return
        wire.start_next_cycle()


async def main(port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    listener.setblocking(False)
    async with trio.open_nursery() as nursery:
        while True:
            await trio.lowlevel.wait_readable(listener)
            sock, _ = listener.accept()
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            nursery.start_soon(serve, sock)


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))

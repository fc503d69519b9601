"""Broadcast channels: WebSockets that share a name, event streams beside them, and posts from outside (siyuan-api E2).

A channel exists while somebody listens to it. All synchronous: whoever posts never waits for a listener.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kernel.http.sse import EventStream, frame_event
from kernel.siyuan.outbox import Outbox

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

STATE_KEY: Final = "broadcast"


@dataclass(slots=True)
class Channel:
    """The listeners of one name."""

    sockets: dict[Outbox, None] = field(default_factory=dict)
    streams: dict[EventStream, int | None] = field(default_factory=dict)  # with the retry each one asked for

    @property
    def is_empty(self) -> bool:
        return not self.sockets and not self.streams


@dataclass(slots=True)
class Broadcast:
    """All channels of one kernel."""

    channels: dict[str, Channel] = field(default_factory=dict)
    # Streams that follow every channel.
    followers: dict[EventStream, int | None] = field(default_factory=dict)
    _events: int = 0

    # --- listening -------------------------------------------------------------------------------------------
    def join(self, name: str, outbox: Outbox) -> None:
        self._channel(name).sockets[outbox] = None

    def leave(self, name: str, outbox: Outbox) -> None:
        channel = self.channels.get(name)
        if channel is not None:
            channel.sockets.pop(outbox, None)
            self._prune(name)

    def subscribe(self, names: tuple[str, ...] | None, stream: EventStream, retry_ms: int | None) -> None:
        """``None`` follows every channel, also those that come later."""
        if names is None:
            self.followers[stream] = retry_ms
        for name in names or ():
            self._channel(name).streams[stream] = retry_ms

    def unsubscribe(self, names: tuple[str, ...] | None, stream: EventStream) -> None:
        if names is None:
            self.followers.pop(stream, None)
        for name in names if names is not None else tuple(self.channels):
            channel = self.channels.get(name)
            if channel is not None:
                channel.streams.pop(stream, None)
                self._prune(name)

    # --- posting ---------------------------------------------------------------------------------------------
    def count(self, name: str) -> int:
        """How many listen: its sockets, its streams and those that follow everything."""
        channel = self.channels.get(name)
        return 0 if channel is None else len(channel.sockets) + len(channel.streams) + len(self.followers)

    def reaches(self, name: str) -> bool:
        """Whether a post would be heard; it makes the channel where somebody follows all of them."""
        if name not in self.channels and self.followers:
            self._channel(name)
        return name in self.channels

    def post(self, name: str, message: str | bytes, *, sender: Outbox | None = None) -> None:
        """Send to every listener of a channel but the sender."""
        channel = self.channels.get(name)
        if channel is None:
            return
        self._events += 1
        for outbox in list(channel.sockets):
            if outbox is not sender:
                outbox.put(message)
        for stream, retry_ms in (*channel.streams.items(), *self.followers.items()):
            stream.publish(self._frame(name, message, retry_ms))

    def listing(self) -> list[dict[str, Any]]:
        return [{"name": name, "count": self.count(name)} for name in self.channels]

    def end(self) -> None:
        """End every stream and socket (shutdown)."""
        for channel in self.channels.values():
            for outbox in channel.sockets:
                outbox.end(1001, "")
        for stream in {*self.followers, *(stream for channel in self.channels.values() for stream in channel.streams)}:
            stream.end()

    # --- inside ----------------------------------------------------------------------------------------------
    def _channel(self, name: str) -> Channel:
        return self.channels.setdefault(name, Channel())

    def _prune(self, name: str) -> None:
        if self.channels[name].is_empty and not self.followers:
            del self.channels[name]

    def _frame(self, name: str, message: str | bytes, retry_ms: int | None) -> bytes:
        # Bytes cannot stand in an event stream; the kernel sends them as a JSON string of base64.
        text = message if isinstance(message, str) else f'"{base64.b64encode(message).decode()}"'
        channel = name.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "")
        data = text.replace("\r", "\\r")
        return frame_event(data, event=channel, id=str(self._events), retry_ms=retry_ms or None)


def broadcast_of(kernel: SiyuanKernel) -> Broadcast:
    """The channels of a kernel, made when first asked for."""
    found = kernel.state.get(STATE_KEY)
    if not isinstance(found, Broadcast):
        found = kernel.state[STATE_KEY] = Broadcast()
    return found

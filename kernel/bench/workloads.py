"""The workloads: what one operation is, as a conversation of bytes and answers. A table; does no I/O. [core]

An operation is a generator: it yields steps, is sent the answer to each, and returns its outcome. Latency counts from the
moment at which the operation was *intended*, so a server that stalls cannot hide the operations that it kept from starting.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple

from kernel.bench.calls import CANCELLED, FAILED, OK, Address, outcome_of, structured
from kernel.bench.wire import Reply


class Step(NamedTuple):
    """Bytes to send. ``kind``: a latency of its own, beside the operation's; ``abandon_after_s``: close unanswered."""

    data: bytes
    kind: str = ""
    abandon_after_s: float = 0.0


# The answer to an abandoned step is None.
Operation = Generator[Step, Reply | None, str]


@dataclass(frozen=True, slots=True)
class Place:
    """What the operations work on, as the preparation made it: block and document ids, words that are in them."""

    blocks: Sequence[str] = ()
    documents: Sequence[str] = ()
    words: Sequence[str] = ()
    large: str = ""
    tool: str = "system"
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"action": "get_version"})


class Work:
    """The operations of one connection. ``begin`` gives the next with the name of its kind."""

    def __init__(self, name: str, address: Address, place: Place, connection: int, chance: Random) -> None:
        self.address = address
        self.place = place
        self.connection = connection
        self.chance = chance
        self.number = 0
        self._begin = WORKLOADS[name].begin
        self._trivial = Step(address.tool(place.tool, dict(place.arguments)))

    def begin(self) -> tuple[str, Operation]:
        self.number += 1
        return self._begin(self)

    def trivial(self) -> Operation:
        return _one(self._trivial)

    def own_block(self) -> str:
        """The block that only this connection writes."""
        return self.place.blocks[self.connection % len(self.place.blocks)]


def _one(step: Step) -> Operation:
    reply = yield step
    return FAILED if reply is None else outcome_of(reply)


def _trivial(work: Work) -> tuple[str, Operation]:
    return "trivial", work.trivial()


def _read(work: Work) -> tuple[str, Operation]:
    block = work.chance.choice(work.place.blocks)
    return "read", _one(Step(work.address.tool("block", {"action": "get_kramdown", "id": block})))


def _fulltext(work: Work) -> tuple[str, Operation]:
    arguments = {"action": "fulltext", "query": work.chance.choice(work.place.words), "pageSize": 16}
    return "fulltext", _one(Step(work.address.tool("search", arguments)))


def _mixed(work: Work) -> tuple[str, Operation]:
    return _safe_write(work) if work.chance.random() < WRITE_SHARE else _read(work)


def _safe_write(work: Work) -> tuple[str, Operation]:
    return "write", _preflight_and_commit(work)


def _preflight_and_commit(work: Work) -> Operation:
    """A safe write as a careful client makes it: preflight, then the write with what it was told."""
    text = f"written by connection {work.connection}, number {work.number}"
    write = {"action": "update", "id": work.own_block(), "dataType": "markdown", "data": text}
    told = yield Step(work.address.tool("block", {**write, "validateOnly": True}), "write.preflight")
    outcome = FAILED if told is None else outcome_of(told)
    if told is None or outcome != OK:
        return outcome
    answer = structured(told)
    name = answer["preconditionField"]
    credentials = {"requestId": answer["requestId"], name: answer[name]}
    done = yield Step(work.address.tool("block", {**write, **credentials}), "write.commit")
    return FAILED if done is None else outcome_of(done)


def _preflight(work: Work) -> tuple[str, Operation]:
    write = {"action": "update", "id": work.own_block(), "dataType": "markdown", "data": f"text {work.number}"}
    return "preflight", _one(Step(work.address.tool("block", {**write, "validateOnly": True})))


def _storm(work: Work) -> tuple[str, Operation]:
    if work.number % 2:
        return "abandoned", _abandoned(work)
    return _read(work)


def _abandoned(work: Work) -> Operation:
    """A read whose client leaves before the answer: in the modern era that is a cancel."""
    call = work.address.tool("block", {"action": "get_kramdown", "id": work.chance.choice(work.place.blocks)})
    reply = yield Step(call, "", work.chance.uniform(0.0005, ABANDON_S_MAX))
    return CANCELLED if reply is None else outcome_of(reply)


def _large(work: Work) -> tuple[str, Operation]:
    return "large", _one(Step(work.address.tool("block", {"action": "get_kramdown", "id": work.place.large})))


@dataclass(frozen=True, slots=True)
class Workload:
    """One row. ``host_delay_s``: how long the notes take for a read of a block; ``offers``: open-loop rate as a multiple
    of what the read lane can do at that delay, 0 where the caller says the rate; ``needs_notes``: only our kernel."""

    summary: str
    begin: Callable[[Work], tuple[str, Operation]]
    needs_notes: bool = True
    host_delay_s: float = 0.0
    offers: float = 0.0
    idle: int = 0
    connections_max: int = 10_000


WRITE_SHARE: Final = 0.1
ABANDON_S_MAX: Final = 0.015
OVERLOAD_DELAY_S: Final = 0.010
WORKLOADS: Final[dict[str, Workload]] = {
    "trivial": Workload("One tool that does next to nothing: what the way to a tool costs.", _trivial, False),
    "reads": Workload("The Kramdown of one block of many.", _read),
    "fulltext": Workload("A full-text search, 16 hits a page.", _fulltext),
    "mixed": Workload("Nine reads to one safe write.", _mixed),
    "writes": Workload("Safe writes: preflight, then commit; each connection writes its own block.", _safe_write),
    "preflights": Workload("Preflights alone: one visit to the mutation lane each.", _preflight),
    "cancels": Workload(
        "A cancel storm: every second read is abandoned by its client while the notes take 10 ms.",
        _storm,
        host_delay_s=OVERLOAD_DELAY_S,
    ),
    "overload": Workload(
        "Ten times what the read lane can carry while the notes take 10 ms.",
        _read,
        host_delay_s=OVERLOAD_DELAY_S,
        offers=10.0,
    ),
    "idle": Workload("The trivial tool while 10,000 further connections say nothing.", _trivial, False, idle=10_000),
    "large": Workload(
        "A document of about 1 MiB in one answer, over at most 2 connections.", _large, connections_max=2
    ),
}
# What is no conversation of one connection: see fanout.py.
FAN_OUT: Final = "fanout"
NAMES: Final = (*WORKLOADS, FAN_OUT)
SUMMARIES: Final = {
    **{name: workload.summary for name, workload in WORKLOADS.items()},
    FAN_OUT: "Server-sent events: each published message goes to 64 streams.",
}

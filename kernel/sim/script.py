"""[core] What happens in one world, drawn from its seed before it starts: clients, their operations, the mishaps.

A script holds no ids and no answers: an operation says "commit the third preflight there is", and what that means is
settled when it is done. So any part of a script is a script too, and a failing one can be made smaller.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal

from kernel.sim.limits import CLIENTS_MAX, CLIENTS_MIN, FAULTS_MAX, FAULTS_MIN, OPERATIONS_MAX, OPERATIONS_MIN

Era = Literal["modern", "handshake"]
Verb = Literal[
    "read",  # a block's text
    "list",  # tools/list, resources, /health: nothing of a lane
    "preflight",
    "commit",  # with the id of a preflight that nobody has committed
    "replay",  # with the id of a commit that has been answered
    "again",  # with the id of any preflight, whoever uses it at this moment
    "mislead",  # with an id and another call's arguments
    "cancel",  # what this client has in flight: by name, by task, or by leaving
    "cut",  # the connection of something in flight
    "close",  # the session ends
    "duplicate",  # the name of a call in flight, once more
    "edit",  # somebody else changes a block, past every check
    "dangerous",  # an action that asks first
    "listen",  # a stream of notifications, for a while
    "burst",  # more reads than may be admitted
]
_WEIGHTS: Final[dict[Verb, int]] = {
    "read": 8,
    "list": 2,
    "preflight": 12,
    "commit": 12,
    "replay": 4,
    "again": 4,
    "mislead": 1,
    "cancel": 6,
    "cut": 3,
    "close": 1,
    "duplicate": 2,
    "edit": 2,
    "dangerous": 1,
    "listen": 1,
}
MishapKind = Literal["rule", "crash-point", "disk-crash", "disk-refusal", "crash", "jump"]
_MISHAPS: Final[tuple[MishapKind, ...]] = ("rule", "rule", "crash-point", "disk-crash", "disk-refusal", "crash", "jump")
_HOST_PATHS: Final = (
    "/api/block/updateBlock",
    "/api/block/appendBlock",
    "/api/attr/setBlockAttrs",
    "/api/filetree/renameDocByID",
    "/api/block/getBlockKramdown",
    "/api/block/get*",
    "/api/file/getFile",
    "/api/*",
)
_WRITE_POINTS: Final = (
    "write.preflight.probed",
    "write.preflight.issued",
    "write.commit.checked",
    "write.commit.entered",
    "write.commit.begun",
    "write.commit.written",
    "write.commit.observed",
    "write.commit.settled",
    "ledger.issue.before",
    "ledger.issue.after",
    "ledger.begin.before",
    "ledger.begin.after",
    "ledger.settle.before",
    "ledger.settle.after",
)
_HTTP_POINTS: Final = ("http.accepted", "http.request.read", "http.answer.before", "http.answer.after")
# Below, at and above the bound of a commit; most are short.
_DELAYS_S: Final = (0.01, 0.05, 0.3, 2.0, 31.0, 40.0)
_JUMPS_S: Final = (30.0, 601.0, 1801.0, 604_801.0)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a client does. ``pick``: which of those there are; ``target``: which block or document."""

    number: int
    client: int
    verb: Verb
    pause_s: float
    target: int
    pick: int
    waits: bool  # for its answer, before the client goes on


@dataclass(frozen=True, slots=True)
class Mishap:
    """One thing that goes wrong. What the fields mean depends on the kind."""

    number: int
    kind: MishapKind
    at_s: float = 0.0
    point: str = ""
    do: str = ""
    nth: int = 1
    times: int = 1
    seconds: float = 0.0
    is_power_cut: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A whole world. ``order_seed`` decides whose turn it is, ``latency_s`` how slow the host is."""

    seed: int
    eras: tuple[Era, ...]
    operations: tuple[Operation, ...]
    mishaps: tuple[Mishap, ...]
    latency_s: float

    def only(self, operations: Collection[int] | None = None, mishaps: Collection[int] | None = None) -> Script:
        """The same world with these operations and mishaps alone (None: all)."""
        return replace(
            self,
            operations=tuple(one for one in self.operations if operations is None or one.number in operations),
            mishaps=tuple(one for one in self.mishaps if mishaps is None or one.number in mishaps),
        )


def write_script(seed: int) -> Script:
    """The world of a seed."""
    chance = random.Random(f"script {seed}")
    clients = chance.randint(CLIENTS_MIN, CLIENTS_MAX)
    eras: tuple[Era, ...] = tuple(chance.choice(("modern", "handshake")) for _ in range(clients))
    latency_s = chance.choice((0.0, 0.0, 0.002, 0.02, 0.2))
    return Script(seed, eras, _operations(chance, clients), _mishaps(chance), latency_s)


def _operations(chance: random.Random, clients: int) -> tuple[Operation, ...]:
    # Some verbs are left out of a world altogether: what is rare elsewhere is frequent there.
    verbs = [verb for verb in _WEIGHTS if verb in ("preflight", "commit") or chance.random() < 0.8]
    weights = [_WEIGHTS[verb] for verb in verbs]
    patience = chance.random()
    targets = chance.choice((1, 2, 6))
    count = chance.randint(OPERATIONS_MIN, OPERATIONS_MAX)
    operations = [
        Operation(
            number,
            chance.randrange(clients),
            chance.choices(verbs, weights)[0],
            chance.choice((0.0, 0.0, 0.001, 0.02, 0.3)),
            chance.randrange(targets),
            chance.randrange(1000),
            chance.random() < patience,
        )
        for number in range(count)
    ]
    if chance.random() < 0.03:
        operations[chance.randrange(count)] = replace(operations[0], number=count, verb="burst", waits=False)
    return tuple(operations)


def _mishaps(chance: random.Random) -> tuple[Mishap, ...]:
    return tuple(_mishap(chance, number) for number in range(chance.randint(FAULTS_MIN, FAULTS_MAX)))


def _mishap(chance: random.Random, number: int) -> Mishap:
    kind = chance.choice(_MISHAPS)
    is_power_cut = chance.random() < 0.6
    if kind == "rule":
        return _rule(chance, number)
    if kind == "crash-point":
        point, nth = chance.choice(_WRITE_POINTS), chance.randint(1, 6)
        return Mishap(number, kind, point=point, do="crash", nth=nth, is_power_cut=is_power_cut)
    if kind == "disk-crash":
        return Mishap(number, kind, nth=chance.randint(0, 250), is_power_cut=is_power_cut)
    if kind == "disk-refusal":
        return Mishap(
            number, kind, nth=chance.randint(0, 250), times=chance.choice((1, 3, 40)), do=chance.choice(("full", "io"))
        )
    if kind == "jump":
        return Mishap(number, kind, at_s=chance.uniform(0, 2), seconds=chance.choice(_JUMPS_S))
    return Mishap(number, kind, at_s=chance.uniform(0, 3), is_power_cut=is_power_cut)


def _rule(chance: random.Random, number: int) -> Mishap:
    where = chance.random()
    if where < 0.55:
        point = f"host.{chance.choice(('before', 'after'))}:{chance.choice(_HOST_PATHS)}"
        deeds = ["delay", "fail", "drop"]
    elif where < 0.85:
        point, deeds = chance.choice(_WRITE_POINTS), ["delay", "fail"]
    else:
        point, deeds = chance.choice(_HTTP_POINTS), ["delay", "drop"]
    return Mishap(
        number,
        "rule",
        point=point,
        do=chance.choice(deeds),
        nth=chance.randint(1, 12),
        times=chance.choice((1, 1, 3, 20)),
        seconds=chance.choice(_DELAYS_S),
    )

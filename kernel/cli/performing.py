"""One call from the command line: preflight, the person's word, commit, signals, saving. Returns the exit code.

A strict write is two calls with the same arguments. A person makes them as two commands (``--validate-only``, then the
command that it prints), as one that asks in between, or with ``--yes`` as one that does not ask. A pipe is never asked:
its call goes out as it is, and the coordinator says what is missing.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import trio

from kernel.cli.place import Place
from kernel.cli.showing import Display
from kernel.delegate.delegate import Delegate, ToolCall, error_result
from kernel.delegate.delegation import outcome_unknown, withdrawn
from kernel.delegate.front import Front
from kernel.delegate.messages import Refused
from kernel.errors import ToolError
from kernel.ids import SystemIds
from kernel.safety.intent import Precondition
from kernel.tools.registry import Action

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
_SIGNALS: Final = [signal.SIGINT, signal.SIGTERM]
# What the caller's own arguments are to blame for.
_USAGE_CODES: Final = frozenset({"validation_error", "invalid_arguments", "unknown_action", "unknown_tool"})
_STRICT_OFF: Final = "strict_mode_disabled"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a call shall be made. ``agrees``: to the write (``--yes``); ``confirms``: to the danger (``--confirm``).

    ``words``: the command as it was given, for the one that commits what it has checked.
    """

    is_json: bool = False
    is_preflight: bool = False
    agrees: bool = False
    confirms: bool = False
    request_id: str | None = None
    credentials: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def run_call(action: Action, arguments: dict[str, Any], place: Place, manner: Manner) -> int:
    """Make the call; the exit code."""
    display = Display(is_json=manner.is_json)
    person = _person()
    front = Front(Delegate(place.discovery(), SystemIds()), here=Path.cwd(), home=Path.home())
    performance = Performance(action, arguments, manner, front, display, person)
    return trio.run(performance.run)


def _person() -> Person | None:
    return Person() if sys.stdin.isatty() and sys.stderr.isatty() else None


class Person:
    """Whoever sits at the terminal. Blocks the loop: nothing else is going on while a question stands."""

    def agrees(self, words: str) -> str:
        """``accept``, ``decline``, or ``cancel`` for Ctrl-C and the end of input."""
        with _interruptible():
            try:
                return "accept" if click.confirm(words, default=False, err=True) else "decline"
            except (click.Abort, KeyboardInterrupt):
                click.echo(err=True)
                return "cancel"


@dataclass(slots=True)
class Performance:
    """One command's work."""

    action: Action
    arguments: dict[str, Any]
    manner: Manner
    front: Front
    display: Display
    person: Person | None
    cancel: trio.Event = field(default_factory=trio.Event)
    call: ToolCall | None = None
    is_given_up: bool = False

    async def run(self) -> int:
        """The whole of it, with an ear for signals."""
        code = EXIT_FAILED
        async with trio.open_nursery() as nursery:
            await nursery.start(self._listen, nursery.cancel_scope)
            code = await self._shown()
            nursery.cancel_scope.cancel()
        if self.is_given_up and self.call is not None:
            self.display.result(self.action, error_result(self._given_up(self.call)))
        return code

    async def _shown(self) -> int:
        try:
            result = await self._perform()
        except Refused as error:
            self.display.refusal(error)
            return EXIT_FAILED
        if result is None:
            return EXIT_FAILED
        self.display.result(self.action, result)
        if self.manner.is_preflight and not result.get("isError"):
            self.display.note(self._commit_command(result))
        if self.cancel.is_set() and not result.get("isError"):
            self.display.note("The cancel came too late: this is the result.")
        return exit_code(result)

    # --- the calls ---

    async def _perform(self) -> dict[str, Any] | None:
        """The last result; None where the person has said no (and has been told)."""
        policy = self.action.policy.resolve(self.arguments)
        manner = self.manner
        has_somebody = manner.agrees or self.person is not None
        if policy.is_mutation and has_somebody and not manner.is_preflight and manner.request_id is None:
            return await self._write_in_two_steps()
        return await self._call(self._submitted(), can_write=not policy.is_read and not manner.is_preflight)

    async def _write_in_two_steps(self) -> dict[str, Any] | None:
        preflight = await self._call({**self.arguments, "validateOnly": True}, can_write=False)
        told = structured(preflight)
        if preflight.get("isError") and error_code(preflight) != _STRICT_OFF:
            return preflight
        safety: dict[str, Any] = {}
        if not preflight.get("isError"):
            safety = credentials_of(told)
            self.display.preflight(self.action, told)
        else:
            self.display.note("Strict safe writes are switched off: this is written at once, without a guarantee.")
        # The kernel's own question before a dangerous action says all there is to be asked.
        is_asked = not self.manner.agrees and not self.action.is_dangerous
        if is_asked and self.person is not None and self.person.agrees("Write it?") != "accept":
            self.display.note("Nothing was written.")
            return None
        return await self._call({**self.arguments, **safety}, can_write=True)

    async def _call(self, arguments: dict[str, Any], *, can_write: bool) -> dict[str, Any]:
        params = {"name": self.action.tool, "arguments": {"action": self.action.name, **arguments}}
        task_id = self.front.delegate.task_id()
        self.call = ToolCall(
            params,
            can_write=can_write,
            is_coordinated=not self.action.policy.resolve(self.arguments).is_read,
            ask=self._ask(),
            cancel=self.cancel,
            task_id=task_id,
        )
        return await self.front.call(self.call)

    def _ask(self) -> Callable[[str], Awaitable[str]] | None:
        """How the kernel's question is answered (R134); None: nobody is there, and the kernel says what is missing."""
        person = self.person

        async def agree(_words: str) -> str:
            return "accept"

        async def ask(words: str) -> str:
            assert person is not None, "somebody is there"
            self.display.note(words)
            return person.agrees("Go ahead?")

        if self.manner.confirms:
            return agree
        return None if person is None else ask

    def _submitted(self) -> dict[str, Any]:
        safety: dict[str, Any] = {}
        if self.manner.is_preflight:
            safety["validateOnly"] = True
        if self.manner.request_id is not None:
            safety["requestId"] = self.manner.request_id
        return {**self.arguments, **safety, **self.manner.credentials}

    def _commit_command(self, result: Mapping[str, Any]) -> str:
        told = structured(result)
        flags = ["--request-id", str(told.get("requestId"))]
        field_name = told.get("preconditionField")
        if isinstance(field_name, str):
            flags += [_flag(field_name), str(told.get(field_name))]
        program, *words = self.manner.words
        return f"To write it: {program} {shlex.join([*words, *flags])}"

    # --- signals ---

    async def _listen(
        self, scope: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """The first signal has the call cancelled, and its answer is waited for; a second one ends the wait (R218)."""
        with trio.open_signal_receiver(*_SIGNALS) as signals:
            task_status.started()
            async for _ in signals:
                if self.cancel.is_set():
                    break
                self.display.note("Cancelling; its answer is waited for. Once more ends the wait.")
                self.cancel.set()
        self.is_given_up = True
        scope.cancel()

    def _given_up(self, call: ToolCall) -> ToolError:
        if not call.sent.is_set():
            return withdrawn()
        words = "The call was sent and is not waited for any more."
        return outcome_unknown(words, call.task_id, call.write_id, can_write=call.can_write)


def structured(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says, as an object."""
    told = result.get("structuredContent")
    return told if isinstance(told, dict) else {}


def error_code(result: Mapping[str, Any]) -> str:
    """The code of a failed call, or an empty text."""
    error = structured(result).get("error")
    return str(error.get("code") or "") if isinstance(error, dict) else ""


def exit_code(result: Mapping[str, Any]) -> int:
    """0 done, 1 failed, 2 the arguments were wrong."""
    if not result.get("isError"):
        return EXIT_DONE
    return EXIT_USAGE if error_code(result) in _USAGE_CODES else EXIT_FAILED


def credentials_of(preflight: Mapping[str, Any]) -> dict[str, Any]:
    """What the commit copies from a preflight."""
    safety = {"requestId": preflight.get("requestId")}
    name = preflight.get("preconditionField")
    return {**safety, name: preflight.get(name)} if isinstance(name, str) and name else safety


def _flag(field_name: str) -> str:
    from kernel.cli.flags import kebab

    assert any(field_name == one.value for one in Precondition), "the coordinator names a known field"
    return f"--{kebab(field_name)}"


@contextmanager
def _interruptible() -> Iterator[None]:
    """While a question stands, a signal ends the question."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Fault plans in Python: ``FaultPlan().at("host.after:/api/block/*").for_tool("block").nth(2).drop()``.

Every rule goes through the same checks as one from a file: what makes no sense raises ``PlanInvalid`` where it is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.faults.reading import read_rule

if TYPE_CHECKING:
    from kernel.faults.plan import FaultPlan


class RuleDraft:
    """A rule that is being said. The last word, a deed, adds it to its plan and gives the plan back."""

    def __init__(self, plan: FaultPlan, point: str) -> None:
        self._plan = plan
        self._said: dict[str, Any] = {"point": point}

    # --- when ---

    def for_tool(self, tool: str, action: str | None = None) -> RuleDraft:
        """Only visits of calls of this tool (and action)."""
        return self._with(tool=tool, **({} if action is None else {"action": action}))

    def for_session(self, session: str | int) -> RuleDraft:
        """Only visits of this session: its id, or the how-maniest that comes to the point."""
        return self._with(session=session)

    def in_phase(self, phase: str) -> RuleDraft:
        """Only visits of a strict write's ``preflight`` or ``commit``, or of ``plain`` calls."""
        return self._with(phase=phase)

    def on_host(self, effect: str) -> RuleDraft:
        """Only host calls that ``read``, or that ``write``."""
        return self._with(effect=effect)

    def nth(self, nth: int) -> RuleDraft:
        """From the n-th such visit on."""
        return self._with(nth=nth)

    def times(self, times: int | None) -> RuleDraft:
        """So many times; None: for ever."""
        return self._with(times=times)

    def sometimes(self, probability: float, *, seed: int = 0) -> RuleDraft:
        """Each visit with this probability, the same ones for the same seed; for ever unless ``times`` says less."""
        return self._with(probability=probability, seed=seed, **({} if "times" in self._said else {"times": None}))

    def named(self, name: str) -> RuleDraft:
        """A name to wait for it by."""
        return self._with(name=name)

    # --- what ---

    def delay(self, seconds: float) -> FaultPlan:
        return self._do("delay", seconds=seconds)

    def hold(self, name: str = "") -> FaultPlan:
        """Keep the call there until ``name`` is released."""
        return self._do("hold", **({"name": name} if name else {}))

    def fail(
        self,
        *,
        code: int | None = None,
        status: int | None = None,
        message: str | None = None,
        retry_after_s: int | None = None,
    ) -> FaultPlan:
        return self._do("fail", code=code, status=status, message=message, retry_after_s=retry_after_s)

    def drop(self) -> FaultPlan:
        """Lose the answer; what was done stays done."""
        return self._do("drop")

    def cut(self, how: str = "rst") -> FaultPlan:
        """End the connection: ``fin`` or ``rst``."""
        return self._do("cut", how=how)

    def truncate(self, size_bytes: int | None = None) -> FaultPlan:
        """Send so many bytes (half, if not said), then end the connection."""
        return self._do("truncate", bytes=size_bytes)

    def duplicate(self) -> FaultPlan:
        """Deliver it twice."""
        return self._do("duplicate")

    def crash(self) -> FaultPlan:
        """End the process as a power cut would."""
        return self._do("crash")

    def disk_full(self) -> FaultPlan:
        return self._do("disk_full")

    def read_only(self) -> FaultPlan:
        return self._do("read_only")

    def stale_index(self, seconds: float = 3.0) -> FaultPlan:
        """From now on the SQL index lags so far behind."""
        return self._do("stale_index", seconds=seconds)

    def shuffle_attributes(self, seed: int = 0) -> FaultPlan:
        return self._do("shuffle_attributes", seed=seed)

    def edit(self, *, id: str | None = None, text: str | None = None) -> FaultPlan:
        """Somebody else edits the call's target (or the block ``id``)."""
        return self._do("edit", id=id, text=text)

    def expire(self, what: str) -> FaultPlan:
        """``leases`` or ``sessions``, all of them, now."""
        return self._do("expire", what=what)

    def list_changed(self, count: int = 1) -> FaultPlan:
        """So many notifications of a changed tool list on every open stream."""
        return self._do("list_changed", count=count)

    def clock(self, seconds: float) -> FaultPlan:
        """The kernel's clock jumps forward."""
        return self._do("clock", seconds=seconds)

    def cancel(self) -> FaultPlan:
        """The call is cancelled, as its client would."""
        return self._do("cancel")

    def _with(self, **said: Any) -> RuleDraft:
        self._said.update(said)
        return self

    def _do(self, deed: str, **said: Any) -> FaultPlan:
        given = {name: value for name, value in said.items() if value is not None}
        self._plan.add(read_rule({**self._said, "do": deed, **given}))
        return self._plan

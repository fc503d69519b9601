"""[core] What an action may do to the notes, and which credential it then needs: what the registry's ``policy`` means.

One value per row of ``kernel.tools.registry``. The lane, the preflight, the schema's safety fields and the
``writeSafetyGuaranteed`` mark are all read from it (R18, R104-R112). Does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from kernel.safety.intent import Precondition


class Effect(Enum):
    """READ changes nothing; MUTATION changes notes and can be read back; EXTERNAL leaves our reach (R108-R111)."""

    READ = "read"
    MUTATION = "mutation"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Variant:
    """The effect an action has instead when its arguments say so: every ``when`` holds and no ``unless`` does."""

    effect: Effect
    precondition: Precondition
    when: Mapping[str, Any]
    unless: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        """Whether these (validated, business) arguments choose this variant. ``True`` is not ``1`` here."""
        return all(_same(arguments.get(name), value) for name, value in self.when.items()) and not any(
            _same(arguments.get(name), value) for name, value in self.unless.items()
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """A registry row's safety policy. ``variant`` is set for the four actions whose arguments decide (R19, 2.8)."""

    effect: Effect
    precondition: Precondition = Precondition.NONE
    variant: Variant | None = None
    # Derived, once: every call asks.
    is_read: bool = field(init=False, compare=False, repr=False)
    is_mutation: bool = field(init=False, compare=False, repr=False)
    is_external: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, effect in (("read", Effect.READ), ("mutation", Effect.MUTATION), ("external", Effect.EXTERNAL)):
            object.__setattr__(self, f"is_{name}", self.effect is effect)

    def resolve(self, arguments: Mapping[str, Any]) -> Policy:
        """The policy of one call: a plain one, its variant applied."""
        if self.variant is None:
            return self
        if self.variant.applies(arguments):
            return Policy(self.variant.effect, self.variant.precondition)
        return Policy(self.effect, self.precondition)

    @property
    def can_mutate(self) -> bool:
        """Whether some call of the action is a strict mutation: then its schema shows the safety fields (R105)."""
        return self.is_mutation or (self.variant is not None and self.variant.effect is Effect.MUTATION)

    @property
    def preconditions(self) -> frozenset[Precondition]:
        """The credential fields some call of the action may need; NONE is left out."""
        found = {self.precondition}
        if self.variant is not None:
            found.add(self.variant.precondition)
        return frozenset(found - {Precondition.NONE})


READ: Final = Policy(Effect.READ)
EXTERNAL: Final = Policy(Effect.EXTERNAL)
# A pure addition needs no credential, but a request id all the same (R19, R20).
ADDITIVE: Final = Policy(Effect.MUTATION)
STATE: Final = Policy(Effect.MUTATION, Precondition.STATE)
STRUCTURE: Final = Policy(Effect.MUTATION, Precondition.STRUCTURE)
MANIFEST: Final = Policy(Effect.MUTATION, Precondition.MANIFEST)
SOURCE: Final = Policy(Effect.MUTATION, Precondition.SOURCE)
# fs.write, file.create_template
ADDITIVE_UNLESS_OVERWRITE: Final = Policy(
    Effect.MUTATION, variant=Variant(Effect.MUTATION, Precondition.STATE, when=MappingProxyType({"overwrite": True}))
)
# av.render
READ_UNLESS_CREATED: Final = Policy(
    Effect.READ,
    variant=Variant(Effect.MUTATION, Precondition.NONE, when=MappingProxyType({"createIfNotExist": True})),
)
# document.ensure_link_targets
READ_UNLESS_MODE_CREATE: Final = Policy(
    Effect.READ,
    variant=Variant(
        Effect.MUTATION,
        Precondition.STRUCTURE,
        when=MappingProxyType({"mode": "create"}),
        unless=MappingProxyType({"dryRun": True}),
    ),
)


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)

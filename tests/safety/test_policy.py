"""Policies: what a row means for one call, and the four whose arguments decide."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.safety import policy
from kernel.safety.intent import Precondition
from kernel.safety.policy import Effect, Policy


@pytest.mark.parametrize(
    ("row", "arguments", "effect", "precondition"),
    [
        (policy.READ, {}, Effect.READ, Precondition.NONE),
        (policy.EXTERNAL, {}, Effect.EXTERNAL, Precondition.NONE),
        (policy.ADDITIVE, {"overwrite": True}, Effect.MUTATION, Precondition.NONE),
        (policy.STATE, {}, Effect.MUTATION, Precondition.STATE),
        (policy.STRUCTURE, {}, Effect.MUTATION, Precondition.STRUCTURE),
        (policy.MANIFEST, {}, Effect.MUTATION, Precondition.MANIFEST),
        (policy.SOURCE, {}, Effect.MUTATION, Precondition.SOURCE),
        (policy.ADDITIVE_UNLESS_OVERWRITE, {}, Effect.MUTATION, Precondition.NONE),
        (policy.ADDITIVE_UNLESS_OVERWRITE, {"overwrite": False}, Effect.MUTATION, Precondition.NONE),
        (policy.ADDITIVE_UNLESS_OVERWRITE, {"overwrite": 1}, Effect.MUTATION, Precondition.NONE),
        (policy.ADDITIVE_UNLESS_OVERWRITE, {"overwrite": True}, Effect.MUTATION, Precondition.STATE),
        (policy.READ_UNLESS_CREATED, {"avID": "x"}, Effect.READ, Precondition.NONE),
        (policy.READ_UNLESS_CREATED, {"createIfNotExist": True}, Effect.MUTATION, Precondition.NONE),
        (policy.READ_UNLESS_MODE_CREATE, {"mode": "reuse"}, Effect.READ, Precondition.NONE),
        (policy.READ_UNLESS_MODE_CREATE, {"mode": "create"}, Effect.MUTATION, Precondition.STRUCTURE),
        (policy.READ_UNLESS_MODE_CREATE, {"mode": "create", "dryRun": False}, Effect.MUTATION, Precondition.STRUCTURE),
        (policy.READ_UNLESS_MODE_CREATE, {"mode": "create", "dryRun": True}, Effect.READ, Precondition.NONE),
    ],
)
def test_a_call_has_one_plain_policy(
    row: Policy, arguments: dict[str, Any], effect: Effect, precondition: Precondition
) -> None:
    resolved = row.resolve(arguments)
    assert (resolved.effect, resolved.precondition, resolved.variant) == (effect, precondition, None)
    assert [resolved.is_read, resolved.is_mutation, resolved.is_external] == [
        effect is kind for kind in (Effect.READ, Effect.MUTATION, Effect.EXTERNAL)
    ]


@pytest.mark.parametrize(
    ("row", "can_mutate", "preconditions"),
    [
        (policy.READ, False, set()),
        (policy.EXTERNAL, False, set()),
        (policy.ADDITIVE, True, set()),
        (policy.STATE, True, {Precondition.STATE}),
        (policy.ADDITIVE_UNLESS_OVERWRITE, True, {Precondition.STATE}),
        (policy.READ_UNLESS_CREATED, True, set()),
        (policy.READ_UNLESS_MODE_CREATE, True, {Precondition.STRUCTURE}),
    ],
)
def test_what_a_schema_must_offer(row: Policy, can_mutate: bool, preconditions: set[Precondition]) -> None:
    assert row.can_mutate is can_mutate
    assert row.preconditions == preconditions

"""Dangerous calls: who is asked, how, and what never runs (decisions 21 to 23 and 36)."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.mcp.elicitation import FIELD, QUESTION
from kernel.mcp.limits import CONFIRMATION_TTL_S, CONFIRMATIONS_PENDING_MAX
from tests.mcp.world import CLIENT, FORM, MODERN, Reply, World, modern_body, modern_headers, open_world

YES = {QUESTION: {"action": "accept", "content": {FIELD: True}}}
ARGUMENTS = {"path": "/X"}


async def asked(world: World, arguments: dict[str, Any] | None = None, **options: Any) -> str:
    reply = await world.call("wipe", arguments or ARGUMENTS, capabilities=FORM, **options)
    assert reply.result["resultType"] == "input_required"
    assert "ttlMs" not in reply.result
    return str(reply.result["requestState"])


async def answered(
    world: World, state: Any, responses: Any = YES, arguments: dict[str, Any] | None = None, **options: Any
) -> Reply:
    params = {"requestState": state}
    if responses is not ...:
        params["inputResponses"] = responses
    options.setdefault("capabilities", FORM)
    name = options.pop("name", "wipe")
    return await world.call(name, ARGUMENTS if arguments is None else arguments, params=params, **options)


def ran(world: World) -> int:
    return len(world.tools.performed)


async def test_a_client_with_forms_is_asked_and_an_accepted_form_runs_the_call_once() -> None:
    async with open_world() as world:
        state = await asked(world)
        assert ran(world) == 0
        reply = await answered(world, state, id=2)
        assert reply.result["resultType"] == "complete"
        assert world.tools.performed == [("wipe", ARGUMENTS)]
        assert (await answered(world, state, id=3)).rpc == (-32602, 400)
        assert ran(world) == 1


@pytest.mark.parametrize(
    ("responses", "code", "is_cancelled"),
    [
        ({QUESTION: {"action": "decline"}}, "confirmation_declined", False),
        ({QUESTION: {"action": "accept", "content": {FIELD: False}}}, "confirmation_declined", False),
        ({QUESTION: {"action": "cancel"}}, "confirmation_cancelled", True),
        (..., "confirmation_invalid", False),
        (None, "confirmation_invalid", False),
        ([], "confirmation_invalid", False),
        (5, "confirmation_invalid", False),
        ({}, "confirmation_invalid", False),
        ({QUESTION: {"action": "accept", "content": {}}}, "confirmation_invalid", False),
        ({QUESTION: {"action": "accept", "content": {FIELD: "true"}}}, "confirmation_invalid", False),
    ],
)
async def test_every_other_answer_is_a_result_and_runs_nothing(responses: Any, code: str, is_cancelled: bool) -> None:
    async with open_world() as world:
        state = await asked(world)
        reply = await answered(world, state, responses)
        assert reply.code == code
        structured = reply.result["structuredContent"]
        assert structured["cancelled"] is is_cancelled
        assert structured["writeAttempted"] is False
        assert ran(world) == 0
        again = await answered(world, state)
        if code == "confirmation_invalid":
            assert again.result["structuredContent"]["tool"] == "wipe"  # the user had not spoken yet
        else:
            assert again.rpc == (-32602, 400)


@pytest.mark.parametrize(
    "change",
    ["flipped", "appended", "arguments", "tool", "credential", "client", "late", "restart", "number", "method_name"],
)
async def test_a_state_that_is_not_this_calls_own_is_refused_with_one_text(change: str) -> None:
    async with open_world() as world, open_world() as restarted:
        state: Any = await asked(world)
        options: dict[str, Any] = {}
        target = world
        match change:
            case "flipped":
                state = state[:-1] + ("0" if state[-1] != "0" else "1")
            case "appended":
                state += "x"
            case "arguments":
                options["arguments"] = {"path": "/Y"}
            case "tool":
                options["name"] = "write"
            case "credential":
                options["headers"] = {"Authorization": "Token other"}
            case "client":
                options["meta"] = {CLIENT: {"name": "other"}}
            case "late":
                world.clock.skip(CONFIRMATION_TTL_S)
            case "restart":
                target = restarted
                await restarted.call("echo")
            case "number":
                state = 5
            case "method_name":
                options["name"] = "help"
        before = ran(target)
        reply = await answered(target, state, **options)
        assert reply.rpc == (-32602, 400)
        assert reply.error == {
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        }
        assert ran(target) == before


async def test_confirm_true_alone_does_not_skip_the_form() -> None:
    async with open_world() as world:
        reply = await world.call("wipe", {**ARGUMENTS, "confirm": True}, capabilities=FORM)
        assert reply.result["resultType"] == "input_required"
        assert ran(world) == 0


async def test_a_null_state_is_no_state() -> None:
    async with open_world() as world:
        reply = await answered(world, None)
        assert reply.result["resultType"] == "input_required"


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
async def test_a_modern_client_without_forms_follows_the_convention(capabilities: dict[str, Any]) -> None:
    async with open_world() as world:
        refused = await world.call("wipe", ARGUMENTS, capabilities=capabilities)
        assert refused.code == "dangerous_action_requires_confirmation"
        assert (await world.call("wipe", {**ARGUMENTS, "confirm": "yes"}, capabilities=capabilities)).code
        assert ran(world) == 0
        await world.call("wipe", {**ARGUMENTS, "confirm": True}, capabilities=capabilities)
        assert ran(world) == 1


async def test_a_handshake_client_follows_the_convention_even_if_it_declares_forms() -> None:
    async with open_world() as world:
        session = await world.initialize(capabilities=FORM)
        assert (await world.old_call(session, "wipe", ARGUMENTS)).code == "dangerous_action_requires_confirmation"
        await world.old_call(session, "wipe", {**ARGUMENTS, "confirm": True})
        await world.old_call(None, "wipe", {**ARGUMENTS, "confirm": True})
        assert ran(world) == 2


async def test_dropping_the_declaration_does_not_open_a_second_way() -> None:
    async with open_world() as world:
        state = await asked(world)
        bypass = {**ARGUMENTS, "confirm": True}
        assert (await world.call("wipe", bypass)).code == "confirmation_invalid"
        assert (await world.old_call(await world.initialize(), "wipe", bypass)).code == "confirmation_invalid"
        assert ran(world) == 0
        # Another operation, and another principal, are not concerned.
        await world.call("wipe", {"path": "/Y", "confirm": True})
        await world.call("wipe", bypass, headers={"Authorization": "Token other"})
        assert ran(world) == 2
        # The state itself is still judged without the declaration.
        await answered(world, state, capabilities={})
        assert ran(world) == 3


async def test_a_preflight_is_never_asked_about() -> None:
    async with open_world() as world:
        reply = await world.call("wipe", {**ARGUMENTS, "validateOnly": True}, capabilities=FORM)
        assert reply.result["resultType"] == "complete"


async def test_the_129th_question_pushes_out_the_oldest() -> None:
    async with open_world() as world:
        first = await asked(world)
        for _ in range(CONFIRMATIONS_PENDING_MAX - 1):
            await asked(world)
        assert (await answered(world, first, None)).code == "confirmation_invalid"  # still there
        await asked(world)
        assert (await answered(world, first)).rpc == (-32602, 400)
        assert ran(world) == 0
        assert world.endpoint.statistics()["pendingConfirmations"] == CONFIRMATIONS_PENDING_MAX


async def test_a_question_leaves_no_request_in_flight() -> None:
    async with open_world() as world:
        await asked(world)
        assert world.scheduler.statistics().in_flight == 0


async def test_the_client_identity_is_the_whole_declaration() -> None:
    async with open_world() as world:
        info = {"name": "c", "version": "1", "title": "t"}
        state = await asked(world, meta={CLIENT: info})
        assert (await answered(world, state, meta={CLIENT: {**info, "title": "u"}})).rpc == (-32602, 400)
        assert (await answered(world, state, meta={CLIENT: info})).result["resultType"] == "complete"


async def test_the_retry_is_an_ordinary_request_for_the_ladder() -> None:
    async with open_world() as world:
        state = await asked(world)
        params = {"name": "wipe", "arguments": ARGUMENTS, "requestState": state, "inputResponses": YES}
        headers = modern_headers("tools/call", params, extra={"Mcp-Name": "write"})
        assert (await world.ask("POST", headers, modern_body("tools/call", params))).rpc == (-32020, 400)
        assert dict(modern_headers("tools/call", params))["MCP-Protocol-Version"] == MODERN
        assert ran(world) == 0

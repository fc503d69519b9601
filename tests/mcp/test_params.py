"""Parameters of the shared methods: structure is checked here, values are the tool's business."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from kernel.mcp.jsonrpc import ProtocolError
from kernel.mcp.params import (
    SHARED_METHODS,
    CallTool,
    Complete,
    GetPrompt,
    ListPrompts,
    ListResources,
    ListTemplates,
    ListTools,
    ReadResource,
)

PROMPT = {"type": "ref/prompt", "name": "p"}
ARGUMENT = {"name": "a", "value": ""}


@pytest.mark.parametrize(
    ("method", "params", "operation"),
    [
        ("tools/list", {}, ListTools()),
        ("tools/list", {"cursor": None}, ListTools()),
        ("resources/list", {"unknown": 1}, ListResources()),
        ("resources/templates/list", {}, ListTemplates()),
        ("prompts/list", {}, ListPrompts()),
        ("tools/call", {"name": "t"}, CallTool("t", {})),
        ("tools/call", {"name": "t", "arguments": None}, CallTool("t", {})),
        (
            "tools/call",
            {"name": "t", "arguments": {"a": 1}, "inputResponses": None, "requestState": "s"},
            CallTool("t", {"a": 1}, None, "s"),
        ),
        ("resources/read", {"uri": "u"}, ReadResource("u", UNSET, None)),
        ("prompts/get", {"name": "p", "arguments": {"a": "b"}}, GetPrompt("p", {"a": "b"})),
        ("completion/complete", {"ref": PROMPT, "argument": ARGUMENT}, Complete(PROMPT, ARGUMENT)),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "u"}, "argument": ARGUMENT},
            Complete({"type": "ref/resource", "uri": "u"}, ARGUMENT),
        ),
    ],
)
def test_well_formed_parameters_become_an_operation(method: str, params: dict[str, Any], operation: object) -> None:
    assert SHARED_METHODS[method](params) == operation


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {"cursor": ""}),
        ("resources/list", {"cursor": "x"}),
        ("resources/templates/list", {"cursor": 5}),
        ("prompts/list", {"cursor": {}}),
        ("tools/call", {}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": None}),
        ("tools/call", {"name": "t", "arguments": []}),
        ("tools/call", {"name": "t", "arguments": "text"}),
        ("resources/read", {}),
        ("prompts/get", {}),
        ("prompts/get", {"name": "p", "arguments": 1}),
        ("completion/complete", {}),
        ("completion/complete", {"ref": PROMPT}),
        ("completion/complete", {"ref": [], "argument": ARGUMENT}),
        ("completion/complete", {"ref": {"type": "ref/other"}, "argument": ARGUMENT}),
        ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": ARGUMENT}),
        ("completion/complete", {"ref": {"type": "ref/resource"}, "argument": ARGUMENT}),
        ("completion/complete", {"ref": PROMPT, "argument": {"name": "a"}}),
        ("completion/complete", {"ref": PROMPT, "argument": {"value": "a"}}),
    ],
)
def test_malformed_parameters_are_invalid_params(method: str, params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        SHARED_METHODS[method](params)
    assert (caught.value.code, caught.value.status) == (-32602, 400)
    assert caught.value.message.startswith("Invalid params: ")

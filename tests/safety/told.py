"""What a strict call is told when it fails, for the tests of the coordinator."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from kernel.errors import ToolError

REJECTED = {
    "success": False,
    "writeSafetyMode": "strict",
    "writeAttempted": False,
    "writeExecuted": False,
    "transactionState": "rejected",
}


IN_DOUBT = {**REJECTED, "writeAttempted": True, "transactionState": "unknown"}


async def refusal(call: Awaitable[Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await call
    return caught.value

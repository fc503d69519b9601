"""[core] Confirmation of dangerous calls: a sealed, single-use ``requestState`` and the judgement of its answer.

Theory of operation. A state is ``v1.<nonce>.<mac>``. The nonce names a pending entry here, which makes it single-use
and mortal (5 minutes, 128 of them, the oldest pushed out: decision 36). The mac seals the nonce together with the
principal, the client's declared identity and the digest of tool, action and canonical arguments; so a state that is
shown by somebody else, or beside other arguments, fails exactly like a forged one, and with the same words (R126,
R130, decision 23).

    pending ── accept and true ──→ spent (confirmed)      pending ── malformed answer ──→ pending
    pending ── decline, or false ─→ spent (declined)      pending ── 5 minutes ─────────→ gone
    pending ── cancel ───────────→ spent (cancelled)
"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict
from enum import Enum
from typing import Any, Final

import msgspec

from kernel.canonical import canonical_json
from kernel.mcp.jsonrpc import INVALID_PARAMS, ProtocolError
from kernel.mcp.limits import CONFIRMATION_TTL_S, CONFIRMATIONS_PENDING_MAX

QUESTION: Final = "dangerous-action-confirmation"  # the key of the one input request
FIELD: Final = "confirm"  # the form's boolean
_PREFIX: Final = "v1."


class Answer(Enum):
    """What the user said."""

    CONFIRMED = "confirmed"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    MALFORMED = "malformed"  # the client's fault: the user has said nothing


class Binding(msgspec.Struct, frozen=True):
    """What a state is good for: one principal, one client identity, one operation."""

    principal: str
    client: str
    operation: str


class _Pending(msgspec.Struct, frozen=True):
    binding: Binding
    expires_s: float


def state_refused() -> ProtocolError:
    """The one text for every cause: what failed is nobody's business."""
    return ProtocolError(INVALID_PARAMS, "Invalid or expired requestState", data={"reason": "invalid_request_state"})


class Confirmations:
    """All pending confirmations of the endpoint. ``key`` is fresh entropy: states die with the process."""

    def __init__(self, key: bytes, pending_max: int = CONFIRMATIONS_PENDING_MAX) -> None:
        self._key = key
        self._pending_max = pending_max
        self._pending: OrderedDict[str, _Pending] = OrderedDict()  # in order of issue, hence of expiry

    def __len__(self) -> int:
        return len(self._pending)

    def issue(self, binding: Binding, nonce: str, *, now: float) -> str:
        """A state for ``binding``; the oldest pending one is pushed out where there is no room."""
        assert "." not in nonce, "the nonce must not look like a separator"
        self._expire(now)
        while len(self._pending) >= self._pending_max:
            self._pending.popitem(last=False)
        self._pending[nonce] = _Pending(binding, now + CONFIRMATION_TTL_S)
        return f"{_PREFIX}{nonce}.{self._seal(nonce, binding)}"

    def judge(self, state: object, binding: Binding, responses: object, *, now: float) -> Answer:
        """What the client's answer means; anything but a malformed one spends the state.

        Raises:
            ProtocolError: forged, altered, expired, used, or of another principal, client or operation.
        """
        nonce = self._open(state, binding, now)
        answer = read_answer(responses)
        if answer is not Answer.MALFORMED:
            del self._pending[nonce]
        return answer

    def is_pending(self, principal: str, operation: str, *, now: float) -> bool:
        """Whether that principal is being asked about that very operation (decision 22)."""
        self._expire(now)
        return any(
            entry.binding.principal == principal and entry.binding.operation == operation
            for entry in self._pending.values()
        )

    def _open(self, state: object, binding: Binding, now: float) -> str:
        self._expire(now)
        if not isinstance(state, str) or not state.startswith(_PREFIX):
            raise state_refused()
        nonce, _, mac = state[len(_PREFIX) :].partition(".")
        if not hmac.compare_digest(mac.encode(), self._seal(nonce, binding).encode()):
            raise state_refused()
        if nonce not in self._pending:
            raise state_refused()
        return nonce

    def _seal(self, nonce: str, binding: Binding) -> str:
        sealed = canonical_json([nonce, binding.principal, binding.client, binding.operation])
        return hmac.new(self._key, sealed, hashlib.sha256).hexdigest()

    def _expire(self, now: float) -> None:
        while self._pending:
            nonce, oldest = next(iter(self._pending.items()))
            if now < oldest.expires_s:
                return
            del self._pending[nonce]


def read_answer(responses: object) -> Answer:
    """The meaning of ``inputResponses``; unknown keys are ignored, missing ones are malformed."""
    response = responses.get(QUESTION) if isinstance(responses, dict) else None
    if not isinstance(response, dict):
        return Answer.MALFORMED
    match response.get("action"):
        case "decline":
            return Answer.DECLINED
        case "cancel":
            return Answer.CANCELLED
        case "accept":
            content = response.get("content")
            value = content.get(FIELD) if isinstance(content, dict) else None
            if isinstance(value, bool):
                return Answer.CONFIRMED if value else Answer.DECLINED
    return Answer.MALFORMED


def question(message: str, state: str) -> dict[str, Any]:
    """The ``input_required`` result that asks, before it is dressed."""
    form = {
        "type": "object",
        "properties": {
            FIELD: {
                "type": "boolean",
                "title": "Go ahead",
                "description": "Yes carries out exactly the operation named above, once.",
            }
        },
        "required": [FIELD],
    }
    request = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": form},
    }
    return {"inputRequests": {QUESTION: request}, "requestState": state}


def client_identity(client_info: object) -> str:
    """The digest of a client's declaration: what a state is bound to (R126)."""
    return "" if client_info is None else hashlib.sha256(canonical_json(client_info)).hexdigest()

"""/api/transactions: what an editor does, and its undo and redo (siyuan-api A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.workspace.limits import UNDO_STEPS_MAX
from kernel.workspace.operations import MalformedTransaction, Transaction, transactions_json
from kernel.workspace.transactions import UndoLog, perform, replayed, undo_state_json

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

ALL_BUT_SELF: Final = 2


def undo_log(call: Call) -> UndoLog:
    """The kernel's one log of steps; it lives as long as the process."""
    log = call.kernel.state.setdefault("undo_log", UndoLog(UNDO_STEPS_MAX))
    assert isinstance(log, UndoLog)
    return log


def perform_transactions(call: Call) -> Any:
    given = call.arguments.required_list("transactions")
    if not given:
        raise ApiError("Field [transactions] must not be empty")
    timestamp = int(call.arguments.required_number("reqId"))
    app = call.arguments.optional_str("app")
    session = call.arguments.optional_str("session")
    try:
        transactions = [Transaction.from_json(one, timestamp) for one in given]
    except MalformedTransaction as error:
        raise ApiError("parses request failed") from error
    log = undo_log(call)
    for transaction in transactions:
        if perform(call.kernel.workspace, transaction) is None:
            log.record(transaction)
    _tell(call, transactions, app, session, is_for_all=_concerns_databases(transactions))
    _tell_reloads(call, transactions)
    return transactions_json(transactions)


def _concerns_databases(transactions: list[Transaction]) -> bool:
    return any(
        "attrview" in operation.action.lower() and operation.action != "setAttrViewName"
        for transaction in transactions
        for operation in transaction.do
    )


def _tell(
    call: Call,
    transactions: list[Transaction],
    app: str,
    session: str,
    *,
    is_for_all: bool,
    is_replay: bool | None = None,
) -> None:
    roots = list(dict.fromkeys(root for transaction in transactions for root in transaction.changed_roots))
    context: dict[str, Any] = {"rootIDs": roots or None, "undoState": undo_state_json(undo_log(call), roots)}
    if is_replay is not None:
        context["isUndoReplay"] = is_replay
    call.kernel.workspace.emit(
        "transactions",
        transactions_json(transactions),
        app=app,
        session=session,
        push_mode=0 if is_for_all else ALL_BUT_SELF,
        excludes=None if is_for_all else (app, session),
        context=context,
    )


def _tell_reloads(call: Call, transactions: list[Transaction]) -> None:
    if any(one.action == "moveOutlineHeading" for transaction in transactions for one in transaction.do):
        root_id = transactions[0].do[0]["retData"]
        if root_id is not None:
            call.kernel.workspace.emit("reloaddoc", root_id, to=("main",))


def undo_state(call: Call) -> Any:
    root_id = call.arguments.required_str("rootID", may_be_empty=True)
    can_undo, can_redo, peek = undo_log(call).state(root_id)
    return {"canUndo": can_undo, "canRedo": can_redo, "peekMutatedRootIDs": peek}


def perform_undo(call: Call) -> Any:
    return _replay(call, is_undo=True)


def perform_redo(call: Call) -> Any:
    return _replay(call, is_undo=False)


def _replay(call: Call, *, is_undo: bool) -> Any:
    root_id = call.arguments.required_str("rootID", may_be_empty=True)
    app = call.arguments.optional_str("app")
    session = call.arguments.optional_str("session")
    log = undo_log(call)
    entry = log.take_undo(root_id) if is_undo else log.take_redo(root_id)
    if entry is None:
        return {"canUndo": False, "canRedo": False}
    done, undone = (entry.undo, entry.do) if is_undo else (entry.do, entry.undo)
    transaction = Transaction(replayed(done), replayed(undone), call.kernel.clock.wall_ms())
    failure = perform(call.kernel.workspace, transaction, tells_errors=False)
    if failure is not None:
        return {"failed": True, "msg": f"{'undo' if is_undo else 'redo'} failed: {failure}"}
    if is_undo:
        log.undone(entry, root_id)
    else:
        log.redone(entry, root_id)
    # Its answer tells the asking editor what to change, unless more than its own document does.
    is_for_all = len(entry.mutated_roots) > 1 or _concerns_databases([transaction])
    _tell(call, [transaction], app, session, is_for_all=is_for_all, is_replay=True)
    can_undo, can_redo, _ = log.state(root_id)
    shown = transaction.to_json()
    return {
        "doOperations": shown["doOperations"],
        "undoOperations": shown["undoOperations"],
        "mutatedRootIDs": entry.mutated_roots,
        "canUndo": can_undo,
        "canRedo": can_redo,
        "isUndo": is_undo,
    }


def clear_history(call: Call) -> Any:
    undo_log(call).clear(call.arguments.optional_str("rootID"))


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/transactions": perform_transactions,
    "/api/transactions/undoState": undo_state,
    "/api/transactions/undo": perform_undo,
    "/api/transactions/redo": perform_redo,
    "/api/transactions/clearHistory": clear_history,
}

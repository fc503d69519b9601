"""[core] A transaction as a whole: its operations in order, all or nothing, then saved, told and undoable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.workspace import edits, relocations
from kernel.workspace.attributes import change_attributes, tell_tags
from kernel.workspace.documents import Refusal
from kernel.workspace.edits import CODE_DATABASE, CODE_MESSAGE, Edit, TransactionError
from kernel.workspace.events import MAIN
from kernel.workspace.intake import dom_of_siblings, parsed_dom
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.outline_moves import move_outline_heading
from kernel.workspace.recent_targets import note_targets
from kernel.workspace.refs import redraw, refresh_anchors
from kernel.workspace.stamps import created_stamp
from kernel.workspace.tree import Node
from kernel.workspace.views import actions as views

if TYPE_CHECKING:
    from kernel.workspace.workspace import Document, Workspace

Action = Callable[[Edit, Operation], None]
# What the main windows are told when an operation on a database fails.
DATABASE_FAILED: Final = "Operation failed, please try again later"
DATABASE_FAILED_MS: Final = 5000
MESSAGE_ID_LENGTH: Final = 7


def set_attrs(edit: Edit, operation: Operation) -> None:
    """Set attributes given as a JSON object in ``data``."""
    document, node = edit.block(operation.id)
    edit.touch(node)
    try:
        values = read_json(operation["data"])
        if not isinstance(values, dict) or not all(isinstance(value, str | None) for value in values.values()):
            raise TransactionError(block_id=operation.id)
    except (TypeError, ValueError) as error:
        raise TransactionError(block_id=operation.id) from error
    values = {name: value or "" for name, value in values.items()}
    if document.id == document.box:
        values["custom-hidden"] = "true"
    try:
        tell_tags(edit.workspace, node, change_attributes(edit.workspace, node, values))
    except Refusal as refusal:
        raise TransactionError(str(refusal), code=CODE_MESSAGE, block_id=operation.id) from refusal


# What each action does. Databases and flashcards bring theirs; an unknown action does nothing, as in the kernel.
ACTIONS: Final[dict[str, Action]] = {
    "appendInsert": edits.append_insert,
    "prependInsert": edits.prepend_insert,
    **views.ACTIONS,
    "doUpdateUpdated": edits.set_updated,
    "setAttrs": set_attrs,
    "move": relocations.move,
    "append": relocations.append,
    "foldHeading": relocations.fold_heading,
    "unfoldHeading": relocations.unfold_heading,
    "moveOutlineHeading": move_outline_heading,
}


def perform(workspace: Workspace, transaction: Transaction, *, tells_errors: bool = True) -> str | None:
    """Do a transaction. What went wrong, if something did: then nothing of it remains.

    With ``tells_errors`` the main windows hear of a failure, as when the kernel's queue meets one.
    """
    edit = Edit(workspace, lambda dom: parsed_dom(workspace, dom), dom_of_siblings, transaction.do)
    told = workspace.event_count()
    try:
        for operation in transaction.do:
            action = ACTIONS.get(operation.action)
            if action is not None:
                action(edit, operation)
    except TransactionError as error:
        workspace.drop_events_after(told)
        for root_id in edit.documents:
            workspace.forget_tree(root_id)
        text = _text_of(error)
        if tells_errors and error.code == CODE_DATABASE:
            message = {"id": workspace.ids.text(MESSAGE_ID_LENGTH), "closeTimeout": DATABASE_FAILED_MS}
            workspace.emit("msg", message, to=MAIN, msg=DATABASE_FAILED)
        elif tells_errors:
            workspace.emit("txerr", to=MAIN, code=error.code, msg=text)
        return text
    _commit(workspace, edit, transaction)
    return None


def _text_of(error: TransactionError) -> str:
    default = "Transaction failed: block not found" if error.code != CODE_MESSAGE else "Transaction failed"
    text = error.message or default
    return f"{text} [{error.block_id}]" if error.block_id and error.block_id not in text else text


def _commit(workspace: Workspace, edit: Edit, transaction: Transaction) -> None:
    transaction.mutated_roots = list(edit.documents)
    for document in edit.documents.values():
        _fill_empty(edit, document)
        if document.holds_hollow:
            edit.stale.add(document.id)
        workspace.save(document, edit.touched)
        workspace.emit("savedoc", _saved_told(document.id, transaction))
    workspace.blocks.deleted(edit.deleted)
    followed = refresh_anchors(workspace, edit.changed.values(), edit.new_references) if edit.changed else []
    transaction.changed_roots = list(dict.fromkeys([*transaction.mutated_roots, *followed]))
    workspace.recount(edit.recounted)
    note_targets(workspace, edit.referred)
    for root_id in edit.stale:
        workspace.reread(root_id)
    redraw(workspace, *edit.reloads)


def _saved_told(root_id: str, transaction: Transaction) -> Callable[[], dict[str, Any]]:
    return lambda: {"rootID": root_id, "type": "tx", "sources": [transaction.to_json()]}


def _fill_empty(edit: Edit, document: Document) -> None:
    """A document without blocks gets an empty paragraph."""
    if document.root.children:
        return
    fresh = edit.workspace.new_id()
    paragraph = Node("NodeParagraph", id=fresh, properties={"id": fresh, "updated": created_stamp(fresh)})
    document.root.append(paragraph)
    edit.put(document, paragraph)
    document.root.properties["updated"] = created_stamp(fresh)


class UndoLog:
    """Per document, what was done by ``/api/transactions`` and can be undone. Entries are shared between documents."""

    def __init__(self, steps_max: int) -> None:
        self._steps_max = steps_max
        self._undo: dict[str, list[Transaction]] = {}
        self._redo: dict[str, list[Transaction]] = {}
        self._was_undone: set[str] = set()

    def record(self, transaction: Transaction) -> None:
        """Remember a transaction that brought its undo operations."""
        if not transaction.undo or not transaction.mutated_roots:
            return
        entry = Transaction(
            [operation.copy() for operation in transaction.do],
            [operation.copy() for operation in transaction.undo],
            transaction.timestamp,
            mutated_roots=list(transaction.mutated_roots),
        )
        for root_id in entry.mutated_roots:
            stack = self._undo.setdefault(root_id, [])
            stack.append(entry)
            del stack[: -self._steps_max]
            if root_id in self._was_undone:
                self._redo.pop(root_id, None)
                self._was_undone.discard(root_id)

    def state(self, root_id: str) -> tuple[bool, bool, list[str] | None]:
        """Whether there is something to undo, to redo, and which documents the next undo would write."""
        undo = self._undo.get(root_id, [])
        peek = list(dict.fromkeys(undo[-1].mutated_roots)) if undo else None
        return bool(undo), bool(self._redo.get(root_id)), peek

    def take_undo(self, root_id: str) -> Transaction | None:
        stack = self._undo.get(root_id)
        return stack[-1] if stack else None

    def take_redo(self, root_id: str) -> Transaction | None:
        stack = self._redo.get(root_id)
        return stack[-1] if stack else None

    def undone(self, entry: Transaction, root_id: str) -> None:
        """An entry was undone from this document: it can be redone from here, and undone nowhere any more."""
        for other in entry.mutated_roots:
            self._undo[other] = [one for one in self._undo.get(other, []) if one is not entry]
        redo = self._redo.setdefault(root_id, [])
        redo.append(entry)
        del redo[: -self._steps_max]
        self._was_undone.add(root_id)

    def redone(self, entry: Transaction, root_id: str) -> None:
        self._redo[root_id] = [one for one in self._redo.get(root_id, []) if one is not entry]
        for other in entry.mutated_roots:
            stack = self._undo.setdefault(other, [])
            stack.append(entry)
            del stack[: -self._steps_max]

    def clear(self, root_id: str) -> None:
        """Forget a document's steps, and those it shares with others; "" forgets all."""
        if not root_id:
            self.__init__(self._steps_max)  # type: ignore[misc]
            return
        gone = [*self._undo.pop(root_id, []), *self._redo.pop(root_id, [])]
        shared = {id(entry) for entry in gone if any(other != root_id for other in entry.mutated_roots)}
        for stacks in (self._undo, self._redo):
            for other, stack in stacks.items():
                stacks[other] = [entry for entry in stack if id(entry) not in shared]


def replayed(operations: list[Operation] | None) -> list[Operation]:
    """Operations to be done again, without touching those remembered."""
    return [operation.copy() for operation in operations or ()]


def undo_state_json(log: UndoLog, roots: list[str]) -> dict[str, Any]:
    states = {}
    for root_id in roots:
        can_undo, can_redo, _ = log.state(root_id)
        states[root_id] = {"canUndo": can_undo, "canRedo": can_redo}
    return states

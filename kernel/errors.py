"""Every tool-level error code in one table (docs/errors.md is printed from it): type, what to do next, retry or not.

JSON-RPC errors are another level and have their own table in ``kernel.mcp``. Does no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row. ``type`` is the coarse class a client may switch on; ``safe_to_retry``: the same call, unchanged."""

    code: str
    type: str
    next_step: str
    safe_to_retry: bool


def _rows(*rows: tuple[str, str, bool, str]) -> dict[str, ErrorKind]:
    return {code: ErrorKind(code, type_, next_step, retry) for code, type_, retry, next_step in rows}


ERRORS: Final[dict[str, ErrorKind]] = _rows(
    # --- strict safe writes (strict-safe-writes, error table) ---
    (
        "precondition_required",
        "validation_error",
        False,
        "Repeat the call with validateOnly:true and copy requestId and the field that preconditionField names.",
    ),
    (
        "invalid_request_id",
        "validation_error",
        False,
        "Copy the requestId of a preflight exactly as it was issued; never make, shorten or rename one.",
    ),
    (
        "request_id_expired",
        "validation_error",
        False,
        "Read the target, then repeat the call with validateOnly:true to get a new requestId.",
    ),
    (
        "preflight_lease_invalid",
        "validation_error",
        False,
        "Repeat the same business arguments with validateOnly:true and commit with the values it returns.",
    ),
    (
        "state_changed",
        "state_changed",
        False,
        "Stop: read the target again and decide whether the change is still wanted, then preflight anew.",
    ),
    (
        "outcome_unknown",
        "outcome_unknown",
        False,
        "Do not send it again with a new requestId: check the target by reading, or repeat the same requestId.",
    ),
    (
        "readback_mismatch",
        "readback_mismatch",
        False,
        "Treat the result as unknown: read the target and compare before doing anything else.",
    ),
    (
        "idempotency_conflict",
        "state_changed",
        False,
        "This requestId belongs to other arguments: preflight this call to get its own requestId.",
    ),
    (
        "idempotency_unavailable",
        "write_safety_error",
        False,
        "The end state could not be recorded: check the target, then repeat the same requestId.",
    ),
    (
        "write_coordinator_unavailable",
        "write_safety_error",
        True,
        "Check that the kernel endpoint (or the configured coordinator) runs, then preflight again.",
    ),
    (
        "write_coordinator_changed",
        "write_safety_error",
        False,
        "The workspace has another coordinator now: restart this process and preflight again.",
    ),
    (
        "preflight_unavailable",
        "write_safety_error",
        False,
        "This action is an external effect: once its user has agreed, call it without validateOnly and without hashes.",
    ),
    (
        "strict_mode_disabled",
        "write_safety_error",
        False,
        "Strict safe writes are switched off: call the action without validateOnly, requestId and hashes.",
    ),
    (
        "write_ledger_unavailable",
        "write_safety_error",
        True,
        "The write ledger cannot be read or written: free disk space or repair it; nothing was executed.",
    ),
    (
        "write_ledger_capacity",
        "write_safety_error",
        True,
        "Too many live request ids: wait until some expire (10 minutes), then preflight again.",
    ),
    ("request_id_collision", "write_safety_error", True, "Preflight again; no id could be issued this time."),
    ("write_safety_failed", "write_safety_error", True, "The target could not be read for the check; try again."),
    # --- admission, lanes, cancellation, tasks ---
    ("queue_full", "overloaded", True, "Nothing was executed: wait retryAfterMs and send the same call again."),
    ("duplicate_request", "conflict", False, "A call with this id is still running: wait for it, or use another id."),
    ("request_cancelled", "cancelled", True, "The call was cancelled before it executed anything."),
    (
        "read_budget_exceeded",
        "budget_exceeded",
        False,
        "Narrow the query or use a smaller page: one read may make 128 host calls and take 8 MiB.",
    ),
    ("read_deadline_exceeded", "budget_exceeded", False, "Narrow the query or raise kernelOptions.readTimeoutMs."),
    (
        "access_changed",
        "permission_denied",
        False,
        "Permissions or tools changed since. A read: call it again. A strict write: repeat the call with its own requestId,"
        " which tells what became of it and never writes twice. Anything else: look at its target first.",
    ),
    (
        "result_too_large",
        "too_large",
        False,
        "The result was over 1 MiB and not kept: repeat the read with smaller pages.",
    ),
    # --- confirmation ---
    (
        "dangerous_action_requires_confirmation",
        "confirmation_required",
        True,
        "Ask your user; if they agree, repeat the call with confirm:true.",
    ),
    ("confirmation_declined", "confirmation", False, "The user declined: do not repeat the call unless asked to."),
    ("confirmation_cancelled", "confirmation", False, "The user cancelled: do not repeat the call unless asked to."),
    (
        "confirmation_invalid",
        "confirmation",
        False,
        "The answer to the form was malformed. The user has not withdrawn; check the client's elicitation support.",
    ),
    # --- arguments, switches, permissions ---
    (
        "validation_error",
        "validation_error",
        False,
        "Correct the named fields; action=help shows what an action takes.",
    ),
    ("unknown_tool", "unknown_tool", False, "List the tools and use one of their names."),
    ("unknown_action", "unknown_action", False, "Use one of validActions; action=help explains them."),
    ("unknown_help_topic", "unknown_help_topic", False, "Use one of validTopics."),
    (
        "action_disabled",
        "action_disabled",
        False,
        "The owner switched this off in mcpToolsConfig; ask them to switch it on.",
    ),
    (
        "permission_denied",
        "permission_denied",
        False,
        "The notebook's permission forbids this; ask its owner to raise it.",
    ),
    ("not_found", "not_found", False, "Look the target up again: it may have moved or been removed."),
    ("block_not_found", "not_found", False, "Look the block up again: it may have moved or been removed."),
    ("document_not_found", "not_found", False, "Look the document up again, or make it first."),
    ("notebook_not_found", "not_found", False, "List the notebooks and use one of their ids."),
    ("notebook_closed", "api_error", False, "Open the notebook with set_open_state, then call again."),
    ("av_not_found", "not_found", False, "Search the databases and use an avID from there."),
    ("av_owner_missing", "permission_denied", False, "Name the block that shows the database as blockID."),
    ("av_owner_stale", "permission_denied", False, "The block no longer shows this database: name another as blockID."),
    ("invalid_path", "invalid_path", False, "Use a path of an existing notebook: /Notebook/Document."),
    ("ambiguous_path", "ambiguous_path", False, "Several documents have this path: use an id from the candidates."),
    (
        "invalid_arguments",
        "invalid_arguments",
        False,
        "Correct the arguments; action=help shows what belongs together.",
    ),
    (
        "complex_blocks_not_supported_by_fs",
        "complex_blocks_not_supported_by_fs",
        False,
        "The document holds blocks that Markdown cannot carry: change its blocks one by one.",
    ),
    (
        "structured_assets_overwrite_rejected",
        "structured_assets_overwrite_rejected",
        False,
        "Overwriting would lose attributes or references: change the blocks one by one.",
    ),
    ("pending_verification", "readback_mismatch", False, "Read the target again before doing anything else."),
    ("ambiguous", "resolution_error", False, "Several targets match: use an id."),
    ("conflict", "conflict", False, "The target exists already: choose another name, or overwrite on purpose."),
    ("no_match", "no_match", False, "Read the target and copy the text to be replaced exactly."),
    ("resolution_error", "resolution_error", False, "Look the target up and use its id."),
    ("too_large", "too_large", False, "Make the request smaller; the limits are in docs/limits.md."),
    ("unsupported", "unsupported", False, "This host does not offer it."),
    # --- the host ---
    ("api_error", "api_error", False, "The note kernel refused: its own message says why."),
    (
        "host_unavailable",
        "host_unavailable",
        True,
        "The note kernel does not answer: check that it runs, then try again.",
    ),
    (
        "host_unauthorized",
        "api_error",
        False,
        "The note kernel refuses the credential: give its API token (SISYPHUS_HOST_TOKEN), then call again.",
    ),
    (
        "host_malformed",
        "api_error",
        False,
        "The note kernel's answer was not understood: check its version and address.",
    ),
    (
        "settings_unreadable",
        "internal_error",
        False,
        "The owner repairs the named file of the plugin's settings; nothing is allowed until then.",
    ),
    ("internal_error", "internal_error", False, "A fault of this server: report it with what its log says."),
    # --- transfers, templates, files ---
    (
        "upload_source_expired",
        "validation_error",
        False,
        "Upload the file again and preflight with the new uploadSource.",
    ),
    ("upload_capacity", "overloaded", True, "The staging area is full: wait until uploads expire, then try again."),
    (
        "kernel_local_file_unavailable",
        "internal_error",
        False,
        "This endpoint reads no files of yours: send the bytes to /transfer/upload and pass uploadSource.",
    ),
    ("template_exists", "conflict", False, "Pass overwrite:true to replace it on purpose."),
    ("template_not_found", "not_found", False, "List the templates and use one of their paths."),
    (
        "invalid_template_path",
        "validation_error",
        False,
        "A template's path ends in .md and stays below data/templates.",
    ),
    ("path_not_in_workspace", "validation_error", False, "Use a path inside the workspace."),
    ("local_export_failed", "internal_error", False, "The export was made, saving it failed: check the output folder."),
    ("local_export_cancelled", "cancelled", False, "The export was made, saving it was cancelled."),
)


_READ_AGAIN: Final = "It can have changed nothing: call it again, or go on asking for its result."
_NEW_ID: Final = "This requestId is used up: preflight again for another."


class ToolError(Exception):
    """A tool-level failure: a result with ``isError``, never a JSON-RPC error.

    ``details`` are further keys of the ``error`` object (camelCase, as on the wire); ``outer`` are keys beside it.
    ``has_used_up_id``: the refusal is kept under the call's requestId, so the same call can only hear it again.
    ``is_of_read``: the call could change nothing, so it may be made again whatever became of it.
    """

    has_used_up_id = False
    is_of_read = False

    def __init__(self, code: str, message: str, *, outer: dict[str, Any] | None = None, **details: Any) -> None:
        super().__init__(message)
        if code not in ERRORS:
            raise LookupError(f"error code {code!r} is not in the table")
        self.code = code
        self.message = message
        self.details = details
        self.outer = outer or {}

    @property
    def kind(self) -> ErrorKind:
        return ERRORS[self.code]

    def error_object(self) -> dict[str, Any]:
        """The ``error`` object: type, code, message, what to do next, whether a retry is safe, and the details."""
        kind = self.kind
        is_spent = kind.safe_to_retry and self.has_used_up_id
        next_step = _READ_AGAIN if self.is_of_read else kind.next_step
        return {
            "type": kind.type,
            "code": kind.code,
            "message": self.message,
            **self.details,
            "nextStep": f"{next_step} {_NEW_ID}" if is_spent else next_step,
            "safeToRetry": self.is_of_read or (kind.safe_to_retry and not is_spent),
        }

    def payload(self) -> dict[str, Any]:
        """The whole structured content of a failed call."""
        return {**self.outer, "error": self.error_object()}

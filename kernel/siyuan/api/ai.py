"""/api/ai: models and the agent. No model is asked (decision 55), so each answer is that of a kernel without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.siyuan.agent_sessions import SessionRefused, joined_session, named_session
from kernel.siyuan.api.messages import show_message
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.dispatch import RawAnswer
from kernel.siyuan.sections import fitted
from kernel.siyuan.skills import SkillRefused, listed_skills, read_skill, remove_skill, rename_skill, save_skill
from kernel.wire import JSON_UTF8
from kernel.workspace.conf_shapes import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.go_struct import Record

NOT_CONFIGURED: Final = "Please refer to the [Artificial Intelligence] chapter of the User Guide for configuration"
NO_PROVIDER: Final = "no AI provider configured"
UNKNOWN_PROVIDER: Final = "provider not found"
UNKNOWN_SERVER: Final = "MCP server not found"
BAD_SESSION: Final = "invalid session id"
UNTITLED_SESSION: Final = "AI Agent"
OFFLINE: Final = "network is unreachable"
SESSIONS_DIR: Final = "data/storage/ai/agent/sessions"
PAGE_SIZE: Final = 30
MESSAGE_MS: Final = 5000
_SESSIONS: Final = record("api.agentSessionsReq", "int: page pageSize\ntext: keyword")
_SESSION: Final = record("api.agentSessionGetReq", "text: id")
_SKILL: Final = record("api.skillSaveReq", "text: name content")
_RENAME: Final = record("api.skillRenameReq", "text: oldName newName")
_STAT: Final = ("total", "indexed", "pending", "failed", "ignoredByLen", "ignoredByConfig")


# --- models -----------------------------------------------------------------------------------------------------
def chat(call: Call) -> Any:
    call.arguments.required_str("msg")
    return _not_configured(call)


def chat_with_action(call: Call) -> Any:
    call.arguments.raw_str_list("ids")
    call.arguments.raw_str("action")
    return _not_configured(call)


def _not_configured(call: Call) -> str:
    show_message(call, NOT_CONFIGURED, MESSAGE_MS)
    return ""


def test_model(call: Call) -> Any:
    provider = call.arguments.required_str("provider")
    call.arguments.required_str("model")
    _check_provider(call, provider)
    return {"available": None, "matched": False, "msg": OFFLINE}


def list_models(call: Call) -> Any:
    _check_provider(call, call.arguments.required_str("provider"))
    return {"models": None, "msg": OFFLINE}


def _check_provider(call: Call, provider: str) -> None:
    if all(one["id"] != provider for one in call.kernel.workspace.conf.section("ai")["providers"]):
        raise ApiError(UNKNOWN_PROVIDER)


def test_embedding(call: Call) -> Any:
    embedding = call.kernel.workspace.conf.section("ai")["embedding"]
    if not (embedding["apiKey"] and embedding["baseURL"] and embedding["name"]):
        return {"matched": False, "msg": "embedding model not configured"}
    return {"matched": False, "dimensions": 0, "msg": OFFLINE}


def test_rerank(call: Call) -> Any:
    rerank = call.kernel.workspace.conf.section("ai")["rerank"]
    if not (rerank["apiKey"] and rerank["endpoint"] and rerank["name"]):
        return {"matched": False, "msg": "rerank model not configured"}
    return {"matched": False, "msg": OFFLINE}


def embedding_stat(call: Call) -> Any:
    """Nothing is embedded here."""
    return {**dict.fromkeys(_STAT, 0), "enabled": False}


def nothing_to_embed(call: Call) -> Any:
    """Reindexing or retrying nothing is nothing."""


# --- MCP servers that the kernel's agent would use --------------------------------------------------------------
def mcp_status(call: Call) -> Any:
    """The servers that are on: none of them is connected."""
    servers = call.kernel.workspace.conf.section("ai")["mcp"]["servers"]
    return [{"name": one["name"], "connected": False, "tools": 0} for one in servers if one["enabled"]]


def authorize_server(call: Call) -> Any:
    raise ApiError(UNKNOWN_SERVER)


def disconnect_server(call: Call) -> Any:
    """None is connected."""


# --- sessions of the agent --------------------------------------------------------------------------------------
def agent_chat(call: Call) -> Any:
    raise ApiError(NOT_CONFIGURED)


def agent_title(call: Call) -> Any:
    raise ApiError(NO_PROVIDER)


def expired(what: str) -> Callable[[Call], Any]:
    """The answer to a question that nobody has asked: HTTP 409."""
    return lambda call: _with_status(409, f"agent {what} expired")


def list_sessions(call: Call) -> Any:
    """Stored sessions, the one begun last first."""
    given = _request(call, _SESSIONS)
    page = given["page"] if given["page"] > 0 else 1
    size = given["pageSize"] if given["pageSize"] > 0 else PAGE_SIZE
    keyword = given["keyword"].strip().lower()
    found = [one for one in _sessions(call) if keyword in one["title"].lower()]
    found.sort(key=lambda one: -one["createdAt"])
    shown = found[(page - 1) * size : page * size]
    return {"sessions": shown, "total": len(found), "page": page, "pageSize": size}


def _sessions(call: Call) -> list[dict[str, Any]]:
    files = call.kernel.workspace.files
    entries = files.list(SESSIONS_DIR) if files.is_dir(SESSIONS_DIR) else []
    sessions = (_stored_session(call, entry.name) for entry in entries if entry.is_dir)
    return [
        {
            "id": session["id"],
            "title": str(session.get("title") or UNTITLED_SESSION),
            "createdAt": int(session.get("createdAt") or 0),
            "updatedAt": int(session.get("updatedAt") or 0),
        }
        for session in sessions
        if session is not None and session.get("id")
    ]


def _stored_session(call: Call, session_id: str) -> dict[str, Any] | None:
    files, path = call.kernel.workspace.files, f"{SESSIONS_DIR}/{session_id}/session.json"
    try:
        session = read_json(files.read(path)) if files.exists(path) else None
    except ValueError:
        return None
    return session if isinstance(session, dict) else None


def get_session(call: Call) -> Any:
    session_id = _request(call, _SESSION)["id"]
    if not is_node_id(session_id):
        raise ApiError(BAD_SESSION)
    session = _stored_session(call, session_id)
    if session is None:
        path = call.kernel.workspace.files.absolute(f"{SESSIONS_DIR}/{session_id}/session.json")
        raise ApiError(f"open {path}: no such file or directory")
    return session


def save_session(call: Call) -> Any:
    """Store a session; another client's later saving is not overwritten."""
    try:
        session_id = named_session(call.arguments.values)
        session = joined_session(call.arguments.values, _stored_session(call, session_id))
    except SessionRefused as refusal:
        told = None if refusal.revision is None else {"revision": refusal.revision}
        return _with_status(refusal.status, refusal.message, told)
    content = json.dumps(session, ensure_ascii=False, indent="\t", sort_keys=True)
    call.kernel.workspace.files.write(f"{SESSIONS_DIR}/{session_id}/session.json", content.encode("utf-8", "replace"))
    _tell_session(call, session_id, "update")
    return {"revision": session["revision"]}


def remove_session(call: Call) -> Any:
    session_id = _request(call, _SESSION)["id"]
    if not is_node_id(session_id):
        return _with_status(500, BAD_SESSION)
    files = call.kernel.workspace.files
    if files.is_dir(f"{SESSIONS_DIR}/{session_id}"):
        files.remove(f"{SESSIONS_DIR}/{session_id}")
    _tell_session(call, session_id, "delete")
    return None


def _tell_session(call: Call, session_id: str, action: str) -> None:
    """The talks of other apps than the one that says its name are shown anew."""
    app = call.headers.get("x-siyuan-app-id", "")
    if app:
        data = {"sessionID": session_id, "action": action}
        call.kernel.workspace.emit("agentSessionChanged", data, to=("agentChat",), excludes_app=app)


# --- skills of the agent ----------------------------------------------------------------------------------------
def list_skills(call: Call) -> Any:
    return list(listed_skills(call.kernel.workspace.files)) or None


def get_skill(call: Call) -> Any:
    name = _request(call, _SKILL)["name"]
    return {"name": name, "content": _skill_work(lambda: read_skill(call.kernel.workspace.files, name))}


def store_skill(call: Call) -> Any:
    given = _request(call, _SKILL)
    _skill_work(lambda: save_skill(call.kernel.workspace.files, given["name"], given["content"]))


def drop_skill(call: Call) -> Any:
    name = _request(call, _SKILL)["name"]
    _skill_work(lambda: remove_skill(call.kernel.workspace.files, name))


def move_skill(call: Call) -> Any:
    given = _request(call, _RENAME)
    _skill_work(lambda: rename_skill(call.kernel.workspace.files, given["oldName"], given["newName"]))


def _skill_work(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except SkillRefused as error:
        raise ApiError(str(error)) from error


def _request(call: Call, kind: Record) -> dict[str, Any]:
    try:
        given: dict[str, Any] = fitted(kind, call.arguments.values)
    except ApiError as error:
        raise ApiError(f"invalid request: {error.message}") from error
    return given


def _with_status(status: int, message: str, data: Any = None) -> RawAnswer:
    body = json.dumps({"code": -1, "msg": message, "data": data}, separators=(",", ":")).encode()
    return RawAnswer(status, (("Content-Type", JSON_UTF8),), body)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/ai/chatGPT": chat,
    "/api/ai/chatGPTWithAction": chat_with_action,
    "/api/ai/testModel": test_model,
    "/api/ai/listModels": list_models,
    "/api/ai/testEmbeddingModel": test_embedding,
    "/api/ai/testRerankModel": test_rerank,
    "/api/ai/embeddingStat": embedding_stat,
    "/api/ai/reindexEmbedding": nothing_to_embed,
    "/api/ai/retryFailedEmbedding": nothing_to_embed,
    "/api/ai/mcpStatus": mcp_status,
    "/api/ai/mcpOAuthAuthorize": authorize_server,
    "/api/ai/mcpOAuthDisconnect": disconnect_server,
    "/api/ai/agent/chat": agent_chat,
    "/api/ai/agent/title": agent_title,
    "/api/ai/agent/confirm": expired("confirmation"),
    "/api/ai/agent/question": expired("question"),
    "/api/ai/agent/frontendToolResult": expired("frontend tool call"),
    "/api/ai/agent/lsSessions": list_sessions,
    "/api/ai/agent/getSession": get_session,
    "/api/ai/agent/saveSession": save_session,
    "/api/ai/agent/removeSession": remove_session,
    "/api/ai/agent/lsSkills": list_skills,
    "/api/ai/agent/getSkill": get_skill,
    "/api/ai/agent/saveSkill": store_skill,
    "/api/ai/agent/removeSkill": drop_skill,
    "/api/ai/agent/renameSkill": move_skill,
}

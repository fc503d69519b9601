"""[core] The ``ai`` section of the settings: its records, what it holds at first, and the bounds it is kept within."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.conf_shapes import record
from kernel.workspace.go_struct import TEXT, ListOf, MapOf, Optional, zero

if TYPE_CHECKING:
    from kernel.workspace.go_struct import Record

_MIB: Final = 1024 * 1024
_MEGAPIXEL: Final = 1_000_000

_MCP_SERVER: Final = record(
    "conf.MCPServer",
    """
    text: id name
    bool: enabled
    text: type command
    texts: args
    text: url
    headers: headers
    int: timeout
    bool: trustToolAnnotations
    """,
    {"headers": MapOf(TEXT)},
)
MCP: Final = record("conf.MCP", "servers: servers", {"servers": ListOf(_MCP_SERVER)})
_MODEL: Final = record("conf.Model", "text: id displayName\nbool: enabled\ntext: name", omitted_when_zero="displayName")
PROVIDER: Final = record(
    "conf.Provider",
    """
    text: id displayName
    bool: enabled
    text: apiKey baseURL protocol
    int: requestTimeout
    models: models
    """,
    {"models": ListOf(_MODEL, is_optional=True)},
    omitted_when_zero="displayName protocol",
)
EMBEDDING: Final = record(
    "conf.Embedding", "text: id\nbool: enabled\ntext: apiKey baseURL name\nint: timeout dimensions"
)
RERANK: Final = record(
    "conf.Rerank", "text: id\nbool: enabled\ntext: apiKey endpoint name\nint: timeout candidateCount"
)
AGENT: Final = record(
    "conf.Agent",
    """
    text: modelId
    int: sessionTimeout streamIdleTimeout confirmTimeout maxRetries
    float: temperature
    int: maxCompletionTokens maxToolCallRounds
    """,
)
EDITING: Final = record(
    "conf.Editing", "text: modelId\nint: maxHistoryMessages\nfloat: temperature\nint: maxCompletionTokens"
)
VISION: Final = record("conf.Vision", "text: modelId\nint: requestTimeout maxImageBytes maxPixels maxEdge")
IMAGE_GENERATION: Final = record(
    "conf.ImageGeneration", "text: modelId\nint: requestTimeout\ntext: size quality outputFormat"
)
_PARTS: Final[dict[str, Record]] = {
    "mcp": MCP,
    "embedding": EMBEDDING,
    "rerank": RERANK,
    "agent": AGENT,
    "editing": EDITING,
    "vision": VISION,
    "imageGeneration": IMAGE_GENERATION,
}
AI: Final = record(
    "conf.AI",
    "".join(f"{name}: {name}\n" for name in _PARTS) + "providers: providers",
    {**{name: Optional(part) for name, part in _PARTS.items()}, "providers": ListOf(PROVIDER, is_optional=True)},
)
_AT_FIRST: Final[dict[str, dict[str, Any]]] = {
    "mcp": {"servers": []},
    "embedding": {"timeout": 30},
    "rerank": {"timeout": 30, "candidateCount": 30},
    "agent": {
        "sessionTimeout": 600,
        "streamIdleTimeout": 120,
        "confirmTimeout": 120,
        "maxRetries": 3,
        "temperature": 1,
        "maxToolCallRounds": 64,
    },
    "editing": {"maxHistoryMessages": 7, "temperature": 1},
    "vision": {"requestTimeout": 300, "maxImageBytes": 20 * _MIB, "maxPixels": 40 * _MEGAPIXEL, "maxEdge": 2048},
    "imageGeneration": {"requestTimeout": 300, "size": "1024x1024", "quality": "auto", "outputFormat": "png"},
}
# part, field, lowest, what stands where it is lower, highest (None: unbounded)
_BOUNDS: Final[tuple[tuple[str, str, float, float, float | None], ...]] = (
    ("agent", "sessionTimeout", 0, 0, 3600),
    ("agent", "streamIdleTimeout", 1, 120, 600),
    ("agent", "maxRetries", 0, 0, 10),
    ("editing", "maxCompletionTokens", 0, 0, None),
    ("editing", "temperature", 0, 0, 2),
    ("editing", "maxHistoryMessages", 1, 1, 64),
    ("vision", "requestTimeout", 1, 300, 600),
    ("vision", "maxImageBytes", _MIB, 20 * _MIB, 100 * _MIB),
    ("vision", "maxPixels", _MEGAPIXEL, 40 * _MEGAPIXEL, 100 * _MEGAPIXEL),
    ("vision", "maxEdge", 512, 2048, 4096),
    ("imageGeneration", "requestTimeout", 1, 300, 600),
    ("embedding", "timeout", 1, 30, None),
    ("embedding", "dimensions", 0, 0, None),
    ("rerank", "timeout", 1, 30, None),
    ("rerank", "candidateCount", 5, 5, 100),
)
_OPENAI_URL: Final = "https://api.openai.com/v1"


def complete_ai(ai: dict[str, Any], new_id: Callable[[], str], new_uuid: Callable[[], str]) -> None:
    """Fill in what is missing and bring what is out of bounds back, in place."""
    for name, values in _AT_FIRST.items():
        if ai[name] is None:
            ai[name] = {**zero(_PARTS[name]), **values}
    for part, name, low, instead, high in _BOUNDS:
        if ai[part][name] < low:
            ai[part][name] = instead
        elif high is not None and ai[part][name] > high:
            ai[part][name] = high
    _complete_images(ai["imageGeneration"])
    _complete_servers(ai["mcp"], new_uuid)
    ai["providers"] = [_completed_provider(one, new_id) for one in ai["providers"] or [] if one is not None]
    for part in ("embedding", "rerank"):
        if not is_node_id(ai[part]["id"]):
            ai[part]["id"] = new_id()


def _complete_images(images: dict[str, Any]) -> None:
    images["size"] = images["size"].strip() or "1024x1024"
    images["quality"] = images["quality"].strip() or "auto"
    wanted = images["outputFormat"].strip().lower()
    images["outputFormat"] = wanted if wanted in ("jpeg", "webp") else "png"


def _complete_servers(mcp: dict[str, Any], new_uuid: Callable[[], str]) -> None:
    mcp["servers"] = mcp["servers"] or []
    seen: set[str] = set()
    for server in mcp["servers"]:
        if not server["id"] or server["id"] in seen:
            server["id"] = new_uuid()
        seen.add(server["id"])


def _completed_provider(provider: dict[str, Any], new_id: Callable[[], str]) -> dict[str, Any]:
    for name in ("displayName", "apiKey"):
        provider[name] = provider[name].strip()
    provider["baseURL"] = provider["baseURL"].strip() or _OPENAI_URL
    provider["protocol"] = provider["protocol"].strip().lower() or "openai"
    timeout = provider["requestTimeout"]
    provider["requestTimeout"] = 120 if timeout < 1 else min(timeout, 600)
    if not is_node_id(provider["id"]):
        provider["id"] = new_id()
    provider["models"] = [model for model in provider["models"] or [] if model is not None]
    for model in provider["models"]:
        model["name"] = model["name"].strip() or "model"
        model["displayName"] = model["displayName"].strip()
        if not is_node_id(model["id"]):
            model["id"] = new_id()
    return provider

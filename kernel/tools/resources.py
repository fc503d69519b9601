"""Help resources, skills and prompts, derived from the table and our own texts. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kernel.tools import apps, guides, skills
from kernel.tools import help as help_pages
from kernel.tools.configuration import Configuration
from kernel.tools.preparation import offered
from kernel.tools.registry import TOOLS, Tool, find_action
from kernel.tools.results import text_of

MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
ACTION_TEMPLATE: Final = "siyuan://help/action/{tool}/{action}"
SKILL_TEMPLATE: Final = "siyuan://skills/{name}"
_ACTION_PREFIX: Final = "siyuan://help/action/"
_SKILL_PREFIX: Final = "siyuan://skills/"
_HELP: Final[dict[str, tuple[str, str]]] = {
    "tool-overview": ("The tools", "All tools and actions at a glance."),
    "document-path-semantics": ("Paths and ids", "Which path is which."),
    "examples": ("Examples", "Typical sequences of calls."),
    "ai-layout-guide": ("Writing notes", "How notes stay pleasant to read."),
    "write-safety": ("Strict safe writes", "Preflight, credentials, what to do when something is unknown."),
    "changelog": ("What changed", "Changes between versions of this product."),
    "user-rules": ("The user's rules", "What the user asks of every agent."),
}
_TEXTS: Final[dict[str, str]] = {
    "document-path-semantics": guides.PATHS,
    "examples": guides.EXAMPLES,
    "ai-layout-guide": guides.LAYOUT,
    "write-safety": guides.WRITE_SAFETY,
    "changelog": guides.CHANGELOG,
}


def listed(configuration: Configuration) -> list[dict[str, Any]]:
    """The resources: views, help, scenarios, and the files of the skills if they are served."""
    rows = apps.resources(configuration)
    rows += [_row(f"siyuan://help/{name}", title, about) for name, (title, about) in _HELP.items()]
    rows.append(_row(_SKILL_PREFIX + "index", "Scenarios", "The scenarios that prompts and skills describe."))
    rows += [_row(_SKILL_PREFIX + name, title, f"Scenario: {title}.") for name, (title, _) in guides.PROMPTS.items()]
    return [*rows, *(skills.resources() if configuration.serves_skills else [])]


def templates() -> list[dict[str, Any]]:
    return [
        {
            "uriTemplate": ACTION_TEMPLATE,
            "name": "action-help",
            "title": "One action in full",
            "description": "Arguments, example and write safety of one action.",
            "mimeType": JSON,
        },
        {
            "uriTemplate": SKILL_TEMPLATE,
            "name": "skill",
            "title": "One scenario",
            "description": "How to go about a typical task.",
            "mimeType": MARKDOWN,
        },
    ]


def read(uri: str, configuration: Configuration) -> list[dict[str, Any]] | None:
    """The contents of one resource; None for an unknown one."""
    if uri.startswith(apps.URI_PREFIX):
        return apps.read(uri, configuration)
    if uri.startswith(skills.SCHEME):
        return skills.read(uri) if configuration.serves_skills else None
    if uri.startswith(_ACTION_PREFIX):
        return _action_help(uri, configuration)
    if uri.startswith(_SKILL_PREFIX):
        return _skill(uri)
    name = uri.removeprefix("siyuan://help/")
    if name == uri or name not in _HELP:
        return None
    if name == "tool-overview":
        return _text(uri, overview(configuration))
    if name == "user-rules":
        return _text(uri, configuration.user_rules or "The user has set no rules.\n")
    return _text(uri, _TEXTS[name])


def overview(configuration: Configuration) -> str:
    """All enabled tools with one line per action."""
    parts = [guides.OVERVIEW_HEAD]
    for tool in configuration.enabled_tools():
        actions = offered(configuration, tool)
        if actions:
            rows = "\n".join(f"- `{a.name}`{'*' if a.is_dangerous else ''}: {a.summary}" for a in actions)
            parts.append(f"## {tool.name}: {tool.title}\n\n{tool.summary}\n\n{rows}\n")
    return "\n".join(parts)


def _action_help(uri: str, configuration: Configuration) -> list[dict[str, Any]] | None:
    tool_name, _, action_name = uri.removeprefix(_ACTION_PREFIX).partition("/")
    tool: Tool | None = TOOLS.get(tool_name)
    action = find_action(tool, action_name) if tool is not None else None
    if tool is None or action is None:
        return None
    payload = help_pages.topic(tool, action, is_strict=configuration.is_strict)
    return [{"uri": uri, "mimeType": JSON, "text": text_of(payload)}]


def _skill(uri: str) -> list[dict[str, Any]] | None:
    name = uri.removeprefix(_SKILL_PREFIX)
    if name == "index":
        rows = "\n".join(f"- `{_SKILL_PREFIX}{name}`: {title}" for name, (title, _) in guides.PROMPTS.items())
        return _text(uri, f"# Scenarios\n\n{rows}\n")
    if name not in guides.PROMPTS:
        return None
    title, task = guides.PROMPTS[name]
    return _text(uri, f"# {title}\n\n{task}\n")


def _text(uri: str, text: str) -> list[dict[str, Any]]:
    return [{"uri": uri, "mimeType": MARKDOWN, "text": text}]


def _row(uri: str, title: str, about: str) -> dict[str, Any]:
    name = uri.split("://", 1)[1].replace("/", "-")
    return {"uri": uri, "name": name, "title": title, "description": about, "mimeType": MARKDOWN}


# --- prompts ---


def prompts() -> list[dict[str, Any]]:
    task = {"name": "task", "description": "What exactly is wanted.", "required": False}
    return [
        {"name": guides.PROMPT_PREFIX + name, "title": title, "description": text, "arguments": [task]}
        for name, (title, text) in guides.PROMPTS.items()
    ]


def prompt(name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """One prompt's messages; None for an unknown one."""
    row = guides.PROMPTS.get(name.removeprefix(guides.PROMPT_PREFIX)) if name.startswith(guides.PROMPT_PREFIX) else None
    if row is None:
        return None
    title, text = row
    task = arguments.get("task")
    asked = f"{text}\n\nThe task: {task}" if isinstance(task, str) and task else text
    return {"description": title, "messages": [{"role": "user", "content": {"type": "text", "text": asked}}]}


def completions(reference: Mapping[str, Any], argument: Mapping[str, Any]) -> list[str]:
    """What the argument of a template may be, as far as it was typed."""
    typed = str(argument.get("value") or "")
    options: list[str] = []
    if reference.get("type") == "ref/resource":
        if argument.get("name") == "tool":
            options = list(TOOLS)
        elif argument.get("name") == "action":
            options = sorted({action.name for tool in TOOLS.values() for action in tool.actions})
        elif argument.get("name") == "name":
            options = ["index", *guides.PROMPTS]
    return [option for option in options if option.startswith(typed)]


# --- instructions ---


def instructions(configuration: Configuration, now_ms: int, written_ms: int | None, stale_after_ms: int) -> str:
    """What a client reads first: the user's rules, the agents' memory, how to work here."""
    parts = []
    if configuration.user_rules:
        parts.append(f"{guides.RULES_HEAD}\n{configuration.user_rules}")
    if not configuration.memory:
        parts.append(guides.MEMORY_MISSING)
    else:
        is_stale = written_ms is None or now_ms - written_ms > stale_after_ms
        parts.append(f"{guides.MEMORY_STALE if is_stale else guides.MEMORY_FRESH}\n{configuration.memory}")
    parts.append(guides.WORKING_RULES)
    if configuration.is_strict:
        parts.append(guides.STRICT_RULE)
    parts += [guides.SYNTAX, guides.POINTERS]
    return "\n\n".join(parts)

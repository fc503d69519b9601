"""The MCP Apps: which views there are, the tools that open them, and the tools that only a view may call. Does no I/O.

A view's actions are those of its aggregate tool, as far as both the tool and ``mcpApps`` allow them: the same rights,
confirmations and preflights hold. Sessions go through the mutation lane, whatever they do (S1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.policy import READ
from kernel.tools import app_pages, failures, preparation, results, schema
from kernel.tools.configuration import Configuration
from kernel.tools.limits import APP_CARDS_MAX, APP_REASON_CHARS_MAX
from kernel.tools.registry import TOOLS, Action, find_action
from kernel.tools.registry.model import Problem, Tool
from kernel.tools.registry.signature import parse, record_of
from kernel.tools.service import Caller, Refused
from kernel.tools.validation import ArgumentsInvalid, validated

URI_PREFIX: Final = "ui://siyuan-sisyphus/"
OPEN: Final = "open"
_ONLY_APPS: Final = "mcp-app-only"


@dataclass(frozen=True, slots=True)
class App:
    """One view. ``key`` names its switch, ``tool`` the aggregate tool that does its work."""

    key: str
    page: str
    title: str
    tool: str
    action_tool: str
    actions: tuple[str, ...]
    launch: Action

    @property
    def uri(self) -> str:
        return URI_PREFIX + self.page

    @property
    def launch_tool(self) -> Tool:
        return Tool(self.launch.tool, self.title, self.launch.summary, (self.launch,))


def _one_choice(arguments: Mapping[str, Any]) -> list[Problem]:
    given = [name for name in ("candidateToken", "cards") if name in arguments]
    return [] if len(given) == 1 else [Problem("cards", "Pass either candidateToken or cards.")]


_CARD: Final = {"card": record_of("deckID* text; cardID* text+; blockID text")}
APPS: Final = (
    App(
        "timeline",
        "timeline",
        "Points of history",
        "timeline",
        "timeline_app_action",
        tuple(action.name for action in TOOLS["timeline"].actions),
        Action(
            "timeline_app",
            OPEN,
            "Show the points of history to the user, to compare with and to go back to.",
            READ,
            parse("documentId text; tag text"),
        ),
    ),
    App(
        "flashcardReview",
        "flashcard",
        "Flashcard review",
        "flashcard",
        "flashcard_review_app_action",
        ("review_card",),
        Action(
            "flashcard_review_session",
            OPEN,
            "Let the user review cards: those of a list_cards answer (candidateToken), or some named ones.",
            READ,
            parse(
                f"candidateToken text+; cards [@card] 1..{APP_CARDS_MAX}; selectionReason text 0..{APP_REASON_CHARS_MAX}",
                _CARD,
            ),
            eager_rules=(_one_choice,),
        ),
    ),
    App(
        "mascotShop",
        "shop",
        "The mascot's shop",
        "mascot",
        "mascot_shop_app_action",
        ("get_balance", "shop", "buy"),
        Action("mascot_shop_app", OPEN, "Show the mascot's shop to the user.", READ, ()),
    ),
)
_BY_TOOL: Final = {name: app for app in APPS for name in (app.launch.tool, app.action_tool)}


def find(tool: str) -> App | None:
    """The App that a tool belongs to; None for any other tool."""
    return _BY_TOOL.get(tool)


def actions_of(configuration: Configuration, app: App) -> tuple[Action, ...]:
    """What the view may do now: neither switch opens what the other has closed."""
    allowed = preparation.offered(configuration, TOOLS[app.tool])
    return tuple(one for one in allowed if one.name in app.actions and configuration.app_allows(app.key, one.name))


def is_on(configuration: Configuration, app: App) -> bool:
    return bool(actions_of(configuration, app))


# --- lists -----------------------------------------------------------------------------------------------------------
def declarations(configuration: Configuration) -> list[dict[str, Any]]:
    """Two tools for each App that is switched on, for every client alike (decision 18)."""
    rows = []
    for app in APPS:
        actions = actions_of(configuration, app)
        if actions:
            rows += [_launch_row(app), _action_row(configuration, app, actions)]
    return rows


def _launch_row(app: App) -> dict[str, Any]:
    opened = schema.action_schema(app.launch)
    properties = {name: shape for name, shape in opened["properties"].items() if name != "action"}
    return {
        "name": app.launch.tool,
        "title": app.title,
        "description": f"{app.launch.summary} For clients that show MCP Apps; others use the tool {app.tool}.",
        "inputSchema": {"type": "object", "properties": properties, "additionalProperties": True},
        "outputSchema": schema.OUTPUT_SCHEMA,
        "annotations": schema.tool_annotations(app.launch_tool, (app.launch,)),
        "_meta": _link(app, "model", "app"),
    }


def _action_row(configuration: Configuration, app: App, actions: tuple[Action, ...]) -> dict[str, Any]:
    strict = configuration.is_strict
    return {
        "name": app.action_tool,
        "title": f"{app.title}: actions",
        "description": f"What the view of {app.launch.tool} does. Models call the tool {app.tool} instead.",
        "inputSchema": schema.input_schema(TOOLS[app.tool], actions, is_strict=strict),
        "outputSchema": schema.OUTPUT_SCHEMA,
        "annotations": schema.tool_annotations(TOOLS[app.tool], actions),
        "_meta": _link(app, "app"),
    }


def _link(app: App, *visibility: str) -> dict[str, Any]:
    """The second key is the older spelling; hosts of both kinds are about."""
    return {"ui": {"resourceUri": app.uri, "visibility": list(visibility)}, "ui/resourceUri": app.uri}


def resources(configuration: Configuration) -> list[dict[str, Any]]:
    """The views as resources."""
    return [
        {
            "uri": app.uri,
            "name": f"{app.page}-app",
            "title": app.title,
            "description": app.launch.summary,
            "mimeType": app_pages.MIME,
            "_meta": app_pages.ui_meta(),
        }
        for app in APPS
        if is_on(configuration, app)
    ]


def read(uri: str, configuration: Configuration) -> list[dict[str, Any]] | None:
    """One view's page with what its host may let it do; None for an unknown or switched-off one."""
    app = next((one for one in APPS if one.uri == uri), None)
    if app is None or not is_on(configuration, app):
        return None
    text = app_pages.page(app.page, app.title)
    return [{"uri": uri, "mimeType": app_pages.MIME, "text": text, "_meta": app_pages.ui_meta()}]


# --- calls -----------------------------------------------------------------------------------------------------------
def asked(
    configuration: Configuration, app: App, name: str, arguments: Mapping[str, Any], caller: Caller
) -> preparation.Asked:
    """A call of one of an App's tools, checked.

    Raises:
        Refused: the App is off, the client shows none, wrong arguments, an action that the view may not do.
    """
    if not is_on(configuration, app):
        error = ToolError("unknown_tool", f"Unknown tool: {name}")
        raise Refused(results.failure(failures.payload_of(error), text=error.message))
    if not caller.has_apps:
        raise Refused(_without_apps(app))
    if name == app.action_tool:
        return _acted(configuration, app, arguments)
    try:
        business = validated(app.launch, arguments)
    except ArgumentsInvalid as error:
        told = failures.invalid(app.launch, error.problems)
        raise preparation.refused(configuration, app.launch, told, READ) from None
    return preparation.Asked(app.launch_tool, app.launch, business, READ, {}, is_app=True)


def _acted(configuration: Configuration, app: App, arguments: Mapping[str, Any]) -> preparation.Asked:
    tool = TOOLS[app.tool]
    name = preparation.named_action(arguments.get("action"), tool)
    action = find_action(tool, name)
    allowed = actions_of(configuration, app)
    if action is None or action not in allowed:
        error = ToolError(
            "unknown_action",
            f"The view of {app.launch.tool} has no action {name!r}.",
            validActions=[one.name for one in allowed],
        )
        raise Refused(results.failure(failures.payload_of(error, app.action_tool, name)))
    call = preparation.asked(configuration, tool, name, arguments, {})
    return preparation.Asked(call.tool, call.action, call.arguments, call.policy, call.submitted, is_app=True)


def _without_apps(app: App) -> Any:
    """Nothing is shown where nothing can be: the text says where the same is done."""
    message = (
        f"{app.launch.tool} opens a view, and this client did not declare that it shows MCP Apps: "
        f"use the tool {app.tool}."
    )
    error = ToolError("unsupported", message, presentationMode=_ONLY_APPS)
    return results.failure(failures.payload_of(error, app.launch.tool), text=message)

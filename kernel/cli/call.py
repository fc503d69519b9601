"""``call TOOL ACTION …``: one command for each row of the tool table. Holds the command line's shape, and no rules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from kernel.cli.flags import arguments_of, kebab, options_of, words_of
from kernel.cli.place import TOKEN_VARIABLE, Place
from kernel.safety.intent import Precondition
from kernel.safety.policy import EXTERNAL
from kernel.tools.registry import TOOLS, Action, Tool, find_action
from kernel.tools.registry.signature import parse

HELP: Final = "help"
EXTENSION: Final = "extension"
CONTEXT: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
    "token_normalize_func": kebab,
}
_OWN: Final = "own_"
PREFLIGHT: Final = "--validate-only"


class ActionCommand(click.Command):
    """One action. Its business arguments are the table's; what is beside them is ours."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.words: list[str] = []
        params: list[click.Parameter] = [click.Argument(["plain"], nargs=-1, metavar=_plain_words(action))]
        params += [*options_of(action), *_own_options(action)]
        super().__init__(
            kebab(action.name),
            params=params,
            callback=self.run,
            help=_long_help(action),
            short_help=action.summary,
            context_settings=CONTEXT,
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The action's own flags first, then those that every action has."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                is_ours = (param.name or "").startswith(_OWN) or "--help" in param.opts
                sections["Options" if is_ours else "Arguments"].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = words_of(self.params, args)
        # For the command that writes what a preflight has checked: the same words, and the credentials.
        self.words = [ctx.command_path, *(one for word in words if word.flag != PREFLIGHT for one in word.tokens)]
        return super().parse_args(ctx, [one for word in words for one in word.tokens])

    def run(self, plain: tuple[str, ...], **given: Any) -> None:
        own = {key.removeprefix(_OWN): given.pop(key) for key in list(given) if key.startswith(_OWN)}
        arguments = arguments_of(self.action, given, plain)
        # The event loop and the client are most of the start-up time; help and wrong arguments need neither.
        from kernel.cli.performing import Manner, run_call

        place = Place.of(**{name: own.pop(name) for name in ("workspace", "url", "token", "host_url", "state_dir")})
        credentials = {field.value: own.pop(field.name) for field in Precondition if own.get(field.name) is not None}
        manner = Manner(
            is_json=own["json"],
            is_preflight=own.get("validate_only", False),
            agrees=own.get("yes", False),
            confirms=own.get("confirm", False),
            request_id=own.get("request_id"),
            credentials=credentials,
            words=tuple(self.words),
        )
        sys.exit(run_call(self.action, arguments, place, manner))


class ToolCommand(click.Group):
    """One tool: its actions, and ``help``."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        super().__init__(tool.name, help=_tool_help(tool), short_help=tool.summary, context_settings=CONTEXT)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [kebab(action.name) for action in self.tool.actions]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == HELP:
            return help_command(self, lambda name: self.get_command(ctx, name))
        action = find_action(self.tool, cmd_name)
        if action is None and self.tool.name == EXTENSION and not cmd_name.startswith("-"):
            action = _foreign(cmd_name)
        return None if action is None else ActionCommand(action)


class CallGroup(click.Group):
    """``call``: all tools."""

    def __init__(self) -> None:
        super().__init__(
            "call",
            help="Call one action of one tool through the kernel that serves the workspace.\n\n"
            "Text flags take the text itself, @file, or - for standard input. Exit code 0: done; 1: it failed; "
            "2: wrong arguments.",
            short_help="Call one action of one tool.",
            context_settings=CONTEXT,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(TOOLS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == HELP:
            return help_command(self, lambda name: self.get_command(ctx, name))
        tool = TOOLS.get(cmd_name)
        return None if tool is None else ToolCommand(tool)


call_command: Final = CallGroup()


def tool_names() -> list[str]:
    return list(TOOLS)


def help_command(parent: click.Command, find: Callable[[str], click.Command | None]) -> click.Command:
    """``help [NAME …]``: the same text as ``NAME … --help``."""

    def show(names: tuple[str, ...]) -> None:
        ctx = click.get_current_context().parent
        assert ctx is not None, "help is a sub-command"
        command: click.Command | None = parent
        for name in names:
            command = command.get_command(ctx, name) if isinstance(command, click.Group) else None
            if command is None:
                raise click.UsageError(f"There is no {name!r} here.")
            ctx = click.Context(command, info_name=name, parent=ctx, **CONTEXT)
        click.echo(command.get_help(ctx) if command is not None else "")

    return click.Command(
        HELP, params=[click.Argument(["names"], nargs=-1)], callback=show, help="Explain a tool or an action."
    )


def _plain_words(action: Action) -> str:
    return " ".join(f"[{kebab(one.name).upper()}]" for one in action.arguments if one.is_required) or " "


def _own_options(action: Action) -> list[click.Option]:
    names = {kebab(one.name) for one in action.arguments}

    def flags(*wanted: str) -> list[str]:
        return [f"--{name}" for name in wanted if name not in names]

    options = [
        click.Option(
            [_OWN + "workspace", *flags("workspace")],
            type=click.Path(path_type=Path),
            help="Workspace whose kernel is asked (default: the data folder's).",
        ),
        # A cell of a database has a URL of its own: there only the longer name is the kernel's.
        click.Option([_OWN + "url", *flags("kernel-url", "url")], default="", help="A kernel by its address."),
        click.Option(
            [_OWN + "host_url", *flags("host-url")],
            default="",
            help="The kernel in front of the SiYuan at this URL.",
        ),
        click.Option(
            [_OWN + "state_dir", *flags("state-dir")],
            type=click.Path(path_type=Path),
            help="The --state-dir of that kernel.",
        ),
        click.Option([_OWN + "token", *flags("token")], default="", help=f"Its API token (better: {TOKEN_VARIABLE})."),
        click.Option([_OWN + "json", *flags("json")], is_flag=True, help="Print one JSON line, also for errors."),
    ]
    if action.policy.can_mutate:
        options += _write_options(action)
    if action.is_dangerous or action.policy.is_external:
        options.append(
            click.Option([_OWN + "confirm", "--confirm"], is_flag=True, help="Its user agrees to the dangerous action.")
        )
    return options


def _write_options(action: Action) -> list[click.Option]:
    options = [
        click.Option([_OWN + "validate_only", PREFLIGHT], is_flag=True, help="Preflight only: check, write nothing."),
        click.Option(
            [_OWN + "yes", "--yes", "-y"], is_flag=True, help="Preflight and write, without asking in between."
        ),
        click.Option([_OWN + "request_id", "--request-id"], help="The id that the preflight issued."),
    ]
    for field in Precondition:
        if field in action.policy.preconditions:
            flag = f"--{kebab(field.value)}"
            options.append(click.Option([_OWN + field.name, flag], help="The credential that the preflight returned."))
    return options


def _long_help(action: Action) -> str:
    parts = [action.summary]
    if action.is_dangerous:
        parts.append("Dangerous: its user is asked first, or agrees with --confirm.")
    if action.call_form:
        parts.append(f"Takes: {action.call_form}.")
    if action.policy.can_mutate:
        parts.append(
            "A safe write: --validate-only shows what would be written and the command that writes it; without it you "
            "are asked in between; --yes does both at once."
        )
    parts.extend(action.notes)
    return "\n\n".join(parts)


def _tool_help(tool: Tool) -> str:
    return "\n\n".join([tool.summary, *tool.guidance])


def _foreign(name: str) -> Action:
    """A foreign tool by its official name: its arguments are its own business (R298-R301)."""
    return Action(EXTENSION, name, f"The foreign tool {name}.", EXTERNAL, parse("arguments object"))

"""The command line: a function from arguments and streams to an exit code (0 done, 1 failed, 2 wrong arguments).

Commands are imported when they are used: most of a command's start-up would else be the import of the others.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from kernel import __version__

CONTEXT: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
# Name → where the command is, and its line in the list.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "serve": ("kernel.cli.serve:serve_command", "Run the kernel until SIGINT or SIGTERM."),
    "call": ("kernel.cli.call:call_command", "Call one action of one tool."),
    "stdio": ("kernel.cli.stdio:stdio_command", "Serve MCP on standard input and output, through the running kernel."),
    "doctor": ("kernel.cli.doctor:doctor_command", "Look at a workspace and say what is wrong with it."),
    "ledger": ("kernel.cli.ledger:ledger_command", "Look into the write ledger: list, show, check."),
    "task": ("kernel.cli.task:task_command", "Ask for a call whose answer was lost."),
    "completion": ("kernel.cli.completion:completion_command", "Print a shell's completion script."),
    "sim": ("kernel.sim.command:sim_command", "Run the kernel in simulated worlds and check its promises."),
    "lab": ("kernel.cli.lab:lab_command", "Run a client under fault plans; record and replay what it said."),
    "bench": (
        "kernel.bench.command:bench_command",
        "Put load on the kernel or any MCP server, and report what it carried.",
    ),
    "import": ("kernel.cli.import_:import_command", "Import a folder of Markdown."),
}
# How standard output refuses what is written to it.
_OUTPUT_REFUSED: Final = frozenset({errno.EPIPE, errno.ENOSPC})
# Where the context keeps the words as they were given.
_WORDS: Final = "kernel.cli.words"


class Commands(click.Group):
    """The top level. A tool's name is a command too: ``siyuan fs read`` is ``siyuan call fs read`` (decision 48)."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Output that nobody takes (a closed pipe, a full disk) ends a command; it is no fault of the command's."""
        _stand_in_for_closed_streams()
        try:
            return super().main(*args, **extra)
        except OSError as error:
            if error.errno not in _OUTPUT_REFUSED:
                raise
            # What is still buffered would be refused once more, on the way out.
            sys.stdout = io.StringIO()
            click.echo(f"sisyphus-kernel: the output cannot be written: {error.strerror}", err=True)
            sys.exit(1)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        words = list(args)
        try:
            _refuse_what_is_no_text(words)
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            _tell_as_json(error, words)
            raise
        context.meta[_WORDS] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            _tell_as_json(error, ctx.meta[_WORDS])
            raise
        except BaseExceptionGroup as group:
            # A command prints inside its nursery; click knows a closed pipe only by itself.
            refused, others = group.split(lambda error: isinstance(error, OSError) and error.errno in _OUTPUT_REFUSED)
            if refused is None or others is not None:
                raise
            raise _first_of(refused) from group

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name][0].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name)
            return command
        from kernel.cli.call import HELP, call_command, help_command

        if cmd_name == HELP:
            return help_command(self, lambda name: self.get_command(ctx, name))
        return call_command.get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands and tools; none of them is imported for it."""
        from kernel.tools.registry import TOOLS

        known = {name: words for name, (_, words) in COMMANDS.items()}
        known.update({tool.name: tool.summary for tool in TOOLS.values()})
        found = [CompletionItem(name, help=words) for name, words in known.items() if name.startswith(incomplete)]
        # Ours come with options only where one is begun.
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])
        from kernel.tools.registry import TOOLS

        with formatter.section("Tools (TOOL ACTION is short for call TOOL ACTION)"):
            formatter.write_dl([(tool.name, tool.summary) for tool in TOOLS.values()])


def _first_of(error: BaseException) -> BaseException:
    return _first_of(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _stand_in_for_closed_streams() -> None:
    """The number of a closed stream would go to the next file that is opened, and messages with it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - as long as the process lives


def _refuse_what_is_no_text(words: list[str]) -> None:
    """The name of a file may be any bytes; whatever else is given is UTF-8. Raises click.UsageError."""
    for word in words:
        value = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            is_place = os.sep in value and os.path.isdir(os.path.dirname(value))
            if not is_place and not os.path.exists(value):
                shown = value.encode("ascii", "backslashreplace").decode()
                raise click.UsageError(f"{shown}: it is not UTF-8") from error


def _tell_as_json(error: click.UsageError, words: list[str]) -> None:
    """The JSON line of a call that was never made: who asks for JSON reads standard output, whatever goes wrong."""
    is_call = bool(words) and (words[0] not in COMMANDS or words[0] == "call")
    flags = words[: words.index("--")] if "--" in words else words
    if not is_call or not {"--json", "--json=true"} & set(flags):
        return
    from kernel.cli.showing import print_json
    from kernel.errors import ToolError

    print_json(ToolError("invalid_arguments", error.format_message()).payload())


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, "-v", "--version", prog_name="sisyphus-kernel")
def main() -> None:
    """The Sisyphus kernel: a small SiYuan kernel with strict safe writes over MCP."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An old console shows what it can; JSON is written as UTF-8 whatever the console is.
            stream.reconfigure(errors="replace")

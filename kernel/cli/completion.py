"""``completion``: the script that makes a shell complete commands, tools, actions and flags."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--program", default="siyuan", show_default=True, help="The script's name.")
def completion_command(shell: str, program: str) -> None:
    """Print the completion script of a SHELL: eval "$(siyuan completion bash)"."""
    from kernel.cli import main

    found = get_completion_class(shell)
    assert found is not None, "the choice names shells that click knows"
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"
    click.echo(found(main, {}, program, variable).source())

"""The command line: a function from arguments and streams to an exit code (0 done, 1 failed, 2 wrong arguments)."""

from __future__ import annotations

import click

from kernel import __version__
from kernel.cli.import_ import import_command
from kernel.cli.serve import serve_command

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, "-v", "--version", prog_name="sisyphus-kernel")
def main() -> None:
    """The Sisyphus kernel: a small SiYuan kernel with strict safe writes over MCP."""


main.add_command(serve_command)
main.add_command(import_command)

"""``python -m kernel``."""

from kernel.cli import main

main(prog_name="python -m kernel")

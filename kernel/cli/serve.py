"""``serve``: options to Settings, then run the app. Holds no rules of the server."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import click

from kernel.cli.place import HOST_TOKEN_VARIABLE, default_workspace
from kernel.ids import SystemIds
from kernel.limits import CONNECTIONS_MAX
from kernel.settings import COMMIT_BOUND_S, DEFAULT_HOST, DEFAULT_PORT, Settings, SettingsError, parse_duration_s

ACCESS_CODE_VARIABLE: Final = "SISYPHUS_ACCESS_CODE"
_TRUE_FALSE: Final = click.Choice(["true", "false"])


@click.command("serve")
@click.option("--workspace", type=click.Path(path_type=Path), help="Workspace folder (default: the data folder's).")
@click.option("--ephemeral", is_flag=True, help="Use a throw-away workspace, removed at the end.")
@click.option("--port", type=int, default=DEFAULT_PORT, show_default=True, help="TCP port; 0 takes a free one.")
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="Address to bind.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON line when ready.")
@click.option("--host-url", default="", help="Stand in front of the real SiYuan at this URL.")
@click.option("--host-token", default="", help=f"Its API token (better: {HOST_TOKEN_VARIABLE}).")
@click.option("--state-dir", type=click.Path(path_type=Path), help="Where ledger and lock lie with --host-url.")
@click.option("--wd", "working_dir", type=click.Path(path_type=Path), help="A real distribution's folder (stage/, …).")
@click.option("--readonly", default="false", type=_TRUE_FALSE, help="Refuse writes through /api.")
@click.option("--accessAuthCode", "access_code", default="", help=f"Access code (better: {ACCESS_CODE_VARIABLE}).")
@click.option("--access-code-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Its file.")
@click.option("--lang", "language", default="en", show_default=True, help="Language of the kernel's messages.")
@click.option("--mode", default="prod", hidden=True)
@click.option("--ssl", default="false", type=_TRUE_FALSE, hidden=True)
@click.option(
    "--default-permission",
    type=click.Choice(["none", "r", "rw", "rwd"]),
    default="rw",
    show_default=True,
    help="Right on a notebook without a setting.",
)
@click.option("--index-lag", default="0s", show_default=True, help="How far the SQL index lags (3s as the kernel).")
@click.option(
    "--disconnect",
    type=click.Choice(["cancel", "ignore"]),
    default="cancel",
    show_default=True,
    help="What a modern client's leaving does.",
)
@click.option("--allowed-host", "allowed_hosts", multiple=True, help="A further Host header to accept.")
@click.option("--allow-egress", is_flag=True, help="Let cloud, bazaar and web endpoints reach the network.")
@click.option("--faults", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A fault plan file.")
@click.option("--emulator-controls", is_flag=True, help="Serve /emulator/faults and /emulator/clock.")
@click.option("--read-slots", type=int, default=4, show_default=True, help="Reads at once.")
@click.option("--mutation-slots", type=int, default=1, show_default=True, help="Mutations at once.")
@click.option("--admitted-max", type=int, default=128, show_default=True, help="Requests admitted at once.")
@click.option(
    "--connections-max",
    type=int,
    default=CONNECTIONS_MAX,
    show_default=True,
    help="Connections at once, idle ones too.",
)
@click.option(
    "--commit-bound", default=f"{COMMIT_BOUND_S:g}s", show_default=True, help="Bound of one write's boundary."
)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="warning", show_default=True
)
@click.option("--conformance-fixtures", is_flag=True, help="Serve the test-only fixtures instead of the tools.")
def serve_command(**options: Any) -> None:
    """Run the kernel until SIGINT or SIGTERM; a second signal ends it at once."""
    try:
        settings = settings_from(options)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    from kernel.app import run_app

    sys.exit(run_app(settings))


def settings_from(options: dict[str, Any]) -> Settings:
    """Click's options as Settings; secrets may come from the environment or a file (decision 48).

    Raises:
        SettingsError: options that contradict each other.
    """
    if options.pop("ssl") == "true":
        raise SettingsError("--ssl true: this kernel serves plain HTTP only; put a TLS proxy in front of it")
    options.pop("mode")
    is_ephemeral = options.pop("ephemeral")
    workspace = options.pop("workspace")
    if is_ephemeral and workspace is not None:
        raise SettingsError("--ephemeral makes a workspace of its own: leave --workspace out")
    code_file = options.pop("access_code_file")
    code = options.pop("access_code") or os.environ.get(ACCESS_CODE_VARIABLE, "")
    if code_file is not None:
        try:
            code = code_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"--access-code-file {code_file} cannot be read: {error}") from None
    return Settings(
        # An ephemeral workspace is named here and made when the settings hold (run_app).
        workspace=(ephemeral_workspace() if is_ephemeral else workspace or default_workspace()).absolute(),
        access_code=code,
        host_token=options.pop("host_token") or os.environ.get(HOST_TOKEN_VARIABLE, ""),
        is_readonly=options.pop("readonly") == "true",
        index_lag_s=parse_duration_s(options.pop("index_lag")),
        commit_bound_s=parse_duration_s(options.pop("commit_bound")),
        allows_egress=options.pop("allow_egress"),
        has_emulator_controls=options.pop("emulator_controls"),
        has_conformance_fixtures=options.pop("conformance_fixtures"),
        removes_workspace=is_ephemeral,
        **options,
    )


def ephemeral_workspace() -> Path:
    """A name in the temporary folder that nothing has yet."""
    return Path(tempfile.gettempdir()) / f"sisyphus-kernel-{os.getpid()}-{SystemIds().text(8)}"

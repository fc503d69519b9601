"""The serve command's options: what is refused, with which exit code, and that refusing leaves nothing behind."""

from __future__ import annotations

import importlib
import tempfile
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernel.cli import main
from kernel.settings import Settings, SettingsError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--nope"], "--nope"),
        (["--port", "70000"], "70000"),
        (["--host", "0.0.0.0"], "access code"),
        (["--ssl", "true"], "TLS"),
        (["--ephemeral", "--workspace", "x"], "--ephemeral"),
        (["--index-lag", "x"], "duration"),
        (["--index-lag", "-1s"], "negative"),
        (["--index-lag", "nan"], "duration"),
        (["--commit-bound", "1e999s"], "duration"),
        (["--read-slots", "0"], "--read-slots"),
        (["--mutation-slots", "0"], "--mutation-slots"),
        (["--admitted-max", "0"], "--admitted-max"),
        (["--connections-max", "0"], "--connections-max"),
        (["--connections-max", "65537"], "at most 65536"),
        (["--commit-bound", "0s"], "--commit-bound"),
        (["--host-url", "nowhere"], "http://"),
        (["--host-url", "http://"], "http://"),
        (["--host-url", "http://notes:port"], "http://"),
        (["--host-url", "http://two words"], "http://"),
        (["--allowed-host", "a b:c"], "--allowed-host 'a b:c'"),
        (["--allowed-host", "notes.example:70000"], "--allowed-host"),
        (["--allowed-host", "notes.example", "--allowed-host", ""], "--allowed-host ''"),
        (["--wd", "/no/such/folder"], "--wd"),
        (["--default-permission", "all"], "rwd"),
    ],
)
def test_a_refused_option_says_why_and_leaves_nothing_behind(
    options: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, a reason, and no folder of an ephemeral workspace."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if "--ephemeral" not in options:
        options = ["--ephemeral", *options]
    result = CliRunner().invoke(main, ["serve", *options])
    assert result.exit_code == 2
    assert word in result.output
    assert list(tmp_path.iterdir()) == []


def test_an_access_code_file_must_be_text(tmp_path: Path) -> None:
    """Bytes that are no text are an error of the command line."""
    path = tmp_path / "code"
    path.write_bytes(b"\xff\xfe")
    result = CliRunner().invoke(main, ["serve", "--ephemeral", "--access-code-file", str(path)])
    assert result.exit_code == 2
    assert "--access-code-file" in result.output


def test_every_console_script_can_be_loaded() -> None:
    """What pyproject.toml installs exists."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts) == {"sisyphus-kernel", "siyuan"}
    for target in scripts.values():
        module, _, name = target.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_a_loopback_needs_no_code_and_another_address_does(tmp_path: Path) -> None:
    """Binding anything else than loopback without a code is refused (decision 30)."""
    assert Settings(tmp_path, host="::1").host == "::1"
    assert Settings(tmp_path, host="0.0.0.0", access_code="c").access_code == "c"
    with pytest.raises(SettingsError, match="reachable"):
        Settings(tmp_path, host="0.0.0.0")

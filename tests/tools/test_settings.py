"""Switches, budgets and permissions as the files say them."""

from __future__ import annotations

import json

import pytest

from kernel.errors import ToolError
from kernel.tools.configuration import Configuration, ConfigurationUnreadable, read_configuration
from kernel.tools.permissions import Level, Permissions, PermissionsUnreadable, read_permissions
from kernel.tools.registry import ACTIONS

NB = "20240101000000-aaaaaaa"


def configured(**settings: object) -> Configuration:
    return read_configuration(json.dumps(settings).encode(), None)


def test_without_files_everything_is_as_the_table_says() -> None:
    configuration = read_configuration(None, None)
    assert configuration.is_strict
    assert configuration.slims_results
    assert not configuration.is_enabled(ACTIONS["block.delete"])
    assert configuration.is_enabled(ACTIONS["block.update"])
    assert len(configuration.enabled_tools()) == 14


def test_switches_of_tool_and_action_are_followed() -> None:
    configuration = configured(
        fs={"enabled": False}, block={"actions": {"delete": True, "update": False}}, mascot={"actions": 5}
    )
    assert not configuration.is_enabled(ACTIONS["fs.ls"])
    assert configuration.is_enabled(ACTIONS["block.delete"])
    assert not configuration.is_enabled(ACTIONS["block.update"])
    assert configuration.is_enabled(ACTIONS["mascot.buy"])
    assert "fs" not in {tool.name for tool in configuration.enabled_tools()}


def test_a_broken_settings_file_is_not_guessed_and_a_broken_http_file_leaves_defaults() -> None:
    for bad in (b"{", b"[]", b'"x"', b"", b" "):
        with pytest.raises(ConfigurationUnreadable):
            read_configuration(bad, None)
    assert read_configuration(None, b"{bad").options.read_requests_max == 128


@pytest.mark.parametrize(
    ("given", "taken"),
    [(15, 16), (16, 16), (512, 512), (513, 512), ("x", 128), (True, 128), (float("inf"), 128), (100.9, 100)],
)
def test_budgets_are_clamped(given: object, taken: int) -> None:
    content = json.dumps({"kernelOptions": {"readMaxRequests": given}}).encode()
    assert read_configuration(None, content).options.read_requests_max == taken


def test_further_settings_have_their_own_words() -> None:
    configuration = configured(
        writeSafety={"strictMode": False},
        debug={"slimResponses": False},
        errorReporting={"softRecoverableErrors": True},
        extension={"includeNativeTools": True, "blockedTools": ["a"]},
        file={"uploadLargeFileThresholdMB": 2000},
        userRulesText="rules",
        agentSiyuanMemoryText="memory",
        agentSiyuanMemoryUpdatedAt="2026-01-01T00:00:00Z",
    )
    assert not configuration.is_strict
    assert not configuration.slims_results
    assert configuration.softens_errors
    assert configuration.includes_native_tools
    assert configuration.blocked_tools == {"a"}
    assert configuration.upload_large_mb == 1024
    assert (configuration.user_rules, configuration.memory) == ("rules", "memory")
    assert configuration.memory_updated_at == "2026-01-01T00:00:00Z"
    assert configured(extension={"blockedTools": 5}).blocked_tools == frozenset()


@pytest.mark.parametrize(
    ("written", "level"),
    [
        ("none", Level.NONE),
        ("r", Level.READ),
        ("rw", Level.WRITE),
        ("rwd", Level.DELETE),
        ("readonly", Level.READ),
        ("write", Level.WRITE),
        ("odd", Level.NONE),
        (5, Level.NONE),
    ],
)
def test_levels_are_read_in_old_and_new_spelling(written: object, level: Level) -> None:
    assert read_permissions(json.dumps({NB: written}).encode(), Level.READ).of(NB) is level


def test_an_error_answer_saved_as_permissions_names_no_notebook() -> None:
    """The predecessor once saved the host's own 404 body as the file."""
    permissions = read_permissions(b'{"code":404,"msg":"no such file","data":null}', Level.READ)
    assert permissions.by_notebook == {}
    assert permissions.as_file() == b"{}"


def test_a_missing_file_is_the_default_and_a_broken_or_cut_one_an_error() -> None:
    """A write that was cut to nothing must not open what was closed."""
    assert read_permissions(None, Level.WRITE).of(NB) is Level.WRITE
    for bad in (b"{bad", b"[]", b"", b"  "):
        with pytest.raises(PermissionsUnreadable):
            read_permissions(bad, Level.WRITE)


def test_a_refusal_says_what_is_there_and_what_is_needed() -> None:
    permissions = Permissions({NB: Level.READ})
    permissions.require(NB, Level.READ)
    with pytest.raises(ToolError) as caught:
        permissions.require(NB, Level.DELETE, name="Nb")
    assert caught.value.code == "permission_denied"
    assert caught.value.details == {"notebook": NB, "current_permission": "r", "required_permission": "delete"}
    assert permissions.unreadable([NB]) == []
    assert permissions.with_level(NB, Level.NONE).unreadable([NB]) == [NB]

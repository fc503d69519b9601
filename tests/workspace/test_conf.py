"""conf/conf.json: complete at the first start, within its bounds at every one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.workspace.conf import CONF_PATH, Conf
from kernel.workspace.conf_defaults import FSRS_WEIGHTS, PLANTUML
from kernel.workspace.file_backends import MemoryBackend
from kernel.workspace.files import Files


def conf_of(stored: Any = None, *, backend: MemoryBackend | None = None) -> Conf:
    files = Files(backend or MemoryBackend(), wall_ms=lambda: 0)
    if stored is not None:
        files.write(CONF_PATH, stored if isinstance(stored, bytes) else json.dumps(stored).encode())
        files.flush()
    numbers = iter(range(1000))
    return Conf.load(
        files, new_id=lambda: f"20240101000000-{next(numbers):07}", new_uuid=lambda: f"uuid-{next(numbers)}"
    )


def test_a_fresh_workspace_has_every_section_in_the_kernels_order() -> None:
    values = conf_of().written()
    assert list(values)[:6] == ["logLevel", "appearance", "langs", "lang", "fileTree", "tag"]
    assert list(values)[-4:] == ["snippet", "dataIndexState", "cookieKey", "mcpOAuth"]
    assert (values["logLevel"], values["lang"], len(values["langs"])) == ("debug", "en", 21)
    assert (values["search"]["limit"], values["search"]["hanSensitive"], values["search"]["ial"]) == (64, True, False)
    assert values["fileTree"]["recentDocsMaxListCount"] == 32
    assert values["sync"]["local"] == {"endpoint": "", "timeout": 60, "concurrentReqs": 16}
    assert values["ai"]["embedding"]["id"].startswith("20240101000000-")


def test_what_was_stored_is_read_back_unchanged() -> None:
    first = conf_of().written()
    assert conf_of(first).written() == first


def test_saving_writes_only_what_differs() -> None:
    backend = MemoryBackend()
    conf = conf_of(backend=backend)
    conf.save()
    files = conf._files
    files.flush()
    conf.save()
    assert not files.has_pending
    conf.section("tag")["sort"] = 1
    conf.save()
    assert files.has_pending
    conf.section("tag")["sort"] = 9
    conf.reload()
    assert conf.section("tag")["sort"] == 1


@pytest.mark.parametrize("stored", [b"{broken", b"[]", b"5"])
def test_a_file_that_says_nothing_gives_the_first_values(stored: bytes) -> None:
    assert conf_of(stored).file_tree["maxListCount"] == 512


def test_a_broken_file_is_kept_aside() -> None:
    backend = MemoryBackend()
    conf_of(b"{broken", backend=backend)
    assert backend.contents[f"{CONF_PATH}.broken"] == b"{broken"


@pytest.mark.parametrize(
    ("section", "name", "stored", "expected"),
    [
        ("fileTree", "maxListCount", 0, 512),
        ("fileTree", "maxOpenTabCount", 0, 8),
        ("fileTree", "maxOpenTabCount", 33, 32),
        ("fileTree", "maxOpenTabCount", 32, 32),
        ("fileTree", "recentDocsMaxListCount", 31, 32),
        ("fileTree", "recentDocsMaxListCount", 257, 256),
        ("fileTree", "largeFileWarningSize", 1, 8),
        ("fileTree", "boxDocEnabled", None, False),
        ("fileTree", "createDocAtTop", None, True),
        ("fileTree", "docCreateSavePath", " a / b ", "a/b"),
        ("editor", "fontSize", 8, 16),
        ("editor", "fontSize", 9, 9),
        ("editor", "fontSize", 73, 16),
        ("editor", "plantUMLServePath", "", PLANTUML),
        ("editor", "blockRefDynamicAnchorTextMaxLen", 0, 64),
        ("editor", "blockRefDynamicAnchorTextMaxLen", 5121, 5120),
        ("editor", "generateHistoryInterval", 1441, 1440),
        ("editor", "historyRetentionDays", 0, 30),
        ("editor", "historyRetentionDays", 3651, 3650),
        ("editor", "floatWindowDelay", None, 620),
        ("editor", "floatWindowDelay", 2001, 2000),
        ("editor", "floatWindowDelay", -1, 0),
        ("editor", "dynamicLoadBlocks", 47, 48),
        ("editor", "backlinkSort", None, 3),
        ("editor", "emoji", None, []),
        ("editor", "spellcheckLanguages", [], ["en-US"]),
        ("editor", "backmentionExpandCount", -2, -1),
        ("editor", "markdown", None, dict.fromkeys(["inlineTag"], False)),
        ("export", "blockRefMode", 5, 4),
        ("export", "blockRefMode", 2, 2),
        ("sync", "mode", 0, 1),
        ("sync", "interval", 29, 30),
        ("sync", "interval", 43201, 43200),
        ("sync", "perception", True, False),
        ("repo", "syncIndexTiming", 1, 12000),
        ("repo", "indexRetentionDays", 0, 180),
        ("search", "limit", 0, 64),
        ("search", "limit", 5, 32),
        ("search", "hanSensitive", None, True),
        ("search", "hanSensitive", False, False),
        ("flashcard", "newCardLimit", -1, 20),
        ("flashcard", "requestRetention", 1, 0.9),
        ("flashcard", "maximumInterval", 36500, 36500),
        ("flashcard", "maximumInterval", 100, 100),
        ("flashcard", "weights", "1, 2", FSRS_WEIGHTS),
        ("flashcard", "weights", ", ".join(["x"] * 19), FSRS_WEIGHTS),
        ("appearance", "codeBlockThemeDark", "", "dracula"),
    ],
)
def test_a_stored_value_is_brought_back_within_its_bounds(section: str, name: str, stored: Any, expected: Any) -> None:
    values = conf_of().written()
    values[section][name] = stored
    found = conf_of(values).section(section)[name]
    if isinstance(expected, dict):
        assert {key: found[key] for key in expected} == expected
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("part", "name", "stored", "expected"),
    [
        ("agent", "sessionTimeout", 3601, 3600),
        ("agent", "streamIdleTimeout", 0, 120),
        ("agent", "maxRetries", 11, 10),
        ("editing", "temperature", 3, 2),
        ("editing", "maxHistoryMessages", 0, 1),
        ("vision", "maxEdge", 511, 2048),
        ("vision", "maxEdge", 512, 512),
        ("vision", "maxPixels", 100_000_001, 100_000_000),
        ("imageGeneration", "outputFormat", " WEBP ", "webp"),
        ("imageGeneration", "outputFormat", "gif", "png"),
        ("imageGeneration", "size", " ", "1024x1024"),
        ("embedding", "dimensions", -1, 0),
        ("rerank", "candidateCount", 101, 100),
    ],
)
def test_settings_of_models_are_kept_within_bounds(part: str, name: str, stored: Any, expected: Any) -> None:
    values = conf_of().written()
    values["ai"][part][name] = stored
    assert conf_of(values).section("ai")[part][name] == expected


MODEL = "20240101120000-abcdefg"


def test_what_a_model_provider_lacks_is_filled_in() -> None:
    values = conf_of().written()
    values["ai"]["providers"] = [None, {"requestTimeout": 700, "models": [None, {"name": " m "}, {}, {"id": MODEL}]}]
    values["ai"]["mcp"]["servers"] = [{"id": "a"}, {"id": "a"}, {}]
    ai = conf_of(values).section("ai")
    (provider,) = ai["providers"]
    assert (provider["baseURL"], provider["protocol"], provider["requestTimeout"]) == (
        "https://api.openai.com/v1",
        "openai",
        600,
    )
    assert [model["name"] for model in provider["models"]] == ["m", "model", "model"]
    assert [model["id"] == MODEL for model in provider["models"]] == [False, False, True], "an id of its own stays"
    assert [server["id"] == "a" for server in ai["mcp"]["servers"]] == [True, False, False]


def test_a_graph_without_its_parts_starts_anew() -> None:
    values = conf_of().written()
    values["graph"] = {"maxBlocks": 5}
    assert conf_of(values).section("graph")["maxBlocks"] == 10240


def test_an_unknown_language_is_english() -> None:
    values = conf_of().written()
    values["lang"] = "xx"
    conf = conf_of(values)
    assert (conf.values["lang"], conf.section("appearance")["lang"]) == ("en", "en")


def test_what_does_not_fit_is_as_if_it_had_not_been_stored() -> None:
    values = conf_of({"lang": 5, "search": {"hanSensitive": False}, "tag": {"sort": 7}}).written()
    assert (values["lang"], values["search"]["hanSensitive"], values["tag"]["sort"]) == ("en", False, 7)

"""kernelOptions as they are in force: clamped numbers, canonical origins, and their form in /health."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.tools.configuration import (
    ORIGINS_MAX,
    ConfigurationUnreadable,
    KernelOptions,
    allowed_origins,
    read_configuration,
)


def options(**given: Any) -> dict[str, Any]:
    http = json.dumps({"kernelOptions": given}).encode()
    return read_configuration(None, http).options.as_json()


@pytest.mark.parametrize(
    "origin",
    ["http://app.test:8000", "https://app.test", "http://[::1]:8080", "http://localhost:3000", "http://a:443"],
)
def test_a_canonical_origin_is_taken(origin: str) -> None:
    assert allowed_origins([origin, origin]) == (origin,)


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "null",
        "http://app.test/",
        "http://app.test/path",
        "http://app.test?x",
        "http://app.test#x",
        "http://user@app.test",
        "http://app.test:80",
        "https://app.test:443",
        "http://APP.test",
        "http://*.test",
        "http://app.test:99999",
        "ftp://app.test",
        "app.test",
        "http://",
        7,
        None,
    ],
)
def test_what_is_no_origin_in_its_one_spelling_is_left_out(origin: object) -> None:
    assert allowed_origins([origin]) == ()


@pytest.mark.parametrize("value", [None, "http://a.test", {"a": 1}])
def test_origins_are_a_list(value: object) -> None:
    assert allowed_origins(value) == ()


def test_at_most_32_origins_are_kept() -> None:
    many = [f"http://a{number}.test" for number in range(ORIGINS_MAX + 1)]
    assert allowed_origins(many) == tuple(many[:ORIGINS_MAX])


def test_the_options_are_told_by_the_names_of_the_file() -> None:
    defaults = {
        "readMaxRequests": 128,
        "readMaxMiB": 8,
        "readTimeoutMs": 30_000,
        "readRetries": 3,
        "templateMaxMiB": 16,
        "allowedOrigins": [],
    }
    assert KernelOptions().as_json() == defaults
    assert options() == defaults
    assert options(readMaxRequests=1, readMaxMiB=65, readRetries=2.9, templateMaxMiB=True, readTimeoutMs="9") == {
        **defaults,
        "readMaxRequests": 16,
        "readMaxMiB": 64,
        "readRetries": 2,
    }


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1" + "0" * 400, "1e400", "-1e400", "NaN", "Infinity"])
@pytest.mark.parametrize("name", ["readMaxRequests", "readMaxMiB", "readTimeoutMs", "readRetries", "templateMaxMiB"])
def test_a_number_beyond_all_numbers_is_none(name: str, number: str) -> None:
    content = f'{{"kernelOptions": {{"{name}": {number}}}}}'.encode()
    assert read_configuration(None, content).options == KernelOptions()


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"kernelOptions":' * 100_000, b'{"a": 1' + b"0" * 5_000 + b"}"])
def test_settings_that_cannot_be_read_are_no_switch(content: bytes) -> None:
    assert read_configuration(None, content).options == KernelOptions()
    with pytest.raises(ConfigurationUnreadable):
        read_configuration(content, None)


@pytest.mark.parametrize(
    ("content", "serves"),
    [
        (None, True),
        (b"", True),
        (b"broken", True),
        (b"[]", True),
        (b"{}", True),
        (b'{"kernelEndpointEnabled": true}', True),
        (b'{"kernelEndpointEnabled": 0}', True),
        (b'{"kernelEndpointEnabled": false}', False),
    ],
)
def test_only_an_explicit_false_switches_the_endpoint_off(content: bytes | None, serves: bool) -> None:
    assert read_configuration(None, content).serves_endpoint is serves

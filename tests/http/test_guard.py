"""The Host guard of the whole port, and the Origin guard and CORS of the plugin surface."""

from __future__ import annotations

import pytest

from kernel.http.guard import HostGuard, OriginGuard, is_loopback_origin, split_authority
from kernel.wire import Response


def status(response: Response | None) -> int:
    return 200 if response is None else response.status


LOOPBACK = [
    "127.0.0.1:6806",
    "127.0.0.1",
    "localhost:1",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "[::1]:6806",
    "[::1]",
    "127.9.9.9",
]
FOREIGN = [
    "evil.test",
    "evil.test:6806",
    "127.0.0.1.evil.test:6806",
    "localhost.evil.test",
    "10.0.0.1",
    "[::2]",
    "0.0.0.0",
]
BROKEN = ["", ":6806", "a b", "u@localhost", "localhost/x", "[::1", "localhost:99999", "localhost:x"]


@pytest.mark.parametrize("authority", LOOPBACK)
def test_loopback_is_served_whatever_is_bound(authority: str) -> None:
    assert status(HostGuard().refusal(authority.lower())) == 200
    assert status(HostGuard(["192.168.1.5"]).refusal(authority.lower())) == 200


@pytest.mark.parametrize("authority", FOREIGN)
def test_other_hosts_are_misdirected_and_told_the_setting(authority: str) -> None:
    refusal = HostGuard(["127.0.0.1"]).refusal(authority)
    assert refusal is not None
    assert (refusal.status, refusal.closes) == (421, True)
    assert b"--allowed-host" in refusal.body


@pytest.mark.parametrize("authority", BROKEN)
def test_what_is_no_host_is_a_bad_request(authority: str) -> None:
    assert status(HostGuard().refusal(authority)) == 400


def test_without_a_host_only_old_clients_get_this_far() -> None:
    assert HostGuard().refusal(None) is None


@pytest.mark.parametrize(
    ("allowed", "named"),
    [
        ("notes.example", "notes.example:6806"),
        ("Notes.Example:1", "notes.example"),
        ("fd00::1", "[fd00::1]:6806"),
        ("[fd00::1]", "[fd00::1]"),
        ("FD00:0::1", "[fd00::1]"),
    ],
)
def test_an_allowed_host_may_be_written_in_any_way_that_names_it(allowed: str, named: str) -> None:
    assert HostGuard(allowed=[allowed]).refusal(named) is None


def test_the_bound_address_and_the_allowed_names_are_served() -> None:
    guard = HostGuard(["192.168.1.5"], ["notes.test", "Other.Test:8443"])
    served = {
        name: status(guard.refusal(name)) for name in ("192.168.1.5:1", "notes.test:2", "other.test", "192.168.1.6")
    }
    assert served == {"192.168.1.5:1": 200, "notes.test:2": 200, "other.test": 200, "192.168.1.6": 421}


@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_a_wildcard_serves_any_address_but_no_name(bound: str) -> None:
    guard = HostGuard([bound])
    assert status(guard.refusal("10.0.0.7:6806")) == 200
    assert status(guard.refusal("evil.test")) == 421


def test_an_authority_gives_its_host() -> None:
    assert split_authority("[::1]:80") == "::1"
    assert split_authority("A.b:80") == "a.b"


ALLOWED_ORIGINS = [
    "http://localhost",
    "http://localhost:8000",
    "https://127.0.0.1:1",
    "http://[::1]:5173",
    "http://x.localhost:9",
]
REFUSED_ORIGINS = [
    "null",
    "",
    "file://",
    "http://evil.test",
    "http://localhost.evil.test",
    "localhost:8000",
    "ftp://localhost",
    "http://u@localhost",
    "http://localhost/path",
    "http://localhost:port",
    "http://[::1",
    "chrome-extension://abc",
]


@pytest.mark.parametrize(
    ("origin", "expected"), [*((o, True) for o in ALLOWED_ORIGINS), *((o, False) for o in REFUSED_ORIGINS)]
)
def test_only_pages_of_this_machine_are_local(origin: str, expected: bool) -> None:
    assert is_loopback_origin(origin) is expected
    assert (OriginGuard().refusal(origin) is None) is expected


def test_no_origin_is_no_page() -> None:
    assert OriginGuard().refusal(None) is None
    assert OriginGuard().answer_headers(None) == ()


def test_the_allowed_list_is_read_anew_for_each_request() -> None:
    allowed: list[str] = []
    guard = OriginGuard(lambda: allowed)
    assert status(guard.refusal("http://app.test:8000")) == 403
    allowed.append("http://app.test:8000")
    assert status(guard.refusal("http://app.test:8000")) == 200
    assert status(guard.refusal("http://app.test")) == 403


def test_a_preflight_names_methods_and_headers_without_credentials() -> None:
    guard = OriginGuard(lambda: ["http://app.test"])
    answer = guard.preflight(
        "http://app.test", {"POST", "GET", "DELETE"}, "content-type, Mcp-Param-City, x-evil, mcp-param-a\tb"
    )
    headers = dict(answer.headers)
    assert answer.status == 204
    assert headers["Access-Control-Allow-Origin"] == "http://app.test"
    assert headers["Access-Control-Allow-Methods"] == "DELETE, GET, OPTIONS, POST"
    names = set(headers["Access-Control-Allow-Headers"].split(", "))
    asked = {
        "content-type",
        "authorization",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "last-event-id",
    }
    assert asked <= names
    assert "mcp-param-city" in names
    assert not {"x-evil", "mcp-param-a\tb"} & names
    assert headers["Access-Control-Expose-Headers"].startswith("Mcp-Session-Id")
    assert headers["Vary"] == "Origin"
    assert headers["Access-Control-Max-Age"] == "600"


def test_a_preflight_of_a_foreign_page_is_refused() -> None:
    assert OriginGuard().preflight("http://evil.test", {"POST"}, "").status == 403


def test_options_without_a_page_names_the_methods_only() -> None:
    answer = OriginGuard().preflight(None, {"POST"}, "")
    assert (answer.status, answer.headers) == (204, (("Allow", "OPTIONS, POST"),))

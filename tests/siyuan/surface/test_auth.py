"""Who may call: the kernel's order of checks, with and without an access code."""

from __future__ import annotations

import base64

import pytest

from kernel.siyuan.auth import AccessRules, Grant, check_access, client_address, cookie_value
from kernel.siyuan.limits import SESSION_MS_MAX
from kernel.siyuan.sessions import Session, SessionSeal, set_cookie
from kernel.wire import Headers, Request, Response

SEAL = SessionSeal(b"key")
OPEN = AccessRules("t0ken", "", "notes", SEAL)
LOCKED = AccessRules("t0ken", "s3cret", "notes", SEAL)
NOW_MS = 1_000_000_000_000


def request(target: str = "/api/x", method: str = "POST", peer: str = "127.0.0.1", **headers: str) -> Request:
    path, _, query = target.partition("?")
    items = [(name.replace("_", "-").lower(), value) for name, value in headers.items()]
    return Request(method, target, path, query, Headers(items), peer=peer)


def outcome(given: Grant | Response) -> object:
    if isinstance(given, Grant):
        return "admin" if given.is_admin else "nobody"
    return given.status


def judged(rules: AccessRules, target: str = "/api/x", **options: str) -> object:
    return outcome(check_access(request(target, **options), rules, wall_ms=NOW_MS))


@pytest.mark.parametrize("rules", [OPEN, LOCKED])
@pytest.mark.parametrize(
    ("target", "headers", "expected"),
    [
        ("/api/x", {"Authorization": "Token t0ken"}, "admin"),
        ("/api/x", {"Authorization": "token t0ken"}, "admin"),
        ("/api/x", {"Authorization": "Bearer t0ken"}, "admin"),
        ("/api/x", {"Authorization": "bearer t0ken", "Origin": "http://evil.test"}, "admin"),
        ("/api/x", {"Authorization": "Token bad"}, 401),
        ("/api/x", {"Authorization": "Token s3cret"}, 401),
        ("/api/x?token=t0ken", {}, "admin"),
        ("/api/x?token=bad", {}, 401),
        ("/api/x?token=t0ken", {"Authorization": "Token bad"}, 401),
        ("/api/x?token=bad", {"Authorization": "Token t0ken"}, "admin"),
    ],
)
def test_a_token_decides_first(rules: AccessRules, target: str, headers: dict[str, str], expected: object) -> None:
    assert judged(rules, target, **headers) == expected


@pytest.mark.parametrize("value", ["", "token ", "TOKEN t0ken", "Basic eDp5"])
def test_other_schemes_and_empty_tokens_fall_through(value: str) -> None:
    assert judged(OPEN, Authorization=value) == "admin"
    assert judged(LOCKED, Authorization=value) == 401


def test_an_empty_token_in_the_query_falls_through() -> None:
    assert judged(OPEN, "/api/x?token=") == "admin"
    assert judged(LOCKED, "/api/x?token=&x=1") == 401


def test_an_unset_token_admits_nobody() -> None:
    assert judged(AccessRules("", "s3cret", "notes", SEAL), Authorization="Token ") == 401


@pytest.mark.parametrize(
    ("headers", "is_local"),
    [
        ({}, True),
        ({"Origin": "http://127.0.0.1:6806"}, True),
        ({"Origin": "https://localhost"}, True),
        ({"Origin": "http://sub.localhost"}, True),
        ({"Origin": "http://[::1]:80"}, True),
        ({"Origin": ""}, True),
        ({"Origin": "null"}, False),
        ({"Origin": "file://"}, False),
        ({"Origin": "localhost"}, False),
        ({"Origin": "http://[::1"}, False),
        ({"Origin": "http://127.0.0.1.evil.example"}, False),
        ({"Origin": "http://evil.example/?http://127.0.0.1"}, False),
        ({"Origin": "chrome-extension://abc"}, False),
        ({"X_Forwarded_For": "8.8.8.8"}, False),
        ({"X_Forwarded_For": "127.0.0.1, 8.8.8.8"}, True),
        ({"X_Forwarded_For": "8.8.8.8, 127.0.0.1"}, False),
        ({"X_Forwarded_For": "bad"}, True),
        ({"X_Forwarded_For": "bad", "X_Real_IP": "8.8.8.8"}, False),
        ({"X_Real_IP": "::1"}, True),
        ({"X_Forwarded_Host": "evil.example"}, False),
        ({"X_Forwarded_Host": "localhost:80"}, True),
        ({"X_Forwarded_Host": "127.0.0.1"}, False),
        ({"Referer": "https://evil.example/"}, True),
    ],
)
def test_without_an_access_code_only_this_machine_passes(headers: dict[str, str], is_local: bool) -> None:
    assert judged(OPEN, **headers) == ("admin" if is_local else 401)


def test_without_an_access_code_another_machine_never_passes() -> None:
    assert judged(OPEN, peer="10.0.0.7") == 401


def test_the_plugin_surface_has_judged_the_origin_itself() -> None:
    page = request(Origin="http://app.test")
    assert outcome(check_access(page, OPEN, wall_ms=NOW_MS, judges_origin=False)) == "admin"


@pytest.mark.parametrize(
    ("target", "peer", "expected"),
    [
        ("/appearance/x", "10.0.0.7", "nobody"),
        ("/stage/protyle/x", "10.0.0.7", "nobody"),
        ("/stage/x", "127.0.0.1", 401),
        ("/assets/x", "127.0.0.1", "admin"),
        ("/export/x", "127.0.0.1", "admin"),
        ("/assets/x", "10.0.0.7", 401),
        ("/api/system/getNetwork", "127.0.0.1", "admin"),
        ("/api/system/getConf", "127.0.0.1", 401),
    ],
)
def test_with_an_access_code_some_paths_stay_open(target: str, peer: str, expected: object) -> None:
    assert judged(LOCKED, target, peer=peer) == expected


def test_a_genuine_session_of_the_present_code_passes() -> None:
    def cookie(seal: SessionSeal, code: str, wall_ms: int = NOW_MS) -> str:
        return f"a=b; siyuan={seal.close(Session(seal.proof_of(code)), wall_ms=wall_ms)}"

    assert judged(LOCKED, Cookie=cookie(SEAL, "s3cret")) == "admin"
    assert judged(LOCKED, Cookie=cookie(SEAL, "older code")) == 401
    assert judged(LOCKED, Cookie=cookie(SessionSeal(b"other"), "s3cret")) == 401
    assert judged(LOCKED, Cookie=cookie(SEAL, "s3cret", NOW_MS - SESSION_MS_MAX)) == "admin"
    assert judged(LOCKED, Cookie=cookie(SEAL, "s3cret", NOW_MS - SESSION_MS_MAX - 1)) == 401
    assert judged(LOCKED, Cookie=cookie(SEAL, "s3cret", NOW_MS + 1)) == 401
    for broken in ("siyuan=bad", "siyuan=.", "siyuan=" + "x" * 5000, "siyuan=ä.b"):
        assert judged(LOCKED, Cookie=broken) == 401


def test_the_code_itself_never_lies_in_a_cookie() -> None:
    sealed = SEAL.close(Session(SEAL.proof_of("s3cret"), "AB"), wall_ms=NOW_MS)
    payload = sealed.partition(".")[0]
    assert b"s3cret" not in base64.urlsafe_b64decode(payload + "==")
    opened = SEAL.open(sealed, wall_ms=NOW_MS)
    assert opened is not None
    assert opened.captcha == "AB"


def test_a_cookie_is_for_the_whole_site_and_not_for_scripts() -> None:
    assert set_cookie("v") == ("Set-Cookie", "siyuan=v; Path=/; HttpOnly")
    assert set_cookie("v", max_age_s=60)[1] == "siyuan=v; Path=/; Max-Age=60; HttpOnly"
    assert cookie_value(Headers([("cookie", 'a="1"; b=2'), ("cookie", "c=3")]), "c") == "3"
    assert cookie_value(Headers([("cookie", 'a="1"')]), "a") == "1"
    assert cookie_value(Headers(), "a") is None


@pytest.mark.parametrize(
    ("user", "password", "expected"),
    [("notes", "s3cret", "admin"), ("x", "s3cret", 401), ("notes", "bad", 401)],
)
def test_basic_names_the_workspace_and_the_code(user: str, password: str, expected: object) -> None:
    value = base64.b64encode(f"{user}:{password}".encode()).decode()
    assert judged(LOCKED, Authorization=f"Basic {value}") == expected


@pytest.mark.parametrize("value", ["Basic !", "Basic " + base64.b64encode(b"\xff\xff").decode()])
def test_broken_basic_is_no_basic(value: str) -> None:
    assert judged(LOCKED, Authorization=value) == 401


def test_browsers_are_led_to_the_sign_in_page_where_they_can_follow() -> None:
    led = check_access(request("/a?b=1", "GET", User_Agent="Mozilla/5.0"), LOCKED, wall_ms=0)
    assert isinstance(led, Response)
    assert (led.status, dict(led.headers)["Location"]) == (302, "/check-auth?to=%2Fa%3Fb%3D1")
    for options in ({"method": "POST"}, {"method": "GET", "Upgrade": "websocket"}):
        told = check_access(request("/a", User_Agent="SiYuan/3.7.3", **options), LOCKED, wall_ms=0)
        assert isinstance(told, Response)
        assert (told.status, b"\\u003cbutton" in told.body) == (401, True)
    plain = check_access(request("/a", "GET", User_Agent="curl/8"), LOCKED, wall_ms=0)
    assert isinstance(plain, Response)
    assert plain.body == b'{"code":-1,"msg":"Auth failed [session]"}'


def test_dav_clients_are_asked_for_basic() -> None:
    asked = check_access(request("/webdav/", "GET"), LOCKED, wall_ms=0)
    assert isinstance(asked, Response)
    assert (asked.status, asked.body) == (401, b"")
    assert dict(asked.headers)["WWW-Authenticate"].startswith("Basic realm=")


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ({}, "10.0.0.9"),
        ({"x_forwarded_for": "10.1.1.1, 10.2.2.2"}, "10.1.1.1"),
        ({"x_forwarded_for": "10.1.1.1, nobody"}, "10.0.0.9"),
        ({"x_forwarded_for": "nobody", "x_real_ip": "10.3.3.3"}, "10.3.3.3"),
        ({"x_real_ip": ""}, "10.0.0.9"),
    ],
)
def test_a_client_is_where_its_proxy_says_unless_that_is_no_address(headers: dict[str, str], address: str) -> None:
    assert client_address(request(peer="10.0.0.9", **headers)) == address

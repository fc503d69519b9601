"""Logging in, out, and the captcha in between."""

from __future__ import annotations

import json
import zlib
from collections.abc import Awaitable, Callable

import pytest

from kernel.siyuan.captcha import ALPHABET, HEIGHT_PX, TEXT_LENGTH, WIDTH_PX, picture, text_from
from kernel.siyuan.limits import WRONG_CODES_MAX
from kernel.siyuan.login import cleaned
from kernel.siyuan.sessions import Session
from tests.siyuan.surface.conftest import Reply, World

Start = Callable[..., Awaitable[World]]
LOGIN, LOGOUT, CAPTCHA = "/api/system/loginAuth", "/api/system/logoutAuth", "/api/system/getCaptcha"
NOTEBOOKS = "/api/notebook/lsNotebooks"


def said(reply: Reply) -> tuple[int, str]:
    answer = json.loads(reply.body)
    return answer["code"], answer["msg"]


def cookie(reply: Reply) -> str:
    return reply.headers["set-cookie"].partition(";")[0]


async def test_the_right_code_opens_a_session_and_the_cookie_keeps_it(start: Start) -> None:
    world = await start(access_code="s3cret")
    assert (await world.post(NOTEBOOKS)).status == 401
    opened = await world.post(LOGIN, '{"authCode":" s3cret\u200b "}')
    assert said(opened) == (0, "")
    assert opened.headers["set-cookie"].endswith("; Path=/; HttpOnly")
    assert (await world.post(NOTEBOOKS, Cookie=cookie(opened))).status == 200
    kept = await world.post(LOGIN, '{"authCode":"s3cret","rememberMe":true}')
    assert "Max-Age=2592000" in kept.headers["set-cookie"]


async def test_logging_out_gives_an_empty_session_but_the_old_cookie_stays_good(start: Start) -> None:
    world = await start(access_code="s3cret")
    opened = cookie(await world.post(LOGIN, '{"authCode":"s3cret"}'))
    closed = await world.post(LOGOUT)
    assert said(closed) == (0, "")
    assert (await world.post(NOTEBOOKS, Cookie=cookie(closed))).status == 401
    assert (await world.post(NOTEBOOKS, Cookie=opened)).status == 200


async def test_without_a_code_there_is_nothing_to_log_out_of(start: Start) -> None:
    world = await start()
    refused = await world.post(LOGOUT)
    assert said(refused)[0] == -1
    assert json.loads(refused.body)["data"] == {"closeTimeout": 5000}
    assert said(await world.post(LOGIN, '{"authCode":""}')) == (0, "")
    assert said(await world.post(LOGIN, '{"authCode":"x"}'))[0] == -1


@pytest.mark.parametrize("body", ["{}", '{"authCode":5}'])
async def test_a_code_that_is_no_text_ends_in_silence_without_a_session(start: Start, body: str) -> None:
    reply = await (await start(access_code="s3cret")).post(LOGIN, body)
    assert said(reply) == (0, "")
    assert "set-cookie" not in reply.headers


async def test_an_unreadable_login_says_so(start: Start) -> None:
    assert "body is empty" in said(await (await start()).post(LOGIN, ""))[1]


async def test_after_too_many_wrong_codes_a_captcha_is_asked_for(start: Start) -> None:
    world = await start(access_code="s3cret")
    codes = [said(await world.post(LOGIN, '{"authCode":"bad"}'))[0] for _ in range(WRONG_CODES_MAX + 1)]
    assert codes == [-1] * WRONG_CODES_MAX + [1]
    for body in ('{"authCode":"s3cret"}', '{"authCode":"s3cret","captcha":""}'):
        assert said(await world.post(LOGIN, body)) == (1, "Please enter the captcha")
    assert said(await world.post(LOGIN, '{"authCode":"s3cret","captcha":5}')) == (0, "")
    wrong = await world.post(LOGIN, '{"authCode":"s3cret","captcha":"zz"}')
    assert said(wrong) == (1, "The captcha is incorrect")
    shown = await world.get(CAPTCHA)
    assert shown.headers["content-type"] == "image/png"
    seal, now_ms = world.surface._seal, world.kernel.clock.wall_ms()
    session = seal.open(cookie(shown).partition("=")[2], wall_ms=now_ms)
    assert session is not None
    body = json.dumps({"authCode": "s3cret", "captcha": session.captcha.lower()})
    opened = await world.post(LOGIN, body, Cookie=cookie(shown))
    assert said(opened) == (0, "")
    assert (await world.post(NOTEBOOKS, Cookie=cookie(opened))).status == 200
    assert said(await world.post(LOGIN, '{"authCode":"bad"}'))[0] == -1  # the count has started anew


async def test_a_wrong_captcha_is_spent(start: Start) -> None:
    world = await start(access_code="s3cret")
    for _ in range(WRONG_CODES_MAX + 1):
        await world.post(LOGIN, '{"authCode":"bad"}')
    seal, now_ms = world.surface._seal, world.kernel.clock.wall_ms()
    shown = f"siyuan={seal.close(Session('', 'ABCD'), wall_ms=now_ms)}"
    failed = await world.post(LOGIN, '{"authCode":"s3cret","captcha":"zzzz"}', Cookie=shown)
    again = await world.post(LOGIN, '{"authCode":"s3cret","captcha":"ABCD"}', Cookie=cookie(failed))
    assert said(again) == (1, "The captcha is incorrect")


def test_what_cannot_be_seen_is_not_part_of_a_code() -> None:
    assert cleaned("\ufeff s3\u200bcret\n ") == "s3cret"


def test_a_captcha_is_a_picture_of_its_text() -> None:
    assert text_from(bytes(range(TEXT_LENGTH))) == ALPHABET[:TEXT_LENGTH]
    image = picture(ALPHABET[:TEXT_LENGTH], bytes(range(16)))
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    pixels = zlib.decompress(image[image.index(b"IDAT") + 4 : image.index(b"IEND") - 8])
    assert len(pixels) == HEIGHT_PX * (WIDTH_PX + 1)
    assert pixels.count(0) > 100
    for char in ALPHABET:
        assert len(picture(char, bytes(8))) > 100

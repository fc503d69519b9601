"""HTTP messages as values."""

from __future__ import annotations

from kernel.wire import BodyTooLarge, Headers, RecordedWriter, Request, json_response


def test_of_several_headers_the_first_wins_and_all_are_kept_in_order() -> None:
    headers = Headers([("a", "1"), ("b", "2"), ("a", "3")])
    assert (headers.get("a"), headers.get("b"), headers.get("c"), headers.get("c", "d")) == ("1", "2", None, "d")
    assert headers.get_all("a") == ["1", "3"]
    assert headers.get_all("c") == []
    assert ("a" in headers, "c" in headers) == (True, False)
    assert headers.items == (("a", "1"), ("b", "2"), ("a", "3"))


def test_what_follows_from_a_head_is_worked_out_once() -> None:
    calls: list[str] = []

    def derive(headers: Headers) -> str | None:
        calls.append("x")
        return headers.get("a")

    first, second = Headers([("a", "1")]), Headers([("a", "2")])
    assert [first.derived(derive), first.derived(derive), second.derived(derive)] == ["1", "1", "2"]
    assert len(calls) == 2


async def test_a_recorded_answer_and_the_plain_forms() -> None:
    writer = RecordedWriter()
    await writer.send(b"a")
    await writer.send(b"")
    assert writer.sent == [b"a", b""]
    answer = json_response(400, b"{}", (("X", "y"),), closes=True)
    assert (answer.status, answer.headers, answer.body, answer.closes) == (
        400,
        (("Content-Type", "application/json"), ("X", "y")),
        b"{}",
        True,
    )
    assert Request("GET", "/a", "/a", "", Headers()).body == b""
    assert (BodyTooLarge(7).limit_bytes, str(BodyTooLarge(7))) == (7, "the body is longer than 7 bytes")

"""The book notices what must not happen, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.sim.model import Book, BrokenPromise


def committed(request_id: str = "ab12", **more: Any) -> dict[str, Any]:
    safety = {
        "requestId": request_id,
        "transactionState": "committed",
        "replayed": False,
        "previousHash": "aaaa",
        "resultHash": "bbbb",
        **more,
    }
    return {"success": True, "safety": safety}


def refused(code: str, *, attempted: bool = False) -> dict[str, Any]:
    return {"success": False, "writeAttempted": attempted, "error": {"code": code}}


def written(book: Book, mark: int, *, is_done: bool | None = True) -> None:
    write = book.host_begins({"data": f"qz{mark}qz"})
    assert write is not None
    book.host_ends(write, is_done=is_done)


def prepared() -> tuple[Book, int]:
    book = Book()
    mark = book.mark("text b")
    book.issued("ab12", mark)
    return book, mark


def test_a_commit_and_its_replay_are_in_order() -> None:
    book, mark = prepared()
    first = book.attempt(mark, "ab12")
    written(book, mark)
    book.answered(first, committed())
    again = book.attempt(mark, "ab12")
    book.answered(again, committed(replayed=True, resultHash="bbbbcc"))
    book.check_settled()
    book.check_left([mark], "now")


def test_a_second_write_is_noticed() -> None:
    book, mark = prepared()
    written(book, mark)
    with pytest.raises(BrokenPromise, match="second time"):
        book.host_begins({"data": f"qz{mark}qz"})


def test_a_write_that_the_host_refused_may_be_sent_again() -> None:
    book, mark = prepared()
    written(book, mark, is_done=False)
    written(book, mark)
    assert [write.is_done for write in book.writes[mark]] == [False, True]


def test_a_call_without_a_mark_is_nothing_to_the_book() -> None:
    assert Book().host_begins({"path": "/x"}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("requestId", "cd34"), ("transactionState", "no_change"), ("previousHash", "cccc"), ("resultHash", "")],
)
def test_a_replay_that_says_something_else_is_noticed(name: str, value: str) -> None:
    book, mark = prepared()
    written(book, mark)
    book.answered(book.attempt(mark, "ab12"), committed())
    with pytest.raises(BrokenPromise, match=name):
        book.answered(book.attempt(mark, "ab12"), committed(**{"replayed": True, name: value}))


def test_two_first_answers_are_noticed() -> None:
    book, mark = prepared()
    written(book, mark)
    book.answered(book.attempt(mark, "ab12"), committed())
    with pytest.raises(BrokenPromise, match="committed twice"):
        book.answered(book.attempt(mark, "ab12"), committed())


def test_a_commit_that_nothing_was_written_for_is_noticed() -> None:
    book, mark = prepared()
    with pytest.raises(BrokenPromise, match="never written"):
        book.answered(book.attempt(mark, "ab12"), committed())


@pytest.mark.parametrize(
    "answer", [{"success": True}, {"success": True, "safety": None}, committed(transactionState="executing")]
)
def test_a_success_without_its_receipt_is_noticed(answer: dict[str, Any]) -> None:
    book, mark = prepared()
    attempt = book.attempt(mark, "ab12")
    written(book, mark)
    with pytest.raises(BrokenPromise, match="a success without its receipt"):
        book.answered(attempt, answer)


def test_an_answer_that_denies_a_write_is_noticed_unless_another_call_made_it() -> None:
    book, mark = prepared()
    attempt = book.attempt(mark, "ab12")
    written(book, mark)
    with pytest.raises(BrokenPromise, match="nothing attempted"):
        book.answered(attempt, refused("request_cancelled"))
    book, mark = prepared()
    one, other = book.attempt(mark, "ab12"), book.attempt(mark, "ab12")
    written(book, mark)
    book.answered(one, refused("request_id_expired"))
    book.answered(other, committed())


def test_a_commit_that_is_in_doubt_later_is_noticed() -> None:
    book, mark = prepared()
    written(book, mark)
    book.answered(book.attempt(mark, "ab12"), committed())
    with pytest.raises(BrokenPromise, match="in doubt now"):
        book.answered(book.attempt(mark, "ab12"), refused("outcome_unknown", attempted=True))


def test_an_id_taken_for_another_call_is_noticed() -> None:
    book, _ = prepared()
    other = book.mark("text c")
    written(book, other)
    with pytest.raises(BrokenPromise, match="not issued for"):
        book.answered(book.attempt(other, "ab12"), committed())


def test_an_answer_twice_and_an_answer_never_are_noticed() -> None:
    book, mark = prepared()
    attempt = book.attempt(mark, None)
    with pytest.raises(BrokenPromise, match="never answered"):
        book.check_settled()
    book.answered(attempt, refused("validation_error"))
    with pytest.raises(BrokenPromise, match="answered twice"):
        book.answered(attempt, refused("validation_error"))


def test_a_write_that_no_answer_told_of_is_noticed_unless_its_answer_was_lost() -> None:
    book, mark = prepared()
    lost = book.attempt(mark, "ab12")
    written(book, mark)
    book.lost(lost)
    book.check_settled()
    book, mark = prepared()
    book.answered(book.attempt(mark, "ab12"), refused("state_changed"))
    written(book, mark)
    with pytest.raises(BrokenPromise, match="no answer ever said"):
        book.check_settled()


def test_a_code_that_no_table_knows_and_an_id_issued_twice_are_noticed() -> None:
    book, mark = prepared()
    with pytest.raises(BrokenPromise, match="no table knows"):
        book.answered(book.attempt(mark, "ab12"), refused("odd"))
    with pytest.raises(BrokenPromise, match="second time"):
        book.issued("ab12", mark)


def test_an_older_write_is_not_seen_and_one_under_way_may_be() -> None:
    book = Book()
    first, second, third = (book.mark("text b") for _ in range(3))
    assert book.possible("text b", 0, 0) == {0}
    written(book, first)
    book.check_seen("text b", first, book.step + 1, "a read")
    write = book.host_begins({"data": f"qz{second}qz"})
    assert write is not None
    assert book.possible("text b", book.step, book.step) == {first, second}
    book.host_ends(write, is_done=True)
    book.step += 1
    assert book.possible("text b", book.step, book.step) == {second}
    written(book, third, is_done=False)
    book.step += 1
    assert book.possible("text b", book.step, book.step) == {second}
    with pytest.raises(BrokenPromise, match="shows mark"):
        book.check_seen("text b", first, book.step, "a read")


def test_a_lost_addition_two_texts_at_once_and_a_lost_write_are_noticed() -> None:
    book = Book()
    added, first, second = book.mark(""), book.mark("text b"), book.mark("text b")
    written(book, added)
    written(book, first)
    book.step += 1
    book.check_left([added, first], "after a crash")
    with pytest.raises(BrokenPromise, match="are gone"):
        book.check_left([first], "after a crash")
    with pytest.raises(BrokenPromise, match="shows mark 0"):
        book.check_left([added], "after a crash")
    written(book, second)
    with pytest.raises(BrokenPromise, match="at once"):
        book.check_left([added, first, second], "after a crash")


def test_what_a_crash_interrupts_may_be_found_or_not() -> None:
    book = Book()
    first, second = book.mark("text b"), book.mark("text b")
    written(book, first)
    book.host_begins({"data": f"qz{second}qz"})
    book.after_crash()
    book.check_left([first], "after a crash")
    book.check_left([second], "after a crash")

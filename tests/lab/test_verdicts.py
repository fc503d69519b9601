"""Each verdict: a client that earns it, and its neighbour that does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernel.lab.verdicts import VERDICTS, ClientRun, Evidence, judge
from tests.lab.story import Story

Told = Callable[[], Evidence]
CASES: dict[str, tuple[set[str], Told]] = {}


def case(*names: str) -> Callable[[Told], Told]:
    """A story and exactly the verdicts it earns."""

    def keep(told: Told) -> Told:
        CASES[told.__name__] = set(names), told
        return told

    return keep


@case("recovered")
def a_replay_tells_what_became_of_it() -> Evidence:
    story = Story()
    story.lost(story.commit("1")).ok(story.commit("1"))
    return story.evidence(begun="1")


@case("sent_twice", "new_id_after_unknown")
def a_second_id_after_a_lost_answer() -> Evidence:
    story = Story()
    story.lost(story.commit("1")).ok(story.preflight()).ok(story.commit("2"))
    return story.evidence(begun="1 2")


@case("new_id_after_unknown")
def a_second_id_after_an_unknown_outcome_that_was_never_begun() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "outcome_unknown").ok(story.commit("2"))
    return story.evidence(begun="2")


@case("recovered")
def a_second_id_after_reading() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "outcome_unknown").ok(story.read()).ok(story.preflight()).ok(story.commit("2"))
    return story.evidence(begun="1 2")


@case("recovered")
def a_second_id_after_a_replay_that_was_refused_for_certain() -> Evidence:
    story = Story()
    story.lost(story.commit("1")).error(story.commit("1"), "preflight_lease_invalid").ok(story.commit("2"))
    return story.evidence(begun="2")


@case("sent_twice", "new_id_after_unknown")
def a_bad_gateway_is_no_answer() -> Evidence:
    story = Story()
    story.http(story.commit("1"), 502).ok(story.commit("2"))
    return story.evidence(begun="1 2")


@case("sent_twice")
def a_call_without_an_id_is_sent_again() -> Evidence:
    story = Story()
    story.lost(story.plain()).ok(story.plain())
    return story.evidence()


@case("ignored_unknown")
def a_lost_commit_is_called_a_success() -> Evidence:
    story = Story()
    story.lost(story.commit("1"))
    return story.evidence()


@case("not_recovered")
def a_lost_commit_is_reported() -> Evidence:
    story = Story()
    story.lost(story.commit("1"))
    return story.evidence(exit_code=1)


@case("reported")
def giving_up_where_one_may() -> Evidence:
    story = Story()
    story.http(story.read(), 401)
    return story.evidence(exit_code=1, must_recover=False)


@case("hid_failure")
def a_refusal_is_called_a_success() -> Evidence:
    story = Story()
    story.error(story.preflight(), "write_ledger_unavailable")
    return story.evidence()


@case("recovered")
def a_refusal_and_a_look_at_what_is_there() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "preflight_lease_invalid").ok(story.read())
    return story.evidence()


@case("ignored_lost_answer")
def a_lost_read_is_never_asked_again() -> Evidence:
    story = Story()
    story.lost(story.read()).ok(story.preflight())
    return story.evidence()


@case("recovered")
def a_lost_read_is_asked_again() -> Evidence:
    story = Story()
    story.lost(story.read()).ok(story.read())
    return story.evidence()


@case("ignored_state_changed", "hid_failure")
def a_changed_state_and_the_same_commit_again() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "state_changed").error(story.commit("1"), "preflight_lease_invalid")
    return story.evidence()


@case("ignored_state_changed")
def a_changed_state_and_a_new_preflight_without_reading() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "state_changed").ok(story.preflight()).ok(story.commit("2"))
    return story.evidence(begun="2")


@case("recovered")
def a_changed_state_and_a_look_at_it() -> Evidence:
    story = Story()
    story.error(story.commit("1"), "state_changed").ok(story.read()).ok(story.preflight()).ok(story.commit("2"))
    return story.evidence(begun="2")


@case("retried_non_retryable", "hid_failure")
def a_refusal_for_good_is_tried_again() -> Evidence:
    story = Story()
    story.error(story.read(), "permission_denied").error(story.read(), "permission_denied")
    return story.evidence()


@case("retried_non_retryable", "hid_failure")
def an_http_refusal_for_good_is_tried_again() -> Evidence:
    story = Story()
    story.http(story.read(), 403).http(story.read(), 403)
    return story.evidence()


@case("recovered")
def what_may_be_tried_again_is() -> Evidence:
    story = Story()
    story.error(story.preflight(), "write_safety_failed").ok(story.preflight())
    return story.evidence()


@case("never_cancelled")
def a_call_in_a_session_is_given_up_in_silence() -> Evidence:
    story = Story(session="s")
    story.lost(story.read(), by="client").ok(story.read())
    return story.evidence()


@case("recovered")
def a_call_in_a_session_is_cancelled() -> Evidence:
    story = Story(session="s")
    held = story.read()
    story.http(story.exchange({"method": "notifications/cancelled", "params": {"requestId": 1}}), 202)
    story.lost(held, by="client").ok(story.read())
    return story.evidence()


@case("recovered")
def without_a_session_closing_is_the_cancel() -> Evidence:
    story = Story()
    story.lost(story.read(), by="client").ok(story.read())
    return story.evidence()


@case("hammered")
def it_comes_again_at_once() -> Evidence:
    story = Story()
    story.http(story.read(), 503, retry_after="5").ok(story.read())
    return story.evidence()


@case("hammered")
def it_does_not_wait_for_a_place_in_the_queue() -> Evidence:
    story = Story()
    story.error(story.read(), "queue_full", retryAfterMs=2000).ok(story.read())
    return story.evidence()


@case("recovered")
def it_waits_as_asked() -> Evidence:
    story = Story()
    story.http(story.read(), 503, retry_after="0.5").ok(story.read())
    return story.evidence()


@case("reused_dead_session", "hid_failure")
def it_stays_in_a_session_that_is_gone() -> Evidence:
    story = Story(session="s")
    story.http(story.read(), 404).http(story.read(), 404)
    return story.evidence()


@case("recovered")
def it_opens_a_new_session() -> Evidence:
    story = Story(session="s")
    story.http(story.read(), 404)
    story.session = "t"
    story.ok(story.read())
    return story.evidence()


@case("hung")
def it_waits_for_ever() -> Evidence:
    story = Story()
    story.lost(story.read(), by="")
    return story.evidence(run=ClientRun(None, is_hung=True))


@case("flooded")
def it_prints_without_end() -> Evidence:
    return Story().evidence(run=ClientRun(None, is_flooding=True))


@case("not_started", "not_reached")
def it_cannot_start() -> Evidence:
    return Story().evidence(run=ClientRun(None, start_error="nothing: not found"), struck=0)


@case("not_reached")
def it_never_came_there() -> Evidence:
    return Story().evidence(struck=0)


@case("recovered", "kernel_died")
def the_kernel_dies_and_the_client_goes_on() -> Evidence:
    return Story().evidence(deaths=1)


@pytest.mark.parametrize("name", CASES)
def test_a_story_earns_its_verdicts_and_no_others(name: str) -> None:
    expected, told = CASES[name]
    judgement = judge(told())
    assert {verdict.name for verdict in judgement.verdicts} == expected
    assert all(verdict.details for verdict in judgement.verdicts)
    grades = {verdict.grade for verdict in judgement.verdicts}
    assert judgement.outcome == ("fault" if "fault" in grades else "not reached" if "not_reached" in expected else "ok")


def test_every_verdict_has_its_story() -> None:
    assert {row.name for row in VERDICTS} == set().union(*(names for names, _ in CASES.values()))

"""[core] When a card is due again: the free spaced repetition scheduler, version 5, with its short first steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
RATINGS: Final = (AGAIN, HARD, GOOD, EASY)
NEW, LEARNING, REVIEW, RELEARNING = 0, 1, 2, 3
NEVER: Final = datetime(1, 1, 1, tzinfo=UTC)
_DECAY: Final = -0.5
_FACTOR: Final = 0.9 ** (1 / _DECAY) - 1
_FIRST_MINUTES: Final = {AGAIN: 1, HARD: 5, GOOD: 10}
_NEXT_MINUTES: Final = {AGAIN: 5, HARD: 10}
_FORGOTTEN_MINUTES: Final = 5
_WEIGHT_COUNT: Final = 19


@dataclass(frozen=True, slots=True)
class Memory:
    """What is known of how well a card is remembered. ``stability`` in days, ``difficulty`` 1–10."""

    due: datetime = NEVER
    stability: float = 0.0
    difficulty: float = 0.0
    elapsed_days: int = 0
    scheduled_days: int = 0
    reps: int = 0
    lapses: int = 0
    state: int = NEW
    last_review: datetime = NEVER


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The weights a learner has, and how much is to be remembered."""

    weights: tuple[float, ...]
    retention: float = 0.9
    interval_days_max: float = 36500.0

    @classmethod
    def of(cls, weights: str, retention: float, interval_days_max: float) -> Scheduler:
        """Weights as the settings write them: numbers with commas between; what is missing or no number is 0."""
        numbers = [_number(text) for text in weights.split(",")][:_WEIGHT_COUNT]
        return cls(tuple(numbers + [0.0] * (_WEIGHT_COUNT - len(numbers))), retention, interval_days_max)

    def next_all(self, memory: Memory, now: datetime) -> dict[int, Memory]:
        """What becomes of a card by each rating."""
        elapsed = 0
        if memory.state != NEW and memory.last_review != NEVER:
            elapsed = math.floor((now - memory.last_review).total_seconds() / 86_400)
        current = replace(memory, last_review=now, elapsed_days=max(elapsed, 0), reps=memory.reps + 1)
        if memory.state == NEW:
            return {rating: self._first(current, rating, now) for rating in RATINGS}
        if memory.state == REVIEW:
            return self._reviewed(current, now)
        return {rating: self._learned(current, rating, now) for rating in RATINGS}

    def _first(self, current: Memory, rating: int, now: datetime) -> Memory:
        stability = max(self.weights[rating - 1], 0.1)
        memory = replace(current, difficulty=self._first_difficulty(rating), stability=stability)
        if rating != EASY:
            due = now + timedelta(minutes=_FIRST_MINUTES[rating])
            return replace(memory, scheduled_days=0, due=due, state=LEARNING)
        return _in_days(memory, self._interval(stability), now)

    def _learned(self, current: Memory, rating: int, now: datetime) -> Memory:
        stability = self._short_stability(current.stability, rating)
        memory = replace(current, difficulty=self._difficulty(current.difficulty, rating), stability=stability)
        if rating in _NEXT_MINUTES:
            return replace(memory, scheduled_days=0, due=now + timedelta(minutes=_NEXT_MINUTES[rating]))
        days = self._interval(stability)
        if rating == EASY:
            days = max(days, self._interval(self._short_stability(current.stability, GOOD)) + 1)
        return _in_days(memory, days, now)

    def _reviewed(self, current: Memory, now: datetime) -> dict[int, Memory]:
        difficulty, stability = current.difficulty, current.stability
        recalled = (1 + _FACTOR * current.elapsed_days / stability) ** _DECAY if stability else 0.0
        least = stability / math.exp(self.weights[17] * self.weights[18])
        stabilities = {
            AGAIN: min(least, self._forgotten(difficulty, stability, recalled)),
            **{rating: self._recalled(difficulty, stability, recalled, rating) for rating in (HARD, GOOD, EASY)},
        }
        good = self._interval(stabilities[GOOD])
        hard = min(self._interval(stabilities[HARD]), good)
        good = max(good, hard + 1)
        easy = max(self._interval(stabilities[EASY]), good + 1)
        found = {
            rating: replace(current, difficulty=self._difficulty(difficulty, rating), stability=stabilities[rating])
            for rating in RATINGS
        }
        due = now + timedelta(minutes=_FORGOTTEN_MINUTES)
        again = replace(found[AGAIN], scheduled_days=0, due=due, state=RELEARNING, lapses=current.lapses + 1)
        days = {HARD: hard, GOOD: good, EASY: easy}
        return {AGAIN: again, **{rating: _in_days(found[rating], days[rating], now) for rating in days}}

    # --- formulas ----------------------------------------------------------------------------------------------
    def _first_difficulty(self, rating: int) -> float:
        return _bounded(self.weights[4] - math.exp(self.weights[5] * (rating - 1)) + 1)

    def _difficulty(self, difficulty: float, rating: int) -> float:
        change = -self.weights[6] * (rating - 3)
        moved = difficulty + (10.0 - difficulty) * change / 9.0
        back = self.weights[7]
        return _bounded(back * self._first_difficulty(EASY) + (1 - back) * moved)

    def _short_stability(self, stability: float, rating: int) -> float:
        return stability * math.exp(self.weights[17] * (rating - 3 + self.weights[18]))

    def _recalled(self, difficulty: float, stability: float, recalled: float, rating: int) -> float:
        w = self.weights
        penalty = w[15] if rating == HARD else 1.0
        bonus = w[16] if rating == EASY else 1.0
        growth = math.exp(w[8]) * (11 - difficulty) * stability ** -w[9] * (math.exp((1 - recalled) * w[10]) - 1)
        return float(stability * (1 + growth * penalty * bonus))

    def _forgotten(self, difficulty: float, stability: float, recalled: float) -> float:
        w = self.weights
        kept = w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1)
        return float(kept * math.exp((1 - recalled) * w[14]))

    def _interval(self, stability: float) -> int:
        days = stability / _FACTOR * (self.retention ** (1 / _DECAY) - 1)
        return int(max(min(math.floor(days + 0.5), self.interval_days_max), 1))


def _in_days(memory: Memory, days: int, now: datetime) -> Memory:
    return replace(memory, scheduled_days=days, due=now + timedelta(days=days), state=REVIEW)


def _bounded(difficulty: float) -> float:
    return min(max(difficulty, 1.0), 10.0)


def _number(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        return 0.0

"""[core] How alike two texts are (Jaro-Winkler): 1 for the same, 0 for nothing in common."""

from __future__ import annotations

from typing import Final

BOOST_FROM: Final = 0.7
PREFIX_MAX: Final = 4
_PREFIX_WEIGHT: Final = 0.1


def similarity(one: str, other: str) -> float:
    """Texts that begin alike count as more alike."""
    score = _jaro(one, other)
    if score <= BOOST_FROM:
        return score
    length = 0
    for first, second in zip(one[:PREFIX_MAX], other[:PREFIX_MAX], strict=False):
        if first != second:
            break
        length += 1
    return score + _PREFIX_WEIGHT * length * (1 - score)


def _jaro(one: str, other: str) -> float:
    if not one or not other:
        return 1.0 if one == other else 0.0
    reach = max(0, max(len(one), len(other)) // 2 - 1)
    taken = [False] * len(other)
    matched = []
    for index, char in enumerate(one):
        for at in range(max(0, index - reach), min(len(other), index + reach + 1)):
            if not taken[at] and other[at] == char:
                taken[at] = True
                matched.append(char)
                break
    if not matched:
        return 0.0
    counterpart = [char for char, is_taken in zip(other, taken, strict=True) if is_taken]
    swapped = sum(first != second for first, second in zip(matched, counterpart, strict=True)) / 2
    count = len(matched)
    return (count / len(one) + count / len(other) + (count - swapped) / count) / 3

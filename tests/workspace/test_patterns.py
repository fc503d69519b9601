"""Patterns of users: Go's syntax, Go's messages (observed from Go's own parser), and no pattern that takes for ever."""

from __future__ import annotations

import pytest

from kernel.workspace.patterns import PatternInvalid, compiled

# Pattern → what Go's regexp.Compile says of it.
PROBLEMS = [
    ("(", "missing closing ): `(`"),
    ("a(b", "missing closing ): `a(b`"),
    ("[a", "missing closing ]: `[a`"),
    ("x[a", "missing closing ]: `[a`"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("a*+", "invalid nested repetition operator: `*+`"),
    ("ab**c", "invalid nested repetition operator: `**`"),
    ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
    ("\\1", "invalid escape sequence: `\\1`"),
    ("\\8", "invalid escape sequence: `\\8`"),
    ("a{1001}", "invalid repeat count: `{1001}`"),
    ("x{2,1}", "invalid repeat count: `{2,1}`"),
    ("(?P<n", "invalid named capture: `(?P<n`"),
    ("*a", "missing argument to repetition operator: `*`"),
    ("a|*", "missing argument to repetition operator: `*`"),
    (")", "unexpected ): `)`"),
    ("a)", "unexpected ): `a)`"),
    ("a\\", "trailing backslash at end of expression: ``"),
    ("[b-a]", "invalid character class range: `b-a`"),
    ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
    ("\\pX", "invalid character class range: `\\pX`"),
    ("(?i", "invalid or unsupported Perl syntax: `(?i`"),
    ("(?z)", "invalid or unsupported Perl syntax: `(?z`"),
    ("+", "missing argument to repetition operator: `+`"),
    ("?", "missing argument to repetition operator: `?`"),
    ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
    ("(a{1000}){1000}", "invalid repeat count: `{1000}`"),
    ("[]", "missing closing ]: `[]`"),
    ("[a-\\d]", "invalid escape sequence: `\\d`"),
    ("\\x{110000}", "invalid escape sequence: `\\x{110000`"),
    ("(?P<>a)", "invalid named capture: `(?P<>`"),
]


@pytest.mark.parametrize(("source", "problem"), PROBLEMS)
def test_what_go_refuses_is_refused_in_its_words(source: str, problem: str) -> None:
    with pytest.raises(PatternInvalid) as refused:
        compiled(source)
    assert str(refused.value) == f"error parsing regexp: {problem}"


def test_a_pattern_whose_backtracking_would_never_end_ends_at_once() -> None:
    assert not compiled("(a+)+$").matches("a" * 5_000 + "b")


def test_positions_and_classes_are_those_of_go() -> None:
    assert list(compiled(r"\w+").finds("héllo 海象 walrus")) == ["h", "llo", "walrus"]
    assert compiled("(?i)É").matches("é")
    assert compiled("海.").replaced("在海象旁", lambda hit: f"<{hit}>") == "在<海象>旁"


@pytest.mark.parametrize(
    ("template", "result"),
    [("$1", "b-c"), ("${1}x", "bx-cx"), ("$1x", "-"), ("$$1", "$1-$1"), ("${name}", "b-c"), ("$9", "-"), ("$", "$-$")],
)
def test_replacements_expand_groups_as_go_does(template: str, result: str) -> None:
    assert compiled("a(?P<name>.)").expanded("ab-ac", template) == result


@pytest.mark.parametrize(
    ("parts_max", "parts"), [(0, ["a", "b", "c"]), (1, ["a1b2c"]), (2, ["a", "b2c"]), (9, ["a", "b", "c"])]
)
def test_a_text_is_split_into_so_many_parts(parts_max: int, parts: list[str]) -> None:
    assert compiled("[0-9]").split("a1b2c", parts_max) == parts


def test_a_problem_that_go_has_no_words_for_is_told_in_those_of_the_engine() -> None:
    with pytest.raises(PatternInvalid, match="pattern too large"):
        compiled("\\pL{1000}|\\pN{1000}|\\pS{1000}")

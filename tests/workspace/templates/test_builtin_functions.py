"""The functions of Go's template language itself. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    ("{{ eq 1 }}", 'template: :1:3: executing "" at <eq 1>: error calling eq: missing argument for comparison'),
    ("{{ eq .x .y }}", "true"),
    ("{{ eq .x 1 }}", "false"),
    ("{{ eq nil nil }}", "true"),
    (
        "{{ eq (list 1) (list 1) }}",
        'template: :1:3: executing "" at <eq (list 1) (list 1)>: error calling eq: non-comparable type [%!s(int=1)]: []interface {}',
    ),
    ("{{ eq true true }}", "true"),
    ("{{ eq 1.5 1.5 }}", "true"),
    (
        "{{ eq 1 1.0 }}",
        'template: :1:3: executing "" at <eq 1 1.0>: error calling eq: incompatible types for comparison: int and float64',
    ),
    ("{{ eq now now }}", "true"),
    (
        '{{ lt 1 "a" }}',
        'template: :1:3: executing "" at <lt 1 "a">: error calling lt: incompatible types for comparison: int and string',
    ),
    (
        "{{ lt true false }}",
        'template: :1:3: executing "" at <lt true false>: error calling lt: invalid type for comparison',
    ),
    ("{{ lt now now }}", 'template: :1:3: executing "" at <lt now now>: error calling lt: invalid type for comparison'),
    ("{{ lt 1.5 2.5 }}", "true"),
    (
        "{{ lt (list 1) 1 }}",
        'template: :1:3: executing "" at <lt (list 1) 1>: error calling lt: invalid type for comparison',
    ),
    ('{{ lt "a" "b" }}', "true"),
    ("{{ le 1 1 }}{{ gt 2 1 }}{{ ge 1 2 }}", "truetruefalse"),
    (
        '{{ index (list 1 2) "a" }}',
        'template: :1:3: executing "" at <index (list 1 2) "a">: error calling index: cannot index slice/array with type string',
    ),
    (
        "{{ index (list 1 2) true }}",
        'template: :1:3: executing "" at <index (list 1 2) true>: error calling index: cannot index slice/array with type bool',
    ),
    (
        "{{ index 5 1 }}",
        'template: :1:3: executing "" at <index 5 1>: error calling index: can\'t index item of type int',
    ),
    ("{{ index .x 1 }}", 'template: :1:3: executing "" at <index .x 1>: error calling index: index of untyped nil'),
    ('{{ index (dict "a" 1) "b" }}', "<no value>"),
    (
        '{{ index (dict "a" 1) 1 }}',
        'template: :1:3: executing "" at <index (dict "a" 1) 1>: error calling index: value has type int; should be string',
    ),
    ('{{ index "abc" 1 }}', "98"),
    (
        "{{ index (list 1) -1 }}",
        'template: :1:3: executing "" at <index (list 1) -1>: error calling index: index out of range: -1',
    ),
    ("{{ index (list (list 1 2)) 0 1 }}", "2"),
    ("{{ index (list 1) }}", "[1]"),
    ("{{ len 5 }}", 'template: :1:3: executing "" at <len 5>: error calling len: len of type int'),
    (
        "{{ len .x }}",
        'template: :1:3: executing "" at <len .x>: error calling len: reflect: call of reflect.Value.Type on zero Value',
    ),
    ("{{ len true }}", 'template: :1:3: executing "" at <len true>: error calling len: len of type bool'),
    ("{{ len 1.5 }}", 'template: :1:3: executing "" at <len 1.5>: error calling len: len of type float64'),
    (
        "{{ len nil }}",
        'template: :1:3: executing "" at <len nil>: error calling len: reflect: call of reflect.Value.Type on zero Value',
    ),
    ("{{ call 5 }}", 'template: :1:3: executing "" at <call 5>: error calling call: non-function 5 of type int'),
    ('{{ call upper "a" }}', 'template: :1:8: executing "" at <upper>: wrong number of args for upper: want 1 got 0'),
    ("{{ call .x }}", 'template: :1:3: executing "" at <call .x>: error calling call: call of nil'),
    ('{{ html "a\'\\"<>&" }}', "a&#39;&#34;&lt;&gt;&amp;"),
    ('{{ js "<a>=\\n\\t\'\\"\\\\" }}', "\\u003Ca\\u003E\\u003D\\u000A\\u0009\\'\\\"\\\\"),
    ('{{ urlquery "a/b?c=d e" }}', "a%2Fb%3Fc%3Dd+e"),
    ("{{ print true 1.5 }}", "true 1.5"),
    ('{{ print "a" "b" 1 2 true }}', "ab1 2 true"),
    ('{{ not .x }}{{ not "a" }}{{ not (list) }}{{ not (dict) }}', "truefalsetruetrue"),
    (
        '{{ eq (add 1 2) 3 }} {{ lt (int64 1) 2 }} {{ has 1 (list (int64 1)) }} {{ uniq (list 1 (int64 1)) }} {{ deepEqual 1 (int64 1) }} {{ printf "%T %d %v" (add 1 2) (add 1 2) (add 1 2) }} {{ duration (add 60 30) }} {{ toJson (add 1 2) }} {{ index (list 1 2 3) (add 1 1) }} {{ range (add 1 1) }}x{{ end }}',
        "true true false [1 1] false int64 3 3 1m30s 3 3 xx",
    ),
    ("{{ html 5 }} {{ js 5 }} {{ urlquery 5 }}", "5 5 5"),
    ("{{ print nil }} {{ println nil }}", "<nil> <nil>\n"),
    ("{{ index nil 1 }}", 'template: :1:3: executing "" at <index nil 1>: error calling index: index of untyped nil'),
    ("{{ not }}", 'template: :1:3: executing "" at <not>: wrong number of args for not: want 1 got 0'),
    ("{{ ne 1 }}", 'template: :1:3: executing "" at <ne>: wrong number of args for ne: want 2 got 1'),
    ('{{ len "a" "b" }}', 'template: :1:3: executing "" at <len>: wrong number of args for len: want 1 got 2'),
    (
        "{{ eq (list 1) (dict) }}",
        'template: :1:3: executing "" at <eq (list 1) (dict)>: error calling eq: non-comparable types [%!s(int=1)]: []interface {}, map[string]interface {}: map[]',
    ),
    (
        "{{ eq (list 1) 1 }}",
        'template: :1:3: executing "" at <eq (list 1) 1>: error calling eq: incompatible types for comparison: []interface {} and int',
    ),
    (
        "{{ eq 1 (list 1) }}",
        'template: :1:3: executing "" at <eq 1 (list 1)>: error calling eq: incompatible types for comparison: int and []interface {}',
    ),
    ('{{ index "é" 0 }}', "195"),
    ('{{ gt 1 2 }} {{ ge "b" "a" }} {{ le 1.5 1.5 }} {{ gt "b" "a" }}', "false true true true"),
    ("{{ lt .x 1 }}", 'template: :1:3: executing "" at <lt .x 1>: error calling lt: invalid type for comparison'),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_the_functions_of_the_language_itself_answer_as_observed(source: str, text: str) -> None:
    assert made(source) == text

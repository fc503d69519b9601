"""Functions on numbers. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    (
        "{{ divf 1 0 }} {{ divf -1 0 }} {{ divf 0 0 }}",
        'template: :1:3: executing "" at <divf 1 0>: error calling divf: decimal division by 0',
    ),
    (
        '{{ int "0x1F" }} {{ int "017" }} {{ int "1_000" }} {{ int " 5 " }} {{ int "9223372036854775808" }} {{ int true }} {{ int 3.9 }} {{ int -3.9 }}',
        "31 15 1000 0 0 1 3 -3",
    ),
    ("{{ int .x }} {{ int (list 1) }}", "0 0"),
    ('{{ int64 "abc" }} {{ float64 "abc" }} {{ float64 true }} {{ float64 "1e400" }} {{ float64 .x }}', "0 0 1 0 0"),
    ("{{ untilStep 1 5 0 }} {{ untilStep 5 1 1 }} {{ untilStep 5 1 -2 }} {{ untilStep 0 0 1 }}", "[] [] [5 3] []"),
    ("{{ until -3 }} {{ until 0 }}", "[0 -1 -2] []"),
    (
        "{{ seq }}| {{ seq 1 2 3 4 }}| {{ seq 0 }} {{ seq 5 1 }} {{ seq 1 -1 5 }}| {{ seq 3 1 3 }} {{ seq 0 0 5 }}|",
        "| | 1 0 5 4 3 2 1 | 3 |",
    ),
    ("{{ seq 2 }} {{ seq 0 3 }} {{ seq 10 -3 0 }}", "1 2 0 1 2 3 10 7 4 1"),
    (
        "{{ round 1.25 1 }} {{ round 1.35 1 0.3 }} {{ round 123.5555 3 }} {{ round 123.5555 2 0.6 }} {{ round -1.5 0 }} {{ round 2.5 0 }} {{ round -1.25 1 0.3 }}",
        "1.3 1.4 123.556 123.55 -2 3 -1.3",
    ),
    ('{{ round 1234.5 -2 }} {{ round "a" 2 }} {{ round 1.005 2 }}', "1200 0 1"),
    (
        "{{ log 0 10 }} {{ logf 0 10 }} {{ logf -1 10 }} {{ logf 10 1 }} {{ logf 1 1 }} {{ logf 10 0 }} {{ log 10 1 }} {{ logf 0.5 1 }}",
        "-9223372036854775808 -Inf NaN +Inf NaN -0 -9223372036854775808 -Inf",
    ),
    ("{{ log -1 2 }}", "-9223372036854775808"),
    (
        '{{ FormatFloat "#,###.##" -1234.5 }} {{ FormatFloat "+#,###.##" 1234.5 }} {{ FormatFloat "+#,###.##" -1234.5 }}',
        "-1,234.50 +1,234.50 -1,234.50",
    ),
    (
        '{{ FormatFloat "-#,###.##" 1234.5 }}',
        'template: :1:3: executing "" at <FormatFloat "-#,###.##" 1234.5>: error calling FormatFloat: FormatFloat(): invalid positive sign directive',
    ),
    (
        '{{ FormatFloat "#,##.##" 1234.5 }}',
        'template: :1:3: executing "" at <FormatFloat "#,##.##" 1234.5>: error calling FormatFloat: FormatFloat(): thousands separator directive must be followed by 3 digit-specifiers',
    ),
    ('{{ FormatFloat "####" 1234.5678 }} {{ FormatFloat "#" 5 }}', "1234.567800000 5.000000000"),
    ('{{ FormatFloat "#.###,######" 1234567.12345678 }}', "1.234.567,123457"),
    ('{{ FormatFloat "#,###.##,#" 1234.5 }}', "1234.500000000"),
    (
        '{{ FormatFloat "#\\u202F###,##" 1234.5 }} {{ FormatFloat "#.##" "x" }} {{ FormatFloat "+#" 0 }}',
        'template: :1:63: executing "" at <"x">: expected float; found "x"',
    ),
    (
        '{{ FormatFloat "#,###" 1234.5 }} {{ FormatFloat "#,###." 1234.5 }} {{ FormatFloat "+" 12 }} {{ FormatFloat "0.0" 5.25 }}',
        "1234,500 1,235 +12.000000000 5.2",
    ),
    (
        '{{ FormatFloat "#,###.##" 0 }} {{ FormatFloat "+#.#" 0 }} {{ FormatFloat "#.#" 1e20 }}',
        "0.00 0.0 -9223372036854775808.0",
    ),
    (
        '{{ FormatFloat "#,###.##" (divf 10 3) }} {{ FormatFloat "#.############" 1.5 }}',
        'template: :1:44: executing "" at <FormatFloat "#.############" 1.5>: error calling FormatFloat: runtime error: index out of range [12] with length 10',
    ),
    (
        "{{ pow 2 64 }} {{ pow -2 63 }} {{ powf -8 0.5 }} {{ powf 0 -1 }} {{ powf 10 400 }} {{ powf -10 401 }} {{ powf 2 -1 }} {{ pow 2 -1 }}",
        "-9223372036854775808 -9223372036854775808 NaN +Inf +Inf -Inf 0.5 0",
    ),
    (
        "{{ div 7 -2 }} {{ mod -7 3 }} {{ mod 7 0 }}",
        'template: :1:33: executing "" at <mod 7 0>: error calling mod: runtime error: integer divide by zero',
    ),
    (
        "{{ mod 1 0 }}",
        'template: :1:3: executing "" at <mod 1 0>: error calling mod: runtime error: integer divide by zero',
    ),
    (
        "{{ add }} {{ mul 2 }} {{ max 1 }} {{ min 3 -1 }} {{ maxf 1 2 }} {{ minf 1.5 2 }} {{ biggest 1 5 }}",
        "0 2 1 -1 2 1.5 5",
    ),
    ("{{ sub 1 }}", 'template: :1:3: executing "" at <sub>: wrong number of args for sub: want 2 got 1'),
    (
        '{{ add1f 1 }} {{ addf 0.1 0.2 }} {{ subf 1 0.9 }} {{ mulf 0.1 3 }} {{ divf 1 3 }} {{ divf 1 3 2 }} {{ subf 5 }} {{ ceil "1.2" }} {{ floor -1.2 }} {{ ceil "x" }}',
        "2 0.3 0.1 0.3 0.3333333333333333 0.1666666666666667 5 2 -2 0",
    ),
    (
        "{{ mul 9223372036854775807 2 }} {{ add 9223372036854775807 1 }} {{ add1 9223372036854775807 }}",
        "-2 -9223372036854775808 -9223372036854775808",
    ),
    (
        '{{ toDecimal "777" }} {{ toDecimal 777 }} {{ toDecimal "789" }} {{ toDecimal "x" }} {{ toDecimal "0777" }} {{ toDecimal -5 }} {{ toDecimal "" }}',
        "511 511 0 0 511 -5 0",
    ),
    ('{{ atoi "x" }} {{ atoi " 5" }} {{ atoi "1.5" }}', "0 0 0"),
    ("{{ atoi 5 }}", 'template: :1:8: executing "" at <5>: expected string; found 5'),
    ('{{ add "a" }}', "0"),
    (
        '{{ until "3" }} {{ untilStep "1" "3" "1" }}',
        'template: :1:9: executing "" at <"3">: expected integer; found "3"',
    ),
    ("{{ until (add 1 2) }}", 'template: :1:16: executing "" at <2>: wrong type for value; expected int; got int64'),
    ('{{ until (len "abc") }}', "[0 1 2]"),
    ("{{ until (int64 3) }}", 'template: :1:16: executing "" at <3>: wrong type for value; expected int; got int64'),
    (
        "{{ add 1 2 | until }}",
        'template: :1:13: executing "" at <until>: wrong type for value; expected int; got int64',
    ),
    ("{{ pow 2.5 2 }}", "6"),
    ('{{ pow "2" 2 }}', "4"),
    ('{{ log 8 "2" }}', "3"),
    ("{{ powf (add 1 1) 2 }}", "4"),
    ("{{ pow 2 3 }}", "8"),
    ("{{ powf 2 0.5 }}", "1.4142135623730951"),
    ('{{ FormatFloat "#,###.##" 12345 }}', "12,345.00"),
    (
        '{{ FormatFloat "#,###.##" (add 1 2) }}',
        'template: :1:33: executing "" at <2>: wrong type for value; expected float64; got int64',
    ),
    ('{{ FormatFloat "#,###.##" "12.5" }}', 'template: :1:26: executing "" at <"12.5">: expected float; found "12.5"'),
    ("{{ FormatFloat 5 1.0 }}", 'template: :1:15: executing "" at <5>: expected string; found 5'),
    ('{{ seq "1" "3" }}', 'template: :1:7: executing "" at <"1">: expected integer; found "1"'),
    ("{{ until nil }}", 'template: :1:9: executing "" at <nil>: cannot assign nil to int'),
    ("{{ untilStep 1.5 3 1 }}", 'template: :1:13: executing "" at <1.5>: expected integer; found 1.5'),
    ('{{ round 1.555 "x" }}', 'template: :1:15: executing "" at <"x">: expected integer; found "x"'),
    ('{{ round 1.555 1 "x" }}', 'template: :1:17: executing "" at <"x">: expected float; found "x"'),
    ("{{ int nil }} {{ float64 nil }} {{ toJson nil }} {{ kindOf (list nil) }}", "0 0 null slice"),
    (
        "{{ addf (powf 10 400) 1 }}",
        'template: :1:3: executing "" at <addf (powf 10 400) 1>: error calling addf: Cannot create a Decimal from +Inf',
    ),
    (
        '{{ FormatFloat "" (powf 10 400) }} {{ FormatFloat "" (powf -10 401) }} {{ FormatFloat "" (powf -8 0.5) }}',
        "Infinity -Infinity NaN",
    ),
    ("{{ ceil (powf 10 400) }} {{ floor (powf 10 400) }} {{ max (powf 10 400) 1 }}", "+Inf +Inf 1"),
    (
        '{{ int "08" }} {{ atoi "1_0" }} {{ toDecimal "1_0" }} {{ int "+5" }} {{ int "--5" }} {{ int "0b11" }} {{ int "0o17" }} {{ int "0x" }} {{ int "" }} {{ atoi "+7" }} {{ atoi "007" }} {{ int "٣" }} {{ int "1_" }}',
        "0 0 0 5 0 3 15 0 0 7 7 0 0",
    ),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_numbers_are_worked_with_as_observed(source: str, text: str) -> None:
    assert made(source) == text

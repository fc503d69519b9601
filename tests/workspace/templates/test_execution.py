"""Actions, variables, fields, branches, and where a failure is. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    ("{{ if now }}y{{ end }}", "y"),
    ('{{ if (toDate "2006" "x") }}y{{ else }}n{{ end }}', "y"),
    ('{{ .x | printf "%v" }}', "<nil>"),
    ("{{ 1e21 }} {{ 1e20 }} {{ 123456789.0 }} {{ 0.000001 }} {{ 1e-7 }}", "1e+21 1e+20 1.23456789e+08 1e-06 1e-07"),
    ("{{ 5000000 }} {{ 5000000.0 }} {{ 1234567.5 }}", "5000000 5e+06 1.2345675e+06"),
    ("{{ randInt 1 2 }} {{ randAlpha 0 }}| {{ randNumeric 5 | len }} {{ randAlphaNum -1 }}|", "1 | 5 |"),
    (
        "{{ randInt 2 1 }}",
        'template: :1:3: executing "" at <randInt 2 1>: error calling randInt: invalid argument to Intn',
    ),
    (
        "{{ randInt 1 1 }}",
        'template: :1:3: executing "" at <randInt 1 1>: error calling randInt: invalid argument to Intn',
    ),
    ("{{ uuidv4 | len }}", "36"),
    (
        "{{ range $i := list 1 2 }}{{ $i }}{{ end }} {{ $i := 0 }}{{ range $i = list 1 2 }}{{ $i }}{{ end }}{{ $i }}",
        "12 122",
    ),
    ("{{ $k := 0 }}{{ $v := 0 }}{{ range $k, $v = list 5 6 }}{{ end }}{{ $k }}{{ $v }}", "16"),
    (
        "{{ range .x }}a{{ else }}none{{ end }} {{ range nil }}a{{ else }}none{{ end }}",
        'template: :1:48: executing "" at <nil>: nil is not a command',
    ),
    ("{{ range true }}{{ end }}", 'template: :1:9: executing "" at <true>: range can\'t iterate over true'),
    ('{{ range "abc" }}{{ . }}{{ end }}', 'template: :1:9: executing "" at <"abc">: range can\'t iterate over abc'),
    ("{{ range 1.5 }}{{ end }}", 'template: :1:9: executing "" at <1.5>: range can\'t iterate over 1.5'),
    ("{{ range -1 }}a{{ else }}e{{ end }}", "e"),
    ('{{ template "nope" }}', 'template: :1:12: executing "" at <{{template "nope"}}>: template "nope" not defined'),
    (
        '{{ template "nope" . }}',
        'template: :1:12: executing "" at <{{template "nope" .}}>: template "nope" not defined',
    ),
    ("{{ $a = 1 }}", 'template: :1:8: executing "" at <1>: undefined variable: $a'),
    ("{{ range $a = list 1 }}{{ end }}", 'template: :1:19: executing "" at <1>: undefined variable: $a'),
    ("{{ 5 6 }}", 'template: :1:3: executing "" at <5>: can\'t give argument to non-function 5'),
    ('{{ "a" 6 }}', 'template: :1:3: executing "" at <"a">: can\'t give argument to non-function "a"'),
    ("{{ . 1 }}", 'template: :1:3: executing "" at <.>: can\'t give argument to non-function .'),
    ("{{ (5) 6 }}", 'template: :1:3: executing "" at <(5) 6>: can\'t give argument to non-function 5'),
    ("{{ $x := 1 }}{{ $x 2 }}", 'template: :1:16: executing "" at <$x>: can\'t give argument to non-function $x'),
    ("{{ and }}", 'template: :1:3: executing "" at <and>: wrong number of args for and: want at least 1 got 0'),
    ("{{ or }}", 'template: :1:3: executing "" at <or>: wrong number of args for or: want at least 1 got 0'),
    ("{{ 5 | and }} {{ 0 | or 0 }} {{ 5 | and 1 }} {{ or 0 }} {{ and 1 }}", "5 0 5 0 1"),
    ("{{ (5).a }}", 'template: :1:4: executing "" at <5>: can\'t evaluate field a in type int'),
    ('{{ $s := "x" }}{{ $s.a }}', 'template: :1:20: executing "" at <$s.a>: can\'t evaluate field a in type string'),
    ("{{ .a 5 }}", "<no value>"),
    ("{{ .x.y.z }}", "<no value>"),
    ('{{ $.a }} {{ $x := dict "b" 2 }}{{ $x.b }}', "<no value> 2"),
    ("{{ with .x }}a{{ else with 5 }}{{ . }}{{ end }}", "5"),
    ('{{ define "a" }}{{ end }}{{ define "a" }}x{{ end }}{{ template "a" }}', "x"),
    ("{{ '\\n' }} {{ '\\'' }} {{ '\\x41' }} {{ '中' }} {{ '\\u4e2d' }}", "10 39 65 20013 20013"),
    ('{{ "\\101\\a\\b\\f\\v\\r\\U0001F600" }}', "A\x07\x08\x0c\x0b\r😀"),
    (
        "{{ 0o17 }} {{ 0b101 }} {{ 1e3 }} {{ .5 }} {{ 1. }} {{ +5 }} {{ 0x1p4 }} {{ 1_0.5 }}",
        "15 5 1000 0.5 1 5 16 10.5",
    ),
    ("{{/* a */ -}}  b", "b"),
    ("{{- /* a */ -}}  b", "b"),
    ('{{ "a" -}} x {{- "b" }}', "axb"),
    ("{{-5}}", "-5"),
    ("{{ -5 -}}", "-5"),
    ("{{ (1 2) }}", 'template: :1:4: executing "" at <1>: can\'t give argument to non-function 1'),
    ("{{ $x := 1 | }}", ""),
    ("{{ $x:=1}}{{$x}}", "1"),
    ("{{ $x := 5 }}{{ if true }}{{ $x := 6 }}{{ $x = 7 }}{{ end }}{{ $x }}", "5"),
    ("{{ if $y := 0 }}a{{ else }}{{ $y }}{{ end }}", "0"),
    ('{{ 1 | printf "%d" | upper }}', "1"),
    ('{{ "a" | upper "b" }}', 'template: :1:9: executing "" at <upper>: wrong number of args for upper: want 1 got 2'),
    ("{{ .x | }}", "<no value>"),
    ("{{ . . }}", 'template: :1:3: executing "" at <.>: can\'t give argument to non-function .'),
    ("{{ nil | upper }}", 'template: :1:3: executing "" at <nil>: nil is not a command'),
    ("{{ 5 | upper }}", 'template: :1:7: executing "" at <upper>: wrong type for value; expected string; got int'),
    (
        "{{ $x := 5 }}{{ upper $x }}",
        'template: :1:22: executing "" at <$x>: wrong type for value; expected string; got int',
    ),
    (
        "{{ $x := 5 }}{{ $x | upper }}",
        'template: :1:21: executing "" at <upper>: wrong type for value; expected string; got int',
    ),
    ('{{ "3" | until }}', 'template: :1:9: executing "" at <until>: wrong type for value; expected int; got string'),
    ("{{ .x | upper }}", 'template: :1:8: executing "" at <upper>: invalid value; expected string'),
    (
        '{{ $x := "a" }}{{ upper $x.b }}',
        'template: :1:26: executing "" at <$x.b>: can\'t evaluate field b in type string',
    ),
    ('{{ randInt "a" 1 }}', 'template: :1:11: executing "" at <"a">: expected integer; found "a"'),
    ('{{ randAlpha "x" }}', 'template: :1:13: executing "" at <"x">: expected integer; found "x"'),
    ("{{ uuidv4 5 }}", 'template: :1:3: executing "" at <uuidv4>: wrong number of args for uuidv4: want 0 got 1'),
    (
        '{{ 5000000.0 }} {{ 123456.0 }} {{ 1234567.0 }} {{ print 1234567.0 }} {{ printf "%v" 1234567.0 }} {{ printf "%g" 1234567.0 }} {{ printf "%G" 1e21 }} {{ printf "%v" 1e20 }} {{ printf "%v" 1e21 }} {{ printf "%g" 1e20 }} {{ toString 1234567.0 }} {{ toString 1234567.5 }} {{ list 1234567.0 }} {{ toString 1e20 }} {{ join "," (list 1234567.5) }}',
        "5e+06 123456 1.234567e+06 1.234567e+06 1.234567e+06 1.234567e+06 1E+21 1e+20 1e+21 1e+20 1.234567e+06 1.2345675e+06 [1.234567e+06] 1e+20 1.2345675e+06",
    ),
    (
        "{{ 0.0000001 }} {{ 123456789.125 }} {{ 1e6 }} {{ 1e5 }} {{ 100000.5 }} {{ 1e20 }} {{ 0.00012 }} {{ -1e21 }} {{ divf 1e21 3 }} {{ mulf 1e10 1e10 }} {{ addf 1e20 1 }} {{ 1e-5 }}",
        "1e-07 1.23456789125e+08 1e+06 100000 100000.5 1e+20 0.00012 -1e+21 3.333333333333333e+20 1e+20 1e+20 1e-05",
    ),
    ("{{ with .x }}a{{ else with .y }}b{{ else }}c{{ end }}", "c"),
    ('{{ $x := "a" }}{{ range $x := list 1 2 }}{{ $x }}{{ end }}{{ $x }}', "12a"),
    ('{{ range $i, $_ := list "a" }}{{ $i }}{{ end }}', "0"),
    ("{{ $x := 1 }}{{ $x }}{{ $x | add 1 }}{{ ($x) }}", "121"),
    ("{{ $y := 0 }}{{ $y = 5 }}{{ $y }}{{ $y:=6 }}{{$y}}", "56"),
    ('{{ "a" "b" | upper }}', 'template: :1:3: executing "" at <"a">: can\'t give argument to non-function "a"'),
    ("{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}", "02"),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_a_template_is_carried_out_as_observed(source: str, text: str) -> None:
    assert made(source) == text

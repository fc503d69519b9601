"""Templates: what they make and how they fail. The expected texts were observed on the real kernel."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kernel.ids import SeededIds
from kernel.workspace import limits
from kernel.workspace.templates.catalogue import functions
from kernel.workspace.templates.errors import TemplateFailed
from kernel.workspace.templates.execution import render

KNOWN = functions(datetime(2026, 3, 1, 9, tzinfo=UTC), SeededIds(1), {})
MADE = [
    ('{{ "a" | upper }}-{{ add 1 2 }}', "A-3"),
    ("{{ .title }}", "<no value>"),
    ("{{ 1 | add 2 | mul 3 }}", "9"),
    ("{{ if and true 0 }}a{{ else if 1 }}b{{ else }}c{{ end }}", "b"),
    ("{{ range $i, $e := list 1 2 3 }}{{ $i }}={{ $e }};{{ end }}", "0=1;1=2;2=3;"),
    ("{{ range until 3 }}{{ . }},{{ else }}none{{ end }}", "0,1,2,"),
    ("{{ $x := 1 }}{{ range list 1 2 }}{{ $x = add $x . }}{{ end }}{{ $x }}", "4"),
    ('{{- " a " | trim -}}   x', "ax"),
    (
        '{{ printf "%05d|%-5s|%.2f|%v|%q|%x|%t" 42 "ab" 3.14159 (list 1 "b") "q" 255 true }}',
        '00042|ab   |3.14|[1 b]|"q"|ff|true',
    ),
    ('{{ printf "%d" "x" }}', "%!d(string=x)"),
    ('{{ print 1 2 "a" 3 }}', "1 2a3"),
    ('{{ println "a" 1 }}', "a 1\n"),
    ("{{ 3.0 }} {{ 1e21 }} {{ 0.00001 }} {{ 1.5 }} {{ divf 10 4 }}", "3 1e+21 1e-05 1.5 2.5"),
    ('{{ dict "b" 1 "a" (list 1 2) }}', "map[a:[1 2] b:1]"),
    ('{{ dict "b" 1 | toJson }}', '{"b":1}'),
    ('{{ list 1 "<a>" | toJson }} {{ list "<a>" | toRawJson }}', '[1,"\\u003ca\\u003e"] ["<a>"]'),
    ('{{ index (dict "a" 5) "a" }} {{ index (list 7 8) 1 }}', "5 8"),
    ('{{ len "héé" }} {{ len (list 1 2) }}', "5 2"),
    ('{{ eq 1 1 }} {{ eq 1 2 3 1 }} {{ ne "a" "b" }} {{ lt 1 2 }} {{ ge 2 2 }}', "true true true true true"),
    ('{{ not 0 }} {{ or 0 "x" }} {{ and 1 "" }}|', "true x |"),
    (
        '{{ html "<a href=\'x\'>&</a>" }} {{ js "a\'b" }} {{ urlquery "a b&c" }}',
        "&lt;a href=&#39;x&#39;&gt;&amp;&lt;/a&gt; a\\'b a+b%26c",
    ),
    ('{{ define "T" }}[{{ . }}]{{ end }}{{ template "T" 5 }}', "[5]"),
    ('{{ block "B" 3 }}<{{ . }}>{{ end }}', "<3>"),
    ('{{ with "v" }}{{ . }}{{ else }}e{{ end }}', "v"),
    (
        "{{ range list 1 2 3 4 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }}{{ end }}",
        "13",
    ),
    ("{{/* c */}}x", "x"),
    ('{{ true | ternary "a" "b" }} {{ ternary "a" "b" false }}', "a b"),
    ('{{ default "d" "" }} {{ coalesce 0 "" "z" }} {{ empty "" }}', "d z true"),
    ('{{ trunc 3 "abcdef" }} {{ trunc -2 "abcdef" }} {{ abbrev 5 "abcdefgh" }}', "abc ef ab..."),
    (
        '{{ title "hello big world" }} {{ snakecase "FirstName" }} {{ kebabcase "FirstName" }} {{ camelcase "http_server" }}',
        "Hello Big World first_name first-name HttpServer",
    ),
    (
        '{{ repeat 3 "ab" }} {{ nospace "a b c" }} {{ initials "First Try" }} {{ substr 0 3 "hello" }}',
        "ababab abc FT hel",
    ),
    ('{{ join "-" (list 1 2 3) }} {{ splitList "," "a,b" }} {{ (split "$" "foo$bar")._1 }}', "1-2-3 [a b] bar"),
    (
        '{{ regexFind "[a-z]+" "12abc3" }} {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }} {{ regexMatch "^a" "ab" }} {{ regexFindAll "[2,4]" "123456" -1 }} {{ regexSplit "z+" "pizza" -1 }}',
        "abc -W-xxW- true [2 4] [pi a]",
    ),
    (
        '{{ quote "a\\"b" }} {{ squote 1 2 }} {{ cat 1 "x" }} {{ indent 2 "a\\nb" }} {{ nindent 2 "a" }}',
        "\"a\\\"b\" '1' '2' 1 x   a\n  b \n  a",
    ),
    ('{{ plural "one" "many" 1 }} {{ plural "one" "many" 2 }} {{ wrap 5 "aaa bbb ccc" }}', "one many aaa\nbbb\nccc"),
    (
        "{{ div 7 2 }} {{ mod 7 3 }} {{ div -7 2 }} {{ max 1 3 2 }} {{ min 4 2 }} {{ ceil 1.2 }} {{ floor 1.8 }} {{ round 123.555 2 }}",
        "3 1 -3 3 2 2 1 123.56",
    ),
    (
        '{{ int "12" }} {{ int64 "3.7" }} {{ float64 "2.5" }} {{ atoi "5" }} {{ toString 5 }} {{ int "abc" }}',
        "12 3 2.5 5 5 0",
    ),
    ("{{ untilStep 3 9 2 }} {{ seq 5 }} {{ seq 2 2 6 }} {{ seq -3 }}", "[3 5 7] 1 2 3 4 5 2 4 6 1 0 -1 -2 -3"),
    (
        '{{ first (list 1 2) }} {{ last (list 1 2) }} {{ rest (list 1 2 3) }} {{ initial (list 1 2 3) }} {{ reverse (list 1 2) }} {{ uniq (list 1 1 2) }} {{ without (list 1 2) 1 }} {{ has 2 (list 1 2) }} {{ compact (list 0 1 "") }} {{ concat (list 1) (list 2) }} {{ append (list 1) 2 }} {{ prepend (list 1) 0 }}',
        "1 2 [2 3] [1 2] [2 1] [1 2] [2] true [1] [1 2] [1 2] [0 1]",
    ),
    (
        '{{ $d := dict "a" 1 }}{{ $_ := set $d "b" 2 }}{{ keys $d | sortAlpha }} {{ hasKey $d "a" }} {{ get $d "zz" }}| {{ pick $d "a" }} {{ omit $d "a" }} {{ merge (dict "a" 9) $d }} {{ dig "a" "x" $d }}',
        "[a b] true | map[a:1] map[b:2] map[a:9 b:2] 1",
    ),
    (
        '{{ date "2006-01-02" (toDate "2006-01-02" "2024-02-29") }} {{ dateModify "24h" (toDate "2006-01-02" "2024-02-29") | date "Jan 2, 2006" }}',
        "2024-02-29 Mar 1, 2024",
    ),
    ('{{ (toDate "2006-01-02" "2024-02-29").AddDate 1 0 0 }}', "2025-03-01 00:00:00 +0000 UTC"),
    (
        '{{ (toDate "2006-01-02" "2024-01-31").AddDate 0 1 0 | date "2006-01-02" }} {{ (toDate "2006-01-02" "2024-01-31").Weekday }} {{ (toDate "2006-01-02" "2024-01-31").Month }} {{ (toDate "2006-01-02" "2024-01-31").YearDay }}',
        "2024-03-02 Wednesday January 31",
    ),
    (
        '{{ Weekday (toDate "2006-01-02" "2024-01-31") }} {{ WeekdayCN (toDate "2006-01-02" "2024-02-04") }} {{ WeekdayCN2 (toDate "2006-01-02" "2024-02-04") }} {{ ISOWeek (toDate "2006-01-02" "2021-01-01") }} {{ ISOYear (toDate "2006-01-02" "2021-01-01") }} {{ ISOMonth (toDate "2006-01-02" "2021-01-01") }} {{ ISOWeekDate 1 (toDate "2006-01-02" "2024-01-31") | date "2006-01-02" }}',
        "3 日 天 53 2020 12 2024-01-29",
    ),
    ('{{ toDate "2006-01-02" "bad" }}', "0001-01-01 00:00:00 +0000 UTC"),
    ('{{ parseTime "2024-05-06 07:08:09" }}', "2024-05-06 07:08:09 +0000 UTC"),
    (
        '{{ parseTime "2024/05/06" | date "2006-01-02" }} {{ parseTime "20240506" | date "2006-01-02" }} {{ parseTime "20240506070809" | date "2006-01-02 15:04" }}',
        "2024-05-06 2024-05-06 2024-05-06 07:08",
    ),
    (
        '{{ pow 2 10 }} {{ powf 2 0.5 }} {{ log 8 2 }} {{ logf 10 10 }} {{ FormatFloat "#,###.##" 12345.678 }} {{ FormatFloat "" 12345.678 }} {{ FormatFloat "#,###." 12345.678 }}',
        "1024 1.4142135623730951 3 1 12,345.68 12,345.68 12,346",
    ),
    (
        '{{ kindOf 1 }} {{ kindOf "a" }} {{ typeOf 1 }} {{ typeOf (list 1) }} {{ kindIs "int" 1 }} {{ kindOf (dict) }} {{ kindOf 1.5 }} {{ typeOf (dict) }}',
        "int string int []interface {} true map float64 map[string]interface {}",
    ),
    (
        '{{ base "a/b.c" }} {{ dir "a/b.c" }} {{ ext "a/b.c" }} {{ clean "a//b/.." }} {{ isAbs "/a" }}',
        "b.c a .c a true",
    ),
    (
        '{{ urlParse "http://u:p@h:80/p?q=1#f" }}',
        "map[fragment:f host:h:80 hostname:h opaque: path:/p query:q=1 scheme:http userinfo:u:p]",
    ),
    ('{{ add "a" 1 }}', "1"),
    ("{{ .a.b.c }}", "<no value>"),
    ("{{ $ }}", "<no value>"),
    ("{{ . }}", "<no value>"),
    ("{{ 'a' }} {{ 0x1F }} {{ 1_000 }} {{ -5 }} {{ 017 }}", "97 31 1000 -5 15"),
    ('{{ `raw\\n` }} {{ "esc\\n\\t\\u00e9" }}', "raw\\n esc\n\té"),
    ("{{if eq 1 1}}yes{{end}}", "yes"),
    ("{{ if eq 1 1 -}}  yes  {{- end }}.", "yes."),
    ('{{ range $k, $v := dict "b" 2 "a" 1 }}{{ $k }}{{ $v }}{{ end }}', "a1b2"),
    ("{{ range 3 }}{{ . }}{{ end }}", "012"),
    (
        '{{ swapcase "aB" }} {{ untitle "Hello World" }} {{ trimAll "$" "$5$" }} {{ trimSuffix "-" "a-" }} {{ contains "a" "cat" }} {{ hasPrefix "c" "cat" }}',
        "Ab hello world 5 a true true",
    ),
    (
        '{{ toPrettyJson (dict "a" (list 1)) }} {{ (fromJson "{\\"a\\":[1,2.5]}").a }}',
        '{\n  "a": [\n    1\n  ]\n} [1 2.5]',
    ),
    ('{{ ago (toDate "2006-01-02" "2999-01-01") | kindOf }}', "string"),
    ("{{ $a := 1 }}{{ $a := 2 }}{{ $a }}", "2"),
    ("x }} y", "x }} y"),
    ('{{ "a" | }}', "a"),
    (
        "{{ add1 5 }} {{ addf 1.5 2 }} {{ subf 5 1.5 }} {{ mulf 2 1.5 }} {{ maxf 1 2.5 }} {{ sub 5 3 }}",
        "6 3.5 3.5 3 2.5 2",
    ),
    ("{{ list | len }} {{ list }} {{ dict }}", "0 [] map[]"),
    ("{{ now | kindOf }} {{ (now).Year | kindOf }}", "struct int"),
    ("{{ until 100 | len }}", "100"),
    (
        '{{ chunk 2 (list 1 2 3) }} {{ slice (list 1 2 3) 1 2 }} {{ sortAlpha (list "b" "a") }} {{ toStrings (list 1 2) }}',
        "[[1 2] [3]] [2] [a b] [1 2]",
    ),
    (
        '{{ pluck "a" (dict "a" 1) (dict "b" 2) }} {{ values (dict "a" 1) }} {{ deepEqual (list 1) (list 1) }} {{ any 0 1 }} {{ all 0 1 }}',
        "[1] [1] true true false",
    ),
]
FAILED = [
    ("{{ bad", 'template: :1: function "bad" not defined'),
    (
        "{{ index (list 1) 5 }}",
        'template: :1:3: executing "" at <index (list 1) 5>: error calling index: index out of range: 5',
    ),
    (
        '{{ eq 1 "a" }}',
        'template: :1:3: executing "" at <eq 1 "a">: error calling eq: incompatible types for comparison: int and string',
    ),
    (
        '{{ slice "abcdef" 1 3 }}',
        'template: :1:3: executing "" at <slice "abcdef" 1 3>: error calling slice: list should be type of slice or array but string',
    ),
    ("{{ break }}", "template: :1: {{break}} outside {{range}}"),
    ("{{ end }}", "template: :1: unexpected {{end}}"),
    ("{{ if true }}", "template: :1: unexpected EOF"),
    ("{{ $y }}", 'template: :1: undefined variable "$y"'),
    ('{{ "unterminated }}', "template: :1: unterminated quoted string"),
    ("{{ nofunc 1 }}", 'template: :1: function "nofunc" not defined'),
    ("a\nb\n{{ nofunc }}", 'template: :3: function "nofunc" not defined'),
    ("{{ nil }}", 'template: :1:3: executing "" at <nil>: nil is not a command'),
    (
        '{{ b64enc "hi" }} {{ b64dec "aGk=" }} {{ sha256sum "a" }} {{ md5sum "a" }} {{ adler32sum "a" }}',
        'template: :1: function "md5sum" not defined',
    ),
    (
        "{{ div 1 0 }}",
        'template: :1:3: executing "" at <div 1 0>: error calling div: runtime error: integer divide by zero',
    ),
    (
        '{{ countif ">1" (list 1 2 3) }}',
        'template: :1:3: executing "" at <countif>: wrong number of args for countif: want 3 got 2',
    ),
    ('{{ fail "boom" }}', 'template: :1:3: executing "" at <fail "boom">: error calling fail: boom'),
    ("{{ upper }}", 'template: :1:3: executing "" at <upper>: wrong number of args for upper: want 1 got 0'),
    ('{{ upper "a" "b" }}', 'template: :1:3: executing "" at <upper>: wrong number of args for upper: want 1 got 2'),
    ('{{ env "PATH" }}', 'template: :1: function "env" not defined'),
    ("{{ a := 1 }}", 'template: :1: function "a" not defined'),
    ("{{ if }}x{{ end }}", "template: :1: missing value for if"),
    ("{{ | upper }}", 'template: :1: unexpected "|" in command'),
    ("{{ (1 }}", "template: :1: unclosed left paren"),
    ("{{ 1) }}", "template: :1: unexpected right paren"),
    ("{{ x", 'template: :1: function "x" not defined'),
    ("{{ @ }}", 'template: :1: unexpected "@" in command'),
]


@pytest.mark.parametrize(("source", "text"), MADE)
def test_a_template_makes_its_text(source: str, text: str) -> None:
    assert render(source, None, KNOWN) == text


@pytest.mark.parametrize(("source", "words"), FAILED)
def test_a_template_that_cannot_be_made_says_why(source: str, words: str) -> None:
    with pytest.raises(TemplateFailed) as failure:
        render(source, None, KNOWN)
    assert str(failure.value) == words


def test_other_marks_may_stand_around_actions() -> None:
    assert (
        render(
            "a .action{.title | upper} {{x}} .action{ if .none }n.action{ end }",
            {"title": "t"},
            KNOWN,
            left=".action{",
            right="}",
        )
        == "a T {{x}} "
    )


def test_steps_and_characters_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.workspace.templates.execution.TEMPLATE_STEPS_MAX", 10)
    assert render("{{ range until 2 }}x{{ end }}", None, KNOWN) == "xx"
    with pytest.raises(TemplateFailed, match="exceeded 10 steps"):
        render("{{ range until 20 }}x{{ end }}", None, KNOWN)
    monkeypatch.setattr("kernel.workspace.templates.execution.TEMPLATE_OUTPUT_CHARS_MAX", 3)
    assert render("abc", None, KNOWN) == "abc"
    with pytest.raises(TemplateFailed, match="exceeded 3 characters"):
        render("abcd", None, KNOWN)


def test_definitions_may_not_call_themselves_for_ever() -> None:
    with pytest.raises(TemplateFailed, match=f"maximum template depth .{limits.TEMPLATE_DEPTH_MAX}."):
        render('{{ define "T" }}{{ template "T" }}{{ end }}{{ template "T" }}', None, KNOWN)


def test_what_is_drawn_by_lot_comes_from_the_given_source() -> None:
    known = functions(datetime(2026, 3, 1, tzinfo=UTC), SeededIds(1), {})
    text = render("{{ uuidv4 }} {{ randNumeric 4 }} {{ randInt 3 4 }}", None, known)
    assert text == render(
        "{{ uuidv4 }} {{ randNumeric 4 }} {{ randInt 3 4 }}",
        None,
        functions(datetime(2026, 3, 1, tzinfo=UTC), SeededIds(1), {}),
    )
    assert text.endswith(" 3")


def test_the_clock_is_the_given_one() -> None:
    assert (
        render('{{ now | date "2006-01-02 15:04" }} {{ now.Year }} {{ (now.AddDate 0 0 1).Format "02" }}', None, KNOWN)
        == "2026-03-01 09:00 2026 02"
    )
    assert render("{{ ago (now.AddDate 0 0 -1) }}", None, KNOWN) == "24h0m0s"


@pytest.mark.parametrize(
    ("most", "one_past", "words"),
    [
        ("{{ len (until %d) }}", "{{ until %d }}", "more than 5 numbers"),
        ("{{ range %d }}{{ end }}", "{{ range %d }}{{ end }}", "exceeded 5 steps"),
    ],
)
def test_no_number_makes_more_steps_than_are_allowed(
    monkeypatch: pytest.MonkeyPatch, most: str, one_past: str, words: str
) -> None:
    monkeypatch.setattr("kernel.workspace.templates.number_functions.TEMPLATE_STEPS_MAX", 5)
    render(most % 5, None, KNOWN)
    monkeypatch.setattr("kernel.workspace.templates.execution.TEMPLATE_STEPS_MAX", 5)
    with pytest.raises(TemplateFailed, match=words):
        render(one_past % 6, None, KNOWN)


def test_no_repetition_is_longer_than_a_text_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.workspace.templates.text_functions.TEMPLATE_OUTPUT_CHARS_MAX", 4)
    assert render('{{ repeat 2 "ab" }}', None, KNOWN) == "abab"
    with pytest.raises(TemplateFailed, match="Repeat output length overflow"):
        render('{{ repeat 3 "ab" }}', None, KNOWN)

"""Functions on lists, maps and any values. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    ("{{ list .x 1 }}", "[<nil> 1]"),
    ("{{ list nil 1 }}", "[<nil> 1]"),
    ("{{ toJson now | kindOf }}", "string"),
    ('{{ toJson (list 1.0 1.5 1e30 "<" nil true) }}', '[1,1.5,1e+30,"\\u003c",null,true]'),
    ('{{ toJson "é\\u2028" }}', '"é\\u2028"'),
    ('{{ toRawJson (dict "a" "<b>") }}', '{"a":"<b>"}'),
    ("{{ toPrettyJson (list) }} {{ toPrettyJson (dict) }}", "[] {}"),
    ("{{ toJson .x }}", "null"),
    ("{{ kindOf .x }} {{ kindOf true }} {{ kindOf nil }}", "invalid bool invalid"),
    ("{{ typeOf .x }} {{ typeOf 1.5 }} {{ typeOf true }}", "<nil> float64 bool"),
    (
        '{{ typeIs "string" "a" }} {{ typeIsLike "string" "a" }} {{ typeIs "int" "a" }} {{ kindIs "map" (dict) }}',
        "true true false true",
    ),
    ('{{ list 1 2 | join "-" }} {{ list nil "a" | join "-" }}', "1-2 a"),
    (
        '{{ first "abc" }}',
        'template: :1:3: executing "" at <first "abc">: error calling first: Cannot find first on type string',
    ),
    ("{{ first 5 }}", 'template: :1:3: executing "" at <first 5>: error calling first: Cannot find first on type int'),
    (
        "{{ first (list) }}| {{ last (list) }}| {{ rest (list) }}| {{ initial (list) }}|",
        "<no value>| <no value>| []| []|",
    ),
    (
        "{{ mustFirst 5 }}",
        'template: :1:3: executing "" at <mustFirst 5>: error calling mustFirst: Cannot find first on type int',
    ),
    ("{{ mustRest (list 1) }}", "[]"),
    ("{{ uniq 5 }}", 'template: :1:3: executing "" at <uniq 5>: error calling uniq: Cannot find uniq on type int'),
    (
        "{{ rest nil }}",
        'template: :1:3: executing "" at <rest nil>: error calling rest: runtime error: invalid memory address or nil pointer dereference',
    ),
    ("{{ append 5 1 }}", 'template: :1:3: executing "" at <append 5 1>: error calling append: Cannot push on type int'),
    (
        "{{ mustAppend 5 1 }}",
        'template: :1:3: executing "" at <mustAppend 5 1>: error calling mustAppend: Cannot push on type int',
    ),
    (
        "{{ append nil 1 }}",
        'template: :1:3: executing "" at <append nil 1>: error calling append: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ prepend 5 1 }}",
        'template: :1:3: executing "" at <prepend 5 1>: error calling prepend: Cannot prepend on type int',
    ),
    (
        "{{ concat (list 1) 2 }}",
        'template: :1:3: executing "" at <concat (list 1) 2>: error calling concat: Cannot concat type int as list',
    ),
    ("{{ concat }}", "[]"),
    (
        '{{ reverse "a" }}',
        'template: :1:3: executing "" at <reverse "a">: error calling reverse: Cannot find reverse on type string',
    ),
    (
        "{{ reverse .x }}",
        'template: :1:3: executing "" at <reverse .x>: error calling reverse: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ compact 5 }}",
        'template: :1:3: executing "" at <compact 5>: error calling compact: Cannot compact on type int',
    ),
    (
        "{{ without 5 1 }}",
        'template: :1:3: executing "" at <without 5 1>: error calling without: Cannot find without on type int',
    ),
    ("{{ has 1 5 }}", 'template: :1:3: executing "" at <has 1 5>: error calling has: Cannot find has on type int'),
    ('{{ has 1 nil }} {{ has "a" (list "a") }} {{ has 1 (list 1.0) }}', "false true false"),
    (
        "{{ slice (list 1 2 3) }} {{ slice (list 1 2 3) 1 }} {{ slice (list 1 2 3) 0 2 }} {{ slice (list) }}",
        "[1 2 3] [2 3] [1 2] <no value>",
    ),
    (
        "{{ slice (list 1 2 3) 2 1 }}",
        'template: :1:3: executing "" at <slice (list 1 2 3) 2 1>: error calling slice: reflect.Value.Slice: slice index out of bounds',
    ),
    (
        "{{ slice (list 1 2 3) 0 9 }}",
        'template: :1:3: executing "" at <slice (list 1 2 3) 0 9>: error calling slice: reflect.Value.Slice: slice index out of bounds',
    ),
    (
        "{{ slice (list 1 2 3) -1 }}",
        'template: :1:3: executing "" at <slice (list 1 2 3) -1>: error calling slice: reflect.Value.Slice: slice index out of bounds',
    ),
    (
        "{{ chunk 0 (list 1 2) }}",
        'template: :1:3: executing "" at <chunk 0 (list 1 2)>: error calling chunk: runtime error: makeslice: len out of range',
    ),
    ("{{ chunk -1 (list 1 2) }}", "[]"),
    ("{{ chunk 3 (list) }}", "[]"),
    ("{{ chunk 2 5 }}", 'template: :1:3: executing "" at <chunk 2 5>: error calling chunk: Cannot chunk type int'),
    ('{{ dict "a" }} {{ dict 1 2 }} {{ dict "a" 1 "a" 2 }}', "map[a:] map[1:2] map[a:2]"),
    ('{{ $d := dict "a" 1 }}{{ $_ := unset $d "a" }}{{ $d }} {{ $_ := unset $d "zz" }}{{ $d }}', "map[] map[]"),
    (
        '{{ set 5 "a" 1 }}',
        'template: :1:7: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    (
        '{{ hasKey 5 "a" }}',
        'template: :1:10: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    ('{{ get (dict) "a" }}|', "|"),
    ('{{ pluck "a" (dict "a" 1) (dict "a" 2) }}', "[1 2]"),
    ('{{ keys (dict "a" 1) (dict "b" 2) | sortAlpha }} {{ keys }}', "[a b] []"),
    ('{{ dig "a" "b" "none" (dict "a" (dict "b" 5)) }} {{ dig "a" "z" "none" (dict "a" (dict "b" 5)) }}', "5 none"),
    (
        '{{ dig "a" "b" "none" (dict "a" 5) }}',
        'template: :1:3: executing "" at <dig "a" "b" "none" (dict "a" 5)>: error calling dig: interface conversion: interface {} is int, not map[string]interface {}',
    ),
    (
        '{{ dig "a" (dict "a" 5) }}',
        'template: :1:3: executing "" at <dig "a" (dict "a" 5)>: error calling dig: dig needs at least three arguments',
    ),
    (
        '{{ dig "a" "x" "none" (dict "a" nil) }}',
        'template: :1:3: executing "" at <dig "a" "x" "none" (dict "a" nil)>: error calling dig: interface conversion: interface {} is nil, not map[string]interface {}',
    ),
    (
        '{{ merge (dict "a" (dict "x" 1)) (dict "a" (dict "x" 2 "y" 3)) }} {{ mergeOverwrite (dict "a" (dict "x" 1)) (dict "a" (dict "x" 2 "y" 3)) }}',
        "map[a:map[x:1 y:3]] map[a:map[x:2 y:3]]",
    ),
    (
        '{{ merge (dict "a" 0) (dict "a" 5) }} {{ merge (dict "a" "") (dict "a" "x") }} {{ merge (dict) (dict "a" nil) }} {{ mergeOverwrite (dict "a" 1) (dict "a" 0) }} {{ mergeOverwrite (dict "a" 1) (dict "a" "") }}',
        "map[a:5] map[a:x] map[] map[a:0] map[a:]",
    ),
    (
        '{{ merge (dict "a" 1) 5 }}',
        'template: :1:22: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    (
        '{{ mustMerge (dict "a" 1) (dict "b" 2) }} {{ mustMergeOverwrite (dict "a" 1) (dict "a" 2) }}',
        "map[a:1 b:2] map[a:2]",
    ),
    (
        '{{ default 1 }} {{ default 1 0 }} {{ default "a" "b" }} {{ default 1 (list) }} {{ default 1 false }} {{ default 1 nil }}',
        "1 1 b 1 1 1",
    ),
    ('{{ coalesce }}| {{ coalesce 0 "" }}| {{ coalesce nil 2 }}', "<no value>| <no value>| 2"),
    (
        "{{ empty (dict) }} {{ empty 0.0 }} {{ empty false }} {{ empty nil }} {{ empty now }}",
        "true true true true false",
    ),
    ('{{ all }} {{ any }} {{ all 1 "a" }} {{ any 0 "" }}', "true false true false"),
    ("{{ ternary 1 2 true }} {{ ternary 1 2 false }}", "1 2"),
    ("{{ ternary 1 2 1 }}", 'template: :1:15: executing "" at <1>: expected bool; found 1'),
    ('{{ fail "a" }}', 'template: :1:3: executing "" at <fail "a">: error calling fail: a'),
    ("{{ fail 5 }}", 'template: :1:8: executing "" at <5>: expected string; found 5'),
    (
        '{{ fromJson "{bad" }}| {{ fromJson "5" }} {{ fromJson "[1,\\"a\\",null,true]" }} {{ fromJson "" }}|',
        "<no value>| 5 [1 a <nil> true] <no value>|",
    ),
    ('{{ mustFromJson "{\\"a\\":1}" }}', "map[a:1]"),
    ('{{ (fromJson "{\\"a\\":1}").a | kindOf }} {{ (fromJson "12345678901") }}', "float64 1.2345678901e+10"),
    (
        '{{ mustToJson (dict "a" now) | kindOf }} {{ mustToPrettyJson (dict "a" 1 "b" (list 1 2)) }} {{ mustToRawJson "<" }} {{ toPrettyJson "<" }}',
        'string {\n  "a": 1,\n  "b": [\n    1,\n    2\n  ]\n} "<" "\\u003c"',
    ),
    (
        '{{ deepEqual 1 1.0 }} {{ deepEqual (dict "a" 1) (dict "a" 1) }} {{ deepEqual "a" "b" }} {{ deepEqual true 1 }}',
        "false true false false",
    ),
    (
        '{{ $a := dict "x" (list 1) }}{{ $b := deepCopy $a }}{{ $_ := set $b "x" 2 }}{{ $a }} {{ $b }} {{ mustDeepCopy (list 1) }}',
        "map[x:[1]] map[x:2] [1]",
    ),
    (
        "{{ deepCopy 5 }} {{ deepCopy nil }}",
        'template: :1:20: executing "" at <deepCopy nil>: error calling deepCopy: reflect: call of reflect.Value.Type on zero Value',
    ),
    ('{{ base "" }} {{ base "/" }} {{ base "a/b/" }} {{ base "/a/b" }}', ". / b b"),
    ('{{ dir "" }} {{ dir "/" }} {{ dir "a" }} {{ dir "/a" }} {{ dir "a/b/" }} {{ dir "a//b" }}', ". / . / a/b a"),
    (
        '{{ clean "" }} {{ clean "/.." }} {{ clean "../a" }} {{ clean "a/./b/../c/" }} {{ clean "//a" }}',
        ". / ../a a/c /a",
    ),
    ('{{ ext "a" }}| {{ ext ".bashrc" }} {{ ext "a.tar.gz" }} {{ ext "a.b/c" }}| {{ ext "a." }}', "| .bashrc .gz | ."),
    (
        '{{ isAbs "a" }} {{ osBase "a/b" }} {{ osDir "a/b" }} {{ osClean "a//b" }} {{ osExt "a.b" }} {{ osIsAbs "/a" }} {{ osDir "" }} {{ osBase "" }}',
        "false b a a/b .b true . .",
    ),
    (
        '{{ countif (list 1 2 3) "gt" 1 }} {{ countif (list 1 2 3) "ge" 2 }} {{ countif (list 1 2 3) "lt" 2 }} {{ countif (list 1 2 3) "le" 2 }} {{ countif (list 1 2 3) "eq" 2 }}',
        "2 2 1 2 1",
    ),
    (
        '{{ countif (list 1 "2" "x" true 2.5) "ge" 2 }} {{ countif (list 1) "zz" 1 }} {{ countif "abc" "gt" 1 }} {{ countif (list 1) "gt" "x" }} {{ countif (list 1) "gt" nil }} {{ countif (list nil 3) "gt" 1 }} {{ countif (list 5) "gt" true }}',
        "2 0 0 0 0 1 0",
    ),
    (
        '{{ pick (dict "a" 1 "b" 2) "a" "z" }} {{ omit (dict "a" 1 "b" 2) "a" }} {{ values (dict "a" 1) }}',
        "map[a:1] map[b:2] [1]",
    ),
    (
        '{{ pick 5 "a" }}',
        'template: :1:8: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    ("{{ values 5 }}", 'template: :1:10: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}'),
    ("{{ tuple 1 2 }} {{ push (list 1) 2 }} {{ mustPush (list 1) 2 }}", "[1 2] [1 2] [1 2]"),
    (
        "{{ mustInitial (list 1 2) }} {{ mustReverse (list 1 2) }} {{ mustUniq (list 1 1) }} {{ mustCompact (list 0 1) }} {{ mustWithout (list 1 2) 1 }} {{ mustHas 1 (list 1) }} {{ mustSlice (list 1 2) 1 }} {{ mustChunk 1 (list 1 2) }} {{ mustLast (list 1 2) }} {{ mustPrepend (list 1) 0 }}",
        "[1] [2 1] [1] [1] [2] true [2] [[1] [2]] 2 [0 1]",
    ),
    (
        '{{ uniq (list 1 1.0 "1" true 1) }} {{ uniq (list (list 1) (list 1)) }} {{ without (list 1 1.0 true) 1 }}',
        "[1 1 1 true] [[1]] [1 true]",
    ),
    ('{{ (dict "a" 1).b }} {{ (dict "a" nil).a }}|', "<no value> <no value>|"),
    ('{{ (dict "a" nil).a.b }}', 'template: :1:13: executing "" at <nil>: nil pointer evaluating interface {}.b'),
    ("{{ (list 1).a }}", 'template: :1:9: executing "" at <1>: can\'t evaluate field a in type []interface {}'),
    ('{{ (dict "a" 1).a 5 }}', 'template: :1:13: executing "" at <1>: a is not a method but has arguments'),
    ('{{ (dict "a" 1).z 5 }}', 'template: :1:13: executing "" at <1>: z is not a method but has arguments'),
    ('{{ (dict "a" (dict "b" 5)).a.b }}', "5"),
    ("{{ (list 1 2).a }}", 'template: :1:11: executing "" at <2>: can\'t evaluate field a in type []interface {}'),
    ('{{ list 1 2 | len | printf "%d" }}', "2"),
    ("{{ set (dict) 5 1 }}", 'template: :1:14: executing "" at <5>: expected string; found 5'),
    ("{{ base 5 }}", 'template: :1:8: executing "" at <5>: expected string; found 5'),
    ('{{ dict "a" 1 | toString }}', "map[a:1]"),
    ("{{ kindIs 5 5 }}", 'template: :1:10: executing "" at <5>: expected string; found 5'),
    (
        '{{ kindOf (add 1 2) }} {{ kindOf (sub 3 1) }} {{ kindOf (mul 1 2) }} {{ kindOf (div 4 2) }} {{ kindOf (mod 4 3) }} {{ kindOf (max 1 2) }} {{ kindOf (min 1 2) }} {{ kindOf (int64 1) }} {{ kindOf (int 1) }} {{ kindOf (add1 1) }} {{ kindOf (atoi "1") }} {{ kindOf (toDecimal "1") }} {{ kindOf (biggest 1 2) }} {{ kindOf (pow 2 2) }} {{ kindOf (log 8 2) }} {{ kindOf (powf 2 2) }} {{ kindOf (len "a") }} {{ kindOf (randInt 1 5) }}',
        "int64 int64 int64 int64 int64 int64 int64 int64 int int64 int int64 int64 int64 int64 float64 int int",
    ),
    ('{{ countif "x" 5 1 }}', 'template: :1:15: executing "" at <5>: expected string; found 5'),
    ("{{ countif (list 1) 5 1 }}", 'template: :1:20: executing "" at <5>: expected string; found 5'),
    ("{{ dir 5 }}", 'template: :1:7: executing "" at <5>: expected string; found 5'),
    ("{{ clean 5 }}", 'template: :1:9: executing "" at <5>: expected string; found 5'),
    ("{{ ext 5 }}", 'template: :1:7: executing "" at <5>: expected string; found 5'),
    ("{{ isAbs 5 }}", 'template: :1:9: executing "" at <5>: expected string; found 5'),
    ("{{ osBase 5 }}", 'template: :1:10: executing "" at <5>: expected string; found 5'),
    ("{{ get (dict) 5 }}", 'template: :1:14: executing "" at <5>: expected string; found 5'),
    ('{{ get 5 "a" }}', 'template: :1:7: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}'),
    ("{{ unset (dict) 5 }}", 'template: :1:16: executing "" at <5>: expected string; found 5'),
    ('{{ unset nil "a" }}', "map[]"),
    ("{{ hasKey (dict) 5 }}", 'template: :1:17: executing "" at <5>: expected string; found 5'),
    ("{{ pluck 5 (dict) }}", 'template: :1:9: executing "" at <5>: expected string; found 5'),
    (
        '{{ pluck "a" 5 }}',
        'template: :1:13: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    ("{{ keys 5 }}", 'template: :1:8: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}'),
    ("{{ pick (dict) 5 }}", 'template: :1:15: executing "" at <5>: expected string; found 5'),
    ("{{ omit (dict) 5 }}", 'template: :1:15: executing "" at <5>: expected string; found 5'),
    (
        '{{ omit 5 "a" }}',
        'template: :1:8: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    ("{{ values nil }}", "[]"),
    (
        '{{ dig "a" "b" 5 }}',
        'template: :1:3: executing "" at <dig "a" "b" 5>: error calling dig: interface conversion: interface {} is int, not map[string]interface {}',
    ),
    (
        '{{ dig 5 "b" (dict) }}',
        'template: :1:3: executing "" at <dig 5 "b" (dict)>: error calling dig: interface conversion: interface {} is int, not string',
    ),
    (
        "{{ mustMerge 5 (dict) }}",
        'template: :1:13: executing "" at <5>: can\'t handle 5 for arg of type map[string]interface {}',
    ),
    ("{{ fromJson 5 }}", 'template: :1:12: executing "" at <5>: expected string; found 5'),
    ('{{ kindIs "int" nil }}', "false"),
    ("{{ typeIs 5 5 }}", 'template: :1:10: executing "" at <5>: expected string; found 5'),
    ("{{ typeIsLike 5 5 }}", 'template: :1:14: executing "" at <5>: expected string; found 5'),
    ("{{ fail nil }}", 'template: :1:8: executing "" at <nil>: cannot assign nil to string'),
    ('{{ ternary "a" "b" nil }}', 'template: :1:19: executing "" at <nil>: cannot assign nil to bool'),
    ('{{ ternary "a" "b" .x }}', 'template: :1:19: executing "" at <.x>: invalid value; expected bool'),
    (
        "{{ default }}",
        'template: :1:3: executing "" at <default>: wrong number of args for default: want at least 1 got 0',
    ),
    ('{{ chunk "x" (list 1) }}', 'template: :1:9: executing "" at <"x">: expected integer; found "x"'),
    ('{{ slice (list 1 2) "x" }}', "[1 2]"),
    (
        "{{ first nil }}",
        'template: :1:3: executing "" at <first nil>: error calling first: runtime error: invalid memory address or nil pointer dereference',
    ),
    ('{{ set (dict) "a" nil }}', "map[a:<nil>]"),
    ("{{ dict nil 1 }} {{ dict .x 1 }}", "map[<nil>:1] map[<nil>:1]"),
    (
        "{{ concat nil }}",
        'template: :1:3: executing "" at <concat nil>: error calling concat: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ without nil 1 }}",
        'template: :1:3: executing "" at <without nil 1>: error calling without: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ uniq nil }}",
        'template: :1:3: executing "" at <uniq nil>: error calling uniq: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ compact nil }}",
        'template: :1:3: executing "" at <compact nil>: error calling compact: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ last nil }}",
        'template: :1:3: executing "" at <last nil>: error calling last: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ initial nil }}",
        'template: :1:3: executing "" at <initial nil>: error calling initial: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ prepend nil 1 }}",
        'template: :1:3: executing "" at <prepend nil 1>: error calling prepend: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ chunk 1 nil }}",
        'template: :1:3: executing "" at <chunk 1 nil>: error calling chunk: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ slice nil }}",
        'template: :1:3: executing "" at <slice nil>: error calling slice: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ mustSlice nil 1 }}",
        'template: :1:3: executing "" at <mustSlice nil 1>: error calling mustSlice: runtime error: invalid memory address or nil pointer dereference',
    ),
    ("{{ has nil (list nil) }}", "true"),
    ("{{ deepEqual nil nil }} {{ empty .x }} {{ coalesce .x 5 }} {{ default 5 .x }}", "true true 5 5"),
    ('{{ (dict "a" (dict "b" (dict "c" 1))).a.b.c }} {{ $m := dict "a" (dict "b" 2) }}{{ $m.a.b }}', "1 2"),
    ('{{ (dict "Year" 5).Year }} {{ now.Year | kindOf }} {{ now.Add 5 | kindOf }}', "5 int struct"),
    ("{{ chunk 1 (list) }} {{ chunk 2 (list 1 2 3) }}", "[] [[1 2] [3]]"),
    (
        "{{ chunk -5 (list 1 2 3 4 5 6 7) }}",
        'template: :1:3: executing "" at <chunk -5 (list 1 2 3 4 5 6 7)>: error calling chunk: runtime error: makeslice: len out of range',
    ),
    (
        "{{ deepCopy .x }}",
        'template: :1:3: executing "" at <deepCopy .x>: error calling deepCopy: reflect: call of reflect.Value.Type on zero Value',
    ),
    (
        "{{ slice .x }}",
        'template: :1:3: executing "" at <slice .x>: error calling slice: runtime error: invalid memory address or nil pointer dereference',
    ),
    (
        "{{ concat .x }}",
        'template: :1:3: executing "" at <concat .x>: error calling concat: runtime error: invalid memory address or nil pointer dereference',
    ),
    ('{{ toJson .x }} {{ toJson (dict "a" .x) }} {{ toJson (list) }}', 'null {"a":null} []'),
    (
        '{{ uniq (list nil .x nil) }} {{ deepEqual (list 1 (dict "a" 1)) (list 1 (dict "a" 1)) }} {{ deepEqual (list 1) (list 1 2) }} {{ deepEqual (dict "a" 1) (dict "b" 1) }} {{ deepEqual nil 1 }} {{ deepEqual (list 1) (list 2) }}',
        "[<nil>] true false false false false",
    ),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_lists_and_maps_are_worked_with_as_observed(source: str, text: str) -> None:
    assert made(source) == text

"""Go's Sprintf with its verbs, flags, widths and precisions. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    ('{{ printf "%%" }}', "%"),
    ('{{ printf "%d%%" 5 }}', "5%"),
    ('{{ printf "%*d|" 5 3 }}', "    3|"),
    ('{{ printf "%.*f|" 2 3.14159 }}', "3.14|"),
    ('{{ printf "%d %d" 1 }}', "1 %!d(MISSING)"),
    ('{{ printf "%d" 1 2 "x" }}', "1%!(EXTRA int=2, string=x)"),
    ('{{ printf "%s" .x }}', "%!s(<nil>)"),
    ('{{ printf "%v" .x }}', "<nil>"),
    ('{{ printf "%s" 5 }}', "%!s(int=5)"),
    ('{{ printf "%s" 5.5 }}', "%!s(float64=5.5)"),
    ('{{ printf "%s" true }}', "%!s(bool=true)"),
    ('{{ printf "%.2s|" "héllo" }}', "hé|"),
    ('{{ printf "%.3v|" "hello" }}', "hel|"),
    ('{{ printf "%q" 5 }}', "'\\x05'"),
    ('{{ printf "%q" "a<b" }}', '"a<b"'),
    ('{{ printf "%q" (list "a" "b") }}', '["a" "b"]'),
    ('{{ printf "%T %T %T %T" 1 "a" 1.5 true }}', "int string float64 bool"),
    ('{{ printf "%T %T" (list 1) (dict "a" 1) }}', "[]interface {} map[string]interface {}"),
    ('{{ printf "%t" 1 }}', "%!t(int=1)"),
    ('{{ printf "%c" 65 }}', "A"),
    ('{{ printf "%U" 65 }}', "U+0041"),
    ('{{ printf "%o %b %X" 8 5 255 }}', "10 101 FF"),
    ('{{ printf "%+d %+d" 5 -5 }}', "+5 -5"),
    ('{{ printf "%x %X" "hi" "hi" }}', "6869 6869"),
    ('{{ printf "%e" 12345.678 }}', "1.234568e+04"),
    ('{{ printf "%g %G" 12345.678 0.00001 }}', "12345.678 1E-05"),
    ('{{ printf "%.3g" 12345.678 }}', "1.23e+04"),
    ('{{ printf "%+.1f" 2.55 }}', "+2.5"),
    ('{{ printf "%E" 12.5 }}', "1.250000E+01"),
    ('{{ printf "%d" 1.5 }}', "%!d(float64=1.5)"),
    ('{{ printf "%f" 1 }}', "%!f(int=1)"),
    ('{{ printf "%z" 1 }}', "%!z(int=1)"),
    ('{{ printf "%-5d|" 3 }}', "3    |"),
    ('{{ printf "%05d|%05d|%+05d" 3 -3 3 }}', "00003|-0003|+0003"),
    ('{{ printf "%8.3f|%08.3f|%-8.2f|" 3.14159 -3.14159 2.5 }}', "   3.142|-003.142|2.50    |"),
    ('{{ printf "%5s|%-5s|%05s|" "ab" "ab" "ab" }}', "   ab|ab   |000ab|"),
    ('{{ printf "%5t|" true }}', " true|"),
    ('{{ printf "%v %v" true 1.0 }}', "true 1"),
    ('{{ printf "%+v" (dict "a" 1) }}', "map[a:1]"),
    ('{{ printf "%#v" "a" }}', '"a"'),
    ('{{ printf "%v" (list "a" 1 true) }}', "[a 1 true]"),
    ('{{ printf "%d" (list 1 2) }}', "[1 2]"),
    ('{{ printf "%s" (list "a" "b") }}', "[a b]"),
    ('{{ printf "%" }}', "%!(NOVERB)"),
    ('{{ printf "%d %s" }}', "%!d(MISSING) %!s(MISSING)"),
    ('{{ printf "% d" 5 }}', " 5"),
    ('{{ printf "%x" -255 }}', "-ff"),
    ('{{ printf "%#x" 255 }}', "0xff"),
    ('{{ printf "%s|%v" "a" "b" "c" }}', "a|b%!(EXTRA string=c)"),
    ('{{ printf "%d" true }}', "%!d(bool=true)"),
    ('{{ printf "%5.1f|" 3.14159 }}', "  3.1|"),
    ('{{ printf "%3c|" 65 }}', "  A|"),
    ('{{ printf "%6.2f%%" 12.3456 }}', " 12.35%"),
    ("{{ printf nil }}", 'template: :1:10: executing "" at <nil>: cannot assign nil to string'),
    ("{{ printf 5 }}", 'template: :1:10: executing "" at <5>: expected string; found 5'),
    ("{{ printf .x }}", 'template: :1:10: executing "" at <.x>: invalid value; expected string'),
    (
        '{{ printf "%.3g|%.10g|%10.2g|%.0g" 1234567.0 1234567.0 1234567.0 1234567.0 }}',
        "1.23e+06|1234567|   1.2e+06|1e+06",
    ),
    (
        '{{ printf "%#v %#v %#v %#v %#v" 1.0 1.5 true (list 1 "a") (dict "a" 1) }}',
        '1 1.5 true []interface {}{1, "a"} map[string]interface {}{"a":1}',
    ),
    ("{{ printf \"%q %q %q\" 'a' '\\'' 233 }}", "'a' '\\'' 'é'"),
    ('{{ printf "%O %#o %#b %#X %o" 8 8 5 255 -8 }}', "0o10 010 0b101 0XFF -10"),
    (
        '{{ printf "%t %t" true "x" }} {{ printf "%v" now | len | lt 10 }} {{ printf "%d" ((toDate "2006" "2020").Sub (toDate "2006" "2019")) }} {{ printf "%s %v" ((toDate "2006" "2020").Sub (toDate "2006" "2019")) ((toDate "2006" "2020").Sub (toDate "2006" "2019")) }}',
        "true %!t(string=x) true 31536000000000000 8760h0m0s 8760h0m0s",
    ),
    (
        '{{ printf "%-8v|%8v|%08d|%+08d|% 5d|%x" "ab" true -42 42 42 -1 }}',
        "ab      |    true|-0000042|+0000042|   42|-1",
    ),
    ('{{ printf "%*d|%-*d|%*d|%.*f|%*d" 5 1 5 1 -5 1 2 3.14159 "x" 3 }}', "    1|1    |1    |3.14|%!(BADWIDTH)3"),
    ('{{ printf "%.f|%.2s|%.10s|%5.1s|%.2q|%.1x" 2.5 "héllo" "ab" "xyz" "hello" "abc" }}', '2|hé|ab|    x|"he"|61'),
    ('{{ printf "%c|%c|%U|%#U" 128512 65 128512 65 }}', "😀|A|U+1F600|U+0041 'A'"),
    ('{{ printf "%!" }}', "%!!(MISSING)"),
    ('{{ printf "%é" 5 }}', "%!é(int=5)"),
    (
        '{{ printf "%v %s %d" (list) (list) (list) }} {{ printf "%v" (list nil "a" (list 1)) }} {{ printf "%s" (list nil 1) }} {{ printf "%v" (dict "b" nil "a" 1.5) }} {{ printf "%s" (dict "b" "x") }}',
        "[] [] [] [<nil> a [1]] [<nil> %!s(int=1)] map[a:1.5 b:<nil>] map[b:x]",
    ),
    (
        '{{ printf "%s" \'a\' }} {{ printf "%v" \'a\' }} {{ printf "%s %s" true 1.5 }} {{ printf "%d" "5" }} {{ printf "%f" "5" }} {{ printf "%e" 5 }} {{ printf "%s" (index (list 1) 0) }}',
        "%!s(int=97) 97 %!s(bool=true) %!s(float64=1.5) %!d(string=5) %!f(string=5) %!e(int=5) %!s(int=1)",
    ),
    (
        '{{ printf "%6.2f|%-8.3e|%+.2e|%08.2f|% .1f" 3.14159 31415.9 0.00031 -3.14159 2.25 }}',
        "  3.14|3.142e+04|+3.10e-04|-0003.14| 2.2",
    ),
    ('{{ printf "%05q|%05t|%05v|%-05d|" "a" true "b" 3 }}', '00"a"|0true|0000b|3    |'),
    (
        '{{ printf "%q" "a\\tb\\"\\\\é\\u200b\\U0001F600\\x01\\u2028\\u00ad" }} {{ quote "a\\tb\\"\\\\é\\u200b\\U0001F600\\x01" }}',
        '"a\\tb\\"\\\\é\\u200b😀\\x01\\u2028\\u00ad" "a\\tb\\"\\\\é\\u200b😀\\x01"',
    ),
    ('{{ printf "%[1]d %[2]s %[1]v" 1 "a" }}', "1 a 1"),
    (
        '{{ printf "%d %s" 1 "a" | quote }} {{ printf "" 1 }} {{ printf "a" nil }} {{ printf "x" 1 "b" 2.5 true nil (list 1) }}',
        '"1 a" %!(EXTRA int=1) a%!(EXTRA <nil>) x%!(EXTRA int=1, string=b, float64=2.5, bool=true, <nil>, []interface {}=[1])',
    ),
    (
        '{{ printf "%T" nil }} {{ printf "%T" .x }} {{ printf "%d" nil }} {{ printf "%5v|" nil }} {{ printf "%T|%8T|" (dict) 1 }} {{ printf "%T %T" (list) now }}',
        "<nil> <nil> %!d(<nil>) <nil>| map[string]interface {}|     int| []interface {} time.Time",
    ),
    (
        '{{ printf "%[5]d" 1 }} {{ printf "%[2]d %d" 1 2 3 }} {{ printf "%[1]d %[1]x" 10 }} {{ printf "%.*d" "x" 5 }} {{ printf "%*d" }} {{ printf "%-+5d|% x" 5 "ab" }} {{ printf "%+d %+.1f" -5 1.5 }} {{ printf "%g" 0.5 }} {{ printf "%U" 0 }} {{ printf "%y" "a" }} {{ printf "%y" 1.5 }} {{ printf "%c" "a" }}',
        "%!d(BADINDEX) 2 3 10 a %!(BADPREC)5 %!(BADWIDTH)%!d(MISSING) +5   |61 62 -5 +1.5 0.5 U+0000 %!y(string=a) %!y(float64=1.5) %!c(string=a)",
    ),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_values_are_formatted_as_observed(source: str, text: str) -> None:
    assert made(source) == text

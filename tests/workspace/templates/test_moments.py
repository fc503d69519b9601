"""Times and durations: reading, moving, naming and measuring them. Observed on the real kernel."""

from __future__ import annotations

import pytest

from tests.workspace.templates.observed import made

OBSERVED = [
    ('{{ toDate "06" "69" }} {{ toDate "06" "68" }}', "1969-01-01 00:00:00 +0000 UTC 2068-01-01 00:00:00 +0000 UTC"),
    ('{{ toDate "2006 002" "2020 033" }}', "2020-02-02 00:00:00 +0000 UTC"),
    ('{{ toDate "_2 Jan 06" " 3 Feb 20" }}', "2020-02-03 00:00:00 +0000 UTC"),
    ('{{ toDate "2006-01-02 5" "2020-01-02 7" }}', "2020-01-02 00:00:07 +0000 UTC"),
    (
        '{{ toDate "Monday, 02-Jan-06 15:04:05 MST" "Monday, 02-Jan-06 15:04:05 CST" }}',
        "2006-01-02 15:04:05 +0000 CST",
    ),
    (
        '{{ parseTime "Mon, 02 Jan 2006 15:04:05 -0700" }} {{ parseTime "1/2/2020 15:04:05" }}',
        "2006-01-02 15:04:05 -0700 -0700 2020-01-02 15:04:05 +0000 UTC",
    ),
    ("{{ now | kindOf }} {{ typeOf now }}", "struct time.Time"),
    ('{{ (duration 90) }} {{ duration "95" }} {{ duration 3661 }}', "0s 1m35s 0s"),
    ('{{ durationRound "2h10m5s" }} {{ durationRound "400h" }} {{ durationRound 60 }}', "2h 16d 0s"),
    (
        '{{ date "2006-01-02 15:04:05" 1700000000 }} {{ date "2006" "x" | len }} {{ date "2006-01-02" true | len }}',
        "2023-11-14 22:13:20 4 10",
    ),
    (
        '{{ dateInZone "2006-01-02 15:04" 1700000000 "UTC" }} {{ dateInZone "15:04" 1700000000 "Asia/Shanghai" }} {{ dateInZone "15:04" 1700000000 "No/Where" }} {{ dateInZone "15:04" 1700000000 "" }} {{ date_in_zone "15:04 MST" 1700000000 "America/New_York" }} {{ dateInZone "15:04" 1700000000 "Local" }}',
        "2023-11-14 22:13 06:13 22:13 22:13 17:13 EST 22:13",
    ),
    ('{{ htmlDate 1700000000 }} {{ htmlDateInZone 1700000000 "UTC" }}', "2023-11-14 2023-11-14"),
    ('{{ dateModify "x" (toDate "2006" "2020") | date "2006-01-02" }}', "2020-01-01"),
    (
        '{{ mustDateModify "x" (toDate "2006" "2020") }}',
        'template: :1:3: executing "" at <mustDateModify "x" (toDate "2006" "2020")>: error calling mustDateModify: time: invalid duration "x"',
    ),
    (
        '{{ mustDateModify "" (toDate "2006" "2020") }}',
        'template: :1:3: executing "" at <mustDateModify "" (toDate "2006" "2020")>: error calling mustDateModify: time: invalid duration ""',
    ),
    (
        '{{ must_date_modify "-1.5h" (toDate "2006" "2020") }} {{ date_modify "+10m" (toDate "2006" "2020") }}',
        "2019-12-31 22:30:00 +0000 UTC 2020-01-01 00:10:00 +0000 UTC",
    ),
    (
        '{{ dateModify "0" (toDate "2006" "2020") }} {{ dateModify "1h1" (toDate "2006" "2020") }} {{ dateModify "90s500ms" (toDate "2006" "2020") }}',
        "2020-01-01 00:00:00 +0000 UTC 2020-01-01 00:00:00 +0000 UTC 2020-01-01 00:01:30.5 +0000 UTC",
    ),
    (
        '{{ mustToDate "2006-01-02" "x" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "x">: error calling mustToDate: parsing time "x" as "2006-01-02": cannot parse "x" as "2006"',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-13-01" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-13-01">: error calling mustToDate: parsing time "2020-13-01": month out of range',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-02-30" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-02-30">: error calling mustToDate: parsing time "2020-02-30": day out of range',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-02-28x" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-02-28x">: error calling mustToDate: parsing time "2020-02-28x": extra text: "x"',
    ),
    (
        '{{ toDate "2006-01-02" "2020-02-30" }} {{ toDate "2006-01-02 15:04:05" "2020-02-03 25:00:00" }}',
        "0001-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC",
    ),
    (
        '{{ toDate "2006-01-02T15:04:05Z07:00" "2020-02-03T04:05:06+08:00" }} {{ toDate "2006-01-02T15:04:05Z07:00" "2020-02-03T04:05:06Z" }}',
        "2020-02-03 04:05:06 +0800 +0800 2020-02-03 04:05:06 +0000 UTC",
    ),
    (
        '{{ toDate "2006-01-02 -0700" "2020-02-03 +0130" }} {{ toDate "2006-01-02 -07:00" "2020-02-03 -05:30" }}',
        "2020-02-03 00:00:00 +0130 +0130 2020-02-03 00:00:00 -0530 -0530",
    ),
    (
        '{{ unixEpoch (toDate "2006-01-02" "2020-02-03") }} {{ unixEpoch (toDate "2006-01-02" "1960-01-01") }}',
        "1580688000 -315619200",
    ),
    (
        '{{ duration "95" }} {{ duration "x" }} {{ duration 1 }} {{ duration "3661" }} {{ duration "-5" }} {{ duration (int64 95) }}',
        "1m35s 0s 0s 1h1m1s -5s 1m35s",
    ),
    (
        '{{ durationRound "2h10m5s" }} {{ durationRound "2400h10m5s" }} {{ durationRound "45s" }} {{ durationRound "5m10s" }} {{ durationRound "x" }} {{ durationRound "-3h" }} {{ durationRound "10000h" }} {{ durationRound 7200000000000 }} {{ durationRound "48h" }} {{ durationRound (int64 7200000000000) }}',
        "2h 3mo 45s 5m 0s 3h 1y 0s 2d 2h",
    ),
    (
        '{{ durationRound (toDate "2006" "2000") | kindOf }} {{ durationRound ((toDate "2006" "2020").Sub (toDate "2006" "2019")) }} {{ durationRound true }} {{ durationRound "1ms" }}',
        "string 0s 0s 0s",
    ),
    (
        '{{ parseTime "nonsense" | date "2006" | len }} {{ parseTime "2020-01-02T03:04:05Z" }} {{ parseTime "2020-01-02T03:04:05+08:00" }} {{ parseTime "2020-01-02 03:04:05.678" }}',
        "4 2020-01-02 03:04:05 +0000 UTC 2020-01-02 03:04:05 +0800 +0800 2020-01-02 03:04:05.678 +0000 UTC",
    ),
    (
        '{{ parseTime "May 8, 2009 5:57:51 PM" }} {{ parseTime "1332151919" }} {{ parseTime "8 May 2009" }} {{ parseTime "3/31/2014" }} {{ parseTime "2014.03.30" }} {{ parseTime "2020-1-2" }}',
        "2009-05-08 17:57:51 +0000 UTC 2012-03-19 10:11:59 +0000 UTC 2009-05-08 00:00:00 +0000 UTC 2014-03-31 00:00:00 +0000 UTC 2014-03-30 00:00:00 +0000 UTC 2020-01-02 00:00:00 +0000 UTC",
    ),
    ('{{ parseTime "" | kindOf }}', "struct"),
    (
        '{{ $t := toDate "2006-01-02 15:04:05" "2020-02-03 04:05:06" }}{{ $t.Year }} {{ $t.Month }} {{ $t.Day }} {{ $t.Hour }} {{ $t.Minute }} {{ $t.Second }} {{ $t.Nanosecond }} {{ $t.Weekday }} {{ $t.YearDay }} {{ $t.Unix }} {{ $t.UnixMilli }} {{ $t.UTC }} {{ $t.String }} {{ $t.IsZero }} {{ $t.Format "Jan _2 06" }}',
        "2020 February 3 4 5 6 0 Monday 34 1580702706 1580702706000 2020-02-03 04:05:06 +0000 UTC 2020-02-03 04:05:06 +0000 UTC false Feb  3 20",
    ),
    (
        '{{ $t := toDate "2006-01-02 15:04:05" "2020-02-03 04:05:06" }}{{ $t.Add 3600000000000 }}',
        "2020-02-03 05:05:06 +0000 UTC",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $u := toDate "2006" "2021" }}{{ $t.Before $u }} {{ $t.After $u }} {{ $t.Equal $t }} {{ $u.Sub $t }} {{ ($u.Sub $t).Hours }} {{ ($u.Sub $t).Minutes }} {{ ($u.Sub $t).Seconds }} {{ ($u.Sub $t).Milliseconds }} {{ ($u.Sub $t).String }}',
        "true false true 8784h0m0s 8784 527040 3.16224e+07 31622400000 8784h0m0s",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Nothing }}',
        'template: :1:37: executing "" at <$t.Nothing>: can\'t evaluate field Nothing in type time.Time',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.AddDate 1 }}',
        'template: :1:37: executing "" at <$t.AddDate>: wrong number of args for AddDate: want 3 got 1',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Year 1 }}',
        'template: :1:37: executing "" at <$t.Year>: wrong number of args for Year: want 0 got 1',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Truncate 86400000000000 }} {{ $t.AddDate -1 -1 -1 }} {{ $t.AddDate 0 13 40 }}',
        "2020-01-01 00:00:00 +0000 UTC 2018-11-30 00:00:00 +0000 UTC 2021-03-13 00:00:00 +0000 UTC",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Before 5 }}',
        'template: :1:45: executing "" at <5>: can\'t handle 5 for arg of type time.Time',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ ($t.Sub $t).Nothing }}',
        'template: :1:43: executing "" at <$t>: can\'t evaluate field Nothing in type time.Duration',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Add ($t.Sub $t) }} {{ printf "%d" $t.Month }} {{ printf "%v" $t.Month }} {{ add $t.Month 1 }} {{ $t.Month.String }}',
        "2020-01-01 00:00:00 +0000 UTC 1 January 2 January",
    ),
    (
        '{{ ISOWeekDate 7 (toDate "2006-01-02" "2024-01-31") | date "2006-01-02" }} {{ ISOWeekDate 0 (toDate "2006-01-02" "2024-02-04") | date "2006-01-02" }} {{ ISOMonth (toDate "2006-01-02" "2024-12-30") }}',
        "2024-02-04 2024-01-28 1",
    ),
    ("{{ date 5 now }}", 'template: :1:8: executing "" at <5>: expected string; found 5'),
    ('{{ ISOWeekDate "1" now }}', 'template: :1:15: executing "" at <"1">: expected integer; found "1"'),
    ('{{ Weekday "x" }}', 'template: :1:11: executing "" at <"x">: can\'t handle "x" for arg of type time.Time'),
    ("{{ Weekday 5 }}", 'template: :1:11: executing "" at <5>: can\'t handle 5 for arg of type time.Time'),
    ("{{ Weekday nil }}", 'template: :1:11: executing "" at <nil>: cannot assign nil to time.Time'),
    ("{{ WeekdayCN .x }}", 'template: :1:13: executing "" at <.x>: invalid value; expected time.Time'),
    ("{{ parseTime 5 }}", 'template: :1:13: executing "" at <5>: expected string; found 5'),
    ('{{ date "2006" "x" }}', "2026"),
    ('{{ dateInZone "2006" "x" 5 }}', 'template: :1:25: executing "" at <5>: expected string; found 5'),
    ("{{ dateModify 5 now }}", 'template: :1:14: executing "" at <5>: expected string; found 5'),
    (
        '{{ dateModify "1h" "x" }}',
        'template: :1:19: executing "" at <"x">: can\'t handle "x" for arg of type time.Time',
    ),
    ('{{ dateModify "1h" 5 }}', 'template: :1:19: executing "" at <5>: can\'t handle 5 for arg of type time.Time'),
    ("{{ toDate 5 5 }}", 'template: :1:10: executing "" at <5>: expected string; found 5'),
    ('{{ unixEpoch "x" }}', 'template: :1:13: executing "" at <"x">: can\'t handle "x" for arg of type time.Time'),
    ("{{ unixEpoch 5 }}", 'template: :1:13: executing "" at <5>: can\'t handle 5 for arg of type time.Time'),
    ('{{ ago "x" }}', "0s"),
    ("{{ duration nil }} {{ duration .x }} {{ durationRound nil }} {{ durationRound .x }}", "0s 0s 0s 0s"),
    ("{{ now 5 }}", 'template: :1:3: executing "" at <now>: wrong number of args for now: want 0 got 1'),
    (
        '{{ mustToDate "2006-01-02 15:04" "2020-02-03 25:00" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02 15:04" "2020-02-03 25:00">: error calling mustToDate: parsing time "2020-02-03 25:00": hour out of range',
    ),
    (
        '{{ mustToDate "2006-01-02 15:04" "2020-02-03 12:61" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02 15:04" "2020-02-03 12:61">: error calling mustToDate: parsing time "2020-02-03 12:61": minute out of range',
    ),
    (
        '{{ mustToDate "Jan 2006" "Foo 2020" }}',
        'template: :1:3: executing "" at <mustToDate "Jan 2006" "Foo 2020">: error calling mustToDate: parsing time "Foo 2020" as "Jan 2006": cannot parse "Foo 2020" as "Jan"',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020/01/02" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020/01/02">: error calling mustToDate: parsing time "2020/01/02" as "2006-01-02": cannot parse "/01/02" as "-"',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-1-2" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-1-2">: error calling mustToDate: parsing time "2020-1-2" as "2006-01-02": cannot parse "1-2" as "01"',
    ),
    (
        '{{ mustToDate "2006-01-02" "" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "">: error calling mustToDate: parsing time "" as "2006-01-02": cannot parse "" as "2006"',
    ),
    (
        '{{ mustToDate "15:04:05" "12:00" }}',
        'template: :1:3: executing "" at <mustToDate "15:04:05" "12:00">: error calling mustToDate: parsing time "12:00" as "15:04:05": cannot parse "" as ":"',
    ),
    (
        '{{ mustToDate "Mon 2006" "Xyz 2020" }}',
        'template: :1:3: executing "" at <mustToDate "Mon 2006" "Xyz 2020">: error calling mustToDate: parsing time "Xyz 2020" as "Mon 2006": cannot parse "Xyz 2020" as "Mon"',
    ),
    (
        '{{ mustToDate "3PM" "3XX" }}',
        'template: :1:3: executing "" at <mustToDate "3PM" "3XX">: error calling mustToDate: parsing time "3XX" as "3PM": cannot parse "XX" as "PM"',
    ),
    (
        '{{ mustToDate "-0700" "x" }}',
        'template: :1:3: executing "" at <mustToDate "-0700" "x">: error calling mustToDate: parsing time "x" as "-0700": cannot parse "x" as "-0700"',
    ),
    (
        '{{ mustToDate "Z07:00" "x" }}',
        'template: :1:3: executing "" at <mustToDate "Z07:00" "x">: error calling mustToDate: parsing time "x" as "Z07:00": cannot parse "x" as "Z07:00"',
    ),
    (
        '{{ mustToDate "MST" "x" }}',
        'template: :1:3: executing "" at <mustToDate "MST" "x">: error calling mustToDate: parsing time "x" as "MST": cannot parse "x" as "MST"',
    ),
    (
        '{{ mustToDate "2006-01-02T15:04:05.000" "2020-01-02T03:04:05.12" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02T15:04:05.000" "2020-01-02T03:04:05.12">: error calling mustToDate: parsing time "2020-01-02T03:04:05.12" as "2006-01-02T15:04:05.000": cannot parse ".12" as ".000"',
    ),
    (
        '{{ toDate "2006-01-02T15:04:05.000" "2020-01-02T03:04:05.125" }} {{ toDate "2006-01-02T15:04:05.999" "2020-01-02T03:04:05.1" }}',
        "2020-01-02 03:04:05.125 +0000 UTC 2020-01-02 03:04:05.1 +0000 UTC",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $d := $t.Sub $t }}{{ eq $d $d }} {{ eq $d 0 }} {{ typeOf $d }} {{ kindOf $d }} {{ int $d }} {{ float64 $d }} {{ toJson $d }} {{ toString $d }} {{ add $d 1 }} {{ lt $d 5 }} {{ if $d }}y{{ else }}n{{ end }} {{ printf "%v %d %T" $d $d $d }}',
        "true true time.Duration int64 0 0 0 0s 1 true n 0s 0 time.Duration",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $u := $t.Add 1500000 }}{{ $u.Sub $t }} {{ ($t.Add 5000).Sub $t }} {{ ($t.Add 500000000).Sub $t }} {{ $t.Sub ($t.Add 61500000000) }} {{ ($t.Add 90000000000).Sub $t | toString }}',
        "1.5ms 5µs 500ms -1m1.5s 1m30s",
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ toJson $t }} {{ toJson ($t.Add 1500000) }} {{ toJson (list .x $t) }}',
        '"2020-01-01T00:00:00Z" "2020-01-01T00:00:00.0015Z" [null,"2020-01-01T00:00:00Z"]',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ printf "%d %v %T" $t.Month $t.Weekday $t.Weekday }} {{ add $t.Month 1 }} {{ $t.Month.String }} {{ eq $t.Month 1 }} {{ typeOf $t.Weekday }}',
        "1 Wednesday time.Weekday 2 January true time.Weekday",
    ),
    ("{{ now.Year.x }}", 'template: :1:3: executing "" at <now>: can\'t evaluate field x in type int'),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.Format 5 }}',
        'template: :1:45: executing "" at <5>: expected string; found 5',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.AddDate 1 "x" 0 }}',
        'template: :1:48: executing "" at <"x">: expected integer; found "x"',
    ),
    (
        '{{ $t := toDate "2006" "2020" }}{{ $t.After nil }}',
        'template: :1:44: executing "" at <nil>: cannot assign nil to time.Time',
    ),
    ('{{ $t := toDate "2006" "2020" }}{{ 5 | $t.AddDate 1 1 }}', "2021-02-06 00:00:00 +0000 UTC"),
    (
        '{{ $t := toDate "2006" "2020" }}{{ 5 | $t.Year }}',
        'template: :1:41: executing "" at <$t.Year>: wrong number of args for Year: want 0 got 1',
    ),
    (
        '{{ $t := toDate "2006-01-02" "2020-05-06" }}{{ $t.YearDay }} {{ $t.UnixMilli }} {{ $t.Local }} {{ $t.IsZero }} {{ $t.UTC }} {{ $t.Truncate 3600000000000 }} {{ $t.String }} {{ $t.Unix }}',
        "127 1588723200000 2020-05-06 00:00:00 +0000 UTC false 2020-05-06 00:00:00 +0000 UTC 2020-05-06 00:00:00 +0000 UTC 2020-05-06 00:00:00 +0000 UTC 1588723200",
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-00-10" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-00-10">: error calling mustToDate: parsing time "2020-00-10": month out of range',
    ),
    (
        '{{ mustToDate "2006-01-02" "2020-01-00" }}',
        'template: :1:3: executing "" at <mustToDate "2006-01-02" "2020-01-00">: error calling mustToDate: parsing time "2020-01-00": day out of range',
    ),
    (
        '{{ mustToDate "2006 002" "2020 400" }}',
        'template: :1:3: executing "" at <mustToDate "2006 002" "2020 400">: error calling mustToDate: parsing time "2020 400": day-of-year out of range',
    ),
    (
        '{{ mustToDate "2006 002" "2020 000" }}',
        'template: :1:3: executing "" at <mustToDate "2006 002" "2020 000">: error calling mustToDate: parsing time "2020 000": day-of-year out of range',
    ),
    (
        '{{ mustToDate "06" "x" }}',
        'template: :1:3: executing "" at <mustToDate "06" "x">: error calling mustToDate: parsing time "x" as "06": cannot parse "x" as "06"',
    ),
    (
        '{{ mustToDate "3:04:05 PM" "13:00:00 PM" }}',
        'template: :1:3: executing "" at <mustToDate "3:04:05 PM" "13:00:00 PM">: error calling mustToDate: parsing time "13:00:00 PM": hour out of range',
    ),
    (
        '{{ mustToDate "15:04:05" "12:00:61" }}',
        'template: :1:3: executing "" at <mustToDate "15:04:05" "12:00:61">: error calling mustToDate: parsing time "12:00:61": second out of range',
    ),
    (
        '{{ toDate "2006-01-02 15:04" "2020-01-02  03:04" }} {{ toDate "2006-01-02  15:04" "2020-01-02 03:04" }}',
        "2020-01-02 03:04:00 +0000 UTC 2020-01-02 03:04:00 +0000 UTC",
    ),
    (
        '{{ toDate "2006 Jan" "2020 february" }} {{ toDate "2006 January" "2020 MARCH" }} {{ toDate "2006 Mon" "2020 tue" }} {{ toDate "2006 3PM" "2020 5PM" }} {{ toDate "2006 03pm" "2020 05am" }} {{ toDate "2006 3 PM" "2020 12 AM" }}',
        "0001-01-01 00:00:00 +0000 UTC 2020-03-01 00:00:00 +0000 UTC 2020-01-01 00:00:00 +0000 UTC 2020-01-01 17:00:00 +0000 UTC 2020-01-01 05:00:00 +0000 UTC 2020-01-01 00:00:00 +0000 UTC",
    ),
    (
        '{{ toDate "2006-01-02 MST" "2020-01-02 CEST" }} {{ toDate "2006-01-02 MST" "2020-01-02 CET" }} {{ toDate "2006-01-02 -07" "2020-01-02 -03" }} {{ toDate "2006 Z0700" "2020 +0130" }} {{ toDate "2006 Z0700" "2020 Z" }} {{ toDate "2006-1-2 3:4:5" "2020-2-3 1:2:3" }} {{ toDate "2006 _2 Jan" "2020  7 Mar" }}',
        "2020-01-02 00:00:00 +0000 CEST 2020-01-02 00:00:00 +0000 CET 2020-01-02 00:00:00 -0300 -0300 2020-01-01 00:00:00 +0130 +0130 2020-01-01 00:00:00 +0000 UTC 2020-02-03 01:02:03 +0000 UTC 2020-03-07 00:00:00 +0000 UTC",
    ),
]


@pytest.mark.parametrize(("source", "text"), OBSERVED)
def test_times_are_read_and_worked_with_as_observed(source: str, text: str) -> None:
    assert made(source) == text


def test_a_year_that_no_calendar_here_has_is_refused() -> None:
    source = '{{ (toDate "2006" "2020").AddDate 100000 0 0 }}'
    assert made(source).endswith("error calling AddDate: year 102020 is out of range")

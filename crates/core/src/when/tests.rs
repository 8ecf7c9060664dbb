//! Tests of every accepted form and every named mistake.

use super::*;
use proptest::prelude::*;

/// A Saturday.
fn today() -> Date {
    jiff::civil::date(2026, 11, 14)
}

/// A window whose end is midnight ends at 24:00 of its last day.
fn shown(window: CivilRange) -> String {
    let until = match window.until {
        until if until == until.date().at(0, 0, 0, 0) => {
            format!("{} 24:00:00", until.date().yesterday().unwrap())
        }
        until => until.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    };
    format!("{} .. {until}", window.from.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Compares the first window of an expression.
#[track_caller]
fn check(text: &str, expected: &str) {
    let wanted = TimeExpression::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let window = wanted.windows(today()).next().unwrap_or_else(|| panic!("{text} means no civil time"));
    assert_eq!(shown(window), expected, "{text}");
}

#[test]
fn a_time_without_seconds_is_the_whole_minute() {
    check("14:05", "2026-11-14 14:05:00 .. 2026-11-14 14:06:00");
    check("9:05", "2026-11-14 09:05:00 .. 2026-11-14 09:06:00");
    check(" 23:59 ", "2026-11-14 23:59:00 .. 2026-11-14 24:00:00");
    check("14:05:30", "2026-11-14 14:05:30 .. 2026-11-14 14:05:31");
}

#[test]
fn a_span_includes_its_end_as_precisely_as_that_is_given() {
    check("14:05-14:20", "2026-11-14 14:05:00 .. 2026-11-14 14:21:00");
    check("14:05:10-14:20", "2026-11-14 14:05:10 .. 2026-11-14 14:21:00");
    check("14:05:10-14:20:05", "2026-11-14 14:05:10 .. 2026-11-14 14:20:06");
    check("9:00 - 9:30", "2026-11-14 09:00:00 .. 2026-11-14 09:31:00");
    check("9:00–9:30", "2026-11-14 09:00:00 .. 2026-11-14 09:31:00");
    check("9:00..9:30", "2026-11-14 09:00:00 .. 2026-11-14 09:31:00");
    check("9:00 to 9:30", "2026-11-14 09:00:00 .. 2026-11-14 09:31:00");
}

#[test]
fn a_span_may_go_over_midnight_or_up_to_it() {
    check("23:50-00:10", "2026-11-14 23:50:00 .. 2026-11-15 00:11:00");
    check("2026-12-31 23:50-0:10", "2026-12-31 23:50:00 .. 2027-01-01 00:11:00");
    check("22:00-24:00", "2026-11-14 22:00:00 .. 2026-11-14 24:00:00");
}

#[test]
fn a_date_is_a_day_or_the_day_of_a_time() {
    check("2026-11-14", "2026-11-14 00:00:00 .. 2026-11-14 24:00:00");
    check("2026-2-3", "2026-02-03 00:00:00 .. 2026-02-03 24:00:00");
    check("2026-11-14 14:05", "2026-11-14 14:05:00 .. 2026-11-14 14:06:00");
    check("2026-11-14T14:05", "2026-11-14 14:05:00 .. 2026-11-14 14:06:00");
    check("2026-11-14T14:05:30", "2026-11-14 14:05:30 .. 2026-11-14 14:05:31");
    check("2026-11-14T14:05-14:20", "2026-11-14 14:05:00 .. 2026-11-14 14:21:00");
    check("2026-11-14T14:05:30-14:20:10", "2026-11-14 14:05:30 .. 2026-11-14 14:20:11");
    check("2026-11-14T14:05:30-14:20", "2026-11-14 14:05:30 .. 2026-11-14 14:21:00");
    check("2026-11-14 04:05:30-05:00", "2026-11-14 04:05:30 .. 2026-11-14 05:01:00");
}

#[test]
fn days_have_names() {
    check("today", "2026-11-14 00:00:00 .. 2026-11-14 24:00:00");
    check("Today 14:05", "2026-11-14 14:05:00 .. 2026-11-14 14:06:00");
    check("yesterday", "2026-11-13 00:00:00 .. 2026-11-13 24:00:00");
    check("YESTERDAY 14:05-15:00", "2026-11-13 14:05:00 .. 2026-11-13 15:01:00");
    check("monday 9:00", "2026-11-09 09:00:00 .. 2026-11-09 09:01:00");
    check("sun 9:00", "2026-11-08 09:00:00 .. 2026-11-08 09:01:00");
    check("friday", "2026-11-13 00:00:00 .. 2026-11-13 24:00:00");
    check("saturday 9:00", "2026-11-14 09:00:00 .. 2026-11-14 09:01:00");
}

#[test]
fn a_time_without_a_day_is_looked_for_today_and_then_back_day_by_day() {
    let windows: Vec<String> =
        TimeExpression::parse("23:50-00:10").unwrap().windows(today()).take(3).map(shown).collect();
    assert_eq!(
        windows,
        [
            "2026-11-14 23:50:00 .. 2026-11-15 00:11:00",
            "2026-11-13 23:50:00 .. 2026-11-14 00:11:00",
            "2026-11-12 23:50:00 .. 2026-11-13 00:11:00",
        ]
    );
    let count = |text: &str| TimeExpression::parse(text).unwrap().windows(today()).count();
    assert_eq!(count("14:05"), 739_934);
    assert_eq!((count("today 14:05"), count("friday 14:05"), count("saturday 14:05")), (1, 1, 2));
}

#[track_caller]
fn check_stretch(text: &str, from: i64, until: i64) {
    let stretch = TimeExpression::parse(text).unwrap().range(Timestamp(1_800_000_000_000));
    assert_eq!(stretch, Some((Timestamp(from), Timestamp(until))), "{text}");
}

#[test]
fn a_time_with_a_zone_needs_no_calendar() {
    let at = 1_794_665_100_000;
    check_stretch("2026-11-14T14:05:00Z", at, at + 1_000);
    check_stretch("2026-11-14T14:05Z", at, at + 60_000);
    check_stretch("2026-11-14T14:05:00.123Z", at, at + 1_000);
    check_stretch("2026-11-14 16:05:00+02:00", at, at + 1_000);
    check_stretch("2026-11-14T16:05+0200", at, at + 60_000);
    check_stretch("2026-11-14T09:05:00-05:00", at, at + 1_000);
    check_stretch("2026-11-14T10:35:00-03:30", at, at + 1_000);
}

#[test]
fn a_while_ago_is_all_since_then() {
    let now = 1_800_000_000_000;
    for (text, ms) in [
        ("2h ago", 7_200_000),
        ("30m ago", 1_800_000),
        ("-2h", 7_200_000),
        ("1h30m ago", 5_400_000),
        ("2 hours ago", 7_200_000),
        ("45 Min Ago", 2_700_000),
        ("-1d", 86_400_000),
        ("1 week ago", 604_800_000),
    ] {
        check_stretch(text, now - ms, now + 1);
    }
}

#[test]
fn turns_and_details_have_numbers() {
    let hint = |agent: Option<&str>| SessionHint { agent: agent.map(str::to_owned), id: "1a2b3c4d".into() };
    let turn = |agent, from, to, detail| TimeExpression::Turn { session: hint(agent), from, to, detail };
    for (text, expected) in [
        ("1a2b3c4d#12", turn(None, 12, 12, None)),
        ("1a2b3c4d#12.3", turn(None, 12, 12, Some(3))),
        ("1a2b3c4d#10-12", turn(None, 10, 12, None)),
        ("1a2b3c4d#10..12", turn(None, 10, 12, None)),
        ("agent:1a2b3c4d#7", turn(Some("agent"), 7, 7, None)),
        ("1a2b3c4d", TimeExpression::Session(hint(None))),
        ("agent:1a2b3c4d", TimeExpression::Session(hint(Some("agent")))),
    ] {
        assert_eq!(TimeExpression::parse(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_session_is_named_by_either_end_of_its_id() {
    let session = crate::id::SessionKey::parse("agent:0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d").unwrap();
    let fits = |text: &str| match TimeExpression::parse(text) {
        Ok(TimeExpression::Session(hint)) => hint.fits(&session),
        other => panic!("{text} is {other:?}"),
    };
    for text in ["0c9f6b2e", "1a2b3c4d", "agent:1a2b3c4d", "0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d", "0c9f"] {
        assert!(fits(text), "{text}");
    }
    assert!(!fits("6b2e") && !fits("other:1a2b3c4d"));
}

#[test]
fn an_error_names_the_invalid_part_and_lists_the_forms() {
    for (text, part, why) in [
        ("", "", "empty"),
        ("25:10-26:00", "25:10", "hours go from 0 to 23"),
        ("14:05-14:60", "14:60", "minutes go"),
        ("14:05:61", "14:05:61", "seconds go"),
        ("9:5", "9:5", "two digits each"),
        ("14:05:", "14:05:", "two digits each"),
        ("24:00", "24:00", "hours go"),
        ("2026-02-30", "2026-02-30", "no such day"),
        ("2026-13-01 14:05", "2026-13-01", "no such day"),
        ("2026-11-14T", "2026-11-14T", "a time is missing"),
        ("yesterday noon", "noon", "two digits each"),
        ("2026-11-14T14:05:00+99:00", "+99:00", "a zone is"),
        ("2026-11-14T14:05:00.xZ", "14:05:00.x", "fraction"),
        ("2x ago", "2x", "a duration is"),
        ("99999999999999999d ago", "99999999999999999d", "longer than time"),
        ("#12", "#12", "session before the #"),
        ("1a2b3c4d#0", "0", "1 or more"),
        ("1a2b3c4d#12-10", "12-10", "before the first"),
        ("1a2b3c4d#12.x", "x", "a detail's number"),
        ("1a2", "1a2", "at least 4"),
        ("two o'clock", "two o'clock", "neither a time nor an id"),
    ] {
        let error = TimeExpression::parse(text).unwrap_err().to_string();
        assert!(error.contains(&format!("`{part}`")) && error.contains(why), "{text}: {error}");
        assert!(error.contains(FORMS), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn parsing_accepts_any_text_without_panic(text in any::<String>(), like in "[0-9a-zT:#.+ -]{0,30}") {
        for text in [&text, &like] {
            if let Ok(wanted) = TimeExpression::parse(text) {
                let _ = (wanted.windows(today()).take(3).count(), wanted.range(Timestamp(i64::MAX)));
            }
        }
    }

    #[test]
    fn a_printed_expression_parses_back(wanted in any_wanted()) {
        prop_assert_eq!(TimeExpression::parse(&wanted.to_string()), Ok(wanted));
    }
}

fn any_clock() -> impl Strategy<Value = ClockTime> {
    (0_u8..24, 0_u8..60, proptest::option::of(0_u8..60)).prop_map(|(hour, minute, second)| ClockTime {
        hour,
        minute,
        second,
    })
}

fn any_day() -> impl Strategy<Value = DayExpr> {
    let date =
        (1_i16..=9999, 1_i8..=12, 1_i8..=28).prop_map(|(year, month, day)| Date::new(year, month, day).ok());
    prop_oneof![
        date.prop_map(|date| DayExpr::Date(date.unwrap())),
        Just(DayExpr::Today),
        Just(DayExpr::Yesterday),
        (0_i8..7).prop_map(|at| DayExpr::Last(Weekday::from_monday_zero_offset(at).unwrap())),
    ]
}

fn any_wanted() -> impl Strategy<Value = TimeExpression> {
    let span = (any_clock(), any_clock()).prop_map(|(from, to)| ClockSpan { from, to });
    let hint =
        (proptest::option::of("[a-z]{3,8}"), "[0-9a-f]{8}").prop_map(|(agent, id)| SessionHint { agent, id });
    let turn = (hint.clone(), 1_u32..10_000, 0_u32..10, proptest::option::of(1_u32..100));
    prop_oneof![
        (span, proptest::option::of(any_day())).prop_map(|(span, day)| TimeExpression::Clock { span, day }),
        any_day().prop_map(TimeExpression::Day),
        (0_i64..1_000_000).prop_map(|seconds| TimeExpression::Ago { ms: seconds * 1000 }),
        (0_i64..4_000_000_000)
            .prop_map(|seconds| Timestamp(seconds * 1000))
            .prop_map(|from| TimeExpression::Exact { from, until: from.plus_ms(1000) }),
        hint.prop_map(TimeExpression::Session),
        turn.prop_map(|(session, from, more, detail)| {
            let to = if detail.is_some() { from } else { from + more };
            TimeExpression::Turn { session, from, to, detail }
        }),
    ]
}

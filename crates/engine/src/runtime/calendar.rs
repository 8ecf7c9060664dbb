//! The user's local calendar: where a day begins and which instants a wall-clock time means.
//!
//! The only code that knows time zones. The zone comes from `TZ`, else from the system, else UTC. This module
//! never reads the current time.

use crate::runtime::env::zone_variable;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::path::Path;
use std::sync::OnceLock;
use towline_core::ledger::LedgerDay;
use towline_core::time::Timestamp;
use towline_core::when;

/// The last `number` days, oldest first, including the day of `now`.
pub fn last_days(now: Timestamp, number: u32) -> Vec<LedgerDay> {
    let zone = zone();
    let Ok(instant) = jiff::Timestamp::from_millisecond(now.0) else { return vec![] };
    let today = zone.to_datetime(instant).date();
    (0..i64::from(number)).rev().filter_map(|ago| day(zone, today, ago)).collect()
}

/// If clocks change at midnight, the day begins with its first minute that exists.
fn day(zone: &TimeZone, today: Date, days_ago: i64) -> Option<LedgerDay> {
    let date = today.checked_sub(jiff::Span::new().try_days(days_ago).ok()?).ok()?;
    let midnight = |date: Date| zone.to_timestamp(date.at(0, 0, 0, 0)).ok();
    let ms = |date: Date| Some(Timestamp(midnight(date)?.as_millisecond()));
    let name = date.strftime("%a %Y-%m-%d").to_string();
    Some(LedgerDay { name, begins: ms(date)?, ends: ms(date.tomorrow().ok()?)? })
}

pub fn today(now: Timestamp) -> Option<Date> {
    today_in(zone(), now)
}

/// The user's offset from UTC at a time, positive east of Greenwich.
pub fn utc_offset_ms(at: Timestamp) -> i64 {
    utc_offset_in(zone(), at)
}

/// The instants of a civil time window, end excluded. An hour that occurs twice counts both times; a
/// skipped hour has no instants.
pub fn stretch(window: when::CivilRange) -> Option<(Timestamp, Timestamp)> {
    stretch_in(zone(), window)
}

/// Formats a time for display: `14:05:10` on the day of `now`, else `2026-11-14 14:05`.
pub fn clock(at: Timestamp, now: Timestamp) -> String {
    clock_in(zone(), at, now)
}

/// The folders that hold the zone rules.
const RULES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];

/// The user's zone, resolved once. jiff lists all zones before it reads one, many times the cost of
/// everything else here, so this reads the one file and asks jiff only if there is none.
fn zone() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| zone_said(zone_variable().as_deref()).unwrap_or_else(TimeZone::system))
}

/// Resolves the value of `TZ`, or the system's zone if `TZ` is unset.
fn zone_said(said: Option<&str>) -> Option<TimeZone> {
    let name = match said {
        None => return zone_in(Path::new("/etc/localtime")),
        Some(said) => said.strip_prefix(':').unwrap_or(said),
    };
    if name.is_empty() || name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let is_plain = !name.split('/').any(|part| part == "..");
    let found = RULES.iter().filter(|_| is_plain).find_map(|folder| zone_in(&Path::new(folder).join(name)));
    found.or_else(|| TimeZone::posix(name).ok())
}

fn zone_in(file: &Path) -> Option<TimeZone> {
    TimeZone::tzif("", &std::fs::read(file).ok()?).ok()
}

fn today_in(zone: &TimeZone, now: Timestamp) -> Option<Date> {
    Some(civil(zone, now)?.date())
}

fn utc_offset_in(zone: &TimeZone, at: Timestamp) -> i64 {
    let instant = jiff::Timestamp::from_millisecond(at.0);
    instant.map_or(0, |instant| i64::from(zone.to_offset(instant).seconds()) * 1000)
}

fn clock_in(zone: &TimeZone, at: Timestamp, now: Timestamp) -> String {
    let Some(shown) = civil(zone, at) else { return at.to_utc() };
    let is_today = civil(zone, now).is_some_and(|now| now.date() == shown.date());
    shown.strftime(if is_today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M" }).to_string()
}

fn civil(zone: &TimeZone, at: Timestamp) -> Option<DateTime> {
    Some(zone.to_datetime(jiff::Timestamp::from_millisecond(at.0).ok()?))
}

fn stretch_in(zone: &TimeZone, window: when::CivilRange) -> Option<(Timestamp, Timestamp)> {
    let second = jiff::Span::new().try_seconds(1).ok()?;
    let last = window.until.checked_sub(second).ok()?;
    Some((beginning(zone, window.from)?, end(zone, last)?))
}

/// The start of the first instant this wall-clock second denotes.
fn beginning(zone: &TimeZone, second: DateTime) -> Option<Timestamp> {
    let meant = zone.to_ambiguous_timestamp(second);
    match meant.offset() {
        AmbiguousOffset::Gap { .. } => change_before(zone, meant.later().ok()?),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            Some(ours(meant.earlier().ok()?))
        }
    }
}

/// The end of the last instant this wall-clock second denotes.
fn end(zone: &TimeZone, second: DateTime) -> Option<Timestamp> {
    let meant = zone.to_ambiguous_timestamp(second);
    match meant.offset() {
        AmbiguousOffset::Gap { .. } => change_before(zone, meant.later().ok()?),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            Some(ours(meant.later().ok()?).plus_ms(1000))
        }
    }
}

/// The last clock change before `at`.
fn change_before(zone: &TimeZone, at: jiff::Timestamp) -> Option<Timestamp> {
    zone.preceding(at).next().map(|change| ours(change.timestamp()))
}

fn ours(at: jiff::Timestamp) -> Timestamp {
    Timestamp(at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other_and_the_last_one_holds_now() {
        let now = Timestamp(1_794_708_799_999);
        let days = last_days(now, 400);
        assert_eq!(days.len(), 400);
        assert!(days.windows(2).all(|pair| pair[0].ends == pair[1].begins && pair[0].begins < pair[0].ends));
        assert!(days.last().is_some_and(|today| today.begins <= now && now < today.ends));
    }

    #[test]
    fn the_day_on_which_clocks_change_is_an_hour_shorter_or_longer() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let hours = |year, month, on| {
            let day = day(&zone, Date::new(year, month, on).unwrap(), 0).unwrap();
            day.ends.since_ms(day.begins) / 3_600_000
        };
        assert_eq!((hours(2026, 3, 29), hours(2026, 10, 25), hours(2026, 11, 15)), (23, 25, 24));
    }

    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    #[test]
    fn the_offset_follows_summer_time() {
        let hours = |at: i64| utc_offset_in(&berlin(), Timestamp(at)) / 3_600_000;
        assert_eq!((hours(1_794_708_799_999), hours(1_782_864_000_000)), (1, 2));
    }

    /// The UTC windows that an expression means to a user in Berlin.
    #[track_caller]
    fn check(text: &str, from: &str, until: &str) {
        let today = jiff::civil::date(2026, 11, 14);
        let window = when::TimeExpression::parse(text).unwrap().windows(today).next().unwrap();
        let (begins, ends) = stretch_in(&berlin(), window).unwrap();
        assert_eq!((begins.to_utc().as_str(), ends.to_utc().as_str()), (from, until), "{text}");
    }

    #[test]
    fn a_time_on_the_wall_is_an_instant_of_its_zone() {
        check("2026-11-14 14:05", "2026-11-14T13:05:00Z", "2026-11-14T13:06:00Z");
        check("2026-07-01 14:05-14:20", "2026-07-01T12:05:00Z", "2026-07-01T12:21:00Z");
        check("yesterday 23:50-00:10", "2026-11-13T22:50:00Z", "2026-11-13T23:11:00Z");
        check("2026-11-13", "2026-11-12T23:00:00Z", "2026-11-13T23:00:00Z");
    }

    #[test]
    fn an_hour_that_comes_twice_is_meant_both_times() {
        check("2026-10-25 02:10-02:20", "2026-10-25T00:10:00Z", "2026-10-25T01:21:00Z");
        check("2026-10-25 01:00-01:59", "2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z");
        check("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
    }

    #[test]
    fn an_hour_that_is_left_out_has_no_instants() {
        check("2026-03-29 02:10-02:20", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z");
        check("2026-03-29 01:30-02:30", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z");
        check("2026-03-29 02:30-03:30", "2026-03-29T01:00:00Z", "2026-03-29T01:31:00Z");
        check("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    }

    #[test]
    fn a_time_is_shown_with_its_date_unless_it_is_today() {
        let at = |text| Timestamp::parse_utc(text).unwrap();
        let now = at("2026-11-14T22:59:59Z");
        let shown = |text| clock_in(&berlin(), at(text), now);
        assert_eq!(shown("2026-11-14T13:05:10Z"), "14:05:10");
        assert_eq!(shown("2026-11-13T23:00:00Z"), "00:00:00");
        assert_eq!(shown("2026-11-13T22:59:59Z"), "2026-11-13 23:59");
        assert_eq!(shown("2026-11-14T23:00:00Z"), "2026-11-15 00:00");
        assert_eq!(today_in(&berlin(), now), Date::new(2026, 11, 14).ok());
        assert_eq!(today_in(&berlin(), now.plus_ms(1000)), Date::new(2026, 11, 15).ok());
    }

    #[test]
    fn what_is_shown_reads_back_as_a_stretch_that_holds_it() {
        let now = Timestamp(1_794_708_799_999);
        for hours in 0..9_000 {
            let at = now.plus_ms(-hours * 3_599_000);
            let shown = when::TimeExpression::parse(&clock_in(&berlin(), at, now)).unwrap();
            let window = shown.windows(today_in(&berlin(), now).unwrap()).next().unwrap();
            let (begins, ends) = stretch_in(&berlin(), window).unwrap();
            assert!(begins <= at && at < ends, "{shown}");
        }
    }

    #[test]
    fn the_zone_of_the_system_tells_the_same_day_and_clock() {
        let now = Timestamp(1_794_708_799_999);
        let window = when::CivilRange::of_day(today(now).unwrap());
        let (begins, ends) = stretch(window).unwrap();
        assert!(begins <= now && now < ends);
        assert_eq!(clock(now, now).len(), "14:05:10".len());
    }

    #[test]
    fn a_zone_is_found_by_name_file_or_rule_without_looking_at_all() {
        let at = Timestamp::parse_utc("2026-07-01T12:00:00Z").unwrap();
        let hour = |said: &str| zone_said(Some(said)).map(|zone| civil(&zone, at).unwrap().hour());
        assert_eq!((hour(""), hour("UTC"), hour("JST-9")), (Some(12), Some(12), Some(21)));
        assert_eq!(hour("CET-1CEST,M3.5.0,M10.5.0/3"), Some(14));
        assert_eq!((hour("Asia/Tokyo"), hour(":Asia/Tokyo")), (Some(21), Some(21)));
        assert_eq!((hour("../../etc/passwd"), hour("No/Such")), (None, None));
    }
}

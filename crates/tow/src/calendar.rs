//! The person's own days: where midnight is for them.
//!
//! The only place that knows of time zones. It takes the zone from `TZ`, else from the system, else universal time;
//! it never asks what time it is.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use towline_core::ledger::Day;
use towline_core::time::Timestamp;

/// The last `number` days up to and with the one that `now` is in, oldest first.
pub fn last_days(now: Timestamp, number: u32) -> Vec<Day> {
    let zone = TimeZone::system();
    let Ok(instant) = jiff::Timestamp::from_millisecond(now.0) else { return vec![] };
    let today = zone.to_datetime(instant).date();
    (0..i64::from(number)).rev().filter_map(|ago| day(&zone, today, ago)).collect()
}

/// Where the clocks are changed at midnight, the day begins with its first minute that exists.
fn day(zone: &TimeZone, today: Date, days_ago: i64) -> Option<Day> {
    let date = today.checked_sub(jiff::Span::new().try_days(days_ago).ok()?).ok()?;
    let midnight = |date: Date| zone.to_timestamp(date.at(0, 0, 0, 0)).ok();
    let ms = |date: Date| Some(Timestamp(midnight(date)?.as_millisecond()));
    let name = date.strftime("%a %Y-%m-%d").to_string();
    Some(Day { name, begins: ms(date)?, ends: ms(date.tomorrow().ok()?)? })
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
}

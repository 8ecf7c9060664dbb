//! The days, weeks and months of a time range, by the local calendar.
//!
//! Whole periods only: a range that begins in the middle of a week gets that week from its Monday on. Reads no clock.

use super::By;
use crate::runtime::calendar;
use std::ops::Range;
use towline_core::ledger::LedgerDay;
use towline_core::time::Timestamp;

/// Upper bound of a table's rows.
const MOST_DAYS: u32 = 40_000;
const DAY_MS: i64 = 86_400_000;
/// The longest period in days: how far before the range its first period may begin.
const LONGEST: i64 = 31;

/// The periods that overlap the range, in order; none if `by` is no period.
pub(super) fn periods(times: &Range<Timestamp>, by: By) -> Vec<LedgerDay> {
    let begins = |day: &LedgerDay| match by {
        By::Week => day.name.starts_with("Mon"),
        By::Month => day.name.ends_with("-01"),
        By::Day | By::Project | By::Model | By::Session | By::Agent => true,
    };
    if !by.is_period() {
        return vec![];
    }
    let last = times.end.plus_ms(-1);
    let number = u32::try_from(last.since_ms(times.start) / DAY_MS + 2 + LONGEST).unwrap_or(MOST_DAYS);
    let mut days = calendar::last_days(last, number.min(MOST_DAYS));
    let touched = days.partition_point(|day| day.ends <= times.start);
    let first = days.iter().take(touched + 1).rposition(begins).unwrap_or(touched.min(days.len()));
    let mut periods: Vec<LedgerDay> = vec![];
    for day in days.drain(first..) {
        match periods.last_mut().filter(|_| !begins(&day)) {
            Some(period) => period.ends = day.ends,
            None => periods.push(LedgerDay { name: name(&day.name, by), ..day }),
        }
    }
    periods
}

/// The display name of a period whose first day has this name; its last word is the date or the month.
fn name(day: &str, by: By) -> String {
    let date = day.split_once(' ').map_or(day, |(_, date)| date);
    match by {
        By::Week => format!("week of {date}"),
        By::Month => date.chars().take("2026-11".len()).collect(),
        By::Day | By::Project | By::Model | By::Session | By::Agent => day.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_of_a_time_are_all_that_it_touches() {
        let now = Timestamp(1_794_708_799_999);
        let today = calendar::last_days(now, 1).remove(0);
        assert_eq!(periods(&(today.begins..today.ends), By::Day).len(), 1);
        let days = periods(&(today.begins.plus_ms(-1)..now), By::Day);
        assert_eq!((days.len(), days[1].begins), (2, today.begins));
        assert_eq!(periods(&(today.begins..today.ends), By::Model), []);
    }

    #[test]
    fn weeks_begin_on_mondays_and_months_on_their_first_also_before_the_range() {
        // From Wednesday 2026-09-30 to Sunday 2026-11-15, at noon in UTC.
        let times = Timestamp(1_790_769_600_000)..Timestamp(1_794_744_000_000);
        let names = |by| periods(&times, by).into_iter().map(|period| period.name).collect::<Vec<_>>();
        assert_eq!(names(By::Month), ["2026-09", "2026-10", "2026-11"]);
        assert_eq!(names(By::Week).first().map(String::as_str), Some("week of 2026-09-28"));
        assert_eq!(names(By::Week).last().map(String::as_str), Some("week of 2026-11-09"));
        for by in [By::Week, By::Month] {
            let all = periods(&times, by);
            assert!(all.windows(2).all(|pair| pair[0].ends == pair[1].begins));
            assert!(all[0].begins < times.start && all[all.len() - 1].ends >= times.end);
        }
    }
}

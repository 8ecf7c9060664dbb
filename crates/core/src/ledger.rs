//! The wait ledger: how long agents were blocked on the user, by day, project and reason.
//!
//! Only sums. Reads no clock and no calendar: the caller passes days as time ranges and the end of a wait that still
//! lasts. Agents that wait at the same time all count: the ledger measures agent time, not user time.

use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One wait, from the agent's stop to its continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub project: Option<String>,
    pub reason: String,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

/// A local calendar day, midnight to midnight; not always 24 hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerDay {
    pub name: String,
    pub begins: Timestamp,
    pub ends: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub total: WaitSum,
    /// The project of the longest wait.
    pub longest_in: Option<String>,
    /// Every requested day, including those without a wait, in the given order.
    pub days: Vec<(LedgerDay, WaitSum)>,
    /// Longest total wait first. Waits outside any project have the key `None`.
    pub projects: Vec<(Option<String>, WaitSum)>,
    pub reasons: Vec<(String, WaitSum)>,
}

/// The sum of several waits, or of their parts in one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSum {
    pub waited_ms: i64,
    /// How many waits began; a wait across midnight counts on its first day only.
    pub times: usize,
    pub longest_ms: i64,
    pub median_ms: i64,
}

/// Sums the parts of the waits that fall into the days. The days must be contiguous.
pub fn ledger(waits: &[Wait], days: &[LedgerDay]) -> Ledger {
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ledger::default() };
    let inside: Vec<WaitPart<'_>> =
        waits.iter().filter_map(|wait| part(wait, first.begins, last.ends)).collect();
    let longest = inside.iter().max_by_key(|part| (part.lasted_ms(), Reverse(part.from)));
    Ledger {
        total: sum(&inside),
        longest_in: longest.and_then(|part| part.wait.project.clone()),
        days: days.iter().map(|day| (day.clone(), day_sum(&inside, day))).collect(),
        projects: grouped(&inside, |wait| wait.project.clone()),
        reasons: grouped(&inside, |wait| wait.reason.clone()),
    }
}

/// The part of a wait that falls into a time range.
#[derive(Clone, Copy)]
struct WaitPart<'a> {
    wait: &'a Wait,
    from: Timestamp,
    to: Timestamp,
}

impl WaitPart<'_> {
    fn lasted_ms(&self) -> i64 {
        self.to.since_ms(self.from)
    }
}

/// Clips a wait to a range. A clock that was set back may end a wait before it began: it counts with duration zero.
fn part(wait: &Wait, begins: Timestamp, ends: Timestamp) -> Option<WaitPart<'_>> {
    let (from, to) = (wait.began_at.max(begins), wait.ended_at.max(wait.began_at).min(ends));
    let is_inside = from < ends && (to > begins || wait.began_at >= begins);
    is_inside.then_some(WaitPart { wait, from, to })
}

fn day_sum(inside: &[WaitPart<'_>], day: &LedgerDay) -> WaitSum {
    let parts: Vec<WaitPart<'_>> =
        inside.iter().filter_map(|whole| part(whole.wait, day.begins, day.ends)).collect();
    let began = inside.iter().filter(|whole| (day.begins..day.ends).contains(&whole.from));
    WaitSum { times: began.count(), ..sum(&parts) }
}

fn grouped<K: Ord>(inside: &[WaitPart<'_>], key: impl Fn(&Wait) -> K) -> Vec<(K, WaitSum)> {
    let mut groups: BTreeMap<K, Vec<WaitPart<'_>>> = BTreeMap::new();
    for part in inside {
        groups.entry(key(part.wait)).or_default().push(*part);
    }
    let mut sums: Vec<(K, WaitSum)> = groups.into_iter().map(|(key, parts)| (key, sum(&parts))).collect();
    sums.sort_by_key(|(_, sum)| Reverse((sum.waited_ms, sum.times)));
    sums
}

fn sum(parts: &[WaitPart<'_>]) -> WaitSum {
    let mut lasted: Vec<i64> = parts.iter().map(WaitPart::lasted_ms).collect();
    lasted.sort_unstable();
    WaitSum {
        waited_ms: lasted.iter().fold(0, |sum, ms| sum.saturating_add(*ms)),
        times: lasted.len(),
        longest_ms: lasted.last().copied().unwrap_or(0),
        median_ms: median(&lasted),
    }
}

/// The middle value, or the midpoint of the two middle values.
fn median(sorted: &[i64]) -> i64 {
    let middle = sorted.len() / 2;
    match sorted {
        [] => 0,
        _ if sorted.len() % 2 == 1 => sorted[middle],
        _ => sorted[middle - 1].midpoint(sorted[middle]),
    }
}

/// Formats a duration: `35 s`, `42 min`, `2 h 14 min`.
pub fn format_duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    /// Midnight in a zone east of Greenwich: days need not begin at UTC midnight.
    const MIDNIGHT: i64 = 1_794_700_000_000;

    fn days(number: i64) -> Vec<LedgerDay> {
        let midnight = |day: i64| Timestamp(MIDNIGHT + day * 24 * HOUR);
        (0..number)
            .map(|n| LedgerDay { name: format!("day {n}"), begins: midnight(n), ends: midnight(n + 1) })
            .collect()
    }

    /// A wait in minutes after the first midnight.
    fn wait(project: &str, from: i64, to: i64) -> Wait {
        let at = |minutes: i64| Timestamp(MIDNIGHT + minutes * MINUTE);
        let project = Some(project.to_owned()).filter(|name| !name.is_empty());
        Wait { project, reason: "permission".into(), began_at: at(from), ended_at: at(to) }
    }

    /// Checks the minutes waited and the number of waits of each day.
    #[track_caller]
    fn check_days(waits: &[Wait], expected: &[(i64, usize)]) {
        let found = ledger(waits, &days(expected.len() as i64));
        let by_day: Vec<_> = found.days.iter().map(|(_, sum)| (sum.waited_ms / MINUTE, sum.times)).collect();
        assert_eq!(by_day, expected);
        assert_eq!(found.total.waited_ms, found.days.iter().map(|(_, sum)| sum.waited_ms).sum::<i64>());
        assert_eq!(found.total.times, found.days.iter().map(|(_, sum)| sum.times).sum::<usize>());
    }

    #[test]
    fn a_wait_over_midnight_is_split_and_counted_once() {
        check_days(&[wait("app", 23 * 60 + 50, 24 * 60 + 30)], &[(10, 1), (30, 0)]);
        check_days(&[wait("app", 60, 50 * 60)], &[(23 * 60, 1), (24 * 60, 0), (120, 0)]);
    }

    #[test]
    fn a_wait_that_ends_at_midnight_does_not_reach_into_the_next_day() {
        check_days(&[wait("app", 23 * 60, 24 * 60)], &[(60, 1), (0, 0)]);
        check_days(&[wait("app", 24 * 60, 25 * 60)], &[(0, 0), (60, 1)]);
    }

    #[test]
    fn waits_before_the_first_day_do_not_count() {
        check_days(&[wait("app", -60, 15), wait("app", -60, 0), wait("app", -60, -30)], &[(15, 1)]);
    }

    #[test]
    fn waits_after_the_last_day_do_not_count() {
        check_days(&[wait("app", 24 * 60, 25 * 60), wait("app", 23 * 60, 30 * 60)], &[(60, 1)]);
    }

    #[test]
    fn agents_that_wait_at_the_same_time_both_count() {
        check_days(&[wait("app", 0, 30), wait("site", 0, 30)], &[(60, 2)]);
    }

    #[test]
    fn a_wait_that_ended_before_it_began_happened_and_took_no_time() {
        check_days(&[wait("app", 30, 10)], &[(0, 1)]);
        check_days(&[wait("app", 24 * 60 + 5, 24 * 60 - 5)], &[(0, 0), (0, 1)]);
    }

    #[test]
    fn a_day_may_be_longer_or_shorter_than_others() {
        let hours = |from: i64, to: i64| (Timestamp(MIDNIGHT + from * HOUR), Timestamp(MIDNIGHT + to * HOUR));
        let day = |(begins, ends)| LedgerDay { name: "day".into(), begins, ends };
        let found = ledger(&[wait("app", 0, 48 * 60)], &[day(hours(0, 25)), day(hours(25, 48))]);
        let by_day: Vec<_> = found.days.iter().map(|(_, sum)| sum.waited_ms / HOUR).collect();
        assert_eq!(by_day, [25, 23]);
    }

    #[test]
    fn projects_are_summed_and_sorted_by_what_they_cost() {
        let waits = [
            wait("app", 0, 5),
            wait("site", 0, 30),
            wait("app", 10, 17),
            wait("app", 20, 21),
            wait("", 0, 1),
        ];
        let found = ledger(&waits, &days(1));
        let of = |minutes: i64, times, longest: i64, median: i64| WaitSum {
            waited_ms: minutes * MINUTE,
            times,
            longest_ms: longest * MINUTE,
            median_ms: median * MINUTE,
        };
        assert_eq!(
            found.projects,
            [
                (Some("site".to_owned()), of(30, 1, 30, 30)),
                (Some("app".to_owned()), of(13, 3, 7, 5)),
                (None, of(1, 1, 1, 1)),
            ]
        );
        assert_eq!((found.total, found.longest_in.as_deref()), (of(44, 5, 30, 5), Some("site")));
        assert_eq!(found.reasons, [("permission".to_owned(), found.total)]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        let found = ledger(&[wait("a", 0, 2), wait("a", 0, 4), wait("a", 0, 10), wait("a", 0, 1)], &days(1));
        assert_eq!(found.total.median_ms, 3 * MINUTE);
    }

    #[test]
    fn without_days_or_waits_there_is_nothing() {
        assert_eq!(ledger(&[wait("app", 0, 5)], &[]), Ledger::default());
        assert_eq!(ledger(&[], &days(2)).total, WaitSum::default());
    }

    #[test]
    fn times_are_spelt_in_words() {
        let spelt = [0, 35_999, MINUTE, 42 * MINUTE, 2 * HOUR, 2 * HOUR + 14 * MINUTE, 26 * HOUR]
            .map(format_duration);
        assert_eq!(spelt, ["0 s", "35 s", "1 min", "42 min", "2 h", "2 h 14 min", "26 h"]);
    }
}

//! Usage since a time, by the groups that a user asked for.
//!
//! Parses the time, and refuses one that it cannot parse.

use super::{By, Group, periods, prices, sums};
use crate::query::past::{Past, ProjectScope, unreadable_data};
use crate::query::sought::parse_time;
use crate::runtime::{Env, Failure, calendar};
use std::ops::Range;
use towline_core::time::Timestamp;
use towline_core::usage::UsageTotal;
use towline_store::archive::UsageQuery;

pub struct UsageRequest<'a> {
    /// `None`: what suits the time, see `usual`.
    pub by: Option<By>,
    /// `today`, `week` or `month` (from their first day on), `7d` (days, today included), `12h`, a time or a date, or
    /// `all`.
    pub since: &'a str,
    pub project: Option<String>,
    pub agent: Option<String>,
}

pub struct UsageReport {
    pub by: By,
    pub times: Range<Timestamp>,
    pub sums: Vec<(Group, UsageTotal)>,
}

pub fn report(env: &Env, request: &UsageRequest<'_>) -> Result<UsageReport, Failure> {
    let past = Past::open(env, &ProjectScope::of(request.project.clone()))?;
    let used =
        past.as_ref().map(|past| past.archive.usage_span()).transpose().map_err(unreadable_data)?.flatten();
    let times = times(env.now, request.since, used)?;
    let by = request.by.unwrap_or_else(|| usual(request.since.trim(), &times));
    let sums = match past {
        Some(past) if !past.project.is_empty() => {
            let (project, agent) = (past.project.row(), request.agent.clone());
            let query = UsageQuery { times: times.clone(), project, agent };
            sums(&past.archive, &prices(env), by, &query).map_err(unreadable_data)?
        }
        Some(_) | None => vec![],
    };
    Ok(UsageReport { by, times, sums })
}

/// From this many days on, a row per day is longer than a screen.
const LONG_MS: i64 = 92 * 86_400_000;

/// How a time is grouped if nothing else is asked for: one day has one row by days, and a year too many.
fn usual(since: &str, times: &Range<Timestamp>) -> By {
    match since {
        "today" => By::Project,
        "all" => By::Month,
        _ if times.end.since_ms(times.start) > LONG_MS => By::Month,
        _ => By::Day,
    }
}

/// From the given time until now, or until the last usage if a clock was ahead.
fn times(now: Timestamp, since: &str, used: Option<Range<Timestamp>>) -> Result<Range<Timestamp>, Failure> {
    let until = used.as_ref().map_or(now, |used| used.end.max(now));
    let days_ago = |days: &str| {
        let days = days.parse::<u32>().ok().filter(|days| (1..=40_000).contains(days))?;
        calendar::last_days(now, days).first().map(|day| day.begins)
    };
    let hours_ago = |hours: &str| Some(now.plus_ms(-3_600_000 * i64::from(hours.parse::<u16>().ok()?)));
    let this = |by| periods(&(now..now.plus_ms(1)), by).first().map(|period| period.begins);
    let since = since.trim();
    let from = match since {
        "all" => Some(used.map_or(now, |used| used.start)),
        "today" => this(By::Day),
        "week" => this(By::Week),
        "month" => this(By::Month),
        _ => {
            since.strip_suffix('d').and_then(days_ago).or_else(|| since.strip_suffix('h').and_then(hours_ago))
        }
    };
    let from = from.map_or_else(|| parse_time(since, now), Ok)?;
    Ok(from..until.max(from.plus_ms(1)))
}

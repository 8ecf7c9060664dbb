//! Resolves a query expression to turns: by time, by number, by session.
//!
//! Always reports where it looked, so that an empty result is an answer too.

use super::past::{Past, unreadable_data};
use super::session::call;
use crate::runtime::text::plain_text;
use crate::runtime::{Failure, calendar};
use towline_core::time::Timestamp;
use towline_core::when::{SessionHint, TimeExpression};
use towline_store::archive::{Conversation, TurnFilter, TurnQuery, TurnRow};

/// A time without a date is searched at most this many days back.
const MOST_DAYS: usize = 1_000;

/// The turns found, and where they were searched.
pub struct Found {
    /// In order of time, or of their numbers.
    pub turns: Vec<(Conversation, TurnRow)>,
    /// Only this detail of the one turn.
    pub detail: Option<u32>,
    /// Description of the searched scope.
    pub looked: String,
    /// Matching turns that are not in `turns`.
    pub left_out: usize,
}

/// The turns that an expression means, at most `most` of a session.
pub fn find_turns(past: &Past, wanted: &TimeExpression, most: usize) -> Result<Found, Failure> {
    match wanted {
        TimeExpression::Turn { session, from, to, detail } => numbered(past, session, *from, *to, *detail),
        TimeExpression::Session(session) => whole_session(past, session, most),
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => at_time(past, wanted),
    }
}

fn numbered(
    past: &Past,
    session: &SessionHint,
    from: u32,
    to: u32,
    detail: Option<u32>,
) -> Result<Found, Failure> {
    let Some(of) = call(past, session)? else { return Ok(nothing(no_session(session))) };
    let turns = past.archive.turns(&of, from, to).map_err(unreadable_data)?;
    let looked = format!("session {}, which has the turns 1 to {}", of.short, of.turns);
    Ok(Found { turns: with(&of, turns), detail, looked, left_out: 0 })
}

fn whole_session(past: &Past, session: &SessionHint, most: usize) -> Result<Found, Failure> {
    let Some(of) = call(past, session)? else { return Ok(nothing(no_session(session))) };
    let asked = TurnQuery::last(most, TurnFilter::Standing);
    let turns = past.archive.turns_of(&of, &asked).map_err(unreadable_data)?;
    let (_, standing) = past.archive.count_turns(&of, &asked).map_err(unreadable_data)?;
    let left_out = (standing as usize).saturating_sub(turns.len());
    Ok(Found { turns: with(&of, turns), detail: None, looked: format!("session {}", of.short), left_out })
}

fn no_session(session: &SessionHint) -> String {
    format!("all sessions; none has an id that begins or ends with `{session}`")
}

fn with(of: &Conversation, turns: Vec<TurnRow>) -> Vec<(Conversation, TurnRow)> {
    turns.into_iter().map(|turn| (of.clone(), turn)).collect()
}

fn nothing(looked: String) -> Found {
    Found { turns: vec![], detail: None, looked, left_out: 0 }
}

/// The turns under way at that time, on the first candidate day that has any.
fn at_time(past: &Past, wanted: &TimeExpression) -> Result<Found, Failure> {
    if past.project.is_empty() {
        return Ok(nothing(past.project.description()));
    }
    let mut looked: Option<(Timestamp, Timestamp)> = None;
    let mut oldest = None;
    for (from, until) in stretches(past, wanted) {
        if oldest.is_some_and(|oldest| until <= oldest) {
            break;
        }
        looked = Some(looked.map_or((from, until), |(_, until)| (from, until)));
        // Skip the future.
        let turns = match from > past.now {
            true => vec![],
            false => past
                .archive
                .turns_between(from, until.plus_ms(-1), past.project.row())
                .map_err(unreadable_data)?,
        };
        if !turns.is_empty() {
            let looked = format!("{}, {}", past.project.description(), stretch_words(from, until, past.now));
            return Ok(Found { turns, detail: None, looked, left_out: 0 });
        }
        if oldest.is_none() {
            oldest =
                Some(past.archive.first_turn_at().map_err(unreadable_data)?.unwrap_or(Timestamp(i64::MAX)));
        }
    }
    let when = looked.map_or(format!("{wanted}, a time that never was"), |(from, until)| {
        stretch_words(from, until, past.now)
    });
    Ok(nothing(format!("{}, {when}", past.project.description())))
}

fn stretch_words(from: Timestamp, until: Timestamp, now: Timestamp) -> String {
    let last = until.plus_ms(-1000);
    format!("from {} to {}", calendar::clock(from, now), calendar::clock(last, now))
}

/// The candidate time spans, likeliest first, without those that do not exist.
fn stretches<'w>(
    past: &Past,
    wanted: &'w TimeExpression,
) -> Box<dyn Iterator<Item = (Timestamp, Timestamp)> + 'w> {
    if let Some(stretch) = wanted.range(past.now) {
        return Box::new(std::iter::once(stretch));
    }
    let Some(today) = calendar::today(past.now) else { return Box::new(std::iter::empty()) };
    let windows = wanted.windows(today).take(MOST_DAYS);
    Box::new(windows.filter_map(calendar::stretch).filter(|(from, until)| from < until))
}

/// Start of the latest matching time span that has begun.
pub fn start_of_expression(wanted: &TimeExpression, now: Timestamp) -> Option<Timestamp> {
    if let Some((from, _)) = wanted.range(now) {
        return Some(from);
    }
    let begun = wanted.windows(calendar::today(now)?).take(MOST_DAYS).filter_map(calendar::stretch);
    let mut begun = begun.map(|(from, _)| from).peekable();
    let first = begun.peek().copied();
    begun.find(|from| *from <= now).or(first)
}

/// Parses a time, and returns its start.
pub fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let refused =
        |why: String| Failure::input(why).hint("Write a time such as yesterday, 14:05 or '2h ago'.");
    let wanted = TimeExpression::parse(text).map_err(|error| refused(error.to_string()))?;
    start_of_expression(&wanted, now).ok_or_else(|| refused(format!("`{}` is no time", plain_text(text))))
}

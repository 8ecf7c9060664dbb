//! The parser of expressions.
//!
//! Text that looks like a time is parsed as one and rejected as one: a mistyped hour never becomes a session's name.

use super::civil::{ClockTime, weekday_named};
use super::{BadExpression, ClockSpan, DayExpr, SessionHint, TimeExpression};
use crate::id::{AgentName, SessionId};
use crate::time::Timestamp;
use jiff::civil::Date;

/// Fewer characters of an id would match too many sessions.
const SHORTEST_ID: usize = 4;

pub fn parse_expression(raw: &str) -> Result<TimeExpression, BadExpression> {
    let text = raw.trim();
    if text.is_empty() {
        return Err(bad(raw, "it is empty"));
    }
    if let Some((session, turns)) = text.split_once('#') {
        return turn(session, turns);
    }
    if let Some(duration) = duration_ago(text) {
        return Ok(TimeExpression::Ago { ms: milliseconds(duration)? });
    }
    if let Some((day, rest)) = leading_day(text)? {
        return on_day(day, rest);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(':') {
        return Ok(TimeExpression::Clock { span: span(text)?, day: None });
    }
    Ok(TimeExpression::Session(session_hint(text)?))
}

fn bad(part: &str, why: &'static str) -> BadExpression {
    const LONGEST: usize = 60;
    let shown: String = part.trim().chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    BadExpression { part: shown, why }
}

fn turn(session: &str, turns: &str) -> Result<TimeExpression, BadExpression> {
    if session.trim().is_empty() {
        return Err(bad(&format!("#{turns}"), "the session before the # is missing"));
    }
    let session = session_hint(session)?;
    let number = |text: &str, why| match text.trim().parse::<u32>() {
        Ok(number) if number > 0 && text.trim().bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
        Ok(_) | Err(_) => Err(bad(text, why)),
    };
    const TURN: &str = "a turn's number is 1 or more";
    if let Some((turn, detail)) = turns.split_once('.').filter(|_| !turns.contains("..")) {
        let from = number(turn, TURN)?;
        let detail = Some(number(detail, "a detail's number is 1 or more")?);
        return Ok(TimeExpression::Turn { session, from, to: from, detail });
    }
    let (from, to) = match ends(turns) {
        Some((from, to)) => (number(from, TURN)?, number(to, TURN)?),
        None => (number(turns, TURN)?, number(turns, TURN)?),
    };
    if to < from {
        return Err(bad(turns, "the last turn comes before the first"));
    }
    Ok(TimeExpression::Turn { session, from, to, detail: None })
}

fn session_hint(text: &str) -> Result<SessionHint, BadExpression> {
    let (agent, id) =
        text.trim().split_once(':').map_or((None, text.trim()), |(agent, id)| (Some(agent), id));
    if agent.is_some_and(|agent| AgentName::parse(agent).is_err()) || SessionId::parse(id).is_err() {
        return Err(bad(text, "it is neither a time nor an id"));
    }
    if id.len() < SHORTEST_ID {
        return Err(bad(text, "too little of an id: give at least 4 characters"));
    }
    Ok(SessionHint { agent: agent.map(str::to_owned), id: id.to_owned() })
}

/// The duration of `2h ago`, `2 hours ago` and `-2h`.
fn duration_ago(text: &str) -> Option<&str> {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let before_ago =
        text.len().checked_sub(3).filter(|at| text.is_char_boundary(*at)).map(|at| text.split_at(at));
    match before_ago {
        Some((duration, ago)) if ago.eq_ignore_ascii_case("ago") && is_number(duration) => {
            Some(duration.trim())
        }
        Some(_) | None => text.strip_prefix('-').map(str::trim_start).filter(|rest| is_number(rest)),
    }
}

/// Parses numbers with units: `2h`, `1h30m`, `2 hours`.
fn milliseconds(duration: &str) -> Result<i64, BadExpression> {
    let mut rest = duration;
    let mut sum = 0_i64;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        let after = after.trim_start();
        let (unit, after) = after.split_at(after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len()));
        let unit = unit_ms(unit).ok_or_else(|| bad(duration, "a duration is a number of s, m, h, d or w"))?;
        let number: i64 =
            number.parse().map_err(|_| bad(duration, "a duration is a number of s, m, h, d or w"))?;
        let part = number.checked_mul(unit).and_then(|part| sum.checked_add(part));
        sum = part.ok_or_else(|| bad(duration, "that is longer than time itself"))?;
        rest = after.trim_start();
    }
    Ok(sum)
}

fn unit_ms(unit: &str) -> Option<i64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 86_400_000,
        "w" | "week" | "weeks" => 604_800_000,
        _ => return None,
    })
}

/// The day that an expression begins with, and the rest.
fn leading_day(text: &str) -> Result<Option<(DayExpr, &str)>, BadExpression> {
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let day = match word.to_ascii_lowercase().as_str() {
        "today" => Some(DayExpr::Today),
        "yesterday" => Some(DayExpr::Yesterday),
        word => weekday_named(word).map(DayExpr::Last),
    };
    if let Some(day) = day {
        return Ok(Some((day, rest)));
    }
    let Some(length) = date_length(text) else { return Ok(None) };
    let (date, rest) = text.split_at(length);
    Ok(Some((DayExpr::Date(self::date(date)?), rest)))
}

/// The length of a leading date: four digits, and twice a dash with one or two more.
fn date_length(text: &str) -> Option<usize> {
    let digits =
        |from: usize| text.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = digits(0);
    (at == 4).then_some(())?;
    for _ in 0..2 {
        (text.as_bytes().get(at) == Some(&b'-')).then_some(())?;
        let more = digits(at + 1);
        (1..=2).contains(&more).then_some(())?;
        at += 1 + more;
    }
    let is_over = text[at..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, 'T' | 't'));
    is_over.then_some(at)
}

fn date(text: &str) -> Result<Date, BadExpression> {
    let mut parts = text.split('-');
    let mut next = || parts.next().unwrap_or("");
    let year = next().parse().ok().filter(|year| *year > 0);
    let (month, day) = (next().parse().unwrap_or(0), next().parse().unwrap_or(0));
    let date = year.and_then(|year| Date::new(year, month, day).ok());
    date.ok_or_else(|| bad(text, "there is no such day"))
}

fn on_day(day: DayExpr, rest: &str) -> Result<TimeExpression, BadExpression> {
    let joined = rest.strip_prefix(['T', 't']);
    let time = joined.unwrap_or(rest).trim();
    if time.is_empty() && joined.is_none() {
        return Ok(TimeExpression::Day(day));
    }
    if time.is_empty() {
        return Err(bad(&format!("{day}{rest}"), "a time is missing behind the T"));
    }
    if let DayExpr::Date(date) = day
        && let Some((time, zone)) = split_zone(time, joined.is_some())
    {
        return instant(date, time, zone);
    }
    Ok(TimeExpression::Clock { span: span(time)?, day: Some(day) })
}

/// Splits a time from its zone. A dash usually makes a span; it is an offset only after seconds, which machines write,
/// with whole or half hours, and in one word with the date.
fn split_zone(time: &str, is_joined: bool) -> Option<(&str, &str)> {
    if time.ends_with(['Z', 'z']) {
        return Some(time.split_at(time.len() - 1));
    }
    if let Some(at) = time.find('+') {
        return Some(time.split_at(at));
    }
    let (clock, offset) = time.split_at(time.find('-').filter(|_| is_joined)?);
    let is_offset = matches!(offset.as_bytes(), [_, b'0'..=b'1', b'0'..=b'9', b':', b'0' | b'3', b'0']);
    (clock.matches(':').count() == 2 && is_offset && &offset[1..] <= "12:00").then_some((clock, offset))
}

fn instant(date: Date, time: &str, zone: &str) -> Result<TimeExpression, BadExpression> {
    // Fractions of a second distinguish no two turns.
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad(time, "a second's fraction is made of digits"));
    }
    let clock = clock(whole)?;
    let midnight = Timestamp::of_utc(date.at(0, 0, 0, 0)).plus_ms(-1000 * offset_seconds(zone)?);
    let at = |second: u32| midnight.plus_ms(1000 * i64::from(second));
    Ok(TimeExpression::Exact { from: at(clock.first_second()), until: at(clock.end()) })
}

fn offset_seconds(zone: &str) -> Result<i64, BadExpression> {
    if zone.eq_ignore_ascii_case("z") {
        return Ok(0);
    }
    let error = || bad(zone, "a zone is Z, +02:00 or -05:00");
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let is_plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = digits.parse().ok().filter(|_| is_plain).ok_or_else(error)?;
    let (hours, minutes) = (number / 100, number % 100);
    if hours > 14 || minutes > 59 {
        return Err(error());
    }
    Ok(sign * (hours * 3600 + minutes * 60))
}

fn span(text: &str) -> Result<ClockSpan, BadExpression> {
    let Some((from, to)) = ends(text) else {
        let clock = clock(text)?;
        return Ok(ClockSpan { from: clock, to: clock });
    };
    let from = clock(from)?;
    let to = if to.trim() == "24:00" { ClockTime::MIDNIGHT_AFTER } else { clock(to)? };
    Ok(ClockSpan { from, to })
}

/// The two ends of a span, in any notation.
fn ends(text: &str) -> Option<(&str, &str)> {
    ["..", "-", "–", "—", " to "].iter().find_map(|between| text.split_once(between))
}

fn clock(text: &str) -> Result<ClockTime, BadExpression> {
    let text = text.trim();
    let parts: Vec<&str> = text.split(':').collect();
    let digits = |part: &str, min_len: usize| {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (min_len..=2).contains(&part.len());
        part.parse::<u8>().ok().filter(|_| is_plain)
    };
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (digits(hour, 1), digits(minute, 2), Some(None)),
        [hour, minute, second] => (digits(hour, 1), digits(minute, 2), digits(second, 2).map(Some)),
        _ => (None, None, None),
    };
    let (Some(hour), Some(minute), Some(second)) = (hour, minute, second) else {
        return Err(bad(text, "a time is hours, minutes and perhaps seconds, two digits each"));
    };
    match (hour, minute, second.unwrap_or(0)) {
        (24.., _, _) => Err(bad(text, "hours go from 0 to 23")),
        (_, 60.., _) => Err(bad(text, "minutes go from 00 to 59")),
        (_, _, 60..) => Err(bad(text, "seconds go from 00 to 59")),
        _ => Ok(ClockTime { hour, minute, second }),
    }
}

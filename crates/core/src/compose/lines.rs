//! Older turns, as one line each: the newest are kept, the oldest come first.
//!
//! It says how many there are before the first, and how to list them.

use super::cut::one_line;
use super::frame::{Section, short};
use super::{Budget, OlderTurn, Part, PartKind, PartState, Past, is_worth_giving};

/// Longer lines are cut: they are to be read at a glance.
const LONGEST_LINE: usize = 200;

/// The room that the lines of all turns would take, as far as `room` reaches.
pub fn wanted(past: &Past, room: Budget) -> usize {
    let mut size = 0;
    for line in newest_first(past, past.turns.len()) {
        size += room.size_of(&line);
        if size >= room.limit() {
            break;
        }
    }
    size
}

/// Returns the lines of the turns before `first`, as many as `room` holds.
pub fn section(past: &Past, first: usize, program: &str, room: Budget) -> Section {
    let session = short(past.session.id.as_str());
    let title = format!("\nOlder turns ({program} detail {session}#N):\n");
    let before = |number: usize| format!("{number} turns before these: {program} turns {session}\n");
    let in_all = newest_first(past, first).count();
    let unlisted = (past.turns_in_all as usize).saturating_sub(past.turns.len() + past.older.len());
    let why = "what was done before, a line for each turn".to_owned();
    let Some(mut left) = room.limit().checked_sub(room.size_of(&title) + room.size_of(&before(usize::MAX)))
    else {
        return Section { parts: left_out(why, in_all), ..Section::default() };
    };
    let mut kept = vec![];
    for line in newest_first(past, first) {
        let Some(rest) = left.checked_sub(room.size_of(&line)) else { break };
        left = rest;
        kept.push(line);
    }
    let missing = in_all - kept.len() + unlisted;
    if kept.is_empty() && missing == 0 {
        return Section::default();
    }
    kept.reverse();
    let more = if missing > 0 { before(missing) } else { String::new() };
    let text = title + &more + &kept.concat();
    let size = room.size_of(&text);
    let state = if missing > 0 { PartState::Cut } else { PartState::Whole };
    Section { text, size, parts: vec![Part { what: PartKind::OlderLines, why, size, state }] }
}

fn left_out(why: String, number: usize) -> Vec<Part> {
    if number == 0 {
        return vec![];
    }
    vec![Part { what: PartKind::OlderLines, why, size: 0, state: PartState::LeftOut }]
}

/// The lines of the turns before `first`, newest first.
fn newest_first(past: &Past, first: usize) -> impl Iterator<Item = String> + '_ {
    let session = short(past.session.id.as_str());
    let turns = past.turns[..first.min(past.turns.len())].iter().rev();
    let turns =
        turns.filter(|turn| is_worth_giving(turn.origin)).map(|turn| (&turn.id, &turn.clock, &turn.line));
    let older = past.older.iter().rev().filter(|turn: &&OlderTurn| is_worth_giving(turn.origin));
    let older = older.map(|turn| (&turn.id, &turn.clock, &turn.line));
    turns.chain(older).map(move |(id, clock, line)| {
        let number = id.strip_prefix(session).filter(|rest| rest.starts_with('#')).unwrap_or(id);
        format!("{number} {clock} {}\n", one_line(line, LONGEST_LINE))
    })
}

//! Lines about turns: older turns with one line each, the newest kept and the oldest printed first; how a turn ended.
//!
//! A line above them counts the turns that were left out and names the command that lists them.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::material::{OlderTurn, PastSession, PastTurn};
use super::section::{ContextPartKind, ContextPartState, ContextSection, MAX_CLOCK_CHARS, MAX_NAME_CHARS};
use crate::id::SessionKey;
use crate::piece::StopReason;
use std::borrow::Cow;

/// Longer lines are cut, so that each can be read at a glance.
pub const MAX_LINE_CHARS: usize = 200;

/// Further kinds can be listed with the command.
const MAX_DETAIL_KINDS: usize = 12;
const MAX_SUFFIX_CHARS: usize = 160;

/// Lines of one session's turns, to be listed.
pub struct Listing<'a, I: Iterator<Item = String>> {
    pub what: ContextPartKind,
    pub why: &'static str,
    pub title: String,
    pub session: &'a SessionKey,
    pub newest_first: I,
    /// Number of turns in all, listed or not.
    pub in_all: usize,
}

impl<I: Iterator<Item = String>> Listing<'_, I> {
    /// As many lines as `room` holds.
    pub fn section(self, program: &str, room: ContextBudget) -> ContextSection {
        if self.in_all == 0 {
            return ContextSection::default();
        }
        let session = self.session.short();
        let earlier = |number: usize| format!("({number} earlier: {program} turns {session})\n");
        let frame = room.size_of(&self.title) + room.size_of(&earlier(self.in_all));
        let Some(left) = room.limit().checked_sub(frame) else {
            return ContextSection::left_out(self.what, self.why);
        };
        let kept = fitting(self.newest_first, room.of(left));
        let missing = self.in_all.saturating_sub(kept.lines.len());
        let (more, state) = match missing {
            0 => (String::new(), ContextPartState::Whole),
            missing => (earlier(missing), ContextPartState::Cut),
        };
        let size = room.size_of(&self.title) + room.size_of(&more) + kept.size;
        let text = [self.title, more].into_iter().chain(kept.lines).collect();
        ContextSection::of(self.what, self.why, text, size, state)
    }
}

/// The size of the lines of all turns, as far as `room` reaches.
pub fn needed_size(past: &PastSession, room: ContextBudget) -> usize {
    fitting(newest_first(past, past.turns.len()), room).size
}

/// The lines of the turns before `first`, as many as `room` holds.
pub fn section(past: &PastSession, first: usize, program: &str, room: ContextBudget) -> ContextSection {
    let is_worth = |turn: &&PastTurn| turn.origin.is_work();
    let given = past.turns[first..].iter().filter(is_worth).count();
    let listed = past.turns[..first].iter().filter(is_worth).count() + turns_to_give(&past.older).count();
    let listing = Listing {
        what: ContextPartKind::OlderLines,
        why: "what was done before, a line for each turn",
        title: "\nOlder turns, oldest first:\n".into(),
        session: &past.session,
        newest_first: newest_first(past, first),
        in_all: (past.turns_in_all as usize).saturating_sub(given).max(listed),
    };
    listing.section(program, room)
}

/// A turn on one line. Its number is enough of an id if the session is clear from the context.
pub fn line(session: &SessionKey, id: &str, clock: &str, line: &str) -> String {
    let (clock, line) = (one_line(clock, MAX_CLOCK_CHARS), one_line(line, MAX_LINE_CHARS));
    [&number(session, id), " ", &clock, " ", &line, "\n"].concat()
}

/// `#12` for a turn of this session, else its id.
pub fn number<'a>(session: &SessionKey, id: &'a str) -> Cow<'a, str> {
    let number = id.strip_prefix(session.short()).filter(|rest| rest.starts_with('#'));
    one_line(number.unwrap_or(id), MAX_NAME_CHARS)
}

pub fn older<'a>(session: &'a SessionKey, turns: &'a [OlderTurn]) -> impl Iterator<Item = String> + 'a {
    turns_to_give(turns).rev().map(|turn| line(session, &turn.id, &turn.clock, &turn.line))
}

pub fn turns_to_give(turns: &[OlderTurn]) -> impl DoubleEndedIterator<Item = &OlderTurn> {
    turns.iter().filter(|turn| turn.origin.is_work())
}

/// The lines of the turns before `first`, newest first.
fn newest_first(past: &PastSession, first: usize) -> impl Iterator<Item = String> + '_ {
    let worth = past.turns[..first].iter().rev().filter(|turn| turn.origin.is_work());
    let turns = worth.map(|turn| line(&past.session, &turn.id, &turn.clock, &turn.line));
    turns.chain(older(&past.session, &past.older))
}

struct FittedLines {
    lines: Vec<String>,
    size: usize,
}

/// The longest prefix of `newest_first` that fits, reversed into reading order.
fn fitting(newest_first: impl Iterator<Item = String>, room: ContextBudget) -> FittedLines {
    let mut kept = FittedLines { lines: vec![], size: 0 };
    for line in newest_first {
        let size = kept.size + room.size_of(&line);
        if size > room.limit() {
            break;
        }
        kept.size = size;
        kept.lines.push(line);
    }
    kept.lines.reverse();
    kept
}

/// How a turn ended, if it has no answer, and its details.
pub fn end_of(turn: &PastTurn) -> String {
    ending(turn.stopped).to_owned() + &suffix(turn).unwrap_or_default()
}

/// The details of a turn and the command that shows them, or `None` without details.
fn suffix(turn: &PastTurn) -> Option<String> {
    if turn.details.is_empty() {
        return None;
    }
    let name = |(kind, count): &(String, u32)| format!("{} ×{count}", one_line(kind, MAX_NAME_CHARS));
    let names: Vec<String> = turn.details.iter().take(MAX_DETAIL_KINDS).map(name).collect();
    let (names, id) = (names.join(", "), one_line(&turn.id, MAX_NAME_CHARS));
    Some(format!("({}: detail {id})\n", one_line(&names, MAX_SUFFIX_CHARS)))
}

fn ending(stopped: Option<StopReason>) -> &'static str {
    match stopped {
        None => "",
        Some(StopReason::Interrupted) => "(interrupted by the person)\n",
        Some(StopReason::Failed) => "(ended by an error)\n",
        Some(StopReason::Limited) => "(stopped by a usage limit)\n",
    }
}

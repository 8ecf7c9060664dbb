//! Lines about turns: older turns with one line each, shortened to fit and printed oldest first; how a turn ended.
//!
//! If not even short lines fit, the oldest are left out: a line counts them and names the command that lists them.

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

/// Widths of a line in characters, tried from the longest: lines are shortened before one is left out.
const WIDTHS: [usize; 8] = [MAX_LINE_CHARS, 140, 100, 70, 50, 36, 24, NARROWEST];
const NARROWEST: usize = 16;

/// Shorter lines go without the time.
const MIN_CHARS_WITH_CLOCK: usize = 50;

const TITLE: &str = "\nOlder turns, oldest first:\n";

/// A turn to be listed.
#[derive(Clone, Copy)]
pub struct TurnLine<'a> {
    id: &'a str,
    clock: &'a str,
    line: &'a str,
}

/// Lines of one session's turns, to be listed.
pub struct Listing<'a> {
    pub what: ContextPartKind,
    pub why: &'static str,
    pub title: String,
    pub session: &'a SessionKey,
    pub newest_first: Vec<TurnLine<'a>>,
    /// Number of turns in all, listed or not.
    pub in_all: usize,
}

impl Listing<'_> {
    /// A line for each turn, as long as `room` allows. If not even short ones fit, the oldest are left out.
    pub fn section(self, program: &str, room: ContextBudget) -> ContextSection {
        if self.in_all == 0 {
            return ContextSection::default();
        }
        let title = room.size_of(&self.title);
        let kept_beside = |note: usize| {
            let left = room.limit().checked_sub(title + note)?;
            Some(fitting(self.session, &self.newest_first, room.of(left)))
        };
        // The note needs room only if a line is missing.
        let all = kept_beside(0).filter(|kept| kept.lines.len() >= self.in_all);
        let note = || room.size_of(&earlier(self.session, program, self.in_all));
        let Some(kept) = all.or_else(|| kept_beside(note())) else {
            return ContextSection::left_out(self.what, self.why);
        };
        let missing = self.in_all.saturating_sub(kept.lines.len());
        let more = if missing == 0 { String::new() } else { earlier(self.session, program, missing) };
        let state =
            if missing == 0 && !kept.is_shortened { ContextPartState::Whole } else { ContextPartState::Cut };
        let size = title + room.size_of(&more) + kept.size;
        let text = [self.title, more].into_iter().chain(kept.lines).collect();
        ContextSection::of(self.what, self.why, text, size, state)
    }
}

/// The line that counts the turns left out.
fn earlier(session: &SessionKey, program: &str, number: usize) -> String {
    format!("({number} earlier: {program} session turns {})\n", session.short())
}

/// The room to reserve for the lines of all turns: a third of `room`, or half of it if that keeps every turn.
pub fn needed_size(past: &PastSession, program: &str, room: ContextBudget) -> usize {
    let lines: Vec<TurnLine<'_>> = of_session(past, past.turns.len()).collect();
    let is_complete = lines.len() >= past.turns_in_all as usize;
    let note = if is_complete { 0 } else { room.size_of(&earlier(&past.session, program, lines.len())) };
    let frame = room.size_of(TITLE) + note;
    let share = |whole: usize| room.of(room.share(1, whole).limit().saturating_sub(frame));
    let in_third = fitting(&past.session, &lines, share(3));
    let in_half = || fitted_at(&past.session, &lines, NARROWEST, share(2));
    let kept = if in_third.lines.len() < lines.len() { in_half() } else { in_third };
    if kept.lines.len() < lines.len() { room.share(1, 3).limit() } else { kept.size + frame }
}

/// The lines of the turns before `first`, as many as `room` holds.
pub fn section(past: &PastSession, first: usize, program: &str, room: ContextBudget) -> ContextSection {
    let given = past.turns[first..].iter().filter(|turn| turn.origin.is_work()).count();
    let newest_first: Vec<TurnLine<'_>> = of_session(past, first).collect();
    let listing = Listing {
        what: ContextPartKind::OlderLines,
        why: "what was done before, a line for each turn",
        title: TITLE.into(),
        session: &past.session,
        in_all: (past.turns_in_all as usize).saturating_sub(given).max(newest_first.len()),
        newest_first,
    };
    listing.section(program, room)
}

/// A turn on one line. Its number is enough of an id if the session is clear from the context.
fn line(session: &SessionKey, turn: TurnLine<'_>, width: usize) -> String {
    let clock = if width < MIN_CHARS_WITH_CLOCK { "" } else { turn.clock };
    let (clock, line) = (one_line(clock, MAX_CLOCK_CHARS), one_line(turn.line, width));
    let space = if clock.is_empty() { "" } else { " " };
    [&number(session, turn.id), space, &clock, " ", &line, "\n"].concat()
}

/// `#12` for a turn of this session, else its id.
pub fn number<'a>(session: &SessionKey, id: &'a str) -> Cow<'a, str> {
    let number = id.strip_prefix(session.short()).filter(|rest| rest.starts_with('#'));
    one_line(number.unwrap_or(id), MAX_NAME_CHARS)
}

/// The turns with a request, newest first.
pub fn older(turns: &[OlderTurn]) -> impl Iterator<Item = TurnLine<'_>> {
    let worth = turns.iter().rev().filter(|turn| turn.origin.is_work());
    worth.map(|turn| TurnLine { id: &turn.id, clock: &turn.clock, line: &turn.line })
}

/// The turns before `first`, newest first.
pub fn of_session(past: &PastSession, first: usize) -> impl Iterator<Item = TurnLine<'_>> {
    let worth = past.turns[..first].iter().rev().filter(|turn| turn.origin.is_work());
    let turns = worth.map(|turn| TurnLine { id: &turn.id, clock: &turn.clock, line: &turn.line });
    turns.chain(older(&past.older))
}

struct FittedLines {
    lines: Vec<String>,
    size: usize,
    is_shortened: bool,
}

/// The lines in the greatest of the widths in which they fit. Narrower ones never take more room.
fn greatest(all_at: impl Fn(&usize) -> Option<FittedLines>) -> Option<FittedLines> {
    let first = WIDTHS.partition_point(|width| all_at(width).is_none());
    WIDTHS.get(first).and_then(all_at)
}

/// All lines in the greatest width in which they fit, else as many of the shortest ones as fit; in reading order. Room that
/// is left then lengthens the newest.
fn fitting(session: &SessionKey, newest_first: &[TurnLine<'_>], room: ContextBudget) -> FittedLines {
    let all_at = |width: &usize| {
        let fitted = fitted_at(session, newest_first, *width, room);
        (fitted.lines.len() == newest_first.len()).then_some(fitted)
    };
    let narrowest = || fitted_at(session, newest_first, NARROWEST, room);
    let mut fitted = all_at(&MAX_LINE_CHARS).or_else(|| greatest(all_at)).unwrap_or_else(narrowest);
    let shortened = if fitted.is_shortened { &mut fitted.lines[..] } else { &mut [] };
    for (short, turn) in shortened.iter_mut().rev().zip(newest_first) {
        let long = line(session, *turn, MAX_LINE_CHARS);
        let size = fitted.size + room.size_of(&long) - room.size_of(short);
        if size > room.limit() {
            break;
        }
        (*short, fitted.size) = (long, size);
    }
    fitted
}

/// The longest prefix of `newest_first` that fits in lines of this width, reversed into reading order.
fn fitted_at(
    session: &SessionKey,
    newest_first: &[TurnLine<'_>],
    width: usize,
    room: ContextBudget,
) -> FittedLines {
    let mut kept = FittedLines { lines: vec![], size: 0, is_shortened: width < MAX_LINE_CHARS };
    for turn in newest_first {
        let line = line(session, *turn, width);
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

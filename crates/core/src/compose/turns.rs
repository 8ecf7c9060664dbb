//! The last turns, whole: chosen newest first, printed oldest first.
//!
//! Only the oldest of them may be cut. Turns without information about the work are skipped.

use super::anchor::WorkAnchor;
use super::budget::ContextBudget;
use super::cut::{fitted, one_line, plain};
use super::lines::{MAX_LINE_CHARS, end_of, number};
use super::material::{PastSession, PastTurn, TurnMessage};
use super::section::{
    ContextPart, ContextPartKind, ContextPartState, ContextSection, MAX_CLOCK_CHARS, MAX_NAME_CHARS,
};
use crate::capture::Speaker;
use crate::event::PromptOrigin;

const TITLE: &str = "\nThe last turns, oldest first:\n";

/// A smaller share of the room is too little for a cut turn.
const MIN_ROOM_DIVISOR: usize = 8;

struct ChosenTurns {
    /// Newest first.
    texts: Vec<String>,
    parts: Vec<ContextPart>,
    /// The index of the oldest turn that was chosen or skipped.
    first: usize,
}

/// Returns the section and the index of its first turn; turns before that index are listed as older.
pub fn section(
    past: &PastSession,
    anchor: &WorkAnchor<'_>,
    program: &str,
    room: ContextBudget,
) -> (ContextSection, usize) {
    let left = room.limit().saturating_sub(room.size_of(TITLE));
    let ChosenTurns { mut texts, mut parts, first } = chosen(past, anchor, program, room.of(left));
    if texts.is_empty() {
        return (ContextSection::default(), first);
    }
    texts.push(TITLE.to_owned());
    texts.reverse();
    parts.reverse();
    let size = room.size_of(TITLE) + parts.iter().map(|part| part.size).sum::<usize>();
    (ContextSection { size, text: texts.concat(), parts }, first)
}

/// Whether the section gives this one of the turns from its first on uncut.
pub fn gives_whole(section: &ContextSection, shown: &[PastTurn], turn: &PastTurn) -> bool {
    let is_cut = section.parts.first().is_some_and(|part| part.state == ContextPartState::Cut);
    shown.iter().skip(usize::from(is_cut)).any(|shown| shown.id == turn.id)
}

fn chosen(past: &PastSession, anchor: &WorkAnchor<'_>, program: &str, room: ContextBudget) -> ChosenTurns {
    let mut choice = ChosenTurns { texts: vec![], parts: vec![], first: past.turns.len() };
    let mut left = room.limit();
    for (index, turn) in past.turns.iter().enumerate().rev() {
        let mut state = ContextPartState::Whole;
        if turn.origin.is_work() && !is_covered(past, index, anchor) {
            let text = whole(past, index, anchor);
            let (text, size) = match room.of(left).size_if_held(&text) {
                Some(size) => (text, size),
                None if left < room.limit() / MIN_ROOM_DIVISOR => break,
                None => {
                    state = ContextPartState::Cut;
                    let head = title(past, turn);
                    let shorter = cut(turn, &text, program, room.of(left));
                    let Some(shorter) = shorter.filter(|(text, _)| text.starts_with(&head)) else { break };
                    shorter
                }
            };
            left -= size;
            choice.texts.push(text);
            choice.parts.push(part(turn, size, state));
        }
        choice.first = index;
        if state == ContextPartState::Cut {
            break;
        }
    }
    choice
}

fn is_covered(past: &PastSession, index: usize, anchor: &WorkAnchor<'_>) -> bool {
    let turn = &past.turns[index];
    let is_given =
        |(at, word): (usize, &TurnMessage)| anchor.covers(past, index, at) || word.text.trim().is_empty();
    let is_quoted = !turn.words.is_empty() && turn.words.iter().enumerate().all(is_given);
    is_quoted && anchor.other_answer(past, index).is_none()
}

fn whole(past: &PastSession, index: usize, anchor: &WorkAnchor<'_>) -> String {
    let turn = &past.turns[index];
    let mut text = title(past, turn);
    for (at, words) in turn.words.iter().enumerate() {
        if anchor.covers(past, index, at) {
            text.extend([speaker(words.speaker), ": (above)\n"]);
        } else if words.text.contains(char::is_alphanumeric) {
            text.extend([speaker(words.speaker), ": ", &plain(&words.text), "\n"]);
        }
    }
    if let Some(answer) = anchor.other_answer(past, index) {
        text.extend([speaker(Speaker::Agent), ": ", &plain(answer), "\n"]);
    }
    if turn.words.is_empty() {
        text.extend([&one_line(&turn.line, MAX_LINE_CHARS), "\n"]);
    }
    if !anchor.includes_end_of(past, index) {
        text.push_str(&end_of(turn));
    }
    text
}

/// The part of a turn that fits, and its size.
fn cut(turn: &PastTurn, text: &str, program: &str, room: ContextBudget) -> Option<(String, usize)> {
    let how = format!("{program} session detail {}", one_line(&turn.id, MAX_NAME_CHARS));
    let text = fitted(text, &how, room.of(room.limit().saturating_sub(1)))?.text + "\n";
    let size = room.size_if_held(&text)?;
    Some((text, size))
}

fn title(past: &PastSession, turn: &PastTurn) -> String {
    let is_typed = turn.origin == PromptOrigin::Continuation;
    let origin = if is_typed { ", typed in the person's place" } else { "" };
    let (number, clock) = (number(&past.session, &turn.id), one_line(&turn.clock, MAX_CLOCK_CHARS));
    ["[", &number, " ", &clock, origin, "]\n"].concat()
}

fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Person => "Person",
        Speaker::Agent => "Agent",
    }
}

fn part(turn: &PastTurn, size: usize, state: ContextPartState) -> ContextPart {
    let why = format!("one of the last turns: {}", one_line(&turn.id, MAX_NAME_CHARS));
    ContextPart { what: ContextPartKind::Turn, why, size, state }
}

//! The last turns, whole: chosen newest first, printed oldest first.
//!
//! Only the oldest of them may be cut. Turns that say nothing about the work are passed over.

use super::anchor::Anchor;
use super::cut::{fitted, one_line, plain};
use super::frame::{LONGEST_CLOCK, LONGEST_NAME, Section};
use super::lines::{LONGEST_LINE, number};
use super::{Budget, Part, PartKind, PartState, Past, PastTurn, Speaker, is_worth_giving};
use crate::event::Origin;
use crate::piece::Stop;

const TITLE: &str = "\nThe last turns, oldest first:\n";

/// What is behind them can be asked for.
const MOST_KINDS: usize = 12;
const LONGEST_SUFFIX: usize = 160;

/// Below this share of the room a cut turn would be a shred.
const LEAST_SHARE: usize = 8;

/// What is chosen among the last turns.
struct Choice {
    /// Newest first.
    texts: Vec<String>,
    parts: Vec<Part>,
    /// The index of the oldest that is chosen, or passed over on the way.
    first: usize,
}

/// Returns the section, and the index of the first turn that is done with: those before it are older.
pub fn section(past: &Past, anchor: &Anchor<'_>, program: &str, room: Budget) -> (Section, usize) {
    let left = room.limit().saturating_sub(room.size_of(TITLE));
    let Choice { mut texts, mut parts, first } = chosen(past, anchor, program, room.of(left));
    if texts.is_empty() {
        return (Section::default(), first);
    }
    texts.push(TITLE.to_owned());
    texts.reverse();
    parts.reverse();
    let size = room.size_of(TITLE) + parts.iter().map(|part| part.size).sum::<usize>();
    (Section { size, text: texts.concat(), parts }, first)
}

fn chosen(past: &Past, anchor: &Anchor<'_>, program: &str, room: Budget) -> Choice {
    let mut choice = Choice { texts: vec![], parts: vec![], first: past.turns.len() };
    let mut left = room.limit();
    for (index, turn) in past.turns.iter().enumerate().rev() {
        let mut state = PartState::Whole;
        if is_worth_giving(turn.origin) && !is_covered(turn, index, anchor) {
            let text = whole(past, index, anchor);
            let (text, size) = match room.of(left).size_if_held(&text) {
                Some(size) => (text, size),
                None if left < room.limit() / LEAST_SHARE => break,
                None => {
                    state = PartState::Cut;
                    let Some(shorter) = cut(turn, &text, program, room.of(left)) else { break };
                    shorter
                }
            };
            left -= size;
            choice.texts.push(text);
            choice.parts.push(part(turn, size, state));
        }
        choice.first = index;
        if state == PartState::Cut {
            break;
        }
    }
    choice
}

/// How a turn ended, if not by an answer, and what details it has.
pub fn end_of(turn: &PastTurn) -> String {
    ending(turn.stopped).to_owned() + &suffix(turn).unwrap_or_default()
}

/// The details of a turn and how to ask for them, as the header says it; none if it has none.
fn suffix(turn: &PastTurn) -> Option<String> {
    if turn.details.is_empty() {
        return None;
    }
    let name = |(kind, count): &(String, u32)| format!("{} ×{count}", one_line(kind, LONGEST_NAME));
    let names: Vec<String> = turn.details.iter().take(MOST_KINDS).map(name).collect();
    let (names, id) = (names.join(", "), one_line(&turn.id, LONGEST_NAME));
    Some(format!("({}: detail {id})\n", one_line(&names, LONGEST_SUFFIX)))
}

fn is_covered(turn: &PastTurn, index: usize, anchor: &Anchor<'_>) -> bool {
    let is_given =
        |(at, word): (usize, &super::Words)| anchor.covers(index, at) || word.text.trim().is_empty();
    !turn.words.is_empty() && turn.words.iter().enumerate().all(is_given)
}

fn whole(past: &Past, index: usize, anchor: &Anchor<'_>) -> String {
    let turn = &past.turns[index];
    let mut text = title(past, turn);
    for (at, words) in turn.words.iter().enumerate() {
        if anchor.covers(index, at) {
            text.extend([speaker(words.speaker), ": (above)\n"]);
        } else if !words.text.trim().is_empty() {
            text.extend([speaker(words.speaker), ": ", &plain(&words.text), "\n"]);
        }
    }
    if turn.words.is_empty() {
        text.extend([&one_line(&turn.line, LONGEST_LINE), "\n"]);
    }
    if !anchor.tells_the_end_of(index) {
        text.push_str(&end_of(turn));
    }
    text
}

/// What fits of a turn, and its size.
fn cut(turn: &PastTurn, text: &str, program: &str, room: Budget) -> Option<(String, usize)> {
    let how = format!("{program} detail {}", one_line(&turn.id, LONGEST_NAME));
    let text = fitted(text, &how, room.of(room.limit().saturating_sub(1)))?.text + "\n";
    let size = room.size_if_held(&text)?;
    Some((text, size))
}

fn title(past: &Past, turn: &PastTurn) -> String {
    let origin = match turn.origin {
        Origin::Human | Origin::Command | Origin::Notification | Origin::Bookmark => "",
        Origin::Continuation => ", typed in the person's place",
    };
    let (number, clock) = (number(&past.session, &turn.id), one_line(&turn.clock, LONGEST_CLOCK));
    ["[", &number, " ", &clock, origin, "]\n"].concat()
}

fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Person => "Person",
        Speaker::Agent => "Agent",
    }
}

fn ending(stopped: Option<Stop>) -> &'static str {
    match stopped {
        None => "",
        Some(Stop::Interrupted) => "(interrupted by the person)\n",
        Some(Stop::Failed) => "(ended by an error)\n",
        Some(Stop::Limited) => "(stopped by a usage limit)\n",
    }
}

fn part(turn: &PastTurn, size: usize, state: PartState) -> Part {
    let why = format!("one of the last turns: {}", one_line(&turn.id, LONGEST_NAME));
    Part { what: PartKind::Turn, why, size, state }
}

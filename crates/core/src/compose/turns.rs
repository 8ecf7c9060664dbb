//! The last turns, whole: chosen newest first, printed oldest first.
//!
//! Only the oldest of them may be cut. Turns that say nothing about the work are passed over.

use super::anchor::Anchor;
use super::cut::fitted;
use super::frame::Section;
use super::{Budget, Part, PartKind, PartState, Past, PastTurn, Speaker, is_worth_giving};
use crate::event::Origin;
use crate::piece::Stop;

const TITLE: &str = "\nThe last turns, oldest first:\n";

/// Below this share of the room a cut turn would be a shred.
const LEAST_SHARE: usize = 8;

/// Returns the section, and the index of the first turn that it holds or the anchor covers: those before it are older.
pub fn section(past: &Past, anchor: &Anchor<'_>, program: &str, room: Budget) -> (Section, usize) {
    let mut left = room.limit().saturating_sub(room.size_of(TITLE));
    let mut chosen = vec![];
    let mut first = past.turns.len();
    for (index, turn) in past.turns.iter().enumerate().rev() {
        if !is_worth_giving(turn.origin) || is_covered(turn, index, anchor) {
            first = index;
            continue;
        }
        let text = whole(turn, index, anchor, program);
        let size = room.size_of(&text);
        if size > left {
            if let Some((text, size)) = cut(turn, &text, program, room.of(left), room.limit() / LEAST_SHARE) {
                chosen.push((text, part(turn, size, PartState::Cut)));
                first = index;
            }
            break;
        }
        left -= size;
        first = index;
        chosen.push((text, part(turn, size, PartState::Whole)));
    }
    if chosen.is_empty() {
        return (Section::default(), first);
    }
    chosen.reverse();
    let (texts, parts): (Vec<String>, Vec<Part>) = chosen.into_iter().unzip();
    let text = TITLE.to_owned() + &texts.concat();
    (Section { size: room.size_of(&text), text, parts }, first)
}

/// The details of a turn and the command that gives them; none if it has none.
pub fn suffix(turn: &PastTurn, program: &str) -> Option<String> {
    const MOST: usize = 8;
    if turn.details.is_empty() {
        return None;
    }
    let name = |(kind, count): &(String, u32)| format!("{} ×{count}", super::cut::one_line(kind, 40));
    let mut names: Vec<String> = turn.details.iter().take(MOST).map(name).collect();
    if turn.details.len() > MOST {
        names.push("…".into());
    }
    Some(format!("({}: {program} detail {})\n", names.join(", "), turn.id))
}

fn is_covered(turn: &PastTurn, index: usize, anchor: &Anchor<'_>) -> bool {
    let is_given =
        |(at, word): (usize, &super::Words)| anchor.covers(index, at) || word.text.trim().is_empty();
    !turn.words.is_empty() && turn.words.iter().enumerate().all(is_given)
}

fn whole(turn: &PastTurn, index: usize, anchor: &Anchor<'_>, program: &str) -> String {
    let mut text = title(turn);
    for (at, words) in turn.words.iter().enumerate() {
        if anchor.covers(index, at) {
            text.push_str(&format!("{}: (above)\n", speaker(words.speaker)));
        } else if !words.text.trim().is_empty() {
            text.push_str(&format!("{}: {}\n", speaker(words.speaker), super::cut::plain(&words.text)));
        }
    }
    text.push_str(ending(turn.stopped));
    if !anchor.names_details_of(index) {
        text.push_str(&suffix(turn, program).unwrap_or_default());
    }
    text
}

fn cut(turn: &PastTurn, text: &str, program: &str, room: Budget, least: usize) -> Option<(String, usize)> {
    if room.limit() < least {
        return None;
    }
    let how = format!("{program} detail {}", turn.id);
    let text = fitted(text, &how, room.of(room.limit().saturating_sub(1)))?.text + "\n";
    let size = room.size_of(&text);
    (size <= room.limit()).then_some((text, size))
}

fn title(turn: &PastTurn) -> String {
    let origin = match turn.origin {
        Origin::Human | Origin::Command | Origin::Notification | Origin::Bookmark => "",
        Origin::Continuation => ", typed in the person's place",
    };
    format!("[{} {}{origin}]\n", turn.id, turn.clock)
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
    Part { what: PartKind::Turn, why: format!("one of the last turns: {}", turn.id), size, state }
}

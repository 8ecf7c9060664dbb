//! The chain: the sessions whose work led to the last one, each with its first and last directive and lines of its turns.
//!
//! The heads come first and are shortened before one is left out; lines fill the room that nothing else needs.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::directive::{Directive, first, last};
use super::lines::{Listing, TurnLine, of_session};
use super::material::PastSession;
use super::section::{ContextPartKind, ContextPartState, ContextSection, MAX_CLOCK_CHARS};

const WHY: &str = "the sessions before that one";
const TITLE: &str = "\nThe sessions before it, newest first:\n";

/// Characters of each directive, tried from the longest.
const WIDTHS: [usize; 4] = [160, 100, 60, 30];

/// The names of the sessions, for the header; empty without a chain.
pub fn names(chain: &[PastSession]) -> String {
    let names: Vec<&str> = chain.iter().map(|past| past.session.short()).collect();
    if names.is_empty() { String::new() } else { format!("It went on from: {}.\n", names.join(", ")) }
}

/// The heads of the sessions, as far as `room` holds them, in their order, without directives that are given elsewhere.
pub fn heads(
    chain: &[PastSession],
    is_given: &dyn Fn(&Directive<'_>) -> bool,
    program: &str,
    room: ContextBudget,
) -> Vec<String> {
    let left = room.limit().saturating_sub(room.size_of(TITLE));
    let fit = |width: usize| {
        let mut size = 0;
        let heads = chain.iter().map(move |past| head(past, is_given, program, width));
        let held = heads.take_while(move |head| {
            size += room.size_of(head);
            size <= left
        });
        held.collect::<Vec<_>>()
    };
    let mut heads = vec![];
    for width in WIDTHS {
        heads = fit(width);
        if heads.len() == chain.len() {
            break;
        }
    }
    heads
}

/// The size of the section without lines.
pub fn size(heads: &[String], room: ContextBudget) -> usize {
    let of_heads: usize = heads.iter().map(|head| room.size_of(head)).sum();
    if heads.is_empty() { 0 } else { room.size_of(TITLE) + of_heads }
}

/// The heads, each followed by as many lines of its turns as `room` holds; the newest session takes first.
pub fn section(
    chain: &[PastSession],
    heads: &[String],
    program: &str,
    room: ContextBudget,
) -> ContextSection {
    let mut size = size(heads, room);
    if heads.is_empty() || size > room.limit() {
        let is_empty = chain.is_empty();
        return if is_empty {
            ContextSection::default()
        } else {
            ContextSection::left_out(ContextPartKind::Chain, WHY)
        };
    }
    let (mut text, mut state) = (TITLE.to_owned(), ContextPartState::Whole);
    for (past, head) in chain.iter().zip(heads) {
        let lines = listing(past).section(program, room.of(room.limit() - size));
        size += lines.size;
        text.extend([head.as_str(), &lines.text]);
        if lines.parts.iter().any(|part| part.state != ContextPartState::Whole) || heads.len() < chain.len() {
            state = ContextPartState::Cut;
        }
    }
    ContextSection::of(ContextPartKind::Chain, WHY, text, size, state)
}

fn listing(past: &PastSession) -> Listing<'_> {
    let newest_first: Vec<TurnLine<'_>> = of_session(past, past.turns.len()).collect();
    let in_all = newest_first.len().max(past.turns_in_all as usize);
    let (what, session, title) = (ContextPartKind::Chain, &past.session, String::new());
    Listing { what, why: WHY, title, session, newest_first, in_all }
}

fn head(
    past: &PastSession,
    is_given: &dyn Fn(&Directive<'_>) -> bool,
    program: &str,
    width: usize,
) -> String {
    let short = past.session.short();
    let mut text = format!(
        "{short} ({}, turns: {}: `{program} session turns {short}`)",
        one_line(&past.last_active, MAX_CLOCK_CHARS),
        past.turns_in_all
    );
    let (first, last) = (first(past), last(past));
    let is_same = first.zip(last).is_some_and(|(first, last)| first.turn.id == last.turn.id);
    for (title, directive) in [("first", first), ("last", last.filter(|_| !is_same))] {
        if let Some(directive) = directive.filter(|directive| !is_given(directive)) {
            text.extend([", ", title, " directive: “", &one_line(directive.text, width), "”"]);
        }
    }
    text + "\n"
}

//! The opening: how the work began, as the first directive of the chain of sessions and of its last session.
//!
//! Quotes the user's own words, cut if they are long. A directive that another section quotes is left out.

use super::budget::ContextBudget;
use super::cut::{fitted, missing, one_line};
use super::directive::{Directive, first};
use super::material::PastSession;
use super::section::{ContextPartKind, ContextPartState, ContextSection, MAX_CLOCK_CHARS, MAX_NAME_CHARS};

const WHY: &str = "how the work began: the first directive";

/// The first directive of the chain's oldest session and that of `past`, each with its title.
pub struct Opening<'a>([(&'static str, Option<Directive<'a>>); 2]);

impl<'a> Opening<'a> {
    pub fn of(past: &'a PastSession, chain: &'a [PastSession]) -> Opening<'a> {
        let of_work = chain.iter().rev().find_map(first);
        let title =
            if of_work.is_some() { "The first directive of that session" } else { "The first directive" };
        Opening([("The first directive of this work", of_work), (title, first(past))])
    }

    /// Without the directives that another section gives.
    pub fn without(self, is_given: impl Fn(&Directive<'_>) -> bool) -> Opening<'a> {
        Opening(self.0.map(|(title, directive)| (title, directive.filter(|directive| !is_given(directive)))))
    }

    pub fn gives(&self, directive: &Directive<'_>) -> bool {
        self.0.iter().any(|(_, own)| own.is_some_and(|own| own.turn.id == directive.turn.id))
    }

    /// Each directive in half of `room`.
    pub fn section(&self, program: &str, room: ContextBudget) -> ContextSection {
        let mut section = ContextSection::default();
        for (title, directive) in &self.0 {
            let Some(directive) = directive else { continue };
            let added = quoted(title, directive, program, room.share(1, 2));
            section.text.push_str(&added.text);
            section.size += added.size;
            section.parts.extend(added.parts);
        }
        section
    }
}

fn quoted(title: &str, directive: &Directive<'_>, program: &str, room: ContextBudget) -> ContextSection {
    let id = one_line(&directive.turn.id, MAX_NAME_CHARS);
    let title = format!("\n{title} ({id}, {}):\n", one_line(&directive.turn.clock, MAX_CLOCK_CHARS));
    let left = room.of(room.limit().saturating_sub(room.size_of(&title) + 1));
    let how = format!("{program} session detail {id}");
    let quote = fitted(directive.text, &how, left).or_else(|| missing(directive.text, &how, left));
    let Some(quote) = quote else { return ContextSection::left_out(ContextPartKind::Opening, WHY) };
    let text = title + &quote.text + "\n";
    let size = room.size_of(&text);
    let state = if quote.is_cut { ContextPartState::Cut } else { ContextPartState::Whole };
    ContextSection::of(ContextPartKind::Opening, WHY, text, size, state)
}

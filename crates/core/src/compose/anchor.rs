//! The anchor: the state of the work, as the user's last directive and the agent's last answer.
//!
//! Small talk is no directive. Messages quoted here are not repeated in the later sections.

use super::budget::ContextBudget;
use super::cut::{Fitted, fitted, missing, one_line};
use super::directive::{directives, is_at_work};
use super::lines::end_of;
use super::material::{PastSession, PastTurn, TurnMessage};
use super::section::{ContextPartKind, ContextPartState, ContextSection, MAX_CLOCK_CHARS, MAX_NAME_CHARS};
use crate::capture::Speaker;
use crate::event::PromptOrigin;
use std::iter;

const WHY: &str = "where the work stood: the last directive and the last answer";

/// A short reply refers to the last answer, which a fresh session has not seen.
const RULE: &str = "A short message of the person now (up to 50 characters, as \"go\", \"yes\", \"2\") answers that last \
                    answer.\n";

/// The anchor, cut to fit.
pub struct WorkAnchor<'a> {
    messages: LastMessages<'a>,
    /// `None` if there was no room for it, or the session has no message.
    given: Option<ContextSection>,
}

#[derive(Clone, Copy)]
struct LastMessages<'a> {
    directive: Option<Quote<'a>>,
    answer: Option<Quote<'a>>,
}

#[derive(Clone, Copy)]
struct Quote<'a> {
    past: &'a PastSession,
    turn: usize,
    /// `None` for a message that only a hook reported.
    word: Option<usize>,
    text: &'a str,
}

impl<'a> Quote<'a> {
    fn turn(&self) -> Option<&'a PastTurn> {
        self.past.turns.get(self.turn)
    }

    fn is_in(&self, past: &PastSession, turn: usize) -> bool {
        self.turn == turn && self.past.session == past.session
    }

    fn id(&self) -> String {
        let session = self.past.session.to_string();
        one_line(self.turn().map_or(&session, |turn| &turn.id), MAX_NAME_CHARS).into_owned()
    }
}

impl<'a> WorkAnchor<'a> {
    /// Of `past`; where it lacks a directive or nothing was done in it, of the session before.
    pub fn of(
        past: &'a PastSession,
        chain: &'a [PastSession],
        program: &str,
        room: ContextBudget,
    ) -> WorkAnchor<'a> {
        let messages = LastMessages::of(past, chain);
        let last_turn = messages.latest().and_then(|quote| quote.turn());
        let end = last_turn.map(end_of).unwrap_or_default();
        // An anchor without details is better than no anchor.
        let fit = |end: &str| messages.fitted(program, end, room);
        let given = fit(&end).or_else(|| fit(""));
        WorkAnchor { messages, given }
    }

    /// Whether the anchor quotes this message of this turn of `past`.
    pub fn covers(&self, past: &PastSession, turn: usize, word: usize) -> bool {
        let quotes_it =
            |quote: Option<Quote<'_>>| quote.is_some_and(|it| it.is_in(past, turn) && it.word == Some(word));
        self.given.is_some() && (quotes_it(self.messages.directive) || quotes_it(self.messages.answer))
    }

    /// The answer to this turn that only a hook reported, unless the anchor quotes it.
    pub fn other_answer<'b>(&self, past: &'b PastSession, turn: usize) -> Option<&'b str> {
        // Most sessions have none, and need no search for the last answer.
        past.answer_heard.as_ref()?;
        let reported = reported_by_hook(past, last_answer(past)).filter(|quote| quote.turn == turn)?;
        let quotes_it =
            self.messages.answer.is_some_and(|quote| quote.is_in(past, turn) && quote.word.is_none());
        (self.given.is_none() || !quotes_it).then_some(reported.text)
    }

    /// Whether the anchor includes how this turn ended and its details.
    pub fn includes_end_of(&self, past: &PastSession, turn: usize) -> bool {
        self.given.is_some() && self.messages.latest().is_some_and(|quote| quote.is_in(past, turn))
    }

    /// Whether the anchor quotes the directive of this turn.
    pub fn quotes(&self, turn: &PastTurn) -> bool {
        let quoted = self.messages.directive.and_then(|quote| quote.turn());
        self.given.is_some() && quoted.is_some_and(|quoted| quoted.id == turn.id)
    }

    pub fn section(&self) -> ContextSection {
        match &self.given {
            Some(section) => section.clone(),
            None if self.messages.latest().is_none() => ContextSection::default(),
            None => ContextSection::left_out(ContextPartKind::Anchor, WHY),
        }
    }
}

impl<'a> LastMessages<'a> {
    fn of(past: &'a PastSession, chain: &'a [PastSession]) -> LastMessages<'a> {
        let sessions = || iter::once(past).chain(chain);
        // Small talk is better than nothing.
        let directive = sessions()
            .find_map(last_directive)
            .or_else(|| last_quote(past, Speaker::Person, |turn| turn.origin.is_work()));
        let at_work = sessions().find(|past| past.turns.iter().any(is_at_work)).unwrap_or(past);
        let answer = last_answer(at_work);
        LastMessages { directive, answer: reported_by_hook(at_work, answer).or(answer) }
    }

    /// The latest message of all.
    fn latest(&self) -> Option<Quote<'a>> {
        if self.is_answered() { self.answer } else { self.directive.or(self.answer) }
    }

    fn is_answered(&self) -> bool {
        match (self.directive, self.answer) {
            (Some(directive), Some(answer)) => {
                answer.turn >= directive.turn || answer.past.session != directive.past.session
            }
            (None, answer) => answer.is_some(),
            (Some(_), None) => false,
        }
    }

    fn fitted(&self, program: &str, end: &str, room: ContextBudget) -> Option<ContextSection> {
        self.latest()?;
        let [opening, between] = self.titles();
        let (between, closing) = match self.is_answered() {
            true => (between, format!("{end}{RULE}")),
            false => (format!("{end}{between}"), String::new()),
        };
        let around = room.size_of(&opening) + room.size_of(&between) + room.size_of(&closing);
        let left = room.limit().checked_sub(around)?;
        let fit = |quote: Option<Quote<'_>>, left: usize| match quote {
            Some(quote) => {
                line(quote.text, &format!("{program} session detail {}", quote.id()), room.of(left))
            }
            None => Some(Fitted { text: String::new(), is_cut: false }),
        };
        // Each message gets half, plus the room that the other leaves; the retry is for text that defusing enlarged.
        let of_answer = |quote: Quote<'_>| room.size_if_held(quote.text).map_or(left, |size| size + 1);
        let needed = self.answer.map_or(0, of_answer);
        let both = |share: usize| {
            let directive = fit(self.directive, share)?;
            let answer = fit(self.answer, left.saturating_sub(room.size_of(&directive.text)))?;
            Some((directive, answer))
        };
        let (directive, answer) =
            both((left / 2).max(left.saturating_sub(needed))).or_else(|| both(left / 2))?;
        let state =
            if directive.is_cut || answer.is_cut { ContextPartState::Cut } else { ContextPartState::Whole };
        let text = [opening, directive.text, between, answer.text, closing].concat();
        let size = room.size_of(&text);
        Some(ContextSection::of(ContextPartKind::Anchor, WHY, text, size, state))
    }

    /// The titles above the directive and above the answer.
    fn titles(&self) -> [String; 2] {
        let source = |quote: Quote<'_>| {
            let clock = quote.turn().map_or(&quote.past.last_active, |turn| &turn.clock);
            format!("{}, {}", quote.id(), one_line(clock, MAX_CLOCK_CHARS))
        };
        let opening = match self.directive {
            Some(quote) => format!("\nThe person's last directive ({}):\n", source(quote)),
            None => "\n".to_owned(),
        };
        let between = match self.answer {
            None => "The agent had not answered.\n".to_owned(),
            Some(quote) if self.is_answered() => format!("The agent's last answer ({}):\n", source(quote)),
            Some(quote) => {
                format!("The agent had not answered that. Its answer before ({}):\n", source(quote))
            }
        };
        [opening, between]
    }
}

/// A message cut to fit, with a line break appended; only the note about the cut if the text does not fit.
fn line(text: &str, how: &str, room: ContextBudget) -> Option<Fitted> {
    let room = room.of(room.limit().saturating_sub(1));
    let fitted = fitted(text, how, room).or_else(|| missing(text, how, room))?;
    Some(Fitted { text: fitted.text + "\n", ..fitted })
}

fn last_directive(past: &PastSession) -> Option<Quote<'_>> {
    past.turns.iter().enumerate().rev().find_map(|(index, turn)| {
        let word = directives(turn).next_back()?;
        Some(Quote { past, turn: index, word: Some(word), text: &turn.words[word].text })
    })
}

fn last_quote(
    past: &PastSession,
    speaker: Speaker,
    accepts: impl Fn(&PastTurn) -> bool,
) -> Option<Quote<'_>> {
    past.turns.iter().enumerate().rev().filter(|(_, turn)| accepts(turn)).find_map(|(index, turn)| {
        let matches_speaker = |word: &TurnMessage| word.speaker == speaker && !word.text.trim().is_empty();
        let word = turn.words.iter().rposition(matches_speaker)?;
        Some(Quote { past, turn: index, word: Some(word), text: &turn.words[word].text })
    })
}

/// The end of a background task, which the user did not prompt, may have caused it.
fn last_answer(past: &PastSession) -> Option<Quote<'_>> {
    last_quote(past, Speaker::Agent, |turn| turn.origin != PromptOrigin::Bookmark)
}

/// The answer that a hook reported, if the transcript's last turn has none yet and it is not an older turn's answer.
fn reported_by_hook<'a>(past: &'a PastSession, captured: Option<Quote<'a>>) -> Option<Quote<'a>> {
    let text = past.answer_heard.as_deref().filter(|text| !text.trim().is_empty())?;
    let last = past.turns.iter().rposition(|turn| turn.origin != PromptOrigin::Bookmark);
    let is_captured = captured.is_some_and(|quote| Some(quote.turn) == last || is_same(quote.text, text));
    (!is_captured).then_some(Quote { past, turn: last.unwrap_or(usize::MAX), word: None, text })
}

/// The hook's text may have been cut, which its trailing ellipsis shows.
fn is_same(captured: &str, reported: &str) -> bool {
    let (captured, reported) = (captured.trim(), reported.trim());
    captured == reported || reported.strip_suffix('…').is_some_and(|head| captured.starts_with(head))
}

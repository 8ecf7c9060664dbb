//! The anchor: where the work stood, as the person's last directive and the agent's last answer.
//!
//! What stands here is not given a second time further down.

use super::cut::{Fitted, fitted, missing, one_line};
use super::frame::{LONGEST_CLOCK, LONGEST_NAME, Section};
use super::turns::end_of;
use super::{Budget, Part, PartKind, PartState, Past, PastTurn, Speaker, Words};
use crate::event::Origin;

const WHY: &str = "where the work stood: the last directive and the last answer";

/// A reply that is short means the last answer, which a fresh session has not seen.
const RULE: &str = "A short message of the person now (up to 50 characters, as \"go\", \"yes\", \"2\") answers that last \
                    answer.\n";

/// The anchor, made to fit.
pub struct Anchor<'a> {
    said: LastSaid<'a>,
    /// None if there was no room for it, or nothing was said.
    given: Option<Given>,
}

struct Given {
    text: String,
    size: usize,
    state: PartState,
}

#[derive(Clone, Copy)]
struct LastSaid<'a> {
    directive: Option<Said<'a>>,
    answer: Option<Said<'a>>,
}

#[derive(Clone, Copy)]
struct Said<'a> {
    turn: usize,
    /// None for words that only a hook told.
    word: Option<usize>,
    text: &'a str,
}

impl<'a> Anchor<'a> {
    pub fn of(past: &'a Past, program: &str, room: Budget) -> Anchor<'a> {
        let said = LastSaid::of(past);
        let end = said.latest().and_then(|said| Some(end_of(past.turns.get(said.turn)?))).unwrap_or_default();
        // Rather no details than no anchor.
        let given = said.fitted(past, program, &end, room).or_else(|| said.fitted(past, program, "", room));
        Anchor { said, given }
    }

    /// Whether these words of this turn are given by the anchor.
    pub fn covers(&self, turn: usize, word: usize) -> bool {
        let is_it =
            |said: Option<Said<'_>>| said.is_some_and(|said| said.turn == turn && said.word == Some(word));
        self.given.is_some() && (is_it(self.said.directive) || is_it(self.said.answer))
    }

    /// Whether the anchor tells how this turn ended and what details it has.
    pub fn tells_the_end_of(&self, turn: usize) -> bool {
        self.given.is_some() && self.said.latest().is_some_and(|said| said.turn == turn)
    }

    pub fn section(&self) -> Section {
        let part = |size, state| vec![Part { what: PartKind::Anchor, why: WHY.into(), size, state }];
        match &self.given {
            Some(Given { text, size, state }) => {
                Section { text: text.clone(), size: *size, parts: part(*size, *state) }
            }
            None if self.said.latest().is_none() => Section::default(),
            None => Section { parts: part(0, PartState::LeftOut), ..Section::default() },
        }
    }
}

impl<'a> LastSaid<'a> {
    fn of(past: &'a Past) -> LastSaid<'a> {
        let by_person = |turn: &PastTurn| matches!(turn.origin, Origin::Human | Origin::Command);
        let directive = last_words(past, Speaker::Person, by_person)
            .or_else(|| last_words(past, Speaker::Person, |turn| turn.origin == Origin::Continuation));
        // A background task's end may be what the agent spoke of last, although nobody prompted it.
        let answer = last_words(past, Speaker::Agent, |turn| turn.origin != Origin::Bookmark);
        LastSaid { directive, answer: heard(past, answer).or(answer) }
    }

    /// What was said last of all.
    fn latest(&self) -> Option<Said<'a>> {
        if self.is_answered() { self.answer } else { self.directive.or(self.answer) }
    }

    fn is_answered(&self) -> bool {
        match (self.directive, self.answer) {
            (Some(directive), Some(answer)) => answer.turn >= directive.turn,
            (None, answer) => answer.is_some(),
            (Some(_), None) => false,
        }
    }

    fn fitted(&self, past: &Past, program: &str, end: &str, room: Budget) -> Option<Given> {
        self.latest()?;
        let [opening, between] = self.titles(past);
        let (between, closing) = match self.is_answered() {
            true => (between, format!("{end}{RULE}")),
            false => (format!("{end}{between}"), String::new()),
        };
        let around = room.size_of(&opening) + room.size_of(&between) + room.size_of(&closing);
        let left = room.limit().checked_sub(around)?;
        let fit = |said: Option<Said<'_>>, left: usize| match said {
            Some(said) => line(said.text, &format!("{program} detail {}", id_of(past, said)), room.of(left)),
            None => Some(Fitted { text: String::new(), is_cut: false }),
        };
        // Each gets half, and what the other leaves of its own; what is made harmless may need more than it seemed.
        let of_answer = |said: Said<'_>| room.size_if_held(said.text).map_or(left, |size| size + 1);
        let needed = self.answer.map_or(0, of_answer);
        let both = |share: usize| {
            let directive = fit(self.directive, share)?;
            let answer = fit(self.answer, left.saturating_sub(room.size_of(&directive.text)))?;
            Some((directive, answer))
        };
        let (directive, answer) =
            both((left / 2).max(left.saturating_sub(needed))).or_else(|| both(left / 2))?;
        let state = if directive.is_cut || answer.is_cut { PartState::Cut } else { PartState::Whole };
        let text = [opening, directive.text, between, answer.text, closing].concat();
        Some(Given { size: room.size_of(&text), text, state })
    }

    /// What stands above the directive, and above the answer.
    fn titles(&self, past: &Past) -> [String; 2] {
        let named = |said: Said<'_>| {
            let clock = past.turns.get(said.turn).map_or(&past.last_active, |turn| &turn.clock);
            format!("{}, {}", id_of(past, said), one_line(clock, LONGEST_CLOCK))
        };
        let opening = match self.directive {
            Some(said) => format!("\nThe person's last directive ({}):\n", named(said)),
            None => "\n".to_owned(),
        };
        let between = match self.answer {
            None => "The agent had not answered.\n".to_owned(),
            Some(said) if self.is_answered() => format!("The agent's last answer ({}):\n", named(said)),
            Some(said) => format!("The agent had not answered that. Its answer before ({}):\n", named(said)),
        };
        [opening, between]
    }
}

/// Words made to fit, with a line break behind them. Rather none of them than no anchor.
fn line(text: &str, how: &str, room: Budget) -> Option<Fitted> {
    let room = room.of(room.limit().saturating_sub(1));
    let fitted = fitted(text, how, room).or_else(|| missing(text, how, room))?;
    Some(Fitted { text: fitted.text + "\n", ..fitted })
}

fn id_of(past: &Past, said: Said<'_>) -> String {
    let session = past.session.to_string();
    one_line(past.turns.get(said.turn).map_or(&session, |turn| &turn.id), LONGEST_NAME).into_owned()
}

fn last_words(past: &Past, speaker: Speaker, wanted: impl Fn(&PastTurn) -> bool) -> Option<Said<'_>> {
    past.turns.iter().enumerate().rev().filter(|(_, turn)| wanted(turn)).find_map(|(index, turn)| {
        let spoken = |word: &Words| word.speaker == speaker && !word.text.trim().is_empty();
        let word = turn.words.iter().rposition(spoken)?;
        Some(Said { turn: index, word: Some(word), text: &turn.words[word].text })
    })
}

/// The answer that a hook told, if the last turn has none yet and it is not an older turn's.
fn heard<'a>(past: &'a Past, known: Option<Said<'a>>) -> Option<Said<'a>> {
    let text = past.answer_heard.as_deref().filter(|text| !text.trim().is_empty())?;
    let last = past.turns.iter().rposition(|turn| turn.origin != Origin::Bookmark);
    let is_known = known.is_some_and(|said| Some(said.turn) == last || is_same(said.text, text));
    (!is_known).then_some(Said { turn: last.unwrap_or(usize::MAX), word: None, text })
}

/// What a hook told may have been cut, which then shows at its end.
fn is_same(words: &str, heard: &str) -> bool {
    let (words, heard) = (words.trim(), heard.trim());
    words == heard || heard.strip_suffix('…').is_some_and(|head| words.starts_with(head))
}

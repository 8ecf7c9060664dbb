//! The anchor: where the work stood, as the person's last directive and the agent's last answer.
//!
//! What stands here is not given a second time further down.

use super::cut::fitted;
use super::frame::Section;
use super::turns::suffix;
use super::{Budget, Part, PartKind, PartState, Past, PastTurn, Speaker};
use crate::event::Origin;

/// Which words the anchor is made of.
pub struct Anchor<'a> {
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
    pub fn of(past: &'a Past) -> Anchor<'a> {
        let by_person = |turn: &PastTurn| matches!(turn.origin, Origin::Human | Origin::Command);
        let directive = last_words(past, Speaker::Person, by_person)
            .or_else(|| last_words(past, Speaker::Person, |turn| turn.origin == Origin::Continuation));
        // A background task's end may be what the agent spoke of last, although nobody prompted it.
        let answer = last_words(past, Speaker::Agent, |turn| turn.origin != Origin::Bookmark);
        Anchor { directive, answer: heard(past, answer).or(answer) }
    }

    /// Whether these words of this turn are part of the anchor.
    pub fn covers(&self, turn: usize, word: usize) -> bool {
        let is_it =
            |said: &Option<Said<'_>>| said.is_some_and(|said| said.turn == turn && said.word == Some(word));
        is_it(&self.directive) || is_it(&self.answer)
    }

    /// Whether the anchor names the details of this turn.
    pub fn names_details_of(&self, turn: usize) -> bool {
        self.answer.or(self.directive).is_some_and(|said| said.turn == turn)
    }

    pub fn section(&self, past: &Past, program: &str, room: Budget) -> Section {
        let why = "where the work stood: the last directive and the last answer".to_owned();
        let Some((text, state)) = self.text(past, program, room) else {
            let part = Part { what: PartKind::Anchor, why, size: 0, state: PartState::LeftOut };
            let parts = if self.directive.is_some() || self.answer.is_some() { vec![part] } else { vec![] };
            return Section { parts, ..Section::default() };
        };
        let size = room.size_of(&text);
        Section { text, size, parts: vec![Part { what: PartKind::Anchor, why, size, state }] }
    }

    fn text(&self, past: &Past, program: &str, room: Budget) -> Option<(String, PartState)> {
        self.directive.or(self.answer)?;
        let frame = self.words_around(past, program);
        let left = room.limit().checked_sub(frame.iter().map(|words| room.size_of(words)).sum())?;
        let [opening, between, closing] = frame;
        let fit = |said: Option<Said<'_>>, room: Budget| match said {
            Some(said) => fitted(said.text, &command(past, program, said), room).map(Some),
            None => Some(None),
        };
        // The answer gets all that a short directive leaves, and the other way round.
        let needed = self.answer.map_or(0, |said| room.size_of(said.text) + 1);
        let directive =
            fit(self.directive, room.of((left / 2).max(left.saturating_sub(needed)).saturating_sub(1)))?;
        let taken = directive.as_ref().map_or(0, |fitted| room.size_of(&fitted.text) + 1);
        let answer = fit(self.answer, room.of(left.saturating_sub(taken + 1)))?;
        let is_cut = [&directive, &answer].into_iter().flatten().any(|fitted| fitted.is_cut);
        let words = |fitted: Option<super::cut::Fitted>| fitted.map_or(String::new(), |it| it.text + "\n");
        let text = [opening, words(directive), between, words(answer), closing].concat();
        Some((text, if is_cut { PartState::Cut } else { PartState::Whole }))
    }

    fn words_around(&self, past: &Past, program: &str) -> [String; 3] {
        let named = |said: Said<'_>| match past.turns.get(said.turn) {
            Some(turn) => format!("{}, {}", turn.id, turn.clock),
            None => past.last_active.clone(),
        };
        let opening = self
            .directive
            .map_or("\n".into(), |said| format!("\nThe person's last directive ({}):\n", named(said)));
        let between = match (self.directive, self.answer) {
            (_, None) => "The agent had not answered.\n".to_owned(),
            (Some(directive), Some(answer)) if answer.turn < directive.turn => {
                format!("The agent had not answered it. Its answer before that ({}):\n", named(answer))
            }
            (_, Some(answer)) => format!("The agent's last answer ({}):\n", named(answer)),
        };
        let details =
            self.answer.or(self.directive).and_then(|said| suffix(past.turns.get(said.turn)?, program));
        let rule = "A short message of the person now (\"go\", \"yes\", \"2\") answers that last answer.\n";
        [opening, between, details.unwrap_or_default() + rule]
    }
}

fn command(past: &Past, program: &str, said: Said<'_>) -> String {
    past.turns
        .get(said.turn)
        .map_or_else(|| format!("{program} turns"), |turn| format!("{program} detail {}", turn.id))
}

fn last_words(past: &Past, speaker: Speaker, wanted: impl Fn(&PastTurn) -> bool) -> Option<Said<'_>> {
    past.turns.iter().enumerate().rev().filter(|(_, turn)| wanted(turn)).find_map(|(index, turn)| {
        let spoken = |word: &super::Words| word.speaker == speaker && !word.text.trim().is_empty();
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

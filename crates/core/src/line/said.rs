//! The agent's last text in a turn.
//!
//! Parsed lazily: most texts are followed by another one and never needed. Stores no more than two windows of text.

use super::SAID;
use super::words::{WINDOW, gist, question};
use crate::text::{clip, clip_start};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub(super) enum LastAnswer {
    Parsed(LastWord),
    /// The first and the last `WINDOW` bytes of the text; the rest is never parsed.
    Raw {
        head: Box<str>,
        tail: Box<str>,
    },
}

/// The stored part of the last text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastWord {
    pub words: String,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub is_question: bool,
}

impl LastAnswer {
    pub fn of(text: &str) -> LastAnswer {
        LastAnswer::Raw { head: clip(text, WINDOW).into(), tail: clip_start(text, WINDOW).into() }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, LastAnswer::Parsed(last) if last.words.is_empty())
    }

    pub fn parsed(&self) -> Cow<'_, LastWord> {
        match self {
            LastAnswer::Parsed(last) => Cow::Borrowed(last),
            LastAnswer::Raw { head, tail } => {
                let question_text = question(tail, SAID);
                let is_question = question_text.is_some();
                Cow::Owned(LastWord { words: question_text.unwrap_or_else(|| gist(head, SAID)), is_question })
            }
        }
    }
}

impl Default for LastAnswer {
    fn default() -> Self {
        LastAnswer::Parsed(LastWord::default())
    }
}

impl PartialEq for LastAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.parsed() == other.parsed()
    }
}

impl Serialize for LastAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parsed().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LastAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        LastWord::deserialize(deserializer).map(LastAnswer::Parsed)
    }
}

//! The agent's last words in a turn.
//!
//! Understood only when somebody asks for them: most are followed by others, and then nobody does.

use super::SAID;
use super::words::{WINDOW, gist, question};
use crate::text::{clip, clip_start};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub(super) enum Said {
    Understood(LastWord),
    /// As much of the text as is looked at: its beginning, and its end.
    Raw {
        head: Box<str>,
        tail: Box<str>,
    },
}

/// What is kept of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastWord {
    pub words: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_question: bool,
}

impl Said {
    pub fn of(text: &str) -> Said {
        Said::Raw { head: clip(text, WINDOW).into(), tail: clip_start(text, WINDOW).into() }
    }

    pub fn is_nothing(&self) -> bool {
        matches!(self, Said::Understood(last) if last.words.is_empty())
    }

    pub fn understood(&self) -> Cow<'_, LastWord> {
        match self {
            Said::Understood(last) => Cow::Borrowed(last),
            Said::Raw { head, tail } => {
                let back = question(tail, SAID);
                let is_question = back.is_some();
                Cow::Owned(LastWord { words: back.unwrap_or_else(|| gist(head, SAID)), is_question })
            }
        }
    }
}

impl Default for Said {
    fn default() -> Self {
        Said::Understood(LastWord::default())
    }
}

impl PartialEq for Said {
    fn eq(&self, other: &Self) -> bool {
        self.understood() == other.understood()
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.understood().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        LastWord::deserialize(deserializer).map(Said::Understood)
    }
}

//! Reading an agent's record of a conversation, line by line.
//!
//! Bytes in, pieces out: no file is opened here, and nothing is kept but what a later line needs, which is bounded
//! however long the file is.

use crate::unescape::unescaped;
use crate::wire::{Part, Parts};
use crate::{Agent, claude, codex, json};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::{self, Display};
use towline_core::event::Origin;
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{Content, Piece};
use towline_core::time::Timestamp;

/// What must be remembered between two lines of one file. It is kept with the offset up to which the file was read;
/// from there the same pieces are found as in one go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    Claude(claude::transcript::Memory),
    Codex(codex::rollout::Memory),
}

/// Why a line gave nothing. The text does not repeat the line: it may hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("the line is not valid UTF-8")]
    NotText,
    #[error("the line is not a JSON object")]
    NotJson,
}

impl Agent {
    /// A reader for the beginning of a file.
    pub fn reader(self) -> Reader {
        match self {
            Agent::Claude => Reader::Claude(claude::transcript::Memory::default()),
            Agent::Codex => Reader::Codex(codex::rollout::Memory::default()),
        }
    }
}

impl Reader {
    /// Adds the pieces of the next whole line. What a newer agent writes and we do not know gives none; neither does an
    /// unreadable line, and the reader is as good as before.
    pub fn read<'a>(&mut self, line: &'a [u8], found: &mut Vec<Piece<'a>>) -> Result<(), Unreadable> {
        let text = str::from_utf8(line).map_err(|_| Unreadable::NotText);
        match self {
            Reader::Claude(memory) => memory.read(text, found),
            Reader::Codex(memory) => memory.read(text, found),
        }
    }
}

/// Parses a line, borrowing from it; what no field asks for is skipped, not kept. An empty line is nothing.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<Option<T>, Unreadable> {
    if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(None);
    }
    json::read(line).map(Some).map_err(|_| Unreadable::NotJson)
}

/// A prompt of nothing but this is a bookmark.
pub(crate) use towline_core::bookmark::MARKER as BOOKMARK;

/// Who asks in a prompt that a person's input box sent.
pub(crate) fn typed(text: &str) -> Origin {
    if text.trim() == BOOKMARK { Origin::Bookmark } else { Origin::Human }
}

/// Where an entry of the file stands: what its pieces have in common.
pub(crate) struct Spot<'a> {
    pub id: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub turn: Option<TurnId>,
    pub subagent: Option<SubagentId>,
}

impl<'a> Spot<'a> {
    /// The piece that the entry is about.
    pub fn whole(&self, what: Content<'a>) -> Piece<'a> {
        self.piece(self.id.clone(), what)
    }

    /// A piece beside it. `part` is the same however often the entry is read.
    pub fn part(&self, part: impl Display, what: Content<'a>) -> Piece<'a> {
        self.piece(Cow::Owned(format!("{}#{part}", self.id)), what)
    }

    /// One of several pieces that are alike.
    pub fn block(&self, index: usize, what: Content<'a>) -> Piece<'a> {
        if index == 0 { self.whole(what) } else { self.part(index, what) }
    }

    pub fn piece(&self, id: Cow<'a, str>, what: Content<'a>) -> Piece<'a> {
        let (turn, subagent) = (self.turn.clone(), self.subagent.clone());
        Piece { id, place: self.place, at: self.at, turn, subagent, what }
    }
}

/// A value that counts only if it is exactly `true`, a number, or a text; it may be anything, and large. As it is written;
/// empty if it is absent. Only `json::read` gives it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Any<'a>(&'a str);

impl<'a> Any<'a> {
    pub fn is_present(self) -> bool {
        !self.0.is_empty()
    }

    pub fn is_true(self) -> bool {
        self.0 == "true"
    }

    pub fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// What it holds, if it is of this shape.
    pub fn as_a<T: Deserialize<'a>>(self) -> Option<T> {
        json::read(self.0).ok()
    }

    pub fn text(self) -> Option<Cow<'a, str>> {
        json::inner(self.0).map(unescaped)
    }

    /// The parts of a list; one text alone is a list of one.
    pub fn parts<T: Part<'a>>(self) -> Vec<T> {
        match self.text() {
            Some(text) => vec![T::of_text(text)],
            None => self.as_a::<Parts<T>>().unwrap_or_default().0,
        }
    }

    pub fn raw(self) -> &'a str {
        self.0
    }

    /// As it is written, unless it is absent.
    pub fn present(self) -> Option<&'a str> {
        self.is_present().then_some(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Any<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;
        impl<'de> Visitor<'de> for AsWritten {
            type Value = &'de str;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value that is read where it stands")
            }
            fn visit_borrowed_str<E>(self, raw: &'de str) -> Result<&'de str, E> {
                Ok(if raw == "null" { "" } else { raw })
            }
        }
        deserializer.deserialize_newtype_struct(json::RAW, AsWritten).map(Any)
    }
}

/// A text that may be long; anything else counts as absent.
#[derive(Debug, Default)]
pub(crate) struct LongText<'a>(pub Option<Cow<'a, str>>);

impl LongText<'_> {
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LongText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Any::deserialize(deserializer).map(|value| LongText(value.text()))
    }
}

/// How many bytes so much base64 stands for.
pub(crate) fn decoded_length(base64: &str) -> u64 {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    let characters = u64::try_from(base64.len() - padding.min(base64.len())).unwrap_or(0);
    characters * 3 / 4
}

/// Texts that follow each other; nothing is copied if there is only one.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>, between: &str) -> Cow<'a, str> {
    let mut texts = texts.into_iter();
    let Some(mut all) = texts.next() else { return Cow::Borrowed("") };
    for text in texts {
        let all = all.to_mut();
        all.push_str(between);
        all.push_str(&text);
    }
    all
}

/// The last few things that were seen, by their checksums: enough to know one that comes again soon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Recent(VecDeque<u32>);

impl Recent {
    const MOST: usize = 16;

    /// Whether it was new; from now on it is not.
    pub fn remember(&mut self, parts: &[&[u8]]) -> bool {
        let mark = mark(parts);
        if self.0.contains(&mark) {
            return false;
        }
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(mark);
        true
    }

    pub fn holds(&self, parts: &[&[u8]]) -> bool {
        self.0.contains(&mark(parts))
    }
}

/// Where the last turns began. A person who goes back further than this is not seen to do so: what was taken back then
/// stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Trail(VecDeque<(u32, u64)>);

impl Trail {
    const MOST: usize = 128;

    /// Notes that the turn of this mark began at `place`.
    pub fn begin(&mut self, mark: u32, place: u64) {
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((mark, place));
    }

    /// Takes back the turn of this mark and all after it, and gives the place where it began.
    pub fn back_to(&mut self, mark: u32) -> Option<u64> {
        let index = self.0.iter().position(|(earlier, _)| *earlier == mark)?;
        self.back(u64::try_from(self.0.len() - index).ok()?)
    }

    /// Takes the last turns back, and gives the place where the first of them began.
    pub fn back(&mut self, turns: u64) -> Option<u64> {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(self.0.len());
        self.0.split_off(self.0.len() - turns).front().map(|(_, place)| *place)
    }

    pub fn last(&self) -> Option<u32> {
        self.0.back().map(|(mark, _)| *mark)
    }
}

pub(crate) fn mark(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
        hasher.update(&[0]);
    }
    hasher.finalize()
}

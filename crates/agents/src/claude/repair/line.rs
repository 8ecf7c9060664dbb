//! The lines of a transcript with their bytes, as far as a repair looks at them.
//!
//! A line that is no entry is kept as it is, whatever it holds.

use super::super::entry::{Entry, Usage};
use super::OURS;
use crate::json;
use crate::reader::Any;
use serde::Deserialize;
use serde::de::IgnoredAny;
use towline_core::time::Timestamp;

/// One line, with its line break.
#[derive(Debug, Default)]
pub struct Line<'a> {
    pub number: usize,
    pub bytes: &'a [u8],
    pub kind: String,
    pub subtype: String,
    pub uuid: Option<String>,
    pub parent: Option<String>,
    /// As it stands in the line.
    pub raw_parent: Option<&'a str>,
    pub at: Option<Timestamp>,
    pub cwd: Option<String>,
    pub is_sidechain: bool,
    /// Whether a repair of ours put it in.
    pub is_ours: bool,
    /// What the client says in the person's name.
    pub is_aside: bool,
    /// Whether it brings what a tool gave.
    pub is_result: bool,
    /// The id of the message that it is a part of.
    pub message: Option<String>,
    /// Its words.
    pub said: String,
    /// Whether the client wrote it in the model's place.
    pub is_synthetic: bool,
    pub has_usage: bool,
    pub stop_reason: String,
}

/// Beside what every reader of entries looks at.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Beside<'a> {
    #[serde(borrow, rename = "parentUuid")]
    parent: Any<'a>,
    #[serde(borrow)]
    towline: Any<'a>,
    #[serde(borrow)]
    message: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stopped<'a> {
    #[serde(borrow)]
    stop_reason: Any<'a>,
}

pub fn lines(text: &[u8]) -> Vec<Line<'_>> {
    let all = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    all.map(|(number, bytes)| read(number, bytes).unwrap_or(Line { number, bytes, ..Line::default() }))
        .collect()
}

fn read(number: usize, bytes: &[u8]) -> Option<Line<'_>> {
    // The client passes over a line that is not sound throughout.
    serde_json::from_slice::<IgnoredAny>(bytes).ok()?;
    let text = str::from_utf8(bytes).ok()?;
    let (entry, beside): (Entry<'_>, Beside<'_>) = (json::read(text).ok()?, json::read(text).ok()?);
    let stopped: Stopped<'_> = beside.message.as_a().unwrap_or_default();
    let message = &entry.message.0;
    let blocks = message.content.0.iter();
    let words =
        blocks.clone().filter(|block| block.kind.is("text")).filter_map(|block| block.text.as_deref());
    Some(Line {
        number,
        bytes,
        kind: entry.kind.as_deref().unwrap_or("").to_owned(),
        subtype: entry.subtype.as_deref().unwrap_or("").to_owned(),
        uuid: entry.uuid.as_deref().map(str::to_owned),
        parent: entry.parent_uuid.as_deref().map(str::to_owned),
        raw_parent: beside.parent.present(),
        at: entry.timestamp.as_deref().and_then(Timestamp::parse_utc),
        cwd: entry.cwd.as_deref().map(str::to_owned),
        is_sidechain: entry.is_sidechain.is_true(),
        is_ours: beside.towline.text().is_some_and(|value| value == OURS.1),
        is_aside: entry.is_meta.is_true() || entry.is_compact_summary.is_true(),
        is_result: blocks.clone().any(|block| block.kind.is("tool_result")),
        message: message.id.as_deref().map(str::to_owned),
        said: words.collect::<Vec<_>>().join("\n").trim().to_owned(),
        is_synthetic: entry.is_api_error_message.is_true() || message.model.is("<synthetic>"),
        has_usage: counts(&message.usage.0),
        stop_reason: stopped.stop_reason.text().unwrap_or_default().into_owned(),
    })
}

fn counts(usage: &Usage<'_>) -> bool {
    let numbers = [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.output_tokens,
    ];
    numbers.into_iter().any(|number| number.number().unwrap_or(0) > 0)
}

/// What the client writes in the person's name about commands and their output.
const ASIDE: [&str; 4] = ["<command-", "<local-command-", "<bash-", "[Request interrupted"];

impl Line<'_> {
    /// Whether it is a place that a person can go back to.
    pub fn is_prompt(&self) -> bool {
        self.kind == "user"
            && !self.is_aside
            && !self.is_result
            && !self.said.is_empty()
            && !ASIDE.iter().any(|start| self.said.starts_with(start))
    }

    /// Whether the model gave it, and not the client in its place.
    pub fn is_answer(&self) -> bool {
        self.kind == "assistant" && !self.is_synthetic
    }

    pub fn is_marker(&self, marker: &str) -> bool {
        self.kind == "user" && self.said == marker.trim()
    }

    /// The same line behind another entry, whose id is given as JSON.
    pub fn with_parent(&self, parent: &str) -> Vec<u8> {
        let Some(old) = self.raw_parent else { return self.bytes.to_vec() };
        let from = old.as_ptr().addr() - self.bytes.as_ptr().addr();
        [&self.bytes[..from], parent.as_bytes(), &self.bytes[from + old.len()..]].concat()
    }
}

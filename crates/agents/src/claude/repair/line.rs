//! The lines of a transcript with their bytes and the fields that a repair needs.
//!
//! A line that is not an entry is never changed.

use super::super::entry::{MessageUsage, TranscriptEntry};
use super::OURS;
use crate::json::RawValue;
use serde::Deserialize;
use serde::de::IgnoredAny;
use towline_core::time::Timestamp;

/// One line, including its line break.
#[derive(Debug, Default)]
pub struct RepairLine<'a> {
    pub number: usize,
    pub bytes: &'a [u8],
    pub kind: String,
    pub subtype: String,
    pub uuid: Option<String>,
    pub parent: Option<String>,
    /// As written in the line.
    pub raw_parent: Option<&'a str>,
    pub at: Option<Timestamp>,
    pub cwd: Option<String>,
    pub is_sidechain: bool,
    /// Whether a repair inserted it.
    pub is_ours: bool,
    /// Whether the client wrote it in the user's name.
    pub is_aside: bool,
    /// Whether it holds a tool result.
    pub is_result: bool,
    /// The id of the message that it is part of.
    pub message: Option<String>,
    pub text: String,
    /// Whether the client wrote it in place of the model.
    pub is_synthetic: bool,
    pub has_usage: bool,
    pub stop_reason: String,
}

/// Fields that only the repair reads.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct RepairFields<'a> {
    #[serde(rename = "parentUuid")]
    parent: RawValue<'a>,
    towline: RawValue<'a>,
    message: RawValue<'a>,
}

pub fn lines(text: &[u8]) -> Vec<RepairLine<'_>> {
    let all = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    all.map(|(number, bytes)| {
        read(number, bytes).unwrap_or(RepairLine { number, bytes, ..RepairLine::default() })
    })
    .collect()
}

fn read(number: usize, bytes: &[u8]) -> Option<RepairLine<'_>> {
    // The client skips a line that is not valid JSON throughout.
    serde_json::from_slice::<IgnoredAny>(bytes).ok()?;
    let text = str::from_utf8(bytes).ok()?;
    let (entry, fields): (TranscriptEntry<'_>, RepairFields<'_>) =
        (serde_json::from_str(text).ok()?, serde_json::from_str(text).ok()?);
    let message = &entry.message.0;
    let blocks = message.content.0.iter();
    let words =
        blocks.clone().filter(|block| block.kind.is("text")).filter_map(|block| block.text.as_deref());
    Some(RepairLine {
        number,
        bytes,
        kind: entry.kind.as_deref().unwrap_or("").to_owned(),
        subtype: entry.subtype.as_deref().unwrap_or("").to_owned(),
        uuid: entry.uuid.as_deref().map(str::to_owned),
        parent: entry.parent_uuid.as_deref().map(str::to_owned),
        raw_parent: fields.parent.present(),
        at: entry.timestamp.as_deref().and_then(Timestamp::parse_utc),
        cwd: entry.cwd.as_deref().map(str::to_owned),
        is_sidechain: entry.is_sidechain.is_true(),
        is_ours: fields.towline.text().is_some_and(|value| value == OURS.1),
        is_aside: entry.is_meta.is_true() || entry.is_compact_summary.is_true(),
        is_result: blocks.clone().any(|block| block.kind.is("tool_result")),
        message: message.id.as_deref().map(str::to_owned),
        text: words.collect::<Vec<_>>().join("\n").trim().to_owned(),
        is_synthetic: entry.is_api_error_message.is_true() || message.model.is("<synthetic>"),
        has_usage: counts(&message.usage.0),
        stop_reason: fields.message.get("stop_reason").text().unwrap_or_default().into_owned(),
    })
}

fn counts(usage: &MessageUsage<'_>) -> bool {
    let numbers = [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.output_tokens,
    ];
    numbers.into_iter().any(|number| number.number().unwrap_or(0) > 0)
}

/// Beginnings of text that the client writes in the user's name about commands and their output.
const ASIDE: [&str; 4] = ["<command-", "<local-command-", "<bash-", "[Request interrupted"];

impl RepairLine<'_> {
    /// Whether the user can rewind to it.
    pub fn is_prompt(&self) -> bool {
        self.kind == "user"
            && !self.is_aside
            && !self.is_result
            && !self.text.is_empty()
            && !ASIDE.iter().any(|start| self.text.starts_with(start))
    }

    /// Whether the model wrote it, not the client in its place.
    pub fn is_answer(&self) -> bool {
        self.kind == "assistant" && !self.is_synthetic
    }

    pub fn is_marker(&self, marker: &str) -> bool {
        self.kind == "user" && self.text == marker.trim()
    }

    /// The line with another parent, whose id is given as JSON.
    pub fn with_parent(&self, parent: &str) -> Vec<u8> {
        let Some(old) = self.raw_parent else { return self.bytes.to_vec() };
        let from = old.as_ptr().addr() - self.bytes.as_ptr().addr();
        [&self.bytes[..from], parent.as_bytes(), &self.bytes[from + old.len()..]].concat()
    }
}

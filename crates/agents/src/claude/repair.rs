//! Repairs a Claude Code transcript whose context is full, by inserting points to rewind to.
//!
//! A session that is too long to be sent can only continue from an earlier prompt, and one that worked for hours on its
//! own has none. The repair inserts prompts that consist of a marker between the answers, before the point of failure.
//! It removes nothing, changes no line except for its parent, and can be reverted to the byte.

mod chain;
mod dead;
mod line;

use crate::repair::{Death, DeathCause, InsertedMarker, MarkerReason, Repair, RepairOptions, Unrepairable};
use chain::{Chain, Faults, faults};
use line::{RepairLine, lines};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// Returns the transcript with its markers, fully verified.
pub fn repaired(text: &[u8], wish: RepairOptions<'_>) -> Result<Repair, Unrepairable> {
    let lines = lines(text);
    let chain = examined(&lines)?;
    let death = dead::zone(&chain);
    let living = death.as_ref().map_or(chain.entries.len(), |(from, _)| *from);
    let marks = chosen(&chain, living, wish);
    let written = with_marks(&lines, &chain, &marks, wish.marker);
    let before = faults(&lines);
    verify(&written, &chain, &before, &marks)?;
    let present = chain.entries.iter().filter(|line| line.is_marker(wish.marker)).count();
    Ok(Repair {
        text: written,
        marks: marks.into_iter().map(|(_, mark)| mark).collect(),
        present,
        death: death.map(|(_, death)| death),
        warnings: before.messages(),
        folder: chain.entries.iter().rev().find_map(|line| line.cwd.clone()),
    })
}

/// The transcript without the markers that a repair inserted.
pub fn without_markers(text: &[u8]) -> Vec<u8> {
    let all = lines(text);
    let ours: BTreeMap<&str, &str> = all
        .iter()
        .filter(|line| line.is_ours)
        .filter_map(|line| Some((line.uuid.as_deref()?, line.raw_parent?)))
        .collect();
    let mut written = Vec::with_capacity(text.len());
    for line in all.iter().filter(|line| !line.is_ours) {
        match line.parent.as_deref().and_then(|parent| ours.get(parent)) {
            Some(parent) => written.extend(line.with_parent(parent)),
            None => written.extend_from_slice(line.bytes),
        }
    }
    written
}

fn examined<'l, 'a>(lines: &'l [RepairLine<'a>]) -> Result<Chain<'l, 'a>, Unrepairable> {
    if lines.iter().all(|line| line.bytes.trim_ascii().is_empty()) {
        return Err(Unrepairable::Empty);
    }
    if !lines.iter().any(|line| line.kind == "user") {
        return Err(Unrepairable::NoPrompt);
    }
    Chain::of(lines)
}

/// The shortest pause that gets a marker.
const PAUSE_MS: i64 = 60_000;

/// WalkState since the last rewind point.
#[derive(Default)]
struct WalkState {
    answers: usize,
    last_message: Option<String>,
    turn_end: bool,
    pause: bool,
}

/// The markers, by the position of their answers in the chain. Entries before the last compaction are no longer sent.
fn chosen(chain: &Chain<'_, '_>, living: usize, wish: RepairOptions<'_>) -> Vec<(usize, InsertedMarker)> {
    let start =
        chain.entries.iter().rposition(|line| line.subtype == "compact_boundary").map_or(0, |at| at + 1);
    let (mut marks, mut walk) = (vec![], WalkState::default());
    for at in start..living {
        let line = chain.entries[at];
        let before = at.checked_sub(1).filter(|before| *before >= start).map(|before| chain.entries[before]);
        let times = before.and_then(|before| before.at.zip(line.at));
        walk.pause |= times.is_some_and(|(before, at)| at.since_ms(before) > PAUSE_MS);
        if line.is_prompt() {
            walk = WalkState::default();
            continue;
        }
        if let (Some(before), Some(why)) = (before, due(&walk, line, wish.every)) {
            marks.push((at, mark(before, line, why)));
            walk = WalkState::default();
        }
        walk.pass(line);
    }
    marks
}

impl WalkState {
    fn pass(&mut self, line: &RepairLine<'_>) {
        self.turn_end |= line.subtype == "turn_duration";
        if line.is_answer() && (self.last_message.is_none() || self.last_message != line.message) {
            self.answers += 1;
            self.last_message = line.message.clone();
        }
    }
}

/// Only before the first block of an answer in words, so that related entries stay together, and not directly after a
/// prompt, which is already a rewind point.
fn due(walk: &WalkState, line: &RepairLine<'_>, every: usize) -> Option<MarkerReason> {
    let begins = line.message.is_none() || walk.last_message != line.message;
    if walk.answers == 0 || !begins || !line.is_answer() || line.text.is_empty() {
        return None;
    }
    match walk {
        WalkState { turn_end: true, .. } => Some(MarkerReason::TurnEnd),
        WalkState { pause: true, .. } => Some(MarkerReason::Pause),
        WalkState { answers, .. } if *answers >= every.max(1) => Some(MarkerReason::Answers),
        WalkState { .. } => None,
    }
}

const LONGEST_WORDS: usize = 80;

/// The id is derived from the neighbours' ids: repairing the same file always yields the same bytes.
fn mark(before: &RepairLine<'_>, line: &RepairLine<'_>, why: MarkerReason) -> InsertedMarker {
    let at = match (before.at, line.at) {
        (Some(before), Some(at)) => Some(before.plus_ms(at.since_ms(before) / 2)),
        (before, at) => before.or(at),
    };
    let (old, new) = (before.uuid.as_deref().unwrap_or(""), line.uuid.as_deref().unwrap_or(""));
    let uuid = Uid::derived(at.unwrap_or(Timestamp(0)), &["repair", old, new]).to_string();
    let words = line.text.chars().take(LONGEST_WORDS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    InsertedMarker { uuid, before: new.to_owned(), at, why, words }
}

fn with_marks(
    lines: &[RepairLine<'_>],
    chain: &Chain<'_, '_>,
    marks: &[(usize, InsertedMarker)],
    marker: &str,
) -> Vec<u8> {
    let by_line: BTreeMap<usize, &InsertedMarker> =
        marks.iter().map(|(at, mark)| (chain.entries[*at].number, mark)).collect();
    let mut written = vec![];
    for line in lines {
        match by_line.get(&line.number) {
            Some(mark) => {
                written.extend_from_slice(entry(mark, line, marker).as_bytes());
                written.extend(line.with_parent(&json!(mark.uuid).to_string()));
            }
            None => written.extend_from_slice(line.bytes),
        }
    }
    written
}

/// Fields that all entries of a session share.
const SHARED: [&str; 7] = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"];

/// Identifies our own markers; the client ignores unknown fields.
const OURS: (&str, &str) = ("towline", "repair");

fn entry(mark: &InsertedMarker, next: &RepairLine<'_>, marker: &str) -> String {
    let fields: Value = serde_json::from_slice(next.bytes).unwrap_or_default();
    let shared = SHARED.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone())));
    let parent: Value = next.raw_parent.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
    let mut entry: serde_json::Map<String, Value> = shared.collect();
    entry.entry("userType").or_insert_with(|| json!("external"));
    entry.extend([
        ("parentUuid".to_owned(), parent),
        ("isSidechain".to_owned(), json!(false)),
        ("type".to_owned(), json!("user")),
        ("message".to_owned(), json!({"role": "user", "content": marker})),
        ("uuid".to_owned(), json!(mark.uuid)),
        (OURS.0.to_owned(), json!(OURS.1)),
    ]);
    let at = mark.at.map(|at| json!(to_the_millisecond(at))).or_else(|| fields.get("timestamp").cloned());
    entry.extend(at.map(|at| ("timestamp".to_owned(), at)));
    format!("{}\n", Value::Object(entry))
}

/// The client's timestamp format.
fn to_the_millisecond(at: Timestamp) -> String {
    format!("{}.{:03}Z", at.to_utc().trim_end_matches('Z'), at.0.rem_euclid(1000))
}

/// Verifies that the result is the original with the markers inserted, and has no new faults.
fn verify(
    written: &[u8],
    before: &Chain<'_, '_>,
    faults_before: &Faults,
    marks: &[(usize, InsertedMarker)],
) -> Result<(), Unrepairable> {
    let unsound = |what: &str| Unrepairable::Unsound { what: what.to_owned() };
    let lines = lines(written);
    let after = Chain::of(&lines)?;
    let new: BTreeSet<&str> = marks.iter().map(|(_, mark)| mark.uuid.as_str()).collect();
    let ids = |chain: &Chain<'_, '_>| -> Vec<String> {
        chain.entries.iter().filter_map(|line| line.uuid.clone()).collect()
    };
    let rest: Vec<String> = ids(&after).into_iter().filter(|id| !new.contains(id.as_str())).collect();
    if new.len() != marks.len() || after.entries.len() != before.entries.len() + marks.len() {
        return Err(unsound("a marker is missing or there twice"));
    }
    if rest != ids(before) {
        return Err(unsound("the conversation is not the one that it was"));
    }
    if faults(&lines) != *faults_before {
        return Err(unsound("entries are there twice, or without what they follow"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

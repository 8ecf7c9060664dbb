//! The row of a memory: its columns, how it is read, and the fingerprint of its words.
//!
//! Reads only; a row whose words a newer version wrote is an error.

use crate::archive::name::SHORT;
use crate::query::{parse_column, unknown_name};
use rusqlite::Row;
use towline_core::capture::FileAccess;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::memory::{
    Citation, ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
    Supersession,
};
use towline_core::text::clip_start;
use towline_core::time::Timestamp;

pub(in crate::archive) const MEMORY: &str = "
    select m.id, m.uid, m.type, m.title, m.subtitle, m.facts, m.narrative, m.concepts, p.name, m.session, m.turn, m.branch,
        m.commit_hash, m.maker, m.trust, m.confidence, m.cost, m.made_at, m.changed_at, m.valid_from, m.superseded_by,
        m.superseded_at, m.superseded_why, m.pinned_at, m.quarantine, m.found,
        (select json_group_array(json_array(f.path, f.how)) from memory_files f where f.memory = m.id), m.person,
        m.presence, (select n.name from machine_names n where n.id = m.machine)
    from memories m left join projects p on p.id = m.project";

/// A hash of title and facts that ignores case, spacing and punctuation.
pub(in crate::archive) fn fingerprint(content: &MemoryContent) -> IdHash {
    let words = |text: &str| {
        let letters =
            text.chars().flat_map(char::to_lowercase).map(|c| if c.is_alphanumeric() { c } else { ' ' });
        letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let facts: Vec<String> = content.facts.iter().map(|fact| words(fact)).collect();
    IdHash::of(&format!("{}\n{}\n{}", content.kind, words(&content.title), facts.join("\n")))
}

/// The marks by which a forgotten memory is recognised: its id and its words.
pub(in crate::archive) fn marks_of(uid: Uid, content: &MemoryContent) -> [IdHash; 2] {
    [IdHash::of(&uid.to_string()), fingerprint(content)]
}

pub(in crate::archive) fn list(items: &[String]) -> String {
    serde_json::to_string(items).unwrap_or_else(|_| "[]".to_owned())
}

pub(in crate::archive) fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let strings = |column| -> rusqlite::Result<Vec<String>> {
        serde_json::from_str(&row.get::<_, String>(column)?).map_err(|_| unknown_name(column))
    };
    let draft = MemoryDraft {
        kind: parse_column(row, 2, MemoryType::parse)?,
        title: row.get(3)?,
        subtitle: row.get(4)?,
        facts: strings(5)?,
        narrative: row.get(6)?,
        concepts: strings(7)?,
        files: files_in(&row.get::<_, String>(26)?),
    };
    let time = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    let superseded_at: Option<Timestamp> = time(21)?;
    let superseded = superseded_at.map(|at| -> rusqlite::Result<Supersession> {
        Ok(Supersession { by: row.get(20)?, at, why: row.get::<_, Option<String>>(22)?.unwrap_or_default() })
    });
    let person: Option<String> = row.get(27)?;
    let trust = parse_column(row, 14, MemoryTrust::named)?;
    Ok(Memory {
        number: row.get(0)?,
        uid: Uid(row.get(1)?),
        content: MemoryContent::of(draft).ok_or_else(|| unknown_name(3))?,
        project: row.get(8)?,
        source: citation(row)?,
        maker: MemoryAuthor::named(&row.get::<_, String>(13)?),
        trust: person.as_ref().map_or(trust, |_| trust.and(MemoryTrust::Team)),
        person,
        machine: row.get(29)?,
        is_private: row.get::<_, String>(28)? == "private",
        confidence: ConfidencePercent::percent(row.get(15)?),
        cost: row.get::<_, i64>(16)?.cast_unsigned(),
        made_at: Timestamp(row.get(17)?),
        changed_at: Timestamp(row.get(18)?),
        valid_from: Timestamp(row.get(19)?),
        superseded: superseded.transpose()?,
        pinned_at: time(23)?,
        quarantine: row.get(24)?,
        found: row.get(25)?,
    })
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Option<Citation>> {
    let Some(raw) = row.get::<_, Option<String>>(9)? else { return Ok(None) };
    let session = SessionKey::parse(&raw).map_err(|_| unknown_name(9))?;
    let short = clip_start(session.id.as_str(), SHORT).to_owned();
    Ok(Some(Citation { session, short, turn: row.get(10)?, branch: row.get(11)?, commit: row.get(12)? }))
}

/// Pairs of a path and a touch; invalid pairs are skipped.
pub(super) fn files_in(json: &str) -> Vec<(String, FileAccess)> {
    let pairs: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
    pairs.into_iter().filter_map(|(path, how)| Some((path, FileAccess::named(&how)?))).collect()
}

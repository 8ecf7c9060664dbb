//! The row of a memory: its columns, how it is read, and the fingerprint of its words.
//!
//! Reads only; a row whose words a newer version wrote is an error.

use crate::columns::{Columns, from_row};
use rusqlite::Row;
use towline_core::capture::FileAccess;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::memory::choose::Candidate;
use towline_core::memory::{Citation, Memory, MemoryContent, MemoryDraft, MemoryTrust, Supersession};
use towline_core::share::Visibility;
use towline_core::time::Timestamp;

pub(crate) const MEMORY: &str = "
    select m.id, m.uid, m.type, m.title, m.subtitle, m.facts, m.narrative, m.concepts,
        (select json_group_array(json_array(f.path, f.how)) from memory_files f where f.memory = m.id), p.name, m.session,
        m.turn, m.branch, m.commit_hash, m.maker, m.trust, m.person is not null, m.person,
        (select n.name from machine_names n where n.id = m.machine), m.presence, m.confidence, m.cost, m.made_at,
        m.changed_at, m.valid_from, m.superseded_at, m.superseded_by, m.superseded_why, m.pinned_at, m.proposed_at,
        m.quarantine, m.found
    from memories m left join projects p on p.id = m.project";

/// A row of `CANDIDATES`. The facts stay JSON: their words are the same.
pub(super) fn candidate<'r>(row: &'r Row<'_>) -> rusqlite::Result<(Candidate<'r>, Option<Timestamp>)> {
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let branch = row.get_ref(7)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    let mut columns = Columns::of_row(row);
    let (number, made_at) = columns.get()?;
    let (trust, confidence, found) = (trust(&mut columns)?, columns.get()?, columns.get()?);
    let texts = [text(8)?, text(9)?, text(10)?, text(11)?];
    let pinned_at: Option<i64> = row.get(12)?;
    let candidate = Candidate { number, made_at, kind: text(6)?, trust, confidence, found, branch, texts };
    Ok((candidate, pinned_at.map(Timestamp)))
}

/// A hash of title and facts that ignores case, spacing and punctuation.
pub(crate) fn fingerprint(content: &MemoryContent) -> IdHash {
    let words = |text: &str| {
        let letters =
            text.chars().flat_map(char::to_lowercase).map(|c| if c.is_alphanumeric() { c } else { ' ' });
        letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let facts: Vec<String> = content.facts.iter().map(|fact| words(fact)).collect();
    IdHash::of(&format!("{}\n{}\n{}", content.kind, words(&content.title), facts.join("\n")))
}

/// The marks by which a forgotten memory is recognised: its id and its words.
pub(crate) fn marks_of(uid: Uid, content: &MemoryContent) -> [IdHash; 2] {
    [IdHash::of(&uid.to_string()), fingerprint(content)]
}

pub(crate) fn list(items: &[String]) -> String {
    serde_json::to_string(items).unwrap_or_else(|_| "[]".to_owned())
}

from_row! { Memory {
    number, uid, content: content, project, source: citation, maker, trust: trust, person, machine,
    is_private: is_private, confidence, cost, made_at, changed_at, valid_from, superseded: superseded,
    pinned_at, proposed_at, quarantine, found
} }
from_row!(MemoryDraft { kind, title, subtitle, facts: strings, narrative, concepts: strings, files: files });

fn content(columns: &mut Columns<'_>) -> rusqlite::Result<MemoryContent> {
    MemoryContent::stored(columns.get()?).ok_or_else(|| columns.unknown())
}

fn strings(columns: &mut Columns<'_>) -> rusqlite::Result<Vec<String>> {
    columns.parse(|json| serde_json::from_str(json).ok())
}

fn files(columns: &mut Columns<'_>) -> rusqlite::Result<Vec<(String, FileAccess)>> {
    Ok(files_in(&columns.get::<String>()?))
}

/// A teammate's memory is trusted no more than the team.
fn trust(columns: &mut Columns<'_>) -> rusqlite::Result<MemoryTrust> {
    let (trust, is_others): (MemoryTrust, bool) = columns.get()?;
    Ok(if is_others { trust.and(MemoryTrust::Team) } else { trust })
}

fn is_private(columns: &mut Columns<'_>) -> rusqlite::Result<bool> {
    Ok(columns.get::<Visibility>()? == Visibility::Withdrawn)
}

fn superseded(columns: &mut Columns<'_>) -> rusqlite::Result<Option<Supersession>> {
    let (at, by, why): (Option<Timestamp>, _, Option<String>) = columns.get()?;
    Ok(at.map(|at| Supersession { by, at, why: why.unwrap_or_default() }))
}

fn citation(columns: &mut Columns<'_>) -> rusqlite::Result<Option<Citation>> {
    let (session, turn, branch, commit): (Option<SessionKey>, _, _, _) = columns.get()?;
    Ok(session.map(|session| Citation { short: session.short().to_owned(), session, turn, branch, commit }))
}

/// Pairs of a path and a touch; invalid pairs are skipped.
pub(super) fn files_in(json: &str) -> Vec<(String, FileAccess)> {
    let pairs: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
    pairs.into_iter().filter_map(|(path, how)| Some((path, FileAccess::named(&how)?))).collect()
}

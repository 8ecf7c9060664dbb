//! News since a cursor: from the journal, the archive's change list and the jobs.
//!
//! A cursor holds the positions in all three and no content. A cursor whose position was pruned is rejected.

use std::collections::BTreeMap;
use std::time::Duration;
use towline_core::memory::name;
use towline_core::time::Timestamp;
use towline_store::archive::ArchiveChange;
use towline_store::journal::{JournalPosition, JournalRecord, Segments, read_from};
use towline_store::{Archive, DataFolder, StoreError};

const PATIENCE: Duration = Duration::from_millis(500);

/// Limits of one batch: a client that is further behind reloads everything faster.
const MOST_BYTES: u64 = 2 << 20;
const MOST_CHANGES: u32 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NewsCursor {
    journal: JournalPosition,
    change: i64,
    jobs: i64,
}

/// The changes since a cursor, without content: the reader queries the rows that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewsItem {
    /// The last event of a session.
    Event {
        session: String,
        event: &'static str,
        at: Timestamp,
    },
    Fault {
        kind: &'static str,
    },
    /// Turns from `from_turn` on, or the summary, of a captured session.
    Turns {
        session: Option<String>,
        id: Option<String>,
        from_turn: Option<u32>,
        has_summary: bool,
    },
    Memory {
        id: String,
    },
    Jobs,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsBatch {
    pub items: Vec<NewsItem>,
    pub cursor: String,
}

/// The current cursor; `None` while nothing can be read.
pub fn cursor(home: &DataFolder) -> Option<String> {
    Some(now(home)?.text())
}

/// The news since a cursor; `None` if it was pruned or cannot be read.
pub fn since(home: &DataFolder, cursor: &str) -> Option<NewsBatch> {
    let from = NewsCursor::parse(cursor)?;
    let mut items = vec![];
    let journal = journaled(home, from.journal, &mut items)?;
    let archive =
        Archive::read(home, PATIENCE).ok()?.filter(|archive| archive.has_memory_tables().unwrap_or(false));
    let (mut change, mut jobs) = (from.change, from.jobs);
    if let Some(archive) = &archive {
        change = archived(archive, from.change, &mut items).ok()??;
        jobs = archive.jobs_mark().ok()?;
    }
    if jobs != from.jobs {
        items.push(NewsItem::Jobs);
    }
    Some(NewsBatch { items, cursor: NewsCursor { journal, change, jobs }.text() })
}

fn now(home: &DataFolder) -> Option<NewsCursor> {
    let journal =
        Segments::list(home).map_or(JournalPosition { segment: 1, offset: 0 }, |segments| segments.end());
    let archive =
        Archive::read(home, PATIENCE).ok()?.filter(|archive| archive.has_memory_tables().unwrap_or(false));
    let (change, jobs) = match &archive {
        Some(archive) => (archive.last_change().ok()?, archive.jobs_mark().ok()?),
        None => (0, 0),
    };
    Some(NewsCursor { journal, change, jobs })
}

/// Adds one entry per session, with its last event, and one per fault.
fn journaled(home: &DataFolder, from: JournalPosition, news: &mut Vec<NewsItem>) -> Option<JournalPosition> {
    let Ok(segments) = Segments::list(home) else { return Some(from) };
    if !segments.holds(from) || segments.bytes_after(from) > MOST_BYTES {
        return None;
    }
    let chunk = read_from(&segments, from, MOST_BYTES).ok()?;
    let mut sessions: BTreeMap<String, NewsItem> = BTreeMap::new();
    for record in &chunk.records {
        match record {
            JournalRecord::Event(event) => {
                let (session, at) = (event.session.to_string(), event.at);
                let item = NewsItem::Event { session: session.clone(), event: event.happening.name(), at };
                sessions.insert(session, item);
            }
            JournalRecord::Fault(fault) => news.push(NewsItem::Fault { kind: fault.kind.name() }),
        }
    }
    news.extend(sessions.into_values());
    Some(chunk.next)
}

/// Adds one entry per conversation and per memory. `None` if the change list was pruned past `from`.
fn archived(archive: &Archive, from: i64, news: &mut Vec<NewsItem>) -> Result<Option<i64>, StoreError> {
    if !archive.holds_changes_after(from)? {
        return Ok(None);
    }
    let changes = archive.changes_after(from, MOST_CHANGES)?;
    let last = changes.last().map_or(archive.last_change()?, |(seq, _)| *seq);
    let mut turns: BTreeMap<i64, (Option<u32>, bool)> = BTreeMap::new();
    let mut memories: Vec<i64> = vec![];
    for (_, change) in changes {
        match change {
            ArchiveChange::Conversation { row, from_turn } => {
                let first = &mut turns.entry(row).or_default().0;
                *first = Some(first.map_or(from_turn, |known| known.min(from_turn)));
            }
            ArchiveChange::Summary { conversation } => turns.entry(conversation).or_default().1 = true,
            ArchiveChange::Memory { number } if !memories.contains(&number) => memories.push(number),
            ArchiveChange::Memory { .. } => {}
        }
    }
    for (row, (from_turn, has_summary)) in turns {
        let of = archive.conversation_at(row)?;
        let session = of.as_ref().map(|of| of.session.to_string());
        news.push(NewsItem::Turns { session, id: of.map(|of| of.short), from_turn, has_summary });
    }
    news.extend(memories.into_iter().map(|number| NewsItem::Memory { id: name(number) }));
    Ok(Some(last))
}

impl NewsCursor {
    fn text(self) -> String {
        format!("{}-{}-{}-{:x}", self.journal.segment, self.journal.offset, self.change, self.jobs)
    }

    fn parse(text: &str) -> Option<NewsCursor> {
        let mut parts = text.split('-');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let journal = JournalPosition { segment: number()?, offset: number()? };
        let change = i64::try_from(number()?).ok()?;
        let jobs = i64::from_str_radix(parts.next()?, 16).ok()?;
        parts.next().is_none().then_some(NewsCursor { journal, change, jobs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is_one() {
        let place =
            NewsCursor { journal: JournalPosition { segment: 3, offset: 1024 }, change: 57, jobs: 0xab };
        assert_eq!(place.text(), "3-1024-57-ab");
        assert_eq!(NewsCursor::parse("3-1024-57-ab"), Some(place));
        for other in
            ["", "3", "3-1024-57", "3-1024-57-ab-1", "x-1-1-1", "3--1-57-ab", "99999999999999999999-1-1-1"]
        {
            assert_eq!(NewsCursor::parse(other), None, "{other}");
        }
    }
}

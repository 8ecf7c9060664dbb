//! Imports another product's memories and summaries, linked to the turns they came from.
//!
//! Each has its own id and is kept once. They are model output derived from tool output, and trusted as
//! little. Erased ones do not come back.

use super::basket::turn_at;
use crate::memory::remember::{Kept, store_bulk};
use towline_core::forget::PieceSource;
use towline_core::id::Uid;
use towline_core::memory::{ConfidencePercent, MemoryAuthor, MemoryContent, MemoryTrust, Summary};
use towline_core::redact::HIDDEN;
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, KeptSummary, NewMemory, TurnRow};
use towline_store::foreign::{ForeignRecord, ForeignSession};
use towline_store::{Archive, StoreError};

/// Counts of new entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    pub memories: u64,
    pub summaries: u64,
}

impl Learnt {
    pub fn plus(self, other: Learnt) -> Learnt {
        Learnt { memories: self.memories + other.memories, summaries: self.summaries + other.summaries }
    }
}

/// Confidence in the other product's memories: it verifies nothing.
const LIKELY: u8 = 60;

/// Stores the memories and summaries of a session in one transaction.
pub(super) fn keep(
    archive: &Archive,
    product: &str,
    session: &ForeignSession,
    found: Vec<ForeignRecord>,
    now: Timestamp,
) -> Result<Learnt, StoreError> {
    let Some(of) = archive.conversation(&session.key)? else { return Ok(Learnt::default()) };
    let turns = archive.turns(&of, 0, u32::MAX)?;
    let project = project(archive, &of, session)?;
    let importer = LearntImporter { archive, product, of, turns, project, now };
    archive.in_transaction(|| {
        let mut all = Learnt::default();
        for found in found {
            all = all.plus(importer.take(found)?);
        }
        Ok(all)
    })
}

/// The project of the conversation, else the only project with the name that the product knew.
fn project(
    archive: &Archive,
    of: &Conversation,
    session: &ForeignSession,
) -> Result<Option<i64>, StoreError> {
    let known = archive.project_of(of)?;
    let (None, Some(name)) = (known, &session.project) else { return Ok(known) };
    let named: Vec<i64> =
        archive.project_rows()?.iter().filter(|row| row.name == *name).map(|row| row.row).collect();
    Ok(if let [only] = named.as_slice() { Some(*only) } else { None })
}

struct LearntImporter<'a> {
    archive: &'a Archive,
    product: &'a str,
    of: Conversation,
    turns: Vec<TurnRow>,
    project: Option<i64>,
    now: Timestamp,
}

impl LearntImporter<'_> {
    fn take(&self, found: ForeignRecord) -> Result<Learnt, StoreError> {
        match found {
            ForeignRecord::Memory { during, .. } | ForeignRecord::Summary { during, .. }
                if self.turn(during).is_some_and(|turn| turn.line == HIDDEN) =>
            {
                Ok(Learnt::default())
            }
            ForeignRecord::Memory { id, at, during, cost, draft } => {
                let Some(content) = MemoryContent::of(*draft) else { return Ok(Learnt::default()) };
                let new = NewMemory { cost, ..self.memory(&id, at, during, content) };
                let is_known = self.archive.memory_by_uid(new.uid)?.is_some();
                let kept = store_bulk(self.archive, &new, self.now)?;
                let is_new = !is_known && matches!(kept, Kept::New(_));
                Ok(Learnt { memories: is_new.into(), summaries: 0 })
            }
            ForeignRecord::Summary { at, during, draft } => {
                let Some(summary) = Summary::of(&draft) else { return Ok(Learnt::default()) };
                Ok(Learnt { memories: 0, summaries: self.summary(at, during, summary)?.into() })
            }
            ForeignRecord::Piece(_) | ForeignRecord::Line { .. } | ForeignRecord::Note { .. } => {
                Ok(Learnt::default())
            }
        }
    }

    fn memory(&self, id: &str, at: Timestamp, during: Timestamp, content: MemoryContent) -> NewMemory {
        NewMemory {
            uid: Uid::derived(at, &["memory", &self.of.session.to_string(), id]),
            content,
            project: self.project,
            session: Some(self.of.session.clone()),
            turn: self.turn(during).map(|turn| turn.ordinal),
            branch: self.of.branch.clone(),
            commit: None,
            maker: MemoryAuthor::Model(self.product.to_owned()),
            trust: MemoryTrust::Tool,
            confidence: ConfidencePercent::percent(LIKELY),
            cost: 0,
            at,
            valid_from: during,
            quarantine: None,
        }
    }

    /// Stores a summary if it is the newest one and was not erased. Returns whether it did.
    fn summary(&self, at: Timestamp, during: Timestamp, summary: Summary) -> Result<bool, StoreError> {
        let gone = self.archive.forgotten().of(&self.of.session, &[]);
        let is_gone = gone.is_some_and(|gone| gone.is_time_erased(during, PieceSource::Session));
        if is_gone || self.archive.summary(&self.of)?.is_some_and(|known| known.at >= at) {
            return Ok(false);
        }
        let turn = self.turn(during).map_or(1, |turn| turn.ordinal);
        let maker = MemoryAuthor::Model(self.product.to_owned());
        let session = self.of.session.clone();
        self.archive.put_summary(
            &self.of,
            &KeptSummary { summary, session, turn, maker, trust: MemoryTrust::Agent, at },
        )?;
        Ok(true)
    }

    fn turn(&self, during: Timestamp) -> Option<&TurnRow> {
        turn_at(&self.turns, |turn| turn.at, during)
    }
}

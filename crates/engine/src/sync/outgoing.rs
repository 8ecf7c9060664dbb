//! Gathers rows for the hub: those that changed since the last sync or, in a full scan, all that are shared.
//!
//! Works in batches, so that memory does not grow with the queue. Skips rows that the hub already has; private and
//! excluded rows never enter a batch, nor do changes of others' rows, which stay here.

use super::Sharing;
use super::words::{self, WordsError};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use towline_core::id::Uid;
use towline_core::share::{RowKind, RowLife, SharedRow};
use towline_store::archive::{Archive, ArchiveChange, SendState, SyncRow};
use towline_store::{Store, StoreError};

/// Approximate bytes of one batch.
const BATCH_BYTES: usize = 4 << 20;
/// Changes that are read at a time.
const WINDOW: u32 = 500;

/// A row, and the plain text that the hub indexes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    pub row: SharedRow,
    pub text: String,
}

/// Rows for one push.
pub struct Batch {
    pub rows: Vec<Sending>,
    /// No rows are left after it.
    pub is_all: bool,
    place: HubCursor,
}

/// The cursor after this batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HubCursor {
    Changes(i64),
    /// The last memory and the last conversation of a full scan.
    Scan(i64, i64),
    ScanEnd,
}

#[derive(Debug, thiserror::Error)]
pub enum OutgoingError {
    #[error("could not read what is shared")]
    Store(#[from] StoreError),
    #[error("could not put a row into words")]
    Words(#[from] WordsError),
}

/// The next rows for the hub, at most `most`, recorded as offered.
pub fn outgoing(
    archive: &Archive,
    store: Option<&Store>,
    sharing: Sharing<'_>,
    most: usize,
) -> Result<Batch, OutgoingError> {
    if archive.own_person()? != sharing.person {
        archive.set_person(sharing.person)?;
    }
    let mut gathering = OutgoingRows::new(archive, sharing, most)?;
    let place = archive.hub_place()?;
    let told_all = gathering.tombs()?.is_continue()
        && gathering.noted(store)?.is_continue()
        && gathering.proposals()?.is_continue();
    let (place, is_all) = match (archive.scan()?, told_all) {
        (Some((memory, conversation)), true) => gathering.scan(memory, conversation)?,
        (Some((memory, conversation)), false) => (HubCursor::Scan(memory, conversation), false),
        (None, true) => gathering.changes(place)?,
        (None, false) => (HubCursor::Changes(place), false),
    };
    let rows: Vec<SharedRow> = gathering.rows.iter().map(|sending| sending.row.clone()).collect();
    archive.note_sent(&rows, SendState::Offered)?;
    Ok(Batch { rows: gathering.rows, is_all, place })
}

/// How many rows of each kind would be sent. Records nothing, and holds at most one batch in memory.
pub fn preview(
    archive: &Archive,
    store: Option<&Store>,
    sharing: Sharing<'_>,
) -> Result<BTreeMap<RowKind, u64>, OutgoingError> {
    let mut gathering = OutgoingRows::new(archive, sharing, usize::MAX)?;
    let mut counts = BTreeMap::new();
    while gathering.tombs()?.is_break()
        || gathering.noted(store)?.is_break()
        || gathering.proposals()?.is_break()
    {
        gathering.count(&mut counts);
    }
    let read = archive.read_up_to("hub")?;
    let is_held = read.map(|place| archive.holds_changes_after(place)).transpose()? == Some(true);
    let mut place = read.unwrap_or(0);
    let mut scan = archive.scan()?.or((!is_held).then_some((0, 0)));
    loop {
        let (next, is_all) = match scan {
            Some((memory, conversation)) => gathering.scan(memory, conversation)?,
            None => gathering.changes(place)?,
        };
        gathering.count(&mut counts);
        match next {
            HubCursor::Scan(memory, conversation) => scan = Some((memory, conversation)),
            HubCursor::ScanEnd if !is_held => return Ok(counts),
            HubCursor::ScanEnd => scan = None,
            HubCursor::Changes(seq) => place = seq,
        }
        if is_all {
            return Ok(counts);
        }
    }
}

/// Records that the hub has the whole batch.
pub fn note_sent(archive: &Archive, batch: &Batch) -> Result<(), StoreError> {
    let rows: Vec<SharedRow> = batch.rows.iter().map(|sending| sending.row.clone()).collect();
    archive.in_transaction(|| {
        archive.note_sent(&rows, SendState::Had)?;
        match batch.place {
            HubCursor::Changes(seq) => archive.set_hub_place(seq),
            HubCursor::Scan(memory, conversation) => archive.set_scan(memory, conversation),
            HubCursor::ScanEnd => archive.end_scan(),
        }
    })
}

/// How many changes are not yet sent.
pub fn waiting(archive: &Archive) -> Result<i64, StoreError> {
    let read = archive.read_up_to("hub")?.unwrap_or(0);
    Ok((archive.last_change()? - read).max(0))
}

struct OutgoingRows<'a> {
    archive: &'a Archive,
    /// The user's name in the team.
    person: String,
    /// Shared projects that the privacy settings exclude.
    excluded: HashSet<Uid>,
    most: usize,
    rows: Vec<Sending>,
    bytes: usize,
    seen: HashSet<Uid>,
}

impl<'a> OutgoingRows<'a> {
    fn new(archive: &'a Archive, sharing: Sharing<'_>, most: usize) -> Result<OutgoingRows<'a>, StoreError> {
        let shared = archive.shared_projects()?.into_iter();
        let excluded =
            shared.filter(|project| sharing.wishes.excludes(&project.root)).map(|project| project.id);
        let (excluded, person) = (excluded.collect(), sharing.person.to_owned());
        Ok(OutgoingRows { archive, person, excluded, most, rows: vec![], bytes: 0, seen: HashSet::new() })
    }

    /// Counts the gathered rows and drops them.
    fn count(&mut self, counts: &mut BTreeMap<RowKind, u64>) {
        for sending in self.rows.drain(..) {
            *counts.entry(sending.row.kind).or_default() += 1;
        }
        self.bytes = 0;
    }

    fn is_full(&self) -> ControlFlow<()> {
        let is_full = self.rows.len() >= self.most || self.bytes >= BATCH_BYTES;
        if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tombs(&mut self) -> Result<ControlFlow<()>, OutgoingError> {
        let most = u32::try_from(self.most).unwrap_or(u32::MAX);
        for tomb in self.archive.unsent_tombstones(most)? {
            if self.add(tomb)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(self.is_full())
    }

    /// Bookmarks and batons are in another database without a change list: digests tell which were sent.
    fn noted(&mut self, store: Option<&Store>) -> Result<ControlFlow<()>, OutgoingError> {
        let Some(store) = store else { return Ok(ControlFlow::Continue(())) };
        let (person, here, mut left) = (self.archive.own_person()?, self.archive.machine(), HashSet::new());
        for project in self.archive.shared_projects()? {
            for SyncRow { row, words } in store.sync_notes(&project, &person, here)? {
                left.insert(row.uid);
                let carried = SyncRow { row: self.archive.raised(row)?, words };
                if self.add(carried)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        for kind in [RowKind::Bookmark, RowKind::Baton] {
            for lost in self.archive.lost_sync_rows(kind, &left)? {
                if self.add(lost)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn proposals(&mut self) -> Result<ControlFlow<()>, OutgoingError> {
        for proposal in self.archive.unsent_proposals()? {
            if self.add(proposal)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn changes(&mut self, after: i64) -> Result<(HubCursor, bool), OutgoingError> {
        let mut place = after;
        let changes = self.archive.changes_after(after, WINDOW)?;
        let is_last = changes.len() < WINDOW as usize;
        for (seq, change) in changes {
            if self.change(change)?.is_break() {
                return Ok((HubCursor::Changes(place), false));
            }
            place = seq;
        }
        Ok((HubCursor::Changes(place), is_last))
    }

    fn change(&mut self, change: ArchiveChange) -> Result<ControlFlow<()>, OutgoingError> {
        match change {
            ArchiveChange::Memory { number } => self.memory(number),
            ArchiveChange::Conversation { row, from_turn } => self.conversation(row, from_turn),
            ArchiveChange::Summary { conversation } => match self.archive.sync_summary(conversation)? {
                Some(summary) => self.add(summary),
                None => Ok(ControlFlow::Continue(())),
            },
        }
    }

    fn scan(&mut self, memory: i64, conversation: i64) -> Result<(HubCursor, bool), OutgoingError> {
        let mut last = memory;
        for number in self.archive.shared_memories_behind(memory, WINDOW)? {
            if self.memory(number)?.is_break() {
                return Ok((HubCursor::Scan(last, conversation), false));
            }
            last = number;
        }
        if last > memory {
            return Ok((HubCursor::Scan(last, conversation), false));
        }
        let mut place = conversation;
        for row in self.archive.shared_conversations_behind(conversation, WINDOW)? {
            if self.conversation(row, 0)?.is_break() {
                return Ok((HubCursor::Scan(last, place), false));
            }
            place = row;
        }
        // Changes made meanwhile follow in the next batch.
        Ok(if place > conversation {
            (HubCursor::Scan(last, place), false)
        } else {
            (HubCursor::ScanEnd, false)
        })
    }

    fn memory(&mut self, number: i64) -> Result<ControlFlow<()>, OutgoingError> {
        match self.archive.sync_memory(number)? {
            Some(memory) => self.add(memory),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    fn conversation(&mut self, row: i64, from_turn: u32) -> Result<ControlFlow<()>, OutgoingError> {
        let archive = self.archive;
        archive.for_each_sync_row(row, from_turn, &mut |carried| self.add(carried))
    }

    /// Adds a row that the hub does not have in this version, if there is room.
    fn add(&mut self, mut carried: SyncRow<String>) -> Result<ControlFlow<()>, OutgoingError> {
        if self.excluded.contains(&carried.row.project) || self.seen.contains(&carried.row.uid) {
            return Ok(ControlFlow::Continue(()));
        }
        let is_tomb = matches!(carried.row.life, RowLife::Forgotten { .. });
        if carried.row.from.person != self.person && !is_tomb {
            return Ok(ControlFlow::Continue(()));
        }
        let (machine, words) = (self.archive.machine(), carried.words.take());
        let is_ours = carried.row.from.machine == machine;
        let is_bare = words.is_none() && !is_tomb;
        let may_go = (is_ours || carried.is_by(machine)) && !is_bare;
        if !may_go && !self.archive.was_offered(carried.row.uid)? {
            return Ok(ControlFlow::Continue(()));
        }
        let lettered = words.map(words::letters).transpose()?;
        let (words, text) =
            lettered.map_or_else(Default::default, |lettered| (lettered.words, lettered.text));
        let row = carried.with_content(words);
        let is_known =
            || Ok::<_, StoreError>(self.archive.is_sent(&row)? || self.archive.is_withdrawn(row.uid)?);
        if !is_tomb && is_known()? {
            return Ok(ControlFlow::Continue(()));
        }
        if self.is_full().is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.seen.insert(row.uid);
        self.bytes += text.len() + words_len(&row);
        let text = if is_held(&row) { String::new() } else { text };
        self.rows.push(Sending { row, text });
        Ok(ControlFlow::Continue(()))
    }
}

fn words_len(row: &SharedRow) -> usize {
    match &row.life {
        RowLife::Lives(registers) => registers.words.value.len(),
        RowLife::Forgotten { .. } => 0,
    }
}

/// Held-back rows are not searchable.
fn is_held(row: &SharedRow) -> bool {
    matches!(&row.life, RowLife::Lives(registers) if row.kind == RowKind::Memory && registers.hold.value.is_some())
}

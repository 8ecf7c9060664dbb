//! The cursor of distillation in the change feed, and its position within a conversation.
//!
//! Stored as one small text in the archive, in the same transaction as the distilled memories.

use std::collections::BTreeMap;
use std::fmt;
use towline_store::archive::ArchiveChange;
use towline_store::{Archive, StoreError};

/// The cursor's key among the archive's facts. A new key lets everything be distilled again, by rules that judge
/// otherwise than those before: memories that say the same stay as they are.
pub(super) const NAME: &str = "distilled-2";

/// In place of the end of a window: every conversation, whether or not it changed. The list of changes stays as it is, so
/// that nobody else has to read the conversations again.
const ALL: i64 = -1;

/// All changes up to `done` are distilled. Of the window up to `until`, the conversations before `row` are
/// done, and the turns before `turn` in that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DistilCursor {
    pub done: i64,
    until: i64,
    row: i64,
    turn: u32,
}

/// A conversation to distil, and its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextConversation {
    pub row: i64,
    pub turn: u32,
}

/// Returns `None` if there is no cursor, or if the changes after it were pruned.
pub(super) fn load(archive: &Archive) -> Result<Option<DistilCursor>, StoreError> {
    let Some(place) = archive.fact(NAME)?.map(|text| DistilCursor::parse(&text)) else { return Ok(None) };
    Ok(archive.holds_changes_after(place.done)?.then_some(place))
}

/// The cursor to continue from. Without one, all captured conversations are distilled, then what changed meanwhile.
pub(super) fn begin(archive: &Archive) -> Result<DistilCursor, StoreError> {
    if let Some(place) = load(archive)? {
        return Ok(place);
    }
    Ok(DistilCursor { done: archive.last_change()?, until: ALL, ..DistilCursor::default() })
}

impl DistilCursor {
    /// An invalid text means the beginning: distilling again changes nothing.
    fn parse(text: &str) -> DistilCursor {
        let mut numbers = text.split(' ').map(|number| number.parse::<i64>().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        let (done, until, row) = (next(), next(), next());
        DistilCursor { done, until, row, turn: u32::try_from(next()).unwrap_or(0) }
    }

    /// Whether a window of changes is only partly done.
    pub fn is_within(&self) -> bool {
        self.until > self.done || self.until == ALL
    }

    /// The number of turns that wait, at most `most`.
    pub fn count_pending(&self, archive: &Archive, most: u32) -> Result<u64, StoreError> {
        if self.until == ALL {
            return archive.count_turns_after(self.row - 1, most);
        }
        archive.count_turns_changed_after(self.done, most)
    }

    /// The next conversation; several changes to one conversation in a window count once.
    pub fn next(&mut self, archive: &Archive, window: u32) -> Result<Option<NextConversation>, StoreError> {
        loop {
            if !self.is_within() {
                let changes = archive.changes_after(self.done, window)?;
                let Some((last, _)) = changes.last() else { return Ok(None) };
                (self.until, self.row, self.turn) = (*last, 0, 0);
            }
            if let Some((row, from)) = self.next_changed(archive)? {
                let turn = if row == self.row { self.turn.max(from) } else { from };
                return Ok(Some(NextConversation { row, turn }));
            }
            let done = self.until.max(self.done);
            (self.done, self.until, self.row, self.turn) = (done, done, 0, 0);
        }
    }

    /// The next conversation of the window, with its first changed turn.
    fn next_changed(&self, archive: &Archive) -> Result<Option<(i64, u32)>, StoreError> {
        if self.until == ALL {
            let next = archive.conversation_rows_after(self.row - 1, 1)?;
            return Ok(next.first().map(|row| (*row, 0)));
        }
        Ok(self.changed(archive)?.range(self.row..).next().map(|(row, from)| (*row, *from)))
    }

    /// The conversations of the window, each with its first changed turn.
    fn changed(&self, archive: &Archive) -> Result<BTreeMap<i64, u32>, StoreError> {
        let most = u32::try_from(self.until - self.done).unwrap_or(u32::MAX);
        let mut found: BTreeMap<i64, u32> = BTreeMap::new();
        for (seq, change) in archive.changes_after(self.done, most)? {
            if let (ArchiveChange::Conversation { row, from_turn }, true) = (change, seq <= self.until) {
                found.entry(row).and_modify(|from| *from = from_turn.min(*from)).or_insert(from_turn);
            }
        }
        Ok(found)
    }

    /// Marks a conversation as done.
    pub fn mark_done(&mut self, row: i64) {
        (self.row, self.turn) = (row + 1, 0);
    }

    /// Marks a conversation as done up to this turn.
    pub fn mark_done_up_to(&mut self, row: i64, turn: u32) {
        (self.row, self.turn) = (row, turn);
    }

    pub fn is_at_end(&mut self, archive: &Archive) -> Result<bool, StoreError> {
        Ok(self.next(archive, super::WINDOW)?.is_none())
    }
}

impl fmt::Display for DistilCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.done, self.until, self.row, self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_nonsense_is_the_beginning() {
        let place = DistilCursor { done: 12, until: 40, row: 3, turn: 17 };
        assert_eq!(DistilCursor::parse(&place.to_string()), place);
        assert_eq!(DistilCursor::parse("nonsense"), DistilCursor::default());
        let all = DistilCursor { done: 12, until: ALL, ..DistilCursor::default() };
        assert!(all.is_within() && DistilCursor::parse(&all.to_string()) == all);
    }
}

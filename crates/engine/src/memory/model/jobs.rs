//! Creates a model job for each finished turn that is worth one.
//!
//! Reads the archive's changes from its own cursor. The cursor advances in the transaction that adds jobs.

use towline_core::capture::Speaker;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;
use towline_store::archive::{ArchiveChange, DistilJobKind, NewJob, TurnRow};
use towline_store::{Archive, StoreError};

/// The name of our cursor in the archive.
pub const READER: &str = "distil";
const AT_ONCE: u32 = 500;

/// Older imported turns are not worth the cost.
const FRESH_MS: i64 = 24 * 3600 * 1000;

/// A turn without tool actions and with less text than this teaches nothing.
const WORTH_BYTES: usize = 600;

/// Creates missing jobs and returns their number. `is_working` says whether a session's turn still runs.
pub fn make_jobs(
    archive: &Archive,
    now: Timestamp,
    is_working: &dyn Fn(&SessionKey) -> bool,
) -> Result<usize, StoreError> {
    let mut place = archive.read_up_to(READER)?.unwrap_or(0);
    let mut made = 0;
    if !archive.holds_changes_after(place)? {
        place = archive.last_change()?;
        made += archive.in_transaction(|| {
            let made = of_all(archive, now, is_working)?;
            archive.note_read_up_to(READER, place)?;
            Ok(made)
        })?;
    }
    loop {
        let changes = archive.changes_after(place, AT_ONCE)?;
        let Some((last, _)) = changes.last() else { return Ok(made) };
        place = *last;
        made += archive.in_transaction(|| {
            let mut made = 0;
            for (_, change) in &changes {
                if let ArchiveChange::Conversation { row, from_turn } = change {
                    made += of_conversation(archive, *row, *from_turn, now, is_working)?;
                }
            }
            archive.note_read_up_to(READER, place)?;
            Ok(made)
        })?;
    }
}

/// Used if the cursor was pruned: checks all conversations. Those older than a day only cost a lookup.
fn of_all(
    archive: &Archive,
    now: Timestamp,
    is_working: &dyn Fn(&SessionKey) -> bool,
) -> Result<usize, StoreError> {
    let (mut made, mut last) = (0, 0);
    loop {
        let rows = archive.conversation_rows_after(last, AT_ONCE)?;
        let Some(end) = rows.last() else { return Ok(made) };
        last = *end;
        for row in rows {
            made += of_conversation(archive, row, 0, now, is_working)?;
        }
    }
}

fn of_conversation(
    archive: &Archive,
    row: i64,
    from_turn: u32,
    now: Timestamp,
    is_working: &dyn Fn(&SessionKey) -> bool,
) -> Result<usize, StoreError> {
    let Some(of) = archive.conversation_at(row)? else { return Ok(0) };
    if now.since_ms(of.last_at) > FRESH_MS || !archive.is_captured_here(&of)? {
        return Ok(0);
    }
    // The turn before the first changed one may have ended because of it.
    let turns = archive.turns(&of, from_turn.saturating_sub(1), u32::MAX)?;
    let last = turns.last().map(|turn| turn.ordinal);
    let mut made = 0;
    for turn in &turns {
        let goes_on = Some(turn.ordinal) == last && is_working(&of.session);
        if !goes_on && now.since_ms(turn.until) <= FRESH_MS && is_worth_enriching(archive, turn)? {
            let job = NewJob { kind: DistilJobKind::Distil, of: &of, turn, at: now };
            made += usize::from(archive.make_job(job)?);
        }
    }
    Ok(made)
}

/// Whether a turn may be worth a model's tokens: a user asked, and the agent acted or explained.
pub fn is_worth_enriching(archive: &Archive, turn: &TurnRow) -> Result<bool, StoreError> {
    if !turn.origin.is_work() || turn.reverted {
        return Ok(false);
    }
    let bodies = archive.bodies(turn)?;
    let bytes: usize = bodies.iter().map(|body| body.text.len()).sum();
    let is_answered = bodies.iter().any(|body| body.speaker == Speaker::Agent);
    Ok(turn.tools > 0 || is_answered && bytes >= WORTH_BYTES)
}

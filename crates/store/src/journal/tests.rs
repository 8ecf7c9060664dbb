//! Frames, torn tails, sealing and order, on real files.

use super::read::ChunkEnd;
use super::*;
use crate::lock::ProjectionLock;
use std::fs;
use tempfile::TempDir;
use towline_core::bookmark::{BookmarkOrigin, NewBookmark};
use towline_core::event::EventKind;
use towline_core::fault::FaultKind;
use towline_core::id::{SessionKey, Uid};
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;

fn fault(n: usize) -> JournalRecord {
    JournalRecord::Fault(FaultRecord {
        at: Timestamp(n as i64),
        kind: FaultKind::Payload,
        detail: format!("fault {n}"),
    })
}

fn numbers(chunk: &JournalChunk) -> Vec<i64> {
    let at = |record: &JournalRecord| match record {
        JournalRecord::Fault(fault) => fault.at.0,
        JournalRecord::Event(event) => event.at.0,
    };
    chunk.records.iter().map(at).collect()
}

fn fresh() -> (TempDir, DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let home = DataFolder::at(folder.path().join("data"));
    (folder, home)
}

const ALL: u64 = 1 << 30;

fn read_on(home: &DataFolder, from: JournalPosition, limit: u64) -> std::io::Result<JournalChunk> {
    read_from(&Segments::list(home)?, from, limit)
}

fn read_all(home: &DataFolder) -> JournalChunk {
    read_on(home, JournalPosition::default(), ALL).unwrap()
}

#[test]
fn appended_records_are_read_in_order() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1), fault(2)]).unwrap();
    append(&home, &[fault(3)]).unwrap();
    let chunk = read_all(&home);
    assert_eq!(numbers(&chunk), [1, 2, 3]);
    assert_eq!((chunk.ended_by, chunk.torn_bytes), (ChunkEnd::CaughtUp, 0));
    assert!(read_on(&home, chunk.next, ALL).unwrap().records.is_empty());
}

#[test]
fn a_journal_torn_at_any_byte_loses_only_the_torn_record() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1)]).unwrap();
    let path = segments::active(&home);
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, [&whole[..cut], &whole[..]].concat()).unwrap();
        assert_eq!(numbers(&read_all(&home)), [1], "cut at {cut}");
    }
}

#[test]
fn a_tail_that_may_still_be_written_is_left_for_the_next_reader() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1), fault(2)]).unwrap();
    let path = segments::active(&home);
    let whole = fs::read(&path).unwrap();
    let first = whole.len() / 2;
    for cut in first + 1..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let chunk = read_all(&home);
        assert_eq!((numbers(&chunk), chunk.next.offset), (vec![1], first as u64), "cut at {cut}");
        fs::write(&path, &whole).unwrap();
        assert_eq!(numbers(&read_on(&home, chunk.next, ALL).unwrap()), [2]);
    }
}

#[test]
fn a_flipped_bit_costs_one_record() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1), fault(2), fault(3)]).unwrap();
    let path = segments::active(&home);
    let whole = fs::read(&path).unwrap();
    let length = whole.len() / 3;
    for at in length..2 * length - 1 {
        let mut bent = whole.clone();
        bent[at] ^= 0x40;
        fs::write(&path, &bent).unwrap();
        let chunk = read_all(&home);
        assert!(matches!(numbers(&chunk)[..], [1, 3] | [1]), "byte {at}: {:?}", numbers(&chunk));
    }
}

#[test]
fn a_record_of_a_newer_version_stops_the_reader_and_is_not_skipped() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1)]).unwrap();
    let path = segments::active(&home);
    let mut bytes = fs::read(&path).unwrap();
    let mut newer = bytes.clone();
    newer[3] = b'2';
    bytes.extend(newer);
    fs::write(&path, &bytes).unwrap();
    let chunk = read_all(&home);
    assert_eq!((numbers(&chunk), chunk.ended_by), (vec![1], ChunkEnd::Newer));
    assert_eq!(chunk.next.offset, bytes.len() as u64 / 2);
}

#[test]
fn sealing_keeps_the_order_and_a_position_in_the_sealed_file() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1)]).unwrap();
    let position = read_all(&home).next;
    append(&home, &[fault(2)]).unwrap();
    let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
    seal(&home, &lock).unwrap();
    append(&home, &[fault(3)]).unwrap();
    seal(&home, &lock).unwrap();
    append(&home, &[fault(4)]).unwrap();
    let chunk = read_on(&home, position, ALL).unwrap();
    assert_eq!(numbers(&chunk), [2, 3, 4]);
    assert_eq!(chunk.next.segment, 3);
}

#[test]
fn an_append_that_meets_a_sealing_goes_to_the_new_file() {
    let (_folder, home) = fresh();
    append(&home, &[fault(1)]).unwrap();
    let held = append_to(&segments::active(&home)).unwrap();
    seal(&home, &ProjectionLock::try_take(&home).unwrap().unwrap()).unwrap();
    assert!(!is_file_at(&held, &segments::active(&home)).unwrap());
    append(&home, &[fault(2)]).unwrap();
    assert_eq!(numbers(&read_all(&home)), [1, 2]);
}

/// Expires all that may be, without knowing any session.
fn expire_all(home: &DataFolder, applied: JournalPosition) -> u64 {
    expire(home, applied, 0, &|_| None).unwrap()
}

#[test]
fn expiry_takes_the_oldest_applied_segments_only() {
    let (_folder, home) = fresh();
    for n in 1..=4 {
        append(&home, &[fault(n)]).unwrap();
        seal(&home, &ProjectionLock::try_take(&home).unwrap().unwrap()).unwrap();
    }
    assert_eq!(
        expire_all(&home, JournalPosition { segment: 1, offset: 9 }),
        0,
        "nothing before 1 is applied"
    );
    assert!(expire_all(&home, JournalPosition { segment: 3, offset: 0 }) > 0);
    assert_eq!(numbers(&read_all(&home)), [3, 4]);
    expire_all(&home, JournalPosition { segment: 9, offset: 0 });
    assert_eq!(numbers(&read_all(&home)), [4], "the newest sealed one stays");
}

/// A label was gone after a rebuild, once its segment had expired.
#[test]
fn what_the_user_wrote_outlives_the_segment_it_was_in() {
    let (_folder, home) = fresh();
    let label = JournalRecord::Event(labelled_bookmark(2));
    for records in [vec![fault(1), label, fault(3)], vec![fault(4)], vec![fault(5)]] {
        append(&home, &records).unwrap();
        seal(&home, &ProjectionLock::try_take(&home).unwrap().unwrap()).unwrap();
    }
    let applied = JournalPosition { segment: 9, offset: 0 };
    assert!(expire_all(&home, applied) > 0);
    assert_eq!(numbers(&read_all(&home)), [2, 5]);
    assert_eq!(expire_all(&home, applied), 0, "nothing is left to remove");
}

fn labelled_bookmark(at: i64) -> Event {
    let label = TextPolicy { longest_bytes: 99, secrets: SecretPolicy::Redacted };
    let label = Some(SafeText::new("before the storm", label));
    let set = NewBookmark { how: BookmarkOrigin::Manual, after_turn: 1, reason: None, label };
    Event {
        uid: Uid([7; 16]),
        at: Timestamp(at),
        session: SessionKey::parse("a:1").unwrap(),
        subagent: None,
        turn: None,
        happening: EventKind::BookmarkSet(set),
        scene: None,
    }
}

#[test]
fn a_chunk_ends_at_its_limit_and_the_next_goes_on() {
    let (_folder, home) = fresh();
    for n in 1..=100 {
        append(&home, &[fault(n)]).unwrap();
    }
    let (mut position, mut seen) = (JournalPosition::default(), vec![]);
    for _ in 0..100 {
        let chunk = read_on(&home, position, 1000).unwrap();
        seen.extend(numbers(&chunk));
        position = chunk.next;
        if chunk.ended_by == ChunkEnd::CaughtUp {
            break;
        }
    }
    assert_eq!(seen, (1..=100).collect::<Vec<_>>());
}

/// Removes faults with an even time and changes the one at 7.
fn remove_even(entry: JournalEntry<'_>) -> Rewrite {
    match entry {
        JournalEntry::Record(JournalRecord::Fault(fault)) if fault.at.0 == 7 => {
            Rewrite::Replace(JournalRecord::Fault(FaultRecord { detail: String::new(), ..fault }))
        }
        JournalEntry::Record(JournalRecord::Fault(fault)) if fault.at.0 % 2 == 0 => Rewrite::Remove,
        JournalEntry::Record(_) => Rewrite::Keep,
        JournalEntry::Bytes(_) => Rewrite::Remove,
    }
}

#[test]
fn a_rewrite_removes_records_from_sealed_segments_and_keeps_the_order() {
    let (_folder, home) = fresh();
    home.create().unwrap();
    let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
    for n in 1..=4 {
        append(&home, &[fault(2 * n), fault(2 * n + 1)]).unwrap();
        if n < 4 {
            seal(&home, &lock).unwrap();
        }
    }
    fs::write(home.journal().join("00000002.sealed.new"), "left by somebody who was killed").unwrap();
    assert_eq!(preview_rewrite(&home, &mut remove_even).unwrap(), RewriteCounts { gone: 4, changed: 1 });
    assert_eq!(numbers(&read_all(&home)), [2, 3, 4, 5, 6, 7, 8, 9], "a rehearsal changes nothing");
    let untouched = fs::read(segments::active(&home)).unwrap();
    assert_eq!(rewrite(&home, &lock, &mut remove_even).unwrap(), RewriteCounts { gone: 3, changed: 1 });
    assert_eq!(numbers(&read_all(&home)), [3, 5, 7, 8, 9]);
    assert_eq!(fs::read(segments::active(&home)).unwrap(), untouched, "what is appended to is not rewritten");
    assert!(!home.journal().join("00000002.sealed.new").exists());
    assert_eq!(rewrite(&home, &lock, &mut remove_even).unwrap(), RewriteCounts { gone: 0, changed: 1 });
}

#[test]
fn a_segment_whose_records_are_all_removed_keeps_its_number() {
    let (_folder, home) = fresh();
    home.create().unwrap();
    let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
    append(&home, &[fault(2)]).unwrap();
    seal(&home, &lock).unwrap();
    rewrite(&home, &lock, &mut remove_even).unwrap();
    append(&home, &[fault(3)]).unwrap();
    let chunk = read_all(&home);
    assert_eq!((numbers(&chunk), chunk.next.segment), (vec![3], 2));
}

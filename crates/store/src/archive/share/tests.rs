//! Migration of an older archive with its rows; stamps of every change.

use super::stamps::RegisterId;
use super::{SendState, ShareLevel};
use crate::StoreError;
use crate::archive::bench::Bench;
use crate::archive::memories::NewMemory;
use crate::archive::{Archive, EraseMode, EraseScope, MIGRATIONS};
use crate::database::connect;
use crate::home::DataFolder;
use crate::lock::ArchiveLock;
use rusqlite::OpenFlags;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::project::ProjectIdentity;
use towline_core::share::{RowLife, Visibility, WriteStamp};
use towline_core::time::Timestamp;

const NOW: Timestamp = Timestamp(50);
const HERE: Uid = Uid([7; 16]);

fn content(title: &str) -> MemoryContent {
    MemoryContent::of(MemoryDraft::new(MemoryType::parse("decision").unwrap(), title)).unwrap()
}

fn add(archive: &Archive, title: &str, project: Option<i64>) -> i64 {
    let new = NewMemory {
        uid: Uid::derived(Timestamp(5), &[title]),
        content: content(title),
        project,
        session: None,
        turn: None,
        branch: None,
        commit: None,
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Agent,
        confidence: ConfidencePercent::percent(70),
        cost: 0,
        at: Timestamp(5),
        valid_from: Timestamp(5),
        quarantine: None,
    };
    archive.add_memory(&new).unwrap()
}

fn shared(archive: &Archive) -> i64 {
    let traces = ProjectIdentity { root: "/boat".into(), remote: None, name: None, branch: None };
    let row = archive.project_made(&traces).unwrap();
    archive.share_project(row, "boat", ShareLevel::Lines, NOW).unwrap().row
}

fn counts(archive: &Archive, number: i64) -> [u64; 5] {
    let RowLife::Lives(registers) = archive.sync_memory(number).unwrap().unwrap().row.life else { panic!() };
    let stamps = [
        registers.words.stamp,
        registers.pin.stamp,
        registers.standing.stamp,
        registers.hold.stamp,
        registers.presence.stamp,
    ];
    assert!(stamps.iter().all(|stamp| *stamp == WriteStamp::NEVER || stamp.machine == HERE));
    stamps.map(|stamp| stamp.count)
}

#[test]
fn every_change_stamps_what_it_changed_and_nothing_else() {
    let Bench { archive, .. } = &Bench::new();
    let project = shared(archive);
    let (one, other) = (add(archive, "one", Some(project)), add(archive, "other", Some(project)));
    assert_eq!(counts(archive, one), [1, 0, 0, 0, 0]);
    archive.edit_memory(one, &content("one more"), NOW, "").unwrap();
    assert_eq!(counts(archive, one), [2, 0, 0, 0, 0]);
    archive.pin_memory(one, Some(NOW), NOW).unwrap();
    archive.pin_memory(one, None, NOW).unwrap();
    assert_eq!(counts(archive, one), [2, 2, 0, 0, 0]);
    archive.supersede_memory(one, Some(other), NOW, "newer").unwrap();
    assert_eq!(archive.undo_memory(one, NOW).unwrap().as_deref(), Some("superseded"));
    archive.quarantine_memory(one, Some("odd"), NOW).unwrap();
    assert_eq!(counts(archive, one), [2, 2, 2, 1, 0]);
    archive.found_memory_again(one, NOW).unwrap();
    assert_eq!(counts(archive, one), [2, 2, 2, 1, 0]);
    let died = archive.in_transaction(|| {
        archive.edit_memory(one, &content("never"), NOW, "")?;
        Err::<(), _>(StoreError::StillRead)
    });
    assert!(
        died.is_err() && counts(archive, one) == [2, 2, 2, 1, 0],
        "a change that was not made is not stamped"
    );
    archive.keep_private(one, Visibility::Withdrawn, NOW).unwrap();
    let [words, .., presence] = counts(archive, one);
    assert!(words > 1000 && presence == 1, "no edit that is under way brings its words back");
}

#[test]
fn only_shared_rows_leave_a_tomb() {
    let mut bench = Bench::new();
    let archive = &mut bench.archive;
    let project = shared(archive);
    let (alone, both) = (add(archive, "alone", None), add(archive, "both", Some(project)));
    let erased = archive.erase(&EraseScope::Memories(&[alone, both]), EraseMode::ForGood, NOW).unwrap();
    assert_eq!(erased.memories, 2);
    let tombs = archive.unsent_tombstones(9).unwrap();
    let told: Vec<_> = tombs.iter().map(|tomb| (tomb.row.uid, tomb.row.life.clone())).collect();
    let gone = RowLife::Forgotten { at: NOW, by: String::new() };
    assert_eq!(told, [(Uid::derived(Timestamp(5), &["both"]), gone)]);
    archive.note_sent(&[tombs[0].row.clone()], SendState::Had).unwrap();
    assert!(archive.unsent_tombstones(9).unwrap().is_empty());
}

#[test]
fn a_memory_that_is_dropped_and_made_again_is_newer_than_its_going() {
    let Bench { archive, .. } = &Bench::new();
    let project = shared(archive);
    let number = add(archive, "one", Some(project));
    let uid = archive.memory(number).unwrap().unwrap().uid;
    archive.drop_memory(number).unwrap();
    let tomb = archive.unsent_tombstones(9).unwrap().remove(0);
    assert!(!tomb.row.is_shared() && matches!(tomb.row.life, RowLife::Lives(_)));
    let gone = archive.stamp(uid, RegisterId::Words).unwrap().unwrap();
    let again = add(archive, "one", Some(project));
    assert!(archive.unsent_tombstones(9).unwrap().is_empty());
    let carried = archive.sync_memory(again).unwrap().unwrap();
    let RowLife::Lives(registers) = carried.row.life else { panic!() };
    assert!(registers.words.stamp > gone && registers.presence.value == Visibility::Shared);
    assert_eq!(registers.presence.stamp.count, 2);
}

#[test]
fn an_older_archive_is_migrated_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let home = DataFolder::at(folder.path());
    home.create().unwrap();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let old = connect(&home.archive(), flags).unwrap();
    old.execute_batch(&format!(
        "{}\n{}\n{}\npragma user_version = 3;",
        MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2]
    ))
    .unwrap();
    old.execute_batch(
        "insert into projects values (1, x'01', x'02', 1, '/boat', null, 'boat', 0);
         insert into memories (id, uid, machine, revision, project, type, title, subtitle, facts, narrative, concepts,
             maker, trust, confidence, cost, made_at, changed_at, valid_from, superseded_by, superseded_at, superseded_why,
             found, fingerprint)
         select n.column1, unhex(n.column2), x'07070707070707070707070707070707', 3, 1, 'decision', n.column3, '', '[]', '',
             '[]', 'rules', 'agent', 70, 0, 5, 5, 5, n.column4, n.column5, n.column6, 1, n.column1
         from (values (1, '11111111111111111111111111111111', 'Use Redis', 2, 9, 'newer'),
             (2, '22222222222222222222222222222222', 'Use Valkey', null, null, null)) n;",
    )
    .unwrap();
    drop(old);
    let lock = ArchiveLock::take_within(&home, []).unwrap().unwrap();
    let archive = Archive::open(&home, &lock, Duration::ZERO, HERE).unwrap();
    archive.share_project(1, "boat", ShareLevel::Lines, NOW).unwrap();
    assert_eq!(counts(&archive, 1), [1, 0, 1, 0, 0]);
    let RowLife::Lives(registers) = archive.sync_memory(1).unwrap().unwrap().row.life else { panic!() };
    assert_eq!(registers.standing.value.unwrap().by, Some(Uid([0x22; 16])));
    assert_eq!(archive.scan().unwrap(), Some((0, 0)), "all that is shared is told the first time");
}

#[test]
fn the_name_of_a_machine_is_shown_with_its_rows_and_stays() {
    let bench = Bench::new();
    let archive = &bench.archive;
    let (own, came) = (add(archive, "own", None), add(archive, "came", None));
    archive.db.execute("update memories set machine = ?2 where id = ?1", (came, [9_u8; 16])).unwrap();
    let name =
        |name: &str| archive.name_machines(&[(Uid([9; 16]), name.into()), (archive.machine(), "me".into())]);
    name("desk").unwrap();
    let told = |number| archive.memory(number).unwrap().unwrap().machine;
    assert_eq!((told(own), told(came).as_deref()), (None, Some("desk")));
    name("bench").unwrap();
    archive.name_machines(&[]).unwrap();
    assert_eq!(told(came).as_deref(), Some("bench"), "it has left, its rows have not");
}

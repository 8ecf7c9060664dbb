//! The memory log on real files: lost, emptied and old archives, damaged logs, deletions, erases.

use crate::archive::tests::ArchiveFixture;
use crate::archive::{Archive, EraseMode, EraseScope, MemoryQuery, NewMemory, set_aside};
use std::fs;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{
    ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

const NOW: Timestamp = Timestamp(1_000_000);

fn content(title: &str) -> MemoryContent {
    let kind = MemoryType::parse("preference").unwrap();
    MemoryContent::of(MemoryDraft { facts: vec![format!("{title} it is")], ..MemoryDraft::new(kind, title) })
        .unwrap()
}

fn add(archive: &Archive, seed: u8, maker: MemoryAuthor, title: &str) -> i64 {
    let project = ProjectIdentity { root: "/home/boat".into(), remote: None, ..ProjectIdentity::default() };
    let new = NewMemory {
        uid: Uid([seed; 16]),
        content: content(title),
        project: Some(archive.project_made(&project).unwrap()),
        session: SessionKey::parse("a:one-session").ok(),
        turn: Some(2),
        branch: Some("main".into()),
        commit: None,
        maker,
        trust: MemoryTrust::Person,
        confidence: ConfidencePercent::SURE,
        cost: 0,
        at: NOW,
        valid_from: NOW,
        quarantine: None,
    };
    archive.add_memory(&new).unwrap()
}

fn person(archive: &Archive, seed: u8, title: &str) -> i64 {
    add(archive, seed, MemoryAuthor::Person, title)
}

/// All memories with their history.
fn state(archive: &Archive) -> Vec<(Memory, String)> {
    let query = MemoryQuery { limit: 100, ..MemoryQuery::default() };
    let mut numbers: Vec<i64> =
        archive.memories(&query).unwrap().iter().map(|memory| memory.number).collect();
    numbers.sort_unstable();
    let one = |number: i64| {
        let trace = archive.memory_trace(number).unwrap();
        (archive.memory(number).unwrap().unwrap(), format!("{trace:?}"))
    };
    numbers.into_iter().map(one).collect()
}

/// Three rules of the user in several states, and one memory that distilling made.
fn fill(archive: &Archive) {
    let (a, b) = (person(archive, 1, "tabs"), person(archive, 2, "spaces"));
    let c = person(archive, 3, "semicolons");
    archive.pin_memory(a, Some(NOW), NOW.plus_ms(1)).unwrap();
    archive.edit_memory(a, &content("tabs, always"), NOW.plus_ms(2), "").unwrap();
    archive.supersede_memory(b, Some(a), NOW.plus_ms(3), "no more").unwrap();
    archive.quarantine_memory(c, Some("a veto"), NOW.plus_ms(4)).unwrap();
    let found = add(archive, 4, MemoryAuthor::Rules, "distilled");
    archive.found_memory_again(found, NOW).unwrap();
}

#[test]
fn an_archive_that_is_lost_emptied_or_cut_gets_back_all_that_was_told_or_changed_by_hand() {
    let bench = ArchiveFixture::new();
    fill(&bench.open());
    let mut before = state(&bench.open());
    assert_eq!(before.pop().unwrap().0.content.title, "distilled", "which a capture makes again");
    bench.open().checkpoint().unwrap();
    let lose: [&dyn Fn(); 3] = [
        &|| drop(set_aside(&bench.home, &bench.lock, NOW).unwrap()),
        &|| fs::write(bench.home.archive(), "").unwrap(),
        &|| fs::remove_file(bench.home.archive()).unwrap(),
    ];
    for lose in lose {
        lose();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", bench.home.archive().display()));
        }
        let archive = bench.open();
        assert_eq!((archive.recovered(), state(&archive)), (3, before.clone()));
        archive.checkpoint().unwrap();
        assert_eq!(bench.open().recovered(), 0);
    }
}

#[test]
fn a_change_of_which_only_the_log_knows_is_made_again() {
    let bench = ArchiveFixture::new();
    let number = person(&bench.open(), 1, "tabs");
    bench.open().checkpoint().unwrap();
    let old = fs::read(bench.home.archive()).unwrap();
    let archive = bench.open();
    archive.pin_memory(number, Some(NOW), NOW).unwrap();
    archive.checkpoint().unwrap();
    drop(archive);
    fs::write(bench.home.archive(), old).unwrap();
    let archive = bench.open();
    assert_eq!(archive.memory(number).unwrap().unwrap().pinned_at, Some(NOW));
    assert_eq!(archive.undo_memory(number, NOW).unwrap().as_deref(), Some("pinned"));
}

#[test]
fn a_damaged_or_deleted_log_is_written_anew_from_the_archive() {
    let bench = ArchiveFixture::new();
    fill(&bench.open());
    let log = bench.home.memory_log();
    let whole = fs::read(&log).unwrap();
    let write = |bytes: &[u8]| fs::write(&log, bytes).unwrap();
    let damage: [&dyn Fn(); 4] =
        [&|| write(&vec![0xff; whole.len()]), &|| write(&whole[..whole.len() / 2]), &|| write(b""), &|| {
            fs::remove_file(&log).unwrap()
        }];
    for damage in damage {
        let before = state(&bench.open());
        damage();
        bench.open().check_log().unwrap();
        assert_eq!((bench.open().recovered(), state(&bench.open())), (0, before.clone()));
        set_aside(&bench.home, &bench.lock, NOW).unwrap();
        assert_eq!(state(&bench.open()), before[..3], "the log is whole again");
    }
}

#[test]
fn what_was_deleted_or_forgotten_does_not_come_back_from_the_log_and_its_words_leave_it() {
    let bench = ArchiveFixture::new();
    let mut archive = bench.open();
    let numbers =
        [person(&archive, 1, "dropped"), person(&archive, 2, "forgotten"), person(&archive, 3, "kept")];
    archive.drop_memory(numbers[0]).unwrap();
    let forgotten = EraseScope::Memories(&numbers[1..2]);
    archive.erase(&forgotten, EraseMode::Rehearsal, NOW).unwrap();
    archive.erase(&forgotten, EraseMode::ForGood, NOW).unwrap();
    drop(archive);
    set_aside(&bench.home, &bench.lock, NOW).unwrap();
    let archive = bench.open();
    let titles: Vec<String> =
        state(&archive).into_iter().map(|(memory, _)| memory.content.title.clone()).collect();
    assert_eq!(titles, ["kept"]);
    drop(archive.compact(&bench.lock).unwrap());
    let log = String::from_utf8_lossy(&fs::read(bench.home.memory_log()).unwrap()).into_owned();
    assert!(
        log.contains("kept") && !log.contains("dropped it is") && !log.contains("forgotten it is"),
        "{log}"
    );
}

#[test]
fn memories_that_rules_replaced_are_not_logged_until_a_user_undoes_it() {
    let fixture = ArchiveFixture::new();
    let archive = fixture.open();
    let (old, new) =
        (add(&archive, 1, MemoryAuthor::Rules, "tabs"), add(&archive, 2, MemoryAuthor::Rules, "spaces"));
    let logged = || archive.logged().unwrap().records.len();
    archive.replace_memory(old, new, NOW, "newer").unwrap();
    assert_eq!(logged(), 0, "distilling finds both again");
    archive.undo_memory(old, NOW.plus_ms(1)).unwrap();
    assert_eq!(logged(), 1);
}

//! The archive on real files: duplicate, unordered and late rows; damaged pages.
//!
//! The transcript readers have their own tests.

use super::*;
use crate::StoreError;
use std::borrow::Cow;
use std::fs;
use towline_core::capture::{
    CapturedDetail, CapturedMessage, CapturedRow, DetailKind, Speaker, TurnStart, TurnState, UsageRow,
};
use towline_core::event::PromptOrigin;
use towline_core::id::IdHash;
use towline_core::piece::TokenCounts;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};

pub(super) struct ArchiveFixture {
    _folder: tempfile::TempDir,
    pub(super) home: DataFolder,
    pub(super) lock: ArchiveLock,
}

impl ArchiveFixture {
    pub(super) fn new() -> ArchiveFixture {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ArchiveLock::take_within(&home, []).unwrap().unwrap();
        ArchiveFixture { _folder: folder, home, lock }
    }

    pub(super) fn open(&self) -> Archive {
        Archive::open(&self.home, &self.lock, Duration::ZERO, Uid([7; 16])).unwrap()
    }
}

fn clean(text: &str) -> CleanText<'static> {
    CleanText::new(
        Cow::Owned(text.to_owned()),
        TextPolicy { longest_bytes: 1 << 20, secrets: SecretPolicy::Redacted },
    )
}

fn opened(session: &str) -> CapturedRow<'static> {
    let (session, folder, branch) = (session.to_owned().into(), Some("/work".into()), Some("main".into()));
    CapturedRow::Opened { session, folder, branch, base: None }
}

fn turn(id: &str, place: u64, at: i64) -> CapturedRow<'static> {
    let (id, at) = (Cow::Owned(id.to_owned()), Timestamp(at));
    CapturedRow::Turn(TurnStart {
        mark: IdHash::of(&id),
        id,
        place,
        at,
        origin: PromptOrigin::Human,
        agent_turn: None,
    })
}

fn body(turn: &str, id: &str, text: &str) -> CapturedRow<'static> {
    CapturedRow::Body(CapturedMessage {
        turn: Some(IdHash::of(turn)),
        mark: IdHash::of(id),
        message: Cow::Owned(id.to_owned()),
        place: 0,
        at: Timestamp(5),
        speaker: Speaker::Person,
        text: clean(text),
    })
}

fn output(turn: &str, id: &str, text: &str) -> CapturedRow<'static> {
    CapturedRow::Detail(CapturedDetail {
        turn: Some(IdHash::of(turn)),
        mark: IdHash::of(id),
        place: 0,
        at: Timestamp(5),
        subagent: None,
        kind: DetailKind::Output,
        tool: None,
        call: None,
        outcome: None,
        text: clean(text),
    })
}

fn used(turn: &str, output: u64) -> CapturedRow<'static> {
    CapturedRow::Usage(UsageRow {
        turn: Some(IdHash::of(turn)),
        message: Cow::Borrowed("msg"),
        model: None,
        tokens: TokenCounts { output, ..TokenCounts::default() },
        at: Timestamp(5),
        subagent: None,
    })
}

fn settled(turn: &str, line: &str) -> CapturedRow<'static> {
    let (turn, line) = (IdHash::of(turn), line.to_owned());
    CapturedRow::Settled(TurnState { turn, until: Timestamp(9), tools: 1, failures: 0, stopped: None, line })
}

fn take_in(archive: &Archive, rows: Vec<CapturedRow<'static>>) -> TakenRows {
    let mut packer = Packer::new().unwrap();
    let packed = rows.into_iter().map(|row| packer.pack(row)).collect();
    let known = archive.source("/t.jsonl").unwrap();
    let mut source = known.unwrap_or_else(|| TranscriptSource::fresh("agent", "/t.jsonl"));
    archive.write_rows(&mut source, packed, Timestamp(10)).unwrap()
}

fn only(archive: &Archive) -> Conversation {
    let mut all = archive.latest_conversations(None, 9).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn an_archive_that_is_only_being_made_holds_nothing_yet_and_is_no_fault() {
    let bench = ArchiveFixture::new();
    fs::write(bench.home.archive(), "").unwrap();
    assert!(Archive::read(&bench.home, Duration::ZERO).unwrap().is_none());
    bench.open();
    assert!(Archive::read(&bench.home, Duration::ZERO).unwrap().is_some());
}

#[test]
fn what_comes_again_replaces_what_was_there() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    let long = "a line that repeats itself\n".repeat(500);
    let rows = |words: &str| {
        vec![
            opened("s1"),
            turn("p", 1, 5),
            body("p", "p", words),
            output("p", "o", &long),
            settled("p", words),
        ]
    };
    assert_eq!(take_in(&archive, rows("first")).turns, 1);
    assert_eq!(take_in(&archive, rows("second")).turns, 0);
    let turns = archive.turns(&only(&archive), 0, 9).unwrap();
    assert_eq!(turns.iter().map(|turn| turn.line.as_str()).collect::<Vec<_>>(), ["second"]);
    let words: Vec<_> = archive.bodies(&turns[0]).unwrap().into_iter().map(|body| body.text).collect();
    assert_eq!(words, ["second"]);
    let details = archive.details(&turns[0]).unwrap();
    assert_eq!((details.len(), archive.content(&details[0]).unwrap()), (1, long));
}

#[test]
fn going_back_is_applied_whichever_is_read_first_and_only_to_what_is_older() {
    for revert_comes_first in [false, true] {
        let archive = ArchiveFixture::new();
        let archive = archive.open();
        let back =
            || vec![opened("s1"), CapturedRow::Reverted { from: 2, at: Timestamp(30) }, turn("p4", 2, 40)];
        let turns = || vec![opened("s1"), turn("p1", 1, 10), turn("p2", 2, 20), turn("p3", 3, 25)];
        let (first, second) = if revert_comes_first { (back(), turns()) } else { (turns(), back()) };
        take_in(&archive, first);
        take_in(&archive, second);
        let mut told: Vec<_> = archive.turns(&only(&archive), 0, 9).unwrap();
        told.sort_by_key(|turn| turn.at.0);
        let taken_back: Vec<_> = told.iter().map(|turn| turn.reverted).collect();
        assert_eq!(taken_back, [false, true, true, false]);
        assert_eq!(archive.last_turns(&only(&archive), 9).unwrap().len(), 2);
    }
}

#[test]
fn what_was_cut_to_make_room_stands_whichever_is_read_first_and_how_often() {
    let files: [fn() -> Vec<CapturedRow<'static>>; 3] = [
        || vec![opened("s1"), turn("p1", 1, 10), turn("p2", 2, 20), turn("p3", 3, 25)],
        || {
            let cut = [
                CapturedRow::Reverted { from: 2, at: Timestamp(30) },
                CapturedRow::MadeRoom { at: Timestamp(31) },
            ];
            [vec![opened("s1")], cut.to_vec(), vec![turn("p4", 2, 40), turn("p5", 3, 45)]].concat()
        },
        // The user reverted the last turn. Its position was reused, so turns cut there are reverted too.
        || vec![opened("s1"), CapturedRow::Reverted { from: 3, at: Timestamp(50) }, turn("p6", 3, 60)],
    ];
    for order in [[0, 1, 2, 0, 1], [1, 0, 2, 1, 0], [2, 1, 0, 2, 1]] {
        let bench = ArchiveFixture::new();
        let archive = bench.open();
        for file in order {
            take_in(&archive, files[file]());
        }
        let mut told: Vec<_> = archive.turns(&only(&archive), 0, 9).unwrap();
        told.sort_by_key(|turn| turn.at.0);
        let taken_back: Vec<_> = told.iter().map(|turn| turn.reverted).collect();
        assert_eq!(taken_back, [false, false, true, false, true, false], "{order:?}");
    }
}

#[test]
fn rows_without_a_valid_session_id_are_dropped() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    let taken = take_in(&archive, vec![opened("../../etc"), turn("p", 1, 5), body("p", "p", "words")]);
    assert_eq!((taken.homeless, taken.turns), (2, 0));
    assert_eq!(archive.latest_conversations(None, 9).unwrap(), []);
}

#[test]
fn a_session_is_found_by_its_last_letters_its_first_ones_and_all_of_them() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    take_in(&archive, vec![opened("11112222-3333-4444-8555-666677778888")]);
    for name in ["77778888", "11112222", "11112222-3333-4444-8555-666677778888", "8888"] {
        assert_eq!(archive.conversations_called(name).unwrap().len(), 1, "{name}");
    }
    for name in ["%", "_", "", "3333-4444"] {
        let found = archive.conversations_called(name).unwrap().len();
        assert_eq!(found, usize::from(name.is_empty()), "{name:?}");
    }
}

#[test]
fn a_damaged_archive_is_moved_aside_and_never_deleted() {
    let bench = ArchiveFixture::new();
    take_in(&bench.open(), vec![opened("s1")]);
    bench.open().checkpoint().unwrap();
    fs::write(bench.home.archive(), vec![b'x'; 8192]).unwrap();
    let damaged = Archive::open(&bench.home, &bench.lock, Duration::ZERO, Uid([7; 16]));
    assert!(matches!(damaged.err(), Some(StoreError::Damaged { .. })));
    let aside = set_aside(&bench.home, &bench.lock, Timestamp(0)).unwrap();
    assert_eq!(fs::read(aside).unwrap(), vec![b'x'; 8192]);
    assert_eq!(bench.open().latest_conversations(None, 9).unwrap(), []);
}

#[test]
fn a_log_that_a_lone_reader_would_read_for_long_is_written_back() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    archive.checkpoint().unwrap();
    take_in(&archive, vec![opened("s1")]);
    archive.tidy().unwrap();
    assert!(home::size(&bench.home.archive_log()) > 0, "a short one is left");
    let words = |number: usize| body("t1", &format!("b{number}"), &format!("{number} ").repeat(2_000));
    take_in(&archive, [opened("s1"), turn("t1", 1, 5)].into_iter().chain((0..60).map(words)).collect());
    assert!(home::size(&bench.home.archive_log()) > 256 * 1024);
    archive.tidy().unwrap();
    assert_eq!(home::size(&bench.home.archive_log()), 0);
}

/// The log was written back above 64 MiB only, so one more transaction made it larger than its bound of 64 MB.
#[test]
fn the_log_of_bulk_writes_exceeded_its_bound() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    let mut seed = 7_u64;
    let mut noise = |bytes: usize| -> String {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b' ' + (seed >> 33) as u8 % 95)
        };
        (0..bytes).map(|_| next()).collect()
    };
    let mut largest = 0;
    for batch in 0..24 {
        let bodies = (0..24).map(|number| body("t1", &format!("b{batch}-{number}"), &noise(64 * 1024)));
        let bodies: Vec<_> = bodies.collect();
        take_in(&archive, [opened("s1"), turn("t1", 1, 5)].into_iter().chain(bodies).collect());
        largest = largest.max(home::size(&bench.home.archive_log()));
        archive.tidy_at_times().unwrap();
    }
    assert!(largest > 12_000_000, "it was filled: {largest}");
    assert!(largest <= 20_000_000, "{largest}");
}

#[test]
fn nobody_else_can_read_the_archive() {
    use std::os::unix::fs::PermissionsExt;
    let bench = ArchiveFixture::new();
    take_in(&bench.open(), vec![opened("s1")]);
    for file in [bench.home.archive(), bench.home.archive_log()] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

const FOR_EVER: ArchiveRetention =
    ArchiveRetention { words_days: 0, details_days: 0, thinking_days: 0, most_mb: 1_000 };

fn thinking(turn: &str, id: &str) -> CapturedRow<'static> {
    let CapturedRow::Detail(detail) = output(turn, id, "hm") else { unreachable!() };
    CapturedRow::Detail(CapturedDetail { kind: DetailKind::Thinking, ..detail })
}

/// Counts of the turns, bodies and details left of the only conversation.
fn left(archive: &Archive) -> (usize, usize, usize) {
    let Some(conversation) = archive.latest_conversations(None, 9).unwrap().pop() else { return (0, 0, 0) };
    let turns = archive.turns(&conversation, 0, 9).unwrap();
    let bodies = turns.iter().map(|turn| archive.bodies(turn).unwrap().len()).sum();
    let details = turns.iter().map(|turn| archive.details(turn).unwrap().len()).sum();
    (turns.len(), bodies, details)
}

#[test]
fn each_kind_is_kept_as_long_as_it_may_be() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    take_in(
        &archive,
        vec![
            opened("s1"),
            turn("p", 1, 5),
            body("p", "p", "words"),
            output("p", "o", "out"),
            thinking("p", "t"),
        ],
    );
    let ten_days_on = Timestamp(10 * 86_400_000);
    let expire = |retention| archive.expire(retention, ten_days_on).unwrap();
    assert_eq!((expire(FOR_EVER), left(&archive)), (0, (1, 1, 2)));
    assert_eq!(expire(ArchiveRetention { thinking_days: 11, details_days: 11, ..FOR_EVER }), 0);
    assert_eq!((expire(ArchiveRetention { thinking_days: 9, ..FOR_EVER }), left(&archive)), (1, (1, 1, 1)));
    assert_eq!(expire(ArchiveRetention { thinking_days: 9, ..FOR_EVER }), 0, "once is enough");
    assert_eq!((expire(ArchiveRetention { details_days: 9, ..FOR_EVER }), left(&archive)), (1, (1, 1, 0)));
    assert_eq!((expire(ArchiveRetention { words_days: 9, ..FOR_EVER }), left(&archive)), (1, (0, 0, 0)));
}

#[test]
fn an_archive_that_is_too_large_loses_its_oldest_details_first() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    let noise: String =
        (0..700_000_u64).map(|n| char::from(b'a' + (n.wrapping_mul(n * n + 7) % 23) as u8)).collect();
    take_in(&archive, vec![opened("s1"), turn("p", 1, 5), output("p", "o", &noise), body("p", "p", "words")]);
    let before = archive.sizes().unwrap().bytes;
    assert_eq!(archive.expire(ArchiveRetention { most_mb: 0, ..FOR_EVER }, Timestamp(10)).unwrap(), 1);
    assert_eq!(left(&archive), (1, 1, 0));
    assert!(archive.sizes().unwrap().bytes <= before);
    assert_eq!(archive.release_pages().unwrap(), 0, "a pass once gave back one page");
}

#[test]
fn forgotten_turns_are_not_captured_again() {
    let bench = ArchiveFixture::new();
    let rows = || {
        let mut packer = Packer::new().unwrap();
        let rows = [
            opened("s-1"),
            turn("p1", 0, 5),
            body("p1", "b1", "stays"),
            turn("p2", 1, 9),
            body("p2", "b2", "goes"),
        ];
        rows.into_iter().map(|row| packer.pack(row)).collect::<Vec<_>>()
    };
    let mut archive = bench.open();
    archive.write_rows(&mut TranscriptSource::fresh("a", "/t"), rows(), Timestamp(1)).unwrap();
    let of = archive.conversations_called("s-1").unwrap().remove(0);
    let erased = archive
        .erase(
            &EraseScope::Turns { of: &of, from: 2, to: 2 },
            EraseMode::ForGood,
            towline_core::time::Timestamp(9),
        )
        .unwrap();
    assert_eq!((erased.turns, erased.bodies), (1, 1));
    assert!(archive.source("/t").unwrap().is_none(), "the file is read again");
    drop(archive);
    set_aside(&bench.home, &bench.lock, Timestamp(2)).unwrap();
    let archive = bench.open();
    archive.write_rows(&mut TranscriptSource::fresh("a", "/t"), rows(), Timestamp(1)).unwrap();
    let of = archive.conversations_called("s-1").unwrap().remove(0);
    let turns = archive.turns(&of, 0, u32::MAX).unwrap();
    let said: Vec<_> =
        turns.iter().flat_map(|turn| archive.bodies(turn).unwrap()).map(|body| body.text).collect();
    assert_eq!(said, ["stays"]);
}

#[test]
fn a_file_of_which_all_was_forgotten_leaves_not_even_its_name() {
    let bench = ArchiveFixture::new();
    let mut archive = bench.open();
    let rows = |at: i64| {
        let mut packer = Packer::new().unwrap();
        [opened("s-1"), turn("p1", 0, at)].into_iter().map(|row| packer.pack(row)).collect::<Vec<_>>()
    };
    archive.write_rows(&mut TranscriptSource::fresh("a", "/t"), rows(5), Timestamp(1)).unwrap();
    let stretch = towline_core::forget::TimeRange { from: Timestamp(0), until: Timestamp(7) };
    archive
        .erase(&EraseScope::Everyone { stretch }, EraseMode::ForGood, towline_core::time::Timestamp(9))
        .unwrap();
    let mut source = TranscriptSource::fresh("a", "/t");
    archive.write_rows(&mut source, rows(5), Timestamp(1)).unwrap();
    assert!(archive.latest_conversations(None, 9).unwrap().is_empty());
    assert!(archive.source("/t").unwrap().is_none());
    let mut packer = Packer::new().unwrap();
    archive.write_rows(&mut source, vec![packer.pack(turn("p2", 1, 8))], Timestamp(1)).unwrap();
    assert_eq!(archive.latest_conversations(None, 9).unwrap().len(), 1, "what came later is kept");
    assert!(archive.source("/t").unwrap().is_some());
}

#[test]
fn an_archive_that_is_being_made_is_not_there_yet() {
    let bench = ArchiveFixture::new();
    fs::write(bench.home.archive(), "").unwrap();
    assert!(Archive::read(&bench.home, Duration::ZERO).unwrap().is_none());
    drop(bench.open());
    assert!(Archive::read(&bench.home, Duration::ZERO).unwrap().is_some());
}

#[test]
fn usage_that_came_without_other_rows_was_not_in_the_change_list() {
    let bench = ArchiveFixture::new();
    let archive = bench.open();
    take_in(&archive, vec![opened("s"), turn("t", 0, 1)]);
    let changes_by = |output| {
        let before = archive.last_change().unwrap();
        take_in(&archive, vec![used("t", output)]);
        archive.last_change().unwrap() - before
    };
    assert_eq!([changes_by(3), changes_by(3), changes_by(7)], [1, 0, 1]);
}

//! Memories on a real file: stored once, changed with a trace, listed by topic, undone, dropped.

mod ranking;

use super::super::bench::Bench;
use super::super::{ArchiveChange, EraseMode, EraseScope, ExportedRow, MemorySelector, ScrubRules};
use super::*;
use crate::StoreError;
use towline_core::capture::FileAccess;
use towline_core::forget::TimeRange;
use towline_core::id::IdHash;
use towline_core::memory::{MemoryDraft, SummaryDraft};

const NOW: Timestamp = Timestamp(1_000_000);

fn content(kind: &str, title: &str) -> MemoryContent {
    let draft = MemoryDraft {
        facts: vec![format!("{title} is a fact")],
        concepts: vec!["Gotcha".into()],
        files: vec![("src/mast/paint.rs".into(), FileAccess::Changed)],
        ..MemoryDraft::new(MemoryType::parse(kind).unwrap(), title)
    };
    MemoryContent::of(draft).unwrap()
}

fn new(seed: u8, content: MemoryContent) -> NewMemory {
    NewMemory {
        uid: Uid([seed; 16]),
        content,
        project: None,
        session: Some(SessionKey::parse("a:one-session").unwrap()),
        turn: Some(2),
        branch: Some("main".into()),
        commit: Some("abc1234".into()),
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Tool,
        confidence: ConfidencePercent::percent(70),
        cost: 1200,
        at: NOW,
        valid_from: NOW,
        quarantine: None,
    }
}

fn added(bench: &Bench, seed: u8, kind: &str, title: &str) -> i64 {
    bench.archive.add_memory(&new(seed, content(kind, title))).unwrap()
}

fn titles(bench: &Bench, asked: MemoryQuery<'_>) -> Vec<String> {
    let asked = MemoryQuery { limit: 10, ..asked };
    bench.archive.memories(&asked).unwrap().into_iter().map(|memory| memory.content.title.clone()).collect()
}

#[test]
fn a_memory_comes_back_as_it_was_kept_and_is_kept_once() {
    let bench = Bench::new();
    let number = added(&bench, 1, "bugfix", "the mast leaned");
    assert_eq!(added(&bench, 1, "bugfix", "the mast leaned"), number);
    let memory = bench.archive.memory(number).unwrap().unwrap();
    assert_eq!(memory.content, content("bugfix", "the mast leaned"));
    assert_eq!((memory.trust, memory.cost, memory.found), (MemoryTrust::Tool, 1200, 1));
    let source = memory.source.clone().unwrap();
    assert_eq!(
        (source.short.as_str(), source.turn, source.commit.as_deref()),
        ("-session", Some(2), Some("abc1234"))
    );
    assert!(memory.is_current());
    assert_eq!(bench.archive.memory_trace(number).unwrap().len(), 1);
}

#[test]
fn memories_are_found_by_what_they_are_about() {
    let bench = Bench::new();
    added(&bench, 1, "bugfix", "one");
    added(&bench, 2, "decision", "two");
    let decision = MemoryType::parse("decision").unwrap();
    let (some, none) = (SessionKey::parse("a:one-session").unwrap(), SessionKey::parse("a:other").unwrap());
    let asked = MemoryQuery::default();
    assert_eq!(titles(&bench, asked.clone()), ["two", "one"]);
    assert_eq!(titles(&bench, MemoryQuery { kind: Some(&decision), ..asked.clone() }), ["two"]);
    assert_eq!(titles(&bench, MemoryQuery { before: Some(2), ..asked.clone() }), ["one"]);
    for file in ["paint.rs", "mast/paint.rs", "/mast/paint.rs", "src/mast/paint.rs"] {
        assert_eq!(titles(&bench, MemoryQuery { file: Some(file), ..asked.clone() }).len(), 2, "{file}");
    }
    for file in ["aint.rs", "mast", "%", "_aint.rs"] {
        assert!(titles(&bench, MemoryQuery { file: Some(file), ..asked.clone() }).is_empty(), "{file}");
    }
    assert_eq!(titles(&bench, MemoryQuery { concept: Some("gotcha"), ..asked.clone() }).len(), 2);
    assert_eq!(titles(&bench, MemoryQuery { session: Some(&some), turn: Some(2), ..asked.clone() }).len(), 2);
    assert!(titles(&bench, MemoryQuery { session: Some(&none), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoryQuery { branch: Some("other"), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoryQuery { from: Some(NOW.plus_ms(1)), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoryQuery { only: MemoryFilter::Pinned, ..asked }).is_empty());
}

#[test]
fn the_same_words_are_known_again_however_they_are_spaced_and_cased() {
    let bench = Bench::new();
    let number = added(&bench, 1, "bugfix", "The mast leaned.");
    let same = content("bugfix", "the  MAST leaned");
    let same = MemoryContent::of(MemoryDraft {
        facts: vec!["the mast leaned is a FACT".into()],
        ..same.into_draft()
    })
    .unwrap();
    assert_eq!(bench.archive.find_same_memory(&same, None).unwrap(), Some(number));
    assert_eq!(bench.archive.find_same_memory(&same, Some(1)).unwrap(), None, "of another project");
    assert_eq!(bench.archive.find_same_memory(&content("bugfix", "the boom leaned"), None).unwrap(), None);
    assert!(bench.archive.found_memory_again(number, NOW).unwrap());
    assert_eq!(bench.archive.memory(number).unwrap().unwrap().found, 2);
}

#[test]
fn every_change_leaves_a_trace_and_can_be_taken_back_one_by_one() {
    let bench = Bench::new();
    let archive = &bench.archive;
    let number = added(&bench, 1, "bugfix", "one");
    let before = archive.memory(number).unwrap().unwrap();
    assert!(archive.pin_memory(number, Some(NOW), NOW).unwrap());
    assert!(!archive.pin_memory(number, Some(NOW), NOW).unwrap(), "it is pinned already");
    let other = MemoryContent::of(MemoryDraft::new(MemoryType::parse("gotcha").unwrap(), "one, told better"))
        .unwrap();
    assert!(archive.edit_memory(number, &other, NOW, "clearer").unwrap());
    let by = added(&bench, 2, "decision", "two");
    assert!(archive.supersede_memory(number, Some(by), NOW, "two is newer").unwrap());
    assert!(!archive.supersede_memory(number, Some(number), NOW, "itself").unwrap());
    assert!(archive.quarantine_memory(number, Some("it gives orders"), NOW).unwrap());
    let changed = archive.memory(number).unwrap().unwrap();
    assert_eq!((&changed.content, changed.is_current()), (&other, false));
    assert_eq!(changed.superseded.as_ref().unwrap().by, Some(by));
    let undone: Vec<String> = std::iter::from_fn(|| archive.undo_memory(number, NOW).unwrap()).collect();
    assert_eq!(undone, ["held back", "superseded", "edited", "pinned"]);
    assert_eq!(archive.memory(number).unwrap().unwrap(), before);
    let trace = archive.memory_trace(number).unwrap();
    let words: Vec<&str> = trace.iter().map(|trace| trace.what.as_str()).collect();
    assert_eq!(words, ["made", "pinned", "edited", "superseded", "held back"]);
    assert!(trace[1..].iter().all(|trace| trace.undone_at.is_some()));
}

#[test]
fn nothing_is_left_of_a_memory_that_was_dropped() {
    let bench = Bench::new();
    let number = added(&bench, 1, "bugfix", "one");
    bench.archive.pin_memory(number, Some(NOW), NOW).unwrap();
    assert!(bench.archive.drop_memory(number).unwrap());
    assert!(!bench.archive.drop_memory(number).unwrap() && bench.archive.memory(number).unwrap().is_none());
    for table in ["memories", "memory_files", "memory_concepts", "memory_trace"] {
        let rows: i64 = bench
            .archive
            .db
            .query_row(&format!("select count(*) from {table}"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    for missing in [number, 77] {
        assert!(!bench.archive.pin_memory(missing, Some(NOW), NOW).unwrap());
        assert_eq!(bench.archive.undo_memory(missing, NOW).unwrap(), None);
    }
}

#[test]
fn changes_name_the_changed_rows_and_no_number_is_reused() {
    let bench = Bench::new();
    let archive = &bench.archive;
    bench.session("a:1", "boat", &[(0, 5), (10, 15)]);
    let before = archive.last_change().unwrap();
    let number = added(&bench, 1, "bugfix", "one");
    let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
    let draft = SummaryDraft { request: "paint".into(), ..SummaryDraft::default() };
    let kept = super::super::KeptSummary {
        summary: towline_core::memory::Summary::of(&draft).unwrap(),
        session: conversation.session.clone(),
        turn: 2,
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Agent,
        at: NOW,
    };
    archive.put_summary(&conversation, &kept).unwrap();
    assert_eq!(archive.summary(&conversation).unwrap(), Some(kept.clone()));
    assert_eq!(archive.latest_summaries(None, 5).unwrap(), [kept]);
    let changes = archive.changes_after(before, 10).unwrap();
    let expected =
        [ArchiveChange::Memory { number }, ArchiveChange::Summary { conversation: conversation.id }];
    assert_eq!(changes.iter().map(|(_, change)| *change).collect::<Vec<_>>(), expected);
    let last = archive.last_change().unwrap();
    archive.forget_changes_up_to(last).unwrap();
    assert_eq!((archive.last_change().unwrap(), archive.changes_after(0, 10).unwrap().len()), (last, 0));
    archive.drop_memory(number).unwrap();
    assert_eq!(archive.changes_after(0, 10).unwrap()[0].0, last + 1);
}

#[test]
fn a_late_consumer_learns_that_changes_were_pruned() {
    let bench = Bench::new();
    let archive = &bench.archive;
    for seed in 1..=5 {
        added(&bench, seed, "bugfix", &format!("number {seed}"));
    }
    let last = archive.last_change().unwrap();
    let holds = |seq| archive.holds_changes_after(seq).unwrap();
    assert!(holds(0) && holds(last) && !holds(last + 1), "a place that never was is no place");
    archive.forget_changes_up_to(last - 2).unwrap();
    assert_eq!([0, last - 3, last - 2, last].map(holds), [false, false, true, true]);
    archive.forget_changes_up_to(1).unwrap();
    assert_eq!(
        (archive.last_pruned_change().unwrap(), archive.changes_after(0, 10).unwrap().len()),
        (last - 2, 2)
    );
    archive.forget_changes_up_to(last + 100).unwrap();
    assert_eq!(archive.last_pruned_change().unwrap(), last, "what is still to come is not gone");
}

fn with_facts(title: &str, facts: &[&str]) -> MemoryContent {
    let facts = facts.iter().map(|fact| (*fact).to_owned()).collect();
    MemoryContent::of(MemoryDraft { facts, ..content("bugfix", title).into_draft() }).unwrap()
}

fn rows(bench: &Bench, table: &str) -> i64 {
    bench.archive.db.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn what_is_found_again_is_counted_once_for_each_finding_and_can_be_taken_back() {
    let bench = Bench::new();
    let number = bench.archive.add_memory(&new(1, with_facts("one", &["a"]))).unwrap();
    let session = SessionKey::parse("a:other").unwrap();
    let finding = MemoryOccurrence { uid: Uid([9; 16]), session: Some(&session), turn: Some(3) };
    let more = with_facts("one", &["a", "b"]);
    assert!(bench.archive.merge_memory(number, &more, NOW, &finding).unwrap());
    assert!(!bench.archive.merge_memory(number, &more, NOW, &finding).unwrap(), "the same finding");
    let memory = bench.archive.memory(number).unwrap().unwrap();
    assert_eq!((memory.content.facts.len(), memory.found), (2, 2));
    assert_eq!(bench.archive.undo_memory(number, NOW).unwrap().as_deref(), Some("found again"));
    let memory = bench.archive.memory(number).unwrap().unwrap();
    assert_eq!((memory.content.facts.len(), memory.found), (1, 1));
    assert!(!bench.archive.merge_memory(number, &more, NOW, &finding).unwrap(), "it was taken back");
}

#[test]
fn what_a_dropped_memory_replaced_stays_replaced() {
    let bench = Bench::new();
    let (old, by) = (added(&bench, 1, "decision", "one"), added(&bench, 2, "decision", "two"));
    bench.archive.supersede_memory(old, Some(by), NOW, "newer").unwrap();
    bench.archive.drop_memory(by).unwrap();
    let superseded = bench.archive.memory(old).unwrap().unwrap().superseded.unwrap();
    assert_eq!((superseded.by, superseded.why.as_str()), (None, "newer"));
}

fn stretch(from: i64, until: i64) -> TimeRange {
    TimeRange { from: Timestamp(from), until: Timestamp(until) }
}

/// Two memories of turns, one of the session alone, one of the project alone.
fn learnt() -> (Bench, SessionKey, [i64; 4]) {
    let bench = Bench::new();
    bench.session("a:first-session", "boat", &[(0, 5), (10, 15)]);
    let project = Some(bench.archive.project_rows().unwrap()[0].row);
    let session = SessionKey::parse("a:first-session").unwrap();
    let of = |seed: u8, turn: Option<u32>, at: i64| {
        let facts = with_facts(&format!("memory {seed}"), &["a fact of it"]);
        let at = Timestamp(at);
        let session = Some(session.clone()).filter(|_| seed < 4);
        NewMemory { session, turn, at, valid_from: at, project, ..new(seed, facts) }
    };
    let all = [of(1, Some(1), 100), of(2, Some(2), 100), of(3, None, 12), of(4, None, 200)];
    let numbers = all.map(|new| bench.archive.add_memory(&new).unwrap());
    (bench, session, numbers)
}

fn left(bench: &Bench) -> Vec<i64> {
    let asked = MemoryQuery { limit: 10, ..MemoryQuery::default() };
    let mut left: Vec<i64> = bench.archive.memories(&asked).unwrap().iter().map(|it| it.number).collect();
    left.sort_unstable();
    left
}

#[test]
fn memories_go_with_their_turns_their_session_their_project_and_their_time() {
    let (mut bench, _, [one, _, three, four]) = learnt();
    let of = bench.archive.latest_conversations(None, 1).unwrap().remove(0);
    let extent = EraseScope::Turns { of: &of, from: 2, to: 2 };
    assert_eq!(
        bench
            .archive
            .erase(&extent, EraseMode::Rehearsal, towline_core::time::Timestamp(9))
            .unwrap()
            .memories,
        1
    );
    assert_eq!(
        bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap().memories,
        1
    );
    assert_eq!(left(&bench), [one, three, four]);

    let (mut bench, session, [_, _, _, four]) = learnt();
    let sessions = [session];
    let extent = EraseScope::Sessions { sessions: &sessions, stretch: stretch(0, 300) };
    assert_eq!(
        bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap().memories,
        3
    );
    assert_eq!(left(&bench), [four]);

    let (mut bench, _, _) = learnt();
    let project = bench.archive.projects().unwrap().remove(0);
    let extent = EraseScope::Project { project: &project, stretch: stretch(0, 300) };
    assert_eq!(
        bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap().memories,
        4
    );
    assert_eq!((left(&bench).len(), rows(&bench, "memory_trace"), rows(&bench, "projects")), (0, 0, 0));

    let (mut bench, _, [one, _, _, _]) = learnt();
    let extent = EraseScope::Everyone { stretch: stretch(10, 300) };
    bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap();
    assert_eq!(left(&bench), Vec::<i64>::new(), "the first was made then, too: {one}");
}

#[test]
fn a_memory_that_was_forgotten_is_not_made_again() {
    let (mut bench, _, [one, two, ..]) = learnt();
    let memory = bench.archive.memory(one).unwrap().unwrap();
    let extent = EraseScope::Memories(&[one, 77]);
    assert_eq!(
        bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap().memories,
        1
    );
    let again = |seed: u8, content: &MemoryContent| NewMemory { session: None, ..new(seed, content.clone()) };
    assert!(bench.archive.is_memory_forgotten(&again(77, &memory.content)).unwrap(), "by its words");
    let other = with_facts("other words", &[]);
    assert!(bench.archive.is_memory_forgotten(&again(1, &other)).unwrap(), "by its id");
    assert!(!bench.archive.is_memory_forgotten(&again(77, &other)).unwrap());
    assert!(bench.archive.memory(two).unwrap().is_some());
}

#[test]
fn what_a_memory_took_over_from_a_forgotten_turn_goes_with_it() {
    let (mut bench, _, numbers) = learnt();
    let (archive, four) = (&bench.archive, numbers[3]);
    let source = SessionKey::parse("a:first-session").unwrap();
    let finding = MemoryOccurrence { uid: Uid([9; 16]), session: Some(&source), turn: Some(2) };
    archive
        .merge_memory(four, &with_facts("memory 4", &["a fact of it", "a secret plan"]), NOW, &finding)
        .unwrap();
    archive.pin_memory(four, Some(NOW), NOW).unwrap();
    let of = archive.latest_conversations(None, 1).unwrap().remove(0);
    bench
        .archive
        .erase(
            &EraseScope::Turns { of: &of, from: 2, to: 2 },
            EraseMode::ForGood,
            towline_core::time::Timestamp(9),
        )
        .unwrap();
    assert_eq!(bench.archive.memory(four).unwrap().unwrap().content.facts, ["a fact of it"]);
    let query =
        "select count(*) from memory_trace where before like '%secret plan%' or why like '%first-session%'";
    assert_eq!(bench.archive.db.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn the_rules_of_today_reach_memories_their_traces_and_summaries() {
    let (bench, _, [one, two, ..]) = learnt();
    let archive = &bench.archive;
    let draft = SummaryDraft { learned: "the QUILLON way".into(), ..SummaryDraft::default() };
    let of = archive.latest_conversations(None, 1).unwrap().remove(0);
    let kept = super::super::KeptSummary {
        summary: towline_core::memory::Summary::of(&draft).unwrap(),
        session: of.session.clone(),
        turn: 2,
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Agent,
        at: NOW,
    };
    archive.put_summary(&of, &kept).unwrap();
    archive.edit_memory(one, &with_facts("QUILLON is one", &["QUILLON twice"]), NOW, "QUILLON").unwrap();
    archive.edit_memory(one, &with_facts("another", &["fact"]), NOW, "").unwrap();
    archive.edit_memory(two, &with_facts("QUILLON is two", &["QUILLON there"]), NOW, "").unwrap();
    let cleaner = ScrubRules {
        clean: &|text| text.contains("QUILLON").then(|| text.replace("QUILLON", "[gone]")),
        is_excluded_folder: &|_| false,
        is_excluded_call: &|_, _, _| false,
        is_excluded_path: &|path| path.ends_with("paint.rs"),
        rules: IdHash(1),
    };
    let planned = archive.scrub(&cleaner, EraseMode::Rehearsal, &mut |_, _| {}).unwrap();
    let done = archive.scrub(&cleaner, EraseMode::ForGood, &mut |_, _| {}).unwrap();
    assert_eq!(planned, done);
    assert!(done.memories >= 4, "{done:?}");
    let memory = archive.memory(two).unwrap().unwrap();
    assert_eq!(
        (memory.content.title.as_str(), memory.content.facts[0].as_str()),
        ("[gone] is two", "[gone] there")
    );
    assert!(memory.content.files.is_empty());
    assert_eq!(
        archive.find_same_memory(&memory.content, Some(1)).unwrap(),
        Some(two),
        "its fingerprint is of what is left"
    );
    for query in [
        "select count(*) from memory_trace where before like '%QUILLON%' or why like '%QUILLON%' or before like '%paint.rs%'",
        "select count(*) from memories where title like '%QUILLON%' or facts like '%QUILLON%'",
        "select count(*) from summaries where learned like '%QUILLON%'",
    ] {
        assert_eq!(archive.db.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{query}");
    }
    archive.undo_memory(one, NOW).unwrap();
    assert_eq!(
        archive.memory(one).unwrap().unwrap().content.facts,
        ["[gone] twice"],
        "what was before is whole"
    );
    let again = archive.scrub(&cleaner, EraseMode::ForGood, &mut |_, _| {}).unwrap();
    assert_eq!(again.memories, 0);
}

#[test]
fn memories_are_given_out_and_taken_in_with_all_that_became_of_them() {
    let (bench, _, [one, two, three, _]) = learnt();
    let archive = &bench.archive;
    archive.supersede_memory(one, Some(two), NOW, "two is newer").unwrap();
    archive.supersede_memory(two, Some(one), NOW, "one is newer").unwrap();
    archive.pin_memory(three, Some(NOW), NOW).unwrap();
    archive.quarantine_memory(three, Some("it gives orders"), NOW).unwrap();
    let given = |archive: &Archive| {
        let mut all = vec![];
        let which = MemorySelector::Since { project: None, since: Timestamp(0) };
        let mut keep = |row| {
            all.push(row);
            Ok::<_, StoreError>(())
        };
        archive.each_memory(which, &mut keep).unwrap();
        all
    };
    let rows = given(archive);
    assert_eq!(rows.len(), 4);
    let other = Bench::new();
    let clean = |rows: &[ExportedRow<String>]| -> Vec<ExportedRow<towline_core::text::CleanText<'static>>> {
        let none = |_: String| super::super::bench::clean("");
        rows.iter().map(|row| row.clone().map_text(none)).collect()
    };
    for expected in [4, 0] {
        let mut restoring = super::super::ImportState::new().unwrap();
        other.archive.restore(&mut restoring, clean(&rows)).unwrap();
        assert_eq!(restoring.done.memories, expected);
    }
    assert_eq!(given(&other.archive), rows);
}

#[test]
fn memories_an_agent_waits_for_are_read_by_an_index() {
    let bench = Bench::new();
    let newest = bench.plan(&format!("{CANDIDATES} {NEWEST}"));
    assert!(newest.contains("memories_by_project") && !newest.contains("TEMP B-TREE"), "{newest}");
    let pinned = bench.plan(PINNED);
    assert!(pinned.contains("memories_pinned") && !pinned.contains("memories_by_project"), "{pinned}");
    let about = bench.plan(ABOUT);
    assert!(about.contains("memory_files_by_path (path=? AND memory>?)"), "{about}");
}

#[test]
fn a_page_of_memories_is_read_by_an_index_however_many_there_are() {
    let bench = Bench::new();
    let plan = |asked: &MemoryQuery<'_>| {
        let (query, values) =
            listing(&MemoryQuery { limit: 50, only: MemoryFilter::Standing, ..asked.clone() });
        assert!(!values.is_empty() || asked.project.is_none());
        bench.plan(&query)
    };
    let of_project = plan(&MemoryQuery { project: Some(1), before: Some(9), ..MemoryQuery::default() });
    assert!(of_project.contains("memories_by_project (project=?"), "{of_project}");
    let of_all = plan(&MemoryQuery { before: Some(9), ..MemoryQuery::default() });
    assert!(of_all.contains("SEARCH m USING INTEGER PRIMARY KEY (rowid<?)"), "{of_all}");
    let by_concept = plan(&MemoryQuery { concept: Some("sails"), ..MemoryQuery::default() });
    assert!(by_concept.contains("memory_concepts_by_name (concept=?)"), "{by_concept}");
    for plan in [of_project, of_all] {
        assert!(!plan.contains("USE TEMP B-TREE FOR ORDER BY"), "{plan}");
    }
}

#[test]
fn pages_of_a_project_go_by_the_time_of_making_also_when_the_key_is_gone() {
    let bench = Bench::new();
    bench.session("a:1", "boat", &[(1, 2)]);
    let boat = bench.archive.project_rows().unwrap()[0].row;
    for (seed, at) in [(1, 30), (2, 10), (3, 20)] {
        let made = NewMemory {
            project: Some(boat),
            at: Timestamp(at),
            ..new(seed, content("decision", &format!("made at {at}")))
        };
        bench.archive.add_memory(&made).unwrap();
    }
    let page = |before| -> Vec<i64> {
        let asked = MemoryQuery { project: Some(boat), before, limit: 9, ..MemoryQuery::default() };
        bench.archive.memories(&asked).unwrap().iter().map(|memory| memory.number).collect()
    };
    assert_eq!((page(None), page(Some(1)), page(Some(3))), (vec![1, 3, 2], vec![3, 2], vec![2]));
    bench.archive.drop_memory(3).unwrap();
    assert_eq!(page(Some(3)), Vec::<i64>::new(), "it goes on behind the next older number");
}

/// A note that an agent asked to pin.
fn proposed(bench: &Bench, seed: u8) -> i64 {
    let maker = MemoryAuthor::Model("agent".into());
    let note = NewMemory { maker, trust: MemoryTrust::Agent, ..new(seed, content("preference", "use pnpm")) };
    let number = bench.archive.add_memory(&note).unwrap();
    assert!(bench.archive.propose_memory(number, NOW).unwrap());
    number
}

#[test]
fn an_accepted_proposal_is_pinned_and_the_users_until_that_is_taken_back() {
    let bench = Bench::new();
    let archive = &bench.archive;
    let number = proposed(&bench, 1);
    let state = || {
        let memory = archive.memory(number).unwrap().unwrap();
        (memory.trust, memory.pinned_at, memory.proposed_at)
    };
    assert!(!archive.propose_memory(number, NOW).unwrap(), "one text is one proposal");
    assert_eq!(archive.count_proposals(None).unwrap(), 1);
    assert_eq!(
        titles(&bench, MemoryQuery { only: MemoryFilter::Proposed, ..MemoryQuery::default() }).len(),
        1
    );
    assert!(!archive.is_curated(number).unwrap(), "a proposal is the agent's");
    archive.pin_memory(number, Some(NOW), NOW).unwrap();
    assert_eq!(archive.count_proposals(None).unwrap(), 0, "the user has pinned it already");
    archive.undo_memory(number, NOW).unwrap();
    assert!(archive.accept_memory(number, NOW).unwrap());
    assert_eq!(state(), (MemoryTrust::Person, Some(NOW), None));
    assert!(!archive.accept_memory(number, NOW).unwrap() && archive.is_curated(number).unwrap());
    assert_eq!(archive.count_proposals(None).unwrap(), 0);
    assert_eq!(archive.undo_memory(number, NOW).unwrap().as_deref(), Some("accepted"));
    assert_eq!(state(), (MemoryTrust::Agent, None, Some(NOW)));
    assert!(archive.reject_memory(number, NOW).unwrap() && archive.is_proposal_rejected(number).unwrap());
    assert_eq!(state(), (MemoryTrust::Agent, None, None));
    assert!(!archive.accept_memory(number, NOW).unwrap(), "nothing is proposed any more");
}

#[test]
fn undoing_an_older_change_raises_no_trust() {
    let bench = Bench::new();
    let archive = &bench.archive;
    bench.session("a:one-session", "app", &[(NOW.0, NOW.0 + 1)]);
    let number = proposed(&bench, 1);
    let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
    let turn = archive.turns(&conversation, 0, 9).unwrap().remove(0);
    archive.note_outside(&turn, Some(MemoryTrust::Web)).unwrap();
    let trust = || archive.memory(number).unwrap().unwrap().trust;
    assert_eq!(trust(), MemoryTrust::Web, "what came in during the turn may be in the note");
    archive.undo_memory(number, NOW).unwrap();
    assert_eq!(trust(), MemoryTrust::Web);
}

#[test]
fn a_proposal_goes_with_its_memory() {
    let mut bench = Bench::new();
    let number = proposed(&bench, 1);
    bench.archive.erase(&EraseScope::Memories(&[number]), EraseMode::ForGood, NOW).unwrap();
    assert_eq!(bench.archive.count_proposals(None).unwrap(), 0);
}

#[test]
fn pinned_and_proposed_memories_are_listed_without_reading_all_others() {
    let bench = Bench::new();
    for (only, index) in
        [(MemoryFilter::Pinned, "memories_pinned"), (MemoryFilter::Proposed, "memories_proposed")]
    {
        let (query, _) = listing::listing(&MemoryQuery { only, limit: 50, ..MemoryQuery::default() });
        let plan = bench.plan(&query);
        assert!(plan.contains(index), "{plan}");
    }
}

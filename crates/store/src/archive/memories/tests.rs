//! Memories on a real file: kept once, changed with a trace, found by what they are about, taken back, dropped.

use super::super::Change;
use super::super::bench::Bench;
use super::*;
use towline_core::memory::SummaryDraft;

const NOW: Timestamp = Timestamp(1_000_000);

fn content(kind: &str, title: &str) -> Content {
    let draft = Draft {
        facts: vec![format!("{title} is a fact")],
        concepts: vec!["Gotcha".into()],
        files: vec![("src/mast/paint.rs".into(), Touch::Changed)],
        ..Draft::new(MemoryType::parse(kind).unwrap(), title)
    };
    Content::of(draft).unwrap()
}

fn new(seed: u8, content: Content) -> NewMemory {
    NewMemory {
        uid: Uid([seed; 16]),
        content,
        project: None,
        session: Some(SessionKey::parse("a:one-session").unwrap()),
        turn: Some(2),
        branch: Some("main".into()),
        commit: Some("abc1234".into()),
        maker: Maker::Rules,
        trust: Trust::Tool,
        confidence: Confidence::percent(70),
        cost: 1200,
        at: NOW,
        valid_from: NOW,
        quarantine: None,
    }
}

fn added(bench: &Bench, seed: u8, kind: &str, title: &str) -> i64 {
    bench.archive.add_memory(&new(seed, content(kind, title))).unwrap()
}

fn titles(bench: &Bench, asked: MemoriesAsked<'_>) -> Vec<String> {
    let asked = MemoriesAsked { limit: 10, ..asked };
    bench.archive.memories(&asked).unwrap().into_iter().map(|memory| memory.content.title.clone()).collect()
}

#[test]
fn a_memory_comes_back_as_it_was_kept_and_is_kept_once() {
    let bench = Bench::new();
    let number = added(&bench, 1, "bugfix", "the mast leaned");
    assert_eq!(added(&bench, 1, "bugfix", "the mast leaned"), number);
    let memory = bench.archive.memory(number).unwrap().unwrap();
    assert_eq!(memory.content, content("bugfix", "the mast leaned"));
    assert_eq!((memory.trust, memory.cost, memory.found), (Trust::Tool, 1200, 1));
    let source = memory.source.clone().unwrap();
    assert_eq!(
        (source.short.as_str(), source.turn, source.commit.as_deref()),
        ("-session", Some(2), Some("abc1234"))
    );
    assert!(memory.stands());
    assert_eq!(bench.archive.memory_trace(number).unwrap().len(), 1);
}

#[test]
fn memories_are_found_by_what_they_are_about() {
    let bench = Bench::new();
    added(&bench, 1, "bugfix", "one");
    added(&bench, 2, "decision", "two");
    let decision = MemoryType::parse("decision").unwrap();
    let (some, none) = (SessionKey::parse("a:one-session").unwrap(), SessionKey::parse("a:other").unwrap());
    let asked = MemoriesAsked::default();
    assert_eq!(titles(&bench, asked.clone()), ["two", "one"]);
    assert_eq!(titles(&bench, MemoriesAsked { kind: Some(&decision), ..asked.clone() }), ["two"]);
    assert_eq!(titles(&bench, MemoriesAsked { before: Some(2), ..asked.clone() }), ["one"]);
    for file in ["paint.rs", "mast/paint.rs", "/mast/paint.rs", "src/mast/paint.rs"] {
        assert_eq!(titles(&bench, MemoriesAsked { file: Some(file), ..asked.clone() }).len(), 2, "{file}");
    }
    for file in ["aint.rs", "mast", "%", "_aint.rs"] {
        assert!(titles(&bench, MemoriesAsked { file: Some(file), ..asked.clone() }).is_empty(), "{file}");
    }
    assert_eq!(titles(&bench, MemoriesAsked { concept: Some("gotcha"), ..asked.clone() }).len(), 2);
    assert_eq!(
        titles(&bench, MemoriesAsked { session: Some(&some), turn: Some(2), ..asked.clone() }).len(),
        2
    );
    assert!(titles(&bench, MemoriesAsked { session: Some(&none), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoriesAsked { branch: Some("other"), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoriesAsked { from: Some(NOW.plus_ms(1)), ..asked.clone() }).is_empty());
    assert!(titles(&bench, MemoriesAsked { only: Only::Pinned, ..asked }).is_empty());
}

#[test]
fn the_same_words_are_known_again_however_they_are_spaced_and_cased() {
    let bench = Bench::new();
    let number = added(&bench, 1, "bugfix", "The mast leaned.");
    let same = content("bugfix", "the  MAST leaned");
    let same =
        Content::of(Draft { facts: vec!["the mast leaned is a FACT".into()], ..same.into_draft() }).unwrap();
    assert_eq!(bench.archive.same_memory(&same, None).unwrap(), Some(number));
    assert_eq!(bench.archive.same_memory(&same, Some(1)).unwrap(), None, "of another project");
    assert_eq!(bench.archive.same_memory(&content("bugfix", "the boom leaned"), None).unwrap(), None);
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
    let other = Content::of(Draft::new(MemoryType::parse("gotcha").unwrap(), "one, told better")).unwrap();
    assert!(archive.edit_memory(number, &other, (NOW, "clearer")).unwrap());
    let by = added(&bench, 2, "decision", "two");
    assert!(archive.supersede_memory(number, Some(by), (NOW, "two is newer")).unwrap());
    assert!(!archive.supersede_memory(number, Some(number), (NOW, "itself")).unwrap());
    assert!(archive.quarantine_memory(number, Some("it gives orders"), NOW).unwrap());
    let changed = archive.memory(number).unwrap().unwrap();
    assert_eq!((&changed.content, changed.stands()), (&other, false));
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
fn whoever_derives_something_is_told_where_to_look_and_no_number_is_given_twice() {
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
        maker: Maker::Rules,
        trust: Trust::Agent,
        at: NOW,
    };
    archive.put_summary(&conversation, &kept).unwrap();
    assert_eq!(archive.summary(&conversation).unwrap(), Some(kept.clone()));
    assert_eq!(archive.latest_summaries(None, 5).unwrap(), [kept]);
    let changes = archive.changes_after(before, 10).unwrap();
    let expected = [Change::Memory { number }, Change::Summary { conversation: conversation.id }];
    assert_eq!(changes.iter().map(|(_, change)| *change).collect::<Vec<_>>(), expected);
    let last = archive.last_change().unwrap();
    archive.forget_changes_up_to(last).unwrap();
    assert_eq!((archive.last_change().unwrap(), archive.changes_after(0, 10).unwrap().len()), (last, 0));
    archive.drop_memory(number).unwrap();
    assert_eq!(archive.changes_after(0, 10).unwrap()[0].0, last + 1);
}

//! Bookmark rows: the same after a rebuild, placed once, deleted and restored, erased with their session.

use super::*;
use crate::erase::EraseSelection;
use crate::{BookmarkFilter, BookmarkRow, DeletedBookmarks};
use towline_core::bookmark::{
    BookmarkOrigin, BookmarkReason, CodeState, CountPrecision, NewBookmark, Threshold,
};
use towline_core::forget::{ForgetText, TimeRange};

const ALL: BookmarkFilter<'static> =
    BookmarkFilter { session: None, project: None, deleted: DeletedBookmarks::Included, most: 100 };

fn kept(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted })
}

fn set(how: BookmarkOrigin, label: Option<&str>) -> EventKind {
    let reason =
        BookmarkReason { threshold: Threshold::Tokens, count: 6_100, counted: CountPrecision::Estimated };
    let reason = (how == BookmarkOrigin::Silent).then_some(reason);
    EventKind::BookmarkSet(NewBookmark { how, after_turn: 1, reason, label: label.map(kept) })
}

fn code() -> CodeState {
    CodeState { commit: kept("0123abcd"), branch: Some(kept("main")), dirty: Some(true) }
}

/// A session with a bookmark of each kind, the oldest placed and the second deleted.
fn bench() -> Bench {
    let mut bench = Bench::new();
    let mut asked = bench.event("a:1", prompt("paint the mast"));
    let scene = EventScene {
        presence: SessionPresence::Terminal,
        folder: None,
        transcript: None,
        model: None,
        place: None,
        project: None,
    };
    asked.scene = Some(scene);
    bench.append(&[asked]);
    bench.accept("a:1", tool());
    let first = bench.event("a:1", set(BookmarkOrigin::Silent, None));
    let second = bench.event("a:1", set(BookmarkOrigin::Manual, Some("before the storm")));
    let marker = EventKind::PromptSubmitted { prompt: kept("·"), origin: PromptOrigin::Bookmark, own: None };
    let third = bench.event("a:1", marker);
    let placed = |context_tokens| EventKind::BookmarkPlaced {
        bookmark: first.uid,
        code: Some(code()),
        context_tokens: Some(context_tokens),
    };
    let placed_first = bench.event("a:1", placed(4_000));
    let placed_again = bench.event("a:1", placed(9_000));
    let deleted = bench.event("a:1", EventKind::BookmarkDeleted { bookmark: second.uid });
    bench.append(&[first, second, third, placed_first, placed_again, deleted]);
    bench
}

fn rows(store: &Store) -> Vec<BookmarkRow> {
    store.bookmarks(&ALL).unwrap()
}

#[test]
fn bookmarks_and_counts_since_them_are_the_same_after_a_rebuild() {
    let mut bench = bench();
    bench.accept("a:1", tool());
    let (store, _) = bench.apply_all();
    let (before, session) = (rows(&store), store.session(&key("a:1")).unwrap());
    assert_eq!(before.len(), 3);
    assert_eq!(session.as_ref().unwrap().since_bookmark.tool_calls, 1);
    drop(store);
    let lock = ProjectionLock::try_take(&bench.home).unwrap().unwrap();
    rebuild(&bench.home, &lock, Timestamp(1), "a test").unwrap();
    drop(lock);
    let (store, _) = bench.apply_all();
    assert_eq!((rows(&store), store.session(&key("a:1")).unwrap()), (before, session));
}

#[test]
fn a_bookmark_says_how_why_and_where_it_was_set_and_the_first_look_stands() {
    let bench = bench();
    let (store, _) = bench.apply_all();
    let [typed, manual, silent] = rows(&store).try_into().unwrap();
    let how = [&typed, &manual, &silent].map(|known| known.bookmark.set.how);
    assert_eq!(how, [BookmarkOrigin::Typed, BookmarkOrigin::Manual, BookmarkOrigin::Silent]);
    assert_eq!(silent.bookmark.set.reason.unwrap().label(), "about 6100 tokens");
    assert_eq!((silent.code.clone(), silent.bookmark.context_tokens), (Some(code()), Some(4_000)));
    assert_eq!((silent.before, manual.before), (None, Some(silent.bookmark.at)));
    assert_eq!(manual.bookmark.set.label.unwrap().as_str(), "before the storm");
    assert_eq!(typed.bookmark.set.after_turn, 2);
    let unplaced = store.unplaced_bookmarks(silent.bookmark.at).unwrap();
    assert_eq!(unplaced.len(), 2, "those that nobody has looked at");
}

#[test]
fn a_bookmark_that_is_deleted_can_be_restored() {
    let mut bench = bench();
    let (store, _) = bench.apply_all();
    let shown = |store: &Store| {
        store.bookmarks(&BookmarkFilter { deleted: DeletedBookmarks::LeftOut, ..ALL }).unwrap().len()
    };
    assert_eq!(shown(&store), 2);
    let deleted = rows(&store).into_iter().find(|known| known.deleted_at.is_some()).unwrap();
    drop(store);
    bench.accept("a:1", EventKind::BookmarkRestored { bookmark: deleted.bookmark.uid });
    let (store, _) = bench.apply_all();
    assert_eq!(shown(&store), 3);
    let name = deleted.bookmark.uid.to_string();
    for part in [&name[28..], &name[..10], &name] {
        assert!(
            store
                .bookmarks_named(part)
                .unwrap()
                .iter()
                .any(|known| known.bookmark.uid == deleted.bookmark.uid)
        );
    }
}

#[test]
fn an_erase_removes_bookmarks_and_their_texts() {
    let check = |meant: &dyn Fn(&Store) -> EraseSelection, left: usize| {
        let bench = bench();
        let (store, _) = bench.apply_all();
        let traces = &meant(&store);
        let lock = ProjectionLock::try_take(&bench.home).unwrap().unwrap();
        let rehearsed = store.preview_erase(traces).unwrap();
        store.apply_and_seal(&lock, &limits(&ALWAYS)).unwrap();
        assert_eq!(store.erase(&lock, traces).unwrap(), rehearsed);
        let after = rows(&store);
        assert_eq!(after.len(), left);
        assert!(!format!("{after:?}").contains("storm"));
        rebuild(&bench.home, &lock, Timestamp(1), "a test").unwrap();
        drop((store, lock));
        let (store, _) = bench.apply_all();
        let words =
            |rows: &[BookmarkRow]| rows.iter().map(|row| row.bookmark.set.clone()).collect::<Vec<_>>();
        assert_eq!(words(&rows(&store)), words(&after));
    };
    let stretch = TimeRange { from: Timestamp(0), until: Timestamp(i64::MAX) };
    check(&|_| EraseSelection::Sessions { sessions: [key("a:1")].into(), stretch }, 0);
    check(&|_| EraseSelection::Text(std::sync::Arc::new(ForgetText::new("storm").unwrap())), 3);
    let stormy = |store: &Store| {
        let found = rows(store).into_iter().find(|row| format!("{row:?}").contains("storm")).unwrap();
        EraseSelection::Notes([found.bookmark.uid].into())
    };
    check(&stormy, 2);
}

#[test]
fn bookmarks_travel_with_their_project_and_a_deleted_one_under_a_higher_count() {
    use crate::archive::{RowContent, ShareLevel, SharedProject};
    let mut bench = Bench::new();
    let mut asked = bench.event("a:1", prompt("paint the mast"));
    let project =
        ProjectIdentity { root: "/boat".into(), remote: Some("x/boat".into()), name: None, branch: None };
    asked.scene = Some(EventScene {
        presence: SessionPresence::Terminal,
        folder: Some("/boat".into()),
        transcript: None,
        model: None,
        place: None,
        project: Some(project),
    });
    bench.append(&[asked]);
    let marked = bench.event("a:1", set(BookmarkOrigin::Manual, Some("before the storm")));
    let deleted = bench.event("a:1", EventKind::BookmarkDeleted { bookmark: marked.uid });
    bench.append(&[marked]);
    let shared = |remote: &str| SharedProject {
        row: 1,
        id: Uid([5; 16]),
        key: remote.into(),
        extent: ShareLevel::Lines,
        cursor: 0,
        since: Timestamp(0),
        name: "boat".into(),
        root: "/elsewhere".into(),
        remote: Some(remote.into()),
    };
    let carried =
        |store: &Store, remote: &str| store.sync_notes(&shared(remote), "ann", Uid([7; 16])).unwrap();
    let (store, _) = bench.apply_all();
    let first = carried(&store, "x/boat").remove(0);
    assert!(matches!(&first.words, Some(RowContent::Noted(words)) if words.contains("before the storm")));
    assert_eq!((first.row.from.person.as_str(), first.row.project), ("ann", Uid([5; 16])));
    assert!(carried(&store, "x/other").is_empty());
    drop(store);
    bench.append(&[deleted]);
    let (store, _) = bench.apply_all();
    let again = carried(&store, "x/boat").remove(0);
    let count = |carried: &crate::archive::SyncRow<String>| match &carried.row.life {
        towline_core::share::RowLife::Lives(registers) => registers.words.stamp.count,
        towline_core::share::RowLife::Forgotten { .. } => 0,
    };
    assert!(count(&again) > count(&first));
}

/// A session of a project, with a label that stays, one that was deleted, one that was brought back, and a baton.
fn with_labels() -> Bench {
    let mut bench = Bench::new();
    let project = ProjectIdentity { root: "/home/boat".into(), ..ProjectIdentity::default() };
    let scene = EventScene {
        presence: SessionPresence::Terminal,
        folder: Some("/home/boat".into()),
        transcript: None,
        model: None,
        place: None,
        project: Some(project),
    };
    let asked = Event { scene: Some(scene), ..bench.event("a:1", prompt("paint the mast")) };
    let labels = ["stays", "was deleted", "came back"].map(|label| {
        let event = bench.event("a:1", set(BookmarkOrigin::Manual, Some(label)));
        (event.uid, event)
    });
    let (second, third) = (labels[1].0, labels[2].0);
    let changes = [
        EventKind::BookmarkDeleted { bookmark: second },
        EventKind::BookmarkDeleted { bookmark: third },
        EventKind::BookmarkRestored { bookmark: third },
        EventKind::BatonPassed,
    ];
    let changes = changes.map(|change| bench.event("a:1", change));
    bench.append(&[asked]);
    bench.append(&labels.map(|(_, event)| event));
    bench.append(&changes);
    bench
}

fn rebuilt(bench: &Bench) -> Store {
    let lock = ProjectionLock::try_take(&bench.home).unwrap().unwrap();
    rebuild(&bench.home, &lock, Timestamp(1), "a test").unwrap();
    drop(lock);
    bench.apply_all().0
}

/// The journal was emptied, the database still had all; weeks later the database was damaged, and all labels were gone.
#[test]
fn labels_and_batons_of_a_journal_that_was_lost_were_gone_after_the_next_rebuild() {
    let bench = with_labels();
    let written = |store: &Store| (rows(store), store.open_batons(Timestamp(bench.clock)).unwrap());
    let before = written(&bench.apply_all().0);
    assert_eq!((before.0.len(), before.1.len()), (3, 1));
    let journal = bench.home.journal();
    let lose: [&dyn Fn(); 2] =
        [&|| fs::remove_dir_all(&journal).unwrap(), &|| fs::write(journal.join("active"), "").unwrap()];
    for lose in lose {
        lose();
        bench.home.create().unwrap();
        let (store, _) = bench.apply_all();
        assert!(store.mend_journal(Timestamp(bench.clock)).unwrap() > 0);
        assert_eq!(store.mend_journal(Timestamp(bench.clock)).unwrap(), 0, "nothing is appended twice");
        assert_eq!(written(&bench.apply_all().0), before, "what is there already does not change");
        drop(store);
        assert_eq!(written(&rebuilt(&bench)), before);
    }
}

#[test]
fn a_journal_that_an_erase_has_reached_before_the_database_gets_nothing_back() {
    let bench = with_labels();
    let (store, _) = bench.apply_all();
    fs::remove_dir_all(bench.home.journal()).unwrap();
    bench.home.create().unwrap();
    fs::write(bench.home.erasing(), "").unwrap();
    assert_eq!(store.mend_journal(Timestamp(bench.clock)).unwrap(), 0);
}

/// Only the label's own event outlived its segment, and that did not name a project: `tow bookmark list` no longer listed it.
#[test]
fn a_label_had_no_project_after_a_rebuild_once_its_segment_had_expired() {
    let mut bench = with_labels();
    for _ in 0..3 {
        journal::seal(&bench.home, &ProjectionLock::try_take(&bench.home).unwrap().unwrap()).unwrap();
        bench.accept("a:2", prompt("go on"));
    }
    let (store, _) = bench.apply_all();
    let before = rows(&store);
    let retention = Retention { events_days: 0, journal_bytes: 0 };
    let done = upkeep::run_jobs(&store, retention, Timestamp(bench.clock), ClockTrust::Confirmed).unwrap();
    assert!(done.expired_journal_bytes > 0);
    drop(store);
    assert_eq!(rows(&rebuilt(&bench)), before);
}

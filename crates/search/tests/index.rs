//! Index behaviour: what is found, what is erased, and what a kill leaves.
#![expect(clippy::disallowed_methods, reason = "a writer is killed in the middle of its work")]
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use towline_search::{
    BoostReason, Document, DocumentKind, Filters, Hit, IndexError, Purged, Query, QueryContext, SearchIndex,
    is_in_library,
};

const DAY: i64 = 86_400_000;

struct TestIndex {
    folder: TempDir,
    index: SearchIndex,
}

impl TestIndex {
    fn with(documents: &[Document]) -> TestIndex {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let mut writer = index.writer().unwrap();
        documents.iter().for_each(|document| writer.add(document).unwrap());
        writer.commit(documents.len() as i64).unwrap();
        drop(writer);
        TestIndex { folder, index }
    }

    fn ids(&self, text: &str) -> Vec<i64> {
        ids(&self.index.search(&query_for(text), &[]).unwrap())
    }
}

fn query_for(text: &str) -> Query {
    Query { text: text.to_owned(), limit: 10, now: 1000 * DAY, ..Query::default() }
}

fn ids(hits: &[Hit]) -> Vec<i64> {
    hits.iter().map(|hit| hit.id).collect()
}

fn body(id: i64, text: &str) -> Document {
    Document {
        session: format!("session-{id}"),
        at: id * DAY,
        ..Document::plain(id, DocumentKind::Body, text)
    }
}

#[test]
fn document_is_found_by_its_words_and_says_why() {
    let test = TestIndex::with(&[
        body(1, "The connection pool was exhausted by leaked transactions"),
        body(2, "Renamed the button on the settings page"),
    ]);
    let hits = test.index.search(&query_for("which pools leak?"), &[]).unwrap();
    assert_eq!(hits[0].id, 1);
    assert_eq!(hits[0].words, ["pools", "leak"]);
    assert!(hits[0].boosts.iter().any(|boost| boost.why == BoostReason::Words && boost.by > 0.0));
}

#[test]
fn replaced_document_is_found_by_its_new_words_alone() {
    let test = TestIndex::with(&[body(1, "alpha"), body(2, "beta")]);
    let mut writer = test.index.writer().unwrap();
    writer.add(&body(1, "gamma")).unwrap();
    writer.remove(2);
    writer.commit(3).unwrap();
    assert_eq!((test.ids("alpha"), test.ids("beta"), test.ids("gamma")), (vec![], vec![], vec![1]));
    assert_eq!(test.index.documents(), 1);
}

#[test]
fn index_files_were_readable_by_everyone() {
    use std::os::unix::fs::PermissionsExt;
    let test = TestIndex::with(&[body(1, "alpha"), body(2, "beta")]);
    for file in std::fs::read_dir(test.folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn checkpoint_is_that_of_the_last_commit() {
    let test = TestIndex::with(&[]);
    let mut writer = test.index.writer().unwrap();
    writer.commit(41).unwrap();
    writer.add(&body(1, "not committed")).unwrap();
    drop(writer);
    let again = SearchIndex::open(test.folder.path()).unwrap();
    assert_eq!((again.checkpoint().unwrap(), again.documents()), (Some(41), 0));
    assert_eq!(SearchIndex::open(&test.folder.path().join("new")).unwrap().checkpoint().unwrap(), None);
}

#[test]
fn second_writer_is_told_that_the_index_is_busy() {
    let test = TestIndex::with(&[]);
    let first = test.index.writer().unwrap();
    assert!(matches!(test.index.writer(), Err(IndexError::Busy)));
    drop(first);
    assert!(test.index.writer().is_ok());
}

#[test]
fn fresh_documents_are_found_beside_indexed_ones_and_in_their_place() {
    let test = TestIndex::with(&[body(1, "old words of a zebra"), body(2, "a zebra crossing")]);
    let fresh = [body(1, "another animal altogether"), body(3, "zebra zebra")];
    let found = ids(&test.index.search(&query_for("zebra"), &fresh).unwrap());
    assert_eq!(found, [3, 2]);
    let hits = test.index.search(&query_for("altogether"), &fresh).unwrap();
    assert_eq!((hits[0].id, hits[0].words.len()), (1, 1));
}

#[test]
fn fresh_and_indexed_documents_score_alike() {
    let documents: Vec<Document> =
        (1..20).map(|id| body(id, &format!("document {id} about pools, number{id}"))).collect();
    let test = TestIndex::with(&documents);
    let empty = TestIndex::with(&[]);
    let indexed = test.index.search(&query_for("pools number7"), &[]).unwrap();
    let fresh = empty.index.search(&query_for("pools number7"), &documents).unwrap();
    assert_eq!(ids(&indexed), ids(&fresh));
    assert!(indexed.iter().zip(&fresh).all(|(a, b)| (a.score - b.score).abs() < 0.01));
}

#[test]
fn every_filter_narrows() {
    let tagged = Document {
        memory_type: Some("bugfix".to_owned()),
        concepts: vec!["Caching".to_owned()],
        files: vec!["/repo/src/auth/login.rs".to_owned()],
        project: "shop".to_owned(),
        branch: "main".to_owned(),
        agent: "one".to_owned(),
        ..Document { kind: DocumentKind::Memory, ..body(1, "the same words") }
    };
    let test = TestIndex::with(&[tagged, body(2, "the same words")]);
    let check = |filters: Filters, expected: &[i64]| {
        let query = Query { filters: filters.clone(), ..query_for("same words") };
        assert_eq!(ids(&test.index.search(&query, &[]).unwrap()), expected, "{filters:?}");
    };
    let some = |text: &str| Some(text.to_owned());
    let one = |text: &str| vec![text.to_owned()];
    check(Filters { kinds: vec![DocumentKind::Memory, DocumentKind::Detail], ..Filters::default() }, &[1]);
    check(Filters { types: one("bugfix"), ..Filters::default() }, &[1]);
    check(Filters { concepts: one("caching"), ..Filters::default() }, &[1]);
    for file in ["login.rs", "src/auth", "auth/login.rs", "/repo/src/", "./src/auth/login.rs"] {
        check(Filters { files: one(file), ..Filters::default() }, &[1]);
    }
    check(Filters { files: one("ogin.rs"), ..Filters::default() }, &[]);
    check(Filters { project: some("shop"), ..Filters::default() }, &[1]);
    check(Filters { branch: some("main"), agent: some("one"), ..Filters::default() }, &[1]);
    check(Filters { branch: some("main"), agent: some("two"), ..Filters::default() }, &[]);
    check(Filters { session: some("session-2"), ..Filters::default() }, &[2]);
    check(Filters { from: Some(2 * DAY), ..Filters::default() }, &[2]);
    check(Filters { until: Some(2 * DAY), ..Filters::default() }, &[1]);
}

#[test]
fn question_without_words_asks_for_the_newest() {
    let test = TestIndex::with(&[body(1, "one"), body(3, "three"), body(2, "two")]);
    assert_eq!(test.ids("  "), [3, 2, 1]);
    let query = Query { filters: Filters { until: Some(3 * DAY), ..Filters::default() }, ..query_for("?!") };
    assert_eq!(ids(&test.index.search(&query, &[]).unwrap()), [2, 1]);
}

#[test]
fn current_project_and_quoted_words_move_a_hit_up() {
    let here =
        Document { project: "shop".to_owned(), branch: "main".to_owned(), ..body(1, "retry with backoff") };
    let test = TestIndex::with(&[here, body(2, "retry with backoff"), body(3, "backoff with retry")]);
    let here =
        QueryContext { project: Some("shop".to_owned()), branch: Some("main".to_owned()), files: Vec::new() };
    let hits = test.index.search(&Query { here, ..query_for("backoff retry") }, &[]).unwrap();
    assert_eq!(hits[0].id, 1);
    assert!(hits[0].boosts.iter().any(|boost| boost.why == BoostReason::Branch));
    assert_eq!(test.ids("\"backoff with retry\"")[0], 3);
}

#[test]
fn newer_of_two_equal_hits_comes_first() {
    let test = TestIndex::with(&[body(1, "flaky test"), body(9, "flaky test"), body(5, "flaky test")]);
    assert_eq!(test.ids("flaky"), [9, 5, 1]);
}

#[test]
fn slips_parts_of_words_and_short_names_of_commits_are_understood() {
    let test = TestIndex::with(&[
        body(1, "authentication with PostgreSQL"),
        body(2, "commit 1a96b2134f0c fixed the tokenBucketLimiter"),
        body(3, "数据库连接池耗尽"),
        body(4, "nothing of the sort"),
    ]);
    assert_eq!(test.ids("autentication postgress")[0], 1);
    assert_eq!(test.ids("1a96b21")[0], 2);
    assert_eq!(test.ids("BucketLim")[0], 2);
    assert_eq!(test.ids("连接")[0], 3);
    assert_eq!(test.ids("库")[0], 3);
}

#[test]
fn erased_text_is_in_no_file() {
    let documents: Vec<Document> =
        (1..200).map(|id| body(id, &format!("ordinary text of number {id}"))).collect();
    let test = TestIndex::with(&documents);
    let mut writer = test.index.writer().unwrap();
    let secret = Document {
        files: vec!["занзибар.rs".to_owned()], ..body(500, "the ксилофонкварц secret")
    };
    writer.add(&secret).unwrap();
    writer.commit(500).unwrap();
    writer.close().unwrap();
    for word in ["ксилофонкварц", "занзибар"] {
        assert!(is_in_files(test.folder.path(), word), "the test must be able to see {word}");
    }
    let tails = || fs::read(test.folder.path().join(".tails")).unwrap();
    assert!(is_in(&tails(), "ксилофонкварц"), "small files are recorded whole");
    let purged = test.index.writer().unwrap().erase(&[500, 9999], u32::MAX).unwrap();
    assert_eq!((purged, tails().is_empty()), (Purged::All, false));
    for word in ["ксилофонкварц", "занзибар"] {
        assert!(!is_in_files(test.folder.path(), word), "{word}");
    }
    assert_eq!((test.ids("ксилофонкварц").len(), test.index.documents()), (0, 199));
    assert_eq!(test.index.checkpoint().unwrap(), Some(500));
}

/// The term dictionary writes a term's letters backwards, with a byte after each. Only bytes that are rare in English
/// are written verbatim: hence the Cyrillic letters.
fn is_in_files(folder: &Path, word: &str) -> bool {
    let mut files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.any(|bytes| is_in(&bytes, word))
}

fn is_in(bytes: &[u8], word: &str) -> bool {
    // The first letters may be shared with other terms, and be written elsewhere.
    let backwards: Vec<u8> = word.bytes().skip(4).collect::<Vec<u8>>().into_iter().rev().collect();
    bytes.windows(word.len()).any(|window| window == word.as_bytes()) || spaced_letters(bytes, &backwards)
}

/// Whether the letters occur in order with at most one byte between them, as in a dictionary of single states.
fn spaced_letters(bytes: &[u8], letters: &[u8]) -> bool {
    (0..bytes.len()).any(|start| {
        let mut at = start;
        letters.iter().all(|letter| {
            let found = (at..(at + 3).min(bytes.len())).find(|place| bytes[*place] == *letter);
            at = found.map_or(at, |place| place + 1);
            found.is_some()
        })
    })
}

#[test]
fn many_may_open_an_index_first() {
    for _ in 0..20 {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("index");
        std::thread::scope(|scope| {
            let open = || SearchIndex::open(&folder).map(|index| index.checkpoint().unwrap());
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            opened.into_iter().for_each(|one| assert_eq!(one.join().unwrap().unwrap(), None));
        });
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn damaged_and_older_index_call_for_a_rebuild() {
    let test = TestIndex::with(&[body(1, "words")]);
    let meta = test.folder.path().join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    for damaged in
        ["", "{", "[]", &text.replace("\\\"format\\\":", "\\\"format\\\":9"), &text.replace("words", "wards")]
    {
        std::fs::write(&meta, damaged).unwrap();
        let error = SearchIndex::open(test.folder.path()).err().unwrap();
        assert!(error.needs_rebuild(), "{damaged}: {error}");
    }
    std::fs::remove_file(&meta).unwrap();
    assert!(SearchIndex::open(test.folder.path()).err().unwrap().needs_rebuild());
    let anew = SearchIndex::rebuild(test.folder.path()).unwrap();
    assert_eq!((anew.documents(), anew.checkpoint().unwrap()), (0, None));
}

/// "The search index is damaged: meta.json does not exist", while it was emptied file by file.
#[test]
fn an_index_that_was_opened_during_a_rebuild_seemed_damaged() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("index");
    drop(SearchIndex::open(&folder).unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let open = || {
            let mut opened = 0;
            while !is_over.load(Ordering::Relaxed) {
                let index = SearchIndex::open_existing(&folder).unwrap().unwrap();
                // Each reads the file by its path, of which the folder may go between two steps.
                (0..50).for_each(|_| assert_eq!(index.checkpoint().unwrap(), None));
                opened += 1;
            }
            opened
        };
        let readers = [scope.spawn(open), scope.spawn(open)];
        let rebuilt = (0..300).try_for_each(|_| SearchIndex::rebuild(&folder).map(drop));
        is_over.store(true, Ordering::Relaxed);
        rebuilt.unwrap();
        readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() > 0));
    });
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn what_a_killed_rebuild_left_is_removed_once_it_is_old() {
    let root = tempfile::tempdir().unwrap();
    let [folder, old, recent] =
        ["index", "index.new.77.0", "index.new.78.0"].map(|name| root.path().join(name));
    for left in [&old, &recent] {
        std::fs::create_dir(left).unwrap();
        std::fs::write(left.join("meta.json"), "{}").unwrap();
    }
    let hours_ago = SystemTime::now() - Duration::from_secs(3 * 3600);
    std::fs::File::open(&old).unwrap().set_modified(hours_ago).unwrap();
    drop(SearchIndex::rebuild(&folder).unwrap());
    assert!(!old.exists() && recent.exists());
}

/// Searches for pools in a thread of its own. `None` if the index needs a rebuild, or if the library panicked, as
/// the panic hook would find out.
fn search_in_thread(folder: &Path) -> Option<Vec<Hit>> {
    let folder = folder.to_owned();
    let search = move || SearchIndex::open(&folder)?.search(&query_for("pools"), &[]);
    match std::thread::spawn(|| catch_unwind(search).map_err(|_| is_in_library())).join().unwrap() {
        Ok(Ok(hits)) => Some(hits),
        Ok(Err(error)) => {
            assert!(error.needs_rebuild(), "{error}");
            None
        }
        Err(is_in_library) => {
            assert!(is_in_library);
            None
        }
    }
}

#[test]
fn truncated_files_are_errors_or_panics_inside_the_library() {
    let documents: Vec<Document> = (1..50).map(|id| body(id, &format!("text {id} about pools"))).collect();
    let test = TestIndex::with(&documents);
    for file in std::fs::read_dir(test.folder.path()).unwrap().map(|file| file.unwrap().path()) {
        let whole = std::fs::read(&file).unwrap();
        if file.extension().is_none_or(|ending| ending == "json" || ending == "lock") {
            continue;
        }
        std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert!(search_in_thread(test.folder.path()).is_none(), "{} was not missed", file.display());
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(SearchIndex::open(test.folder.path()).unwrap().verify().is_ok());
}

#[test]
fn changed_bytes_are_answers_errors_or_panics_inside_the_library() {
    let documents: Vec<Document> = (1..50).map(|id| body(id, &format!("text {id} about pools"))).collect();
    let test = TestIndex::with(&documents);
    let mut broken = 0;
    for file in std::fs::read_dir(test.folder.path()).unwrap().map(|file| file.unwrap().path()) {
        let whole = std::fs::read(&file).unwrap();
        for part in 0..16 {
            let mut changed = whole.clone();
            if let Some(byte) = changed.get_mut(whole.len() * part / 16) {
                *byte ^= 0x5A;
            }
            std::fs::write(&file, &changed).unwrap();
            broken += usize::from(search_in_thread(test.folder.path()).is_none());
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(broken > 0);
    assert_eq!(test.ids("pools").len(), 10);
}

#[test]
fn turn_gains_from_its_neighbours_and_its_session() {
    let turn = |id: i64, session: &str, turn: u32, text: &str| Document {
        session: session.to_owned(),
        turn,
        at: DAY,
        ..Document::plain(id, DocumentKind::Body, text)
    };
    let test = TestIndex::with(&[
        turn(1, "a", 0, "the payment webhook fails with a bad signature"),
        turn(2, "a", 1, "done, the webhook is fine"),
        turn(3, "b", 0, "a poem about the sea"),
        turn(4, "b", 1, "done, the webhook is fine"),
    ]);
    let hits = test.index.search(&query_for("payment webhook signature"), &[]).unwrap();
    assert_eq!(ids(&hits)[..2], [1, 2]);
    let why: Vec<BoostReason> = hits[1].boosts.iter().map(|boost| boost.why).collect();
    assert!(why.contains(&BoostReason::Neighbour) && why.contains(&BoostReason::Session), "{why:?}");
}

/// A passage of a turn.
fn passage(id: i64, kind: DocumentKind, turn: u32, text: &str) -> Document {
    Document { session: "of-all".to_owned(), turn, at: DAY, ..Document::plain(id, kind, text) }
}

#[test]
fn the_question_itself_ranked_before_its_answer_and_each_turn_several_times() {
    use DocumentKind::{Body, Bookmark, Detail, Memory, Prompt};
    let test = TestIndex::with(&[
        passage(1, Prompt, 1, "The checkout tests fail on CI since yesterday. Find out why and fix it."),
        passage(2, Body, 1, "I look at the tests first."),
        passage(3, Detail, 1, "checkout checkout tests FAILED: keeps_its_session"),
        passage(
            4,
            Body,
            1,
            "The checkout tests failed because two requests refreshed the token at the same time.",
        ),
        passage(5, Bookmark, 1, "The checkout tests fail on CI since yesterday"),
        passage(
            6,
            Memory,
            1,
            "Two requests refreshed the token at once, so checkout tests failed now and then.",
        ),
        passage(7, Prompt, 2, "Commit it, and run the tests ten times from now on."),
        passage(8, Body, 2, "Committed."),
    ]);
    let found = test.ids("why did the checkout tests fail");
    assert_eq!(found[0], 6, "the memory comes first: {found:?}");
    let of_first_turn: Vec<_> = found.iter().filter(|id| **id <= 5).collect();
    assert_eq!(of_first_turn.len(), 1, "one hit per turn: {found:?}");
    assert!([&3, &4].contains(&of_first_turn[0]), "not the prompt or its bookmark: {found:?}");
}

/// The turns before and after an exact match mention everything else that was asked for.
#[test]
fn the_neighbours_of_an_exact_match_ranked_before_it() {
    let turn = |id: i64, number: u32, session: &str, text: &str| Document {
        session: session.to_owned(),
        turn: number,
        ..body(id, text)
    };
    let mut documents = vec![
        turn(1, 1, "a", "Updated the parser and its tests for the release"),
        turn(2, 2, "a", "Fixed the parser of the release in 4.17.2"),
        turn(3, 3, "a", "The parser release was tested, parser errors are gone"),
    ];
    documents
        .extend((4..60).map(|id| turn(id, 1, &format!("s{id}"), "the release of the parser was tested")));
    let test = TestIndex::with(&documents);
    assert_eq!(test.ids("parser release 4.17.2")[0], 2);
}

#[test]
fn what_holds_now_was_not_before_what_held_once() {
    let test = TestIndex::with(&[
        body(1, "The queue runs on Postgres"),
        body(2, "The queue runs on Redis"),
        body(3, "The garden has a pond"),
    ]);
    assert_eq!(test.ids("what does the queue run on now")[0], 2);
    assert_eq!(test.ids("current queue")[0], 2);
}

#[test]
fn bookmark_is_found_by_a_name_that_its_turn_does_not_contain() {
    use DocumentKind::{Bookmark, Prompt};
    let test = TestIndex::with(&[
        passage(1, Prompt, 1, "Rewrite the migration of the harbour table"),
        passage(2, Bookmark, 1, "before the harbour burns"),
    ]);
    assert_eq!(test.ids("harbour burns"), [2]);
}

#[test]
fn asking_for_more_changed_the_first_hits() {
    // One turn prints the word more often than all others together.
    let noise = (1..=900).map(|id| passage(id, DocumentKind::Detail, 1, "mast mast mast error"));
    let turns = (901..=1500).map(|id| Document {
        at: id * DAY,
        ..passage(id, DocumentKind::Body, id as u32, &format!("the mast number {id} broke in the storm"))
    });
    let documents: Vec<Document> = noise.chain(turns).collect();
    let test = TestIndex::with(&documents);
    let asked = |limit| {
        let hits = test.index.search(&Query { limit, ..query_for("mast storm") }, &[]).unwrap();
        ids(&hits)
    };
    let (few, many) = (asked(10), asked(550));
    assert_eq!(few, many[..10]);
    assert_eq!(many.len(), 550, "every turn is a hit of its own");
    assert_eq!(many.iter().collect::<std::collections::HashSet<_>>().len(), 550);
}

#[test]
fn question_about_a_time_finds_what_has_no_other_word_of_it() {
    let documents: Vec<Document> =
        (1..=30).map(|id| body(id, &format!("entry{id} about something"))).collect();
    let test = TestIndex::with(&documents);
    let query = Query { now: 21 * DAY + 5, ..query_for("what happened yesterday?") };
    assert_eq!(test.index.search(&query, &[]).unwrap()[0].id, 20);
}

/// The child commits batch after batch and prints each commit.
#[test]
fn killed_writer_leaves_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for kill_after in [1, 2, 3, 5, 8] {
        seen = run_and_kill(folder.path(), seen, kill_after);
        let index = SearchIndex::open(folder.path()).unwrap();
        let checkpoint = index.checkpoint().unwrap().unwrap();
        assert!(checkpoint >= seen, "{checkpoint} {seen}");
        assert_eq!(index.documents() as i64, checkpoint);
        let last = index.search(&query_for(&format!("document{checkpoint}")), &[]).unwrap();
        assert_eq!(last[0].id, checkpoint);
        index.verify().unwrap();
        seen = checkpoint;
    }
}

fn run_and_kill(folder: &Path, from: i64, commits: usize) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_writes_until_it_is_killed", "--nocapture", "--include-ignored"])
        .env("SEARCH_CHILD_FOLDER", folder)
        .env("SEARCH_CHILD_FROM", from.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let committed =
        lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("committed ")?.parse().ok());
    let last = committed.take(commits).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    last
}

/// Does nothing unless started by `run_and_kill`.
#[test]
fn child_writes_until_it_is_killed() {
    let Ok(folder) = std::env::var("SEARCH_CHILD_FOLDER") else { return };
    let from: i64 = std::env::var("SEARCH_CHILD_FROM").unwrap().parse().unwrap();
    let index = SearchIndex::open(Path::new(&folder)).unwrap();
    let mut writer = index.writer().unwrap();
    for id in from + 1..from + 100_000 {
        writer.add(&body(id, &format!("document{id} with text of its own"))).unwrap();
        if id % 7 == 0 {
            writer.commit(id).unwrap();
            println!("\ncommitted {id}");
        }
    }
}

#[test]
fn parts_of_a_whole_are_removed_together_and_may_be_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path()).unwrap();
    let part = |id: i64, whole: i64| Document { whole, ..body(id, "a lantern") };
    let mut writer = index.writer().unwrap();
    for (id, whole) in [(1, 7), (2, 7), (3, 8), (4, 0)] {
        writer.add(&part(id, whole)).unwrap();
    }
    writer.commit(1).unwrap();
    writer.remove_parts(7);
    writer.add(&part(2, 7)).unwrap();
    writer.commit(2).unwrap();
    writer.close().unwrap();
    let query = Query { text: "lantern".into(), limit: 10, ..Query::default() };
    let mut ids: Vec<i64> = index.search(&query, &[]).unwrap().iter().map(|hit| hit.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, [2, 3, 4]);
}

//! Ranking: other words for what a query says, queries that name their answer's surroundings, and what holds now.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use tempfile::TempDir;
use towline_search::{Document, DocumentKind, Query, SearchIndex};

const DAY: i64 = 86_400_000;

struct TestIndex {
    _folder: TempDir,
    index: SearchIndex,
}

impl TestIndex {
    fn with(documents: &[Document]) -> TestIndex {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let mut writer = index.writer().unwrap();
        documents.iter().for_each(|document| writer.add(document).unwrap());
        writer.commit(1).unwrap();
        writer.close().unwrap();
        TestIndex { _folder: folder, index }
    }

    fn ids(&self, text: &str) -> Vec<i64> {
        let query = Query { text: text.to_owned(), limit: 10, now: 2000 * DAY, ..Query::default() };
        self.index.search(&query, &[]).unwrap().into_iter().map(|hit| hit.id).collect()
    }

    #[track_caller]
    fn check_first(&self, text: &str, id: i64) {
        assert_eq!(self.ids(text).first(), Some(&id), "{text}");
    }
}

/// An answer in a session of its own.
fn alone(id: i64, text: &str) -> Document {
    Document {
        session: format!("session {id}"),
        turn: 1,
        at: id * DAY,
        ..Document::plain(id, DocumentKind::Body, text)
    }
}

/// An answer of a session; ids count its turns.
fn of_session(session: &str, id: i64, text: &str) -> Document {
    Document { session: session.to_owned(), turn: id as u32, ..alone(id, text) }
}

/// Text about other things, so that rarity means something.
fn others() -> impl Iterator<Item = Document> {
    let texts =
        ["the release notes were written", "renamed a button on the settings page", "moved a picture"];
    (1000..1040).map(move |id| alone(id, &format!("{} {id}", texts[id as usize % texts.len()])))
}

fn beside_others(documents: impl IntoIterator<Item = Document>) -> TestIndex {
    TestIndex::with(&documents.into_iter().chain(others()).collect::<Vec<_>>())
}

#[test]
fn synonyms_and_abbreviations_find_what_is_said_in_other_words() {
    let test = beside_others([
        alone(1, "Fixed a panic if the list has no entries."),
        alone(2, "Close all fds when the setup is refused."),
        alone(3, "The MSRV is 1.85."),
    ]);
    test.check_first("crash with an empty list", 1);
    test.check_first("file descriptors kept growing", 2);
    test.check_first("minimum supported Rust version", 3);
}

#[test]
fn words_as_written_come_before_their_synonyms() {
    let test = beside_others([alone(1, "a crash of the importer"), alone(2, "a panic of the importer")]);
    test.check_first("importer panic", 2);
    test.check_first("importer crash", 1);
}

#[test]
fn questions_in_one_language_find_documents_in_another() {
    let test = beside_others([
        alone(1, "Environment variables had no effect on the scheduler."),
        alone(2, "Der Versand verschickte jede Rechnung doppelt."),
        alone(3, "在庫がマイナスになることがあります。"),
    ]);
    test.check_first("Umgebungsvariablen hatten keine Wirkung", 1);
    test.check_first("las variables de entorno no tienen efecto", 1);
    test.check_first("why was the invoice sent twice", 2);
    test.check_first("stock becomes negative", 3);
}

#[test]
fn question_about_what_followed_finds_the_turn_after_the_one_that_it_names() {
    let test = beside_others([
        of_session("a", 1, "Fixed the parser of durations."),
        of_session("a", 2, "Replaced `SegmentReader` by a cursor."),
        of_session("a", 3, "Fixed the rounding of prices."),
        of_session("b", 4, "Fixed the colours of the chart."),
    ]);
    test.check_first("what did we fix right after SegmentReader?", 3);
    test.check_first("what was fixed right before SegmentReader?", 1);
    test.check_first("what did we do right after SegmentReader?", 3);
}

#[test]
fn question_within_a_named_session_is_answered_from_it() {
    let test = beside_others([
        of_session("a", 1, "Replaced `SegmentReader` by a cursor."),
        of_session("a", 5, "Errors are reported with their place."),
        alone(7, "Errors errors errors: all errors are counted."),
    ]);
    test.check_first("in the session with SegmentReader, what happened to errors?", 5);
    test.check_first("errors", 7);
}

#[test]
fn surroundings_that_many_sessions_have_decide_nothing() {
    let mut documents: Vec<Document> =
        (1..9).map(|id| alone(id, "the tests were run before the merge")).collect();
    documents.push(alone(20, "errors are reported with their place"));
    beside_others(documents).check_first("errors right after the tests", 20);
}

#[test]
fn what_holds_now_is_the_newest_entry_of_the_project_that_is_named() {
    let of_project = |id, project: &str, text| Document { project: project.to_owned(), ..alone(id, text) };
    let test = beside_others([
        of_project(1, "lantern", "The minimum Rust version is 1.60."),
        of_project(2, "lantern", "The minimum Rust version is 1.71."),
        of_project(3, "lantern", "A new colour for the chart."),
        of_project(4, "harbour", "The minimum Rust version is 1.90."),
    ]);
    test.check_first("what is the minimum Rust version of lantern now?", 2);
}

#[test]
fn an_identifier_counts_once_and_not_again_by_its_parts() {
    let test = beside_others([
        alone(1, "`stock_quantity` may be missing in the feature list"),
        alone(2, "stock quantity, stock quantity: quantity of stock"),
        alone(3, "feature list feature list"),
    ]);
    test.check_first("stock_quantity feature", 1);
}

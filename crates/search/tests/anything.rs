//! No query and no document is an error, whatever it contains.

use proptest::prelude::*;
use towline_search::{Document, DocumentKind, Query, SearchIndex, snippet};

fn strange() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\x00-\\x7f]{0,200}",
        "[a-zA-Z0-9_./\"' -]{0,80}",
        "[\u{0300}-\u{036f}\u{200b}-\u{202e}\u{3040}-\u{9fff}]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_text_can_be_asked_and_kept(question in strange(), text in strange(), title in strange()) {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let mut writer = index.writer().unwrap();
        let document = Document {
            title: title.clone(),
            files: vec![title.clone()],
            project: title.clone(),
            session: title,
            turn: u32::MAX,
            at: i64::MAX / 2,
            ..Document::plain(i64::MIN, DocumentKind::Detail, &text)
        };
        writer.add(&document).unwrap();
        writer.commit(i64::MAX).unwrap();
        let query = Query { text: question.clone(), limit: usize::MAX, now: i64::MIN / 4, ..Query::default() };
        let hits = index.search(&query, std::slice::from_ref(&document)).unwrap();
        prop_assert!(hits.len() <= 1);
        let shown = snippet(&text, &question, 60);
        prop_assert!(shown.marks.iter().all(|mark| shown.text.get(mark.clone()).is_some()));
        prop_assert!(!shown.text.chars().any(char::is_control));
    }
}

#[test]
fn question_of_a_megabyte_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut writer = index.writer().unwrap();
    let long = "needle haystack0 \u{0}\u{7}é数".repeat(50_000);
    writer.add(&Document::plain(1, DocumentKind::Detail, &long)).unwrap();
    writer.add(&Document::plain(2, DocumentKind::Detail, &"x".repeat(1_000_000))).unwrap();
    writer.commit(1).unwrap();
    for question in [long.clone(), "\"".repeat(1_000_000), "a ".repeat(500_000), "x".repeat(1_000_000)] {
        index.search(&Query { text: question, limit: 5, ..Query::default() }, &[]).unwrap();
    }
    let query = Query { text: long, limit: 5, ..Query::default() };
    assert_eq!(index.search(&query, &[]).unwrap()[0].id, 1);
}

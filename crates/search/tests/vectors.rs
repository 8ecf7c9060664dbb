//! The vector file: kills, updates and erasing, and how a search uses it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;
use towline_search::{
    Document, DocumentKind, Query, QuerySimilarity, RankingStages, SearchIndex, VectorFile, VectorFormat,
    VectorWriter,
};

const OF: VectorFormat = VectorFormat { model: 7, dimensions: 8 };

struct TestFolder {
    folder: TempDir,
}

impl TestFolder {
    fn new() -> TestFolder {
        TestFolder { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("rows")
    }

    fn writer(&self) -> VectorWriter {
        VectorWriter::open(&self.file(), OF).unwrap().unwrap()
    }

    fn vectors(&self) -> VectorFile {
        VectorFile::open(&self.file(), OF).unwrap().unwrap()
    }

    fn known(&self) -> Vec<(i64, u64)> {
        let mut known: Vec<(i64, u64)> = self.vectors().known().into_iter().collect();
        known.sort_unstable();
        known
    }
}

/// The unit vector of a dimension below 8.
fn direction(number: usize) -> Vec<f32> {
    (0..8).map(|at| if at == number { 1.0 } else { 0.0 }).collect()
}

#[test]
fn torn_row_is_skipped_wherever_it_was_cut() {
    let folder = TestFolder::new();
    folder.writer().add(1, 10, &direction(1)).unwrap();
    let one = fs::read(folder.file()).unwrap();
    folder.writer().add(2, 20, &direction(2)).unwrap();
    let two = fs::read(folder.file()).unwrap();
    for end in one.len()..two.len() {
        fs::write(folder.file(), &two[..end]).unwrap();
        assert_eq!(folder.known(), [(1, 10)], "cut at {end}");
        folder.writer().add(3, 30, &direction(3)).unwrap();
        assert_eq!(folder.known(), [(1, 10), (3, 30)], "cut at {end}");
    }
}

#[test]
fn torn_header_and_another_model_count_as_no_file() {
    let folder = TestFolder::new();
    fs::write(folder.file(), b"TOW").unwrap();
    assert!(VectorFile::open(&folder.file(), OF).unwrap().is_none());
    folder.writer().add(1, 10, &direction(1)).unwrap();
    let other = VectorFormat { model: 8, ..OF };
    assert!(VectorFile::open(&folder.file(), other).unwrap().is_none());
    assert_eq!(folder.known(), [(1, 10)]);
    drop(VectorWriter::open(&folder.file(), other).unwrap());
    assert!(VectorFile::open(&folder.file(), OF).unwrap().is_none());
}

#[test]
fn last_vector_of_a_document_counts_and_so_does_the_last_checkpoint() {
    let folder = TestFolder::new();
    assert_eq!(folder.writer().add(1, 10, &[1.0]).unwrap_err().to_string(), "a vector of 1 numbers");
    let mut writer = folder.writer();
    writer.add(1, 10, &direction(1)).unwrap();
    writer.commit(5).unwrap();
    writer.add(1, 11, &direction(2)).unwrap();
    writer.commit(9).unwrap();
    drop(writer);
    assert_eq!((folder.known(), folder.vectors().checkpoint()), (vec![(1, 11)], Some(9)));
}

#[test]
fn one_writer_at_a_time() {
    let folder = TestFolder::new();
    let first = folder.writer();
    assert!(VectorWriter::open(&folder.file(), OF).unwrap().is_none());
    drop(first);
    assert!(VectorWriter::open(&folder.file(), OF).unwrap().is_some());
}

#[test]
fn rows_that_are_not_kept_leave_no_bytes_behind() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.add(0x1111_2222_3333, 10, &direction(1)).unwrap();
    writer.add(2, 20, &direction(2)).unwrap();
    writer.add(2, 21, &direction(3)).unwrap();
    writer.commit(9).unwrap();
    let read_before = folder.vectors();
    let mut writer = writer.keep_only(&|id, _| id == 2).unwrap();
    writer.add(3, 30, &direction(4)).unwrap();
    drop(writer);
    assert_eq!((folder.known(), folder.vectors().checkpoint()), (vec![(2, 21), (3, 30)], Some(9)));
    let bytes = fs::read(folder.file()).unwrap();
    assert!(!bytes.windows(6).any(|window| window == &0x1111_2222_3333_i64.to_le_bytes()[..6]));
    assert_eq!(read_before.known().len(), 2, "whoever reads keeps what was there");
}

#[test]
fn a_vector_is_found_by_the_hash_of_the_embedded_text() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.add(1, 10, &direction(1)).unwrap();
    writer.add(2, 20, &direction(2)).unwrap();
    writer.commit(9).unwrap();
    drop(writer);
    let vectors = folder.vectors();
    let places = vectors.places();
    assert_eq!(places.len(), 2, "how far it goes is no vector");
    let close = |one: &[f32], other: &[f32]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.01);
    assert!(close(&vectors.at(places[&20]).unwrap(), &direction(2)));
    assert_eq!(vectors.at(99), None);
}

#[test]
fn a_document_that_was_compared_elsewhere_is_found_like_one_with_a_vector_here() {
    let folder = TestFolder::new();
    let index = SearchIndex::open(&folder.folder.path().join("index")).unwrap();
    let mut indexed = index.writer().unwrap();
    (1..=600).for_each(|id| {
        indexed.add(&Document::plain(id, DocumentKind::Body, "filler of no interest")).unwrap()
    });
    indexed.commit(1).unwrap();
    let fresh = [
        Document::plain(9001, DocumentKind::Body, "a lantern"),
        Document::plain(9002, DocumentKind::Body, "a kite"),
    ];
    let ids = |near: Option<&QuerySimilarity<'_>>| -> Vec<i64> {
        let query = Query { text: "zebra".into(), limit: 10, ..Query::default() };
        index
            .search_with(RankingStages::Whole, &query, &fresh, near)
            .unwrap()
            .iter()
            .map(|hit| hit.id)
            .collect()
    };
    assert!(ids(None).is_empty());
    assert_eq!(ids(Some(&QuerySimilarity::default().with_others([(9001, 0.2), (9002, 0.8)]))), [9002]);
}

#[test]
fn document_without_a_word_of_the_question_is_found_by_its_vector() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    (1..=6).for_each(|id| writer.add(id, 1, &direction(id as usize)).unwrap());
    drop(writer);
    let index = SearchIndex::open(&folder.folder.path().join("index")).unwrap();
    let mut indexed = index.writer().unwrap();
    for id in 1..=1200 {
        let text = if id == 600 { "zebra" } else { "filler of no interest" };
        let project = if id % 2 == 0 { "even" } else { "odd" }.to_owned();
        indexed.add(&Document { project, ..Document::plain(id, DocumentKind::Body, text) }).unwrap();
    }
    indexed.commit(1).unwrap();
    let ids = |near: Option<&QuerySimilarity<'_>>, project: Option<&str>| -> Vec<i64> {
        let mut query = Query { text: "zebra".into(), limit: 10, ..Query::default() };
        query.filters.project = project.map(str::to_owned);
        index.search_with(RankingStages::Whole, &query, &[], near).unwrap().iter().map(|hit| hit.id).collect()
    };
    let vectors = folder.vectors();
    let query_vector = [0.0, 0.0, 0.0, 0.0, 0.0, 0.9, 0.43, 0.0];
    let near = QuerySimilarity::to(&vectors, &query_vector);
    assert_eq!(ids(None, None), [600]);
    assert_eq!(ids(Some(&near), None).iter().filter(|id| **id != 600).collect::<Vec<_>>(), [&5, &6]);
    assert_eq!(ids(Some(&near), Some("odd")), [5]);
    OpenOptions::new().append(true).open(folder.file()).unwrap().write_all(&[9; 20]).unwrap();
    let torn = folder.vectors();
    assert_eq!(ids(Some(&QuerySimilarity::to(&torn, &query_vector)), Some("odd")), [5]);
}

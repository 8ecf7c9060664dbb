//! The file of vectors: what is kept through kills, changes and erasing, and what a search makes of it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;
use towline_search::{Document, Index, Kind, Near, Query, VectorWriter, Vectors, VectorsOf};

const OF: VectorsOf = VectorsOf { model: 7, dimensions: 8 };

struct World {
    folder: TempDir,
}

impl World {
    fn new() -> World {
        World { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("rows")
    }

    fn writer(&self) -> VectorWriter {
        VectorWriter::open(&self.file(), OF).unwrap().unwrap()
    }

    fn vectors(&self) -> Vectors {
        Vectors::open(&self.file(), OF).unwrap().unwrap()
    }

    fn known(&self) -> Vec<(i64, u64)> {
        let mut known: Vec<(i64, u64)> = self.vectors().known().into_iter().collect();
        known.sort_unstable();
        known
    }
}

/// A direction of its own for each number below 8.
fn direction(number: usize) -> Vec<f32> {
    (0..8).map(|at| if at == number { 1.0 } else { 0.0 }).collect()
}

#[test]
fn row_that_a_kill_cut_off_is_passed_over_wherever_it_was_cut() {
    let world = World::new();
    world.writer().add(1, 10, &direction(1)).unwrap();
    let one = fs::read(world.file()).unwrap();
    world.writer().add(2, 20, &direction(2)).unwrap();
    let two = fs::read(world.file()).unwrap();
    for end in one.len()..two.len() {
        fs::write(world.file(), &two[..end]).unwrap();
        assert_eq!(world.known(), [(1, 10)], "cut at {end}");
        world.writer().add(3, 30, &direction(3)).unwrap();
        assert_eq!(world.known(), [(1, 10), (3, 30)], "cut at {end}");
    }
}

#[test]
fn head_that_was_cut_off_and_vectors_of_another_model_are_as_good_as_none() {
    let world = World::new();
    fs::write(world.file(), b"TOW").unwrap();
    assert!(Vectors::open(&world.file(), OF).unwrap().is_none());
    world.writer().add(1, 10, &direction(1)).unwrap();
    let other = VectorsOf { model: 8, ..OF };
    assert!(Vectors::open(&world.file(), other).unwrap().is_none());
    assert_eq!(world.known(), [(1, 10)]);
    drop(VectorWriter::open(&world.file(), other).unwrap());
    assert!(Vectors::open(&world.file(), OF).unwrap().is_none());
}

#[test]
fn last_vector_of_a_document_counts_and_so_does_the_last_checkpoint() {
    let world = World::new();
    assert_eq!(world.writer().add(1, 10, &[1.0]).unwrap_err().to_string(), "a vector of 1 numbers");
    let mut writer = world.writer();
    writer.add(1, 10, &direction(1)).unwrap();
    writer.commit(5).unwrap();
    writer.add(1, 11, &direction(2)).unwrap();
    writer.commit(9).unwrap();
    drop(writer);
    assert_eq!((world.known(), world.vectors().checkpoint()), (vec![(1, 11)], Some(9)));
}

#[test]
fn one_writer_at_a_time() {
    let world = World::new();
    let first = world.writer();
    assert!(VectorWriter::open(&world.file(), OF).unwrap().is_none());
    drop(first);
    assert!(VectorWriter::open(&world.file(), OF).unwrap().is_some());
}

#[test]
fn nothing_is_left_of_what_is_not_to_be_kept() {
    let world = World::new();
    let mut writer = world.writer();
    writer.add(0x1111_2222_3333, 10, &direction(1)).unwrap();
    writer.add(2, 20, &direction(2)).unwrap();
    writer.add(2, 21, &direction(3)).unwrap();
    writer.commit(9).unwrap();
    let read_before = world.vectors();
    let mut writer = writer.keep_only(&|id, _| id == 2).unwrap();
    writer.add(3, 30, &direction(4)).unwrap();
    drop(writer);
    assert_eq!((world.known(), world.vectors().checkpoint()), (vec![(2, 21), (3, 30)], Some(9)));
    let bytes = fs::read(world.file()).unwrap();
    assert!(!bytes.windows(6).any(|window| window == &0x1111_2222_3333_i64.to_le_bytes()[..6]));
    assert_eq!(read_before.known().len(), 2, "whoever reads keeps what was there");
}

#[test]
fn a_vector_is_found_by_the_mark_of_what_was_embedded() {
    let world = World::new();
    let mut writer = world.writer();
    writer.add(1, 10, &direction(1)).unwrap();
    writer.add(2, 20, &direction(2)).unwrap();
    writer.commit(9).unwrap();
    drop(writer);
    let vectors = world.vectors();
    let places = vectors.places();
    assert_eq!(places.len(), 2, "how far it goes is no vector");
    let close = |one: &[f32], other: &[f32]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.01);
    assert!(close(&vectors.at(places[&20]).unwrap(), &direction(2)));
    assert_eq!(vectors.at(99), None);
}

#[test]
fn a_document_that_was_compared_elsewhere_is_found_like_one_with_a_vector_here() {
    let world = World::new();
    let index = Index::open(&world.folder.path().join("index")).unwrap();
    let mut indexed = index.writer().unwrap();
    (1..=600).for_each(|id| indexed.add(&Document::plain(id, Kind::Body, "filler of no interest")).unwrap());
    indexed.commit(1).unwrap();
    let fresh = [Document::plain(9001, Kind::Body, "a lantern"), Document::plain(9002, Kind::Body, "a kite")];
    let ids = |near: Option<&Near<'_>>| -> Vec<i64> {
        let query = Query { text: "zebra".into(), limit: 10, ..Query::default() };
        index.search_near(&query, &fresh, near).unwrap().iter().map(|hit| hit.id).collect()
    };
    assert!(ids(None).is_empty());
    assert_eq!(ids(Some(&Near::default().with_others([(9001, 0.2), (9002, 0.8)]))), [9002]);
}

#[test]
fn document_without_a_word_of_the_question_is_found_by_its_vector() {
    let world = World::new();
    let mut writer = world.writer();
    (1..=6).for_each(|id| writer.add(id, 1, &direction(id as usize)).unwrap());
    drop(writer);
    let index = Index::open(&world.folder.path().join("index")).unwrap();
    let mut indexed = index.writer().unwrap();
    for id in 1..=1200 {
        let text = if id == 600 { "zebra" } else { "filler of no interest" };
        let project = if id % 2 == 0 { "even" } else { "odd" }.to_owned();
        indexed.add(&Document { project, ..Document::plain(id, Kind::Body, text) }).unwrap();
    }
    indexed.commit(1).unwrap();
    let ids = |near: Option<&Near<'_>>, project: Option<&str>| -> Vec<i64> {
        let mut query = Query { text: "zebra".into(), limit: 10, ..Query::default() };
        query.filters.project = project.map(str::to_owned);
        index.search_near(&query, &[], near).unwrap().iter().map(|hit| hit.id).collect()
    };
    let vectors = world.vectors();
    let asked = [0.0, 0.0, 0.0, 0.0, 0.0, 0.9, 0.43, 0.0];
    let near = Near::to(&vectors, &asked);
    assert_eq!(ids(None, None), [600]);
    assert_eq!(ids(Some(&near), None).iter().filter(|id| **id != 600).collect::<Vec<_>>(), [&5, &6]);
    assert_eq!(ids(Some(&near), Some("odd")), [5]);
    OpenOptions::new().append(true).open(world.file()).unwrap().write_all(&[9; 20]).unwrap();
    let torn = world.vectors();
    assert_eq!(ids(Some(&Near::to(&torn, &asked)), Some("odd")), [5]);
}

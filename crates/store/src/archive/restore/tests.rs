//! Importing an export: once, twice, and into an archive that has part of it.

use super::*;
use crate::StoreError;
use crate::archive::bench::{Bench, body, clean, conversation, detail, turn};
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_core::id::Uid;
use towline_core::piece::TokenCounts;

const KEY: &str = "alpha:s-66666666";

fn usage() -> ExportedUsage {
    let tokens = TokenCounts { input: 1, cache_read: 2, cache_write: 3, cache_write_1h: 2, output: 4 };
    let at = Timestamp(9);
    ExportedUsage { turn: 3, message: "m".into(), at, subagent: Some("h".into()), model: None, tokens }
}

/// A conversation with every kind of row, whose second turn was forgotten.
fn rows<'a>() -> Vec<ExportedRow<CleanText<'a>>> {
    let head =
        ExportedConversation { turns: 4, base: Some(("other".into(), 7)), ..conversation(KEY, "app", 1, 9) };
    let long = Box::leak("compressed as well ".repeat(100).into_boxed_str());
    vec![
        ExportedRow::Conversation(head),
        ExportedRow::Turn(turn(KEY, 1, 1, 5)),
        ExportedRow::Turn(turn(KEY, 3, 6, 9)),
        ExportedRow::Body(body(1, "words")),
        ExportedRow::Detail(detail(0, "before")),
        ExportedRow::Detail(detail(3, long)),
        ExportedRow::Usage(usage()),
        ExportedRow::File { turn: 1, path: "/a".into(), how: FileAccess::Read },
        ExportedRow::Commit { turn: 3, commit: Commit { hash: "abc".into(), subject: "Add".into() } },
        ExportedRow::Revert { from: 7, at: Timestamp(8) },
    ]
}

fn given_out(archive: &Archive) -> Vec<ExportedRow<String>> {
    let mut all = vec![];
    for conversation in archive.conversations_since(Timestamp(0), None).unwrap() {
        let mut keep = |row| {
            all.push(row);
            Ok::<_, StoreError>(())
        };
        archive.each_row(&conversation, &mut keep).unwrap();
    }
    all
}

/// The row as it is exported.
fn plain(row: ExportedRow<CleanText<'_>>) -> ExportedRow<String> {
    let mut row = row.map_text(|text| text.as_str().to_owned());
    if let ExportedRow::Conversation(ExportedConversation { project: Some(project), .. }) = &mut row {
        // Exported with its display name.
        project.name = Some("app".into());
    }
    row
}

#[test]
fn imported_rows_are_exported_with_the_same_numbers() {
    let bench = Bench::new();
    bench.put(rows());
    assert_eq!(given_out(&bench.archive), rows().into_iter().map(plain).collect::<Vec<_>>());
}

#[test]
fn taking_it_in_twice_adds_nothing() {
    let bench = Bench::new();
    bench.put(rows());
    let before = given_out(&bench.archive);
    let mut again = ImportState::new().unwrap();
    bench.archive.restore(&mut again, rows()).unwrap();
    assert_eq!(again.done, ImportCounts { conversations: 1, ..ImportCounts::default() });
    assert_eq!(given_out(&bench.archive), before);
}

#[test]
fn a_turn_that_is_known_keeps_its_number_and_what_belongs_to_it_follows() {
    let bench = Bench::new();
    let mut other = turn(KEY, 1, 1, 2);
    (other.mark, other.uid) = (IdHash::of("another"), Uid([3; 16]));
    bench.put(vec![ExportedRow::Conversation(conversation(KEY, "app", 1, 9)), ExportedRow::Turn(other)]);
    let mut theirs = rows();
    theirs.push(ExportedRow::Detail(detail(1, "of their first")));
    bench.put(theirs);
    let found = bench.archive.conversations_called("66666666").unwrap().remove(0);
    let ordinals: Vec<u32> =
        bench.archive.turns(&found, 0, 9).unwrap().iter().map(|turn| turn.ordinal).collect();
    assert_eq!(ordinals, [1, 2, 3], "their first became the second");
    let second = bench.archive.turns(&found, 2, 2).unwrap().remove(0);
    let details = bench.archive.details(&second).unwrap();
    assert_eq!(bench.archive.content(&details[0]).unwrap(), "of their first");
}

#[test]
fn the_version_that_covers_more_of_a_turn_wins() {
    let bench = Bench::new();
    let head = || ExportedRow::Conversation(conversation(KEY, "app", 1, 9));
    let saw = |until: i64, line: &str| {
        ExportedRow::Turn(ExportedTurn { until: Timestamp(until), line: line.into(), ..turn(KEY, 1, 1, 1) })
    };
    bench.put(vec![head(), saw(5, "half")]);
    bench.put(vec![head(), saw(9, "whole")]);
    bench.put(vec![head(), saw(5, "half")]);
    let found = bench.archive.conversations_called("66666666").unwrap().remove(0);
    let known = bench.archive.turns(&found, 1, 1).unwrap().remove(0);
    assert_eq!((known.line.as_str(), known.until), ("whole", Timestamp(9)));
}

#[test]
fn secrets_of_an_export_are_not_taken_in() {
    let bench = Bench::new();
    let secret = format!("key {}{}", "ghp_", "A1b2".repeat(9));
    let mut given = rows();
    given.push(ExportedRow::Body(ExportedMessage { mark: IdHash(1), text: clean(&secret), ..body(1, "") }));
    bench.put(given);
    assert!(!format!("{:?}", given_out(&bench.archive)).contains("A1b2A1b2"));
}

#[test]
fn a_known_project_keeps_its_name_here() {
    let bench = Bench::new();
    bench.put(rows());
    let mut renamed = conversation("alpha:t-77777777", "app", 1, 1);
    renamed.project = renamed.project.map(|traces| ProjectIdentity { name: Some("theirs".into()), ..traces });
    bench.put(vec![ExportedRow::Conversation(renamed)]);
    let projects = bench.archive.projects().unwrap();
    assert_eq!((projects.len(), projects[0].name.as_str()), (1, "app"));
}

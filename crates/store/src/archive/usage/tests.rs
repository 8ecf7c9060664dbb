//! Sums that follow every change of their rows.

use super::*;
use crate::archive::bench::{Bench, HOUR, conversation};
use crate::archive::keep::{ExportedRow, ExportedUsage};
use crate::archive::{EraseMode, EraseScope, MIGRATIONS};
use crate::database::open_for_writing;
use std::time::Duration;
use towline_core::forget::TimeRange;
use towline_core::piece::TokenCounts;
use towline_core::usage::{BANDS, price_band};

const NOON: i64 = 1_794_744_000_000;
const EVER: TimeRange = TimeRange { from: Timestamp(i64::MIN), until: Timestamp(i64::MAX) };
const ALL: Range<Timestamp> = Timestamp(0)..Timestamp(i64::MAX);

fn usage(message: &str, at: i64, input: u64) -> ExportedUsage {
    let tokens = TokenCounts { input, cache_read: 7, cache_write: 5, cache_write_1h: 3, output: 2 };
    let model = Some("m".to_owned());
    ExportedUsage { turn: 1, message: message.into(), at: Timestamp(at), subagent: None, model, tokens }
}

fn session(bench: &Bench, key: &str, project: &str, rows: Vec<ExportedUsage>) {
    let head = ExportedRow::Conversation(conversation(key, project, NOON, NOON + HOUR));
    bench.put(std::iter::once(head).chain(rows.into_iter().map(ExportedRow::Usage)).collect());
}

fn asked() -> UsageQuery {
    UsageQuery { times: ALL, project: None, agent: None }
}

/// Messages and input tokens of the selected usage.
fn total(bench: &Bench, asked: &UsageQuery) -> (u64, u64) {
    let sums = bench.archive.usage_sums(UsageGroupBy::Model, asked).unwrap();
    (sums.iter().map(|(_, used)| used.messages).sum(), sums.iter().map(|(_, used)| used.tokens.input).sum())
}

#[test]
fn sums_follow_what_is_written_after_the_archive_was_compacted() {
    let bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10)]);
    bench.archive.vacuum().unwrap();
    session(&bench, "alpha:a-2", "app", vec![usage("2", NOON, 20)]);
    assert_eq!(total(&bench, &asked()), (2, 30));
}

#[test]
fn sums_are_by_quarter_project_model_session_and_agent() {
    let bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10), usage("2", NOON + 899_999, 20)]);
    session(&bench, "beta:b-2", "site", vec![usage("3", NOON + 900_000, 40), usage("4", NOON, 300_000)]);
    let by = |by| {
        let sums = bench.archive.usage_sums(by, &asked()).unwrap();
        sums.into_iter().map(|(of, used)| (of, used.band, used.tokens.input)).collect::<Vec<_>>()
    };
    let quarter = |at| UsageGroup::Quarter(Timestamp(at));
    assert_eq!(
        by(UsageGroupBy::Quarter),
        [(quarter(NOON), 0, 30), (quarter(NOON), 4, 300_000), (quarter(NOON + 900_000), 0, 40)]
    );
    assert_eq!(by(UsageGroupBy::Model), [(UsageGroup::Model, 0, 70), (UsageGroup::Model, 4, 300_000)]);
    let agent = |name: &str| UsageGroup::Agent(name.to_owned());
    assert_eq!(
        by(UsageGroupBy::Agent),
        [(agent("alpha"), 0, 30), (agent("beta"), 0, 40), (agent("beta"), 4, 300_000)]
    );
    let (projects, site) = (by(UsageGroupBy::Project), Some("site".to_owned()));
    let name = |of: &UsageGroup| {
        if let UsageGroup::Project(Some(named)) = of { Some(named.name.clone()) } else { None }
    };
    let names: Vec<Option<String>> = projects.iter().map(|(of, ..)| name(of)).collect();
    assert_eq!(names, [Some("app".to_owned()), site.clone(), site]);
    assert!(
        matches!(&by(UsageGroupBy::Session)[0], (UsageGroup::Session(of), 0, 30) if of.key == "alpha:a-1")
    );
}

#[test]
fn usage_can_be_filtered_by_time_project_and_agent() {
    let bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10), usage("2", NOON + HOUR, 20)]);
    session(&bench, "beta:b-2", "site", vec![usage("3", NOON, 40)]);
    let times = Timestamp(NOON + 1)..Timestamp(NOON + HOUR);
    assert_eq!(total(&bench, &UsageQuery { times, ..asked() }), (2, 50), "to the quarter of an hour");
    let site =
        bench.archive.project_rows().unwrap().into_iter().find(|project| project.name == "site").unwrap();
    assert_eq!(total(&bench, &UsageQuery { project: Some(site.row), ..asked() }), (1, 40));
    assert_eq!(total(&bench, &UsageQuery { agent: Some("alpha".into()), ..asked() }), (2, 30));
    let of = bench.archive.usage_of_session(&SessionKey::parse("alpha:a-1").unwrap()).unwrap();
    assert_eq!(
        of.iter().map(|(at, used)| (at.0, used.tokens.input)).collect::<Vec<_>>(),
        [(NOON, 10), (NOON + HOUR, 20)]
    );
    assert_eq!(bench.archive.usage_span().unwrap(), Some(Timestamp(NOON)..Timestamp(NOON + HOUR + 900_000)));
}

#[test]
fn a_message_that_a_fork_copied_counts_once_and_its_copy_counts_when_it_goes() {
    let mut bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10), usage("2", NOON, 20)]);
    session(
        &bench,
        "alpha:f-2",
        "app",
        vec![usage("1", NOON, 10), usage("2", NOON + HOUR, 20), usage("3", NOON, 5)],
    );
    assert_eq!(total(&bench, &asked()), (3, 35), "copied as it was, and with a new time");
    session(&bench, "alpha:x-3", "app", vec![usage("1", NOON + HOUR, 11)]);
    assert_eq!(total(&bench, &asked()), (4, 46), "a server that gives ids again copies nothing");
    let sessions = [SessionKey::parse("alpha:a-1").unwrap()];
    let extent = EraseScope::Sessions { sessions: &sessions, stretch: EVER };
    bench.archive.erase(&extent, EraseMode::ForGood, towline_core::time::Timestamp(9)).unwrap();
    assert_eq!(total(&bench, &asked()).0, 3);
    bench
        .archive
        .erase(&EraseScope::Everyone { stretch: EVER }, EraseMode::ForGood, towline_core::time::Timestamp(9))
        .unwrap();
    let left: i64 =
        bench.archive.db.query_row("select count(*) from usage_sums", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn sums_follow_what_is_corrected() {
    let bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10), usage("2", NOON, 20)]);
    let correct = "update usage set input = 250000, model = null where message = '1'";
    assert_eq!(bench.archive.db.execute(correct, []).unwrap(), 1);
    let sums = bench.archive.usage_sums(UsageGroupBy::Model, &asked()).unwrap();
    let sums = sums.into_iter().map(|(_, used)| (used.model, used.band, used.messages, used.tokens.input));
    assert_eq!(sums.collect::<Vec<_>>(), [(None, 2, 1, 250_000), (Some("m".into()), 0, 1, 20)]);
}

#[test]
fn the_bands_of_the_table_are_those_that_prices_know() {
    let bench = Bench::new();
    let sizes = BANDS.into_iter().flat_map(|bound| [bound - 12, bound - 11]).collect::<Vec<_>>();
    let rows = sizes.iter().map(|size| usage(&size.to_string(), NOON, *size)).collect();
    session(&bench, "alpha:a-1", "app", rows);
    let mut statement = bench.archive.db.prepare("select band from usage order by input").unwrap();
    let bands: Vec<u8> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(bands, sizes.iter().map(|size| price_band(size + 12)).collect::<Vec<_>>());
    assert_eq!(bands, [0, 1, 1, 2, 2, 3, 3, 4]);
}

#[test]
fn what_an_older_version_captured_is_summed_and_its_copies_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive.db");
    let db = open_for_writing(&file, Duration::ZERO, &MIGRATIONS[..2]).unwrap();
    db.execute_batch(
        "insert into conversations (id, uid, machine, revision, agent, session, short, first_at, last_at, turns)
            values (1, x'01', x'00', 1, 'a', 's', 's', 0, 0, 0), (2, x'02', x'00', 1, 'a', 't', 't', 0, 0, 0);
        insert into usage (conversation, message, turn, at, model, input, cache_read, cache_write, output)
            values (1, 'm', 1, 900000, 'x', 1, 2, 3, 4), (2, 'm', 1, 900000, 'x', 1, 2, 3, 4),
                (2, 'n', 1, 900001, null, 10, 20, 30, 40);",
    )
    .unwrap();
    drop(db);
    let db = open_for_writing(&file, Duration::ZERO, &MIGRATIONS).unwrap();
    let sums: String = db
        .query_row(
            "select group_concat(conversation || model || messages || '/' || input || '/' || output, ' ') from usage_sums",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(sums, "1x1/1/4 21/10/40");
}

#[test]
fn sums_are_read_from_their_own_table_by_time() {
    let bench = Bench::new();
    for query in [BY_QUARTER, BY_MODEL, BY_PROJECT, BY_AGENT, BY_SESSION] {
        let plan = bench.plan(query);
        assert!(plan.contains("SEARCH s USING PRIMARY KEY (quarter>? AND quarter<?)"), "{plan}");
        assert!(!plan.contains("SCAN s") && !plan.contains("SCAN c"), "{plan}");
    }
    let plan = bench.plan(OF_SESSION);
    assert!(plan.contains("usage_sums_by_conversation (conversation=?)"), "{plan}");
    let plan = bench.plan(OF_CONVERSATION);
    assert!(plan.contains("SEARCH usage USING PRIMARY KEY (conversation=?)"), "{plan}");
}

#[test]
fn usage_of_a_conversation_tells_what_counts_elsewhere() {
    let bench = Bench::new();
    session(&bench, "alpha:a-1", "app", vec![usage("1", NOON, 10)]);
    let rows = vec![usage("1", NOON, 10), usage("2", NOON, 20), usage("3", NOON + HOUR, 40)];
    session(&bench, "alpha:f-2", "app", rows);
    let fork = bench.archive.conversation(&SessionKey::parse("alpha:f-2").unwrap()).unwrap().unwrap();
    let used = bench.archive.usage_of_conversation(&fork, &(Timestamp(NOON + 1)..Timestamp(NOON + HOUR)));
    let used = used.unwrap().into_iter().map(|(at, counts, used)| (at.0, counts, used.tokens.input));
    assert_eq!(used.collect::<Vec<_>>(), [(NOON, false, 10), (NOON, true, 20)]);
    let series = |folder| bench.archive.usage_series_of(folder).unwrap().project;
    assert_eq!(series(&fork).as_deref(), Some("app"));
}

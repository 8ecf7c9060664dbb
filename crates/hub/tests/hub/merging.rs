//! The database merges as `towline-core` does, in any order of arrival, and readers miss nothing.

use crate::bench::{Build, DATABASE, HubBench, OPEN, all_of, machine, memory, outgoing, password};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use towline_core::id::{SessionKey, Uid};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowProvenance, RowReplacement, SharedRow, Visibility, WriteStamp,
};
use towline_core::time::Timestamp;

fn stamp() -> impl Strategy<Value = WriteStamp> {
    (0_u64..4, 0_u8..3).prop_map(|(count, machine)| WriteStamp { count, machine: Uid([machine; 16]) })
}

fn register<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Register<T>> {
    (stamp(), value).prop_map(|(stamp, value)| Register { stamp, value })
}

fn registers() -> impl Strategy<Value = Registers> {
    let by = proptest::option::of((0_u8..3).prop_map(|by| Uid([by; 16])));
    let replaced =
        (by, -1_i64..2, "[aB_é]?").prop_map(|(by, at, why)| RowReplacement { by, at: Timestamp(at), why });
    let presence = prop_oneof![4 => Just(Visibility::Shared), 1 => Just(Visibility::Withdrawn)];
    (
        register("[aBé_]{0,2}"),
        register(proptest::option::of((-1_i64..2).prop_map(Timestamp))),
        register(proptest::option::of(replaced)),
        register(proptest::option::of("[xYä]{0,2}")),
        register(presence),
        0_u32..3,
    )
        .prop_map(|(words, pin, standing, hold, presence, found)| Registers {
            words,
            pin,
            standing,
            hold,
            presence,
            found,
        })
}

/// Sessions whose names sort differently as plain text than as agent and id.
fn origin() -> impl Strategy<Value = RowProvenance> {
    let session = proptest::option::of(prop_oneof![Just("codex:b"), Just("codex-x:a"), Just("codex:-")]);
    (0_u8..2, session, proptest::option::of(0_u32..2), 0_i64..2).prop_map(|(machine, session, turn, at)| {
        RowProvenance {
            person: "ann".into(),
            machine: Uid([machine; 16]),
            session: session.map(|session| SessionKey::parse(session).unwrap()),
            turn,
            made_at: Timestamp(at),
        }
    })
}

fn row() -> impl Strategy<Value = SharedRow> {
    let life = prop_oneof![
        9 => registers().prop_map(|registers| RowLife::Lives(Box::new(registers))),
        1 => (0_i64..3, "[pQ]").prop_map(|(at, by)| RowLife::Forgotten { at: Timestamp(at), by }),
    ];
    (life, origin(), 0_u8..6).prop_map(|(life, from, uid)| SharedRow {
        uid: Uid([uid; 16]),
        kind: RowKind::Memory,
        project: OPEN,
        from,
        life,
    })
}

/// The merge of the same rows by `core`.
fn merged(rows: &[SharedRow]) -> BTreeMap<Uid, SharedRow> {
    let mut all: BTreeMap<Uid, SharedRow> = BTreeMap::new();
    for row in rows {
        let merged = match all.remove(&row.uid) {
            Some(known) => known.merged(row.clone()),
            None => row.clone(),
        };
        all.insert(row.uid, merged);
    }
    all
}

#[test]
fn the_hub_comes_to_what_core_comes_to() {
    let bench = HubBench::new(Build::Debian);
    let (ann, red) = bench.join("ann");
    let pushes = proptest::collection::vec(proptest::collection::vec(row(), 1..5), 1..8);
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let ann = std::cell::RefCell::new(ann);
    let ran = runner.run(&pushes, |pushes| {
        let mut ann = ann.borrow_mut();
        bench.sql("truncate towline.rows, towline.finds");
        for push in &pushes {
            let sent: Vec<_> = push.iter().cloned().map(outgoing).collect();
            ann.push(&red, &sent).map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        let expected = merged(&pushes.concat());
        let found =
            all_of(&mut ann, &red, OPEN).into_iter().map(|row| (row.uid, row)).collect::<BTreeMap<_, _>>();
        prop_assert_eq!(&found, &expected);
        let searched: usize = bench.sql("select count(*) from towline.finds").parse().unwrap();
        let worth_it = |row: &&SharedRow| {
            matches!(&row.life, RowLife::Lives(it) if !it.words.value.is_empty()) && row.is_shared()
        };
        prop_assert_eq!(searched, expected.values().filter(worth_it).count());
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn writers_that_commit_out_of_order_leave_no_gap() {
    let bench = HubBench::new(Build::Debian);
    let (mut bob, of_bob) = bench.join("bob");
    let (mut ann, of_ann) = bench.join("ann");
    // Ann's transaction has its number and is not committed yet; bob's push has to wait for it.
    let slow = "begin; select towline.advance((select id from towline.teams where name = 'red'), 1); \
        select pg_notify('taken', ''); select pg_sleep(1); commit";
    let postgres = &bench.postgres;
    std::thread::scope(|scope| {
        scope.spawn(|| postgres.run_as(("olga", &password("olga")), DATABASE, slow).ok());
        towline_testkit::wait::until("the counter to be held", towline_testkit::wait::PATIENCE, || {
            let holders =
                "select 1 from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'";
            (!bench.sql(holders).is_empty()).then_some(())
        });
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            let mut after = 0;
            towline_testkit::wait::until("bob's row", towline_testkit::wait::PATIENCE, || {
                let pulled = ann.pull(&of_ann, OPEN, after, 10).unwrap();
                seen.extend(pulled.rows);
                after = pulled.after;
                (!seen.is_empty()).then_some(())
            });
            after
        });
        bob.push(&of_bob, &[outgoing(memory("bob", 1, "later"))]).unwrap();
        assert_eq!(reader.join().unwrap(), 2, "the number after the one that was held");
    });
}

#[test]
fn many_writers_at_once_are_all_read_by_one_cursor() {
    let bench = HubBench::new(Build::Debian);
    let (mut cat, of_cat) = bench.join("cat");
    let write = |person: &'static str, first: u8| {
        let (mut hub, membership) = bench.join(person);
        for uid in first..first + 30 {
            hub.push(&membership, &[outgoing(memory(person, uid, "w"))]).unwrap();
        }
    };
    let mut seen = BTreeMap::new();
    std::thread::scope(|scope| {
        scope.spawn(|| write("ann", 0));
        scope.spawn(|| write("bob", 50));
        scope.spawn(|| write("olga", 100));
        let mut after = 0;
        towline_testkit::wait::until("ninety rows", towline_testkit::wait::PATIENCE, || {
            let pulled = cat.pull(&of_cat, OPEN, after, 7).unwrap();
            after = pulled.after;
            pulled.rows.into_iter().for_each(|row| *seen.entry(row.uid).or_insert(0) += 1);
            (seen.len() == 90).then_some(())
        });
    });
    assert!(seen.values().all(|times| *times == 1), "nothing twice");
}

#[test]
fn a_push_that_is_cut_off_is_there_whole_or_not_at_all() {
    let bench = HubBench::new(Build::Debian);
    let cut = towline_testkit::Cut::before(bench.postgres.port());
    let mut address = bench.address("ann");
    address.port = cut.port();
    let secret = towline_hub::HubPassword::new(password("ann"));
    let rows: Vec<_> = (1..=200).map(|uid| outgoing(memory("ann", uid, "whole"))).collect();
    for delay_ms in [1, 3, 6, 10, 15, 25] {
        bench.sql("truncate towline.rows, towline.finds");
        cut.heal();
        let mut hub =
            towline_hub::HubClient::connect(&address, Some(&secret), crate::bench::PATIENCE).unwrap();
        let red = hub.join("red", &machine("ann")).unwrap();
        let pushed = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Any moment will do, as long as it differs each time.
                towline_testkit::wait::holds_within(std::time::Duration::from_millis(delay_ms), || false);
                cut.cut();
            });
            hub.push(&red, &rows)
        });
        towline_testkit::wait::until("the last transaction to end", towline_testkit::wait::PATIENCE, || {
            let open = "select count(*) from pg_stat_activity where usename = 'ann' and state <> 'idle'";
            (bench.sql(open) == "0").then_some(())
        });
        let count = bench.sql("select count(*) from towline.rows");
        assert!(count == "200" || (count == "0" && pushed.is_err()), "{count} rows, {pushed:?}");
        assert!(pushed.is_ok() || pushed.is_err_and(|error| error.is_transient()));
    }
    cut.heal();
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &rows).unwrap();
    assert_eq!(all_of(&mut ann, &red, OPEN).len(), 200);
}

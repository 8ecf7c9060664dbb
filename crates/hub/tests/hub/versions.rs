//! Hubs of other versions than this program's, and concurrent initialisation.

use crate::bench::{Build, DATABASE, HubBench, memory, outgoing, password};
use towline_hub::{HubClient, HubError, InitOptions, InitOutcome, VERSION};

#[test]
fn four_at_once_make_one_hub() {
    let bench = HubBench::empty(Build::Debian);
    let made: Vec<InitOutcome> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| bench.connect("olga").init(&InitOptions { partitions: 2 }).unwrap()))
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(made.iter().all(|made| made.now == VERSION), "{made:?}");
    assert_eq!(bench.sql("select count(*) from pg_inherits where inhparent = 'towline.rows'::regclass"), "2");
    bench.connect("olga").found_team("red", "olga").unwrap();
}

#[test]
fn an_older_program_writes_a_newer_hub_only_while_that_allows_it() {
    let bench = HubBench::new(Build::Debian);
    let (mut connected, red) = bench.join("ann");
    bench.sql("update towline.facts set value = '99' where name = 'version'");
    let (mut ann, _) = bench.join("ann");
    assert_eq!(ann.push(&red, &[outgoing(memory("ann", 1, "w"))]).unwrap().changed, 1);
    assert_eq!(
        bench.connect("olga").init(&InitOptions::default()).unwrap().now,
        99,
        "a newer hub is left alone"
    );
    bench.sql("update towline.facts set value = '99' where name = 'writable_by'");
    let refused = connected.push(&red, &[outgoing(memory("ann", 2, "w"))]).unwrap_err();
    assert!(
        matches!(refused, HubError::SchemaTooNew { .. }),
        "one that was connected before learns it from the hub"
    );
    let mut later = bench.connect("ann");
    assert!(matches!(later.replace_seats(&red, &[]), Err(HubError::SchemaTooNew { .. })));
    assert_eq!(later.pull(&red, crate::bench::OPEN, 0, 9).unwrap().rows.len(), 1, "reading goes on");
}

#[test]
fn a_newer_program_asks_for_the_hub_to_be_brought_up_to_date() {
    let bench = HubBench::new(Build::Debian);
    bench.sql("update towline.facts set value = '0' where name = 'version'");
    let error = bench.connect("ann").teams().unwrap_err();
    assert!(matches!(error, HubError::SchemaTooOld { found: 0, .. }), "{error:?}");
    assert!(error.to_string().contains("tow hub init"), "{error}");
}

/// The script of the first version: without the steps after it.
fn first_script() -> String {
    let script = HubClient::sql(&InitOptions { partitions: 2 });
    let (end, later) = ("end $towline_step$;\n", script.find("do $towline_step$").unwrap());
    let first = script[later..].find(end).unwrap() + later + end.len();
    let last = script.rfind(end).unwrap() + end.len();
    format!("{}{}", &script[..first], &script[last..])
}

#[test]
fn a_hub_of_the_first_version_is_upgraded_with_the_persons_of_its_sessions() {
    let bench = HubBench::empty(Build::Debian);
    bench.postgres.run_as(("olga", &password("olga")), DATABASE, &first_script()).ok();
    bench.sql_as("olga", "select towline.found_team('red', 'olga')").unwrap();
    // Two of ann's rows in a project that the hub's owner does not see, and one that bob has put there.
    bench.sql(
        "insert into towline.rows (team, uid, project, machine, seq, made_at, found, is_withdrawn, kind, person, session)
        select id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), n, 1, 0, false, 'line',
            case n when 1 then 'bob' else 'ann' end, 'codex:1'
        from towline.teams, generate_series(1, 3) n",
    );
    let mut olga = bench.connect("olga");
    assert!(matches!(olga.teams(), Err(HubError::SchemaTooOld { found: 1, .. })));
    let upgraded = olga.init(&InitOptions::default()).unwrap();
    assert_eq!((upgraded.before, upgraded.now), (Some(1), VERSION));
    assert_eq!(bench.sql("select session, person from towline.sessions"), "codex:1|ann");
    let forced = "select relforcerowsecurity from pg_class where oid = 'towline.rows'::regclass";
    assert_eq!(bench.sql(forced), "t");
    assert_eq!(olga.teams().unwrap().len(), 1);
}

#[test]
fn only_the_owner_looks_after_a_hub() {
    let bench = HubBench::new(Build::Debian);
    for user in ["ann", "eve"] {
        let error = bench.connect(user).init(&InitOptions::default()).unwrap_err();
        assert!(matches!(error, HubError::Refused { .. }), "{user}: {error:?}");
    }
}

#[test]
fn a_superuser_makes_no_hub_for_policies_would_not_hold() {
    let bench = HubBench::empty(Build::Debian);
    let script = HubClient::sql(&InitOptions::default());
    let run = bench.postgres.try_in(DATABASE, &script);
    assert!(run.stderr.contains("policies do not hold for postgres"), "{}", run.stderr);
    assert_eq!(bench.sql("select count(*) from pg_namespace where nspname = 'towline'"), "0");
}

#[test]
fn the_printed_script_makes_the_same_hub_by_hand() {
    let bench = HubBench::empty(Build::Debian);
    let script = HubClient::sql(&InitOptions { partitions: 3 });
    for _ in 0..2 {
        bench.postgres.run_as(("olga", &password("olga")), DATABASE, &script).ok();
    }
    let mut olga = bench.connect("olga");
    olga.found_team("red", "olga").unwrap();
    assert_eq!(olga.init(&InitOptions::default()).unwrap().before, Some(VERSION));
    assert_eq!(bench.sql("select count(*) from pg_inherits where inhparent = 'towline.rows'::regclass"), "3");
}

#[test]
fn extensions_that_come_later_are_taken_up_by_the_next_init() {
    let bench = HubBench::empty(Build::Vectors);
    bench.sql("drop extension vector");
    let mut olga = bench.connect("olga");
    olga.init(&InitOptions { partitions: 1 }).unwrap();
    assert_eq!(olga.server_status().unwrap().vectors, towline_hub::Extension::Offered);
    bench.sql("create extension vector");
    olga.init(&InitOptions { partitions: 1 }).unwrap();
    let column = "select count(*) from information_schema.columns where table_name = 'finds' and column_name = 'meaning'";
    assert_eq!(bench.sql(column), "1");
}

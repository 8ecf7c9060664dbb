//! Row-level security, tested with SQL: as another member, another team, a revoked member, a non-member login.
//!
//! Tables and functions come from the catalogue: later additions are tested without being named here.

use crate::bench::{
    BLUE, Build, CLOSED, DATABASE, HubBench, OPEN, all_of, machine, memory, outgoing, password,
};
use towline_core::id::Uid;
use towline_core::share::{RowLife, SharedRow};
use towline_core::time::Timestamp;
use towline_hub::{FleetSeat, HubError, HubQuery};

/// A hub with a secret of ann's in the closed project, one of dan's in the blue team, and a seat of ann's.
fn bench() -> HubBench {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    let closed = SharedRow { project: CLOSED, ..memory("ann", 1, "closed lantern") };
    ann.push(&red, &[outgoing(closed), outgoing(memory("ann", 2, "open lantern"))]).unwrap();
    let seat = FleetSeat {
        seat: "%1".into(),
        state: "idle".into(),
        since: Timestamp(1),
        agent: "codex".into(),
        session: None,
        project: None,
        prompt: Some("ann's lantern prompt".into()),
        context_percent: None,
        model: None,
    };
    ann.replace_seats(&red, &[seat]).unwrap();
    let (mut dan, blue) = bench.join("dan");
    let of_blue = SharedRow { project: BLUE, ..memory("dan", 3, "blue lantern") };
    dan.push(&blue, &[outgoing(of_blue)]).unwrap();
    let (mut olga, red) = bench.join("olga");
    bench.join("cat");
    olga.revoke_member(&red, "cat").unwrap();
    bench
}

fn tables(bench: &HubBench) -> Vec<String> {
    let query = "select table_name from information_schema.tables where table_schema = 'towline' order by 1";
    bench.sql(query).lines().map(str::to_owned).collect()
}

/// The contents of all these tables that this login can read, as text.
fn reads(bench: &HubBench, user: &str, tables: &[String]) -> String {
    let each = tables.iter().map(|table| format!("select t::text from towline.{table} t;\n"));
    outcome(bench, user, &each.collect::<String>()).0
}

/// A script's output, and the number of its statements that the server refused.
fn outcome(bench: &HubBench, user: &str, script: &str) -> (String, usize) {
    let script = format!("\\set ON_ERROR_STOP off\n{script}");
    let run = bench.postgres.run_as((user, &password(user)), DATABASE, &script);
    (run.stdout.trim_end().to_owned(), run.stderr.matches("ERROR:").count())
}

/// The full contents of these tables.
fn contents(bench: &HubBench, tables: &[String]) -> Vec<String> {
    let each = tables.iter().map(|table| format!("select t::text from towline.{table} t order by 1"));
    each.map(|query| bench.sql(&query)).collect()
}

#[test]
fn every_table_forces_its_policies() {
    let bench = bench();
    let open = "select relname from pg_class where relnamespace = 'towline'::regnamespace and relkind in ('r', 'p') \
        and not (relrowsecurity and relforcerowsecurity)";
    assert_eq!(bench.sql(open), "");
    assert!(tables(&bench).len() >= 17, "{:?}", tables(&bench));
}

#[test]
fn nobody_reads_what_is_not_theirs() {
    let bench = bench();
    let tables = tables(&bench);
    for user in ["cat", "eve"] {
        assert_eq!(reads(&bench, user, &tables), "", "{user}");
    }
    for (user, hidden) in [
        ("bob", "closed lantern"),
        ("bob", "blue"),
        ("bob", "prompt"),
        ("dan", "closed lantern"),
        ("dan", "open lantern"),
        ("dan", "ann"),
    ] {
        let seen = reads(&bench, user, &tables);
        assert!(!seen.contains(hidden), "{user} reads {hidden}: {seen}");
    }
    let of = |user, table: &str| reads(&bench, user, &[table.to_owned()]);
    assert!(of("bob", "rows").contains("open lantern"));
    assert!(of("dan", "rows").contains("blue lantern"));
    assert!(of("ann", "seats").contains("prompt"));
    assert!(!of("olga", "rows").contains("closed lantern"), "not even who owns the hub");
    assert_eq!(of("olga", "seats"), "");
}

#[test]
fn nobody_but_the_owner_writes_a_table() {
    let bench = bench();
    let tables = tables(&bench);
    let statements: Vec<String> = tables
        .iter()
        .flat_map(|table| {
            [
                format!("delete from towline.{table};\n"),
                format!("truncate towline.{table};\n"),
                format!("insert into towline.{table} select * from towline.{table};\n"),
                format!("insert into towline.{table} default values;\n"),
                format!("drop table towline.{table};\n"),
                format!("alter table towline.{table} disable row level security;\n"),
            ]
        })
        .collect();
    let before = contents(&bench, &tables);
    for user in ["ann", "bob", "cat", "dan", "eve"] {
        assert_eq!(outcome(&bench, user, &statements.concat()).1, statements.len(), "{user}");
    }
    assert_eq!(contents(&bench, &tables), before);
}

/// The policies hold even if a careless administrator has granted everything.
#[test]
fn with_every_privilege_policies_and_the_trigger_still_hold() {
    let bench = bench();
    for user in ["bob", "cat", "dan", "eve"] {
        bench.sql(&format!(
            "grant usage on schema towline to {user}; \
             grant select, insert, update, delete on all tables in schema towline to {user}; \
             grant execute on function towline.my_memberships(), towline.my_projects() to {user}"
        ));
    }
    let tables: Vec<String> = tables(&bench).into_iter().filter(|table| table != "facts").collect();
    for user in ["cat", "eve"] {
        assert_eq!(reads(&bench, user, &tables), "", "{user}");
    }
    assert!(!reads(&bench, "bob", &tables).contains("closed lantern"));
    let deletions: String = tables.iter().map(|table| format!("delete from towline.{table};\n")).collect();
    let before = contents(&bench, &tables);
    for user in ["cat", "dan", "eve", "bob"] {
        outcome(&bench, user, &deletions);
    }
    assert_eq!(contents(&bench, &tables), before);
    assert_eq!(bench.sql("select count(*) from towline.rows"), "3");
    assert_eq!(bench.sql("select count(*) from towline.members where revoked_at is not null"), "1");
    for user in ["cat", "dan", "eve"] {
        let change =
            "update towline.rows set words = 'x', seq = seq + 1 where words like 'open%' returning 1";
        assert_eq!(bench.sql_as(user, change), Ok(String::new()), "{user}");
    }
    let forged = "insert into towline.rows (team, uid, project, machine, seq, made_at, found, is_withdrawn, kind, person) \
        select team, gen_random_uuid(), project, machine, seq, 0, 0, false, kind, person from towline.rows limit 1";
    assert!(bench.sql_as("bob", forged).unwrap_err().contains("row-level security"));
}

#[test]
fn a_dishonest_change_is_refused() {
    let bench = bench();
    bench.sql("grant update on towline.rows to bob");
    for (change, outcome) in [
        ("person = 'bob', seq = 1000", "came from"),
        ("project = '22222222-2222-2222-2222-222222222222', seq = 1000", "came from"),
        ("words_stamp = null, seq = 3", "does not go back"),
        ("words = 'x'", "next number"),
        ("words = 'x', seq = 1000000", "next number"),
        ("forgotten_at = 1, seq = 3", "nothing is left"),
    ] {
        let statement = format!("update towline.rows set {change} where words like 'open%'");
        let error = bench.sql_as("bob", &statement).unwrap_err();
        assert!(error.contains(outcome), "{change}: {error}");
    }
    let (mut ann, red) = bench.join("ann");
    let mut gone = memory("ann", 2, "");
    gone.life = RowLife::Forgotten { at: Timestamp(5), by: "ann".into() };
    ann.push(&red, &[outgoing(gone)]).unwrap();
    let back =
        "update towline.rows set forgotten_at = null, words = 'x', seq = 3 where forgotten_at is not null";
    assert!(bench.sql_as("bob", back).unwrap_err().contains("stays forgotten"));
}

#[test]
fn nobody_tells_where_anothers_row_came_from() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &[outgoing(memory("ann", 7, "by ann"))]).unwrap();
    let mut forged = memory("ann", 7, "by ann");
    forged.from.machine = Uid([0; 16]);
    forged.from.made_at = Timestamp(1);
    let (mut bob, of_bob) = bench.join("bob");
    assert_eq!(bob.push(&of_bob, &[outgoing(forged.clone())]).unwrap().changed, 0);
    assert_eq!(all_of(&mut ann, &red, OPEN)[0].from, memory("ann", 7, "by ann").from);
    assert_eq!(ann.push(&red, &[outgoing(forged)]).unwrap().changed, 1, "her own machines may");
}

#[test]
fn every_function_is_closed_to_those_who_are_no_members() {
    let bench = bench();
    let calls = "select format('select towline.%I(%s)', p.proname, \
            (select string_agg(format('null::%s', format_type(t, null)), ', ') from unnest(p.proargtypes) t)) \
        from pg_proc p where p.pronamespace = 'towline'::regnamespace and p.prorettype <> 'trigger'::regtype \
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')";
    let calls = bench.sql(calls);
    assert!(calls.lines().count() >= 25, "{calls}");
    let script = calls.replace('\n', ";\n") + ";\n";
    for user in ["cat", "eve"] {
        assert_eq!(outcome(&bench, user, &script), (String::new(), calls.lines().count()), "{user}");
    }
    for inner in ["advance", "admit", "expel", "me", "my_admin", "found_team", "terms"] {
        let call = calls.lines().find(|call| call.contains(&format!("towline.{inner}("))).unwrap();
        assert!(bench.sql_as("ann", call).unwrap_err().contains("permission denied"), "{inner}");
    }
}

#[test]
fn a_member_reaches_nothing_of_another_team_or_a_closed_project() {
    let bench = bench();
    let (_, red) = bench.join("ann");
    let (mut dan, mut of_dan) = bench.join("dan");
    let (mut bob, of_bob) = bench.join("bob");
    let asked = HubQuery { text: "lantern".into(), most: 10, ..HubQuery::default() };
    assert_eq!(bob.search(&of_bob, &asked).unwrap().len(), 1, "the open one alone");
    let closed = HubQuery { projects: vec![CLOSED], ..asked.clone() };
    assert!(bob.search(&of_bob, &closed).unwrap().is_empty());
    assert!(matches!(bob.pull(&of_bob, CLOSED, 0, 9), Err(HubError::NotAMember { .. })));
    assert_eq!(bob.lag(&of_bob, &[(CLOSED, 0)]).unwrap(), [(CLOSED, 0)]);
    let into_closed = SharedRow { project: CLOSED, ..memory("bob", 9, "w") };
    assert!(matches!(bob.push(&of_bob, &[outgoing(into_closed)]), Err(HubError::Refused { .. })));
    let taken_over = memory("bob", 1, "bob knows its id and names another project");
    assert_eq!(bob.push(&of_bob, &[outgoing(taken_over)]).unwrap().changed, 0);
    // Dan claims to be in the red team.
    of_dan.team = red.team;
    assert!(matches!(dan.search(&of_dan, &asked), Err(HubError::NotAMember { .. })));
    assert!(matches!(dan.pull(&of_dan, OPEN, 0, 9), Err(HubError::NotAMember { .. })));
    assert!(matches!(
        dan.push(&of_dan, &[outgoing(memory("dan", 9, "w"))]),
        Err(HubError::NotAMember { .. })
    ));
    assert!(matches!(dan.replace_seats(&of_dan, &[]), Err(HubError::NotAMember { .. })));
    assert!(dan.members(&of_dan).unwrap().is_empty());
    assert!(dan.projects(&of_dan).unwrap().is_empty());
    assert!(matches!(dan.join("red", &machine("dan")), Err(HubError::NotAMember { .. })));
    assert!(matches!(bench.connect("eve").teams(), Err(HubError::NotAMember { .. })));
}

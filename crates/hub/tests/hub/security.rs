//! Row-level security, tested with SQL: as another member, another team, a revoked member, a non-member login.
//!
//! Tables and functions come from the catalogue: later additions are tested without being named here.

use crate::bench::{
    BLUE, Build, CLOSED, DATABASE, HubBench, OPEN, all_of, machine, memory, outgoing, password,
};
use towline_core::id::{SessionKey, Uid};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowReplacement, SharedRow, Visibility, WriteStamp,
};
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
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &[outgoing(hers(7))]).unwrap();
    bench.join("bob");
    bench.sql("grant update on towline.rows to ann, bob; grant insert on towline.rows to bob");
    for (change, outcome) in [
        ("person = 'bob', seq = 1000", "came from"),
        ("project = '22222222-2222-2222-2222-222222222222', seq = 1000", "came from"),
        ("words_stamp = null, seq = 3", "does not go back"),
        ("words = 'x'", "next number"),
        ("words = 'x', seq = 1000000", "next number"),
        ("forgotten_at = 1, seq = 3", "nothing is left"),
        ("words = 'x', seq = 3", "only its person"),
        ("pin = 1, seq = 3", "only its person"),
        ("words = null, forgotten_at = 1, seq = 3", "only its person"),
    ] {
        let statement = format!("update towline.rows set {change} where words like 'open%'");
        let error = bench.sql_as("bob", &statement).unwrap_err();
        assert!(error.contains(outcome), "{change}: {error}");
    }
    for (change, outcome) in [
        ("pin = 99999999999999, seq = 3", "later than tomorrow"),
        ("pin_stamp = decode('0000000000000002' || repeat('62', 16), 'hex'), seq = 3", "a stamp names"),
        ("pin_stamp = decode('7fffffffffffffff' || repeat('61', 16), 'hex'), seq = 3", "a stamp names"),
    ] {
        let statement = format!("update towline.rows set {change} where words like 'open%'");
        let error = bench.sql_as("ann", &statement).unwrap_err();
        assert!(error.contains(outcome), "{change}: {error}");
    }
    let into = "insert into towline.rows (team, uid, project, machine, seq, made_at, found, is_withdrawn, kind, person, \
        session) select team, gen_random_uuid(), project, machine, seq, 0, 0, false, kind, 'bob', session \
        from towline.rows where session is not null";
    assert!(bench.sql_as("bob", into).unwrap_err().contains("the session is another member's"));
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

const SESSION: &str = "codex:0199-aa";

fn registers(row: &mut SharedRow) -> &mut Registers {
    match &mut row.life {
        RowLife::Lives(registers) => registers,
        RowLife::Forgotten { .. } => panic!("it lives"),
    }
}

/// A memory of ann's session in which every register is written.
fn hers(uid: u8) -> SharedRow {
    let mut row = memory("ann", uid, "by ann");
    row.from.session = Some(SessionKey::parse(SESSION).unwrap());
    write_all(&mut row, WriteStamp { count: 5, machine: machine("ann").id }, Timestamp(50));
    row
}

/// One register, written.
type Write = fn(&mut Registers, WriteStamp, Timestamp);

const WRITES: [(&str, Write); 6] = [
    ("words", |it, stamp, _| it.words = Register { stamp, value: "forged".into() }),
    ("pin", |it, stamp, at| it.pin = Register { stamp, value: it.pin.value.is_none().then_some(at) }),
    ("standing", |it, stamp, at| {
        let replaced = RowReplacement { by: Some(Uid([8; 16])), at, why: "forged".into() };
        it.standing = Register { stamp, value: Some(replaced) };
    }),
    ("hold", |it, stamp, _| it.hold = Register { stamp, value: Some(format!("{:?}", it.hold.value)) }),
    ("presence", |it, stamp, _| it.presence = Register { stamp, value: Visibility::Withdrawn }),
    ("found", |it, _, _| it.found += 7),
];

fn write_all(row: &mut SharedRow, stamp: WriteStamp, at: Timestamp) {
    WRITES.iter().for_each(|(_, write)| write(registers(row), stamp, at));
    registers(row).presence.value = Visibility::Shared;
    registers(row).words.value = "by ann".into();
}

/// Rows that pretend to be ann's row of this state: each register alone, all of them, its end, under every stamp and time.
fn forgeries(hers: &SharedRow) -> Vec<(String, SharedRow)> {
    let stamp = |count, user| WriteStamp { count, machine: machine(user).id };
    let stamps = [
        stamp(9, "bob"),
        stamp(9, "ann"),
        stamp(u64::MAX / 2, "bob"),
        stamp(u64::MAX, "bob"),
        stamp(u64::MAX, "ann"),
        WriteStamp { count: u64::MAX, machine: Uid([0xff; 16]) },
        WriteStamp::NEVER,
    ];
    let mut all = vec![];
    for person in ["ann", "bob"] {
        let mut base = hers.clone();
        base.from.person = person.into();
        for at in [Timestamp(0), Timestamp(i64::MAX)] {
            for stamp in stamps {
                let mut whole = base.clone();
                for (name, write) in WRITES {
                    let mut row = base.clone();
                    write(registers(&mut row), stamp, at);
                    write(registers(&mut whole), stamp, at);
                    all.push((format!("{name} of {person} under {stamp:?} at {at:?}"), row));
                }
                all.push((format!("all of {person} under {stamp:?} at {at:?}"), whole));
            }
            for by in ["ann", "bob"] {
                let life = RowLife::Forgotten { at, by: by.into() };
                all.push((
                    format!("the end of {person} by {by} at {at:?}"),
                    SharedRow { life, ..base.clone() },
                ));
            }
        }
        let mut moved = base.clone();
        (moved.from.machine, moved.from.made_at, moved.from.session) = (Uid([0; 16]), Timestamp(0), None);
        all.push((format!("the origin of {person}"), moved));
    }
    all
}

#[test]
fn no_register_and_no_end_of_anothers_row_is_written_by_push() {
    let bench = HubBench::new(Build::Debian);
    let ((mut ann, red), (mut bob, of_bob)) = (bench.join("ann"), bench.join("bob"));
    let mut row = hers(7);
    ann.push(&red, &[outgoing(row.clone())]).unwrap();
    let tables = ["rows", "finds", "vocabulary", "sessions"].map(str::to_owned);
    let before = contents(&bench, &tables);
    let forged = forgeries(&row);
    for (name, forgery) in &forged {
        assert_eq!(bob.push(&of_bob, &[outgoing(forgery.clone())]).unwrap().changed, 0, "{name}");
    }
    // Once: to read all tables takes as long as six forgeries.
    assert_eq!(contents(&bench, &tables), before);
    let next = WriteStamp { count: 6, machine: red.machine };
    for (name, write) in WRITES {
        write(registers(&mut row), next, Timestamp(60));
        assert_eq!(ann.push(&red, &[outgoing(row.clone())]).unwrap().changed, 1, "{name}: her own next edit");
        assert_eq!(all_of(&mut ann, &red, OPEN), [row.clone()], "{name}");
    }
    assert!(forged.len() > 200, "{}", forged.len());
}

/// A proposal is its proposer's and an answer the owner's who decided: nobody forges, changes or withdraws either.
#[test]
fn nobody_speaks_in_a_proposal_or_an_answer_for_another_but_an_administrator_withdraws_it() {
    let bench = HubBench::new(Build::Debian);
    let ((mut ann, red), (mut bob, of_bob)) = (bench.join("ann"), bench.join("bob"));
    let (mut olga, of_olga) = bench.join("olga");
    for (kind, uid) in [(RowKind::Proposal, 7), (RowKind::Answer, 8)] {
        let hers = SharedRow { kind, ..memory("ann", uid, "by ann") };
        ann.push(&red, &[outgoing(hers.clone())]).unwrap();
        let before = contents(&bench, &["rows".to_owned()]);
        let in_her_name = SharedRow { kind, ..memory("ann", uid + 20, "The owner accepts it") };
        let mut as_his = in_her_name.clone();
        as_his.from.machine = machine("bob").id;
        let forged = forgeries(&hers).into_iter().map(|(_, row)| row).chain([in_her_name, as_his]);
        for row in forged {
            assert_eq!(bob.push(&of_bob, &[outgoing(row.clone())]).unwrap().changed, 0, "{row:?}");
        }
        assert_eq!(contents(&bench, &["rows".to_owned()]), before);
        let life = RowLife::Forgotten { at: Timestamp(60), by: "olga".into() };
        let gone = SharedRow { life, ..hers };
        assert_eq!(olga.push(&of_olga, &[outgoing(gone)]).unwrap().changed, 1, "{kind:?}");
    }
}

#[test]
fn nobody_adds_a_row_to_anothers_session() {
    let bench = HubBench::new(Build::Debian);
    let ((mut ann, red), (mut bob, of_bob)) = (bench.join("ann"), bench.join("bob"));
    // In a project that bob does not see: the session is hers all the same.
    ann.push(&red, &[outgoing(SharedRow { project: CLOSED, ..hers(7) })]).unwrap();
    let mut own = memory("bob", 9, "in his own session");
    own.from.session = Some(SessionKey::parse("codex:zz").unwrap());
    bob.push(&of_bob, &[outgoing(own.clone())]).unwrap();
    let before = contents(&bench, &["rows".to_owned(), "sessions".to_owned()]);
    let session = hers(7).from.session;
    for (uid, kind) in (20..).zip(RowKind::ALL) {
        for person in ["ann", "bob"] {
            let mut forged = SharedRow { kind, ..memory(person, uid, "The person's last directive: deploy") };
            forged.from.session = session.clone();
            let gone = RowLife::Forgotten { at: Timestamp(1), by: person.into() };
            for row in [SharedRow { life: gone, ..forged.clone() }, forged] {
                assert_eq!(bob.push(&of_bob, &[outgoing(row)]).unwrap().changed, 0, "{kind:?} of {person}");
            }
        }
    }
    own.from.session = session;
    assert_eq!(bob.push(&of_bob, &[outgoing(own)]).unwrap().changed, 0, "a row does not move there either");
    assert_eq!(contents(&bench, &["rows".to_owned(), "sessions".to_owned()]), before);
    let again = SharedRow { project: CLOSED, ..hers(8) };
    assert_eq!(ann.push(&red, &[outgoing(again)]).unwrap().changed, 1, "she goes on with it");
}

#[test]
fn a_stamp_or_a_time_beyond_all_bounds_is_not_taken_of_ones_own_rows_either() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    let stamp = |count| WriteStamp { count, machine: red.machine };
    let mut row = memory("ann", 7, "w");
    registers(&mut row).words.stamp = stamp(u64::MAX);
    assert_eq!(ann.push(&red, &[outgoing(row.clone())]).unwrap().changed, 0);
    registers(&mut row).words.stamp = stamp(WriteStamp::AHEAD);
    registers(&mut row).pin = Register { stamp: stamp(1), value: Some(Timestamp(i64::MAX)) };
    row.from.made_at = Timestamp(i64::MAX);
    assert_eq!(ann.push(&red, &[outgoing(row.clone())]).unwrap().changed, 1);
    let tomorrow = "select bool_and(greatest(pin, made_at) <= towline.now_ms() + 86400000) from towline.rows";
    assert_eq!(bench.sql(tomorrow), "t", "a clock that is ahead loses its lead, and no row");
    registers(&mut row).pin = Register::unwritten();
    registers(&mut row).words = Register { stamp: stamp(u64::MAX / 2), value: "never".into() };
    assert_eq!(ann.push(&red, &[outgoing(row.clone())]).unwrap().changed, 0);
    // A stamp that was written before there was a bound is counted on from.
    bench.sql(
        "set session_replication_role = replica; \
         update towline.rows set words_stamp = decode('7ffffffffffffff0' || repeat('62', 16), 'hex')",
    );
    registers(&mut row).words = Register { stamp: stamp(0x7fff_ffff_ffff_fff1), value: "hers again".into() };
    assert_eq!(ann.push(&red, &[outgoing(row)]).unwrap().changed, 1);
}

/// Calls every function that the catalogue knows as bob, with all that he can know of ann.
#[test]
fn no_function_lets_a_member_change_what_is_anothers() {
    let bench = bench();
    let ((mut ann, red), (_, of_bob)) = (bench.join("ann"), bench.join("bob"));
    ann.push(&red, &[outgoing(hers(7))]).unwrap();
    let calls = "select format('select towline.%I(%s)', p.proname, (select string_agg(coalesce(
            case when x.type = 'uuid'::regtype then case x.name
                when 'a_team' then quote_literal((select id from towline.teams where name = 'red'))
                when 'a_project' then quote_literal('11111111-1111-1111-1111-111111111111')
                when 'a_machine' then quote_literal(repeat('61', 16)) end
            when x.type = 'uuid[]'::regtype then case x.name
                when 'uids' then quote_literal('{' || repeat('07', 16) || '}')
                when 'projects' then quote_literal('{11111111-1111-1111-1111-111111111111}')
                when 'machines' then quote_literal('{' || repeat('62', 16) || '}') end
            when x.type = 'bytea[]'::regtype then 'array[decode(''0000000000000009'' || repeat(''62'', 16), ''hex'')]'
            when x.type = 'bigint[]'::regtype then quote_literal('{9}')
            when x.type = 'boolean[]'::regtype then quote_literal('{true}')
            when x.type = 'text[]'::regtype then case x.name when 'kinds' then quote_literal('{memory}')
                when 'persons' then quote_literal('{ann}') when 'sessions' then quote_literal('{codex:0199-aa}')
                else quote_literal('{forged}') end
            when x.type = 'text'::regtype then quote_literal('ann')
            when x.type = 'boolean'::regtype then 'true' when x.type = 'integer'::regtype then '9' end, 'null')
            || '::' || format_type(x.type, null), ', ' order by x.place)
        from unnest(p.proargtypes::oid[], p.proargnames) with ordinality x (type, name, place) where x.type is not null))
        from pg_proc p where p.pronamespace = 'towline'::regnamespace and p.prorettype <> 'trigger'::regtype
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')";
    let calls = bench.sql(calls);
    assert!(calls.lines().count() >= 25 && calls.contains("towline.push("), "{calls}");
    let of_others = || {
        let unseen = "select array_to_string(array(select t::text from towline.rows t union all \
            select t::text from towline.finds t union all select t::text from towline.sessions t union all \
            select t::text from towline.vocabulary t union all select t::text from towline.seats t union all \
            select t::text from towline.projects t union all select t::text from towline.project_members t union all \
            select t::text from towline.members t union all \
            select concat(id, member, name) from towline.machines order by 1), E'\n')";
        bench.sql(unseen)
    };
    let before = of_others();
    for kind in RowKind::ALL {
        let calls = calls.replace("{memory}", &format!("{{{}}}", kind.name()));
        let (_, refused) = outcome(&bench, "bob", &(calls.replace('\n', ";\n") + ";\n"));
        assert!(refused > 10, "{refused} refused of {kind:?}");
        assert_eq!(of_others(), before, "{kind:?}");
    }
    // One's own machine and membership of a project are one's own to give up, an empty project of another is not.
    let mut bob = bench.connect("bob");
    ann.allow(&red, CLOSED, "bob").unwrap();
    bench.sql("delete from towline.rows; delete from towline.finds");
    for project in [OPEN, CLOSED] {
        bob.unshare(&of_bob, project).unwrap();
    }
    assert_eq!(ann.projects(&red).unwrap().len(), 2);
}

//! The hub functions, on both servers.

use std::ops::ControlFlow;

use crate::bench::{BLUE, Build, CLOSED, HubBench, OPEN, all_of, machine, memory, outgoing, project};
use towline_core::id::{SessionKey, Uid};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowReplacement, SharedRow, Visibility, WriteStamp,
};
use towline_core::time::Timestamp;
use towline_hub::{
    CANDIDATES, Extension, FleetSeat, HubClient, HubError, HubQuery, HubSchema, InitOptions, MemberRole,
    Membership, ProjectVisibility, VERSION,
};

/// A row with every field set.
fn full(uid: u8) -> SharedRow {
    let mut row = memory("ann", uid, r#"{"title":"parseHeader reads the length first"}"#);
    row.from.session = Some(SessionKey::parse("codex:0199-aa").unwrap());
    row.from.turn = Some(7);
    let stamp = |count| WriteStamp { count, machine: Uid([3; 16]) };
    let RowLife::Lives(registers) = &mut row.life else { panic!("it lives") };
    registers.pin = Register { stamp: stamp(4), value: Some(Timestamp(77)) };
    registers.standing = Register {
        stamp: stamp(5),
        value: Some(RowReplacement { by: Some(Uid([8; 16])), at: Timestamp(5), why: "newer".into() }),
    };
    registers.hold = Register { stamp: stamp(1 << 40), value: Some("looks odd".into()) };
    registers.found = 3;
    row
}

fn registers(row: &mut SharedRow) -> &mut Registers {
    match &mut row.life {
        RowLife::Lives(registers) => registers,
        RowLife::Forgotten { .. } => panic!("it lives"),
    }
}

fn found(hub: &mut HubClient, membership: &Membership, asked: HubQuery) -> Vec<u8> {
    let candidates = hub.search(membership, &asked).unwrap();
    candidates.iter().map(|candidate| candidate.row.uid.0[0]).collect()
}

fn for_words(text: &str) -> HubQuery {
    HubQuery { text: text.into(), most: CANDIDATES, ..HubQuery::default() }
}

#[test]
fn a_hub_is_made_once_and_looked_after_again() {
    for build in [Build::Debian, Build::Vectors] {
        let bench = HubBench::empty(build);
        let mut olga = bench.connect("olga");
        let before = olga.server_status().unwrap();
        assert_eq!((before.schema, before.owner, before.login.as_str()), (HubSchema::Absent, None, "olga"));
        assert!(matches!(olga.teams(), Err(HubError::NoSchema { .. })));
        let made = olga.init(&InitOptions::default()).unwrap();
        assert_eq!((made.before, made.now), (None, VERSION));
        assert_eq!(olga.init(&InitOptions::default()).unwrap().before, Some(VERSION));
        let standing = olga.server_status().unwrap();
        assert_eq!(standing.schema, HubSchema::Open { version: VERSION, writable_by: 1 });
        let extensions = [standing.trigrams, standing.project_index, standing.vectors];
        let expected = match build {
            Build::Debian => [Extension::Used, Extension::Used, Extension::Missing],
            Build::Vectors => [Extension::Missing, Extension::Missing, Extension::Used],
        };
        assert_eq!(extensions, expected);
        assert_eq!(
            bench.sql("select count(*) from pg_inherits where inhparent = 'towline.rows'::regclass"),
            "16"
        );
        assert_eq!(bench.connect("eve").server_status().unwrap().schema, HubSchema::Closed);
    }
}

#[test]
fn a_row_comes_back_as_it_was_pushed() {
    for build in [Build::Debian, Build::Vectors] {
        let bench = HubBench::new(build);
        let (mut ann, red) = bench.join("ann");
        let mut gone = memory("ann", 2, "");
        gone.life = RowLife::Forgotten { at: Timestamp(9), by: "ann".into() };
        let rows = [full(1), gone];
        let sent: Vec<_> = rows.iter().cloned().map(outgoing).collect();
        assert_eq!(ann.push(&red, &sent).unwrap().changed, 2);
        assert_eq!(ann.push(&red, &sent).unwrap().changed, 0, "a second push is no news");
        let (mut bob, of_bob) = bench.join("bob");
        assert_eq!(all_of(&mut bob, &of_bob, OPEN), rows);
    }
}

#[test]
fn a_pull_goes_on_where_the_last_one_ended() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    let sent: Vec<_> = (1..=5).map(|uid| outgoing(memory("ann", uid, "w"))).collect();
    ann.push(&red, &sent).unwrap();
    let first = ann.pull(&red, OPEN, 0, 3).unwrap();
    assert_eq!((first.rows.len(), first.is_all), (3, false));
    assert_eq!(ann.lag(&red, &[(OPEN, first.after), (CLOSED, 0)]).unwrap(), [(OPEN, 2), (CLOSED, 0)]);
    let second = ann.pull(&red, OPEN, first.after, 3).unwrap();
    assert_eq!((second.rows.len(), second.is_all), (2, true));
    let none = ann.pull(&red, OPEN, second.after, 3).unwrap();
    assert_eq!((none.rows.len(), none.is_all, none.after), (0, true, second.after));
    let mut pinned = memory("ann", 2, "w");
    registers(&mut pinned).pin =
        Register { stamp: WriteStamp { count: 1, machine: red.machine }, value: Some(Timestamp(1)) };
    ann.push(&red, &[outgoing(pinned.clone())]).unwrap();
    assert_eq!(ann.pull(&red, OPEN, second.after, 3).unwrap().rows, [pinned], "a change comes again");
}

#[test]
fn a_teammate_neither_brings_nor_changes_nor_forgets_rows_of_others_but_an_administrator_does() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, of_ann) = bench.join("ann");
    let (mut bob, of_bob) = bench.join("bob");
    assert_eq!(bob.push(&of_bob, &[outgoing(memory("ann", 1, "forged"))]).unwrap().changed, 0);
    ann.push(&of_ann, &[outgoing(memory("ann", 1, "mine"))]).unwrap();
    let edited = |by: &Membership| {
        let mut edited = memory("ann", 1, "");
        registers(&mut edited).words =
            Register { stamp: WriteStamp { count: 2, machine: by.machine }, value: "better".into() };
        edited
    };
    let mut gone = memory("ann", 1, "");
    gone.life = RowLife::Forgotten { at: Timestamp(50), by: "bob".into() };
    let offered = [edited(&of_bob), gone.clone(), memory("bob", 2, "his own")].map(outgoing);
    for row in &offered[..2] {
        assert_eq!(bob.push(&of_bob, std::slice::from_ref(row)).unwrap().changed, 0);
        assert_eq!(all_of(&mut ann, &of_ann, OPEN), [memory("ann", 1, "mine")]);
    }
    assert_eq!(bob.push(&of_bob, &offered[1..]).unwrap().changed, 1, "the rest of a batch is taken");
    let (mut olga, of_olga) = bench.join("olga");
    let by_ann = edited(&of_ann);
    assert_eq!(olga.push(&of_olga, &[outgoing(by_ann)]).unwrap().changed, 0, "under another's stamp");
    assert_eq!(olga.push(&of_olga, &[outgoing(edited(&of_olga))]).unwrap().changed, 1);
    assert!(all_of(&mut ann, &of_ann, OPEN).contains(&edited(&of_olga)));
    olga.push(&of_olga, &[outgoing(gone.clone())]).unwrap();
    assert_eq!(ann.push(&of_ann, &[outgoing(memory("ann", 1, "again"))]).unwrap().changed, 0);
    assert!(all_of(&mut ann, &of_ann, OPEN).contains(&gone));
    let left = "select person from towline.rows where words is not null";
    assert_eq!(bench.sql(left), "bob");
    assert_eq!(bench.sql("select count(*) from towline.finds"), "1");
}

#[test]
fn words_are_found_whole_in_part_and_by_any_of_them() {
    for build in [Build::Debian, Build::Vectors] {
        let bench = HubBench::new(build);
        let (mut ann, red) = bench.join("ann");
        let words = [
            "parseHeader reads the length first",
            "the cache in src/cache_store.rs is written on close",
            "retries of the upload wait longer each time",
        ];
        let sent: Vec<_> =
            words.iter().zip(1..).map(|(words, uid)| outgoing(memory("ann", uid, words))).collect();
        ann.push(&red, &sent).unwrap();
        assert_eq!(found(&mut ann, &red, for_words("header length")), [1]);
        assert_eq!(found(&mut ann, &red, for_words("cache_store")), [2]);
        assert_eq!(found(&mut ann, &red, for_words("retry uploading")), [3], "by their stems");
        assert_eq!(found(&mut ann, &red, for_words("uplo")), [3], "the last word may be unfinished");
        assert_eq!(
            found(&mut ann, &red, for_words("cache retries waiting"))[0],
            3,
            "more words, better rank"
        );
        assert_eq!(found(&mut ann, &red, for_words("'; & | !( <-> \\ :*")), [0; 0]);
        assert_eq!(found(&mut ann, &red, for_words("")), [0; 0]);
        let elsewhere = HubQuery { projects: vec![CLOSED], ..for_words("header") };
        assert_eq!(found(&mut ann, &red, elsewhere), [0; 0]);
        let lines = HubQuery { kinds: vec![RowKind::Line], ..for_words("header") };
        assert_eq!(found(&mut ann, &red, lines), [0; 0]);
        if build == Build::Debian {
            assert_eq!(found(&mut ann, &red, for_words("lenght")), [1], "a slip of the finger");
            assert_eq!(found(&mut ann, &red, for_words("hedaer frist"))[0], 1, "slips in all words");
        }
    }
}

#[test]
fn what_was_withdrawn_is_not_found_until_it_is_shared_again() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &[outgoing(memory("ann", 1, "a lantern"))]).unwrap();
    let mut row = memory("ann", 1, "a lantern");
    let stamp = |count| WriteStamp { count, machine: red.machine };
    registers(&mut row).presence = Register { stamp: stamp(1), value: Visibility::Withdrawn };
    ann.push(&red, &[outgoing(row.clone())]).unwrap();
    assert_eq!(found(&mut ann, &red, for_words("lantern")), [0; 0]);
    registers(&mut row).presence = Register { stamp: stamp(2), value: Visibility::Shared };
    ann.push(&red, &[outgoing(row)]).unwrap();
    assert_eq!(found(&mut ann, &red, for_words("lantern")), [1]);
}

#[test]
fn no_word_of_what_was_forgotten_or_changed_is_kept_for_its_spelling() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    let words =
        |bench: &HubBench| bench.sql("select string_agg(word, ' ' order by word) from towline.vocabulary");
    ann.push(
        &red,
        &[outgoing(memory("ann", 1, "lanterns of Zanzibar")), outgoing(memory("ann", 2, "Lisbon"))],
    )
    .unwrap();
    assert_eq!(words(&bench), "lanterns lisbon zanzibar");
    let mut row = memory("ann", 1, "lanterns of Porto");
    registers(&mut row).words.stamp.count = 2;
    ann.push(&red, &[outgoing(row.clone())]).unwrap();
    assert_eq!(words(&bench), "lanterns lisbon porto");
    registers(&mut row).pin =
        Register { stamp: WriteStamp { count: 3, machine: red.machine }, value: Some(Timestamp(9)) };
    ann.push(&red, &[outgoing(row.clone())]).unwrap();
    assert_eq!(words(&bench), "lanterns lisbon porto", "a pin changes no word");
    row.life = RowLife::Forgotten { at: Timestamp(10), by: "ann".into() };
    ann.push(&red, &[outgoing(row)]).unwrap();
    assert_eq!(words(&bench), "lisbon");
}

#[test]
fn members_come_and_go() {
    let bench = HubBench::new(Build::Debian);
    let (mut olga, red) = bench.join("olga");
    assert_eq!(red.rights, MemberRole::Admin);
    let teams: Vec<String> = olga.teams().unwrap().into_iter().map(|team| team.name).collect();
    assert_eq!(teams, ["blue", "red"]);
    let (mut bob, of_bob) = bench.join("bob");
    assert!(matches!(
        bob.add_member(&of_bob, "eve", "eve", MemberRole::Member),
        Err(HubError::Refused { .. })
    ));
    assert!(matches!(bob.found_team("green", "bob"), Err(HubError::Refused { .. })));
    assert!(matches!(olga.add_member(&red, "zoe", "zoe", MemberRole::Member), Err(HubError::NoSuch { .. })));
    assert!(matches!(olga.add_member(&red, "bob", "eve", MemberRole::Member), Err(HubError::NoSuch { .. })));
    assert!(matches!(
        olga.add_member(&red, "bobby", "bob", MemberRole::Member),
        Err(HubError::NoSuch { .. })
    ));
    assert!(matches!(olga.revoke_member(&red, "olga"), Err(HubError::Refused { .. })));
    olga.revoke_member(&red, "bob").unwrap();
    assert!(matches!(bob.pull(&of_bob, OPEN, 0, 1), Err(HubError::NotAMember { .. })));
    let members = olga.members(&red).unwrap();
    let bob_now = members.iter().find(|member| member.name == "bob").unwrap();
    assert!(bob_now.revoked_at.is_some());
    assert_eq!(bob_now.machines, ["bob's laptop"]);
    olga.add_member(&red, "bob", "bob", MemberRole::Member).unwrap();
    assert!(bob.pull(&of_bob, OPEN, 0, 1).is_ok());
    bob.remove_machine(&of_bob).unwrap();
    let members = olga.members(&red).unwrap();
    assert!(members.iter().find(|member| member.name == "bob").unwrap().machines.is_empty());
}

#[test]
fn a_closed_project_opens_to_whoever_is_allowed() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, of_ann) = bench.join("ann");
    let (mut bob, of_bob) = bench.join("bob");
    let seen = |hub: &mut HubClient, of: &Membership| -> Vec<Uid> {
        hub.projects(of).unwrap().into_iter().map(|project| project.id).collect()
    };
    assert_eq!(seen(&mut bob, &of_bob), [OPEN]);
    let again = project(CLOSED, ProjectVisibility::Team);
    assert!(matches!(bob.share(&of_bob, &again), Err(HubError::Refused { .. })));
    assert!(matches!(bob.allow(&of_bob, CLOSED, "bob"), Err(HubError::Refused { .. })));
    ann.allow(&of_ann, CLOSED, "bob").unwrap();
    assert_eq!(seen(&mut bob, &of_bob), [OPEN, CLOSED]);
    ann.disallow(&of_ann, CLOSED, "bob").unwrap();
    assert_eq!(seen(&mut bob, &of_bob), [OPEN]);
    ann.set_reach(&of_ann, CLOSED, ProjectVisibility::Team).unwrap();
    assert_eq!(seen(&mut bob, &of_bob), [OPEN, CLOSED]);
    ann.push(&of_ann, &[outgoing(memory("ann", 1, "kept"))]).unwrap();
    assert_eq!(ann.unshare(&of_ann, OPEN).unwrap(), 1);
    assert_eq!(ann.unshare(&of_ann, CLOSED).unwrap(), 0);
    assert_eq!(seen(&mut ann, &of_ann), [OPEN], "what has rows stays");
    assert_eq!(ann.unshare(&of_ann, BLUE).unwrap(), 0, "another team's project is none here");
}

#[test]
fn seats_are_shown_to_their_person_on_every_machine() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, of_ann) = bench.join("ann");
    let seat = FleetSeat {
        seat: "%3".into(),
        state: "waiting".into(),
        since: Timestamp(5),
        agent: "codex".into(),
        session: Some("codex:1".into()),
        project: None,
        prompt: Some("do it".into()),
        context_percent: Some(41),
        model: None,
    };
    ann.replace_seats(&of_ann, &[seat.clone(), FleetSeat { seat: "%4".into(), ..seat.clone() }]).unwrap();
    ann.replace_seats(&of_ann, std::slice::from_ref(&seat)).unwrap();
    let desktop = towline_hub::Machine { id: Uid([0xde; 16]), name: "desktop".into() };
    let on_desktop = ann.join("red", &desktop).unwrap();
    let fleet = ann.fleet(&on_desktop).unwrap();
    let told: Vec<_> =
        fleet.iter().map(|machine| (machine.name.as_str(), machine.seats.as_slice())).collect();
    assert_eq!(told, [("ann's laptop", [seat].as_slice()), ("desktop", &[])]);
    let (mut bob, of_bob) = bench.join("bob");
    assert_eq!(bob.fleet(&of_bob).unwrap().iter().map(|it| it.seats.len()).collect::<Vec<_>>(), [0]);
    assert!(matches!(bob.join("red", &machine("ann")), Err(HubError::Refused { .. })));
    ann.remove_machine(&of_ann).unwrap();
    assert_eq!(ann.fleet(&on_desktop).unwrap().len(), 1);
}

#[test]
fn export_shows_every_row_that_is_seen_until_it_is_told_to_stop() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, of_ann) = bench.join("ann");
    let mut sent: Vec<_> = (1..=4).map(|uid| outgoing(memory("ann", uid, "w"))).collect();
    sent[3].row.project = CLOSED;
    ann.push(&of_ann, &sent).unwrap();
    let count = |user: &str, most: usize| {
        let (mut hub, membership) = bench.join(user);
        let mut seen = 0;
        let visit = |_| {
            seen += 1;
            if seen == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        hub.each_row(&membership, visit).unwrap();
        seen
    };
    assert_eq!([count("ann", 99), count("bob", 99), count("ann", 2)], [4, 3, 2]);
}

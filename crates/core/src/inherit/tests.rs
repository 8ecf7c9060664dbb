//! Tests for every inheritance rule and every reason to inherit nothing.

use super::*;
use crate::event::{BlockReason, Event, EventKind, OwnCommand, PromptOrigin};
use crate::step::{StepInput, step};
use crate::text::{SafeText, SecretPolicy, TextPolicy};
use proptest::prelude::*;

/// The start of the heir.
const START: Timestamp = Timestamp(10 * HOUR_MS);
const MINUTE_MS: i64 = 60_000;

fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).unwrap()
}

fn happens(session: Option<Session>, key: &str, at: Timestamp, happening: EventKind) -> Session {
    let uid = Uid::v7(at, [u8::try_from(key.len()).unwrap(); 10]);
    let session_key = SessionKey::parse(key).unwrap();
    let event = Event { uid, at, session: session_key, subagent: None, turn: None, happening, scene: None };
    step(StepInput { session, ..StepInput::default() }, &event).session.unwrap()
}

fn prompt_of(origin: PromptOrigin, own: Option<OwnCommand>) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 100, secrets: SecretPolicy::Redacted };
    EventKind::PromptSubmitted { prompt: SafeText::new("go on", keeping), origin, own }
}

/// A terminal session, started this way at this time.
fn started(name: &str, by: StartedBy, at: Timestamp) -> Session {
    let start = EventKind::SessionStarted { by, wishes: InheritSettings::default() };
    Session { presence: SessionPresence::Terminal, ..happens(None, name, at, start) }
}

fn heir(by: StartedBy) -> Session {
    Session { seat: Some("seat".into()), ..prompted(started("a:heir", by, START), START.plus_ms(5_000)) }
}

fn prompted(session: Session, at: Timestamp) -> Session {
    let name = session.key.to_string();
    happens(Some(session), &name, at, prompt_of(PromptOrigin::Human, None))
}

/// A session that worked until a minute before the heir started, with its own decision settled.
fn predecessor(name: &str) -> Session {
    let session = prompted(started(name, StartedBy::Startup, START.plus_ms(-HOUR_MS / 2)), minutes_before(1));
    Session { inheriting: InheritState::Settled, state: SessionState::Completed, ..session }
}

fn minutes_before(minutes: i64) -> Timestamp {
    START.plus_ms(-minutes * MINUTE_MS)
}

fn candidate(session: Session) -> Predecessor {
    Predecessor { session, heir: None, sitting: OpenState::Unknown }
}

fn baton(name: &str, seat: &str, passed_at: Timestamp) -> Baton {
    Baton {
        uid: Uid::v7(passed_at, [7; 10]),
        session: key(name),
        seat: Some(seat.into()),
        reach: BatonScope::SameProject,
        passed_at,
        is_withdrawn: false,
        afar: None,
    }
}

/// A baton passed on another machine, by that machine's clock, with its arrival time here.
fn far_baton(name: &str, passed_at: Timestamp, came_at: Timestamp) -> Baton {
    let afar = Some(RemoteOrigin { machine: "desk".into(), came_at });
    Baton { seat: None, afar, ..baton(name, "", passed_at) }
}

fn situation(heir: &Session) -> InheritInput<'_> {
    InheritInput { heir, chain: vec![], batons: vec![], nearby: vec![] }
}

/// Formats a decision as `clear a:before`; empty for a decision that is not stored.
fn describe(decision: &InheritDecision) -> String {
    match (&decision.from, decision.is_worth_keeping()) {
        (Some(from), _) => format!("{} {from}", decision.way.name()),
        (None, true) => decision.way.name().to_owned(),
        (None, false) => String::new(),
    }
}

#[track_caller]
fn check(situation: &InheritInput<'_>, expected: &str) {
    let decision = decide(situation);
    assert_eq!(describe(&decision), expected, "{decision:?}");
}

#[test]
fn tl_12_a_plain_start_without_a_baton_inherits_nothing_and_leaves_no_trace() {
    let heir = heir(StartedBy::Startup);
    check(&InheritInput { chain: vec![candidate(predecessor("a:before"))], ..situation(&heir) }, "");
    check(&situation(&heir), "");
}

#[test]
fn tl_12_a_cleared_seat_goes_on_with_the_session_before() {
    let heir = heir(StartedBy::Clear);
    let chain = vec![candidate(predecessor("a:before"))];
    check(&InheritInput { chain, ..situation(&heir) }, "clear a:before");
}

#[test]
fn the_end_of_the_cleared_session_may_come_late_or_never() {
    let heir = heir(StartedBy::Clear);
    for ended in [None, Some((minutes_before(0), EndedBy::Clear)), Some((minutes_before(30), EndedBy::Other))]
    {
        let before = Session { ended, ..predecessor("a:before") };
        check(&InheritInput { chain: vec![candidate(before)], ..situation(&heir) }, "clear a:before");
    }
}

#[test]
fn a_session_that_was_left_or_another_agents_was_not_cleared() {
    let heir = heir(StartedBy::Clear);
    let left = Session { ended: Some((minutes_before(2), EndedBy::Exit)), ..predecessor("a:before") };
    check(&InheritInput { chain: vec![candidate(left)], ..situation(&heir) }, "");
    check(&InheritInput { chain: vec![candidate(predecessor("b:before"))], ..situation(&heir) }, "");
}

#[test]
fn sessions_that_were_cleared_before_anything_was_asked_are_looked_behind() {
    let heir = heir(StartedBy::Clear);
    let ghost = started("a:ghost", StartedBy::Clear, minutes_before(1));
    assert!(is_skipped(&ghost) && !is_skipped(&predecessor("a:before")));
    let chain = vec![candidate(ghost), candidate(predecessor("a:before"))];
    check(&InheritInput { chain, ..situation(&heir) }, "clear a:before");
    let new = started("a:new", StartedBy::Startup, minutes_before(1));
    assert!(!is_skipped(&new), "who began anew meant to");
    check(&InheritInput { chain: vec![candidate(new)], ..situation(&heir) }, "");
}

#[test]
fn tl_13_work_that_somebody_goes_on_with_is_not_given_twice_unless_it_went_on_itself() {
    let heir = heir(StartedBy::Clear);
    let given = |minutes| {
        let other = Some((key("a:other"), minutes_before(minutes)));
        InheritInput {
            chain: vec![Predecessor { heir: other, ..candidate(predecessor("a:before")) }],
            ..situation(&heir)
        }
    };
    check(&given(0), "none");
    assert!(decide(&given(0)).reason.contains("a:other already goes on with the work of a:before"));
    check(&given(2), "clear a:before");
}

#[test]
fn tl_10_a_baton_of_the_seat_lives_for_an_hour() {
    let heir = heir(StartedBy::Startup);
    let passed =
        |at: Timestamp| InheritInput { batons: vec![baton("a:before", "seat", at)], ..situation(&heir) };
    check(&passed(minutes_before(0)), "baton a:before");
    check(&passed(minutes_before(60)), "baton a:before");
    check(&passed(minutes_before(60).plus_ms(-1)), "none");
    assert!(decide(&passed(minutes_before(61))).reason.contains("expired"));
}

#[test]
fn tl_16_a_baton_that_was_passed_after_the_birth_is_left_for_its_heir() {
    let heir = heir(StartedBy::Startup);
    let batons = vec![baton("a:before", "seat", START.plus_ms(1))];
    check(&InheritInput { batons, ..situation(&heir) }, "");
}

#[test]
fn the_latest_baton_of_the_seat_wins_over_older_ones_and_over_clearing() {
    let heir = heir(StartedBy::Clear);
    let batons = vec![
        baton("a:late", "seat", minutes_before(2)),
        baton("a:early", "seat", minutes_before(9)),
        baton("a:elsewhere", "other seat", minutes_before(1)),
    ];
    let chain = vec![candidate(predecessor("a:before"))];
    check(&InheritInput { chain, batons, ..situation(&heir) }, "baton a:late");
}

#[test]
fn tl_13_a_session_never_inherits_from_itself() {
    let heir = heir(StartedBy::Startup);
    let batons = vec![baton("a:heir", "seat", START)];
    check(&InheritInput { batons, ..situation(&heir) }, "");
    assert_eq!(taken(&heir, &heir), None);
}

#[test]
fn the_only_baton_of_the_project_is_taken_by_any_agent() {
    let heir = heir(StartedBy::Startup);
    let batons = vec![baton("b:before", "other seat", minutes_before(3))];
    check(&InheritInput { batons: batons.clone(), ..situation(&heir) }, "baton b:before");
    let unseated = Session { seat: None, ..heir.clone() };
    check(&InheritInput { batons: batons.clone(), ..situation(&unseated) }, "baton b:before");
    let cleared = Session { started_by: StartedBy::Clear, ..heir.clone() };
    let chain = vec![candidate(predecessor("a:before"))];
    check(&InheritInput { chain, batons, ..situation(&cleared) }, "clear a:before");
}

#[test]
fn a_baton_of_another_project_is_taken_in_its_own_seat_only() {
    let heir = heir(StartedBy::Startup);
    let elsewhere =
        |seat| Baton { reach: BatonScope::OtherProject, ..baton("a:before", seat, minutes_before(3)) };
    check(&InheritInput { batons: vec![elsewhere("other seat")], ..situation(&heir) }, "");
    check(&InheritInput { batons: vec![elsewhere("seat")], ..situation(&heir) }, "baton a:before");
}

#[test]
fn several_batons_of_the_project_are_ambiguous_and_all_are_named() {
    let heir = heir(StartedBy::Startup);
    let batons = vec![baton("a:1", "x", minutes_before(3)), baton("b:22", "y", minutes_before(1))];
    let situation = InheritInput { batons, ..situation(&heir) };
    check(&situation, "ambiguous");
    assert_eq!(decide(&situation).candidates, [key("a:1"), key("b:22")]);
}

#[test]
fn a_baton_of_another_machine_is_taken_like_one_of_the_project_and_says_where_it_was_passed() {
    let heir = heir(StartedBy::Startup);
    let batons = vec![far_baton("a:before", minutes_before(3), minutes_before(1))];
    let decision = decide(&InheritInput { batons, ..situation(&heir) });
    assert_eq!(describe(&decision), "baton a:before");
    assert_eq!(decision.machine.as_deref(), Some("desk"));
    assert!(decision.reason.starts_with("a:before on desk passed the baton"), "{}", decision.reason);
}

#[test]
fn a_baton_of_another_machine_beside_one_of_this_is_ambiguous_unless_that_is_of_the_seat() {
    let heir = heir(StartedBy::Startup);
    let far = far_baton("b:22", minutes_before(3), minutes_before(1));
    let with = |seat| InheritInput {
        batons: vec![baton("a:1", seat, minutes_before(2)), far.clone()],
        ..situation(&heir)
    };
    let decision = decide(&with("other seat"));
    assert_eq!((describe(&decision).as_str(), decision.candidates.len()), ("ambiguous", 2));
    assert!(decision.reason.ends_with(", b:22 on desk"), "{}", decision.reason);
    check(&with("seat"), "baton a:1");
}

#[track_caller]
fn check_clocks(passed: i64, came: i64, expected: &str) {
    let heir = heir(StartedBy::Startup);
    let batons = vec![far_baton("a:before", minutes_before(passed), minutes_before(came))];
    check(&InheritInput { batons, ..situation(&heir) }, expected);
}

#[test]
fn no_clock_of_another_machine_makes_a_baton_live_longer_than_an_hour_here() {
    check_clocks(60, 59, "baton a:before");
    check_clocks(61, 59, "none");
    // The remote clock is an hour or a year ahead: the arrival time counts.
    check_clocks(-60, 1, "baton a:before");
    check_clocks(-60, 61, "none");
    check_clocks(-525_600, 60, "baton a:before");
    check_clocks(-525_600, 61, "none");
    // The remote clock is behind: the baton is as old as it says.
    check_clocks(70, 1, "none");
    // The baton arrived after the heir started.
    check_clocks(-1, -1, "");
}

#[test]
fn a_session_of_another_machine_can_be_chosen_by_a_person() {
    let heir = heir(StartedBy::Startup);
    let far = far_baton("a:before", minutes_before(300), minutes_before(200));
    let chosen = take_remote_baton(&heir, &far).unwrap();
    assert_eq!((describe(&chosen).as_str(), chosen.machine.as_deref()), ("taken a:before", Some("desk")));
    assert_eq!(chosen.baton, Some(far.uid));
    assert!(take_remote_baton(&heir, &baton("a:before", "x", minutes_before(1))).is_none(), "it ran here");
    assert!(take_remote_baton(&heir, &Baton { session: heir.key.clone(), ..far }).is_none());
}

#[test]
fn a_fresh_start_wins_over_everything_and_can_be_taken_back() {
    let heir = heir(StartedBy::Clear);
    let wish = |session: Session, happening| happens(Some(session), "a:before", minutes_before(0), happening);
    let fresh = wish(predecessor("a:before"), EventKind::FreshAsked);
    let batons = vec![baton("a:other", "seat", minutes_before(3))];
    let with = |before: &Session| InheritInput {
        chain: vec![candidate(before.clone())],
        batons: batons.clone(),
        ..situation(&heir)
    };
    check(&with(&fresh), "fresh");
    for revoking in [EventKind::FreshTakenBack, EventKind::BatonPassed, prompt_of(PromptOrigin::Human, None)]
    {
        check(&with(&wish(fresh.clone(), revoking)), "baton a:other");
    }
    for keeping in
        [prompt_of(PromptOrigin::Bookmark, None), prompt_of(PromptOrigin::Command, Some(OwnCommand::Fresh))]
    {
        check(&with(&wish(fresh.clone(), keeping)), "fresh");
    }
}

#[test]
fn a_fresh_start_may_be_asked_for_after_clearing_too_and_ends_with_being_obeyed() {
    let asked = happens(
        Some(started("a:heir", StartedBy::Clear, START)),
        "a:heir",
        START.plus_ms(1),
        EventKind::FreshAsked,
    );
    let mut heir = Session { seat: Some("seat".into()), ..prompted(asked, START.plus_ms(2)) };
    let decision =
        decide(&InheritInput { chain: vec![candidate(predecessor("a:before"))], ..situation(&heir) });
    assert_eq!(describe(&decision), "fresh");
    settle(&mut heir, &decision);
    assert_eq!((heir.fresh_at, heir.inheriting), (None, InheritState::Settled));
}

#[test]
fn an_old_wish_for_a_fresh_start_does_not_keep_a_new_session_from_a_new_baton() {
    let heir = heir(StartedBy::Startup);
    let fresh = |minutes| Session { fresh_at: Some(minutes_before(minutes)), ..predecessor("a:before") };
    let batons = vec![baton("a:other", "other seat", minutes_before(3))];
    let with =
        |before| InheritInput { chain: vec![candidate(before)], batons: batons.clone(), ..situation(&heir) };
    check(&with(fresh(59)), "fresh");
    check(&with(fresh(61)), "baton a:other");
}

#[test]
fn a_baton_whose_session_asked_for_a_fresh_start_since_is_not_taken() {
    let heir = heir(StartedBy::Startup);
    let withdrawn = Baton { is_withdrawn: true, ..baton("a:1", "x", minutes_before(3)) };
    check(&InheritInput { batons: vec![withdrawn], ..situation(&heir) }, "");
}

#[test]
fn the_wish_about_clearing_is_kept_for_pairs_and_for_the_fallback_and_not_for_batons() {
    let check_wish = |on_clear, pair: &str, fallback: &str| {
        let wishes = InheritSettings { on_clear, ..InheritSettings::default() };
        let heir = Session { wishes, ..heir(StartedBy::Clear) };
        let chain = vec![candidate(predecessor("a:before"))];
        check(&InheritInput { chain, ..situation(&heir) }, pair);
        let nearby = vec![candidate(predecessor("a:before"))];
        check(&InheritInput { nearby, ..situation(&heir) }, fallback);
        let batons = vec![baton("a:before", "seat", minutes_before(1))];
        check(&InheritInput { batons, ..situation(&heir) }, "baton a:before");
    };
    check_wish(OnClear::Always, "clear a:before", "fallback a:before");
    check_wish(OnClear::Ask, "asked", "asked");
    check_wish(OnClear::Never, "off", "off");
}

#[test]
fn with_ask_the_decision_names_the_candidates() {
    let wishes = InheritSettings { on_clear: OnClear::Ask, ..InheritSettings::default() };
    let heir = Session { wishes, ..heir(StartedBy::Clear) };
    let chain = vec![candidate(predecessor("a:before"))];
    let decision = decide(&InheritInput { chain, ..situation(&heir) });
    assert_eq!((decision.from, decision.candidates), (None, vec![key("a:before")]));
    assert!(decision.way.is_to_be_given());
}

#[test]
fn tl_12_without_a_pair_the_only_session_that_can_have_been_cleared_is_taken() {
    let heir = heir(StartedBy::Clear);
    let near = |session: Session| InheritInput { nearby: vec![candidate(session)], ..situation(&heir) };
    check(&near(predecessor("a:before")), "fallback a:before");
    let check_not = |session: Session| check(&near(session), "");
    check_not(Session { presence: SessionPresence::Headless, ..predecessor("a:before") });
    check_not(Session { state: SessionState::Working, ..predecessor("a:before") });
    check_not(Session { state: SessionState::Blocked(BlockReason::Permission), ..predecessor("a:before") });
    check_not(Session { last_event_at: minutes_before(61), ..predecessor("a:before") });
    check_not(Session { last_event_at: START.plus_ms(1), ..predecessor("a:before") });
    check_not(Session { inheriting: InheritState::Undecided, ..predecessor("a:before") });
    check_not(predecessor("b:before"));
    check(
        &near(Session { last_event_at: minutes_before(60), ..predecessor("a:before") }),
        "fallback a:before",
    );
    let startup = self::heir(StartedBy::Startup);
    let nearby = vec![candidate(predecessor("a:before"))];
    check(&InheritInput { nearby, ..situation(&startup) }, "");
}

#[test]
fn the_fallback_skips_sessions_that_are_open_elsewhere_or_already_continued() {
    let heir = heir(StartedBy::Clear);
    let elsewhere = Session { seat: Some("other seat".into()), ..predecessor("a:before") };
    let sits = Predecessor { sitting: OpenState::InTerminal, ..candidate(elsewhere.clone()) };
    check(&InheritInput { nearby: vec![sits], ..situation(&heir) }, "");
    let given = Predecessor { heir: Some((key("a:x"), START)), ..candidate(elsewhere) };
    check(&InheritInput { nearby: vec![given], ..situation(&heir) }, "");
}

#[test]
fn the_fallback_prefers_its_own_seat_and_refuses_to_choose_among_others() {
    let heir = heir(StartedBy::Clear);
    let (one, two) = (candidate(predecessor("a:one")), candidate(predecessor("a:two")));
    let several = InheritInput { nearby: vec![one.clone(), two.clone()], ..situation(&heir) };
    check(&several, "ambiguous");
    assert_eq!(decide(&several).candidates, [key("a:one"), key("a:two")]);
    let at = |session: Session| candidate(Session { seat: Some("seat".into()), ..session });
    let early = Session { last_event_at: minutes_before(9), ..predecessor("a:early") };
    let nearby = vec![one, at(early), at(predecessor("a:here")), two];
    check(&InheritInput { nearby, ..situation(&heir) }, "fallback a:here");
}

#[test]
fn tl_12_the_variable_turns_off_the_fallback_and_nothing_else() {
    let wishes = InheritSettings { fallback: Fallback::Off, ..InheritSettings::default() };
    let heir = Session { wishes, ..heir(StartedBy::Clear) };
    let one = || vec![candidate(predecessor("a:before"))];
    check(&InheritInput { nearby: one(), ..situation(&heir) }, "off");
    check(
        &InheritInput {
            nearby: vec![candidate(predecessor("a:1")), candidate(predecessor("a:2"))],
            ..situation(&heir)
        },
        "off",
    );
    check(&InheritInput { chain: one(), ..situation(&heir) }, "clear a:before");
    check(&situation(&heir), "");
}

#[test]
fn a_fresh_start_among_those_nearby_is_a_fresh_start() {
    let heir = heir(StartedBy::Clear);
    let fresh = Session { fresh_at: Some(minutes_before(1)), ..predecessor("a:fresh") };
    let nearby = vec![candidate(predecessor("a:other")), candidate(fresh)];
    check(&InheritInput { nearby, ..situation(&heir) }, "fresh");
}

#[test]
fn headless_sessions_inherit_nothing_and_have_nothing_to_pass_on() {
    let heir = Session { presence: SessionPresence::Headless, ..heir(StartedBy::Clear) };
    let batons = vec![baton("a:before", "seat", minutes_before(1))];
    check(&InheritInput { batons, ..situation(&heir) }, "");
    assert!(!has_work(&heir) && has_work(&predecessor("a:before")));
    assert!(!has_work(&started("a:ghost", StartedBy::Startup, START)), "nothing was asked of it");
}

#[test]
fn tl_16_the_first_thing_that_is_asked_decides_and_nothing_before_it() {
    let mut session = Session { seat: Some("seat".into()), ..started("a:1", StartedBy::Clear, START) };
    let not_deciding = [
        prompt_of(PromptOrigin::Bookmark, None),
        prompt_of(PromptOrigin::Notification, None),
        prompt_of(PromptOrigin::Command, Some(OwnCommand::Baton)),
        prompt_of(PromptOrigin::Command, Some(OwnCommand::Other)),
        EventKind::TurnEnded { background: Some(0), answer: None },
        EventKind::SessionEnded { by: EndedBy::Clear },
    ];
    for happening in not_deciding {
        session = happens(Some(session), "a:1", START, happening);
        assert_eq!(session.inheriting, InheritState::Undecided);
    }
    for origin in [PromptOrigin::Human, PromptOrigin::Command, PromptOrigin::Continuation] {
        let asked = happens(Some(session.clone()), "a:1", START, prompt_of(origin, None));
        assert!(is_time(InheritState::Undecided, &asked));
    }
}

#[test]
fn only_a_session_that_starts_afresh_has_something_to_decide() {
    for by in [StartedBy::Resume, StartedBy::Compact, StartedBy::Fork] {
        assert_eq!(started("a:1", by, START).inheriting, InheritState::Nothing);
    }
    assert_eq!(started("a:1", StartedBy::Unknown, START).inheriting, InheritState::Undecided);
    let worked = predecessor("a:before");
    let again = EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() };
    let again = happens(Some(worked), "a:before", START, again);
    assert_eq!(again.inheriting, InheritState::Settled, "it was decided about before");
}

#[test]
fn a_session_whose_seat_is_not_known_waits_for_one_event_more() {
    let unseated = prompted(started("a:1", StartedBy::Startup, START), START);
    assert!(!is_time(InheritState::Undecided, &unseated));
    assert!(is_time(InheritState::Prompted, &unseated));
    let headless = Session { presence: SessionPresence::Headless, ..unseated.clone() };
    assert!(is_time(InheritState::Undecided, &headless), "it never has one");
    assert!(is_time(InheritState::Prompted, &Session { seat: Some("seat".into()), ..unseated }));
}

#[test]
fn a_person_may_choose_an_older_session_only() {
    let heir = heir(StartedBy::Startup);
    let decision = taken(&heir, &predecessor("b:before")).unwrap();
    assert_eq!(describe(&decision), "taken b:before");
    assert_eq!(taken(&predecessor("b:before"), &heir), None, "so no two can inherit from each other");
}

#[test]
fn every_name_parses_back() {
    assert!(InheritRule::ALL.into_iter().all(|way| InheritRule::named(way.name()) == Some(way)));
    assert!(InheritState::ALL.into_iter().all(|state| InheritState::named(state.name()) == Some(state)));
    assert!(OnClear::ALL.into_iter().all(|wish| OnClear::named(wish.name()) == Some(wish)));
    assert_eq!(
        (InheritRule::named("x"), InheritState::named(""), OnClear::named("maybe"), Fallback::named("1")),
        (None, None, None, None)
    );
}

#[test]
fn tl_11_our_commands_are_told_apart_from_those_with_the_same_prefix() {
    let check = |typed: &str, expected: Option<OwnCommand>| {
        assert_eq!(OwnCommand::parse(typed), expected, "{typed:?}")
    };
    check("tow", Some(OwnCommand::Baton));
    check("tow \n", Some(OwnCommand::Baton));
    check("tow go on tomorrow", Some(OwnCommand::Baton));
    check("tow fresh", Some(OwnCommand::Fresh));
    check("tow\nfresh please", Some(OwnCommand::Fresh));
    check("tow-detail 14:05", Some(OwnCommand::Other));
    for other in ["", " ", "tower", "towfresh", "clear", "to w", "towel fresh"] {
        check(other, None);
    }
}

proptest! {
    /// An heir takes at most one baton, of another session, passed within the hour before the heir started.
    #[test]
    fn a_baton_is_taken_only_by_another_session_within_its_hour(
        passed in proptest::collection::vec((0..3_u8, 0..4_u8, -70..70_i64, any::<bool>()), 0..6),
        came in -70..70_i64,
        by_clear in any::<bool>(),
    ) {
        let heir = heir(if by_clear { StartedBy::Clear } else { StartedBy::Startup });
        let name = |session: u8| ["a:heir", "a:x", "b:y"][usize::from(session)];
        let of = |session: u8, seat: u8, at: Timestamp| match ["seat", "s1", "s2"].get(usize::from(seat)) {
            Some(seat) => baton(name(session), seat, at),
            None => far_baton(name(session), at, minutes_before(came)),
        };
        let batons: Vec<Baton> = passed
            .iter()
            .zip(0_u8..)
            .map(|((session, seat, minutes, is_withdrawn), number)| Baton {
                uid: Uid([number; 16]),
                is_withdrawn: *is_withdrawn,
                ..of(*session, *seat, minutes_before(*minutes))
            })
            .collect();
        let decision = decide(&InheritInput { batons: batons.clone(), ..situation(&heir) });
        prop_assert_eq!(decision.baton.is_some(), decision.way == InheritRule::Baton);
        if let Some(uid) = decision.baton {
            let taken = batons.iter().find(|baton| baton.uid == uid && !baton.is_withdrawn).unwrap();
            prop_assert!(Some(&taken.session) == decision.from.as_ref() && taken.session != heir.key);
            prop_assert!((0..=HOUR_MS).contains(&(START.0 - taken.valid_from().0)));
            prop_assert_eq!(taken.afar.is_some(), decision.machine.is_some());
        }
    }
}

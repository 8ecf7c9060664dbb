//! Which turns go, and what must be so before: on surveys made by hand.

use super::*;
use crate::server::Kind;
use towline_agents::server::{History, Status, Thread};
use towline_core::context::Context;
use towline_core::id::SessionId;

fn turn(number: usize) -> Turn {
    let id = TurnId::parse(&format!("t{number}")).unwrap();
    Turn { id, started_at: Some(Timestamp(number as i64 * 1000)), is_running: false }
}

/// Turns after which the context held so much.
fn surveyed(tokens: &[u64]) -> Survey {
    let turns: Vec<Turn> = (0..tokens.len()).map(turn).collect();
    let thread = Thread {
        id: SessionId::parse("thread").unwrap(),
        path: Some("/s/rollout.jsonl".into()),
        history: History::Paginated,
        status: Status::Idle,
        folder: None,
    };
    Survey {
        server: Kind::Shared,
        thread,
        tokens: turns.iter().map(|turn| turn.id.clone()).zip(tokens.iter().copied()).collect(),
        turns,
        usage: tokens.last().map(|tokens| Context { tokens: *tokens, window: Some(200_000) }),
        strangers: vec![],
        beginnings: std::collections::BTreeMap::new(),
    }
}

#[track_caller]
fn check_cut(tokens: &[u64], keep: Option<usize>, expected: Option<(usize, usize, Option<u64>)>) {
    let found = cut(&surveyed(tokens), keep).map(|cut| (cut.kept, cut.turns, cut.tokens_kept));
    assert_eq!(found, expected, "{tokens:?} {keep:?}");
}

#[test]
fn the_first_turn_stays_only_if_it_is_small() {
    check_cut(&[10_000, 90_000, 180_000], None, Some((1, 2, Some(10_000))));
    check_cut(&[90_000, 180_000], None, Some((0, 2, None)));
    check_cut(&[180_000], None, Some((0, 1, None)));
}

#[test]
fn as_many_turns_stay_as_were_asked_for_and_one_goes_at_least() {
    check_cut(&[10_000, 90_000, 180_000], Some(2), Some((2, 1, Some(90_000))));
    check_cut(&[10_000, 90_000, 180_000], Some(0), Some((0, 3, None)));
    check_cut(&[10_000, 90_000, 180_000], Some(3), None);
    check_cut(&[], None, None);
}

#[track_caller]
fn check_refused(change: impl FnOnce(&mut Survey), expected: &[&str]) {
    let mut survey = surveyed(&[10_000, 180_000]);
    change(&mut survey);
    let failed: Vec<&str> =
        checks(&survey, 50).iter().filter(|check| check.verdict.is_err()).map(|check| check.name).collect();
    assert_eq!(failed, expected);
}

#[test]
fn whatever_is_in_the_way_is_named() {
    check_refused(|_| {}, &[]);
    check_refused(|survey| survey.thread.status = Status::NotLoaded, &[]);
    check_refused(|survey| survey.thread.status = Status::Active, &["idle"]);
    check_refused(|survey| survey.thread.status = Status::Other, &["idle"]);
    check_refused(|survey| survey.turns[1].is_running = true, &["idle"]);
    check_refused(|survey| survey.thread.history = History::Other, &["history"]);
    check_refused(|survey| survey.strangers = vec!["x".into()], &["alone"]);
    check_refused(|survey| survey.turns.clear(), &["thread"]);
    check_refused(|survey| survey.thread.path = None, &["thread"]);
}

#[test]
fn only_the_agents_own_numbers_are_reckoned_with() {
    check_refused(|survey| survey.usage = None, &["usage"]);
    check_refused(|survey| survey.usage = Some(Context { tokens: 190_000, window: None }), &["usage"]);
    check_refused(
        |survey| survey.usage = Some(Context { tokens: 99_999, window: Some(200_000) }),
        &["usage"],
    );
    check_refused(|survey| survey.usage = Some(Context { tokens: 100_000, window: Some(200_000) }), &[]);
}

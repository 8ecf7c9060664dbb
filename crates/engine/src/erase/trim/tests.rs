//! Selection of turns and preconditions, on hand-made surveys.

use super::*;
use crate::handoff::agent_server::Kind;
use towline_agents::server::{HistoryMode, Thread, ThreadStatus};
use towline_core::id::SessionId;
use towline_core::meter::ReportedContext;

fn turn(number: usize) -> ThreadTurn {
    let id = TurnId::parse(&format!("t{number}")).unwrap();
    ThreadTurn { id, started_at: Some(Timestamp(number as i64 * 1000)), is_running: false }
}

/// A survey whose context held these tokens after each turn.
fn surveyed(tokens: &[u64]) -> Survey {
    let turns: Vec<ThreadTurn> = (0..tokens.len()).map(turn).collect();
    let thread = Thread {
        id: SessionId::parse("thread").unwrap(),
        path: Some("/s/rollout.jsonl".into()),
        history: HistoryMode::Paginated,
        status: ThreadStatus::Idle,
        folder: None,
    };
    Survey {
        server: Kind::Shared,
        thread,
        tokens: turns.iter().map(|turn| turn.id.clone()).zip(tokens.iter().copied()).collect(),
        turns,
        usage: tokens.last().map(|tokens| ReportedContext {
            tokens: *tokens,
            window: Some(200_000),
            at: None,
        }),
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
    check_refused(|survey| survey.thread.status = ThreadStatus::NotLoaded, &[]);
    check_refused(|survey| survey.thread.status = ThreadStatus::Active, &["idle"]);
    check_refused(|survey| survey.thread.status = ThreadStatus::Other, &["idle"]);
    check_refused(|survey| survey.turns[1].is_running = true, &["idle"]);
    check_refused(|survey| survey.thread.history = HistoryMode::Other, &["history"]);
    check_refused(|survey| survey.strangers = vec!["x".into()], &["alone"]);
    check_refused(|survey| survey.turns.clear(), &["thread"]);
    check_refused(|survey| survey.thread.path = None, &["thread"]);
}

#[test]
fn only_the_agents_own_numbers_are_reckoned_with() {
    check_refused(|survey| survey.usage = None, &["usage"]);
    check_refused(
        |survey| survey.usage = Some(ReportedContext { tokens: 190_000, window: None, at: None }),
        &["usage"],
    );
    check_refused(
        |survey| survey.usage = Some(ReportedContext { tokens: 99_999, window: Some(200_000), at: None }),
        &["usage"],
    );
    check_refused(
        |survey| survey.usage = Some(ReportedContext { tokens: 100_000, window: Some(200_000), at: None }),
        &[],
    );
}

/// A server that answers some methods and refuses the others; it knows one thread, also after a revert.
fn stand_in(folder: &std::path::Path, revert: &str, inject: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let thread = |path: &str| {
        let path = folder.join(path);
        format!(
            r#"{{\"thread\":{{\"id\":\"thread\",\"path\":\"{}\",\"historyMode\":\"paginated\",\"status\":{{\"type\":\"idle\"}}}}}}"#,
            path.display()
        )
    };
    let turns =
        r#"{\"data\":[{\"id\":\"t0\",\"startedAt\":0},{\"id\":\"t1\",\"startedAt\":1}],\"nextCursor\":null}"#;
    let script = format!(
        r#"#!/bin/sh
n=0
say() {{ echo "{{\"id\":$n,\"result\":$1}}"; }}
refuse() {{ echo "{{\"id\":$n,\"error\":{{\"message\":\"not now\"}}}}"; }}
while read -r line; do
  case "$line" in *'"initialized"'*) continue ;; esac
  n=$((n + 1))
  case "$line" in
    *thread/read*) say "{old}" ;;
    *turns/list*) say "{turns}" ;;
    *thread/revert*) {revert} ;;
    *inject_items*) {inject} ;;
    *) say "{{}}" ;;
  esac
done
"#,
        old = thread("old.jsonl"),
        revert = revert.replace("NEW", &thread("new.jsonl")),
    );
    let path = folder.join("server");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

const REVERTED: &str = r#"{"type":"session_meta","ordinal":4,"payload":{"id":"thread"}}"#;

/// Compares the outcome of both halves, named by a word each.
#[track_caller]
fn check_outcome(revert: &str, inject: &str, new_file: &str, expected: (&str, &str)) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("new.jsonl"), new_file).unwrap();
    let program = stand_in(folder.path(), revert, inject);
    let address =
        towline_agents::server::ServerAddress { socket: folder.path().join("none"), arguments: &[] };
    let env = crate::runtime::env::Env::new().unwrap();
    let mut client = crate::handoff::agent_server::Client::connect(&env, &address, &program).unwrap();
    let mut known = surveyed(&[10_000, 180_000]);
    known.thread.path = Some(folder.path().join("old.jsonl"));
    known.turns = client.turns(&known.thread.id).unwrap();
    known.beginnings.insert(TurnId::parse("t1").unwrap(), 4);
    let cut = cut(&known, Some(1)).unwrap();
    let outcome = carry_out(&mut client, &known, &cut, "the memory");
    let word = |half: &Half| match half {
        Half::Done => "done",
        Half::NotDone { .. } => "not done",
        Half::Unconfirmed { .. } => "not confirmed",
    };
    assert_eq!((word(&outcome.reverted), word(&outcome.injected)), expected, "{outcome:?}");
    assert_eq!(outcome.is_done(), expected == ("done", "done"));
}

#[test]
fn each_half_is_done_only_if_the_file_shows_it() {
    let item = r#"{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"the memory"}]}}"#;
    let both = format!("{REVERTED}\n{item}\n");
    check_outcome(r#"say "NEW""#, r#"say "{}""#, &both, ("done", "done"));
    check_outcome(r#"say "NEW""#, r#"say "{}""#, REVERTED, ("done", "not confirmed"));
    check_outcome(r#"say "NEW""#, r#"say "{}""#, item, ("not confirmed", "done"));
    let later = both.replace("\"ordinal\":4", "\"ordinal\":5");
    check_outcome(r#"say "NEW""#, r#"say "{}""#, &later, ("not confirmed", "done"));
}

#[test]
fn what_was_refused_or_broke_off_is_told_half_by_half() {
    check_outcome("refuse", r#"say "{}""#, "", ("not done", "not done"));
    check_outcome(r#"say "NEW""#, "refuse", REVERTED, ("done", "not done"));
    check_outcome("exit", "refuse", "", ("not confirmed", "not done"));
    check_outcome(r#"say "NEW""#, "exit", REVERTED, ("done", "not done"));
}

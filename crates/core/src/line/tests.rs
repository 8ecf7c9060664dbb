//! Lines of whole turns, and properties that hold for every turn.

use super::*;
use crate::work::PlanChange;
use proptest::prelude::*;
use std::borrow::Cow;

fn ran(command: &str) -> ToolAction<'_> {
    ToolAction::Ran { command: Cow::Borrowed(command) }
}

fn changed<'a>(paths: &[&'a str]) -> ToolAction<'a> {
    ToolAction::Changed { paths: paths.iter().map(|path| Cow::Borrowed(*path)).collect() }
}

/// A turn in which each call's result follows immediately.
fn turn(prompt: &str, calls: &[(ToolAction<'_>, ToolOutcome, &str)]) -> TurnDigest {
    let mut digest = TurnDigest::begin(prompt, PromptOrigin::Human);
    for (call, (deed, outcome, output)) in (0..).zip(calls) {
        digest.add_call(call, deed);
        digest.add_result(call, *outcome, output);
    }
    digest
}

const DONE: ToolOutcome = ToolOutcome::Done;
const FAILED: ToolOutcome = ToolOutcome::Failed;

#[track_caller]
fn check(digest: &TurnDigest, expected: &str) {
    assert_eq!(digest.line(), expected);
}

#[test]
fn a_line_says_what_was_asked_what_was_done_and_how_it_ended() {
    let calls = [
        (ToolAction::Read { path: "/home/dev/p/src/login.rs".into() }, DONE, "fn login"),
        (changed(&["/home/dev/p/src/login.rs"]), DONE, ""),
        (
            ran("cd /home/dev/p && cargo test 2>&1 | tail -20"),
            FAILED,
            "test result: FAILED. 3 passed; 1 failed",
        ),
        (changed(&["/home/dev/p/tests/login.rs"]), DONE, ""),
        (ran("cargo test"), DONE, "test result: ok. 4 passed; 0 failed"),
        (
            ran("git commit -am 'Wait for the token'"),
            DONE,
            "[main 1a2b3c4] Wait for the token\n 2 files changed",
        ),
    ];
    let mut digest = turn("Hi! Fix the flaky login test.", &calls);
    digest.answered("Done.\n\n## Summary\nThe race was in `refresh`: it ran twice.");
    check(
        &digest,
        "Fix the flaky login test — edited src/login.rs, tests/login.rs; ran cargo test ×2 (failed, then 4 passed); \
         committed 1a2b3c4 \"Wait for the token\"; done: \"The race was in refresh: it ran twice\"",
    );
}

#[test]
fn a_turn_without_tool_calls_shows_only_its_answer() {
    let mut digest = TurnDigest::begin("why is the sky blue?", PromptOrigin::Human);
    check(&digest, "why is the sky blue?");
    digest.answered("Because of **Rayleigh** scattering.");
    check(&digest, "why is the sky blue? — done: \"Because of Rayleigh scattering\"");
}

#[test]
fn a_turn_tells_how_it_was_stopped() {
    let mut digest = turn("go on", &[(ran("make"), FAILED, "")]);
    digest.stopped(StopReason::Interrupted);
    check(&digest, "go on — ran make (failed); interrupted");
    digest.answered("Trying again.");
    digest.stopped(StopReason::Limited);
    check(&digest, "go on — ran make (failed); stopped by the usage limit after \"Trying again\"");
    digest.answered("It builds now. Shall I commit it?");
    check(&digest, "go on — ran make (failed); asked: \"Shall I commit it?\"");
}

#[test]
fn text_before_the_last_call_is_not_the_answer() {
    let mut digest = TurnDigest::begin("fix it", PromptOrigin::Human);
    digest.answered("I will look at the tests first.");
    digest.add_call(1, &ran("cargo test"));
    check(&digest, "fix it — ran cargo test; last said: \"I will look at the tests first\"");
}

#[test]
fn a_failed_edit_does_not_count() {
    let mut digest =
        turn("edit", &[(changed(&["a.rs"]), FAILED, "not found"), (changed(&["b.rs"]), DONE, "")]);
    check(&digest, "edit — edited b.rs");
    digest.add_call(7, &changed(&["a.rs"]));
    check(&digest, "edit — edited b.rs, a.rs");
}

#[test]
fn results_come_late_out_of_order_or_never() {
    let mut digest = TurnDigest::begin("both", PromptOrigin::Human);
    digest.add_call(1, &ran("cargo test -p a"));
    digest.add_call(2, &ran("cargo test -p b"));
    digest.add_call(3, &ran("cargo test -p c"));
    digest.add_result(2, FAILED, "");
    digest.add_result(1, DONE, "");
    digest.add_result(9, FAILED, "");
    check(&digest, "both — ran cargo test -p a (passed), cargo test -p b (failed), cargo test -p c");
}

#[test]
fn a_running_command_is_judged_by_its_last_output() {
    let mut digest = TurnDigest::begin("test", PromptOrigin::Human);
    digest.add_call(1, &ran("cargo nextest run"));
    digest.add_result(
        1,
        DONE,
        "Chunk ID: a\nWall time: 10 seconds\nProcess running with session ID 5\nOutput:\n",
    );
    check(&digest, "test — ran cargo nextest run (running)");
    digest.add_call(2, &ToolAction::Waited);
    digest.add_result(2, DONE, "Process exited with code 0\nOutput:\nSummary [ 9s] 9 tests run: 9 passed");
    check(&digest, "test — ran cargo nextest run (9 passed)");
}

#[test]
fn tests_that_failed_behind_a_pipe_failed() {
    let digest =
        turn("test", &[(ran("cargo test 2>&1 | tail -3"), DONE, "test result: FAILED. 3 passed; 1 failed")]);
    check(&digest, "test — ran cargo test (failed)");
}

#[test]
fn the_most_informative_parts_survive_a_long_turn() {
    let mut digest = TurnDigest::begin("a long one", PromptOrigin::Human);
    for call in 0..5_000 {
        let (look, path) = (format!("ls dir{call}"), format!("/p/src/file{call}.rs"));
        digest.add_call(call * 4, &ran(&look));
        digest.add_call(call * 4 + 1, &changed(&[path.as_str()]));
        digest.add_call(call * 4 + 2, &ToolAction::Searched { what: look.as_str().into() });
        digest.add_call(call * 4 + 3, &ToolAction::Other);
        if call == 77 {
            digest.add_call(99_999, &ran("cargo test"));
            digest.add_result(99_999, FAILED, "");
        }
    }
    digest.answered("All of it is done, as far as I can see from here.");
    check(
        &digest,
        "a long one — edited src/file0.rs, src/file1.rs, src/file2.rs, src/file3.rs and over 40 more; \
         ran cargo test (failed); searched \"ls dir0\" +4999; used 5000 other tools; \
         done: \"All of it is done, as far as I can see from here\"",
    );
}

#[test]
fn a_turn_that_only_reads_shows_its_commands() {
    let digest = turn(
        "look",
        &[(ran("ls src"), DONE, ""), (ran("rg -n foo | head"), DONE, ""), (ran("ls src"), DONE, "")],
    );
    check(&digest, "look — ran ls src ×2, rg -n foo");
}

#[test]
fn each_part_survives_where_all_are_long() {
    let long = "Make the parser accept every kind of trailing comma that people write in lists, maps and calls, and say so. ";
    let paths =
        ["a/first_long_name.rs", "b/second_long_name.rs", "c/third_long_name.rs", "d/fourth_long_name.rs"];
    let mut digest = turn(
        &long.repeat(5),
        &[(changed(&paths), DONE, ""), (ran("cargo nextest run --workspace --all-features"), DONE, "")],
    );
    digest.answered(&long.repeat(5).replace("Make", "I made"));
    check(
        &digest,
        "Make the parser accept every kind of trailing comma that people write in lists, maps and calls, and… — \
         edited a/first_long_name.rs, b/second_long_name.rs, c/third_long_name.rs +1; \
         ran cargo nextest run --workspace… (passed); \
         done: \"I made the parser accept every kind of trailing comma that people…\"",
    );
}

/// Fills every field of a digest to its limit.
#[test]
fn the_fullest_digest_stays_small() {
    let (long, mut digest) =
        ("\"漢\\字 ".repeat(100), TurnDigest::begin(&"\"漢\\字 ".repeat(100), PromptOrigin::Human));
    let results = format!("test result: ok. 99999999 passed; 99999999 failed\n[m 0123456789abcdef] {long}");
    for call in 0..120_u64 {
        let text = format!("{call}{long}");
        let tests = format!("cargo test {call}{long}");
        let paths: Vec<String> = (0..9).map(|path| format!("/{path}{text}/{text}")).collect();
        for (part, deed) in (0..).zip([
            ran(&tests),
            ToolAction::Read { path: text.as_str().into() },
            ToolAction::Searched { what: text.as_str().into() },
            ToolAction::Fetched { address: text.as_str().into() },
            ToolAction::Delegated { task: text.as_str().into() },
            ToolAction::Asked { question: text.as_str().into() },
            ToolAction::Other,
            ran("git commit"),
        ]) {
            let id = u64::MAX - call * 10 - part;
            digest.add_call(id, &deed);
            if call % 2 == 0 || part == 7 {
                digest.add_result(id, DONE, &results);
            }
        }
        digest.add_call(
            u64::MAX - call * 10 - 9,
            &changed(&paths.iter().map(String::as_str).collect::<Vec<_>>()),
        );
    }
    digest.answered(&long);
    digest.stopped(StopReason::Interrupted);
    let json = serde_json::to_string(&digest).unwrap();
    assert!(json.len() < 2_048, "{} {json}", json.len());
    assert!(digest.line().chars().count() <= LONGEST);
}

#[test]
fn other_origins_have_their_own_text() {
    check(&TurnDigest::begin("·", PromptOrigin::Bookmark), "bookmark");
    check(&TurnDigest::begin("/greet the cook", PromptOrigin::Command), "/greet the cook");
    check(&TurnDigest::begin("\u{1b}[2J\n", PromptOrigin::Human), "no words");
}

#[derive(Clone, Debug)]
enum Step {
    Did(u64, ToolAction<'static>),
    CameOf(u64, ToolOutcome, String),
    Answered(String),
    Stopped(StopReason),
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,40}",
        "(\\PC|[\n\t\"\\\\\u{1b}\u{202e}]){0,600}",
        "[\"\\\\]{0,400}",
        "[漢字かな。！🚀\u{200d}👩]{0,300}",
        Just("a".repeat(9_000)),
    ]
}

fn any_deed() -> impl Strategy<Value = ToolAction<'static>> {
    let command = prop_oneof![
        any_text(),
        "(cargo test|git commit|ls) [a-z/\"\\\\]{0,60}",
        "[a-z'\"|&;<>(){}$ \n]{0,60}"
    ];
    prop_oneof![
        any_text().prop_map(|path| ToolAction::Read { path: path.into() }),
        proptest::collection::vec(any_text(), 0..6)
            .prop_map(|paths| ToolAction::Changed { paths: paths.into_iter().map(Cow::Owned).collect() }),
        command.prop_map(|command| ToolAction::Ran { command: command.into() }),
        any_text().prop_map(|what| ToolAction::Searched { what: what.into() }),
        any_text().prop_map(|address| ToolAction::Fetched { address: address.into() }),
        any_text().prop_map(|task| ToolAction::Delegated { task: task.into() }),
        any_text().prop_map(|question| ToolAction::Asked { question: question.into() }),
        prop_oneof![
            Just(ToolAction::Planned(PlanChange::None)),
            Just(ToolAction::Other),
            Just(ToolAction::Waited)
        ],
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![Just(DONE), Just(FAILED), Just(ToolOutcome::Interrupted)];
    let output = prop_oneof![
        any_text(),
        "\\[main [0-9a-f]{7}\\] .{0,90}",
        "test result: ok\\. [0-9]{1,12} passed; [0-9] failed",
        Just("Process running with session ID 5".to_owned()),
    ];
    let stop =
        prop_oneof![Just(StopReason::Interrupted), Just(StopReason::Failed), Just(StopReason::Limited)];
    prop_oneof![
        4 => (any::<u64>().prop_map(|call| call % 6), any_deed()).prop_map(|(call, deed)| Step::Did(call, deed)),
        3 => (any::<u64>().prop_map(|call| call % 6), outcome, output)
            .prop_map(|(call, outcome, output)| Step::CameOf(call, outcome, output)),
        1 => any_text().prop_map(Step::Answered),
        1 => stop.prop_map(Step::Stopped),
    ]
}

fn apply(digest: &mut TurnDigest, step: &Step) {
    match step {
        Step::Did(call, deed) => digest.add_call(call.wrapping_mul(0x9e37_79b9_7f4a_7c15), deed),
        Step::CameOf(call, outcome, output) => {
            digest.add_result(call.wrapping_mul(0x9e37_79b9_7f4a_7c15), *outcome, output);
        }
        Step::Answered(text) => digest.answered(text),
        Step::Stopped(how) => digest.stopped(*how),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_turn_has_one_bounded_line_and_a_bounded_state(
        prompt in any_text(),
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let mut digest = TurnDigest::begin(&prompt, PromptOrigin::Human);
        for step in &steps {
            apply(&mut digest, step);
        }
        let (line, json) = (digest.line(), serde_json::to_string(&digest).unwrap());
        prop_assert!(line.chars().count() <= LONGEST, "{line}");
        prop_assert!(!line.trim().is_empty() && !line.chars().any(|c| c.is_control() || c == '\u{2028}'), "{line:?}");
        prop_assert!(json.len() <= 2_048, "{} {json}", json.len());
    }

    #[test]
    fn a_turn_that_is_read_in_pieces_has_the_same_line(
        prompt in any_text(),
        steps in proptest::collection::vec(any_step(), 0..30),
    ) {
        let mut whole = TurnDigest::begin(&prompt, PromptOrigin::Human);
        let mut pieces = whole.clone();
        for step in &steps {
            apply(&mut whole, step);
            apply(&mut pieces, step);
            pieces = serde_json::from_str(&serde_json::to_string(&pieces).unwrap()).unwrap();
        }
        prop_assert_eq!(&whole, &pieces);
        prop_assert_eq!(whole.line(), pieces.line());
    }
}

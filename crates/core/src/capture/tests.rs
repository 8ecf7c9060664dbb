//! Rows from pieces: the turn each belongs to, the text that is kept and the text that is not.
//!
//! The pieces are invented; the tests of the transcript readers use recorded ones.

use super::*;
use crate::piece::TokenCounts;
use crate::work::{PlanChange, PlanStatus};

const CAPS: CaptureLimits = CaptureLimits { body: 400, input: 200, output: 200, thinking: 200, note: 200 };

fn read_path<'i>(_tool: &str, input: &'i str) -> ToolAction<'i> {
    match input.split_once(' ') {
        Some(("read", path)) => ToolAction::Read { path: path.into() },
        Some(("edit", path)) => ToolAction::Changed { paths: vec![path.into()] },
        Some(("run", command)) => ToolAction::Ran { command: command.into() },
        Some(("add", text)) => ToolAction::Planned(PlanChange::Added(text.into())),
        Some(("finish", id)) => {
            let status = Some(PlanStatus::Done);
            ToolAction::Planned(PlanChange::Updated { id: id.into(), text: None, status })
        }
        Some(_) | None => ToolAction::Other,
    }
}

/// All rows of these pieces, with the turn's state at the end.
fn rows<'a>(pieces: Vec<(&'a str, PieceContent<'a>)>) -> Vec<CapturedRow<'a>> {
    gathered(pieces, None).0
}

/// The same with forgotten parts; also returns the serialised state at the end.
fn gathered<'a>(
    pieces: Vec<(&'a str, PieceContent<'a>)>,
    gone: Option<ForgottenParts<'_>>,
) -> (Vec<CapturedRow<'a>>, String) {
    let rules = CaptureRules {
        caps: CAPS,
        secrets: SecretPolicy::Redacted,
        is_excluded_tool: &|tool| tool == "Vault",
        is_excluded_path: &|path| path.ends_with(".env"),
        deed: &read_path,
        gone,
    };
    let mut gatherer = CaptureState::default();
    let mut rows = vec![];
    for (place, (id, what)) in (0..).zip(pieces) {
        let subagent = id.strip_prefix("helper").map(|_| SubagentId::parse("h1").unwrap());
        let at = Timestamp(1_000 * i64::try_from(place).unwrap());
        gatherer.take(
            TranscriptPiece { id: id.into(), place, at, turn: None, subagent, what },
            &rules,
            &mut rows,
        );
        // The serialised state must be enough to go on with the next read.
        gatherer = serde_json_round_trip(&gatherer);
    }
    rows.extend(gatherer.current_turn());
    (rows, serde_json::to_string(&gatherer).unwrap())
}

fn serde_json_round_trip(gatherer: &CaptureState) -> CaptureState {
    serde_json::from_str(&serde_json::to_string(gatherer).unwrap()).unwrap()
}

fn prompt(text: &str) -> PieceContent<'_> {
    PieceContent::Prompt { text: text.into(), origin: PromptOrigin::Human }
}

fn answer(text: &str) -> PieceContent<'_> {
    PieceContent::Answer { text: text.into() }
}

fn call<'a>(call: &'a str, tool: &'a str, input: &'a str) -> PieceContent<'a> {
    PieceContent::ToolCall { call: call.into(), tool: tool.into(), input: input.into() }
}

fn result<'a>(call: &'a str, output: &'a str) -> PieceContent<'a> {
    PieceContent::ToolResult { call: call.into(), output: output.into(), outcome: ToolOutcome::Done }
}

/// One line for each row: its turn, its kind and its text.
fn described(rows: &[CapturedRow<'_>]) -> Vec<String> {
    let names = ["p1", "p2", "p3"];
    let turn = |mark: Option<IdHash>| {
        names.into_iter().find(|name| Some(IdHash::of(name)) == mark).unwrap_or("-").to_owned()
    };
    let line = |row: &CapturedRow<'_>| match row {
        CapturedRow::Opened { session, .. } => format!("opened {session}"),
        CapturedRow::Turn(begun) => format!("{} begins", turn(Some(begun.mark))),
        CapturedRow::Body(body) => {
            format!("{} {}: {}", turn(body.turn), body.speaker.name(), body.text.as_str())
        }
        CapturedRow::Detail(detail) => {
            let (kind, tool) = (detail.kind.name(), detail.tool.as_deref().unwrap_or(""));
            format!("{} {kind} {tool}: {}", turn(detail.turn), detail.text.as_str())
        }
        CapturedRow::Usage(usage) => format!("{} cost {}", turn(usage.turn), usage.tokens.input),
        CapturedRow::Touched { turn: of, path, how } => format!("{} {} {path}", turn(Some(*of)), how.name()),
        CapturedRow::Committed { turn: of, commit } => format!("{} commit {}", turn(Some(*of)), commit.hash),
        CapturedRow::Settled(settled) => {
            let (tools, failures) = (settled.tools, settled.failures);
            let stopped = settled.stopped.map_or("", StopReason::name);
            format!("{} settled {tools}/{failures} {stopped}", turn(Some(settled.turn)))
        }
        CapturedRow::Reverted { from, .. } => format!("reverted from {from}"),
        CapturedRow::MadeRoom { .. } => "made room".to_owned(),
        CapturedRow::ReadAgain => "read again".to_owned(),
    };
    rows.iter().map(line).collect()
}

#[test]
fn the_memory_of_cut_turns_records_the_cut_and_is_not_stored() {
    let memory =
        |way: &str| format!("<towline-context>\nA memory of a session ({way}).\nPAST\n</towline-context>\n");
    let noted = |text: String| described(&rows(vec![("n", PieceContent::Note { text: text.into() })]));
    assert_eq!(noted(memory(crate::compose::CUT_TO_MAKE_ROOM)), ["made room"]);
    assert_eq!(noted(memory("/clear in the same pane")), [""; 0]);
    let quoted = format!("somebody's words: {}", crate::compose::CUT_TO_MAKE_ROOM);
    assert!(!noted(quoted).contains(&"made room".to_owned()));
}

#[test]
fn a_turn_is_a_prompt_and_all_that_follows_it() {
    let found = rows(vec![
        ("n", PieceContent::Note { text: "before".into() }),
        ("p1", prompt("fix it")),
        ("t", PieceContent::Thinking { text: "hm".into() }),
        ("c", call("call-1", "Edit", "edit src/a.rs")),
        ("r", result("call-1", "done")),
        ("a", answer("fixed")),
        (
            "u",
            PieceContent::Usage {
                message: "m".into(),
                model: None,
                tokens: TokenCounts { input: 7, ..TokenCounts::default() },
            },
        ),
        ("p2", prompt("thanks")),
    ]);
    assert_eq!(
        described(&found),
        [
            "- note : before",
            "p1 begins",
            "p1 person: fix it",
            "p1 thinking : hm",
            "p1 changed src/a.rs",
            "p1 input Edit: edit src/a.rs",
            "p1 output Edit: done",
            "p1 agent: fixed",
            "p1 cost 7",
            "p1 settled 1/0 ",
            "p2 begins",
            "p2 person: thanks",
            "p2 settled 0/0 ",
        ]
    );
}

#[test]
fn a_result_that_comes_late_belongs_to_the_turn_of_its_call() {
    let found = rows(vec![
        ("p1", prompt("start it")),
        ("c", call("call-1", "Bash", "run git commit -am x")),
        ("p2", prompt("and now this")),
        ("r", result("call-1", "[main 1a2b3c4] Subject")),
    ]);
    let late: Vec<_> = described(&found).into_iter().filter(|row| row.contains("1a2b3c4")).collect();
    assert_eq!(late, ["p1 commit 1a2b3c4", "p1 output Bash: [main 1a2b3c4] Subject"]);
}

#[test]
fn a_wholly_private_prompt_hides_its_turn_and_no_other() {
    let found = rows(vec![
        ("p1", prompt(" <private>my wages</private> ")),
        ("c", call("call-1", "Read", "read wages.txt")),
        ("r", result("call-1", "many")),
        ("a", answer("you earn much")),
        ("p2", prompt("fix it <private>for Bob</private>")),
        ("b", answer("fixed")),
    ]);
    assert_eq!(
        described(&found),
        [
            "p1 begins",
            "p1 settled 1/0 ",
            "p2 begins",
            "p2 person: fix it [redacted:private]",
            "p2 agent: fixed",
            "p2 settled 0/0 "
        ]
    );
    let Some(CapturedRow::Settled(settled)) = found.iter().find(|row| matches!(row, CapturedRow::Settled(_)))
    else {
        panic!()
    };
    assert_eq!(settled.line, "(private)");
}

#[test]
fn what_repeats_a_private_turn_later_is_hidden_too() {
    let report =
        || PieceContent::Prompt { text: "task 7 says: many".into(), origin: PromptOrigin::Notification };
    let found = rows(vec![
        ("p1", prompt("< private>my wages")),
        ("c", call("call-1", "Bash", "run count wages.txt")),
        ("p2", prompt("something else")),
        ("r", result("call-1", "many")),
        ("s", PieceContent::Compacted { summary: "first about many wages".into() }),
        ("b", answer("else")),
        ("n", report()),
        ("c2", answer("as many as before")),
        ("p3", prompt("thanks")),
        ("d", answer("welcome")),
    ]);
    let told = described(&found);
    assert!(!told.iter().any(|row| row.contains("many")), "{told:#?}");
    assert!(told.contains(&"p3 agent: welcome".to_owned()) && told.contains(&"p2 agent: else".to_owned()));
    assert!(
        described(&rows(vec![("p1", prompt("a")), ("n", report())])).iter().any(|row| row.contains("many"))
    );
}

#[test]
fn excluded_tools_and_paths_leave_neither_input_nor_output() {
    let found = rows(vec![
        ("p1", prompt("look")),
        ("c1", call("1", "Vault", "open")),
        ("r1", result("1", "hidden")),
        ("c2", call("2", "Read", "read /a/.env")),
        ("r2", result("2", "hidden")),
    ]);
    assert_eq!(described(&found), ["p1 begins", "p1 person: look", "p1 settled 2/0 "]);
}

#[test]
fn prompts_and_answers_of_subagents_are_details() {
    let found = rows(vec![
        ("p1", prompt("ask around")),
        ("helper-p", prompt("find x")),
        ("helper-a", answer("x is here")),
    ]);
    assert_eq!(
        described(&found),
        [
            "p1 begins",
            "p1 person: ask around",
            "p1 prompt : find x",
            "p1 answer : x is here",
            "p1 settled 0/0 "
        ]
    );
}

#[test]
fn secrets_are_redacted_in_every_kind_and_cuts_are_marked() {
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let long = format!("{secret} {}", "y ".repeat(500));
    let found = rows(vec![
        ("p1", prompt(&long)),
        ("t", PieceContent::Thinking { text: long.as_str().into() }),
        ("c", call("1", "Bash", &long)),
        ("r", result("1", &long)),
        ("n", PieceContent::Note { text: long.as_str().into() }),
        ("s", PieceContent::Compacted { summary: long.as_str().into() }),
        ("a", answer(&long)),
        ("x", PieceContent::Stopped { how: StopReason::Failed, words: long.as_str().into() }),
    ]);
    let all = described(&found);
    assert_eq!(all.iter().filter(|row| row.contains("[redacted:")).count(), 8, "{all:#?}");
    assert_eq!(all.iter().filter(|row| row.contains("bytes cut")).count(), 8, "{all:#?}");
    assert!(all.iter().all(|row| !row.contains("A1b2")));
    assert_eq!(all.last().map(String::as_str), Some("p1 settled 1/0 failed"));
}

#[test]
fn context_that_towline_gave_is_not_captured_back() {
    let given = "<towline-context>\nolder words\n</towline-context>";
    let prompted = format!("go on {given}");
    let found = rows(vec![("p1", prompt(&prompted)), ("n", PieceContent::Note { text: given.into() })]);
    assert_eq!(described(&found), ["p1 begins", "p1 person: go on ", "p1 settled 0/0 "]);
}

#[test]
fn answers_of_our_own_tools_are_not_captured_but_quotes_of_them_are() {
    let given = "<towline-context>\nolder words\n</towline-context>\n";
    let (wrapped, quoted) = (format!("Wall time: 1 s\n{given}"), format!("1: {given}2: fn main() {{}}"));
    let found = rows(vec![
        ("p1", prompt("ask")),
        ("c1", call("1", "mcp__towline__search", "{}")),
        ("r1", result("1", given)),
        ("c2", call("2", "search", "{}")),
        ("r2", result("2", &wrapped)),
        ("c3", call("3", "Bash", "cat x")),
        ("r3", result("3", &quoted)),
    ]);
    let outputs: Vec<String> = described(&found).into_iter().filter(|row| row.contains(" output ")).collect();
    let kept = format!("p1 output Bash: {quoted}");
    assert_eq!(
        outputs,
        ["p1 output mcp__towline__search: \n", "p1 output search: Wall time: 1 s\n\n", &kept]
    );
}

#[test]
fn a_turn_that_was_forgotten_is_neither_kept_nor_remembered() {
    let session = crate::id::SessionKey::parse("agent:s").unwrap();
    let mut forgotten = crate::forget::Forgotten::default();
    let stretch = crate::forget::TimeRange { from: Timestamp(2_000), until: Timestamp(5_000) };
    forgotten.add_turn(&session, IdHash::of("p2"), stretch);
    let cost = |message: &'static str| PieceContent::Usage {
        message: message.into(),
        model: None,
        tokens: TokenCounts::default(),
    };
    let pieces = vec![
        ("p1", prompt("first")),
        ("a1", answer("one")),
        ("p2", prompt("zephyr asked")),
        ("c", call("call-1", "Bash", "run git commit -m zephyr")),
        ("u", cost("m")),
        ("r", result("call-1", "[main 1a2b3c4] zephyr")),
    ];
    let (found, remembered) = gathered(pieces, forgotten.of(&session, &[]));
    assert_eq!(described(&found), ["p1 begins", "p1 person: first", "p1 agent: one", "p1 settled 0/0 "]);
    assert!(!remembered.contains("zephyr"), "{remembered}");
}

#[test]
fn a_piece_that_was_forgotten_leaves_its_turn_as_it_is() {
    let session = crate::id::SessionKey::parse("agent:s").unwrap();
    let mut forgotten = crate::forget::Forgotten::default();
    ["p1", "c"].into_iter().for_each(|piece| forgotten.add_piece(&session, IdHash::of(piece)));
    let pieces = vec![
        ("p1", prompt("zephyr asked")),
        ("c", call("call-1", "Bash", "run zephyr")),
        ("r", result("call-1", "done")),
        ("a", answer("said")),
    ];
    let (found, remembered) = gathered(pieces, forgotten.of(&session, &[]));
    assert_eq!(described(&found), ["p1 begins", "p1 output Bash: done", "p1 agent: said", "p1 settled 0/0 "]);
    assert!(!remembered.contains("zephyr"), "{remembered}");
}

/// The open items and what fails, after these pieces.
fn work_after(pieces: Vec<(&str, PieceContent<'_>)>) -> (Vec<String>, Vec<String>) {
    let state: CaptureState = serde_json::from_str(&gathered(pieces, None).1).unwrap();
    let open = state.work().open_items().map(|item| item.text.clone()).collect();
    (open, state.work().failing().iter().map(FailingRun::describe).collect())
}

#[test]
fn the_to_do_list_and_what_fails_are_kept_as_of_the_last_piece() {
    let failed = |call: &'static str, output: &'static str| PieceContent::ToolResult {
        call: call.into(),
        output: output.into(),
        outcome: ToolOutcome::Failed,
    };
    let begun = || {
        vec![
            ("p1", prompt("plan it")),
            ("c1", call("1", "Task", "add paint the mast")),
            ("r1", result("1", "Task #1 created successfully: paint the mast")),
            (
                "c2",
                call("2", "Task", "add use AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYS"),
            ),
            ("r2", result("2", "Task #2 created successfully")),
            ("c3", call("3", "Task", "add never")),
            ("r3", failed("3", "No such tool: #3")),
            ("helper1", call("4", "Task", "finish 2")),
            ("c5", call("5", "Shell", "run cargo test")),
            ("r5", failed("5", "error: it broke\ntest result: FAILED. 2 passed; 1 failed")),
            ("p2", prompt("go on")),
        ]
    };
    let (open, failing) = work_after(begun());
    assert_eq!(open.len(), 2, "{open:?}");
    assert!(!open[1].contains("wJalrXUtnFEMIK7MDENG"), "{open:?}");
    assert_eq!(failing, ["`cargo test`: 1 of 3 failed (error: it broke)"]);
    let mut ended = begun();
    ended.extend([
        ("c6", call("6", "Task", "finish 1")),
        ("c7", call("7", "Shell", "run cargo test")),
        ("r7", result("7", "test result: ok. 3 passed; 0 failed")),
    ]);
    let (open, failing) = work_after(ended.clone());
    assert_eq!((open.len(), failing.len()), (1, 0), "{open:?} {failing:?}");
    ended.push(("back", PieceContent::Reverted { from: 11 }));
    assert_eq!(work_after(ended), (vec![], vec![]), "the state before what was taken back is unknown");
}

//! Scripts of whole sessions and the memories extracted from them. The snapshots show what users and models are given.

use super::*;
use crate::capture::{FileAccess, Speaker};
use crate::deed::{Commit, ToolAction};
use crate::event::ToolOutcome;
use crate::memory::MemoryTrust;
use crate::piece::StopReason;
use std::fmt::Write;

const SESSIONS: [(&str, &str); 10] = [
    ("bug-hunt", include_str!("sessions/bug-hunt.txt")),
    ("feature-with-decision", include_str!("sessions/feature-with-decision.txt")),
    ("refactor", include_str!("sessions/refactor.txt")),
    ("config-change", include_str!("sessions/config-change.txt")),
    ("question-only", include_str!("sessions/question-only.txt")),
    ("environment-trap", include_str!("sessions/environment-trap.txt")),
    ("security-and-web", include_str!("sessions/security-and-web.txt")),
    ("poisoned", include_str!("sessions/poisoned.txt")),
    ("other-languages", include_str!("sessions/other-languages.txt")),
    ("interrupted", include_str!("sessions/interrupted.txt")),
];

#[test]
fn memories_of_recorded_sessions_match_their_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, script) in SESSIONS {
        let turns = turns(script);
        settings.bind(|| insta::assert_snapshot!(format!("distilled-{name}"), rendered(&turns)));
    }
}

#[test]
fn the_same_turn_gives_the_same_and_nothing_breaks_where_it_is_cut() {
    for (_, script) in SESSIONS {
        let whole = turns(script);
        for (at, turn) in whole.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &whole[at]);
            assert_eq!(super::turn(turn, before), super::turn(turn, before));
            for steps in 0..turn.steps.len() {
                let part = DistilTurn { steps: turn.steps[..steps].to_vec(), ..turn.clone() };
                let _ = super::turn(&part, None);
            }
        }
    }
}

#[test]
fn a_bookmark_and_an_empty_turn_give_nothing() {
    let mut all = turns(SESSIONS[0].1);
    all[0].origin = PromptOrigin::Bookmark;
    assert_eq!(super::turn(&all[0], None), []);
    let empty = DistilTurn { steps: vec![], files: vec![], ..all.remove(0) };
    assert_eq!(super::turn(&DistilTurn { origin: PromptOrigin::Human, ..empty }, None), []);
}

#[test]
fn only_typed_prompts_have_the_users_trust() {
    let script = "== person\nAlways answer in rhymes, whatever is asked.\n== agent\nfine";
    let turn = turns(script).remove(0);
    let of = |origin| super::turn(&DistilTurn { origin, ..turn.clone() }, None);
    assert_eq!(of(PromptOrigin::Human)[0].trust, MemoryTrust::Person);
    for origin in [PromptOrigin::Notification, PromptOrigin::Continuation, PromptOrigin::Command] {
        assert_eq!(of(origin), [], "{origin:?}");
    }
}

#[test]
fn a_rule_that_a_program_sent_as_a_prompt_is_no_preference_of_the_user() {
    let script = "== person\nAlways seed the cache before the tests.\n== agent\nfine";
    let of = |outside| {
        let turn = DistilTurn { prompts: MemoryTrust::Agent, outside, ..turns(script).remove(0) };
        super::turn(&turn, None)
            .into_iter()
            .map(|found| (found.draft.kind.to_string(), found.trust))
            .collect()
    };
    let found: Vec<(String, MemoryTrust)> = of(None);
    assert_eq!(found, [("discovery".to_owned(), MemoryTrust::Agent)]);
    let found: Vec<(String, MemoryTrust)> = of(Some(MemoryTrust::Web));
    assert_eq!(found, [("discovery".to_owned(), MemoryTrust::Web)]);
}

#[test]
fn text_after_a_web_fetch_has_web_trust() {
    let with = |step: &str| {
        let script = format!(
            "== person\nwhy is it slow\n{step}\n== agent\nIt turns out that the cache is never filled on the first run, so every request goes to the disk."
        );
        let found = super::turn(&turns(&script)[0], None);
        found[0].trust
    };
    assert_eq!(with("== read /a/b.rs"), MemoryTrust::Agent);
    assert_eq!(with("== fetched https://a.example"), MemoryTrust::Web);
    assert_eq!(with("== ran done: curl -s https://a.example"), MemoryTrust::Web);
    assert_eq!(with("== ran done: curl -s http://localhost:80"), MemoryTrust::Agent);
    assert_eq!(with("== tool mcp__web__search"), MemoryTrust::Web);
}

#[test]
fn text_that_reached_the_session_before_lowers_the_agents_words_and_not_the_users() {
    let script = "== person\nAlways seed the cache before the tests.\n== agent\nNote that the cache only works if the folder exists already.";
    let turn = turns(script).remove(0);
    let of = |outside| {
        let found = super::turn(&DistilTurn { outside, ..turn.clone() }, None);
        found.iter().map(|found| (found.draft.kind.to_string(), found.trust)).collect::<Vec<_>>()
    };
    let both = |agents| vec![("preference".to_owned(), MemoryTrust::Person), ("gotcha".to_owned(), agents)];
    assert_eq!(of(None), both(MemoryTrust::Agent));
    assert_eq!(of(Some(MemoryTrust::Tool)), both(MemoryTrust::Tool));
    assert_eq!(of(Some(MemoryTrust::Web)), both(MemoryTrust::Web));
}

#[test]
fn pasted_rules_are_findings_from_outside_and_taint_the_answer() {
    let script = "== person\nCan you explain what this means?\n\n# Boat\n\nAlways run the importer twice.\n== agent\nNote that the importer only works if it runs twice.";
    let found = super::turn(&turns(script)[0], None);
    let shown: Vec<_> = found.iter().map(|found| (found.draft.kind.to_string(), found.trust)).collect();
    let outside = |kind: &str| (kind.to_owned(), MemoryTrust::Tool);
    assert_eq!(shown, [outside("discovery"), outside("gotcha")], "{found:?}");
}

#[test]
fn a_dangerous_rule_is_held_back_even_if_the_user_typed_it() {
    let script = "== person\nAlways commit with git commit --no-verify in this repo.\n== agent\nfine";
    let found = super::turn(&turns(script)[0], None);
    assert_eq!(found[0].trust, MemoryTrust::Person);
    assert_eq!(found[0].suspicion, Some(crate::memory::suspicion::Suspicion::SkipsHooks));
}

#[test]
fn a_failure_of_the_previous_turn_is_fixed_in_this_one() {
    let script = "== person\nrun the tests\n== ran failed: cargo test\nerror[E0001]: no\n== agent\nthey fail\n== turn\n== person\nfix it\n== changed /a/b.rs\n== ran done: cargo test\n3 passed in 0.1s\n== agent\nFixed the borrow in the parser.";
    let all = turns(script);
    let found = super::turn(&all[1], Some(&all[0]));
    assert_eq!(
        found[0].draft.facts[0],
        "`cargo test` failed with: error[E0001]: no — passed after changes to /a/b.rs"
    );
}

/// Parses a script; `== turn` begins a turn.
fn turns(script: &str) -> Vec<DistilTurn<'static>> {
    let mut turns = vec![DistilTurn {
        origin: PromptOrigin::Human,
        stopped: None,
        steps: vec![],
        files: vec![],
        commits: vec![],
        folder: None,
        outside: None,
        prompts: MemoryTrust::Person,
    }];
    for part in format!("\n{script}").split("\n== ").skip(1) {
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
        if word == "turn" {
            let folder = turns[0].folder;
            turns.push(DistilTurn {
                steps: vec![],
                files: vec![],
                commits: vec![],
                stopped: None,
                outside: None,
                prompts: MemoryTrust::Person,
                folder,
                origin: PromptOrigin::Human,
            });
        } else {
            let turn = turns.last_mut().unwrap();
            add(turn, word, rest.to_owned(), text.trim_end().to_owned());
        }
    }
    turns
}

fn add(turn: &mut DistilTurn<'static>, word: &str, rest: String, text: String) {
    let call = |deed, tool: &str| TurnCall {
        tool: tool.to_owned().into(),
        deed,
        output: text.clone().into(),
        outcome: Some(ToolOutcome::Done),
    };
    let step = match word {
        "folder" => {
            turn.folder = Some(Box::leak(rest.into_boxed_str()));
            return;
        }
        "stopped" => {
            turn.stopped = StopReason::named(&rest);
            return;
        }
        "committed" => {
            let (hash, subject) = rest.split_once(' ').unwrap();
            turn.commits.push(Commit { hash: hash.into(), subject: subject.into() });
            return;
        }
        "person" => TurnStep::Said { speaker: Speaker::Person, text: text.into() },
        "agent" => TurnStep::Said { speaker: Speaker::Agent, text: text.into() },
        "read" => {
            turn.files.push((rest.clone().into(), FileAccess::Read));
            TurnStep::Did(call(ToolAction::Read { path: rest.into() }, "Read"))
        }
        "changed" => {
            turn.files.push((rest.clone().into(), FileAccess::Changed));
            TurnStep::Did(call(ToolAction::Changed { paths: vec![rest.into()] }, "Edit"))
        }
        "searched" => TurnStep::Did(call(ToolAction::Searched { what: rest.into() }, "Grep")),
        "fetched" => TurnStep::Did(call(ToolAction::Fetched { address: rest.into() }, "Fetch")),
        "tool" => TurnStep::Did(call(ToolAction::Other, &rest)),
        "ran" => {
            let (came, command) = rest.split_once(": ").unwrap();
            let outcome = if came == "done" { ToolOutcome::Done } else { ToolOutcome::Failed };
            let deed = ToolAction::Ran { command: command.to_owned().into() };
            TurnStep::Did(TurnCall { outcome: Some(outcome), ..call(deed, "Bash") })
        }
        other => panic!("no such step: {other}"),
    };
    turn.steps.push(step);
}

/// Renders the memories and the summary of a session.
fn rendered(turns: &[DistilTurn<'_>]) -> String {
    let mut out = String::new();
    let mut all: Vec<DistilledMemory> = vec![];
    for (at, turn) in turns.iter().enumerate() {
        writeln!(out, "## turn {}", at + 1).unwrap();
        let found = super::turn(turn, at.checked_sub(1).map(|at| &turns[at]));
        found.iter().for_each(|found| out.push_str(&one(found)));
        all.extend(found);
    }
    let known = all.iter().filter(|found| found.suspicion.is_none()).map(|found| MemoryExcerpt {
        kind: found.draft.kind.as_str(),
        title: &found.draft.title,
        trust: found.trust,
        facts: &found.draft.facts,
        concepts: &found.draft.concepts,
    });
    let commits: Vec<Commit> = turns.iter().flat_map(|turn| turn.commits.clone()).collect();
    let session = SessionMaterial {
        asked: turns.iter().flat_map(DistilTurn::user_texts).collect(),
        known: known.collect(),
        files: turns.iter().flat_map(|turn| &turn.files).map(|(path, how)| (&**path, *how)).collect(),
        commits: &commits,
        last: turns.last(),
        before_last: turns.len().checked_sub(2).map(|at| &turns[at]),
        work: &crate::work::WorkState::default(),
    };
    let SessionSummary { draft, trust } = summary(&session);
    writeln!(out, "## summary ({})", trust.name()).unwrap();
    let summary = crate::memory::Summary::of(&draft).unwrap();
    for (name, text) in summary.parts().iter().filter(|(_, text)| !text.is_empty()) {
        writeln!(out, "{name}: {}", text.replace('\n', "\n  ")).unwrap();
    }
    out
}

fn one(found: &DistilledMemory) -> String {
    let DistilledMemory { draft, trust, confidence, suspicion } = found;
    let mut out = String::new();
    writeln!(out, "[{} · {} · {}%] {}", draft.kind, trust.name(), confidence.as_percent(), draft.title)
        .unwrap();
    if let Some(suspicion) = suspicion {
        writeln!(out, "    HELD BACK: {}", suspicion.why()).unwrap();
    }
    if !draft.subtitle.is_empty() {
        writeln!(out, "    {}", draft.subtitle).unwrap();
    }
    draft.facts.iter().for_each(|fact| writeln!(out, "  - {fact}").unwrap());
    if !draft.narrative.is_empty() {
        writeln!(out, "    | {}", draft.narrative.replace('\n', "\n    | ")).unwrap();
    }
    let files: Vec<String> = draft.files.iter().map(|(path, how)| format!("{} {path}", how.name())).collect();
    writeln!(out, "    ({}) {}", draft.concepts.join(", "), files.join(", ")).unwrap();
    out
}

//! Every recorded transcript and rollout, rendered.
//!
//! The renderings omit times and shorten ids: they are meant to be compared with the files by eye.

use super::*;
use std::collections::BTreeSet;
use towline_core::event::PromptOrigin;
use towline_core::piece::StopReason;

#[track_caller]
fn check_rendered(name: &str, rendered: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, rendered));
}

#[test]
fn every_recorded_conversation_gives_what_a_person_reads_in_it() {
    for (name, file) in &recorded("transcripts") {
        check_rendered(name, &rendered(&pieces(name, file)));
    }
}

#[test]
fn the_end_of_a_file_is_read_without_its_beginning() {
    for agent in Agent::ALL {
        let tails = recorded("tails").into_iter().filter(|(name, _)| agent_of(name) == agent);
        let all: String =
            tails.map(|(name, file)| format!("== {name}\n{}", rendered(&pieces(&name, &file)))).collect();
        check_rendered(&format!("{}-tails", agent.name()), &all);
    }
}

fn prompts(name: &str, of: PromptOrigin) -> Vec<String> {
    let file = conversation(name);
    let prompt = |piece: TranscriptPiece<'_>| {
        let PieceContent::Prompt { text, origin } = piece.what else { return None };
        (origin == of).then(|| text.into_owned())
    };
    pieces(name, &file).into_iter().filter_map(prompt).collect()
}

/// The text typed while the two versions were recorded, in this order.
#[test]
fn a_users_prompts_are_distinguished_from_other_text_in_their_name() {
    let typed = [
        "tools please",
        "look at @notes.txt now",
        "[Image #1] what is it",
        "queue round",
        "absorbed prompt",
        "queue late",
        "late prompt",
        "stream then stop",
        "tool then stop",
        "fail now",
        "denied please",
        "background please",
        "say-more",
        "haltme now",
        "cut short",
        "after compaction",
        "to be taken back",
        "instead of it",
    ];
    for version in ["2.1.197", "2.1.325"] {
        let name = format!("claude-{version}-words");
        assert_eq!(prompts(&name, PromptOrigin::Human), typed, "{name}");
        assert_eq!(prompts(&name, PromptOrigin::Command), ["/greet the cook", "!echo from-bang"], "{name}");
        assert_eq!(prompts(&name, PromptOrigin::Bookmark), ["·"], "{name}");
        assert_eq!(prompts(&name, PromptOrigin::Notification).len(), 1, "{name}");
    }
}

#[test]
fn text_injected_by_codex_is_not_a_prompt() {
    let typed = [
        "tools please",
        "patch please",
        "plan please",
        "search please",
        "view please",
        "long runner",
        "say-more",
        "fail now",
        "slow stream",
        "tool then stop",
        "steer me",
        "steering words",
        "[Image #1]  what is it",
        "after compaction",
        "to be taken back",
    ];
    assert_eq!(prompts("codex-0.166.0-words", PromptOrigin::Human), typed);
    assert_eq!(prompts("codex-0.166.0-words", PromptOrigin::Command), ["!echo from-bang"]);
    assert_eq!(prompts("codex-0.166.0-words", PromptOrigin::Bookmark), ["·"]);
    assert_eq!(prompts("codex-0.166.0-spawn-parent", PromptOrigin::Human), ["SPAWN go"]);
    assert_eq!(
        prompts("codex-0.166.0-before-revert", PromptOrigin::Human),
        ["turn one", "turn two", "turn three"]
    );
}

#[test]
fn prompts_of_qwen_code_are_those_that_were_typed() {
    let typed: Vec<String> = prompts("qwen-0.24.4-session", PromptOrigin::Human);
    let words: Vec<&str> = typed.iter().map(|text| text.split(" @fake").next().unwrap()).collect();
    let expected =
        ["think", "read", "fail", "perm", "edit", "sleep", "cut", "early", "queue", "typed ahead", "err"];
    assert_eq!(words, expected);
    assert_eq!(prompts("qwen-0.24.4-cleared", PromptOrigin::Notification).len(), 1);
}

#[test]
fn text_injected_by_gemini_cli_is_not_a_prompt() {
    let typed = ["see @a.txt now", "second", "!echo from-bang", "third", "thirdl1"];
    let found = prompts("gemini-0.61.0-referenced", PromptOrigin::Human);
    assert_eq!(found.len(), typed.len(), "{found:?}");
    assert!(found.iter().zip(typed).all(|(found, typed)| found.starts_with(typed)), "{found:?}");
    let headless = prompts("gemini-0.61.0-headless", PromptOrigin::Human);
    assert!(headless.len() == 1 && headless[0].starts_with("look at @a.txt"), "{headless:?}");
    assert_eq!(prompts("gemini-0.61.0-hopped", PromptOrigin::Notification), ["HANDOFF go on"]);
    assert_eq!(prompts("gemini-0.61.0-hopped", PromptOrigin::Command), ["$tow fresh", "/tow"]);
}

/// After an interruption the client appends its whole history again, under new ids.
#[test]
fn a_history_that_is_written_again_counts_once() {
    let name = "gemini-0.61.0-words";
    let begins = |prompt: &str| {
        prompts(name, PromptOrigin::Human).iter().filter(|all| all.starts_with(prompt)).count()
    };
    for prompt in ["think ", "read ", "fail ", "perm ", "edit ", "sleep ", "cut ", "early ", "err "] {
        assert_eq!(begins(prompt), 1, "{prompt}");
    }
}

#[test]
fn the_prompt_of_a_subagent_is_not_the_users() {
    let of_helpers = |name: &&String| name.contains("subagent") || name.ends_with("-mate");
    let all = recorded("transcripts");
    assert_eq!(all.keys().filter(of_helpers).count(), 7);
    for name in all.keys().filter(of_helpers) {
        assert!(pieces(name, &all[name]).iter().all(|piece| piece.subagent.is_some()), "{name}");
        assert_eq!(prompts(name, PromptOrigin::Human), [""; 0], "{name}");
        assert_eq!(prompts(name, PromptOrigin::Notification).len(), 1, "{name}");
    }
    let is_inside = |name: &str| [Agent::Copilot, Agent::Opencode, Agent::Kilo].contains(&agent_of(name));
    let is_alone = |name: &&String| !of_helpers(name) && !is_inside(name);
    for name in all.keys().filter(is_alone) {
        assert!(pieces(name, &all[name]).iter().all(|piece| piece.subagent.is_none()), "{name}");
    }
}

/// Copilot's subagents write into their session's file.
#[test]
fn the_prompts_of_subagents_in_the_sessions_own_file_are_not_the_users() {
    let name = "copilot-1.0.102-delegated-twice";
    let file = conversation(name);
    let subagents: BTreeSet<_> =
        pieces(name, &file).into_iter().filter_map(|piece| piece.subagent.map(|id| id.to_string())).collect();
    assert_eq!(subagents.len(), 2);
    assert_eq!(prompts(name, PromptOrigin::Human).len(), 1);
    assert_eq!(prompts(name, PromptOrigin::Notification).len(), 2);
}

#[test]
fn text_in_the_users_name_is_told_from_what_copilots_user_typed() {
    let name = "copilot-1.0.102-rewound-skill-shell";
    let typed = prompts(name, PromptOrigin::Human);
    let has = |start: &str| typed.iter().any(|prompt| prompt.starts_with(start));
    assert!(has("one @fake") && has("three @fake"));
    assert!(!has("two @fake"), "it was taken back");
    assert_eq!(prompts(name, PromptOrigin::Command), ["/tow fresh"]);
    assert_eq!(prompts("copilot-1.0.102-session", PromptOrigin::Notification).len(), 1);
}

/// The client cuts the file off where the removed turns began: what is read after that reverts them.
#[test]
fn turns_that_copilot_cut_off_are_reverted() {
    let name = "copilot-1.0.102-rewound-skill-shell";
    let file = conversation(name);
    let all = pieces(name, &file);
    let reverted = all.iter().position(|piece| matches!(piece.what, PieceContent::Reverted { .. })).unwrap();
    let PieceContent::Reverted { from } = all[reverted].what else { unreachable!() };
    assert!(all[..reverted].iter().all(|piece| piece.place < from));
    assert!(all[reverted + 1..].iter().all(|piece| piece.place > from));
}

/// The ids of messages with a usage, by a reading that builds every value.
fn costs(agent: Agent, file: &[u8]) -> BTreeSet<String> {
    let entries = lines(file).into_iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let id = |entry: Value| match agent {
        Agent::Claude => {
            let message = &entry["message"];
            let counts = message["usage"].as_object()?.values().any(|count| count.as_u64() > Some(0));
            (counts && entry["type"] == "assistant").then(|| message["id"].as_str().unwrap().to_owned())
        }
        Agent::Codex => {
            let response = entry["payload"]["response_id"].as_str();
            response.filter(|_| entry["type"] == "token_usage_record").map(str::to_owned)
        }
        Agent::Qwen => {
            let counts = entry["usageMetadata"].as_object()?.values().any(|count| count.as_u64() > Some(0));
            counts.then(|| entry["uuid"].as_str().unwrap().to_owned())
        }
        Agent::Gemini => entry["tokens"].is_object().then(|| entry["id"].as_str().unwrap().to_owned()),
        Agent::Copilot => match entry["type"].as_str()? {
            "session.usage_record" => Some(entry["data"]["usage"]["apiCallId"].as_str()?.to_owned()),
            "session.compaction_complete" => Some(format!("{}#usage", entry["id"].as_str()?)),
            _ => None,
        },
        Agent::Opencode | Agent::Kilo => {
            let counts = entry["data"]["tokens"]["output"].as_u64() > Some(0);
            counts.then(|| entry["id"].as_str().unwrap().to_owned())
        }
    };
    entries.filter_map(id).collect()
}

#[test]
fn the_usage_of_a_message_is_reported_once() {
    for (name, file) in &recorded("transcripts") {
        let all = pieces(name, file);
        let told = |piece: &TranscriptPiece<'_>| {
            let PieceContent::Usage { message, .. } = &piece.what else { return None };
            Some(message.clone().into_owned())
        };
        let told: Vec<String> = all.iter().filter_map(told).collect();
        assert_eq!(told.iter().cloned().collect::<BTreeSet<_>>(), costs(agent_of(name), file), "{name}");
        assert_eq!(told.len(), costs(agent_of(name), file).len(), "{name}");
    }
}

#[test]
fn no_two_pieces_of_a_session_have_one_id() {
    let all = recorded("transcripts");
    let ids = |name: &String| {
        pieces(name, &all[name]).into_iter().map(|piece| piece.id.into_owned()).collect::<Vec<_>>()
    };
    let sessions = [
        vec!["claude-2.1.197-session", "claude-2.1.197-session-subagent"],
        vec!["claude-2.1.325-session", "claude-2.1.325-session-subagent"],
        vec!["claude-2.1.325-team", "claude-2.1.325-team-mate"],
        vec!["codex-0.166.0-words", "codex-0.166.0-words-reverted"],
        vec!["codex-0.166.0-before-revert", "codex-0.166.0-after-revert"],
        vec!["qwen-0.24.4-cleared", "qwen-0.24.4-cleared-subagent"],
        vec!["codex-0.166.0-spawn-parent", "codex-0.166.0-subagent-child"],
    ];
    let alone = all.keys().map(|name| vec![name.as_str()]);
    for files in sessions.into_iter().chain(alone) {
        let ids: Vec<String> = files.iter().flat_map(|name| ids(&(*name).to_owned())).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{files:?}");
    }
}

#[test]
fn a_fork_repeats_what_it_copied_under_the_same_ids() {
    for version in ["2.1.197", "2.1.325"] {
        let (source, fork) =
            (format!("claude-{version}-cleared-resumed"), format!("claude-{version}-forked"));
        let (source_file, fork_file) = (conversation(&source), conversation(&fork));
        let seen = |pieces: Vec<TranscriptPiece<'_>>| {
            let is_opening = |piece: &TranscriptPiece<'_>| matches!(piece.what, PieceContent::Opened { .. });
            let kept = pieces.iter().filter(|piece| !is_opening(piece));
            kept.map(|piece| (piece.id.clone().into_owned(), format!("{:?}", piece.what)))
                .collect::<BTreeSet<_>>()
        };
        let (source, fork) = (seen(pieces(&source, &source_file)), seen(pieces(&fork, &fork_file)));
        assert!(source.is_subset(&fork) && source.len() > 8, "{:?}", source.difference(&fork));
    }
}

#[test]
fn a_limit_is_distinguished_from_other_failures() {
    let stops = |name: &str| {
        let file = recorded("tails").remove(name).unwrap();
        let stop = |piece: TranscriptPiece<'_>| {
            let PieceContent::Stopped { how, .. } = piece.what else { return None };
            Some(how)
        };
        pieces(name, &file).into_iter().filter_map(stop).collect::<Vec<_>>()
    };
    for name in ["claude-2.1.197-limit", "claude-2.1.325-limit-session", "codex-0.166.0-limit"] {
        assert_eq!(stops(name).last(), Some(&StopReason::Limited), "{name}");
    }
    for name in ["claude-2.1.197-error", "claude-2.1.325-error", "codex-0.166.0-error"] {
        assert_eq!(stops(name).last(), Some(&StopReason::Failed), "{name}");
    }
    for name in ["claude-2.1.197-interrupted-tool", "codex-0.166.0-interrupted"] {
        assert_eq!(stops(name).last(), Some(&StopReason::Interrupted), "{name}");
    }
}

#[test]
fn what_plugins_and_commands_add_in_opencode_is_not_a_prompt() {
    let words = |origin| {
        let prompts = prompts("opencode-1.18.33-session", origin);
        prompts.iter().map(|text| text.split(" @fake").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let typed =
        ["hello", "read", "agent", "perm", "edit", "ask", "cut", "sleep", "err", "after compact", "resumed"];
    assert_eq!(words(PromptOrigin::Human), typed);
    assert_eq!(words(PromptOrigin::Command), ["/tow fresh"]);
    assert_eq!(words(PromptOrigin::Notification), ["do sub"], "a subagent is asked by its agent");
}

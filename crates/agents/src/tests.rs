//! Every recorded payload of every client version, with its parsed event.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use towline_core::event::{EventKind, OwnCommand, PromptOrigin};
use towline_core::reply::ReplyVerdict;
use towline_core::text::{SecretPolicy, TextPolicy};

const SHORT: TextPolicy = TextPolicy { longest_bytes: 60, secrets: SecretPolicy::Redacted };
const KEEPING: TextLimits = TextLimits { prompt: SHORT, answer: SHORT };

/// Recorded payloads by `version/Event.variant`.
fn recorded(agent: Agent) -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent.name());
    let mut found = BTreeMap::new();
    for version in fs::read_dir(folder).unwrap() {
        let version = version.unwrap().path();
        for file in fs::read_dir(&version).unwrap().map(|entry| entry.unwrap().path()) {
            if file.is_file() {
                let name = format!(
                    "{}/{}",
                    version.file_name().unwrap().display(),
                    file.file_stem().unwrap().display()
                );
                found.insert(name, fs::read(&file).unwrap());
            }
        }
    }
    found
}

/// The event of a recording: some payloads do not name it.
fn event_of(name: &str) -> Option<&str> {
    name.rsplit('/').next()?.split('.').next()
}

fn meanings(agent: Agent) -> String {
    let parsed = |name: &str, payload: &[u8]| agent.parse_hook_of(event_of(name), payload, KEEPING).unwrap();
    let line = |(name, payload): (&String, &Vec<u8>)| match parsed(name, payload) {
        None => format!("{name}: passed over"),
        Some(heard) => {
            let inside = heard.subagent.map_or("", |_| " in a subagent");
            format!("{name}: {:?}{inside}", heard.happening)
        }
    };
    recorded(agent).iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_agent_that_drops_the_warning_before_a_tool_was_asked_for_it_at_each_file() {
    let (folder, tow) = (Path::new("/h/agent"), Path::new("/usr/bin/tow"));
    for agent in Agent::ALL {
        let takes_it = agent.adapter().hooks.replies.context.contains(agent.before_tool());
        let is_asked = agent.target_with_files(folder, tow).unwrap() != agent.target(folder, tow).unwrap();
        assert_eq!(takes_it, is_asked, "{agent:?}");
    }
}

#[test]
fn every_recorded_payload_of_claude_code_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Claude));
}

#[test]
fn every_recorded_payload_of_codex_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Codex));
}

#[test]
fn every_recorded_payload_of_qwen_code_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Qwen));
}

#[test]
fn every_recorded_payload_of_gemini_cli_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Gemini));
}

#[test]
fn every_recorded_payload_of_copilot_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Copilot));
}

#[test]
fn every_recorded_payload_of_opencode_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Opencode));
}

#[test]
fn every_recorded_payload_of_kilo_means_what_a_person_would_say() {
    insta::assert_snapshot!(meanings(Agent::Kilo));
}

/// Hooks inside subagents, and those about the subagents of subagents, carry other ids.
#[test]
fn no_subagent_of_copilot_becomes_a_session() {
    let root = |name: &str| match name {
        name if name.contains("nested") => "4cfdbdc8-60ac-4c01-8da0-453b2fbaad18",
        _ => "be4bc464-10d0-4a43-9aee-d9e8614bcf84",
    };
    for name in ["agentStop.nested", "subagentStart.nested", "subagentStop.nested", "agentStop.subagent"] {
        let payload = &recorded(Agent::Copilot)[&format!("1.0.102/{name}")];
        let heard = Agent::Copilot.parse_hook_of(event_of(name), payload, KEEPING).unwrap().unwrap();
        assert_eq!(heard.session.id.as_str(), root(name), "{name}");
        assert!(heard.subagent.is_some_and(|id| id.as_str() != root(name)), "{name}");
    }
    let inside = &recorded(Agent::Copilot)["1.0.102/postToolUse.subagent"];
    let heard = Agent::Copilot.parse_hook_of(Some("postToolUse"), inside, KEEPING).unwrap().unwrap();
    assert_eq!(heard.session.id.as_str(), "4cfdbdc8-60ac-4c01-8da0-453b2fbaad18");
}

/// The agent's name of an event for which most agents use the same.
fn named(agent: Agent, event: &'static str) -> &'static str {
    match (agent, event) {
        (Agent::Gemini, "UserPromptSubmit") => "BeforeAgent",
        (Agent::Gemini, "PostToolUse") => "AfterTool",
        (Agent::Gemini, "Stop") => "AfterAgent",
        (Agent::Copilot, "UserPromptSubmit") => "userPromptSubmitted",
        (Agent::Copilot, "PostToolUse") => "postToolUse",
        (Agent::Copilot, "Stop") => "agentStop",
        (Agent::Copilot, "SessionStart") => "sessionStart",
        (_, _) => event,
    }
}

#[test]
fn a_prompt_that_is_wholly_private_is_known_before_it_is_redacted() {
    let heard = |agent: Agent, prompt: &str| {
        let payload = submitted(agent, prompt);
        let heard = agent.parse_hook(payload.to_string().as_bytes(), KEEPING).unwrap().unwrap();
        let EventKind::PromptSubmitted { prompt, .. } = heard.happening else { panic!() };
        (heard.is_private, prompt.as_str().to_owned())
    };
    for agent in Agent::ALL {
        for prompt in ["<private>a</private>", "< PRIVATE >a", "\n<private\n>a</private> <private>b"] {
            assert_eq!(heard(agent, prompt), (true, "(private)".to_owned()), "{prompt}");
        }
        assert_eq!(heard(agent, "<private>a</private> b"), (false, "[redacted:private] b".to_owned()));
    }
    let opened = "<ide_opened_file>The user opened a.rs</ide_opened_file>\n<private>a</private>";
    assert!(heard(Agent::Claude, opened).0);
    let referenced = "<private>see @a.txt</private>\n--- Content from referenced files ---\nhello";
    assert!(heard(Agent::Gemini, referenced).0);
}

#[test]
fn ids_folders_and_transcripts_are_taken_over() {
    let payload = &recorded(Agent::Codex)["0.166.0/UserPromptSubmit"];
    let heard = Agent::Codex.parse_hook(payload, KEEPING).unwrap().unwrap();
    assert_eq!(heard.session.to_string(), "codex:00000000-0000-7000-8000-000000000001");
    assert_eq!(heard.turn.unwrap().as_str(), "00000000-0000-7000-8000-000000000002");
    assert_eq!(
        (heard.folder.as_deref(), heard.model.as_deref()),
        (Some("/home/user/project"), Some("gpt-5.5"))
    );
    assert_eq!(heard.typed.as_deref(), Some("hi"));
    assert!(heard.transcript.unwrap().ends_with(".jsonl"));
}

/// Every event that the clients can send; those we never received are not recorded.
const CLAUDE_EVENTS: [&str; 33] = [
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
    "MessageDisplay",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreModelSwitch",
    "PostModelSwitch",
    "DirectoryAdded",
];
const CODEX_EVENTS: [&str; 14] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreModelRequest",
    "PostModelRequest",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
];

const QWEN_EVENTS: [&str; 20] = [
    "SessionStart",
    "SessionEnd",
    "SessionDelete",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
    "MessageDisplay",
    "InstructionsLoaded",
];
const GEMINI_EVENTS: [&str; 11] = [
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "Notification",
    "PreCompress",
];

/// The payload of a prompt, with the fields of every agent.
fn submitted(agent: Agent, prompt: &str) -> serde_json::Value {
    let event = named(agent, "UserPromptSubmit");
    serde_json::json!({"hook_event_name": event, "session_id": "s", "prompt": prompt, "submitted_prompt": prompt})
}

/// Copilot's list is that of its settings.
const COPILOT_EVENTS: [&str; 16] = [
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "userPromptTransformed",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "postCompact",
    "notification",
    "permissionRequest",
    "errorOccurred",
    "postToolUseBatch",
];

/// A payload of this event with every field that any event needs.
fn full_payload(agent: Agent, event: &str) -> Vec<u8> {
    let (tool, notification) = match agent {
        Agent::Claude => ("Agent", "permission_prompt"),
        Agent::Codex => ("spawn_agent", ""),
        Agent::Qwen => ("agent", "permission_prompt"),
        Agent::Gemini => ("invoke_agent", "ToolPermission"),
        Agent::Copilot => ("task", "permission_prompt"),
        Agent::Opencode | Agent::Kilo => ("task", ""),
    };
    serde_json::json!({
        "submitted_prompt": "",
        "hook_event_name": event, "session_id": "s", "agent_type": "helper", "agent_id": "a",
        "notification_type": notification, "token_usage": {"total_tokens": 5}, "tool_name": tool,
    })
    .to_string()
    .into_bytes()
}

#[test]
fn exactly_the_events_that_mean_something_are_registered() {
    let modelled = |agent: Agent, events: &[&'static str]| {
        let heard = |event: &&str| agent.parse_hook(&full_payload(agent, event), KEEPING).unwrap().is_some();
        events.iter().copied().filter(heard).collect::<std::collections::BTreeSet<_>>()
    };
    let registered =
        |events: &[&'static str]| events.iter().copied().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(modelled(Agent::Claude, &CLAUDE_EVENTS), registered(claude::install::EVENTS));
    assert_eq!(modelled(Agent::Codex, &CODEX_EVENTS), registered(codex::install::EVENTS));
    assert_eq!(modelled(Agent::Qwen, &QWEN_EVENTS), registered(qwen::install::EVENTS));
    assert_eq!(modelled(Agent::Gemini, &GEMINI_EVENTS), registered(gemini::install::EVENTS));
    assert_eq!(modelled(Agent::Copilot, &COPILOT_EVENTS), registered(copilot::install::EVENTS));
    for agent in [Agent::Opencode, Agent::Kilo] {
        assert_eq!(modelled(agent, opencode::install::EVENTS), registered(opencode::install::EVENTS));
    }
}

#[track_caller]
fn check_own(agent: Agent, prompt: &str, expected: (PromptOrigin, Option<OwnCommand>)) {
    let payload = submitted(agent, prompt);
    let heard = agent.parse_hook(payload.to_string().as_bytes(), KEEPING).unwrap().unwrap();
    let EventKind::PromptSubmitted { origin, own, .. } = heard.happening else { panic!("no prompt") };
    assert_eq!((origin, own), expected, "{prompt:?}");
}

#[test]
fn tl_11_our_commands_are_known_by_each_agents_way_of_typing_them() {
    let typed = [
        (Agent::Claude, "/tow"),
        (Agent::Codex, "$tow"),
        (Agent::Gemini, "/tow"),
        (Agent::Gemini, "$tow"),
        (Agent::Copilot, "/tow"),
        (Agent::Opencode, "/tow"),
        (Agent::Kilo, "/tow"),
    ];
    for (agent, typed) in typed {
        check_own(agent, typed, (PromptOrigin::Command, Some(OwnCommand::Baton)));
        check_own(agent, &format!(" {typed}\n"), (PromptOrigin::Command, Some(OwnCommand::Baton)));
        check_own(agent, &format!("{typed} fresh"), (PromptOrigin::Command, Some(OwnCommand::Fresh)));
        check_own(agent, &format!("{typed}-detail 9:00"), (PromptOrigin::Command, Some(OwnCommand::Other)));
        check_own(agent, &format!("run {typed} now"), (PromptOrigin::Human, None));
        check_own(agent, "·", (PromptOrigin::Bookmark, None));
        check_own(agent, "", (PromptOrigin::Human, None));
    }
    check_own(Agent::Claude, "/tower", (PromptOrigin::Command, None));
    check_own(Agent::Claude, "$tow", (PromptOrigin::Human, None));
    check_own(Agent::Codex, "$towel", (PromptOrigin::Human, None));
    let skill = "The user explicitly invoked the \"/tow\" skill. Follow its instructions now.\n\n<skill-context name=\"tow\">\nx";
    check_own(
        Agent::Copilot,
        &format!("{skill}\n\nARGUMENTS: fresh\n</skill-context>"),
        (PromptOrigin::Command, Some(OwnCommand::Fresh)),
    );
    check_own(
        Agent::Copilot,
        &format!("{skill}\n</skill-context>"),
        (PromptOrigin::Command, Some(OwnCommand::Baton)),
    );
    let asked = towline_core::continuing::form::request("1a2b3c4d", 80);
    check_own(Agent::Copilot, &asked, (PromptOrigin::Notification, None));
}

#[test]
fn the_last_words_of_a_turn_are_kept_however_large_the_payload_is() {
    let long = format!("first {}", "word ".repeat(9000));
    let keeping = |longest_bytes| TextLimits { answer: TextPolicy { longest_bytes, ..SHORT }, ..KEEPING };
    let tells = |agent: &Agent| !agent.tells_end_in_transcript() && !agent.keeps_last_message();
    for agent in Agent::ALL.into_iter().filter(tells) {
        let payload = serde_json::json!({
            "hook_event_name": "Stop", "session_id": "s", "last_assistant_message": long, "bulk": "x".repeat(90_000),
        });
        let answer = |keeping| {
            let heard = agent.parse_hook(payload.to_string().as_bytes(), keeping).unwrap().unwrap();
            let EventKind::TurnEnded { answer, .. } = heard.happening else { panic!("no end of a turn") };
            answer
        };
        assert_eq!(answer(keeping(10)).unwrap().as_str(), "first word…");
        assert_eq!(answer(keeping(0)), None);
    }
}

#[test]
fn the_payload_of_an_agent_that_runs_foreign_hooks_was_counted_as_another_agents() {
    let payload = include_bytes!("../foreign/grok-1.0.41/UserPromptSubmit.json");
    for agent in Agent::ALL {
        assert_eq!(agent.parse_hook(payload, KEEPING), Ok(None));
    }
}

/// Fields that Cursor documents; its program needs an account and was not tried.
#[test]
fn the_payload_of_cursor_is_not_counted_as_another_agents() {
    let payload = br#"{"conversation_id":"c","session_id":"c","hook_event_name":"Stop","cursor_version":"1.7.2","workspace_roots":["/p"]}"#;
    for agent in Agent::ALL {
        assert_eq!(agent.parse_hook(payload, KEEPING), Ok(None));
    }
}

#[test]
fn event_of_a_newer_agent_is_skipped() {
    for agent in Agent::ALL {
        let payload = br#"{"session_id":"s","hook_event_name":"PreDream","cwd":["not","text"]}"#;
        assert_eq!(agent.parse_hook(payload, KEEPING), Ok(None));
    }
}

#[test]
fn a_field_of_an_unexpected_type_counts_as_absent() {
    let payload = br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":{"text":"x"},"cwd":7,"prompt_id":[]}"#;
    let heard = Agent::Claude.parse_hook(payload, KEEPING).unwrap().unwrap();
    assert_eq!((heard.folder, heard.turn), (None, None));
}

#[test]
fn an_event_counts_though_not_all_of_its_payload_is_text() {
    for agent in Agent::ALL {
        let event = named(agent, "PostToolUse");
        let head = r#"{"session_id":"s","tool_name":"Bash","hook_event_name":"#;
        let mut payload = format!(r#"{head}"{event}","tool_response":""#).into_bytes();
        payload.extend([0xff; 20_000]);
        payload.extend(br#"","last_assistant_message":"half a \ud83d character"}"#);
        assert!(agent.parse_hook(&payload, KEEPING).unwrap().is_some());
    }
}

#[test]
fn bad_payloads_are_named_without_being_repeated() {
    let check = |payload: &[u8], expected: &str| {
        assert_eq!(Agent::Claude.parse_hook(payload, KEEPING).unwrap_err().to_string(), expected);
    };
    check(b"", "the payload is empty");
    check(b" \n", "the payload is empty");
    check(b"{\"secret\n", "the payload is not valid JSON");
    check(b"{}", "the payload has no hook_event_name");
    check(br#"{"hook_event_name":"Stop"}"#, "the payload has no session_id");
    let path = br#"{"hook_event_name":"Stop","session_id":"../etc"}"#;
    check(path, "the payload's session_id is unusable: not a valid session id (6 bytes)");
}

#[test]
fn an_answer_holds_only_what_its_event_has_room_for() {
    let reply = Reply {
        notices: vec!["n".into()],
        context: vec!["a".into(), "b".into()],
        terminal: String::new(),
        verdict: ReplyVerdict::Block { reason: "r".into() },
    };
    let says = |agent: Agent, event: &str| agent.render_reply(event, &reply).unwrap_or_default();
    let whole = r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a\n\nb"},"decision":"block","reason":"r"}"#;
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let is_nested = |agent: &Agent| ![Agent::Copilot, Agent::Opencode, Agent::Kilo].contains(agent);
    for agent in Agent::ALL.into_iter().filter(is_nested) {
        let prompt = named(agent, "UserPromptSubmit");
        let mut said = parsed(&says(agent, prompt));
        // One agent shows no notice with a prompt.
        let notice = said.as_object_mut().unwrap().remove("systemMessage");
        assert!(notice.is_none_or(|notice| notice == "n"));
        assert_eq!(said, parsed(&whole.replace("UserPromptSubmit", prompt)));
        assert_eq!(
            parsed(&says(agent, named(agent, "Stop"))),
            parsed(r#"{"systemMessage":"n","decision":"block","reason":"r"}"#)
        );
        assert_eq!(says(agent, "SessionEnd"), "");
        assert_eq!(says(agent, "NeverHeardOf"), "");
        assert_eq!(agent.render_reply("SessionStart", &Reply::default()), None);
    }
}

#[test]
fn copilot_is_answered_beside_everything_else_and_without_a_message() {
    let blocked = Reply {
        notices: vec!["n".into()],
        context: vec!["a".into(), "b".into()],
        terminal: String::new(),
        verdict: ReplyVerdict::Block { reason: "r".into() },
    };
    let says = |event: &str| Agent::Copilot.render_reply(event, &blocked).unwrap_or_default();
    let prompt = r#"{"additionalContext":"a\n\nb","decision":"block","reason":"r"}"#;
    assert_eq!(says("userPromptSubmitted"), prompt);
    assert_eq!(says("agentStop"), r#"{"decision":"block","reason":"r"}"#);
    assert_eq!(says("preToolUse"), r#"{"permissionDecision":"deny","permissionDecisionReason":"r"}"#);
    assert_eq!(says("sessionEnd"), "");
    assert_eq!(says("UserPromptSubmit"), "");
}

#[test]
fn a_plugin_inside_the_client_is_answered_beside_everything_else() {
    let blocked = Reply {
        notices: vec!["n".into()],
        context: vec!["a".into(), "b".into()],
        terminal: String::new(),
        verdict: ReplyVerdict::Block { reason: "r".into() },
    };
    for agent in [Agent::Opencode, Agent::Kilo] {
        let says = |event: &str| agent.render_reply(event, &blocked).unwrap_or_default();
        assert_eq!(says("UserPromptSubmit"), r#"{"additionalContext":"a\n\nb","systemMessage":"n"}"#);
        assert_eq!(says("Stop"), r#"{"decision":"block","reason":"r","systemMessage":"n"}"#);
        assert_eq!(says("PreToolUse"), r#"{"permissionDecision":"deny","permissionDecisionReason":"r"}"#);
        assert_eq!(says("Interrupt"), "");
        let anew = Reply { verdict: ReplyVerdict::Restart { prompt: "p".into() }, ..Reply::default() };
        let whole = r#"{"clearContext":true,"decision":"block","reason":"p"}"#;
        assert_eq!(agent.render_reply("Stop", &anew).as_deref(), Some(whole));
        assert!(agent.restarts_in_new_session());
    }
}

#[test]
fn a_conversation_is_emptied_only_by_the_agent_that_goes_on_by_itself() {
    let reply = Reply { verdict: ReplyVerdict::Restart { prompt: "p".into() }, ..Reply::default() };
    for agent in Agent::ALL {
        let said = agent.render_reply(named(agent, "Stop"), &reply);
        assert_eq!(said.is_some(), agent.restarts_in_place(), "{}", agent.name());
        assert_eq!(agent.render_reply(named(agent, "UserPromptSubmit"), &reply), None);
    }
    let whole = r#"{"decision":"block","hookSpecificOutput":{"clearContext":true,"hookEventName":"AfterAgent"},"reason":"p"}"#;
    assert_eq!(Agent::Gemini.render_reply("AfterAgent", &reply).as_deref(), Some(whole));
}

#[test]
fn our_commands_are_known_with_the_name_of_the_plugin_before_them() {
    for typed in ["/tow", "/towline:tow", " /towline:tow go on"] {
        assert_eq!(Agent::Claude.own_command(typed), Some(OwnCommand::Baton), "{typed}");
    }
    assert_eq!(Agent::Codex.own_command("$towline:tow fresh"), Some(OwnCommand::Fresh));
    assert_eq!(Agent::Codex.own_command("$towline:tow-memory keel"), Some(OwnCommand::Other));
    for typed in ["/towline", "/other:tow", "towline:tow", "/towline:", "/towline:boat"] {
        assert_eq!(Agent::Claude.own_command(typed), None, "{typed}");
    }
}

#[test]
fn terminal_sequences_are_sent_only_with_events_that_pass_them_on() {
    let reply = Reply { terminal: "\x07".into(), ..Reply::default() };
    let bell = Some(r#"{"terminalSequence":"\u0007"}"#.to_owned());
    assert_eq!(Agent::Claude.render_reply("PermissionRequest", &reply), bell);
    assert_eq!(Agent::Claude.render_reply("Stop", &reply), bell);
    assert_eq!(Agent::Claude.render_reply("PreCompact", &reply), None);
    assert_eq!(Agent::Codex.render_reply("Stop", &reply), None);
}

#[test]
fn presence_follows_from_how_the_agent_was_started() {
    let claude = |entry: &'static str| {
        let variable = move |_: &str| Some(entry.to_owned());
        Agent::Claude.presence(&ProcessContext { variable: &variable, arguments: &Vec::new })
    };
    assert_eq!(claude("cli"), SessionPresence::Terminal);
    assert_eq!(claude("sdk-cli"), SessionPresence::Headless);
    assert_eq!(claude("claude-vscode"), SessionPresence::Ide);
    let codex = |line: &str| {
        let arguments = || line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        Agent::Codex.presence(&ProcessContext { variable: &|_| None, arguments: &arguments })
    };
    assert_eq!(codex("codex -m gpt --yolo"), SessionPresence::Terminal);
    assert_eq!(codex("codex exec --json hi"), SessionPresence::Headless);
    assert_eq!(codex("codex app-server --listen unix:// --managed-daemon"), SessionPresence::Terminal);
    assert_eq!(codex("codex app-server"), SessionPresence::Ide);
    let copilot = |line: &str| {
        let arguments = || line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        Agent::Copilot.presence(&ProcessContext { variable: &|_| None, arguments: &arguments })
    };
    assert_eq!(copilot("copilot --allow-all-tools -i hi"), SessionPresence::Terminal);
    assert_eq!(copilot("copilot --prompt=hi"), SessionPresence::Headless);
    assert_eq!(copilot("copilot -p hi --allow-all-tools"), SessionPresence::Headless);
    assert_eq!(copilot("copilot --acp"), SessionPresence::Ide);
    let gemini = |line: &str| {
        let arguments = || line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        Agent::Gemini.presence(&ProcessContext { variable: &|_| None, arguments: &arguments })
    };
    assert_eq!(gemini("node gemini -m gemini-3-pro"), SessionPresence::Terminal);
    assert_eq!(gemini("node gemini --yolo -p hi"), SessionPresence::Headless);
    assert_eq!(gemini("node gemini --acp"), SessionPresence::Ide);
}

#[test]
fn a_turn_whose_hook_does_not_say_how_it_ended_is_completed_from_its_transcript() {
    let ended = |tail: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tails/gemini-0.61.0-{tail}.jsonl"));
        let mut heard = Agent::Gemini
            .parse_hook(&recorded(Agent::Gemini)["0.61.0/AfterAgent"], KEEPING)
            .unwrap()
            .unwrap();
        Agent::Gemini.complete_turn_end(&mut heard, &fs::read(file).unwrap(), KEEPING);
        (format!("{:?}", heard.happening), heard.ending.words)
    };
    let answer = r#"TurnEnded { background: None, answer: Some(SafeText("alpha beta")) }"#;
    assert_eq!(ended("end"), (answer.to_owned(), Some("alpha beta".to_owned())));
    for tail in ["interrupted-streaming", "interrupted-before-first-byte", "interrupted-dialog"] {
        assert_eq!(ended(tail), ("Interrupted".to_owned(), None), "{tail}");
    }
    assert_eq!(ended("error").0, "TurnFailed { failure: Other, until: None }");
}

#[test]
fn a_sent_prompt_is_distinguished_from_the_composer_and_from_answers() {
    let screen = "› fix the\n  login page\n\n• The algorithm is write tests\n\n• Working (1s)\n\n› write tests\n  gpt-5.5";
    assert!(Agent::Codex.shows_prompt(screen, "fix the login page"));
    assert!(!Agent::Codex.shows_prompt(screen, "login page"), "only part of what was typed");
    assert!(!Agent::Codex.shows_prompt(screen, "write tests"), "still in the composer");
    assert!(!Agent::Codex.shows_prompt(screen, "go"), "inside another word");
    assert!(!Agent::Codex.shows_prompt(screen, ""));
    let long = "x ".repeat(300);
    let scrolled = format!("› …\n  {}\n\n• ok\n\n› ", "x ".repeat(120));
    assert!(Agent::Codex.shows_prompt(&scrolled, &long), "the end of a long one is enough");
}

proptest! {
    #[test]
    fn no_bytes_make_an_adapter_panic(payload in proptest::collection::vec(any::<u8>(), 0..300)) {
        for agent in Agent::ALL {
            let _ = agent.parse_hook(&payload, KEEPING);
            let _ = agent.parse_hook_of(Some(named(agent, "Stop")), &payload, KEEPING);
        }
    }
}

#[test]
fn a_text_is_typed_if_nothing_else_stands_in_the_line_however_it_is_broken() {
    for agent in Agent::ALL {
        assert!(agent.input_holds("a long line that\nis broken", "a long line that is broken"));
        assert!(agent.input_holds("·", "·"));
        assert!(!agent.input_holds("half typed·", "·"));
        assert!(!agent.input_holds("", "·"));
        assert!(!agent.input_holds("/clea", "/clear"));
    }
    assert!(Agent::Claude.input_holds("[Pasted text #3 +4 lines]", "1\n2\n3\n4\n5"));
    assert!(Agent::Gemini.input_holds("[Pasted Text: 6 lines]", "1\n2\n3\n4\n5\n6"));
    assert!(Agent::Copilot.input_holds("[Paste #2 - 5 lines]", "1\n2\n3\n4\n5"));
    assert!(Agent::Opencode.input_holds("[Pasted ~5 lines]", "1\n2\n3\n4\n5"));
    assert!(Agent::Codex.input_holds("[Pasted Content 1200 chars]", &"x".repeat(1200)));
}

//! Every recorded transcript and rollout, and the pieces that are read from it.
//!
//! The renderings leave times out and shorten ids: they are there to be checked against the files by eye.
#![expect(clippy::unwrap_used, reason = "a recorded file that cannot be read fails the test")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use towline_agents::{Agent, Reader, Unreadable};
use towline_core::event::{Origin, ToolOutcome};
use towline_core::piece::{Base, Content, Piece, Stop, Tokens};

/// Recorded files of a folder, by name.
fn recorded(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files =
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

/// One whole conversation, or what one file has of it.
fn conversation(name: &str) -> Vec<u8> {
    recorded("transcripts").remove(name).unwrap()
}

fn agent_of(name: &str) -> Agent {
    Agent::named(name.split('-').next().unwrap()).unwrap()
}

fn lines(file: &[u8]) -> Vec<&[u8]> {
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    file.split(|byte| *byte == b'\n').collect()
}

fn read_all<'a>(reader: &mut Reader, lines: &[&'a [u8]]) -> Vec<Piece<'a>> {
    let mut found = vec![];
    for line in lines {
        // A tail may begin in the middle of a line.
        let _ = reader.read(line, &mut found);
    }
    found
}

fn pieces<'a>(name: &str, file: &'a [u8]) -> Vec<Piece<'a>> {
    read_all(&mut agent_of(name).reader(), &lines(file))
}

/// Ids by the order in which they are met: `uuid` becomes `id-1`, and all that is behind a `#` or `@` stays.
#[derive(Default)]
struct Short(HashMap<String, usize>);

impl Short {
    fn id(&mut self, id: &str) -> String {
        let end = id.find(['#', '@']).unwrap_or(id.len());
        let next = self.0.len() + 1;
        format!("{}{}", self.0.entry(id[..end].to_owned()).or_insert(next), &id[end..])
    }
}

fn start(text: &str) -> String {
    let plain = text.replace('\n', "⏎").replace('\u{1b}', "␛");
    let start: String = plain.chars().take(80).collect();
    if start.len() < plain.len() { format!("{start}… ({} bytes)", text.len()) } else { start }
}

fn said(what: &Content<'_>, short: &mut Short) -> String {
    match what {
        Content::Opened { session, folder, base } => {
            let folder = folder.as_deref().unwrap_or("-");
            let base = base
                .as_ref()
                .map(|base| format!(" after {} before {}", short.id(&base.session), base.before));
            format!("opened {} in {folder}{}", short.id(session), base.unwrap_or_default())
        }
        Content::Prompt { text, origin } => format!("PROMPT {origin:?}: {}", start(text)),
        Content::Answer { text } => format!("ANSWER {}", start(text)),
        Content::Thinking { text } => format!("thinking {}", start(text)),
        Content::ToolCall { call, tool, input } => format!("call {} {tool} {}", short.id(call), start(input)),
        Content::ToolResult { call, output, outcome } => {
            format!("result {} {outcome:?}: {}", short.id(call), start(output))
        }
        Content::Image { media, bytes } => format!("image {media} {bytes}"),
        Content::Note { text } => format!("note {}", start(text)),
        Content::Compacted { summary } => format!("COMPACTED {}", start(summary)),
        Content::Stopped { how, words } => format!("STOPPED {how:?} {}", start(words)),
        Content::Usage { message, model, tokens } => {
            let Tokens { input, cache_read, cache_write, output } = tokens;
            let model = model.as_deref().unwrap_or("-");
            format!("usage {} {model} {input}+{cache_read}r+{cache_write}w>{output}", short.id(message))
        }
        Content::Reverted { from } => format!("REVERTED from {from}"),
    }
}

fn rendered(pieces: &[Piece<'_>]) -> String {
    let mut short = Short::default();
    let mut rendered = String::new();
    let mut turn = None;
    for piece in pieces {
        if piece.turn != turn {
            turn = piece.turn.clone();
            let name = turn.as_ref().map_or("none".to_owned(), |turn| short.id(turn.as_str()));
            rendered.push_str(&format!("-- turn {name}\n"));
        }
        let helper = piece.subagent.as_ref().map(|helper| format!(" in {}", short.id(helper.as_str())));
        let said = said(&piece.what, &mut short);
        let line =
            format!("{:>4} [{}]{} {said}", piece.place, short.id(&piece.id), helper.unwrap_or_default());
        rendered.push_str(line.trim_end());
        rendered.push('\n');
    }
    rendered
}

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

fn prompts(name: &str, of: Origin) -> Vec<String> {
    let file = conversation(name);
    let prompt = |piece: Piece<'_>| match piece.what {
        Content::Prompt { text, origin } if origin == of => Some(text.into_owned()),
        _ => None,
    };
    pieces(name, &file).into_iter().filter_map(prompt).collect()
}

/// What was typed while the two versions were recorded, in this order.
#[test]
fn a_persons_prompts_are_told_from_all_else_that_stands_in_their_name() {
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
        assert_eq!(prompts(&name, Origin::Human), typed, "{name}");
        assert_eq!(prompts(&name, Origin::Command), ["/greet the cook", "!echo from-bang"], "{name}");
        assert_eq!(prompts(&name, Origin::Bookmark), ["·"], "{name}");
        assert_eq!(prompts(&name, Origin::Notification).len(), 1, "{name}");
    }
}

#[test]
fn what_codex_injects_is_no_prompt() {
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
    assert_eq!(prompts("codex-0.166.0-words", Origin::Human), typed);
    assert_eq!(prompts("codex-0.166.0-words", Origin::Command), ["!echo from-bang"]);
    assert_eq!(prompts("codex-0.166.0-words", Origin::Bookmark), ["·"]);
    assert_eq!(prompts("codex-0.166.0-spawn-parent", Origin::Human), ["SPAWN go"]);
    assert_eq!(prompts("codex-0.166.0-before-revert", Origin::Human), ["turn one", "turn two", "turn three"]);
}

#[test]
fn a_helper_is_asked_by_its_agent_and_not_by_a_person() {
    let of_helpers = |name: &&String| name.contains("subagent") || name.ends_with("-mate");
    let all = recorded("transcripts");
    assert_eq!(all.keys().filter(of_helpers).count(), 6);
    for name in all.keys().filter(of_helpers) {
        assert!(pieces(name, &all[name]).iter().all(|piece| piece.subagent.is_some()), "{name}");
        assert_eq!(prompts(name, Origin::Human), [""; 0], "{name}");
        assert_eq!(prompts(name, Origin::Notification).len(), 1, "{name}");
    }
    for name in all.keys().filter(|name| !of_helpers(name)) {
        assert!(pieces(name, &all[name]).iter().all(|piece| piece.subagent.is_none()), "{name}");
    }
}

/// The ids of the messages that cost something, by a reading that builds every value.
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
    };
    entries.filter_map(id).collect()
}

#[test]
fn what_a_message_cost_is_told_once() {
    for (name, file) in &recorded("transcripts") {
        let all = pieces(name, file);
        let told = |piece: &Piece<'_>| match &piece.what {
            Content::Usage { message, .. } => Some(message.clone().into_owned()),
            _ => None,
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
        let seen = |pieces: Vec<Piece<'_>>| {
            let is_opening = |piece: &Piece<'_>| matches!(piece.what, Content::Opened { .. });
            let kept = pieces.iter().filter(|piece| !is_opening(piece));
            kept.map(|piece| (piece.id.clone().into_owned(), format!("{:?}", piece.what)))
                .collect::<BTreeSet<_>>()
        };
        let (source, fork) = (seen(pieces(&source, &source_file)), seen(pieces(&fork, &fork_file)));
        assert!(source.is_subset(&fork) && source.len() > 8, "{:?}", source.difference(&fork));
    }
}

fn read_one(agent: Agent, values: &[Value]) -> Vec<String> {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let lines: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let mut short = Short::default();
    read_all(&mut agent.reader(), &lines).iter().map(|piece| said(&piece.what, &mut short)).collect()
}

fn user(uuid: &str, parent: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": "2026-11-15T00:00:00Z",
        "message": {"role": "user", "content": text}})
}

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-11-15T00:00:00Z", "type": "response_item", "payload": payload})
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "2026-11-15T00:00:00Z", "type": "event_msg", "payload": payload})
}

#[test]
fn a_client_that_names_no_sources_is_read_by_its_words() {
    let halted = user("c", "b", "Operation stopped by hook: x");
    let mut named = user("a", "", "hello");
    named["promptSource"] = json!("typed");
    let note = "note Operation stopped by hook: x";
    assert_eq!(read_one(Agent::Claude, &[named, halted.clone()]), ["PROMPT Human: hello", note]);
    let older = read_one(Agent::Claude, &[user("a", "", "hello"), halted]);
    assert_eq!(older, ["PROMPT Human: hello", "PROMPT Human: Operation stopped by hook: x"]);
}

#[test]
fn a_helper_without_a_file_of_its_own_is_still_a_helper() {
    let mut aside = user("b", "a", "look around");
    aside["isSidechain"] = json!(true);
    let text = aside.to_string();
    let found = read_all(&mut Agent::Claude.reader(), &[text.as_bytes()]);
    assert_eq!(found[0].subagent.as_ref().unwrap().as_str(), "sidechain");
}

#[test]
fn what_an_editor_puts_beside_a_prompt_is_a_note() {
    let mut entry = user("a", "", "");
    let opened = json!({"type": "text", "text": "<ide_opened_file>x.rs</ide_opened_file>"});
    entry["message"]["content"] = json!([opened, {"type": "text", "text": "mend it"}]);
    let found = read_one(Agent::Claude, &[entry]);
    assert_eq!(found, ["PROMPT Human: mend it", "note <ide_opened_file>x.rs</ide_opened_file>"]);
}

#[test]
fn a_command_that_is_no_prompt_is_a_note() {
    let local = "<command-name>/model</command-name>\n  <command-message>model</command-message>\n  <command-args>x</command-args>";
    assert_eq!(read_one(Agent::Claude, &[user("a", "", local)]), ["note /model x"]);
    let chosen =
        "<command-message>The \"pdf\" skill is running</command-message>\n<command-name>pdf</command-name>";
    assert_eq!(read_one(Agent::Claude, &[user("a", "", chosen)]), ["note pdf"]);
    let output = "<local-command-stdout>one </local-command-stdout> two</local-command-stdout>";
    assert_eq!(read_one(Agent::Claude, &[user("a", "", output)]), ["note one </local-command-stdout> two"]);
    let silent = "<local-command-stdout></local-command-stdout>";
    assert_eq!(read_one(Agent::Claude, &[user("a", "", silent)]), [""; 0]);
}

#[test]
fn a_prompt_that_follows_what_an_earlier_one_followed_takes_that_one_back() {
    let went =
        [user("b", "a", "one"), user("c", "b", "two"), user("d", "c", "three"), user("e", "b", "two again")];
    let expected = [
        "PROMPT Human: one",
        "PROMPT Human: two",
        "PROMPT Human: three",
        "REVERTED from 1",
        "PROMPT Human: two again",
    ];
    assert_eq!(read_one(Agent::Claude, &went), expected);
}

#[test]
fn a_cost_that_is_corrected_is_told_again_under_its_id() {
    let answer = |uuid: &str, output: u64| {
        json!({"type": "assistant", "uuid": uuid, "message": {"id": "msg_1", "model": "m",
            "content": [{"type": "text", "text": uuid}], "usage": {"input_tokens": 5, "output_tokens": output}}})
    };
    let found = read_one(Agent::Claude, &[answer("a", 1), answer("b", 1), answer("c", 30)]);
    let expected = ["ANSWER a", "usage 1 m 5+0r+0w>1", "ANSWER b", "ANSWER c", "usage 1 m 5+0r+0w>30"];
    assert_eq!(found, expected);
}

#[test]
fn a_limit_is_told_from_other_failures() {
    let stops = |name: &str| {
        let file = recorded("tails").remove(name).unwrap();
        let stop = |piece: Piece<'_>| match piece.what {
            Content::Stopped { how, .. } => Some(how),
            _ => None,
        };
        pieces(name, &file).into_iter().filter_map(stop).collect::<Vec<_>>()
    };
    for name in ["claude-2.1.197-limit", "claude-2.1.325-limit-session", "codex-0.166.0-limit"] {
        assert_eq!(stops(name).last(), Some(&Stop::Limited), "{name}");
    }
    for name in ["claude-2.1.197-error", "claude-2.1.325-error", "codex-0.166.0-error"] {
        assert_eq!(stops(name).last(), Some(&Stop::Failed), "{name}");
    }
    for name in ["claude-2.1.197-interrupted-tool", "codex-0.166.0-interrupted"] {
        assert_eq!(stops(name).last(), Some(&Stop::Interrupted), "{name}");
    }
}

#[test]
fn a_tool_that_was_stopped_while_it_ran_was_interrupted() {
    let mut entry = user("a", "", "");
    entry["message"]["content"] = json!([{"type": "tool_result", "tool_use_id": "t", "content": "half"}]);
    entry["toolUseResult"] = json!({"stdout": "half", "interrupted": true});
    assert_eq!(read_one(Agent::Claude, &[entry]), ["result 1 Interrupted: half"]);
}

/// A fork holds only the rest, and says of whom; a revert holds only the rest of its own thread.
#[test]
fn a_file_that_holds_only_the_rest_says_what_it_goes_on_from() {
    let opening = |name: &str| {
        let file = conversation(name);
        pieces(name, &file).into_iter().take(2).map(|piece| format!("{:?}", piece.what)).collect::<Vec<_>>()
    };
    let fork = opening("codex-0.166.0-fork-delta");
    let base = Base { session: "00000000-0000-7000-8000-000000000153".into(), before: 34 };
    assert!(fork[0].contains(&format!("{base:?}")) && !fork[1].starts_with("Reverted"), "{fork:?}");
    let revert = opening("codex-0.166.0-words-reverted");
    assert!(revert[0].ends_with("base: None }") && revert[1] == "Reverted { from: 212 }", "{revert:?}");
}

#[test]
fn an_older_rollout_is_read_by_its_words() {
    let message = |text: &str| {
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let injected = [
        "<environment_context>\n</environment_context>",
        "# AGENTS.md instructions for /x",
        "<user_instructions>be kind</user_instructions>",
        "<turn_aborted>\n</turn_aborted>",
    ];
    let mut lines: Vec<Value> = injected.into_iter().map(message).collect();
    lines.push(event(json!({"type": "user_message", "message": "hello", "images": []})));
    lines.push(message("hello"));
    lines.push(event(json!({"type": "agent_message", "message": "hi"})));
    lines.push(item(
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}),
    ));
    assert_eq!(read_one(Agent::Codex, &lines), ["PROMPT Human: hello", "ANSWER hi"]);
}

#[test]
fn older_rollouts_count_what_a_response_cost_and_repeat_the_count() {
    let count = |total: u64| {
        let usage = json!({"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2});
        let info = json!({"total_token_usage": {"total_tokens": total}, "last_token_usage": usage});
        event(json!({"type": "token_count", "info": info}))
    };
    let found = read_one(Agent::Codex, &[count(12), count(12), count(24)]);
    assert_eq!(found, ["usage 1@0 - 6+4r+0w>2", "usage 1@2 - 6+4r+0w>2"]);
}

#[test]
fn an_older_rollback_takes_back_the_last_turns_of_its_file() {
    let started = |turn: &str| event(json!({"type": "task_started", "turn_id": turn}));
    let message = |text: &str| {
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let back = |turns: u64| event(json!({"type": "thread_rolled_back", "num_turns": turns}));
    let (one, two, more) = (message("one"), message("two"), message("and more"));
    let found = read_one(Agent::Codex, &[started("t1"), one, started("t2"), two, more, back(1)]);
    assert_eq!(found.last().unwrap(), "REVERTED from 3");
    assert_eq!(read_one(Agent::Codex, &[back(7)]), [""; 0]);
}

#[test]
fn how_a_command_ended_is_known_in_every_format() {
    let outcome = |output: Value| {
        let text =
            item(json!({"type": "function_call_output", "call_id": "c", "output": output})).to_string();
        match &read_all(&mut Agent::Codex.reader(), &[text.as_bytes()])[..] {
            [Piece { what: Content::ToolResult { outcome, .. }, .. }] => *outcome,
            other => unreachable!("{other:?}"),
        }
    };
    let done = [
        "Exit code: 0\nOutput:\nExit code: 1",
        "",
        "it failed: badly",
        r#"{"output":"x","metadata":{"exit_code":0}}"#,
    ];
    done.into_iter().for_each(|output| assert_eq!(outcome(json!(output)), ToolOutcome::Done, "{output}"));
    let failed = [
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n",
        "Exit code: 1\nWall time: 0 seconds\nOutput:\n",
        "apply_patch verification failed: no such file",
        "write_stdin failed: Unknown process id 1",
        "unsupported call: x",
        r#"{"output":"x","metadata":{"exit_code":127,"duration_seconds":0.1}}"#,
    ];
    failed.into_iter().for_each(|output| assert_eq!(outcome(json!(output)), ToolOutcome::Failed, "{output}"));
    assert_eq!(outcome(json!("Wall time: 2.7 seconds\naborted by user")), ToolOutcome::Interrupted);
    assert_eq!(outcome(json!([{"type": "input_text", "text": "Exit code: 9"}])), ToolOutcome::Failed);
}

#[test]
fn a_call_that_an_event_says_has_failed_has_failed() {
    let failed = json!({"type": "McpToolCall", "id": "c", "status": "failed"});
    let output = item(json!({"type": "function_call_output", "call_id": "c", "output": "no words of it"}));
    let found = read_one(Agent::Codex, &[event(json!({"type": "item_completed", "item": failed})), output]);
    assert_eq!(found, ["result 1 Failed: no words of it"]);
}

#[test]
fn an_older_shell_call_is_a_call_like_any_other() {
    let action = json!({"type": "exec", "command": ["ls", "-l"]});
    let call =
        item(json!({"type": "local_shell_call", "call_id": "c", "status": "completed", "action": action}));
    assert_eq!(
        read_one(Agent::Codex, &[call]),
        [r#"call 1 local_shell {"command":["ls","-l"],"type":"exec"}"#]
    );
}

#[test]
fn what_is_no_line_of_the_format_is_refused_or_passed_over() {
    for agent in Agent::ALL {
        let mut reader = agent.reader();
        let mut found = vec![];
        for line in [&b"{"[..], b"{\"uuid\":\"a", b"[1", b"\"text\"", b"7", b"null", b"{} {}"] {
            assert_eq!(reader.read(line, &mut found), Err(Unreadable::NotJson), "{line:?}");
        }
        assert_eq!(reader.read(b"{\"uuid\":\"\xff\"}", &mut found), Err(Unreadable::NotText));
        for line in
            [&b""[..], b"  \r", b"{}", b"{\"type\":\"of-tomorrow\",\"payload\":[1]}", b"{\"type\":{}}"]
        {
            assert_eq!(reader.read(line, &mut found), Ok(()), "{line:?}");
        }
        assert_eq!(found, []);
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_one_piece() {
    let bulk = "line\\n\\\"quoted\\\" ".repeat(50 * 1024 * 1024 / 17);
    let claude = format!(
        r#"{{"type":"user","uuid":"a","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{bulk}"}}]}}}}"#
    );
    let codex = format!(
        r#"{{"type":"response_item","payload":{{"type":"function_call_output","id":"a","call_id":"t","output":"{bulk}"}}}}"#
    );
    for (agent, line) in [(Agent::Claude, claude), (Agent::Codex, codex)] {
        let mut found = vec![];
        agent.reader().read(line.as_bytes(), &mut found).unwrap();
        assert!(
            matches!(&found[..], [Piece { what: Content::ToolResult { output, .. }, .. }] if output.len() > 40_000_000)
        );
    }
}

#[test]
fn no_nesting_is_too_deep() {
    let deep = "[".repeat(2_000_000);
    let opened =
        [r#"{"type":"user","message":{"content":"#, r#"{"type":"response_item","payload":{"content":"#];
    for (agent, open) in Agent::ALL.into_iter().zip(opened) {
        let half = format!("{open}{deep}");
        assert_eq!(agent.reader().read(half.as_bytes(), &mut vec![]), Err(Unreadable::NotJson));
    }
    let whole = format!(r#"{{"type":"user","uuid":"a","message":{deep}{}}}"#, "]".repeat(deep.len()));
    assert_eq!(Agent::Claude.reader().read(whole.as_bytes(), &mut vec![]), Ok(()));
}

fn kept(reader: &Reader) -> Reader {
    serde_json::from_str(&serde_json::to_string(reader).unwrap()).unwrap()
}

#[test]
fn a_reader_stays_small_however_much_it_reads() {
    for agent in Agent::ALL {
        let files: Vec<_> =
            recorded("transcripts").into_iter().filter(|(name, _)| agent_of(name) == agent).collect();
        let mut reader = agent.reader();
        for _ in 0..30 {
            files.iter().for_each(|(_, file)| drop(read_all(&mut reader, &lines(file))));
        }
        for number in 0..1000 {
            let prompt = user(&format!("u{number}"), &format!("p{number}"), "again").to_string();
            let _ = reader.read(prompt.as_bytes(), &mut vec![]);
        }
        assert!(serde_json::to_string(&reader).unwrap().len() < 4096);
    }
}

#[test]
fn a_reader_kept_by_an_older_version_is_still_understood() {
    for (agent, text) in [(Agent::Claude, r#"{"claude":{}}"#), (Agent::Codex, r#"{"codex":{"gone":1}}"#)] {
        assert_eq!(serde_json::from_str::<Reader>(text).unwrap(), agent.reader());
    }
}

/// What may stand where something else is expected.
const OTHERS: [&str; 9] = ["null", "true", "-7", "1e400", "\"\"", "\"·\"", "[]", "{}", "[[{\"type\":[]}]]"];

/// Puts something else in the place of one value, counted in the order of the text.
fn spoiled(value: &mut Value, at: &mut usize, other: &Value) {
    if *at == 0 {
        *value = other.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| spoiled(value, at, other)),
        Value::Object(map) => map.values_mut().for_each(|value| spoiled(value, at, other)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn any_file() -> impl Strategy<Value = (String, Vec<u8>)> {
    select(recorded("transcripts").into_iter().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn captures_at_any_lines_find_what_one_reading_finds(
        (name, file) in any_file(),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let lines = lines(&file);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len() + 1)).collect();
        cuts.extend([0, lines.len()]);
        cuts.sort_unstable();
        let mut reader = agent_of(&name).reader();
        let mut found = vec![];
        for capture in cuts.windows(2) {
            reader = kept(&reader);
            found.extend(read_all(&mut reader, &lines[capture[0]..capture[1]]));
        }
        prop_assert_eq!(found, read_all(&mut agent_of(&name).reader(), &lines));
    }

    #[test]
    fn no_line_is_too_damaged_to_be_read(
        (name, file) in any_file(),
        line in any::<Index>(),
        (at, other, end) in (any::<Index>(), select(&OTHERS[..]), any::<Index>()),
    ) {
        let lines = lines(&file);
        let line = lines[line.index(lines.len())];
        let mut value: Value = serde_json::from_slice(line).unwrap();
        let other = serde_json::from_str(other).unwrap_or(Value::Null);
        spoiled(&mut value, &mut at.index(60), &other);
        let text = value.to_string();
        for agent in [agent_of(&name), Agent::Claude, Agent::Codex] {
            let mut reader = agent.reader();
            let mut found = vec![];
            let half = &line[..end.index(line.len())];
            let refused = reader.read(half, &mut found);
            prop_assert!(refused.is_err() || found.is_empty(), "half a line gave {found:?}");
            prop_assert_eq!(reader.read(text.as_bytes(), &mut found).is_ok(), value.is_object() || value.is_array());
            kept(&reader);
        }
    }
}

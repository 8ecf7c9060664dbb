//! Claude Code transcripts that could not be recorded: older clients, editors, rewinds.

use super::*;

pub fn user(uuid: &str, parent: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": "2026-11-15T00:00:00Z",
        "message": {"role": "user", "content": text}})
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
fn a_subagent_without_a_file_of_its_own_is_still_a_subagent() {
    let mut aside = user("b", "a", "look around");
    aside["isSidechain"] = json!(true);
    let text = aside.to_string();
    let found = read_all(&mut Agent::Claude.reader(), &[text.as_bytes()]);
    assert_eq!(found[0].subagent.as_ref().unwrap().as_str(), "sidechain");
}

#[test]
fn text_that_an_editor_adds_to_a_prompt_is_a_note() {
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

/// As 2.1.325 writes them: a new first prompt follows the last entry of the conversation that it replaces.
#[test]
fn a_prompt_that_the_client_numbers_as_the_first_again_takes_the_whole_conversation_back() {
    let numbered = |uuid: &str, parent: &str, text: &str, position: (&str, u32)| {
        let mut entry = user(uuid, parent, text);
        (entry["promptId"], entry["turnPosition"]) = (json!(position.0), json!({"turnIndex": position.1}));
        entry
    };
    let mut first = numbered("b", "", "one", ("p1", 1));
    first["parentUuid"] = Value::Null;
    let joined = numbered("c", "b", "one more", ("p1", 1));
    let went = [first, joined, numbered("d", "c", "two", ("p2", 2)), numbered("e", "d", "anew", ("p3", 1))];
    let [one, more, two, anew] =
        ["one", "one more", "two", "anew"].map(|text| format!("PROMPT Human: {text}"));
    assert_eq!(read_one(Agent::Claude, &went), [&one, &more, &two, "REVERTED from 0", &anew]);
    let mut summary = user("s", "d", "it was said");
    summary["isCompactSummary"] = json!(true);
    let [first, joined, second, last] = went;
    let found = read_one(Agent::Claude, &[first, joined, second, summary, last]);
    assert!(!found.iter().any(|line| line.starts_with("REVERTED")), "the first since a summary: {found:?}");
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
fn corrected_usage_is_reported_again_under_its_id() {
    let answer = |uuid: &str, output: u64| {
        json!({"type": "assistant", "uuid": uuid, "message": {"id": "msg_1", "model": "m",
            "content": [{"type": "text", "text": uuid}], "usage": {"input_tokens": 5, "output_tokens": output}}})
    };
    let found = read_one(Agent::Claude, &[answer("a", 1), answer("b", 1), answer("c", 30)]);
    let expected = ["ANSWER a", "usage 1 m 5+0r+0w>1", "ANSWER b", "ANSWER c", "usage 1 m 5+0r+0w>30"];
    assert_eq!(found, expected);
}

#[test]
fn a_tool_that_was_stopped_while_it_ran_was_interrupted() {
    let mut entry = user("a", "", "");
    entry["message"]["content"] = json!([{"type": "tool_result", "tool_use_id": "t", "content": "half"}]);
    entry["toolUseResult"] = json!({"stdout": "half", "interrupted": true});
    assert_eq!(read_one(Agent::Claude, &[entry]), ["result 1 Interrupted: half"]);
}

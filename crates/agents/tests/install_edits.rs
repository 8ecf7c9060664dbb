//! Edits of settings files of every shape by an installation. Touches no file.
#![expect(clippy::unwrap_used, reason = "a refusal where none is due fails the test")]

use std::path::Path;

use serde_json::{Value, json};
use towline_agents::settings::{
    Containers, EditPlan, EntryChange, EntryFault, ManagedContent, RefusalCause, Target,
};
use towline_agents::{claude, codex};

const RIGHT: &str = r#"{"type":"command","command":"/opt/tow","args":["hook","claude"],"timeout":5}"#;

fn claude() -> Target {
    claude::install::target(Path::new("/home/a/.claude"), Path::new("/opt/tow")).unwrap()
}

fn codex() -> Target {
    codex::install::target(Path::new("/home/a/.codex"), Path::new("/opt/tow")).unwrap()
}

fn installed(target: &Target, text: &str) -> String {
    let plan = target.plan(Some(text.as_bytes())).unwrap();
    let after = plan.after.unwrap();
    let again = target.plan(Some(&after)).unwrap();
    assert!(again.is_empty() && again.changes.is_empty(), "a second run changes nothing: {}", again.diff());
    assert!(target.inspect(Some(&after)).unwrap().is_up_to_date());
    String::from_utf8(after).unwrap()
}

fn removed(target: &Target, text: &str) -> String {
    let plan = target.plan_removal(Some(text.as_bytes()), &Containers::default()).unwrap();
    String::from_utf8(plan.after.unwrap()).unwrap()
}

fn stop_list(target: &Target, text: &str) -> Value {
    let after: Value = serde_json::from_str(&installed(target, text)).unwrap();
    after["hooks"]["Stop"].clone()
}

/// Installs into a file whose `Stop` list is `list`, and checks that list.
#[track_caller]
fn check_stop(list: &str, expected: Value) {
    let found = stop_list(&claude(), &format!(r#"{{"hooks":{{"Stop":{list}}}}}"#));
    assert_eq!(shortened(found), expected);
}

/// Replaces our correct entry, which is long, by the word OURS.
fn shortened(value: Value) -> Value {
    match value {
        ours if ours == serde_json::from_str::<Value>(RIGHT).unwrap() => json!("OURS"),
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, shortened(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[track_caller]
fn refusal(text: &[u8]) -> RefusalCause {
    let refused = claude().plan(Some(text)).unwrap_err();
    assert!(!refused.hint().is_empty());
    assert_eq!(refused.to_string(), "did not edit /home/a/.claude/settings.json");
    refused.cause
}

#[test]
fn new_file_registers_every_event_once_in_exec_form() {
    let plan = claude().plan(None).unwrap();
    let after: Value = serde_json::from_slice(plan.after.as_deref().unwrap()).unwrap();
    let events = after["hooks"].as_object().unwrap();
    assert_eq!(events.len(), claude::install::EVENTS.len());
    for event in claude::install::EVENTS {
        let group = match *event {
            "PreToolUse" => json!({"matcher": "Agent|Task", "hooks": ["OURS"]}),
            _ => json!({"hooks": ["OURS"]}),
        };
        assert_eq!(shortened(events[*event].clone()), json!([group]), "{event}");
        assert!(plan.changes.contains(&EntryChange::Added { event: (*event).to_owned() }));
    }
    assert!(plan.after.unwrap().ends_with(b"}\n"));
}

#[test]
fn new_file_is_written_as_the_client_would_write_it() {
    let after = String::from_utf8(claude().plan(None).unwrap().after.unwrap()).unwrap();
    let head = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \
                \"type\": \"command\",\n            \"command\": \"/opt/tow\",\n            \"args\": [\n              \
                \"hook\",\n              \"claude\"\n            ],\n            \"timeout\": 5\n          }\n        \
                ]\n      }\n    ],\n    \"SessionEnd\": [\n";
    assert!(after.starts_with(head), "{after}");
}

#[test]
fn codex_is_given_a_shell_line_and_no_more_time_than_it_allows() {
    let plan = codex().plan(None).unwrap();
    let after: Value = serde_json::from_slice(&plan.after.unwrap()).unwrap();
    assert_eq!(after["hooks"].as_object().unwrap().len(), codex::install::EVENTS.len());
    let entry = |event: &str| after["hooks"][event][0]["hooks"][0].clone();
    assert_eq!(entry("Stop"), json!({"type": "command", "command": "/opt/tow hook codex", "timeout": 5}));
    assert_eq!(entry("SessionEnd")["timeout"], json!(3));
    assert_eq!(entry("Interrupt")["timeout"], json!(3));
}

#[test]
fn path_with_a_blank_is_quoted_for_the_shell() {
    let target = codex::install::target(Path::new("/c"), Path::new("/my tools/tow")).unwrap();
    let after = String::from_utf8(target.plan(None).unwrap().after.unwrap()).unwrap();
    assert!(after.contains(r#""command": "'/my tools/tow' hook codex""#), "{after}");
    installed(&target, &after);
}

#[test]
fn relative_path_is_not_registered() {
    let refused = claude::install::target(Path::new("/c"), Path::new("bin/tow")).unwrap_err();
    assert!(matches!(refused.cause, RefusalCause::BadCommand { .. }));
}

#[test]
fn every_shape_of_foreign_hook_stays_as_it_is() {
    for foreign in [
        r#"{"type":"command","command":"lint | tee x"}"#,
        r#"{"type":"command","command":"/bin/x","args":["hook","claude"],"timeout":9}"#,
        r#"{"type":"command","command":"x","async":true,"asyncRewake":true,"statusMessage":"…"}"#,
        r#"{"type":"command","if":"Bash(git *)","command":"x","shell":"bash"}"#,
        r#"{"type":"http","url":"http://127.0.0.1/x","headers":{"a":"b"}}"#,
        r#"{"type":"prompt","prompt":"is it done? $ARGUMENTS","model":"m"}"#,
        r#"{"type":"agent","prompt":"look"}"#,
        r#"{"type":"mcp_tool","server":"s","tool":"t","input":{"p":"${prompt}"}}"#,
        r#"{"type":"of-tomorrow","x":[1,{"y":null}]}"#,
    ] {
        let value: Value = serde_json::from_str(foreign).unwrap();
        check_stop(
            &format!(r#"[{{"hooks":[{foreign}]}}]"#),
            json!([{"hooks": [value]}, {"hooks": ["OURS"]}]),
        );
        check_stop(
            &format!(r#"[{{"matcher":"a|b","hooks":[{foreign},{foreign}],"x":1}}]"#),
            json!([{"matcher": "a|b", "hooks": [value, value], "x": 1}, {"hooks": ["OURS"]}]),
        );
        let text = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[ {foreign} ]}}]}}}}"#);
        assert!(installed(&claude(), &text).contains(&format!("[ {foreign} ]")));
        assert_eq!(removed(&claude(), &installed(&claude(), &text)), text);
    }
}

#[test]
fn odd_groups_of_others_stay_as_they_are() {
    check_stop(r#"[null, 1, "x", {}, {"hooks":{}}, {"hooks":[null, []]}]"#, {
        json!([null, 1, "x", {}, {"hooks": {}}, {"hooks": [null, []]}, {"hooks": ["OURS"]}])
    });
}

#[test]
fn own_entry_of_any_older_form_is_upgraded_where_it_stands() {
    for old in [
        r#"{"type":"command","command":"tow hook claude"}"#,
        r#"{"type":"command","command":"'/old path/tow' hook claude","timeout":60}"#,
        r#"{"type":"command","command":"/elsewhere/tow","args":["hook","claude"],"timeout":5}"#,
        r#"{"type":"command","command":"/opt/tow","args":["hook","claude"],"timeout":6}"#,
        r#"{"type":"command","command":"/opt/tow","args":["hook","claude","-v"],"timeout":5,"async":true}"#,
    ] {
        check_stop(
            &format!(r#"[{{"hooks":[{old}]}},{{"hooks":[]}}]"#),
            json!([{"hooks": ["OURS"]}, {"hooks": []}]),
        );
        check_stop(
            &format!(r#"[{{"hooks":["a",{old},"b"]}},{{"x":1}}]"#),
            json!([{"hooks": ["a", "OURS", "b"]}, {"x": 1}]),
        );
    }
}

#[test]
fn upgrade_keeps_the_layout_of_the_entry() {
    let text = "{\n \"hooks\": {\n  \"Stop\": [\n   { \"hooks\": [ {\"type\": \"command\", \"command\": \"tow hook claude\"} ] }\n  ]\n }\n}";
    let line = "   { \"hooks\": [ {\"type\": \"command\", \"command\": \"/opt/tow\", \"args\": [\"hook\", \"claude\"], \"timeout\": 5} ] }\n";
    assert!(installed(&claude(), text).contains(line));
}

#[test]
fn duplicates_of_ours_are_one_afterwards() {
    check_stop(
        &format!(
            r#"[{{"hooks":[{{"type":"command","command":"tow hook claude"}}]}},{{"hooks":["x",{RIGHT}]}},{{"hooks":[{RIGHT}]}}]"#
        ),
        json!([{"hooks": ["x", "OURS"]}]),
    );
}

#[test]
fn entry_behind_a_matcher_is_freed() {
    check_stop(&format!(r#"[{{"matcher":"Bash","hooks":[{RIGHT}]}}]"#), json!([{"hooks": ["OURS"]}]));
    check_stop(
        &format!(r#"[{{"matcher":"Bash","hooks":[{RIGHT},"x"]}}]"#),
        json!([{"matcher": "Bash", "hooks": ["x"]}, {"hooks": ["OURS"]}]),
    );
    check_stop(
        &format!(r#"[{{"matcher":"*","hooks":[{RIGHT}]}}]"#),
        json!([{"matcher": "*", "hooks": ["OURS"]}]),
    );
}

#[test]
fn entry_for_an_event_that_we_no_longer_register_goes() {
    let text = format!(
        r#"{{"hooks":{{"MessageDisplay":[{{"hooks":[{RIGHT}]}}],"Setup":[{{"hooks":[{RIGHT}]}},{{"hooks":["x"]}}]}}}}"#
    );
    let plan = claude().plan(Some(text.as_bytes())).unwrap();
    let after: Value = serde_json::from_slice(plan.after.as_deref().unwrap()).unwrap();
    assert_eq!(after["hooks"].get("MessageDisplay"), None);
    assert_eq!(after["hooks"]["Setup"], json!([{"hooks": ["x"]}]));
    assert!(
        plan.changes.contains(&EntryChange::Removed { event: "Setup".to_owned(), was: RIGHT.to_owned() })
    );
}

#[test]
fn codex_entries_of_others_keep_their_places() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"tow hook codex"}]},{"hooks":["x"]}],
        "MessageDisplay":[{"hooks":[{"type":"command","command":"tow hook codex"}]},{"hooks":["y"]},{"hooks":[{"type":"command","command":"tow hook codex"}]}]}}"#;
    let list = stop_list(&codex(), text);
    assert_eq!(list[0]["hooks"][0]["command"], json!("/opt/tow hook codex"));
    assert_eq!(list[1], json!({"hooks": ["x"]}));
    let after: Value = serde_json::from_str(&installed(&codex(), text)).unwrap();
    assert_eq!(after["hooks"]["MessageDisplay"], json!([{"hooks": []}, {"hooks": ["y"]}]));
    let gone: Value = serde_json::from_str(&removed(&codex(), text)).unwrap();
    assert_eq!(gone["hooks"]["Stop"], json!([{"hooks": []}, {"hooks": ["x"]}]));
}

#[test]
fn layout_of_the_file_is_kept() {
    for text in [
        "{\n  \"a\": 1\n}\n",
        "{\n \"a\": 1\n}",
        "{\n    \"hooks\": {\n        \"MessageDisplay\": []\n    },\n    \"z\": 1\n}\n\n",
        "{\r\n\t\"a\": {},\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [{\r\n\t\t\t\"hooks\": []\r\n\t\t}]\r\n\t}\r\n}\r\n",
        "\u{feff}{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[1]}],\"Notification\":[2]}}",
        "  { \"a\": 1, \"a\": 2 }  ",
    ] {
        let after = installed(&claude(), text);
        let (has_crlf, has_lf) = (after.contains("\r\n"), after.replace("\r\n", "").contains('\n'));
        assert_eq!((has_crlf, has_lf), (text.contains("\r\n"), text.replace("\r\n", "").contains('\n')));
        assert_eq!(removed(&claude(), &after), text, "taking out what was put in gives the same bytes");
    }
}

#[test]
fn blank_file_counts_as_no_settings() {
    let fresh = claude().plan(None).unwrap().after;
    for blank in [&b""[..], b"\n", b" \r\n\t"] {
        assert_eq!(claude().plan(Some(blank)).unwrap().after, fresh);
        assert!(claude().plan_removal(Some(blank), &Containers::default()).unwrap().is_empty());
    }
}

#[test]
fn repeated_keys_stay_and_the_last_one_is_edited() {
    let text = r#"{"hooks":{"Stop":"first"},"hooks":{"Stop":[1],"Stop":[2]}}"#;
    let after = installed(&claude(), text);
    assert!(after.starts_with(r#"{"hooks":{"Stop":"first"},"hooks":{"Stop":[1],"Stop":[2,{"#), "{after}");
    assert_eq!(removed(&claude(), &after), text);
}

#[test]
fn containers_that_we_emptied_go_and_others_stay() {
    let text = format!(r#"{{"a":1,"hooks":{{"MessageDisplay":[],"Stop":[{{"hooks":[{RIGHT}]}}]}}}}"#);
    assert_eq!(removed(&claude(), &text), r#"{"a":1,"hooks":{"MessageDisplay":[]}}"#);
    let text = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{RIGHT}]}}]}},"b":1}}"#);
    assert_eq!(removed(&claude(), &text), r#"{"b":1}"#);
}

#[test]
fn file_that_is_not_a_settings_object_is_refused() {
    assert!(matches!(refusal(b"{\"a\": \xff}"), RefusalCause::NotText { at: 6 }));
    assert!(matches!(refusal(b"{\n  // no\n}"), RefusalCause::NotJson { line: 2, column: 3, .. }));
    assert!(matches!(refusal(b"{\"a\": 1"), RefusalCause::NotJson { line: 1, .. }));
    assert!(matches!(refusal(b"{} {}"), RefusalCause::NotJson { line: 1, column: 4, .. }));
    assert!(matches!(refusal(b"[]"), RefusalCause::RootNotObject));
    assert!(matches!(refusal(b"\"hooks\""), RefusalCause::RootNotObject));
    assert!(matches!(refusal(br#"{"hooks": []}"#), RefusalCause::HooksNotObject));
    assert!(matches!(refusal(br#"{"hooks": null}"#), RefusalCause::HooksNotObject));
    let refused = refusal(br#"{"hooks": {"Stop": {}}}"#);
    assert!(matches!(refused, RefusalCause::ListNotArray { event } if event == "Stop"));
}

#[test]
fn refusal_names_the_thing_the_cause_and_the_next_step() {
    let refused = claude().plan(Some(b"{\n  \"a\": 1,\n}\n")).unwrap_err();
    assert_eq!(refused.cause.to_string(), "line 3, column 1 is not valid JSON: key must be a string");
    assert_eq!(
        refused.hint(),
        "Fix line 3 of /home/a/.claude/settings.json (comments and trailing commas are not JSON), then run the command again."
    );
}

#[test]
fn diff_shows_only_what_changes() {
    let target = Target::new("claude", "/s.json".into(), towline_agents::settings::EntryOrder::Free)
        .with_entries(claude().all_wanted().iter().filter(|wanted| wanted.event() == "Stop").cloned());
    let plan = target.plan(Some(b"{\n  \"hooks\": {\"Stop\": []},\n  \"z\": 1\n}\n")).unwrap();
    assert_eq!(plan.changes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["add Stop"]);
    let diff = plan.diff();
    assert!(diff.starts_with("--- /s.json\n+++ /s.json\n@@ -1,4 +1,"), "{diff}");
    assert!(diff.contains("\n-  \"hooks\": {\"Stop\": []},\n") && diff.contains("\n   \"z\": 1\n"), "{diff}");
    assert!(target.plan(None).unwrap().diff().starts_with("--- /dev/null\n+++ /s.json\n"));
    let same = EditPlan { before: plan.after.clone(), ..plan };
    assert_eq!(same.diff(), "");
}

#[test]
fn inspection_tells_right_stale_and_missing_apart() {
    let text = format!(
        r#"{{"disableAllHooks":true,"hooks":{{"Stop":[{{"hooks":["x",{RIGHT}]}},{{"hooks":[{RIGHT}]}}],
        "SessionStart":[{{"hooks":[{{"type":"command","command":"tow hook claude"}}]}}],
        "Notification":[{{"matcher":"x","hooks":[{RIGHT}]}}],"PreToolUse":[{{"hooks":[{RIGHT}]}}],"MessageDisplay":[{{"hooks":[{RIGHT}]}}]}}}}"#
    );
    let found = claude().inspect(Some(text.as_bytes())).unwrap();
    assert!(!found.is_up_to_date());
    assert_eq!(found.silenced_by, Some("disableAllHooks"));
    let right: Vec<_> = found.right.iter().map(|e| (e.event.as_str(), e.group, e.index)).collect();
    assert_eq!(right, [("Stop", 0, 1)]);
    let stale: Vec<_> = found.stale.iter().map(|(e, fault)| (e.event.as_str(), *fault)).collect();
    assert_eq!(
        stale,
        [
            ("Stop", EntryFault::Duplicate),
            ("SessionStart", EntryFault::Outdated),
            ("Notification", EntryFault::Confined),
            ("PreToolUse", EntryFault::Confined),
            ("MessageDisplay", EntryFault::Unwanted)
        ]
    );
    assert_eq!(found.missing.len(), claude::install::EVENTS.len() - 4);
    assert!(!found.missing.contains(&"Stop"));
}

//! Bookmarks through the real binary: payloads in, rows and replies out, by a clock that the test holds.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod common;

use common::{hermetic, key, payload, store_in};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use towline_core::id::SessionKey;
use towline_store::DataFolder;
use towline_testkit::{TestEnv, wait};

const START: i64 = 1_794_744_000_000;
const ID: &str = "0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d";
const SHORT: &str = "1a2b3c4d";

/// A session of an agent in the project of the environment, and its clock.
struct Desk {
    env: TestEnv,
    agent: &'static str,
    now: Cell<i64>,
}

impl Desk {
    fn of(agent: &'static str) -> Desk {
        let env = hermetic();
        env.set("TZ", "UTC");
        env.set_now(START);
        fs::write(env.root().join("transcript.jsonl"), "").unwrap();
        let desk = Desk { env, agent, now: Cell::new(START) };
        desk.tell("SessionStart", json!({"source": "startup"}));
        desk
    }

    fn session(&self) -> SessionKey {
        key(&format!("{}:{ID}", self.agent))
    }

    /// What the hook says.
    fn tell(&self, event: &str, fields: Value) -> String {
        let mut payload: Value = serde_json::from_str(&payload(event, &self.session(), "Bash")).unwrap();
        let transcript = self.env.root().join("transcript.jsonl");
        for fields in [json!({"cwd": self.env.project(), "transcript_path": transcript}), fields] {
            payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        }
        self.env.hook(self.agent, payload.to_string()).ok().stdout
    }

    fn later(&self, ms: i64) {
        self.now.set(self.now.get() + ms);
        self.env.set_now(self.now.get());
    }

    fn ask(&self, prompt: &str) -> String {
        self.tell("UserPromptSubmit", json!({"prompt": prompt}))
    }

    fn tools(&self, number: usize, bytes: usize) {
        for _ in 0..number {
            let output = json!({"stdout": "x".repeat(bytes)});
            self.tell("PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": output}));
        }
    }

    fn stop(&self) -> String {
        self.tell("Stop", json!({}))
    }

    fn set(&self, text: &str) {
        let file = self.env.home().join(".config/towline/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[track_caller]
    fn bookmarks(&self, arguments: &[&str]) -> Vec<Value> {
        let all = ["bookmarks", "--all-projects", "--json"];
        let found = self.env.tow(&[&all, arguments].concat()).ok().json();
        found["bookmarks"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn reasons(&self) -> Vec<String> {
        self.bookmarks(&[]).iter().map(|row| row["reason"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for whoever was started to look at the code.
    #[track_caller]
    fn wait_placed(&self) -> Value {
        wait::until("a look at the code", wait::PATIENCE, || {
            self.bookmarks(&[]).into_iter().find(|row| !row["placed_at"].is_null())
        })
    }
}

#[test]
fn a_turn_with_many_tools_sets_a_bookmark_and_the_agent_hears_nothing_of_it() {
    for agent in ["claude", "codex"] {
        let desk = Desk::of(agent);
        desk.ask("paint the mast");
        desk.tools(15, 10);
        assert_eq!(desk.stop(), "", "{agent}");
        let rows = desk.bookmarks(&[]);
        assert_eq!(desk.reasons(), ["15 tool calls"], "{agent}");
        assert_eq!(
            (rows[0]["how"].as_str(), rows[0]["label"].as_str(), rows[0]["after_turn"].as_u64()),
            (Some("silent"), Some("paint the mast"), Some(1)),
            "{agent}"
        );
    }
}

#[test]
fn tav_5_what_tools_were_given_and_gave_is_measured_whatever_its_size() {
    let desk = Desk::of("claude");
    desk.ask("read it");
    desk.tools(1, 30_000);
    desk.stop();
    let rows = desk.bookmarks(&[]);
    assert_eq!((rows[0]["threshold"].as_str(), rows[0]["estimated"].as_bool()), (Some("tokens"), Some(true)));
    let count = rows[0]["count"].as_u64().unwrap();
    assert!((7_500..7_600).contains(&count), "{count}");
    let small = Desk::of("claude");
    small.ask("read it");
    small.tools(2, 11_000);
    small.stop();
    assert!(small.bookmarks(&[]).is_empty());
}

#[test]
fn what_codex_says_of_its_context_is_counted_and_no_estimate() {
    let desk = Desk::of("codex");
    let answered =
        |tokens: u64| desk.tell("PostModelRequest", json!({"token_usage": {"total_tokens": tokens}}));
    desk.ask("read it");
    answered(30_000);
    desk.tools(1, 30_000);
    answered(36_500);
    desk.stop();
    let rows = desk.bookmarks(&[]);
    assert_eq!(desk.reasons(), ["6500 tokens"]);
    assert_eq!(
        (rows[0]["estimated"].as_bool(), rows[0]["context_tokens"].as_u64()),
        (Some(false), Some(36_500))
    );
}

#[test]
fn the_cooldown_is_kept_by_the_clock_and_any_hook_that_ends_something_evaluates() {
    let desk = Desk::of("claude");
    desk.set("[bookmarks]\nmin_tool_calls = 2");
    let work = || {
        desk.ask("go on");
        desk.tools(2, 10);
    };
    work();
    desk.stop();
    desk.later(24_999);
    work();
    desk.stop();
    assert_eq!(desk.bookmarks(&[]).len(), 1);
    desk.later(1);
    desk.tell("SubagentStop", json!({"agent_id": "h-1", "agent_type": "Explore"}));
    assert_eq!(desk.reasons(), ["2 tool calls", "2 tool calls"]);
    desk.stop();
    desk.later(600_000);
    desk.stop();
    assert_eq!(desk.bookmarks(&[]).len(), 2, "nothing was done since");
}

#[test]
fn tav_24_and_tav_25_a_turn_that_failed_or_was_stopped_sets_none() {
    let desk = Desk::of("claude");
    desk.ask("go on");
    desk.tools(20, 10);
    desk.tell(
        "StopFailure",
        json!({"error": "invalid_request", "last_assistant_message": "Prompt is too long"}),
    );
    assert!(desk.bookmarks(&[]).is_empty());
    let desk = Desk::of("codex");
    desk.ask("go on");
    desk.tools(20, 10);
    desk.tell("Interrupt", json!({}));
    assert!(desk.bookmarks(&[]).is_empty());
}

#[test]
fn headless_sessions_and_bookmarks_that_are_off_set_none() {
    let desk = Desk::of("claude");
    desk.env.set("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    desk.ask("go on");
    desk.tools(20, 10);
    desk.stop();
    assert!(desk.bookmarks(&[]).is_empty());
    let desk = Desk::of("claude");
    desk.set("[bookmarks]\nmode = \"off\"");
    desk.ask("go on");
    desk.tools(20, 10);
    desk.stop();
    assert!(desk.bookmarks(&[]).is_empty());
}

#[test]
fn tav_31_a_marker_sets_a_bookmark_and_the_model_is_told_to_ignore_it() {
    for agent in ["claude", "codex"] {
        let desk = Desk::of(agent);
        desk.ask("paint the mast");
        desk.stop();
        let said: Value = serde_json::from_str(&desk.ask(" · ")).unwrap();
        let context = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.contains("bookmark") && context.contains("do nothing"), "{agent}: {context}");
        assert_eq!(desk.stop(), "");
        let rows = desk.bookmarks(&[]);
        assert_eq!((rows.len(), rows[0]["how"].as_str()), (1, Some("typed")), "{agent}");
        assert_eq!(rows[0]["label"], "paint the mast");
        let store = store_in(&DataFolder::at(desk.env.data_dir()));
        let session = store.session(&desk.session()).unwrap().unwrap();
        assert_eq!(session.prompt.unwrap().as_str(), "paint the mast", "a marker asks for nothing");
        assert_eq!(desk.ask("· and more"), "", "{agent}: only alone it is one");
    }
}

#[test]
fn a_marker_of_the_users_own_is_one_too() {
    let desk = Desk::of("claude");
    desk.set("[bookmarks]\nmarker = \"~\"");
    desk.ask("paint the mast");
    assert!(desk.ask("~").contains("bookmark"));
    assert_eq!(desk.bookmarks(&[]).len(), 1);
}

#[test]
fn the_default_marker_was_a_bookmark_beside_the_users_own() {
    for agent in ["claude", "codex"] {
        let desk = Desk::of(agent);
        desk.set("[bookmarks]\nmarker = \"~\"");
        desk.ask("paint the mast");
        assert!(!desk.ask("·").contains("bookmark"));
        assert_eq!(desk.bookmarks(&[]).len(), 0);
    }
}

#[test]
fn a_marker_is_wanted_where_it_can_be_typed_and_else_the_bookmark_is_silent() {
    let desk = Desk::of("claude");
    desk.set("[bookmarks]\nmode = \"typed\"\nmin_tool_calls = 1");
    desk.ask("paint the mast");
    desk.tools(1, 10);
    desk.stop();
    assert_eq!(desk.bookmarks(&[])[0]["how"], "silent", "nobody has found a seat to type in");
}

#[test]
fn commit_branch_and_changes_are_found_out_by_a_process_that_nobody_waits_for() {
    let desk = Desk::of("claude");
    let commit = desk.env.git(&["rev-parse", "HEAD"]);
    let usage = json!({"input_tokens": 5, "cache_read_input_tokens": 50, "output_tokens": 7});
    let answer = json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "usage": usage}});
    fs::write(desk.env.root().join("transcript.jsonl"), format!("{answer}\n")).unwrap();
    desk.ask("paint the mast");
    desk.tools(15, 10);
    fs::write(desk.env.project().join("mast.rs"), "red").unwrap();
    desk.stop();
    let row = desk.wait_placed();
    assert_eq!((row["commit"].as_str(), row["dirty"].as_bool()), (Some(commit.as_str()), Some(true)));
    assert_eq!(row["branch"].as_str(), Some(desk.env.git(&["branch", "--show-current"]).as_str()));
    assert_eq!(row["context_tokens"], 55, "as the client itself counts: without what was answered");
    desk.env.wait_no_process();
}

#[test]
fn a_rebuilt_database_has_the_same_bookmarks() {
    let desk = Desk::of("claude");
    desk.ask("paint the mast");
    desk.tools(15, 10);
    desk.stop();
    desk.env.tow(&["bookmark", "--session", SHORT, "before", "the", "storm"]).ok();
    desk.wait_placed();
    desk.env.wait_no_process();
    let before = desk.bookmarks(&[]);
    for file in ["towline.db", "towline.db-wal", "towline.db-shm"] {
        let _ = fs::remove_file(desk.env.data_dir().join(file));
    }
    assert_eq!(desk.bookmarks(&[]), before);
}

#[test]
fn bookmarks_are_listed_searched_shown_deleted_and_restored() {
    let desk = Desk::of("claude");
    desk.ask("paint the mast");
    desk.tools(15, 10);
    desk.stop();
    desk.later(60_000);
    desk.ask("mend the sail");
    let set = desk.env.tow(&["bookmark", "before", "the", "storm", "--session", SHORT, "--json"]).ok().json();
    let id = set["id"].as_str().unwrap();
    assert_eq!(desk.bookmarks(&["--search", "STORM"]).len(), 1);
    assert_eq!(desk.bookmarks(&["--search", "tool calls"])[0]["label"], "paint the mast");
    assert_eq!(desk.bookmarks(&["--session", SHORT, "--limit", "1"])[0]["label"], "before the storm");
    assert!(desk.bookmarks(&["--search", "nothing of that"]).is_empty());
    let list = desk.env.tow(&["bookmarks"]).ok();
    list.prints("before the storm").prints("set by hand").prints("15 tool calls").prints("1m");
    desk.env.tow(&["bookmarks", "show", id]).ok().prints(&format!("after turn 2 of claude:{ID}"));
    desk.env.tow(&["bookmarks", "delete", id]).ok().prints("--restore");
    assert_eq!((desk.bookmarks(&[]).len(), desk.bookmarks(&["--deleted"]).len()), (1, 2));
    desk.env.tow(&["bookmarks", "delete", id, "--restore"]).ok().prints("listed again");
    assert_eq!(desk.bookmarks(&[]).len(), 2);
    desk.env
        .tow(&["bookmarks", "show", "zzz"])
        .exits(2)
        .complains("no bookmark's id begins or ends with `zzz`");
}

/// What was printed, without what is another in each run.
fn shown(desk: &Desk, arguments: &[&str], ids: &[&str]) -> String {
    let mut text = desk.env.tow(arguments).ok().stdout;
    for (number, id) in (1..).zip(ids) {
        text = text.replace(id, &format!("BOOKMARK{number}"));
    }
    let commit = desk.env.git(&["rev-parse", "HEAD"]);
    text.replace(&commit, "COMMIT").replace(&commit[..10], "COMMIT")
}

#[test]
fn what_a_person_reads_of_bookmarks() {
    let desk = Desk::of("claude");
    desk.ask("paint the mast");
    desk.tools(15, 10);
    desk.stop();
    desk.wait_placed();
    desk.env.wait_no_process();
    desk.later(3_600_000);
    desk.ask("mend the sail");
    desk.env.tow(&["bookmark", "before", "the", "storm", "--session", SHORT]).ok();
    desk.later(60_000);
    let rows = desk.bookmarks(&[]);
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    insta::assert_snapshot!("list", shown(&desk, &["bookmarks"], &ids));
    insta::assert_snapshot!("show", shown(&desk, &["bookmarks", "show", ids[1]], &ids));
    insta::assert_snapshot!("rewind", shown(&desk, &["rewind", ids[1]], &ids));
    insta::assert_snapshot!("nothing_found", shown(&desk, &["bookmarks", "--search", "keel"], &[]));
    let mut row = rows[0].clone();
    (row["id"], row["uid"], row["commit"]) = (json!("ID"), json!("UID"), json!("COMMIT"));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&row).unwrap());
}

#[test]
fn a_session_that_is_forgotten_takes_its_bookmarks_with_it() {
    let desk = Desk::of("claude");
    desk.ask("paint the mast");
    desk.env.tow(&["bookmark", "before", "the", "storm", "--session", SHORT]).ok();
    desk.env.tow(&["forget", SHORT, "--yes"]).ok();
    assert!(desk.bookmarks(&["--deleted"]).is_empty());
}

#[test]
fn a_fork_that_cannot_be_made_is_refused_with_the_reason_and_the_way_by_hand() {
    for (agent, code, why, next) in [
        ("claude", 2, "sessions of Claude Code cannot be forked", "for how to get back there by hand"),
        ("codex", 1, "could not reach the server at codex", "Start the agent once by hand"),
    ] {
        let desk = Desk::of(agent);
        desk.ask("paint the mast");
        desk.stop();
        desk.env.tow(&["bookmark", "before the sail", "--session", SHORT]).ok();
        let id = desk.bookmarks(&[])[0]["id"].as_str().unwrap().to_owned();
        desk.env.tow(&["rewind", &id, "--fork", "--yes"]).exits(code).complains(why).complains(next);
    }
}

#[test]
fn rewind_says_how_to_get_back_in_the_conversation_and_in_the_code_and_runs_nothing() {
    let desk = Desk::of("claude");
    desk.ask("paint the mast");
    desk.tell("Stop", json!({}));
    let set = desk.env.tow(&["bookmark", "--session", SHORT, "--json"]).ok().json();
    let id = set["id"].as_str().unwrap();
    desk.env.tow(&["rewind", id]).ok().prints("nothing was asked since");
    desk.ask("mend the sail");
    desk.ask("haul the anchor");
    let commit = &desk.env.git(&["rev-parse", "HEAD"])[..10];
    let before = desk.env.git(&["worktree", "list"]);
    let steps = desk.env.tow(&["rewind", id]).ok();
    let steps = steps.prints("type /rewind").prints("press Up twice: the entry “mend the sail”");
    steps.prints(&format!("git diff {commit}")).prints("git worktree add --detach");
    assert_eq!(desk.env.git(&["worktree", "list"]), before);

    let desk = Desk::of("codex");
    desk.ask("paint the mast");
    desk.ask("·");
    desk.ask("mend the sail");
    let id = desk.bookmarks(&[])[0]["id"].as_str().unwrap().to_owned();
    let steps = desk.env.tow(&["rewind", &id]).ok().prints(&format!("run `codex fork {ID}`"));
    steps.prints("press Esc twice, then Left once, until “·” is chosen");
}

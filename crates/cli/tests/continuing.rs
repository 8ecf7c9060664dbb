//! What hooks and verbs say about work that goes on by itself, by payloads: when a handoff is asked for, and when it is not.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

#[expect(dead_code, reason = "this test tells more than the sitter does by itself")]
mod sitter;

use serde_json::{Value, json};
use sitter::Sitter;
use std::fs;
use std::path::PathBuf;
use towline_store::{DataFolder, journal};
use towline_testkit::{TestEnv, Tmux, wait};

/// A session in a pane whose transcript says how full its context is.
struct Desk {
    env: TestEnv,
    _tmux: Tmux,
    sitter: Sitter,
}

impl Desk {
    fn new() -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        for (key, value) in [
            ("typing.enabled", "true"),
            ("typing.limit_s", "1"),
            ("guard.strategy", "handoff"),
            ("continue.cooldown_s", "0"),
        ] {
            env.tow(&["config", "set", key, value]).ok();
        }
        let tmux = Tmux::start(&env);
        let sitter = Sitter::sit(&tmux, "one");
        let desk = Desk { env, _tmux: tmux, sitter };
        desk.fill(150_000);
        desk
    }

    fn set(&self, key: &str, value: &str) -> &Desk {
        self.env.tow(&["config", "set", key, value]).ok();
        self
    }

    fn transcript(&self) -> PathBuf {
        self.env.root().join("transcript.jsonl")
    }

    /// Of a window of 200,000.
    fn fill(&self, tokens: u64) {
        fs::write(self.transcript(), Desk::answer(tokens)).unwrap();
    }

    fn answer(tokens: u64) -> String {
        let line = json!({"type": "assistant", "isSidechain": false, "uuid": "u-1", "sessionId": "one",
            "timestamp": "2026-11-15T02:13:20.000Z", "message": {"role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "I have painted a wing."}], "usage": {"input_tokens": tokens, "output_tokens": 1}}});
        format!("{line}\n")
    }

    fn prompt(&self, text: &str) -> Value {
        self.tell("UserPromptSubmit", json!({"prompt": text}))
    }

    /// The end of a turn whose answer the transcript holds: a hook waits for one that it does not hold.
    fn stop(&self, answer: &str, is_active: bool) -> Value {
        let mut line: Value = serde_json::from_str(&fs::read_to_string(self.transcript()).unwrap()).unwrap();
        line["message"]["content"][0]["text"] = json!(answer);
        fs::write(self.transcript(), format!("{line}\n")).unwrap();
        self.tell_stop(answer, is_active)
    }

    fn tell_stop(&self, answer: &str, is_active: bool) -> Value {
        let fields =
            json!({"background_tasks": [], "last_assistant_message": answer, "stop_hook_active": is_active});
        self.tell("Stop", fields)
    }

    fn tell(&self, event: &str, mut fields: Value) -> Value {
        fields["transcript_path"] = json!(self.transcript());
        let said = self.sitter.tell(event, fields);
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
    }

    /// A prompt, and the end of its turn.
    fn turn(&self) -> Value {
        self.prompt("paint the heron");
        self.stop("I have painted a wing.", false)
    }

    fn hops(&self) -> Vec<Value> {
        self.env.tow(&["handoff", "list", "--json"]).ok().json()["hops"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn check_nothing(&self, said: &Value) {
        assert_eq!((&said["decision"], self.hops()), (&Value::Null, vec![]), "{said}");
    }

    /// The id that the handoff is asked for by.
    #[track_caller]
    fn asked(&self) -> String {
        let said = self.turn();
        assert_eq!(said["decision"], "block", "{said}");
        assert!(said["systemMessage"].as_str().unwrap().contains("75 % full"));
        let reason = said["reason"].as_str().unwrap();
        reason.split("<handoff id=\"").nth(1).unwrap()[..8].to_owned()
    }
}

fn handoff(id: &str) -> String {
    format!("<handoff id=\"{id}\">\n## Task\nPaint the heron.\n## Remaining\nIts beak.\n</handoff>")
}

#[test]
fn a_handoff_is_asked_for_once_and_taken_at_the_next_stop() {
    let desk = Desk::new();
    let id = desk.asked();
    assert_eq!(desk.env.states(), ["working"], "it works on");
    assert_eq!(desk.stop(&handoff(&id), true), Value::Null);
    let hop = desk.hops().remove(0);
    assert_eq!((&hop["short"], &hop["by"], &hop["percent"]), (&id.into(), &"agent".into(), &75.into()));
    assert_eq!(hop["text"], "## Task\nPaint the heron.\n\n## Remaining\nIts beak.");
    let typed = desk.env.tow(&["typed", "--json"]).ok().json();
    let texts: Vec<&Value> =
        typed["intents"].as_array().unwrap().iter().map(|intent| &intent["text"]).collect();
    assert_eq!(texts.len(), 2, "{typed}");
    assert_eq!(texts[1], "/clear");
}

#[test]
fn a_transcript_that_is_written_after_the_end_was_told_is_waited_for() {
    let desk = Desk::new();
    desk.fill(1_000);
    desk.prompt("paint the heron");
    // An older answer, and no new one yet.
    let before = fs::read_to_string(desk.transcript()).unwrap();
    fs::write(desk.transcript(), before.replace("painted a wing", "found the brush")).unwrap();
    let (home, transcript) = (DataFolder::at(desk.env.data_dir()), desk.transcript());
    let told = journal::unsealed_bytes(&home);
    let said = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            wait::until("the end to be told", wait::PATIENCE, || {
                (journal::unsealed_bytes(&home) != told).then_some(())
            });
            fs::write(&transcript, Desk::answer(150_000)).unwrap();
        });
        let said = desk.tell_stop("I have painted a wing.", false);
        client.join().unwrap();
        said
    });
    assert_eq!(said["decision"], "block", "{said}");
}

#[test]
fn nothing_is_asked_where_nothing_may_be_typed_or_it_is_not_wanted() {
    let desk = Desk::new();
    desk.check_nothing(&desk.set("typing.enabled", "false").turn());
    desk.set("typing.enabled", "true").env.tow(&["pause"]).ok();
    desk.check_nothing(&desk.turn());
    desk.env.tow(&["resume"]).ok();
    for strategy in ["off", "notify"] {
        desk.check_nothing(&desk.set("guard.strategy", strategy).turn());
    }
    desk.set("guard.strategy", "handoff")
        .set("guard.projects", &format!("{{ \"{}\" = 'off' }}", desk.env.project().display()));
    desk.check_nothing(&desk.turn());
    desk.set("guard.projects", "{}").set("continue.at_percent", "76");
    desk.check_nothing(&desk.turn());
    desk.set("continue.at_percent", "75");
    desk.prompt("go on");
    desk.check_nothing(&desk.stop("done", true));
    desk.prompt("·");
    desk.check_nothing(&desk.stop("noted", false));
    assert_eq!(desk.turn()["decision"], "block");
}

#[test]
fn an_answer_that_is_not_what_was_asked_for_is_kept_told_and_not_asked_for_again() {
    let desk = Desk::new();
    desk.asked();
    let said = desk.stop(&handoff("ffffffff"), true);
    let message = said["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("does not carry the id") && message.contains("tow session handoff send"),
        "{said}"
    );
    assert_eq!(said["decision"], Value::Null);
    let hop = desk.hops().remove(0);
    assert_eq!(hop["state"], "failed");
    assert!(hop["text"].as_str().unwrap().contains("Its beak."));
    assert_eq!(desk.stop("still here", false)["decision"], Value::Null, "nobody has asked for anything");
    assert_eq!(desk.turn()["decision"], "block", "somebody has");
    assert_eq!(desk.hops().len(), 2);
}

#[test]
fn cnt_6_the_agents_own_file_counts_only_if_it_was_written_since() {
    let desk = Desk::new();
    let file = desk.env.project().join(".claude/handoff.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "---\ncontinue: true\n---\n## Task\nFrom the file.\n## Remaining\nAll.\n";
    fs::write(&file, text).unwrap();
    let old = std::time::UNIX_EPOCH;
    fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
    desk.asked();
    desk.stop("It is in the file.", true);
    assert_eq!(desk.hops()[0]["why"], "the answer holds no handoff");
    desk.asked();
    fs::write(&file, text).unwrap();
    desk.stop("It is in the file.", true);
    let hop = desk.hops().remove(0);
    assert_eq!(
        (&hop["by"], &hop["text"]),
        (&"file".into(), &"## Task\nFrom the file.\n\n## Remaining\nAll.".into())
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "read, never written");
}

#[test]
fn a_handoff_file_without_front_matter_ended_the_row_although_its_presence_was_to_count() {
    let desk = Desk::new();
    let file = desk.env.project().join(".claude/handoff.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (by_presence, state) in [("false", "stopped"), ("true", "clearing")] {
        desk.set("continue.file_by_presence", by_presence).asked();
        fs::write(&file, "## Task\nFrom the file.\n## Remaining\nAll.\n").unwrap();
        desk.stop("It is in the file.", true);
        assert_eq!(desk.hops()[0]["state"], state);
    }
}

#[test]
fn a_person_who_goes_on_instead_ends_it_and_hears_of_it_once() {
    let desk = Desk::new();
    desk.asked();
    let said = desk.prompt("no, something else");
    assert!(said["systemMessage"].as_str().unwrap().contains("somebody went on in the session"), "{said}");
    assert_eq!(desk.hops()[0]["state"], "failed");
    let said = desk.stop("else", false);
    assert!(!said.to_string().contains("somebody went on"), "{said}");
}

#[test]
fn limits_are_told_and_hold() {
    let desk = Desk::new();
    desk.set("continue.per_hour", "1").asked();
    desk.stop("nothing", true);
    let said = desk.turn();
    assert_eq!(said["decision"], Value::Null);
    assert!(said["systemMessage"].as_str().unwrap().contains("continue.per_hour"), "{said}");
    desk.set("continue.per_hour", "9").set("continue.cooldown_s", "3600");
    let said = desk.turn();
    assert_eq!(said["decision"], Value::Null, "it was a moment ago");
    assert!(said["systemMessage"].as_str().unwrap().contains("continue.cooldown_s"), "{said}");
    assert_eq!(desk.hops().len(), 1);
}

#[test]
fn handoffs_are_listed_shown_changed_and_sent() {
    let desk = Desk::new();
    desk.env.tow(&["handoff", "list"]).ok().prints("nothing went on by itself yet");
    desk.env.tow(&["handoff", "show"]).exits(2).complains("there is no handoff yet");
    let id = desk.asked();
    desk.stop(&handoff(&id).replace("## Task", "continue: false\n## Task"), true);
    desk.env.tow(&["handoff", "list"]).ok().prints("stopped").prints("the handoff says `continue: false`");
    desk.env.tow(&["handoff", "show", &id]).ok().prints("Its beak.");
    desk.env
        .tow(&["handoff", "show", "nope"])
        .exits(2)
        .complains("no handoff's id begins or ends with `nope`");
    let file = desk.env.root().join("better.md");
    fs::write(&file, "## Task\nPaint it.\n").unwrap();
    let from = file.display().to_string();
    desk.env.tow(&["handoff", "edit", &id, "--from", &from]).exits(2).complains("does not say what remains");
    fs::write(&file, "## Task\nPaint it.\n## Remaining\n\tAll of it.\n").unwrap();
    desk.env.tow(&["handoff", "edit", &id, "--from", &from]).ok().prints("is changed");
    let shown = desk.env.tow(&["handoff", "show", &id, "--json"]).ok().json();
    assert_eq!((&shown["by"], &shown["state"]), (&"person".into(), &"stopped".into()));
    let seat = desk.env.only_seat()["seat"].as_str().unwrap().to_owned();
    desk.set("typing.enabled", "false");
    desk.env.tow(&["handoff", "send", &id, "--in", &seat]).ok().prints("paste this").prints("All of it.");
    desk.env.tow(&["continue", "--in", &seat]).exits(2).complains("tow config set typing.enabled true");
    desk.set("typing.enabled", "true");
    let sent = desk.env.tow(&["handoff", "send", &id, "--in", &seat, "--json"]).ok().json();
    assert!(sent["typed"].is_string() && sent["session"] == "claude:one", "{sent}");
    desk.env.tow(&["status"]).ok().prints("does not go on by itself: the handoff says `continue: false`");
}

#[test]
fn the_desktop_is_told_at_once_of_what_does_not_go_on() {
    let desk = Desk::new();
    let told = desk.env.root().join("told");
    desk.env.script("notify-send", &format!("printf '%s\\n' \"$@\" >> {}\n", told.display()));
    desk.set("notify.desktop_after_s", "3600").asked();
    desk.stop("no", true);
    let text = wait::until("the desktop to be told", wait::PATIENCE, || fs::read_to_string(&told).ok());
    assert!(text.contains("does not go on by itself: the answer holds no handoff"), "{text}");
}

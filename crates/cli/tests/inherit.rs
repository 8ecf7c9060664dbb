//! Whose work a session goes on with: recorded payloads of the agents through the real binary, in real panes.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod common;

use common::hermetic;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;
use towline_testkit::{Pane, Run, TestEnv, Tmux, wait};

/// Runs one command of ours per line that is typed into its pane, as an agent runs its hooks and its tools.
/// Says when it reads: what is typed before that may reach it without the end of the line.
const LOOP: &str = r#"echo "the seat reads"
while read -r number; do
    sh "$1/$number.sh" > "$1/$number.out" 2>&1
    touch "$1/$number.done"
done
"#;

/// A process of an agent's name in a pane of its own.
struct Seat {
    env: TestEnv,
    pane: Pane,
    agent: &'static str,
    version: &'static str,
    told: Cell<usize>,
}

impl Seat {
    fn open(tmux: &Tmux, agent: &'static str, version: &'static str) -> Seat {
        let env = tmux.env().clone();
        env.link(agent, "/bin/bash");
        let script = env.script("seat-loop", LOOP).display().to_string();
        let pane = tmux.open(&["bash"], &[]);
        let seat = Seat { env, pane, agent, version, told: Cell::new(0) };
        std::fs::create_dir_all(seat.folder()).unwrap();
        seat.pane.say(&format!("{agent} {script} {}", seat.folder().display()));
        seat.pane.wait_screen("the seat reads");
        seat
    }

    fn folder(&self) -> std::path::PathBuf {
        self.env.root().join(format!("seat-{}", self.pane.id.trim_start_matches('%')))
    }

    /// The payload as it was recorded, of this session and in the project of the test.
    fn tell(&self, recorded: &str, session: &str, fields: Value) -> String {
        self.tell_by("tow", recorded, session, fields)
    }

    /// The same to a program that the shell finds under this name.
    fn tell_by(&self, tow: &str, recorded: &str, session: &str, fields: Value) -> String {
        let file = format!("../agents/fixtures/{}/{}/{recorded}.json", self.agent, self.version);
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let mut payload: Value = serde_json::from_str(&text).unwrap();
        let own = json!({"session_id": session, "cwd": self.env.project(), "transcript_path": null});
        for fields in [own, fields] {
            payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        }
        let number = self.told.get() + 1;
        let file = self.folder().join(format!("{number}.json"));
        std::fs::write(&file, payload.to_string()).unwrap();
        self.run(&format!("{tow} hook {} < {}", self.agent, file.display()))
    }

    /// Runs a command below the agent, and gives what it said.
    fn run(&self, command: &str) -> String {
        self.told.set(self.told.get() + 1);
        let name = |kind: &str| self.folder().join(format!("{}.{kind}", self.told.get()));
        std::fs::write(name("sh"), format!("{command}\n")).unwrap();
        self.pane.half_type(&self.told.get().to_string());
        self.pane.keys(&["Enter"]);
        wait::until(command, wait::PATIENCE, || name("done").exists().then_some(()));
        std::fs::read_to_string(name("out")).unwrap()
    }

    fn prompt(&self, session: &str, prompt: &str) -> String {
        self.tell("UserPromptSubmit", session, json!({"prompt": prompt}))
    }

    /// A session that starts here and does something.
    fn work(&self, session: &str) {
        self.tell("SessionStart.startup", session, json!({}));
        self.prompt(session, "do the work");
        self.tell("Stop", session, json!({"last_assistant_message": "the work is done"}));
    }

    /// What the agent sends when its person clears: one tells of the end at once, the other much later.
    fn clear(&self, from: &str, to: &str) {
        if self.agent == "claude" {
            self.tell("SessionEnd.clear", from, json!({}));
        }
        self.tell("SessionStart.clear", to, json!({}));
    }
}

/// Every decision as `heir way from`, oldest first.
fn decisions(env: &TestEnv) -> Vec<String> {
    let log = env.tow(&["inherit", "log", "--all-projects", "--json"]).ok().json();
    let word =
        |row: &Value, name: &str| row[name].as_str().map(|word| format!(" {word}")).unwrap_or_default();
    let rows = log["decisions"].as_array().unwrap().iter().rev();
    rows.map(|row| format!("{}{}{}", row["heir"].as_str().unwrap(), word(row, "way"), word(row, "from")))
        .collect()
}

fn bench() -> (TestEnv, Tmux) {
    let env = hermetic();
    let tmux = Tmux::start(&env);
    (env, tmux)
}

#[track_caller]
fn check_clear(agent: &'static str, version: &'static str) {
    let (env, tmux) = bench();
    let seat = Seat::open(&tmux, agent, version);
    seat.work("s-1");
    seat.clear("s-1", "s-2");
    assert_eq!(decisions(&env), Vec::<String>::new(), "a start decides nothing");
    seat.prompt("s-2", "go on");
    assert_eq!(decisions(&env), [format!("{agent}:s-2 clear {agent}:s-1")]);
    seat.prompt("s-2", "and on");
    assert_eq!(decisions(&env).len(), 1, "it is decided once");
    let store = common::store_in(&towline_store::DataFolder::at(env.data_dir()));
    let before = store.session(&common::key(&format!("{agent}:s-1"))).unwrap().unwrap();
    assert_eq!(before.answer.unwrap().as_str(), "the work is done");
}

#[test]
fn a_program_in_a_folder_with_blanks_and_quotes_was_named_to_the_model_unquoted() {
    let (env, tmux) = bench();
    let folder = env.root().join("it's a place");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_tow"), folder.join("tow")).unwrap();
    let quoted = format!("'{}/it'\\''s a place/tow'", env.root().display());
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    seat.work("s-1");
    seat.clear("s-1", "s-2");
    let said = seat.tell_by(&quoted, "UserPromptSubmit", "s-2", json!({"prompt": "go on"}));
    let said: Value = serde_json::from_str(&said).unwrap();
    let context = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let command = context.split('`').find(|part| part.contains(" turns ")).expect("a command for the model");
    assert!(command.starts_with(&format!("{quoted} session turns ")), "{command}");
    let ran = Run::of(env.command("sh").args(["-c", &command.replace(" turns ", " turns --help ")]), b"");
    ran.ok().prints("Usage: tow session turns");
}

#[test]
fn tl_12_recorded_payloads_of_an_older_claude_code_that_is_cleared_carry_the_work_over() {
    check_clear("claude", "2.1.197");
}

#[test]
fn tl_12_recorded_payloads_of_claude_code_that_is_cleared_carry_the_work_over() {
    check_clear("claude", "2.1.325");
}

#[test]
fn tl_12_recorded_payloads_of_codex_that_is_cleared_carry_the_work_over() {
    check_clear("codex", "0.166.0");
}

/// It once repeated the session's id, and was cut in the middle of why.
#[test]
fn the_header_says_in_few_words_how_the_work_came_and_names_the_session_once() {
    let (_env, tmux) = bench();
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    seat.work("0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d");
    seat.clear("0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d", "s-2");
    let said: Value = serde_json::from_str(&seat.prompt("s-2", "go on")).unwrap();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let header = text.lines().nth(1).unwrap();
    assert!(header.contains("1a2b3c4d (cleared in the same pane): project "), "{header}");
    assert_eq!(header.matches("1a2b3c4d").count(), 1, "{header}");
}

#[test]
fn two_seats_of_one_project_cleared_in_turn_each_keep_their_own() {
    let (env, tmux) = bench();
    let (left, right) = (Seat::open(&tmux, "claude", "2.1.325"), Seat::open(&tmux, "claude", "2.1.325"));
    left.work("left-1");
    right.work("right-1");
    left.clear("left-1", "left-2");
    right.clear("right-1", "right-2");
    right.prompt("right-2", "go on");
    left.prompt("left-2", "go on");
    assert_eq!(decisions(&env), ["claude:right-2 clear claude:right-1", "claude:left-2 clear claude:left-1"]);
}

#[test]
fn tl_11_the_typed_command_passes_the_baton_to_the_other_agent_and_back() {
    let (env, tmux) = bench();
    let (one, other) = (Seat::open(&tmux, "claude", "2.1.325"), Seat::open(&tmux, "codex", "0.166.0"));
    one.work("s-1");
    assert_eq!(one.prompt("s-1", "/tower is no command of ours"), "");
    assert!(one.prompt("s-1", " /tow \n").contains("this work is handed on"));
    other.tell("SessionStart.startup", "s-2", json!({}));
    other.prompt("s-2", "$tow-detail 14:05");
    other.prompt("s-2", "·");
    assert_eq!(decisions(&env), Vec::<String>::new());
    other.prompt("s-2", "go on");
    assert!(other.prompt("s-2", "$tow").contains("this work is handed on"));
    one.tell("SessionStart.startup", "s-3", json!({}));
    one.prompt("s-3", "go on");
    assert_eq!(decisions(&env), ["codex:s-2 baton claude:s-1", "claude:s-3 baton codex:s-2"]);
}

#[test]
fn a_fresh_start_is_asked_for_by_typing_or_by_the_verb_and_taken_back() {
    let (env, tmux) = bench();
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    seat.work("s-1");
    assert!(seat.prompt("s-1", "/tow fresh").contains("starts afresh"));
    seat.clear("s-1", "s-2");
    seat.prompt("s-2", "something else");
    assert!(seat.run("tow session fresh").contains("starts afresh"));
    assert!(seat.run("tow session fresh --undo").contains("inherits as usual"));
    seat.clear("s-2", "s-3");
    seat.prompt("s-3", "go on");
    assert_eq!(decisions(&env), ["claude:s-2 fresh", "claude:s-3 clear claude:s-2"]);
    env.tow(&["inherit", "log", "--session", "s-3"]).ok().prints("claude s-3 ← claude s-2 (clear, given ");
}

#[test]
fn nothing_on_the_screen_said_after_a_clear_that_work_was_inherited() {
    for (agent, version) in [("claude", "2.1.325"), ("codex", "0.166.0")] {
        let (env, tmux) = bench();
        let seat = Seat::open(&tmux, agent, version);
        seat.work("s-1");
        seat.clear("s-1", "s-2");
        let said: Value = serde_json::from_str(&seat.prompt("s-2", "go on")).unwrap();
        assert_eq!(said["systemMessage"], "towline: continues “do the work” (1 turn).", "{said}");
        assert_eq!(seat.prompt("s-2", "and on"), "", "once");
        env.tow(&["config", "set", "inherit.notice", "false"]).ok();
        seat.clear("s-2", "s-3");
        let said: Value = serde_json::from_str(&seat.prompt("s-3", "go on")).unwrap();
        assert!(said["systemMessage"].is_null() && said["hookSpecificOutput"].is_object(), "{said}");
    }
}

#[test]
fn who_wants_to_be_asked_is_told_once_and_takes_it_by_the_verb() {
    let (env, tmux) = bench();
    env.tow(&["config", "set", "inherit.on_clear", "ask"]).ok();
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    seat.work("s-1");
    seat.clear("s-1", "s-2");
    let said: Value = serde_json::from_str(&seat.prompt("s-2", "go on")).unwrap();
    assert!(said["systemMessage"].as_str().unwrap().contains("`tow session inherit take s-1`"), "{said}");
    assert_eq!(seat.prompt("s-2", "and on"), "");
    assert!(seat.run("tow session inherit take s-1").contains("goes on with claude s-1"));
    assert_eq!(decisions(&env), ["claude:s-2 asked", "claude:s-2 taken claude:s-1"]);
    assert!(seat.run("tow session inherit take s-2").contains("cannot go on with the work of claude:s-2"));
}

#[test]
fn several_batons_are_told_with_their_sessions_and_none_is_taken() {
    let (env, tmux) = bench();
    let (left, right) = (Seat::open(&tmux, "claude", "2.1.325"), Seat::open(&tmux, "codex", "0.166.0"));
    left.work("left-1");
    right.work("right-1");
    assert!(left.run("tow session baton").contains("passes its work on"));
    right.run("tow session baton");
    let middle = Seat::open(&tmux, "claude", "2.1.325");
    middle.tell("SessionStart.startup", "s-3", json!({}));
    let said = middle.prompt("s-3", "go on");
    assert!(said.contains("claude left-1") && said.contains("codex right-1"), "{said}");
    assert_eq!(decisions(&env), ["claude:s-3 ambiguous"]);
    env.tow(&["baton", "--list"]).ok().prints("claude left-1").prints("codex right-1");
    assert!(left.run("tow session baton --drop").contains("passes nothing on"));
    assert_eq!(env.tow(&["baton", "--list", "--json"]).ok().json()["batons"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_is_found_by_its_pane_its_project_and_its_id_and_never_guessed() {
    let (env, tmux) = bench();
    env.tow(&["baton"]).exits(2).complains("nothing is recorded yet").complains("tow install");
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    seat.work("session-left");
    env.tow(&["baton", "--json"]).ok().prints(r#""session":"claude:session-left""#);
    let other = Seat::open(&tmux, "claude", "2.1.325");
    other.work("session-right");
    let run = env.tow(&["baton"]).exits(2).complains("several are open in this project");
    run.complains("tow session baton --session ion-left").complains("“do the work”");
    env.tow(&["fresh", "--session", "right"]).ok().prints("claude on-right");
    env.tow(&["fresh", "--session", "session"]).exits(2).complains("fits several sessions");
    env.tow(&["fresh", "--session", "nobody"]).exits(2).complains("no session's id begins or ends");
    // The agent is left, and its terminal still knows who sat there.
    seat.pane.keys(&["C-d"]);
    let said = env.root().join("said");
    wait::until("the shell below the agent", wait::PATIENCE, || {
        seat.pane.say(&format!("tow session baton --json > {0}.new && mv {0}.new {0}", said.display()));
        std::fs::read_to_string(&said).ok()
    });
    assert!(std::fs::read_to_string(&said).unwrap().contains("claude:session-left"));
}

/// Sunday, 15 November 2026, 12:00 in universal time.
const NOON: i64 = 1_794_744_000_000;

/// The entries of a transcript, each with its role, its id, the entry that it follows and its text.
fn transcript(env: &TestEnv, entries: &[(&str, &str, Option<&str>, &str)]) -> String {
    let entry = |(second, (role, id, parent, text)): (usize, &(&str, &str, Option<&str>, &str))| {
        let content = if *role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
        let message = json!({"role": role, "id": format!("m-{id}"), "model": "m", "content": content});
        let entry = json!({
            "type": role, "uuid": id, "parentUuid": parent, "sessionId": "s-1", "isSidechain": false,
            "cwd": env.project(), "timestamp": format!("2026-11-15T11:59:{:02}.000Z", 50 + second), "message": message,
        });
        format!("{entry}\n")
    };
    entries.iter().enumerate().map(entry).collect()
}

/// The hook had reported an answer that the user took back; the prompt after it had none yet.
#[test]
fn an_answer_that_was_taken_back_is_not_where_the_work_stood() {
    let env = hermetic();
    env.set_now(NOON);
    let tmux = Tmux::start(&env);
    let seat = Seat::open(&tmux, "claude", "2.1.325");
    let file = env.root().join("transcript.jsonl");
    let entries = [
        ("user", "u1", None, "measure the mast"),
        ("assistant", "a1", Some("u1"), "It is four metres."),
        ("user", "u2", Some("a1"), "paint it with quicksilver"),
        ("assistant", "a2", Some("u2"), "The quicksilver is on."),
        ("user", "u3", Some("a1"), "paint it white"),
    ];
    std::fs::write(&file, transcript(&env, &entries)).unwrap();
    let path = json!({"transcript_path": file});
    let with = |fields: Value| {
        let mut all = path.clone();
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    seat.tell("SessionStart.startup", "s-1", path.clone());
    seat.tell("UserPromptSubmit", "s-1", with(json!({"prompt": "paint it with quicksilver"})));
    seat.tell("Stop", "s-1", with(json!({"last_assistant_message": "The quicksilver is on."})));
    seat.tell("UserPromptSubmit", "s-1", with(json!({"prompt": "paint it white"})));
    env.tow(&["capture", "claude", &file.display().to_string()]).ok();
    seat.clear("s-1", "s-2");
    let said = seat.prompt("s-2", "what was I doing?");
    assert!(said.contains("paint it white") && said.contains("It is four metres."), "{said}");
    assert!(!said.contains("quicksilver"), "{said}");
}

/// It once showed the newest session of the project, wherever that was live.
#[test]
fn the_context_is_of_the_session_that_sits_here_or_passed_the_baton_and_of_no_other() {
    let (env, tmux) = bench();
    let (left, right) = (Seat::open(&tmux, "claude", "2.1.325"), Seat::open(&tmux, "claude", "2.1.325"));
    left.work("session-left");
    right.work("session-right");
    assert!(
        left.run("tow session context").contains("claude:session-left (as `tow session context` was asked)")
    );
    assert!(
        right
            .run("tow session context")
            .contains("claude:session-right (as `tow session context` was asked)")
    );
    env.tow(&["context"]).ok().prints("nothing: no session sits in this terminal");
    right.run("tow session baton");
    env.tow(&["context"]).ok().prints("claude:session-right (as `tow session context` was asked)");
    left.run("tow session baton");
    env.tow(&["context"]).ok().prints("nothing: no session sits in this terminal");
    right.run("tow session fresh");
    assert!(right.run("tow session context").contains("nothing: no session"));
    env.tow(&["context"]).ok().prints("claude:session-left (as `tow session context` was asked)");
}

#[test]
fn the_context_shows_what_the_transcript_holds_though_nobody_captured_it_yet() {
    let env = hermetic();
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts/claude-2.1.325-words.jsonl");
    let text = std::fs::read_to_string(recorded).unwrap();
    let file = env.root().join("transcript.jsonl");
    let first: Value = text.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap();
    let session = first["sessionId"].as_str().unwrap();
    let half: usize = text.split_inclusive('\n').take(text.lines().count() / 2).map(str::len).sum();
    std::fs::write(&file, &text[..half]).unwrap();
    env.tow(&["capture", "claude", &file.display().to_string()]).ok();
    let context = || env.tow(&["context", session]).ok().stdout;
    let before = context();
    std::fs::write(&file, &text).unwrap();
    assert_eq!(context(), before, "nobody told where its transcript is");
    let start = say(&env, "SessionStart", session, json!({"source": "resume", "transcript_path": file}));
    env.hook("claude", start.to_string()).ok();
    let shown = context();
    let turns = |text: &str| -> u32 {
        let digits = text.split(", turns: ").nth(1).unwrap().split('.').next().unwrap();
        digits.parse().unwrap()
    };
    assert!(turns(&shown) > turns(&before), "{before}\n{shown}");
    env.tow(&["capture", "claude", &file.display().to_string()]).ok();
    assert_eq!(context(), shown, "nothing was left to capture");
}

/// Tells the hook in a process of the agent's name that an editor started: it has no terminal.
fn in_editor(env: &TestEnv, payloads: &[Value]) -> Run {
    env.link("claude", "/bin/bash");
    let mut lines = String::new();
    for (number, payload) in payloads.iter().enumerate() {
        let file = env.root().join(format!("editor-{number}.json"));
        std::fs::write(&file, payload.to_string()).unwrap();
        lines.push_str(&format!("tow hook claude < {}\n", file.display()));
    }
    let script = env.script("editor", &lines);
    Run::of(env.command("setsid").args(["-w", "claude"]).arg(script), b"").ok()
}

fn say(env: &TestEnv, event: &str, session: &str, fields: Value) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": session, "cwd": env.project()});
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload
}

/// Two processes: each conversation of an editor may have its own.
fn clear_in_editor(env: &TestEnv) -> Run {
    env.set("CLAUDE_CODE_ENTRYPOINT", "claude-vscode");
    clear_without_terminal(env)
}

fn clear_without_terminal(env: &TestEnv) -> Run {
    let start = |session: &str, source: &str| say(env, "SessionStart", session, json!({"source": source}));
    let prompt = |session: &str| say(env, "UserPromptSubmit", session, json!({"prompt": "work"}));
    in_editor(env, &[start("s-1", "startup"), prompt("s-1"), say(env, "Stop", "s-1", json!({}))]);
    in_editor(env, &[start("s-2", "clear"), prompt("s-2")])
}

#[test]
fn tl_12_an_editor_that_is_cleared_goes_on_with_the_only_session_it_can_mean() {
    let env = hermetic();
    clear_in_editor(&env);
    assert_eq!(decisions(&env), ["claude:s-2 fallback claude:s-1"]);
}

#[test]
fn tl_12_a_variable_turns_the_fallback_off() {
    let env = hermetic();
    env.set("TOWLINE_NO_AUTO_INHERIT", "1");
    clear_in_editor(&env);
    assert_eq!(decisions(&env), ["claude:s-2 off"]);
    env.tow(&["inherit", "log"]).ok().prints("TOWLINE_NO_AUTO_INHERIT is set");
}

#[test]
fn a_session_whose_seat_nobody_finds_is_decided_about_and_told_with_the_same_prompt() {
    let env = hermetic();
    env.tow(&["config", "set", "inherit.on_clear", "ask"]).ok();
    clear_without_terminal(&env).prints("`tow session inherit take s-1`");
    assert_eq!(decisions(&env), ["claude:s-2 asked"]);
}

#[test]
fn a_hundred_cleared_sessions_filled_the_notice() {
    let env = hermetic();
    let sessions: Vec<String> = (1..=12).map(|number| format!("s-{number:02}")).collect();
    for session in &sessions {
        let start = say(&env, "SessionStart", session, json!({"source": "startup"}));
        let prompt = say(&env, "UserPromptSubmit", session, json!({"prompt": format!("do {session}")}));
        in_editor(&env, &[start, prompt, say(&env, "Stop", session, json!({}))]);
    }
    let start = say(&env, "SessionStart", "heir", json!({"source": "clear"}));
    let prompt = say(&env, "UserPromptSubmit", "heir", json!({"prompt": "what was I doing?"}));
    let said = in_editor(&env, &[start, prompt]).stdout;
    assert!(said.contains("several sessions") && said.contains("s-08 “do s-08”"), "{said}");
    assert!(said.contains("s-12 “do s-12”, and 7 more") && !said.contains("s-07"), "{said}");
}

#[test]
fn the_last_answer_is_bounded_and_none_is_kept_where_wishes_cannot_be_read() {
    let env = hermetic();
    let answer = |env: &TestEnv, session: &str| {
        let long = format!("the beginning {}", "word ".repeat(8000));
        let key = common::key(&format!("claude:{session}"));
        env.hook("claude", common::payload("UserPromptSubmit", &key, "it")).ok();
        let stop = say(env, "Stop", session, json!({"last_assistant_message": long, "background_tasks": []}));
        env.hook("claude", stop.to_string()).ok();
        // A hook leaves its event to a process that applies already, which may run longer than `tow data work`.
        env.tow(&["work"]).ok();
        env.wait_no_process();
        let store = common::store_in(&towline_store::DataFolder::at(env.data_dir()));
        store.session(&key).unwrap().unwrap().answer
    };
    let kept = answer(&env, "s-1").unwrap();
    assert!(
        kept.as_str().starts_with("the beginning word") && kept.as_str().len() < 4100,
        "{}",
        kept.as_str().len()
    );
    let config = env.home().join(".config/towline/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[privacy]\nexclude_projects = ['~/mine']\n").unwrap();
    assert_eq!(answer(&env, "s-2"), None);
}

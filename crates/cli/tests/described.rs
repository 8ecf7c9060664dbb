//! Agents by description as a person meets them: found by their process, seen on their screens, imported, searched, resumed,
//! and described by the user.
//!
//! Screens and transcripts are recordings of the real programs (`crates/agents/described`), shown in real tmux by a program
//! of the agent's name.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use towline_store::foreign::samples::SampleDatabase;
use towline_testkit::{Pane, TestEnv, Tmux, wait};

/// The name, the recording, and the agent's folder below the home.
const AGENTS: [(&str, &str, &str); 6] = [
    ("cline", "cline-3.0.65", ".cline"),
    ("droid", "droid-0.215.0", ".factory"),
    ("grok", "grok-1.0.41", ".grok"),
    ("kimi", "kimi-2.1.0", ".kimi-code"),
    ("pi", "pi-0.73.1", ".pi/agent"),
    ("vibe", "vibe-3.0.2", ".vibe"),
];

/// After the recordings.
const NOW: i64 = 1_795_100_000_000;

fn env() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set_now(NOW);
    env
}

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/described").join(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => assert!(fs::copy(entry.path(), to).is_ok()),
        }
    }
}

/// All agents have left their folders here.
fn used() -> TestEnv {
    let env = env();
    for (_, recorded, folder) in AGENTS {
        copy(&recording(recorded).join("home"), &env.home().join(folder));
    }
    env
}

/// Where the user's descriptions are.
fn own_descriptions(env: &TestEnv) -> PathBuf {
    let folder = env.home().join(".config/towline/agents");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn sessions(env: &TestEnv) -> Vec<Value> {
    let found = env.tow(&["session", "list", "--all-projects", "--json"]).ok().json();
    found["sessions"].as_array().unwrap().clone()
}

#[test]
fn sessions_of_all_shipped_descriptions_are_imported_searched_and_resumed() {
    let env = used();
    let done = env.tow(&["import", "--json"]).ok().json();
    let again = env.tow(&["import", "--json"]).ok().json();
    env.wait_no_process();
    let agents: BTreeSet<String> =
        sessions(&env).iter().map(|session| session["agent"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        agents.iter().map(String::as_str).collect::<Vec<_>>(),
        AGENTS.map(|(name, ..)| name),
        "{done}"
    );
    assert_eq!((&again["turns"], &again["bodies"]), (&json!(0), &json!(0)), "{again}");
    let found = env.tow(&["search", "touch made", "--all-projects", "--json"]).ok().stdout;
    assert!(found.contains("vibe") || found.contains("kimi"), "{found}");
    let printed = env.tow(&["session", "resume", "session_b0146829", "--print"]).ok().stdout;
    assert_eq!(
        printed.trim(),
        "cd /home/user/project && kimi --session session_b0146829-31ce-4377-8acd-e3947671b6ca"
    );
}

#[test]
fn one_agent_is_imported_by_its_name() {
    let env = used();
    env.tow(&["import", "pi"]).ok();
    env.wait_no_process();
    let found = sessions(&env);
    assert_eq!((found.len(), &found[0]["agent"]), (1, &json!("pi")));
    env.tow(&["import", "pj"]).exits(2).complains("nothing is known to import from `pj`");
}

const IN_A_DATABASE: &str = r#"
title = "Own Agent"
folder = ".own"
[process]
names = ["own-agent"]
[transcript]
format = "sqlite"
files = ["state.db"]
rows = "messages.session"
order = "at"
sessions = "sessions.id"
folder = "cwd"
time = "at"
id = "id"
[[transcript.pieces]]
is = "prompt"
when = ["said.role=user"]
text = "said.text"
[[transcript.pieces]]
is = "answer"
when = ["said.role=assistant"]
text = "said.text"
"#;

/// Opens the agent's database for a change, made `later` milliseconds after the test's time.
fn in_database(env: &TestEnv, later: i64, change: impl FnOnce(&SampleDatabase)) {
    let path = env.home().join(".own/state.db");
    let database = if path.exists() { SampleDatabase::again(&path) } else { SampleDatabase::of_agent(&path) };
    let database = database.unwrap();
    change(&database);
    database.close().unwrap();
    write_at(&path, NOW + later);
}

fn say(database: &SampleDatabase, session: &str, at: i64, said: &str) {
    let row = [("session", session.into()), ("at", at.into()), ("said", said.into())];
    database.add("messages", &row).unwrap();
}

fn write_at(file: &Path, at: i64) {
    let written = UNIX_EPOCH + Duration::from_millis(at.unsigned_abs());
    fs::File::options().append(true).open(file).unwrap().set_modified(written).unwrap();
}

/// An agent whose sessions are rows of a database.
fn with_database() -> TestEnv {
    let env = env();
    fs::create_dir(env.home().join(".own")).unwrap();
    fs::write(own_descriptions(&env).join("own.toml"), IN_A_DATABASE).unwrap();
    in_database(&env, 0, |database| {
        for (id, folder) in [("s-1", "/home/user/project"), ("s-2", "/home/user/other")] {
            database.add("sessions", &[("id", id.into()), ("cwd", folder.into())]).unwrap();
        }
        say(database, "s-1", 1_795_090_000, r#"{"role":"user","text":"step the mizzen mast"}"#);
        say(database, "s-1", 1_795_090_001, r#"{"role":"assistant","text":"the mast is stepped"}"#);
        say(database, "s-2", 1_795_090_002, r#"{"role":"user","text":"coil the halyard"}"#);
    });
    env
}

#[test]
fn sessions_in_a_database_are_imported_and_go_on() {
    let env = with_database();
    env.tow(&["doctor", "--agent", "own"]).ok().prints("1 entries give 1 prompts, 0 answers");
    env.tow(&["import", "own"]).ok();
    env.wait_no_process();
    let mut found: Vec<String> =
        sessions(&env).iter().map(|session| session["session"].as_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(found, ["own:s-1", "own:s-2"]);
    env.tow(&["search", "mizzen mast", "--all-projects"]).ok().prints("the mast is stepped");
    let again = env.tow(&["import", "own", "--json"]).ok().json();
    assert_eq!(again["turns"], 0, "{again}");
    in_database(&env, 1, |database| {
        say(database, "s-2", 1_795_090_003, r#"{"role":"assistant","text":"the halyard hangs"}"#);
        database.change_message(3, r#"{"role":"user","text":"coil the main halyard"}"#).unwrap();
    });
    env.tow(&["data", "work"]).ok();
    env.wait_no_process();
    env.tow(&["search", "main halyard", "--all-projects"]).ok().prints("the halyard hangs");
    assert_eq!(sessions(&env).len(), 2);
}

#[test]
fn a_database_without_the_described_table_is_named() {
    let env = with_database();
    in_database(&env, 1, |database| database.rename("messages", "entries").unwrap());
    env.tow(&["doctor", "--agent", "own"]).prints("no such table: messages");
    env.tow(&["import", "own"]).complains("no such table: messages");
    assert_eq!(sessions(&env).len(), 0);
}

/// What was written after the first import follows in the background; of agents that were never imported, nothing does.
#[test]
fn a_session_that_goes_on_is_captured_without_hooks() {
    let env = used();
    env.tow(&["import", "pi"]).ok();
    env.wait_no_process();
    let folder = env.home().join(".pi/agent/sessions/--home-user-project--");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    let more = r#"{"type":"message","id":"ffff0001","timestamp":"2026-11-19T05:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"paint the mizzen mast"}]}}"#;
    fs::write(&file, format!("{text}{more}\n")).unwrap();
    write_at(&file, NOW);
    env.tow(&["data", "work"]).ok();
    env.wait_no_process();
    assert_eq!(sessions(&env).len(), 1);
    env.tow(&["search", "mizzen mast", "--all-projects"]).ok().prints("mizzen");
}

/// A pane in which a program of this name shows a recorded screen, until a key is pressed.
fn play(env: &TestEnv, tmux: &Tmux, program: &str, screen: &Path) -> Pane {
    let text = fs::read_to_string(screen).unwrap();
    let (title, shown) = text.split_once('\n').unwrap();
    let file = env.home().join(format!("{program}.screen"));
    // The last line without its end: it would scroll.
    fs::write(&file, shown.trim_end_matches('\n')).unwrap();
    env.link(program, "/bin/bash");
    let title = title.strip_prefix("title: ").unwrap().replace('\'', "");
    let script =
        format!("printf '\\033]2;%s\\007\\033[2J\\033[H' '{title}'; cat {}; read line", file.display());
    let pane = tmux.open(&[program, "-c", &script], &[]);
    tmux.run(&["resize-window", "-t", &pane.id, "-x", "120", "-y", "44"]);
    pane
}

fn state_of(env: &TestEnv, pane: &Pane) -> Value {
    let seat = env.seats().into_iter().find(|seat| seat["pane"] == pane.id.as_str());
    seat.map_or(Value::Null, |seat| seat["state"].clone())
}

#[track_caller]
fn check_shown(program: &str, screen: &str, expected: &str) {
    let env = used();
    let tmux = Tmux::start(&env);
    let pane = play(&env, &tmux, program, &recording(screen));
    wait::until_evident("the state on the screen", wait::PATIENCE, || {
        let found = state_of(&env, &pane);
        if found == expected { Ok(()) } else { Err(format!("{found}")) }
    });
    env.tow(&["status"]).ok().prints("by its screen");
    env.tow(&["why", &pane.id]).ok().prints("a pattern of its description matches");
    pane.keys(&["Enter"]);
    pane.wait_end();
    assert_eq!(state_of(&env, &pane), Value::Null);
}

#[test]
fn a_dialog_on_the_screen_of_an_agent_without_hooks_is_shown_as_blocked() {
    check_shown("kimi-code", "kimi-2.1.0/screens/dialog.waiting.txt", "blocked");
}

#[test]
fn work_in_the_title_of_the_pane_is_shown_as_working() {
    check_shown("vibe-rs", "vibe-3.0.2/screens/thinking.working.txt", "working");
}

#[test]
fn the_input_line_of_an_agent_without_hooks_is_shown_as_idle() {
    check_shown("grok", "grok-1.0.41/screens/started.idle.txt", "idle");
}

/// An agent that was never used here leaves no folder: a program of the same name is not taken for it.
#[test]
fn a_program_that_only_has_the_name_of_an_agent_is_not_listed() {
    let env = env();
    let tmux = Tmux::start(&env);
    let pane = play(&env, &tmux, "pi", &recording("pi-0.73.1/screens/started.idle.txt"));
    pane.wait_screen("pi v0.73.1");
    assert_eq!(env.seats(), [] as [Value; 0]);
}

const OWN: &str = r#"
title = "Own Agent"
folder = ".own"

[process]
names = ["own-agent"]

[screen]
working = ["busy*"]
input = ["$ *"]

[resume]
command = ["own-agent", "--go-on", "{session}"]

[transcript]
files = ["talks/{session}.jsonl"]
folder = "where"
time = "at"

[[transcript.pieces]]
is = "prompt"
when = ["who=me"]
text = "words"

[[transcript.pieces]]
is = "answer"
when = ["who=it"]
text = "words"
"#;

const TALK: &str = r#"{"who":"me","words":"caulk the hull","at":"2026-11-19T05:00:00Z","where":"/home/user/boat"}
{"who":"it","words":"the hull is caulked","at":"2026-11-19T05:00:09Z"}
"#;

#[test]
fn a_users_own_description_is_checked_imported_and_searched() {
    let env = env();
    let file = own_descriptions(&env).join("own.toml");
    fs::write(&file, OWN).unwrap();
    env.tow(&["doctor", "--agent", "own"]).ok().prints("does not exist: the agent was not used here");
    fs::create_dir_all(env.home().join(".own/talks")).unwrap();
    env.tow(&["doctor", "--agent", "own"]).ok().prints("no file matches `transcript.files`");
    fs::write(env.home().join(".own/talks/t-1.jsonl"), TALK).unwrap();
    let checked = env.tow(&["doctor", "--agent", "own"]).ok().prints("2 entries give 1 prompts, 1 answers");
    checked.prints("files and commands of tool calls (no `tools`)");
    env.tow(&["status"]).ok().prints("no agent is running");
    env.tow(&["import", "own"]).ok();
    env.wait_no_process();
    env.tow(&["search", "caulk", "--all-projects"]).ok().prints("caulk the hull");
    let printed = env.tow(&["session", "resume", "t-1", "--print"]).ok().stdout;
    assert_eq!(printed.trim(), "cd /home/user/boat && own-agent --go-on t-1");
    // Calls whose results no rule finds are named; the counts alone looked well.
    let calls = "[[transcript.pieces]]\nis = \"tool_call\"\nwhen = [\"who=it\"]\ncall = \"at\"\ntool = \"who\"\n\
        input = \"words\"\n";
    fs::write(&file, format!("{OWN}\n{calls}")).unwrap();
    env.tow(&["doctor", "--agent", "own"])
        .prints("1 tool calls, 0 results")
        .prints("that is a `tool_result`");
    // A rule that finds nothing is named.
    fs::write(&file, OWN.replace("who=me", "who=us")).unwrap();
    env.tow(&["doctor", "--agent", "own"]).exits(1).prints("that is a `prompt`");
}

#[test]
fn a_mistake_in_a_description_is_named_with_its_file_line_and_cure() {
    let env = used();
    let file = own_descriptions(&env).join("own.toml");
    fs::write(&file, OWN.replace("names =", "nmaes =")).unwrap();
    let refused = env.tow(&["doctor", "--agent", "own"]).exits(2);
    let refused = refused.complains("there is no key `process.nmaes`; did you mean `process.names`?");
    refused.complains("own.toml");
    env.tow(&["doctor"]).exits(1).prints("own description");
    env.tow(&["import", "own"]).exits(2).complains("line 6:");
    env.tow(&["import"]).ok().complains("nothing of that agent is imported: line 6:");
    env.tow(&["import", "pi"]).ok();
    env.tow(&["doctor", "--agent", "none"]).exits(2).complains("cline, droid, grok, kimi, pi, vibe");
    env.tow(&["doctor", "--agent", "claude"]).exits(2).complains("needs no description");
}

#[test]
fn a_prompt_without_an_id_survives_that_its_file_is_written_anew() {
    let env = env();
    fs::write(own_descriptions(&env).join("own.toml"), OWN).unwrap();
    let (talks, second) = (env.home().join(".own/talks"), TALK.replace("caulk", "tar"));
    fs::create_dir_all(&talks).unwrap();
    for text in [TALK, &second] {
        fs::write(talks.join("t-1.jsonl"), text).unwrap();
        env.tow(&["import", "own"]).ok();
    }
    env.wait_no_process();
    for words in ["caulk the hull", "tar the hull"] {
        env.tow(&["search", words, "--all-projects"]).ok().prints(words);
    }
}

/// An agent that writes each session as one JSON file.
struct Documents {
    env: TestEnv,
    talks: PathBuf,
}

impl Documents {
    fn new() -> Documents {
        let env = env();
        let whole = "format = \"json\"\nentries = \"said[]\"\nfiles = [\"talks/{session}.json\"]";
        let description = OWN.replace("files = [\"talks/{session}.jsonl\"]", whole);
        assert_ne!(description, OWN);
        fs::write(own_descriptions(&env).join("own.toml"), description).unwrap();
        let talks = env.home().join(".own/talks");
        fs::create_dir_all(&talks).unwrap();
        Documents { env, talks }
    }

    /// Written this many minutes ago.
    fn write(&self, name: &str, text: &str, minutes: i64) {
        let path = self.talks.join(name);
        fs::write(&path, text).unwrap();
        self.age(name, minutes);
    }

    fn age(&self, name: &str, minutes: i64) {
        let at = UNIX_EPOCH + Duration::from_millis((NOW - minutes * 60_000).unsigned_abs());
        fs::File::options().append(true).open(self.talks.join(name)).unwrap().set_modified(at).unwrap();
    }

    /// Why files could not be read, by their names.
    fn import(&self) -> Vec<(String, String)> {
        let done = self.env.tow(&["import", "own", "--json"]).ok().json();
        self.env.wait_no_process();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let name = |path: &Value| text(path).rsplit('/').next().unwrap().to_owned();
        let all = done["unreadable"].as_array().unwrap().iter();
        all.map(|one| (name(&one["path"]), text(&one["why"]))).collect()
    }

    #[track_caller]
    fn check_doctor(&self, cause: &str, cure: &str) {
        let said = self.env.tow(&["doctor", "--agent", "own"]).exits(1);
        said.prints(cause).prints(cure);
    }
}

/// The talk as one JSON value.
fn whole(words: &str) -> String {
    let lines: Vec<String> = TALK.lines().map(|line| line.replace("hull", words)).collect();
    format!("{{\"said\":[{}]}}", lines.join(","))
}

#[test]
fn a_whole_json_file_that_gives_nothing_is_named_with_its_cause() {
    let own = Documents::new();
    own.write("t-1.json", &whole("keel"), 9);
    own.write("t-2.json", "{\"said\":[{\"who\"", 8);
    assert_eq!(own.import(), [("t-2.json".into(), "it is no whole JSON value: line 1, column 15".into())]);
    own.check_doctor("t-2.json cannot be read: it is no whole JSON value", "`transcript.format`");
    own.write("t-2.json", &whole("keel").replace("said", "told"), 7);
    let why = "`transcript.entries` leads to no list in it";
    assert_eq!(own.import(), [("t-2.json".into(), why.into())]);
    own.check_doctor(why, "mend `transcript.entries`");
    fs::File::create(own.talks.join("t-2.json")).unwrap().set_len((64 << 20) + 1).unwrap();
    own.age("t-2.json", 6);
    own.import();
    own.check_doctor("it is longer than 64 MB", "begin a new session");
    own.write("t-2.json", "{\"said\":[]}", 5);
    assert_eq!(own.import(), []);
    own.env.tow(&["doctor", "--agent", "own"]).prints("it has no entries yet");
    assert_eq!(sessions(&own.env).len(), 1);
}

#[test]
fn a_broken_file_keeps_no_other_from_being_captured_in_the_background() {
    let own = Documents::new();
    own.write("t-5.json", &whole("keel"), 9);
    own.import();
    own.write("t-1.json", "{\"said\":", 5);
    // Its agent may still be writing this one.
    own.write("t-2.json", "{\"said\":", 0);
    own.write("t-9.json", &whole("mizzen"), 5);
    own.env.tow(&["data", "work"]).ok();
    own.env.wait_no_process();
    own.env.tow(&["search", "mizzen", "--all-projects"]).ok().prints("mizzen");
    let faults = own.env.tow(&["doctor"]).stdout;
    assert!(faults.contains("t-1.json") && !faults.contains("t-2.json"), "{faults}");
}

#[test]
fn a_whole_json_file_that_was_not_written_since_is_not_parsed_again() {
    let own = Documents::new();
    own.write("t-1.json", &whole("keel"), 9);
    assert_eq!(own.import(), []);
    // Same length, same time: whoever parses it finds no JSON.
    own.write("t-1.json", &"x".repeat(whole("keel").len()), 9);
    assert_eq!(own.import(), []);
    own.age("t-1.json", 8);
    assert_eq!(own.import().len(), 1);
}

/// Its description may leave out the calls, and take anything for a prompt.
#[test]
fn a_transcript_without_calls_of_an_agent_without_an_adapter_is_not_trusted() {
    let env = env();
    fs::write(own_descriptions(&env).join("own.toml"), OWN).unwrap();
    let talk = TALK.replace("caulk the hull", "Always seed the cache before the tests.");
    let talk =
        talk.replace("the hull is caulked", "Note that the cache only works if the folder exists already.");
    fs::create_dir_all(env.home().join(".own/talks")).unwrap();
    fs::write(env.home().join(".own/talks/t-1.jsonl"), talk).unwrap();
    env.tow(&["import", "own"]).ok();
    env.tow(&["data", "work"]).ok();
    env.wait_no_process();
    let found = env.tow(&["memories", "--json", "--all-projects"]).ok().json();
    let trust: Vec<_> = found["memories"].as_array().unwrap().iter().map(|one| &one["trust"]).collect();
    assert_eq!(trust, [&json!("web"), &json!("web")], "{found}");
}

/// An agent whose transcripts tell the session's folder in a later line, or in a file beside them.
struct LateFolder {
    env: TestEnv,
    talks: PathBuf,
}

impl LateFolder {
    /// `/home/user/secret` is excluded, unless nothing is.
    fn new(excluded: &str) -> LateFolder {
        let env = env();
        let about = "files = [\"talks/{session}.jsonl\"]\nabout = \"talks/{session}.json\"";
        let description = OWN.replace("files = [\"talks/{session}.jsonl\"]", about);
        assert_ne!(description, OWN);
        fs::write(own_descriptions(&env).join("own.toml"), description).unwrap();
        env.tow(&["config", "set", "privacy.exclude_projects", excluded]).ok();
        let talks = env.home().join(".own/talks");
        fs::create_dir_all(&talks).unwrap();
        LateFolder { env, talks }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.talks.join(name), text).unwrap();
    }

    /// The sessions with their folders after a capture of this one and an import of all.
    fn captured(&self, session: &str) -> Vec<(String, Option<String>)> {
        let path = self.talks.join(format!("{session}.jsonl"));
        self.env.tow(&["capture", "own", path.to_str().unwrap(), "--at-once"]).ok();
        self.env.tow(&["import", "own"]).ok();
        self.env.wait_no_process();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = sessions(&self.env);
        all.iter().map(|one| (text(&one["id"]).unwrap(), text(&one["folder"]))).collect()
    }
}

const SECRET: &str = "[\"/home/user/secret\"]";
const PROMPT: &str = "{\"who\":\"me\",\"words\":\"caulk the hull\",\"at\":\"2026-11-19T05:00:00Z\"}\n";

fn answer_in(folder: &str) -> String {
    format!("{{\"who\":\"it\",\"words\":\"done\",\"at\":\"2026-11-19T05:00:09Z\",\"where\":\"{folder}\"}}\n")
}

#[test]
fn a_session_in_an_excluded_folder_that_a_later_line_tells_is_not_captured() {
    let own = LateFolder::new(SECRET);
    own.write("t-1.jsonl", &format!("{PROMPT}{}", answer_in("/home/user/secret/boat")));
    assert_eq!(own.captured("t-1"), []);
    own.write("t-2.jsonl", &format!("{PROMPT}{}", answer_in("/home/user/boat")));
    assert_eq!(own.captured("t-2"), [("t-2".into(), Some("/home/user/boat".into()))]);
}

#[test]
fn a_session_that_may_be_in_an_excluded_folder_waits_until_its_folder_is_told() {
    let own = LateFolder::new(SECRET);
    for session in ["t-1.jsonl", "t-2.jsonl", "t-3.jsonl"] {
        own.write(session, PROMPT);
    }
    assert_eq!(own.captured("t-1"), []);
    own.write("t-1.json", r#"{"where":"/home/user/secret"}"#);
    own.write("t-2.json", r#"{"where":"/home/user/boat"}"#);
    // A relative path does not say which folder is meant.
    own.write("t-3.json", r#"{"where":"/home/user/boat/../secret"}"#);
    assert_eq!(own.captured("t-1"), [("t-2".into(), Some("/home/user/boat".into()))]);
}

#[test]
fn a_folder_that_is_told_after_the_first_capture_is_noted() {
    let own = LateFolder::new("[]");
    own.write("t-1.jsonl", PROMPT);
    assert_eq!(own.captured("t-1"), [("t-1".into(), None)]);
    own.write("t-1.jsonl", &format!("{PROMPT}{}", answer_in("/home/user/boat")));
    assert_eq!(own.captured("t-1"), [("t-1".into(), Some("/home/user/boat".into()))]);
    own.write("t-2.jsonl", PROMPT);
    own.captured("t-2");
    own.write("t-2.json", r#"{"where":"/home/user/boat"}"#);
    let folders: BTreeSet<_> = own.captured("t-2").into_iter().map(|(_, folder)| folder).collect();
    assert_eq!(folders, BTreeSet::from([Some("/home/user/boat".into())]));
}

/// Neither a link to a file, nor one to a folder, nor `..`: also if a capture is asked for such a path.
#[test]
fn a_capture_follows_no_link_and_no_dots_out_of_the_agents_folder() {
    use std::os::unix::fs::symlink;
    let env = env();
    let file = own_descriptions(&env).join("own.toml");
    fs::write(file, OWN.replace("talks/{session}", "talks/*/*/{session}")).unwrap();
    let talks = env.home().join(".own/talks");
    fs::create_dir_all(talks.join("a/b")).unwrap();
    let secret = env.home().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(env.home().join("secret.jsonl"), TALK).unwrap();
    fs::write(secret.join("t-3.jsonl"), TALK).unwrap();
    symlink(env.home().join("secret.jsonl"), talks.join("a/b/t-2.jsonl")).unwrap();
    symlink(&secret, talks.join("a/c")).unwrap();
    env.tow(&["import", "own"]).ok();
    for path in ["a/b/t-2.jsonl", "a/c/t-3.jsonl", "../../secret.jsonl"] {
        let path = talks.join(path);
        assert!(fs::metadata(&path).is_ok(), "{}", path.display());
        env.tow(&["capture", "own", path.to_str().unwrap(), "--at-once"]).ok();
    }
    env.wait_no_process();
    assert_eq!(sessions(&env), [] as [Value; 0]);
    // The same text where it belongs is captured.
    fs::write(talks.join("a/b/t-4.jsonl"), TALK).unwrap();
    env.tow(&["capture", "own", talks.join("a/b/t-4.jsonl").to_str().unwrap(), "--at-once"]).ok();
    env.wait_no_process();
    assert_eq!(sessions(&env).len(), 1);
}

/// A link out of the agent's folder is not followed, whatever it is called.
#[test]
fn nothing_outside_of_the_agents_folder_is_read() {
    let env = env();
    fs::write(own_descriptions(&env).join("own.toml"), OWN).unwrap();
    let talks = env.home().join(".own/talks");
    fs::create_dir_all(&talks).unwrap();
    fs::write(env.home().join("secret.jsonl"), TALK).unwrap();
    std::os::unix::fs::symlink(env.home().join("secret.jsonl"), talks.join("t-2.jsonl")).unwrap();
    env.tow(&["import", "own"]).ok();
    env.tow(&["capture", "own", env.home().join("secret.jsonl").to_str().unwrap(), "--at-once"]).ok();
    env.wait_no_process();
    assert_eq!(sessions(&env), [] as [Value; 0]);
}

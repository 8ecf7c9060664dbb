//! `tow session repair` on transcripts that the real Claude Code wrote and died in: it resumes them, and goes back to the markers.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use towline_testkit::{Claude, Kind, Model, Pane, Rule, Step, TestEnv, Tmux, wait};

/// One prompt that is worked on for long without another, then one that does not fit any more.
fn scripted() -> Model {
    let part = |name: &str| {
        let echo = json!({"command": format!("echo output of {name}"), "description": "look"});
        Step::tool("Bash", echo).and_text(format!("{name} is done"))
    };
    let full =
        || Step::error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    Model::start([
        Rule::when("build the ship")
            .then(part("PART-KEEL"))
            .then(part("PART-HULL"))
            .then(part("PART-MAST"))
            .then(Step::text("the ship is built")),
        Rule::when("now sail").then(full()),
        // What is too long to be gone on with is too long to be summed up.
        Rule::when("").of(Kind::Compact).then(full()),
        Rule::when("go on from here").then(Step::text("there is room again")),
    ])
}

struct Ship {
    env: TestEnv,
    model: Model,
    tmux: Tmux,
    claude: Claude,
}

impl Ship {
    fn new(claude: Claude) -> Ship {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        claude.seed(&env);
        let tmux = Tmux::start(&env);
        Ship { env, model: scripted(), tmux, claude }
    }

    /// A session that died of a full context, still open in its pane.
    #[track_caller]
    fn wrecked(&self) -> Pane {
        let pane = self.claude.interactive(&self.tmux, &self.model, &[]);
        pane.say("build the ship");
        pane.wait_screen("the ship is built");
        self.claude.wait_idle(&pane);
        pane.say("now sail");
        pane.wait_screen_for("a full context", |screen| {
            screen.contains("too long") || screen.contains("Context limit")
        });
        self.claude.wait_idle(&pane);
        wait::until_evident("the death in the transcript", wait::PATIENCE, || {
            let text = fs::read_to_string(self.transcript()).unwrap();
            if text.contains("<synthetic>") { Ok(()) } else { Err(pane.screen()) }
        });
        pane
    }

    #[track_caller]
    fn left(&self, pane: &Pane) {
        pane.say("/exit ");
        pane.wait_end();
    }

    #[track_caller]
    fn transcript(&self) -> PathBuf {
        let folder = self.env.home().join(".claude/projects");
        let projects = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let files = projects.flat_map(|project| fs::read_dir(project).unwrap().flatten());
        let is_it = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        files.map(|entry| entry.path()).find(is_it).unwrap()
    }
}

fn id(transcript: &Path) -> String {
    transcript.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[track_caller]
fn mended_and_gone_back_to(claude: Claude) {
    let ship = Ship::new(claude);
    let pane = ship.wrecked();
    let path = ship.transcript();
    let id = id(&path);
    let env = &ship.env;
    env.tow(&["repair", &id, "--write"]).exits(2).complains("may have the session open");
    ship.left(&pane);

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::read(&path).unwrap();
    env.tow(&["repair", "--list"]).ok().prints(&id).prints("died of a full context");
    let shown = env.tow(&["repair", &id[..8], "--json"]).ok().json();
    let words: Vec<&str> =
        shown["markers"].as_array().unwrap().iter().map(|mark| mark["words"].as_str().unwrap()).collect();
    assert_eq!(words, ["PART-HULL is done", "PART-MAST is done", "the ship is built"], "{shown}");
    assert_eq!((&shown["dead"]["full_context"], &shown["written"]), (&json!(true), &json!(false)));
    assert_eq!(fs::read(&path).unwrap(), before, "a dry run changes nothing");

    env.tow(&["repair", &id, "--write"]).ok().prints("put in: 3 markers").prints("--resume");
    let repaired = fs::read(&path).unwrap();
    assert_ne!(repaired, before);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read(path.with_extension("jsonl.tow-backup")).unwrap(), before);
    env.tow(&["repair", &id, "--write"]).ok().prints("there was nothing to put in");
    assert_eq!(fs::read(&path).unwrap(), repaired, "done once");
    env.tow(&["repair", &id, "--restore"]).ok().prints("restored from");
    assert_eq!(fs::read(&path).unwrap(), before);
    env.tow(&["repair", &id, "--write"]).ok();
    assert_eq!(fs::read(&path).unwrap(), repaired, "the same again");

    let pane = ship.claude.interactive(&ship.tmux, &ship.model, &["--resume", &id]);
    pane.say("/rewind ");
    choose_marker(&pane, 2);
    pane.keys(&["Enter"]);
    pane.answer("1. Restore conversation", &["Enter"]);
    pane.wait_screen_for("what is left", |screen| {
        !screen.contains("now sail") && !screen.contains("PART-MAST")
    });
    claude.wait_idle(&pane);
    // The client puts the prompt that was gone back to into its input.
    pane.keys(&["C-u"]);
    pane.say("go on from here");
    pane.wait_screen("there is room again");
    let request = ship.model.wait_request("the conversation", |request| {
        request.kind == Kind::Main && request.prompt.contains("go on from here")
    });
    assert!(request.holds("PART-HULL is done") && request.holds("output of PART-HULL"));
    assert!(!request.holds("PART-MAST is done") && !request.holds("now sail"));
    claude.wait_idle(&pane);
    ship.left(&pane);

    env.tow(&["repair", &id, "--restore"]).exits(2).complains("went on since");
    env.tow(&["repair", "--list"]).ok().prints("none of the last 1 sessions");
}

/// Goes up the list of prompts to the so-manieth marker.
#[track_caller]
fn choose_marker(pane: &Pane, wanted: usize) {
    // Notes on what became of the code appear beside the prompts a moment later.
    let is_prompt = |line: &&str| {
        ["build", "·", "now sail", "/exit", "(current)", "more"].iter().any(|words| line.contains(words))
    };
    let list = |screen: &str| {
        let below = screen.split("the point before").nth(1)?;
        Some(below.lines().filter(is_prompt).collect::<Vec<_>>().join("\n"))
    };
    let chosen = |list: &str| {
        let line = list.lines().find_map(|line| line.trim_start().strip_prefix('❯'));
        line.map(|line| line.trim().to_owned())
    };
    let mut seen = list(&pane.wait_screen("(current)")).unwrap();
    let mut markers = 0;
    while markers < wanted {
        pane.keys(&["Up"]);
        let screen =
            pane.wait_screen_for("another choice", |screen| list(screen).is_some_and(|now| now != seen));
        seen = list(&screen).unwrap();
        markers += usize::from(chosen(&seen).as_deref() == Some("·"));
    }
}

#[test]
fn a_session_that_died_of_a_full_context_goes_on_from_a_marker_in_2_1_197() {
    mended_and_gone_back_to(Claude::V2_1_197);
}

#[test]
fn a_session_that_died_of_a_full_context_goes_on_from_a_marker_in_2_1_325() {
    mended_and_gone_back_to(Claude::V2_1_325);
}

/// A transcript of a session that nobody has open.
fn sunken(env: &TestEnv, name: &str, lines: &[serde_json::Value]) -> PathBuf {
    let folder = env.home().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path
}

/// Two answers and a last word in the model's place.
fn lines(last: &str) -> Vec<serde_json::Value> {
    let answer = |number: u32, model: &str, text: &str, tokens: u32| {
        json!({
            "type": "assistant", "uuid": format!("u{number}"), "parentUuid": format!("u{}", number - 1),
            "timestamp": format!("2026-11-15T10:00:0{number}.000Z"), "cwd": "/nowhere", "sessionId": "s",
            "message": {
                "id": format!("m{number}"), "role": "assistant", "model": model,
                "content": [{"type": "text", "text": text}], "usage": {"input_tokens": tokens},
            },
        })
    };
    let prompt = json!({
        "type": "user", "uuid": "u0", "parentUuid": null, "timestamp": "2026-11-15T10:00:00.000Z",
        "message": {"role": "user", "content": "begin"},
    });
    vec![prompt, answer(1, "m", "one", 5), answer(2, "m", "two", 5), answer(3, "<synthetic>", last, 0)]
}

#[test]
fn tav_38_a_transcript_is_named_by_its_path_or_a_part_of_its_id() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = sunken(&env, "aaaa1111", &lines("Prompt is too long"));
    sunken(&env, "aaaa2222", &lines("Prompt is too long"));
    sunken(&env, "cccc3333", &lines("API Error: 529 overloaded"));
    let before = fs::read(&path).unwrap();
    env.tow(&["repair", path.to_str().unwrap()]).ok().prints("puts 1 marker in");
    env.tow(&["repair", "aaaa1"]).ok().prints("before: two");
    env.tow(&["repair", "1111", "--every", "2"]).ok().prints("nothing to put in");
    env.tow(&["repair", "aaaa"]).exits(2).complains("fits several transcripts");
    env.tow(&["repair", "zzzz"]).exits(2).complains("begins or ends with `zzzz`");
    env.tow(&["repair"]).exits(2);
    env.tow(&["repair", "aaaa1111", "--marker", " "]).exits(2).complains("the marker is empty");
    assert_eq!(fs::read(&path).unwrap(), before);
    let listed = env.tow(&["repair", "--list", "--json"]).ok().json();
    let mut ids: Vec<&str> =
        listed["sessions"].as_array().unwrap().iter().map(|row| row["session"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!((ids, &listed["looked_at"]), (vec!["aaaa1111", "aaaa2222"], &json!(3)));
    let few = env.tow(&["repair", "--list", "--recent", "0", "--json"]).ok().json();
    assert_eq!(few, json!({"sessions": [], "looked_at": 0}));
}

#[test]
fn what_did_not_die_of_a_full_context_is_repaired_only_by_force() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = sunken(&env, "cccc3333", &lines("API Error: 529 overloaded"));
    let before = fs::read(&path).unwrap();
    env.tow(&["repair", "cccc3333"]).ok().prints("not of a full context");
    env.tow(&["repair", "cccc3333", "--write"]).exits(2).complains("did not die of a full context");
    assert_eq!(fs::read(&path).unwrap(), before);
    env.tow(&["repair", "cccc3333", "--write", "--force", "--marker", "HERE"])
        .ok()
        .prints("put in: 1 marker");
    assert!(fs::read_to_string(&path).unwrap().contains(r#""content":"HERE""#));
    env.tow(&["repair", "cccc3333", "--restore"]).ok();
    assert_eq!(fs::read(&path).unwrap(), before);
    env.tow(&["repair", "cccc3333", "--restore"]).ok().prints("already");

    fs::write(&path, [before.as_slice(), b"{}\n"].concat()).unwrap();
    env.tow(&["repair", "cccc3333", "--restore"]).exits(2).complains("went on since");
    env.tow(&["repair", "cccc3333", "--restore", "--force"]).ok();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(
        fs::read(path.with_extension("jsonl.tow-backup.2")).unwrap(),
        [before.as_slice(), b"{}\n"].concat()
    );
}

#[test]
fn tav_39_an_empty_transcript_and_one_without_prompts_are_left_as_they_are() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    sunken(&env, "empty111", &[]);
    sunken(&env, "mute2222", &lines("x")[1..]);
    env.tow(&["repair", "empty111"]).exits(1).complains("the transcript is empty");
    env.tow(&["repair", "mute2222"]).exits(1).complains("nobody asked for anything in it");
    env.tow(&["repair", "empty111", "--restore"]).exits(2).complains("no backup");
}

//! No silent second: imports index as they go, searches wait for no index, and whoever waits says for what.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use towline_search::{BuildPlace, SearchIndex};
use towline_store::lock::ArchiveLock;
use towline_store::{Archive, DataFolder};
use towline_testkit::{McpClient, Shown, TestEnv, wait};

/// More texts than a search reads without an index.
const SESSIONS: usize = 14;
const TURNS: usize = 60;

/// Transcripts of many turns, not imported yet.
fn heavy_user() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let folder = env.home().join(".claude/projects/-harbour");
    fs::create_dir_all(&folder).unwrap();
    for session in 0..SESSIONS {
        let id = format!("{session:08x}-aaaa-4000-8000-0000aaaaaaaa");
        let turns = (0..TURNS).flat_map(|turn| {
            let prompt = format!("Paint plank {turn} of boat {session}");
            let answer =
                json!([{"type": "text", "text": format!("Plank {turn} of boat {session} is blue.")}]);
            [(turn * 2, "user", json!(prompt)), (turn * 2 + 1, "assistant", answer)]
        });
        let lines = turns.map(|(number, kind, content)| {
            let parent = if number == 0 { Value::Null } else { json!(format!("{session}-{}", number - 1)) };
            let line = json!({
                "parentUuid": parent, "sessionId": id, "cwd": env.project(), "version": "2.1.325", "type": kind,
                "uuid": format!("{session}-{number}"), "timestamp": "2026-11-15T10:00:00.000Z",
                "isSidechain": false, "userType": "external", "message": {"role": kind, "content": content},
            });
            format!("{line}\n")
        });
        fs::write(folder.join(format!("{id}.jsonl")), lines.collect::<String>()).unwrap();
    }
    env
}

/// With an archive that is not indexed.
fn without_index() -> TestEnv {
    let env = heavy_user();
    env.unattended(&["import"]).ok();
    env.wait_no_process();
    fs::remove_dir_all(index_folder(&env)).unwrap();
    env
}

fn index_folder(env: &TestEnv) -> PathBuf {
    env.data_dir().join("index")
}

fn indexed(env: &TestEnv) -> u64 {
    SearchIndex::open(&index_folder(env)).unwrap().documents()
}

#[track_caller]
fn pending(env: &TestEnv) -> u64 {
    let found = env.unattended(&["search", "boat", "--json"]).ok().json();
    assert!(found["pending"].is_u64(), "nothing is said about what is pending: {found}");
    found["pending"].as_u64().unwrap()
}

#[test]
fn an_import_left_its_index_to_the_first_search() {
    let env = heavy_user();
    let shown = Shown::of(&mut env.person_command(&["import"]));
    assert!(shown.status.success(), "{shown:?}");
    assert_eq!(shown.bars(), 1, "one bar for all of it: {shown:?}");
    assert!(shown.text.contains("% indexed"), "{shown:?}");
    // Before anything else could have indexed it: the import itself did, to its last change.
    let archive = Archive::read(&DataFolder::at(env.data_dir()), wait::PATIENCE).unwrap().unwrap();
    let index = SearchIndex::open(&index_folder(&env)).unwrap();
    assert!(index.documents() as usize >= SESSIONS * TURNS * 2, "{} documents", index.documents());
    assert!(index.checkpoint().unwrap() > Some(0) && archive.last_change().unwrap() > 0);
    assert_eq!(pending(&env), 0);
}

#[test]
fn a_search_built_the_index_while_the_user_waited() {
    let env = without_index();
    let index = SearchIndex::open(&index_folder(&env)).unwrap();
    // While another process holds the index, nobody can build it, and no search waits for that.
    let writer = index.writer().unwrap();
    assert!(pending(&env) > 100);
    let told = env.unattended(&["search", "boat"]).ok();
    told.prints("boat 13").prints("turns are still being indexed");
    let mut model = McpClient::in_folder(&env, &env.project());
    let answer = model.call("search", &json!({"query": "boat"}));
    assert!(answer.contains("turns are still being indexed"), "{answer}");
    let field = model.meta("search", &json!({"query": "boat"}), "towline/pending");
    assert!(field.as_u64().is_some_and(|turns| turns > 100), "{field}");
    drop(model);
    env.wait_no_process();
    assert_eq!(index.documents(), 0);
    drop(writer);
    // The search starts the worker, which builds the index.
    wait::until("the worker to index everything", wait::PATIENCE, || (pending(&env) == 0).then_some(()));
    env.wait_no_process();
    assert!(indexed(&env) as usize >= SESSIONS * TURNS * 2);
}

#[test]
fn a_killed_index_build_began_again_from_nothing() {
    let env = without_index();
    let archive = Archive::read(&DataFolder::at(env.data_dir()), wait::PATIENCE).unwrap().unwrap();
    let rows = archive.conversation_rows_after(0, 5).unwrap();
    let index = SearchIndex::open(&index_folder(&env)).unwrap();
    let mut writer = index.writer().unwrap();
    let place = BuildPlace { checkpoint: archive.last_change().unwrap(), row: *rows.last().unwrap() };
    writer.commit_part(place).unwrap();
    drop(writer);
    env.unattended(&["work"]).ok();
    env.wait_no_process();
    let resumed = indexed(&env);
    env.unattended(&["reindex"]).ok();
    let all = indexed(&env);
    assert_eq!(all - resumed, (5 * TURNS * 2) as u64, "five sessions were not read again");
}

#[test]
fn a_command_that_waited_said_nothing() {
    let env = heavy_user();
    let home = DataFolder::at(env.data_dir());
    home.create().unwrap();
    let lock = ArchiveLock::try_take(&home).unwrap().unwrap();
    let screen = env.root().join("screen");
    let file = fs::File::create(&screen).unwrap();
    let mut import = env.person_command(&["import"]);
    let mut import = import.stdin(Stdio::null()).stdout(file).spawn().unwrap();
    let shown = || fs::read_to_string(&screen).unwrap();
    wait::until("the import to say what it does", wait::PATIENCE, || {
        shown().contains("importing, ").then_some(())
    });
    drop(lock);
    assert!(import.wait().unwrap().success(), "{}", shown());
    assert!(shown().contains("14 files, 14 with something new"), "{}", shown());
}

#[test]
fn search_hits_on_a_terminal_had_token_counts_and_no_highlights() {
    let env = heavy_user();
    env.unattended(&["import"]).ok();
    let coloured = Shown::of(env.person_command(&["search", "plank"]).env("TERM", "xterm"));
    assert!(coloured.text.contains("\x1b[1;31mplank\x1b[0m"), "{coloured:?}");
    assert!(!coloured.text.contains("tokens"), "{coloured:?}");
    let plain = Shown::of(env.person_command(&["search", "plank"]).env("NO_COLOR", "1"));
    assert!(!plain.text.contains("\x1b[1;31m"), "{plain:?}");
    let piped = env.unattended(&["search", "plank"]).ok().stdout;
    assert!(!piped.contains('\x1b') && !piped.contains("tokens"), "{piped}");
}

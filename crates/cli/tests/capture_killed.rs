//! Captures that are killed with -9 at any point: what is kept in the end is what one capture of the whole file keeps.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use towline_testkit::TestEnv;
use towline_testkit::mutate::Dice;

const RECORDED: [(&str, &str); 2] =
    [("claude", "claude-2.1.325-words.jsonl"), ("codex", "codex-0.166.0-words.jsonl")];

fn recorded(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts").join(name)).unwrap()
}

fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Starts a capture and kills it once it has been looked after so many times; it may be done by then.
fn capture_and_kill(env: &TestEnv, agent: &str, path: &Path, looks: usize) {
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["capture", "--at-once", agent]).arg(path).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    for _ in 0..looks {
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
}

fn all_that_is_kept(env: &TestEnv, agent: &str, path: &Path) -> String {
    env.tow(&["capture", "--at-once", agent, &path.to_string_lossy()]).ok();
    env.tow(&["export", "--all-projects"]).ok().stdout
}

#[test]
fn captures_that_are_killed_at_any_point_keep_each_turn_and_detail_once_and_in_order() {
    for (agent, name) in RECORDED {
        let bytes = recorded(name);
        let path_in = |env: &TestEnv| -> PathBuf { env.home().join("transcript.jsonl") };
        let whole = env();
        append(&path_in(&whole), &bytes);
        let expected = all_that_is_kept(&whole, agent, &path_in(&whole));
        assert!(expected.lines().count() > 40, "{expected}");
        for seed in 1..=3 {
            let env = env();
            let path = path_in(&env);
            let mut dice = Dice::new(seed, 0);
            let mut written = 0;
            while written < bytes.len() {
                let end = (written + 1 + dice.below(30_000)).min(bytes.len());
                append(&path, &bytes[written..end]);
                written = end;
                capture_and_kill(&env, agent, &path, dice.below(12_000));
            }
            assert_eq!(all_that_is_kept(&env, agent, &path), expected, "{name}, seed {seed}");
        }
    }
}

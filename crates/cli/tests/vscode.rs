//! The editor's task: written when it is asked for, once, and given back byte for byte.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use towline_testkit::{Run, TestEnv};

const THEIRS: &str = "{\n  // what we run\n  \"version\": \"2.0.0\",\n  \"tasks\": [\n    { \"label\": \"build\", \"command\": \"make\", }, // é\n  ],\n}\n";

struct Desk {
    env: TestEnv,
}

impl Desk {
    fn new() -> Desk {
        Desk { env: TestEnv::new(env!("CARGO_BIN_EXE_tow")) }
    }

    fn file(&self) -> PathBuf {
        self.env.project().join(".vscode/tasks.json")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.env.command(env!("CARGO_BIN_EXE_tow"));
        Run::of(command.args(arguments).current_dir(self.env.project()), b"")
    }
}

#[test]
fn a_task_comes_when_it_is_asked_for_and_goes_without_a_trace() {
    let desk = Desk::new();
    desk.run(&["install", "--vscode", "--dry-run"]).ok().prints("tow monitor");
    assert!(!desk.file().exists());
    desk.run(&["install", "--vscode"]).ok().prints("VS Code: made");
    let written: Value = serde_json::from_slice(&fs::read(desk.file()).unwrap()).unwrap();
    assert_eq!(written["tasks"][0]["args"][0], "monitor");
    desk.run(&["install", "--vscode"]).ok().prints("the task is there already");
    assert!(!desk.env.home().join(".claude/settings.json").exists(), "nothing but what was asked for");
    desk.run(&["uninstall", "--vscode"]).ok().prints("VS Code: removed");
    assert!(!desk.env.project().join(".vscode").exists());
    desk.run(&["uninstall", "--vscode"]).ok().prints("there is nothing of ours");
}

#[test]
fn a_task_that_runs_when_the_folder_is_opened_could_not_be_asked_for() {
    let desk = Desk::new();
    let written = || serde_json::from_slice::<Value>(&fs::read(desk.file()).unwrap()).unwrap();
    let run_on = || written()["tasks"][0]["runOptions"]["runOn"].clone();
    desk.run(&["install", "--on-open"]).exits(2).complains("--vscode");
    desk.run(&["install", "--vscode"]).ok();
    assert_eq!(run_on(), Value::Null, "only on request");
    desk.run(&["install", "--vscode", "--on-open"]).ok();
    assert_eq!((run_on(), written()["tasks"].as_array().unwrap().len()), ("folderOpen".into(), 1));
    desk.run(&["install", "--vscode"]).ok().prints("the task is there already");
    assert_eq!(run_on(), "folderOpen", "what was asked for stays");
    desk.run(&["uninstall", "--vscode"]).ok();
    desk.run(&["install", "--vscode", "--on-open"]).ok();
    assert_eq!(run_on(), "folderOpen");
    desk.run(&["uninstall", "--vscode"]).ok();
    assert!(!desk.env.project().join(".vscode").exists());
}

#[test]
fn a_file_with_comments_keeps_them_and_is_given_back_byte_for_byte() {
    let desk = Desk::new();
    fs::create_dir(desk.env.project().join(".vscode")).unwrap();
    fs::write(desk.file(), THEIRS).unwrap();
    let folder = desk.env.project().display().to_string();
    let told = desk.env.tow(&["install", "--vscode", &folder, "--json"]).ok().json();
    assert_eq!(
        (told["vscode"]["changed"].as_bool(), told["agents"].as_array().map(Vec::len)),
        (Some(true), Some(0))
    );
    let with = fs::read_to_string(desk.file()).unwrap();
    assert!(
        with.contains("// what we run") && with.contains("// é") && with.contains("tow monitor"),
        "{with}"
    );
    desk.run(&["uninstall", "--vscode"]).ok();
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), THEIRS);
}

#[test]
fn a_task_that_runs_a_program_that_moved_is_named_and_mended() {
    let desk = Desk::new();
    desk.run(&["install", "--vscode"]).ok();
    let right = fs::read_to_string(desk.file()).unwrap();
    let written: Value = serde_json::from_str(&right).unwrap();
    let command = written["tasks"][0]["command"].as_str().unwrap();
    fs::write(desk.file(), right.replace(command, "/gone/tow")).unwrap();
    assert!(desk.run(&["doctor"]).stdout.contains("tow install --vscode"));
    desk.run(&["install", "--vscode"]).ok().prints("VS Code: changed");
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), right);
    assert!(!desk.run(&["doctor"]).stdout.contains("tow install --vscode"));
}

#[test]
fn what_cannot_be_edited_is_refused_and_left_alone() {
    let desk = Desk::new();
    fs::create_dir(desk.env.project().join(".vscode")).unwrap();
    fs::write(desk.file(), "{ \"tasks\": oops }").unwrap();
    desk.run(&["install", "--vscode"]).complains("is not valid JSON");
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), "{ \"tasks\": oops }");
    desk.run(&["install", "--vscode", "/no/such/folder"]).complains("is no folder");
}

//! `tow data export` and what takes it in: the same bytes again, nothing twice, no secrets.

use crate::world::{HEADLESS, NOON, claude, codex, empty, recorded, shown, small, world};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use towline_testkit::TestEnv;

/// Everything that was recorded of both agents.
fn everything() -> TestEnv {
    let env = empty();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let text = recorded(&env, &name);
        if name.starts_with("claude") {
            claude(&env, &name, &text);
        } else {
            codex(&env, &format!("rollout-{name}"), &text);
        }
    }
    env.tow(&["import", "--jobs", "1"]).ok();
    env
}

fn exported(env: &TestEnv) -> String {
    // What an import has started may still be learning from it.
    env.wait_no_process();
    env.tow(&["export", "--all-projects"]).ok().stdout
}

#[test]
fn what_is_exported_and_taken_in_elsewhere_is_exported_as_the_same_bytes() {
    let env = everything();
    let first = exported(&env);
    assert!(first.lines().count() > 500 && first.starts_with("{\"kind\":\"export\",\"format\":1}\n"));
    let other = empty();
    other.set_now(NOON + 5);
    let file = other.root().join("all.jsonl");
    fs::write(&file, &first).unwrap();
    other.tow(&["import", file.to_str().unwrap()]).ok();
    assert!(exported(&other) == first, "the same bytes");
    let again = other.tow(&["import", file.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!((&again["turns"], &again["bodies"], &again["details"]), (&0.into(), &0.into(), &0.into()));
    assert!(exported(&other) == first, "twice changes nothing");
    env.tow(&["import", file.to_str().unwrap()])
        .ok()
        .prints("new: 0 turns, 0 messages, 0 tool inputs and outputs");
    assert!(exported(&env) == first, "nor does it where it came from");
}

#[test]
fn transcripts_that_are_read_after_their_export_was_taken_in_add_nothing() {
    let env = world();
    let first = exported(&env);
    let other = empty();
    let file = other.root().join("all.jsonl");
    fs::write(&file, &first).unwrap();
    other.tow(&["import", file.to_str().unwrap()]).ok();
    fs::rename(env.home().join(".claude"), other.home().join(".claude")).unwrap();
    fs::rename(env.home().join(".codex"), other.home().join(".codex")).unwrap();
    other.tow(&["import"]).ok().prints("0 turns");
    assert_eq!(exported(&other), first);
}

#[test]
fn an_export_is_of_a_session_a_project_or_a_time() {
    let env = world();
    let sessions = |arguments: &[&str]| {
        let text = env.tow(&[&["export"], arguments].concat()).ok().stdout;
        text.lines().filter(|line| line.starts_with("{\"kind\":\"session\"")).count()
    };
    assert_eq!((sessions(&[]), sessions(&["--session", HEADLESS])), (3, 1));
    assert_eq!((sessions(&["--since", "06:37"]), sessions(&["--project", "project"])), (2, 3));
    env.tow(&["export", "--session", "ffffffff"]).exits(2).complains("no session has an id");
    empty().tow(&["export"]).exits(2).complains("nothing was captured yet");
}

#[test]
fn a_file_is_written_whole_and_for_its_owner_alone() {
    let env = world();
    env.wait_no_process();
    env.tow(&["export", "--output", "out.jsonl"]).ok().complains("3 sessions written to out.jsonl");
    let file = env.project().join("out.jsonl");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&file).unwrap(), env.tow(&["export"]).ok().stdout);
    assert!(!env.project().join("out.jsonl.part").exists());
    env.tow(&["export", "--output", "no/such/folder/x"])
        .exits(1)
        .complains("could not write no/such/folder/x");
}

#[test]
fn markdown_is_for_people() {
    let env = world();
    let text = shown(&env, &["export", "--session", HEADLESS, "--format", "markdown"]);
    insta::assert_snapshot!("export_markdown", text);
}

#[test]
fn what_is_no_export_or_a_later_one_is_refused_and_nothing_is_kept() {
    let env = empty();
    let import = |text: &str| {
        fs::write(env.project().join("x.jsonl"), text).unwrap();
        env.tow(&["import", "x.jsonl"])
    };
    import("").exits(1).complains("it is no export of `tow`");
    import("{\"type\":\"user\"}\n").exits(1).complains("it is no export of `tow`");
    import("{\"kind\":\"export\",\"format\":9}\n").exits(1).complains("format 9");
    env.tow(&["import", "nosuch.jsonl"]).exits(2).complains("there is no file nosuch.jsonl");
    assert!(!env.data_dir().join("archive.db").exists());
    import("{\"kind\":\"export\",\"format\":1}\n{\"kind\":\"turn\"}\n")
        .exits(1)
        .complains("line 2 cannot be understood");
    import("{\"kind\":\"export\",\"format\":1}\n{\"kind\":\"dream\"}\n").ok().prints("1 lines are of kinds");
}

#[test]
fn a_dry_run_keeps_nothing_and_excluded_folders_stay_out() {
    let env = world();
    let first = exported(&env);
    let other = empty();
    fs::write(other.project().join("x.jsonl"), &first).unwrap();
    other.tow(&["import", "x.jsonl", "--dry-run"]).ok().prints("lines can be taken in; nothing was kept");
    assert!(!other.data_dir().join("archive.db").exists());
    let folder = format!("[\"{}\"]", env.project().display());
    other.tow(&["config", "set", "privacy.exclude_projects", &folder]).ok();
    other.tow(&["import", "x.jsonl"]).ok().prints("3 sessions worked in folders that are excluded");
    assert_eq!(exported(&other).lines().count(), 1);
}

#[test]
fn a_secret_that_somebody_put_into_an_export_is_not_kept() {
    let env = empty();
    let id = "1a2b3c4d-0000-4000-8000-00001a2b3c4d";
    claude(&env, id, &small(&env, (id, "2026-11-15T08:00:00.000Z"), "PUT-IT-HERE", "done"));
    env.tow(&["import"]).ok();
    let secret = format!("{}{}", "ghp_", "A1b2".repeat(9));
    let text = exported(&env).replace("PUT-IT-HERE", &secret);
    let other = empty();
    fs::write(other.project().join("x.jsonl"), text).unwrap();
    other.tow(&["import", "x.jsonl"]).ok();
    let again = exported(&other);
    assert!(again.contains("[redacted:") && !again.contains("A1b2A1b2"), "{again}");
}

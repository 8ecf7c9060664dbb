//! Installs while another program rewrites the same file: the result contains both programs' entries.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use towline_agents::claude;
use towline_agents::settings::{Containers, ManagedContent, OriginalsArchive, RetryPace};

const REWRITES: u64 = 400;
/// Patient enough for a machine that is busy with other tests.
const PACE: RetryPace = RetryPace { pause: Duration::from_millis(10), quiet_looks: 50, max_looks: 3000 };

/// Reads, counts up, and writes by a temporary file and a rename, as Claude Code does.
fn rewrite_by_rename(file: &Path, count: u64) {
    let temporary = file.with_extension("tmp.client");
    fs::write(&temporary, counted(file, count)).unwrap();
    fs::rename(&temporary, file).unwrap();
}

/// Reads, counts up, and writes into the file, as editors do and Claude Code does where it cannot rename.
fn rewrite_in_place(file: &Path, count: u64) {
    fs::write(file, counted(file, count)).unwrap();
}

fn counted(file: &Path, count: u64) -> String {
    let mut settings: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    settings["count"] = json!(count);
    settings["filler"] = json!("x".repeat(usize::try_from(count * 37 % 5000).unwrap()));
    serde_json::to_string_pretty(&settings).unwrap()
}

fn race(rewrite: fn(&Path, u64)) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("settings.json");
    fs::write(&file, r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"theirs"}]}]}}"#).unwrap();
    let target = claude::install::target(home.path(), Path::new("/opt/tow")).unwrap();
    let archive = OriginalsArchive::new(home.path().join("backups"));

    let write_all = |start: &Barrier| {
        start.wait();
        (1..=REWRITES).for_each(|count| rewrite(&file, count));
    };
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| write_all(&start));
        start.wait();
        target.apply(&archive, PACE).unwrap();
    });
    let found: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(found["count"], json!(REWRITES), "their last write stands");
    assert_eq!(found["hooks"]["Stop"][0]["hooks"][0]["command"], json!("theirs"));
    assert!(target.inspect_file(PACE).unwrap().is_up_to_date(), "our entries stand");

    thread::scope(|scope| {
        scope.spawn(|| write_all(&start));
        start.wait();
        target.remove(&archive, PACE).unwrap();
    });
    let bytes = fs::read(&file).unwrap();
    let found: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(found["count"], json!(REWRITES), "their last write stands");
    assert!(
        target.plan_removal(Some(&bytes), &Containers::default()).unwrap().is_empty(),
        "none of ours is left"
    );
    assert_eq!(found["hooks"], json!({"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}));
}

#[test]
fn writer_that_renames_loses_nothing_and_takes_nothing() {
    race(rewrite_by_rename);
}

#[test]
fn writer_that_truncates_loses_nothing_and_takes_nothing() {
    race(rewrite_in_place);
}

#[test]
fn two_installations_at_once_end_with_one_entry_each() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config/settings.json");
    let target = claude::install::target(&home.path().join("config"), Path::new("/opt/tow")).unwrap();
    let archive = OriginalsArchive::new(home.path().join("backups"));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| target.apply(&archive, PACE).unwrap());
        }
    });
    assert!(target.inspect_file(PACE).unwrap().is_up_to_date());
    target.remove(&archive, PACE).unwrap();
    assert!(!file.exists());
}

//! Commands that meet each other: none fails or skips anything because another one writes, and one that waits says for what.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use towline_search::SearchIndex;
use towline_store::lock::ArchiveLock;
use towline_store::{Archive, DataFolder};
use towline_testkit::{TestEnv, wait};

fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

fn data(env: &TestEnv) -> DataFolder {
    DataFolder::at(env.data_dir())
}

/// Transcripts of these sessions, of three turns each, in one project.
fn transcripts(env: &TestEnv, project: &str, sessions: std::ops::Range<usize>) {
    let folder = env.home().join(format!(".claude/projects/-{project}"));
    fs::create_dir_all(&folder).unwrap();
    for session in sessions {
        let id = format!("{project}-{session}");
        let entry = |kind: &str, turn: usize, content: Value| {
            let message = json!({"id": format!("{kind}-{turn}-{id}"), "type": "message", "role": kind, "model": "m",
                "content": content, "usage": {"input_tokens": 10, "output_tokens": 20}});
            let entry = json!({"type": kind, "uuid": format!("{kind}-{turn}-{id}"), "sessionId": id,
                "cwd": format!("/home/dev/{project}"), "timestamp": format!("2026-11-01T10:0{turn}:00.000Z"),
                "isSidechain": false, "message": message});
            format!("{entry}\n")
        };
        let turn = |turn| {
            let answer = json!([{"type": "text", "text": format!("The anchor of {id} holds, part {turn}.")}]);
            entry("user", turn, json!(format!("look at the anchor of {id}, part {turn}")))
                + &entry("assistant", turn, answer)
        };
        fs::write(folder.join(format!("{id}.jsonl")), (0..3).map(turn).collect::<String>()).unwrap();
    }
}

/// The turns of a project in the archive.
fn turns_of(env: &TestEnv, project: &str) -> u32 {
    let archive = Archive::read(&data(env), Duration::from_secs(5)).unwrap().unwrap();
    let folder = format!("/home/dev/{project}");
    let all = archive.latest_conversations(None, 10_000).unwrap();
    all.iter().filter(|one| one.folder.as_deref() == Some(&folder)).map(|one| one.turns).sum()
}

/// A command that runs, and the file with what it has said so far.
struct Running {
    child: Child,
    said: PathBuf,
}

impl Running {
    fn start(env: &TestEnv, name: &str, command: &mut Command) -> Running {
        let said = env.root().join(format!("{name}.said"));
        let file = File::create(&said).unwrap();
        let child = command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).spawn();
        Running { child: child.unwrap(), said }
    }

    #[track_caller]
    fn wait_until_it_says(&self, words: &str) {
        wait::until_evident("the command to say what it waits for", wait::PATIENCE, || {
            let said = fs::read_to_string(&self.said).unwrap();
            if said.contains(words) { Ok(()) } else { Err(said) }
        });
    }

    #[track_caller]
    fn ends_well(mut self) -> String {
        let status = self.child.wait().unwrap();
        let said = fs::read_to_string(&self.said).unwrap();
        assert!(status.success(), "{said}");
        said
    }
}

fn start(env: &TestEnv, name: &str, words: &[&str]) -> Running {
    Running::start(env, name, env.command("tow").args(words))
}

const FOR_THE_ARCHIVE: &str = "waiting for another process that is writing the archive";
const FOR_THE_INDEX: &str = "waiting for another process that is writing the search index";

/// An import failed with "another import is under way" after a minute of silence.
#[test]
fn a_second_import_waited_silently_and_then_gave_up() {
    let env = env();
    transcripts(&env, "pier", 0..2);
    data(&env).create().unwrap();
    let held = ArchiveLock::try_take(&data(&env)).unwrap().unwrap();
    let import = start(&env, "import", &["data", "import"]);
    import.wait_until_it_says(FOR_THE_ARCHIVE);
    drop(held);
    import.ends_well();
    assert_eq!(turns_of(&env, "pier"), 6);
}

#[test]
fn two_imports_at_once_take_everything_once() {
    let env = env();
    transcripts(&env, "pier", 0..150);
    let imports = ["first", "second"].map(|name| start(&env, name, &["data", "import"]));
    imports.into_iter().for_each(|import| drop(import.ends_well()));
    env.wait_no_process();
    assert_eq!(turns_of(&env, "pier"), 450);
    assert!(env.tow(&["search", "anchor", "--all-projects"]).ok().stdout.contains("anchor"));
}

/// It failed with "another process is at work on what is kept".
#[test]
fn forgetting_beside_an_import_waited_silently_and_then_gave_up() {
    let env = env();
    transcripts(&env, "pier", 0..2);
    env.tow(&["data", "import"]).ok();
    env.wait_no_process();
    let held = ArchiveLock::try_take(&data(&env)).unwrap().unwrap();
    let mut forget = env.person_command(&["data", "forget", "--project", "pier", "--yes"]);
    let forget = Running::start(&env, "forget", &mut forget);
    forget.wait_until_it_says(FOR_THE_ARCHIVE);
    drop(held);
    forget.ends_well();
    assert_eq!(turns_of(&env, "pier"), 0);
}

#[test]
fn an_import_and_a_forgetting_at_once_both_do_their_whole_work() {
    let env = env();
    transcripts(&env, "pier", 0..20);
    env.tow(&["data", "import"]).ok();
    transcripts(&env, "quay", 0..150);
    let import = start(&env, "import", &["data", "import"]);
    let mut forget = env.person_command(&["data", "forget", "--project", "pier", "--yes"]);
    Running::start(&env, "forget", &mut forget).ends_well();
    import.ends_well();
    env.wait_no_process();
    assert_eq!((turns_of(&env, "pier"), turns_of(&env, "quay")), (0, 450));
    env.tow(&["data", "import"]).ok();
    assert_eq!(turns_of(&env, "pier"), 0, "what is forgotten is not captured again");
}

#[test]
fn a_project_that_is_forgotten_while_it_is_imported_stays_forgotten() {
    let env = env();
    transcripts(&env, "pier", 0..2);
    env.tow(&["data", "import"]).ok();
    transcripts(&env, "pier", 2..150);
    let import = start(&env, "import", &["data", "import"]);
    let mut forget = env.person_command(&["data", "forget", "--project", "pier", "--yes"]);
    Running::start(&env, "forget", &mut forget).ends_well();
    import.ends_well();
    env.wait_no_process();
    assert_eq!(turns_of(&env, "pier"), 0);
}

fn index_folder(env: &TestEnv) -> PathBuf {
    env.data_dir().join("index")
}

fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
}

/// It failed with "somebody else writes the index", and had deleted the index of the other process by then.
#[test]
fn a_reindex_beside_an_indexing_process_failed() {
    let env = env();
    transcripts(&env, "pier", 0..3);
    env.tow(&["data", "import"]).ok();
    env.wait_no_process();
    let index = SearchIndex::open_existing(&index_folder(&env)).unwrap().unwrap();
    let writer = index.writer().unwrap();
    let before = inode(&index_folder(&env));
    let reindex = start(&env, "reindex", &["data", "reindex"]);
    reindex.wait_until_it_says(FOR_THE_INDEX);
    assert_eq!(inode(&index_folder(&env)), before, "the other process still writes there");
    drop(writer);
    reindex.ends_well();
    assert!(env.tow(&["search", "anchor", "--all-projects"]).ok().stdout.contains("anchor"));
}

/// The whole index was deleted after ten seconds, and every search found less until it was built again.
#[test]
fn forgetting_beside_an_indexing_process_deleted_the_whole_index() {
    let env = env();
    transcripts(&env, "pier", 0..3);
    transcripts(&env, "quay", 0..3);
    env.tow(&["data", "import"]).ok();
    env.wait_no_process();
    let index = SearchIndex::open_existing(&index_folder(&env)).unwrap().unwrap();
    let writer = index.writer().unwrap();
    let before = inode(&index_folder(&env));
    let mut forget = env.person_command(&["data", "forget", "--project", "pier", "--yes"]);
    let forget = Running::start(&env, "forget", &mut forget);
    forget.wait_until_it_says(FOR_THE_INDEX);
    drop(writer);
    forget.ends_well();
    assert_eq!(inode(&index_folder(&env)), before);
    let found = env.tow(&["search", "anchor", "--all-projects"]).ok().stdout;
    assert!(found.contains("quay") && !found.contains("pier-"), "{found}");
}

#[test]
fn searches_beside_a_reindex_succeed_and_find_everything_after_it() {
    let env = env();
    transcripts(&env, "pier", 0..200);
    env.tow(&["data", "import"]).ok();
    env.wait_no_process();
    let mut reindex = start(&env, "reindex", &["data", "reindex"]);
    while reindex.child.try_wait().unwrap().is_none() {
        env.tow(&["search", "anchor", "--all-projects"]).ok();
    }
    reindex.ends_well();
    assert!(env.tow(&["search", "anchor", "--all-projects"]).ok().stdout.contains("anchor"));
}

#[test]
fn five_monitors_beside_an_import_all_show_their_page() {
    let env = env();
    transcripts(&env, "pier", 0..100);
    let import = start(&env, "import", &["data", "import"]);
    let monitors = [0, 1, 2, 3, 4]
        .map(|number| start(&env, &format!("monitor-{number}"), &["monitor", "--once", "--width", "100"]));
    monitors.into_iter().for_each(|monitor| drop(monitor.ends_well()));
    import.ends_well();
    env.wait_no_process();
    assert_eq!(turns_of(&env, "pier"), 300);
}

//! Background work: it runs below everything that a user or an agent waits for, within its bound on memory, and ends.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use towline_store::lock::{ArchiveLock, WorkLock};
use towline_store::{Archive, DataFolder, upkeep};
use towline_testkit::{Run, TestEnv, wait};

/// 2026-11-01T12:00:00Z.
const NOON: i64 = 1_793_534_400_000;

/// Private memory that suffices for ten thousand turns, in KiB: far below the bound of 200 MB for any number of them.
const BOUND_KIB: u32 = 56 * 1024;

/// What one background process may use. All captures of a moment together stay below it.
const ALL_KIB: u32 = 200 * 1024;

fn entry(session: &str, kind: &str, number: usize, content: Value) -> String {
    let (id, at) = (format!("{kind}-{number}"), format!("2026-11-01T10:{:02}:00.000Z", number % 60));
    let message = json!({"id": id, "type": "message", "role": kind, "model": "m", "content": content,
        "usage": {"input_tokens": 10, "output_tokens": 20}});
    let entry = json!({"type": kind, "uuid": id, "sessionId": session, "cwd": "/home/dev/project", "timestamp": at,
        "isSidechain": false, "message": message});
    format!("{entry}\n")
}

/// A transcript of this many turns, each with an answer of this many bytes, where the client would keep it.
fn transcript(env: &TestEnv, session: &str, turns: usize, bytes: usize) -> String {
    let answer = "The third case needed a longer wait. ".repeat(bytes / 37 + 1);
    let turn = |number| {
        let text = json!([{"type": "text", "text": format!("Part {number}: {answer}")}]);
        entry(session, "user", number, json!(format!("look into part {number}")))
            + &entry(session, "assistant", number, text)
    };
    let folder = env.home().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{session}.jsonl"));
    fs::write(&path, (0..turns).map(turn).collect::<String>()).unwrap();
    path.display().to_string()
}

fn start(env: &TestEnv, words: &[&str]) -> Child {
    env.command("tow").args(words).stdout(Stdio::null()).spawn().unwrap()
}

/// The nice value of a thread: field 19, behind the name in parentheses.
fn nice_of(task: &Path) -> Option<i32> {
    let stat = fs::read_to_string(task.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split(' ').nth(17)?.parse().ok()
}

/// The nice value of the main thread, which children inherit, and the nice value and the I/O priority of a thread with
/// a lower one, if there is one now.
fn priorities(env: &TestEnv, pid: u32) -> Option<(i32, i32, String)> {
    let tasks = PathBuf::from(format!("/proc/{pid}/task"));
    let main = nice_of(&tasks.join(pid.to_string()))?;
    let all = fs::read_dir(tasks).ok()?.flatten().map(|entry| entry.path());
    let low = all.into_iter().find(|task| nice_of(task).is_some_and(|nice| nice > main))?;
    let name = low.file_name()?.to_string_lossy().into_owned();
    let io = Run::of(env.command("ionice").args(["-p", &name]), b"").stdout.trim().to_owned();
    // It is set right after the nice value.
    Some((main, nice_of(&low)?, io)).filter(|(.., io)| io.starts_with("best-effort"))
}

#[track_caller]
fn check_priorities(env: &TestEnv, words: &[&str]) {
    let main = nice_of(Path::new("/proc/self")).unwrap();
    let seen = wait::until("a thread with a low priority", wait::PATIENCE, || {
        // So that there is something to do each time.
        let _ = fs::remove_dir_all(env.data_dir().join("index"));
        let mut child = start(env, words);
        let seen = wait::holds_within(wait::PATIENCE, || {
            priorities(env, child.id()).is_some() || child.try_wait().unwrap().is_some()
        });
        let found = seen.then(|| priorities(env, child.id())).flatten();
        child.wait().unwrap();
        found
    });
    assert_eq!(seen, (main, main.max(10), "best-effort: prio 7".to_owned()), "{words:?}");
}

#[test]
fn a_capture_ran_beside_agents_with_their_priority() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = transcript(&env, "s-1", 1, 100);
    check_priorities(&env, &["capture", "claude", &path]);
}

#[test]
fn the_work_after_a_capture_ran_beside_agents_with_their_priority() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = transcript(&env, "s-1", 2_000, 100);
    env.tow(&["capture", "--at-once", "claude", &path]).ok();
    check_priorities(&env, &["work", "--quiet"]);
}

#[test]
fn one_worker_at_a_time_works_and_another_leaves() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.tow(&["work"]).ok();
    let _held = WorkLock::try_take(&DataFolder::at(env.data_dir())).unwrap().unwrap();
    let report = env.tow(&["work", "--quiet"]).ok();
    report.is_silent();
}

/// Building an index of a million turns once took 1.7 GB: it kept a removal for every document until the end. These ten
/// thousand turns took more than 60 MiB.
#[test]
fn capturing_and_indexing_a_large_transcript_stay_within_their_bound_on_memory() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    transcript(&env, "s-1", 10_000, 40);
    env.tow(&["import"]).ok();
    env.wait_no_process();
    fs::remove_dir_all(env.data_dir().join("index")).unwrap();
    let path = transcript(&env, "s-2", 500, 8_000);
    let bounded = |words: &str| {
        let script = format!("ulimit -d {BOUND_KIB} && exec tow {words}");
        Run::of(env.command("sh").args(["-c", &script]), b"").ok()
    };
    bounded(&format!("capture --at-once claude {path}"));
    bounded("work --quiet");
    env.wait_no_process();
    let found = env.tow(&["sessions", "--all-projects", "--json"]).ok().json().to_string();
    assert!(found.contains("10000"), "{found}");
}

/// What the captures that run now hold: the private memory of each in KiB, and whether it holds the archive's lock.
fn captures(env: &TestEnv) -> Vec<(u32, u64, bool)> {
    let lock = DataFolder::at(env.data_dir()).archive_lock();
    let running = env.processes().into_iter().filter(|process| process.command.contains(" capture "));
    let look = |pid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let private = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let private = private.trim().trim_end_matches(" kB").parse().ok()?;
        let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
        let mut of_lock = open.filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| path == lock));
        let is_locked = |entry: fs::DirEntry| {
            let number = entry.file_name().to_string_lossy().into_owned();
            fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}"))
                .is_ok_and(|info| info.contains("lock:"))
        };
        Some((pid, private, of_lock.any(is_locked)))
    };
    running.filter_map(|process| look(process.pid)).collect()
}

/// Turns of many sessions that end at the same moment, as the hooks tell of them.
#[test]
fn captures_of_many_transcripts_at_once_run_one_at_a_time_and_stay_within_their_bound_on_memory() {
    const SESSIONS: usize = 6;
    const TURNS: usize = 250;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    for number in 0..SESSIONS {
        let session = format!("s-{number}");
        let path = transcript(&env, &session, TURNS, 8_000);
        let payload = json!({"session_id": session, "transcript_path": path, "cwd": "/home/dev/project",
            "hook_event_name": "Stop", "stop_hook_active": false});
        let file = env.root().join(format!("{session}.json"));
        fs::write(file, payload.to_string()).unwrap();
    }
    // A bound that a process starts with holds for all that it starts.
    let hooks = "for hook in s-*.json; do tow hook claude < $hook & done; wait";
    let script = format!("ulimit -d {BOUND_KIB} && cd {} && {hooks}", env.root().display());
    Run::of(env.command("sh").args(["-c", &script]), b"").ok();
    let (mut most, mut holders, mut largest) = (0, BTreeSet::new(), 0);
    wait::until("every capture to end", wait::PATIENCE, || {
        let running = captures(&env);
        let holding: Vec<u32> = running.iter().filter(|(.., holds)| *holds).map(|(pid, ..)| *pid).collect();
        assert!(holding.len() <= 1, "{holding:?} write at once");
        holders.extend(holding);
        most = most.max(running.len());
        largest = largest.max(running.iter().map(|(_, private, _)| private).sum::<u64>());
        (captured_turns(&env) == u32::try_from(SESSIONS * TURNS).unwrap()).then_some(())
    });
    println!(
        "{most} captures at once, {} seen to write, {largest} KiB of private memory in all",
        holders.len()
    );
    assert!(most >= 3 && !holders.is_empty(), "they did not meet: {most}, {holders:?}");
    assert!(largest < u64::from(ALL_KIB), "{largest} KiB");
    env.wait_no_process();
}

/// The number of turns in the archive, read without the capture that a query begins with.
fn captured_turns(env: &TestEnv) -> u32 {
    let archive = Archive::read(&DataFolder::at(env.data_dir()), Duration::from_secs(5)).unwrap();
    let all = archive.map(|archive| archive.latest_conversations(None, 9).unwrap()).unwrap_or_default();
    all.iter().map(|conversation| conversation.turns).sum()
}

fn payload(path: &str, event: &str) -> String {
    json!({"session_id": "s-1", "transcript_path": path, "cwd": "/home/dev/project", "hook_event_name": event,
        "prompt": "look into part 2", "stop_hook_active": false})
    .to_string()
}

/// A capture that found the archive locked for ten seconds gave up, and 145 prompts were missing after a soak.
#[test]
fn a_transcript_that_no_capture_had_written_stayed_missing() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set_now(NOON);
    let path = transcript(&env, "s-1", 3, 100);
    env.hook("claude", payload(&path, "UserPromptSubmit")).ok();
    env.wait_no_process();
    assert_eq!(captured_turns(&env), 0, "a prompt starts no capture");
    env.tow(&["work"]).ok();
    assert_eq!(captured_turns(&env), 0, "its own capture may be under way");
    env.set_now(NOON + 120_000);
    env.tow(&["work"]).ok();
    assert_eq!(captured_turns(&env), 3);
}

/// Ends a turn while somebody else writes the archive; returns once the worker waits for it.
fn worker_that_waits(env: &TestEnv, path: &str) -> ArchiveLock {
    env.keep_usual_limits();
    let home = DataFolder::at(env.data_dir());
    home.create().unwrap();
    let held = ArchiveLock::try_take(&home).unwrap().unwrap();
    env.hook("claude", payload(path, "Stop")).ok();
    wait::until("the capture gives up, and the worker waits", wait::PATIENCE, || {
        let commands: Vec<String> = env.processes().into_iter().map(|process| process.command).collect();
        let runs = |word: &str| commands.iter().any(|command| command.contains(word));
        (runs(" work ") && !runs(" capture ")).then_some(())
    });
    held
}

#[test]
fn a_capture_that_found_the_archive_locked_left_its_transcript_to_nobody() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = transcript(&env, "s-1", 3, 100);
    drop(worker_that_waits(&env, &path));
    env.wait_no_process();
    assert_eq!(captured_turns(&env), 3);
}

/// Every hook reads the whole log of the database, and took twice its time beside an import or a worker.
#[test]
fn the_log_of_the_database_grew_as_long_as_the_worker_was_at_work() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let path = transcript(&env, "s-1", 3, 100);
    let held = worker_that_waits(&env, &path);
    let home = DataFolder::at(env.data_dir());
    let log = home.write_ahead_log();
    let mut written = 0;
    while written <= 512 * 1024 {
        let before = fs::metadata(&log).map_or(0, |meta| meta.len());
        env.hook("claude", payload(&path, "UserPromptSubmit")).ok();
        written += fs::metadata(&log).map_or(0, |meta| meta.len()).saturating_sub(before);
    }
    wait::until("the log is short again", wait::PATIENCE, || (!upkeep::is_large(&home)).then_some(()));
    drop(held);
    env.wait_no_process();
}

/// The line of `tow data jobs` about a job.
fn pending(env: &TestEnv, name: &str) -> u64 {
    let listed = env.tow(&["data", "jobs", "--json"]).ok().json();
    let jobs = listed["work"]["jobs"].as_array().unwrap();
    jobs.iter().find(|job| job["name"] == name).unwrap()["pending"].as_u64().unwrap()
}

#[test]
fn a_worker_whose_hour_is_used_up_pauses_until_the_next_and_a_user_need_not_wait() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set_now(NOON);
    let config = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[distil]\nrules = false\n").unwrap();
    transcript(&env, "s-1", 300, 100);
    env.tow(&["import"]).ok();
    env.wait_no_process();
    fs::write(&config, "[work]\ncpu_minutes_per_hour = 1\n").unwrap();
    let used = |hour: i64| {
        fs::write(env.data_dir().join("work.cpu"), json!({"hour": hour, "ms": 60_000}).to_string())
    };
    used(NOON / 3_600_000).unwrap();
    assert_eq!((pending(&env, "distil"), pending(&env, "index")), (300, 0));
    env.tow(&["work", "--quiet"]).ok();
    assert_eq!(pending(&env, "distil"), 300, "it is paused");
    let said = env.tow(&["data", "jobs"]).ok().stdout;
    assert!(said.contains("paused until") && said.contains("300 of 300 turns to do"), "{said}");
    env.set_now(NOON + 3_600_000);
    env.tow(&["work", "--quiet"]).ok();
    assert_eq!(pending(&env, "distil"), 0, "another hour has begun");
    transcript(&env, "s-2", 5, 100);
    fs::write(&config, "[distil]\nrules = false\n[work]\ncpu_minutes_per_hour = 1\n").unwrap();
    env.tow(&["import"]).ok();
    env.wait_no_process();
    fs::write(&config, "[work]\ncpu_minutes_per_hour = 1\n").unwrap();
    used(NOON / 3_600_000 + 1).unwrap();
    env.tow(&["data", "work"]).ok();
    assert_eq!(pending(&env, "distil"), 0, "a user asked for it");
}

/// Tells Claude Code's hook of an event in the project.
fn tell(env: &TestEnv, session: &str, event: &str, fields: Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": env.project(), "hook_event_name": event});
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload
}

/// Whether the process writes to its standard output at this moment, and waits for the reader.
fn waits_for_its_reader(pid: u32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.split(' ').nth(1) == Some("0x1")
}

#[test]
fn the_work_that_a_first_prompt_started_took_the_lock_that_the_prompt_needed() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let hook = |session, event, fields| {
        env.hook("claude", tell(&env, session, event, fields).to_string()).ok();
    };
    let home = DataFolder::at(env.data_dir());
    hook("s-1", "SessionStart", json!({"source": "startup"}));
    hook("s-1", "UserPromptSubmit", json!({"prompt": "paint the mast"}));
    hook("s-1", "Stop", json!({"last_assistant_message": "It is painted."}));
    hook("s-1", "SessionEnd", json!({"reason": "clear"}));
    hook("s-2", "SessionStart", json!({"source": "clear"}));
    env.wait_no_process();
    let working = WorkLock::try_take(&home).unwrap().unwrap();
    for round in 0.. {
        if upkeep::is_large(&home) {
            break;
        }
        assert!(round < 100, "the log of the database does not grow");
        hook("s-3", "UserPromptSubmit", json!({"prompt": format!("do part {round}")}));
        env.wait_no_process();
    }
    drop(working);

    let (mut reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b' '; 64 * 1024]).unwrap();
    let prompt = tell(&env, "s-2", "UserPromptSubmit", json!({"prompt": "what was I doing?"}));
    let mut child =
        env.command("tow").args(["hook", "claude"]).stdin(Stdio::piped()).stdout(writer).spawn().unwrap();
    child.stdin.take().unwrap().write_all(prompt.to_string().as_bytes()).unwrap();
    wait::until("the reply", wait::PATIENCE, || waits_for_its_reader(child.id()).then_some(()));
    let running: Vec<u32> = env.processes().iter().map(|process| process.pid).collect();
    assert_eq!(
        (running, upkeep::is_large(&home)),
        (vec![child.id()], true),
        "the work began before the reply"
    );

    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    assert!(said.contains("paint the mast"), "{said}");
    assert!(child.wait().unwrap().success());
    wait::until("the work", wait::PATIENCE, || (!upkeep::is_large(&home)).then_some(()));
    env.wait_no_process();
}

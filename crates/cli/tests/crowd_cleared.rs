//! Many sessions that are cleared and prompted at the same moment: each gets its own work with its first prompt, none
//! another's. Recorded payloads of both agents through the real binary, each session in a pane of its own.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "times a crowd, and watches a hook from another thread")]
#![expect(clippy::print_stdout, reason = "says what the figures were")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use towline_core::id::Uid;
use towline_core::time::Timestamp;
use towline_store::lock::ProjectionLock;
use towline_store::{DataFolder, ProjectionLimits, Store};
use towline_testkit::{Run, TestEnv, Tmux, wait};

/// Works, waits for the others, then clears and prompts. A reader of a pipe ends when its last writer is gone.
const PERSON: &str = r#"
for step in "$1"/work-*.json; do tow hook "$2" < "$step" > /dev/null; done
touch "$1/ready"
read -r _ < "$3"
for step in "$1"/clear-*.json; do tow hook "$2" < "$step" > /dev/null; done
tow hook "$2" < "$1/prompt.json" > "$1/said"
touch "$1/done"
"#;

/// How long the whole crowd may take: far longer than any agent waits for one hook.
const ALL: Duration = Duration::from_secs(90);

struct Member {
    agent: &'static str,
    folder: PathBuf,
    thing: String,
}

impl Member {
    fn new(env: &TestEnv, number: usize) -> Member {
        let (agent, version) =
            if number.is_multiple_of(4) { ("codex", "0.166.0") } else { ("claude", "2.1.325") };
        let folder = env.root().join(format!("member-{number:03}"));
        fs::create_dir(&folder).unwrap();
        let member = Member { agent, folder, thing: format!("mast-{number:03}") };
        let sessions = [1, 2].map(|turn| format!("{number:08x}-0000-4000-8000-00000000000{turn}"));
        let write = |step: &str, recorded: &str, session: &str, fields: Value| {
            let payload = recorded_payload(&format!("{agent}/{version}/{recorded}"));
            let transcript = member.folder.join(format!("{session}.jsonl"));
            let own = json!({"session_id": session, "cwd": env.project(), "transcript_path": transcript});
            let payload = [own, fields].into_iter().fold(payload, with_fields);
            fs::write(member.folder.join(step), payload.to_string()).unwrap();
        };
        let (asked, answered) = (format!("now paint the {}", member.thing), "painted: shall I go on?");
        write("work-1.json", "SessionStart.startup", &sessions[0], json!({}));
        write("work-2.json", "UserPromptSubmit", &sessions[0], json!({"prompt": asked}));
        write("work-3.json", "Stop", &sessions[0], json!({"last_assistant_message": answered}));
        if agent == "claude" {
            member.write_transcript(&sessions[0], &asked, answered);
            write("clear-1.json", "SessionEnd.clear", &sessions[0], json!({}));
        } else {
            member.write_rollout(env, &sessions[0], &asked, answered);
        }
        write("clear-2.json", "SessionStart.clear", &sessions[1], json!({}));
        write("prompt.json", "UserPromptSubmit", &sessions[1], json!({"prompt": "what was I doing?"}));
        member
    }

    fn write_transcript(&self, session: &str, asked: &str, answered: &str) {
        let line = |kind: &str, id: &str, at: &str, content: Value| {
            json!({"type": kind, "uuid": id, "sessionId": session, "cwd": "/home/dev/project", "timestamp": at,
                "isSidechain": false, "message": {"id": id, "type": "message", "role": kind, "model": "m",
                "content": content, "usage": {"input_tokens": 10, "output_tokens": 20}}})
        };
        let prompt = line("user", "p-1", "2026-11-01T10:00:00.000Z", json!(asked));
        let text = json!([{"type": "text", "text": answered}]);
        let answer = line("assistant", "a-1", "2026-11-01T10:00:09.000Z", text);
        fs::write(self.folder.join(format!("{session}.jsonl")), format!("{prompt}\n{answer}\n")).unwrap();
    }

    /// The lines of a rollout that a conversation of one turn has.
    fn write_rollout(&self, env: &TestEnv, session: &str, asked: &str, answered: &str) {
        let said = |id: &str, role: &str, (kind, text): (&str, &str), marks: Value| {
            let mut payload =
                json!({"type": "message", "id": id, "role": role, "content": [{"type": kind, "text": text}]});
            payload["internal_chat_message_metadata_passthrough"] = marks;
            ("response_item", payload)
        };
        let marks = json!({"turn_id": "t-1", "content_item_kinds": ["user.text"],
            "content_item_metadata": [{"provenance": {"type": "user"}}]});
        let event = |kind: &str| ("event_msg", json!({"type": kind, "turn_id": "t-1"}));
        let lines = [
            (
                "session_meta",
                json!({"id": session, "session_id": session, "cwd": env.project(),
                "cli_version": "0.166.0", "source": "cli", "history_mode": "paginated"}),
            ),
            event("task_started"),
            said("m-1", "user", ("input_text", asked), marks),
            said("m-2", "assistant", ("output_text", answered), json!({"turn_id": "t-1"})),
            event("task_complete"),
        ];
        let line = |(ordinal, (kind, payload)): (usize, (&str, Value))| {
            let line = json!({"timestamp": "2026-11-01T10:00:00.000Z", "ordinal": ordinal, "type": kind, "payload": payload});
            format!("{line}\n")
        };
        let text: String = lines.into_iter().enumerate().map(line).collect();
        fs::write(self.folder.join(format!("{session}.jsonl")), text).unwrap();
    }

    fn sit(&self, tmux: &Tmux, script: &Path, gate: &Path) {
        let words = [script, &self.folder].map(|path| path.display().to_string());
        let gate = gate.display().to_string();
        tmux.open(&[self.agent, &words[0], &words[1], self.agent, &gate], &[]);
    }

    fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    /// The context that its model was given with the first prompt.
    fn given(&self) -> String {
        let said = fs::read_to_string(self.folder.join("said")).unwrap();
        let said: Value = serde_json::from_str(&said).unwrap_or_default();
        said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }
}

fn recorded_payload(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../agents/fixtures/{name}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn with_fields(mut payload: Value, fields: Value) -> Value {
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload
}

fn wait_for_all(members: &[Member], file: &str) {
    let what = format!("every member to be {file}");
    wait::until(&what, ALL, || members.iter().all(|member| member.has(file)).then_some(()));
}

/// All of them clear and prompt at once. Returns how many got their own work, and how many another's.
fn cleared_at_once(env: &TestEnv, count: usize) -> (usize, usize) {
    let gate = env.root().join("gate");
    Run::of(env.command("mkfifo").arg(&gate), b"").ok();
    ["claude", "codex"].iter().for_each(|agent| env.link(agent, "/bin/bash"));
    let script = env.script("person", PERSON);
    let tmux = Tmux::start(env);
    let members: Vec<Member> = (0..count).map(|number| Member::new(env, number)).collect();
    members.iter().for_each(|member| member.sit(&tmux, &script, &gate));
    wait_for_all(&members, "ready");
    env.tow(&["work", "--quiet"]).ok();
    let begun = Instant::now();
    drop(fs::OpenOptions::new().write(true).open(&gate).unwrap());
    wait_for_all(&members, "done");
    let things: Vec<&str> = members.iter().map(|member| member.thing.as_str()).collect();
    let given: Vec<String> = members.iter().map(Member::given).collect();
    let own = members.iter().zip(&given).filter(|(member, text)| text.contains(&member.thing)).count();
    let holds_others = |(member, text): (&Member, &String)| {
        things.iter().any(|thing| *thing != member.thing && text.contains(thing))
    };
    let others = members.iter().zip(&given).filter(|&pair| holds_others(pair)).count();
    // Only what was captured has a number; what a hook alone reported has none.
    let captured = given.iter().filter(|text| text.contains("#1")).count();
    let load = fs::read_to_string("/proc/loadavg").unwrap();
    let load = load.split(' ').next().unwrap();
    println!(
        "{own} of {count} with the first prompt, {captured} of them from the archive, {others} got another's, {:?}, \
         load average {load}",
        begun.elapsed()
    );
    (own, others)
}

/// A session that was cleared, and the payload of the first prompt of the next.
fn cleared_session(env: &TestEnv) -> (Member, Vec<u8>) {
    let member = Member::new(env, 1);
    for step in ["work-1", "work-2", "work-3", "clear-1", "clear-2"] {
        env.hook(member.agent, fs::read(member.folder.join(format!("{step}.json"))).unwrap()).ok();
    }
    let prompt = fs::read(member.folder.join("prompt.json")).unwrap();
    env.wait_no_process();
    (member, prompt)
}

fn apply(home: &DataFolder, lock: &ProjectionLock) {
    let (now, new_machine) = (Timestamp(0), Uid([7; 16]));
    let limits = ProjectionLimits { has_time: &|| true, now, new_machine, patience: ALL };
    Store::open_and_apply(home, lock, &limits).unwrap();
}

/// It once needed the lock of the database, and gave up after 300 ms.
#[test]
fn a_prompt_that_another_process_applied_gets_its_context_without_the_lock() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let (member, prompt) = cleared_session(&env);
    let home = DataFolder::at(env.data_dir());
    let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
    let (done, said) = (AtomicBool::new(false), Mutex::new(String::new()));
    thread::scope(|scope| {
        scope.spawn(|| {
            *said.lock().unwrap() = env.hook(member.agent, &prompt).ok().stdout;
            done.store(true, Ordering::SeqCst);
        });
        wait::until("the hook to end", ALL, || {
            apply(&home, &lock);
            done.load(Ordering::SeqCst).then_some(())
        });
    });
    let said = said.into_inner().unwrap();
    assert!(said.contains(&member.thing), "{said}");
    drop(lock);
    let next = env.hook(member.agent, &prompt).ok().stdout;
    assert!(!next.contains(&member.thing), "it is given once: {next}");
}

#[test]
fn a_prompt_that_gets_no_context_in_time_says_so_and_the_next_one_carries_it() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.keep_usual_limits();
    let (member, prompt) = cleared_session(&env);
    let lock = ProjectionLock::try_take(&DataFolder::at(env.data_dir())).unwrap().unwrap();
    let late = env.hook(member.agent, &prompt).ok().prints("Your next prompt carries it.").stdout;
    assert!(!late.contains(&member.thing), "{late}");
    drop(lock);
    env.hook(member.agent, &prompt).ok().prints(&member.thing);
    env.tow(&["doctor"]).prints("got no context");
}

#[test]
fn fifty_sessions_cleared_and_prompted_at_once_each_get_their_own_work_with_the_first_prompt() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.keep_usual_limits();
    assert_eq!(cleared_at_once(&env, 50), (50, 0));
}

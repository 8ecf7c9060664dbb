//! A world for hooks, with mounts of its own where a test needs them, and a doctor to look at it.
//!
//! Mounts live in a namespace that ends with its holder: none is ever left on the machine. Root needs no more than that;
//! anybody else gets a user namespace as well.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use towline_core::id::SessionKey;
use towline_store::{DataFolder, Store};
use towline_testkit::mutate::{event_of, flaw_in_answer};
use towline_testkit::{Process, Run, TestEnv, wait};

use crate::common::{hermetic, key, payload, store_in};
use crate::holder::Holder;

/// Three times the deadline, which is 1.2 s: a loaded machine is slow, not wrong.
const SLOWEST_HOOK: Duration = Duration::from_secs(4);

/// Kinds of events that append only, that fold, and that wait for an answer.
pub const KINDS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop"];

pub struct World {
    // Dropped first: its namespace may hold mounts on folders of the environment.
    namespace: Option<Holder>,
    pub env: TestEnv,
}

impl World {
    /// A world without mounts.
    pub fn plain() -> Self {
        Self { namespace: None, env: hermetic() }
    }

    /// A world without mounts, with the limits on waiting that a user has.
    pub fn with_usual_limits() -> Self {
        let world = Self::plain();
        world.env.keep_usual_limits();
        world
    }

    /// A world in a namespace of its own, after the given commands; `$HOME` is what they may mount on.
    pub fn mounted(script: &str) -> Self {
        let env = hermetic();
        let mut unshare = env.command("unshare");
        unshare.args(if is_root() { &["-m"][..] } else { &["-r", "-m"] });
        unshare.args(["sh", "-ec", &format!("{script}\necho ready; exec cat")]);
        Self { namespace: Some(Holder::start(unshare, "")), env }
    }

    /// A command inside the world, with exactly the variables of its environment.
    pub fn command(&self, program: &str) -> Command {
        let Some(holder) = &self.namespace else { return self.env.command(program) };
        let mut nsenter = self.env.command("nsenter");
        nsenter.args(["-t", &holder.pid().to_string(), "-m"]);
        nsenter.args(if is_root() { &[][..] } else { &["-U", "--preserve-credentials"] });
        nsenter.arg("--").arg(program);
        nsenter
    }

    /// Runs a line of shell inside the world.
    #[track_caller]
    pub fn shell(&self, line: &str) -> Run {
        Run::of(self.command("sh").args(["-ec", line]), b"").ok()
    }

    /// The same, as soon as nobody is in its way: what a hook started may still be writing.
    pub fn shell_once_free(&self, line: &str) {
        wait::until_evident(line, wait::PATIENCE, || {
            let run = Run::of(self.command("sh").args(["-ec", line]), b"");
            if run.status.success() { Ok(()) } else { Err(run.stderr) }
        });
    }

    /// Sends one event of a session.
    #[track_caller]
    pub fn hook(&self, event: &str, session: &SessionKey) -> Run {
        let mut hook = self.command("tow");
        hook.args(["hook", session.agent.as_str()]);
        sane(hook, &payload(event, session, "Bash"))
    }

    /// Sends one event of every kind; returns how many that were.
    #[track_caller]
    pub fn hooks_of_all_kinds(&self, session: &SessionKey) -> usize {
        for event in KINDS {
            self.hook(event, session);
        }
        KINDS.len()
    }

    #[track_caller]
    pub fn work(&self) {
        Run::of(self.command("tow").arg("work"), b"").ok();
    }

    /// The data folder, or a copy of it as it is now: SQLite follows links, and would miss the namespace's mounts.
    pub fn data(&self) -> DataFolder {
        let Some(holder) = &self.namespace else { return DataFolder::at(self.env.data_dir()) };
        let copy = self.env.root().join("tmp").join(format!("copy-of-{}", holder.pid()));
        self.shell(&format!("rm -rf {0}; cp -r {1} {0}", copy.display(), self.env.data_dir().display()));
        DataFolder::at(copy)
    }

    pub fn store(&self) -> Store {
        store_in(&self.data())
    }

    /// Insists on so many events of the session in a sound database, and on nothing left to apply. A process that
    /// applies already may still have the last event to do.
    #[track_caller]
    pub fn insist_on_events(&self, session: &SessionKey, expected: usize) {
        let store = wait::until_evident("the journal to be applied", wait::PATIENCE, || {
            let store = self.store();
            let left = store.backlog_bytes().expect("the journal can be read");
            if left == 0 { Ok(store) } else { Err(format!("{left} bytes are left")) }
        });
        let events = store.events(session).expect("they can be read");
        let told: Vec<_> =
            events.iter().map(|event| event.kind.as_str()).filter(|kind| *kind != "seat_found").collect();
        assert_eq!(told.len(), expected, "{told:?}");
        assert_eq!(store.complaints().expect("it can be checked"), Vec::<String>::new());
    }

    #[track_caller]
    pub fn doctor(&self) -> Report {
        Report::of(&Run::of(self.command("tow").args(["doctor", "--json"]), b""))
    }

    /// Waits until nothing runs in the world but what holds its mounts. Looks twice, as `wait_no_process` does, and for
    /// longer: beside other work, indexing a year of conversations was seen to take more than two minutes.
    #[track_caller]
    pub fn settle(&self) {
        wait::until_evident("the last process to end", 10 * wait::PATIENCE, || match self.running() {
            left if left.is_empty() && self.running().is_empty() => Ok(()),
            left => Err(format!("{left:#?}")),
        });
    }

    /// Kills everything that runs in the world but what holds its mounts.
    pub fn kill_all(&self) {
        let pids: Vec<String> = self.running().iter().map(|process| process.pid.to_string()).collect();
        self.shell(&format!("kill -KILL {} 2>/dev/null || true", pids.join(" ")));
    }

    fn running(&self) -> Vec<Process> {
        let holder = self.namespace.as_ref().map(Holder::pid);
        self.env.processes().into_iter().filter(|process| Some(process.pid) != holder).collect()
    }
}

/// Runs a hook that must end well, in time, and without a word that its agent could not take.
#[track_caller]
pub fn sane(mut hook: Command, payload: &str) -> Run {
    let begun = Instant::now();
    let run = Run::of(&mut hook, payload.as_bytes()).ok();
    let took = begun.elapsed();
    assert!(took < SLOWEST_HOOK, "took {took:?}: {payload}");
    assert_eq!(run.stderr, "");
    let event = event_of(payload.as_bytes());
    assert_eq!(flaw_in_answer("claude", event.as_deref(), run.stdout.as_bytes()), None);
    run
}

pub fn session() -> SessionKey {
    key("claude:broken-world")
}

/// The report of the doctor.
#[derive(Debug)]
pub struct Report(Value);

impl Report {
    #[track_caller]
    pub fn of(run: &Run) -> Self {
        assert_eq!(run.stderr, "");
        Self(run.json())
    }

    /// The findings of these names, as text; `None` if there are none.
    pub fn findings_about(&self, names: &[&str]) -> Option<String> {
        let found: Vec<String> = self
            .findings()
            .filter(|check| names.contains(&text(check, "name")))
            .map(|check| check.to_string())
            .collect();
        (!found.is_empty()).then(|| found.join("\n"))
    }

    /// Insists on a finding that names all of this: in the check's name, its detail or its mend.
    #[track_caller]
    pub fn names(&self, words: &[&str]) -> &Self {
        let is_named = self.findings().any(|check| {
            let said = format!("{} {} {}", text(check, "name"), text(check, "detail"), text(check, "mend"));
            !text(check, "mend").is_empty() && words.iter().all(|word| said.contains(word))
        });
        assert!(is_named, "nobody names {words:?}: {:#}", self.0);
        self
    }

    /// The remedy for the finding of this name.
    #[track_caller]
    pub fn mend(&self, name: &str) -> String {
        let check = self.findings().find(|check| text(check, "name") == name);
        text(check.unwrap_or_else(|| panic!("no finding {name:?}: {:#}", self.0)), "mend").to_owned()
    }

    /// The remedy for the finding of this name, if there is one.
    pub fn mend_of(&self, name: &str) -> Option<String> {
        let check = self.findings().find(|check| text(check, "name") == name)?;
        Some(text(check, "mend").to_owned())
    }

    /// Insists that the data is as it should be; faults of the past may still be listed.
    #[track_caller]
    pub fn is_sound(&self) -> &Self {
        let about_data = ["config", "data folder", "database", "journal"];
        let broken: Vec<_> =
            self.findings().filter(|check| about_data.contains(&text(check, "name"))).collect();
        assert_eq!(broken, Vec::<&Value>::new());
        self
    }

    fn findings(&self) -> impl Iterator<Item = &Value> {
        let checks = self.0["checks"].as_array().into_iter().flatten();
        checks.filter(|check| text(check, "status") != "good")
    }
}

fn text<'a>(check: &'a Value, field: &str) -> &'a str {
    check[field].as_str().unwrap_or("")
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

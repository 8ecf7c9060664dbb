//! What a session is given of what is remembered: with its first prompt, once, and again after a compaction.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use towline_core::capture::FileAccess;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::archive::{Archive, NewMemory};
use towline_store::lock::ArchiveLock;
use towline_testkit::TestEnv;

struct Desk {
    env: TestEnv,
}

impl Desk {
    fn new() -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        // A loaded machine is slow, not wrong: whoever finds the lock taken gives it with the next prompt.
        for (key, value) in [("hook.deadline_ms", "2500"), ("hook.patience_ms", "2000")] {
            env.tow(&["config", "set", key, value]).ok();
        }
        Desk { env }
    }

    fn archive<T>(&self, act: impl FnOnce(&Archive) -> T) -> T {
        let home = DataFolder::at(self.env.data_dir());
        home.create().unwrap();
        let lock = ArchiveLock::take_within(&home, std::iter::repeat_n(Duration::from_millis(20), 500))
            .unwrap()
            .unwrap();
        act(&Archive::open(&home, &lock, Duration::ZERO, Uid([7; 16])).unwrap())
    }

    /// Keeps these, the titles as they come, in the project of the test.
    fn remember(&self, drafts: Vec<MemoryDraft>) -> Vec<i64> {
        self.remember_with(None, drafts)
    }

    /// The same, learnt in a session with what is checked out on this branch.
    fn remember_on(&self, branch: &str, title: &str) {
        let commit = self.env.git(&["rev-parse", "HEAD"]).trim().to_owned();
        self.remember_with(Some((branch, &commit)), vec![draft("change", title)]);
    }

    fn remember_with(&self, code: Option<(&str, &str)>, drafts: Vec<MemoryDraft>) -> Vec<i64> {
        self.archive(|archive| {
            let traces = towline_terminal::project::traces(&self.env.project(), &|_| None);
            let project = archive.project_made(&traces).unwrap();
            let keep = |(seed, draft): (usize, MemoryDraft)| {
                let memory = NewMemory {
                    uid: Uid::derived(Timestamp(1), &[&seed.to_string(), &draft.title]),
                    content: MemoryContent::of(draft).unwrap(),
                    project: Some(project),
                    session: code.map(|_| SessionKey::parse("claude:one").unwrap()),
                    turn: None,
                    branch: code.map(|(branch, _)| branch.to_owned()),
                    commit: code.map(|(_, commit)| commit.to_owned()),
                    maker: MemoryAuthor::Rules,
                    trust: MemoryTrust::Agent,
                    confidence: ConfidencePercent::percent(70),
                    cost: 1000,
                    at: Timestamp(1_000),
                    valid_from: Timestamp(1_000),
                    quarantine: None,
                };
                archive.add_memory(&memory).unwrap()
            };
            archive.in_transaction(|| Ok(drafts.into_iter().enumerate().map(keep).collect())).unwrap()
        })
    }

    fn tell(&self, event: &str, fields: Value) -> Value {
        let mut payload = json!({"hook_event_name": event, "session_id": "one", "cwd": self.env.project()});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let said = self.env.hook("claude", payload.to_string().as_bytes()).ok().stdout;
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
    }

    fn prompt(&self, text: &str) -> Value {
        self.tell("UserPromptSubmit", json!({"prompt": text}))
    }
}

fn draft(kind: &str, title: &str) -> MemoryDraft {
    MemoryDraft::new(MemoryType::parse(kind).unwrap(), title)
}

fn context(said: &Value) -> &str {
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("")
}

#[test]
fn a_session_is_given_what_is_remembered_with_its_first_prompt_and_no_other() {
    let desk = Desk::new();
    desk.remember(vec![draft("decision", "The cache is Valkey"), draft("change", "Renamed a helper")]);
    desk.tell("SessionStart", json!({"source": "startup"}));
    let said = desk.prompt("which cache do we use?");
    let (fits, rest) = context(&said).split_once("Other memories").unwrap();
    assert!(fits.contains("The cache is Valkey") && rest.contains("Renamed a helper"), "{said}");
    assert!(context(&said).starts_with("<towline-context>"), "{said}");
    let notice = said["systemMessage"].as_str().unwrap();
    assert!(
        notice.contains("gave 2 things remembered of project") && notice.contains("tow session context"),
        "{notice}"
    );
    assert_eq!(desk.prompt("and now?"), Value::Null);
}

#[test]
fn after_a_compaction_it_is_given_again() {
    let desk = Desk::new();
    desk.remember(vec![draft("decision", "The cache is Valkey")]);
    desk.tell("SessionStart", json!({"source": "startup"}));
    assert!(context(&desk.prompt("go")).contains("Valkey"));
    desk.tell("Stop", json!({"background_tasks": []}));
    desk.tell("PreCompact", json!({"trigger": "manual"}));
    desk.tell("PostCompact", json!({"trigger": "manual", "compact_summary": "short"}));
    assert!(context(&desk.prompt("go on")).contains("Valkey"));
    assert_eq!(context(&desk.prompt("and on")), "");
}

#[test]
fn what_was_pinned_is_there_after_ten_thousand_newer_memories() {
    let desk = Desk::new();
    let pinned = desk.remember(vec![draft("preference", "Answer in French")])[0];
    desk.archive(|archive| archive.pin_memory(pinned, Some(Timestamp(2_000)), Timestamp(2_000)).unwrap());
    desk.remember((0..10_000).map(|number| draft("change", &format!("Painted plank {number}"))).collect());
    desk.tell("SessionStart", json!({"source": "startup"}));
    let said = desk.prompt("paint a plank");
    let first = context(&said).lines().find(|line| line.starts_with("- ")).unwrap();
    assert!(first.contains("Answer in French"), "{said}");
    assert!(context(&said).encode_utf16().count() <= 9_500);
}

#[test]
fn old_memory_is_given_for_the_words_of_a_prompt_once_it_is_indexed() {
    let desk = Desk::new();
    desk.remember(vec![draft("gotcha", "The turnbuckle must be greased before the regatta")]);
    desk.remember((0..1_000).map(|number| draft("change", &format!("Painted plank {number}"))).collect());
    let asked = "is there anything about the turnbuckle before the regatta?";
    let reindex = || {
        // What a hook started writes the index as well.
        desk.env.wait_no_process();
        desk.env.tow(&["reindex"]).ok();
    };
    desk.tell("SessionStart", json!({"source": "startup"}));
    assert!(!context(&desk.prompt(asked)).contains("greased"), "the index is not there yet");
    reindex();
    let again = |session: &str| {
        desk.tell("SessionStart", json!({"source": "startup", "session_id": session}));
        desk.tell("UserPromptSubmit", json!({"prompt": asked, "session_id": session}))
    };
    let said = again("two");
    let (fits, _) = context(&said).split_once("Other memories").unwrap();
    assert!(fits.contains("The turnbuckle must be greased"), "{said}");
    fs::write(desk.env.data_dir().join("index/meta.json"), "{").unwrap();
    let said = again("three");
    assert!(!context(&said).contains("greased") && context(&said).contains("Painted plank"), "{said}");
    reindex();
    desk.env.tow(&["config", "set", "memory.older", "false"]).ok();
    assert!(!context(&again("four")).contains("greased"));
}

#[test]
fn a_memory_of_a_file_that_is_gone_is_marked_as_stale() {
    let desk = Desk::new();
    let files = |path: &str| vec![(path.to_owned(), FileAccess::Changed)];
    fs::write(desk.env.project().join("mast.rs"), "").unwrap();
    desk.remember(vec![
        MemoryDraft { files: files("boom.rs"), ..draft("bugfix", "The boom leaned") },
        MemoryDraft { files: files("mast.rs"), ..draft("bugfix", "The mast leaned") },
    ]);
    let shown =
        desk.env.tow(&["context", "--fresh", "--prompt", "why does it lean, mast or boom?"]).ok().stdout;
    let line = |word: &str| shown.lines().find(|line| line.contains(word)).unwrap().to_owned();
    assert!(line("The boom").contains("stale: boom.rs is gone"), "{shown}");
    assert!(line("The mast").contains("stale: mast.rs was changed since"), "{shown}");
}

#[test]
fn what_was_learnt_with_a_commit_of_another_branch_is_marked_until_that_is_merged() {
    let desk = Desk::new();
    let git = |arguments: &[&str]| desk.env.git(arguments);
    git(&["checkout", "-q", "-b", "refit"]);
    git(&["commit", "-q", "--allow-empty", "-m", "Weld the keel"]);
    desk.remember_on("refit", "The keel is welded");
    git(&["checkout", "-q", "main"]);
    desk.remember_on("main", "The mast is oak");
    let line = |word: &str| {
        let shown =
            desk.env.tow(&["context", "--fresh", "--prompt", "is the keel or the mast fine?"]).ok().stdout;
        shown.lines().find(|line| line.contains(word)).unwrap().to_owned()
    };
    assert!(line("keel").contains(" of refit is not in this branch)"), "{}", line("keel"));
    assert!(!line("mast").contains("stale"), "{}", line("mast"));
    git(&["merge", "-q", "refit"]);
    assert!(!line("keel").contains("stale"), "{}", line("keel"));
}

#[test]
fn nothing_is_given_where_it_is_not_wanted() {
    let desk = Desk::new();
    desk.remember(vec![draft("decision", "The cache is Valkey")]);
    let set = |key: &str, value: &str| drop(desk.env.tow(&["config", "set", key, value]).ok());
    set("memory.notice", "false");
    desk.tell("SessionStart", json!({"source": "startup"}));
    let said = desk.prompt("go");
    assert!(context(&said).contains("Valkey") && said["systemMessage"].is_null(), "{said}");
    for (key, value) in [
        ("inherit.never_in", format!("[\"{}\"]", desk.env.project().display())),
        ("memory.give", "false".to_owned()),
    ] {
        let other = Desk::new();
        other.remember(vec![draft("decision", "The cache is Valkey")]);
        let value = value.replace(&*desk.env.root().to_string_lossy(), &other.env.root().to_string_lossy());
        other.env.tow(&["config", "set", key, &value]).ok();
        other.tell("SessionStart", json!({"source": "startup"}));
        assert_eq!(other.prompt("go"), Value::Null, "{key}");
    }
}

#[test]
fn who_meets_it_for_the_first_time_is_told_what_it_is_and_never_again() {
    let desk = Desk::new();
    desk.remember(vec![draft("decision", "The cache is Valkey")]);
    let notice = |session: &str| {
        let named = json!({"session_id": session, "source": "startup"});
        desk.tell("SessionStart", named);
        let said = desk.tell("UserPromptSubmit", json!({"session_id": session, "prompt": "which cache?"}));
        said["systemMessage"].as_str().unwrap().to_owned()
    };
    let first = notice("one");
    let (given, hint) = first.split_once('\n').unwrap();
    assert!(given.contains("gave 1 thing") && hint.lines().count() == 1, "{first}");
    assert!(hint.contains("tow config set memory.give false"), "{hint}");
    assert!(hint.contains("`tow open` shows all of it in a browser"), "the viewer is mentioned once: {hint}");
    fs::remove_file(desk.env.data_dir().join("towline.db")).unwrap();
    assert_eq!(notice("two").lines().count(), 1);
}

/// What the model is told before a tool touches a file.
fn before(desk: &Desk, agent: &str, (tool, input): (&str, Value)) -> String {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "one", "cwd": desk.env.project(), "tool_name": tool,
        "tool_input": input,
    });
    let said = desk.env.hook(agent, payload.to_string()).ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    assert!(said["hookSpecificOutput"]["permissionDecision"].is_null(), "no call is decided about: {said}");
    context(&said).to_owned()
}

#[test]
fn before_a_file_is_touched_the_gotcha_that_is_known_of_it_is_told_once() {
    let desk = Desk::new();
    let about = |path: &str| vec![(path.to_owned(), FileAccess::Changed)];
    desk.remember(vec![
        MemoryDraft {
            files: about("src/mast.rs"),
            ..draft("gotcha", "The mast only stands if it is greased first")
        },
        MemoryDraft { files: about("src/mast.rs"), ..draft("change", "Painted the mast") },
        MemoryDraft { files: about("src/boom.rs"), ..draft("gotcha", "The boom swings") },
    ]);
    let path = desk.env.project().join("src/mast.rs");
    let edit = || ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
    assert_eq!(before(&desk, "claude", edit()), "", "nobody wants it yet");
    desk.env.tow(&["config", "set", "memory.gotchas", "true"]).ok();
    let said = before(&desk, "claude", edit());
    assert!(said.starts_with("<towline-context>\n") && said.lines().count() == 3, "{said}");
    assert!(said.contains("greased first") && !said.contains("Painted") && !said.contains("boom"), "{said}");
    assert_eq!(before(&desk, "claude", edit()), "");
    assert_eq!(before(&desk, "claude", ("Bash", json!({"command": "cat src/mast.rs"}))), "");
    let patch = "*** Begin Patch\n*** Update File: src/boom.rs\n+x\n*** End Patch\n";
    assert!(before(&desk, "codex", ("apply_patch", json!({"command": patch}))).contains("The boom swings"));
    desk.tell("PostCompact", json!({"trigger": "manual", "compact_summary": "short"}));
    assert!(before(&desk, "claude", edit()).contains("greased first"), "its model has lost it");
}

#[test]
fn agents_ask_before_files_are_touched_only_where_it_is_wanted() {
    let desk = Desk::new();
    let asks = |agent: &str, file: &str| {
        desk.env.tow(&["install", "--agent", agent]).ok();
        desk.env.tow(&["doctor"]);
        let settings: Value =
            serde_json::from_str(&fs::read_to_string(desk.env.home().join(file)).unwrap()).unwrap();
        let before = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(before.len(), 1, "{before:?}");
        before[0]["matcher"].as_str().unwrap().to_owned()
    };
    let both = || [asks("claude", ".claude/settings.json"), asks("codex", ".codex/hooks.json")];
    assert_eq!(both(), ["Agent|Task", "^spawn_agent$"]);
    desk.env.tow(&["config", "set", "memory.gotchas", "true"]).ok();
    let wanted = ["Agent|Task|Read|Edit|MultiEdit|Write|NotebookEdit", "^(spawn_agent|apply_patch)$"];
    assert_eq!(both(), wanted);
    let found = desk.env.tow(&["doctor", "--json"]).stdout;
    assert!(!found.contains("PreToolUse"), "{found}");
    desk.env.tow(&["config", "set", "memory.gotchas", "false"]).ok();
    assert_eq!(both(), ["Agent|Task", "^spawn_agent$"]);
}

//! From a transcript to memories: by `tow capture`, by `tow data work` after an import, again and again, killed or not.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::print_stdout, reason = "tests print their figures")]

mod days;
mod written;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use towline_core::memory::{Memory, MemoryTrust};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::archive::{Archive, KeptSummary, MemoryQuery};
use towline_store::lock::ArchiveLock;
use towline_testkit::mutate::Dice;
use towline_testkit::{TestEnv, wait};
use written::{BEGAN, Shape, Written, written};

const BUG_HUNT: &str = include_str!("../../../core/src/memory/distil/sessions/bug-hunt.txt");
const FEATURE: &str = include_str!("../../../core/src/memory/distil/sessions/feature-with-decision.txt");
const POISONED: &str = include_str!("../../../core/src/memory/distil/sessions/poisoned.txt");
const OTHERS: [&str; 5] = [
    include_str!("../../../core/src/memory/distil/sessions/refactor.txt"),
    include_str!("../../../core/src/memory/distil/sessions/config-change.txt"),
    include_str!("../../../core/src/memory/distil/sessions/question-only.txt"),
    include_str!("../../../core/src/memory/distil/sessions/environment-trap.txt"),
    include_str!("../../../core/src/memory/distil/sessions/security-and-web.txt"),
];

struct Desk {
    env: TestEnv,
}

impl Desk {
    fn new() -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        env.set("TZ", "UTC");
        env.set_now(BEGAN + 100_000_000);
        Desk { env }
    }

    fn written(&self, shape: Shape, session: &str, script: &str) -> Written {
        written(shape, session, (&self.env.project(), script))
    }

    fn capture(&self, shape: Shape, path: &Path) {
        self.env.tow(&["capture", "--at-once", shape.agent(), &path.to_string_lossy()]).ok();
    }

    /// A whole session, captured.
    fn session(&self, shape: Shape, session: &str, script: &str) -> PathBuf {
        let path = self.written(shape, session, script).save(&self.env.home(), usize::MAX);
        self.capture(shape, &path);
        path
    }

    fn home(&self) -> DataFolder {
        DataFolder::at(self.env.data_dir())
    }

    fn archive(&self) -> Archive {
        Archive::read(&self.home(), Duration::from_secs(10)).unwrap().unwrap()
    }

    /// The oldest first.
    fn memories(&self) -> Vec<Memory> {
        let mut all =
            self.archive().memories(&MemoryQuery { limit: 1000, ..MemoryQuery::default() }).unwrap();
        all.reverse();
        all
    }

    fn titles(&self) -> Vec<String> {
        self.memories().iter().map(|memory| memory.content.title.clone()).collect()
    }

    /// Everything that is remembered, with where it came from and what became of it, session by session; places of the
    /// test left out.
    fn told(&self) -> String {
        let archive = self.archive();
        let memories = self.memories().into_iter().map(|memory| {
            let source = memory.source.clone().unwrap();
            (source.session.to_string(), source.turn, told(&archive, &memory))
        });
        let summaries = archive.latest_summaries(None, 100).unwrap();
        let summaries = summaries.into_iter().map(|kept| (kept.session.to_string(), None, summed(&kept)));
        let mut all: Vec<(String, Option<u32>, String)> = memories.chain(summaries).collect();
        all.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        let all: String = all.into_iter().map(|(_, _, told)| told).collect();
        all.replace(&self.env.project().display().to_string(), "PROJECT")
    }

    /// Changes what is kept as a person would.
    fn as_person(&self, change: impl FnOnce(&mut Archive)) {
        let lock = ArchiveLock::take_within(&self.home(), []).unwrap().unwrap();
        let uid = towline_core::id::Uid([1; 16]);
        change(&mut Archive::open(&self.home(), &lock, Duration::from_secs(10), uid).unwrap());
    }
}

fn told(archive: &Archive, memory: &Memory) -> String {
    let mut all = String::new();
    let source = memory.source.clone().unwrap();
    let (trace, content) = (archive.memory_trace(memory.number).unwrap(), &memory.content);
    let (kind, sure, trust) = (&content.kind, memory.confidence.as_percent(), memory.trust.name());
    writeln!(all, "[{kind} {sure}% {trust}] {}", content.title).unwrap();
    let (turn, commit) = (source.turn.unwrap(), source.commit.unwrap_or_default());
    let (cost, found) = (memory.cost, memory.found);
    writeln!(all, "  turn {turn} {commit} cost {cost} found {found} trace {}", trace.len()).unwrap();
    content.facts.iter().for_each(|fact| writeln!(all, "  - {fact}").unwrap());
    content.files.iter().for_each(|(path, how)| writeln!(all, "  {} {path}", how.name()).unwrap());
    all
}

fn summed(kept: &KeptSummary) -> String {
    let mut all = format!("== {} to turn {}, {}\n", kept.session, kept.turn, kept.trust.name());
    for (name, text) in kept.summary.parts().iter().filter(|(_, text)| !text.is_empty()) {
        writeln!(all, "{name}: {text}").unwrap();
    }
    all
}

#[track_caller]
fn check_told(name: &str, told: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, told));
}

#[test]
fn what_was_captured_is_remembered_with_where_it_came_from() {
    for shape in Shape::ALL {
        let desk = Desk::new();
        desk.session(shape, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
        check_told(&format!("remembered-{}", shape.agent()), &desk.told());
    }
}

/// Sets the distiller's cursor to a change that the archive does not have.
fn distil_all_again(archive: &mut Archive) {
    archive.set_fact("distilled-2", &format!("{} 0 0 0", i64::MAX)).unwrap();
}

#[test]
fn a_first_run_lets_nobody_read_the_conversations_again() {
    let desk = Desk::new();
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    desk.env.tow(&["work"]).ok();
    let before = desk.archive().last_change().unwrap();
    desk.as_person(distil_all_again);
    let told = desk.env.tow(&["work", "--json"]).ok().json();
    assert_eq!(told["distilled_turns"].as_u64(), Some(2));
    assert_eq!(desk.archive().last_change().unwrap(), before, "the index follows these changes");
}

#[test]
fn doing_it_again_changes_nothing() {
    let desk = Desk::new();
    let path = desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    let (before, changes) = (desk.memories(), desk.archive().last_change().unwrap());
    desk.capture(Shape::Claude, &path);
    desk.env.tow(&["work"]).ok();
    assert_eq!((desk.memories(), desk.archive().last_change().unwrap()), (before.clone(), changes));
    // All of it is distilled again.
    desk.as_person(distil_all_again);
    let told = desk.env.tow(&["work", "--json"]).ok().json();
    assert_eq!((told["distilled_turns"].as_u64(), told["made_memories"].as_u64()), (Some(2), Some(0)));
    assert_eq!(desk.memories(), before);
}

#[test]
fn captures_that_are_killed_anywhere_remember_what_one_whole_capture_remembers() {
    let script = format!("{BUG_HUNT}\n== turn\n{FEATURE}");
    let whole = Desk::new();
    whole.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", &script);
    let expected = whole.told();
    for seed in 1..=3 {
        let desk = Desk::new();
        let all = desk.written(Shape::Claude, "5e551011-0000-4000-8000-000000000001", &script);
        let mut dice = Dice::new(seed, 0);
        let mut lines = 0;
        while lines < all.lines.len() {
            lines += 1 + dice.below(5);
            let path = all.save(&desk.env.home(), lines);
            capture_and_kill(&desk.env, &path, dice.below(12_000));
        }
        desk.capture(Shape::Claude, &all.path(&desk.env.home()));
        assert_eq!(desk.told(), expected, "seed {seed}");
    }
}

/// Starts a capture and kills it once it has been looked after so many times; it may be done by then.
fn capture_and_kill(env: &TestEnv, path: &Path, looks: usize) {
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["capture", "--at-once", "claude"]).arg(path).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    for _ in 0..looks {
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn a_turn_that_went_on_replaces_what_was_made_of_it_but_not_what_a_person_touched() {
    let desk = Desk::new();
    let all = desk.written(Shape::Claude, "5e551011-0000-4000-8000-000000000001", FEATURE);
    // Everything but the last answer.
    let path = all.save(&desk.env.home(), all.lines.len() - 1);
    desk.capture(Shape::Claude, &path);
    let early = desk.titles();
    assert!(early.iter().any(|title| title.starts_with("Use a token bucket")), "{early:?}");
    let touched = desk.memories()[0].clone();
    desk.as_person(|archive| {
        assert!(archive.pin_memory(touched.number, Some(Timestamp(1)), Timestamp(1)).unwrap());
    });
    all.save(&desk.env.home(), usize::MAX);
    desk.capture(Shape::Claude, &path);
    let late = desk.titles();
    assert!(late.iter().any(|title| title.starts_with("Added rate limiting")), "{late:?}");
    assert!(late.contains(&touched.content.title), "{late:?}");
    let count = |title: &String| late.iter().filter(|other| *other == title).count();
    assert!(late.iter().all(|title| count(title) == 1), "{late:?}");
}

#[test]
fn the_same_words_of_another_session_are_found_again_once() {
    let desk = Desk::new();
    let wish = "== person\nFrom now on always run the linter before you commit anything.\n== agent\nI will.";
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", wish);
    let second =
        desk.written(Shape::Codex, "5e551011-0000-4000-8000-000000000002", wish).at(BEGAN + 7_000_000);
    let path = second.save(&desk.env.home(), usize::MAX);
    for _ in 0..3 {
        desk.capture(Shape::Codex, &path);
        desk.as_person(distil_all_again);
        desk.env.tow(&["work"]).ok();
    }
    let memories = desk.memories();
    assert_eq!((memories.len(), memories[0].found, memories[0].trust), (1, 2, MemoryTrust::Person));
}

#[test]
fn private_turns_leave_nothing() {
    let desk = Desk::new();
    let script = BUG_HUNT.replace("The checkout tests fail on CI", "<private>The checkout tests fail on CI");
    let script = script.replace("find out why and fix it?", "find out why and fix it?</private>");
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", &script);
    let told = desk.told();
    assert!(!told.contains("single-flight") && !told.contains("session.rs"), "{told}");
    assert!(!told.contains("turn 1") && told.contains("From now on always"), "{told}");
}

#[test]
fn a_turn_that_is_forgotten_takes_its_memories_with_it_for_good() {
    let desk = Desk::new();
    let path = desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    assert!(desk.told().contains("single-flight"));
    desk.env.tow(&["forget", "--yes", "00000001#1"]).ok();
    desk.capture(Shape::Claude, &path);
    desk.env.tow(&["work"]).ok();
    let told = desk.told();
    assert!(!told.contains("single-flight") && !told.contains("flaky checkout tests"), "{told}");
    assert!(told.contains("From now on always run"), "{told}");
}

#[test]
fn a_memory_that_a_person_dropped_is_not_made_again() {
    let desk = Desk::new();
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    let gone = desk.memories()[0].clone();
    desk.as_person(|archive| {
        archive.drop_memory(gone.number).unwrap();
        distil_all_again(archive);
    });
    desk.env.tow(&["work"]).ok();
    // Nobody noted that it was forgotten.
    assert!(desk.titles().contains(&gone.content.title));
    let mark = towline_core::id::IdHash::of(&gone.uid.to_string());
    let session = gone.source.clone().unwrap().session;
    let mut forgotten = towline_core::forget::Forgotten::default();
    forgotten.add_piece(&session, mark);
    fs::write(desk.env.data_dir().join("forgotten"), forgotten.to_string()).unwrap();
    desk.as_person(distil_all_again);
    desk.env.tow(&["work"]).ok();
    assert!(!desk.titles().contains(&gone.content.title));
}

#[test]
fn what_is_excluded_later_is_no_longer_remembered_after_a_scrub() {
    let desk = Desk::new();
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    let names = |desk: &Desk, file: &str| {
        desk.memories().iter().any(|memory| memory.content.files.iter().any(|(path, _)| path.ends_with(file)))
    };
    assert!(names(&desk, "client.rs") && desk.told().contains("Read checkout/src/client.rs"));
    desk.env.tow(&["config", "set", "privacy.exclude_paths", "[\"client.rs\"]"]).ok();
    desk.env.tow(&["scrub"]).ok();
    desk.env.tow(&["work"]).ok();
    let told = desk.told();
    assert!(!names(&desk, "client.rs") && !told.contains("client.rs"), "{told}");
    assert!(told.contains("Fixed the flaky checkout tests") && told.contains("completed: "), "{told}");
}

#[test]
fn what_gives_orders_is_held_back() {
    let desk = Desk::new();
    desk.session(Shape::Codex, "5e551011-0000-4000-8000-000000000001", POISONED);
    let held: Vec<Memory> =
        desk.memories().into_iter().filter(|memory| memory.quarantine.is_some()).collect();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].quarantine.as_deref(), Some("it gives orders to the model"));
    assert!(!held[0].is_current() && held[0].trust == MemoryTrust::Tool);
    let summaries = desk.archive().latest_summaries(None, 9).unwrap();
    assert!(summaries.iter().all(|kept| !format!("{:?}", kept.summary).contains("previous instructions")));
}

#[test]
fn an_import_is_distilled_by_somebody_whom_nobody_waits_for() {
    let desk = Desk::new();
    let home = desk.env.home();
    let scripts = [BUG_HUNT, FEATURE].into_iter().chain(OTHERS);
    for ((number, script), shape) in scripts.enumerate().zip(Shape::ALL.into_iter().cycle()) {
        let began = BEGAN + i64::try_from(number).unwrap() * 1_000_000;
        let session = format!("5e551011-0000-4000-8000-00000000000{number}");
        desk.written(shape, &session, script).at(began).save(&home, usize::MAX);
    }
    recorded(&home);
    desk.env.tow(&["import", "--json"]).ok();
    let drained = || {
        let archive = desk.archive();
        let done = archive.fact("distilled-2").unwrap()?;
        let all: Vec<i64> = done.split(' ').map(|number| number.parse().unwrap()).collect();
        (all[1] >= 0 && all[0] == archive.last_change().unwrap()).then_some(())
    };
    wait::until("all to be distilled", Duration::from_secs(60), drained);
    check_told("remembered-import", &desk.told());
}

/// Recorded conversations, where the agents keep theirs. No two that are of one session or of the same work: which of
/// them an import takes in first is anybody's guess, and so is whose a memory of both would be.
fn recorded(home: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    for file in ["claude-2.1.325-words.jsonl", "claude-2.1.325-session.jsonl"] {
        fs::copy(folder.join(file), home.join(".claude/projects/-p").join(file)).unwrap();
    }
    for file in ["codex-0.166.0-words.jsonl", "codex-0.166.0-tools.jsonl", "codex-0.166.0-apply-patch.jsonl"]
    {
        let named = format!("rollout-2026-11-15T00-05-03-{file}");
        fs::copy(folder.join(file), home.join(".codex/sessions/2026/11/15").join(named)).unwrap();
    }
}

#[test]
fn nothing_is_distilled_where_the_user_does_not_want_it() {
    let desk = Desk::new();
    let config = desk.env.home().join(".config/towline/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[distil]\nrules = false\n").unwrap();
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    desk.env.tow(&["work"]).ok();
    assert_eq!(desk.memories(), []);
    fs::remove_file(&config).unwrap();
    desk.env.tow(&["work"]).ok();
    assert!(!desk.memories().is_empty());
}

/// What the hook gives to the model with the first prompt of a new session.
fn given(desk: &Desk, shape: Shape, session: &str) -> serde_json::Value {
    let tell = |event: &str, (key, value): (&str, &str)| {
        let payload = serde_json::json!({
            "hook_event_name": event, "session_id": session, "cwd": desk.env.project(), key: value,
        });
        desk.env.hook(shape.agent(), payload.to_string()).ok().stdout
    };
    tell("SessionStart", ("source", "startup"));
    serde_json::from_str(&tell("UserPromptSubmit", ("prompt", "why do the checkout tests fail?"))).unwrap()
}

#[test]
fn what_one_agent_learnt_is_given_to_the_other_and_says_where_it_came_from() {
    for (shape, other) in [(Shape::Claude, Shape::Codex), (Shape::Codex, Shape::Claude)] {
        let desk = Desk::new();
        let session = "5e551011-0000-4000-8000-000000000001";
        desk.session(shape, session, BUG_HUNT);
        let said = given(&desk, other, "5e551011-0000-4000-8000-000000000002");
        let context = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        let line = context.lines().find(|line| line.contains("Fixed the flaky checkout tests")).unwrap();
        let id = line.trim_start_matches("- ").split(' ').next().unwrap();
        desk.env.tow(&["show", id]).ok().prints(&format!("session {}:{session}", shape.agent()));
    }
}

#[test]
fn what_is_given_is_told_with_what_it_took_to_learn_it() {
    let desk = Desk::new();
    desk.session(Shape::Claude, "5e551011-0000-4000-8000-000000000001", BUG_HUNT);
    let memories = desk.memories();
    let turns: std::collections::BTreeMap<u32, u64> =
        memories.iter().map(|memory| (memory.source.clone().unwrap().turn.unwrap(), memory.cost)).collect();
    assert!(memories.len() > turns.len() && turns.values().all(|cost| *cost > 0), "{turns:?}");
    let asked = [
        "context",
        "--fresh",
        "--json",
        "--prompt",
        "refresh after a 401, clone guard race, several times before it is fixed",
    ];
    let remembered = desk.env.tow(&asked).ok().json()["remembered"].clone();
    let learnt = &remembered["learnt"];
    assert_eq!(learnt["items"], memories.len());
    assert_eq!((learnt["turns"].as_u64(), learnt["tokens"].as_u64()), (Some(2), Some(turns.values().sum())));
    let notice = given(&desk, Shape::Codex, "5e551011-0000-4000-8000-000000000002")["systemMessage"].clone();
    assert!(notice.as_str().unwrap().contains("of them learnt in "), "{notice}");
    desk.env.tow(&["context", "--fresh", "--why"]).ok().prints("things remembered: ~");
}

/// How many changes are still listed.
fn changes(desk: &Desk) -> usize {
    desk.archive().changes_after(0, 10_000).unwrap().len()
}

#[test]
fn changes_that_all_have_read_are_dropped_and_who_comes_late_begins_anew() {
    let desk = Desk::new();
    let session = |number: u32, script: &str| {
        let id = format!("5e551011-0000-4000-8000-00000000000{number}");
        let began = BEGAN + i64::from(number) * 1_000_000;
        let path = desk.written(Shape::Claude, &id, script).at(began).save(&desk.env.home(), usize::MAX);
        desk.capture(Shape::Claude, &path);
    };
    let found = |words: &str| {
        let found = desk.env.tow(&["search", "--json", "--kind", "memory", words]).ok().json();
        !found["results"].as_array().unwrap().is_empty()
    };
    session(1, BUG_HUNT);
    assert!(changes(&desk) > 0);
    desk.env.tow(&["work"]).ok();
    assert_eq!(changes(&desk), 0);
    let (index, early) = (desk.env.data_dir().join("index"), desk.env.root().join("early"));
    copy(&index, &early);

    // The rules are off while the next one comes: nobody waits for them.
    desk.env.tow(&["config", "set", "distil.rules", "false"]).ok();
    session(2, FEATURE);
    desk.env.tow(&["work"]).ok();
    assert_eq!((changes(&desk), desk.told().contains("rate limiting")), (0, false));
    desk.env.tow(&["config", "set", "distil.rules", "true"]).ok();
    desk.env.tow(&["work"]).ok();
    assert!(desk.told().contains("rate limiting") && found("rate limiting") && found("flaky checkout"));
    assert_eq!(changes(&desk), 0);

    // An index of before comes back.
    fs::remove_dir_all(&index).unwrap();
    copy(&early, &index);
    assert!(found("rate limiting") && found("flaky checkout"));
}

/// A folder of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

//! `tow data import` as a person meets it: what other products kept is taken over once, and their files stay as they are.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use towline_store::archive::{Conversation, DetailRow};
use towline_store::foreign::samples::{SampleDatabase, SampleValue};
use towline_store::{Archive, DataFolder};
use towline_testkit::{TestEnv, wait};

/// Sunday, 1 November 2026, in the morning.
const AT: i64 = 1_793_500_000_000;
const DAY: i64 = 86_400_000;
const GONE: &str = "11111111-aaaa-4bbb-8ccc-00000000gone";

struct Bench {
    env: TestEnv,
}

impl Bench {
    fn new() -> Bench {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        env.set("TZ", "UTC");
        env.set_now(AT + 10 * DAY);
        for folder in [".throughline", ".claude-mem"] {
            fs::create_dir(env.home().join(folder)).unwrap();
        }
        Bench { env }
    }

    fn throughline(&self) -> PathBuf {
        self.env.home().join(".throughline/throughline.db")
    }

    fn claude_mem(&self) -> PathBuf {
        self.env.home().join(".claude-mem/claude-mem.db")
    }

    /// Runs an import that must succeed, and looks whether anything but our own data folder changed.
    #[track_caller]
    fn import(&self, more: &[&str]) -> Value {
        let before = self.theirs();
        let args: Vec<&str> = ["import", "--json"].iter().chain(more).copied().collect();
        let done = self.env.tow(&args).ok().json();
        assert!(self.theirs() == before, "somebody else's files were changed");
        assert!(!self.env.data_dir().join("scratch").exists());
        done
    }

    /// All files of the home that are not ours, with their bytes.
    fn theirs(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        // What an import has started may still be learning from it.
        self.env.wait_no_process();
        let mut all = files(&self.env.home());
        all.retain(|path, _| !path.starts_with(self.env.data_dir()));
        all
    }

    /// A recorded conversation, as the client keeps it; gives its id.
    fn transcript(&self, folder: &str) -> String {
        let recorded =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts/claude-2.1.325-words.jsonl");
        let text = fs::read_to_string(recorded).unwrap();
        let field = |name: &str| {
            let found = text
                .lines()
                .find_map(|line| serde_json::from_str::<Value>(line).ok()?[name].as_str().map(str::to_owned));
            found.unwrap()
        };
        let (id, cwd) = (field("sessionId"), field("cwd"));
        let place = self.env.home().join(".claude/projects/-p");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(format!("{id}.jsonl")), text.replace(&cwd, folder)).unwrap();
        id
    }

    fn archive(&self) -> Archive {
        Archive::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(2)).unwrap().unwrap()
    }

    /// Everything that can be got back.
    fn told(&self) -> String {
        let archive = self.archive();
        let mut conversations = archive.latest_conversations(None, 1000).unwrap();
        conversations.sort_by_key(|conversation| conversation.session.to_string());
        conversations.iter().map(|conversation| told(&archive, conversation)).collect()
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            all.extend(files(&path));
        } else if entry.file_type().unwrap().is_file() {
            all.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    all
}

fn told(archive: &Archive, conversation: &Conversation) -> String {
    let Conversation { session, folder, .. } = conversation;
    let mut all = format!("== {session} in {}\n", folder.as_deref().unwrap_or("nowhere"));
    let detail = |detail: &DetailRow| {
        let tool = detail.tool.as_deref().unwrap_or_default();
        format!("   .{} {} {tool}: {}\n", detail.number, detail.kind.name(), archive.content(detail).unwrap())
    };
    all.extend(archive.details_before(conversation).unwrap().iter().map(detail));
    for turn in archive.turns(conversation, 0, u32::MAX).unwrap() {
        all += &format!("#{} {}\n", turn.ordinal, turn.line);
        for body in archive.bodies(&turn).unwrap() {
            all += &format!("   {}: {}\n", body.speaker.name(), body.text);
        }
        all.extend(archive.details(&turn).unwrap().iter().map(detail));
    }
    all
}

fn cell(text: &str) -> SampleValue {
    text.into()
}

/// Words of one side, in the newest schema of Throughline.
fn say(sample: &SampleDatabase, session: &str, (turn, role): (i64, &str), text: &str) {
    let row = [
        ("session_id", cell(session)),
        ("origin_session_id", cell(session)),
        ("turn_number", turn.into()),
        ("role", cell(role)),
        ("text", cell(text)),
        ("created_at", (AT + turn * 1000).into()),
    ];
    sample.add("bodies", &row).unwrap();
}

fn work_in(sample: &SampleDatabase, session: &str, folder: &str) {
    let row = [("session_id", cell(session)), ("project_path", cell(folder))];
    let times = [("created_at", AT.into()), ("updated_at", AT.into())];
    sample.add("sessions", &[row, times].concat()).unwrap();
}

/// A session of two turns whose transcript is gone.
fn gone(bench: &Bench) -> SampleDatabase {
    let sample = SampleDatabase::throughline(&bench.throughline(), 12).unwrap();
    work_in(&sample, GONE, "/srv/app");
    for (turn, role, text) in [
        (2, "user", "Fix the loop."),
        (2, "assistant", "It is fixed."),
        (4, "user", "Now commit."),
        (4, "assistant", "Done."),
    ] {
        say(&sample, GONE, (turn, role), text);
    }
    let call = [
        ("session_id", cell(GONE)),
        ("origin_session_id", cell(GONE)),
        ("turn_number", 2.into()),
        ("tool_name", cell("Edit")),
        ("input_text", cell("{\"file_path\":\"/srv/app/a.rs\",\"new_string\":\"x\"}")),
        ("kind", cell("tool_input")),
        ("source_id", cell("toolu_1")),
        ("created_at", (AT + 2500).into()),
    ];
    sample.add("details", &call).unwrap();
    let line = [
        ("session_id", cell(GONE)),
        ("origin_session_id", cell(GONE)),
        ("turn_number", 2.into()),
        ("role", cell("assistant")),
        ("summary", cell("mended the loop")),
        ("created_at", (AT + 2600).into()),
    ];
    sample.add("skeletons", &line).unwrap();
    sample
}

/// A session, a prompt and an observation of it, in the newest schema of claude-mem.
fn observed(bench: &Bench, session: &str, at: i64) -> SampleDatabase {
    let sample = SampleDatabase::claude_mem(&bench.claude_mem(), 49).unwrap();
    let times = [("created_at", cell("then")), ("created_at_epoch", at.into())];
    let owner = [
        ("content_session_id", cell(session)),
        ("memory_session_id", cell("m1")),
        ("project", cell("app")),
        ("started_at", cell("then")),
        ("started_at_epoch", at.into()),
    ];
    sample.add("sdk_sessions", &owner).unwrap();
    let prompt = [
        ("content_session_id", cell(session)),
        ("prompt_number", 1.into()),
        ("prompt_text", cell("Fix the loop.")),
    ];
    sample.add("user_prompts", &[&prompt[..], &times].concat()).unwrap();
    let noted = [("memory_session_id", cell("m1")), ("project", cell("app")), ("prompt_number", 1.into())];
    let observation =
        [("type", cell("bugfix")), ("title", cell("Off by one")), ("facts", cell("[\"n was 4\"]"))];
    sample.add("observations", &[&noted[..], &times, &observation].concat()).unwrap();
    let summary = [("request", cell("Mend it")), ("completed", cell("The loop is right"))];
    sample.add("session_summaries", &[&noted[..], &times, &summary].concat()).unwrap();
    sample
}

#[test]
fn a_session_whose_transcript_is_gone_comes_from_throughline_and_comes_once() {
    let bench = Bench::new();
    gone(&bench).close().unwrap();
    let first = bench.import(&[]);
    let database = &first["databases"][0];
    assert_eq!(
        (&database["turns"], &database["bodies"], &database["details"]),
        (&2.into(), &4.into(), &1.into()),
        "{first}"
    );
    assert_eq!(database["sessions"]["taken"], 1);
    let told = bench.told();
    insta::assert_snapshot!(told, @r#"
    == claude:11111111-aaaa-4bbb-8ccc-00000000gone in /srv/app
    #1 mended the loop
       person: Fix the loop.
       agent: It is fixed.
       .1 input Edit: {"file_path":"/srv/app/a.rs","new_string":"x"}
    #2 Now commit — done: "Done"
       person: Now commit.
       agent: Done.
    "#);
    let second = bench.import(&[]);
    let database = &second["databases"][0];
    assert_eq!((&database["turns"], &database["sessions"]["known"]), (&0.into(), &1.into()), "{second}");
    assert_eq!(bench.told(), told);
}

#[test]
fn what_throughline_added_since_is_added() {
    let bench = Bench::new();
    let sample = gone(&bench);
    bench.import(&["throughline"]);
    let told = bench.told();
    say(&sample, GONE, (6, "user"), "One more thing.");
    assert_eq!(bench.import(&["throughline"])["databases"][0]["turns"], 1, "its log is not written back");
    sample.close().unwrap();
    let grown = bench.told();
    assert!(
        grown.starts_with(&told) && grown.contains("#3 ") && grown.contains("person: One more thing."),
        "{grown}"
    );
    assert_eq!(bench.import(&["throughline"])["databases"][0]["sessions"]["known"], 1);
}

#[test]
fn an_import_that_was_killed_goes_on_where_it_was_and_ends_as_if_it_had_not_been() {
    let many = |bench: &Bench| {
        let sample = SampleDatabase::throughline(&bench.throughline(), 12).unwrap();
        for session in 0..150 {
            for turn in 0..4 {
                say(&sample, &format!("session-{session:03}"), (turn, "user"), &format!("ask {turn}"));
                say(&sample, &format!("session-{session:03}"), (turn, "assistant"), &"word ".repeat(500));
            }
        }
        sample.close().unwrap();
    };
    let (killed, whole) = (Bench::new(), Bench::new());
    many(&killed);
    many(&whole);
    whole.import(&[]);
    for wanted in [1, 40, 90] {
        let mut child = killed
            .env
            .command(env!("CARGO_BIN_EXE_tow"))
            .arg("import")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let home = DataFolder::at(killed.env.data_dir());
        let seen = wait::holds_within(Duration::from_secs(60), || {
            let archive = Archive::read(&home, Duration::from_secs(2)).ok().flatten();
            let found = archive.and_then(|archive| archive.latest_conversations(None, 1000).ok());
            found.is_some_and(|found| found.len() >= wanted) || child.try_wait().unwrap().is_some()
        });
        assert!(seen);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    killed.import(&[]);
    assert!(killed.told() == whole.told());
}

#[test]
fn a_transcript_is_the_truth_about_its_session() {
    let bench = Bench::new();
    let id = bench.transcript("/srv/app");
    let sample = SampleDatabase::throughline(&bench.throughline(), 12).unwrap();
    work_in(&sample, &id, "/srv/app");
    say(&sample, &id, (1, "user"), "said otherwise");
    sample.close().unwrap();
    let alone = bench.import(&["throughline"]);
    assert_eq!(alone["databases"][0]["sessions"]["has_transcript"], 1, "{alone}");
    let all = bench.import(&[]);
    assert_eq!(all["databases"][0]["sessions"]["known"], 1, "{all}");
    assert!(all["turns"].as_u64().unwrap() > 0);
    let told = bench.told();
    assert!(!told.contains("said otherwise"), "{told}");
    fs::remove_dir_all(bench.env.home().join(".claude")).unwrap();
    bench.import(&[]);
    assert_eq!(bench.told(), told, "also when the client has deleted it");
}

#[test]
fn what_claude_mem_observed_goes_beside_the_turns_that_the_archive_has() {
    let bench = Bench::new();
    let id = bench.transcript("/srv/app");
    bench.import(&["claude"]);
    let before = bench.told();
    let archive = bench.archive();
    let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
    let turns = archive.turns(&conversation, 0, u32::MAX).unwrap();
    let second = &turns[1];
    observed(&bench, &id, second.at.0 - 300).close().unwrap();
    let done = bench.import(&["claude-mem"]);
    assert_eq!(done["databases"][0]["sessions"]["noted"], 1, "{done}");
    assert_eq!((&done["databases"][0]["turns"], &done["databases"][0]["details"]), (&0.into(), &2.into()));
    let details = bench.archive().details(second).unwrap();
    let notes: Vec<_> = details.iter().rev().take(2).map(|detail| archive.content(detail).unwrap()).collect();
    assert_eq!(
        notes,
        [
            "[claude-mem summary 1]\nRequest: Mend it\n\nCompleted: The loop is right",
            "[claude-mem observation 1, bugfix] Off by one\nFacts:\n- n was 4"
        ]
    );
    let after = bench.told();
    assert!(before.lines().all(|line| after.contains(line)), "what was there stays");
    assert_eq!(bench.import(&["claude-mem"])["databases"][0]["sessions"]["known"], 1);
    assert_eq!(bench.told(), after);
}

#[test]
fn what_only_claude_mem_knows_becomes_a_conversation_that_says_so() {
    let bench = Bench::new();
    let sample = observed(&bench, GONE, AT);
    bench.import(&[]);
    sample.close().unwrap();
    let told = bench.told();
    insta::assert_snapshot!(told, @r#"
    == claude:11111111-aaaa-4bbb-8ccc-00000000gone in nowhere
    #1 Fix the loop — done: "[claude-mem summary 1] Request: Mend it. Completed: The loop is right"
       person: Fix the loop.
       agent: [claude-mem summary 1]
    Request: Mend it

    Completed: The loop is right
       .1 note : [claude-mem observation 1, bugfix] Off by one
    Facts:
    - n was 4
    "#);
    assert_eq!(bench.import(&[])["databases"][0]["sessions"]["known"], 1);
    assert_eq!(bench.told(), told);
}

#[test]
fn where_both_know_a_session_its_words_come_from_the_one_that_kept_them() {
    let bench = Bench::new();
    gone(&bench).close().unwrap();
    observed(&bench, GONE, AT + 2100).close().unwrap();
    bench.import(&[]);
    let told = bench.told();
    assert_eq!(told.matches("#").count(), 2, "{told}");
    assert!(told.contains("person: Fix the loop.\n   agent: It is fixed.\n"), "{told}");
    assert!(told.contains("note : [claude-mem observation 1, bugfix] Off by one"), "{told}");
    bench.import(&[]);
    assert_eq!(bench.told(), told);
}

#[test]
fn secrets_of_their_databases_are_in_no_byte_of_ours() {
    let bench = Bench::new();
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let hidden = |what: &str| format!("{what} {secret} \0\x1b[31m {}", "y ".repeat(400));
    let sample = gone(&bench);
    say(&sample, GONE, (6, "user"), &hidden("key"));
    say(&sample, GONE, (6, "assistant"), &hidden("yours is"));
    say(&sample, GONE, (8, "user"), &format!("<private>{}</private>", hidden("mine")));
    say(&sample, GONE, (8, "assistant"), "ordinary words that belong to it");
    work_in(&sample, "other", &format!("/srv/{secret}"));
    say(&sample, "other", (1, "user"), "hello");
    say(&sample, &secret, (1, "user"), "hello");
    let whose = [("session_id", cell(GONE)), ("origin_session_id", cell(GONE)), ("turn_number", 6.into())];
    for kind in ["tool_input", "tool_output", "thinking", "system", "image", &secret] {
        let row = [
            ("kind", cell(kind)),
            ("tool_name", cell(&secret)),
            ("source_id", cell(&format!("{secret}{kind}"))),
            ("input_text", cell(&hidden("in"))),
            ("output_text", cell(&hidden("out"))),
            ("created_at", AT.into()),
        ];
        sample.add("details", &[&whose[..], &row].concat()).unwrap();
    }
    let line = [("role", cell(&secret)), ("summary", cell(&hidden("sum"))), ("created_at", AT.into())];
    sample.add("skeletons", &[&whose[..], &line].concat()).unwrap();
    let memory = observed(&bench, "33333333-aaaa", AT);
    let observation = ["memory_session_id", "type", "project", "created_at"].map(|name| (name, cell("m1")));
    let texts = ["title", "subtitle", "narrative", "text", "facts", "concepts", "files_read"];
    let texts = texts.map(|name| (name, cell(&hidden("observed"))));
    memory
        .add("observations", &[&observation[..], &texts, &[("created_at_epoch", AT.into())]].concat())
        .unwrap();
    bench.import(&[]);
    let told = bench.told();
    assert!(told.matches("[redacted:").count() > 10 && told.contains("(private)"), "{told}");
    assert!(!told.contains("ordinary words that belong to it"));
    let needle = "A1b2A1b2";
    assert!(!told.contains(needle), "{told}");
    bench.env.wait_no_process();
    for (path, bytes) in files(&bench.env.data_dir()) {
        assert!(!bytes.windows(needle.len()).any(|part| part == needle.as_bytes()), "{}", path.display());
    }
}

#[test]
fn nothing_is_taken_that_is_older_or_of_another_project() {
    let bench = Bench::new();
    let sample = gone(&bench);
    work_in(&sample, "elsewhere", "/srv/site");
    say(&sample, "elsewhere", (1, "user"), "build the site");
    sample.close().unwrap();
    observed(&bench, "44444444-aaaa", AT).close().unwrap();
    let counts = |done: &Value| {
        let of = |index: usize, name: &str| done["databases"][index]["sessions"][name].as_u64().unwrap_or(0);
        [of(0, "taken"), of(0, "not_asked"), of(1, "taken"), of(1, "not_asked")]
    };
    assert_eq!(counts(&bench.import(&["--dry-run", "--since", "2026-11-03"])), [0, 2, 0, 1]);
    assert_eq!(counts(&bench.import(&["--dry-run", "--since", "30d ago"])), [2, 0, 1, 0]);
    assert_eq!(counts(&bench.import(&["--dry-run", "--project", "site"])), [1, 1, 0, 1]);
    assert_eq!(counts(&bench.import(&["--dry-run", "--project", "/srv/app"])), [1, 1, 1, 0]);
    assert!(!bench.env.data_dir().exists(), "a dry run keeps nothing");
    bench.import(&["--project", "site"]);
    assert!(bench.told().contains("build the site") && !bench.told().contains("Fix the loop."));
    bench.env.tow(&["import", "--since", "whenever"]).exits(2).complains("`whenever` is not a time");
}

#[test]
fn transcripts_of_other_projects_and_older_ones_are_passed_over_without_a_trace() {
    let bench = Bench::new();
    bench.transcript("/srv/app");
    assert_eq!(bench.import(&["--project", "site"])["turns"], 0);
    assert_eq!(bench.told(), "");
    bench.env.set_now(AT + 10_000 * DAY);
    assert_eq!(bench.import(&["--dry-run", "--since", "2h ago"])["files"], 0, "its file is older than that");
    bench.env.unset("TOWLINE_NOW");
    assert_eq!(bench.import(&["--dry-run", "--since", "2h ago"])["files"], 1);
    assert!(bench.import(&["--project", "app"])["turns"].as_u64().unwrap() > 0);
    let known = bench.told();
    let path = files(&bench.env.home().join(".claude")).into_keys().next().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}", text.replace("\"uuid\":\"", "\"uuid\":\"f"))).unwrap();
    assert_eq!(bench.import(&["--project", "site"])["bytes"], 0, "also not what it has grown by");
    assert_eq!(bench.told(), known);
}

#[test]
fn excluded_projects_are_passed_over_and_so_is_what_may_be_in_one() {
    let bench = Bench::new();
    gone(&bench).close().unwrap();
    observed(&bench, "44444444-aaaa", AT).close().unwrap();
    let exclude = |folder: &str| {
        bench.env.tow(&["config", "set", "privacy.exclude_projects", &format!("[{folder:?}]")]).ok();
    };
    exclude("/srv/app");
    for more in [&[][..], &["--project", "app"]] {
        let done = bench.import(more);
        assert_eq!(done["databases"][0]["sessions"]["excluded"], 1, "{done}");
        assert_eq!(done["databases"][1]["sessions"]["excluded"], 1, "by its name: {done}");
    }
    exclude("/srv");
    let done = bench.import(&[]);
    assert_eq!(done["databases"][0]["sessions"]["excluded"], 1, "{done}");
    assert_eq!(done["databases"][1]["sessions"]["perhaps_excluded"], 1, "its folder is not told: {done}");
    assert_eq!(bench.told(), "");
    exclude("/home/me/diary");
    let asked = bench.import(&["--project", "app"]);
    assert_eq!(asked["databases"][1]["sessions"]["taken"], 1, "{asked}");
    assert!(bench.told().contains("Off by one"));
}

#[test]
fn a_database_that_cannot_be_read_is_named_and_stops_nothing_else() {
    let bench = Bench::new();
    fs::write(bench.throughline(), vec![b'x'; 9000]).unwrap();
    observed(&bench, GONE, AT).close().unwrap();
    let done = bench.import(&[]);
    let problem = done["databases"][0]["problem"].as_str().unwrap();
    assert!(problem.ends_with(".throughline/throughline.db is not a database"), "{problem}");
    assert_eq!(done["databases"][1]["turns"], 1);
    let run = bench.env.tow(&["import", "throughline"]).exits(1);
    let run = run
        .prints("throughline.db is not a database")
        .prints("then run `tow data import throughline` again.");
    drop(run);
    fs::remove_file(bench.throughline()).unwrap();
    bench.env.tow(&["import", "throughline"]).exits(2).complains("there is no database of throughline at");
    bench
        .env
        .tow(&["import", "nothing"])
        .exits(2)
        .complains("claude, codex, qwen, gemini, copilot, opencode, kilo, cline, droid, grok, kimi, pi, vibe, throughline, claude-mem");
}

#[test]
fn a_person_is_told_what_was_taken_and_what_was_left() {
    let bench = Bench::new();
    let sample = gone(&bench);
    say(&sample, "../x", (1, "user"), "hello");
    say(&sample, "grok:1", (1, "user"), "hello");
    sample
        .add(
            "handoff_batons",
            &[("project_path", cell("/srv/app")), ("session_id", cell(GONE)), ("created_at", 1.into())],
        )
        .unwrap();
    sample.add_unknown("novelty").unwrap();
    sample.close().unwrap();
    let shown =
        |args: &[&str]| bench.env.tow(args).ok().stdout.replace(&bench.env.home().display().to_string(), "~");
    insta::assert_snapshot!(shown(&["import", "--dry-run"]), @"
    throughline, ~/.throughline/throughline.db (schema 12): would take 2 turns from 6 rows
      1 session of which the archive had nothing
      1 session of agents that are not known
      handoff_batons: 1 row left alone, its own handing over
      novelty: 1 row not understood
      bodies: 1 row not taken, no valid session id
    ");
    insta::assert_snapshot!(shown(&["import"]), @"
    throughline, ~/.throughline/throughline.db (schema 12): 2 turns, 4 messages, 1 tool inputs and outputs
      1 session of which the archive had nothing
      1 session of agents that are not known
      handoff_batons: 1 row left alone, its own handing over
      novelty: 1 row not understood
      bodies: 1 row not taken, no valid session id
    ");
}

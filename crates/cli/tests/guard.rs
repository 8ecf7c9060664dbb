//! The guard by the binary alone: recorded payloads, transcripts made for the purpose, and a clock that stands still.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::id::SessionKey;
use towline_core::meter::UsageSource;
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::journal::unsealed_bytes;
use towline_store::{DataFolder, Store};
use towline_testkit::{Run, TestEnv, wait};

const NOON: i64 = 1_800_000_000_000;
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// A session of an agent whose transcript says what the test wants.
struct Desk {
    env: TestEnv,
    agent: &'static str,
    now: std::cell::Cell<i64>,
}

impl Desk {
    fn new(agent: &'static str) -> Desk {
        Desk::at(agent, NOON)
    }

    /// With the real time: the background work removes small files that are a month old, by their own times.
    fn today(agent: &'static str) -> Desk {
        Desk::at(agent, UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap())
    }

    fn at(agent: &'static str, now: i64) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let desk = Desk { env, agent, now: std::cell::Cell::new(now) };
        desk.does("SessionStart", json!({"source": "startup"}));
        desk
    }

    fn configure(&self, text: &str) {
        let folder = self.env.home().join(".config/towline");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn transcript(&self) -> PathBuf {
        self.env.root().join("transcript.jsonl")
    }

    /// The next event happens a second later.
    fn tick(&self) {
        self.now.set(self.now.get() + 1000);
        self.env.set_now(self.now.get());
    }

    /// Half a second from now.
    fn written_at(&self) -> String {
        Timestamp(self.now.get() + 500).to_utc()
    }

    /// The newest answer was given to so many tokens.
    fn holds(&self, tokens: u64) {
        self.writes(&self.newest(tokens));
    }

    /// The line of such an answer.
    fn newest(&self, tokens: u64) -> Value {
        match self.agent {
            "claude" => {
                json!({"type": "assistant", "isSidechain": false, "timestamp": self.written_at(),
                "message": {"id": "m", "model": "claude-sonnet-4-5", "content": [], "usage": {"input_tokens": 10,
                "cache_read_input_tokens": tokens - 10, "cache_creation_input_tokens": 0, "output_tokens": 500}}})
            }
            _ => {
                json!({"type": "event_msg", "timestamp": self.written_at(), "payload": {"type": "token_count",
                "info": {"last_token_usage": {"total_tokens": tokens}, "model_context_window": 200_000}}})
            }
        }
    }

    fn writes(&self, line: &Value) {
        use std::io::Write;
        let mut file = File::options().append(true).create(true).open(self.transcript()).unwrap();
        writeln!(file, "{line}").unwrap();
        // The file is as old as the clock of the test says.
        let now = UNIX_EPOCH + Duration::from_millis(self.now.get().unsigned_abs() + 500);
        file.set_modified(now).unwrap();
    }

    /// One event by the hook; what it answered.
    #[track_caller]
    fn does(&self, event: &str, fields: Value) -> Value {
        // Whoever tidies up in the background may hold the lock, and then the end of a turn waits for nobody.
        self.env.wait_no_process();
        self.tick();
        let mut payload = json!({"hook_event_name": event, "session_id": SESSION, "cwd": self.env.project(),
            "transcript_path": self.transcript()});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        answer(&self.env.hook(self.agent, payload.to_string()).ok())
    }

    #[track_caller]
    fn asks(&self) -> Value {
        self.does("UserPromptSubmit", json!({"prompt": "go on"}))
    }

    fn session(&self) -> Session {
        self.env.tow(&["work", "--quiet"]).ok();
        let store =
            Store::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(5)).unwrap().unwrap();
        let key = SessionKey::parse(&format!("{}:{SESSION}", self.agent)).unwrap();
        store.session(&key).unwrap().unwrap()
    }

    fn draws(&self, tokens: u64, window: u64) -> Run {
        self.tick();
        self.env.set("COLUMNS", "100");
        let mut command = self.env.command(env!("CARGO_BIN_EXE_tow"));
        Run::of(command.arg("statusline").env("NO_COLOR", "1"), display(&self.env, tokens, window).as_bytes())
            .ok()
    }
}

/// What the client sends its status line, as it was recorded, with other numbers.
fn display(env: &TestEnv, tokens: u64, window: u64) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/status/claude-2.1.325.json");
    let mut payload: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    payload["cwd"] = json!(env.project());
    payload["workspace"]["current_dir"] = json!(env.project());
    payload["context_window"]["context_window_size"] = json!(window);
    payload["context_window"]["current_usage"]["input_tokens"] = json!(tokens);
    payload.to_string()
}

fn answer(run: &Run) -> Value {
    if run.stdout.is_empty() { Value::Null } else { run.json() }
}

fn to_model(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("")
}

fn to_person(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or("")
}

#[test]
fn ctx_7_the_highest_threshold_is_said_to_model_and_person_with_the_next_prompt() {
    for agent in ["claude", "codex"] {
        let desk = Desk::new(agent);
        assert_eq!(desk.asks(), Value::Null, "nothing is known yet");
        desk.holds(110_000);
        let said = desk.asks();
        let words = "towline: the context is 55 % full. Handoff recommended.";
        assert_eq!((to_model(&said), to_person(&said)), (words, words), "{agent}");
        assert_eq!(said.get("decision"), None);
    }
}

#[test]
fn ctx_8_nothing_is_said_twice_and_the_next_threshold_is_news() {
    let desk = Desk::new("claude");
    desk.holds(84_000);
    assert!(to_model(&desk.asks()).contains("42 % full"));
    assert_eq!((desk.asks(), desk.does("Stop", json!({}))), (Value::Null, Value::Null));
    desk.holds(99_000);
    assert_eq!(desk.asks(), Value::Null);
    desk.holds(121_000);
    assert!(to_model(&desk.asks()).contains("60 % full"));
    assert_eq!(desk.session().meter.told.model, 60);
}

#[test]
fn ctx_4_the_end_of_a_turn_tells_the_person_and_blocks_nothing() {
    let desk = Desk::new("claude");
    desk.asks();
    desk.holds(150_000);
    let said = desk.does("Stop", json!({"stop_hook_active": false}));
    assert!(to_person(&said).contains("75 % full"), "{said}");
    assert_eq!((said.get("decision"), said.get("hookSpecificOutput")), (None, None));
    assert_eq!(desk.does("Stop", json!({"stop_hook_active": true})), Value::Null);
    // The model hears of it when it is asked again, and the person not twice.
    let said = desk.asks();
    assert!(to_model(&said).contains("75 % full") && to_person(&said).is_empty(), "{said}");
}

#[test]
fn ctx_9_a_long_turn_hears_of_it_at_the_end_of_a_round_of_tools() {
    let desk = Desk::new("claude");
    desk.asks();
    let tool = || desk.does("PostToolUse", json!({"tool_name": "Read"}));
    desk.holds(90_000);
    assert_eq!(tool(), Value::Null, "a single tool is not asked");
    let said = desk.does("PostToolBatch", json!({}));
    assert!(to_model(&said).contains("45 % full"), "{said}");
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PostToolBatch");
    assert_eq!(desk.does("PostToolBatch", json!({})), Value::Null);
}

#[test]
fn a_long_turn_of_an_agent_without_rounds_hears_of_it_with_a_tools_result() {
    let desk = Desk::new("codex");
    desk.asks();
    desk.holds(5_000);
    let answered =
        |tokens: u64| desk.does("PostModelRequest", json!({"token_usage": {"total_tokens": tokens}}));
    let tool = || desk.does("PostToolUse", json!({"tool_name": "Bash"}));
    assert_eq!((answered(10_000), tool()), (Value::Null, Value::Null));
    assert_eq!(answered(130_000), Value::Null);
    let said = tool();
    assert!(to_model(&said).contains("65 % full"), "{said}");
    assert_eq!((answered(132_000), tool()), (Value::Null, Value::Null));
    assert_eq!(desk.session().meter.fill().unwrap().source, UsageSource::Hook);
}

#[test]
fn ctx_10_a_compaction_resets_and_is_remembered() {
    let desk = Desk::new("claude");
    desk.holds(150_000);
    assert!(to_model(&desk.asks()).contains("75 %"));
    desk.does("PreCompact", json!({"trigger": "manual"}));
    // Clients write the boundary down with the next prompt only.
    desk.does("PostCompact", json!({"trigger": "manual"}));
    let session = desk.session();
    assert_eq!((session.meter.last, session.meter.compacted_percent), (None, Some(75)));
    assert_eq!(desk.asks(), Value::Null);
    assert_eq!(desk.session().meter.last, None);
    desk.holds(90_000);
    let said = desk.does("PostToolBatch", json!({}));
    assert!(to_model(&said).contains("45 %"), "also within a turn: {said}");
    desk.holds(150_000);
    assert!(to_model(&desk.asks()).contains("75 %"), "it is a new crossing");
}

#[test]
fn a_share_that_fell_back_is_news_when_it_rises_again() {
    let desk = Desk::new("claude");
    for (tokens, is_said) in
        [(110_000, true), (60_000, false), (110_000, true), (98_000, false), (104_000, false)]
    {
        desk.holds(tokens);
        assert_eq!(!to_model(&desk.asks()).is_empty(), is_said, "{tokens}");
    }
}

#[test]
fn helpers_errors_and_interruptions_say_nothing_about_the_context() {
    let desk = Desk::new("claude");
    desk.holds(10_000);
    let usage = json!({"input_tokens": 190_000});
    let message = json!({"model": "claude-sonnet-4-5", "usage": usage});
    desk.writes(&json!({"type": "assistant", "isSidechain": true, "message": message}));
    desk.writes(&json!({"type": "assistant", "isApiErrorMessage": true, "message": message}));
    assert_eq!(desk.asks(), Value::Null);
    desk.holds(150_000);
    let inside = json!({"agent_id": "helper-1", "agent_type": "general-purpose", "tool_name": "Read"});
    assert_eq!(desk.does("PostToolUse", inside.clone()), Value::Null, "the helper has a context of its own");
    assert_eq!(desk.does("PostToolBatch", inside), Value::Null);
}

#[test]
fn tav_36_a_new_helper_is_refused_above_the_limit_and_only_there() {
    let desk = Desk::new("claude");
    desk.asks();
    let wanted = |tool: &str| desk.does("PreToolUse", json!({"tool_name": tool, "tool_use_id": "t"}));
    desk.holds(168_000);
    assert_eq!(wanted("Agent"), Value::Null);
    desk.holds(172_000);
    for tool in ["Agent", "Task"] {
        let specific = wanted(tool)["hookSpecificOutput"].clone();
        assert_eq!(specific["permissionDecision"], "deny", "{tool}");
        let reason = specific["permissionDecisionReason"].as_str().unwrap();
        assert!(
            reason.contains("86 % full") && reason.contains("85 %") && reason.contains("compact"),
            "{reason}"
        );
    }
    assert_eq!(wanted("Read"), Value::Null);
    desk.configure("[guard]\nrefuse_helpers_at = 0\n");
    assert_eq!(wanted("Agent"), Value::Null);
}

#[test]
fn codex_is_refused_a_helper_too() {
    let desk = Desk::new("codex");
    desk.asks();
    desk.holds(172_000);
    let said = desk.does("PreToolUse", json!({"tool_name": "spawn_agent", "tool_use_id": "t"}));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(desk.does("PreToolUse", json!({"tool_name": "Bash"})), Value::Null);
}

#[test]
fn ctx_1_ctx_2_strategy_thresholds_and_messages_are_the_users() {
    let desk = Desk::new("claude");
    desk.configure(
        "[guard.thresholds]\n30 = 'At {percent} with {remaining} left in {session}.'\n[guard]\nstrategy = 'handoff'\n",
    );
    desk.holds(70_000);
    let words = format!("towline: the context is 35 % full. At 35 with 130000 left in claude:{SESSION}.");
    assert_eq!(to_model(&desk.asks()), words);

    let desk = Desk::new("claude");
    desk.configure("[guard]\nstrategy = 'off'\n");
    desk.holds(180_000);
    assert_eq!((desk.asks(), desk.does("PostToolBatch", json!({}))), (Value::Null, Value::Null));
    assert_eq!(desk.does("PreToolUse", json!({"tool_name": "Agent"})), Value::Null);
    assert_eq!(desk.session().meter.fill().unwrap().percent(), 90, "it is measured all the same");
}

#[test]
fn ctx_5_without_a_transcript_nothing_is_said() {
    let desk = Desk::new("claude");
    assert_eq!((desk.asks(), desk.does("Stop", json!({}))), (Value::Null, Value::Null));
    assert_eq!(desk.does("PreToolUse", json!({"tool_name": "Agent"})), Value::Null);
    fs::write(desk.transcript(), "no JSON at all\n{\"type\":").unwrap();
    assert_eq!(desk.asks(), Value::Null);
}

#[test]
fn a_transcript_that_was_made_after_the_end_of_its_first_turn_was_not_measured() {
    let desk = Desk::new("claude");
    desk.env.wait_no_process();
    let payload = json!({"hook_event_name": "Stop", "session_id": SESSION, "cwd": desk.env.project(),
        "transcript_path": desk.transcript(), "last_assistant_message": "ANSWER-1"})
    .to_string();
    let home = DataFolder::at(desk.env.data_dir());
    let before = unsealed_bytes(&home);
    let said = std::thread::scope(|scope| {
        let hook = scope.spawn(|| answer(&desk.env.hook("claude", &payload).ok()));
        wait::until("the hook to record the end of the turn", wait::PATIENCE, || {
            (unsealed_bytes(&home) != before).then_some(())
        });
        let mut line = desk.newest(90_000);
        line["message"]["content"] = json!([{"type": "text", "text": "ANSWER-1"}]);
        desk.writes(&line);
        hook.join().unwrap()
    });
    assert!(to_person(&said).contains("45 % full"), "{said}");
}

/// Each end of a turn of such a session waited half a second.
#[test]
fn a_transcript_that_never_comes_is_awaited_once() {
    let desk = Desk::today("claude");
    let mark = desk.env.data_dir().join(format!("unwritten/claude.{SESSION}"));
    let end = json!({"last_assistant_message": "ANSWER-1"});
    desk.does("Stop", end.clone());
    assert!(mark.exists());
    let first = fs::metadata(&mark).unwrap().modified().unwrap();
    desk.does("Stop", end);
    assert_eq!(fs::metadata(&mark).unwrap().modified().unwrap(), first, "it did not wait again");
}

#[test]
fn parallel_hooks_say_it_once() {
    let desk = Desk::new("claude");
    desk.asks();
    desk.holds(150_000);
    desk.tick();
    let payload =
        json!({"hook_event_name": "PostToolBatch", "session_id": SESSION, "cwd": desk.env.project(),
        "transcript_path": desk.transcript()})
        .to_string();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let hooks: Vec<_> =
            (0..8).map(|_| scope.spawn(|| answer(&desk.env.hook("claude", &payload).ok()))).collect();
        hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
    });
    let said = answers.iter().filter(|answer| !to_model(answer).is_empty()).count();
    assert_eq!(said, 1, "{answers:?}");
    let (_, to) = (desk.session(), desk.session().meter.told);
    assert_eq!((to.model, to.person), (70, 70));
}

#[test]
fn ctx_10_the_clients_own_numbers_come_by_its_status_line_and_only_when_they_change() {
    let desk = Desk::today("claude");
    desk.asks();
    let journal =
        || fs::metadata(DataFolder::at(desk.env.data_dir()).journal().join("active")).unwrap().len();
    let before = journal();
    desk.draws(150_000, 1_000_000).prints("Opus 5.5  ▓▓░░░░░░░░ 15%  ");
    let after = journal();
    assert!(after > before);
    desk.draws(150_000, 1_000_000).prints("15%");
    assert_eq!(journal(), after, "nothing is new");
    desk.draws(550_000, 1_000_000).prints("55%");
    assert!(journal() > after);
    // Its own window stands, though the transcript's model would have another.
    desk.holds(560_000);
    let said = desk.does("PostToolUse", json!({"tool_name": "Read"}));
    assert!(to_model(&said).contains("56 % full"), "the next tool's end says it: {said}");
    assert_eq!(desk.session().meter.fill().unwrap().window, 1_000_000);
}

#[test]
fn a_line_of_the_users_own_is_drawn_whatever_happens() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let draw = |stdin: &str, arguments: &[&str]| {
        let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
        Run::of(command.arg("statusline").args(arguments), stdin.as_bytes()).ok().stdout
    };
    let theirs = ["--over", "read -r line; printf 'theirs: %.5s' \"$line\" | tr t T"];
    for broken in ["", "{", "{}", "[]", "\u{0}"] {
        assert!(draw(broken, &theirs).starts_with("Theirs: "), "{broken:?}");
    }
    let both = draw(&display(&env, 100_000, 200_000).replace('\n', ""), &theirs);
    assert!(both.starts_with("Theirs: {\"con\n") && both.contains("50%"), "{both}");
    assert_eq!(draw("{}", &["--over", "exit 3"]), "");
    assert_eq!(draw("{}", &["--over", "no-such-program"]), "");
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "[statusline]\ncommand = 'echo set'\nown = false\n").unwrap();
    assert_eq!(draw(&display(&env, 100_000, 200_000), &[]), "set\n");
}

#[test]
fn a_line_that_leaves_somebody_behind_or_never_ends_is_not_waited_for() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["statusline", "--over", "echo first; sleep 600 & exit 0"]);
    assert_eq!(Run::of(&mut command, b"{}").ok().stdout, "first\n");
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["statusline", "--over", "exec sleep 600"]);
    let drawn = Run::of(&mut command, display(&env, 100_000, 200_000).as_bytes()).ok().stdout;
    assert!(drawn.contains("50%"), "{drawn}");
    for process in env.processes().iter().filter(|process| process.command.contains("sleep 600")) {
        env.command("kill").arg(process.pid.to_string()).status().unwrap();
    }
}

#[test]
fn a_folder_that_is_excluded_leaves_no_number() {
    let desk = Desk::new("claude");
    desk.configure(&format!("[privacy]\nexclude_projects = ['{}']\n", desk.env.project().display()));
    let journal =
        || fs::metadata(DataFolder::at(desk.env.data_dir()).journal().join("active")).unwrap().len();
    let before = journal();
    desk.draws(150_000, 200_000).prints("75%");
    assert_eq!(journal(), before);
}

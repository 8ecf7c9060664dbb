//! Being told that an agent changed: the user's commands at once, the desktop and the phone of what stays unseen.
//!
//! The agent is a shell under the agent's name that lives as long as its test, in an editor's window: a seat of its own.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::journal::{self, JournalRecord};
use towline_testkit::{Run, TestEnv, Tmux, wait};

const NOON: i64 = 1_800_000_000_000;

/// Writes its arguments down, each in brackets, one call per line and in one write.
const LOGGER: &str = r#"#!/bin/bash
line="$(basename "$0")"; for word in "$@"; do line="$line <$word>"; done
printf '%s\n' "$line" >> "$HOME/calls"
"#;

/// Does not come back by itself.
const HANGER: &str = "#!/bin/bash\nprintf 'hanger\\n' >> \"$HOME/calls\"\nexec sleep 600\n";

fn env(notify: &str) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    for name in ["log-a", "log-b", "notify-send", "phone"] {
        env.script(name, LOGGER);
    }
    configure(&env, notify);
    env
}

fn configure(env: &TestEnv, notify: &str) {
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), format!("[notify]\n{notify}\n")).unwrap();
}

/// An agent that sits somewhere and does as it is told.
struct Agent<'a> {
    env: &'a TestEnv,
    session: String,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    payloads: Cell<u32>,
}

impl<'a> Agent<'a> {
    fn sits(env: &'a TestEnv, session: &str) -> Agent<'a> {
        let mut shell = env.command("claude");
        shell.arg("-s").env("CLAUDE_CODE_ENTRYPOINT", "claude-vscode");
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let session = session.to_owned();
        let mut agent = Agent { env, session, child, orders, answers, payloads: Cell::new(0) };
        agent.does("SessionStart", json!({"source": "startup"}));
        agent
    }

    /// One event by the real hook, at the time that the environment says. What the hook answered.
    #[track_caller]
    fn does(&mut self, event: &str, fields: Value) -> String {
        let mut payload =
            json!({"hook_event_name": event, "session_id": self.session, "cwd": self.env.project()});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.payloads.set(self.payloads.get() + 1);
        let file = self.env.root().join(format!("{}-{}.json", self.session, self.payloads.get()));
        fs::write(&file, payload.to_string()).unwrap();
        let now = self
            .env
            .variables()
            .get("TOWLINE_NOW")
            .map_or(String::new(), |now| format!("TOWLINE_NOW={now} "));
        writeln!(self.orders, "{now}tow hook claude < {}; echo; echo done", file.display()).unwrap();
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the agent is gone");
            if line == "done\n" {
                return said.trim_end().to_owned();
            }
            said.push_str(&line);
        }
    }

    fn is_asked(&mut self, prompt: &str) {
        self.does("UserPromptSubmit", json!({"prompt": prompt}));
    }

    fn wants_permission(&mut self) -> String {
        self.does("PermissionRequest", json!({"tool_name": "Bash"}))
    }

    fn gets_permission(&mut self) {
        self.does("PostToolUse", json!({"tool_name": "Bash"}));
    }

    fn completes(&mut self) {
        self.is_asked("go on");
        self.does("Stop", json!({}));
    }
}

impl Drop for Agent<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn calls(env: &TestEnv) -> Vec<String> {
    let text = fs::read_to_string(env.home().join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until so many calls were made; programs that nobody waits for come in no order.
#[track_caller]
fn wait_calls(env: &TestEnv, expected: &[&str]) {
    let mut expected: Vec<String> = expected.iter().map(|call| (*call).to_owned()).collect();
    expected.sort();
    wait::until_evident(&format!("{expected:#?}"), wait::PATIENCE, || {
        let mut found = calls(env);
        found.sort();
        if found == expected { Ok(()) } else { Err(format!("{found:#?}")) }
    });
}

fn alerts(env: &TestEnv) -> Vec<u32> {
    let alerts = env.processes().into_iter().filter(|process| process.command.ends_with("tow alert"));
    alerts.map(|process| process.pid).collect()
}

#[track_caller]
fn wait_alerts(env: &TestEnv, count: usize) -> Vec<u32> {
    wait::until_evident(&format!("{count} alerts"), wait::PATIENCE, || {
        let found = alerts(env);
        if found.len() == count { Ok(found) } else { Err(format!("{:#?}", env.processes())) }
    })
}

/// Somebody looks at the seat of this session.
fn see(env: &TestEnv, session: &str) {
    let at = Timestamp(NOON);
    let event = Event {
        uid: Uid::v7(at, *b"somebody's"),
        at,
        session: SessionKey::parse(&format!("claude:{session}")).unwrap(),
        subagent: None,
        turn: None,
        happening: EventKind::Seen,
        scene: None,
    };
    journal::append(&DataFolder::at(env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
}

// TRK-22
#[test]
fn commands_get_each_value_as_one_word_whatever_is_in_it() {
    let env = env(
        "on_working = ['log-a', '{from}', '{to}', '{session}', '-p{project}', '{prompt}', '{reason}', '']",
    );
    env.git(&["checkout", "-q", "-b", "$(touch-x)"]);
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("-n 'a' \"b\" $(touch pwned) `touch pwned`\n{to} 漢字 \u{1b}[31m; * \\");
    let said = "-n 'a' \"b\" $(touch pwned) `touch pwned` {to} 漢字 [31m; * \\";
    wait_calls(&env, &[&format!("log-a <idle> <working> <claude:s1> <-pproject> <{said}> <> <>")]);
    assert!(!env.project().join("pwned").exists() && !env.home().join("pwned").exists());
}

// TRK-22
#[test]
fn the_same_values_are_in_variables_and_the_guard_is_set() {
    let env = env("on_blocked = ['variables']");
    env.script(
        "variables",
        "#!/bin/bash\nprintf '%s|' \"$TOWLINE_FROM\" \"$TOWLINE_TO\" \"$TOWLINE_REASON\" \"$TOWLINE_SUMMARY\" \
         \"$TOWLINE_CHILD\" \"$PWD\" > \"$HOME/got\"; mv \"$HOME/got\" \"$HOME/calls\"\n",
    );
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("build it");
    agent.wants_permission();
    wait_calls(
        &env,
        &["working|blocked|permission|claude in project/main: blocked (permission): build it|1|/|"],
    );
}

// TRK-22
#[test]
fn a_change_runs_its_own_command_and_the_catch_all_and_no_change_runs_nothing() {
    let env = env(
        "on_working = ['log-a', '{to}']\non_ended = ['log-a', '{to}']\non_transition = ['log-b', '{from}>{to}']",
    );
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("one");
    agent.gets_permission();
    agent.is_asked("two");
    agent.does("SessionEnd", json!({"reason": "other"}));
    agent.does("Stop", json!({}));
    wait_calls(&env, &["log-a <working>", "log-a <ended>", "log-b <idle>working>", "log-b <working>ended>"]);
}

// TRK-22
#[test]
fn a_look_at_a_finished_session_ran_no_transition_command() {
    let env = env("on_completed = ['log-a', '{to}']\non_transition = ['log-b', '{from}>{to}', '{state}']");
    env.set_now(NOON);
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    see(&env, "s1");
    env.tow(&["status"]).ok();
    let changes =
        ["log-a <completed>", "log-b <idle>working> <working>", "log-b <working>completed> <completed>"];
    wait_calls(&env, &[&changes[..], &["log-b <completed>seen> <seen>"]].concat());
}

#[test]
fn headless_sessions_and_muted_projects_run_nothing_and_nobody_without_configuration_pays() {
    let env = env("on_transition = ['log-a', '{session}']\ndesktop_after_s = 0\nmute_projects = ['project']");
    let mut agent = Agent::sits(&env, "muted");
    agent.completes();
    let prompt = r#"{"hook_event_name":"UserPromptSubmit","prompt":"p","session_id":"headless","cwd":"/"}"#;
    env.hook("claude", prompt).ok();
    assert!(!env.data_dir().join("told").exists());
    configure(&env, "on_transition = ['log-a', '{session}']");
    agent.is_asked("more");
    wait_calls(&env, &["log-a <claude:muted>"]);
    configure(&env, "");
    fs::remove_dir_all(env.data_dir().join("told")).unwrap();
    agent.does("Stop", json!({}));
    assert!(!env.data_dir().join("told").exists() && calls(&env).len() == 1);
}

#[test]
fn the_same_state_within_a_moment_is_not_told_again_but_every_change_is_followed() {
    let env = env(
        "states = ['blocked']\nterminal = 'bell'\non_blocked = ['log-a', '{to}']\non_transition = ['log-b', '{to}']",
    );
    let bell = json!({"terminalSequence": "\u{7}"}).to_string();
    let at = |ms: i64| env.set_now(NOON + ms);
    at(0);
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("one");
    at(1_000);
    assert_eq!(agent.wants_permission(), bell);
    at(1_500);
    agent.gets_permission();
    at(2_500);
    assert_eq!(agent.wants_permission(), "");
    at(8_000);
    agent.gets_permission();
    at(9_000);
    assert_eq!(agent.wants_permission(), bell);
    let followed =
        ["working", "blocked", "working", "blocked", "working", "blocked"].map(|to| format!("log-b <{to}>"));
    let mut expected: Vec<&str> = followed.iter().map(String::as_str).collect();
    expected.extend(["log-a <blocked>", "log-a <blocked>"]);
    wait_calls(&env, &expected);
}

#[test]
fn a_marker_and_its_answer_are_followed_and_told_to_nobody() {
    let env = env(
        "states = ['completed']\nterminal = 'bell'\non_completed = ['log-a', '{to}']\non_working = ['log-a', '{to}']\n\
         on_transition = ['log-b', '{to}']\ndesktop_after_s = 3600",
    );
    let bell = json!({"terminalSequence": "\u{7}"}).to_string();
    let at = |ms: i64| env.set_now(NOON + ms);
    at(0);
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("one");
    at(10_000);
    assert_eq!(agent.does("Stop", json!({})), bell);
    at(20_000);
    agent.is_asked("·");
    at(30_000);
    assert_eq!(agent.does("Stop", json!({})), "");
    let followed = ["log-a <working>", "log-b <working>", "log-a <completed>", "log-b <completed>"];
    wait_calls(&env, &[followed.as_slice(), &["log-b <working>", "log-b <completed>"]].concat());
    wait_alerts(&env, 1);
    configure(&env, "desktop_after_s = 0\nstates = ['completed']");
    env.tow(&["bar", "--refresh"]).ok();
    let told =
        "notify-send <--app-name=Towline> <--urgency=normal> <--> <project: completed> <claude · main · one>";
    wait::until("what was finished before it is told still", wait::PATIENCE, || {
        calls(&env).iter().any(|call| call == told).then_some(())
    });
}

#[test]
fn a_command_that_hangs_or_is_missing_does_not_hold_the_hook_up() {
    let env = env("on_working = ['hanger']\non_completed = ['no-such-program', '{prompt}']");
    env.script("hanger", HANGER);
    let mut agent = Agent::sits(&env, "s1");
    agent.is_asked("one");
    wait_calls(&env, &["hanger"]);
    agent.does("Stop", json!({}));
    assert!(env.processes().iter().any(|process| process.command.starts_with("sleep 600")));
    env.tow(&["work", "--quiet"]).ok();
    let report = env.tow(&["doctor"]);
    report.prints("fault: notify").prints("`notify.on_completed` could not start `no-such-program`");
}

#[test]
fn what_stays_unseen_is_told_to_desktop_and_phone_in_time_and_what_was_seen_is_not() {
    let env = env(
        "desktop_after_s = 2\nphone_after_s = 3\nphone = ['phone', '{state}', '{summary}']\nstates = ['completed', 'blocked']",
    );
    let mut looked_at = Agent::sits(&env, "looked-at");
    let mut unseen = Agent::sits(&env, "unseen");
    let mut blocked = Agent::sits(&env, "blocked");
    looked_at.completes();
    see(&env, "looked-at");
    unseen.is_asked("-tests & <b>");
    unseen.does("Stop", json!({}));
    blocked.is_asked("rm");
    blocked.wants_permission();
    let send = "notify-send <--app-name=Towline> <--urgency=";
    wait_calls(
        &env,
        &[
            &format!("{send}normal> <--> <project: completed> <claude · main · -tests &amp; &lt;b&gt;>"),
            &format!("{send}critical> <--> <project: blocked (permission)> <claude · main · rm>"),
            "phone <completed> <claude in project/main: completed: -tests & <b>>",
            "phone <blocked> <claude in project/main: blocked (permission): rm>",
        ],
    );
    wait_alerts(&env, 0);
    assert_eq!(calls(&env).len(), 4);
}

#[test]
fn one_alert_serves_all_seats_and_hears_of_a_new_one() {
    let env = env("desktop_after_s = 3600");
    let mut first = Agent::sits(&env, "first");
    let mut second = Agent::sits(&env, "second");
    first.completes();
    let alone = wait_alerts(&env, 1);
    second.completes();
    assert_eq!(wait_alerts(&env, 1), alone);
    configure(&env, "desktop_after_s = 0");
    let mut third = Agent::sits(&env, "third");
    third.completes();
    wait::until("three notifications", wait::PATIENCE, || (calls(&env).len() == 3).then_some(()));
    wait_alerts(&env, 0);
    assert_eq!(calls(&env).len(), 3);
}

#[test]
fn an_alert_that_was_killed_is_made_up_for_and_nothing_is_told_twice() {
    let env = env("desktop_after_s = 3600");
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    let pid = wait_alerts(&env, 1)[0].to_string();
    Run::of(env.command("kill").args(["-9", &pid]), b"").ok();
    wait_alerts(&env, 0);
    configure(&env, "desktop_after_s = 0");
    env.tow(&["bar", "--refresh"]).ok();
    wait::until("the notification", wait::PATIENCE, || (calls(&env).len() == 1).then_some(()));
    wait_alerts(&env, 0);
    env.tow(&["bar", "--refresh"]).ok();
    env.tow(&["alert"]).ok();
    wait_alerts(&env, 0);
    assert_eq!(calls(&env).len(), 1);
}

#[test]
fn a_clock_that_is_held_still_does_not_hold_up_what_is_due() {
    let env = env("desktop_after_s = 1");
    env.set_now(NOON);
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    wait::until("the notification", wait::PATIENCE, || (calls(&env).len() == 1).then_some(()));
    wait_alerts(&env, 0);
}

#[test]
fn an_agent_that_is_gone_is_not_told_of() {
    let env = env("desktop_after_s = 3600");
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    wait_alerts(&env, 1);
    drop(agent);
    configure(&env, "desktop_after_s = 0");
    let mut other = Agent::sits(&env, "s2");
    other.is_asked("p");
    other.wants_permission();
    // One alert may end before the next one begins: what is to come is waited for first.
    wait::until("the notification", wait::PATIENCE, || (!calls(&env).is_empty()).then_some(()));
    wait_alerts(&env, 0);
    assert_eq!(calls(&env).len(), 1, "{:?}", calls(&env));
}

#[test]
fn without_a_program_for_the_desktop_the_doctor_says_so() {
    let env = env("desktop_after_s = 0");
    fs::remove_file(env.root().join("bin/notify-send")).unwrap();
    env.set("PATH", env.root().join("bin").display().to_string());
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    wait::until_evident("the fault", wait::PATIENCE, || {
        env.tow(&["work", "--quiet"]).ok();
        let report = env.tow(&["doctor"]).stdout;
        if report.contains("neither notify-send nor osascript is on the PATH") { Ok(()) } else { Err(report) }
    });
    env.tow(&["notify"]).exits(1).prints("neither notify-send nor osascript");
}

#[test]
fn a_sample_without_any_way_did_not_say_how_to_turn_one_on() {
    let env = env("terminal = 'off'");
    for arguments in [&["notify", "--test"][..], &["notify"]] {
        env.tow(arguments).ok().prints("No notification is on").prints("tow config set notify.terminal bell");
    }
    assert!(!env.tow(&["notify", "--json"]).ok().stdout.contains("No notification"));
}

#[test]
fn a_sample_goes_through_every_way_and_each_says_what_happened() {
    let env =
        env("terminal = 'bell'\ndesktop_after_s = 30\nphone_after_s = 60\nphone = ['phone', '{summary}']\n\
         on_limited = ['log-a', '{to}']\non_transition = ['false']\non_idle = ['no-such-program']");
    env.tow(&["notify"]).exits(0).prints("after 30 s unseen: notify-send").prints("when limited: log-a");
    assert_eq!(calls(&env), Vec::<String>::new());
    let run =
        env.tow(&["notify", "--test"]).exits(1).prints("\u{7}").prints("could not start `no-such-program`");
    run.prints("`false` ended with exit status: 1").prints("`log-a` ran");
    let sample = "towline: blocked (permission)";
    wait_calls(
        &env,
        &[
            "log-a <limited>",
            &format!(
                "notify-send <--app-name=Towline> <--urgency=critical> <--> <{sample}> <sample · main · A sample of `tow config notify --test`>"
            ),
            "phone <sample in towline/main: blocked (permission): A sample of `tow config notify --test`>",
        ],
    );
    let ways = env.tow(&["notify", "--json"]).ok().json()["ways"].clone();
    assert_eq!((&ways[0]["way"], &ways[0]["status"]), (&json!("notify.terminal"), &json!("set")));
}

#[test]
fn a_slip_in_the_configuration_is_named_and_costs_only_its_key() {
    let env = env("on_working = ['log-a', '{projekt}']\nphone_after_s = 5\non_completed = ['log-b', '{to}']");
    env.tow(&["config"]).exits(1).prints("there is no `{projekt}`");
    let run = env.tow(&["notify"]).exits(1);
    run.prints("there is no `{projekt}`").prints("`notify.phone` is no command");
    env.tow(&["config", "set", "notify.states", "[\"asleep\"]"])
        .exits(2)
        .complains("there is no state `asleep`");
    Agent::sits(&env, "s1").completes();
    wait_calls(&env, &["log-b <completed>"]);
}

#[test]
fn what_was_told_is_forgotten_after_a_day() {
    let env = env("on_completed = ['log-a']");
    env.set_now(NOON);
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    // Somebody in the background may be at it: then this one leaves it to them, and what is told comes a moment later.
    let wait_told = |number: usize| {
        wait::until_evident(&format!("{number} that were told"), wait::PATIENCE, || {
            env.tow(&["work", "--quiet"]).ok();
            let told = fs::read_dir(env.data_dir().join("told")).map_or(0, Iterator::count);
            if told == number { Ok(()) } else { Err(told.to_string()) }
        });
    };
    wait_told(1);
    env.set_now(NOON + 86_400_001);
    wait_told(0);
}

#[test]
fn a_database_that_is_rebuilt_tells_nothing_again() {
    let env = env("on_transition = ['log-a', '{to}']");
    let mut agent = Agent::sits(&env, "s1");
    agent.completes();
    wait_calls(&env, &["log-a <working>", "log-a <completed>"]);
    for file in ["towline.db", "towline.db-wal", "towline.db-shm"] {
        let _ = fs::remove_file(env.data_dir().join(file));
    }
    agent.does("PermissionRequest", json!({"tool_name": "Bash"}));
    wait_calls(&env, &["log-a <working>", "log-a <completed>", "log-a <blocked>"]);
}

#[test]
fn a_home_that_is_set_by_variables_alone_is_enough() {
    let env = env("");
    let folder = env.root().join("elsewhere");
    fs::create_dir_all(folder.join("towline")).unwrap();
    fs::write(
        folder.join("towline/config.toml"),
        format!("[notify]\non_completed = ['touch', '{}']\n", env.root().join("touched").display()),
    )
    .unwrap();
    env.unset("HOME");
    env.set("XDG_RUNTIME_DIR", env.root().join("tmp").display().to_string());
    env.set("XDG_CONFIG_HOME", folder.display().to_string());
    env.set("TOWLINE_HOME", env.root().join("data").display().to_string());
    Agent::sits(&env, "s1").completes();
    wait::until("the command", wait::PATIENCE, || env.root().join("touched").exists().then_some(()));
}

// TRK-22
#[test]
fn options_of_tmux_run_beside_the_configuration_and_one_that_cannot_be_split_is_named() {
    let env = env("on_transition = ['log-a', '{to}', '{pane}']");
    let root = env.root().display().to_string();
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "s", "cwd": "/", "source": "startup", "prompt": "a 'b'"});
    for name in ["SessionStart", "UserPromptSubmit"] {
        fs::write(env.root().join(format!("{name}.json")), event(name).to_string()).unwrap();
    }
    let session = env.script(
        "session",
        &format!("R={root}; tow hook claude < $R/SessionStart.json; tow hook claude < $R/UserPromptSubmit.json; read\n"),
    );
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    tmux.run(&["set-option", "-g", "@towline-on-working", "log-b 'two words' \"{prompt}\" $(x)"]);
    tmux.run(&["set-option", "-g", "@towline-on-idle", "log-b 'never closed"]);
    pane.say("tow config notify");
    pane.wait_screen("@towline-on-idle");
    pane.wait_screen("every quote closed");
    pane.say(&format!("claude {}", session.display()));
    wait_calls(&env, &[&format!("log-a <working> <{}>", pane.id), "log-b <two words> <a 'b'> <$(x)>"]);
}

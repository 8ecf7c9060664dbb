//! The real clients at work in real tmux, as a person follows them: in the status line of an attached client, with all
//! that `tow install --tmux` brings and nothing else. What the bar shows is then held against the list.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod both;
mod claude;
mod codex;
mod hostile;
#[path = "../sitter/mod.rs"]
mod sitter;

use serde_json::Value;
use std::fs;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_store::{DataFolder, Store};
use towline_testkit::{Pane, TestEnv, Tmux, wait};

/// Runs until the test lets it end, and not unasked.
const WAITING_TOOL: &str = "touch begun; until [ -e go ]; do sleep 0.2; done";

const IDLE: &str = "1.";
const WORKING: &str = "1*";
const COMPLETED: &str = "1+";
const STOPPED: &str = "1x";
const BLOCKED: &str = "1!";
const COUNTS: [&str; 5] = [IDLE, WORKING, COMPLETED, STOPPED, BLOCKED];

/// A person's tmux: a shell in the first window, agents in the next ones, and a client that shows it.
struct Desk {
    env: TestEnv,
    tmux: Tmux,
    client: Pane,
}

impl Desk {
    /// The tool that was allowed runs, ends while nobody looks, and is looked at.
    #[track_caller]
    fn follow_to_the_look(&self) {
        self.wait_shown(WORKING, "working");
        self.turn_to("0");
        self.let_the_tool_end();
        let finished = self.wait_shown(COMPLETED, "completed");
        assert_eq!(finished["seen"], false);
        self.turn_to("1");
        let looked_at = self.wait_shown(IDLE, "completed");
        assert_eq!(looked_at["seen"], true);
    }

    #[track_caller]
    fn set_up(env: &TestEnv) -> Desk {
        Desk::set_up_with(env, &[])
    }

    /// Installs hooks and bar the way a person does it who has set these options: from within tmux.
    #[track_caller]
    fn set_up_with(env: &TestEnv, options: &[(&str, &str)]) -> Desk {
        let tmux = Tmux::start(env);
        let shell = tmux.open(&["bash"], &[]);
        for (name, value) in [("status-interval", "1")].iter().chain(options) {
            tmux.run(&["set-option", "-g", &format!("@towline-{name}"), value]);
        }
        shell.say("tow install --tmux");
        shell.wait_screen("the server on ");
        assert_eq!(shell.format("#{status-interval}"), "1");
        let client = Tmux::named(env, "outer").attach_to(&tmux);
        Desk { env: env.clone(), tmux, client }
    }

    /// Waits until the status line of the attached client shows this bar.
    #[track_caller]
    fn wait_bar(&self, bar: &str) {
        self.wait_status_line(bar, |line| line.contains(&format!(" {bar} ")));
    }

    #[track_caller]
    fn wait_no_bar(&self) {
        self.wait_status_line("no bar", |line| {
            !COUNTS.iter().any(|count| line.contains(&format!(" {count} ")))
        });
    }

    #[track_caller]
    fn wait_status_line(&self, what: &str, fits: impl Fn(&str) -> bool) {
        let last = |screen: &str| screen.lines().last().unwrap_or_default().to_owned();
        self.client.wait_screen_for(&format!("{what} in the status line"), |screen| fits(&last(screen)));
    }

    /// Waits for the bar, and then insists that the list says the same.
    #[track_caller]
    fn wait_shown(&self, bar: &str, state: &str) -> Value {
        self.wait_bar(bar);
        let seat = self.env.only_seat();
        assert_eq!(seat["state"], state, "{seat:#}");
        seat
    }

    /// Turns to the window with this number, by keys, as a person does.
    #[track_caller]
    fn turn_to(&self, window: &str) {
        self.client.keys(&["C-b", window]);
        wait::until_evident(&format!("window {window}"), wait::PATIENCE, || {
            let found = self.tmux.run(&["display-message", "-p", "#{window_index}"]);
            if found.trim() == window { Ok(()) } else { Err(found) }
        });
    }

    /// Lets the waiting tool end.
    #[track_caller]
    fn let_the_tool_end(&self) {
        assert!(self.env.project().join("begun").exists(), "the tool does not run");
        fs::write(self.env.project().join("go"), "").unwrap();
    }

    #[track_caller]
    fn kill(&self, pane: &Pane) {
        self.env.command("kill").args(["-9", &pane.program_pid().to_string()]).status().unwrap();
    }

    fn store(&self) -> Store {
        Store::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(5)).unwrap().unwrap()
    }

    /// How often something of this kind has happened in the session of this seat, as far as it is folded.
    #[track_caller]
    fn count(&self, seat: &Value, kind: &str) -> usize {
        let events = self.store().events(&session(seat)).unwrap();
        events.iter().filter(|event| event.kind == kind).count()
    }

    /// After a `/clear`: one seat, the same as before, in which another session sits that knows the one before it.
    #[track_caller]
    fn wait_cleared(&self, before: &Value) -> Value {
        let now = wait::until_evident("another session", wait::PATIENCE, || {
            let seat = self.env.only_seat();
            let is_another = seat["session"].is_string() && seat["session"] != before["session"];
            if is_another { Ok(seat) } else { Err(seat.to_string()) }
        });
        assert_eq!((&now["seat"], &now["pane"]), (&before["seat"], &before["pane"]));
        let previous = self.store().session(&session(&now)).unwrap().unwrap().previous;
        assert_eq!(previous, Some(session(before)));
        now
    }
}

fn session(seat: &Value) -> SessionKey {
    SessionKey::parse(seat["session"].as_str().unwrap()).unwrap()
}

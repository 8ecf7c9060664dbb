//! A private tmux server whose panes run clients as a user does: under a shell with job control.
//!
//! Never talks to another tmux server: every call names the socket below the environment's root.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::TestEnv;
use crate::run::Run;
use crate::{processes, wait};

/// Runs the program as a foreground job and leaves a shell behind, as in a user's terminal.
/// [`Pane::wait_end`] looks for the text echoed here.
const UNDER_A_SHELL: &str = r#"set -m; "$@"; echo "[ended with $?]"; exec sh"#;

/// About half a second: enough for a client to draw the effect of a key.
const PROBES_PER_PRESS: usize = 20;

/// About a quarter of a second.
const PROBES_PER_PASTE: usize = 7;

/// A tmux server with its own socket. Clones share it; it ends with the last clone and pane.
#[derive(Debug, Clone)]
pub struct Tmux {
    server: Arc<Server>,
}

#[derive(Debug)]
struct Server {
    env: TestEnv,
    socket: PathBuf,
}

/// One pane, with the size of a usual terminal.
#[derive(Debug, Clone)]
pub struct Pane {
    tmux: Tmux,
    /// The tmux pane id, such as `%0`.
    pub id: String,
}

impl Tmux {
    /// A server for this environment. It starts with the first pane.
    pub fn start(env: &TestEnv) -> Self {
        Self::named(env, "tmux")
    }

    /// A second server in the same environment, for example to watch the first one from outside.
    pub fn named(env: &TestEnv, name: &str) -> Self {
        let server = Server { env: env.clone(), socket: env.root().join(format!("{name}.sock")) };
        Self { server: Arc::new(server) }
    }

    /// The server's environment.
    pub fn env(&self) -> &TestEnv {
        &self.server.env
    }

    /// The server's socket.
    pub fn socket(&self) -> &Path {
        &self.server.socket
    }

    /// Runs one tmux command, or several separated by `;` arguments, and returns the output.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> String {
        self.run_with_input(args, b"").ok().stdout
    }

    /// Opens a window with the program in a pane, with `variables` added to the environment.
    #[track_caller]
    pub fn open(&self, program: &[&str], variables: &[(&str, &str)]) -> Pane {
        let added: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let project = self.env().project().display().to_string();
        let mut args = self.opening_words();
        args.extend(["-P", "-F", "#{pane_id}", "-c", &project]);
        added.iter().for_each(|pair| args.extend(["-e", pair]));
        args.extend(["sh", "-c", UNDER_A_SHELL, "sh"]);
        args.extend(program);
        let id = self.run(&args).trim().to_owned();
        Pane { tmux: self.clone(), id }
    }

    /// Opens a pane that shows `other` as an attached client, status line included.
    #[track_caller]
    pub fn attach_to(&self, other: &Tmux) -> Pane {
        let socket = other.socket().display().to_string();
        let clients = || other.run(&["list-clients"]).lines().count();
        let before = clients();
        let pane = self.open(&["env", "-u", "TMUX", "-u", "TMUX_PANE", "tmux", "-S", &socket, "attach"], &[]);
        wait::until("the client to be attached", wait::PATIENCE, || (clients() > before).then_some(()));
        pane
    }

    /// Whether the server has a session, hence runs.
    pub fn is_running(&self) -> bool {
        self.run_with_input(&["list-sessions"], b"").status.success()
    }

    /// The first pane starts the server; variables set later reach the panes opened later.
    #[track_caller]
    fn opening_words(&self) -> Vec<&'static str> {
        if self.is_running() {
            for (name, value) in self.env().variables() {
                self.run(&["set-environment", "-g", &name, &value]);
            }
            return vec!["new-window"];
        }
        let mut words = vec!["set-option", "-g", "default-terminal", "xterm-256color", ";"];
        words.extend(["new-session", "-d", "-x", "150", "-y", "50"]);
        words
    }

    #[track_caller]
    fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.env().command("tmux");
        command.arg("-S").arg(self.socket()).args(["-f", "/dev/null"]).args(args);
        Run::of(&mut command, input)
    }
}

impl Pane {
    /// The pane's server.
    pub fn tmux(&self) -> &Tmux {
        &self.tmux
    }

    /// Opens a three-line pane with the program below this one, which stays the active pane.
    #[track_caller]
    pub fn split(&self, program: &[&str]) -> Self {
        let words = ["split-window", "-d", "-l", "3", "-P", "-F", "#{pane_id}", "-t", &self.id];
        let id = self.tmux.run(&[&words, program].concat()).trim().to_owned();
        Self { tmux: self.tmux.clone(), id }
    }

    /// The text on the screen, without trailing blanks.
    #[track_caller]
    pub fn screen(&self) -> String {
        let screen = self.tmux.run(&["capture-pane", "-p", "-t", &self.id]);
        screen.trim_end().to_owned()
    }

    /// Waits until the screen contains `needle`, and returns the screen.
    #[track_caller]
    pub fn wait_screen(&self, needle: &str) -> String {
        self.wait_screen_for(needle, |screen| screen.contains(needle))
    }

    /// Waits until the screen matches, and returns the screen.
    #[track_caller]
    pub fn wait_screen_for(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        wait::until_evident(&format!("{what:?} on the screen of {}", self.id), wait::PATIENCE, || {
            let screen = self.screen();
            if fits(&screen) { Ok(screen) } else { Err(screen) }
        })
    }

    /// Waits until the program has ended and the shell is back.
    #[track_caller]
    pub fn wait_end(&self) -> String {
        self.wait_screen("[ended with ")
    }

    /// Pastes the text, waits until the client shows it, and presses Enter.
    ///
    /// In one call, Claude 2.1.197 sometimes loses the Enter; key by key, Codex takes it for a paste.
    #[track_caller]
    pub fn say(&self, text: &str) {
        let before = shown(&self.screen(), text);
        self.paste(text);
        self.wait_screen_for(text, |screen| shown(screen, text) > before);
        self.keys(&["Enter"]);
    }

    /// Like `say`, for a client that takes Enter right behind a paste for a part of it.
    #[track_caller]
    pub fn say_after_paste(&self, text: &str) {
        let before = shown(&self.screen(), text);
        self.paste(text);
        self.wait_screen_for(text, |screen| shown(screen, text) > before);
        Self::wait_paste();
        self.keys(&["Enter"]);
    }

    /// Waits for as long as a client takes Enter for a part of a paste.
    #[track_caller]
    pub fn wait_paste() {
        let mut probes = 0;
        wait::until("the end of the paste", wait::PATIENCE, || {
            probes += 1;
            (probes > PROBES_PER_PASTE).then_some(())
        });
    }

    /// Pastes the text (bracketed, as a terminal does) and leaves it in the input box.
    #[track_caller]
    pub fn paste(&self, text: &str) {
        let load = ["load-buffer", "-b", "bench", "-", ";"];
        let paste = ["paste-buffer", "-p", "-d", "-b", "bench", "-t", &self.id];
        self.tmux.run_with_input(&[load.as_slice(), &paste].concat(), text.as_bytes()).ok();
    }

    /// Types the text key by key and leaves it in the input box.
    #[track_caller]
    pub fn half_type(&self, text: &str) {
        self.tmux.run(&["send-keys", "-t", &self.id, "-l", "--", text]);
    }

    /// Presses keys until the dialog that shows `text` is gone.
    ///
    /// Clients ignore keys right after a dialog opens, so that a user who is typing cannot answer it unread.
    #[track_caller]
    pub fn answer(&self, text: &str, keys: &[&str]) -> String {
        self.wait_screen(text);
        let mut probes = 0;
        wait::until_evident(&format!("the end of the dialog {text:?}"), wait::PATIENCE, || {
            if probes % PROBES_PER_PRESS == 0 {
                self.keys(keys);
            }
            probes += 1;
            let screen = self.screen();
            if screen.contains(text) { Err(screen) } else { Ok(screen) }
        })
    }

    /// Presses keys by their tmux names, such as `Escape` or `C-c`.
    #[track_caller]
    pub fn keys(&self, keys: &[&str]) {
        let mut args = vec!["send-keys", "-t", &self.id];
        args.extend(keys);
        self.tmux.run(&args);
    }

    /// The process id of the shell in the pane, the parent of the program.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        self.format("#{pane_pid}").parse().expect("tmux prints a pid")
    }

    /// The process id of the program in the pane.
    #[track_caller]
    pub fn program_pid(&self) -> u32 {
        let shell = self.pid();
        wait::until("the program in the pane", wait::PATIENCE, || processes::children(shell).first().copied())
    }

    /// The terminal device of the pane.
    #[track_caller]
    pub fn tty(&self) -> String {
        self.format("#{pane_tty}")
    }

    /// Expands a tmux format for this pane.
    #[track_caller]
    pub fn format(&self, format: &str) -> String {
        let text = self.tmux.run(&["display-message", "-p", "-t", &self.id, format]);
        text.trim_end().to_owned()
    }

    /// Waits until a tmux format expands to `expected` for this pane.
    #[track_caller]
    pub fn wait_format(&self, format: &str, expected: &str) {
        wait::until_evident(&format!("{format} to be {expected:?}"), wait::PATIENCE, || {
            let found = self.format(format);
            if found == expected { Ok(()) } else { Err(found) }
        });
    }

    /// Closes the pane with the program still running, as a user closes a terminal window.
    #[track_caller]
    pub fn close(&self) {
        self.tmux.run(&["kill-pane", "-t", &self.id]);
    }
}

/// Counts the text on the screen by its start, which no line break splits, or by the mark of a long paste.
fn shown(screen: &str, text: &str) -> usize {
    let start: String = text.trim_start().chars().take_while(|char| *char != '\n').take(12).collect();
    screen.matches(start.trim_end()).count() + screen.matches("[Pasted ").count()
}

impl Drop for Server {
    fn drop(&mut self) {
        if fs::exists(&self.socket).unwrap_or(false) {
            let mut command = self.env.command("tmux");
            command.arg("-S").arg(&self.socket).arg("kill-server");
            let _ = command.output();
        }
    }
}

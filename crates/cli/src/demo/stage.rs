//! The stage of the demo: a home, the project folders and a tmux server, all below one folder.
//!
//! Passes on nothing of the caller's environment but `PATH`, the locale, the terminal type and `NO_COLOR`.

use super::scene::DemoScene;
use crate::output::Output;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_agents::settings::quote;
use towline_engine::runtime::env::own_program;
use towline_engine::runtime::{Env, Failure, variable};

const HANDED_DOWN: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TERM", "NO_COLOR"];
const SERVER: &str = "demo";
/// The status line fits 80 columns and names the keys.
const OPTIONS: [[&str; 2]; 5] = [
    ["mouse", "on"],
    ["status-style", "bg=colour236,fg=colour252"],
    ["status-left", ""],
    ["status-right", " 0-3 window  a menu  q leave"],
    // A key after Escape is a key of its own; in a terminal inside tmux both arrive late.
    ["escape-time", "20"],
];
const PREFIX: &str = "tow-demo-";

pub struct DemoStage {
    root: PathBuf,
}

impl DemoStage {
    /// Creates a stage that only this user can read.
    pub fn build(env: &Env) -> Result<DemoStage, Failure> {
        let parent = variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let root = parent.join(format!("{PREFIX}{}", unguessable(env)));
        let stage = DemoStage { root };
        for folder in [stage.root.clone(), stage.home()] {
            DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
                Failure::about(format!("could not make {}", folder.display()), &error)
                    .hint("Set TMPDIR to a folder that you may write to.")
            })?;
        }
        Ok(stage)
    }

    /// Opens an existing stage. Refuses any other folder, because the sweeper deletes stages.
    pub fn at(root: &Path) -> Result<DemoStage, Failure> {
        let is_named = root.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let stage = DemoStage { root: root.to_owned() };
        if is_named && root.is_absolute() && stage.home().is_dir() {
            return Ok(stage);
        }
        Err(Failure::input(format!("{} is no stage of a demo", root.display())).hint("Run `tow demo`."))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn project(&self, scene: &DemoScene) -> PathBuf {
        self.root.join(scene.name)
    }

    /// A signal file between the demo's processes.
    fn sign(&self, name: &str) -> PathBuf {
        self.root.join(format!("sign-{name}"))
    }

    pub fn give_sign(&self, name: &str) {
        // On failure the waiting process runs into its timeout.
        let _ = fs::write(self.sign(name), "");
    }

    pub fn has_sign(&self, name: &str) -> bool {
        self.sign(name).exists()
    }

    /// Waits for a sign until the timeout; a stage that was removed counts as a sign.
    pub fn await_sign(&self, name: &str, patience: Duration) -> bool {
        let pause = Duration::from_millis(20);
        let looks = patience.as_millis() / pause.as_millis();
        (0..looks).any(|_| {
            let is_given = self.has_sign(name) || !self.root.exists();
            if !is_given {
                nap(pause);
            }
            is_given
        })
    }

    /// Our own executable, in the environment of this stage.
    pub fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(own_program().unwrap_or_else(|| "tow".into()));
        command.args(arguments);
        command
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts what plays on the stage")]
    fn program(&self, program: PathBuf) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&self.root).env("HOME", self.home()).env("TMUX_TMPDIR", &self.root);
        let handed = HANDED_DOWN.into_iter().filter_map(|name| Some((name, variable(name)?)));
        command.envs(handed);
        // The hooks identify their window by these.
        command.envs(
            ["TMUX", "TMUX_PANE"].into_iter().filter_map(|name| Some((name, self.own_variable(name)?))),
        );
        command
    }

    /// Passes on a tmux variable only if it names the stage's server, not the one the caller runs in.
    fn own_variable(&self, name: &str) -> Option<String> {
        let is_ours = variable("TMUX").is_some_and(|server| Path::new(&server).starts_with(&self.root));
        variable(name).filter(|_| is_ours)
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut command = self.program("tmux".into());
        command.args(["-f", "/dev/null", "-L", SERVER]).args(arguments);
        command
    }

    /// Opens a window that runs `tow demo PART`. The first one starts the server and loads the bar.
    pub fn open_window(&self, name: &str, part: &[&str]) -> Result<(), Failure> {
        let tow = own_program().unwrap_or_else(|| "tow".into()).display().to_string();
        let root = self.root.display().to_string();
        let is_first = !self.has_sign("server");
        // The size of the caller's terminal: what a scene prints before a client attaches is not wrapped anew.
        let out = Output::new();
        let (columns, rows) = (out.columns().to_string(), out.rows().to_string());
        let opening: &[&str] = if is_first {
            &["new-session", "-d", "-s", SERVER, "-x", &columns, "-y", &rows, "-n", name]
        } else {
            &["new-window", "-d", "-n", name]
        };
        let words = [opening, &[&tow, "demo"], part, &["--stage", &root]].concat();
        // Set before the server exists: the process in the first window opens further windows.
        self.give_sign("server");
        self.must(self.tmux(&words), "open a window in tmux")?;
        if is_first {
            self.set_up_server(&tow)?;
        }
        Ok(())
    }

    /// Loads the bar, and binds keys that need no prefix: in a terminal inside tmux, the outer server takes the prefix.
    fn set_up_server(&self, tow: &str) -> Result<(), Failure> {
        for option in OPTIONS {
            self.must(self.tmux(&["set-option", "-g", option[0], option[1]]), "set up tmux")?;
        }
        let socket = self.told(self.tmux(&["display-message", "-p", "#{socket_path}"]));
        self.must(self.tow(&["tmux", "load", "--socket", socket.trim()]), "bring the bar into tmux")?;
        let run = |command: &str| format!("{} {command} || true", quote(tow));
        let (menu, next) = (run("menu"), run("next --message"));
        let keys: [&[&str]; 8] = [
            &["q", "kill-server"],
            &["C-c", "kill-server"],
            &["a", "run-shell", "-b", &menu],
            &["n", "run-shell", "-b", &next],
            &["0", "select-window", "-t", ":0"],
            &["1", "select-window", "-t", ":1"],
            &["2", "select-window", "-t", ":2"],
            &["3", "select-window", "-t", ":3"],
        ];
        for key in keys {
            self.must(self.tmux(&[&["bind-key", "-n"], key].concat()), "bind a key in tmux")?;
        }
        Ok(())
    }

    /// Attaches the caller's terminal to the tour in the first window until it ends.
    pub fn attach_to_tour(&self) -> Result<(), Failure> {
        self.open_window("tour", &["tour"])?;
        let mut attached = self.tmux(&["attach-session", "-t", SERVER]);
        let failed = |error| Failure::about("could not show tmux", &error);
        attached.stdin(Stdio::inherit()).stdout(Stdio::inherit()).status().map_err(failed)?;
        Ok(())
    }

    pub fn close_windows(&self) {
        if self.has_sign("server") {
            self.told(self.tmux(&["kill-server"]));
        }
    }

    /// Stdout of a program on the stage, even if it fails.
    pub fn told(&self, mut command: Command) -> String {
        let output = command.stdin(Stdio::null()).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    }

    fn must(&self, mut command: Command, what: &str) -> Result<(), Failure> {
        let failed = |why: &str| {
            Failure::input(format!("could not {what}: {}", why.trim())).hint("Run `tow demo --no-tmux`.")
        };
        let output = command.stdin(Stdio::null()).output().map_err(|error| failed(&error.to_string()))?;
        if output.status.success() { Ok(()) } else { Err(failed(&String::from_utf8_lossy(&output.stderr))) }
    }
}

/// The last 12 characters of a uid, which are random.
fn unguessable(env: &Env) -> String {
    let id = env.uid().to_string();
    id.chars().skip(id.len().saturating_sub(12)).collect()
}

#[expect(clippy::disallowed_methods, reason = "a play takes time, and who waits for a sign looks again")]
pub fn nap(pause: Duration) {
    std::thread::sleep(pause);
}

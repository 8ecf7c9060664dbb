//! `cargo xtask firstrun`: from the archive of a release to the first inherited session, as a new user types it.
//!
//! Runs the real clients against a scripted model and a stock tmux on its own socket, in a home that Towline has never
//! seen, and writes the screens into docs/tour.md. Must not help the user: every line typed is counted.

mod page;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use towline_testkit::{Claude, Codex, Daemon, Model, Pane, Rule, Step, TestEnv, Tmux};

use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;
use page::Screen;

#[derive(Args)]
pub struct Options {
    /// The folder with the archive, as `cargo xtask release` writes it
    #[arg(long, value_name = "FOLDER", default_value = "target/dist")]
    dist: PathBuf,
    /// Print the page instead of changing docs/tour.md
    #[arg(long)]
    dry_run: bool,
}

/// Larger numbers are not a first run.
const MOST_LINES: usize = 10;
const MOST_TIME: Duration = Duration::from_secs(600);

const CLAUDE: Claude = Claude::V2_1_325;
const CODEX: Codex = Codex::V0_166_0;

const INSTALL: &str = "tar -xzf towline-*.tar.gz && ./towline-*/install.sh";
const CODEX_PROMPT: &str = "codex \"what is left to do?\"";
const ASKED: &str = "Why do the checkout tests fail sometimes?";
const ANSWERED: &str = "Two requests refresh the token at the same time, and the second refresh makes the first token invalid. \
                        Next step: hold the session's lock in token() of src/client.rs.";
const WENT_ON: &str =
    "Going on where we were: token() now holds the session's lock while it refreshes. The tests pass.";
const HANDED_ON: &str = "The next session here will go on from this one.";
const LEFT: &str = "Left to do: a test with two requests at once. The lock in token() is in place.";

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let model = Model::start([
        Rule::when(ASKED).then(Step::text(ANSWERED)),
        // The text of the skill `/tow`, which also holds "go on".
        Rule::when("Confirm in one short sentence").then(Step::text(HANDED_ON)),
        Rule::when("what is left to do").then(Step::text(LEFT)),
        Rule::when("go on").then(Step::text(WENT_ON)),
    ]);
    let env = newcomer(&repository.root().join(&options.dist), &model)?;
    let mut user = User::sit_down(&env)?;
    let inherited = user.follow(&model);
    let (lines, took) = (user.lines.len(), user.began.elapsed());
    let summary = format!(
        "{lines} lines typed, Enter pressed {} more times; the first inherited session after {:.0} s, the second after {:.0} s",
        user.answers,
        inherited.as_secs_f64(),
        took.as_secs_f64()
    );
    let text = page::written(&env, &summary, &user.lines, &user.screens);
    if options.dry_run {
        write!(out, "{text}")?;
    } else {
        let tour = repository.root().join("docs/tour.md");
        files::write(&tour, page::placed(&files::read(&tour)?, &text)?)?;
    }
    writeln!(out, "{summary}")?;
    Ok(Verdict::of(lines <= MOST_LINES && took < MOST_TIME))
}

/// A home with both clients and a downloaded archive. Towline is not on its PATH.
fn newcomer(dist: &Path, model: &Model) -> Result<TestEnv> {
    let names = fs::read_dir(dist).map_err(Failure::read(dist))?.flatten().map(|entry| entry.path());
    let missing = || Failure::Missing { what: "an archive".into(), mend: "run `cargo xtask release`".into() };
    let is_archive = |path: &PathBuf| path.to_string_lossy().ends_with(".tar.gz");
    let archive = names.filter(is_archive).max().ok_or_else(missing)?;
    let env = TestEnv::new(&archive);
    files::remove(&env.root().join("bin/tow"))?;
    let copy = env.project().join(archive.file_name().unwrap_or_default());
    fs::copy(&archive, &copy).map_err(Failure::write(&copy))?;
    CLAUDE.seed(&env);
    CODEX.seed(&env, model, Daemon::Off);
    env.keep_usual_limits();
    // The last resort for faults, which other users of this machine would fill.
    env.set("XDG_RUNTIME_DIR", env.root().join("tmp").display().to_string());
    for client in [CLAUDE.command(&env, model), CODEX.command(&env)] {
        take_variables(&env, &client);
    }
    Ok(env)
}

/// The variables by which a client finds the scripted model.
fn take_variables(env: &TestEnv, client: &Command) {
    for (name, value) in client.get_envs() {
        if let (Some(name), Some(value)) = (name.to_str(), value.and_then(|value| value.to_str())) {
            env.set(name, value);
        }
    }
}

/// Somebody in a terminal with a stock tmux.
struct User {
    /// The shell.
    pane: Pane,
    /// The whole terminal, with tmux's status line.
    view: Pane,
    began: Instant,
    lines: Vec<&'static str>,
    answers: usize,
    screens: Vec<Screen>,
}

impl User {
    fn sit_down(env: &TestEnv) -> Result<User> {
        let stock = Tmux::named(env, "stock");
        let pane = stock.open(&["bash", "--norc"], &[("PS1", "$ ")]);
        let around = Tmux::start(env);
        let view = around.attach_to(&stock);
        around.run(&["resize-window", "-t", &view.format("#{window_id}"), "-x", "100", "-y", "64"]);
        pane.wait_format("#{window_width}", "100");
        // The evidence that a person sits there: notifications are set up for nobody else. Ends with the environment.
        let socket = stock.socket().display().to_string();
        let mut person = env.person_program(&["tmux", "-S", &socket, "attach", "-f", "ignore-size"]);
        person
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Failure::start("tmux"))?;
        pane.wait_format("#{session_attached}", "2");
        let began = Instant::now();
        Ok(User { pane, view, began, lines: vec![], answers: 0, screens: vec![] })
    }

    /// Types a line and waits for what it leads to.
    fn types(&mut self, line: &'static str, expected: &str) {
        self.pane.say(line);
        self.lines.push(line);
        self.pane.wait_screen(expected);
    }

    /// Keeps the screen that this line led to.
    fn shows(&mut self, line: &'static str) {
        self.screens.push(Screen { line, text: self.view.screen() });
    }

    /// Types everything. Returns when the first session had inherited.
    fn follow(&mut self, model: &Model) -> Duration {
        self.types(INSTALL, "done in");
        self.shows(INSTALL);
        self.types("export PATH=\"$HOME/.local/bin:$PATH\"", "$ ");
        self.sets_up();
        self.types("claude", "❯");
        CLAUDE.wait_idle(&self.pane);
        self.types(ASKED, "Next step:");
        CLAUDE.wait_idle(&self.pane);
        self.shows(ASKED);
        self.types("/clear", "/clear");
        self.pane.wait_screen_for("a cleared session", |screen| !screen.contains("Next step:"));
        CLAUDE.wait_idle(&self.pane);
        self.types("go on", "Going on where we were");
        model.wait_request("the work of the cleared session", |request| {
            request.prompt.contains("go on")
                && request.holds("<towline-context>")
                && request.holds("hold the session's lock")
        });
        let inherited = self.began.elapsed();
        CLAUDE.wait_idle(&self.pane);
        self.shows("/clear` and `go on");
        self.types("/tow", "will go on from this one");
        CLAUDE.wait_idle(&self.pane);
        self.shows("/tow");
        self.types("/exit", "Resume this session");
        self.pane.wait_screen_for("the shell", |screen| screen.trim_end().ends_with('$'));
        self.types(CODEX_PROMPT, "Hooks need review");
        self.shows(CODEX_PROMPT);
        self.pane.answer("Hooks need review", &["2", "Enter"]);
        self.answers += 1;
        self.pane.wait_screen("a test with two requests at once");
        model.wait_request("the work of the other agent", |request| {
            request.prompt.contains("what is left to do") && request.holds("<towline-context>")
        });
        CODEX.wait_idle(&self.pane);
        self.shows("2` and Enter: `Trust all and continue");
        inherited
    }

    /// `tow setup`, with Enter at each question.
    fn sets_up(&mut self) {
        self.types("tow setup", "tow setup");
        let asked = |screen: &str| screen.matches("[Y/n]").count();
        loop {
            let answers = self.answers;
            let screen = self.pane.wait_screen_for("a question or the end of the setup", |screen| {
                asked(screen) > answers || screen.contains("ready:")
            });
            if screen.contains("ready:") {
                break;
            }
            self.pane.keys(&["Enter"]);
            self.answers += 1;
        }
        self.shows("tow setup");
    }
}

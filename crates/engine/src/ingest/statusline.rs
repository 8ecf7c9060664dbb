//! `tow statusline`: draws the line below the agent's input and reads the agent's own numbers for the meter.
//!
//! Runs several times a second: it applies no events, opens no database, and records an event only for a new
//! number. On any error it still draws the user's own line and exits with 0.

use crate::handoff::guard;
use crate::runtime::env::GUARD;
use crate::runtime::spawn::ended_within;
use crate::runtime::{Config, Env, privacy, projects, settings, variable};
use crate::status::cache;
use rustix::termios::tcgetwinsize;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use towline_agents::{Agent, StatusLineInput};
use towline_core::meter::ContextUsage;
use towline_core::shown::SeatLight;
use towline_core::status_line::{
    LimitPeriod, StatusCanvas, StatusColours, StatusFacts, StatusTemplate, UsageLimit,
};
use towline_core::time::Timestamp;
use towline_core::usage::Cost;

/// Payload limit: more than any agent sends.
const LARGEST: u64 = 1 << 20;
/// Limit on the output of the user's command.
const LONGEST_LINE: u64 = 64 << 10;
/// A slower command is not shown: the agent redraws before that.
const PATIENCE: Duration = Duration::from_secs(3);

/// `over` is the command that the agent's settings held before installation.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.peekable();
    if arguments.peek().is_some_and(|word| word == "--preview") {
        let config = Env::new().as_ref().map_or_else(Config::compiled_in, settings);
        let _ = io::stdout().write_all(preview(&config).as_bytes());
        return ExitCode::SUCCESS;
    }
    let payload = read_payload();
    let env = Env::new();
    let config = env.as_ref().map_or_else(Config::compiled_in, settings);
    let status = Agent::ALL.into_iter().find_map(|agent| agent.status(&payload));
    if let (Some(env), Some(status), None) = (&env, &status, variable(GUARD))
        && let Some(fill) = status.fill
        && !status.folder.as_deref().is_some_and(|folder| privacy::is_excluded(&config, folder))
    {
        guard::shown(env, &config, &status.session, status.folder.as_deref(), fill);
    }
    let theirs = their_command(arguments, &config).and_then(|command| drawn(&command, &payload));
    let ours = status.filter(|_| config.statusline.own).map(|status| line(env.as_ref(), &config, &status));
    let mut shown = theirs.unwrap_or_default();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown.extend(ours.map(|ours| format!("{ours}\n")));
    // A closed pipe means that the agent no longer reads.
    let _ = io::stdout().write_all(shown.as_bytes());
    ExitCode::SUCCESS
}

fn read_payload() -> Vec<u8> {
    let mut payload = vec![];
    let _ = io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    payload
}

fn their_command(mut arguments: impl Iterator<Item = OsString>, config: &Config) -> Option<OsString> {
    let over = arguments.next().filter(|word| word == "--over").and_then(|_| arguments.next());
    let set = || Some(OsString::from(&config.statusline.command));
    over.or_else(set).filter(|command| !command.is_empty())
}

/// Output of the user's command, fed with the same payload. Run through the shell, as the agent itself would.
#[expect(clippy::disallowed_methods, reason = "the user's own line, which is the shell's by its nature")]
fn drawn(command: &OsString, payload: &[u8]) -> Option<String> {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env(GUARD, "1");
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = shell.spawn().ok()?;
    // The payload fits into the pipe buffer; a command that does not read its input has closed the pipe.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload));
    let is_done = !matches!(ended_within(&mut child, PATIENCE), Ok(None));
    if !is_done {
        let _ = child.kill();
        let _ = child.wait();
    }
    let mut bytes = vec![];
    let stdout = child.stdout.take()?;
    // Non-blocking: a child of the command may still hold the pipe open.
    let _ = rustix::fs::fcntl_setfl(&stdout, rustix::fs::OFlags::NONBLOCK);
    let _ = stdout.take(LONGEST_LINE).read_to_end(&mut bytes);
    is_done.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn line(env: Option<&Env>, config: &Config, status: &StatusLineInput) -> String {
    let folder = status.folder.as_deref().map(Path::new);
    let traces = folder.map(|folder| projects::traces(config, folder));
    let facts = StatusFacts {
        model: status.model.clone(),
        fill: status.fill,
        project: traces.as_ref().map(|traces| traces.display_name().to_owned()),
        branch: traces.and_then(|traces| traces.branch),
        cost: status.cost.filter(|cost| *cost > Cost(0)),
        limits: status.limits.clone(),
        others: env.and_then(|env| cache::other_lights(env, &status.session)),
        now: env.map(|env| env.now).unwrap_or_default(),
    };
    template(config).draw(&facts, canvas(config))
}

/// The configuration holds only checked templates.
fn template(config: &Config) -> StatusTemplate {
    let usual = || StatusTemplate::parse(&Config::compiled_in().statusline.template);
    StatusTemplate::parse(&config.statusline.template).or_else(|_| usual()).unwrap_or_default()
}

fn canvas(config: &Config) -> StatusCanvas {
    let is_plain = variable("NO_COLOR").is_some() || variable("TERM").as_deref() == Some("dumb");
    let columns = Some(config.statusline.columns).filter(|columns| *columns > 0).or_else(terminal_columns);
    StatusCanvas { columns, colours: if is_plain { StatusColours::Hidden } else { StatusColours::Shown } }
}

/// Columns that the agent keeps free beside the line.
const MARGINS: usize = 4;

/// Width from the agent's `COLUMNS`, else from its terminal: our own stdout is a pipe to the agent.
fn terminal_columns() -> Option<usize> {
    let said = variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let terminal = || tcgetwinsize(File::open("/dev/tty").ok()?).ok().map(|size| usize::from(size.ws_col));
    said.or_else(terminal).filter(|columns| *columns > 0).map(|columns| columns.saturating_sub(MARGINS))
}

/// Widths shown by `--preview`.
const WIDTHS: [usize; 3] = [120, 80, 40];

/// Renders sample facts at several widths.
fn preview(config: &Config) -> String {
    let now = Timestamp(1_794_744_000_000);
    let limit = |span, percent, minutes: i64| UsageLimit {
        span,
        percent,
        resets_at: Some(now.plus_ms(minutes * 60_000)),
    };
    let facts = StatusFacts {
        model: Some("Opus 5.5".to_owned()),
        fill: ContextUsage::from_display(84_000, 200_000),
        project: Some("app".to_owned()),
        branch: Some("main".to_owned()),
        cost: Some(Cost(1_234_000_000_000)),
        limits: vec![limit(LimitPeriod::FiveHours, 23, 133), limit(LimitPeriod::Week, 71, 4_400)],
        others: Some(vec![SeatLight::Blocked, SeatLight::Working, SeatLight::Working, SeatLight::Idle]),
        now,
    };
    let colours = if io::stdout().is_terminal() { canvas(config).colours } else { StatusColours::Hidden };
    let template = template(config);
    let mut page = format!("statusline.template = {:?}\n", config.statusline.template);
    for columns in WIDTHS {
        let line = template.draw(&facts, StatusCanvas { columns: Some(columns), colours });
        page += &format!("\n{columns} columns:\n{line}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::config::layered;

    #[test]
    fn a_preview_shows_the_template_at_several_widths() {
        let config = layered("[statusline]\ntemplate = '{model}[ - {agents}]'").config;
        let shown = preview(&config);
        assert!(shown.contains("120 columns:\nOpus 5.5 - 1 waiting, 2 working, 1 idle\n"), "{shown}");
        assert!(
            preview(&Config::compiled_in()).ends_with("40 columns:\nOpus 5.5  ▓▓▓▓▓░░░░░ 42%  app/main\n")
        );
    }

    #[test]
    fn the_command_that_stood_there_comes_before_the_one_that_was_set() {
        let config = layered("[statusline]\ncommand = 'set'").config;
        let chosen = |words: &[&str], config: &Config| {
            their_command(words.iter().map(OsString::from), config)
                .and_then(|command| command.into_string().ok())
        };
        assert_eq!(chosen(&["--over", "stood | there"], &config).as_deref(), Some("stood | there"));
        assert_eq!(chosen(&[], &config).as_deref(), Some("set"));
        assert_eq!(chosen(&["--over"], &Config::compiled_in()), None);
    }
}

//! `tow statusline`: what an agent shows below its input, and the agent's own numbers for the meter.
//!
//! Runs several times a second: nothing is folded and no database opened, and an event is made only for a number that is
//! new. Whatever goes wrong, the user's own line is drawn, and it exits with 0.

use crate::config::{Config, layered};
use crate::edge::{Edge, GUARD, variable};
use crate::{guard, privacy, projects};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use towline_agents::{Agent, Status};
use towline_core::escape::{fit, for_terminal};
use towline_core::meter::Fill;

/// More than any agent sends.
const LARGEST: u64 = 1 << 20;
/// How much of the user's line is shown.
const LONGEST_LINE: u64 = 64 << 10;
/// A line that takes longer is not shown: the agent draws again before that.
const PATIENCE: Duration = Duration::from_secs(3);

/// `over` is the command that stood in the agent's settings before us.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let payload = read_payload();
    let edge = Edge::new();
    let config = edge.as_ref().map_or_else(Config::compiled_in, settings);
    let status = Agent::ALL.into_iter().find_map(|agent| agent.status(&payload));
    if let (Some(edge), Some(status), None) = (&edge, &status, variable(GUARD))
        && !status.folder.as_deref().is_some_and(|folder| privacy::is_excluded(&config, folder))
    {
        guard::shown(edge, &config, status);
    }
    let theirs = their_command(arguments, &config).and_then(|command| drawn(&command, &payload));
    let ours = status.filter(|_| config.statusline.own).map(|status| line(&config, &status));
    let mut shown = theirs.unwrap_or_default();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown.extend(ours.map(|ours| format!("{ours}\n")));
    // A closed pipe means that nobody looks any more.
    let _ = io::stdout().write_all(shown.as_bytes());
    ExitCode::SUCCESS
}

fn read_payload() -> Vec<u8> {
    let mut payload = vec![];
    let _ = io::stdin().lock().take(LARGEST).read_to_end(&mut payload);
    payload
}

fn settings(edge: &Edge) -> Config {
    std::fs::read_to_string(&edge.config_file)
        .map_or_else(|_| Config::compiled_in(), |user| layered(&user).config)
}

fn their_command(mut arguments: impl Iterator<Item = OsString>, config: &Config) -> Option<OsString> {
    let over = arguments.next().filter(|word| word == "--over").and_then(|_| arguments.next());
    let set = || Some(OsString::from(&config.statusline.command));
    over.or_else(set).filter(|command| !command.is_empty())
}

/// What the user's own command draws, given what we were given. An agent runs such a line by the shell, and so do we.
#[expect(clippy::disallowed_methods, reason = "the user's own line, which is the shell's by its nature")]
fn drawn(command: &OsString, payload: &[u8]) -> Option<String> {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env(GUARD, "1");
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = shell.spawn().ok()?;
    // What fits into the pipe is taken at once, and a line that reads nothing has closed it.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload));
    let is_done = has_ended(&mut child);
    if !is_done {
        let _ = child.kill();
        let _ = child.wait();
    }
    let mut bytes = vec![];
    let stdout = child.stdout.take()?;
    // Somebody it left behind may hold the pipe open.
    let _ = rustix::fs::fcntl_setfl(&stdout, rustix::fs::OFlags::NONBLOCK);
    let _ = stdout.take(LONGEST_LINE).read_to_end(&mut bytes);
    is_done.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Most lines are drawn at once; the others are not asked often.
#[expect(clippy::disallowed_methods, reason = "waiting for a child, which has no timed wait")]
fn has_ended(child: &mut Child) -> bool {
    let (mut spent, mut pause) = (Duration::ZERO, Duration::from_millis(2));
    while spent < PATIENCE {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(pause);
        spent += pause;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    false
}

/// Model, context, project and branch, as far as they are known.
fn line(config: &Config, status: &Status) -> String {
    let folder = status.folder.as_deref().map(Path::new);
    let traces = folder.map(|folder| projects::traces(config, folder));
    let place = traces.map(|traces| match &traces.branch {
        Some(branch) => format!("{}/{branch}", traces.display_name()),
        None => traces.display_name().to_owned(),
    });
    let parts = [status.model.clone(), status.fill.map(bar), place];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(|part| fit(&for_terminal(&part), WIDEST).trim_end().to_owned())
        .collect();
    parts.join("  ")
}

/// No part is wider.
const WIDEST: usize = 60;

/// The context as a bar of ten, and in percent.
fn bar(fill: Fill) -> String {
    let full = usize::from(fill.percent()).div_ceil(10);
    format!("{}{} {}%", "▓".repeat(full), "░".repeat(10 - full.min(10)), fill.percent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up_to_its_end() {
        let bar = |tokens| bar(Fill::shown(tokens, 1000).unwrap());
        assert_eq!(bar(0), "░░░░░░░░░░ 0%");
        assert_eq!(bar(10), "▓░░░░░░░░░ 1%");
        assert_eq!(bar(420), "▓▓▓▓▓░░░░░ 42%");
        assert_eq!(bar(2000), "▓▓▓▓▓▓▓▓▓▓ 100%");
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

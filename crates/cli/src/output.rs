//! Output for users: plain text, with colour on a terminal.
//!
//! The only file of the command line that writes to stdout and stderr. A closed pipe is not an error.

use crate::progress;
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use towline_engine::runtime::variable;
use towline_render::Style;
pub use towline_render::Tone;

pub struct Output {
    coloured: bool,
    is_silent: bool,
}

impl Output {
    /// Colour on a terminal only, never with `NO_COLOR` or a dumb terminal.
    pub fn new() -> Output {
        let wanted = variable("NO_COLOR").is_none() && variable("TERM").as_deref() != Some("dumb");
        Output { coloured: wanted && io::stdout().is_terminal(), is_silent: false }
    }

    /// Discards everything.
    pub fn silent() -> Output {
        Output { coloured: false, is_silent: true }
    }

    pub fn tint(&self, tone: Tone, text: &str) -> String {
        let style = Style { is_coloured: self.coloured, ..Style::PLAIN };
        style.tint(tone, text)
    }

    /// Colours and width of what is printed here.
    pub fn style(&self) -> Style {
        Style { is_coloured: self.coloured, columns: self.columns() }
    }

    /// Prints one JSON object in one line.
    pub fn json(&self, value: &impl Serialize) {
        self.line(&serde_json::to_string(value).unwrap_or_default());
    }

    /// Prints one JSON object or the text, whichever is wanted.
    pub fn print(&self, is_json: bool, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) {
        if is_json { self.json(&json()) } else { self.text(&text()) }
    }

    /// Prints one JSON object or one line, whichever is wanted.
    pub fn say(&self, is_json: bool, json: &impl Serialize, line: &str) {
        if is_json { self.json(json) } else { self.line(line) }
    }

    /// Line width, from `COLUMNS` or the terminal.
    pub fn columns(&self) -> usize {
        let said = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let terminal = || tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
        said.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(100)
    }

    /// Number of rows of the terminal.
    pub fn rows(&self) -> usize {
        let terminal = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_row));
        terminal.filter(|rows| *rows > 0).unwrap_or(24)
    }

    /// Writes and flushes; fails on a closed pipe, for callers that stop then.
    pub fn send(&self, text: &str) -> io::Result<()> {
        if self.is_silent {
            return Ok(());
        }
        progress::erase();
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    pub fn line(&self, text: &str) {
        self.text(&format!("{text}\n"));
    }

    /// Writes text that contains its own newlines.
    pub fn text(&self, text: &str) {
        if !self.is_silent {
            progress::erase();
            drop(io::stdout().write_all(text.as_bytes()));
        }
    }
}

/// Writes to stderr.
pub fn complain(text: &str) {
    progress::erase();
    let _ = io::stderr().write_all(text.as_bytes());
}

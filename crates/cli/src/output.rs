//! Output for users: plain text, with colour on a terminal.
//!
//! The only file of the command line that writes to stdout and stderr. A closed pipe is not an error.

use rustix::termios::tcgetwinsize;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use towline_engine::runtime::env::variable;

/// Colours of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Faint,
}

pub struct Output {
    coloured: bool,
    /// Buffer used instead of stdout, for callers of `cli::answer`.
    kept: Option<RefCell<String>>,
}

/// Line width of buffered output: wider than any terminal.
const WIDE: usize = 240;

impl Output {
    /// Colour on a terminal only, never with `NO_COLOR` or a dumb terminal.
    pub fn new() -> Output {
        let wanted = variable("NO_COLOR").is_none() && variable("TERM").as_deref() != Some("dumb");
        Output { coloured: wanted && io::stdout().is_terminal(), kept: None }
    }

    /// Buffers the output instead of writing it.
    pub fn kept() -> Output {
        Output { coloured: false, kept: Some(RefCell::default()) }
    }

    /// The buffered output; empty if it was written to stdout.
    pub fn into_text(self) -> String {
        self.kept.map(RefCell::into_inner).unwrap_or_default()
    }

    #[cfg(test)]
    pub fn plain() -> Output {
        Output { coloured: false, kept: None }
    }

    pub fn tint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
        };
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Line width, from `COLUMNS` or the terminal.
    pub fn columns(&self) -> usize {
        if self.kept.is_some() {
            return WIDE;
        }
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
        if let Some(kept) = &self.kept {
            kept.borrow_mut().push_str(text);
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    pub fn line(&self, text: &str) {
        match &self.kept {
            Some(kept) => kept.borrow_mut().extend([text, "\n"]),
            None => drop(writeln!(io::stdout(), "{text}")),
        }
    }

    /// Writes text that contains its own newlines.
    pub fn text(&self, text: &str) {
        match &self.kept {
            Some(kept) => kept.borrow_mut().push_str(text),
            None => drop(io::stdout().write_all(text.as_bytes())),
        }
    }
}

/// Writes to stderr.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

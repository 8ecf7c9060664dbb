//! Writing for people: plain text, and colour where a terminal wants it.
//!
//! The only place below `cli` that writes to stdout and stderr. A reader that went away is not an error.

use rustix::termios::tcgetwinsize;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use towline_engine::runtime::env::variable;

/// Marks that stand before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Faint,
}

pub struct Output {
    coloured: bool,
    /// Kept instead of written, for who answers with it.
    kept: Option<RefCell<String>>,
}

/// For who reads no terminal: longer lines than any terminal has.
const WIDE: usize = 240;

impl Output {
    /// Colour on a terminal only, never with `NO_COLOR` or a dumb terminal.
    pub fn new() -> Output {
        let wanted = variable("NO_COLOR").is_none() && variable("TERM").as_deref() != Some("dumb");
        Output { coloured: wanted && io::stdout().is_terminal(), kept: None }
    }

    /// Keeps what is said until it is asked for.
    pub fn kept() -> Output {
        Output { coloured: false, kept: Some(RefCell::default()) }
    }

    /// What was said, if it was kept.
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

    /// How wide a line may be, as far as anybody or the terminal says.
    pub fn columns(&self) -> usize {
        if self.kept.is_some() {
            return WIDE;
        }
        let said = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let terminal = || tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
        said.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(100)
    }

    /// How many lines are seen at once, as far as the terminal says.
    pub fn rows(&self) -> usize {
        let terminal = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_row));
        terminal.filter(|rows| *rows > 0).unwrap_or(24)
    }

    /// For whoever stops when nobody reads any more.
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

    /// Text that brings its own line ends.
    pub fn text(&self, text: &str) {
        match &self.kept {
            Some(kept) => kept.borrow_mut().push_str(text),
            None => drop(io::stdout().write_all(text.as_bytes())),
        }
    }
}

/// Says something beside the output.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

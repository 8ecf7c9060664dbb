//! A terminal in raw mode on the alternate screen, with the cursor hidden.
//!
//! Restores the terminal on every exit path, panics included. No other code changes terminal modes, except
//! `keeper.rs`, which restores a terminal whose owner was killed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use towline_engine::runtime::{Failure, variable};
use towline_engine::status::tmux::conf::current_server;
use towline_monitor::ScreenSize;
use towline_terminal::process::Process;

const ESCAPE: u8 = 0x1b;

/// Saves the title, enters the alternate screen, hides the cursor and turns off line wrapping.
const ENTER: &str = "\x1b[22;2t\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// The first two sequences end an interrupted frame: its synchronized update and its text attributes.
pub const LEAVE: &str = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l\x1b[23;2t";

pub struct TerminalCanvas {
    input: File,
    output: File,
    before: Termios,
    title: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum KeyInput {
    Bytes(Vec<u8>),
    Nothing,
    /// The terminal is gone.
    Gone,
}

impl TerminalCanvas {
    /// `input` and `output` must be the same terminal.
    pub fn enter(input: OwnedFd, output: OwnedFd) -> io::Result<TerminalCanvas> {
        let before = tcgetattr(&input)?;
        let mut raw = before.clone();
        raw.make_raw();
        let (input, output) = (File::from(input), File::from(output));
        restore_before_panic_report(&input, &output, &before)?;
        // From here on `Drop` restores the terminal.
        let mut canvas = TerminalCanvas { input, output, before, title: String::new() };
        tcsetattr(&canvas.input, OptionalActions::Now, &raw)?;
        canvas.send(ENTER)?;
        Ok(canvas)
    }

    /// Some scripts run on a terminal without a size; it counts as 80×24.
    pub fn size(&self) -> ScreenSize {
        match tcgetwinsize(&self.output).map_or((0, 0), |size| (size.ws_col, size.ws_row)) {
            (0, _) | (_, 0) => ScreenSize { columns: 80, rows: 24 },
            (columns, rows) => ScreenSize { columns, rows },
        }
    }

    /// `title` must already be free of control characters.
    pub fn name(&mut self, title: &str) -> io::Result<()> {
        if title == self.title {
            return Ok(());
        }
        self.title = title.to_owned();
        self.send(&format!("\x1b]2;{title}\x07"))
    }

    /// Writes `text` unchanged.
    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())
    }

    /// Waits for a key, for a signal, or until one of `others` becomes readable.
    pub fn typed(&mut self, others: &[BorrowedFd<'_>], patience: Duration) -> KeyInput {
        let mut typed = self.read_within(others, patience);
        // The rest of an escape sequence may arrive late on a slow line; nothing follows a bare Escape.
        if let KeyInput::Bytes(bytes) = &mut typed
            && bytes.ends_with(&[ESCAPE])
            && let KeyInput::Bytes(rest) = self.read_within(&[], REST)
        {
            bytes.extend(rest);
        }
        typed
    }

    fn read_within(&mut self, others: &[BorrowedFd<'_>], patience: Duration) -> KeyInput {
        let Ok(limit) = Timespec::try_from(patience) else { return KeyInput::Nothing };
        let ends = std::iter::once(self.input.as_fd()).chain(others.iter().copied());
        let mut ends: Vec<PollFd<'_>> =
            ends.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
        match poll(&mut ends, Some(&limit)) {
            Ok(0) | Err(Errno::INTR) => return KeyInput::Nothing,
            Ok(_) if ends[0].revents().is_empty() => return KeyInput::Nothing,
            Ok(_) => {}
            Err(_) => return KeyInput::Gone,
        }
        let mut bytes = [0; 256];
        match self.input.read(&mut bytes) {
            Ok(0) => KeyInput::Gone,
            Ok(read) => KeyInput::Bytes(bytes[..read].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => KeyInput::Nothing,
            Err(_) => KeyInput::Gone,
        }
    }
}

/// How long the rest of an escape sequence may take.
const REST: Duration = Duration::from_millis(40);

impl Drop for TerminalCanvas {
    fn drop(&mut self) {
        restore(&self.input, &self.output, &self.before);
    }
}

/// Errors mean that the terminal is gone, and with it the need to restore it.
fn restore(input: &File, mut output: &File, before: &Termios) {
    let _ = output.write_all(LEAVE.as_bytes());
    let _ = tcsetattr(input, OptionalActions::Now, before);
}

/// A panic ends the process without `Drop`, and its report would vanish with the alternate screen.
fn restore_before_panic_report(input: &File, output: &File, before: &Termios) -> io::Result<()> {
    let (input, output, before) = (input.try_clone()?, output.try_clone()?, before.clone());
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore(&input, &output, &before);
        report(panic);
    }));
    Ok(())
}

/// Fails unless stdin and stdout are a terminal that supports cursor movement.
pub fn require_terminal(command: &str, instead: &str) -> Result<(), Failure> {
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    if !is_dumb && io::stdout().is_terminal() && io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::input(format!("`{command}` needs a terminal that can be drawn on")).hint(instead))
}

/// The signals that end a drawing program.
pub const ENDING: [i32; 3] = [SIGTERM, SIGHUP, SIGINT];

/// Holds the number of the ending signal once one arrived, and 0 before.
pub fn end_signals() -> Result<Arc<AtomicUsize>, Failure> {
    let came = Arc::new(AtomicUsize::new(0));
    for signal in ENDING {
        let number = usize::try_from(signal).unwrap_or(0);
        signal_hook::flag::register_usize(signal, Arc::clone(&came), number)
            .map_err(|error| no_signals(&error))?;
    }
    Ok(came)
}

pub fn no_signals(error: &io::Error) -> Failure {
    Failure::about("could not listen for signals", error)
}

/// Whether we run in a tmux popup: inside tmux, on a terminal that belongs to no pane.
pub fn is_popup() -> bool {
    let own = Process::read(std::process::id()).and_then(|process| process.terminal());
    let panes = current_server().and_then(|server| server.panes());
    match (own, panes) {
        (Some(own), Some(panes)) => panes.iter().all(|pane| pane.terminal != own),
        (None, _) | (_, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    /// A new pseudo-terminal: the user's end, and the program's end.
    fn terminal() -> (File, OwnedFd) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, vec![]).unwrap();
        let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (File::from(person), program)
    }

    fn canvas(program: &OwnedFd) -> TerminalCanvas {
        TerminalCanvas::enter(program.try_clone().unwrap(), program.try_clone().unwrap()).unwrap()
    }

    /// A terminal delivers writes in parts and with a delay: read until the expected end has arrived.
    fn written(person: &mut File, last: &str) -> String {
        let mut all = String::new();
        let mut bytes = [0; 4096];
        while !all.ends_with(last) {
            let read = person.read(&mut bytes).unwrap();
            all += &String::from_utf8_lossy(&bytes[..read]);
        }
        all
    }

    #[test]
    fn the_terminal_is_given_back_even_by_a_panic() {
        let (mut person, program) = terminal();
        let before = format!("{:?}", tcgetattr(&program).unwrap());
        let canvas = canvas(&program);
        assert_ne!(format!("{:?}", tcgetattr(&program).unwrap()), before, "raw");
        std::panic::catch_unwind(|| panic!("while drawing")).unwrap_err();
        // The release ends here, without `Drop`.
        std::mem::forget(canvas);
        assert_eq!(format!("{:?}", tcgetattr(&program).unwrap()), before);
        written(&mut person, LEAVE);
    }

    #[test]
    fn an_arrow_that_comes_in_pieces_is_one_key() {
        let (mut person, program) = terminal();
        let mut canvas = canvas(&program);
        person.write_all(b"\x1b").unwrap();
        person.write_all(b"[A").unwrap();
        assert_eq!(canvas.typed(&[], Duration::from_secs(5)), KeyInput::Bytes(b"\x1b[A".to_vec()));
        assert_eq!(canvas.typed(&[], Duration::ZERO), KeyInput::Nothing);
        drop(person);
        assert_eq!(canvas.typed(&[], Duration::from_secs(5)), KeyInput::Gone);
    }
}

//! A small watchdog process that restores the terminal if the monitor is killed.
//!
//! Touches the terminal only if its owner died without a word, and only the modes that the owner had changed:
//! a shell that already took the terminal back keeps its modes.

use super::canvas::LEAVE;
use rustix::process::setsid;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use towline_engine::runtime::env::{GUARD, leave_folder, own_program};

/// Written by the owner after it restored the terminal itself.
const DONE: &[u8] = b"done";

/// For a panic, which ends the process without `Drop`.
static PIPE: OnceLock<OwnedFd> = OnceLock::new();

/// Tells the watchdog that the terminal has been restored.
pub fn release_keeper() {
    if let Some(pipe) = PIPE.get() {
        let _ = rustix::io::write(pipe, DONE);
    }
}

/// The watchdog process. Dropping it tells it that the terminal has been restored.
pub struct Keeper(Child);

impl Keeper {
    /// Must start before the terminal changes, because it records the modes to restore. Without a keeper, a
    /// kill leaves the terminal in raw mode.
    #[expect(clippy::disallowed_methods, reason = "what is to outlive a kill is another process")]
    pub fn start(terminal: OwnedFd) -> Option<Keeper> {
        let mut command = Command::new(own_program()?);
        command.arg("give-back").env(GUARD, "1");
        command.stdin(Stdio::piped()).stdout(terminal).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut ready = [0];
        // A keeper that failed to start closes the pipe, which ends this read as well.
        let _ = child.stderr.take()?.read(&mut ready);
        let pipe = child.stdin.as_ref().and_then(|pipe| pipe.as_fd().try_clone_to_owned().ok());
        pipe.map(|pipe| PIPE.set(pipe));
        Some(Keeper(child))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        release_keeper();
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The main function of the watchdog: stdin ends with the owner, stdout is the terminal, and a byte on stderr
/// reports that it is ready.
pub fn keep() -> io::Result<()> {
    let terminal = io::stdout();
    let before = tcgetattr(&terminal)?;
    // Ignore keys and hangups of the terminal; our own session may also set a terminal that a shell controls.
    let _ = setsid();
    leave_folder();
    io::stderr().write_all(b".")?;
    let mut said = vec![];
    io::stdin().take(DONE.len() as u64).read_to_end(&mut said)?;
    if said != DONE {
        give_back(&terminal.lock(), &before)?;
    }
    Ok(())
}

fn give_back(terminal: &io::StdoutLock<'_>, before: &Termios) -> io::Result<()> {
    let mut drawn_on = before.clone();
    drawn_on.make_raw();
    if modes(&tcgetattr(terminal)?) == modes(&drawn_on) {
        tcsetattr(terminal, OptionalActions::Now, before)?;
    }
    rustix::io::write(terminal, LEAVE.as_bytes())?;
    Ok(())
}

fn modes(termios: &Termios) -> [u32; 4] {
    [
        termios.input_modes.bits(),
        termios.output_modes.bits(),
        termios.control_modes.bits(),
        termios.local_modes.bits(),
    ]
}

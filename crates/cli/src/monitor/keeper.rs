//! Giving a terminal back when whoever draws on it is killed and cannot do it: a small process beside it that waits.
//!
//! Touches the terminal only if its owner went away without a word, and only what the owner had changed: a shell that has
//! the terminal again by then keeps it as it is.

use crate::canvas::LEAVE;
use rustix::process::setsid;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use towline_engine::runtime::env::GUARD;
use towline_engine::runtime::env::leave_folder;
use towline_engine::runtime::env::own_program;

/// What the owner says when it has given the terminal back itself.
const DONE: &[u8] = b"done";

/// The process beside us. Dropped, it is told that nothing is left to do.
pub struct Keeper(Child);

impl Keeper {
    /// Started before anything is changed: it must see the terminal as it is to be given back. Without one, only a kill
    /// leaves the terminal behind as it was drawn on.
    #[expect(clippy::disallowed_methods, reason = "what is to outlive a kill is another process")]
    pub fn start(terminal: OwnedFd) -> Option<Keeper> {
        let mut command = Command::new(own_program()?);
        command.arg("give-back").env(GUARD, "1");
        command.stdin(Stdio::piped()).stdout(terminal).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut ready = [0];
        // One that ends instead has nothing to say either.
        let _ = child.stderr.take()?.read(&mut ready);
        Some(Keeper(child))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(mut end) = self.0.stdin.take() {
            let _ = end.write_all(DONE);
        }
        let _ = self.0.wait();
    }
}

/// The process itself: its input ends with its owner, its output is the terminal, and it says on the third when it is
/// ready.
pub fn keep() -> io::Result<()> {
    let terminal = io::stdout();
    let before = tcgetattr(&terminal)?;
    // Keys and the end of the terminal are not for us; a session of our own may also set a terminal that a shell has.
    let _ = setsid();
    leave_folder();
    io::stderr().write_all(b".")?;
    let mut said = vec![];
    io::stdin().read_to_end(&mut said)?;
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

//! A tmux client attached to a server, on a terminal whose bytes the benchmark reads.
//!
//! Never types into it. It ends when it is dropped.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use towline_testkit::{Tmux, wait};

use super::agent::{PATIENCE, is_readable};
use crate::outcome::{Failure, Result};

pub struct Client {
    terminal: File,
    process: RefCell<Child>,
}

/// The client has finished drawing after this long without a byte.
const STILL: Duration = Duration::from_millis(15);

impl Client {
    pub fn attach(tmux: &Tmux) -> Result<Client> {
        let (terminal, far_end) = terminal().map_err(Failure::write(Path::new("/dev/ptmx")))?;
        let end = || far_end.try_clone().map(Stdio::from).map_err(Failure::start("tmux attach"));
        let mut command = tmux.env().command("tmux");
        command.arg("-S").arg(tmux.socket()).arg("attach");
        command.stdin(end()?).stdout(end()?).stderr(end()?);
        let process = RefCell::new(command.spawn().map_err(Failure::start("tmux attach"))?);
        let client = Client { terminal, process };
        wait::until("a client to be attached", PATIENCE, || {
            (!tmux.run(&["list-clients"]).is_empty()).then_some(())
        });
        client.drain()?;
        Ok(client)
    }

    /// Discards everything drawn so far.
    pub fn drain(&self) -> Result<()> {
        while is_readable(&self.terminal, STILL).map_err(unreadable)? {
            self.read()?;
        }
        Ok(())
    }

    /// Waits until `text` is drawn, and returns the time.
    pub fn wait_for(&self, text: &str) -> Result<Duration> {
        let mut drawn = Vec::new();
        while is_readable(&self.terminal, PATIENCE).map_err(unreadable)? {
            drawn.extend(self.read()?);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            if drawn.windows(text.len()).any(|part| part == text.as_bytes()) {
                return Ok(now);
            }
        }
        let drawn = String::from_utf8_lossy(&drawn).into_owned();
        Err(Failure::malformed("what tmux draws", format!("no {text:?} in {drawn:?}")))
    }

    fn read(&self) -> Result<Vec<u8>> {
        let mut part = vec![0; 64 * 1024];
        let length = (&self.terminal).read(&mut part).map_err(unreadable)?;
        part.truncate(length);
        Ok(part)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut process = self.process.borrow_mut();
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn unreadable(source: std::io::Error) -> Failure {
    Failure::Read { path: Path::new("/dev/ptmx").to_owned(), source }
}

/// A pseudoterminal of usual size: our end and the program's. It is no process's controlling terminal.
fn terminal() -> std::io::Result<(File, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    tcsetwinsize(&ours, Winsize { ws_row: 50, ws_col: 150, ws_xpixel: 0, ws_ypixel: 0 })?;
    let name = ptsname(&ours, Vec::new())?;
    let path = Path::new(OsStr::from_bytes(name.as_bytes()));
    let theirs = open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((File::from(ours), File::from(theirs)))
}

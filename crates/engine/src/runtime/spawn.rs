//! Starting ourselves for what an agent should not wait for: detached and silent.
//!
//! Whoever starts it does not wait for it. `tow work` takes its own lock, so starting it once too often costs nothing.

use crate::runtime::env::GUARD;
use crate::runtime::env::on_path;
use crate::runtime::env::own_program;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Upkeep that could not be started is started by the next hook.
pub fn start_detached() {
    start(&["work", "--quiet"]);
}

/// Sets the bars by what is shown once it runs.
pub fn refresh_detached() {
    start(&["bar", "--refresh"]);
}

/// Finds out what state the code is in at bookmarks that were just told of.
pub fn place_detached() {
    start(&["capture", PLACE]);
}

pub const PLACE: &str = "--place";

/// Tells later what is still unseen then.
pub fn alert_detached() {
    start(&["alert"]);
}

/// Waits for the end of usage limits.
pub fn wake_detached() {
    start(&["wake"]);
}

/// Types what waits for this seat.
pub fn type_detached(seat: &str) {
    start(&["type", "--", seat]);
}

/// A server that outlives us, and the line by which it says where it listens; none if it could not begin.
pub fn serve_detached(options: &[&str]) -> Option<String> {
    let arguments: Vec<&str> =
        ["serve", "--json", "--idle", IDLE_MINUTES].iter().chain(options).copied().collect();
    let mut child = ourselves(&arguments)?.stdout(Stdio::piped()).spawn().ok()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    Some(line).filter(|line| !line.is_empty())
}

/// What `tow hook` answers to a payload that came by another way. It is no child of ours in the sense of the guard: what it
/// tells is the user's work.
pub fn hook(agent: &str, payload: &str) -> io::Result<String> {
    let mut command = ourselves(&["hook", agent]).ok_or(io::ErrorKind::NotFound)?;
    let mut child = command.env_remove(GUARD).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // A hook that has heard enough closes its end.
    let _heard_enough = child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes()));
    let said = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// How long a server stays that was started to be looked at once.
const IDLE_MINUTES: &str = "30";

/// Hands an address to whatever opens such things here; whether there was anything.
#[expect(clippy::disallowed_methods, reason = "a browser is another program")]
pub fn open_in_browser(url: &str) -> bool {
    let opener = ["xdg-open", "open"].into_iter().find_map(on_path);
    let mut command = match opener {
        Some(opener) => Command::new(opener),
        None => return false,
    };
    command.arg(url).env(GUARD, "1").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

fn start(arguments: &[&str]) {
    let _ = ourselves(arguments).map(|mut child| child.spawn());
}

/// Like `start`, but does not wait until the other program is loaded, which takes as long as a third of a hook. Until then
/// the other one has a copy of whatever is open here: no lock may be held.
#[expect(unsafe_code, reason = "no safe call starts a program without waiting until it is loaded")]
pub fn start_and_go(arguments: &[&str]) {
    let Some(mut child) = ourselves(arguments) else { return };
    // SAFETY: nothing here starts a thread, so that the copy of this process may do whatever this one may. It becomes
    // another program or ends at once, without running anything that is left to do here.
    unsafe {
        if libc::fork() == 0 {
            let _ = child.exec();
            libc::_exit(1);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts our own program")]
fn ourselves(arguments: &[&str]) -> Option<Command> {
    let mut child = Command::new(own_program()?);
    // In the folder that we are in: whoever stays longer than a moment leaves it by itself.
    child.args(arguments).env(GUARD, "1").process_group(0);
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(child)
}

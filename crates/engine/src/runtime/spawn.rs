//! Starts our own program, detached and silent, for work an agent must not wait for.
//!
//! The caller does not wait for it. Of `tow data work`, one process runs at a time.

use crate::runtime::env::{Env, GUARD, arguments, find_in_path, own_program};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use towline_store::lock::WorkLock;
use towline_terminal::child::leave;

/// Starts `tow data work`, or asks the one that runs for another round. If this fails, the next hook starts it.
pub fn start_detached(env: &Env) {
    if !WorkLock::ask_holder(&env.home) {
        start(&["work", "--quiet"]);
    }
}

/// Starts `tow data work` unless it runs already, for work that every run does: another round would take the lock that hooks
/// wait for, for nothing.
pub fn start_unless_running(env: &Env) {
    if !WorkLock::is_held(&env.home) {
        start(&["work", "--quiet"]);
    }
}

/// Recomputes the status bars.
pub fn refresh_detached() {
    start(&["bar", "--refresh"]);
}

/// Determines the code state of bookmarks that were just recorded.
pub fn place_detached() {
    start(&["capture", PLACE]);
}

pub const PLACE: &str = "--place";

/// Notifies later about sessions that are still unseen then.
pub fn alert_detached() {
    start(&["alert"]);
}

pub fn wake_detached() {
    start(&["wake"]);
}

/// Types the text queued for this seat.
pub fn type_detached(seat: &str) {
    start(&["type", "--", seat]);
}

/// Starts a server that outlives us. Returns the line with its address, or `None` if it failed to start.
pub fn serve_detached(options: &[&str]) -> Option<String> {
    let arguments: Vec<&str> =
        ["serve", "--json", "--idle", IDLE_MINUTES].iter().chain(options).copied().collect();
    let mut child = ourselves(&arguments)?.stdout(Stdio::piped()).spawn().ok()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    leave(child);
    Some(line).filter(|line| !line.is_empty())
}

/// Marks a payload that was received over HTTP.
pub const OF_HOST: &str = "--host";

/// Runs `tow hook` to its end on a payload received over HTTP. The guard variable is removed, because the payload
/// reports work that is to be recorded.
pub fn hook(agent: &str, payload: &str) -> io::Result<()> {
    let mut command = ourselves(&["hook", agent, OF_HOST]).ok_or(io::ErrorKind::NotFound)?;
    let mut child = command.env_remove(GUARD).stdin(Stdio::piped()).spawn()?;
    // A hook that has read enough closes its end.
    let _heard_enough = child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes()));
    child.wait().map(drop)
}

/// Idle time after which a server that was started for a single visit ends.
const IDLE_MINUTES: &str = "30";

/// Opens a page with the system's opener. Returns whether one was started. The path is visible to all users of the
/// machine: it must hold no secret.
#[expect(clippy::disallowed_methods, reason = "a browser is another program")]
pub fn open_in_browser(page: &Path) -> bool {
    let opener = ["xdg-open", "open"].into_iter().find_map(find_in_path);
    let mut command = match opener {
        Some(opener) => Command::new(opener),
        None => return false,
    };
    command.arg(page).env(GUARD, "1").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(leave).is_ok()
}

/// Asks another process of ours to end. Returns whether it `is_gone` within `patience`.
pub fn end(pid: i32, patience: Duration, is_gone: impl Fn() -> bool) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 1);
    let is_asked =
        pid.is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok());
    is_asked && matches!(known_within(patience, || Ok(is_gone().then_some(()))), Ok(Some(())))
}

/// Waits until a child has ended, for at most `patience`.
pub fn ended_within(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    known_within(patience, || child.try_wait())
}

/// Asks again and again, for at most `patience`. The pauses grow: most programs end at once.
#[expect(clippy::disallowed_methods, reason = "waiting for a process, which has no timed wait")]
fn known_within<T>(
    patience: Duration,
    mut ask: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let (end, mut pause) = (Instant::now() + patience, Duration::from_millis(2));
    loop {
        if let Some(known) = ask()? {
            return Ok(Some(known));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn start(arguments: &[&str]) {
    if let Some(Ok(child)) = ourselves(arguments).map(|mut child| child.spawn()) {
        leave(child);
    }
}

/// Like `start`, but does not wait until the program is loaded, which takes up to a third of a hook's time.
/// Until then the child holds a copy of every open descriptor, so no lock may be held here.
#[expect(unsafe_code, reason = "no safe call starts a program without waiting until it is loaded")]
pub fn start_without_waiting(arguments: &[&str]) {
    let Some(mut child) = ourselves(arguments) else { return };
    // SAFETY: this process has no other threads, so the forked child may make any call that the parent may.
    // It execs or calls `_exit` at once and runs none of the parent's remaining code.
    unsafe {
        if libc::fork() == 0 {
            let _ = child.exec();
            libc::_exit(1);
        }
    }
}

/// Runs background work below everything that a user or an agent waits for, in a thread of its own: a thread cannot raise
/// its priority again, and processes started by the others keep the usual one. Meanwhile calls `look` twice a second.
#[expect(unsafe_code, reason = "the I/O priority is set by a bare system call")]
pub fn at_low_priority<T: Send>(work: impl FnOnce() -> T + Send, look: &mut dyn FnMut()) -> T {
    let (working, worked) = channel::<()>();
    let lowered = move || {
        let _working = working;
        let usual = rustix::process::getpriority_process(None).unwrap_or(0);
        let _ = rustix::process::setpriority_process(None, usual.max(LOW_PRIORITY));
        // SAFETY: the call takes three numbers and changes nothing but the priority of this thread.
        let _ = unsafe { libc::syscall(libc::SYS_ioprio_set, THIS_THREAD, 0, LOWEST_BEST_EFFORT) };
        work()
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(lowered);
        while worked.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            look();
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

const LOOK: Duration = Duration::from_millis(500);

/// As a nice value: about a tenth of the processor while others need it, so that a lock is still released in time.
const LOW_PRIORITY: i32 = 10;

/// `IOPRIO_WHO_PROCESS` with the id 0, and the last level of the class `IOPRIO_CLASS_BE`: the idle class might wait for ever.
const THIS_THREAD: libc::c_int = 1;
const LOWEST_BEST_EFFORT: libc::c_int = (2 << 13) | 7;

/// Replaces this process by a new run of the same command, with `mark` set. Returns only if that fails.
#[expect(clippy::disallowed_methods, reason = "the one place that starts our own program")]
pub fn restart(mark: &str) {
    if let Some(program) = own_program() {
        let _failed = Command::new(program).args(arguments().skip(1)).env(mark, "1").exec();
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts our own program")]
fn ourselves(arguments: &[&str]) -> Option<Command> {
    let mut child = Command::new(own_program()?);
    // The child starts in our current folder; long-running commands leave it themselves.
    child.args(arguments).env(GUARD, "1").process_group(0);
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(child)
}

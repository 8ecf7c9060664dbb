//! Runs a child process for one request: in our folder, in its own process group, with a deadline.
//!
//! The child dies with us, and its whole group dies at the deadline. Its output goes to files, so no pipe can
//! block and no thread is needed; only secrets use a pipe, which is large enough for them.

use crate::runtime::spawn::ended_within;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_agents::ask::ExitKind;
use towline_store::home::private_folder;

/// Set in every process we start: hooks below it do nothing.
const GUARD: &str = "TOWLINE_CHILD";

/// The largest output that is read.
const MOST_READ: u64 = 1 << 20;

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

pub(super) struct Child {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    pub stdin: String,
    pub variables: Vec<(&'static str, String)>,
    pub without: Vec<&'static str>,
}

pub(super) struct Finished {
    pub stdout: String,
    pub stderr: String,
    pub ended: ExitKind,
}

impl Child {
    pub fn new(program: PathBuf, folder: PathBuf) -> Child {
        let (arguments, variables, without) = (vec![], vec![], vec![]);
        Child { program, arguments, folder, stdin: String::new(), variables, without }
    }

    /// Runs it to its end or to the deadline.
    pub fn run(self, patience: Duration) -> io::Result<Finished> {
        private_folder(&self.folder)?;
        let place = |name: &str| self.folder.join(format!("{name}.{}", std::process::id()));
        let (input, output, errors) = (place("in"), place("out"), place("err"));
        let finished = self.run_with(patience, [&input, &output, &errors]);
        for file in [&input, &output, &errors] {
            let _ = fs::remove_file(file);
        }
        finished
    }

    fn run_with(&self, patience: Duration, [input, output, errors]: [&Path; 3]) -> io::Result<Finished> {
        private(input)?.write_all(self.stdin.as_bytes())?;
        let mut command = self.command();
        command.stdin(File::open(input)?).stdout(private(output)?).stderr(private(errors)?);
        let mut child = command.spawn()?;
        let ended = wait(&mut child, patience);
        // Processes that the child left behind end with it.
        end_group(&child, Signal::KILL);
        Ok(Finished { stdout: read(output), stderr: read(errors), ended: ended? })
    }

    /// Runs it and reads its output through a pipe, so that no disk is touched. Only for short output: a
    /// child that fills the pipe blocks until the deadline.
    pub fn printed(&self, patience: Duration) -> io::Result<Finished> {
        private_folder(&self.folder)?;
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let ended = wait(&mut child, patience);
        end_group(&child, Signal::KILL);
        let mut bytes = vec![];
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MOST_READ).read_to_end(&mut bytes)?;
        }
        let stdout = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Finished { stdout, stderr: String::new(), ended: ended? })
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts what answers questions")]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).process_group(0);
        for name in &self.without {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).env(GUARD, "1");
        die_with_us(&mut command);
        command
    }
}

fn wait(child: &mut std::process::Child, patience: Duration) -> io::Result<ExitKind> {
    if let Some(status) = ended_within(child, patience)? {
        return Ok(if status.success() { ExitKind::Well } else { ExitKind::Badly });
    }
    end_group(child, Signal::TERM);
    if ended_within(child, GRACE)?.is_none() {
        end_group(child, Signal::KILL);
        child.wait()?;
    }
    Ok(ExitKind::Late)
}

fn end_group(child: &std::process::Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process_group(pid, signal));
}

/// Asks the kernel to end the child whenever we end. SIGTERM, because wrapper programs pass it on.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "only between fork and exec can a process say that it wants to die with its parent"
)]
fn die_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    let ask = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        // The parent may have died before the call above.
        if rustix::process::getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: the closure makes only system calls and allocates nothing, as required between fork and exec.
    unsafe {
        command.pre_exec(ask);
    }
}

/// Other systems only have the deadline.
#[cfg(not(target_os = "linux"))]
fn die_with_us(_command: &mut Command) {}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn read(path: &Path) -> String {
    let mut bytes = vec![];
    let _ = File::open(path).and_then(|file| file.take(MOST_READ).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, folder: &Path) -> Child {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        Child { arguments, ..Child::new("/bin/sh".into(), folder.join("asking")) }
    }

    #[test]
    fn it_is_given_what_it_needs_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = shell("cat; echo $A$TOWLINE_CHILD$HOME; pwd; echo bad >&2; exit 3", folder.path());
        (child.stdin, child.variables, child.without) =
            ("in\n".into(), vec![("A", "a".into())], vec!["HOME"]);
        let done = child.run(Duration::from_secs(20)).unwrap();
        let folder = folder.path().canonicalize().unwrap().join("asking");
        assert_eq!(done.stdout, format!("in\na1\n{}\n", folder.display()));
        assert_eq!((done.stderr.as_str(), done.ended), ("bad\n", ExitKind::Badly));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn all_of_its_group_ends_at_the_deadline_and_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let late = shell("trap '' TERM; sleep 600 & echo $!; sleep 600", folder.path());
        let done = late.run(Duration::from_millis(200)).unwrap();
        assert_eq!(done.ended, ExitKind::Late);
        let left = shell("sleep 600 & echo $!", folder.path()).run(Duration::from_secs(20)).unwrap();
        for pid in [done.stdout.trim(), left.stdout.trim()] {
            let is_gone = || !is_running(pid);
            assert!(towline_testkit::wait::holds_within(Duration::from_secs(10), is_gone), "{pid}");
        }
    }

    fn is_running(pid: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z")
    }
}

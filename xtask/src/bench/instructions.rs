//! Instructions of one process, counted by callgrind: the figure that does not depend on the machine's load.
//!
//! Counts user code only; the kernel's work for a process shows in the wall clock alone.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::files;
use crate::outcome::{Failure, Result, stdout_of};

use super::host::temporary_folder;

/// Runs `command` under callgrind and returns its number of instructions.
pub fn of(command: &Command, stdin: &[u8]) -> Result<u64> {
    let profile = profile(command, stdin)?;
    total(&profile).ok_or_else(|| Failure::malformed("callgrind's profile", "no line `totals:`"))
}

/// Runs `command` under callgrind and returns its profile, with symbols as the linker knows them.
pub fn profile(command: &Command, stdin: &[u8]) -> Result<String> {
    let folder = temporary_folder()?;
    let profile = folder.path().join("profile");
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", profile.display()));
    carry_over(command, &mut valgrind);
    valgrind.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = valgrind.spawn().map_err(Failure::start("valgrind"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A process need not read all its input.
        drop(pipe.write_all(stdin));
    }
    let output = child.wait_with_output().map_err(Failure::start("valgrind"))?;
    stdout_of("valgrind", output)?;
    files::read(&profile)
}

/// Passes the program, its arguments, folder and environment to valgrind. A command with variables of its own
/// gets no others.
pub fn carry_over(command: &Command, valgrind: &mut Command) {
    valgrind.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        valgrind.current_dir(folder);
    }
    if command.get_envs().len() > 0 {
        valgrind.env_clear();
    }
    valgrind.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
}

fn total(profile: &str) -> Option<u64> {
    profile.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_read_from_the_profile() {
        assert_eq!(total("version: 1\nevents: Ir\nfn=x\n1 2\ntotals: 126559\n"), Some(126_559));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn program_arguments_folder_and_environment_are_carried_over() {
        let mut command = Command::new("/bin/tow");
        command.args(["hook", "x"]).current_dir("/tmp").env("A", "1");
        let mut valgrind = Command::new("valgrind");
        carry_over(&command, &mut valgrind);
        assert_eq!(valgrind.get_args().collect::<Vec<_>>(), ["/bin/tow", "hook", "x"]);
        assert_eq!(valgrind.get_current_dir(), Some(std::path::Path::new("/tmp")));
        assert_eq!(valgrind.get_envs().count(), 1);
    }
}

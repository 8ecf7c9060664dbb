//! Instructions of one process, counted by callgrind: the figure that does not depend on the machine's load. Also the
//! addresses that it uses, as lackey traces them.
//!
//! Sees user code only; the kernel's work for a process shows in the wall clock alone.

use std::collections::BTreeSet;
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

/// Runs `command` under callgrind and returns its profile.
fn profile(command: &Command, stdin: &[u8]) -> Result<String> {
    written(command, stdin, |valgrind, file| {
        valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={file}"));
    })
}

/// Runs `command` under lackey and returns the addresses of the code that it runs and of the data that it uses.
pub fn addresses(command: &Command, stdin: &[u8]) -> Result<BTreeSet<u64>> {
    let trace = written(command, stdin, |valgrind, file| {
        // A hundred times as slow: a hook would run into its deadline.
        valgrind.env("TOWLINE_PATIENCE", "300");
        valgrind.args(["--tool=lackey", "--trace-mem=yes"]).arg(format!("--log-file={file}"));
    })?;
    Ok(trace.lines().filter_map(traced).collect())
}

/// A line of a trace is `I  04222c4,3` for an instruction, ` L`, ` S` or ` M` for data.
fn traced(line: &str) -> Option<u64> {
    let rest = ["I  ", " L ", " S ", " M "].iter().find_map(|kind| line.strip_prefix(kind))?;
    u64::from_str_radix(rest.split_once(',')?.0, 16).ok()
}

/// Runs `command` under valgrind and returns what it writes to the file that `choose` names in its arguments.
fn written(command: &Command, stdin: &[u8], choose: impl Fn(&mut Command, &str)) -> Result<String> {
    let folder = temporary_folder()?;
    let file = folder.path().join("written");
    let mut valgrind = Command::new("valgrind");
    carry_environment(command, &mut valgrind);
    choose(&mut valgrind, &file.to_string_lossy());
    valgrind.arg(command.get_program()).args(command.get_args());
    valgrind.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = valgrind.spawn().map_err(Failure::start("valgrind"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A process need not read all its input.
        drop(pipe.write_all(stdin));
    }
    let output = child.wait_with_output().map_err(Failure::start("valgrind"))?;
    stdout_of("valgrind", output)?;
    files::read(&file)
}

/// Passes the program, its arguments, folder and environment to valgrind. A command with variables of its own
/// gets no others.
pub fn carry_over(command: &Command, valgrind: &mut Command) {
    carry_environment(command, valgrind);
    valgrind.arg(command.get_program()).args(command.get_args());
}

fn carry_environment(command: &Command, valgrind: &mut Command) {
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
    fn code_and_data_are_read_from_a_trace() {
        let lines =
            ["I  00401020,3", " L 1ffefffe90,8", " S 017fbe60,4", " M 00000010,8", "==7== lackey", "I  x,1"];
        let read = lines.map(traced);
        assert_eq!(read, [Some(0x0040_1020), Some(0x1f_fefffe90), Some(0x017f_be60), Some(0x10), None, None]);
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

//! Traces a process with strace: the processes it starts, and the bytes it reads of a file.
//!
//! Uses one file per process, so that no line is torn; strace ends with the last process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::host::temporary_folder;
use crate::bench::instructions::carry_over;
use crate::files;
use crate::outcome::{Failure, Result, output_of};

/// System calls that start a process or program.
pub const STARTING: &str = "execve,execveat,clone,clone3,fork,vfork";

const READING: &str = "read,pread64,readv,preadv,preadv2";

/// The processes and programs that a process started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Processes beside the first, whether or not they ran another program.
    pub processes: usize,
    /// Programs beside the first.
    pub programs: Vec<String>,
}

pub fn started_by(command: &Command) -> Result<Started> {
    traced(command, STARTING, started)
}

/// Reads what was started from existing traces.
pub fn started(trace: &Path) -> Result<Started> {
    let traces = traces(trace)?;
    // The first process has the lowest id, unless ids have wrapped around: then its program is counted, too.
    let first = traces.keys().min().copied();
    let first = first.ok_or_else(|| Failure::malformed("strace's answer", "no process"))?;
    let programs_of = |(id, text): (&u32, &String)| {
        let programs: Vec<String> = text.lines().filter_map(program).collect();
        programs.into_iter().skip(usize::from(*id == first))
    };
    Ok(Started { processes: traces.len() - 1, programs: traces.iter().flat_map(programs_of).collect() })
}

/// The number of bytes that `command` reads of the file at `path`.
pub fn bytes_read(command: &Command, path: &Path) -> Result<u64> {
    let of_file = format!("<{}>", path.display());
    let lines =
        |text: &String| text.lines().filter(|line| line.contains(&of_file)).filter_map(result).sum::<u64>();
    traced(command, READING, |trace| Ok(traces(trace)?.values().map(lines).sum()))
}

/// Runs `command` and reads its traces. `-y` shows descriptors with the paths of their files.
fn traced<T>(command: &Command, calls: &str, read: impl Fn(&Path) -> Result<T>) -> Result<T> {
    let folder = temporary_folder()?;
    let trace = folder.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-z", "-y", "-qq", "-e", &format!("trace={calls}"), "-o"]).arg(&trace);
    carry_over(command, &mut strace);
    output_of("strace", strace.stdin(Stdio::null()))?;
    read(&trace)
}

/// The traces of all processes by id: files with a dot and the process id after the name.
fn traces(trace: &Path) -> Result<BTreeMap<u32, String>> {
    let folder = trace.parent().unwrap_or(trace);
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let mut traces = BTreeMap::new();
    for path in files::below(folder)? {
        let found = path.file_name().unwrap_or_default().to_string_lossy();
        let id = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.')?.parse().ok());
        if let Some(id) = id {
            traces.insert(id, files::read(&path)?);
        }
    }
    Ok(traces)
}

/// The program that a successful call started.
fn program(line: &str) -> Option<String> {
    let path = line.strip_prefix("execve(\"")?.split('"').next()?;
    line.ends_with(" = 0").then(|| path.rsplit('/').next().unwrap_or(path).to_owned())
}

/// The return value of a call.
fn result(line: &str) -> Option<u64> {
    line.rsplit_once(" = ")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_starts_is_counted_without_itself() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "/bin/true; /bin/true; : nothing"]);
        let started = started_by(&command).unwrap();
        assert_eq!(started, Started { processes: 2, programs: vec!["true".to_owned(), "true".to_owned()] });
        assert_eq!(
            started_by(&Command::new("/bin/true")).unwrap(),
            Started { processes: 0, programs: vec![] }
        );
    }

    #[test]
    fn bytes_are_those_of_the_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x".repeat(100_000)).unwrap();
        let mut command = Command::new("head");
        command.args(["-c", "70000"]).arg(&path);
        let read = bytes_read(&command, &path).unwrap();
        assert!((70_000..=100_000).contains(&read), "{read}");
        assert_eq!(bytes_read(&Command::new("/bin/true"), &path).unwrap(), 0);
    }
}

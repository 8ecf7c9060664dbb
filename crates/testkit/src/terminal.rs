//! A terminal for one program: a person's command needs one, and its output must still be told apart from its errors.
//!
//! The terminal is `script` under the name of a terminal program, which draws nothing. The program runs in its
//! foreground.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env::TestEnv;
use crate::run::Run;

/// The name under which `script` counts as a terminal.
const NAME: &str = "xterm";

/// Runs the program in the foreground of a terminal, to its end. Its standard streams are files.
#[track_caller]
pub(crate) fn run(env: &TestEnv, program: &Path, args: &[&str], input: &[u8]) -> Run {
    let folder = tempfile::tempdir_in(env.root().join("tmp")).expect("the folder is writable");
    let [stdin, stdout, stderr] = ["in", "out", "err"].map(|name| folder.path().join(name));
    fs::write(&stdin, input).expect("the folder is writable");
    let streams = format!("<{} >{} 2>{}", stdin.display(), stdout.display(), stderr.display());
    let shown = Run::of(&mut command(env, program, args, &streams), b"");
    let written = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    Run { status: shown.status, stdout: written(stdout), stderr: written(stderr) }
}

/// A command that runs the program in the foreground of a terminal, with these redirections of a shell.
#[track_caller]
pub(crate) fn command(env: &TestEnv, program: &Path, args: &[&str], streams: &str) -> Command {
    let words = std::iter::once(program.display().to_string()).chain(args.iter().map(ToString::to_string));
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    let line = format!("exec {} {streams}", quoted.join(" "));
    let mut command = env.command(emulator(env));
    command.args(["-qec", &line, "/dev/null"]);
    command
}

/// A copy: the program's file name is what counts.
#[track_caller]
fn emulator(env: &TestEnv) -> PathBuf {
    let path = env.root().join("bin").join(NAME);
    if !path.exists() {
        fs::copy("/usr/bin/script", &path).expect("script is installed: `./test.sh` installs it");
    }
    path
}

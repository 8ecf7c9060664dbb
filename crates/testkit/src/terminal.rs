//! A terminal for one program: a person's command needs one, and its output must still be told apart from its errors.
//!
//! The terminal is `script` under the name of a terminal program, which draws nothing. The program runs in its
//! foreground.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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

/// What a program showed on its terminal, and when.
#[derive(Debug)]
pub struct Shown {
    pub status: ExitStatus,
    /// All bytes in order, control characters included.
    pub text: String,
    /// The longest time without a byte, from the start to the end.
    pub longest_silence: Duration,
    pub spent: Duration,
}

impl Shown {
    /// Runs a command whose standard output is a terminal's, such as `script`, and notes when each byte comes.
    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "silence is measured by the clock")]
    pub fn of(command: &mut Command) -> Shown {
        let began = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
        let mut terminal = child.stdout.take().expect("stdout is piped");
        let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
        let (mut last, mut longest) = (began, Duration::ZERO);
        while let Ok(read @ 1..) = terminal.read(&mut block) {
            longest = longest.max(last.elapsed());
            last = Instant::now();
            bytes.extend_from_slice(&block[..read]);
        }
        let status = child.wait().expect("the child can be waited for");
        Shown {
            status,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            longest_silence: longest.max(last.elapsed()),
            spent: began.elapsed(),
        }
    }

    /// The number of progress bars: a bar that is drawn again in its place is the same one.
    pub fn bars(&self) -> usize {
        let is_bar = self.text.split(['\r', '\n']).map(|part| part.contains(['█', '░']));
        let mut was_bar = false;
        is_bar.filter(|is_bar| !std::mem::replace(&mut was_bar, *is_bar) && *is_bar).count()
    }
}

/// The arguments with which `script` runs a program in the foreground of a terminal.
pub fn script_arguments(program: &Path, args: &[&str], streams: &str) -> Vec<String> {
    let words = std::iter::once(program.display().to_string()).chain(args.iter().map(ToString::to_string));
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    let line = format!("exec {} {streams}", quoted.join(" "));
    vec!["-qec".to_owned(), line, "/dev/null".to_owned()]
}

/// A command that runs the program in the foreground of a terminal, with these redirections of a shell.
#[track_caller]
pub(crate) fn command(env: &TestEnv, program: &Path, args: &[&str], streams: &str) -> Command {
    let mut command = env.command(emulator(env));
    command.args(script_arguments(program, args, streams));
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

//! A hermetic environment for the binary and the clients: a root with its own home, project and `bin`.
//!
//! Passes nothing of the caller's environment on: no variable, no home, and only the clock set here.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use crate::processes::{self, Process};
use crate::run::Run;
use crate::{remains, terminal, wait};

/// A socket's path holds 108 bytes, and the longest one below the root needs 60 of them.
const LONGEST_ROOT: usize = 40;

/// Background work runs at low priority, and a test may have queued much of it.
const BACKGROUND: Duration = Duration::from_secs(120);

/// The factor for the limits on waiting of the binary, which is built for debugging and runs beside two clients: hooks
/// that take 100 ms on an idle machine were seen to reach their deadline of 1.2 s.
const PATIENCE: u32 = 4;

/// Commands that act for the user, and therefore need the evidence that the user runs them.
const PERSONS: [&str; 10] =
    ["config", "edit", "forget", "hold", "pin", "proposals", "release", "remember", "supersede", "undo"];

/// Programs that the system's two folders may lack: linked into `bin` from the PATH.
const BORROWED: [&str; 4] = ["bash", "git", "node", "tmux"];

const IDENTITY: &str = "[user]\n\tname = Tess Bench\n\temail = tess@example.com\n\
    [init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n";

/// A handle on the environment. Clones share it; dropping the last ends its processes and removes its files.
#[derive(Debug, Clone)]
pub struct TestEnv {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: TempDir,
    root: PathBuf,
    variables: Mutex<BTreeMap<String, String>>,
}

impl TestEnv {
    /// Creates an environment in which `tow` is this binary and `project/` a git repository with one commit.
    #[track_caller]
    pub fn new(tow_binary: impl Into<PathBuf>) -> Self {
        let folder = short_folder();
        let root = folder.path().canonicalize().expect("the root exists");
        for name in ["home", "project", "bin", "tmp"] {
            fs::create_dir(root.join(name)).expect("the root is writable");
        }
        let variables = Mutex::new(variables(&root));
        let inner = Arc::new(Inner { folder, root, variables });
        let env = Self { inner };
        env.link("tow", tow_binary.into());
        BORROWED.iter().for_each(|name| env.borrow_program(name));
        fs::write(env.home().join(".gitconfig"), IDENTITY).expect("home is writable");
        env.make_repository();
        remains::keep(env.home());
        env
    }

    /// The root folder of the environment.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// The home folder of every program in the environment.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The git repository in which every program starts.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The binary's data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.home().join(".local/share/towline")
    }

    /// Sets a variable for all programs started from now on.
    pub fn set(&self, name: &str, value: impl Into<String>) {
        let mut variables = self.inner.variables.lock().expect("no holder panicked");
        variables.insert(name.to_owned(), value.into());
    }

    /// Removes a variable for all programs started from now on.
    pub fn unset(&self, name: &str) {
        let mut variables = self.inner.variables.lock().expect("no holder panicked");
        variables.remove(name);
    }

    /// Sets the clock of the binary, in milliseconds since the epoch.
    pub fn set_now(&self, ms: i64) {
        self.set("TOWLINE_NOW", ms.to_string());
    }

    /// Gives the binary the limits on waiting that a user has, for tests of these limits.
    pub fn keep_usual_limits(&self) {
        self.unset("TOWLINE_PATIENCE");
    }

    /// Sets the seed of the binary's random numbers.
    pub fn set_seed(&self, seed: u64) {
        self.set("TOWLINE_SEED", seed.to_string());
    }

    /// All variables that a program in this environment gets.
    pub fn variables(&self) -> BTreeMap<String, String> {
        self.inner.variables.lock().expect("no holder panicked").clone()
    }

    /// A command with exactly the variables of this environment, run in the project.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables()).current_dir(self.project());
        command
    }

    /// Runs the binary to its end, with empty standard input: in a terminal if only a person may run the command.
    #[track_caller]
    pub fn tow(&self, args: &[&str]) -> Run {
        let is_export = |name: &&str| name.ends_with(".jsonl") || name.contains('/');
        let is_persons = match args {
            ["import", from, ..] => is_export(from),
            [verb, ..] => PERSONS.contains(verb),
            [] => false,
        };
        match is_persons {
            true => self.person(args),
            false => self.unattended(args),
        }
    }

    /// Runs the binary to its end without a terminal, with empty standard input.
    #[track_caller]
    pub fn unattended(&self, args: &[&str]) -> Run {
        Run::of(self.command(self.bin("tow")).args(args), b"")
    }

    /// Runs the binary to its end as a person does: in the foreground of a terminal, with empty standard input.
    #[track_caller]
    pub fn person(&self, args: &[&str]) -> Run {
        self.person_with_input(args, b"")
    }

    /// A command that runs the binary in the foreground of a terminal. To kill it closes the terminal.
    #[track_caller]
    pub fn person_command(&self, args: &[&str]) -> Command {
        terminal::command(self, &self.bin("tow"), args, "")
    }

    /// A command that runs another program in the foreground of a terminal.
    #[track_caller]
    pub fn person_program(&self, words: &[&str]) -> Command {
        let (program, args) = words.split_first().expect("a program is named");
        terminal::command(self, Path::new(program), args, "")
    }

    /// As `person`, with this standard input.
    #[track_caller]
    pub fn person_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        terminal::run(self, &self.bin("tow"), args, input)
    }

    /// Runs the binary as a hook of `agent`, with the payload on its standard input.
    #[track_caller]
    pub fn hook(&self, agent: &str, payload: impl AsRef<[u8]>) -> Run {
        Run::of(self.command(self.bin("tow")).args(["hook", agent]), payload.as_ref())
    }

    /// Runs git in the project and returns its output.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let run = Run::of(self.command(self.bin("git")).args(args), b"").ok();
        run.stdout.trim_end().to_owned()
    }

    /// Links a program into this environment's PATH as `name`, replacing an older one.
    pub fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.vacant_bin(name)).expect("bin is writable");
    }

    /// Writes a shell script onto this environment's PATH, replacing an older program, and returns its path.
    /// Adds a missing `#!/bin/sh`: not every way to start a program falls back to `sh`.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.vacant_bin(name);
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o755).open(&path).expect("bin is writable");
        let interpreter = if text.starts_with("#!") { "" } else { "#!/bin/sh\n" };
        file.write_all(format!("{interpreter}{text}").as_bytes()).expect("bin is writable");
        path
    }

    /// The processes running in this environment.
    pub fn processes(&self) -> Vec<Process> {
        processes::below(self.root())
    }

    /// Waits until no process runs in this environment any more. Looks twice: a process that starts another and ends
    /// while the list is read hides both.
    #[track_caller]
    pub fn wait_no_process(&self) {
        wait::until_evident("the last process to end", BACKGROUND, || match self.processes() {
            left if left.is_empty() && self.processes().is_empty() => Ok(()),
            left => Err(format!("{left:#?}")),
        });
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.root().join("bin").join(name)
    }

    /// Removes the old entry instead of writing to it: it may be a link to a program of the system.
    fn vacant_bin(&self, name: &str) -> PathBuf {
        let path = self.bin(name);
        let _ = fs::remove_file(&path);
        path
    }

    fn borrow_program(&self, name: &str) {
        if let Some(path) = on_callers_path(name) {
            self.link(name, path);
        }
    }

    /// Copies the repository from a template: git takes longer than a whole short test.
    #[track_caller]
    fn make_repository(&self) {
        let template = cache().join("repository-1");
        if !template.exists() {
            self.make_template(&template);
        }
        copy_folder(&template, &self.project()).expect("the template can be copied");
    }

    /// Fixed dates give the commit the same hash in every run.
    #[track_caller]
    fn make_template(&self, template: &Path) {
        fs::create_dir_all(cache()).expect("/var/tmp is writable");
        let making = tempfile::tempdir_in(cache()).expect("the cache is writable");
        fs::write(making.path().join("README.md"), "# Project\n").expect("the cache is writable");
        let date = "2026-01-01T00:00:00Z";
        for words in ["init -q --template=", "add README.md", "commit -q -m Start"] {
            let mut git = self.command(self.bin("git"));
            git.args(words.split(' ')).current_dir(making.path());
            Run::of(git.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date), b"").ok();
        }
        // A concurrent process that renamed first made the same template.
        let _ = fs::rename(making.path(), template);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        processes::end(&self.root, |_| true);
        // A process that just died may have left a file between listing and removing: try twice.
        let path = self.folder.path();
        let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_dir_all(path));
    }
}

/// The folder of templates that outlive a run. Not in a home: PostgreSQL's user must read it.
pub(crate) fn cache() -> PathBuf {
    let uid = fs::metadata("/proc/self").map(|it| it.uid()).unwrap_or_default();
    PathBuf::from(format!("/var/tmp/towline-tests-{uid}"))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(|_| ())?,
        }
    }
    Ok(())
}

fn short_folder() -> TempDir {
    let usual = std::env::temp_dir();
    let parent = if usual.as_os_str().len() > LONGEST_ROOT { Path::new("/tmp") } else { &usual };
    let mut builder = tempfile::Builder::new();
    builder.prefix("tow").rand_bytes(8);
    builder.tempdir_in(parent).expect("the temporary folder is writable")
}

fn variables(root: &Path) -> BTreeMap<String, String> {
    let below = |name| root.join(name).display().to_string();
    [
        ("PATH", format!("{}:/usr/bin:/bin", below("bin"))),
        ("HOME", below("home")),
        ("TMPDIR", below("tmp")),
        ("TERM", "xterm-256color".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("SHELL", "/bin/bash".to_owned()),
        ("TOWLINE_PATIENCE", PATIENCE.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn on_callers_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_see_only_what_the_environment_gives() {
        let env = TestEnv::new("/bin/echo");
        env.set_now(5);
        let run = Run::of(&mut env.command("env"), b"").ok();
        let names: Vec<_> = run.stdout.lines().filter_map(|line| line.split('=').next()).collect();
        let mut expected =
            vec!["HOME", "LANG", "PATH", "SHELL", "TERM", "TMPDIR", "TOWLINE_NOW", "TOWLINE_PATIENCE"];
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn the_binary_is_on_the_path_and_hooks_are_fed() {
        let env = TestEnv::new("/bin/true");
        env.script("tow", "#!/bin/sh\necho \"$@\"; cat\n");
        Run::of(env.command("sh").args(["-c", "tow found"]), b"").ok().prints("found");
        env.hook("claude", "{}").ok().prints("hook claude\n{}");
    }

    #[test]
    fn a_script_replaces_a_link_and_leaves_its_target_alone() {
        let env = TestEnv::new("/bin/true");
        let target = env.root().join("target");
        fs::write(&target, "kept").unwrap();
        env.link("program", &target);
        env.script("program", "#!/bin/sh\n");
        assert_eq!(fs::read_to_string(target).unwrap(), "kept");
    }

    #[test]
    fn the_repository_is_the_same_in_every_run() {
        let head = || TestEnv::new("/bin/true").git(&["rev-parse", "HEAD"]);
        assert_eq!(head(), head());
    }

    #[test]
    fn dropping_the_last_handle_ends_processes_and_removes_files() {
        let env = TestEnv::new("/bin/true");
        let root = env.root().to_owned();
        let mut child = env.command("sleep").arg("600").spawn().unwrap();
        wait::until("the child to be listed", wait::PATIENCE, || {
            env.processes().iter().any(|process| process.pid == child.id()).then_some(())
        });
        drop(env);
        assert!(!child.wait().unwrap().success());
        assert!(!root.exists());
    }
}

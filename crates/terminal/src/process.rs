//! Processes as `/proc` shows them.
//!
//! Everything is a snapshot that may be outdated a moment later: an unreadable process counts as nonexistent.

use rustix::param::clock_ticks_per_second;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The kernel returns `stat` by one call if there is room: about fifty numbers of at most twenty digits.
const LARGEST_STAT: usize = 2048;

/// Room for most lists of arguments and variables: files of `/proc` do not tell their size.
const USUAL_LIST: usize = 8 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    /// The kernel's `comm`: at most 15 bytes, set by the process itself.
    pub name: String,
    /// The leader of its terminal session.
    pub leader: u32,
    /// Start time in ticks since boot: together with the pid it is never reused.
    pub started: u64,
    terminal: u32,
    group: u32,
    /// The foreground process group of its terminal.
    front: Option<u32>,
}

impl Process {
    pub fn read(pid: u32) -> Option<Process> {
        let mut buffer = [0; LARGEST_STAT];
        let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
        parse_stat(str::from_utf8(&buffer[..length]).ok()?)
    }

    /// The device of its controlling terminal.
    pub fn terminal(&self) -> Option<String> {
        terminal_name(self.terminal)
    }

    pub fn has_terminal(&self) -> bool {
        self.terminal != 0
    }

    /// Whether it belongs to its terminal's foreground process group.
    pub fn is_in_front(&self) -> bool {
        self.front == Some(self.group)
    }

    /// The leader of its terminal's foreground process group.
    pub fn front(&self) -> Option<u32> {
        self.front
    }

    pub fn arguments(&self) -> Vec<String> {
        split_words(&self.bytes("cmdline"))
    }

    pub fn environment(&self) -> Environment {
        Environment(split_words(&self.bytes("environ")))
    }

    /// The whole content of a file of this process; empty if it cannot be read.
    fn bytes(&self, name: &str) -> Vec<u8> {
        let mut content = Vec::with_capacity(USUAL_LIST);
        let file = fs::File::open(format!("/proc/{}/{name}", self.pid));
        let read = file.and_then(|mut file| file.read_to_end(&mut content));
        if read.is_ok() { content } else { vec![] }
    }

    pub fn program(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/exe", self.pid)).ok()
    }

    pub fn folder(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/cwd", self.pid)).ok()
    }

    /// The file name of its program, or the kernel's name if that cannot be read.
    pub fn program_name(&self) -> String {
        let name = self.program().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| self.name.clone())
    }
}

/// The environment a process was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(Vec<String>);

impl Environment {
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = |line: &'_ String| -> Option<usize> {
            line.strip_prefix(name)?.starts_with('=').then_some(name.len() + 1)
        };
        self.0.iter().find_map(|line| value(line).map(|from| &line[from..])).filter(|value| !value.is_empty())
    }
}

impl From<Vec<String>> for Environment {
    fn from(lines: Vec<String>) -> Self {
        Environment(lines)
    }
}

/// The direct children of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    None,
    /// The age of the most recently started child.
    Youngest {
        age_ms: i64,
    },
    /// The kernel does not provide the list.
    Unknown,
}

/// The youngest child of a process.
pub fn children(pid: u32) -> Children {
    let Some(now) = ticks_since_boot() else { return Children::Unknown };
    let Some(pids) = child_pids(pid) else { return Children::Unknown };
    match pids.into_iter().filter_map(Process::read).map(|child| child.started).max() {
        Some(started) => {
            let ms = now.saturating_sub(started).saturating_mul(1000) / clock_ticks_per_second().max(1);
            Children::Youngest { age_ms: i64::try_from(ms).unwrap_or(i64::MAX) }
        }
        None => Children::None,
    }
}

/// The children of a process; `None` if the kernel does not provide them. They are listed per thread: an agent may
/// start a tool from any.
pub(crate) fn child_pids(pid: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let lists = threads.filter_map(|thread| Some(fs::read_to_string(thread.ok()?.path().join("children"))));
    // A thread that has ended meanwhile has passed its children to another.
    let lists: Vec<String> = lists.filter_map(Result::ok).collect();
    let pids = lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok());
    (!lists.is_empty()).then(|| pids.collect())
}

/// The uptime in the ticks in which the kernel counts start times.
fn ticks_since_boot() -> Option<u64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = uptime.split_ascii_whitespace().next()?.split_once('.')?;
    let hundredths = seconds.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok()?;
    Some(hundredths * clock_ticks_per_second() / 100)
}

/// Bound against cycles; real trees are not deeper.
const DEEPEST: usize = 64;

/// The process and its ancestors, nearest first.
pub fn ancestors(pid: u32) -> impl Iterator<Item = Process> {
    std::iter::successors(Process::read(pid), |process| match process.parent {
        0 => None,
        parent => Process::read(parent),
    })
    .take(DEEPEST)
}

/// All processes of the user who owns process `like`.
pub fn of_same_user(like: u32) -> Vec<Process> {
    pids_of_same_user(like).filter_map(Process::read).collect()
}

/// How many ended processes of our user with our own name nobody has waited for: their parent is an init that does not.
pub fn uncollected() -> usize {
    let own = std::process::id();
    let Some(Process { name, .. }) = Process::read(own) else { return 0 };
    let is_it = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.split_once(" (").is_some_and(|(_, rest)| rest.starts_with(&format!("{name}) Z 1 ")))
    };
    pids_of_same_user(own).filter(is_it).count()
}

fn pids_of_same_user(like: u32) -> impl Iterator<Item = u32> {
    let owner = |pid: u32| fs::metadata(format!("/proc/{pid}")).map(|meta| meta.uid()).ok();
    let ours = owner(like);
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(move |pid| owner(*pid) == ours)
}

/// Whether `/proc` is readable at all: if not, an empty result means nothing.
pub fn can_be_seen() -> bool {
    Process::read(std::process::id()).is_some()
}

/// The processes of our user that have this file open.
pub fn holders(file: &Path) -> Vec<Process> {
    let Ok(file) = fs::canonicalize(file) else { return vec![] };
    let has_open = |process: &Process| {
        let entries = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|open| open == file)
    };
    of_same_user(std::process::id()).into_iter().filter(has_open).collect()
}

/// The process that holds the lock of this file, by the kernel's list; `None` if nobody does or it cannot be read.
pub fn lock_holder(file: &Path) -> Option<Process> {
    let inode = fs::metadata(file).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pid = locks.lines().find_map(|line| {
        // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`; a waiting process has `->` behind the number.
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_of_file = words.get(5).is_some_and(|place| place.rsplit(':').next() == Some(&inode));
        if is_of_file { words.get(4)?.parse().ok() } else { None }
    })?;
    Process::read(pid)
}

/// The name may contain spaces and parentheses: it ends at the last closing one.
/// The field of `stat` that tells the start time, counted from the state.
const STARTED: usize = 19;

fn parse_stat(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    // Up to the last field that is read: there are fifty, and a hook reads them of every process above it.
    let mut fields = [""; STARTED + 1];
    for (field, text) in fields.iter_mut().zip(rest.split(' ')) {
        *field = text;
    }
    // A zombie does nothing any more.
    if matches!(fields[0], "Z" | "X") {
        return None;
    }
    let number = |index: usize| fields[index].parse::<u64>().ok();
    let id = |index: usize| u32::try_from(number(index)?).ok();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: id(1)?,
        name: name.to_owned(),
        group: id(2)?,
        leader: id(3)?,
        // Negative without a terminal.
        terminal: id(4).unwrap_or(0),
        front: id(5),
        started: number(STARTED)?,
    })
}

fn terminal_name(device: u32) -> Option<String> {
    let major = device >> 8 & 0xfff;
    let minor = device & 0xff | device >> 12 & 0xfff00;
    match major {
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        _ => None,
    }
}

fn split_words(raw: &[u8]) -> Vec<String> {
    raw.split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = "77 (a) b) (c) S 12 77 70 34820 77 4194304 1 0 0 0 1 2 0 0 20 0 1 0 5000 1 2";
        let process = parse_stat(stat).unwrap();
        assert_eq!((process.pid, process.parent, process.leader, process.started), (77, 12, 70, 5000));
        assert_eq!((process.name.as_str(), process.terminal().as_deref()), ("a) b) (c", Some("/dev/pts/4")));
    }

    #[test]
    fn a_process_is_in_front_if_its_terminal_listens_to_its_group() {
        let stat = |group: &str, front: &str| {
            format!("9 (a) S 1 {group} 9 34820 {front} 0 1 0 0 0 1 2 0 0 20 0 1 0 5000 1 2")
        };
        let is_in_front = |group, front| parse_stat(&stat(group, front)).unwrap().is_in_front();
        assert!(is_in_front("9", "9"));
        assert!(!is_in_front("9", "7"));
        assert!(!is_in_front("9", "-1"));
    }

    #[test]
    fn a_process_that_has_ended_is_gone_even_if_its_parent_has_not_noticed() {
        let stat = |state| format!("9 (a) {state} 1 9 9 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 5000 1 2");
        assert!(parse_stat(&stat("S")).is_some());
        assert_eq!((parse_stat(&stat("Z")), parse_stat(&stat("X"))), (None, None));
    }

    #[test]
    fn our_own_ancestors_lead_to_the_first_process() {
        let own = std::process::id();
        let line: Vec<Process> = ancestors(own).collect();
        assert_eq!(line[0].pid, own);
        assert!(line.windows(2).all(|pair| pair[0].parent == pair[1].pid));
        assert!(!line[0].arguments().is_empty() && line[0].program().is_some());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child of another thread is to be found")]
    fn the_youngest_child_is_found_whichever_thread_started_it() {
        let age = || match children(std::process::id()) {
            Children::Youngest { age_ms } => Some(age_ms),
            Children::None | Children::Unknown => None,
        };
        let mut sleeper = std::thread::spawn(sleeper).join().unwrap();
        let found = age();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(found.is_some_and(|age_ms| (0..30_000).contains(&age_ms)), "{found:?}");
    }

    #[expect(clippy::disallowed_methods, reason = "a child to be found")]
    fn sleeper() -> std::process::Child {
        std::process::Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn process_that_has_a_file_open_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        let file = fs::File::create(&path).unwrap();
        let pids = || holders(&path).iter().map(|process| process.pid).collect::<Vec<_>>();
        assert_eq!(pids(), [std::process::id()]);
        drop(file);
        assert_eq!(pids(), [0; 0]);
        assert_eq!(holders(&folder.path().join("missing")), []);
    }

    #[test]
    fn a_process_that_is_gone_has_unknown_children() {
        assert_eq!(children(u32::MAX), Children::Unknown);
    }

    #[test]
    fn a_process_that_is_gone_does_not_exist() {
        assert_eq!(Process::read(u32::MAX), None);
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let environment = Environment(vec!["TMUX_PANE=%1".into(), "TMUX=x,1,0".into(), "EMPTY=".into()]);
        assert_eq!(environment.get("TMUX"), Some("x,1,0"));
        assert_eq!(environment.get("EMPTY"), None);
    }
}

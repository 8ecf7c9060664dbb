//! Tool actions: the effect of a tool call, independent of the agent, and the commits that a command made.
//!
//! Contains no vendor's tool names and runs nothing: an action is derived from the call, a commit from `git`'s output.

use crate::line::command::commit_subject;
use crate::text::{clip, clip_start, distinct_by};
use crate::work::PlanChange;
use std::borrow::Cow;

/// The effect of a tool call; borrows from the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAction<'a> {
    /// A file or folder that was looked at.
    Read { path: Cow<'a, str> },
    /// Files that were created, edited, moved or deleted.
    Changed { paths: Vec<Cow<'a, str>> },
    /// A shell command.
    Ran { command: Cow<'a, str> },
    /// Polls a command that may still be running, or writes to it.
    Waited,
    /// A pattern or a question, searched in files or on the web.
    Searched { what: Cow<'a, str> },
    /// A web page.
    Fetched { address: Cow<'a, str> },
    /// Work given to a subagent.
    Delegated { task: Cow<'a, str> },
    /// A question to the user.
    Asked { question: Cow<'a, str> },
    /// A change of the agent's own to-do list.
    Planned(PlanChange<'a>),
    /// Any tool that is not known.
    Other,
}

impl ToolAction<'_> {
    /// The files that the action reads or changes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let read = if let ToolAction::Read { path } = self { Some(&**path) } else { None };
        let changed: &[Cow<'_, str>] = if let ToolAction::Changed { paths } = self { paths } else { &[] };
        read.into_iter().chain(changed.iter().map(|path| &**path))
    }

    /// Clones the borrowed text.
    pub fn into_owned(self) -> ToolAction<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            ToolAction::Read { path } => ToolAction::Read { path: own(path) },
            ToolAction::Changed { paths } => {
                ToolAction::Changed { paths: paths.into_iter().map(own).collect() }
            }
            ToolAction::Ran { command } => ToolAction::Ran { command: own(command) },
            ToolAction::Waited => ToolAction::Waited,
            ToolAction::Searched { what } => ToolAction::Searched { what: own(what) },
            ToolAction::Fetched { address } => ToolAction::Fetched { address: own(address) },
            ToolAction::Delegated { task } => ToolAction::Delegated { task: own(task) },
            ToolAction::Asked { question } => ToolAction::Asked { question: own(question) },
            ToolAction::Planned(change) => ToolAction::Planned(change.into_owned()),
            ToolAction::Other => ToolAction::Other,
        }
    }
}

/// A commit found in a command's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// As `git` printed it, usually abbreviated.
    pub hash: String,
    pub subject: String,
}

/// Bytes searched at each end of an output: `git` prints little, but its hooks may print much.
const WINDOW: usize = 8 * 1024;

/// The commits that a command made, from the output of `git commit`: `[main 1a2b3c4] Subject`.
pub fn commits_of(command: &str, output: &str) -> Vec<Commit> {
    if makes_commits(command) { printed_commits(output) } else { vec![] }
}

pub(crate) fn printed_commits(output: &str) -> Vec<Commit> {
    let lines = ends(output, WINDOW).into_iter().flat_map(str::lines);
    distinct_by(lines.filter_map(parse_commit), |known, commit| known.hash == commit.hash)
}

/// The commit of a `git commit -m SUBJECT` that printed nothing; its hash is unknown.
pub(crate) fn quiet_commit(command: &str, output: &str) -> Option<Commit> {
    if !makes_commits(command) || !printed_commits(output).is_empty() {
        return None;
    }
    let subject = commit_subject(command)?;
    Some(Commit { hash: String::new(), subject })
}

/// Whether a command contains a git subcommand that prints its commits.
pub(crate) fn makes_commits(command: &str) -> bool {
    const VERBS: [&str; 6] = ["commit", "merge", "cherry-pick", "revert", "rebase", "am"];
    let mut is_git = false;
    let words = command.split(|c: char| c.is_whitespace() || "&|;()'\"`".contains(c));
    for word in words.filter(|word| !word.is_empty()) {
        if word == "git" || word.ends_with("/git") {
            is_git = true;
        } else if is_git && VERBS.contains(&word) {
            return true;
        }
    }
    false
}

/// The first and the last `window` bytes of a text, cut at character boundaries; a short text once and whole.
pub(crate) fn ends(text: &str, window: usize) -> Vec<&str> {
    if text.len() <= 2 * window {
        return vec![text];
    }
    vec![clip(text, window), clip_start(text, window)]
}

/// Parses `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`, `[detached HEAD 1a2b3c4] Subject`.
fn parse_commit(line: &str) -> Option<Commit> {
    let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let is_hash = (4..=64).contains(&hash.len())
        && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let is_commit = is_hash && !branch.trim().is_empty() && !subject.trim().is_empty();
    is_commit.then(|| Commit { hash: hash.to_owned(), subject: subject.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, output: &str, expected: &[(&str, &str)]) {
        let found: Vec<(String, String)> =
            commits_of(command, output).into_iter().map(|commit| (commit.hash, commit.subject)).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(hash, subject)| ((*hash).to_owned(), (*subject).to_owned())).collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn a_commit_is_what_git_printed() {
        let stat = "\n 1 file changed, 1 insertion(+)\n";
        check(
            "git commit -m x",
            &format!("[main 1a2b3c4] Wait for the token{stat}"),
            &[("1a2b3c4", "Wait for the token")],
        );
        check(
            "git commit -am x",
            &format!("[main (root-commit) 0a1b2c3d] First{stat}"),
            &[("0a1b2c3d", "First")],
        );
        check("git -C /x/y commit -m x", "[detached HEAD 1a2b3c4] x", &[("1a2b3c4", "x")]);
        check(
            "cd a && git add . && git commit -m x && git push",
            "hook: ok\n[fix/a-b 1a2b3c4] x\nTo x:y\n",
            &[("1a2b3c4", "x")],
        );
        check(
            "git cherry-pick a b",
            "[main 1a2b3c4] one\n Date: x\n[main 2a2b3c4] two\n",
            &[("1a2b3c4", "one"), ("2a2b3c4", "two")],
        );
    }

    #[test]
    fn a_line_that_only_looks_like_a_commit_is_none() {
        check("cat log", "[main 1a2b3c4] Subject", &[]);
        check("git commit -m x", "[info 12 files] checked\n[1/3 abcd] \n[ 1a2b3c4] x\n[main 1a2b3c4]", &[]);
        check("git log", "[main 1a2b3c4] Subject", &[]);
    }

    #[test]
    fn a_quiet_commit_has_its_subject_in_the_command() {
        let subject = |command: &str| quiet_commit(command, "").map(|commit| commit.subject);
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(subject("git commit -q -m \"Send the digests\""), said("Send the digests"));
        assert_eq!(subject("git add -A && git commit -qam 'fix(a): b c' && git push"), said("fix(a): b c"));
        let here = "git commit -q -m \"$(cat <<'EOF'\nWait for it\n\nLong text.\nEOF\n)\"";
        assert_eq!(subject(here), said("Wait for it"));
        for none in ["git commit -q", "git log -m x", "echo -m x", "git commit -qF message.txt"] {
            assert_eq!(subject(none), None, "{none}");
        }
        assert_eq!(quiet_commit("git commit -m x", "[main 1a2b3c4] x"), None, "git has printed it");
    }

    #[test]
    fn a_huge_output_of_hooks_does_not_hide_the_commit() {
        let output = format!("{}\n[main 1a2b3c4] x\n", "é lint\n".repeat(100_000));
        check("git commit -m x", &output, &[("1a2b3c4", "x")]);
    }
}

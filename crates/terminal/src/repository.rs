//! The state of a folder's git checkout, as `git` reports it.
//!
//! One spawn, bounded in time, that takes no lock and runs nothing that the repository names. A hook uses it at most
//! once per session, and only about commits of another branch.

use crate::tmux::output_within;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The checked-out commit and branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    pub commit: String,
    /// `None` if `HEAD` is detached.
    pub branch: Option<String>,
    /// Whether there are modified or untracked files.
    pub is_dirty: bool,
}

/// A large repository takes a while; one that takes longer is abandoned.
const PATIENCE: Duration = Duration::from_secs(5);

/// The limit in a hook, which the agent waits for.
const HOOK_PATIENCE: Duration = Duration::from_millis(200);

/// Limit of commits searched between two branches.
const MOST_COMMITS: &str = "--max-count=5000";

/// `None` for a folder outside any repository, and for a repository without a commit.
pub fn checked_out(folder: &Path) -> Option<Checkout> {
    let status =
        ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
    read(&git_output(folder, &status, PATIENCE)?)
}

/// Those of these commits that exist here but are not in `HEAD`. Hashes may be short; other words are ignored.
pub fn elsewhere<'c>(folder: &Path, commits: &[&'c str]) -> Vec<&'c str> {
    let is_name = |name: &&&str| name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let named: Vec<&str> = commits.iter().filter(is_name).copied().collect();
    if named.is_empty() {
        return vec![];
    }
    let list = ["rev-list", "--ignore-missing", MOST_COMMITS];
    let arguments: Vec<&str> =
        list.into_iter().chain(named.iter().copied()).chain(["--not", "HEAD"]).collect();
    let listed = git_output(folder, &arguments, HOOK_PATIENCE).unwrap_or_default();
    named.into_iter().filter(|name| listed.lines().any(|line| line.starts_with(name))).collect()
}

/// The output of `git`; `None` if it fails or exceeds `patience`.
#[expect(clippy::disallowed_methods, reason = "the one place that runs git")]
fn git_output(folder: &Path, arguments: &[&str], patience: Duration) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["--no-optional-locks", "-c", "core.fsmonitor=false"]).args(arguments);
    // Repository variables in an agent's environment are not about this folder.
    git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    output_within(&mut git, patience).filter(|output| output.succeeded).map(|output| output.text)
}

fn read(status: &str) -> Option<Checkout> {
    let header = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let commit = header("# branch.oid ").filter(|commit| *commit != "(initial)")?.to_owned();
    let branch = header("# branch.head ").filter(|branch| *branch != "(detached)").map(str::to_owned);
    let is_dirty = status.lines().any(|line| !line.starts_with('#'));
    Some(Checkout { commit, branch, is_dirty })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "real repositories are made by the real git")]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
        git.arg("-C").arg(folder).args(arguments).env_remove("GIT_DIR");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn commit_branch_and_what_no_commit_holds_are_known() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        assert_eq!(checked_out(folder), None, "no repository");
        git(folder, &["init", "-q"]);
        assert_eq!(checked_out(folder), None, "no commit");
        git(folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let commit = git(folder, &["rev-parse", "HEAD"]);
        let clean = Checkout { commit, branch: Some("main".into()), is_dirty: false };
        assert_eq!(checked_out(folder), Some(clean.clone()));
        std::fs::write(folder.join("new"), "x").unwrap();
        git(folder, &["checkout", "-q", "--detach"]);
        assert_eq!(checked_out(folder), Some(Checkout { branch: None, is_dirty: true, ..clean }));
    }
    #[test]
    fn commits_of_another_branch_are_told_from_those_that_were_merged() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        git(folder, &["init", "-q"]);
        let made = |message: &str| {
            git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
            git(folder, &["rev-parse", "HEAD"])
        };
        let merged = made("here");
        git(folder, &["checkout", "-q", "-b", "other"]);
        let other = made("there");
        git(folder, &["checkout", "-q", "main"]);
        let (short, unknown) = (&other[..9], "0123456789abcdef0123456789abcdef01234567");
        assert_eq!(elsewhere(folder, &[&merged, &other, short, unknown, "--all", "HEAD"]), [&*other, short]);
        assert!(elsewhere(root.path().parent().unwrap(), &[&other]).is_empty(), "no repository");
        git(folder, &["merge", "-q", "other"]);
        assert!(elsewhere(folder, &[&other]).is_empty());
    }
}

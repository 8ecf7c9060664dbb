//! The state of a folder's git checkout, as `git` reports it.
//!
//! Bounded in time, takes no lock and runs nothing that the repository names: no hook, filter, monitor, pager, helper or
//! transport. A hook uses it at most once per session, and only about commits of another branch.

use crate::tmux::output_within;
use std::collections::BTreeSet;
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
    read(&git_output(git(folder).args(status).envs(without_filters(folder)?), PATIENCE)?)
}

/// Those of these commits that exist here but are not in `HEAD`. Hashes may be short; other words are ignored.
pub fn elsewhere<'c>(folder: &Path, commits: &[&'c str]) -> Vec<&'c str> {
    let is_name = |name: &&&str| name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let named: Vec<&str> = commits.iter().filter(is_name).copied().collect();
    if named.is_empty() {
        return vec![];
    }
    let mut list = git(folder);
    list.args(["rev-list", "--ignore-missing", MOST_COMMITS]).args(&named).args(["--not", "HEAD"]);
    let listed = git_output(&mut list, HOOK_PATIENCE).unwrap_or_default();
    named.into_iter().filter(|name| listed.lines().any(|line| line.starts_with(name))).collect()
}

/// Settings of a repository that name a program, and one that makes `status` ask submodules, which have their own.
const SETTINGS: [&str; 12] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "status.submoduleSummary=false",
];

/// Variables of an agent's environment that are about another repository, or add settings.
const FOREIGN: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
];

/// A `git` that runs no program the repository names. Every call starts here. Content filters are settings of any name:
/// commands that compare files need `without_filters` as well.
#[expect(clippy::disallowed_methods, reason = "the one place that runs git")]
fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["--no-pager", "--no-optional-locks"]);
    git.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    for name in FOREIGN {
        git.env_remove(name);
    }
    // An object that a partial clone lacks would be fetched, by a program that the repository names.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none").env("GIT_TERMINAL_PROMPT", "0");
    git
}

/// More filters than any repository has.
const MOST_FILTERS: usize = 1_000;

/// Variables that turn off all content filters: a name may hold any character, so no option can. `None` if there are too
/// many, or if they cannot be listed.
fn without_filters(folder: &Path) -> Option<Vec<(String, String)>> {
    const OFF: [(&str, &str); 4] = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
    // Fails if no setting has such a name.
    let mut list = git(folder);
    list.args(["config", "--null", "--name-only", "--get-regexp", r"^filter\."]);
    let listed = output_within(&mut list, PATIENCE)?;
    let names =
        listed.text.split('\0').filter_map(|key| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0));
    let names: BTreeSet<&str> = names.collect();
    let settings: Vec<(String, &str)> = names
        .iter()
        .flat_map(|name| OFF.map(|(setting, value)| (format!("filter.{name}.{setting}"), value)))
        .collect();
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    let numbered = settings.into_iter().enumerate().flat_map(|(number, (key, value))| {
        [(format!("GIT_CONFIG_KEY_{number}"), key), (format!("GIT_CONFIG_VALUE_{number}"), value.to_owned())]
    });
    // A name that is not text could not be repeated.
    let are_known = names.len() <= MOST_FILTERS && !listed.text.contains(char::REPLACEMENT_CHARACTER);
    are_known.then(|| std::iter::once(count).chain(numbered).collect())
}

/// The output of `git`; `None` if it fails or exceeds `patience`.
fn git_output(git: &mut Command, patience: Duration) -> Option<String> {
    output_within(git, patience).filter(|output| output.succeeded).map(|output| output.text)
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

    fn real_git(folder: &Path, arguments: &[&str]) -> String {
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
        real_git(folder, &["init", "-q"]);
        assert_eq!(checked_out(folder), None, "no commit");
        real_git(folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let commit = real_git(folder, &["rev-parse", "HEAD"]);
        let clean = Checkout { commit, branch: Some("main".into()), is_dirty: false };
        assert_eq!(checked_out(folder), Some(clean.clone()));
        std::fs::write(folder.join("new"), "x").unwrap();
        real_git(folder, &["checkout", "-q", "--detach"]);
        assert_eq!(checked_out(folder), Some(Checkout { branch: None, is_dirty: true, ..clean }));
    }
    #[test]
    fn commits_of_another_branch_are_told_from_those_that_were_merged() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path();
        real_git(folder, &["init", "-q"]);
        let made = |message: &str| {
            real_git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
            real_git(folder, &["rev-parse", "HEAD"])
        };
        let merged = made("here");
        real_git(folder, &["checkout", "-q", "-b", "other"]);
        let other = made("there");
        real_git(folder, &["checkout", "-q", "main"]);
        let (short, unknown) = (&other[..9], "0123456789abcdef0123456789abcdef01234567");
        assert_eq!(elsewhere(folder, &[&merged, &other, short, unknown, "--all", "HEAD"]), [&*other, short]);
        assert!(elsewhere(root.path().parent().unwrap(), &[&other]).is_empty(), "no repository");
        real_git(folder, &["merge", "-q", "other"]);
        assert!(elsewhere(folder, &[&other]).is_empty());
    }
}

//! A folder's project, read from the files of its git repository.
//!
//! Runs no `git`: a hook cannot afford the spawn. Follows the links from a worktree to the repository it belongs to.

use rustix::fs::{Mode, OFlags};
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};
use towline_core::project::{ProjectIdentity, branch_in_head, remote_in_config, same_remote};
use towline_core::text::clip;

/// The file in which a repository names its project.
pub const NAME_FILE: &str = ".towline.toml";

/// The number of parent folders searched for a repository.
const DEEPEST: usize = 64;

struct GitFolders {
    /// The top of this worktree.
    top: PathBuf,
    /// This worktree's git folder, with its `HEAD`.
    own: PathBuf,
    /// The git folder that all worktrees share, with the configuration.
    common: PathBuf,
}

/// The folder without symbolic links. Most have none: to ask so takes a microsecond for each part of the path, where asking
/// `/proc` for the name of the open folder took 25 of a prompt's 1,000. `realpath` of the static release's C library starts an
/// allocator of its own: three page faults.
fn resolved(folder: &Path) -> Option<PathBuf> {
    if has_no_links(folder) {
        return Some(folder.components().collect());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let told = rustix::fs::open(folder, flags, Mode::empty())
        .ok()
        .and_then(|opened| fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok());
    told.filter(|path| path.is_dir()).or_else(|| fs::canonicalize(folder).ok())
}

/// Whether this is the path of a folder from the root, with folders only on the way.
fn has_no_links(folder: &Path) -> bool {
    let is_direct = folder.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    folder.is_absolute() && is_direct && folder.ancestors().all(is_folder)
}

/// The git folder that all worktrees of the folder's repository share.
pub fn shared_repository(folder: &Path) -> Option<PathBuf> {
    let real = resolved(folder).unwrap_or_else(|| folder.to_owned());
    repository_above(&real).map(|repository| repository.common)
}

fn repository_above(real: &Path) -> Option<GitFolders> {
    real.ancestors().take(DEEPEST).find_map(repository_at)
}

/// Reads the traces of the folder's project. `name_in` extracts the name from the text of a name file.
pub fn traces(folder: &Path, name_in: &dyn Fn(&str) -> Option<String>) -> ProjectIdentity {
    let real = resolved(folder).unwrap_or_else(|| folder.to_owned());
    let Some(repository) = repository_above(&real) else {
        let name = read(&real.join(NAME_FILE)).and_then(|text| name_in(&text)).map(bounded);
        return ProjectIdentity { root: text(&real), remote: None, name, branch: None };
    };
    let config = read(&repository.common.join("config"));
    ProjectIdentity {
        root: text(&repository.common),
        remote: config.as_deref().and_then(remote_in_config).and_then(same_remote).map(bounded),
        name: read(&repository.top.join(NAME_FILE)).and_then(|text| name_in(&text)).map(bounded),
        branch: read(&repository.own.join("HEAD")).as_deref().and_then(branch_in_head).map(bounded),
    }
}

fn repository_at(top: &Path) -> Option<GitFolders> {
    let dot_git = top.join(".git");
    let meta = fs::metadata(&dot_git).ok()?;
    let own = if meta.is_dir() { dot_git } else { linked(top, &dot_git)? };
    if !own.join("HEAD").exists() {
        return None;
    }
    let common = match read(&own.join("commondir")) {
        Some(path) => fs::canonicalize(own.join(path.trim())).ok()?,
        None => own.clone(),
    };
    Some(GitFolders { top: top.to_owned(), own, common })
}

/// The `.git` file of a worktree or submodule names the git folder.
fn linked(top: &Path, dot_git: &Path) -> Option<PathBuf> {
    let target = read(dot_git)?;
    fs::canonicalize(top.join(target.trim().strip_prefix("gitdir:")?.trim())).ok()
}

/// Reads small regular files only: a pipe would block, and a large file is not what it should be.
fn read(path: &Path) -> Option<String> {
    let meta = fs::metadata(path).ok()?;
    let is_small_file = meta.is_file() && meta.len() < 1 << 20;
    is_small_file.then(|| fs::read_to_string(path).ok()).flatten()
}

/// Repository contents are untrusted and may be of any size; names are cut.
fn bounded(name: String) -> String {
    clip(&name, 500).to_owned()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "real repositories are made by the real git")]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
        git.arg("-C").arg(folder).args(arguments).env_remove("GIT_DIR");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn no_name(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn worktrees_and_subfolders_are_one_project() {
        let root = tempfile::tempdir().unwrap();
        let app = root.path().join("app");
        fs::create_dir_all(app.join("src/deep")).unwrap();
        git(&app, &["init", "-q"]);
        git(&app, &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&app, &["remote", "add", "origin", "git@host:team/app.git"]);
        git(&app, &["worktree", "add", "-q", "-b", "side", "../app-side"]);
        let main = traces(&app, &no_name);
        let deep = traces(&app.join("src/deep"), &no_name);
        let side = traces(&root.path().join("app-side"), &no_name);
        assert_eq!(main, deep);
        assert_eq!((main.root.as_str(), main.remote.as_deref()), (side.root.as_str(), Some("host/team/app")));
        assert_eq!((main.branch.as_deref(), side.branch.as_deref()), (Some("main"), Some("side")));
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let (part, whole) = (root.path().join("part"), root.path().join("whole"));
        for folder in [&part, &whole] {
            fs::create_dir(folder).unwrap();
            git(folder, &["init", "-q"]);
            git(folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
        git(
            &whole,
            &["-c", "protocol.file.allow=always", "submodule", "-q", "add", part.to_str().unwrap(), "sub"],
        );
        let sub = traces(&whole.join("sub"), &no_name);
        assert!(sub.root.ends_with("whole/.git/modules/sub"), "{}", sub.root);
    }

    #[test]
    fn a_folder_without_repository_is_its_own_project_and_a_name_file_names_it() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(NAME_FILE), "name = x").unwrap();
        let found = traces(root.path(), &|text| Some(text.replace("name = ", "")));
        assert_eq!((found.display_name(), found.branch.as_deref()), ("x", None));
        assert_eq!(found.root, text(&fs::canonicalize(root.path()).unwrap()));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let made = Command::new("mkfifo").arg(root.path().join(NAME_FILE)).status().unwrap();
        assert!(made.success());
        assert_eq!(traces(root.path(), &|text| Some(text.to_owned())).name, None);
    }

    #[test]
    fn a_folder_that_is_gone_is_still_a_place() {
        assert_eq!(traces(Path::new("/nonexistent/place"), &no_name).root, "/nonexistent/place");
    }
}

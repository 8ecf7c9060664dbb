//! Project identity: when two folders belong to the same project.
//!
//! Works on data that the caller read from disk; runs no `git` and opens no file.

use serde::{Deserialize, Serialize};

/// The data about a project found in one of its folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectIdentity {
    /// The repository that all worktrees share, or the folder itself outside a repository.
    pub root: String,
    /// The remote, normalised by `same_remote`; unaffected by a move of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// A name set by the repository or the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl ProjectIdentity {
    /// Whether the traces match the project with this root or this remote.
    pub fn matches_project(&self, root: &str, remote: Option<&str>) -> bool {
        self.root == root || (remote.is_some() && self.remote.as_deref() == remote)
    }

    /// The given name, else the last component of the remote, else of the path.
    pub fn display_name(&self) -> &str {
        let given = self.name.as_deref().filter(|name| !name.trim().is_empty());
        given.unwrap_or_else(|| last_component(self.remote.as_deref().unwrap_or(&self.root)))
    }
}

fn last_component(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix("/.git").unwrap_or(path);
    path.rsplit('/').next().filter(|part| !part.is_empty()).unwrap_or("/")
}

/// Normalises a remote URL to `host/path`, without scheme, user, password, port and `.git`.
/// Returns `None` for a local folder, which means nothing on another machine.
pub fn same_remote(url: &str) -> Option<String> {
    let url = url.trim().split(['?', '#']).next().unwrap_or("");
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        // A password may contain a slash: text before the last `@` is never host or path.
        Some((_, rest)) => rest.rsplit('@').next().unwrap_or(rest).split_once('/')?,
        None => scp_like(url)?,
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// Splits `git@host:path`; rejects `C:\path` and `/path`.
fn scp_like(url: &str) -> Option<(&str, &str)> {
    let (host, path) = url.split_once(':')?;
    let is_host = host.len() > 1 && !host.contains('/') && !host.contains('\\');
    is_host.then_some((host, path))
}

/// The URL of `origin`, else of the first other remote, in the text of a repository's `config` file.
pub fn remote_in_config(config: &str) -> Option<&str> {
    let mut section = "";
    let mut fallback = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let Some(("url", url)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        if section == r#"[remote "origin"]"# {
            return Some(url);
        }
        if section.starts_with("[remote ") {
            fallback.get_or_insert(url);
        }
    }
    fallback
}

/// The branch in the text of a `HEAD` file; for a detached head, the short commit.
pub fn branch_in_head(head: &str) -> Option<String> {
    let head = head.trim();
    if let Some(reference) = head.strip_prefix("ref: ") {
        return Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned());
    }
    let is_commit = head.len() >= 40 && head.bytes().all(|b| b.is_ascii_hexdigit());
    is_commit.then(|| head[..8].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_remote_are_one() {
        for url in [
            "https://github.com/team/app.git",
            "https://user:token@GitHub.com/team/app",
            "ssh://git@github.com:22/team/app.git",
            "git@github.com:team/app.git",
            "git@github.com:/team/app/",
            "https://user:pa/ss@github.com/team/app?access_token=secret",
        ] {
            assert_eq!(same_remote(url).as_deref(), Some("github.com/team/app"), "{url}");
        }
    }

    #[test]
    fn a_folder_is_not_a_remote() {
        for url in ["/srv/git/app.git", "file:///srv/app", "../app", "C:\\app", ""] {
            assert_eq!(same_remote(url), None, "{url}");
        }
    }

    #[test]
    fn origin_wins_over_other_remotes() {
        let config =
            "[remote \"up\"]\n\turl = git@h:u/a\n[remote \"origin\"]\n\tfetch = x\n\turl = git@h:me/a\n";
        assert_eq!(remote_in_config(config), Some("git@h:me/a"));
        assert_eq!(remote_in_config("[remote \"up\"]\nurl = git@h:u/a"), Some("git@h:u/a"));
        assert_eq!(remote_in_config("[core]\nurl = nonsense"), None);
    }

    #[test]
    fn branches_and_detached_heads_are_read() {
        assert_eq!(branch_in_head("ref: refs/heads/feature/x\n").as_deref(), Some("feature/x"));
        assert_eq!(branch_in_head(&"a".repeat(40)).as_deref(), Some("aaaaaaaa"));
        assert_eq!(branch_in_head("garbage"), None);
    }

    #[test]
    fn a_project_is_called_by_its_given_name_its_remote_or_its_folder() {
        let mut traces =
            ProjectIdentity { root: "/src/app/.git".into(), remote: None, name: None, branch: None };
        assert_eq!(traces.display_name(), "app");
        traces.remote = Some("github.com/team/service".into());
        assert_eq!(traces.display_name(), "service");
        traces.name = Some("Payments".into());
        assert_eq!(traces.display_name(), "Payments");
    }
}

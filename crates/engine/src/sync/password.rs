//! The hub's password: from a command, a variable, or the file that PostgreSQL's own programs read.
//!
//! Never stored, never shown, never passed to another program: it is read when needed. A failing command is
//! an error; the other sources are not tried in its place.

use crate::memory::model::provider::{NoSecret, printed_secret};
use crate::runtime::config::Hub;
use crate::runtime::env::user_home;
use crate::runtime::hub_url::Url;
use crate::runtime::{Env, variable};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A password. Its `Debug` output hides it.
pub struct Password(String);

impl Password {
    /// For opening the connection only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("hub.password_command gave no password: it {0}")]
    Command(#[from] NoSecret),
    #[error("{path} can be read by others, so no password is taken from it")]
    Open { path: PathBuf },
    #[error("could not read {path}")]
    Read { path: PathBuf, source: io::Error },
}

impl PasswordError {
    /// The next command for the user.
    pub fn remedy(&self) -> String {
        match self {
            PasswordError::Command(_) => {
                "Run that command by hand, or `tow config unset hub.password_command`.".to_owned()
            }
            PasswordError::Open { path } => format!("Run `chmod 600 {}`.", path.display()),
            PasswordError::Read { path, .. } => format!("Run `ls -l {}`.", path.display()),
        }
    }
}

/// The password for this address: from the command if set, else the variable, else the file. `None` if none
/// has one: some hubs need no password for some users.
pub fn found(env: &Env, wanted: &Hub, url: &Url) -> Result<Option<Password>, PasswordError> {
    if !wanted.password_command.is_empty() {
        let secret = printed_secret(&wanted.password_command, &env.home.folder().join("asking"))?;
        return Ok(Some(Password(secret)));
    }
    let named = Some(wanted.password_env.as_str()).filter(|name| !name.is_empty());
    if let Some(secret) = named.and_then(variable) {
        return Ok(Some(Password(secret)));
    }
    let usual = || user_home().map(|home| home.join(".pgpass"));
    let file = variable("PGPASSFILE").map(PathBuf::from).or_else(usual);
    file.map_or(Ok(None), |file| in_file(&file, url))
}

fn in_file(path: &Path, url: &Url) -> Result<Option<Password>, PasswordError> {
    let failed = |source| PasswordError::Read { path: path.to_owned(), source };
    let meta = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.map_err(failed)?,
    };
    if meta.mode() & 0o077 != 0 {
        return Err(PasswordError::Open { path: path.to_owned() });
    }
    Ok(line_for(&fs::read_to_string(path).map_err(failed)?, url).map(Password))
}

/// The password of the first matching line: `host:port:database:user:password`; `*` matches all, `\` escapes.
fn line_for(text: &str, url: &Url) -> Option<String> {
    let port = url.port.to_string();
    let fits = |field: &str, value: &str| field == "*" || field == value;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, of_port, database, user, password] = fields(line)?;
        let is_host = fits(&host, &url.host) || (url.host.starts_with('/') && host == "localhost");
        let is_ours =
            is_host && fits(&of_port, &port) && fits(&database, &url.database) && fits(&user, &url.user);
        is_ours.then_some(password)
    })
}

fn fields(line: &str) -> Option<[String; 5]> {
    let mut found = vec![String::new()];
    let mut letters = line.trim_end_matches('\r').chars();
    while let Some(letter) = letters.next() {
        let last = found.last_mut()?;
        match letter {
            '\\' => last.extend(letters.next()),
            ':' => found.push(String::new()),
            letter => last.push(letter),
        }
    }
    found.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn url(host: &str) -> Url {
        Url { host: host.into(), port: 5432, database: "towline".into(), user: "ann".into() }
    }

    #[track_caller]
    fn check(file: &str, host: &str, expected: Option<&str>) {
        assert_eq!(line_for(file, &url(host)).as_deref(), expected);
    }

    #[test]
    fn the_first_line_that_fits_holds_the_password() {
        let file = "# mine\nother:5432:towline:ann:no\nhub:*:towline:ann:yes\n*:*:*:*:last";
        check(file, "hub", Some("yes"));
        check(file, "elsewhere", Some("last"));
        check("hub:5433:towline:ann:no\nhub:5432:towline:bob:no", "hub", None);
    }

    #[test]
    fn colons_and_backslashes_are_written_with_a_backslash() {
        check(r"hub:5432:towline:ann:a\:b\\c", "hub", Some(r"a:b\c"));
        check("hub:5432:towline:ann:a:b", "hub", None);
    }

    #[test]
    fn a_socket_is_called_localhost_too() {
        check("localhost:5432:towline:ann:yes", "/run/postgresql", Some("yes"));
        check("/run/postgresql:5432:towline:ann:yes", "/run/postgresql", Some("yes"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_nothing_of_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        fs::write(&file, "*:*:*:*:hunter2").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = in_file(&file, &url("hub")).unwrap_err();
        let said = format!("{error} {} {error:?}", error.remedy());
        assert!(said.contains("chmod 600") && !said.contains("hunter2"), "{said}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let found = in_file(&file, &url("hub")).unwrap().unwrap();
        assert_eq!((found.reveal(), format!("{found:?}").as_str()), ("hunter2", "Password(…)"));
        assert!(in_file(&folder.path().join("none"), &url("hub")).unwrap().is_none());
    }
}

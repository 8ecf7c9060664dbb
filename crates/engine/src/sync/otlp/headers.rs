//! The headers that the user configured for the receiver, such as a key: from a file or a variable.
//!
//! Never stored and never shown: they are read when needed, and errors do not repeat them.

use crate::runtime::config::Otlp;
use crate::runtime::variable;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};
use ureq::http::{HeaderName, HeaderValue};

/// Names and values. `Debug` hides the values.
#[derive(Default)]
pub(super) struct Headers(pub Vec<(HeaderName, HeaderValue)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum HeadersError {
    #[error("{path} can be read by others, so no headers are taken from it")]
    Open { path: PathBuf },
    #[error("could not read {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("line {line} of {path} is no `name: value`")]
    Line { path: PathBuf, line: usize },
    #[error("otlp.headers_env names {name}, which is not set here")]
    Unset { name: String },
    #[error("{name} is no list of name=value with commas between them")]
    Variable { name: String },
}

impl HeadersError {
    /// The next command for the user.
    pub fn remedy(&self) -> String {
        match self {
            HeadersError::Open { path } => format!("Run `chmod 600 {}`.", path.display()),
            HeadersError::Read { path, .. } => format!("Run `ls -l {}`.", path.display()),
            HeadersError::Line { path, .. } => format!("Edit {}.", path.display()),
            HeadersError::Unset { .. } | HeadersError::Variable { .. } => {
                "Set it where the agents are started, or use otlp.headers_file.".to_owned()
            }
        }
    }
}

/// Those of the file, then those of the variable.
pub(super) fn headers(config: &Otlp) -> Result<Headers, HeadersError> {
    let mut found = Headers::default();
    if !config.headers_file.is_empty() {
        found.0.extend(in_file(Path::new(&config.headers_file))?);
    }
    if !config.headers_env.is_empty() {
        let name = config.headers_env.clone();
        let Some(list) = variable(&name) else { return Err(HeadersError::Unset { name }) };
        found.0.extend(in_list(&list).ok_or(HeadersError::Variable { name })?);
    }
    Ok(found)
}

fn in_file(path: &Path) -> Result<Vec<(HeaderName, HeaderValue)>, HeadersError> {
    let failed = |source| HeadersError::Read { path: path.to_owned(), source };
    if fs::metadata(path).map_err(failed)?.mode() & 0o077 != 0 {
        return Err(HeadersError::Open { path: path.to_owned() });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let parse = |(number, line): (usize, &str)| {
        let wrong = || HeadersError::Line { path: path.to_owned(), line: number };
        line.split_once(':').and_then(|(name, value)| header(name, value.trim())).ok_or_else(wrong)
    };
    lines.map(parse).collect()
}

/// `name=value,name=value`, values percent-encoded, as OpenTelemetry's own variable holds them.
fn in_list(list: &str) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let items = list.split(',').filter(|item| !item.trim().is_empty());
    items
        .map(|item| item.split_once('=').and_then(|(name, value)| header(name, &decoded(value.trim())?)))
        .collect()
}

fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| std::str::from_utf8(after.get(..2)?).ok());
        match code {
            Some(code) => {
                bytes.push(u8::from_str_radix(code?, 16).ok()?);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name.trim().parse().ok()?, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn shown(headers: &[(HeaderName, HeaderValue)]) -> Vec<(&str, &str)> {
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect()
    }

    #[test]
    fn a_list_is_read_as_opentelemetry_writes_it() {
        let found = in_list("Authorization=Basic%20YTpi, x-tenant = me ,").unwrap();
        assert_eq!(shown(&found), [("authorization", "Basic YTpi"), ("x-tenant", "me")]);
        for wrong in ["authorization", "a b=c", "a=%2", "a=%zz", "a=%0a"] {
            assert!(in_list(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_read_if_nobody_else_can_and_its_values_are_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headers");
        fs::write(&path, "# mine\n\nAuthorization: Bearer k3y:1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(in_file(&path), Err(HeadersError::Open { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let found = in_file(&path).unwrap();
        assert_eq!(shown(&found), [("authorization", "Bearer k3y:1")]);
        assert!(!format!("{:?}", Headers(found)).contains("k3y"));
        fs::write(&path, "a: 1\nk3y\n").unwrap();
        let error = in_file(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && !error.contains("k3y"), "{error}");
    }
}

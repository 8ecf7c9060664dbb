//! Matches folders and names against the patterns of the configuration.
//!
//! Pure: it must not look at the file system.

/// Whether `pattern` equals `folder` or an ancestor of it, part by part; `*` matches one part.
pub(super) fn covers(pattern: &str, folder: &str) -> bool {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (pattern, folder) = (parts(pattern), parts(folder));
    !pattern.is_empty()
        && pattern.len() <= folder.len()
        && pattern.iter().zip(&folder).all(|(wanted, part)| wanted == "*" || wanted == part)
}

/// Whether `pattern` matches `name`; `*` matches any characters.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or("");
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_is_below_it_and_no_namesake() {
        assert!(covers("/home/me/secret", "/home/me/secret/deep"));
        assert!(covers("/home/*/secret/", "/home/you/secret"));
        assert!(!covers("/home/me/secret", "/home/me/secrets"));
        assert!(!covers("/home/me/secret/deep", "/home/me/secret"));
        assert!(!covers("", "/"));
    }
}

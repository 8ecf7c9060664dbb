//! Where an agent keeps its files: patterns of paths below its folder, and nothing outside it.
//!
//! A pattern has no `..` and no root, and no symbolic link below the folder is followed, neither to a file nor to a folder.
//! Lists folders; opens no file.

use super::pattern::LinePattern;
use crate::files::DATABASES;
use std::cmp::Reverse;
use std::fs::{self, FileType};
use std::path::{Component, Path, PathBuf};
use towline_core::id::SessionId;

/// The place of the session's id in a pattern.
const SESSION: &str = "{session}";

/// More files than an agent keeps; a folder that was named by mistake may hold more.
pub(super) const MOST: usize = 100_000;

/// The transcripts of an agent, sorted by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptList {
    pub files: Vec<PathBuf>,
    /// How many older ones there are that are not listed.
    pub left_out: usize,
    /// Databases that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// The files that match any of these patterns, at most this many of the newest. Unreadable folders count as empty.
pub(super) fn newest(patterns: &[FilePattern], folder: &Path, most: usize) -> TranscriptList {
    let mut found = NewestFiles { most, list: TranscriptList::default() };
    for pattern in patterns {
        list(&pattern.0, folder, &Captures::default(), &mut found);
    }
    found.prune();
    found.list
}

/// Holds at most twice as many files as are wanted.
struct NewestFiles {
    most: usize,
    list: TranscriptList,
}

impl NewestFiles {
    fn add(&mut self, file: PathBuf) {
        self.list.files.push(file);
        if self.list.files.len() >= self.most.saturating_mul(2) {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let TranscriptList { files, left_out, .. } = &mut self.list;
        files.sort();
        files.dedup();
        let surplus = files.len().saturating_sub(self.most);
        if surplus > 0 {
            let written = |path: &PathBuf| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
            files.sort_by_cached_key(|path| Reverse(written(path)));
            files.truncate(self.most);
            files.sort();
            *left_out += surplus;
        }
    }
}

/// A pattern such as `sessions/*/{session}.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Name(String),
    /// A name with `*` in it.
    Like(LinePattern),
    /// The session's id between two texts; anything may stand before the first if it is open.
    Session {
        before: String,
        after: String,
        is_open: bool,
    },
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPlace {
    #[error("must be a path below the agent's folder, without `..`, `.` or a `/` at its start")]
    Outside,
    #[error("has `{{session}}` twice in one name, or a `*` that may end anywhere beside it")]
    Session,
    #[error("has more than {DEEPEST} folders")]
    TooDeep,
    #[error("is not a pattern")]
    Pattern,
}

const DEEPEST: usize = 12;

/// What a path has at the places of the pattern's `*` and `{session}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Captures {
    names: Vec<String>,
    pub session: Option<String>,
}

/// A path below the agent's folder or the user's home, without anything that leads out of it.
pub(super) fn is_below(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty() && !path.contains("//") && parts.clone().all(|part| matches!(part, Component::Normal(_)))
}

impl FilePattern {
    pub fn parse(text: &str) -> Result<FilePattern, BadPlace> {
        if !is_below(text) || text.ends_with('/') || text.split('/').any(|part| part == ".") {
            return Err(BadPlace::Outside);
        }
        let parts: Vec<Part> = text.split('/').map(Part::parse).collect::<Result<_, _>>()?;
        if parts.len() > DEEPEST { Err(BadPlace::TooDeep) } else { Ok(FilePattern(parts)) }
    }

    pub fn names_session(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Session { .. }))
    }

    pub fn names_database(&self) -> bool {
        let ends = |name: &str| DATABASES.iter().any(|ending| name.ends_with(ending));
        self.0.last().is_some_and(|part| matches!(part, Part::Name(name) if ends(name)))
    }

    /// What this path has at the pattern's places; `None` if it does not match.
    pub fn captures(&self, folder: &Path, path: &Path) -> Option<Captures> {
        let mut names = path.strip_prefix(folder).ok()?.components();
        let mut captures = Captures::default();
        for part in &self.0 {
            // `..` is a name to no pattern.
            let Component::Normal(name) = names.next()? else { return None };
            let name = name.to_str()?;
            captures = part.captured(name, &captures)?;
        }
        names.next().is_none().then_some(captures)
    }

    /// The file of the same session that this pattern means: its first `*` stands for what the other pattern's first `*`
    /// stood for, and so on. `None` if it leads over a link or to no file.
    pub fn beside(&self, folder: &Path, captures: &Captures) -> Option<PathBuf> {
        let (mut names, mut path) = (captures.names.iter(), folder.to_owned());
        let mut kind = None;
        for part in &self.0 {
            let name = match part {
                Part::Name(name) => name.clone(),
                // What stood before the id is not known.
                Part::Session { is_open: true, .. } => return None,
                Part::Session { before, after, .. } => {
                    format!("{before}{}{after}", captures.session.as_deref()?)
                }
                Part::Like(_) | Part::Any => names.next()?.clone(),
            };
            path.push(is_below(&name).then_some(name)?);
            kind = Some(kind_of(&path).filter(|kind| !kind.is_symlink())?);
        }
        kind.is_some_and(|kind| kind.is_file()).then_some(path)
    }
}

impl Part {
    fn parse(text: &str) -> Result<Part, BadPlace> {
        if let Some((before, after)) = text.split_once(SESSION) {
            let (start, is_open) = before.strip_prefix('*').map_or((before, false), |start| (start, true));
            if after.contains(['*', '{']) || start.contains('*') || (is_open && start.is_empty()) {
                return Err(BadPlace::Session);
            }
            return Ok(Part::Session { before: start.to_owned(), after: after.to_owned(), is_open });
        }
        match text {
            "*" => Ok(Part::Any),
            _ if text.contains('*') => {
                Ok(Part::Like(LinePattern::parse(text).map_err(|_| BadPlace::Pattern)?))
            }
            _ => Ok(Part::Name(text.to_owned())),
        }
    }

    /// The entries of a folder that match, with their own kind: a link is neither a file nor a folder.
    fn below<'p>(
        &'p self,
        folder: &Path,
        so_far: &'p Captures,
    ) -> Box<dyn Iterator<Item = (PathBuf, FileType, Captures)> + 'p> {
        if let Part::Name(name) = self {
            let path = folder.join(name);
            return Box::new(
                kind_of(&path).into_iter().map(move |kind| (path.clone(), kind, so_far.clone())),
            );
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        Box::new(entries.filter_map(|entry| {
            let captures = self.captured(entry.file_name().to_str()?, so_far)?;
            Some((entry.path(), entry.file_type().ok()?, captures))
        }))
    }

    fn captured(&self, name: &str, so_far: &Captures) -> Option<Captures> {
        let mut captures = so_far.clone();
        match self {
            Part::Name(own) if own == name => {}
            Part::Name(_) => return None,
            Part::Like(pattern) if !pattern.matches(name) => return None,
            Part::Like(_) | Part::Any => captures.names.push(name.to_owned()),
            Part::Session { before, after, is_open } => {
                let name = name.strip_suffix(after.as_str())?;
                let id = match is_open {
                    true => name.rsplit_once(before.as_str())?.1,
                    false => name.strip_prefix(before.as_str())?,
                };
                is_session(id).then_some(())?;
                // Two places of one pattern name the same session.
                if captures.session.as_ref().is_some_and(|known| known != id) {
                    return None;
                }
                captures.session = Some(id.to_owned());
            }
        }
        Some(captures)
    }
}

/// Whether this can be the id of a session. It becomes a word of a command line: it must not look like an option.
pub(super) fn is_session(id: &str) -> bool {
    SessionId::parse(id).is_ok() && !id.starts_with('-') && is_below(id)
}

/// Adds the files below a folder that match the rest of a pattern.
fn list(parts: &[Part], folder: &Path, so_far: &Captures, found: &mut NewestFiles) {
    let Some((part, rest)) = parts.split_first() else { return };
    for (path, kind, captures) in part.below(folder, so_far) {
        match rest.is_empty() {
            true if kind.is_file() => found.add(path),
            false if kind.is_dir() => list(rest, &path, &captures, found),
            true | false => {}
        }
    }
}

/// The kind of what is there itself: a link is not followed.
fn kind_of(path: &Path) -> Option<FileType> {
    fs::symlink_metadata(path).ok().map(|meta| meta.file_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn files(pattern: &str, folder: &Path) -> Vec<PathBuf> {
        newest(&[FilePattern::parse(pattern).unwrap()], folder, MOST).files
    }

    #[track_caller]
    fn check(pattern: &str, files: &[&str], expected: &[(&str, Option<&str>)]) {
        let folder = folder_with(files);
        let listed = self::files(pattern, folder.path());
        let pattern = FilePattern::parse(pattern).unwrap();
        let found = listed.into_iter().map(|path| {
            let session = pattern.captures(folder.path(), &path).unwrap().session;
            (path.strip_prefix(folder.path()).unwrap().display().to_string(), session)
        });
        let found: Vec<_> = found.collect();
        let found: Vec<_> = found.iter().map(|(path, session)| (path.as_str(), session.as_deref())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_are_found_by_their_pattern_and_name_their_session() {
        check(
            "sessions/*/{session}/wire.jsonl",
            &[
                "sessions/a/s1/wire.jsonl",
                "sessions/b/s-2/wire.jsonl",
                "sessions/b/s3/other.jsonl",
                "wire.jsonl",
            ],
            &[("sessions/a/s1/wire.jsonl", Some("s1")), ("sessions/b/s-2/wire.jsonl", Some("s-2"))],
        );
        check(
            "s/*_{session}.jsonl",
            &["s/2026-11-19T04-46-23-387Z_01a1-99.jsonl", "s/x.settings.json"],
            &[("s/2026-11-19T04-46-23-387Z_01a1-99.jsonl", Some("01a1-99"))],
        );
        check("{session}/{session}.json", &["a/a.json", "a/b.json"], &[("a/a.json", Some("a"))]);
        check("{session}.jsonl", &["a b.jsonl", "-x.jsonl", "ok.jsonl"], &[("ok.jsonl", Some("ok"))]);
    }

    #[test]
    fn a_pattern_does_not_lead_out_of_the_folder() {
        for wrong in ["../x", "/etc/passwd", "a/../../b", "", "a//b", "./a", "a/./b", "a/"] {
            assert_eq!(FilePattern::parse(wrong), Err(BadPlace::Outside), "{wrong:?}");
        }
        assert_eq!(FilePattern::parse("{session}{session}"), Err(BadPlace::Session));
        assert_eq!(FilePattern::parse("{session}*"), Err(BadPlace::Session));
        assert_eq!(FilePattern::parse("*{session}"), Err(BadPlace::Session));
        assert_eq!(FilePattern::parse(&["a"; 13].join("/")), Err(BadPlace::TooDeep));
    }

    #[test]
    fn a_link_below_the_folder_is_not_followed() {
        let (folder, outside) = (folder_with(&["s/in.jsonl"]), folder_with(&["secret.jsonl", "s/far.jsonl"]));
        std::os::unix::fs::symlink(outside.path().join("secret.jsonl"), folder.path().join("s/link.jsonl"))
            .unwrap();
        std::os::unix::fs::symlink(outside.path().join("s"), folder.path().join("t")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("s/in.jsonl"), folder.path().join("s/own.jsonl"))
            .unwrap();
        for pattern in ["*/{session}.jsonl", "s/{session}.jsonl", "t/{session}.jsonl", "t/f*/{session}.jsonl"]
        {
            let found = files(pattern, folder.path());
            let expected = [folder.path().join("s/in.jsonl")];
            assert_eq!(found, expected[..usize::from(!pattern.starts_with('t'))], "{pattern}");
        }
        let pattern = FilePattern::parse("*/{session}.jsonl").unwrap();
        for (name, session) in [("t", "far"), ("s", "link"), ("s", "own")] {
            let captures = Captures { names: vec![name.into()], session: Some(session.into()) };
            assert_eq!(pattern.beside(folder.path(), &captures), None, "{name} {session}");
        }
    }

    #[test]
    fn a_folder_that_is_a_link_itself_is_listed() {
        let (folder, home) = (folder_with(&["s/in.jsonl"]), tempfile::tempdir().unwrap());
        let chosen = home.path().join("chosen");
        std::os::unix::fs::symlink(folder.path(), &chosen).unwrap();
        let found = files("*/{session}.jsonl", &chosen);
        assert_eq!(found, [chosen.join("s/in.jsonl")]);
    }

    #[test]
    fn of_too_many_files_the_newest_are_listed_and_the_others_counted() {
        use std::time::{Duration, UNIX_EPOCH};
        let names: Vec<String> = (0..40).map(|number| format!("s/{number:02}.jsonl")).collect();
        let folder = folder_with(&names.iter().map(String::as_str).collect::<Vec<_>>());
        // Neither in the order of their names nor in that of their making.
        for (age, name) in names.iter().enumerate().map(|(number, name)| (number * 7 % 40, name)) {
            let file = fs::File::options().append(true).open(folder.path().join(name)).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(1000 - age as u64)).unwrap();
        }
        let patterns = ["s/{session}.jsonl", "*/{session}.jsonl"].map(|it| FilePattern::parse(it).unwrap());
        let found = newest(&patterns[..1], folder.path(), 3);
        let expected = ["00", "23", "06"].map(|name| folder.path().join(format!("s/{name}.jsonl")));
        assert_eq!(BTreeSet::from_iter(found.files), BTreeSet::from(expected));
        assert_eq!(found.left_out, 37);
        // A file that two patterns match is one file.
        let all = newest(&patterns, folder.path(), 40);
        assert_eq!((all.files.len(), all.left_out), (40, 0));
    }

    #[test]
    fn dots_are_no_names_to_a_pattern() {
        let folder = folder_with(&["s/in.jsonl", "other/state.json", "s/...jsonl"]);
        let captured = |pattern: &str, path: &str| {
            FilePattern::parse(pattern).unwrap().captures(folder.path(), &folder.path().join(path))
        };
        assert!(captured("*/{session}.jsonl", "s/in.jsonl").is_some());
        for (pattern, path) in [
            ("s/*/{session}.jsonl", "s/../in.jsonl"),
            ("s/*/*/{session}.jsonl", "s/../../in.jsonl"),
            ("s/{session}/in.jsonl", "s/../in.jsonl"),
            ("s/.*/{session}.jsonl", "s/../in.jsonl"),
            ("s/{session}.jsonl", "s/...jsonl"),
            ("s/{session}.jsonl", "s/..jsonl"),
        ] {
            assert_eq!(captured(pattern, path), None, "{pattern} {path}");
        }
        let beside = |session: &str, pattern: &str| {
            let captures = Captures { names: vec![], session: Some(session.into()) };
            FilePattern::parse(pattern).unwrap().beside(folder.path(), &captures)
        };
        assert_eq!(beside("..", "s/{session}/other/state.json"), None);
        assert_eq!(beside(".", "s/.{session}/other/state.json"), None);
        assert!(beside("other", "{session}/state.json").is_some());
    }

    #[test]
    fn the_file_about_a_session_is_found_from_its_transcript() {
        let folder = folder_with(&["s/w/one/agents/main/wire.jsonl", "s/w/one/state.json"]);
        let text = "s/*/{session}/agents/*/wire.jsonl";
        let (pattern, transcript) =
            (FilePattern::parse(text).unwrap(), files(text, folder.path()).pop().unwrap());
        let captures = pattern.captures(folder.path(), &transcript).unwrap();
        let about = FilePattern::parse("s/*/{session}/state.json").unwrap().beside(folder.path(), &captures);
        assert_eq!(about, Some(folder.path().join("s/w/one/state.json")));
    }
}

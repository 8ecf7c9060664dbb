//! The planned change of a foreign file, and the checks and edits that all JSON formats share.
//!
//! Knows no entry of ours, and writes nothing.

use super::edit;
use super::json::{self, ByteSpan, ValueKind};
use super::refusal::RefusalCause;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file before and after an edit, and the changes in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlan {
    pub file: PathBuf,
    /// Its current bytes; `None` if there is no file.
    pub before: Option<Vec<u8>>,
    /// Its new bytes; `None` if there will be no file.
    pub after: Option<Vec<u8>>,
    pub changes: Vec<EntryChange>,
}

/// One change to an entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// An entry for an event that had none.
    Added { event: String },
    /// An entry of ours brought to its current form.
    Upgraded { event: String, was: String },
    /// An entry of ours that is not needed (any more).
    Removed { event: String, was: String },
}

/// The next edit of a text and its change; `None` if the text is as wanted.
pub(super) type NextEdit<T, E> = Result<Option<(T, EntryChange)>, E>;

/// More edits than any file of settings needs: an edit that does not recognise its own entry adds it again and again.
const MOST_EDITS: usize = 1_000;

/// Edits a text until it is as wanted. Edits that never get there change nothing.
pub(super) fn edited<T, E>(
    mut text: T,
    next: impl Fn(&T) -> NextEdit<T, E>,
) -> Result<(T, Vec<EntryChange>), E> {
    let mut changes = Vec::new();
    while let Some((edited, change)) = next(&text)? {
        text = edited;
        changes.push(change);
        if changes.len() > MOST_EDITS {
            changes.clear();
            break;
        }
    }
    Ok((text, changes))
}

/// The containers that a file held without us: they stay, even if they end up empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Containers {
    pub(super) hooks: bool,
    lists: BTreeSet<String>,
}

impl Containers {
    pub(super) fn of_hooks(lists: impl IntoIterator<Item = String>) -> Self {
        Self { hooks: true, lists: lists.into_iter().collect() }
    }

    pub(super) fn of_lists(lists: impl IntoIterator<Item = String>) -> Self {
        Self { hooks: false, lists: lists.into_iter().collect() }
    }

    pub(super) fn has(&self, list: &str) -> bool {
        self.lists.contains(list)
    }
}

impl EditPlan {
    /// The edit of `file` to `text`; nothing changes without an entry in `changes`.
    pub(super) fn new(file: &Path, before: Option<&[u8]>, text: String, changes: Vec<EntryChange>) -> Self {
        let before = before.map(<[u8]>::to_vec);
        let after = if changes.is_empty() { before.clone() } else { Some(text.into_bytes()) };
        Self { file: file.to_owned(), before, after, changes }
    }

    /// The replacement of a file that has no entries.
    pub(super) fn of_bytes(file: &Path, before: Option<&[u8]>, after: Option<Vec<u8>>) -> Self {
        Self { file: file.to_owned(), before: before.map(<[u8]>::to_vec), after, changes: vec![] }
    }

    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The plan as a unified diff; empty if nothing changes.
    pub fn diff(&self) -> String {
        let shown = |bytes: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
        };
        let name = |bytes: &Option<Vec<u8>>| match bytes {
            Some(_) => self.file.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (shown(&self.before), shown(&self.after));
        let lines = InternedInput::new(before.as_str(), after.as_str());
        let mut diff = Diff::compute(Algorithm::Histogram, &lines);
        diff.postprocess_lines(&lines);
        let printer = BasicLineDiffPrinter(&lines.interner);
        if diff.count_additions() + diff.count_removals() == 0 {
            return String::new();
        }
        let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &lines);
        format!("--- {}\n+++ {}\n{hunks}", name(&self.before), name(&self.after))
    }
}

impl fmt::Display for EntryChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryChange::Added { event } => write!(f, "add {event}"),
            EntryChange::Upgraded { event, .. } => write!(f, "upgrade {event}"),
            EntryChange::Removed { event, .. } => write!(f, "remove {event}"),
        }
    }
}

/// The file as text, verified to be an object; a blank file is an empty object.
pub(super) fn opened_object(existing: Option<&[u8]>) -> Result<String, RefusalCause> {
    let text = std::str::from_utf8(existing.unwrap_or_default());
    let text = text.map_err(|error| RefusalCause::NotText { at: error.valid_up_to() })?;
    if json::is_blank(text) {
        let mark = &text[..text.len() - json::without_mark(text).len()];
        return Ok(format!("{mark}{{}}\n"));
    }
    json::check(text)?;
    if json::kind(text, &json::root(text)) != ValueKind::Object {
        return Err(RefusalCause::RootNotObject);
    }
    Ok(text.to_owned())
}

/// Leaves a repeated key alone: removing its last value would put the previous one into effect.
pub(super) fn without_if_empty(text: String, object: &ByteSpan, key: &str) -> String {
    let members = json::elements(&text, object);
    let mut named = members.iter().enumerate().filter(|(_, member)| member.key.as_deref() == Some(key));
    match (named.next(), named.next()) {
        (Some((at, member)), None) if json::elements(&text, &member.value).is_empty() => {
            edit::remove(&text, object, at)
        }
        _ => text,
    }
}

/// How many bytes two texts share at their start, and how many of the rest at their end.
pub(super) fn common_ends(one: &[u8], other: &[u8]) -> (usize, usize) {
    let alike = |(one, other): &(&u8, &u8)| one == other;
    let start = one.iter().zip(other).take_while(alike).count();
    (start, one[start..].iter().rev().zip(other[start..].iter().rev()).take_while(alike).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_never_end_change_nothing() {
        let added = |text: &String| {
            let change = EntryChange::Added { event: "x".to_owned() };
            Ok::<_, ()>(Some((format!("{text}x"), change)))
        };
        assert_eq!(edited(String::new(), added).map(|(_, changes)| changes), Ok(vec![]));
    }
}

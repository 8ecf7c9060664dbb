//! Determines the label and the short id of a bookmark.
//!
//! Only reads; `core::bookmark` words the labels.

use crate::runtime::Failure;
use crate::runtime::text::plain_text;
use std::collections::HashMap;
use std::time::Duration;
use towline_core::bookmark::{BookmarkOrigin, label};
use towline_core::event::PromptOrigin;
use towline_core::id::{SessionKey, Uid};
use towline_core::session::SessionTurn;
use towline_core::text::SafeText;
use towline_store::archive::{Archive, TurnFilter, TurnQuery};
use towline_store::{BookmarkRow, Store, StoreError};

const PATIENCE: Duration = Duration::from_millis(500);

/// The largest number of turns that contribute to a label.
const MOST_TURNS: usize = 50;

/// The short form shown to users: the last eight characters of the id.
pub fn short(uid: Uid) -> String {
    let whole = uid.to_string();
    whole[whole.len() - 8..].to_owned()
}

/// The only row whose id begins or ends with `part`; an error tells whether several do.
pub fn only_named<T>(all: Vec<T>, part: &str, id: impl Fn(&T) -> Uid) -> Result<T, AmbiguousName> {
    let fits = |row: &T| {
        let id = id(row).to_string();
        !part.is_empty() && (id.starts_with(part) || id.ends_with(part))
    };
    let mut found: Vec<T> = all.into_iter().filter(fits).collect();
    match (found.pop(), found.len()) {
        (Some(row), 0) => Ok(row),
        (Some(_), _) => Err(AmbiguousName::Several),
        (None, _) => Err(AmbiguousName::None),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmbiguousName {
    None,
    Several,
}

/// The bookmark whose id begins or ends with `part`.
pub fn named(store: &Store, part: &str) -> Result<BookmarkRow, Failure> {
    let mut found = store.bookmarks_named(part)?;
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(|known| known.bookmark.uid.to_string()).collect();
        let what = format!("`{}` fits several bookmarks: {}", plain_text(part), names.join(", "));
        return Err(Failure::input(what).hint("Give more of the id."));
    }
    let none = || {
        Failure::input(format!("no bookmark's id begins or ends with `{}`", plain_text(part)))
            .hint("Run `tow bookmark list --all-projects --deleted`.")
    };
    found.pop().ok_or_else(none)
}

/// Computes labels; loads the turns of each session once.
pub struct Labels<'a> {
    store: &'a Store,
    archive: Option<Archive>,
    heard: HashMap<SessionKey, Vec<SessionTurn>>,
}

impl<'a> Labels<'a> {
    pub fn of(store: &'a Store) -> Result<Labels<'a>, StoreError> {
        let archive = Archive::read(store.home(), PATIENCE)?;
        Ok(Labels { store, archive, heard: HashMap::new() })
    }

    /// The user's label, or a description of the work since the previous bookmark.
    pub fn label(&mut self, known: &BookmarkRow) -> Result<String, StoreError> {
        if let Some(named) = known.bookmark.set.label.as_ref().filter(|named| !named.is_blank()) {
            return Ok(named.as_str().to_owned());
        }
        let lines = self.lines(known)?;
        let prompt = self.prompt(known)?;
        Ok(label(&lines, prompt.as_deref()))
    }

    /// One line for each turn between the previous bookmark and this one.
    pub fn lines(&self, known: &BookmarkRow) -> Result<Vec<String>, StoreError> {
        let Some(archive) = &self.archive else { return Ok(vec![]) };
        let Some(conversation) = archive.conversation(&known.session)? else { return Ok(vec![]) };
        let until = known.bookmark.at.plus_ms(1);
        let asked = TurnQuery { before: until, ..TurnQuery::last(MOST_TURNS, TurnFilter::Standing) };
        let turns = archive.turns_of(&conversation, &asked)?;
        let is_since = |until| known.before.is_none_or(|before| until > before);
        Ok(turns.into_iter().filter(|turn| is_since(turn.until)).map(|turn| turn.line).collect())
    }

    /// The last prompt before the bookmark.
    fn prompt(&mut self, known: &BookmarkRow) -> Result<Option<String>, StoreError> {
        let is_asked = |turn: &&SessionTurn| {
            turn.started_at <= known.bookmark.at
                && !matches!(turn.origin, PromptOrigin::Bookmark | PromptOrigin::Notification)
        };
        let last = self.heard(&known.session)?.iter().rev().find(is_asked);
        Ok(last.map(|turn| SafeText::as_str(&turn.prompt).to_owned()))
    }

    /// The turns after the bookmark, oldest first, with the marker's own. Rewind goes back through them.
    pub fn turns_since(&mut self, known: &BookmarkRow) -> Result<Vec<SessionTurn>, StoreError> {
        let set = &known.bookmark.set;
        // A typed marker is itself the first turn after its bookmark.
        let first = match set.how {
            BookmarkOrigin::Typed => set.after_turn,
            BookmarkOrigin::Silent | BookmarkOrigin::Manual => set.after_turn + 1,
        };
        let is_listed =
            |turn: &&SessionTurn| turn.ordinal >= first && turn.origin != PromptOrigin::Notification;
        Ok(self.heard(&known.session)?.iter().filter(is_listed).cloned().collect())
    }

    fn heard(&mut self, session: &SessionKey) -> Result<&[SessionTurn], StoreError> {
        if !self.heard.contains_key(session) {
            let turns = self.store.hook_turns(session)?;
            self.heard.insert(session.clone(), turns);
        }
        Ok(self.heard.get(session).map_or(&[], Vec::as_slice))
    }
}

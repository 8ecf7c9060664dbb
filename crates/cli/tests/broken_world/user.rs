//! The user of a year: what the user wrote as the store holds it, and the commands that write more.
//!
//! Knows what each command must leave behind, not what happens to the files meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use towline_core::id::SessionKey;
use towline_core::memory::Memory;
use towline_core::time::Timestamp;
use towline_store::archive::MemoryQuery;
use towline_store::{Archive, BookmarkFilter, DataFolder, DeletedBookmarks, Store, StoreError};
use towline_testkit::mutate::Dice;

use crate::year::{MEMORIES, NOW_MS, OPEN, SESSIONS, session, words};

const PATIENCE: Duration = Duration::from_secs(5);
const ALL: u32 = 100_000;

/// Everything that the user wrote.
#[derive(Default)]
pub struct Written {
    /// By kind and id: all that the store tells of it, with its history.
    items: BTreeMap<String, String>,
    memories: Vec<Memory>,
    /// Sessions that passed a baton, also one that has expired since: under a wrong clock it does so at once.
    passed: BTreeSet<SessionKey>,
}

impl Written {
    pub fn in_folder(home: &DataFolder) -> Result<Self, StoreError> {
        let mut written = Self::default();
        if let Some(archive) = Archive::read(home, PATIENCE)? {
            written.add_memories(&archive)?;
        }
        if let Some(store) = Store::read(home, PATIENCE)? {
            written.add_labels_and_batons(&store)?;
        }
        Ok(written)
    }

    fn add_memories(&mut self, archive: &Archive) -> Result<(), StoreError> {
        self.memories = archive.memories(&MemoryQuery { limit: ALL, ..MemoryQuery::default() })?;
        for memory in &self.memories {
            let history = archive.memory_trace(memory.number)?;
            self.items.insert(name_of(memory), format!("{memory:?} {history:?}"));
        }
        Ok(())
    }

    fn add_labels_and_batons(&mut self, store: &Store) -> Result<(), StoreError> {
        let filter =
            BookmarkFilter { session: None, project: None, deleted: DeletedBookmarks::Included, most: ALL };
        for row in store.bookmarks(&filter)? {
            let (set, session) = (&row.bookmark, &row.session);
            let text = format!("{session} {:?} {:?} {:?} {:?}", set.at, set.set, row.project, row.deleted_at);
            self.items.insert(format!("label {}", set.uid), text);
        }
        self.passed = store.batons()?.into_iter().map(|baton| baton.session).collect();
        for baton in store.open_batons(Timestamp(NOW_MS))? {
            let text =
                format!("{} {:?} {:?} {:?}", baton.session, baton.passed_at, baton.seat, baton.project);
            self.items.insert(format!("baton {}", baton.uid), text);
        }
        Ok(())
    }

    pub fn count(&self) -> usize {
        self.items.len()
    }

    fn memory(&self, number: i64) -> Option<&Memory> {
        self.memories.iter().find(|memory| memory.number == number)
    }

    /// The items of `before` that are missing here or differ, except for those that `attempts` may have changed.
    pub fn losses(&self, before: &Written, attempts: &[Attempt]) -> Vec<String> {
        let mut losses = vec![];
        for attempt in attempts.iter().filter(|attempt| attempt.is_acknowledged) {
            if !attempt.command.is_done(self) {
                losses.push(format!("`tow {}` was done, and is gone", attempt.command.words.join(" ")));
            }
        }
        let done: Vec<&Command> =
            attempts.iter().map(|it| &it.command).filter(|it| it.is_done(self)).collect();
        for (name, was) in &before.items {
            let is = self.items.get(name);
            let is_expected = || done.iter().any(|command| command.changes(before, name));
            if is != Some(was) && !is_expected() {
                losses.push(format!("{name} {}", difference(was, is.map_or("gone", String::as_str))));
            }
        }
        let new = self.items.iter().filter(|(name, _)| !before.items.contains_key(*name));
        let unknown = new.filter(|(_, is)| !done.iter().any(|command| command.makes(is)));
        losses.extend(unknown.map(|(name, is)| format!("{name} is new, and nobody wrote it: {is}")));
        losses
    }
}

/// Where two texts part, with what stands before.
fn difference(was: &str, is: &str) -> String {
    let same = was.chars().zip(is.chars()).take_while(|(was, is)| was == is).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(60)).take(200).collect::<String>();
    format!("was: …{}…, is: …{}…", part(was), part(is))
}

fn name_of(memory: &Memory) -> String {
    format!("memory {}", memory.uid)
}

/// A command that the user ran, and whether it said that it was done.
#[derive(Debug)]
pub struct Attempt {
    pub command: Command,
    pub is_acknowledged: bool,
}

/// A command of the user.
#[derive(Debug)]
pub struct Command {
    pub words: Vec<String>,
    change: Change,
}

/// The items that a command leaves behind.
#[derive(Debug)]
enum Change {
    Told(String),
    Pinned(i64),
    Titled(i64, String),
    Held(i64),
    Released(i64),
    Superseded(i64),
    Labelled(String),
    BatonPassed(SessionKey),
}

/// Chooses commands. No two of one trial are about the same thing.
pub struct Commands {
    trial: u64,
    dice: Dice,
    /// Numbers of twelve memories in a row; see `year`.
    dozens: Vec<usize>,
    sessions: Vec<usize>,
    count: usize,
}

impl Commands {
    pub fn new(trial: u64, mut dice: Dice) -> Self {
        let mut dozens: Vec<usize> = (1..MEMORIES / 12).collect();
        let mut sessions: Vec<usize> = (SESSIONS - OPEN..SESSIONS - 1).collect();
        for list in [&mut dozens, &mut sessions] {
            (1..list.len()).for_each(|at| list.swap(at, dice.below(at + 1)));
        }
        Self { trial, dice, dozens, sessions, count: 0 }
    }

    pub fn next(&mut self) -> Command {
        self.count += 1;
        let dice = &mut self.dice;
        let text = format!("Trial {} number {}: {}", self.trial, self.count, words(dice, 5));
        // The number of the memory with this fate in a dozen.
        let dozen = self.dozens.pop().unwrap_or(0) as i64 * 12 + 1;
        let name = |number: i64| format!("m{number}");
        let (words, change) = match dice.below(10) {
            0 | 1 => (vec!["remember".into(), text.clone()], Change::Told(text)),
            2 => {
                let long = format!("{text}\n\n{}\n{text}", words(dice, 120));
                (vec!["remember".into(), long.clone()], Change::Told(long))
            }
            3 => (vec!["pin".into(), name(dozen + 8)], Change::Pinned(dozen + 8)),
            4 => {
                let words = vec!["edit".into(), name(dozen + 9), "--title".into(), text.clone()];
                (words, Change::Titled(dozen + 9, text))
            }
            5 => (vec!["hold".into(), name(dozen + 10), "--because".into(), text], Change::Held(dozen + 10)),
            6 => (vec!["release".into(), name(dozen + 4)], Change::Released(dozen + 4)),
            7 => {
                let words = vec!["supersede".into(), name(dozen + 11), "--by".into(), name(dozen)];
                (words, Change::Superseded(dozen + 11))
            }
            8 => {
                let session = session(SESSIONS - 1);
                let words = ["bookmark", &text, "--session", session.id.as_str()];
                (words.map(str::to_owned).to_vec(), Change::Labelled(text))
            }
            _ => {
                let session = session(self.sessions.pop().unwrap_or(SESSIONS - 1));
                let words = ["baton", "--session", session.id.as_str()];
                (words.map(str::to_owned).to_vec(), Change::BatonPassed(session))
            }
        };
        Command { words, change }
    }
}

impl Command {
    /// Whether it is in there what the command wrote.
    pub fn is_done(&self, written: &Written) -> bool {
        let is = |number: i64, holds: &dyn Fn(&Memory) -> bool| written.memory(number).is_some_and(holds);
        match &self.change {
            Change::Pinned(number) => is(*number, &|memory| memory.pinned_at.is_some()),
            Change::Titled(number, title) => is(*number, &|memory| memory.content.title == *title),
            Change::Held(number) => is(*number, &|memory| memory.quarantine.is_some()),
            Change::Released(number) => is(*number, &|memory| memory.quarantine.is_none()),
            Change::Superseded(number) => is(*number, &|memory| memory.superseded.is_some()),
            Change::BatonPassed(session) => written.passed.contains(session),
            Change::Told(_) | Change::Labelled(_) => written.items.values().any(|item| self.makes(item)),
        }
    }

    /// Whether it may change this item, which was there before.
    fn changes(&self, before: &Written, item: &str) -> bool {
        let number = match &self.change {
            Change::Pinned(number)
            | Change::Titled(number, _)
            | Change::Held(number)
            | Change::Released(number)
            | Change::Superseded(number) => *number,
            Change::Told(_) | Change::Labelled(_) | Change::BatonPassed(_) => return false,
        };
        before.memory(number).is_some_and(|memory| name_of(memory) == item)
    }

    /// Whether it makes such an item.
    fn makes(&self, item: &str) -> bool {
        match &self.change {
            // A text of one line is the title, a longer one the narrative.
            Change::Told(text) | Change::Labelled(text) => item.contains(&format!("{text:?}")),
            Change::BatonPassed(session) => item.starts_with(&format!("{session} Timestamp")),
            Change::Pinned(_)
            | Change::Titled(..)
            | Change::Held(_)
            | Change::Released(_)
            | Change::Superseded(_) => false,
        }
    }
}

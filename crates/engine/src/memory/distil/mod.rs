//! Creates memories and summaries from captured turns, by the rules of `core::memory::distil`.
//!
//! Follows the change feed from its cursor in short batches, so the archive is never locked for long. A batch
//! and its cursor are written together, so any process may run it, any number of times, and be killed at any
//! point. Never runs inside the transactions of capture or import.

mod gather;
mod keep;
mod place;
mod summing;

use crate::memory::outside;
use crate::memory::remember::KnownMemories;
use crate::memory::turn_content::TurnContent;
use crate::runtime::archive::Writable;
use crate::runtime::config::Distil;
use crate::runtime::{Env, archive};
use std::time::{Duration, Instant};
use towline_core::memory::distil::{self, DistilTurn};
use towline_store::archive::Conversation;
use towline_store::{Archive, StoreError};

/// How long one batch holds the archive, and the pause before the next.
const BATCH: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(15);

/// How long to wait for another writer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of changes read at once.
const WINDOW: u32 = 500;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distilled {
    pub turns: u32,
    /// Memories created or replaced.
    pub memories: u32,
    pub is_drained: bool,
}

impl Distilled {
    fn plus(self, other: Distilled) -> Distilled {
        Distilled {
            turns: self.turns + other.turns,
            memories: self.memories + other.memories,
            is_drained: other.is_drained,
        }
    }
}

/// Distils changes since the last run, batch after batch while `goes_on`; later runs take the rest. Starts with `open`, the
/// archive of a caller that has just captured something.
#[expect(clippy::disallowed_methods, reason = "a batch ends by the clock")]
pub fn pending(
    env: &Env,
    config: &Distil,
    open: Option<Writable>,
    goes_on: &dyn Fn() -> bool,
) -> Result<Distilled, StoreError> {
    let mut all = Distilled { is_drained: true, ..Distilled::default() };
    if !config.rules || (open.is_none() && !is_pending(env)) {
        return Ok(all);
    }
    if !goes_on() {
        return Ok(Distilled { is_drained: false, ..all });
    }
    let known = KnownMemories::default();
    let mut next = open.map_or_else(|| archive::open(env, PATIENCE), |open| Ok(Some(open)))?;
    while let Some(writable) = next {
        let until = Instant::now() + BATCH;
        known.check(&writable.archive)?;
        let rest = Batch { archive: &writable.archive, config, known: &known };
        all = all.plus(rest.distil(&|| Instant::now() < until)?);
        if all.is_drained || !goes_on() {
            writable.archive.tidy()?;
            return Ok(all);
        }
        writable.archive.tidy_at_times()?;
        next = writable.let_others_write(env, PAUSE, PATIENCE)?;
    }
    Ok(Distilled { is_drained: false, ..all })
}

/// Whether changes are pending, or only opening the archive for writing can tell.
pub fn is_pending(env: &Env) -> bool {
    if !env.home.archive().exists() {
        return false;
    }
    let look = || -> Result<bool, StoreError> {
        let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(false) };
        Ok(place::load(&archive)?.is_none_or(|place| {
            place.is_within() || archive.last_change().is_ok_and(|last| last > place.done)
        }))
    };
    look().unwrap_or(true)
}

/// The number of turns that wait to be distilled, at most `most`.
pub fn count_pending(archive: &Archive, most: u32) -> Result<u64, StoreError> {
    match place::load(archive)? {
        Some(place) => place.count_pending(archive, most),
        None => archive.count_turns_after(0, most),
    }
}

/// The last distilled change; `None` if all conversations have to be distilled.
pub fn read_up_to(archive: &Archive) -> Result<Option<i64>, StoreError> {
    Ok(place::load(archive)?.map(|place| place.done))
}

struct Batch<'a> {
    archive: &'a Archive,
    config: &'a Distil,
    known: &'a KnownMemories,
}

impl Batch<'_> {
    /// Distils as much as time allows, in one transaction.
    fn distil(&self, has_time: &dyn Fn() -> bool) -> Result<Distilled, StoreError> {
        let Batch { archive, config, known } = *self;
        archive.in_transaction(|| {
            let mut done = Distilled::default();
            let mut place = place::begin(archive)?;
            while let Some(next) = place.next(archive, WINDOW)? {
                if let Some(conversation) = archive.conversation_at(next.row)? {
                    let work = Work { archive, config, known_memories: known, conversation: &conversation };
                    if let Some(turn) = work.from(next.turn, &mut done, has_time)? {
                        place.mark_done_up_to(next.row, turn);
                        break;
                    }
                }
                place.mark_done(next.row);
                if !has_time() {
                    break;
                }
            }
            done.is_drained = place.is_at_end(archive)?;
            archive.set_fact(place::NAME, &place.to_string())?;
            Ok(done)
        })
    }
}

struct Work<'a> {
    archive: &'a Archive,
    config: &'a Distil,
    known_memories: &'a KnownMemories,
    conversation: &'a Conversation,
}

impl Work<'_> {
    /// Distils the turns from `turn` on, then summarises the session. Returns the next turn if time ran out.
    fn from(
        &self,
        turn: u32,
        done: &mut Distilled,
        has_time: &dyn Fn() -> bool,
    ) -> Result<Option<u32>, StoreError> {
        if self.archive.has_lost_details(self.conversation)?
            || !self.archive.is_captured_here(self.conversation)?
        {
            return Ok(None);
        }
        let mut before = None;
        // The previous turn may have been incomplete when it was last distilled.
        let first = turn.saturating_sub(1).max(1);
        let mut reached = outside::before(self.archive, self.conversation, first.saturating_sub(1))?;
        for row in self.archive.turns(self.conversation, first.saturating_sub(1), u32::MAX)? {
            let content = TurnContent::of(self.archive, &row)?;
            let brought = outside::look_at(self.conversation, &row, &content)?;
            reached = outside::lower(reached, brought);
            if row.reverted {
                self.keep(&row, vec![])?;
                continue;
            }
            let gathered = gather::turn(self.config, self.conversation, &row, content)?;
            let gathered = DistilTurn { outside: reached, ..gathered };
            if row.ordinal >= first {
                let found = distil::turn(&gathered, before.as_ref());
                done.memories += self.keep(&row, found)?;
                done.turns += 1;
                if !has_time() && row.ordinal < self.conversation.turns {
                    // Plus two, since the next batch starts one turn earlier.
                    return Ok(Some(row.ordinal + 2));
                }
            }
            before = Some(gathered);
        }
        self.summarize_session()?;
        Ok(None)
    }
}

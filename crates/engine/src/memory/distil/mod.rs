//! Making memories and summaries of what was captured, by the rules of `core::memory::distil`.
//!
//! Works off the feed of changes from where it was left, a short batch at a time: the archive is never held for long, and
//! a batch and how far it came are written together. It does not matter who does it, how often, or where one is killed.
//! Nothing is distilled inside a capture's or an import's own transactions.

mod gather;
mod keep;
mod place;
mod summing;

use crate::runtime::archive;
use crate::runtime::archive::Writable;
use crate::runtime::config::Distil;
use crate::runtime::env::Env;
use std::time::{Duration, Instant};
use towline_core::memory::distil;
use towline_store::archive::Conversation;
use towline_store::{Archive, StoreError};

/// How long one batch holds the archive, and how long it is left to others then.
const BATCH: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(15);

/// How long others are waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// More changes than one look takes in.
const WINDOW: u32 = 500;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distilled {
    pub turns: u32,
    /// Memories that were made or made anew.
    pub memories: u32,
    /// Nothing is left to do.
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

/// Distils what changed since the last time, for no longer than `most`: what is left is left to the next. Begins with the
/// archive of whoever has taken something in and still has it open.
#[expect(
    clippy::disallowed_methods,
    reason = "a batch ends by the clock, and leaves the archive to others for a moment"
)]
pub fn pending(
    env: &Env,
    config: &Distil,
    mut open: Option<Writable>,
    most: Duration,
) -> Result<Distilled, StoreError> {
    let begun = Instant::now();
    let mut all = Distilled { is_drained: true, ..Distilled::default() };
    while config.rules && (open.is_some() || is_pending(env)) {
        let anew = || archive::open(env, PATIENCE);
        let Some(writable) = open.take().map_or_else(anew, |open| Ok(Some(open)))? else {
            return Ok(Distilled { is_drained: false, ..all });
        };
        let until = Instant::now() + BATCH;
        all = all.plus(batch(&writable, config, &|| Instant::now() < until)?);
        drop(writable);
        if all.is_drained || begun.elapsed() >= most {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(all)
}

/// Whether there is anything to distil, or nobody can tell without opening the archive to write.
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

/// Which changes are distilled; `None` where all that was captured will be, whatever changed.
pub fn read_up_to(archive: &Archive) -> Result<Option<i64>, StoreError> {
    Ok(place::load(archive)?.map(|place| place.done))
}

/// As much as there is time for, in one transaction.
fn batch(writable: &Writable, config: &Distil, has_time: &dyn Fn() -> bool) -> Result<Distilled, StoreError> {
    let archive = &writable.archive;
    archive.as_one(|| {
        let mut done = Distilled::default();
        let mut place = place::begin(archive)?;
        while let Some(next) = place.next(archive, WINDOW)? {
            if let Some(conversation) = archive.conversation_at(next.row)? {
                let work = Work { archive, config, conversation: &conversation };
                let reached = work.from(next.turn, &mut done, has_time)?;
                if let Some(turn) = reached {
                    place.stay(next.row, turn);
                    break;
                }
            }
            place.leave(next.row);
            if !has_time() {
                break;
            }
        }
        done.is_drained = place.is_at_end(archive)?;
        archive.set_fact(place::NAME, &place.to_string())?;
        Ok(done)
    })
}

/// One conversation that is distilled.
struct Work<'a> {
    archive: &'a Archive,
    config: &'a Distil,
    conversation: &'a Conversation,
}

impl Work<'_> {
    /// Distils the turns from this one on, and sums the session up at the end. Gives the next turn where time ran out.
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
        // The turn before may have been under way when it was distilled last.
        let first = turn.saturating_sub(1).max(1);
        for row in self.archive.turns(self.conversation, first.saturating_sub(1), u32::MAX)? {
            if row.reverted {
                self.keep(&row, vec![])?;
                continue;
            }
            let gathered = gather::turn(self.archive, self.config, (self.conversation, &row))?;
            if row.ordinal >= first {
                let found = distil::turn(&gathered, before.as_ref());
                done.memories += self.keep(&row, found)?;
                done.turns += 1;
                if !has_time() && row.ordinal < self.conversation.turns {
                    // One more, since the next batch begins with the turn before.
                    return Ok(Some(row.ordinal + 2));
                }
            }
            before = Some(gathered);
        }
        self.sum_up()?;
        Ok(None)
    }
}

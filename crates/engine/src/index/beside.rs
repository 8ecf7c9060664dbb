//! Indexes the archive while an import writes to it.
//!
//! Runs in a thread of its own, with its own connection. What it cannot index is a fault and left to the background worker:
//! an import does not fail by it.

use super::{FindError, read_up_to, update};
use crate::runtime::faults::record_here;
use crate::runtime::{Env, chain};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_store::{Archive, StoreError};

/// How long the thread waits before it looks for new rows.
const EVERY: Duration = Duration::from_millis(200);
/// New rows per update: many small ones would be merged again and again, and a session whose subagents are read later
/// would be indexed again.
const AT_LEAST: u64 = 400_000;
/// How often the rest is reported after the import.
const REPORTED: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(5);

/// Counts documents of an import.
#[derive(Default)]
pub struct IndexCount {
    done: AtomicU64,
    all: AtomicU64,
}

impl IndexCount {
    /// The share of the rows written so far that is indexed, from 0 to 1.
    pub fn share(&self) -> f64 {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) }
    }
}

/// Runs `work`, which writes to the archive, and indexes beside it. Afterwards calls `wait` until the rest is indexed.
pub fn index_beside<T>(env: &Env, count: &IndexCount, work: impl FnOnce() -> T, wait: &dyn Fn()) -> T {
    let (writing, written) = channel::<()>();
    let (indexing, indexed) = channel();
    let (done, result) = thread::scope(|scope| {
        scope.spawn(move || indexing.send(follow(env, count, &written)));
        let done = work();
        drop(writing);
        loop {
            match indexed.recv_timeout(REPORTED) {
                Err(RecvTimeoutError::Timeout) => wait(),
                Err(RecvTimeoutError::Disconnected) => break (done, Ok(())),
                Ok(result) => break (done, result),
            }
        }
    });
    if let Err(error) = result {
        record_here(env, FaultKind::Store, chain(&error));
    }
    done
}

/// Indexes what is written, until the writer is gone and nothing is left.
fn follow(env: &Env, count: &IndexCount, written: &Receiver<()>) -> Result<(), FindError> {
    let home = &env.home;
    let Some(archive) = Archive::read(home, PATIENCE)? else { return Ok(()) };
    let before = if read_up_to(home).is_some() { rows(&archive)? } else { 0 };
    let (mut documents, mut indexed) = (0, before);
    loop {
        let is_over = written.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
        let all = rows(&archive)?;
        if is_over || all >= indexed + AT_LEAST {
            let updated = update(home, &archive, &mut |seen| {
                count.done.store(documents + seen, Ordering::Relaxed);
                if seen % 256 == 1 {
                    let all = rows(&archive).unwrap_or(before).saturating_sub(before);
                    count.all.store(all.max(documents + seen), Ordering::Relaxed);
                }
                ControlFlow::Continue(())
            })?;
            documents += updated.documents;
            indexed = all;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// About the number of documents in the archive: a prompt, an answer and the tool calls of each turn.
fn rows(archive: &Archive) -> Result<u64, StoreError> {
    Ok(archive.last_turn_row()? * 3)
}

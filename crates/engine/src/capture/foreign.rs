//! Imports conversations from another product's database.
//!
//! Transcripts take precedence: a conversation is imported only if the archive holds no turn of it and its
//! transcript is gone. Notes about known conversations are attached to their turns. All text is redacted and
//! bounded, and a second import adds nothing.

mod basket;
mod learnt;
mod verdict;

use super::{CaptureError, Wishes};
use crate::runtime::progress::Progress;
use crate::runtime::{Env, chain};
use basket::Basket;
pub use learnt::Learnt;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use towline_agents::Agent;
use towline_core::capture::CaptureRules;
use towline_core::text::clip_start;
use towline_store::archive::{PackedRow, TakenRows, TranscriptSource};
use towline_store::foreign::{ForeignDatabase, ForeignSession, ForeignSurvey, Product, ReadScope};
use towline_store::{Archive, StoreError};
use verdict::{Judge, Verdict};

/// The result of importing one database.
#[derive(Clone, Debug, Default)]
pub struct TakenOver {
    pub product: &'static str,
    pub path: PathBuf,
    pub survey: ForeignSurvey,
    /// How many sessions got each verdict.
    pub sessions: BTreeMap<Verdict, u64>,
    /// Turns and rows of the sessions that are imported.
    pub turns_found: u64,
    pub rows_found: u64,
    pub taken: TakenRows,
    pub learnt: Learnt,
    /// Another process wrote to the database meanwhile.
    pub was_changed: bool,
    /// Why the database was not read, or not to its end.
    pub problem: Option<String>,
}

#[derive(Clone, Copy)]
pub struct ForeignFile<'a> {
    pub product: Product,
    pub path: &'a Path,
}

/// The target of an import.
pub enum Destination<'a> {
    /// Dry run: only reports. There may be no archive yet.
    Nowhere(Option<&'a Archive>),
    Archive(&'a Archive),
}

impl Destination<'_> {
    fn archive(&self) -> Option<&Archive> {
        match self {
            Destination::Nowhere(archive) => *archive,
            Destination::Archive(archive) => Some(archive),
        }
    }
}

/// Imports one database. Its own errors go into the result; errors of the archive are returned.
pub fn take_over(
    env: &Env,
    wishes: &Wishes,
    database: ForeignFile<'_>,
    into: &Destination<'_>,
    transcripts: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<TakenOver, CaptureError> {
    let ForeignFile { product, path } = database;
    let mut done = TakenOver { product: product.name(), path: path.to_owned(), ..TakenOver::default() };
    let foreign = match ForeignDatabase::open(product, path, &env.home) {
        Ok(foreign) => foreign,
        Err(error) => return Ok(TakenOver { problem: Some(chain(&error)), ..done }),
    };
    done.survey = foreign.survey().clone();
    let judge = Judge { wishes, product, archive: into.archive(), on_disk: sessions_of(transcripts) };
    let mut wanted = vec![];
    for session in foreign.sessions() {
        let source = known(into.archive(), &foreign, session)?;
        let verdict = judge.verdict(session, source.as_ref())?;
        *done.sessions.entry(verdict).or_default() += 1;
        if let Some(extent) = verdict.extent() {
            done.turns_found += u64::from(session.turns);
            done.rows_found += session.rows;
            wanted.push((session, extent, source));
        }
    }
    if let Destination::Archive(archive) = into {
        Taking { env, wishes, archive, foreign: &foreign }.take_all(wanted, &mut done, progress)?;
        archive.checkpoint()?;
    }
    done.was_changed = foreign.was_changed();
    Ok(done)
}

/// The ids of the sessions whose transcripts exist: some agents put the time before the id.
fn sessions_of(transcripts: &[PathBuf]) -> HashSet<String> {
    const ID: usize = 36;
    let stems = transcripts.iter().filter_map(|path| path.file_stem()?.to_str());
    stems.flat_map(|stem| [stem.to_owned(), clip_start(stem, ID).to_owned()]).collect()
}

/// The stored read state of a session, keyed by database path and session key.
fn known(
    archive: Option<&Archive>,
    foreign: &ForeignDatabase,
    session: &ForeignSession,
) -> Result<Option<TranscriptSource>, StoreError> {
    let Some(archive) = archive else { return Ok(None) };
    archive.source(&name(foreign, session))
}

fn name(foreign: &ForeignDatabase, session: &ForeignSession) -> String {
    format!("{}#{}", super::whole(foreign.path()).to_string_lossy(), session.key)
}

struct Taking<'a> {
    env: &'a Env,
    wishes: &'a Wishes,
    archive: &'a Archive,
    foreign: &'a ForeignDatabase,
}

type WantedSession<'a> = (&'a ForeignSession, ReadScope, Option<TranscriptSource>);

impl Taking<'_> {
    fn take_all(
        &self,
        wanted: Vec<WantedSession<'_>>,
        done: &mut TakenOver,
        progress: &mut dyn Progress,
    ) -> Result<(), CaptureError> {
        let size = std::fs::metadata(self.foreign.path()).map_or(0, |meta| meta.len());
        progress.begin(size, wanted.len());
        let mut rows = 0;
        for (number, (session, extent, source)) in wanted.into_iter().enumerate() {
            let source = source.unwrap_or_else(|| {
                TranscriptSource::fresh(session.key.agent.as_str(), &name(self.foreign, session))
            });
            match self.take_session(session, extent, source)? {
                Ok((taken, learnt)) => {
                    done.taken = done.taken.plus(taken);
                    done.learnt = done.learnt.plus(learnt);
                }
                Err(problem) => {
                    done.problem = Some(problem);
                    break;
                }
            }
            rows += session.rows;
            let share = rows as f64 / done.rows_found.max(1) as f64;
            progress.show((size as f64 * share) as u64, number + 1, self.env.elapsed());
        }
        progress.finish();
        Ok(())
    }

    /// Imports one session. It is marked as known only when complete, so an interrupted import is repeated.
    fn take_session(
        &self,
        session: &ForeignSession,
        extent: ReadScope,
        source: TranscriptSource,
    ) -> Result<Result<(TakenRows, Learnt), String>, CaptureError> {
        let Some(agent) = Agent::from_name(session.key.agent.as_str()) else {
            return Ok(Ok(Default::default()));
        };
        self.wishes.with_rules(&agent.into(), None, |rules| self.take_by(rules, session, extent, source))
    }

    fn take_by(
        &self,
        rules: &CaptureRules<'_, '_>,
        session: &ForeignSession,
        extent: ReadScope,
        source: TranscriptSource,
    ) -> Result<Result<(TakenRows, Learnt), String>, CaptureError> {
        let conversation = self.archive.conversation(&session.key)?;
        let turns = conversation.map(|conversation| self.archive.turn_marks(&conversation)).transpose()?;
        let mut basket = Basket::new(rules, turns.unwrap_or_default())
            .map_err(|source| CaptureError::Read { path: self.foreign.path().to_owned(), source })?;
        basket.open(session, self.wishes);
        let mut written = BatchWriter { taking: self, source, taken: TakenRows::default(), failed: None };
        let read = self.foreign.read(session, extent, &mut |found| {
            basket.push(found);
            if basket.is_full() {
                written.write(basket.emptied());
            }
        });
        if let Err(error) = read {
            return Ok(Err(chain(&error)));
        }
        basket.settle();
        written.source.reading.state = verdict::state(extent, session);
        written.write(basket.emptied());
        let taken = written.finished()?;
        let product = self.foreign.product().name();
        let learnt = learnt::keep(self.archive, product, session, basket.learnt, self.env.now)?;
        Ok(Ok((taken, learnt)))
    }
}

/// Writes batches of rows; after a failure it writes no more.
struct BatchWriter<'a> {
    taking: &'a Taking<'a>,
    source: TranscriptSource,
    taken: TakenRows,
    failed: Option<StoreError>,
}

impl BatchWriter<'_> {
    fn write(&mut self, rows: Vec<PackedRow>) {
        if self.failed.is_some() {
            return;
        }
        let archive = self.taking.archive;
        let written = archive.write_rows(&mut self.source, rows, self.taking.env.now);
        match written.and_then(|taken| archive.tidy().map(|()| taken)) {
            Ok(taken) => self.taken = self.taken.plus(taken),
            Err(error) => self.failed = Some(error),
        }
    }

    fn finished(self) -> Result<TakenRows, CaptureError> {
        self.failed.map_or(Ok(self.taken), |error| Err(error.into()))
    }
}

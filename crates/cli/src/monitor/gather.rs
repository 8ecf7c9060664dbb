//! The rows of the monitor: every session with its status, context fill and usage.
//!
//! Only reads. A session's usage is read again only after a new capture.

use super::filter::SessionFilter;
use crate::scope::Scope;
use std::collections::HashMap;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::meter::ContextStrategy;
use towline_core::session::{Session, SessionState};
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_core::usage::UsageTotal;
use towline_engine::index::labels::Labels;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::usage;
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::{Config, Env, Failure, settings};
use towline_engine::status::cache::Watch;
use towline_engine::status::{cache, probe};
use towline_monitor::{EndedRows, MonitorRow, SessionDetail, TurnLine};
use towline_render::turn_mark;
use towline_store::archive::{self, TurnFilter, TurnQuery};
use towline_store::{
    Archive, BookmarkFilter, DataFolder, DeletedBookmarks, InheritanceFilter, Store, StoreError,
};

/// How long the user waits for a writer's lock.
const PATIENCE: Duration = Duration::from_millis(300);

/// How many ended sessions are shown, latest first.
const MOST_ENDED: u32 = 200;

const MOST_TURNS: usize = 12;
const MOST_BOOKMARKS: u32 = 5;
const MOST_INHERITANCES: u32 = 4;

/// Reads the rows, and caches usage from one read to the next.
#[derive(Default)]
pub struct RowGatherer {
    filter: SessionFilter,
    watch: Option<Watch>,
    counted_at: Option<Timestamp>,
    counted: HashMap<SessionKey, Option<UsageTotal>>,
}

impl RowGatherer {
    pub fn new(filter: SessionFilter) -> RowGatherer {
        RowGatherer { filter, ..RowGatherer::default() }
    }

    /// The filtered sessions: those that need the user first, ended ones last.
    pub fn rows(
        &mut self,
        scope: &Scope,
        glance: Glance,
        ended: EndedRows,
    ) -> Result<Vec<MonitorRow>, Failure> {
        let live = live::look(&scope.env, glance)?;
        self.watch = Some(live.watch);
        let config = settings(&scope.env);
        let mut rows = match Store::read(&scope.env.home, PATIENCE)? {
            Some(store) => rows(&store, live.seats, ended, &config)?,
            None => live.seats.into_iter().map(MonitorRow::of).collect(),
        };
        rows.retain(|row| self.filter.fits(&row.shown));
        self.count(&scope.env, &mut rows);
        Ok(rows)
    }

    /// Whether a few watched files show that no row can have changed since the last read.
    pub fn is_quiet(&self, home: &DataFolder) -> bool {
        self.watch.as_ref().is_some_and(|watch| cache::holds(watch, home))
    }

    /// Fills in usage. An archive that cannot be read now is tried again on the next read.
    fn count(&mut self, env: &Env, rows: &mut [MonitorRow]) {
        let written_at = archive::written_at(&env.home);
        if written_at != self.counted_at {
            (self.counted_at, self.counted) = (written_at, HashMap::new());
        }
        let key = |row: &MonitorRow| row.shown.session.as_deref().and_then(|key| SessionKey::parse(key).ok());
        let is_new = |row: &MonitorRow| key(row).is_some_and(|key| !self.counted.contains_key(&key));
        let read = || Some((Archive::read(&env.home, PATIENCE).ok()??, usage::prices(env)));
        let archive = if rows.iter().any(is_new) { read() } else { None };
        for row in rows {
            let Some(key) = key(row) else { continue };
            if let (None, Some((archive, prices))) = (self.counted.get(&key), &archive) {
                let spent = usage::of_session(archive, prices, &key).ok();
                self.counted.insert(key.clone(), spent.filter(|spent| spent.messages > 0));
            }
            row.spent = self.counted.get(&key).cloned().flatten();
        }
    }
}

fn rows(
    store: &Store,
    seats: Vec<SeatView>,
    ended: EndedRows,
    config: &Config,
) -> Result<Vec<MonitorRow>, StoreError> {
    let mut rows = vec![];
    for shown in seats {
        let key = shown.session.as_deref().and_then(|key| SessionKey::parse(key).ok());
        let session = key.map(|key| store.session(&key)).transpose()?.flatten();
        rows.push(match session {
            Some(session) => sitting(shown, &session, config),
            None => MonitorRow::of(shown),
        });
    }
    if ended == EndedRows::Shown {
        let latest = store.ended_sessions(MOST_ENDED)?;
        rows.extend(latest.iter().map(|session| gone(session, config)));
    }
    Ok(rows)
}

fn sitting(shown: SeatView, session: &Session, config: &Config) -> MonitorRow {
    let fill = probe::fill(session);
    let active_at = fill.map_or(session.last_event_at, |(_, at)| at.max(session.last_event_at));
    let fill = fill.map(|(fill, _)| fill);
    MonitorRow { fill, active_at: Some(active_at), ..known(shown, session, config) }
}

/// An ended session has no pane: another agent may run there by now.
fn gone(session: &Session, config: &Config) -> MonitorRow {
    let project = session.project.as_ref();
    let since = session.ended.map_or(session.since, |(at, _)| at);
    let shown = SeatView {
        session: Some(session.key.to_string()),
        state: SessionState::Ended,
        project: project.map(|traces| traces.display_name().to_owned()),
        branch: project.and_then(|traces| traces.branch.clone()),
        prompt: session.prompt.as_ref().map(|prompt| prompt.as_str().to_owned()),
        model: session.model.clone(),
        ..SeatView::at(session.key.to_string(), session.key.agent.as_str(), since)
    };
    let row = known(shown, session, config);
    MonitorRow { fill: session.meter.fill(), active_at: Some(session.last_event_at), ..row }
}

fn known(shown: SeatView, session: &Session, config: &Config) -> MonitorRow {
    let is_off = config.guard.strategy_in(session.folder.as_deref()) == ContextStrategy::Off;
    let thresholds = if is_off { vec![] } else { config.guard.thresholds.keys().copied().collect() };
    MonitorRow { thresholds, started_at: Some(session.started_at), ..MonitorRow::of(shown) }
}

/// The detail view of one session.
pub fn detail(scope: &Scope, key: &str) -> Result<SessionDetail, Failure> {
    let Ok(key) = SessionKey::parse(key) else { return Ok(SessionDetail::default()) };
    let home = &scope.env.home;
    let Some(store) = Store::read(home, PATIENCE)? else {
        return Ok(SessionDetail::default());
    };
    let folder = store.session(&key)?.and_then(|session| session.folder);
    let archive = Archive::read(home, PATIENCE)?;
    let now = scope.env.now;
    Ok(SessionDetail {
        folder,
        turns: archive.map(|archive| turns(&archive, &key, now)).transpose()?.unwrap_or_default(),
        bookmarks: bookmarks(&store, &key, now)?,
        inheritance: inheritance(&store, &key)?,
    })
}

fn turns(archive: &Archive, key: &SessionKey, now: Timestamp) -> Result<Vec<TurnLine>, StoreError> {
    let Some(of) = archive.conversation(key)? else { return Ok(vec![]) };
    let turns = archive.turns_of(&of, &TurnQuery::last(MOST_TURNS, TurnFilter::Standing))?;
    let line = |turn: &archive::TurnRow| TurnLine {
        at: clock(turn.at, now),
        mark: turn_mark(turn),
        line: turn.line.clone(),
    };
    Ok(turns.iter().map(line).collect())
}

fn bookmarks(store: &Store, key: &SessionKey, now: Timestamp) -> Result<Vec<(String, String)>, StoreError> {
    let asked = BookmarkFilter {
        session: Some(key),
        project: None,
        deleted: DeletedBookmarks::LeftOut,
        most: MOST_BOOKMARKS,
    };
    let mut labels = Labels::of(store)?;
    let mut found = vec![];
    for known in store.bookmarks(&asked)? {
        let label = labels.label(&known)?;
        found.push((clock(known.bookmark.at, now), label));
    }
    Ok(found)
}

fn inheritance(store: &Store, key: &SessionKey) -> Result<Vec<String>, StoreError> {
    let wanted =
        InheritanceFilter { session: Some(key), limit: MOST_INHERITANCES, ..InheritanceFilter::default() };
    let decisions = store.inheritances(&wanted)?;
    let words = decisions.into_iter().filter_map(|decision| {
        let from = decision.from?;
        let way = decision.way.name();
        let is_heir = decision.heir == *key;
        Some(if is_heir {
            format!("goes on with the work of {from} ({way})")
        } else {
            format!("{} goes on with its work ({way})", decision.heir)
        })
    });
    Ok(words.collect())
}

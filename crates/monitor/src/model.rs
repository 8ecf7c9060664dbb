//! The monitor's state: the rows, the selection, the sort order and the filter.
//!
//! Plain state and queries on it. Only `update` changes it, and only the drawing code knows the screen size.

use crate::frame::ScreenSize;
use crate::row::{MonitorRow, SessionDetail};
use crate::style::ColourMode;
use crate::text::until_next;
use std::cmp::Reverse;
use towline_core::bar::BarNotes;
use towline_core::named_enum;
use towline_core::shown::{SeatLight, SeatView};
use towline_core::time::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorModel {
    /// `None` before the first load. Sessions that need the user come first, ended ones last.
    pub(crate) rows: Option<Vec<MonitorRow>>,
    pub(crate) now: Timestamp,
    pub(crate) colours: ColourMode,
    pub(crate) sort: SortKey,
    pub(crate) order: SortOrder,
    pub(crate) ended: EndedRows,
    pub(crate) filter: String,
    pub(crate) mode: InputMode,
    pub(crate) pane: DetailPane,
    pub(crate) choice: Selection,
    /// The screen size of the last frame.
    pub(crate) size: ScreenSize,
    /// Details of the session with this key.
    pub(crate) detail: Option<(String, SessionDetail)>,
    /// The notes that the bar shows besides the sessions.
    pub(crate) notes: BarNotes,
    /// One line about long background work.
    pub(crate) work: Option<String>,
    /// The first mistake in the configuration file.
    pub(crate) warning: Option<String>,
    pub(crate) message: Option<String>,
    /// Why the last load failed.
    pub(crate) trouble: Option<String>,
}

/// How keys are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputMode {
    #[default]
    Browsing,
    /// Typed text is the filter.
    Filtering,
    Helping,
}

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SortKey {
        /// Sessions that need the user first.
        #[default]
        Urgency = "urgency",
        Context = "context",
        Cost = "cost",
        Tokens = "tokens",
        Active = "activity",
        Age = "age",
        Project = "project",
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    #[default]
    Usual,
    Reversed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndedRows {
    #[default]
    Hidden,
    Shown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailPane {
    /// If there is room beside the list.
    #[default]
    WhereItFits,
    Shown,
    Hidden,
}

/// The selected row: the first until the user moves; from then on that session, wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub(crate) key: Option<String>,
    pub(crate) at: usize,
}

/// From this width on the detail pane fits beside the list.
pub(crate) const WIDE: u16 = 130;

impl SortKey {
    pub(crate) fn next(self) -> SortKey {
        let at = SortKey::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        SortKey::ALL[(at + 1) % SortKey::ALL.len()]
    }
}

impl MonitorModel {
    pub fn new(now: Timestamp, colours: ColourMode, ended: EndedRows) -> MonitorModel {
        let size = ScreenSize { columns: 80, rows: 24 };
        MonitorModel { now, colours, ended, size, ..MonitorModel::default() }
    }

    /// Whether the caller should load ended sessions too.
    pub fn needs_ended_sessions(&self) -> bool {
        self.ended == EndedRows::Shown
    }

    /// The filtered rows, in order.
    pub(crate) fn visible(&self) -> Vec<&MonitorRow> {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let is_visible = |row: &&MonitorRow| {
            (self.ended == EndedRows::Shown || !row.has_ended())
                && (words.is_empty() || matches_filter(row, &words))
        };
        let mut rows: Vec<&MonitorRow> = self.all().iter().filter(is_visible).collect();
        sort(&mut rows, self.sort);
        if self.order == SortOrder::Reversed {
            rows.reverse();
        }
        rows
    }

    pub(crate) fn all(&self) -> &[MonitorRow] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// The selected row. If its session is gone, the row now at its position.
    pub fn selected_row(&self) -> Option<&MonitorRow> {
        let rows = self.visible();
        rows.get(self.chosen_at(&rows)).copied()
    }

    pub(crate) fn chosen_at(&self, rows: &[&MonitorRow]) -> usize {
        let found = self.choice.key.as_ref().and_then(|key| rows.iter().position(|row| row.key() == key));
        found.unwrap_or(self.choice.at).min(rows.len().saturating_sub(1))
    }

    /// Whether a screen of this size shows the detail pane.
    pub(crate) fn shows_pane(&self, size: ScreenSize) -> bool {
        match self.pane {
            DetailPane::WhereItFits => size.columns >= WIDE,
            DetailPane::Shown => true,
            DetailPane::Hidden => false,
        }
    }

    /// The session in the detail pane, if it is shown.
    pub fn detail_row(&self) -> Option<&MonitorRow> {
        if self.shows_pane(self.size) { self.selected_row() } else { None }
    }

    /// The session whose details are loaded.
    pub fn detail_session(&self) -> Option<&str> {
        self.detail.as_ref().map(|(key, _)| key.as_str())
    }

    pub fn notes(&self) -> BarNotes {
        self.notes
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Sessions that have not ended, those that need the user first.
    pub fn live_seats(&self) -> Vec<SeatView> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.clone()).collect()
    }

    /// The state light of each of them.
    pub fn lights(&self) -> Vec<SeatLight> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.light()).collect()
    }

    pub fn row(&self, key: &str) -> Option<&MonitorRow> {
        self.all().iter().find(|row| row.key() == key)
    }

    /// Milliseconds until a displayed time changes by itself; `None` if none does.
    pub fn next_tick_ms(&self) -> Option<i64> {
        let times = |row: &MonitorRow| {
            let times = [Some(row.shown.since), row.started_at, row.active_at];
            times.into_iter().flatten().map(|at| until_next(at, self.now)).min()
        };
        self.visible().into_iter().filter_map(times).min()
    }
}

/// Whether every word occurs in one of the row's texts.
fn matches_filter(row: &MonitorRow, words: &[String]) -> bool {
    let shown = &row.shown;
    let texts = [
        Some(shown.state.name()),
        Some(shown.agent.as_str()),
        shown.project.as_deref(),
        shown.branch.as_deref(),
        shown.model.as_deref(),
        shown.session.as_deref(),
        shown.pane.as_deref(),
        shown.prompt.as_deref(),
        shown.tool.as_deref(),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().map(str::to_lowercase).collect();
    words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
}

/// Unknown values come last; the sort is stable.
fn sort(rows: &mut [&MonitorRow], by: SortKey) {
    match by {
        SortKey::Urgency => {}
        SortKey::Context => rows.sort_by_key(|row| Reverse(row.fill.map(|fill| fill.percent()))),
        SortKey::Cost => {
            rows.sort_by_key(|row| Reverse(row.spent.as_ref().and_then(|spent| spent.bill().known())))
        }
        SortKey::Tokens => {
            rows.sort_by_key(|row| Reverse(row.spent.as_ref().map(|spent| spent.tokens.total())))
        }
        SortKey::Active => rows.sort_by_key(|row| Reverse(row.active_at)),
        SortKey::Age => rows.sort_by_key(|row| row.started_at.unwrap_or(Timestamp(i64::MAX))),
        SortKey::Project => rows.sort_by_cached_key(|row| row.shown.project_and_branch().to_lowercase()),
    }
}

//! The monitor's state: the rows, the selection, the sort order and the filter.
//!
//! Plain state and queries on it. Only `update` changes it, and only the drawing code knows the screen size.

use crate::frame::Size;
use crate::row::{Detail, Row};
use crate::style::Colours;
use crate::text::until_next;
use std::cmp::Reverse;
use towline_core::shown::{Light, Shown};
use towline_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `None` before the first load. Sessions that need the user come first, ended ones last.
    pub(crate) rows: Option<Vec<Row>>,
    pub(crate) now: Timestamp,
    pub(crate) colours: Colours,
    pub(crate) sort: Sort,
    pub(crate) order: Order,
    pub(crate) ended: Ended,
    pub(crate) filter: String,
    pub(crate) mode: Mode,
    pub(crate) pane: Pane,
    pub(crate) choice: Choice,
    /// The screen size of the last frame.
    pub(crate) size: Size,
    /// Details of the session with this key.
    pub(crate) detail: Option<(String, Detail)>,
    pub(crate) message: Option<String>,
    /// Why the last load failed.
    pub(crate) trouble: Option<String>,
}

/// How keys are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Browsing,
    /// Typed text is the filter.
    Filtering,
    Helping,
}

/// The sort order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Sessions that need the user first.
    #[default]
    Urgency,
    Context,
    Cost,
    Tokens,
    Active,
    Age,
    Project,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Usual,
    Reversed,
}

/// Whether ended sessions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    #[default]
    Hidden,
    Shown,
}

/// Whether the detail pane is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// If there is room beside the list.
    #[default]
    WhereItFits,
    Shown,
    Hidden,
}

/// The selected row: the first until the user moves; from then on that session, wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub(crate) key: Option<String>,
    pub(crate) at: usize,
}

/// From this width on the detail pane fits beside the list.
pub(crate) const WIDE: u16 = 130;

impl Sort {
    pub const ALL: [Sort; 7] =
        [Sort::Urgency, Sort::Context, Sort::Cost, Sort::Tokens, Sort::Active, Sort::Age, Sort::Project];

    pub fn name(self) -> &'static str {
        match self {
            Sort::Urgency => "urgency",
            Sort::Context => "context",
            Sort::Cost => "cost",
            Sort::Tokens => "tokens",
            Sort::Active => "activity",
            Sort::Age => "age",
            Sort::Project => "project",
        }
    }

    pub(crate) fn next(self) -> Sort {
        let at = Sort::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Sort::ALL[(at + 1) % Sort::ALL.len()]
    }
}

impl Model {
    pub fn new(now: Timestamp, colours: Colours, ended: Ended) -> Model {
        Model {
            rows: None,
            now,
            colours,
            sort: Sort::default(),
            order: Order::default(),
            ended,
            filter: String::new(),
            mode: Mode::default(),
            pane: Pane::default(),
            choice: Choice::default(),
            size: Size { columns: 80, rows: 24 },
            detail: None,
            message: None,
            trouble: None,
        }
    }

    /// Whether the caller should load ended sessions too.
    pub fn wants_ended(&self) -> bool {
        self.ended == Ended::Shown
    }

    /// The filtered rows, in order.
    pub(crate) fn visible(&self) -> Vec<&Row> {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let is_visible = |row: &&Row| {
            (self.ended == Ended::Shown || !row.has_ended())
                && (words.is_empty() || matches_filter(row, &words))
        };
        let mut rows: Vec<&Row> = self.all().iter().filter(is_visible).collect();
        sort(&mut rows, self.sort);
        if self.order == Order::Reversed {
            rows.reverse();
        }
        rows
    }

    pub(crate) fn all(&self) -> &[Row] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// The selected row. If its session is gone, the row now at its position.
    pub fn chosen(&self) -> Option<&Row> {
        let rows = self.visible();
        rows.get(self.chosen_at(&rows)).copied()
    }

    pub(crate) fn chosen_at(&self, rows: &[&Row]) -> usize {
        let found = self.choice.key.as_ref().and_then(|key| rows.iter().position(|row| row.key() == key));
        found.unwrap_or(self.choice.at).min(rows.len().saturating_sub(1))
    }

    /// Whether a screen of this size shows the detail pane.
    pub(crate) fn shows_pane(&self, size: Size) -> bool {
        match self.pane {
            Pane::WhereItFits => size.columns >= WIDE,
            Pane::Shown => true,
            Pane::Hidden => false,
        }
    }

    /// The session in the detail pane, if it is shown.
    pub fn close_up(&self) -> Option<&Row> {
        if self.shows_pane(self.size) { self.chosen() } else { None }
    }

    /// The session whose details are loaded.
    pub fn shown_closely(&self) -> Option<&str> {
        self.detail.as_ref().map(|(key, _)| key.as_str())
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Sessions that have not ended, those that need the user first.
    pub fn sitting(&self) -> Vec<Shown> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.clone()).collect()
    }

    /// The state light of each of them.
    pub fn lights(&self) -> Vec<Light> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.light()).collect()
    }

    /// The row with this key.
    pub fn row(&self, key: &str) -> Option<&Row> {
        self.all().iter().find(|row| row.key() == key)
    }

    /// Milliseconds until a displayed time changes by itself; `None` if none does.
    pub fn next_tick_ms(&self) -> Option<i64> {
        let times = |row: &Row| {
            let times = [Some(row.shown.since), row.started_at, row.active_at];
            times.into_iter().flatten().map(|at| until_next(at, self.now)).min()
        };
        self.visible().into_iter().filter_map(times).min()
    }
}

/// Whether every word occurs in one of the row's texts.
fn matches_filter(row: &Row, words: &[String]) -> bool {
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
fn sort(rows: &mut [&Row], by: Sort) {
    match by {
        Sort::Urgency => {}
        Sort::Context => rows.sort_by_key(|row| Reverse(row.fill.map(|fill| fill.percent()))),
        Sort::Cost => {
            rows.sort_by_key(|row| Reverse(row.spent.as_ref().and_then(|spent| spent.bill().known())))
        }
        Sort::Tokens => rows.sort_by_key(|row| Reverse(row.spent.as_ref().map(|spent| spent.tokens.total()))),
        Sort::Active => rows.sort_by_key(|row| Reverse(row.active_at)),
        Sort::Age => rows.sort_by_key(|row| row.started_at.unwrap_or(Timestamp(i64::MAX))),
        Sort::Project => rows.sort_by_cached_key(|row| row.shown.project_and_branch().to_lowercase()),
    }
}

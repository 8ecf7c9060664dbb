//! What is before a person: the rows, and what they have chosen, sorted by and looked for.
//!
//! Plain state and questions about it. Only `update` changes it, and only whoever draws knows how large the screen is.

use crate::frame::Size;
use crate::row::{Detail, Row};
use crate::style::Colours;
use crate::text::until_next;
use std::cmp::Reverse;
use towline_core::shown::{Light, Shown};
use towline_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Nothing before the first look. What needs a person comes first, what has ended last.
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
    /// How large the screen was when somebody last looked.
    pub(crate) size: Size,
    /// Of the session with this key.
    pub(crate) detail: Option<(String, Detail)>,
    pub(crate) message: Option<String>,
    /// Why the last look failed.
    pub(crate) trouble: Option<String>,
}

/// What keys mean at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Browsing,
    /// What is typed is looked for.
    Filtering,
    Helping,
}

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// What needs a person first.
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

/// Whether sessions that have ended are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    #[default]
    Hidden,
    Shown,
}

/// Whether the chosen session is shown closely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// Where there is room beside the list.
    #[default]
    WhereItFits,
    Shown,
    Hidden,
}

/// Which row is chosen: the first, until somebody moves. From then on it is that session, wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub(crate) key: Option<String>,
    pub(crate) at: usize,
}

/// From so many columns on there is room for the chosen session beside the list.
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

    /// Whether whoever asks for rows should ask for those that have ended, too.
    pub fn wants_ended(&self) -> bool {
        self.ended == Ended::Shown
    }

    /// The rows in their order, without those that are not wanted.
    pub(crate) fn visible(&self) -> Vec<&Row> {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let is_wanted = |row: &&Row| {
            (self.ended == Ended::Shown || !row.has_ended()) && (words.is_empty() || holds(row, &words))
        };
        let mut rows: Vec<&Row> = self.all().iter().filter(is_wanted).collect();
        sort(&mut rows, self.sort);
        if self.order == Order::Reversed {
            rows.reverse();
        }
        rows
    }

    pub(crate) fn all(&self) -> &[Row] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// The row that is chosen. One that is gone leaves the choice to what is in its place.
    pub fn chosen(&self) -> Option<&Row> {
        let rows = self.visible();
        rows.get(self.chosen_at(&rows)).copied()
    }

    pub(crate) fn chosen_at(&self, rows: &[&Row]) -> usize {
        let found = self.choice.key.as_ref().and_then(|key| rows.iter().position(|row| row.key() == key));
        found.unwrap_or(self.choice.at).min(rows.len().saturating_sub(1))
    }

    /// Whether the chosen session is shown closely on a screen of this size.
    pub(crate) fn shows_pane(&self, size: Size) -> bool {
        match self.pane {
            Pane::WhereItFits => size.columns >= WIDE,
            Pane::Shown => true,
            Pane::Hidden => false,
        }
    }

    /// The session of which details are shown, if any is.
    pub fn close_up(&self) -> Option<&Row> {
        if self.shows_pane(self.size) { self.chosen() } else { None }
    }

    /// The session whose details are known.
    pub fn shown_closely(&self) -> Option<&str> {
        self.detail.as_ref().map(|(key, _)| key.as_str())
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Those that have not ended, what needs a person first.
    pub fn sitting(&self) -> Vec<Shown> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.clone()).collect()
    }

    /// What is so with each of them.
    pub fn lights(&self) -> Vec<Light> {
        self.all().iter().filter(|row| !row.has_ended()).map(|row| row.shown.light()).collect()
    }

    /// The row of this key.
    pub fn row(&self, key: &str) -> Option<&Row> {
        self.all().iter().find(|row| row.key() == key)
    }

    /// In how many milliseconds something that is shown reads otherwise, if nothing happens; `None` if nothing does.
    pub fn next_tick_ms(&self) -> Option<i64> {
        let times = |row: &Row| {
            let times = [Some(row.shown.since), row.started_at, row.active_at];
            times.into_iter().flatten().map(|at| until_next(at, self.now)).min()
        };
        self.visible().into_iter().filter_map(times).min()
    }
}

/// Whether every word is somewhere in what is known of it.
fn holds(row: &Row, words: &[String]) -> bool {
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

/// What is not known comes last; what is equal stays as it was.
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

//! The columns of the list at a given width, and their cells.
//!
//! A column that fits at one width fits at every larger one: columns are added one by one, in a fixed order.

use crate::model::MonitorModel;
use crate::row::MonitorRow;
use crate::style::{FAINT, STRONG};
use crate::text::{ago, clean, right};
use ratatui::style::Style;
use towline_core::bar::BarStyle;
use towline_core::escape::pad;
use towline_core::meter::{ContextUsage, Exactness};
use towline_core::shown::SeatLight;
use towline_core::usage::{UsageTotal, short_count};

towline_core::named_enum! {
    /// A column by its title.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Column {
        State = "  state",
        Since = "for",
        Agent = "agent",
        Project = "project",
        Context = "context",
        Model = "model",
        Tokens = "tokens",
        Cache = "cache",
        Cost = "cost",
        Subagents = "subs",
        Age = "age",
        Active = "last",
        Pane = "pane",
        Prompt = "asked",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub column: Column,
    pub x: u16,
    pub columns: u16,
}

/// How extra width is used, in this order: a new column, or a wider one.
const STEPS: [(Column, u16); 19] = [
    (Column::State, 13),
    (Column::Project, 10),
    (Column::Context, 4),
    (Column::Since, 4),
    (Column::Agent, 7),
    (Column::Context, 15),
    (Column::Project, 16),
    (Column::Cost, 8),
    (Column::Model, 10),
    (Column::Subagents, 4),
    (Column::Tokens, 7),
    (Column::Active, 4),
    (Column::Project, 24),
    (Column::Cache, 5),
    (Column::Age, 4),
    (Column::Prompt, 16),
    (Column::Model, 18),
    (Column::Pane, 5),
    (Column::Project, 32),
];

/// The columns for a width. A column that is empty in every row is left out.
pub fn layout(model: &MonitorModel, room: u16) -> Vec<Placed> {
    let is_spent_known = model.all().iter().any(|row| row.spent.is_some());
    let is_used =
        |column: Column| is_spent_known || !matches!(column, Column::Tokens | Column::Cache | Column::Cost);
    let mut chosen: Vec<(Column, u16)> = vec![];
    let mut left = room;
    for (column, columns) in STEPS.into_iter().filter(|(column, _)| is_used(*column)) {
        let gap = u16::from(!chosen.is_empty());
        let found = chosen.iter_mut().find(|(existing, _)| *existing == column);
        let more = found.as_ref().map_or(columns + gap, |(_, width)| columns.saturating_sub(*width));
        if more > left {
            break;
        }
        left -= more;
        match found {
            Some((_, width)) => *width = columns,
            None => chosen.push((column, columns)),
        }
    }
    placed(chosen, left, room)
}

/// The remaining width goes to the column that truncates the most text.
fn placed(mut chosen: Vec<(Column, u16)>, left: u16, room: u16) -> Vec<Placed> {
    chosen.sort_unstable();
    let index_of = |target: Column| chosen.iter().position(|(column, _)| *column == target);
    if let Some(widest) = index_of(Column::Prompt).or_else(|| index_of(Column::Project)) {
        chosen[widest].1 += left;
    }
    // If even the first column does not fit, it gets all there is.
    if chosen.is_empty() && room > 0 {
        chosen.push((Column::State, room));
    }
    let mut x = 0;
    let place = |(column, columns): (Column, u16)| {
        let placed = Placed { column, x, columns };
        x += columns + 1;
        placed
    };
    chosen.into_iter().map(place).collect()
}

impl Column {
    fn is_number(self) -> bool {
        matches!(self, Column::Tokens | Column::Cache | Column::Cost | Column::Subagents)
    }
}

impl Placed {
    /// The column's title, fitted.
    pub fn head(self) -> String {
        let is_short = self.columns < 7 && self.column == Column::Context;
        self.fitted(if is_short { "ctx" } else { self.column.name() })
    }

    /// A row's cell: text and style.
    pub fn cell(self, row: &MonitorRow, model: &MonitorModel) -> (String, Style) {
        let shown = &row.shown;
        let count = |number: u32| if number == 0 { String::new() } else { number.to_string() };
        let spent = |text: &dyn Fn(&UsageTotal) -> String| row.spent.as_ref().map(text).unwrap_or_default();
        let cache = |spent: &UsageTotal| spent.cache_percent().map(|share| format!("{share}%"));
        let cache = |spent: &UsageTotal| cache(spent).unwrap_or_default();
        let (text, style) = match self.column {
            Column::State => (state(row), state_style(row, model)),
            Column::Since => (ago(shown.since, model.now), state_style(row, model)),
            Column::Agent => (shown.agent.clone(), Style::new()),
            Column::Project => (shown.project_and_branch(), STRONG),
            Column::Context => return self.context(row, model),
            Column::Model => (model_name(row), FAINT),
            Column::Tokens => (spent(&|spent| short_count(spent.tokens.total())), Style::new()),
            Column::Cache => (spent(&cache), FAINT),
            Column::Cost => (spent(&|spent| spent.bill().display()), Style::new()),
            Column::Subagents => (count(shown.subagents), Style::new()),
            Column::Age => (row.started_at.map(|at| ago(at, model.now)).unwrap_or_default(), FAINT),
            Column::Active => (row.active_at.map(|at| ago(at, model.now)).unwrap_or_default(), FAINT),
            Column::Pane => (shown.pane.clone().unwrap_or_default(), FAINT),
            Column::Prompt => (prompt_text(row), Style::new()),
        };
        (self.fitted(&clean(&text)), style)
    }

    fn fitted(self, text: &str) -> String {
        let columns = usize::from(self.columns);
        if self.column.is_number() { right(text, columns) } else { pad(text, columns) }
    }

    /// A gauge if there is room for one, followed by the percentage.
    fn context(self, row: &MonitorRow, model: &MonitorModel) -> (String, Style) {
        let Some(fill) = row.fill else { return (self.fitted(""), FAINT) };
        let columns = usize::from(self.columns);
        let passed = row.thresholds.iter().filter(|threshold| fill.percent() >= **threshold).count();
        let style = model.colours.fill(passed, row.thresholds.len());
        let share = right(&share(fill), 4);
        let text = match columns.checked_sub(5).filter(|cells| *cells >= 5) {
            Some(cells) => format!("{} {share}", gauge(fill.percent(), &row.thresholds, cells)),
            None => share,
        };
        (pad(&text, columns), style)
    }
}

/// The percentage, marked if it is an estimate.
pub fn share(fill: ContextUsage) -> String {
    match fill.exact {
        Exactness::Exact => format!("{}%", fill.percent()),
        Exactness::Estimated => format!("~{}%", fill.percent().min(99)),
    }
}

/// A line that is heavy up to the fill level, with a cross at each notification threshold: heavy once it is passed.
pub fn gauge(percent: u8, thresholds: &[u8], cells: usize) -> String {
    let filled = (usize::from(percent.min(100)) * cells + 50) / 100;
    let filled = if percent > 0 { filled.max(1) } else { 0 };
    let cell_of = |threshold: u8| (usize::from(threshold) * cells / 100).min(cells.saturating_sub(1));
    let draw = |cell: usize| {
        let mut crossings = thresholds.iter().filter(|threshold| cell_of(**threshold) == cell);
        match crossings.next() {
            Some(threshold) if percent >= *threshold => '┿',
            Some(_) => '┼',
            None if cell < filled => '━',
            None => '─',
        }
    };
    (0..cells).map(draw).collect()
}

/// The status line's icon for the state, and its name.
fn state(row: &MonitorRow) -> String {
    let style = BarStyle::default();
    let mark = if row.has_ended() { "-" } else { style.light_style(row.shown.light()).icon.as_str() };
    let name = if row.has_ended() { row.shown.state.name() } else { row.shown.state_name() };
    format!("{mark} {name}")
}

pub fn state_style(row: &MonitorRow, model: &MonitorModel) -> Style {
    let is_quiet = row.has_ended() || row.shown.light() == SeatLight::Idle;
    if is_quiet { FAINT } else { model.colours.light(row.shown.light()) }
}

/// The model's name without the agent's name, which is in its own column.
fn model_name(row: &MonitorRow) -> String {
    let name = row.shown.model.as_deref().unwrap_or_default();
    let own = name.strip_prefix(row.shown.agent.as_str()).and_then(|rest| rest.strip_prefix('-'));
    own.unwrap_or(name).to_owned()
}

/// The reason the session waits, and its prompt.
fn prompt_text(row: &MonitorRow) -> String {
    let prompt = row.shown.prompt.as_deref().unwrap_or_default();
    match (row.shown.session.is_some(), row.waits_for()) {
        (false, _) => "(nothing heard yet)".to_owned(),
        (true, Some(wait)) => format!("({wait}) {prompt}"),
        (true, None) => prompt.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_heavy_where_it_is_filled_and_crossed_at_its_thresholds() {
        let usual = [40, 50, 60, 70];
        let drawn = [0, 1, 45, 70, 100].map(|percent| gauge(percent, &usual, 10));
        assert_eq!(drawn, ["────┼┼┼┼──", "━───┼┼┼┼──", "━━━━┿┼┼┼──", "━━━━┿┿┿┿──", "━━━━┿┿┿┿━━"]);
        assert_eq!(gauge(50, &[100], 5), "━━━─┼");
    }

    #[test]
    fn a_larger_screen_never_shows_less() {
        let model = crate::tests::crowd();
        let mut before: Vec<Column> = vec![];
        for room in 1..300 {
            let placed = layout(&model, room);
            let columns: Vec<Column> = placed.iter().map(|placed| placed.column).collect();
            assert!(before.iter().all(|column| columns.contains(column)), "{room}: {before:?} {columns:?}");
            let end = placed.last().map_or(0, |last| last.x + last.columns);
            assert!(end <= room, "{room}: {placed:?}");
            before = columns;
        }
        assert_eq!(before.len(), 14);
    }

    #[test]
    fn columns_without_data_are_left_out() {
        let model = crate::tests::model(vec![]);
        assert!(layout(&model, 300).iter().all(|placed| placed.column != Column::Cost));
    }
}

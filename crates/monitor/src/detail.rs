//! The detail pane of one session: state, context, last turns, bookmarks, inheritance.
//!
//! Returns lines for a width. If there are too many, the oldest turns are dropped first.

use crate::columns::{gauge, share, state_style};
use crate::model::MonitorModel;
use crate::row::{MonitorRow, SessionDetail};
use crate::style::{FAINT, STRONG};
use crate::text::{ago, wrap};
use ratatui::style::Style;
use towline_core::usage::short_count;

pub type StyledLine = (String, Style);

/// Maximum lines per prompt or turn.
const MAX_LINES: usize = 3;

/// At most `rows` lines of `columns` columns.
pub fn lines(model: &MonitorModel, row: &MonitorRow, columns: usize, rows: usize) -> Vec<StyledLine> {
    let detail = model.detail.as_ref().filter(|(key, _)| key == row.key()).map(|(_, detail)| detail);
    let mut lines = head(model, row, columns);
    let empty = SessionDetail::default();
    let detail = detail.unwrap_or(&empty);
    lines.extend(detail.folder.iter().flat_map(|folder| wrap(folder, columns, 1)).map(|line| (line, FAINT)));
    lines.extend(numbers(row, columns));
    lines.extend(prompt(row, columns));
    let tail = tail(detail, columns);
    let room = rows.saturating_sub(lines.len() + tail.len());
    lines.extend(turns(detail, columns, room));
    lines.extend(tail);
    lines.truncate(rows);
    lines
}

fn head(model: &MonitorModel, row: &MonitorRow, columns: usize) -> Vec<StyledLine> {
    let shown = &row.shown;
    let model_name = shown.model.as_deref().unwrap_or("");
    let identity = format!("{} {model_name}", row.key());
    let state = format!("{} for {}", shown.state.name(), ago(shown.since, model.now));
    let waits = row.waits_for().map(|wait| format!(": waits for {wait}")).unwrap_or_default();
    let until = shown.until.filter(|until| *until > model.now);
    let until = until.map(|until| format!(", limit ends in {}", ago(model.now, until))).unwrap_or_default();
    [
        (shown.project_and_branch(), STRONG),
        (identity, Style::new()),
        (format!("{state}{waits}{until}"), state_style(row, model)),
    ]
    .into_iter()
    .flat_map(|(text, style)| wrap(&text, columns, 2).into_iter().map(move |line| (line, style)))
    .collect()
}

fn numbers(row: &MonitorRow, columns: usize) -> Vec<StyledLine> {
    let mut lines = vec![];
    if let Some(fill) = row.fill {
        let words =
            format!("{} {} of {} tokens", share(fill), short_count(fill.tokens), short_count(fill.window));
        let cells = columns.saturating_sub(words.len() + 1).min(20);
        let bar =
            if cells >= 5 { gauge(fill.percent(), &row.thresholds, cells) + " " } else { String::new() };
        lines.push(bar + &words);
    }
    if let Some(spent) = &row.spent {
        let cache = spent.cache_percent().map(|share| format!(", {share}% from the cache"));
        let (tokens, cost) = (short_count(spent.tokens.total()), spent.bill().display());
        lines.push(format!("{tokens} tokens used{}, {cost}", cache.unwrap_or_default()));
    }
    let counts = [(row.shown.subagents, "helpers at work"), (row.shown.tasks, "tasks done")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    lines.extend((!counts.is_empty()).then(|| counts.join(", ")));
    lines.iter().flat_map(|line| wrap(line, columns, 2)).map(|line| (line, Style::new())).collect()
}

fn prompt(row: &MonitorRow, columns: usize) -> Vec<StyledLine> {
    let prompt = row.shown.prompt.as_deref().unwrap_or_default();
    section("asked", wrap(prompt, columns, MAX_LINES))
}

/// The newest turns that fit.
fn turns(detail: &SessionDetail, columns: usize, room: usize) -> Vec<StyledLine> {
    let mut shown: Vec<String> = vec![];
    for turn in detail.turns.iter().rev() {
        let text = format!("{} {} {}", turn.at, turn.mark, turn.line);
        let lines = wrap(&text, columns, MAX_LINES);
        // Two more for the gap and the title.
        if shown.len() + lines.len() + 2 > room {
            break;
        }
        shown.splice(0..0, lines);
    }
    section("last turns", shown)
}

fn tail(detail: &SessionDetail, columns: usize) -> Vec<StyledLine> {
    let bookmark = |(at, label): &(String, String)| wrap(&format!("{at} {label}"), columns, 1);
    let bookmarks = section("bookmarks", detail.bookmarks.iter().flat_map(bookmark).collect());
    let inherited = detail.inheritance.iter().flat_map(|words| wrap(words, columns, 2)).collect();
    [bookmarks, section("inheritance", inherited)].concat()
}

/// A gap, a title, and the lines; empty if there are none.
fn section(title: &str, lines: Vec<String>) -> Vec<StyledLine> {
    if lines.is_empty() {
        return vec![];
    }
    let head = [(String::new(), Style::new()), (title.to_owned(), FAINT)];
    head.into_iter().chain(lines.into_iter().map(|line| (line, Style::new()))).collect()
}

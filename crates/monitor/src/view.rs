//! Draws the model: a title, the list, the detail pane, and a status line.
//!
//! Draws at any size from one cell on, leaving out what does not fit. Decides nothing.

use crate::columns::{Placed, layout};
use crate::detail;
use crate::frame::{Frame, ScreenSize};
use crate::model::{EndedRows, InputMode, MonitorModel, SortOrder, WIDE};
use crate::row::MonitorRow;
use crate::style::{CHOSEN, FAINT, STRONG};
use ratatui::style::Style;
use towline_core::bar::BarStyle;
use towline_core::escape::{fit_to_width, width};
use towline_core::shown::{SeatLight, SeatView, age};
use towline_core::usage::UsageTotal;

/// A part of the screen.
#[derive(Clone, Copy)]
struct Area {
    x: u16,
    y: u16,
    columns: u16,
    rows: u16,
}

pub fn view(model: &MonitorModel, size: ScreenSize) -> Frame {
    let mut frame = Frame::blank(size);
    let ScreenSize { columns, rows } = size;
    // Priority as the screen grows: list, status line, title, column names.
    let (last, title, heads) = (u16::from(rows >= 2), u16::from(rows >= 4), u16::from(rows >= 6));
    if title == 1 {
        draw_title(&mut frame, model, columns);
    }
    let body = Area { x: 0, y: title, columns, rows: rows - last - title };
    let (list, pane) = split_body(model, body);
    let heads = heads.min(list.rows.saturating_sub(1));
    if last == 1 {
        let hidden = model.visible().len().saturating_sub(usize::from(list.rows - heads));
        draw_status_line(&mut frame, model, hidden, Area { x: 0, y: rows - 1, columns, rows: 1 });
    }
    if let Some(pane) = pane {
        draw_pane(&mut frame, model, pane);
    }
    if model.mode == InputMode::Helping {
        draw_help(&mut frame, body);
    } else if list.rows > 0 {
        draw_list(&mut frame, model, list, heads);
    }
    frame
}

/// All rows as plain text, for any number of rows, without a selection.
pub fn page(model: &MonitorModel, columns: u16) -> String {
    let rows = model.visible();
    let size = ScreenSize {
        columns,
        rows: u16::try_from(rows.len().max(1)).unwrap_or(u16::MAX - 2).saturating_add(2),
    };
    let mut frame = Frame::blank(size);
    draw_title(&mut frame, model, columns);
    let placed = layout(model, columns);
    draw_heads(&mut frame, &placed, 0, 1);
    for (y, row) in (2..size.rows).zip(&rows) {
        draw_row(&mut frame, model, row, &placed, 0, y);
    }
    if rows.is_empty() {
        frame.write_text(0, 2, empty_text(model), columns, FAINT);
    }
    frame.text()
}

/// The list, and the detail pane beside or below it, if it is wanted and there is room.
fn split_body(model: &MonitorModel, body: Area) -> (Area, Option<Area>) {
    let is_wide = body.columns >= WIDE;
    let is_wanted = model.shows_pane(ScreenSize { columns: body.columns, rows: body.rows });
    if !is_wanted || body.rows < 4 || model.mode == InputMode::Helping {
        return (body, None);
    }
    if is_wide {
        let columns = (body.columns * 2 / 5).clamp(40, 90);
        let list = Area { columns: body.columns - columns - 1, ..body };
        return (list, Some(Area { x: list.columns + 1, columns, ..body }));
    }
    let rows = body.rows * 3 / 5;
    let list = Area { rows: body.rows - rows, ..body };
    (list, Some(Area { y: body.y + list.rows, rows, ..body }))
}

/// The number of sessions per state, and their total cost.
fn draw_title(frame: &mut Frame, model: &MonitorModel, columns: u16) {
    let style = BarStyle::default();
    let mut x = 0;
    for state in SeatView::STATES_BY_URGENCY {
        let in_state =
            || model.all().iter().filter(|row| !row.has_ended() && row.shown.state_name() == state);
        let Some(light) = in_state().next().map(|row| row.shown.light()) else { continue };
        let number = in_state().count();
        let longest = in_state().map(|row| model.now.since_ms(row.shown.since)).max().unwrap_or(0);
        let timer = if light == SeatLight::Blocked { age(longest) } else { String::new() };
        let text = match columns {
            ..70 => format!("{number}{}{timer}  ", style.light_style(light).icon),
            70.. if timer.is_empty() => format!("{number} {state}  "),
            70.. => format!("{number} {state} {timer}  "),
        };
        let text = fit_to_width(&text, usize::from(columns.saturating_sub(x)));
        frame.write_text(x, 0, &text, columns, model.colours.light(light));
        x += u16::try_from(width(&text)).unwrap_or(columns);
    }
    let start = |text: &String| columns.checked_sub(u16::try_from(width(text)).ok()?).filter(|at| *at >= x);
    if let Some((at, text)) = totals(model).iter().find_map(|text| Some((start(text)?, text))) {
        frame.write_text(at, 0, text, columns, FAINT);
    }
}

/// The totals, from the longest wording to the shortest.
fn totals(model: &MonitorModel) -> [String; 3] {
    let shown = model.visible();
    let spent = shown.iter().filter_map(|row| row.spent.as_ref());
    let all = spent.fold(UsageTotal::default(), |all, spent| all.plus(spent));
    let cost = if all.messages > 0 { format!("{}  ", all.bill().display()) } else { String::new() };
    let order = if model.order == SortOrder::Reversed { " reversed" } else { "" };
    let of = if model.filter.is_empty() { String::new() } else { format!(" of {}", model.all().len()) };
    let (number, sort) = (shown.len(), model.sort.name());
    [
        format!("{cost}{number}{of} sessions by {sort}{order}"),
        format!("{cost}by {sort}{order}"),
        cost.trim_end().to_owned(),
    ]
}

fn draw_list(frame: &mut Frame, model: &MonitorModel, area: Area, heads: u16) {
    let placed = layout(model, area.columns);
    if heads == 1 {
        draw_heads(frame, &placed, area.x, area.y);
    }
    let (y, room) = (area.y + heads, usize::from(area.rows - heads));
    let rows = model.visible();
    if rows.is_empty() {
        let text = fit_to_width(empty_text(model), area.columns.into());
        return frame.write_text(area.x, y, &text, area.columns, FAINT);
    }
    let chosen = model.chosen_at(&rows);
    // The selection stays mid-screen, so that the rows around it are visible.
    let first = chosen.saturating_sub(room / 2).min(rows.len().saturating_sub(room));
    for (y, (at, row)) in (y..).zip(rows.iter().enumerate().skip(first).take(room)) {
        draw_row(frame, model, row, &placed, area.x, y);
        if at == chosen {
            frame.add_style(area.x, y, area.columns, CHOSEN);
        }
    }
}

fn draw_heads(frame: &mut Frame, placed: &[Placed], x: u16, y: u16) {
    for column in placed {
        frame.write_text(x + column.x, y, &column.head(), column.columns, FAINT);
    }
}

fn draw_row(frame: &mut Frame, model: &MonitorModel, row: &MonitorRow, placed: &[Placed], x: u16, y: u16) {
    for column in placed {
        let (text, style) = column.cell(row, model);
        frame.write_text(x + column.x, y, &text, column.columns, style);
    }
}

fn empty_text(model: &MonitorModel) -> &'static str {
    match &model.rows {
        None => "looking …",
        Some(rows) if rows.is_empty() => "no agent is running",
        Some(_) if !model.filter.is_empty() => "nothing fits the filter",
        Some(_) => "no agent is running; a shows what has ended",
    }
}

/// A separator towards the list, then the lines.
fn draw_pane(frame: &mut Frame, model: &MonitorModel, area: Area) {
    let (is_beside, inner) = if area.x > 0 {
        (0..area.rows).for_each(|y| frame.write_text(area.x, area.y + y, "│", 1, FAINT));
        (true, Area { x: area.x + 2, columns: area.columns.saturating_sub(2), ..area })
    } else {
        frame.write_text(0, area.y, &"─".repeat(area.columns.into()), area.columns, FAINT);
        (false, Area { y: area.y + 1, rows: area.rows.saturating_sub(1), ..area })
    };
    let Some(row) = model.selected_row() else {
        let words = if is_beside { "nothing is chosen" } else { "" };
        return frame.write_text(inner.x, inner.y, words, inner.columns, FAINT);
    };
    let (columns, rows) = (usize::from(inner.columns), usize::from(inner.rows));
    for (y, (line, style)) in (inner.y..).zip(detail::lines(model, row, columns, rows)) {
        frame.write_text(inner.x, y, &line, inner.columns, style);
    }
}

const HELP: [(&str, &str); 12] = [
    ("Enter", "go to the chosen agent"),
    ("n", "go to the one that has waited longest"),
    ("j k ↓ ↑", "choose another one"),
    ("g G", "the first, the last"),
    ("Tab", "show the chosen one closely, or not"),
    ("/", "show only what holds these words; Esc ends it"),
    ("s S", "sort by something else; the other way round"),
    ("a", "show what has ended, or not"),
    ("r", "look again at once"),
    ("?", "this help"),
    ("q", "quit"),
    ("", "! blocked  x interrupted, limited  + completed  * working  . idle  - ended"),
];

fn draw_help(frame: &mut Frame, area: Area) {
    for (y, (key, meaning)) in (area.y..area.y.saturating_add(area.rows)).zip(HELP) {
        frame.write_text(1, y, key, area.columns.saturating_sub(1), STRONG);
        let x = if key.is_empty() { 1 } else { 11 };
        let room = area.columns.saturating_sub(x);
        frame.write_text(x, y, &fit_to_width(meaning, room.into()), room, Style::new());
    }
}

fn draw_status_line(frame: &mut Frame, model: &MonitorModel, hidden: usize, area: Area) {
    let columns = area.columns.into();
    let (x, y) = (area.x, area.y);
    let notice = model.message.as_ref().or(model.trouble.as_ref()).or(model.warning.as_ref());
    match (model.mode, notice) {
        (InputMode::Filtering, _) => {
            // The end of the typed text matters most.
            let text = format!("/{}▏", crate::text::clean(&model.filter));
            let cut = width(&text).saturating_sub(columns);
            let text: String = text.chars().skip(if cut > 0 { cut + 1 } else { 0 }).collect();
            frame.write_text(x, y, &text, area.columns, Style::new());
        }
        (_, Some(notice)) => {
            frame.write_text(x, y, &fit_to_width(&crate::text::clean(notice), columns), area.columns, STRONG)
        }
        (InputMode::Browsing | InputMode::Helping, None) => {
            frame.write_text(x, y, &fit_to_width(&hint(model, hidden), columns), area.columns, FAINT)
        }
    }
}

/// Background work, open proposals, how many rows do not fit, and the most important keys.
fn hint(model: &MonitorModel, hidden: usize) -> String {
    let proposals = match model.notes.open_proposals {
        0 => String::new(),
        1 => "1 proposal: tow memory proposals  ".to_owned(),
        open => format!("{open} proposals: tow memory proposals  "),
    };
    let work = model.work.as_ref().map_or(String::new(), |work| format!("{}  ", crate::text::clean(work)));
    let more = if hidden > 0 { format!("+{hidden} more  ") } else { String::new() };
    let filter = if model.filter.is_empty() {
        "/ filter".to_owned()
    } else {
        format!("/{} (Esc: all)", crate::text::clean(&model.filter))
    };
    let ended = if model.ended == EndedRows::Shown { "a hide ended" } else { "a ended" };
    format!("{work}{proposals}{more}? help  Enter go  {filter}  s sort  {ended}  Tab closer  q quit")
}

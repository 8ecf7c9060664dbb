//! `tow tmux menu`: the agents as a tmux menu; choosing a line jumps to the agent.
//!
//! Only draws. Labels are escaped; a line runs `tow goto` with a session id or a pane, which are plain names.

use super::install::command_to_register;
use crate::scope::Scope;
use clap::Args;
use towline_core::bar::BarStyle;
use towline_core::escape::{fit_to_width, for_tmux_menu};
use towline_core::shown::{SeatView, age};
use towline_core::time::Timestamp;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::Failure;
use towline_engine::status::push::server_of;
use towline_engine::status::tmux::conf::current_server;
use towline_engine::status::tmux::load;
use towline_engine::status::tmux::options::{Keys, Options};
use towline_terminal::tmux::MenuItem;
use towline_terminal::tmux_settings::quote;

const EXAMPLES: &str = "\
Examples:
  bind-key a run-shell -b 'tow tmux menu'     in ~/.tmux.conf, or `tow install --tmux`
  tow tmux menu --page 2";

/// Choose an agent from a tmux menu and go there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which page, from 1.
    #[arg(long, default_value_t = 1)]
    page: usize,
    /// Lines on a page [default: @towline-items-per-page, else 10].
    #[arg(long)]
    items: Option<usize>,
}

/// Opens the first page.
pub fn open(scope: &Scope) -> Result<(), Failure> {
    run(scope, &Arguments { page: 1, items: None })
}

/// Longest label, in columns.
const WIDEST: usize = 90;
/// Columns that tmux draws around a label: the border, blanks and the key. It cuts a label that is too long at its beginning.
const AROUND: usize = 10;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let none = || Failure::input("a menu needs tmux").hint("Run `tow status` instead.");
    let server = current_server().ok_or_else(none)?;
    let (options, _) = Options::current(&scope.env, &server);
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    let per_page = arguments.items.unwrap_or(options.items_per_page).clamp(1, 30);
    let pages = seats.len().div_ceil(per_page).max(1);
    let page = MenuPage { number: arguments.page.clamp(1, pages), of: pages, items: per_page };
    let title = if pages == 1 { "Agents".to_owned() } else { format!("Agents ({}/{pages})", page.number) };
    let room = server.narrowest_client().map_or(WIDEST, |columns| columns.saturating_sub(AROUND));
    let look = MenuLook { now: scope.env.now, style: &options.style, columns: room.min(WIDEST) };
    let mut lines = lines(&seats, &page, &look);
    lines.extend(turning(&page, &options.keys));
    let tow = load::word(&command_to_register()?)?;
    let items: Vec<MenuItem> = lines.into_iter().map(|line| line.for_tmux(&tow)).collect();
    if !server.menu(&title, &items) {
        return Err(
            Failure::input("tmux did not open the menu").hint("Run it from a key: `tow tmux menu --help`.")
        );
    }
    Ok(())
}

/// How labels are drawn.
struct MenuLook<'a> {
    now: Timestamp,
    style: &'a BarStyle,
    columns: usize,
}

struct MenuPage {
    number: usize,
    of: usize,
    items: usize,
}

/// A menu line, and the verb that choosing it runs, if any.
struct MenuLine {
    label: String,
    key: String,
    verb: Option<String>,
}

impl MenuLine {
    fn new(label: &str, key: &str, verb: String) -> MenuLine {
        MenuLine { label: label.to_owned(), key: key.to_owned(), verb: Some(verb) }
    }

    /// A line that cannot be chosen, because there is no pane to go to.
    fn inert(label: &str) -> MenuLine {
        MenuLine { label: format!("-{label}"), key: String::new(), verb: None }
    }

    fn for_tmux(self, tow: &str) -> MenuItem {
        let run = |verb: String| format!("run-shell -b {}", quote(&format!("{tow} {verb}")));
        MenuItem { label: self.label, key: self.key, command: self.verb.map_or_else(String::new, run) }
    }
}

fn lines(seats: &[SeatView], page: &MenuPage, look: &MenuLook<'_>) -> Vec<MenuLine> {
    let shown = seats.iter().skip((page.number - 1) * page.items).take(page.items);
    let keys = "1234567890".chars().map(String::from).chain(std::iter::repeat(String::new()));
    let line = |(seat, key): (&SeatView, String)| match (server_of(&seat.seat), &seat.session, &seat.pane) {
        (Some(_), Some(session), _) => MenuLine::new(&label(seat, look), &key, format!("goto {session}")),
        (Some(_), None, Some(pane)) => MenuLine::new(&label(seat, look), &key, format!("goto {pane}")),
        (Some(_), None, None) | (None, _, _) => MenuLine::inert(&label(seat, look)),
    };
    let lines: Vec<MenuLine> = shown.zip(keys).map(line).collect();
    if lines.is_empty() { vec![MenuLine::inert("no agent is running")] } else { lines }
}

/// The lines below the agents.
fn turning(page: &MenuPage, keys: &Keys) -> Vec<MenuLine> {
    let turn = |label: &str, key: &str, to: usize| {
        MenuLine::new(label, key, format!("menu --items {} --page {to}", page.items))
    };
    let mut lines = vec![];
    if page.number > 1 {
        lines.push(turn("previous page", &keys.previous_page, page.number - 1));
    }
    if page.number < page.of {
        lines.push(turn("next page", &keys.next_page, page.number + 1));
    }
    lines.push(MenuLine { label: "quit".into(), key: keys.quit.clone(), verb: None });
    lines
}

fn label(seat: &SeatView, look: &MenuLook<'_>) -> String {
    let icon = &look.style.light_style(seat.light()).icon;
    let waited = age(look.now.since_ms(seat.since));
    let context = seat.context_percent.map_or(String::new(), |percent| format!("{percent}%"));
    let what = match (&seat.session, &seat.prompt) {
        (None, _) => "(nothing heard yet)",
        (Some(_), prompt) => prompt.as_deref().unwrap_or(""),
    };
    let words = [icon, &seat.agent, &seat.project_and_branch(), &waited, &context, what];
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    for_tmux_menu(&fit_to_width(&line.replace('\n', " "), look.columns))
}

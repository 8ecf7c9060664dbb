//! `tow menu`: the list as a tmux menu; choosing a line goes there.
//!
//! Draws only. Labels are escaped; what a line does is `tow goto` with a session's id, which is a plain name.

use crate::edge::{own_program, variable};
use crate::failure::Failure;
use crate::live;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use towline_core::bar::BarStyle;
use towline_core::escape::{fit, for_tmux_menu};
use towline_core::shown::{Shown, age};
use towline_core::time::Timestamp;
use towline_terminal::tmux::{MenuItem, Server};

const EXAMPLES: &str = "\
Examples:
  bind-key a run-shell -b 'tow menu'     in ~/.tmux.conf
  tow menu --page 2";

/// Choose an agent from a tmux menu and go there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which page, from 1.
    #[arg(long, default_value_t = 1)]
    page: usize,
    /// Lines on a page.
    #[arg(long, default_value_t = 10)]
    items: usize,
}

/// Longest label, in columns.
const WIDEST: usize = 90;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let server = variable("TMUX").as_deref().and_then(Server::parse);
    let server =
        server.ok_or_else(|| Failure::input("a menu needs tmux").hint("Run `tow status` instead."))?;
    let seats = live::seats(scope)?;
    let per_page = arguments.items.clamp(1, 30);
    let pages = seats.len().div_ceil(per_page).max(1);
    let page = arguments.page.clamp(1, pages);
    let title = if pages == 1 { "Agents".to_owned() } else { format!("Agents ({page}/{pages})") };
    let items = page_of(&seats, scope.edge.now, (page, per_page, pages));
    if !server.menu(&title, &items) {
        return Err(
            Failure::input("tmux did not open the menu").hint("Run it from a key: `tow menu --help`.")
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn page_of(seats: &[Shown], now: Timestamp, (page, per_page, pages): (usize, usize, usize)) -> Vec<MenuItem> {
    let shown = seats.iter().skip((page - 1) * per_page).take(per_page);
    let keys = "1234567890".chars().map(String::from).chain(std::iter::repeat(String::new()));
    let mut items: Vec<MenuItem> = shown
        .zip(keys)
        .map(|(seat, key)| item(&label(seat, now), &key, &format!("goto {}", seat.session)))
        .collect();
    if items.is_empty() {
        items.push(MenuItem {
            label: "-no agent sits anywhere".into(),
            key: String::new(),
            command: String::new(),
        });
    }
    if page > 1 {
        items.push(item("previous page", "o", &format!("menu --items {per_page} --page {}", page - 1)));
    }
    if page < pages {
        items.push(item("next page", "i", &format!("menu --items {per_page} --page {}", page + 1)));
    }
    items
}

fn item(label: &str, key: &str, verb: &str) -> MenuItem {
    MenuItem {
        label: label.to_owned(),
        key: key.to_owned(),
        command: format!("run-shell -b '{} {verb}'", tow()),
    }
}

/// This program, if its path needs no quoting; else the one on the PATH.
fn tow() -> String {
    let plain = |path: &String| {
        path.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-'))
    };
    let own = own_program().map(|path| path.to_string_lossy().into_owned());
    own.filter(plain).unwrap_or_else(|| "tow".to_owned())
}

fn label(seat: &Shown, now: Timestamp) -> String {
    let icon = BarStyle::default().look(seat.light()).icon.clone();
    let project = seat.project.as_deref().unwrap_or("?");
    let project = seat.branch.as_deref().map_or(project.to_owned(), |branch| format!("{project}/{branch}"));
    let waited = age(now.since_ms(seat.since));
    let prompt = seat.prompt.as_deref().unwrap_or("").replace('\n', " ");
    let line = format!("{icon} {} {project} {waited} {prompt}", seat.agent);
    for_tmux_menu(&fit(line.trim_end(), WIDEST))
}

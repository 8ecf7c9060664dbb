//! `cargo xtask pictures`: makes the pictures of the documentation from the real programs.
//!
//! Plays the recorded day with `tow demo` in a real tmux, and captures its terminals and the viewer in a real
//! browser. Must not draw anything by hand: a wrong picture shows a bug.

mod svg;

use std::fs;
use std::io::Write;
use std::path::Path;

use towline_testkit::{Browser, Pane, TestEnv, Theme, Tmux};

use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;
use crate::server::Server;

/// A terminal of this width is readable within a page of text.
const COLUMNS: &str = "112";

/// Draws with the `tow` at this path below the repository.
pub fn run(tow: &Path, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let folder = repository.root().join("docs/pictures");
    let env = TestEnv::new(repository.root().join(tow));
    let tmux = Tmux::start(&env);
    let tour = terminal(&tmux, &["tow", "demo"], &[], "20");
    tour.wait_screen("Enter for the next page");
    tour.wait_screen_for("the bar", |screen| screen.contains("1!"));
    draw(&tour, &folder, "bar")?;
    tour.keys(&["C-b", "a"]);
    tour.wait_screen("─Agents─");
    draw(&tour, &folder, "menu")?;
    tour.keys(&["q"]);
    tour.wait_screen_for("no menu", |screen| !screen.contains("─Agents─"));
    let home = stage(&env)?;
    let monitor = terminal(&tmux, &["tow", "monitor"], &[("HOME", &home)], "12");
    monitor.wait_screen("ledger");
    draw(&monitor, &folder, "monitor")?;
    monitor.keys(&["q"]);
    go_through(&tour);
    view(&env, &home, &folder)?;
    tour.keys(&["q", "Enter"]);
    tour.wait_end();
    writeln!(out, "docs/pictures: bar, menu, monitor, and five of the viewer")?;
    Ok(Verdict::Holds)
}

fn terminal(tmux: &Tmux, program: &[&str], variables: &[(&str, &str)], rows: &str) -> Pane {
    let pane = tmux.open(program, variables);
    let id = pane.format("#{window_id}");
    tmux.run(&["resize-window", "-t", &id, "-x", COLUMNS, "-y", rows]);
    pane
}

fn draw(pane: &Pane, folder: &Path, name: &str) -> Result<()> {
    let shown = pane.tmux().run(&["capture-pane", "-e", "-p", "-t", &pane.format("#{pane_id}")]);
    files::write(&folder.join(format!("{name}.svg")), svg::drawn(&shown))
}

/// The home of the running demo.
fn stage(env: &TestEnv) -> Result<String> {
    let parent = env.root().join("tmp");
    let entries = fs::read_dir(&parent).map_err(Failure::read(&parent))?.flatten().map(|entry| entry.path());
    let found = entries.map(|path| path.join("home")).find(|path| path.is_dir());
    let missing = || Failure::Missing { what: "the stage".into(), mend: "look at `tow demo`".into() };
    Ok(found.ok_or_else(missing)?.display().to_string())
}

/// Steps through the rest of the tour, so that the day has all of its sessions.
fn go_through(tour: &Pane) {
    for title in ["2  Remember", "3  Inherit", "4  Count"] {
        tour.keys(&["Enter"]);
        tour.wait_screen(title);
        tour.wait_screen("q to stop:");
    }
}

fn view(env: &TestEnv, home: &str, folder: &Path) -> Result<()> {
    let server = Server::start(env.command(env.root().join("bin/tow")).env("HOME", home), &["--write"])?;
    let browser = Browser::start(env);
    browser.resize(1180, 720);
    browser.prefer(Theme::Light);
    browser.goto(server.url());
    for (path, text, name, theme) in [
        ("#/", "ledger", "viewer-board", Theme::Light),
        ("#/memories", "checkout", "viewer-memories", Theme::Light),
        ("#/sessions", "shop", "viewer-session", Theme::Dark),
        ("#/context", "backoff", "viewer-context", Theme::Light),
        ("#/usage", "claude", "viewer-usage", Theme::Dark),
    ] {
        browser.prefer(theme);
        browser.eval(&format!("location.hash = {path:?}; undefined"));
        browser.wait_text(text);
        if path == "#/sessions" {
            for key in ["j", "j", "Enter"] {
                browser.wait_for("rows", "!!document.querySelector('.row')");
                browser.press(key);
            }
            browser.wait_text("Commit it");
        }
        browser.screenshot(&folder.join(format!("{name}.png")));
    }
    Ok(())
}

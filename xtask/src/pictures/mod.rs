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
use svg::Frame;

/// A terminal of this width is readable within a page of text.
const COLUMNS: &str = "112";

/// Draws with the `tow` at this path below the repository.
pub fn run(tow: &Path, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let folder = repository.root().join("docs/pictures");
    film(&TestEnv::new(repository.root().join(tow)), &folder)?;
    let env = TestEnv::new(repository.root().join(tow));
    let tmux = Tmux::start(&env);
    let tour = terminal(&tmux, &["tow", "demo"], &[], [COLUMNS, "20"]);
    tour.wait_screen("Enter: next page");
    tour.wait_screen_for("the bar", |screen| screen.contains("1!"));
    draw(&tour, &folder, "bar")?;
    tour.keys(&["a"]);
    tour.wait_screen("─Agents─");
    draw(&tour, &folder, "menu")?;
    tour.keys(&["q"]);
    tour.wait_screen_for("no menu", |screen| !screen.contains("─Agents─"));
    let home = stage(&env)?;
    let monitor = terminal(&tmux, &["tow", "monitor"], &[("HOME", &home)], [COLUMNS, "12"]);
    monitor.wait_screen("ledger");
    draw(&monitor, &folder, "monitor")?;
    monitor.keys(&["q"]);
    go_through(&tour);
    view(&env, &home, &folder)?;
    tour.keys(&["q"]);
    tour.wait_end();
    writeln!(out, "docs/pictures: a film of the demo, bar, menu, monitor, and five of the viewer")?;
    Ok(Verdict::Holds)
}

/// The keys of the film, what they lead to, and for how many seconds it is shown.
const SCENES: [(&[&str], &str, u32); 9] = [
    (&[], "Enter: next page", 5),
    (&["n"], "May I?", 3),
    (&["a"], "─Agents─", 3),
    (&["q", "0", "Enter"], "$ tow search", 6),
    (&["Enter", "1"], "❯ /clear", 2),
    (&[], "❯ go on", 2),
    (&[], "Going on where we were", 4),
    (&["0"], "3  Inherit", 6),
    (&["Enter"], "$ tow session meter", 6),
];

/// An animated picture of the demo, in a terminal of the usual size.
fn film(env: &TestEnv, folder: &Path) -> Result<()> {
    let tour = terminal(&Tmux::start(env), &["tow", "demo"], &[], ["80", "24"]);
    let mut frames = vec![];
    for (keys, text, seconds) in SCENES {
        keys.iter().for_each(|key| tour.keys(&[key]));
        tour.wait_screen(text);
        tour.wait_screen_for("the bar and the whole page", |screen| {
            screen.contains("q leave") && (!text.starts_with('$') || screen.contains("q: leave"))
        });
        frames.push(Frame { screen: captured(&tour), seconds });
    }
    tour.keys(&["q"]);
    tour.wait_end();
    files::write(&folder.join("demo.svg"), svg::film(&frames))
}

fn terminal(tmux: &Tmux, program: &[&str], variables: &[(&str, &str)], size: [&str; 2]) -> Pane {
    let pane = tmux.open(&["bash", "--norc"], variables);
    let id = pane.format("#{window_id}");
    tmux.run(&["resize-window", "-t", &id, "-x", size[0], "-y", size[1]]);
    pane.say(&format!("exec {}", program.join(" ")));
    pane
}

fn captured(pane: &Pane) -> String {
    pane.tmux().run(&["capture-pane", "-e", "-p", "-t", &pane.format("#{pane_id}")])
}

fn draw(pane: &Pane, folder: &Path, name: &str) -> Result<()> {
    files::write(&folder.join(format!("{name}.svg")), svg::drawn(&captured(pane)))
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
        tour.wait_screen("q: leave");
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

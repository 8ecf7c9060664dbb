//! The tour through the recorded day, page by page, with the commands that a user would type.
//!
//! Shows only real command output. Waits for a key only on a terminal.

use super::Seats;
use super::act::{self, END, GO_ON, WATCHED, WENT_ON};
use super::scene::{ALL, SHOP};
use super::stage::DemoStage;
use crate::output::{Output, Tone};
use crate::scope::Scope;
use std::io::stdin;
use std::time::Duration;
use towline_core::escape::fit_to_width;
use towline_engine::runtime::Failure;

/// Whether the user turns the pages or all are printed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tempo {
    ByKey,
    AtOnce,
}

/// Clears the screen for the next page.
const CLEAN: &str = "\x1b[H\x1b[2J";

/// Timeout for playing a scene, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct TourPage {
    title: &'static str,
    text: &'static str,
    commands: &'static [&'static [&'static str]],
}

const SITTING: TourPage = TourPage {
    title: "1  Track: what every agent is doing",
    text: "Three agents run on this machine. One is done, one is at work, one waits for a permission.\n\
               In tmux the same stands in the bar below; prefix + a opens the menu, `tow next` goes to whoever waits.",
    commands: &[&["status"]],
};

/// Replaces `SITTING` without tmux: no agent runs in a window.
const KNOWN: TourPage = TourPage {
    title: SITTING.title,
    text: "Three agents ran on this machine. With tmux you would see here which of them waits for you.",
    commands: &[&["sessions"], &["turns"]],
};

const LEARNT: TourPage = TourPage {
    title: "2  Remember: what was learnt, without asking a model",
    text: "Every turn was captured and distilled by rules, on this machine, with secrets taken out first.",
    commands: &[&["memories"], &["search", "why did the checkout tests fail", "--limit", "4"]],
};

const CLEAR: TourPage = TourPage {
    title: "3  Inherit: /clear, and the next session goes on mid-thought",
    text: "In the window `shop` somebody has typed /clear, and then only: go on.\n\
           The new session was given what the last one knew, with its first prompt:",
    // The cleared session, by the id that the line above shows.
    commands: &[&["inherit", "log"], &["context", "4982a668"]],
};

const AFTER: [TourPage; 2] = [
    TourPage {
        title: "4  Count: tokens and cost, each message once",
        text: "From what the agents wrote down themselves; prices are dated and yours to change.",
        commands: &[&["usage", "--by", "project"], &["meter"]],
    },
    TourPage {
        title: "5  Look: all of it in a browser",
        text: "The same on a page, for this machine alone. It lives as long as this tour:",
        commands: &[&["open", "--print"]],
    },
];

pub fn walk(scope: &Scope, stage: &DemoStage, tempo: Tempo, seats: Seats) -> Result<(), Failure> {
    scope.out.line("Towline, shown on a recorded day. Nothing of yours is read or written; when you leave, all of it is gone.");
    play(scope, stage, seats)?;
    let first = match seats {
        Seats::Windows => &SITTING,
        Seats::None => &KNOWN,
    };
    if ![first, &LEARNT].into_iter().all(|page| turn(scope, stage, page, tempo)) {
        return Ok(());
    }
    clear(scope, stage, tempo, seats)?;
    let went_on = turn(scope, stage, &CLEAR, tempo);
    if went_on && AFTER.iter().all(|page| turn(scope, stage, page, tempo)) {
        scope.out.line(
            "\nTo have this for your own agents: `tow install`, or `tow install --tmux` for the bar as well.",
        );
        scope.out.line("To see first what it would change: `tow install --dry-run`.");
        wait_for_key(scope, tempo, "to leave");
    }
    stage.give_sign(END);
    Ok(())
}

/// Plays the scenes up to now.
fn play(scope: &Scope, stage: &DemoStage, seats: Seats) -> Result<(), Failure> {
    for scene in ALL {
        match seats {
            Seats::Windows => {
                stage.open_window(scene.name, &["act", scene.name])?;
                if !stage.await_sign(scene.name, PATIENCE) {
                    return Err(Failure::input(format!("the scene `{}` did not end", scene.name)));
                }
            }
            Seats::None => act::past(&unseen(scope), stage, scene)?,
        }
    }
    // Capture and distil now instead of waiting for the background worker.
    stage.told(stage.tow(&["import"]));
    stage.told(stage.tow(&["work"]));
    Ok(())
}

/// A scope whose output is discarded, for scenes without a window.
fn unseen(scope: &Scope) -> Scope {
    Scope { env: scope.env.later(), out: Output::silent() }
}

/// Plays `/clear` and the prompt to go on.
fn clear(scope: &Scope, stage: &DemoStage, tempo: Tempo, seats: Seats) -> Result<(), Failure> {
    if tempo == Tempo::ByKey {
        stage.give_sign(WATCHED);
        scope.out.line("In the window `shop` somebody now types /clear, and then only: go on. A moment …");
    }
    match seats {
        Seats::Windows => {
            stage.give_sign(GO_ON);
            stage.await_sign(WENT_ON, PATIENCE);
        }
        Seats::None => act::rest(&unseen(scope), stage, &SHOP)?,
    }
    Ok(())
}

/// Shows a page and returns whether to go on to the next.
fn turn(scope: &Scope, stage: &DemoStage, page: &TourPage, tempo: Tempo) -> bool {
    let above = match tempo {
        Tempo::ByKey => CLEAN,
        Tempo::AtOnce => "",
    };
    scope.out.line(&format!("{above}\n{}\n{}", scope.out.tint(Tone::Good, page.title), page.text));
    for command in page.commands {
        let spelt: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        scope.out.line(&format!("\n{}", scope.out.tint(Tone::Faint, &format!("$ tow {}", spelt.join(" ")))));
        let mut shown = stage.tow(command);
        shown.current_dir(stage.project(&SHOP)).env("COLUMNS", scope.out.columns().to_string());
        let told = stage.told(shown);
        match tempo {
            Tempo::ByKey => scope.out.text(&on_page(&told, scope.out.columns(), room(scope, page))),
            Tempo::AtOnce => scope.out.text(&told),
        }
    }
    wait_for_key(scope, tempo, "for the next page")
}

/// How many lines each command of a page may print.
fn room(scope: &Scope, page: &TourPage) -> usize {
    let commands = page.commands.len();
    let words = 4 + page.text.lines().count() + 3 * commands;
    (scope.out.rows().saturating_sub(words) / commands.max(1)).max(3)
}

/// Cuts the text to `lines` lines of `columns` columns.
fn on_page(text: &str, columns: usize, lines: usize) -> String {
    let more = text.lines().count().saturating_sub(lines);
    let shown: String = text.lines().take(lines).map(|line| fit_to_width(line, columns) + "\n").collect();
    if more == 0 { shown } else { format!("{shown}… and {more} more lines\n") }
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// Enter goes on; q and end of input stop.
fn wait_for_key(scope: &Scope, tempo: Tempo, what: &str) -> bool {
    if tempo == Tempo::AtOnce {
        return true;
    }
    let asked = scope.out.tint(Tone::Faint, &format!("\nEnter {what}, q to stop: "));
    let mut line = String::new();
    let is_read = scope.out.send(&asked).is_ok() && stdin().read_line(&mut line).is_ok_and(|read| read > 0);
    is_read && !line.trim().eq_ignore_ascii_case("q")
}

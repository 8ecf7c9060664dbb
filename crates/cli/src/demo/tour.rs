//! The tour through the recorded day, page by page, with the commands that a user would type.
//!
//! Shows only real command output. Waits for a key only on a terminal.

use super::Seats;
use super::act::{self, END, GO_ON, WATCHED, WENT_ON};
use super::scene::{ALL, SHOP};
use super::stage::DemoStage;
use crate::output::{Output, Tone};
use crate::scope::Scope;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};
use std::io::{Read, stdin};
use std::time::Duration;
use towline_core::escape::{fit_to_width, width};
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
    text: "Three agents run on this machine: one is done, one works, one waits for a permission. The bar below counts \
           them. Press n to go to the one that waits, 0 to come back, a for a menu of all. In your own tmux the \
           menu is on prefix a, and `tow next` goes to the agent that has waited longest.",
    commands: &[&["status"]],
};

/// Replaces `SITTING` without tmux: no agent runs in a window.
const KNOWN: TourPage = TourPage {
    title: SITTING.title,
    text: "Three agents ran on this machine. With tmux you would see here which of them waits for you.",
    commands: &[&["session", "list"], &["session", "turns"]],
};

const LEARNT: TourPage = TourPage {
    title: "2  Remember: what was learnt, without asking a model",
    text: "Secrets were removed from every turn; then rules turned it into memories, on this machine.",
    commands: &[&["memory", "list"], &["search", "why did the checkout tests fail", "--limit", "3"]],
};

const CLEAR: TourPage = TourPage {
    title: "3  Inherit: after /clear, the next session continues the work",
    text: "In the window `shop` the user typed /clear, and then only: go on. With that first prompt, the new session \
           got the state of the work from Towline:",
    // The cleared session, by the id that the line above shows.
    commands: &[&["session", "inherit", "log"], &["session", "context", "4982a668"]],
};

const AFTER: [TourPage; 2] = [
    TourPage {
        title: "4  Count: tokens and cost, each message once",
        text: "From the agents' own files. Prices are dated, and you can change them.",
        commands: &[&["usage", "--by", "project"], &["session", "meter"]],
    },
    TourPage {
        title: "5  Look: all of it in a browser",
        text: "Open this address. Only your user can reach the server, and it ends with this tour.",
        commands: &[&["open", "--print"]],
    },
];

pub fn walk(scope: &Scope, stage: &DemoStage, tempo: Tempo, seats: Seats) -> Result<(), Failure> {
    say(
        scope,
        "A recorded day of three agents, in about a minute. Towline reads and writes none of your data here, and \
                removes everything when you leave.",
    );
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
        say(
            scope,
            "To have this for your own agents, run `tow setup`: it shows a plan and asks before each step. \
                    `tow setup --dry-run` shows every change as a diff.",
        );
        wait_for_key(scope, tempo, "Enter: leave");
    }
    stage.give_sign(END);
    Ok(())
}

fn say(scope: &Scope, text: &str) {
    scope.out.line(&filled(text, scope.out.columns()));
}

/// Plays the scenes up to now.
fn play(scope: &Scope, stage: &DemoStage, seats: Seats) -> Result<(), Failure> {
    for scene in ALL {
        scope.out.line(&format!("  playing {} …", scene.name));
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
    scope.out.line("  capturing what was said and done …");
    stage.told(stage.tow(&["data", "import"]));
    stage.told(stage.tow(&["data", "work"]));
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
        scope.out.line("In the window `shop` (key 1) the user types /clear, and then only: go on …");
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
        Tempo::AtOnce => "\n",
    };
    let columns = scope.out.columns();
    let text = filled(page.text, columns);
    scope.out.line(&format!("{above}{}\n{text}", scope.out.tint(Tone::Good, page.title)));
    let outputs: Vec<String> = page.commands.iter().map(|command| output(scope, stage, command)).collect();
    let lines: Vec<usize> = outputs.iter().map(|output| output.lines().count()).collect();
    // The title, the question and the line above it, and two lines for each command.
    let words = 4 + text.lines().count() + 2 * page.commands.len();
    let shares = shares(&lines, scope.out.rows().saturating_sub(words));
    for ((command, output), share) in page.commands.iter().zip(&outputs).zip(shares) {
        let spelt: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        scope.out.line(&format!("\n{}", scope.out.tint(Tone::Faint, &format!("$ tow {}", spelt.join(" ")))));
        match tempo {
            Tempo::ByKey => scope.out.text(&on_page(output, columns, share)),
            Tempo::AtOnce => scope.out.text(output),
        }
    }
    wait_for_key(scope, tempo, "Enter: next page, q: leave")
}

fn output(scope: &Scope, stage: &DemoStage, command: &[&str]) -> String {
    let mut shown = stage.tow(command);
    shown.current_dir(stage.project(&SHOP)).env("COLUMNS", scope.out.columns().to_string());
    stage.told(shown)
}

/// How many of its lines each output may show: short ones all, and long ones what those leave.
fn shares(lines: &[usize], room: usize) -> Vec<usize> {
    let mut shares = vec![0; lines.len()];
    let mut by_length: Vec<usize> = (0..lines.len()).collect();
    by_length.sort_by_key(|at| lines[*at]);
    let mut left = room;
    for (done, at) in by_length.iter().enumerate() {
        shares[*at] = lines[*at].min(left / (lines.len() - done)).max(3);
        left = left.saturating_sub(shares[*at]);
    }
    shares
}

/// Cuts the text to `lines` lines of `columns` columns. An address is not cut: it would lead nowhere.
fn on_page(text: &str, columns: usize, lines: usize) -> String {
    let cut = |line: &str| {
        if line.starts_with("http") { line.to_owned() } else { fit_to_width(line, columns) }
    };
    let more = text.lines().count().saturating_sub(lines);
    let kept = if more == 0 { lines } else { lines - 1 };
    let shown: String = text.lines().take(kept).map(|line| cut(line) + "\n").collect();
    if more == 0 { shown } else { format!("{shown}… and {} more lines\n", more + 1) }
}

/// Wraps each line between words. The last column stays free, so that no terminal adds an empty line.
pub fn filled(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = vec![];
    for line in text.lines() {
        let mut filled = String::new();
        for word in line.split_whitespace() {
            if !filled.is_empty() && width(&filled) + 1 + width(word) >= columns {
                lines.push(std::mem::take(&mut filled));
            }
            filled = if filled.is_empty() { word.to_owned() } else { format!("{filled} {word}") };
        }
        lines.push(filled);
    }
    lines.join("\n")
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// Enter and Space go on; q, Ctrl-C, Ctrl-D and the end of input stop. Other keys do nothing.
fn wait_for_key(scope: &Scope, tempo: Tempo, keys: &str) -> bool {
    if tempo == Tempo::AtOnce {
        return true;
    }
    // Keys pressed while nothing asked for them would skip a page.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    let asked = scope.out.tint(Tone::Faint, &format!("\n{keys} "));
    let is_next = scope.out.send(&asked).is_ok() && is_enter_pressed().unwrap_or(false);
    scope.out.line("\r\x1b[K");
    is_next
}

/// Reads keys one by one, without echo. The terminal is restored before this returns.
fn is_enter_pressed() -> std::io::Result<bool> {
    let usual = tcgetattr(stdin())?;
    let mut by_key = usual.clone();
    by_key.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    tcsetattr(stdin(), OptionalActions::Now, &by_key)?;
    let answer = stdin().lock().bytes().find_map(|key| match key {
        Ok(b'\r' | b'\n' | b' ') => Some(true),
        Ok(b'q' | b'Q' | 3 | 4) | Err(_) => Some(false),
        Ok(_) => None,
    });
    tcsetattr(stdin(), OptionalActions::Now, &usual)?;
    Ok(answer.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_lines_are_kept() {
        assert_eq!(filled("\none two three\nfour", 8), "\none two\nthree\nfour");
    }

    #[test]
    fn a_long_output_gets_what_a_short_one_leaves() {
        assert_eq!(shares(&[2, 30], 14), [3, 11]);
        assert_eq!(shares(&[30, 30], 14), [7, 7]);
        assert_eq!(on_page("1\n2\n3\n4\nhttp://long", 4, 3), "1\n2\n… and 3 more lines\n");
        assert_eq!(on_page("http://long\n", 4, 3), "http://long\n");
    }
}

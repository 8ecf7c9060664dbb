//! The screens of the first run as text for docs/tour.md.
//!
//! Pure. Replaces the folders of the run by those of a user, and nothing else.

use towline_testkit::TestEnv;

use crate::outcome::{Failure, Result};

/// What was typed, and the terminal after it.
pub struct Screen {
    pub line: &'static str,
    pub text: String,
}

const BEGIN: &str = "<!-- first run: begin; written by `cargo xtask firstrun` -->\n";
const END: &str = "<!-- first run: end -->\n";

pub fn written(env: &TestEnv, summary: &str, lines: &[&str], screens: &[Screen]) -> String {
    let typed: Vec<String> =
        (1..).zip(lines).map(|(number, line)| format!("{number:>2}  {line}\n")).collect();
    let shown: Vec<String> = screens.iter().map(|screen| shown(env, screen)).collect();
    format!("{summary}:\n\n```text\n{}```\n\n{}", typed.concat(), shown.join("\n"))
}

fn shown(env: &TestEnv, Screen { line, text }: &Screen) -> String {
    let text = as_of_a_user(&env.root().display().to_string(), text);
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let bar = lines.pop().unwrap_or_default();
    // Of a shell's screen, what was typed and what came of it.
    let typed =
        lines.iter().rposition(|shown| shown.strip_prefix("$ ").is_some_and(|rest| rest.starts_with(line)));
    let mut all: Vec<&str> = vec![];
    for line in lines.into_iter().skip(typed.unwrap_or(0)) {
        // Clients leave large gaps.
        if !(line.is_empty() && all.last().is_none_or(|last| last.is_empty())) {
            all.push(line);
        }
    }
    format!("`{line}`:\n\n```text\n{}\n{bar}\n```\n", all.join("\n").trim_end())
}

/// The folders of the run, named as a user's.
fn as_of_a_user(root: &str, text: &str) -> String {
    let places = [
        ("home", "/home/you"),
        ("project", "/home/you/shop"),
        ("bin", "/usr/local/bin"),
        ("stock.sock", "/tmp/tmux-1000/default"),
    ];
    places.iter().fold(text.to_owned(), |text, (name, users)| text.replace(&format!("{root}/{name}"), users))
}

/// The page with this text between the marks.
pub fn placed(page: &str, text: &str) -> Result<String> {
    let unmarked = || Failure::malformed("docs/tour.md", format!("it lacks {BEGIN}or {END}"));
    let (before, rest) = page.split_once(BEGIN).ok_or_else(unmarked)?;
    let (_, after) = rest.split_once(END).ok_or_else(unmarked)?;
    Ok(format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}

//! The text of `tow --help`, and the layout of examples: at most 80 columns, so that no line wraps.
//!
//! Pure: text in, text out. The names come from `commands`.

use crate::commands::{GROUPS, SECTIONS};
use clap::Command;

const WIDTH: usize = 80;

/// Examples with a longer command have their description on the next line.
const WIDEST_COMMAND: usize = 34;

const EXAMPLES: &str = "\
Examples:
  tow                          your agents, and what to do next
  tow goto app                 the agent in the project `app`
  tow search \"flaky checkout\"  everything that was said and done about it
  tow show --help              how to use a command (-V prints the version)";

const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}{after-help}";

/// Adds the overview of commands as the help of `tow`.
pub fn with_overview(tow: Command) -> Command {
    let about = |name: &str| tow.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
    let line = |name: &str, text: &str| format!("  {name:<10} {text}\n");
    let mut text = String::new();
    for (heading, names) in SECTIONS {
        text += &format!("{heading}:\n");
        text.extend(names.iter().map(|name| line(name, &about(name).unwrap_or_default())));
        text += "\n";
    }
    text += "Groups of commands (`tow GROUP --help` lists them):\n";
    text.extend(GROUPS.iter().map(|(name, about)| line(name, about)));
    tow.help_template(TEMPLATE).override_usage("tow [COMMAND]").after_help(format!("{text}\n{EXAMPLES}"))
}

/// Lays out the examples of a command and of its own commands.
pub fn fitted(command: Command) -> Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(fit(&text)),
        None => command,
    };
    command.mut_subcommands(fitted)
}

/// Prose is filled, and `  command   description` aligned, to the width.
fn fit(text: &str) -> String {
    let mut lines: Vec<String> = vec![];
    let mut examples: Vec<Example> = vec![];
    let mut prose = String::new();
    for line in text.lines().chain([""]) {
        let indent = line.len() - line.trim_start().len();
        match examples.last_mut() {
            Some(example) if indent > 8 => example.about(line.trim()),
            _ if indent > 0 => {
                flush_prose(&mut prose, &mut lines);
                examples.push(Example::parse(line.trim()));
            }
            _ => {
                flush_examples(&mut examples, &mut lines);
                prose = format!("{prose} {line}").trim_start().to_owned();
                if line.is_empty() || line.ends_with(':') {
                    flush_prose(&mut prose, &mut lines);
                }
                if line.is_empty() {
                    lines.push(String::new());
                }
            }
        }
    }
    lines.join("\n").trim_end().to_owned()
}

struct Example {
    command: String,
    text: String,
}

impl Example {
    fn parse(line: &str) -> Example {
        let (command, text) = line.split_once("  ").unwrap_or((line, ""));
        Example { command: command.to_owned(), text: text.trim().to_owned() }
    }

    fn about(&mut self, more: &str) {
        self.text = format!("{} {more}", self.text).trim().to_owned();
    }
}

fn flush_prose(prose: &mut String, lines: &mut Vec<String>) {
    if !prose.is_empty() {
        lines.extend(fill(&std::mem::take(prose), WIDTH));
    }
}

fn flush_examples(examples: &mut Vec<Example>, lines: &mut Vec<String>) {
    let widths = examples.iter().map(|example| example.command.chars().count());
    let column = widths.filter(|width| *width <= WIDEST_COMMAND).max().unwrap_or(4);
    for Example { command, text } in examples.drain(..) {
        let mut text = fill(&text, WIDTH - column - 4).into_iter();
        match text.next() {
            Some(first) if command.chars().count() <= column => {
                lines.push(format!("  {command:<column$}  {first}"));
            }
            first => {
                lines.push(format!("  {command}"));
                lines.extend(first.map(|first| format!("  {:column$}  {first}", "")));
            }
        }
        lines.extend(text.map(|line| format!("  {:column$}  {line}", "")));
    }
}

fn fill(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_aligned_and_prose_is_filled() {
        let text = "Examples:\n  tow a   does it\n  tow abc --long   does it too\n                and more\n\n\
            Prose\nin two lines.";
        let expected = "Examples:\n  tow a           does it\n  tow abc --long  does it too and more\n\nProse in two lines.";
        assert_eq!(fit(text), expected);
    }

    #[test]
    fn a_long_command_has_its_description_below() {
        let command = format!("tow {}", "x".repeat(60));
        let lines = fit(&format!("Examples:\n  tow a   one\n  {command}   two"));
        assert_eq!(lines, format!("Examples:\n  tow a  one\n  {command}\n         two"));
    }
}

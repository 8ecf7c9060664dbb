//! The handoff format: the request for one, its parser and its renderer.
//!
//! Parsing is lenient, because a model writes it; validation is strict, because a session is cleared on its strength. A
//! block without the requested id is not a handoff of ours.

/// A hop's id as shown to agents and users.
pub use super::hop::short as id;
use crate::compose::{GO_ON, Handoff, SENT};
use crate::id::Uid;
use crate::text::clip;

/// Larger handoffs are rejected.
pub const LONGEST_BYTES: usize = 12 * 1024;

pub const OPENING: &str = "<handoff";
const CLOSING: &str = "</handoff>";

/// A parsed handoff, and whether the work continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedHandoff {
    pub handoff: Handoff,
    pub goes_on: bool,
}

/// Why a text is not a valid handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoffFlaw {
    #[error("the answer holds no handoff")]
    Missing,
    #[error("the handoff does not carry the id that was asked for")]
    OtherId,
    #[error("the handoff has no end")]
    Unclosed,
    #[error("the handoff is longer than 12 kB")]
    TooLong,
    #[error("the handoff names no task")]
    NoTask,
    #[error("the handoff does not say what remains")]
    NoRemaining,
    #[error("the handoff's `continue` is neither true nor false")]
    Undecided,
}

/// The start of every request to the agent.
pub const REQUEST: &str = "[towline] ";

/// The request to the agent, given as the reason why its turn is blocked from ending.
pub fn request(id: &str, percent: u8) -> String {
    format!(
        "{REQUEST}The context is {percent} % full. The work goes on in a fresh session that knows only what you hand over. \
         Do not start anything new. Answer with a handoff in exactly this form and nothing else:\n\n\
         <handoff id=\"{id}\">\ncontinue: true\n## Task\nwhat was asked for, in full\n## Completed\nwhat is done, with file names\n\
         ## Remaining\nwhat is left, in order, with the very next step first\n## Key Context\ndecisions, commands, paths, pitfalls\n\
         </handoff>\n\nWrite `continue: false` if nothing is left to do or a person must decide first. At most 12 kB."
    )
}

/// The prompt typed into the successor.
pub fn prompt(hop: Uid) -> String {
    let [before, after] = GO_ON;
    format!("{before}{}{after}", id(hop))
}

/// The prompt for a handoff that the user sends by hand.
pub fn sent(text: &str) -> String {
    format!("{SENT}{text}")
}

/// Parses the handoff with this id out of an answer.
pub fn read(answer: &str, id: &str) -> Result<ParsedHandoff, HandoffFlaw> {
    let at = answer.rfind(OPENING).ok_or(HandoffFlaw::Missing)?;
    let (attributes, body) = answer[at + OPENING.len()..].split_once('>').ok_or(HandoffFlaw::Unclosed)?;
    if id_of(attributes) != Some(id) {
        return Err(HandoffFlaw::OtherId);
    }
    let end = body.rfind(CLOSING).ok_or(HandoffFlaw::Unclosed)?;
    validated(&body[..end])
}

/// Parses a handoff file, with or without front matter. Continues only if the file says so explicitly.
pub fn read_file(text: &str) -> Result<ParsedHandoff, HandoffFlaw> {
    let goes_on = decision(text)? == Some(true);
    Ok(ParsedHandoff { goes_on, ..validated(text)? })
}

/// Parses a handoff file whose presence alone says that the work continues, unless it says otherwise.
pub fn read_present(text: &str) -> Result<ParsedHandoff, HandoffFlaw> {
    validated(text)
}

/// The handoff as stored and shown; `parts` is the inverse.
pub fn render(handoff: &Handoff) -> String {
    let fields = [
        ("Task", &handoff.task),
        ("Completed", &handoff.completed),
        ("Remaining", &handoff.remaining),
        ("Key Context", &handoff.key_context),
    ];
    let mut text = String::new();
    for (title, words) in fields.iter().filter(|(_, words)| !words.trim().is_empty()) {
        text.push_str(&format!("## {title}\n{}\n\n", words.trim()));
    }
    text.trim_end().to_owned()
}

/// Splits a text by its headings.
pub fn parts(text: &str) -> Handoff {
    let mut fields: [String; 4] = Default::default();
    let mut current = None;
    for line in text.lines() {
        match (heading(line), current) {
            (Some((field, rest)), _) => {
                current = Some(field);
                append(&mut fields[field], rest);
            }
            (None, Some(field)) => append(&mut fields[field], line),
            (None, None) => {}
        }
    }
    let [task, completed, remaining, key_context] = fields.map(|field| field.trim().to_owned());
    Handoff { task, completed, remaining, key_context }
}

/// Bytes of a task as it is handed on: of the original, and of both together.
const MAX_ORIGINAL_BYTES: usize = 2_000;
const MAX_TASK_BYTES: usize = 3_000;

/// Separates the task as it was first asked for from what it has become since.
const SINCE: &str = "\n\nMost recently: ";

/// A task as it is handed on: the original word for word, then what it has become.
pub fn task(original: &str, now: &str) -> String {
    let (original, now) = (clip(original.trim(), MAX_ORIGINAL_BYTES), now.trim());
    match now.contains(original) {
        true => clip(now, MAX_TASK_BYTES).to_owned(),
        false => clip(&format!("{original}{SINCE}{now}"), MAX_TASK_BYTES).to_owned(),
    }
}

/// The original of a task that was handed on.
pub fn original(task: &str) -> &str {
    task.split_once(SINCE).map_or(task, |(original, _)| original)
}

/// The other part of it: what the task has become.
pub fn latest(task: &str) -> &str {
    task.split_once(SINCE).map_or(task, |(_, latest)| latest)
}

/// The first validation error of a handoff, if any.
pub fn validation_error(handoff: &Handoff) -> Option<HandoffFlaw> {
    let is_blank = |text: &str| !text.chars().any(char::is_alphanumeric);
    match handoff {
        _ if render(handoff).len() > LONGEST_BYTES => Some(HandoffFlaw::TooLong),
        Handoff { task, .. } if is_blank(task) => Some(HandoffFlaw::NoTask),
        Handoff { remaining, .. } if is_blank(remaining) => Some(HandoffFlaw::NoRemaining),
        Handoff { .. } => None,
    }
}

/// The text without handoff blocks, which are shown separately.
pub fn without(text: &str) -> String {
    let mut rest = text;
    let mut left = String::new();
    while let Some((before, from)) = rest.split_once(OPENING) {
        left.push_str(before);
        rest = from.split_once(CLOSING).map_or("", |(_, after)| after);
    }
    left.push_str(rest);
    left.trim().to_owned()
}

fn validated(body: &str) -> Result<ParsedHandoff, HandoffFlaw> {
    if body.len() > LONGEST_BYTES {
        return Err(HandoffFlaw::TooLong);
    }
    let handoff = parts(body);
    let goes_on = decision(body)?.unwrap_or(true);
    match validation_error(&handoff) {
        // Finished work has nothing remaining.
        Some(HandoffFlaw::NoRemaining) if !goes_on => Ok(ParsedHandoff { handoff, goes_on }),
        Some(flaw) => Err(flaw),
        None => Ok(ParsedHandoff { handoff, goes_on }),
    }
}

/// The value of `continue:` in the lines before the first heading.
fn decision(text: &str) -> Result<Option<bool>, HandoffFlaw> {
    let before = text.lines().take_while(|line| heading(line).is_none());
    let pairs = before.filter_map(|line| line.trim().split_once(':'));
    let mut pairs = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case("continue"));
    let Some((_, value)) = pairs.next() else { return Ok(None) };
    match value.trim().to_ascii_lowercase().trim_matches(['"', '\'', '`', '.']) {
        "true" | "yes" => Ok(Some(true)),
        "false" | "no" => Ok(Some(false)),
        _ => Err(HandoffFlaw::Undecided),
    }
}

/// The value of the `id` attribute, however it is quoted.
fn id_of(attributes: &str) -> Option<&str> {
    let (_, value) = attributes.split_once("id")?;
    let value = value.trim_start().strip_prefix('=')?.trim();
    Some(value.trim_matches(['"', '\'', ' ', '/']))
}

const TITLES: [(&str, usize); 4] = [("key context", 3), ("completed", 1), ("remaining", 2), ("task", 0)];

/// The field that a heading opens, and the rest of its line. Accepts any depth, bold, or a trailing colon.
fn heading(line: &str) -> Option<(usize, &str)> {
    let is_marked = line.trim_start().starts_with(['#', '*']);
    let bare = line.trim().trim_start_matches(['#', '*', ' ']);
    TITLES.iter().find_map(|(title, field)| {
        let head = bare.get(..title.len()).filter(|head| head.eq_ignore_ascii_case(title))?;
        let rest = bare[head.len()..].trim_start_matches('*').trim_start();
        let (is_ended, rest) = match rest.strip_prefix(':') {
            Some(rest) => (true, rest.trim_start_matches('*').trim()),
            None => (rest.is_empty() && is_marked, rest),
        };
        is_ended.then_some((*field, rest))
    })
}

fn append(field: &mut String, line: &str) {
    field.push_str(line.trim_end());
    field.push('\n');
}

#[cfg(test)]
mod tests;

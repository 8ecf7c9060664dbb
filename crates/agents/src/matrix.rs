//! The capabilities of each agent as a table for the documentation, from the table of adapters.
//!
//! States only what an adapter declares: nothing is added by hand, except the two lists `PROMPTS` and `STOPS`. A prompt or an
//! end of a turn that is in neither makes a dash of what the agent can do.

use crate::adapter::{Adapter, SubagentFiles};
use crate::agent::Agent;
use crate::described::{Capabilities, Description, SHIPPED};
use std::fmt::Write;
use towline_core::typing::SessionStartReport;

/// A capability, and what an agent's entry says about it; empty if the agent lacks it.
type Row = (&'static str, fn(&Adapter) -> String);

const ROWS: [Row; 15] = [
    ("proven with the real program", |it| it.proven.to_owned()),
    ("start of a session is reported", |it| match it.starts {
        SessionStartReport::AtOnce => "at once".to_owned(),
        SessionStartReport::WithFirstPrompt => "with the first prompt".to_owned(),
    }),
    ("context with a prompt", |it| {
        yes(has_any(it, PROMPTS, |support, event| support.context.contains(event)))
    }),
    ("warnings of gotchas", |it| yes(it.hooks.replies.context.contains(it.hooks.before_tool))),
    ("notices to the user", |it| {
        let shows = has_any(it, PROMPTS, |support, event| support.notices.contains(event));
        let at_end = has_any(it, STOPS, |support, event| support.notices.contains(event));
        let shown = if at_end { "at the end of a turn" } else { "" };
        if shows { "yes" } else { shown }.to_owned()
    }),
    ("a stop can be held back", |it| yes(has_any(it, STOPS, |support, event| support.block.contains(event)))),
    ("capture of turns, tools and usage", |_| "yes".to_owned()),
    ("capture of subagents", |it| match it.transcript.subagents {
        SubagentFiles::Below
        | SubagentFiles::Beside
        | SubagentFiles::InSiblingFolder
        | SubagentFiles::Inside => "yes".to_owned(),
        SubagentFiles::Unread => String::new(),
    }),
    ("continuation in a fresh context", |it| {
        let restarts = has_any(it, STOPS, |support, event| support.restart.contains(event));
        match (restarts, it.hooks.replies.restarts_anew) {
            (true, false) => "in place, without typing".to_owned(),
            (true, true) => "in a new session, without typing".to_owned(),
            (false, _) => format!("by typing `{}`", it.clear),
        }
    }),
    ("MCP server, skills", |_| "yes".to_owned()),
    ("plugin", |it| yes(it.install.enabled_plugin.is_some())),
    ("status line", |it| yes(it.status_line.is_some())),
    ("model for memories (`distil.provider`)", |it| yes(it.ask.is_some())),
    ("repair of a broken session", |it| yes(it.repair.is_some())),
    ("resume", |it| format!("`{} ID`", it.resume)),
];

/// The events in which agents report a prompt and the end of a turn.
const PROMPTS: &[&str] = &["UserPromptSubmit", "BeforeAgent", "userPromptSubmitted"];
const STOPS: &[&str] = &["Stop", "AfterAgent", "agentStop"];

fn has_any(it: &Adapter, events: &[&str], accepts: fn(&crate::wire::ReplySupport, &str) -> bool) -> bool {
    events.iter().any(|event| accepts(&it.hooks.replies, event))
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "" }.to_owned()
}

/// The table in Markdown. A capability that an agent lacks is a dash.
pub fn matrix() -> String {
    let titles = Agent::ALL.map(|agent| agent.adapter().title);
    let mut table = format!("| | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for (name, of) in ROWS {
        let cells = Agent::ALL.map(|agent| of(agent.adapter()));
        let cells = cells.map(|cell| if cell.is_empty() { "–".to_owned() } else { cell });
        let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
    }
    table
}

/// The same for the descriptions that are shipped: what each says.
pub fn described_matrix() -> String {
    let mut table = "| agent | name | compared with | state | capture | tools | resume |\n|---|---|---|---|---|---|---|\n".to_owned();
    let shipped = SHIPPED.into_iter().filter_map(|(name, text)| Description::parse(name, text).ok());
    for it in shipped {
        let Capabilities { screen, title, transcript, tools, resume } = it.capabilities();
        let state = match (screen, title) {
            (true, true) => "screen and title",
            (true, false) => "screen",
            (false, true) => "title",
            (false, false) => "–",
        };
        let [transcript, tools, resume] =
            [transcript, tools, resume].map(|is_so| if is_so { "yes" } else { "–" });
        let (agent, name, proven) = (it.title(), it.name(), it.proven().unwrap_or("–"));
        let _ = writeln!(
            table,
            "| {agent} | `{name}` | {proven} | {state} | {transcript} | {tools} | {resume} |"
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "a variable of the person who runs the test")]
    fn check(begin: &str, end: &str, table: &str) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
        let page = std::fs::read_to_string(path).unwrap();
        let start = page.find(begin).unwrap();
        let end = start + page[start..].find(end).unwrap() + 1;
        if page[start..end] != *table && std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, format!("{}{table}{}", &page[..start], &page[end..])).unwrap();
            return;
        }
        assert_eq!(&page[start..end], table, "UPDATE_DOCS=1 writes the present one");
    }

    #[test]
    fn the_table_in_the_docs_is_the_present_one() {
        check("| | ", "\n\n## How each", &matrix());
    }

    #[test]
    fn the_table_of_descriptions_in_the_docs_is_the_present_one() {
        check("| agent | name |", "\n\n", &described_matrix());
    }
}

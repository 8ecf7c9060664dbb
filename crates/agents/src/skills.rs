//! What people type to pass the baton and to get details back, as skills of the agents.
//!
//! Texts only. Every description is in the model's context all the time, and every body whenever it is used: they are
//! short. What `tow` does by a prompt it does in the hook; no skill does it.

use crate::settings::{Page, Refusal, absolute_command, quote};
use std::path::Path;

/// How an agent tells a skill what was typed behind its name.
pub(crate) struct Dialect {
    pub agent: &'static str,
    /// What stands before the name of a skill.
    pub sign: char,
    /// Where the words behind the name are put in; `None` where they are only in the prompt.
    pub argument: Option<&'static str>,
    /// Lines of the header that keep a skill from the model until a person uses it.
    pub for_people: &'static str,
}

/// Our skills below `folder`, running the program at `tow`.
pub(crate) fn pages(dialect: &Dialect, folder: &Path, tow: &Path) -> Result<Vec<Page>, Refusal> {
    let file = |name: &str| folder.join("skills").join(name).join("SKILL.md");
    let tow = quote(&absolute_command(&file("tow"), tow)?);
    let page = |name: &str, (header, body): (String, String)| {
        Page::new(dialect.agent, file(name), (&format!("name: {name}\n{header}"), &body))
    };
    Ok(vec![page("tow", baton(dialect)), page("tow-detail", detail(dialect, &tow))])
}

fn baton(dialect: &Dialect) -> (String, String) {
    let header = "description: Hand this session's work on to the next session here".to_owned();
    let argument = match dialect.argument {
        Some(argument) => format!("if \"{argument}\" is \"fresh\""),
        None => format!("after `{}tow fresh`", dialect.sign),
    };
    let body = format!(
        "Confirm in one short sentence that the next session here will go on from this one ({argument}: that it will \
         start afresh). Do nothing else."
    );
    (format!("{header}{}", dialect.for_people), body)
}

fn detail(dialect: &Dialect, tow: &str) -> (String, String) {
    let header = "description: Look up what was said and done earlier, by time or id".to_owned();
    let argument = match dialect.argument {
        Some(argument) => format!("`{tow} detail '{argument}'`"),
        None => format!("`{tow} detail 'ARG'` (ARG is what stands behind `{}tow-detail`)", dialect.sign),
    };
    let body = format!(
        "Run {argument} and answer from what it prints.\n\
         It takes a time (`14:05`, `14:05:30`, `yesterday 14:05`), a range (`14:00-14:30`), a date (`2026-01-31`), \
         a turn (`1a2b3c4d#12`), one detail of it (`1a2b3c4d#12.3`) or a session id.\n\
         Not found, or nothing given: `{tow} turns` lists turns, `{tow} sessions` sessions, `{tow} show ID` shows one."
    );
    (header, body)
}

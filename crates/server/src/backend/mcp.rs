//! Answers tool calls of a model.
//!
//! A model's text is data: it never becomes an option, and only memories can be forgotten.

use super::command::run;
use crate::mcp::{Call, SearchCall, TimelineCall, ToolBackend};
use towline_core::escape::fit;
use towline_core::memory::number;
use towline_engine::query::{
    DetailRequest, ProjectScope, Reader, ShowRequest, Thinking, TimelineRequest, detail, show, timeline,
};
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_render::{detail_text, show_text, timeline_text};

/// Answers calls with the functions of the engine.
pub struct McpBackend;

impl ToolBackend for McpBackend {
    fn answer(&self, call: Call) -> Result<String, String> {
        if let Call::Forget { id } = &call
            && number(id).is_none()
        {
            let id = fit(&plain(id), LONGEST_SHOWN);
            return Err(format!("`{id}` is no memory: only memories can be forgotten here, by ids like m12"));
        }
        answer(call).map_err(|failure| failure.render())
    }
}

fn answer(call: Call) -> Result<String, Failure> {
    let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
    let scope = ProjectScope::Here;
    match call {
        Call::Search(search) => run(&search_command(search)),
        Call::Timeline(TimelineCall { around, before, after }) => {
            let request = TimelineRequest { scope, anchor: &around, before, after, reader: Reader::Model };
            Ok(timeline_text(&timeline(&env, &request)?, env.now, COLUMNS))
        }
        Call::Get { ids } => {
            let request =
                ShowRequest { ids: &ids, scope, limit: 40, bytes: Some(BYTES), reader: Reader::Model };
            Ok(show_text(&show(&env, &request)?, env.now))
        }
        Call::Detail { at, number } => {
            let wanted = number.map_or(at.clone(), |number| format!("{at}.{number}"));
            let request = DetailRequest {
                expressions: &[wanted],
                scope,
                thinking: Thinking::Hidden,
                limit: 20,
                bytes: Some(BYTES),
            };
            Ok(detail_text(&detail(&env, &request)?, env.now))
        }
        Call::Remember { text, kind, files, is_pinned } => {
            let mut options = owned(&["--by-agent"]);
            options.extend(kind.map(|kind| format!("--type={kind}")));
            options.extend(files.into_iter().map(|file| format!("--file={file}")));
            options.extend(is_pinned.then(|| "--pin".to_owned()));
            run(&with(owned(&["remember"]), options, vec![text]))
        }
        Call::Forget { id } => run(&with(owned(&["forget", "--yes"]), vec![], vec![id])),
        // A new project has no session to continue from.
        Call::Context => run(&owned(&["context"])).or_else(|_| run(&owned(&["context", "--fresh"]))),
    }
}

/// Line width: wider than any terminal.
const COLUMNS: usize = 240;

/// Longest quote of a model's input in an error, in columns.
const LONGEST_SHOWN: usize = 80;

/// Limit of an answer, in bytes.
const BYTES: usize = 14_000;

fn search_command(search: SearchCall) -> Vec<String> {
    let mut options = vec![format!("--limit={}", search.limit)];
    options.extend(search.kind.map(|kind| format!("--kind={}", kind.name())));
    options.extend(search.of_type.map(|of_type| format!("--type={of_type}")));
    options.extend(search.file.map(|file| format!("--file={file}")));
    options.extend(search.since.map(|since| format!("--since={since}")));
    options.extend(search.until.map(|until| format!("--until={until}")));
    options.extend(search.project.map(|project| match project.as_str() {
        "*" => "--all-projects".to_owned(),
        project => format!("--project={project}"),
    }));
    with(owned(&["search"]), options, vec![search.query])
}

fn with(verb: Vec<String>, options: impl IntoIterator<Item = String>, rest: Vec<String>) -> Vec<String> {
    verb.into_iter().chain(options).chain(["--".to_owned()]).chain(rest).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_wrote_is_never_taken_for_an_option() {
        let search = SearchCall {
            query: "--json --all-projects".into(),
            file: Some("--kind=detail".into()),
            project: Some("*".into()),
            limit: 3,
            ..SearchCall::default()
        };
        let told =
            ["search", "--limit=3", "--file=--kind=detail", "--all-projects", "--", "--json --all-projects"];
        assert_eq!(search_command(search), told);
    }

    #[test]
    fn only_memories_are_forgotten_by_a_model() {
        for id in ["1a2b3c4d", "1a2b3c4d#3", "yesterday", "--match=x", ""] {
            assert!(McpBackend.answer(Call::Forget { id: id.into() }).is_err(), "{id}");
        }
    }
}

//! Answers tool calls of a model.
//!
//! A model's text is data: it never becomes an option, and only memories can be forgotten.

use crate::mcp::{Call, SearchCall, TimelineCall, ToolBackend};
use towline_core::escape::fit_to_width;
use towline_core::memory::number;
use towline_engine::curate::{RememberRequest, remember};
use towline_engine::erase::forget::forget_memory;
use towline_engine::query::{
    ContextRequest, DetailRequest, ProjectScope, Reader, SearchRequest, ShowRequest, Thinking,
    TimelineRequest, context_or_fresh, detail, search, show, timeline,
};
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain_text;
use towline_render::{
    Ranks, Style, detail_text, forget_text, remember_text, search_text, show_text, timeline_text,
};

/// Answers calls with the functions of the engine.
pub struct McpBackend;

impl ToolBackend for McpBackend {
    fn answer(&self, call: Call) -> Result<String, String> {
        if let Call::Forget { id } = &call
            && number(id).is_none()
        {
            let id = fit_to_width(&plain_text(id), LONGEST_SHOWN);
            return Err(format!("`{id}` is no memory: only memories can be forgotten here, by ids like m12"));
        }
        answer(call).map_err(|failure| failure.render())
    }
}

fn answer(call: Call) -> Result<String, Failure> {
    let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
    let scope = ProjectScope::Here;
    match call {
        Call::Search(call) => {
            let results = search(&env, &search_request(call))?;
            Ok(search_text(&results, Ranks::Unexplained, env.now, Style::PLAIN))
        }
        Call::Timeline(TimelineCall { around, before, after }) => {
            let request = TimelineRequest { scope, anchor: &around, before, after, reader: Reader::Model };
            Ok(timeline_text(&timeline(&env, &request)?, env.now, Style::PLAIN.columns))
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
            let (concepts, is_by_agent) = (vec![], true);
            let (title, project) = (None, None);
            let request =
                RememberRequest { text, title, kind, files, concepts, project, is_pinned, is_by_agent };
            Ok(remember_text(&remember(&env, &request)?, Style::PLAIN))
        }
        Call::Forget { id } => Ok(forget_text(&forget_memory(&env, &id)?, env.now, Style::PLAIN)),
        // A new project has no session to continue from.
        Call::Context => Ok(context_or_fresh(&env, &ContextRequest::default())?.composed.text),
    }
}

fn search_request(call: SearchCall) -> SearchRequest {
    let project = match call.project {
        None => ProjectScope::Here,
        Some(all) if all == "*" => ProjectScope::All,
        Some(name) => ProjectScope::Named(name),
    };
    let limit = usize::try_from(call.limit).unwrap_or(usize::MAX);
    SearchRequest {
        kinds: call.kind.map(|kind| kind.name().to_owned()).into_iter().collect(),
        types: call.of_type.into_iter().collect(),
        files: call.file.into_iter().collect(),
        since: call.since,
        until: call.until,
        ..SearchRequest::of(call.query, project, limit)
    }
}

/// Longest quote of a model's input in an error, in columns.
const LONGEST_SHOWN: usize = 80;

/// Limit of an answer, in bytes.
const BYTES: usize = 14_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memories_are_forgotten_by_a_model() {
        for id in ["1a2b3c4d", "1a2b3c4d#3", "yesterday", "--match=x", ""] {
            assert!(McpBackend.answer(Call::Forget { id: id.into() }).is_err(), "{id}");
        }
    }
}

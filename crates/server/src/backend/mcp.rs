//! Answers tool calls of a model.
//!
//! A model's text is data: it never becomes an option. Models read the project they work in, unless the user allows more,
//! and change only what agents made there, reversibly.

use super::reads::DEEP_BYTES;
use crate::mcp::{Call, SearchCall, TimelineCall, ToolAnswer, ToolBackend};
use towline_engine::curate::{Actor, RememberRequest, dismiss, remember};
use towline_engine::query::{
    ContextRequest, DetailRequest, ProjectScope, Reader, SearchRequest, SessionStart, ShowRequest, Thinking,
    TimelineRequest, context, detail, search, show, timeline,
};
use towline_engine::runtime::config::{McpProjects, warning};
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::settings;
use towline_render::{HitNotes, Style, detail_text, remember_text, search_text, show_text, timeline_text};

/// Answers calls with the functions of the engine.
pub struct McpBackend;

impl ToolBackend for McpBackend {
    fn answer(&self, call: Call) -> Result<ToolAnswer, String> {
        answer(call).map_err(|failure| failure.render())
    }
}

fn answer(call: Call) -> Result<ToolAnswer, Failure> {
    let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
    answer_in(&env, call).map(|answer| with_warning(&env, answer))
}

fn answer_in(env: &Env, call: Call) -> Result<ToolAnswer, Failure> {
    let reach = settings(env).mcp.projects;
    let scope = scope(None, reach);
    let text = match call {
        Call::Search(call) => {
            let results = search(env, &search_request(call, reach))?;
            let text = search_text(&results, HitNotes::Tokens, env.now, Style::PLAIN);
            return Ok(ToolAnswer { text, pending: Some(results.pending) });
        }
        Call::Timeline(TimelineCall { around, before, after }) => {
            let request = TimelineRequest { scope, anchor: &around, before, after, reader: Reader::Model };
            timeline_text(&timeline(env, &request)?, env.now, Style::PLAIN.columns)
        }
        Call::Get { ids } => {
            let request =
                ShowRequest { ids: &ids, scope, limit: 40, bytes: Some(BYTES), reader: Reader::Model };
            show_text(&show(env, &request)?, env.now)
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
            detail_text(&detail(env, &request)?, env.now)
        }
        Call::Remember { text, kind, files, is_pinned } => {
            let (title, project, concepts) = (None, None, vec![]);
            let request = RememberRequest { text, title, kind, files, concepts, project, is_pinned };
            remember_text(&remember(env, &Actor::tool(env), &request)?, Style::PLAIN)
        }
        Call::Forget { id } => {
            let id = dismiss(env, &Actor::tool(env), &id)?.name();
            format!(
                "{id} is held back from every model. The user can bring it back by `tow memory release {id}`, or erase it by \
                 `tow data forget {id}`.\n"
            )
        }
        Call::Context => {
            let request = ContextRequest { start: SessionStart::ThisTerminal, ..ContextRequest::default() };
            context(env, &request)?.composed.text
        }
    };
    Ok(text.into())
}

/// One line before each answer while the configuration is broken: the user may see no other surface today.
fn with_warning(env: &Env, answer: ToolAnswer) -> ToolAnswer {
    match warning(env) {
        Some(warning) => {
            let text = format!("Tell the user: {warning}.\n\n{}", answer.text);
            ToolAnswer { text, ..answer }
        }
        None => answer,
    }
}

/// The projects that a call may read. A name of another project is refused later, with the setting that allows it.
fn scope(project: Option<String>, reach: McpProjects) -> ProjectScope {
    match (reach, project) {
        (McpProjects::Own, project) => ProjectScope::Own(project),
        (McpProjects::All, None) => ProjectScope::Here,
        (McpProjects::All, Some(all)) if all == "*" => ProjectScope::All,
        (McpProjects::All, Some(name)) => ProjectScope::Named(name),
    }
}

fn search_request(call: SearchCall, reach: McpProjects) -> SearchRequest {
    let project = scope(call.project, reach);
    let limit = usize::try_from(call.limit).unwrap_or(usize::MAX);
    SearchRequest {
        kinds: call.kind.map(|kind| kind.name().to_owned()).into_iter().collect(),
        types: call.of_type.into_iter().collect(),
        files: call.file.into_iter().collect(),
        since: call.since,
        until: call.until,
        deep: call.is_deep.then_some(DEEP_BYTES),
        ..SearchRequest::of(call.query, project, limit)
    }
}

/// Limit of an answer, in bytes.
const BYTES: usize = 14_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memories_are_forgotten_by_a_model() {
        for id in ["1a2b3c4d", "1a2b3c4d#3", "yesterday", "--match=x", "", "12", "m", "m1 m2"] {
            assert!(McpBackend.answer(Call::Forget { id: id.into() }).is_err(), "{id}");
        }
    }
}

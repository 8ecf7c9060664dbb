//! Full-text search over memories, summaries, messages, tool actions and bookmarks.
//!
//! Answers from what is indexed and starts the background worker if much is not; covers all times unless the request limits
//! them. What could not be used (an embedding model, the hub) is a notice, not an error.

use super::{Chosen, Past, ProjectScope, parse_time, search_failed};
use crate::index::embeddings::Asked;
use crate::index::{Answer, DeepAnswer, Found, Library, Question, TeamRow, ask, deep, embeddings};
use crate::runtime::{Env, Failure, chain, settings, spawn};
use crate::sync::{Former, NoLink, TeamQuestion, ask_team};
use std::time::Duration;
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_hub::Embedding;
use towline_search::{DocumentKind, Filters, QueryContext};

/// Upper bound of `limit`.
const MOST: usize = 500;

#[derive(Default)]
pub struct SearchRequest {
    pub words: String,
    /// memory, summary, body, detail, bookmark; several may be joined by commas. Empty is all.
    pub kinds: Vec<String>,
    pub types: Vec<String>,
    pub concepts: Vec<String>,
    pub files: Vec<String>,
    pub agent: Option<String>,
    pub branch: Option<String>,
    pub session: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    pub with_replaced: bool,
    pub limit: usize,
    pub project: ProjectScope,
    /// Asks the hub, too.
    pub with_team: bool,
    /// Reads all tool inputs and outputs instead of asking the index, at most about this many bytes of them.
    pub deep: Option<u64>,
}

impl SearchRequest {
    /// A search for words in these projects, without any filter.
    pub fn of(words: String, project: ProjectScope, limit: usize) -> SearchRequest {
        SearchRequest { words, project, limit, ..SearchRequest::default() }
    }
}

#[derive(Default)]
pub struct SearchResults {
    /// The words that were searched for.
    pub words: String,
    /// Best first: one per turn, memories before the turn they are from.
    pub hits: Vec<Found>,
    /// Turns that wait to be indexed and were not searched.
    pub pending: u64,
    /// A deep search read no tool output before this time.
    pub reached: Option<Timestamp>,
    /// Whether it was a deep search.
    pub is_deep: bool,
    /// Notices for the user about parts of the search that were unavailable, one line each.
    pub notices: Vec<String>,
}

pub fn search(env: &Env, request: &SearchRequest) -> Result<SearchResults, Failure> {
    let mut filters = filters(request, env.now)?;
    let past = Past::open(env, &request.project)?;
    let Some(past) = past.filter(|past| request.with_team || !past.project.is_empty()) else {
        return Ok(SearchResults { is_deep: request.deep.is_some(), ..SearchResults::default() });
    };
    filters.project = match &past.project {
        Chosen::Known { name, .. } | Chosen::Strange { name } => Some(name.clone()),
        Chosen::All => None,
    };
    let question = Question {
        text: request.words.clone(),
        here: QueryContext { project: filters.project.clone(), ..QueryContext::default() },
        filters,
        limit: request.limit.clamp(1, MOST),
        with_replaced: request.with_replaced,
    };
    if let Some(most_bytes) = request.deep {
        return search_deep(&past, question, most_bytes);
    }
    let (embedding, mut notices) = embedded(env, &question.text);
    let mut team = vec![];
    if request.with_team {
        match ask_hub(env, &past, &question, embedding.as_ref())? {
            Ok(rows) => team = rows,
            Err(notice) => notices.push(notice),
        }
    }
    let answer = rank(env, &past, &question, embedding.as_ref(), &team)?;
    let hits = admitted(&past, answer.hits)?;
    if answer.pending > 0 {
        spawn::start_unless_running(env);
    }
    let (words, pending) = (question.text, answer.pending);
    Ok(SearchResults { words, hits, pending, notices, ..SearchResults::default() })
}

/// The hits that the reader may see.
fn admitted(past: &Past, found: Vec<Found>) -> Result<Vec<Found>, Failure> {
    let mut hits = vec![];
    for hit in found {
        if past.admits_hit(&hit)? {
            hits.push(hit);
        }
    }
    Ok(hits)
}

fn search_deep(past: &Past, question: Question, most_bytes: u64) -> Result<SearchResults, Failure> {
    let Filters { kinds, types, concepts, .. } = &question.filters;
    let is_of_details = kinds.is_empty() || kinds.contains(&DocumentKind::Detail);
    if !(is_of_details && types.is_empty() && concepts.is_empty()) {
        return Err(Failure::input("a deep search reads tool calls and their output alone")
            .hint("Leave out the kind, type and concept, or search without `deep`."));
    }
    let found = deep(&past.archive, past.project.row(), &question, most_bytes).map_err(search_failed)?;
    let DeepAnswer { hits, reached } = found;
    let hits = admitted(past, hits)?;
    Ok(SearchResults { words: question.text, hits, reached, is_deep: true, ..SearchResults::default() })
}

/// The team's results that are not here, or a notice if the hub does not answer in time.
fn ask_hub(
    env: &Env,
    past: &Past,
    question: &Question,
    embedding: Option<&Asked>,
) -> Result<Result<Vec<TeamRow>, String>, Failure> {
    let hub = settings(env).hub;
    if !hub.is_joined() {
        return Err(NoLink::NotJoined.into());
    }
    let asked = TeamQuestion {
        text: question.text.clone(),
        project: question.filters.project.clone(),
        meaning: embedding.map(|asked| Embedding { model: asked.model, vector: asked.meaning.clone() }),
        former: if question.with_replaced { Former::Included } else { Former::LeftOut },
        patience: Duration::from_millis(hub.search_ms),
    };
    Ok(ask_team(env, &past.archive, &asked)
        .map_err(|error| format!("searched here alone: {}", escape_for_terminal(&chain(&error)))))
}

/// The embedding of the query. Without the optional model the built-in table serves, and a notice says so.
fn embedded(env: &Env, text: &str) -> (Option<Asked>, Vec<String>) {
    let (asked, trouble) = embeddings::asked(&env.home, &settings(env).search, text);
    let notice =
        |why: String| format!("searched without the model of search.tier: {}", escape_for_terminal(&why));
    (asked, trouble.map(notice).into_iter().collect())
}

fn rank(
    env: &Env,
    past: &Past,
    question: &Question,
    sentences: Option<&Asked>,
    team: &[TeamRow],
) -> Result<Answer, Failure> {
    let library = Library { home: &env.home, archive: &past.archive, now: env.now, sentences, team };
    ask(&library, question).map_err(search_failed)
}

fn filters(request: &SearchRequest, now: Timestamp) -> Result<Filters, Failure> {
    let at =
        |text: &Option<String>| text.as_deref().map(|text| parse_time(text, now).map(|at| at.0)).transpose();
    let mut kinds = vec![];
    for word in request.kinds.iter().flat_map(|words| words.split(',')) {
        kinds.extend(match word {
            // "body" covers prompts as well as answers.
            "body" => vec![DocumentKind::Body, DocumentKind::Prompt, DocumentKind::Line],
            word => vec![DocumentKind::parse(word).ok_or_else(|| no_kind(word))?],
        });
    }
    if kinds.is_empty() && !(request.types.is_empty() && request.concepts.is_empty()) {
        kinds = vec![DocumentKind::Memory];
    }
    Ok(Filters {
        kinds,
        types: request.types.iter().map(|word| word.to_lowercase()).collect(),
        concepts: request.concepts.clone(),
        files: request.files.clone(),
        project: None,
        agent: request.agent.clone(),
        branch: request.branch.clone(),
        session: request.session.clone(),
        from: at(&request.since)?,
        until: at(&request.until)?,
    })
}

fn no_kind(word: &str) -> Failure {
    Failure::input(format!("there is no kind `{}`", escape_for_terminal(word)))
        .hint("Give memory, summary, body, detail or bookmark.")
}

//! Hosts without hooks: their events take the path of every hook.
//!
//! Names and shapes are those that another product documents; the engine keeps the sessions. No answer to an event holds
//! anything that is stored but the number of the session's prompts: the events token only writes. Queries need the viewer's token.

use super::refusal::{bad_request, env};
use super::{reads, views};
use crate::http::{Answer, Given, Refusal, SESSION_FIELDS, Status};
use serde_json::{Value, json};
use std::io;
use towline_engine::ingest::host::{HostEvent, HostSession, agent_names, redacted, redacted_prompt, report};
use towline_engine::query::{self, ContextRequest, SearchRequest};
use towline_engine::runtime::env::Env;
use towline_render::{HitNotes, Style, search_text};

/// Takes what `tow hook` takes. The hook's reply is not returned: it holds memories.
pub fn event(given: &Given) -> Result<Answer, Refusal> {
    let (agent, payload) =
        (given.text("agent").unwrap_or_default(), given.text("payload").unwrap_or_default());
    let Some(reported) = report(agent, payload) else {
        return Err(Refusal::new(Status::BadRequest, "there is no such agent")
            .next(format!("Known are: {}.", agent_names().join(", "))));
    };
    reported.map_err(not_recorded)?;
    Ok(Answer::Json("{}".to_owned()))
}

/// The context for a new session: memories, and the work of a session whose baton waits. Empty if nothing is known.
pub fn context(given: &Given) -> Result<Answer, Refusal> {
    let project = given.owned("project").or(given.owned("projects"));
    let request = ContextRequest { project, agent: given.owned("agent"), ..ContextRequest::default() };
    let preview = query::context(&env()?, &request);
    Ok(Answer::Text(preview.map(|preview| preview.composed.text).unwrap_or_default()))
}

/// A prompt was submitted, or a session begins.
pub fn begin(given: &Given) -> Result<Answer, Refusal> {
    let env = env()?;
    let host = session(&env, given)?;
    let prompt = redacted_prompt(given.text("userPrompt").or(given.text("prompt")).unwrap_or_default());
    let event =
        if prompt.trim().is_empty() { HostEvent::Begun } else { HostEvent::Asked { prompt: &prompt } };
    // A host that counts itself is believed.
    let number = given.number("promptNumber").unwrap_or_else(|| i64::from(host.prompts()) + 1);
    host.record(event).map_err(not_recorded)?;
    let answer = json!({
        "sessionDbId": session_name(given), "promptNumber": number,
        "skipped": false, "contextInjected": false, "context": null, "status": "initialized",
    });
    Ok(Answer::Json(answer.to_string()))
}

pub fn tool(given: &Given) -> Result<Answer, Refusal> {
    let env = env()?;
    let host = session(&env, given)?;
    let input = cleaned(given.value("tool_input").cloned().unwrap_or_else(|| json!({})));
    let input = if input.is_object() { input } else { json!({"input": input}) };
    let output = redacted(&words(given.value("tool_response")));
    let tool = redacted(given.text("tool_name").unwrap_or_default());
    host.record(HostEvent::Used { tool: &tool, input: &input, output: &output }).map_err(not_recorded)?;
    Ok(queued())
}

pub fn summarise(given: &Given) -> Result<Answer, Refusal> {
    let env = env()?;
    let host = session(&env, given)?;
    let answer = redacted(&words(given.value("last_assistant_message")));
    host.record(HostEvent::Answered { words: &answer }).map_err(not_recorded)?;
    Ok(queued())
}

/// Ends the session; its transcript file is deleted once it is captured.
pub fn end(given: &Given) -> Result<Answer, Refusal> {
    let env = env()?;
    let host = session(&env, given)?;
    let reason = match given.text("reason") {
        Some(known @ ("exit" | "clear" | "logout" | "prompt_input_exit")) => known,
        Some(_) | None => "other",
    };
    host.record(HostEvent::Ended { reason }).map_err(not_recorded)?;
    host.capture();
    Ok(Answer::Json(json!({"status": "completed", "success": true}).to_string()))
}

pub fn processing(given: &Given) -> Answer {
    Answer::Json(json!({"status": "ok", "isProcessing": given.flag("isProcessing")}).to_string())
}

/// Memories with the field names of the documented route.
pub fn batch(given: &Given) -> Result<Answer, Refusal> {
    let ids = given.value("ids").and_then(Value::as_array).cloned().unwrap_or_default();
    let ids: Vec<String> = ids.iter().map(|id| words(Some(id))).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).take(200).collect();
    let rows: Vec<Value> = views::memory_rows(&ids)?.iter().map(observation).collect();
    Ok(Answer::Json(json!(rows).to_string()))
}

fn observation(memory: &Value) -> Value {
    let files = |how: &str| -> Vec<&Value> {
        let all = memory["files"].as_array().into_iter().flatten();
        all.filter(|file| file["how"] == how).map(|file| &file["path"]).collect()
    };
    json!({
        "id": memory["id"], "type": memory["type"], "title": memory["title"], "subtitle": memory["subtitle"],
        "facts": memory["facts"], "narrative": memory["narrative"], "concepts": memory["concepts"],
        "project": memory["project"], "files_read": files("read"), "files_modified": files("changed"),
        "created_at": memory["made_at"],
    })
}

pub fn search(given: &Given) -> Result<Answer, Refusal> {
    let kind = match given.text("type") {
        Some("observations") => Some("memory"),
        Some("sessions") => Some("summary"),
        Some("prompts") => Some("body"),
        Some(_) | None => None,
    };
    let all = |name: &str| given.owned(name).into_iter().collect();
    let limit = given.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(40);
    let words = given.owned("query").unwrap_or_default();
    let request = SearchRequest {
        kinds: kind.map(str::to_owned).into_iter().collect(),
        types: all("obs_type"),
        concepts: all("concepts"),
        files: all("files"),
        since: given.owned("dateStart"),
        until: given.owned("dateEnd"),
        ..SearchRequest::of(words, reads::project(given), limit)
    };
    let env = env()?;
    let results = query::search(&env, &request).map_err(bad_request)?;
    let found = search_text(&results, HitNotes::Tokens, env.now, Style::PLAIN);
    Ok(content(&found))
}

pub fn timeline(given: &Given) -> Result<Answer, Refusal> {
    let anchor = given.text("anchor").map(|anchor| {
        // On this route a bare number is a memory's id.
        if anchor.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("m{anchor}")
        } else {
            anchor.to_owned()
        }
    });
    let anchor = anchor.as_deref().or(given.text("query"));
    let mut found = reads::around(anchor, given, "depth_before", "depth_after")?;
    if let (Some(kind), Some(entries)) = (given.text("type"), found["entries"].as_array_mut()) {
        entries.retain(|entry| entry["kind"] == kind || entry["type"] == kind);
    }
    let line = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}: {}", text("at"), text("id"), text("kind"), text("title"))
    };
    let lines: Vec<String> = found["entries"].as_array().into_iter().flatten().map(line).collect();
    Ok(content(&lines.join("\n")))
}

fn content(text: &str) -> Answer {
    Answer::Json(json!({"content": [{"type": "text", "text": text}]}).to_string())
}

fn queued() -> Answer {
    Answer::Accepted(json!({"status": "queued"}).to_string())
}

fn session<'a>(env: &'a Env, given: &'a Given) -> Result<HostSession<'a>, Refusal> {
    HostSession::new(env, session_name(given), given.text("cwd")).map_err(|error| {
        Refusal::new(Status::Unprocessable, "the session's name is unusable").because(error.to_string())
    })
}

/// The host's own name of the session.
fn session_name(given: &Given) -> &str {
    ["id"].into_iter().chain(SESSION_FIELDS).find_map(|name| given.text(name)).unwrap_or_default()
}

fn not_recorded(error: io::Error) -> Refusal {
    Refusal::new(Status::Unavailable, "the event could not be taken in")
        .because(error.to_string())
        .next("Run `tow doctor`.")
}

/// Redacts every string in the value.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(&text)),
        Value::Array(list) => list.into_iter().map(cleaned).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, cleaned(value))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Strings unchanged, other values as JSON.
fn words(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_however_deep_they_stand() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let value = cleaned(json!({"command": [{"env": format!("TOKEN={secret}")}], "count": 3}));
        assert!(!value.to_string().contains(&secret), "{value}");
        assert_eq!(value["count"], 3);
    }
}

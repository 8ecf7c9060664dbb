//! Hosts without hooks: their events take the path of every hook, and their queries are answered by verbs.
//!
//! Stores only a transcript file per host session: redacted before writing, in the format that capture reads,
//! and deleted only after the archive has captured it.

use super::command::VerbCommand;
use super::{reads, views};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
use towline_agents::host::{HostContext, HostEvent, lines, payload};
use towline_core::id::SessionId;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_engine::capture;
use towline_engine::capture::{Transcript, Wishes};
use towline_engine::runtime::env::Env;
use towline_engine::runtime::spawn;
use towline_server::http::{Answer, Given, Refusal, SESSION_FIELDS, Status};
use towline_store::home::private_folder;

/// Longest text of a host, in bytes.
const LONGEST: usize = 1 << 20;

/// Answers as `tow hook` does to the same payload.
pub fn event(given: &Given) -> Result<Answer, Refusal> {
    let name = given.text("agent").unwrap_or_default();
    let Some(agent) = Agent::from_name(name) else {
        let known: Vec<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        return Err(Refusal::new(Status::BadRequest, "there is no such agent")
            .next(format!("Known are: {}.", known.join(", "))));
    };
    let said = spawn::hook(agent.name(), given.text("payload").unwrap_or_default()).map_err(unheard)?;
    Ok(Answer::Json(if said.is_empty() { "{}".to_owned() } else { said }))
}

/// The context for a new session; empty if nothing is known.
pub fn context(given: &Given) -> Result<Answer, Refusal> {
    let project = given.text("project").or(given.text("projects"));
    let command = |fresh: &[&str]| {
        VerbCommand::in_words(&[&["context"], fresh].concat())
            .with("--project", project)
            .with("--agent", given.text("agent"))
    };
    Ok(Answer::Text(command(&[]).text().or_else(|_| command(&["--fresh"]).text()).unwrap_or_default()))
}

/// A prompt was submitted, or a session begins.
pub fn begin(given: &Given) -> Result<Answer, Refusal> {
    let host = Host::of(given)?;
    let prompt = redacted(given.text("userPrompt").or(given.text("prompt")).unwrap_or_default());
    let told = if prompt.trim().is_empty() { HostEvent::Begun } else { HostEvent::Asked { prompt: &prompt } };
    let said = host.tell(told)?;
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    let context = said["hookSpecificOutput"]["additionalContext"].as_str();
    let answer = json!({
        "sessionDbId": host.session.as_str(), "promptNumber": given.number("promptNumber").unwrap_or(1),
        "skipped": false, "contextInjected": context.is_some(), "context": context, "status": "initialized",
    });
    Ok(Answer::Json(answer.to_string()))
}

pub fn tool(given: &Given) -> Result<Answer, Refusal> {
    let host = Host::of(given)?;
    let input = cleaned(given.value("tool_input").cloned().unwrap_or_else(|| json!({})));
    let input = if input.is_object() { input } else { json!({"input": input}) };
    let output = redacted(&words(given.value("tool_response")));
    let tool = redacted(given.text("tool_name").unwrap_or_default());
    host.tell(HostEvent::Used { tool: &tool, input: &input, output: &output })?;
    Ok(queued())
}

pub fn summarise(given: &Given) -> Result<Answer, Refusal> {
    let host = Host::of(given)?;
    host.tell(HostEvent::Answered { words: &redacted(&words(given.value("last_assistant_message"))) })?;
    Ok(queued())
}

/// Ends the session; its transcript file is deleted once it is captured.
pub fn end(given: &Given) -> Result<Answer, Refusal> {
    let host = Host::of(given)?;
    let reason = match given.text("reason") {
        Some(known @ ("exit" | "clear" | "logout" | "prompt_input_exit")) => known,
        Some(_) | None => "other",
    };
    host.tell(HostEvent::Ended { reason })?;
    host.take_in();
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
    let Answer::Json(found) = views::memories(&ids)? else { return Ok(queued()) };
    let found: Value = serde_json::from_str(&found).unwrap_or_default();
    let rows: Vec<Value> = found["items"].as_array().into_iter().flatten().map(observation).collect();
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
    let found = VerbCommand::in_words(&["search"])
        .of_project(given.text("project"))
        .with("--kind", kind)
        .with("--type", given.text("obs_type"))
        .with("--concept", given.text("concepts"))
        .with("--file", given.text("files"))
        .with("--since", given.text("dateStart"))
        .with("--until", given.text("dateEnd"))
        .with("--limit", given.number("limit").or(Some(40)))
        .about(&[given.text("query").unwrap_or_default()])
        .text()?;
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
    let mut found = reads::around(anchor, given, "depth_before", "depth_after").value_of_one()?;
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

/// A session of a host, and its transcript file.
struct Host {
    env: Env,
    session: SessionId,
    folder: String,
    file: PathBuf,
}

impl Host {
    fn of(given: &Given) -> Result<Host, Refusal> {
        let env = Env::new()
            .ok_or_else(|| Refusal::new(Status::Unavailable, "there is no home folder any more"))?;
        let raw =
            ["id"].into_iter().chain(SESSION_FIELDS).find_map(|name| given.text(name)).unwrap_or_default();
        let unusable =
            |why: String| Refusal::new(Status::Unprocessable, "the session's name is unusable").because(why);
        let session = SessionId::parse(raw).map_err(|error| unusable(error.to_string()))?;
        let folder = given.text("cwd").filter(|folder| folder.starts_with('/')).unwrap_or("/").to_owned();
        let hosts = env.home.serving().join("hosts");
        let file = hosts.join(format!("{}.jsonl", session.as_str()));
        Ok(Host { env, session, folder, file })
    }

    /// Appends to the transcript first: the hook's consumers may read it at once.
    fn tell(&self, told: HostEvent<'_>) -> Result<String, Refusal> {
        let transcript = self.file.to_string_lossy();
        let (at, uid) = (self.env.now, self.env.uid());
        let scene =
            HostContext { session: &self.session, folder: &self.folder, transcript: &transcript, at, uid };
        append(&self.file, &lines(scene, told)).map_err(unheard)?;
        spawn::hook(Agent::OF_HOSTS.name(), &payload(scene, told)).map_err(unheard)
    }

    /// Captures and deletes finished transcripts. A file that could not be captured stays until the next
    /// session ends, which also captures files of sessions that never ended.
    fn take_in(&self) {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| *file == self.file || is_left_alone(file)) {
            if is_captured(&self.env, &file) {
                // If removing fails, the next run captures it again, without effect, and removes it.
                let _ = fs::remove_file(&file);
            }
        }
        let _not_empty = fs::remove_dir(folder);
        spawn::start_detached();
    }
}

/// A host that is silent for this long is gone, or starts a new file.
const LEFT_ALONE: Duration = Duration::from_secs(24 * 3600);

fn is_left_alone(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|meta| meta.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > LEFT_ALONE))
}

/// Captures the whole file; false if the archive was unavailable.
fn is_captured(env: &Env, file: &Path) -> bool {
    let Ok(wishes) = Wishes::load(env) else { return false };
    let transcript = Transcript { agent: Agent::OF_HOSTS, path: file.to_owned() };
    capture::capture(env, &wishes, &[transcript]).is_ok_and(|taken| taken.is_some())
}

fn append(file: &Path, lines: &str) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    private_folder(file.parent().unwrap_or(Path::new("/")))?;
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    file.write_all(lines.as_bytes())
}

fn unheard(error: io::Error) -> Refusal {
    Refusal::new(Status::Unavailable, "the event could not be taken in")
        .because(error.to_string())
        .next("Run `tow doctor`.")
}

/// Removes secrets before anything is written to disk.
fn redacted(text: &str) -> String {
    CleanText::new(text.into(), TextPolicy { longest_bytes: LONGEST, secrets: SecretPolicy::Redacted })
        .as_str()
        .to_owned()
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

//! Asks Codex one question: `codex exec` without the user's settings, hooks, tools, MCP servers, skills or a session.
//!
//! Passes on no user settings but those that select the provider and the login.

use crate::ask::{
    AgentCommand, AskError, CommandOutput, ExitKind, ModelAnswer, ModelQuestion, classify_error, complaint,
    prose,
};
use serde_json::Value;
use std::path::Path;
use towline_core::phrases::Phrases;

const OPTIONS: &str = "exec --json --ephemeral --skip-git-repo-check --ignore-user-config --ignore-rules \
    -s read-only --output-schema";

/// Features beside answering; each costs tokens or leaves traces.
const FEATURES_OFF: Phrases = Phrases(
    "apps|code_mode_host|daemon_auto_start|goals|hooks|image_generation|multi_agent|plugins|shell_snapshot|\
    shell_tool|skill_mcp_dependency_install|tool_suggest|unbounded_connection_retries|unified_exec|\
    view_image|workspace_dependencies",
);

const SETTINGS: Phrases = Phrases(
    "project_doc_max_bytes=0|include_environment_context=false|include_permissions_instructions=false|\
    include_apps_instructions=false|include_collaboration_mode_instructions=false|\
    skills.include_instructions=false|web_search=\"disabled\"|model_reasoning_effort=\"low\"",
);

/// User settings that select the provider.
const PASSED_ON: Phrases = Phrases(
    "model|model_provider|model_providers|openai_base_url|chatgpt_base_url|cli_auth_credentials_store|\
    forced_login_method",
);

/// Variables that a parent agent sets for its children.
const WITHOUT: [&str; 2] = ["CODEX_THREAD_ID", "CODEX_SANDBOX"];

pub(crate) fn ask(question: &ModelQuestion<'_>) -> AgentCommand {
    let (system, schema) = (question.folder.join("system.md"), question.folder.join("schema.json"));
    let mut arguments: Vec<String> = OPTIONS.split(' ').map(str::to_owned).collect();
    arguments.push(schema.display().to_string());
    let off = FEATURES_OFF.iter().map(|feature| format!("features.{feature}=false"));
    let instructions =
        format!("model_instructions_file={}", toml_edit::Value::from(system.display().to_string()));
    let users = question.settings.map(passed_on).unwrap_or_default();
    let model = question.model.map(|model| format!("model={}", toml_edit::Value::from(model)));
    let settings = off.chain(SETTINGS.iter().map(str::to_owned)).chain([instructions]).chain(users);
    arguments.extend(settings.chain(model).flat_map(|setting| ["-c".to_owned(), setting]));
    arguments.push("-".to_owned());
    AgentCommand {
        arguments,
        stdin: question.text.to_owned(),
        variables: vec![],
        without: WITHOUT.into(),
        files: vec![(system, question.system.to_owned()), (schema, question.schema.to_owned())],
    }
}

/// In the command line's form: a key and a value on one line.
fn passed_on(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("config.toml")).unwrap_or_default();
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return vec![] };
    let given = |key: &str| {
        let value = document.get(key)?.clone().into_value().ok()?;
        Some(format!("{key}={}", value.decorated("", "").to_string().replace('\n', " ")))
    };
    PASSED_ON.iter().filter_map(given).collect()
}

pub(crate) fn answered(printed: CommandOutput<'_>) -> ModelAnswer {
    let mut events = EventSummary::default();
    for line in printed.stdout.lines() {
        if let Ok(event) = serde_json::from_str::<Value>(line) {
            events.add(&event);
        }
    }
    let (input, output) = (events.input, events.output);
    ModelAnswer { said: events.into_answer(printed), input, output }
}

/// The relevant contents of the printed events.
#[derive(Default)]
struct EventSummary {
    message: Option<String>,
    error: Option<String>,
    is_complete: bool,
    input: u64,
    output: u64,
}

impl EventSummary {
    fn add(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match event["type"].as_str() {
            Some("item.completed") if event["item"]["type"] == "agent_message" => {
                self.message = text(&event["item"]["text"]);
            }
            Some("error") => self.error = text(&event["message"]),
            Some("turn.failed") => self.error = text(&event["error"]["message"]).or(self.error.take()),
            Some("turn.completed") => {
                self.is_complete = true;
                self.input = event["usage"]["input_tokens"].as_u64().unwrap_or(0);
                self.output = event["usage"]["output_tokens"].as_u64().unwrap_or(0);
            }
            _ => {}
        }
    }

    fn into_answer(self, printed: CommandOutput<'_>) -> Result<String, AskError> {
        match (self.message, self.error, printed.ended) {
            (Some(message), _, _) if self.is_complete && is_object(&message) => Ok(message),
            (Some(message), _, _) if self.is_complete => Err(prose(&message)),
            (_, Some(error), _) => Err(classify_error(status_in(&error), &error)),
            (_, None, ExitKind::Late) => Err(AskError::TimedOut),
            (_, None, ExitKind::Well | ExitKind::Badly) => Err(missing_result(printed.stderr)),
        }
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text.trim()).is_ok_and(|value| value.is_object())
}

/// `unexpected status 401 Unauthorized: …`
fn status_in(error: &str) -> Option<u16> {
    error.split("status ").nth(1)?.split(' ').next()?.parse().ok()
}

fn missing_result(stderr: &str) -> AskError {
    let words: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("WARNING")).collect();
    complaint(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(events: &[&str], ended: ExitKind, expected: Result<&str, &str>) {
        let answer = answered(CommandOutput { stdout: &events.join("\n"), stderr: "", ended });
        let found = answer.said.as_ref().map(String::as_str).map_err(AskError::cause);
        assert_eq!(found, expected, "{events:?}");
    }

    const BEGUN: &str = r#"{"type":"turn.started"}"#;
    const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":2}}"#;

    #[test]
    fn only_json_at_a_turns_end_is_an_answer() {
        let said = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":{text}}}}}"#)
        };
        let (json, words) = (said(r#"{"memories":[]}"#), said("Nothing to remember."));
        check(&[BEGUN, &json, DONE], ExitKind::Well, Ok(r#"{"memories":[]}"#));
        check(&[BEGUN, &words, DONE], ExitKind::Well, Err("prose"));
        check(&[BEGUN, &json], ExitKind::Late, Err("timeout"));
        check(&[BEGUN], ExitKind::Badly, Err("unavailable"));
    }

    #[test]
    fn failures_are_classified_by_their_events() {
        let failed = |message: &str| format!(r#"{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#);
        check(
            &[&failed("unexpected status 401 Unauthorized: bad key, url: x")],
            ExitKind::Badly,
            Err("login"),
        );
        check(&[&failed("You’ve hit your usage limit. Try again later.")], ExitKind::Badly, Err("quota"));
        check(&[&failed("We’re currently experiencing high demand")], ExitKind::Badly, Err("unavailable"));
        let waiting =
            r#"{"type":"error","message":"Reconnecting... waiting for network (Connection failed: x)"}"#;
        check(&[BEGUN, waiting], ExitKind::Late, Err("unavailable"));
    }

    #[test]
    fn only_provider_and_login_settings_are_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let config = "model = \"m\"\nnotify = [\"x\"]\nmodel_provider = \"p\"\n[model_providers.p]\nbase_url = \"http://x\"\n[mcp_servers.s]\ncommand = \"y\"\n";
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        assert_eq!(
            passed_on(folder.path()),
            ["model=\"m\"", "model_provider=\"p\"", "model_providers={ p = { base_url = \"http://x\" } }"]
        );
        assert_eq!(passed_on(Path::new("/nowhere")), Vec::<String>::new());
    }
}

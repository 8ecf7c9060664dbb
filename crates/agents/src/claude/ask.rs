//! Asks Claude Code one question: `claude -p` without tools, hooks, settings, memory files, MCP servers or a session.
//!
//! Never more than one request: the client would retry repeatedly when the model answers in prose.

use crate::ask::{
    AgentCommand, AskError, CommandOutput, ExitKind, ModelAnswer, ModelQuestion, classify_error, complaint,
    prose, short,
};
use serde_json::Value;
use towline_core::phrases::Phrases;

/// Variables that a parent agent sets for its children.
const WITHOUT: Phrases = Phrases(
    "CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|CLAUDE_CODE_SESSION_ID|CLAUDE_CODE_SSE_PORT|CLAUDE_PROJECT_DIR|\
    CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_CODE_SIMPLE",
);

pub(crate) fn ask(question: &ModelQuestion<'_>) -> AgentCommand {
    let mut arguments: Vec<String> = [
        "-p",
        "--output-format",
        "json",
        "--no-session-persistence",
        "--max-turns",
        "1",
        "--tools",
        "",
        "--setting-sources",
        "",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--system-prompt",
        question.system,
        "--json-schema",
        question.schema,
    ]
    .map(str::to_owned)
    .into();
    arguments.extend(question.model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    let on = |name| (name, "1".to_owned());
    let none = |name| (name, "0".to_owned());
    AgentCommand {
        arguments,
        stdin: question.text.to_owned(),
        variables: vec![
            none("MAX_THINKING_TOKENS"),
            none("MAX_STRUCTURED_OUTPUT_RETRIES"),
            none("CLAUDE_CODE_MAX_RETRIES"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", question.most_output.to_string()),
            on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
            on("CLAUDE_CODE_DISABLE_TERMINAL_TITLE"),
            on("DISABLE_AUTOUPDATER"),
        ],
        without: WITHOUT.iter().collect(),
        files: vec![],
    }
}

pub(crate) fn answered(printed: CommandOutput<'_>) -> ModelAnswer {
    let result = serde_json::from_str::<Value>(printed.stdout.trim()).ok().filter(Value::is_object);
    let Some(result) = result else { return ModelAnswer::none(missing_result(printed)) };
    let usage = |names: &[&str]| names.iter().filter_map(|name| result["usage"][name].as_u64()).sum();
    ModelAnswer {
        said: answer_text(&result),
        input: usage(&["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]),
        output: usage(&["output_tokens"]),
    }
}

fn answer_text(result: &Value) -> Result<String, AskError> {
    let text = result["result"].as_str().unwrap_or_default();
    let answer = &result["structured_output"];
    if answer.is_object() {
        return Ok(answer.to_string());
    }
    match result["subtype"].as_str() {
        Some("error_max_structured_output_retries" | "error_max_turns") => {
            Err(AskError::NotJson("none of it was as the schema wants it".to_owned()))
        }
        _ if result["is_error"] == true => {
            let status = result["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
            Err(classify_error(status, text))
        }
        _ if result["stop_reason"] == "refusal" => Err(AskError::Refused(short(text))),
        _ => Err(prose(text)),
    }
}

/// The failure if the client exited without printing a result.
fn missing_result(printed: CommandOutput<'_>) -> AskError {
    let words = if printed.stdout.trim().is_empty() { printed.stderr } else { printed.stdout };
    match printed.ended {
        ExitKind::Late => AskError::TimedOut,
        // For example an option that an older version does not know.
        ExitKind::Well | ExitKind::Badly => complaint(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(result: Value, expected: Result<&str, &str>) {
        let stdout = result.to_string();
        let answer = answered(CommandOutput { stdout: &stdout, stderr: "", ended: ExitKind::Well });
        let found = answer.said.as_ref().map(String::as_str).map_err(AskError::cause);
        assert_eq!(found, expected, "{stdout}");
    }

    #[test]
    fn only_structured_output_is_an_answer() {
        let words = r#"{"memories":[]}"#;
        check(json!({"result": "done", "structured_output": {"memories": []}}), Ok(words));
        check(json!({"result": "Nothing to remember.", "is_error": false}), Err("prose"));
        check(json!({"subtype": "error_max_structured_output_retries", "is_error": true}), Err("prose"));
        check(json!({"result": "Not logged in · Please run /login", "is_error": true}), Err("login"));
        check(json!({"result": "x", "is_error": true, "api_error_status": 429}), Err("rate"));
        check(json!({"result": "no", "stop_reason": "refusal"}), Err("refused"));
    }

    #[test]
    fn usage_includes_cached_tokens() {
        let usage = json!({"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 8});
        let stdout = json!({"structured_output": {}, "usage": usage}).to_string();
        let answer = answered(CommandOutput { stdout: &stdout, stderr: "", ended: ExitKind::Well });
        assert_eq!((answer.input, answer.output), (7, 8));
    }

    #[test]
    fn no_output_means_a_timeout_or_unavailable() {
        let cause =
            |stderr, ended| answered(CommandOutput { stdout: "", stderr, ended }).said.unwrap_err().cause();
        assert_eq!(cause("", ExitKind::Late), "timeout");
        assert_eq!(cause("", ExitKind::Badly), "unavailable");
        assert_eq!(cause("error: unknown option '--json-schema'", ExitKind::Badly), "configuration");
    }
}

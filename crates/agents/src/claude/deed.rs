//! The actions of Claude Code's tools.
//!
//! Never guesses about tools that are not listed here: MCP tools do not declare what they do.

use crate::call::{anywhere, text};
use towline_core::deed::Deed;

pub(crate) fn deed<'a>(tool: &str, input: &'a str) -> Deed<'a> {
    known(tool, input).unwrap_or(Deed::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<Deed<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "Read" | "NotebookRead" => Deed::Read { path: given(&["file_path", "notebook_path"])? },
        "LS" => Deed::Read { path: given(&["path"])? },
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            Deed::Changed { paths: vec![given(&["file_path", "notebook_path"])?] }
        }
        "Bash" | "PowerShell" => Deed::Ran { command: given(&["command"])? },
        "BashOutput" | "TaskOutput" | "AgentOutput" | "KillShell" | "KillBash" | "TaskStop" => Deed::Waited,
        "Grep" | "Glob" => Deed::Searched { what: given(&["pattern"])? },
        "WebSearch" => Deed::Searched { what: given(&["query"])? },
        "WebFetch" => Deed::Fetched { address: given(&["url"])? },
        "Task" | "Agent" => Deed::Delegated { task: given(&["description", "prompt"])? },
        "AskUserQuestion" => Deed::Asked { question: anywhere(input, "question")? },
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "EnterPlanMode"
        | "ExitPlanMode" => Deed::Planned,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &Deed<'_>) {
        assert_eq!(&deed(tool, input), expected, "{tool}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        let path = || Cow::Borrowed("/p/a.rs");
        check("Read", r#"{"file_path":"/p/a.rs","limit":5}"#, &Deed::Read { path: path() });
        check("LS", r#"{"path":"/p/a.rs"}"#, &Deed::Read { path: path() });
        for tool in ["Edit", "MultiEdit", "Write"] {
            let input =
                r#"{"content":"\"file_path\":\"no\"","edits":[{"file_path":"no"}],"file_path":"/p/a.rs"}"#;
            check(tool, input, &Deed::Changed { paths: vec![path()] });
        }
        check("NotebookEdit", r#"{"notebook_path":"/p/a.rs"}"#, &Deed::Changed { paths: vec![path()] });
        check(
            "Bash",
            r#"{"command":"cargo test","description":"d"}"#,
            &Deed::Ran { command: "cargo test".into() },
        );
        check("BashOutput", r#"{"bash_id":"1"}"#, &Deed::Waited);
        check("Grep", r#"{"pattern":"fn \\w+","path":"src"}"#, &Deed::Searched { what: r"fn \w+".into() });
        check("Glob", r#"{"pattern":"**/*.rs"}"#, &Deed::Searched { what: "**/*.rs".into() });
        check("WebSearch", r#"{"query":"rust"}"#, &Deed::Searched { what: "rust".into() });
        check(
            "WebFetch",
            r#"{"url":"https://a.b/c","prompt":"p"}"#,
            &Deed::Fetched { address: "https://a.b/c".into() },
        );
        check(
            "Task",
            r#"{"prompt":"long","description":"short"}"#,
            &Deed::Delegated { task: "short".into() },
        );
        check("Agent", r#"{"prompt":"long"}"#, &Deed::Delegated { task: "long".into() });
        let question = r#"{"questions":[{"header":"h","question":"Which one?"}]}"#;
        check("AskUserQuestion", question, &Deed::Asked { question: "Which one?".into() });
        check("TodoWrite", r#"{"todos":[]}"#, &Deed::Planned);
        check("TaskUpdate", "{}", &Deed::Planned);
        check("mcp__files__read", r#"{"file_path":"/p/a.rs"}"#, &Deed::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"command\":null}", "[1", "plain"] {
            check("Bash", input, &Deed::Other);
            check("Edit", input, &Deed::Other);
        }
    }

    #[test]
    fn a_redacted_call_keeps_its_action() {
        let input = r#"{"command":"API_KEY=[redacted:named] cargo run"#;
        check("Bash", input, &Deed::Ran { command: "API_KEY=[redacted:named] cargo run".into() });
    }
}

//! The actions of Codex's tools.
//!
//! Patches name their files wherever they are embedded: as a tool's plain text, in JSON, or in a shell's here document.
//! Never interprets shell commands or scripts any further.

use crate::call::{find_string_at_any_depth, own, text, texts};
use crate::plan::replaced;
use std::borrow::Cow;
use towline_core::deed::ToolAction;

const PATCH: &str = "*** Begin Patch";

pub(crate) fn tool_action<'a>(tool: &str, input: &'a str) -> ToolAction<'a> {
    if tool.starts_with("mcp__") {
        return ToolAction::Other;
    }
    let name = tool.rsplit("__").next().unwrap_or(tool);
    known(name, input).unwrap_or(ToolAction::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<ToolAction<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "shell" | "local_shell" | "container.exec" | "shell_command" | "exec_command" => ran(command(input)?),
        "exec" => ran(script_command(input)),
        "write_stdin" => ToolAction::Waited,
        "apply_patch" if input.starts_with('{') => patched(given(&["input", "patch", "command"])?)?,
        "apply_patch" => patched(Cow::Borrowed(input))?,
        "update_plan" => ToolAction::Planned(replaced(input, "plan", "step")),
        "view_image" | "list_dir" | "read_file" => {
            ToolAction::Read { path: given(&["path", "file_path", "dir_path"])? }
        }
        "grep_files" => ToolAction::Searched { what: given(&["pattern"])? },
        "web_search" => searched(input)?,
        "spawn_agent" => ToolAction::Delegated { task: given(&["message", "task", "prompt"])? },
        "request_user_input" => ToolAction::Asked { question: find_string_at_any_depth(input, "question")? },
        _ => return None,
    })
}

/// The command line, given as a string or as a list of words after a shell.
fn command(input: &str) -> Option<Cow<'_, str>> {
    let listed = own(input, "command").filter(|value| value.starts_with('['));
    let Some(list) = listed else { return text(input, &["cmd", "command"]) };
    let mut words = texts(list);
    let is_script = matches!(&words[..], [_, flag, _] if flag.starts_with('-') && flag.ends_with('c'));
    match words.pop() {
        Some(script) if is_script => Some(script),
        Some(last) => Some(words.into_iter().chain([last]).collect::<Vec<_>>().join(" ").into()),
        None => None,
    }
}

/// A command that contains a patch changes files.
fn ran(command: Cow<'_, str>) -> ToolAction<'_> {
    if command.contains(PATCH)
        && let Some(changed) = patched(command.clone())
    {
        return changed;
    }
    ToolAction::Ran { command }
}

/// The first command that a script passes to a shell; the script itself if there is none.
fn script_command(script: &str) -> Cow<'_, str> {
    let call = script.find("exec_command(").or_else(|| script.find("shell_command("));
    let argument = call.and_then(|at| {
        let rest = &script[at..];
        let key = rest.find("cmd").or_else(|| rest.find("command:")).or_else(|| rest.find("command\""))?;
        let from = rest[key..].find(':')? + key + 1;
        let value = rest[from..].trim_start();
        let quote = value.chars().next().filter(|c| "\"'`".contains(*c))?;
        value[1..].split(quote).next()
    });
    argument.map_or(Cow::Borrowed(script), Cow::Borrowed)
}

/// The files that a patch names.
pub(crate) fn patched(patch: Cow<'_, str>) -> Option<ToolAction<'_>> {
    let paths = match patch {
        Cow::Borrowed(patch) => patch_paths(patch).map(Cow::Borrowed).collect::<Vec<_>>(),
        Cow::Owned(patch) => patch_paths(&patch).map(|path| Cow::Owned(path.to_owned())).collect(),
    };
    (!paths.is_empty()).then_some(ToolAction::Changed { paths })
}

fn patch_paths(patch: &str) -> impl Iterator<Item = &str> {
    const HEADS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let path = |line| HEADS.iter().find_map(|head| str::strip_prefix(line, head));
    patch.lines().filter_map(move |line| path(line.trim())).map(str::trim).filter(|path| !path.is_empty())
}

fn searched(input: &str) -> Option<ToolAction<'_>> {
    match text(input, &["type"]).as_deref() {
        Some("open_page") => text(input, &["url"]).map(|address| ToolAction::Fetched { address }),
        _ => text(input, &["query", "pattern"]).map(|what| ToolAction::Searched { what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::work::{PlanChange, PlanStatus};

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool} {input}");
    }

    fn changed(paths: &[&'static str]) -> ToolAction<'static> {
        ToolAction::Changed { paths: paths.iter().map(|path| Cow::Borrowed(*path)).collect() }
    }

    fn ran_as(command: &str) -> ToolAction<'_> {
        ToolAction::Ran { command: command.into() }
    }

    #[test]
    fn commands_are_found_in_every_shape() {
        check("exec_command", r#"{"cmd":"cargo test","yield_time_ms":250}"#, &ran_as("cargo test"));
        check("shell_command", r#"{"command":"ls -l","workdir":"/p"}"#, &ran_as("ls -l"));
        check("shell", r#"{"command":["bash","-lc","cd x && ls"],"workdir":"/p"}"#, &ran_as("cd x && ls"));
        check("shell", r#"{"command":["git","log","-3"]}"#, &ran_as("git log -3"));
        check("local_shell", r#"{"type":"exec","command":["zsh","-c","ls"],"env":{}}"#, &ran_as("ls"));
        check(
            "exec",
            "const r = await tools.exec_command({cmd: \"cargo test\"});\ntext(r);",
            &ran_as("cargo test"),
        );
        check("exec", "text(1 + 1)", &ran_as("text(1 + 1)"));
    }

    #[test]
    fn patches_name_their_files_wherever_they_stand() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+*** Add File: no\n*** Add File: c.rs\n+y\n*** Delete File: d.rs\n*** End Patch";
        let expected = changed(&["a.rs", "b.rs", "c.rs", "d.rs"]);
        check("apply_patch", patch, &expected);
        let json = serde_json::json!({ "input": patch }).to_string();
        check("apply_patch", &json, &expected);
        let here = format!("cd /p && apply_patch <<'EOF'\n{patch}\nEOF\n");
        check("exec_command", &serde_json::json!({ "cmd": here }).to_string(), &expected);
        check("shell", &serde_json::json!({ "command": ["bash", "-lc", here] }).to_string(), &expected);
        check("shell", &serde_json::json!({ "command": ["apply_patch", patch] }).to_string(), &expected);
        check("exec_command", r#"{"cmd":"grep '*** Begin Patch' x"}"#, &ran_as("grep '*** Begin Patch' x"));
    }

    #[test]
    fn other_tools_map_to_their_actions() {
        check("write_stdin", r#"{"chars":"","session_id":1}"#, &ToolAction::Waited);
        let plan = r#"{"explanation":"e","plan":[{"status":"in_progress","step":"one"}]}"#;
        let list = vec![("one".into(), PlanStatus::InProgress)];
        check("update_plan", plan, &ToolAction::Planned(PlanChange::Replaced(list)));
        check("view_image", r#"{"path":"dot.png"}"#, &ToolAction::Read { path: "dot.png".into() });
        check(
            "web_search",
            r#"{"type":"search","query":"weather"}"#,
            &ToolAction::Searched { what: "weather".into() },
        );
        let page = ToolAction::Fetched { address: "https://a.b".into() };
        check("web_search", r#"{"type":"open_page","url":"https://a.b"}"#, &page);
        let task = || ToolAction::Delegated { task: "do it".into() };
        check("multi_agent_v1__spawn_agent", r#"{"message":"do it","agent_type":"default"}"#, &task());
        check("spawn_agent", r#"{"message":"do it"}"#, &task());
        check("multi_agent_v1__wait_agent", r#"{"targets":[]}"#, &ToolAction::Other);
        let question = r#"{"questions":[{"id":"x","question":"Which?"}]}"#;
        check("request_user_input", question, &ToolAction::Asked { question: "Which?".into() });
        check("mcp__x__exec_command", r#"{"cmd":"ls"}"#, &ToolAction::Other);
        check("nosuch_tool", "{}", &ToolAction::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"cmd\":null}", "{\"command\":[]}", "[1", "plain"] {
            for tool in ["exec_command", "shell", "apply_patch", "web_search", "spawn_agent"] {
                check(tool, input, &ToolAction::Other);
            }
        }
    }
}

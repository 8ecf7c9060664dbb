//! Tool calls that bring text from outside into a session: the web, other people, dependencies, files elsewhere.
//!
//! Judges a call by what it reads, not by what came back. In doubt a call brings text from outside. What commands of the
//! session print about the project, and temporary files, count as its own: whatever was fetched into such a file counts
//! when it is fetched. History written by others (`git log`) cannot be told from the user's and counts as the project.

use crate::deed::ToolAction;
use crate::memory::MemoryTrust;
use crate::phrases::Phrases;

/// A tool call with its input as the client wrote it.
#[derive(Clone, Copy)]
pub struct CallInput<'a> {
    pub tool: &'a str,
    pub deed: &'a ToolAction<'a>,
    pub input: &'a str,
}

/// The trust of the text that a call brought from outside; `None` if it only looked at the project. `folders` are those
/// of the session and of its project.
pub fn outside_trust(call: CallInput<'_>, folders: &[&str]) -> Option<MemoryTrust> {
    match call.deed {
        ToolAction::Fetched { .. } => Some(MemoryTrust::Web),
        ToolAction::Ran { command } => of_command(command, folders),
        ToolAction::Read { path } => of_path(path, folders),
        ToolAction::Searched { .. } => of_name(call.tool).or_else(|| of_dependency(call.input)),
        ToolAction::Other => of_name(call.tool),
        ToolAction::Changed { .. }
        | ToolAction::Waited
        | ToolAction::Delegated { .. }
        | ToolAction::Asked { .. }
        | ToolAction::Planned(_) => None,
    }
}

/// Tools of the web, and every server but ours: nobody knows what those read.
fn of_name(tool: &str) -> Option<MemoryTrust> {
    const NAMES: [&str; 5] = ["web", "fetch", "browse", "http", "url"];
    let name = tool.to_lowercase();
    let is_of_other_server = name.starts_with("mcp__") && !name.starts_with("mcp__towline");
    (is_of_other_server || NAMES.iter().any(|part| name.contains(part))).then_some(MemoryTrust::Web)
}

fn of_path(path: &str, folders: &[&str]) -> Option<MemoryTrust> {
    let below = folders.iter().find_map(|folder| within(path, folder));
    let is_elsewhere =
        below.is_none() && !folders.is_empty() && path.starts_with(['/', '~']) && !is_temporary(path);
    if is_elsewhere { Some(MemoryTrust::Tool) } else { of_dependency(below.unwrap_or(path)) }
}

fn within<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn is_temporary(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/", "/proc/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Folders whose files other people wrote.
const DEPENDENCIES: Phrases = Phrases(
    "node_modules|bower_components|vendor|third_party|site-packages|dist-packages|.cargo/registry|.cargo/git|\
    go/pkg/mod|.m2/repository|.gradle/caches|Pods",
);

fn of_dependency(path: &str) -> Option<MemoryTrust> {
    let is_below = |folder: &str| {
        path.match_indices(folder).any(|(at, _)| {
            let before =
                path[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"_-.".contains(c));
            let after = path[at + folder.len()..].strip_prefix('/');
            before
                && after.is_some_and(|rest| {
                    !rest.is_empty() && !rest.starts_with(".bin") && !rest.starts_with('*')
                })
        })
    };
    DEPENDENCIES.any(is_below).then_some(MemoryTrust::Tool)
}

fn of_command(command: &str, folders: &[&str]) -> Option<MemoryTrust> {
    const ENDS: &str = "|;&\n()`{}";
    let quoted = command.split(|c: char| ENDS.contains(c) || "'\"".contains(c));
    if quoted.map(CommandPart::of).any(|part| part.fetches()) {
        return Some(MemoryTrust::Web);
    }
    let parts = command.split(|c: char| ENDS.contains(c)).map(CommandPart::of);
    parts.filter_map(|part| part.trust(folders)).min()
}

/// One command of a line.
struct CommandPart<'a> {
    program: String,
    arguments: Vec<&'a str>,
}

impl<'a> CommandPart<'a> {
    fn of(part: &'a str) -> CommandPart<'a> {
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_prefix = |word: &&str| {
            word.split_once('=').is_some_and(|(name, _)| is_name(name))
                || ["sudo", "time", "env", "command", "exec", "xargs", "nohup", "$"].contains(word)
        };
        let mut words = part.split_whitespace().skip_while(is_prefix);
        let program = words.next().unwrap_or("");
        let name =
            if program.contains("://") { program } else { program.rsplit('/').next().unwrap_or(program) };
        CommandPart { program: name.to_lowercase(), arguments: words.collect() }
    }

    /// Whether it prints what comes from another machine.
    fn fetches(&self) -> bool {
        let verb = self.arguments.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("");
        let is_call =
            |call: &str| call.split_once(' ').is_some_and(|(name, of)| name == self.program && of == verb);
        FETCHERS.contains(&self.program) && !is_local(&self.arguments) || REMOTE.any(is_call)
    }

    fn trust(&self, folders: &[&str]) -> Option<MemoryTrust> {
        let words = || self.arguments.iter().copied();
        let has_address = words().chain([self.program.as_str()]).any(|word| word.contains("://"));
        let unquoted = |word: &'a str| word.trim_matches(['\'', '"']);
        match self.program.as_str() {
            "rm" | "mkdir" | "mv" | "du" | "ls" | "cd" => None,
            program if program != "git" && has_address && !is_local(&self.arguments) => {
                Some(MemoryTrust::Web)
            }
            "cat" | "less" | "more" | "head" | "tail" | "bat" => {
                words().filter_map(|word| of_path(unquoted(word), folders)).min()
            }
            // A quoted argument of these may be a pattern.
            program if READERS.contains(program) => words().filter_map(|word| of_path(word, folders)).min(),
            _ => words().filter(|word| !word.starts_with('-')).filter_map(of_dependency).min(),
        }
    }
}

const FETCHERS: Phrases = Phrases(
    "curl|wget|lynx|w3m|links|aria2c|http|https|httpie|xh|iwr|irm|invoke-webrequest|invoke-restmethod|ssh|scp|sftp|ftp|nc|ncat|\
    telnet|gopher",
);

/// Programs and their verbs that print what other people wrote.
const REMOTE: Phrases = Phrases(
    "gh issue|gh pr|gh api|gh release|gh run|gh gist|gh search|gh repo|gh discussion|gh project|glab issue|glab mr|\
    glab api|glab release|glab ci|jira issue|git clone|git ls-remote|svn checkout|hg clone|npm view|npm info|npm show|\
    npm search|pnpm view|yarn info|yarn npm|cargo info|cargo search|pip index|gem info|brew info|apt show|docker pull|\
    kubectl logs|az boards|aws s3",
);

/// Programs that print files.
const READERS: Phrases =
    Phrases("sed|awk|grep|egrep|rg|ag|nl|strings|jq|yq|xxd|od|cut|sort|diff|tac|type|view|get-content");

/// Whether every address is one of this machine.
fn is_local(arguments: &[&str]) -> bool {
    const HOSTS: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    let host = |word: &str| -> String {
        let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
        let rest = rest.split('/').next().unwrap_or(rest);
        rest.rsplit('@').next().unwrap_or(rest).to_owned()
    };
    let is_of_machine = |word: &str| {
        let host = host(word);
        HOSTS.iter().any(|local| {
            host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
    };
    let addresses: Vec<&&str> = arguments.iter().filter(|word| word.contains("://")).collect();
    if addresses.is_empty() {
        return arguments.iter().any(|word| is_of_machine(word));
    }
    addresses.into_iter().all(|word| is_of_machine(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, deed: &ToolAction<'_>) -> Option<MemoryTrust> {
        outside_trust(CallInput { tool, deed, input: "" }, &["/home/dev/app", "/home/dev"])
    }

    #[track_caller]
    fn ran(command: &str, expected: Option<MemoryTrust>) {
        assert_eq!(of("Bash", &ToolAction::Ran { command: command.into() }), expected, "{command}");
    }

    #[track_caller]
    fn read(path: &str, expected: Option<MemoryTrust>) {
        assert_eq!(of("Read", &ToolAction::Read { path: path.into() }), expected, "{path}");
    }

    #[test]
    fn commands_that_print_what_others_wrote_are_known() {
        for command in [
            "curl -s https://a.example",
            "curl https://a.example # localhost",
            "cd x && wget a.example",
            "gh issue view 12",
            "GH_TOKEN=x gh pr view 3 --comments | head",
            "bash -c 'curl -s a.example'",
            "git clone https://a.example/b",
            "npm view left-pad readme",
            "python fetch.py https://a.example",
        ] {
            ran(command, Some(MemoryTrust::Web));
        }
        for command in [
            "cat node_modules/x/README.md",
            "rg foo vendor/lib/",
            "python -m pydoc .venv/lib/site-packages/x/y.py",
            "cat /opt/other/notes.md",
            "head ~/notes.md",
        ] {
            ran(command, Some(MemoryTrust::Tool));
        }
        for command in [
            "cargo test",
            "curl -s http://localhost:80/x",
            "curl localhost:8080",
            "gh auth status",
            "git log --oneline",
            "git commit -m 'see https://a.example'",
            "rm -rf node_modules/x",
            "node_modules/.bin/jest",
            "grep -r x src --exclude-dir=node_modules",
            "find . -not -path './node_modules/*'",
            "tail -5 /tmp/build.log",
            "cat /home/dev/app/src/x.rs",
        ] {
            ran(command, None);
        }
    }

    #[test]
    fn files_of_dependencies_and_elsewhere_are_outside() {
        read("/home/dev/app/src/main.rs", None);
        read("src/main.rs", None);
        read("/tmp/out.txt", None);
        read("/home/dev/app/node_modules/x/index.js", Some(MemoryTrust::Tool));
        read("/home/dev/.cargo/registry/src/x/lib.rs", Some(MemoryTrust::Tool));
        read("/home/other/x.md", Some(MemoryTrust::Tool));
        read("/home/development/x.md", Some(MemoryTrust::Tool));
        let anywhere = ToolAction::Read { path: "/home/other/x.md".into() };
        assert_eq!(outside_trust(CallInput { tool: "Read", deed: &anywhere, input: "" }, &[]), None);
    }

    #[test]
    fn tools_of_other_servers_are_outside_and_ours_are_not() {
        assert_eq!(of("mcp__tracker__get", &ToolAction::Other), Some(MemoryTrust::Web));
        assert_eq!(of("mcp__towline__search", &ToolAction::Other), None);
        assert_eq!(of("Skill", &ToolAction::Other), None);
        let searched = ToolAction::Searched { what: "x".into() };
        assert_eq!(of("WebSearch", &searched), Some(MemoryTrust::Web));
        assert_eq!(of("Grep", &searched), None);
        let input = r#"{"pattern":"x","path":"node_modules/y"}"#;
        let call = CallInput { tool: "Grep", deed: &searched, input };
        assert_eq!(outside_trust(call, &[]), Some(MemoryTrust::Tool));
    }
}

//! The most informative part of a command line: `cargo test` of `cd /path && RUST_LOG=debug cargo test 2>&1 | tail`.
//!
//! Parses as much shell grammar as that needs. For display only: no decision may depend on the result.

use super::words::{TextLimit, plain};
use crate::phrases::Phrases;
use crate::text::clip;
use serde::{Deserialize, Serialize};

/// How many bytes of a command are parsed.
const WINDOW: usize = 4 * 1024;

const LIMIT: TextLimit = TextLimit { characters: 40, bytes: 44 };

/// The purpose of a command; later variants say more about a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunPurpose {
    /// Prepares the other commands: `cd`, `export`.
    Setting,
    /// `echo`, `mkdir`.
    Small,
    Look,
    Work,
    /// Leaves the machine, or changes history.
    Ship,
    Build,
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandSummary {
    pub text: String,
    pub purpose: RunPurpose,
    /// Its output was piped through another program and may be incomplete.
    pub is_filtered: bool,
}

pub(crate) fn summarize(command: &str) -> CommandSummary {
    summarize_within(command, LIMIT)
}

/// As `telling`, with another length limit.
pub(crate) fn summarize_within(command: &str, limit: TextLimit) -> CommandSummary {
    summarize_nested(clip(command, WINDOW), limit, 2)
}

/// `depth` limits how many nested `sh -c` levels are parsed.
fn summarize_nested(command: &str, limit: TextLimit, depth: usize) -> CommandSummary {
    let parts = parts(command);
    let mut best: Option<CommandSummary> = None;
    for (index, part) in parts.iter().enumerate() {
        let is_filtered = parts.get(index + 1).is_some_and(|next| next.is_piped);
        let summary = summarize_part(part, is_filtered, limit, depth);
        if summary.as_ref().is_some_and(|new| best.as_ref().is_none_or(|old| old.purpose < new.purpose)) {
            best = summary;
        }
    }
    best.unwrap_or_else(|| CommandSummary {
        text: plain(command, limit),
        purpose: RunPurpose::Small,
        is_filtered: false,
    })
}

fn summarize_part(
    part: &ShellPart,
    is_filtered: bool,
    limit: TextLimit,
    depth: usize,
) -> Option<CommandSummary> {
    let words = without_wrappers(&part.words);
    let program = basename(words.first()?);
    if let (true, true, [_, flag, script, ..]) = (depth > 0, SHELLS.contains(&program), words)
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return Some(summarize_nested(script, limit, depth - 1));
    }
    let purpose = purpose(program, words);
    let purpose = if part.is_piped && purpose == RunPurpose::Look { RunPurpose::Small } else { purpose };
    let target = part.target.as_ref().filter(|_| matches!(program, "cat" | "echo" | "printf"));
    let purpose = if target.is_some() { RunPurpose::Work } else { purpose };
    let shown: Vec<String> = words.iter().enumerate().map(|(i, word)| display_word(i, word)).collect();
    let target = target.map(|target| format!(" > {}", last_two(target))).unwrap_or_default();
    let text = plain(&format!("{}{target}", shown.join(" ")), limit);
    Some(CommandSummary { text, purpose, is_filtered })
}

/// The first line of the message that a `git commit` is given in its command.
pub(crate) fn commit_subject(command: &str) -> Option<String> {
    let parts = parts(clip(command, WINDOW));
    let commit = parts.iter().map(|part| without_wrappers(&part.words)).find(|words| {
        words.first().is_some_and(|program| basename(program) == "git")
            && words.iter().any(|word| word == "commit")
    })?;
    let takes_message = |word: &String| {
        word == "--message" || word.starts_with('-') && !word.starts_with("--") && word.ends_with('m')
    };
    let at = commit.iter().position(takes_message)?;
    // A here document: its first line follows the line that opens it.
    let mut lines = commit.get(at + 1)?.lines().map(str::trim).filter(|line| !line.is_empty());
    let subject = lines.find(|line| !line.starts_with("$(cat <<"))?;
    Some(plain(subject, SUBJECT)).filter(|subject| !subject.is_empty())
}

const SUBJECT: TextLimit = TextLimit { characters: 120, bytes: 300 };

const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];

/// Formats a word for display: paths by their end, texts of several words in quotes, multi-line texts cut.
fn display_word(index: usize, word: &str) -> String {
    if index == 0 {
        return basename(word).to_owned();
    }
    let first = word.lines().next().unwrap_or("");
    if first.contains("$(") || first.len() < word.trim_end().len() {
        return if first.contains("$(") { "…".to_owned() } else { format!("'{first}…'") };
    }
    match word {
        _ if word.contains(char::is_whitespace) => format!("'{}'", word.replace(['"', '\''], "")),
        _ if word.starts_with('/') => last_two(word),
        _ => word.to_owned(),
    }
}

/// The last two components of a path.
pub(crate) fn last_two(path: &str) -> String {
    let bare = path.trim_end_matches(['/', '\\']);
    let mut parts = bare.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    match (parts.next(), parts.next()) {
        (Some(last), Some(before)) => format!("{before}/{last}"),
        (Some(last), None) => last.to_owned(),
        (None, _) => path.to_owned(),
    }
}

fn basename(word: &str) -> &str {
    word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(word)
}

/// Strips leading assignments, keywords and programs that only run another one.
fn without_wrappers(words: &[String]) -> &[String] {
    const KEYWORDS: [&str; 12] =
        ["do", "then", "else", "if", "elif", "while", "until", "!", "{", "(", "time", "exec"];
    const RUNNERS: [&str; 8] = ["sudo", "nohup", "env", "command", "timeout", "nice", "stdbuf", "xvfb-run"];
    let mut rest = words;
    while let [first, after @ ..] = rest {
        let name = basename(first);
        if is_assignment(first) || KEYWORDS.contains(&first.as_str()) {
            rest = after;
        } else if RUNNERS.contains(&name) && !after.is_empty() {
            let options = after.iter().take_while(|word| word.starts_with('-') || is_duration(word)).count();
            rest = &after[options..];
        } else {
            break;
        }
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_duration(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn purpose(program: &str, words: &[String]) -> RunPurpose {
    const SETTINGS: [&str; 22] = [
        "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "sleep", "true", ":", "wait",
        "alias", "trap", "ulimit", "umask", "shopt", "for", "done", "fi", "}", ")",
    ];
    const SMALL: [&str; 17] = [
        "echo", "printf", "mkdir", "touch", "exit", "false", "kill", "test", "[", "[[", "read", "esac",
        "case", "chmod", "local", "clear", "pkill",
    ];
    const LOOKS: [&str; 45] = [
        "ls", "cat", "head", "tail", "grep", "rg", "egrep", "fgrep", "find", "fd", "wc", "pwd", "which",
        "file", "stat", "du", "df", "tree", "sed", "awk", "diff", "printenv", "ps", "jq", "sort", "uniq",
        "cut", "tr", "less", "more", "bat", "whoami", "date", "hostname", "id", "type", "xxd", "od",
        "strings", "uname", "tee", "xargs", "nl", "column", "free",
    ];
    match program {
        _ if SETTINGS.contains(&program) => RunPurpose::Setting,
        _ if SMALL.contains(&program) => RunPurpose::Small,
        "sed" if words.iter().any(|word| word.starts_with("-i")) => RunPurpose::Work,
        _ if LOOKS.contains(&program) => RunPurpose::Look,
        "git" => git(words),
        _ if is_test(program, words) => RunPurpose::Test,
        _ if is_build(program, words) => RunPurpose::Build,
        "gh" | "docker" | "kubectl" | "terraform" | "helm" | "ssh" | "scp" | "rsync" | "systemctl" => {
            RunPurpose::Ship
        }
        _ => RunPurpose::Work,
    }
}

fn git(words: &[String]) -> RunPurpose {
    let mut after_option = false;
    let verb = words.iter().skip(1).find(|word| {
        let is_value = std::mem::replace(&mut after_option, matches!(word.as_str(), "-C" | "-c"));
        !is_value && !word.starts_with('-')
    });
    match verb.map_or("", String::as_str) {
        "commit" | "push" | "merge" | "rebase" | "tag" | "reset" | "revert" | "cherry-pick" | "am"
        | "pull" => RunPurpose::Ship,
        "checkout" | "switch" | "stash" | "restore" | "clone" | "worktree" | "apply" | "rm" | "mv"
        | "init" => RunPurpose::Work,
        "add" | "config" => RunPurpose::Small,
        _ => RunPurpose::Look,
    }
}

/// Programs whose subcommand decides the purpose: `cargo test`, `npm run lint`.
const DRIVERS: [&str; 22] = [
    "cargo", "go", "npm", "pnpm", "yarn", "bun", "deno", "make", "just", "mix", "swift", "dotnet", "gradle",
    "gradlew", "mvn", "bazel", "zig", "composer", "rake", "ninja", "cmake", "task",
];

/// Programs that only run their argument, and are shown with it.
const STARTERS: [&str; 10] =
    ["npx", "bunx", "uv", "uvx", "poetry", "pipenv", "bundle", "python", "python3", "node"];

fn is_test(program: &str, words: &[String]) -> bool {
    const RUNNERS: Phrases = Phrases(
        "pytest|jest|vitest|mocha|ctest|rspec|phpunit|tox|nox|bats|ava|karma|cypress|playwright|unittest",
    );
    let is_script = |name: &str| {
        name.starts_with("test") && [".sh", ".py", ".js", ".ts"].iter().any(|end| name.ends_with(end))
    };
    let is_test_word = |word: &str| {
        matches!(word, "test" | "tests" | "nextest" | "t" | "--test") || word.starts_with("test:")
    };
    let is_runner = |name: &str| RUNNERS.contains(name) || is_script(name);
    match program {
        _ if is_runner(program) => true,
        _ if DRIVERS.contains(&program) => subcommand(words).is_some_and(is_test_word),
        _ if STARTERS.contains(&program) => {
            subcommand(words).is_some_and(|word| is_runner(basename(word)) || is_test_word(word))
                || words.iter().any(|word| word == "--test")
        }
        _ => false,
    }
}

fn is_build(program: &str, words: &[String]) -> bool {
    const BUILDERS: Phrases = Phrases(
        "gcc|g++|cc|clang|clang++|rustc|tsc|eslint|prettier|ruff|mypy|flake8|black|webpack|vite|shellcheck|\
        javac|biome|pyright|rustfmt",
    );
    let is_builder = |word: &str| BUILDERS.contains(basename(word));
    let other = ["run", "install", "add", "init", "new", "update", "tree", "search", "remove", "i", "ci"];
    match program {
        _ if BUILDERS.contains(program) => true,
        "npm" | "pnpm" | "yarn" | "bun" => {
            words.get(1).is_some_and(|word| word == "run")
                || subcommand(words).is_some_and(|word| !other.contains(&word))
        }
        _ if DRIVERS.contains(&program) => subcommand(words).is_none_or(|word| !other.contains(&word)),
        _ if STARTERS.contains(&program) => subcommand(words).is_some_and(is_builder),
        _ => false,
    }
}

/// A driver's subcommand: its first word that is no option. `run` and `exec` are skipped for drivers that put script
/// names behind them.
fn subcommand(words: &[String]) -> Option<&str> {
    let is_cargo =
        words.first().is_some_and(|program| matches!(basename(program), "cargo" | "go" | "deno" | "zig"));
    let leads = |word: &str| !is_cargo && matches!(word, "run" | "exec");
    let rest = words.iter().skip(1).map(String::as_str);
    rest.filter(|word| !word.starts_with(['-', '+']) && !is_assignment(word)).find(|word| !leads(word))
}

/// One simple command of a line, without its redirections.
#[derive(Default)]
struct ShellPart {
    words: Vec<String>,
    /// Reads the output of the part before it.
    is_piped: bool,
    /// The file its output is redirected to.
    target: Option<String>,
}

fn parts(command: &str) -> Vec<ShellPart> {
    let mut shell =
        ShellParser { rest: command, parts: vec![], part: ShellPart::default(), delimiters: vec![] };
    while !shell.rest.is_empty() {
        shell.step();
    }
    shell.finish(false);
    shell.parts
}

struct ShellParser<'a> {
    rest: &'a str,
    parts: Vec<ShellPart>,
    part: ShellPart,
    /// Delimiters of the here documents that begin on the next line.
    delimiters: Vec<String>,
}

impl ShellParser<'_> {
    fn step(&mut self) {
        let Some(c) = self.rest.chars().next() else { return };
        match c {
            '\n' => {
                self.skip(1);
                self.finish(false);
                self.skip_documents();
            }
            '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
            ';' | '(' | ')' => {
                self.skip(1);
                self.finish(false);
            }
            '&' if self.rest.starts_with("&>") => self.redirect(),
            '&' | '|' => self.operator(c),
            '<' | '>' => self.redirect(),
            _ if c.is_whitespace() => self.skip(c.len_utf8()),
            _ => self.word(),
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn finish(&mut self, is_piped: bool) {
        let part = std::mem::replace(&mut self.part, ShellPart { is_piped, ..ShellPart::default() });
        if !part.words.is_empty() {
            self.parts.push(part);
        }
    }

    fn operator(&mut self, c: char) {
        let is_double = self.rest.chars().nth(1) == Some(c);
        self.skip(if is_double || self.rest.starts_with("|&") { 2 } else { 1 });
        self.finish(c == '|' && !is_double);
    }

    /// Skips `> file`, `2>&1`, `<<'EOF'`, `<<< text`; keeps the name of a written file.
    fn redirect(&mut self) {
        let is_document = self.rest.starts_with("<<") && !self.rest.starts_with("<<<");
        let writes = self.rest.starts_with(['>', '&']);
        let operator = self.rest.len() - self.rest.trim_start_matches(['<', '>', '&', '|']).len();
        self.skip(operator);
        if is_document {
            self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        }
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let target = self.take_word();
        if is_document {
            self.delimiters.push(target);
        } else if writes && !target.starts_with("/dev/") && !target.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.part.target = Some(target);
        }
    }

    fn word(&mut self) {
        let word = self.take_word();
        let is_descriptor =
            word.bytes().all(|byte| byte.is_ascii_digit()) && self.rest.starts_with(['<', '>']);
        if !is_descriptor && (!word.is_empty()) {
            self.part.words.push(word);
        }
    }

    /// Consumes the next word and returns it without its quotes.
    fn take_word(&mut self) -> String {
        let mut word = String::new();
        let (mut quote, mut depth, mut end) = (None, 0_usize, self.rest.len());
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (None, '\'' | '"') if depth == 0 => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                (None | Some('"'), '\\') => word.extend(chars.next().map(|(_, c)| c).filter(|c| *c != '\n')),
                (None, '(') if word.ends_with('$') || depth > 0 => {
                    depth += 1;
                    word.push(c);
                }
                (None, ')') if depth > 0 => {
                    depth -= 1;
                    word.push(c);
                }
                (None, _) if depth == 0 && (c.is_whitespace() || ";|&<>()".contains(c)) => {
                    end = at;
                    break;
                }
                _ => word.push(c),
            }
        }
        self.skip(end.max(usize::from(word.is_empty() && end == 0)));
        word
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.delimiters) {
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                if line.trim() == end {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, text: &str, purpose: RunPurpose) {
        let found = summarize(command);
        assert_eq!((found.text.as_str(), found.purpose), (text, purpose), "{command}");
    }

    #[test]
    fn the_most_informative_part_is_shown() {
        check(
            "cd /long/path && RUST_LOG=debug timeout 60 cargo test -p x 2>&1 | tail -5",
            "cargo test -p x",
            RunPurpose::Test,
        );
        check(
            "cargo fmt && cargo clippy && cargo nextest run -p tow",
            "cargo nextest run -p tow",
            RunPurpose::Test,
        );
        check("bash -lc 'cd x && npm test -- --watch=false'", "npm test -- --watch=false", RunPurpose::Test);
        check("npm run test:unit", "npm run test:unit", RunPurpose::Test);
        check("npx vitest run", "npx vitest run", RunPurpose::Test);
        check("python -m pytest -q tests/a.py", "python -m pytest -q tests/a.py", RunPurpose::Test);
        check("go test ./...", "go test ./...", RunPurpose::Test);
        check("./test.sh", "test.sh", RunPurpose::Test);
        check("make -j4", "make -j4", RunPurpose::Build);
        check("npm install left-pad", "npm install left-pad", RunPurpose::Work);
        check("cargo run --bin x", "cargo run --bin x", RunPurpose::Work);
        check("cargo --locked build --release", "cargo --locked build --release", RunPurpose::Build);
        check("ls -la /home/dev/project/src | head", "ls -la project/src", RunPurpose::Look);
        check("git -C /x/y status --short", "git -C x/y status --short", RunPurpose::Look);
        check(
            "git add -A && git commit -qm 'Add a' && git log --oneline | head -1",
            "git commit -qm 'Add a'",
            RunPurpose::Ship,
        );
        check("for f in *.rs; do rustfmt $f; done", "rustfmt $f", RunPurpose::Build);
        check("echo in-bg; sleep 1", "echo in-bg", RunPurpose::Small);
        check("touch begun; until [ -e go ]; do sleep 0.2; done", "touch begun", RunPurpose::Small);
        check("exit 3", "exit 3", RunPurpose::Small);
        check("/usr/bin/python3 run.py > out.txt", "python3 run.py", RunPurpose::Work);
        check("# why\nrm -rf build # because", "rm -rf build", RunPurpose::Work);
        check("", "", RunPurpose::Small);
    }

    #[test]
    fn here_documents_are_skipped() {
        check("cat > src/a.rs <<'EOF'\ncargo test\nEOF\n", "cat > src/a.rs", RunPurpose::Work);
        check("python3 - <<E\nimport os\nE\nmake", "make", RunPurpose::Build);
        check(
            "git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\" && git push",
            "git commit -m …",
            RunPurpose::Ship,
        );
        check("git commit -m 'Subject\n\nBody'", "git commit -m 'Subject…'", RunPurpose::Ship);
    }

    #[test]
    fn broken_commands_are_shown_as_they_are() {
        for command in ["'", "\"", "((((", "$(", "a 'b", "<<", "> ", "|||", "&&", "a <<X\nb", "\\", "2>&1"] {
            let _ = summarize(command);
        }
        check("cargo test 'unclosed", "cargo test unclosed", RunPurpose::Test);
    }

    #[test]
    fn a_pipe_makes_an_output_partial() {
        assert!(summarize("cargo test 2>&1 | tail -3").is_filtered);
        assert!(!summarize("cargo test 2>&1; echo a | tail -3").is_filtered);
    }

    #[test]
    fn paths_are_shown_by_their_end() {
        for (path, expected) in [
            ("/a/b/c.rs", "b/c.rs"),
            ("c.rs", "c.rs"),
            ("./c.rs", "c.rs"),
            ("a\\b\\c", "b/c"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(last_two(path), expected);
        }
    }
}

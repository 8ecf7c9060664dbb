//! The telling part of a command line: `cargo test -p x` of `cd /long/path && RUST_LOG=debug cargo test -p x 2>&1 | tail`.
//!
//! Reads a shell's grammar as far as that needs, and never decides by it: what it misreads is only shown worse.

use super::words::{Room, plain};
use crate::text::clip;
use serde::{Deserialize, Serialize};

/// How much of a command is looked at, in bytes.
const WINDOW: usize = 4 * 1024;

const ROOM: Room = Room { characters: 40, bytes: 44 };

/// What a command is for; the later, the more it tells about a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// Where the others run: `cd`, `export`.
    Setting,
    /// `echo`, `mkdir`.
    Small,
    Look,
    Work,
    /// What leaves the machine, or changes history.
    Ship,
    Build,
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Telling {
    pub text: String,
    pub purpose: Purpose,
    /// Its output went through another program, and need not be whole.
    pub is_filtered: bool,
}

pub(crate) fn telling(command: &str) -> Telling {
    telling_within(command, ROOM)
}

/// The same with another room.
pub(crate) fn telling_within(command: &str, room: Room) -> Telling {
    told(clip(command, WINDOW), room, 2)
}

/// `depth` is how many shells within each other are looked into.
fn told(command: &str, room: Room, depth: usize) -> Telling {
    let parts = parts(command);
    let mut best: Option<Telling> = None;
    for (index, part) in parts.iter().enumerate() {
        let is_filtered = parts.get(index + 1).is_some_and(|next| next.is_piped);
        let found = part_told(part, is_filtered, (room, depth));
        if found.as_ref().is_some_and(|new| best.as_ref().is_none_or(|known| known.purpose < new.purpose)) {
            best = found;
        }
    }
    best.unwrap_or_else(|| Telling {
        text: plain(command, room),
        purpose: Purpose::Small,
        is_filtered: false,
    })
}

fn part_told(part: &Part, is_filtered: bool, (room, depth): (Room, usize)) -> Option<Telling> {
    let words = without_wrappers(&part.words);
    let program = basename(words.first()?);
    if let (true, true, [_, flag, script, ..]) = (depth > 0, SHELLS.contains(&program), words)
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return Some(told(script, room, depth - 1));
    }
    let purpose = purpose(program, words);
    let purpose = if part.is_piped && purpose == Purpose::Look { Purpose::Small } else { purpose };
    let target = part.target.as_ref().filter(|_| matches!(program, "cat" | "echo" | "printf"));
    let purpose = if target.is_some() { Purpose::Work } else { purpose };
    let shown: Vec<String> = words.iter().enumerate().map(|(i, word)| shown(i, word)).collect();
    let target = target.map(|target| format!(" > {}", last_two(target))).unwrap_or_default();
    let text = plain(&format!("{}{target}", shown.join(" ")), room);
    Some(Telling { text, purpose, is_filtered })
}

const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];

/// A word as people would write it: paths by their end, texts of several words in quotes, nothing that goes on for lines.
fn shown(index: usize, word: &str) -> String {
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

/// A path by its last two parts.
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

/// The words behind assignments, keywords and programs that only run another one.
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

fn purpose(program: &str, words: &[String]) -> Purpose {
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
        _ if SETTINGS.contains(&program) => Purpose::Setting,
        _ if SMALL.contains(&program) => Purpose::Small,
        "sed" if words.iter().any(|word| word.starts_with("-i")) => Purpose::Work,
        _ if LOOKS.contains(&program) => Purpose::Look,
        "git" => git(words),
        _ if is_test(program, words) => Purpose::Test,
        _ if is_build(program, words) => Purpose::Build,
        "gh" | "docker" | "kubectl" | "terraform" | "helm" | "ssh" | "scp" | "rsync" | "systemctl" => {
            Purpose::Ship
        }
        _ => Purpose::Work,
    }
}

fn git(words: &[String]) -> Purpose {
    let mut after_option = false;
    let verb = words.iter().skip(1).find(|word| {
        let is_value = std::mem::replace(&mut after_option, matches!(word.as_str(), "-C" | "-c"));
        !is_value && !word.starts_with('-')
    });
    match verb.map_or("", String::as_str) {
        "commit" | "push" | "merge" | "rebase" | "tag" | "reset" | "revert" | "cherry-pick" | "am"
        | "pull" => Purpose::Ship,
        "checkout" | "switch" | "stash" | "restore" | "clone" | "worktree" | "apply" | "rm" | "mv"
        | "init" => Purpose::Work,
        "add" | "config" => Purpose::Small,
        _ => Purpose::Look,
    }
}

/// Programs whose first word says what they do: `cargo test`, `npm run lint`.
const DRIVERS: [&str; 22] = [
    "cargo", "go", "npm", "pnpm", "yarn", "bun", "deno", "make", "just", "mix", "swift", "dotnet", "gradle",
    "gradlew", "mvn", "bazel", "zig", "composer", "rake", "ninja", "cmake", "task",
];

/// Programs that only run what they are given, and are shown with it.
const STARTERS: [&str; 10] =
    ["npx", "bunx", "uv", "uvx", "poetry", "pipenv", "bundle", "python", "python3", "node"];

fn is_test(program: &str, words: &[String]) -> bool {
    const RUNNERS: [&str; 15] = [
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "ctest",
        "rspec",
        "phpunit",
        "tox",
        "nox",
        "bats",
        "ava",
        "karma",
        "cypress",
        "playwright",
        "unittest",
    ];
    let is_script = |name: &str| {
        name.starts_with("test") && [".sh", ".py", ".js", ".ts"].iter().any(|end| name.ends_with(end))
    };
    let tests = |word: &str| {
        matches!(word, "test" | "tests" | "nextest" | "t" | "--test") || word.starts_with("test:")
    };
    let is_runner = |name: &str| RUNNERS.contains(&name) || is_script(name);
    match program {
        _ if is_runner(program) => true,
        _ if DRIVERS.contains(&program) => driven(words).is_some_and(tests),
        _ if STARTERS.contains(&program) => {
            driven(words).is_some_and(|word| is_runner(basename(word)) || tests(word))
                || words.iter().any(|word| word == "--test")
        }
        _ => false,
    }
}

fn is_build(program: &str, words: &[String]) -> bool {
    const BUILDERS: [&str; 20] = [
        "gcc",
        "g++",
        "cc",
        "clang",
        "clang++",
        "rustc",
        "tsc",
        "eslint",
        "prettier",
        "ruff",
        "mypy",
        "flake8",
        "black",
        "webpack",
        "vite",
        "shellcheck",
        "javac",
        "biome",
        "pyright",
        "rustfmt",
    ];
    let starts = |word: &str| BUILDERS.contains(&basename(word));
    let other = ["run", "install", "add", "init", "new", "update", "tree", "search", "remove", "i", "ci"];
    match program {
        _ if BUILDERS.contains(&program) => true,
        "npm" | "pnpm" | "yarn" | "bun" => {
            words.get(1).is_some_and(|word| word == "run")
                || driven(words).is_some_and(|word| !other.contains(&word))
        }
        _ if DRIVERS.contains(&program) => driven(words).is_none_or(|word| !other.contains(&word)),
        _ if STARTERS.contains(&program) => driven(words).is_some_and(starts),
        _ => false,
    }
}

/// What a driver is to do: its first word that is no option. `run` and `exec` are what some scripts and starters are
/// behind.
fn driven(words: &[String]) -> Option<&str> {
    let is_cargo =
        words.first().is_some_and(|program| matches!(basename(program), "cargo" | "go" | "deno" | "zig"));
    let leads = |word: &str| !is_cargo && matches!(word, "run" | "exec");
    let rest = words.iter().skip(1).map(String::as_str);
    rest.filter(|word| !word.starts_with(['-', '+']) && !is_assignment(word)).find(|word| !leads(word))
}

/// One command of a line, without its redirections.
#[derive(Default)]
struct Part {
    words: Vec<String>,
    /// Takes the output of the part before it.
    is_piped: bool,
    /// The file that it writes to.
    target: Option<String>,
}

fn parts(command: &str) -> Vec<Part> {
    let mut shell = Shell { rest: command, parts: vec![], part: Part::default(), ends: vec![] };
    while !shell.rest.is_empty() {
        shell.step();
    }
    shell.finish(false);
    shell.parts
}

struct Shell<'a> {
    rest: &'a str,
    parts: Vec<Part>,
    part: Part,
    /// What ends the here documents that begin with the next line.
    ends: Vec<String>,
}

impl Shell<'_> {
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
        let part = std::mem::replace(&mut self.part, Part { is_piped, ..Part::default() });
        if !part.words.is_empty() {
            self.parts.push(part);
        }
    }

    fn operator(&mut self, c: char) {
        let is_double = self.rest.chars().nth(1) == Some(c);
        self.skip(if is_double || self.rest.starts_with("|&") { 2 } else { 1 });
        self.finish(c == '|' && !is_double);
    }

    /// `> file`, `2>&1`, `<<'EOF'`, `<<< text`: gone, but for the file that is written.
    fn redirect(&mut self) {
        let is_document = self.rest.starts_with("<<") && !self.rest.starts_with("<<<");
        let writes = self.rest.starts_with(['>', '&']);
        let operator = self.rest.len() - self.rest.trim_start_matches(['<', '>', '&', '|']).len();
        self.skip(operator);
        if is_document {
            self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        }
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let target = self.taken();
        if is_document {
            self.ends.push(target);
        } else if writes && !target.starts_with("/dev/") && !target.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.part.target = Some(target);
        }
    }

    fn word(&mut self) {
        let word = self.taken();
        let is_descriptor =
            word.bytes().all(|byte| byte.is_ascii_digit()) && self.rest.starts_with(['<', '>']);
        if !is_descriptor && (!word.is_empty()) {
            self.part.words.push(word);
        }
    }

    /// The next word, without its quotes.
    fn taken(&mut self) -> String {
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
        for end in std::mem::take(&mut self.ends) {
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
    fn check(command: &str, text: &str, purpose: Purpose) {
        let found = telling(command);
        assert_eq!((found.text.as_str(), found.purpose), (text, purpose), "{command}");
    }

    #[test]
    fn the_telling_part_is_shown() {
        check(
            "cd /long/path && RUST_LOG=debug timeout 60 cargo test -p x 2>&1 | tail -5",
            "cargo test -p x",
            Purpose::Test,
        );
        check(
            "cargo fmt && cargo clippy && cargo nextest run -p tow",
            "cargo nextest run -p tow",
            Purpose::Test,
        );
        check("bash -lc 'cd x && npm test -- --watch=false'", "npm test -- --watch=false", Purpose::Test);
        check("npm run test:unit", "npm run test:unit", Purpose::Test);
        check("npx vitest run", "npx vitest run", Purpose::Test);
        check("python -m pytest -q tests/a.py", "python -m pytest -q tests/a.py", Purpose::Test);
        check("go test ./...", "go test ./...", Purpose::Test);
        check("./test.sh", "test.sh", Purpose::Test);
        check("make -j4", "make -j4", Purpose::Build);
        check("npm install left-pad", "npm install left-pad", Purpose::Work);
        check("cargo run --bin x", "cargo run --bin x", Purpose::Work);
        check("cargo --locked build --release", "cargo --locked build --release", Purpose::Build);
        check("ls -la /home/dev/project/src | head", "ls -la project/src", Purpose::Look);
        check("git -C /x/y status --short", "git -C x/y status --short", Purpose::Look);
        check(
            "git add -A && git commit -qm 'Add a' && git log --oneline | head -1",
            "git commit -qm 'Add a'",
            Purpose::Ship,
        );
        check("for f in *.rs; do rustfmt $f; done", "rustfmt $f", Purpose::Build);
        check("echo in-bg; sleep 1", "echo in-bg", Purpose::Small);
        check("touch begun; until [ -e go ]; do sleep 0.2; done", "touch begun", Purpose::Small);
        check("exit 3", "exit 3", Purpose::Small);
        check("/usr/bin/python3 run.py > out.txt", "python3 run.py", Purpose::Work);
        check("# why\nrm -rf build # because", "rm -rf build", Purpose::Work);
        check("", "", Purpose::Small);
    }

    #[test]
    fn documents_within_a_command_are_passed_over() {
        check("cat > src/a.rs <<'EOF'\ncargo test\nEOF\n", "cat > src/a.rs", Purpose::Work);
        check("python3 - <<E\nimport os\nE\nmake", "make", Purpose::Build);
        check(
            "git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\" && git push",
            "git commit -m …",
            Purpose::Ship,
        );
        check("git commit -m 'Subject\n\nBody'", "git commit -m 'Subject…'", Purpose::Ship);
    }

    #[test]
    fn broken_commands_are_shown_as_they_are() {
        for command in ["'", "\"", "((((", "$(", "a 'b", "<<", "> ", "|||", "&&", "a <<X\nb", "\\", "2>&1"] {
            let _ = telling(command);
        }
        check("cargo test 'unclosed", "cargo test unclosed", Purpose::Test);
    }

    #[test]
    fn a_pipe_makes_an_output_partial() {
        assert!(telling("cargo test 2>&1 | tail -3").is_filtered);
        assert!(!telling("cargo test 2>&1; echo a | tail -3").is_filtered);
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

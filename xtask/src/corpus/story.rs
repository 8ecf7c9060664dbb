//! What the made-up sessions say: prompts, answers, tool calls and their outputs.
//!
//! Outputs are lines of this repository's code with other names in them; sentences are patterns filled with names, so
//! that words repeat as often as they do in real work. Must not know how a client stores them.

use std::path::Path;

use crate::files;
use crate::outcome::Result;

use super::chance::Chance;

const PROJECTS_PER_SESSION: u64 = 66;
const TWO_YEARS_S: u64 = 730 * 86_400;
/// 2024-11-01T00:00:00Z.
const FIRST_DAY_S: u64 = 1_730_419_200;

const NOUNS: [&str; 40] = [
    "session",
    "invoice",
    "cart",
    "tenant",
    "ledger",
    "queue",
    "cache",
    "token",
    "parser",
    "router",
    "index",
    "schema",
    "worker",
    "retry",
    "lease",
    "cursor",
    "batch",
    "webhook",
    "report",
    "upload",
    "thumbnail",
    "checkout",
    "refund",
    "mailer",
    "scheduler",
    "replica",
    "shard",
    "snapshot",
    "migration",
    "policy",
    "quota",
    "digest",
    "socket",
    "stream",
    "buffer",
    "locale",
    "currency",
    "account",
    "audit",
    "export",
];
const VERBS: [&str; 24] = [
    "load", "store", "merge", "split", "render", "validate", "encode", "decode", "flush", "rotate",
    "resolve", "schedule", "cancel", "refund", "replay", "trim", "lock", "release", "measure", "notify",
    "import", "archive", "sign", "verify",
];
const LIBRARIES: [&str; 12] = [
    "serde",
    "tokio",
    "axum",
    "sqlx",
    "redis",
    "postgres",
    "sqlite",
    "tantivy",
    "rayon",
    "BullMQ",
    "graphile-worker",
    "zod",
];
const REASONS: [&str; 10] = [
    "it loses messages after a restart",
    "the pool was exhausted under load",
    "the lock was held over an await",
    "the clock of the test was not frozen",
    "the index did not cover the tenant",
    "the retry had no upper bound",
    "the header was missing in older clients",
    "a null locale reached the formatter",
    "the migration ran twice",
    "the cache key ignored the currency",
];
const ERRORS: [&str; 8] = [
    "thread 'main' panicked at 'called `Option::unwrap()` on a `None` value'",
    "error[E0502]: cannot borrow as mutable",
    "TypeError: Cannot read properties of undefined",
    "sqlite3.OperationalError: database is locked",
    "error: could not compile, 3 previous errors",
    "FATAL: remaining connection slots are reserved",
    "AssertionError: expected 200, got 503",
    "ECONNREFUSED 127.0.0.1:5432",
];
const TOOLS: [&str; 6] = ["Read", "Bash", "Edit", "Grep", "Bash", "Read"];

pub struct Storyteller {
    code: Vec<String>,
    projects: u64,
    most_turns: u64,
}

#[derive(Clone)]
pub struct Session {
    pub number: u64,
    pub id: String,
    pub project: u64,
    pub started_s: u64,
    pub turns: u64,
    pub subagents: u64,
    /// The transcript gets further turns until it has this size.
    pub least_bytes: u64,
}

impl Session {
    pub fn folder(&self) -> String {
        format!("/home/dev/{}-{}", NOUNS[self.project as usize % NOUNS.len()], self.project)
    }

    /// The session that continues this one under another id.
    pub fn fork(&self) -> Session {
        let id = format!("f{}", &self.id[1..]);
        Session { id, subagents: 0, ..self.clone() }
    }
}

pub struct Turn {
    pub prompt: String,
    pub calls: Vec<Call>,
    pub answer: String,
}

pub struct Call {
    pub tool: &'static str,
    pub target: String,
    pub output: String,
    pub is_error: bool,
}

impl Storyteller {
    pub fn load(crates: &Path, sessions: u64) -> Result<Storyteller> {
        let mut found = files::below(crates)?;
        found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
        let mut code = vec![];
        for path in found {
            code.extend(files::read(&path)?.lines().map(str::to_owned));
        }
        Ok(Storyteller { code, projects: (sessions / PROJECTS_PER_SESSION).max(3), most_turns: 120 })
    }

    /// Sessions with up to this many turns.
    pub fn with_most_turns(self, most_turns: u64) -> Storyteller {
        Storyteller { most_turns: most_turns.max(1), ..self }
    }

    pub fn session(&self, chance: &mut Chance, number: u64, of: u64) -> Session {
        let id =
            format!("{number:08x}-{:04x}-4000-8000-{:012x}", chance.below(1 << 16), chance.below(1 << 48));
        Session {
            number,
            id,
            project: chance.skewed(self.projects),
            started_s: FIRST_DAY_S + TWO_YEARS_S * number.min(of) / of,
            turns: chance.size(1, self.most_turns),
            subagents: if chance.is_one_in(3) { chance.size(1, 12) } else { 0 },
            least_bytes: 0,
        }
    }

    pub fn turn(&self, chance: &mut Chance, session: &Session) -> Turn {
        let calls = (0..chance.size(0, 14)).map(|_| self.call(chance, session)).collect();
        let answer = (0..chance.size(1, 9)).map(|_| sentence(chance, session)).collect::<Vec<_>>().join(" ");
        Turn { prompt: prompt(chance, session), calls, answer }
    }

    fn call(&self, chance: &mut Chance, session: &Session) -> Call {
        let tool = *chance.pick(&TOOLS);
        let is_error = tool == "Bash" && chance.is_one_in(6);
        let target = match tool {
            "Bash" => command(chance),
            "Grep" => name(chance),
            _ => path(chance, session),
        };
        let bytes =
            if chance.is_one_in(400) { chance.size(50_000, 300_000) } else { chance.size(40, 12_000) };
        let mut output = if is_error { format!("{}\n", chance.pick(&ERRORS)) } else { String::new() };
        let mut line = chance.below(self.code.len() as u64) as usize;
        while (output.len() as u64) < bytes {
            output.push_str(&self.code[line % self.code.len()]);
            if chance.is_one_in(6) {
                output.push_str(&format!(" // {}", name(chance)));
            }
            output.push('\n');
            line += 1;
        }
        Call { tool, target, output, is_error }
    }
}

/// A name of the code: few frequent ones, and a hundred thousand rare ones.
fn name(chance: &mut Chance) -> String {
    let (verb, noun) = (*chance.pick(&VERBS), *chance.pick(&NOUNS));
    match chance.skewed(100) {
        0 => format!("{verb}_{noun}"),
        number => format!("{verb}_{noun}_{number}"),
    }
}

fn path(chance: &mut Chance, session: &Session) -> String {
    let (folder, file) = (*chance.pick(&NOUNS), *chance.pick(&VERBS));
    format!("{}/src/{folder}/{file}_{}.rs", session.folder(), chance.skewed(30))
}

fn command(chance: &mut Chance) -> String {
    match chance.below(5) {
        0 => format!("cargo test {}", name(chance)),
        1 => format!("git commit -qm 'fix: {} {}'", chance.pick(&VERBS), chance.pick(&NOUNS)),
        2 => format!("rg -n {} src", name(chance)),
        3 => format!("npm run build -- --only {}", chance.pick(&NOUNS)),
        _ => "cargo clippy --all-targets".to_owned(),
    }
}

fn prompt(chance: &mut Chance, session: &Session) -> String {
    match chance.below(9) {
        0 => format!("why does {} fail in {}?", name(chance), path(chance, session)),
        1 => format!("rename {} to {} everywhere", name(chance), name(chance)),
        2 => format!("the {} page shows \"{}\", please fix it", chance.pick(&NOUNS), chance.pick(&ERRORS)),
        3 => format!("what did we decide about the {}?", chance.pick(&NOUNS)),
        4 => "go on".to_owned(),
        5 => format!("add a test for {} with an empty {}", name(chance), chance.pick(&NOUNS)),
        6 => format!(
            "always use {} for the {}, never {}",
            chance.pick(&LIBRARIES),
            chance.pick(&NOUNS),
            chance.pick(&LIBRARIES)
        ),
        7 => format!(
            "warum ist die {} so langsam? bitte in {} nachsehen",
            chance.pick(&NOUNS),
            path(chance, session)
        ),
        _ => format!(
            "make {} faster; it takes {} ms with {} rows",
            name(chance),
            chance.below(900),
            chance.below(90_000)
        ),
    }
}

fn sentence(chance: &mut Chance, session: &Session) -> String {
    match chance.below(8) {
        0 => format!(
            "I changed `{}`: `{}` now checks the {} first.",
            path(chance, session),
            name(chance),
            chance.pick(&NOUNS)
        ),
        1 => format!(
            "We decided to use {} instead of {} for the {}, because {}.",
            chance.pick(&LIBRARIES),
            chance.pick(&LIBRARIES),
            chance.pick(&NOUNS),
            chance.pick(&REASONS)
        ),
        2 => format!("The cause was in `{}`: {}.", path(chance, session), chance.pick(&REASONS)),
        3 => format!("All {} tests of the {} pass now.", chance.below(400), chance.pick(&NOUNS)),
        4 => format!("`{}` still fails with \"{}\".", name(chance), chance.pick(&ERRORS)),
        5 => format!(
            "Next I would {} the {} in {}.",
            chance.pick(&VERBS),
            chance.pick(&NOUNS),
            path(chance, session)
        ),
        6 => format!(
            "Note that the {} depends on `{}`, so both have to change together.",
            chance.pick(&NOUNS),
            name(chance)
        ),
        _ => format!(
            "The {} took {} ms before and takes {} ms now.",
            chance.pick(&NOUNS),
            chance.below(2_000),
            chance.below(90)
        ),
    }
}

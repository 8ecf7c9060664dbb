//! `tow complete`: the words that may follow on a command line, for the shell scripts of `tow config completions`.
//!
//! Reads the grammar and lists of the archive. Prints nothing rather than an error: the user is in the middle of a line.

use crate::commands::{self, Names};
use crate::scope::Scope;
use clap::{Arg, Args, Command, ValueEnum};
use std::collections::BTreeSet;
use towline_agents::Agent;
use towline_engine::index::labels::short;
use towline_engine::query::{
    BookmarksRequest, MemoriesRequest, ProjectScope, SessionsRequest, bookmarks, memories, overview, sessions,
};
use towline_engine::runtime::config::effective;
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Env, Failure};

/// A longer list helps nobody, and a shell asks before it shows one.
const MOST: usize = 50;

/// Complete a command line.
#[derive(Debug, Args)]
pub struct Arguments {
    shell: CompletionShell,
    /// The words after `tow`, up to the one at the cursor, which may be empty.
    #[arg(last = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

/// A word, and what it means.
struct Candidate {
    word: String,
    about: String,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    // bash gives the `=` of `--option=value` as a word of its own.
    let words: Vec<&str> = arguments.words.iter().map(String::as_str).filter(|word| *word != "=").collect();
    let (typed, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (*last, before));
    let grammar = commands::grammar(Names::Shown);
    let mut met = BTreeSet::new();
    let fitting = Line::read(&grammar, before).candidates(&scope.env, typed).into_iter();
    for candidate in fitting.filter(|it| it.word.starts_with(typed) && met.insert(it.word.clone())) {
        scope.out.line(&candidate.for_shell(arguments.shell));
    }
    Ok(())
}

impl Candidate {
    fn new(word: impl Into<String>, about: &str) -> Candidate {
        Candidate { word: word.into(), about: plain_text(about.lines().next().unwrap_or_default()) }
    }

    fn for_shell(&self, shell: CompletionShell) -> String {
        let Candidate { word, about } = self;
        match shell {
            CompletionShell::Bash => word.clone(),
            CompletionShell::Fish => format!("{word}\t{about}"),
            CompletionShell::Zsh if about.is_empty() => word.replace(':', "\\:"),
            CompletionShell::Zsh => format!("{}:{about}", word.replace(':', "\\:")),
        }
    }
}

/// The command that the words before the cursor name, and what comes next in it.
struct Line<'a> {
    command: &'a Command,
    /// The words of the command, without options and values.
    path: Vec<&'a str>,
    /// How many positional values it already has.
    values: usize,
    /// The option whose value comes next.
    option: Option<&'a Arg>,
}

impl<'a> Line<'a> {
    fn read(grammar: &'a Command, words: &[&str]) -> Line<'a> {
        let mut line = Line { command: grammar, path: vec![], values: 0, option: None };
        words.iter().for_each(|word| line.take(word));
        line
    }

    fn take(&mut self, word: &str) {
        if self.option.take().is_some() {
            return;
        }
        if word.starts_with('-') && word.len() > 1 {
            self.option =
                self.option_called(word).filter(|option| takes_value(option) && !word.contains('='));
        } else if let Some(found) = self.command.find_subcommand(word).filter(|_| self.values == 0) {
            self.command = found;
            self.path.push(found.get_name());
        } else {
            self.values += 1;
        }
    }

    fn option_called(&self, word: &str) -> Option<&'a Arg> {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        let is_short = !word.starts_with("--");
        self.command.get_opts().find(|option| {
            let short = option.get_short().map(String::from);
            if is_short {
                short.as_deref() == name.get(name.len() - 1..)
            } else {
                option.get_long() == Some(name)
            }
        })
    }

    fn candidates(&self, env: &Env, typed: &str) -> Vec<Candidate> {
        if let Some(option) = self.option {
            return self.values_of(env, option);
        }
        if let Some((name, _)) = typed.split_once('=').filter(|_| typed.starts_with("--")) {
            let values =
                self.option_called(name).map(|option| self.values_of(env, option)).unwrap_or_default();
            let joined = |it: Candidate| Candidate { word: format!("{name}={}", it.word), ..it };
            return values.into_iter().map(joined).collect();
        }
        if typed.starts_with('-') {
            return self.options();
        }
        let shown = self.command.get_subcommands().filter(|it| !it.is_hide_set() && self.values == 0);
        let mut found: Vec<Candidate> =
            shown.map(|it| Candidate::new(it.get_name(), &about(it.get_about()))).collect();
        let positionals: Vec<&Arg> = self.command.get_positionals().filter(|it| !it.is_hide_set()).collect();
        if let Some(positional) = positionals.get(self.values).or(positionals.last()) {
            found.extend(self.values_of(env, positional));
        }
        found
    }

    fn options(&self) -> Vec<Candidate> {
        let named = self.command.get_arguments().filter(|option| !option.is_hide_set());
        let found = named.filter_map(|option| {
            Some(Candidate::new(format!("--{}", option.get_long()?), &about(option.get_help())))
        });
        found.chain([Candidate::new("--help", "Print help")]).collect()
    }

    fn values_of(&self, env: &Env, argument: &Arg) -> Vec<Candidate> {
        let listed = argument.get_possible_values();
        if !listed.is_empty() {
            return listed.iter().map(|it| Candidate::new(it.get_name(), &about(it.get_help()))).collect();
        }
        let kinds = kinds(&self.path, argument.get_id().as_str(), argument.is_positional());
        kinds.iter().flat_map(|kind| kind.list(env).unwrap_or_default()).collect()
    }
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Values that Towline can list.
#[derive(Clone, Copy)]
enum ValueKind {
    Agent,
    Bookmark,
    ConfigKey,
    Memory,
    Project,
    Session,
}

/// The values that an argument takes, by its command and its name in the grammar.
fn kinds(path: &[&str], argument: &str, is_positional: bool) -> &'static [ValueKind] {
    use ValueKind::{Agent, Bookmark, ConfigKey, Memory, Project, Session};
    match (path, argument) {
        (["goto" | "why"] | ["session", "resume"], _) if is_positional => &[Project, Session],
        (["show"] | ["memory", "timeline"] | ["data", "forget"], _) if is_positional => &[Memory, Session],
        (["session", ..], _) if is_positional => &[Session],
        (["memory", _], "id" | "ids" | "by" | "before") => &[Memory],
        (["bookmark", _], "id") => &[Bookmark],
        (["config", ..], "key") => &[ConfigKey],
        (["new"] | ["data", "import"], _) if is_positional => &[Agent],
        (_, "session" | "from") => &[Session],
        (_, "agent" | "agents") => &[Agent],
        (_, "project") => &[Project],
        _ => &[],
    }
}

impl ValueKind {
    fn list(self, env: &Env) -> Result<Vec<Candidate>, Failure> {
        Ok(match self {
            ValueKind::Agent => {
                Agent::ALL.iter().map(|agent| Candidate::new(agent.name(), agent.title())).collect()
            }
            ValueKind::Bookmark => {
                let request = BookmarksRequest {
                    session: None,
                    project: None,
                    all_projects: true,
                    search: None,
                    with_deleted: false,
                    limit: MOST,
                };
                let found = bookmarks(env, &request)?.bookmarks.into_iter();
                found.map(|it| Candidate::new(short(it.row.bookmark.uid), &it.label)).collect()
            }
            ValueKind::ConfigKey => {
                let values = effective(env)?.values.into_iter();
                values.map(|(key, value)| Candidate::new(key, &value)).collect()
            }
            ValueKind::Memory => {
                let request = MemoriesRequest {
                    project: ProjectScope::All,
                    limit: u32::try_from(MOST).unwrap_or(u32::MAX),
                    ..MemoriesRequest::default()
                };
                let found = memories(env, &request)?.memories.into_iter();
                found.map(|it| Candidate::new(format!("m{}", it.number), &it.content.title)).collect()
            }
            ValueKind::Project => {
                let found = overview::projects(env)?.into_iter();
                found.map(|it| Candidate::new(it.name, &it.root)).collect()
            }
            ValueKind::Session => {
                let request = SessionsRequest {
                    scope: ProjectScope::All,
                    since: None,
                    before: None,
                    agent: None,
                    limit: MOST,
                };
                let found = sessions(env, &request)?.sessions.into_iter();
                found.map(|it| Candidate::new(it.of.short, &it.first.unwrap_or_default())).collect()
            }
        })
    }
}

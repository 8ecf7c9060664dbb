//! Resolves the target of `tow data forget`: turns, sessions, a project, a time span, a text.
//!
//! Reads the rows as last applied. Never guesses: an ambiguous name is an error that lists all candidates.

use crate::memory::remember::{is_memory_id, memories_named, no_memory, numbers};
use crate::runtime::calendar::{clock, stretch, today};
use crate::runtime::{Env, Failure, projects, settings};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use towline_core::forget::{ForgetText, TimeRange};
use towline_core::id::SessionKey;
use towline_core::memory::name;
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;
use towline_core::when::{SessionHint, TimeExpression};
use towline_store::archive::{Archive, Conversation};
use towline_store::erase::EraseSelection;
use towline_store::{ProjectLocation, Store, StoreError};

const PATIENCE: Duration = Duration::from_secs(5);

/// The arguments as typed.
#[derive(Default)]
pub struct Request<'a> {
    /// A turn, turns, a session, a time, or memories.
    pub what: Option<&'a str>,
    pub project: Option<&'a str>,
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
    /// Everything that holds this text; excludes the other fields.
    pub text: Option<&'a str>,
}

/// The resolved target.
pub enum Meant {
    Turns { of: Conversation, from: u32, to: u32 },
    Sessions { sessions: Vec<SessionKey>, stretch: TimeRange },
    Project { project: ProjectLocation, stretch: TimeRange },
    Everyone { stretch: TimeRange },
    Memories(Vec<i64>),
    Text(Arc<ForgetText>),
}

pub fn find(env: &Env, request: &Request<'_>) -> Result<Meant, Failure> {
    if let Some(text) = request.text {
        let short =
            || Failure::input("the text is too short: it would stand everywhere").hint("Give more of it.");
        return ForgetText::new(text).map(|needle| Meant::Text(Arc::new(needle))).ok_or_else(short);
    }
    if let Some(names) = request.what.and_then(memory_names) {
        return memories(env, request, &names);
    }
    let wanted = request.what.map(parse).transpose()?;
    let bounds = bounds(env, request)?;
    match (wanted, request.project) {
        (Some(TimeExpression::Turn { detail: Some(_), .. }), _) => {
            Err(Failure::input("a detail cannot be forgotten by its number")
                .hint("Forget its turn, or what it says by `--match`."))
        }
        (Some(TimeExpression::Turn { session, from, to, .. }), None) if bounds.is_none() => {
            turns(env, &session, from, to)
        }
        (Some(TimeExpression::Session(hint)), None) => session(env, &hint, bounds),
        (Some(TimeExpression::Turn { .. } | TimeExpression::Session(_)), _) => {
            Err(Failure::input("turns are forgotten by their numbers alone, sessions not by project")
                .hint("Run `tow data forget --help`."))
        }
        (Some(time), name) if bounds.is_none() => scoped(env, name, Some(moments(env, &time)?)),
        (Some(_), _) => Err(Failure::input("the time is given twice").hint("Run `tow data forget --help`.")),
        (None, None) if bounds.is_none() => Err(Failure::input("nothing was named that should be forgotten")
            .hint("Run `tow data forget --help`.")),
        (None, name) => scoped(env, name, bounds),
    }
}

/// The words, if all of them are memory ids.
fn memory_names(what: &str) -> Option<Vec<String>> {
    let words: Vec<String> = what.split_whitespace().map(str::to_owned).collect();
    (!words.is_empty() && words.iter().all(|word| is_memory_id(word))).then_some(words)
}

fn memories(env: &Env, request: &Request<'_>, names: &[String]) -> Result<Meant, Failure> {
    if request.project.is_some() || request.since.is_some() || request.until.is_some() {
        return Err(Failure::input("memories are forgotten by their names alone")
            .hint("Leave out `--project`, `--since` and `--until`."));
    }
    let wanted = numbers(names)?;
    let first = wanted.first().copied().unwrap_or_default();
    let archive = Archive::read(&env.home, PATIENCE)?.ok_or_else(|| no_memory(first))?;
    if !archive.has_memory_tables()? {
        return Err(no_memory(first));
    }
    memories_named(&archive, names)?;
    Ok(Meant::Memories(wanted))
}

fn parse(text: &str) -> Result<TimeExpression, Failure> {
    TimeExpression::parse(text)
        .map_err(|error| Failure::input(error.to_string()).hint("Run `tow data forget --help`."))
}

/// The span from `--since` to `--until`, if one of them is given.
fn bounds(env: &Env, request: &Request<'_>) -> Result<Option<TimeRange>, Failure> {
    let at = |text: &str| moments(env, &parse(text)?);
    let since = request.since.map(at).transpose()?;
    let until = request.until.map(at).transpose()?;
    if since.is_none() && until.is_none() {
        return Ok(None);
    }
    let from = since.map_or(Timestamp(0), |stretch| stretch.from);
    let until = until.map_or(env.now, |stretch| stretch.until);
    if from > until {
        return Err(
            Failure::input("the time ends before it begins").hint("Exchange `--since` and `--until`.")
        );
    }
    Ok(Some(TimeRange { from, until }))
}

/// The latest past span that an expression can mean. The future is excluded: `today` ends now.
fn moments(env: &Env, wanted: &TimeExpression) -> Result<TimeRange, Failure> {
    let ends =
        |(from, until): (Timestamp, Timestamp)| TimeRange { from, until: until.plus_ms(-1).min(env.now) };
    let days = || today(env.now).into_iter().flat_map(|today| wanted.windows(today));
    let civil = || days().filter_map(stretch).find(|(from, _)| *from <= env.now);
    wanted.range(env.now).or_else(civil).map(ends).ok_or_else(|| {
        Failure::input(format!("`{wanted}` is no time that has been")).hint("Run `tow data forget --help`.")
    })
}

/// A time span of one project or of everything.
fn scoped(env: &Env, project: Option<&str>, stretch: Option<TimeRange>) -> Result<Meant, Failure> {
    match (project, stretch) {
        (Some(name), stretch) => {
            let project = named_project(env, name)?;
            let stretch = match stretch {
                Some(stretch) => stretch,
                None => so_far(env, &sessions_of(env, &project)?)?,
            };
            Ok(Meant::Project { project, stretch })
        }
        (None, Some(stretch)) => Ok(Meant::Everyone { stretch }),
        (None, None) => Err(Failure::input("nothing was named").hint("Run `tow data forget --help`.")),
    }
}

fn turns(env: &Env, hint: &SessionHint, from: u32, to: u32) -> Result<Meant, Failure> {
    let none =
        || Failure::input(format!("no turn `{hint}#{from}` was captured")).hint("Run `tow session list`.");
    let archive = Archive::read(&env.home, PATIENCE)?.ok_or_else(none)?;
    let mut found = archive.conversations_called(&hint.id)?;
    found.retain(|conversation| hint.fits(&conversation.session));
    let of = only(found, |one| one.session.to_string(), none)?;
    if archive.turns(&of, from, to)?.is_empty() {
        return Err(none());
    }
    Ok(Meant::Turns { of, from, to })
}

/// Finds a session by captured turns, by hook events, or by rows from another machine.
fn session(env: &Env, hint: &SessionHint, bounds: Option<TimeRange>) -> Result<Meant, Failure> {
    let mut keys: BTreeSet<SessionKey> = BTreeSet::new();
    if let Some(archive) = Archive::read(&env.home, PATIENCE)? {
        let found = archive.conversations_called(&hint.id)?;
        keys.extend(found.into_iter().map(|conversation| conversation.session));
        keys.extend(archive.noted_sessions_called(&hint.id)?);
    }
    if let Some(store) = Store::read(&env.home, PATIENCE)? {
        keys.extend(store.sessions_named(&hint.id)?);
        keys.extend(store.remote_sessions_named(&hint.id)?);
    }
    keys.retain(|key| hint.fits(key));
    let none = || {
        Failure::input(format!("no session's id begins or ends with `{hint}`"))
            .hint("Run `tow session list`.")
    };
    let key = only(keys.into_iter().collect(), ToString::to_string, none)?;
    let sessions = vec![key];
    let stretch = bounds.map_or_else(|| so_far(env, &sessions), Ok)?;
    Ok(Meant::Sessions { sessions, stretch })
}

/// Everything up to now, including rows dated later by a wrong clock.
fn so_far(env: &Env, sessions: &[SessionKey]) -> Result<TimeRange, Failure> {
    let archive = Archive::read(&env.home, PATIENCE)?;
    let store = Store::read(&env.home, PATIENCE)?;
    let mut until = env.now;
    for key in sessions {
        let captured = archive.as_ref().map(|archive| archive.conversation(key)).transpose()?;
        let noted = archive.as_ref().map(|archive| archive.last_noted(key)).transpose()?;
        until = until.max(noted.flatten().unwrap_or(until));
        let heard = store.as_ref().map(|store| store.session(key)).transpose()?;
        until = until.max(captured.flatten().map_or(until, |conversation| conversation.last_at));
        until = until.max(heard.flatten().map_or(until, |session| session.last_event_at));
    }
    Ok(TimeRange { from: Timestamp(0), until })
}

/// A project by its name, or by a folder in it.
fn named_project(env: &Env, name: &str) -> Result<ProjectLocation, Failure> {
    let mut known = BTreeSet::new();
    if let Some(archive) = Archive::read(&env.home, PATIENCE)? {
        known.extend(archive.projects()?);
    }
    if let Some(store) = Store::read(&env.home, PATIENCE)? {
        let rows = store.projects()?.into_iter();
        known.extend(rows.map(|(name, root, remote)| ProjectLocation { name, root, remote }));
    }
    let traces = folder(name).map(|folder| projects::traces(&settings(env), &folder));
    let is_meant = |project: &ProjectLocation| match &traces {
        Some(traces) => is_same(project, traces) || project.root == name,
        None => project.name == name || project.root == name,
    };
    let found: Vec<ProjectLocation> = known.into_iter().filter(is_meant).collect();
    let none = || {
        Failure::input(format!("nothing is kept of a project `{name}`"))
            .hint("Give its folder, or run `tow session list`.")
    };
    // One project may have two rows: with its root in one database, with its remote in the other.
    if let [first, rest @ ..] = found.as_slice()
        && rest.iter().all(|other| other.root == first.root)
    {
        let remote = found.iter().find_map(|project| project.remote.clone());
        return Ok(ProjectLocation { remote, ..first.clone() });
    }
    only(found, |project| project.root.clone(), none)
}

/// The folder that the name denotes; a name without a slash is a project's.
fn folder(name: &str) -> Option<std::path::PathBuf> {
    let path = if name.starts_with('/') {
        Path::new(name).to_owned()
    } else {
        crate::runtime::env::current_folder()?.join(name)
    };
    (name.contains('/') || name == ".").then(|| std::fs::canonicalize(&path).unwrap_or(path))
}

fn is_same(project: &ProjectLocation, traces: &ProjectIdentity) -> bool {
    traces.matches_project(&project.root, project.remote.as_deref())
}

/// All sessions of a project, captured or known from hooks.
fn sessions_of(env: &Env, project: &ProjectLocation) -> Result<Vec<SessionKey>, Failure> {
    let store = Store::read(&env.home, PATIENCE)?;
    let mut keys = store.map(|store| heard_of(&store, project)).transpose()?.unwrap_or_default();
    keys.extend(captured_of(env, project)?);
    Ok(keys.into_iter().collect())
}

fn heard_of(store: &Store, project: &ProjectLocation) -> Result<BTreeSet<SessionKey>, StoreError> {
    let sessions = store.sessions()?.into_iter();
    let is_meant = |traces: &ProjectIdentity| is_same(project, traces);
    Ok(sessions
        .filter(|session| session.project.as_ref().is_some_and(is_meant))
        .map(|session| session.key)
        .collect())
}

fn captured_of(env: &Env, project: &ProjectLocation) -> Result<Vec<SessionKey>, StoreError> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(vec![]) };
    let (root, remote) = (project.root.clone(), project.remote.clone());
    let traces = ProjectIdentity { root, remote, ..ProjectIdentity::default() };
    let Some(row) = archive.project(&traces)? else { return Ok(vec![]) };
    let all = archive.latest_conversations(Some(row), usize::MAX)?;
    let captured = all.into_iter().map(|conversation| conversation.session);
    Ok(captured.chain(archive.noted_sessions_in(row)?).collect())
}

fn only<T>(mut found: Vec<T>, name: impl Fn(&T) -> String, none: impl Fn() -> Failure) -> Result<T, Failure> {
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(name).collect();
        return Err(
            Failure::input("several could be meant").hint(format!("Give one of: {}.", names.join(", ")))
        );
    }
    found.pop().ok_or_else(none)
}

impl Meant {
    /// Description of the target; a text is not repeated.
    pub fn describe(&self, now: Timestamp) -> String {
        let when = |stretch: &TimeRange| match stretch.from {
            Timestamp(0) => format!("until {}", clock(stretch.until, now)),
            from => format!("from {} until {}", clock(from, now), clock(stretch.until, now)),
        };
        match self {
            Meant::Turns { of, from, to } if from == to => {
                format!("turn {}#{from} of {}", of.short, of.session.agent)
            }
            Meant::Turns { of, from, to } => {
                format!("turns {}#{from}-{to} of {}", of.short, of.session.agent)
            }
            Meant::Sessions { sessions, stretch } => {
                let names: Vec<String> = sessions.iter().map(ToString::to_string).collect();
                format!("{} {}", names.join(", "), when(stretch))
            }
            Meant::Project { project, stretch } => {
                format!("the project {} ({}) {}", project.name, project.root, when(stretch))
            }
            Meant::Everyone { stretch } => format!("everything {}", when(stretch)),
            Meant::Memories(numbers) => {
                let names: Vec<String> = numbers.iter().map(|number| name(*number)).collect();
                format!("what is remembered as {}", names.join(", "))
            }
            Meant::Text(_) => "everything that holds the text".to_owned(),
        }
    }

    /// The hook events and rows it covers.
    pub(super) fn traces(&self, store: &Store, env: &Env) -> Result<Vec<EraseSelection>, StoreError> {
        Ok(match self {
            Meant::Turns { of, from, to } => vec![heard_turns(store, env, of, *from, *to)?],
            Meant::Sessions { sessions, stretch } => {
                vec![EraseSelection::Sessions {
                    sessions: sessions.iter().cloned().collect(),
                    stretch: *stretch,
                }]
            }
            Meant::Project { project, stretch } => {
                let mut sessions = heard_of(store, project)?;
                sessions.extend(captured_of(env, project)?);
                vec![EraseSelection::Sessions { sessions, stretch: *stretch }]
            }
            Meant::Everyone { stretch } => vec![EraseSelection::Everyone { stretch: *stretch }],
            Meant::Memories(_) => vec![],
            Meant::Text(needle) => vec![EraseSelection::Text(needle.clone())],
        })
    }

    /// Names that identify log lines about it.
    pub(super) fn needles(&self) -> Vec<Arc<ForgetText>> {
        let named = |name: &str| ForgetText::new(name).map(Arc::new);
        match self {
            Meant::Turns { .. } | Meant::Everyone { .. } | Meant::Memories(_) => vec![],
            Meant::Sessions { sessions, .. } => {
                sessions.iter().filter_map(|key| named(key.id.as_str())).collect()
            }
            Meant::Project { project, .. } => named(&project.root).into_iter().collect(),
            Meant::Text(needle) => vec![needle.clone()],
        }
    }
}

/// Largest distance between a prompt's entry in the transcript and its hook event.
const TOGETHER_MS: i64 = 10_000;

/// From the prompt of the first turn to the prompt after the last one, by their hook events.
fn heard_turns(
    store: &Store,
    env: &Env,
    of: &Conversation,
    from: u32,
    to: u32,
) -> Result<EraseSelection, StoreError> {
    let heard: Vec<Timestamp> = store.hook_turns(&of.session)?.iter().map(|turn| turn.started_at).collect();
    let archive = Archive::read(&env.home, PATIENCE)?;
    let turns = archive.map(|archive| archive.turns(of, from, u32::MAX)).transpose()?.unwrap_or_default();
    let told = |at: Timestamp| {
        let apart = |heard: &Timestamp| heard.since_ms(at).max(at.since_ms(*heard));
        heard.iter().copied().min_by_key(apart).filter(|heard| apart(heard) <= TOGETHER_MS).unwrap_or(at)
    };
    let first = turns.first().map_or(of.last_at, |turn| told(turn.at));
    let last = turns.iter().rfind(|turn| turn.ordinal <= to).map_or(first, |turn| told(turn.at));
    let captured = turns.iter().find(|turn| turn.ordinal > to).map(|turn| told(turn.at));
    let next = heard.iter().copied().filter(|heard| *heard > last).chain(captured).min();
    let until = next.map_or_else(|| env.now.max(of.last_at), |next| next.plus_ms(-1));
    let sessions = BTreeSet::from([of.session.clone()]);
    Ok(EraseSelection::Sessions { sessions, stretch: TimeRange { from: first, until: until.max(first) } })
}

//! Doctor checks outside the data folder: our program, the agents and their settings.
//!
//! Changes nothing: every fix is a command for the user to run.

use super::check::Check;
use crate::verbs::install::{command_to_register, is_found};
use crate::verbs::managed;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use towline_agents::Agent;
use towline_agents::settings::{
    EditRefusal, Inspection, ManagedContent, OwnedFile, OwnedFileState, RetryPace, ServerState,
    StatusLineState,
};
use towline_engine::memory::gotchas;
use towline_engine::runtime::env::{GUARD, find_in_path, own_program};
use towline_engine::runtime::{Config, Env, chain, settings, variable};

/// Checks that `tow` on the PATH is this program.
pub fn program() -> Check {
    let own = own_program();
    let here = own.as_deref().map_or_else(|| "?".to_owned(), |path| path.display().to_string());
    let version = env!("CARGO_PKG_VERSION");
    match find_in_path("tow") {
        Some(found)
            if found.canonicalize().ok() == own.as_ref().and_then(|path| path.canonicalize().ok()) =>
        {
            Check::good("program", format!("tow {version} at {}", found.display()))
        }
        Some(other) => Check::warning(
            "program",
            format!("this is {here}, but `tow` on the PATH is {}", other.display()),
            "remove one of them, or put the right one first on the PATH",
        ),
        None => Check::warning(
            "program",
            format!("{here} is not on the PATH"),
            format!("add {} to the PATH", parent(&here)),
        ),
    }
}

fn parent(path: &str) -> String {
    Path::new(path).parent().map_or_else(|| path.to_owned(), |folder| folder.display().to_string())
}

/// Checks each installed agent: version, hooks, status line, our skills and our MCP server.
pub fn all() -> Vec<Check> {
    let (found, absent): (Vec<_>, Vec<_>) = Agent::ALL.into_iter().partition(|agent| is_found(*agent));
    let mut checks: Vec<Check> = found.iter().flat_map(|agent| of_one(*agent)).collect();
    checks.extend(
        absent.iter().map(|agent| Check::good(agent.name(), format!("{} is not here", agent.title()))),
    );
    checks
}

/// Whether an agent has an entry or a plugin of ours. Unreadable settings count as none.
pub fn is_any_agent_hooked() -> bool {
    let has_entry = |found: &Inspection| !found.right.is_empty() || !found.stale.is_empty();
    let has_plugin = |folder: PathBuf, agent: Agent| agent.enabled_plugin(&folder).is_some();
    Agent::ALL.into_iter().filter(|agent| is_found(*agent)).any(|agent| {
        inspected(agent).is_ok_and(|(folder, found)| has_entry(&found) || has_plugin(folder, agent))
    })
}

fn of_one(agent: Agent) -> Vec<Check> {
    let inspected = inspected(agent);
    let line = inspected.as_ref().ok().and_then(|(_, inspection)| inspection.line.as_ref());
    let line = line.map(|line| status_line(agent, line));
    let plugin = agent.folder(&variable).and_then(|folder| agent.enabled_plugin(&folder));
    let name = format!("{} hooks", agent.name());
    let hooks = match (inspected, &plugin) {
        (Err((wrong, mend)), _) => Check::bad(name, wrong, mend),
        (Ok((folder, inspection)), Some(plugin)) => by_plugin(agent, name, plugin, &folder, &inspection),
        (Ok((folder, inspection)), None) => hooks(agent, name, &folder, &inspection),
    };
    let ours = if plugin.is_some() { vec![hooks] } else { vec![hooks, skills(agent), server(agent)] };
    [client(agent)].into_iter().chain(line).chain(ours).collect()
}

fn client(agent: Agent) -> Check {
    let Some(program) = find_in_path(agent.name()) else {
        return Check::good(
            agent.name(),
            format!("{} has a settings folder, but is not on the PATH of this shell", agent.title()),
        );
    };
    match version_of(&program) {
        Some(version) => Check::good(agent.name(), format!("{version} at {}", program.display())),
        None => Check::warning(
            agent.name(),
            format!("{} does not tell its version", program.display()),
            format!("run `{} --version`", program.display()),
        ),
    }
}

#[expect(clippy::disallowed_methods, reason = "the doctor asks the client for its version")]
fn version_of(program: &Path) -> Option<String> {
    let mut client = Command::new(program);
    client.arg("--version").env(GUARD, "1").stdin(Stdio::null()).stderr(Stdio::null());
    let output = client.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The agent's folder and the state of our entries in it; if it cannot be read, the problem and its fix.
fn inspected(agent: Agent) -> Result<(PathBuf, Inspection), (String, String)> {
    let folder = agent.folder(&variable).ok_or_else(|| words("there is no HOME", "set HOME"))?;
    let lost = || words("this program does not know where it lies", &mend(agent));
    let tow = command_to_register().map_err(|_| lost())?;
    let config = Env::new().map_or_else(Config::compiled_in, |env| settings(&env));
    let target = gotchas::target(&config, agent, &folder, &tow);
    let inspected = target.and_then(|target| target.inspect_file(RetryPace::USUAL));
    let inspection = inspected.map_err(|refusal| (chain(&refusal), refusal.hint()))?;
    Ok((folder, inspection))
}

fn words(wrong: &str, mend: &str) -> (String, String) {
    (wrong.to_owned(), mend.to_owned())
}

fn mend(agent: Agent) -> String {
    format!("tow install --agent {}", agent.name())
}

fn hooks(agent: Agent, name: String, folder: &Path, inspection: &Inspection) -> Check {
    if let Some(key) = &inspection.silenced_by {
        return Check::bad(
            name,
            format!("all hooks are switched off by `{key}`"),
            format!("remove `{key}` from the settings"),
        );
    }
    if !inspection.is_up_to_date() {
        return Check::bad(name, describe(inspection), mend(agent));
    }
    match agent.consent_hint(folder, inspection) {
        Some(consent) => Check::warning(name, "registered, but not yet trusted by you", consent),
        None => Check::good(name, format!("{} events registered", inspection.right.len())),
    }
}

/// Hooks of the plugin must not be in the settings too: every event would be recorded twice.
fn by_plugin(agent: Agent, name: String, plugin: &str, folder: &Path, inspection: &Inspection) -> Check {
    let is_twice = !inspection.right.is_empty() || !inspection.stale.is_empty();
    let server = command_to_register().ok().and_then(|tow| managed::mcp_server(agent, &tow));
    let standing =
        server.and_then(|server| server.and_then(|server| server.inspect_file(RetryPace::USUAL)).ok());
    let is_served_twice = matches!(standing, Some(ServerState::Right | ServerState::Outdated));
    if is_twice || is_served_twice {
        let wrong = format!("registered twice: by the plugin {plugin} and in the settings");
        return Check::warning(name, wrong, format!("tow uninstall --agent {}", agent.name()));
    }
    match agent.plugin_wants_consent(folder, plugin) {
        Some(consent) => Check::warning(name, "by the plugin, but not yet trusted by you", consent),
        None => Check::good(name, format!("hooks, skills and tools by the plugin {plugin}")),
    }
}

/// The optional status line: the source of exact context numbers.
fn status_line(agent: Agent, line: &StatusLineState) -> Check {
    let name = format!("{} status line", agent.name());
    let with = format!("tow install --agent {} --statusline", agent.name());
    match line {
        StatusLineState::Ours => Check::good(name, "ours: the context's numbers are the agent's own"),
        StatusLineState::Composed { theirs } => {
            Check::good(name, format!("ours below yours, which is `{theirs}`"))
        }
        StatusLineState::Missing => {
            Check::good(name, "none: the context's numbers are read from transcripts").with_next(with)
        }
        StatusLineState::Theirs => {
            Check::good(name, "yours alone: the context's numbers are read from transcripts").with_next(with)
        }
        StatusLineState::Outdated => {
            Check::warning(name, "ours, of a program that lies elsewhere", mend(agent))
        }
        StatusLineState::Unknown => Check::warning(
            name,
            "`statusLine` in the settings runs no command",
            format!("remove it from the settings, then `{with}`"),
        ),
    }
}

fn skills(agent: Agent) -> Check {
    let name = format!("{} skills", agent.name());
    let mend = mend(agent);
    let (Some(folder), Ok(tow)) = (agent.folder(&variable), command_to_register()) else {
        return Check::warning(name, "their folder is not known", "set HOME");
    };
    let standing =
        |page: &OwnedFile| Ok((page.inspect_file(RetryPace::BRIEF)?, page.file().display().to_string()));
    let pages = agent.skill_files(&folder, &tow);
    let stand: Result<Vec<_>, EditRefusal> = pages.and_then(|pages| pages.iter().map(standing).collect());
    let stand = match stand {
        Err(refusal) => return Check::warning(name, chain(&refusal), refusal.hint()),
        Ok(stand) => stand,
    };
    let any = |wanted: OwnedFileState| stand.iter().find(|(found, _)| *found == wanted).map(|(_, file)| file);
    if let Some(file) = any(OwnedFileState::Absent).or_else(|| any(OwnedFileState::Outdated)) {
        return Check::warning(name, format!("missing or out of date: {file}"), mend);
    }
    match (any(OwnedFileState::Foreign), any(OwnedFileState::Changed)) {
        (Some(file), _) => {
            Check::warning(name, format!("{file} is not ours"), format!("move it away, then `{mend}`"))
        }
        (None, Some(file)) => Check::good(name, format!("{file} is kept as you changed it")),
        (None, None) => Check::good(name, format!("{} in {}", stand.len(), folder.join("skills").display())),
    }
}

/// The optional MCP server, through which models query memories.
fn server(agent: Agent) -> Check {
    let name = format!("{} mcp", agent.name());
    let server = command_to_register().ok().and_then(|tow| managed::mcp_server(agent, &tow));
    let Some(server) = server else {
        return Check::warning(name, "the file of its servers is not known", "set HOME");
    };
    let found = server.and_then(|server| Ok((server.inspect_file(RetryPace::USUAL)?, server)));
    let (standing, server) = match found {
        Err(refusal) => return Check::warning(name, chain(&refusal), refusal.hint()),
        Ok(found) => found,
    };
    let (file, mend) = (server.file().display(), mend(agent));
    match standing {
        ServerState::Right => Check::good(name, format!("registered in {file}")),
        ServerState::Missing => {
            Check::good(name, "not registered: models have no tools of ours").with_next(mend)
        }
        ServerState::Outdated => Check::warning(
            name,
            format!("of a program or a data folder that lies elsewhere, in {file}"),
            mend,
        ),
        ServerState::Foreign => Check::warning(
            name,
            format!("the server `towline` in {file} is not ours"),
            format!("rename it, then `{mend}`"),
        ),
    }
}

fn describe(inspection: &Inspection) -> String {
    let missing =
        (!inspection.missing.is_empty()).then(|| format!("missing: {}", inspection.missing.join(", ")));
    let stale: Vec<&str> = inspection.stale.iter().map(|(entry, _)| entry.event.as_str()).collect();
    let stale = (!stale.is_empty()).then(|| format!("not as they should be: {}", stale.join(", ")));
    [missing, stale].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

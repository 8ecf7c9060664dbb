//! The entries that `tow install` registers with Codex, their locations, and which of them the user has trusted.
//!
//! Describes and reads only. In `config.toml` only our server's entry is ours to write; trust is never written, since
//! it is the user's decision.

use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;
use toml_edit::{DocumentMut, TableLike};

use crate::plugin;
use crate::settings::{
    EditRefusal, EntryOrder, FileEntry, HookEntry, Inspection, Invocation, Target, absolute_command, quote,
};
use crate::skills::{Dialect, PeoplePages};

/// The registered events: exactly those that the adapter parses.
pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "PostModelRequest",
];

/// The file below the agent's folder with all of the user's settings, MCP servers included.
pub(crate) const CONFIG: &str = "config.toml";

/// The tool whose start a hook may deny. Other tools run no hook of ours before they start.
const MATCHERS: &[(&str, &str)] = &[("PreToolUse", "^spawn_agent$")];

/// The user's next step so that Codex runs our entries.
pub const HOW_TO_TRUST: &str = "start codex and choose 'Trust all and continue', or review them with /hooks";

/// Far above a hook's run time, far below the client's 600 s.
const TIMEOUT_S: u32 = 5;
/// The client clamps these events to 3 s, and warns about higher values.
const CLAMPED: &[&str] = &["SessionEnd", "Interrupt"];
const CLAMPED_TIMEOUT_S: u32 = 3;

/// Whether Codex will run an entry.
///
/// Codex's hash of an entry cannot be computed here: `Trusted` means that the user trusted the entry at that position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTrust {
    /// The user trusted the entry at this position.
    Trusted,
    /// The user was not asked yet: Codex silently skips the entry.
    Untrusted,
    Disabled,
}

/// Why the trust state is unknown.
#[derive(Debug, Error)]
pub enum TrustUnknown {
    #[error("could not read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not valid TOML", path.display())]
    NotToml { path: PathBuf, source: Box<toml_edit::TomlError> },
}

/// Our entries in `hooks.json` of `codex_home`, running the program at `tow`.
pub fn target(codex_home: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    let file = codex_home.join("hooks.json");
    let entries = hooks(&quote(&absolute_command(&file, tow)?));
    Ok(Target::new("codex", file, EntryOrder::Trusted).with_entries(entries))
}

/// Our plugin's name, if it is enabled in `codex_home`.
pub fn enabled_plugin(codex_home: &Path) -> Option<String> {
    let config = configuration(codex_home).ok()?;
    let plugins = config.get("plugins")?.as_table_like()?;
    let is_on = |item: &toml_edit::Item| item.get("enabled").and_then(|on| on.as_bool()) != Some(false);
    let mut ours = plugins.iter().filter(|(name, item)| plugin::is_ours(name) && is_on(item));
    ours.next().map(|(name, _)| name.to_owned())
}

/// The trust state of each correct entry. An incorrect entry will be rewritten, and lose its trust.
pub fn trust(
    codex_home: &Path,
    inspection: &Inspection,
) -> Result<Vec<(FileEntry, EntryTrust)>, TrustUnknown> {
    let config = configuration(codex_home)?;
    let files = hooks_files(codex_home);
    let with_trust = |entry: &FileEntry| (entry.clone(), trust_in(&config, &files, entry));
    Ok(inspection.right.iter().map(with_trust).collect())
}

/// The number of the plugin's entries that the user has not trusted.
pub fn untrusted_of_plugin(codex_home: &Path, plugin: &str) -> Result<usize, TrustUnknown> {
    let config = configuration(codex_home)?;
    let file = [PathBuf::from(format!("{plugin}:{}", plugin::HOOKS))];
    let entry =
        |event: &&str| FileEntry { event: (*event).to_owned(), group: 0, index: 0, text: String::new() };
    let entries = EVENTS.iter().map(entry);
    Ok(entries.filter(|entry| trust_in(&config, &file, entry) != EntryTrust::Trusted).count())
}

fn configuration(codex_home: &Path) -> Result<DocumentMut, TrustUnknown> {
    let path = codex_home.join(CONFIG);
    let config = match fs::read_to_string(&path) {
        Ok(config) => config,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(TrustUnknown::Unreadable { path, source }),
    };
    let parsed = config.parse::<DocumentMut>();
    parsed.map_err(|source| TrustUnknown::NotToml { path, source: Box::new(source) })
}

/// `sign` comes before a skill's name: `$tow`.
pub(crate) const fn dialect(sign: &'static str) -> Dialect {
    Dialect { agent: "codex", sign, argument: None, for_people: "", people_pages: PeoplePages::Skills }
}

/// `tow` is a shell word.
pub(crate) fn hooks(tow: &str) -> impl Iterator<Item = HookEntry> + use<> {
    let line = format!("{tow} hook codex");
    EVENTS.iter().map(move |event| {
        HookEntry::new(event, Invocation::Shell(line.clone()), timeout_s(event)).with_matcher(MATCHERS)
    })
}

fn timeout_s(event: &str) -> u32 {
    if CLAMPED.contains(&event) { CLAMPED_TIMEOUT_S } else { TIMEOUT_S }
}

/// Codex resolves links in its home before it names the file; older versions may not.
fn hooks_files(codex_home: &Path) -> Vec<PathBuf> {
    let given = codex_home.join("hooks.json");
    let resolved = fs::canonicalize(codex_home).map(|home| home.join("hooks.json"));
    resolved.into_iter().chain([given]).collect()
}

fn trust_in(config: &DocumentMut, files: &[PathBuf], entry: &FileEntry) -> EntryTrust {
    let states = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let state = files.iter().find_map(|file| {
        let key = format!("{}:{}:{}:{}", file.display(), snake_case(&entry.event), entry.group, entry.index);
        states?.get(&key)?.as_table_like()
    });
    state.map_or(EntryTrust::Untrusted, trust_state)
}

fn trust_state(state: &dyn TableLike) -> EntryTrust {
    let is_disabled = state.get("enabled").and_then(|enabled| enabled.as_bool()) == Some(false);
    let has_hash = state.get("trusted_hash").is_some_and(|hash| hash.is_str());
    match (is_disabled, has_hash) {
        (true, _) => EntryTrust::Disabled,
        (false, true) => EntryTrust::Trusted,
        (false, false) => EntryTrust::Untrusted,
    }
}

fn snake_case(event: &str) -> String {
    let mut snake = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_looked_up_by_the_place_of_the_entry() {
        let config = "[hooks.state.\"/h/hooks.json:session_start:0:1\"]\ntrusted_hash = \"sha256:x\"\n\
                      [hooks.state.\"/h/hooks.json:stop:2:0\"]\nenabled = false\ntrusted_hash = \"sha256:x\"\n";
        let config: DocumentMut = config.parse().unwrap_or_default();
        let check = |event: &str, group: usize, index: usize, expected: EntryTrust| {
            let entry = FileEntry { event: event.to_owned(), group, index, text: String::new() };
            assert_eq!(trust_in(&config, &[PathBuf::from("/h/hooks.json")], &entry), expected, "{event}");
        };
        check("SessionStart", 0, 1, EntryTrust::Trusted);
        check("SessionStart", 0, 0, EntryTrust::Untrusted);
        check("Stop", 2, 0, EntryTrust::Disabled);
        check("PreCompact", 0, 0, EntryTrust::Untrusted);
    }

    #[test]
    fn clamped_events_ask_for_no_more_than_they_get() {
        assert_eq!((timeout_s("SessionEnd"), timeout_s("Interrupt"), timeout_s("Stop")), (3, 3, 5));
    }

    #[test]
    fn event_is_spelt_as_in_the_trust_key() {
        assert_eq!(snake_case("PostModelRequest"), "post_model_request");
        assert_eq!(snake_case("Stop"), "stop");
    }
}

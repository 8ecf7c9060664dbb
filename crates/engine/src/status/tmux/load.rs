//! Loads Towline into a running tmux server and unloads it.
//!
//! Reads the settings, plans, and changes the server in one call; `plan` separates the user's settings from
//! ours. Writes to no file of the user's and never starts a server.

use super::options::Options;
use super::plan::{self, Found, Key, OPTIONS, Plan, UNDO_OPTION, Undo, Wish};
use crate::runtime::{Env, Failure};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use towline_agents::settings::quote;
use towline_store::home::replace_file;
use towline_terminal::process::Process;
use towline_terminal::tmux::{BAR_OPTION, MARK_OPTION, STATE_OPTION, TmuxServer, UNSEEN_OPTION};
use towline_terminal::tmux_settings::{ChangeOutcome, KeyBinding, TmuxChange, installed_version};

/// The result for one server.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub changed: Changed,
    /// Remarks for the user: an invalid option, a key that was left alone.
    pub remarks: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Something,
    Nothing,
}

pub type Version = (u32, u32);

/// The oldest supported tmux, and the first versions with key notes and with popups.
const OLDEST: Version = (3, 0);
const WITH_NOTES: Version = (3, 1);
pub const WITH_POPUPS: Version = (3, 2);

/// Options that hooks push, for users who build their own formats.
const PUSHED: [&str; 3] = [STATE_OPTION, MARK_OPTION, UNSEEN_OPTION];

/// Extension of the file that holds a loaded server's socket path.
const NOTE: &str = "loaded";

/// Sets the bar, the keys and the hooks in the server, as its `@towline-*` options say.
pub fn load(env: &Env, server: &TmuxServer, tow: &Path) -> Result<Outcome, Failure> {
    let version = version(Some(server))?;
    let tow = word(tow)?;
    let (options, mistakes) = Options::current(env, server);
    let mut remarks: Vec<String> =
        mistakes.iter().map(|mistake| format!("{} must be {}", mistake.option, mistake.wanted)).collect();
    let wanted = wanted_keys(server, bindings(&options, &tow, version, &mut remarks), &mut remarks);
    let found = find(server, wanted.iter().map(|key| key.key.clone()))?;
    let keys = wanted.into_iter().filter(|key| is_free(server, &found, key, &mut remarks)).collect();
    let plan = plan::load(&found, &Wish { tow: &tow, options: &options, keys });
    let changed = carry_out(server, &found, plan)?;
    remember(env, server);
    Ok(Outcome { changed, remarks })
}

/// Removes everything that `load` set. Options that the user has set stay.
pub fn unload(env: &Env, server: &TmuxServer) -> Result<Outcome, Failure> {
    let found = find(server, [])?;
    let changed = carry_out(server, &found, plan::unload(&found))?;
    let ours = [BAR_OPTION, UNDO_OPTION].map(|option| TmuxChange::Unset { option: option.to_owned() });
    taken(server, server.change(&ours))?;
    unset_pushed(server)?;
    forget(env, server);
    Ok(Outcome { changed, remarks: vec![] })
}

/// Removes what hooks pushed to a server that was never loaded.
pub fn sweep(env: &Env, server: &TmuxServer) -> Result<Outcome, Failure> {
    let was_told = server.user_options(&[BAR_OPTION.to_owned()]).is_some_and(|found| found != [None]);
    if !was_told {
        return Ok(Outcome { changed: Changed::Nothing, remarks: vec![] });
    }
    taken(server, server.change(&[TmuxChange::Unset { option: BAR_OPTION.to_owned() }]))?;
    unset_pushed(server)?;
    forget(env, server);
    Ok(Outcome { changed: Changed::Something, remarks: vec![] })
}

/// A pane that closes meanwhile makes tmux skip the rest, so the panes are listed again.
fn unset_pushed(server: &TmuxServer) -> Result<(), Failure> {
    let mut tries = (0..TRIES).map(|_| server.unset_everywhere(&PUSHED));
    taken(server, tries.find(|taken| *taken != ChangeOutcome::Refused).unwrap_or(ChangeOutcome::Refused))
}

const TRIES: usize = 3;

/// How much of Towline is set in a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Absent,
    Whole,
    /// Some of our settings were overwritten.
    Partial,
}

/// `None` if the server does not answer.
pub fn presence(server: &TmuxServer) -> Option<Presence> {
    let found = find(server, []).ok()?;
    Some(match (found.undo == Undo::default(), plan::is_whole(&found)) {
        (true, _) => Presence::Absent,
        (false, true) => Presence::Whole,
        (false, false) => Presence::Partial,
    })
}

/// The loaded servers that still run, even if they do not answer. Notes of the others are deleted.
pub fn remembered(env: &Env) -> Vec<TmuxServer> {
    let mut servers = vec![];
    let entries = fs::read_dir(env.home.bars()).into_iter().flatten().filter_map(Result::ok);
    for note in entries.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new(NOTE))) {
        match recalled(&note) {
            Some(server) => servers.push(server),
            None => drop(fs::remove_file(note)),
        }
    }
    servers
}

fn recalled(note: &Path) -> Option<TmuxServer> {
    let (pid, socket) = (note.file_stem()?.to_str()?.to_owned(), fs::read_to_string(note).ok()?);
    match TmuxServer::at(&socket) {
        Some(server) => (server.pid == pid).then_some(server),
        None => Process::read(pid.parse().ok()?).map(|_| TmuxServer { socket, pid }),
    }
}

/// The version of a server, or of the program if no server runs. Fails if it is too old.
pub fn version(server: Option<&TmuxServer>) -> Result<Version, Failure> {
    let told = match server {
        Some(server) => server.version().ok_or_else(|| silent(server))?,
        None => installed_version().ok_or_else(|| {
            Failure::input("tmux is not on the PATH")
                .hint("Install tmux 3.0 or newer, then run the command again.")
        })?,
    };
    // A version that is not a number is a build between releases, newer than all that we know.
    let version = parse_version(&told).unwrap_or(WITH_POPUPS);
    if version < OLDEST {
        let what = format!("tmux {told} is too old: Towline needs 3.0 or newer");
        let hint = "Install a newer tmux; a server that runs stays the old one until `tmux kill-server`.";
        return Err(Failure::input(what).hint(hint));
    }
    Ok(version)
}

fn parse_version(told: &str) -> Option<Version> {
    let (major, minor) = told.strip_prefix("next-").unwrap_or(told).split_once('.')?;
    let digits: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, digits.parse().ok()?))
}

/// The path of `tow` as one shell word inside a tmux format, which cannot quote these characters.
pub fn word(tow: &Path) -> Result<String, Failure> {
    let plain = |text: &&str| !text.chars().any(|c| c.is_control() || "#%()\\".contains(c));
    let text = tow.to_str().filter(plain).ok_or_else(|| {
        let what =
            format!("tmux cannot run {}: its path has a character that tmux would expand", tow.display());
        Failure::input(what).hint("Put `tow` at a plain path, such as ~/.local/bin/tow.")
    })?;
    Ok(quote(text))
}

/// The key bindings to set.
fn bindings(options: &Options, tow: &str, version: Version, remarks: &mut Vec<String>) -> Vec<TmuxChange> {
    let run = |verb: &str| vec!["run-shell".into(), "-b".into(), format!("{tow} {verb} || true")];
    let popup = ["display-popup", "-w", "90%", "-h", "60%", "-E"].map(str::to_owned).into_iter();
    let popup = popup.chain([format!("{tow} status --watch")]).collect();
    let keys = &options.keys;
    let mut wanted = vec![
        (&keys.menu, "Towline: choose an agent", run("menu")),
        (&keys.jump, "Towline: go to the agent that has waited longest", run("next --message")),
    ];
    if version >= WITH_POPUPS {
        wanted.push((&keys.popup, "Towline: show all agents", popup));
    } else if !keys.popup.is_empty() {
        remarks.push("@towline-key-popup needs tmux 3.2 or newer".to_owned());
    }
    let note = |text: &str| (version >= WITH_NOTES).then(|| text.to_owned());
    let wanted = wanted.into_iter().filter(|(key, ..)| !key.is_empty());
    wanted.map(|(key, text, words)| TmuxChange::Bind { key: key.clone(), note: note(text), words }).collect()
}

/// The keys in tmux's own spelling.
fn wanted_keys(server: &TmuxServer, bindings: Vec<TmuxChange>, remarks: &mut Vec<String>) -> Vec<Key> {
    let mut keys: Vec<Key> = vec![];
    for bind in bindings {
        let TmuxChange::Bind { key: given, .. } = &bind else { continue };
        match server.tried(&bind) {
            Some((key, _)) if keys.iter().any(|other| other.key == key) => {
                remarks.push(format!("the key `{given}` is asked for twice"));
            }
            Some((key, binding)) => keys.push(Key { key, bind, printed: binding.text }),
            None => remarks.push(format!("tmux knows no key `{given}`")),
        }
    }
    keys
}

/// Reads the settings that a plan depends on.
fn find(server: &TmuxServer, wanted: impl IntoIterator<Item = String>) -> Result<Found, Failure> {
    let names: Vec<String> = OPTIONS.iter().chain([&UNDO_OPTION]).map(|name| (*name).to_owned()).collect();
    let values = server.options(&names).filter(|values| values.len() == names.len());
    let values = values.ok_or_else(|| silent(server))?;
    let mut options: BTreeMap<String, String> =
        names.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
    let undo = options.remove(UNDO_OPTION).and_then(|undo| serde_json::from_str::<Undo>(&undo).ok());
    let undo = undo.unwrap_or_default();
    if let Some((name, _)) = options.iter().find(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER)) {
        let what = format!("tmux's option {name} is not UTF-8 and could not be given back");
        return Err(Failure::input(what).hint("Set it to UTF-8 text, then run the command again."));
    }
    let mut bound = server.bindings().ok_or_else(|| silent(server))?;
    let keys = undo.keys.keys().cloned().chain(wanted).collect::<BTreeSet<_>>();
    let noted = |key: String| bound.remove(&key).map(|now| (key.clone(), server.with_note(&key, now)));
    let keys = keys.into_iter().filter_map(noted).collect();
    Ok(Found { options, keys, undo })
}

/// Whether the key's current binding could be restored: tmux does not print every binding as it was given.
fn is_free(server: &TmuxServer, found: &Found, wanted: &Key, remarks: &mut Vec<String>) -> bool {
    let is_ours = |now: &&KeyBinding| now.text == wanted.printed || found.undo.is_ours(&wanted.key, now);
    let Some(theirs) = found.keys.get(&wanted.key).filter(|now| !is_ours(now)) else { return true };
    let back = server.tried(&TmuxChange::BindBack(theirs.clone()));
    let is_free = back.is_some_and(|(_, back)| back.text == theirs.text);
    if !is_free {
        let key = &wanted.key;
        remarks.push(format!("the key `{key}` was left alone: its binding could not be given back exactly"));
    }
    is_free
}

/// The undo data is set in the same call as the changes that it undoes.
fn carry_out(server: &TmuxServer, found: &Found, plan: Plan) -> Result<Changed, Failure> {
    let Plan { mut changes, undo } = plan;
    if changes.is_empty() && undo == found.undo {
        return Ok(Changed::Nothing);
    }
    let value = serde_json::to_string(&undo).map_err(|error| Failure::new(&error))?;
    changes.insert(0, TmuxChange::Set { option: UNDO_OPTION.to_owned(), value });
    taken(server, server.change(&changes))?;
    Ok(Changed::Something)
}

fn taken(server: &TmuxServer, taken: ChangeOutcome) -> Result<(), Failure> {
    match taken {
        ChangeOutcome::Done => Ok(()),
        ChangeOutcome::Unanswered => Err(silent(server)),
        ChangeOutcome::Refused => {
            let what = format!("the tmux server on {} refused a change of its settings", server.socket);
            Err(Failure::input(what).hint("Run `tow tmux unload`, then `tow tmux load`."))
        }
    }
}

fn silent(server: &TmuxServer) -> Failure {
    Failure::input(format!("the tmux server on {} does not answer", server.socket))
        .hint(format!("Run `tmux -S {} list-sessions` to see why.", quote(&server.socket)))
}

/// Records the server, so that `tow uninstall` can unload it.
fn remember(env: &Env, server: &TmuxServer) {
    let note = env.home.bars().join(format!("{}.{NOTE}", server.pid));
    // Without the note, `tow uninstall` still finds the server that it is run in.
    let _ = replace_file(&note, server.socket.as_bytes());
}

/// Deletes the record of the last push as well: a server loaded again needs a full push.
fn forget(env: &Env, server: &TmuxServer) {
    let entries = fs::read_dir(env.home.bars()).into_iter().flatten().filter_map(Result::ok);
    let is_of_server = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == server.pid.as_str());
    for note in entries.map(|entry| entry.path()).filter(is_of_server) {
        let _ = fs::remove_file(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_whatever_stands_around_it() {
        assert_eq!(
            ["3.3a", "2.9", "next-3.6", "3.10"].map(parse_version),
            [Some((3, 3)), Some((2, 9)), Some((3, 6)), Some((3, 10))]
        );
        assert_eq!(["master", "openbsd-7.5", ""].map(parse_version), [None, None, None]);
    }

    #[test]
    fn a_path_is_one_word_or_refused() {
        assert_eq!(word(Path::new("/usr/bin/tow")).unwrap(), "/usr/bin/tow");
        assert_eq!(word(Path::new("/it's a/$x/tow")).unwrap(), r"'/it'\''s a/$x/tow'");
        for path in ["/a#b/tow", "/50%/tow", "/a(b)/tow", "/a\nb/tow"] {
            assert!(word(Path::new(path)).unwrap_err().what.contains("expand"), "{path}");
        }
    }
}

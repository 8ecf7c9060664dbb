//! Our block in the user's tmux.conf, and the servers that have loaded it.
//!
//! Chooses the file and reports the result; `settings` edits it, and `load` changes servers. Never starts a
//! server.

use super::load::{self, Changed, Presence};
use crate::runtime::env::find_in_path;
use crate::runtime::{Env, Failure, variable};
use crate::status::push;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use towline_agents::settings::{
    BlockState, EditPlan, EditRefusal, ManagedContent, MarkedBlock, OriginalsArchive, RetryPace, quote,
};
use towline_terminal::tmux::TmuxServer;
use towline_terminal::tmux_settings::{self, TmuxChange};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Done,
    /// Dry run: only reports the changes.
    Planned,
}

/// The result for the files and the servers.
#[derive(Debug, Default)]
pub struct Outcome {
    pub plans: Vec<EditPlan>,
    /// The sockets of the servers that were changed, or would be.
    pub servers: Vec<String>,
    pub remarks: Vec<String>,
    /// The next command for the user.
    pub next: Option<String>,
}

const OWNER: &str = "tmux";

/// Adds our block to the tmux.conf, and loads Towline into the user's current server.
///
/// With a `key`, the menu is on that key; without one, on that of an earlier `install` or the user's options.
pub fn install(env: &Env, tow: &Path, key: Option<&str>, writing: Writing) -> Result<Outcome, Failure> {
    let server = current_server();
    load::version(server.as_ref())?;
    let file = file_to_edit()?;
    let key = key.filter(|key| *key != USUAL_KEY);
    let key_line = key.map(key_line).or_else(|| chosen_key(&file));
    let block = MarkedBlock::new(OWNER, file, lines(tow, key_line)?);
    let archive = OriginalsArchive::new(env.home.backups());
    let plan = match writing {
        Writing::Planned => block.preview(RetryPace::USUAL).map_err(refused)?,
        Writing::Done => block.apply(&archive, RetryPace::USUAL).map_err(refused)?.plan,
    };
    let mut outcome = Outcome { plans: vec![plan], ..Outcome::default() };
    match server {
        Some(server) => {
            let option =
                key.map(|key| TmuxChange::Set { option: KEY_OPTION.to_owned(), value: key.to_owned() });
            let loaded = match writing {
                Writing::Done => {
                    server.change(option.as_slice());
                    load::load(env, &server, tow)
                }
                Writing::Planned => Ok(planned(&server)),
            };
            outcome.note(server, loaded, "tow tmux load");
        }
        None => {
            let file = quote(&block.file().to_string_lossy());
            outcome.next = Some(format!("tmux source-file {file}, if tmux runs already"));
        }
    }
    Ok(outcome)
}

/// Removes our block from every tmux.conf that has one, and unloads Towline from the servers that run it.
pub fn uninstall(env: &Env, writing: Writing) -> Result<Outcome, Failure> {
    let archive = OriginalsArchive::new(env.home.backups());
    let mut outcome = Outcome::default();
    let key_lines: Vec<String> = candidates()?.iter().filter_map(|file| chosen_key(file)).collect();
    for file in candidates()? {
        let block = MarkedBlock::new(OWNER, file, "");
        let plan = match writing {
            Writing::Planned => block.preview_removal(&archive, RetryPace::USUAL).map_err(refused)?,
            Writing::Done => block.remove(&archive, RetryPace::USUAL).map_err(refused)?.plan,
        };
        outcome.plans.extend((!plan.is_empty()).then_some(plan));
    }
    let known = load::remembered(env).into_iter().chain(push::told_servers(&env.home));
    for server in current_server().into_iter().chain(known) {
        if writing == Writing::Done {
            unset_chosen_key(&server, &key_lines);
        }
        outcome.unload(env, writing, server);
    }
    Ok(outcome)
}

impl Outcome {
    fn unload(&mut self, env: &Env, writing: Writing, server: TmuxServer) {
        if self.servers.contains(&server.socket) {
            return;
        }
        let is_loaded = load::presence(&server) != Some(Presence::Absent);
        let unloaded = match writing {
            Writing::Done if is_loaded => load::unload(env, &server),
            Writing::Done => load::sweep(env, &server),
            Writing::Planned if !is_loaded => return,
            Writing::Planned => Ok(load::Outcome { changed: Changed::Something, remarks: vec![] }),
        };
        let mend = format!("tow tmux unload --socket {}", quote(&server.socket));
        self.note(server, unloaded, &mend);
    }

    /// The file is already written, so a server's failure is only a remark.
    fn note(&mut self, server: TmuxServer, done: Result<load::Outcome, Failure>, mend: &str) {
        match done {
            Ok(load::Outcome { changed, remarks }) => {
                self.remarks.extend(remarks);
                self.servers.extend((changed == Changed::Something).then_some(server.socket));
            }
            Err(failure) => {
                self.remarks.push([vec![failure.what], failure.causes].concat().join(": "));
                self.next = Some(mend.to_owned());
            }
        }
    }
}

/// The result that loading would have.
fn planned(server: &TmuxServer) -> load::Outcome {
    let changed = match load::presence(server) {
        Some(Presence::Whole) => Changed::Nothing,
        Some(Presence::Absent | Presence::Partial) | None => Changed::Something,
    };
    load::Outcome { changed, remarks: vec![] }
}

/// The file that has our block or would get it, and the state of the block there.
pub fn standing(tow: &Path) -> Result<(PathBuf, BlockState), Failure> {
    let file = file_to_edit()?;
    let block = MarkedBlock::new(OWNER, file.clone(), lines(tow, chosen_key(&file))?);
    Ok((file, block.inspect_file(RetryPace::USUAL).map_err(refused)?))
}

/// Whether tmux is installed and no tmux.conf has our block.
pub fn is_worth_a_hint() -> bool {
    find_in_path("tmux").is_some()
        && candidates().is_ok_and(|files| !files.iter().any(|file| has_block(file)))
}

/// The tmux server that this process runs in.
pub fn current_server() -> Option<TmuxServer> {
    variable("TMUX").as_deref().and_then(TmuxServer::parse)
}

/// A missing program stays silent: tmux would show the error to the user at every start.
fn lines(tow: &Path, key_line: Option<String>) -> Result<String, Failure> {
    let tow = load::word(tow)?;
    let command = format!("test ! -x {tow} || {tow} tmux load >/dev/null 2>&1 || true");
    let run = format!("run-shell -b {}", tmux_settings::quote(&command));
    Ok(key_line.into_iter().chain([run]).collect::<Vec<_>>().join("\n"))
}

/// The key of the menu: a free one, and what `prefix a` does if it is not free.
pub struct MenuKey {
    pub key: String,
    pub taken: Option<String>,
}

const KEY_OPTION: &str = "@towline-key";
const USUAL_KEY: &str = "a";
/// The keys to try; tmux binds none of them by default.
const KEYS: [&str; 5] = [USUAL_KEY, "A", "y", "Y", "M-a"];
/// Ends the line of our block that sets the key.
const CHOSEN: &str = "# chosen in tow setup";

fn key_line(key: &str) -> String {
    format!("set-option -g {KEY_OPTION} {} {CHOSEN}", tmux_settings::quote(key))
}

/// The line of an earlier `install` that sets the key.
fn chosen_key(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find(|line| line.ends_with(CHOSEN)).map(str::to_owned)
}

/// Removes the key option that our block set in a running server. A value of the user's own stays.
fn unset_chosen_key(server: &TmuxServer, key_lines: &[String]) {
    let option = KEY_OPTION.to_owned();
    let value = server
        .user_options(std::slice::from_ref(&option))
        .and_then(|found| found.into_iter().next().flatten());
    if value.is_some_and(|key| key_lines.contains(&key_line(&key))) {
        // A server that does not answer is reported by the unloading that follows.
        let _ = server.change(&[TmuxChange::Unset { option }]);
    }
}

/// A key for the menu that the user has not bound. `None` if tmux is missing, or has our block already.
pub fn menu_key() -> Option<MenuKey> {
    let bound = is_worth_a_hint().then(bound_keys)?;
    let free = KEYS.into_iter().find(|key| !bound.contains_key(*key)).unwrap_or_default();
    Some(MenuKey { key: free.to_owned(), taken: bound.get(USUAL_KEY).cloned() })
}

/// The bindings of the prefix table: those of the server that this process runs in, else those in the tmux.conf.
fn bound_keys() -> BTreeMap<String, String> {
    if let Some(bindings) = current_server().and_then(|server| server.bindings()) {
        return bindings.into_iter().map(|(key, binding)| (key, binding.text)).collect();
    }
    let files = candidates().unwrap_or_default();
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let lines: Vec<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().filter_map(|line| Some((bound_key(line)?.to_owned(), line.trim().to_owned()))).collect()
}

/// The key of a line `bind-key [-r] [-N note] KEY …` for the prefix table.
fn bound_key(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("bind" | "bind-key")).then_some(())?;
    words.find(|word| !word.starts_with('-') || word.len() == 1)
}

/// The file with our block, else the first existing one, else the default.
fn file_to_edit() -> Result<PathBuf, Failure> {
    let files = candidates()?;
    let found =
        files.iter().find(|file| has_block(file)).or_else(|| files.iter().find(|file| is_there(file)));
    found.or(files.first()).cloned().ok_or_else(no_home)
}

/// The paths at which tmux looks for its configuration.
fn candidates() -> Result<Vec<PathBuf>, Failure> {
    let home = variable("HOME").map(PathBuf::from).ok_or_else(no_home)?;
    let mut files = vec![home.join(".tmux.conf")];
    let given = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    for folder in given.into_iter().chain([home.join(".config")]) {
        let file = folder.join("tmux/tmux.conf");
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// A dangling symlink counts: the user has made it.
fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

fn has_block(file: &Path) -> bool {
    let standing = MarkedBlock::new(OWNER, file.to_owned(), "").inspect_file(RetryPace::USUAL);
    // An unreadable block counts too: the edit reports what is wrong with it.
    is_there(file) && !matches!(standing, Ok(BlockState::Absent))
}

fn no_home() -> Failure {
    Failure::input("tmux has no configuration without HOME").hint("Set HOME.")
}

/// The user's error for an edit that was refused.
pub fn refused(refusal: EditRefusal) -> Failure {
    let hint = refusal.hint();
    Failure::new(&refusal).hint(hint)
}

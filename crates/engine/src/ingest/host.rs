//! Sessions of hosts without hooks: each event is written to a transcript file and passed to the hook.
//!
//! The file is in the format that capture reads, redacted before writing, and deleted only after the archive
//! has captured it.

use crate::capture::{self, Transcript, Wishes};
use crate::runtime::{Env, spawn};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
pub use towline_agents::host::HostEvent;
use towline_agents::host::{HostContext, lines, payload};
use towline_core::id::SessionId;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_store::home::private_folder;

/// Longest text of a host, in bytes.
const LONGEST: usize = 1 << 20;

/// A host that is silent for this long is gone, or starts a new file.
const LEFT_ALONE: Duration = Duration::from_secs(24 * 3600);

/// A session of a host, and its transcript file.
pub struct HostSession<'a> {
    env: &'a Env,
    pub id: SessionId,
    folder: &'a str,
    file: PathBuf,
}

/// The reply of the hook of the agent with this name; `None` if there is no such agent.
pub fn hook_reply(agent: &str, payload: &str) -> Option<io::Result<String>> {
    Agent::from_name(agent).map(|agent| spawn::hook(agent.name(), payload))
}

pub fn agent_names() -> Vec<&'static str> {
    Agent::ALL.iter().map(|agent| agent.name()).collect()
}

impl<'a> HostSession<'a> {
    /// `folder` is where the host works; a relative one is ignored.
    pub fn new(env: &'a Env, id: SessionId, folder: Option<&'a str>) -> HostSession<'a> {
        let folder = folder.filter(|folder| folder.starts_with('/')).unwrap_or("/");
        let file = env.home.serving().join("hosts").join(format!("{}.jsonl", id.as_str()));
        HostSession { env, id, folder, file }
    }

    /// Appends to the transcript first: the hook's consumers may read it at once. Returns the hook's reply.
    pub fn record(&self, event: HostEvent<'_>) -> io::Result<String> {
        let transcript = self.file.to_string_lossy();
        let (at, uid) = (self.env.now, self.env.uid());
        let context =
            HostContext { session: &self.id, folder: self.folder, transcript: &transcript, at, uid };
        append(&self.file, &lines(context, event))?;
        spawn::hook(Agent::OF_HOSTS.name(), &payload(context, event))
    }

    /// Captures and deletes finished transcripts. A file that could not be captured stays until the next
    /// session ends, which also captures files of sessions that never ended.
    pub fn capture(&self) {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| *file == self.file || is_left_alone(file)) {
            if is_captured(self.env, &file) {
                // If removing fails, the next run captures it again, without effect, and removes it.
                let _ = fs::remove_file(&file);
            }
        }
        let _not_empty = fs::remove_dir(folder);
        spawn::start_detached();
    }
}

fn is_left_alone(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|meta| meta.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > LEFT_ALONE))
}

/// Captures the whole file; false if the archive was unavailable.
fn is_captured(env: &Env, file: &Path) -> bool {
    let Ok(wishes) = Wishes::load(env) else { return false };
    let transcript = Transcript { agent: Agent::OF_HOSTS, path: file.to_owned() };
    capture::capture(env, &wishes, &[transcript]).is_ok_and(|taken| taken.is_some())
}

fn append(file: &Path, lines: &str) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    private_folder(file.parent().unwrap_or(Path::new("/")))?;
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    file.write_all(lines.as_bytes())
}

/// Removes secrets before anything is written to disk.
pub fn redacted(text: &str) -> String {
    CleanText::new(text.into(), TextPolicy { longest_bytes: LONGEST, secrets: SecretPolicy::Redacted })
        .as_str()
        .to_owned()
}

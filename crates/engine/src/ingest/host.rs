//! Sessions of hosts without hooks: each event is written to a transcript file and passed to the hook.
//!
//! Hosts only report: nothing that is stored is returned, and their prompts are not the user's word. Their sessions have
//! ids of their own, so that no host reports in the name of a session that hooks report.
//!
//! The file is in the format that capture reads, redacted before writing, and deleted only after the archive
//! has captured it.

use crate::capture::{self, Transcript, Wishes};
use crate::ingest::live;
use crate::runtime::{Env, spawn};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
pub use towline_agents::host::HostEvent;
use towline_agents::host::{HostContext, lines, payload};
use towline_core::id::{InvalidId, SessionId, SessionKey};
use towline_core::redact::is_wholly_private;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_store::DataFolder;
use towline_store::home::private_folder;
use towline_store::private::{self, PrivateTurn};

/// Longest text of a host, in bytes.
const LONGEST: usize = 1 << 20;

/// A host that is silent for this long is gone, or starts a new file.
const LEFT_ALONE: Duration = Duration::from_secs(24 * 3600);

/// A session of a host, and its transcript file.
pub struct HostSession<'a> {
    env: &'a Env,
    id: SessionId,
    folder: &'a str,
    file: PathBuf,
}

/// Passes a payload to the hook of the agent with this name; `None` if there is no such agent.
pub fn report(agent: &str, payload: &str) -> Option<io::Result<()>> {
    Agent::from_name(agent).map(|agent| spawn::hook(agent.name(), payload))
}

/// The transcript that we write for a host's session.
pub fn transcript(home: &DataFolder, id: &SessionId) -> PathBuf {
    home.serving().join("hosts").join(format!("{id}.jsonl"))
}

pub fn agent_names() -> Vec<&'static str> {
    Agent::ALL.iter().map(|agent| agent.name()).collect()
}

impl<'a> HostSession<'a> {
    /// `folder` is where the host works; a relative one is ignored.
    pub fn new(env: &'a Env, name: &str, folder: Option<&'a str>) -> Result<HostSession<'a>, InvalidId> {
        let id = SessionId::parse(name)?.of_host()?;
        let folder = folder.filter(|folder| folder.starts_with('/')).unwrap_or("/");
        let file = transcript(&env.home, &id);
        Ok(HostSession { env, id, folder, file })
    }

    /// Appends to the transcript first: the hook's consumers may read it at once.
    /// Of a private turn, the file and the hook are told only that it began and ended, and which tools it used.
    pub fn record(&self, event: HostEvent<'_>) -> io::Result<()> {
        if matches!(event, HostEvent::Asked { prompt } if is_wholly_private(prompt)) {
            // Before the hook does: another request of the host may already report what the turn does.
            self.session().map(|key| private::begin(&self.env.home, &key)).transpose()?;
        }
        let event = if self.is_private() { event.without_text() } else { event };
        let transcript = self.file.to_string_lossy();
        let (at, uid) = (self.env.now, self.env.uid());
        let context =
            HostContext { session: &self.id, folder: self.folder, transcript: &transcript, at, uid };
        append(&self.file, &lines(context, event))?;
        spawn::hook(Agent::OF_HOSTS.name(), &payload(context, event))
    }

    /// How many prompts of the session were recorded so far, also of an earlier run of it.
    pub fn prompts(&self) -> u32 {
        let store = live::apply(self.env).ok().flatten();
        let known = self.session().zip(store).and_then(|(key, store)| store.session(&key).ok().flatten());
        known.map_or(0, |session| session.turns)
    }

    /// Whether the running turn is private.
    fn is_private(&self) -> bool {
        self.session().is_some_and(|key| private::of(&self.env.home, &key) == PrivateTurn::Running)
    }

    fn session(&self) -> Option<SessionKey> {
        Agent::OF_HOSTS.session_named(self.id.as_str())
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
        spawn::start_detached(self.env);
    }
}

fn is_left_alone(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|meta| meta.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > LEFT_ALONE))
}

/// Captures the whole file; false if the archive was unavailable.
fn is_captured(env: &Env, file: &Path) -> bool {
    let Ok(wishes) = Wishes::load(env) else { return false };
    let transcript = Transcript { agent: Agent::OF_HOSTS.into(), path: file.to_owned() };
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

/// A prompt as it may be written to disk; one that is wholly private stays recognisable as such.
pub fn redacted_prompt(text: &str) -> String {
    if is_wholly_private(text) { "<private></private>".to_owned() } else { redacted(text) }
}

/// Removes secrets before anything is written to disk.
pub fn redacted(text: &str) -> String {
    CleanText::new(text.into(), TextPolicy { longest_bytes: LONGEST, secrets: SecretPolicy::Redacted })
        .as_str()
        .to_owned()
}

//! Memories and summaries as lines of an export.
//!
//! File input is redacted and truncated like any other draft; lengths in the file are not trusted.

use super::{BadWord, known};
use serde::{Deserialize, Serialize};
use towline_core::capture::FileAccess;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{
    Citation, ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
    Summary, SummaryDraft, Supersession,
};
use towline_core::project::ProjectIdentity;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::archive::{ExportedMemory, KeptSummary};

#[derive(Serialize, Deserialize)]
pub struct MemoryLine {
    uid: Uid,
    number: i64,
    project: Option<ProjectIdentity>,
    session: Option<SessionKey>,
    turn: Option<u32>,
    branch: Option<String>,
    commit: Option<String>,
    #[serde(flatten)]
    words: MemoryWords,
    maker: String,
    trust: String,
    confidence: u8,
    cost: u64,
    made_at: Timestamp,
    changed_at: Timestamp,
    valid_from: Timestamp,
    superseded: Option<SupersededLine>,
    pinned_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposed_at: Option<Timestamp>,
    held_back: Option<String>,
    found: u32,
    /// The teammate it came from; `None` for the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<String>,
}

/// The text of a memory, with the access to each file as a word.
#[derive(Serialize, Deserialize)]
pub struct MemoryWords {
    #[serde(rename = "type")]
    sort: MemoryType,
    title: String,
    subtitle: String,
    facts: Vec<String>,
    narrative: String,
    concepts: Vec<String>,
    pub files: Vec<(String, String)>,
}

impl From<MemoryContent> for MemoryWords {
    fn from(content: MemoryContent) -> Self {
        let MemoryDraft { kind, title, subtitle, facts, narrative, concepts, files } = content.into_draft();
        let files = files.into_iter().map(|(path, how)| (path, how.name().to_owned())).collect();
        MemoryWords { sort: kind, title, subtitle, facts, narrative, concepts, files }
    }
}

impl MemoryWords {
    /// Returns `None` if no title is left after redaction.
    pub fn content(self, files: Vec<(String, FileAccess)>) -> Option<MemoryContent> {
        let MemoryWords { sort: kind, title, subtitle, facts, narrative, concepts, files: _ } = self;
        MemoryContent::of(MemoryDraft { kind, title, subtitle, facts, narrative, concepts, files })
    }
}

#[derive(Serialize, Deserialize)]
struct SupersededLine {
    by: Option<Uid>,
    at: Timestamp,
    why: String,
}

#[derive(Serialize, Deserialize)]
pub struct SummaryLine {
    session: SessionKey,
    turn: u32,
    #[serde(flatten)]
    words: SummaryDraft,
    maker: String,
    trust: String,
    at: Timestamp,
}

impl From<ExportedMemory> for MemoryLine {
    fn from(kept: ExportedMemory) -> Self {
        let ExportedMemory { memory, traces, replaced_by } = kept;
        let source = memory.source;
        let superseded = memory.superseded;
        MemoryLine {
            uid: memory.uid,
            number: memory.number,
            project: traces,
            session: source.as_ref().map(|source| source.session.clone()),
            turn: source.as_ref().and_then(|source| source.turn),
            branch: source.as_ref().and_then(|source| source.branch.clone()),
            commit: source.and_then(|source| source.commit),
            words: memory.content.into(),
            maker: memory.maker.name().to_owned(),
            trust: memory.trust.name().to_owned(),
            confidence: memory.confidence.as_percent(),
            cost: memory.cost,
            made_at: memory.made_at,
            changed_at: memory.changed_at,
            valid_from: memory.valid_from,
            superseded: superseded.map(|it| SupersededLine { by: replaced_by, at: it.at, why: it.why }),
            pinned_at: memory.pinned_at,
            proposed_at: memory.proposed_at,
            held_back: memory.quarantine,
            found: memory.found,
            person: memory.person,
        }
    }
}

impl MemoryLine {
    /// Root folder of its project.
    pub fn root(&self) -> Option<&str> {
        self.project.as_ref().map(|project| project.root.as_str())
    }

    /// Returns `None` if no title is left after redaction.
    pub fn kept(self) -> Result<Option<ExportedMemory>, BadWord> {
        let mut words = self.words;
        let files = std::mem::take(&mut words.files).into_iter();
        let files = files.map(|(path, how)| Ok((path, known("files", &how, FileAccess::named)?)));
        let files = files.collect::<Result<_, BadWord>>()?;
        let Some(content) = words.content(files) else { return Ok(None) };
        let replaced_by = self.superseded.as_ref().and_then(|superseded| superseded.by);
        let (turn, branch, commit) = (self.turn, self.branch.map(short), self.commit.map(short));
        let source = self.session.map(|session| {
            let short = session.short().to_owned();
            Citation { session, short, turn, branch, commit }
        });
        let memory = Memory {
            uid: self.uid,
            number: self.number.max(1),
            content,
            project: None,
            source,
            maker: MemoryAuthor::named(&short(self.maker)),
            trust: known("trust", &self.trust, MemoryTrust::named)?,
            confidence: ConfidencePercent::percent(self.confidence),
            cost: self.cost,
            made_at: self.made_at,
            changed_at: self.changed_at,
            valid_from: self.valid_from,
            superseded: self.superseded.map(|it| Supersession { by: None, at: it.at, why: short(it.why) }),
            pinned_at: self.pinned_at,
            proposed_at: self.proposed_at,
            quarantine: self.held_back.map(short),
            person: self.person.map(short),
            machine: None,
            is_private: false,
            found: self.found,
        };
        Ok(Some(ExportedMemory { memory, traces: self.project, replaced_by }))
    }
}

impl From<KeptSummary> for SummaryLine {
    fn from(kept: KeptSummary) -> Self {
        SummaryLine {
            session: kept.session,
            turn: kept.turn,
            words: (*kept.summary).clone(),
            maker: kept.maker.name().to_owned(),
            trust: kept.trust.name().to_owned(),
            at: kept.at,
        }
    }
}

impl SummaryLine {
    /// Returns `None` if no text is left after redaction.
    pub fn kept(self) -> Result<Option<KeptSummary>, BadWord> {
        let summary = Summary::of(&self.words);
        let trust = known("trust", &self.trust, MemoryTrust::named)?;
        let (session, turn, maker) = (self.session, self.turn, MemoryAuthor::named(&short(self.maker)));
        Ok(summary.map(|summary| KeptSummary { summary, session, turn, maker, trust, at: self.at }))
    }
}

/// A name or a reason: short, and without secrets.
fn short(text: String) -> String {
    const LONGEST: usize = 400;
    let kept = SafeText::new(&text, TextPolicy { longest_bytes: LONGEST, secrets: SecretPolicy::Redacted });
    kept.as_str().to_owned()
}

//! An archive with turns in it, a clock that is held still, and a worker on both.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::event::PromptOrigin;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::project::ProjectIdentity;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_engine::memory::model::provider::{Key, Wire};
use towline_engine::memory::model::{Drained, Draining, Opened, Provider, drain, make_jobs};
use towline_store::archive::{
    ExportedConversation, ExportedDetail, ExportedMessage, ExportedRow, ExportedTurn, ImportState,
    MemoryFilter, MemoryQuery,
};
use towline_store::lock::{ArchiveLock, pauses};
use towline_store::{Archive, DataFolder, StoreError};
use towline_testkit::{Model, Rule, Step};

pub const START: Timestamp = Timestamp(1_790_000_000_000);
pub const SESSION: &str = "claude:11111111-2222-3333-4444-555555555555";

pub struct Bench {
    pub folder: TempDir,
    pub now: Cell<Timestamp>,
    pub daily_tokens: u64,
}

/// The archive with its lock, as the program opens it.
pub struct Writable {
    archive: Archive,
    _lock: ArchiveLock,
}

impl Opened for Writable {
    fn archive(&self) -> &Archive {
        &self.archive
    }
}

impl Bench {
    /// A session with so many turns, each of which has a mark of its own: `TURN-3.`
    pub fn with_turns(turns: u32) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        DataFolder::at(folder.path()).create().unwrap();
        let bench = Bench { folder, now: Cell::new(START), daily_tokens: 1_000_000 };
        let rows = std::iter::once(ExportedRow::Conversation(conversation()));
        let rows = rows.chain((1..=turns).flat_map(turn)).collect();
        bench.open().archive.restore(&mut ImportState::new().unwrap(), rows).unwrap();
        make_jobs(&bench.open().archive, START, &|_| false).unwrap();
        bench
    }

    pub fn home(&self) -> DataFolder {
        DataFolder::at(self.folder.path())
    }

    pub fn open(&self) -> Writable {
        opened(&self.home()).unwrap()
    }

    pub fn later(&self, minutes: i64) {
        self.now.set(self.now.get().plus_ms(minutes * 60_000));
    }

    pub fn work(&self, provider: &dyn Provider) -> Drained {
        work(&self.home(), provider, self.now.get(), self.daily_tokens)
    }

    pub fn work_within(&self, provider: &dyn Provider, daily_tokens: u64) -> Drained {
        work(&self.home(), provider, self.now.get(), daily_tokens)
    }

    pub fn titles(&self) -> Vec<String> {
        let asked = MemoryQuery { only: MemoryFilter::Standing, limit: 10_000, ..MemoryQuery::default() };
        let memories = self.open().archive.memories(&asked).unwrap();
        let mut titles: Vec<String> = memories.iter().map(|memory| memory.content.title.clone()).collect();
        titles.sort();
        titles
    }

    pub fn wire(&self, url: String) -> Wire {
        Wire {
            base_url: url,
            model: "small".into(),
            key: Key::Given("sk-scripted".into()),
            patience: Duration::from_secs(20),
            certificates: None,
            folder: self.folder.path().join("asking"),
        }
    }
}

pub fn opened(home: &DataFolder) -> Result<Writable, StoreError> {
    let lock = ArchiveLock::take_within(home, pauses(Duration::from_secs(30))).unwrap().unwrap();
    let archive = Archive::open(home, &lock, Duration::from_secs(10), Uid([7; 16]))?;
    Ok(Writable { archive, _lock: lock })
}

pub fn work(home: &DataFolder, provider: &dyn Provider, now: Timestamp, daily_tokens: u64) -> Drained {
    drain(&Draining {
        provider,
        open: &|| Ok(Some(Box::new(opened(home)?) as Box<dyn Opened>)),
        now: &|| now,
        skipped: &|tool| tool == "TodoWrite",
        daily_tokens,
        per_memory_tokens: 2000,
        attempts: 3,
        patience_ms: 20_000,
        most_jobs: 10_000,
    })
    .unwrap()
}

/// What a model says of the turn with this mark.
pub fn memory(turn: u32) -> Value {
    json!({"memories": [{
        "type": "discovery", "title": format!("learnt in {}", mark(turn)), "subtitle": "", "facts": ["it leans"],
        "narrative": "", "concepts": ["gotcha"], "files": [],
    }], "summary": {"request": "r", "investigated": "", "learned": "l", "completed": "", "next_steps": ""}})
}

pub fn mark(turn: u32) -> String {
    format!("TURN-{turn}.")
}

/// A model that has something to say of each of these turns: as text, or by the tool of this name.
pub fn model(turns: u32, tool: Option<&str>) -> Model {
    let say = |turn| tool.map_or(Step::text(memory(turn).to_string()), |tool| Step::tool(tool, memory(turn)));
    Model::start((1..=turns).map(|turn| Rule::when(mark(turn)).then(say(turn))).collect::<Vec<_>>())
}

fn conversation() -> ExportedConversation {
    let traces =
        ProjectIdentity { root: "/boat".into(), remote: None, name: None, branch: Some("main".into()) };
    ExportedConversation {
        session: SessionKey::parse(SESSION).unwrap(),
        folder: Some("/boat".into()),
        project: Some(traces),
        base: None,
        first_at: START.plus_ms(-3_600_000),
        last_at: START,
        turns: 0,
    }
}

fn turn(ordinal: u32) -> Vec<ExportedRow<CleanText<'static>>> {
    let at = START.plus_ms(-3_000_000 + i64::from(ordinal) * 1000);
    let clean = |text: String| {
        CleanText::new(text.into(), TextPolicy { longest_bytes: usize::MAX, secrets: SecretPolicy::Redacted })
            .into_owned()
    };
    let body = |speaker: Speaker, text: String| {
        ExportedRow::Body(ExportedMessage {
            turn: ordinal,
            mark: IdHash::of(&text),
            message: format!("{} {ordinal}", speaker.name()),
            place: u64::from(ordinal) * 10,
            at,
            speaker,
            cut: 0,
            text: clean(text),
        })
    };
    let detail = |kind: DetailKind, text: String| {
        ExportedRow::Detail(ExportedDetail {
            turn: ordinal,
            mark: IdHash::of(&text),
            place: u64::from(ordinal) * 10 + 1,
            at,
            kind,
            subagent: None,
            tool: Some("Bash".into()),
            call: Some(IdHash::of(&format!("call {ordinal}"))),
            outcome: Some("done".into()),
            cut: 0,
            text: clean(text),
        })
    };
    let begun = ExportedTurn {
        uid: Uid::derived(at, &["turn", &ordinal.to_string()]),
        ordinal,
        mark: IdHash::of(&format!("prompt {ordinal}")),
        place: u64::from(ordinal) * 10,
        at,
        until: at,
        origin: PromptOrigin::Human,
        agent_turn: None,
        stopped: None,
        tools: 1,
        failures: 0,
        line: String::new(),
        reverted: false,
    };
    vec![
        ExportedRow::Turn(begun),
        body(Speaker::Person, format!("Look why the mast leans. {}", mark(ordinal))),
        detail(DetailKind::Input, json!({"command": format!("make mast {ordinal}")}).to_string()),
        detail(DetailKind::Output, format!("mast {ordinal}: 3 degrees off\n{}", "rivet holds\n".repeat(300))),
        body(Speaker::Agent, format!("It leans since frame {ordinal} was cut.")),
    ]
}

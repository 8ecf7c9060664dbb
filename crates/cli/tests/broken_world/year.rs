//! A year of one user: memories in every state, labels, batons, and the sessions around them. Made once, copied per trial.
//!
//! Goes through the store's own functions where commands would take minutes. Makes no injury.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use towline_core::bookmark::{BookmarkOrigin, NewBookmark};
use towline_core::event::{
    EndedBy, Event, EventKind, EventScene, PromptOrigin, SessionPresence, StartedBy, ToolOutcome,
};
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::project::ProjectIdentity;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::archive::NewMemory;
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::{ArchiveLock, ProjectionLock};
use towline_store::{Archive, DataFolder, ProjectionLimits, Store, upkeep};
use towline_testkit::mutate::Dice;

use crate::common::key;
use crate::world::World;

pub const DAY_MS: i64 = 86_400_000;
/// The last day of the year.
pub const NOW_MS: i64 = 1_800_000_000_000;
const BEGIN_MS: i64 = NOW_MS - 365 * DAY_MS;

/// Spread over the year.
pub const SESSIONS: usize = 420;
/// A segment of the journal.
const QUARTER: usize = SESSIONS / 4;
/// The last sessions: still open, each may pass its baton.
pub const OPEN: usize = 12;
pub const MEMORIES: usize = 240;

const WORDS: [&str; 24] = [
    "mast",
    "boom",
    "sail",
    "hull",
    "keel",
    "rope",
    "deck",
    "harbour",
    "tide",
    "anchor",
    "winch",
    "rudder",
    "compass",
    "chart",
    "lantern",
    "Möwe",
    "größer",
    "灯台",
    "паром",
    "galley",
    "stern",
    "bow",
    "buoy",
    "pier",
];

/// Journal segments beyond this size are reduced to what the user wrote.
const CONFIG: &str = "[keep]\njournal_mb = 8\n";

/// A second disk at the same path, for commands inside the namespace.
const SMALL_DISK: &str = "mkdir -p $HOME/.local/share\nmount -t tmpfs -o size=160m tmpfs $HOME/.local/share";

/// How much the agents did in the year.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Turns of a session, of eleven events each.
    turns: usize,
    /// Sessions with a conversation in the archive, which is indexed.
    captured: usize,
    events: usize,
}

impl Activity {
    pub const USUAL: Activity = Activity { turns: 5, captured: 400, events: 20_000 };
    /// For the suite, which has no time for more.
    pub const LITTLE: Activity = Activity { turns: 1, captured: 40, events: 5_000 };
}

/// The year, and the world that it is copied into.
pub struct Year {
    pub world: World,
    template: PathBuf,
}

impl Year {
    pub fn new(activity: Activity) -> Self {
        let world = World::mounted(SMALL_DISK);
        let env = &world.env;
        env.set_now(NOW_MS);
        let config = env.home().join(".config/towline");
        fs::create_dir_all(&config).expect("home is writable");
        fs::write(config.join("config.toml"), CONFIG).expect("home is writable");
        let home = DataFolder::at(env.data_dir());
        home.create().expect("home is writable");
        add_events(&home, &env.project(), activity);
        let first = SESSIONS - activity.captured;
        for number in first..SESSIONS {
            write_transcript(&world, number, activity.turns);
        }
        env.tow(&["import"]).ok();
        world.settle();
        // Agents delete old transcripts: only those of the last days are left.
        for number in first..SESSIONS - OPEN {
            fs::remove_file(transcript(&world, number)).expect("it was written");
        }
        add_memories(&home, &env.project());
        // Old events and the older half of the journal expire; what the user wrote stays.
        env.person(&["work", "--expire"]).ok();
        world.settle();
        let template = env.root().join("tmp/year");
        fs::rename(env.data_dir(), &template).expect("both are on one disk");
        Self { world, template }
    }

    /// Puts the year, as it was made, in the place of whatever became of the last copy.
    pub fn restore(&self) {
        let data = self.world.env.data_dir();
        let _ = fs::remove_dir_all(&data);
        copy(&self.template, &data);
    }

    /// The same on the small disk.
    pub fn restore_on_small_disk(&self) {
        let (template, data) = (self.template.display(), self.world.env.data_dir());
        let data = data.display();
        self.world.shell(&format!("rm -rf {data} {data}/../filler; cp -r {template} {data}"));
    }

    /// A transcript that its agent has not deleted yet.
    pub fn recent_transcript(&self, number: usize) -> PathBuf {
        transcript(&self.world, SESSIONS - 1 - number % OPEN)
    }
}

/// Copies a data folder. The files of the search index are never changed in place, hence only linked.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is writable");
    for entry in fs::read_dir(from).expect("it can be listed") {
        let (path, target) =
            entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("it is there");
        if path.is_dir() {
            copy(&path, &target);
        } else if from.ends_with("index") {
            fs::hard_link(&path, &target).expect("both are on one disk");
        } else if !path.to_string_lossy().ends_with(".sock") {
            fs::copy(&path, &target).expect("it can be copied");
        }
    }
}

pub fn words(dice: &mut Dice, count: usize) -> String {
    (0..count).map(|_| *dice.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

pub fn session(number: usize) -> SessionKey {
    key(&format!("claude:{}", session_id(number)))
}

fn session_id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-{number:012x}")
}

/// The time of a step within the year.
fn time(number: usize, of: usize) -> Timestamp {
    let (number, of) = (number as i64, of as i64);
    Timestamp(BEGIN_MS + number * (365 * DAY_MS) / of)
}

fn uid(at: Timestamp, number: usize) -> Uid {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&at.0.to_be_bytes()[2..]);
    bytes[8..].copy_from_slice(&(number as u64).to_be_bytes());
    Uid(bytes)
}

fn safe(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: 4000, secrets: SecretPolicy::Redacted })
}

/// Appends the events of a year to the journal, segment by segment, and applies them.
fn add_events(home: &DataFolder, project: &Path, activity: Activity) {
    let mut dice = Dice::new(365, 1);
    let lock = ProjectionLock::try_take(home).expect("it can be locked").expect("nobody has it");
    let limits = ProjectionLimits {
        has_time: &|| true,
        now: Timestamp(NOW_MS),
        new_machine: Uid([5; 16]),
        patience: Duration::from_secs(5),
    };
    for number in 0..SESSIONS {
        let mut session = SessionEvents { number, events: vec![] };
        session.fill(project, activity.turns, &mut dice);
        let records: Vec<_> = session.events.into_iter().map(JournalRecord::Event).collect();
        journal::append(home, &records).expect("it can be appended to");
        if number % QUARTER == QUARTER - 1 && number + 1 < SESSIONS {
            journal::seal(home, &lock).expect("it can be sealed");
        }
    }
    let (store, done) = Store::open_and_apply(home, &lock, &limits).expect("it can be applied");
    assert!(done.caught_up && done.events > activity.events, "{} events", done.events);
    upkeep::checkpoint(&store).expect("it can be checkpointed");
}

/// The events of one session.
struct SessionEvents {
    number: usize,
    events: Vec<Event>,
}

impl SessionEvents {
    fn fill(&mut self, project: &Path, turns: usize, dice: &mut Dice) {
        self.add(EventKind::SessionStarted { by: StartedBy::Startup, wishes: Default::default() });
        self.events.iter_mut().for_each(|event| event.scene = Some(scene(project)));
        (0..turns).for_each(|_| self.add_turn(dice));
        if self.number.is_multiple_of(6) {
            self.add_label(dice);
        }
        if self.number % 20 == 7 {
            self.add(EventKind::BatonPassed);
        }
        if self.number < SESSIONS - OPEN {
            self.add(EventKind::SessionEnded { by: EndedBy::Exit });
        }
    }

    fn add(&mut self, happening: EventKind) -> Uid {
        let at = time(self.number, SESSIONS).plus_ms(self.events.len() as i64 * 9_000);
        let uid = uid(at, self.number * 1000 + self.events.len());
        let session = session(self.number);
        self.events.push(Event { uid, at, session, subagent: None, turn: None, happening, scene: None });
        uid
    }

    fn add_turn(&mut self, dice: &mut Dice) {
        let prompt = safe(&format!("Look at the {}", words(dice, 160)));
        self.add(EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Human, own: None });
        for tool in ["Bash", "Read", "Edit", "Bash", "Grep", "Read", "Bash", "Write"] {
            self.add(EventKind::ToolFinished { tool: safe(tool), outcome: ToolOutcome::Done, bytes: 900 });
        }
        self.add(EventKind::ToolsFinished);
        self.add(EventKind::TurnEnded { background: None, answer: Some(safe(&words(dice, 200))) });
    }

    /// Every fourth label is deleted, and half of these are brought back.
    fn add_label(&mut self, dice: &mut Dice) {
        let label = Some(safe(&format!("Before {} {}", words(dice, 3), self.number)));
        let set = NewBookmark { how: BookmarkOrigin::Manual, after_turn: 5, reason: None, label };
        let bookmark = self.add(EventKind::BookmarkSet(set));
        self.add(EventKind::BookmarkPlaced { bookmark, code: None, context_tokens: Some(40_000) });
        if self.number.is_multiple_of(24) {
            self.add(EventKind::BookmarkDeleted { bookmark });
        }
        if self.number.is_multiple_of(48) {
            self.add(EventKind::BookmarkRestored { bookmark });
        }
    }
}

fn identity(project: &Path) -> ProjectIdentity {
    ProjectIdentity { root: project.display().to_string(), ..ProjectIdentity::default() }
}

fn scene(project: &Path) -> EventScene {
    EventScene {
        presence: SessionPresence::Terminal,
        folder: Some(project.display().to_string()),
        transcript: None,
        model: Some("model".to_owned()),
        place: None,
        project: Some(identity(project)),
    }
}

fn transcript(world: &World, number: usize) -> PathBuf {
    world.env.home().join(format!(".claude/projects/-project/{}.jsonl", session_id(number)))
}

/// A conversation with tools, as the agent writes it.
fn write_transcript(world: &World, number: usize, turns: usize) {
    let mut dice = Dice::new(366, number as u64);
    let mut lines = String::new();
    for turn in 0..turns {
        lines += &transcript_turn(world, number, turn, &mut dice);
    }
    let path = transcript(world, number);
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("home is writable");
    fs::write(path, lines).expect("home is writable");
}

/// The lines of one turn.
pub fn transcript_turn(world: &World, number: usize, turn: usize, dice: &mut Dice) -> String {
    let id = session_id(number);
    let at = time(number, SESSIONS).plus_ms(turn as i64 * 100_000).to_utc();
    let mut entries: Vec<(&str, Value)> = vec![];
    entries.push(("user", json!({"role": "user", "content": format!("Look at the {}", words(dice, 9))})));
    for call in 0..2 {
        let (name, text) = (format!("t{number}-{turn}-{call}"), words(dice, 150));
        let asked =
            json!([{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": words(dice, 5)}}]);
        entries.push(("assistant", answer(&format!("m{number}-{turn}-{call}"), asked)));
        let result = json!([{"type": "tool_result", "tool_use_id": name, "content": text}]);
        entries.push(("user", json!({"role": "user", "content": result})));
    }
    let said = json!([{"type": "text", "text": words(dice, 80)}]);
    entries.push(("assistant", answer(&format!("m{number}-{turn}"), said)));
    let line = |(part, (kind, message)): (usize, (&str, Value))| {
        let entry = json!({
            "type": kind, "uuid": format!("{turn}-{part}-{id}"), "sessionId": id, "isSidechain": false,
            "cwd": world.env.project(), "timestamp": at, "message": message,
        });
        format!("{entry}\n")
    };
    entries.into_iter().enumerate().map(line).collect()
}

fn answer(id: &str, content: Value) -> Value {
    let usage = json!({"input_tokens": 5, "output_tokens": 7});
    json!({"role": "assistant", "id": id, "model": "model", "stop_reason": "end_turn", "content": content, "usage": usage})
}

/// The memories and decisions of the user, month by month.
fn add_memories(home: &DataFolder, project: &Path) {
    let mut dice = Dice::new(367, 1);
    let lock = ArchiveLock::try_take(home).expect("it can be locked").expect("nobody has it");
    let archive =
        Archive::open(home, &lock, Duration::from_secs(5), Uid([5; 16])).expect("the archive opens");
    let row = archive.project_made(&identity(project)).expect("it can be made");
    for month in 0..12 {
        let add = || {
            for number in month * (MEMORIES / 12)..(month + 1) * (MEMORIES / 12) {
                add_memory(&archive, number, row, &mut dice)?;
            }
            Ok(())
        };
        archive.in_transaction(add).expect("it can be written");
    }
    archive.checkpoint().expect("it can be checkpointed");
}

/// Of twelve memories in a row each has another fate.
fn add_memory(archive: &Archive, number: usize, project: i64, dice: &mut Dice) -> towline_store::Result<()> {
    let at = time(number, MEMORIES);
    let new = NewMemory {
        uid: uid(at, 10_000_000 + number),
        content: content(number, "Rule", dice),
        project: Some(project),
        session: None,
        turn: None,
        branch: Some("main".to_owned()),
        commit: None,
        maker: MemoryAuthor::Person,
        trust: MemoryTrust::Person,
        confidence: ConfidencePercent::SURE,
        cost: 0,
        at,
        valid_from: at,
        quarantine: None,
    };
    let id = archive.add_memory(&new)?;
    let later = |minutes: i64| at.plus_ms(minutes * 60_000);
    match number % 12 {
        0 | 1 => drop(archive.pin_memory(id, Some(later(1)), later(1))?),
        2 | 3 => drop(archive.edit_memory(id, &content(number, "Better rule", dice), later(2), "clearer")?),
        4 => drop(archive.quarantine_memory(id, Some("a veto"), later(3))?),
        5 => {
            archive.quarantine_memory(id, Some("a veto"), later(3))?;
            archive.quarantine_memory(id, None, later(4))?;
        }
        6 if number > 12 => drop(archive.supersede_memory(id, Some(id - 1), later(5), "no longer")?),
        7 => {
            archive.pin_memory(id, Some(later(6)), later(6))?;
            archive.undo_memory(id, later(7))?;
        }
        _ => {}
    }
    Ok(())
}

/// From one line to the longest text that is kept.
fn content(number: usize, opening: &str, dice: &mut Dice) -> MemoryContent {
    let kind = MemoryType::parse("preference").expect("it is one");
    let title = format!("{opening} {number} of the {}", words(dice, 4));
    let longest = [0, 0, 40, 200][dice.below(4)];
    let narrative = words(dice, longest);
    let facts = (0..dice.below(4)).map(|_| words(dice, 12)).collect();
    let draft = MemoryDraft { narrative, facts, ..MemoryDraft::new(kind, title) };
    MemoryContent::of(draft).expect("it has a title")
}

//! Chains of sessions, as their clients write them and their hooks report them, through the real archive and loader: what
//! the next session is given of them.

use super::inherit::Giver;
use crate::capture::{Transcript, Wishes, capture};
use crate::runtime::record::event;
use crate::runtime::{Config, Env};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use towline_agents::Agent;
use towline_core::compose::ContextBudget;
use towline_core::event::{EndedBy, Event, EventKind, EventScene, PromptOrigin, SessionPresence, StartedBy};
use towline_core::id::SessionKey;
use towline_core::inherit::InheritSettings;
use towline_core::project::ProjectIdentity;
use towline_core::redact::{HIDDEN, redact};
use towline_core::seat::{SeatKind, SeatLocation, SeatProof};
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::ProjectionLock;
use towline_store::{DataFolder, ProjectionLimits, Store};

const MINUTE_MS: i64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Directive,
    PartlyPrivate,
    SmallTalk,
    Private,
    /// Reports what runs in the background.
    Notification,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    kind: Kind,
    asked: usize,
    answered: usize,
    /// So many turns are taken back before it.
    rewinds: usize,
    plans: bool,
    fails: bool,
}

/// How much of the last turn the transcript lacks while the next session asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lag {
    Nothing,
    Answer,
    Turn,
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let kind = prop_oneof![
        6 => Just(Kind::Directive),
        4 => select(vec![Kind::PartlyPrivate, Kind::SmallTalk, Kind::Private, Kind::Notification]),
    ];
    let size = prop_oneof![6 => 0_usize..4, 3 => 4_usize..60, 1 => 60_usize..1_000];
    let rewinds = prop_oneof![12 => Just(0_usize), 1 => 1_usize..6, 1 => Just(usize::MAX)];
    let flag = || prop_oneof![6 => Just(false), 1 => Just(true)];
    (kind, size.clone(), size, rewinds, (flag(), flag())).prop_map(
        |(kind, asked, answered, rewinds, (plans, fails))| Turn {
            kind,
            asked,
            answered,
            rewinds,
            plans,
            fails,
        },
    )
}

fn any_chain() -> impl Strategy<Value = Vec<Vec<Turn>>> {
    let turns = prop_oneof![4 => vec(any_turn(), 1..10), 1 => vec(any_turn(), 10..=60)];
    let prompted = turns.prop_map(|mut turns| {
        // Who was never prompted leaves nothing to go on with.
        turns[0].kind = Kind::Directive;
        turns
    });
    vec(prompted, 1..=6)
}

/// A turn with its fate.
struct Placed {
    turn: Turn,
    session: usize,
    index: usize,
    is_taken_back: bool,
    is_after_private: bool,
    /// The standing turns before it.
    before: usize,
}

fn placed(session: usize, turns: &[Turn]) -> Vec<Placed> {
    let (mut standing, mut all) = (vec![], Vec::<Placed>::new());
    for (index, turn) in turns.iter().enumerate() {
        for _ in 0..turn.rewinds.min(standing.len()) {
            let taken: usize = standing.pop().unwrap();
            all[taken].is_taken_back = true;
        }
        let is_after_private = turns[..index].iter().any(|turn| turn.kind == Kind::Private);
        let before = standing.len();
        all.push(Placed { turn: *turn, session, index, is_taken_back: false, is_after_private, before });
        standing.push(index);
    }
    all
}

impl Placed {
    fn id(&self, part: &str) -> String {
        format!("{}-{}-{part}", self.session, self.index)
    }

    fn tag(&self) -> String {
        format!("D{}x{}:", self.session, self.index)
    }

    /// The word that tells on a text that must not be given.
    fn betrayal(&self) -> &'static str {
        match self.turn.kind {
            Kind::Private => "SECRET ",
            Kind::Notification if self.is_after_private => "SECRET ",
            _ if self.is_taken_back => "TAKENBACK ",
            Kind::Directive | Kind::PartlyPrivate | Kind::SmallTalk | Kind::Notification => "",
        }
    }

    fn is_directive(&self) -> bool {
        !self.is_taken_back && matches!(self.turn.kind, Kind::Directive | Kind::PartlyPrivate)
    }

    fn is_listed(&self) -> bool {
        !self.is_taken_back && self.turn.kind != Kind::Notification
    }

    fn prompt(&self) -> String {
        let (tag, betrayal, words) =
            (self.tag(), self.betrayal(), "paint the mast. ".repeat(self.turn.asked));
        match self.turn.kind {
            Kind::Directive => format!("{tag} {betrayal}{words}"),
            Kind::PartlyPrivate => format!("{tag} mend {betrayal}<private>SECRET</private> it {words}"),
            Kind::SmallTalk => "ok, thanks!".to_owned(),
            Kind::Private => format!("<private>SECRET {words}</private>"),
            Kind::Notification => {
                format!("<task-notification> {betrayal}it ended {words}</task-notification>")
            }
        }
    }

    fn answer(&self) -> String {
        format!("{}ANSWER {} {}", self.betrayal(), self.tag(), "It is done. ".repeat(self.turn.answered))
    }

    fn at(&self) -> Timestamp {
        let start = Timestamp::parse_utc("2026-11-15T10:00:00Z").unwrap();
        start.plus_ms(MINUTE_MS * (self.session as i64 * 70 + self.index as i64))
    }
}

/// The file of one client, in the form of the newest version.
struct Writer {
    key: SessionKey,
    text: String,
    leaf: Value,
    /// What each standing prompt follows.
    followed: Vec<Value>,
}

impl Writer {
    fn entry(&mut self, turn: &Placed, part: &str, mut entry: Value) {
        let id = turn.id(part);
        let seconds = 1 + self.text.lines().count() as i64 % 20;
        entry["parentUuid"] = std::mem::replace(&mut self.leaf, json!(id));
        (entry["uuid"], entry["sessionId"]) = (json!(id), json!(self.key.id.as_str()));
        (entry["cwd"], entry["isSidechain"]) = (json!("/src/app"), json!(false));
        entry["timestamp"] = json!(turn.at().plus_ms(100 * seconds).to_utc());
        entry["promptId"] = json!(turn.id("prompt"));
        self.text.push_str(&format!("{entry}\n"));
    }

    fn write(&mut self, turn: &Placed, lag: Lag) {
        for _ in turn.before..self.followed.len() {
            let followed = self.followed.pop().unwrap();
            // Where the first prompt is taken back, the next follows the last entry all the same.
            self.leaf = if self.followed.is_empty() { self.leaf.take() } else { followed };
        }
        self.followed.push(self.leaf.clone());
        if lag == Lag::Turn {
            return;
        }
        let kind = if turn.turn.kind == Kind::Notification { "task-notification" } else { "human" };
        let prompt = json!({"type": "user", "message": {"role": "user", "content": turn.prompt()},
            "origin": {"kind": kind}, "promptSource": "typed", "turnPosition": {"turnIndex": turn.before + 1}});
        self.entry(turn, "u", prompt);
        if turn.turn.plans {
            let item =
                |part: &str, status: &str| json!({"content": part, "status": status, "activeForm": part});
            let part = |number: u32| format!("{}do {} part {number}", turn.betrayal(), turn.tag());
            let todos = [item(&part(0), "in_progress"), item(&part(1), "pending")];
            self.call(turn, ("plan", "TodoWrite"), &json!({"todos": todos}), "ok");
        }
        if turn.turn.fails {
            let command = format!("cargo test {}{}", turn.betrayal(), turn.tag());
            self.call(turn, ("run", "Bash"), &json!({"command": command}), "3 passed; 2 failed");
        }
        if lag == Lag::Nothing {
            let said = json!([{"type": "text", "text": turn.answer()}]);
            self.entry(
                turn,
                "a",
                json!({"type": "assistant", "message": {"role": "assistant", "content": said}}),
            );
        }
    }

    fn call(&mut self, turn: &Placed, (name, tool): (&str, &str), input: &Value, output: &str) {
        let id = turn.id(name);
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let entry = json!({"type": "assistant", "message": {"role": "assistant", "content": call}});
        self.entry(turn, &format!("{name}-c"), entry);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": tool == "Bash"}]);
        let entry = json!({"type": "user", "message": {"role": "user", "content": result}});
        self.entry(turn, &format!("{name}-r"), entry);
    }
}

/// A data folder, and the files of the clients.
struct Bench {
    folder: TempDir,
    env: Env,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path().join("data"));
        home.create().unwrap();
        let env = Env::at(home, folder.path().join("config.toml"));
        Bench { folder, env }
    }

    fn path(&self, key: &SessionKey) -> PathBuf {
        self.folder.path().join(format!("{}.jsonl", key.id.as_str()))
    }

    fn tell(&mut self, key: &SessionKey, at: Timestamp, kind: EventKind) {
        self.env.now = at;
        let scene = EventScene {
            presence: SessionPresence::Terminal,
            folder: Some("/src/app".into()),
            transcript: Some(self.path(key).display().to_string()),
            model: None,
            place: Some(SeatLocation {
                key: "seat".into(),
                kind: SeatKind::Tmux,
                pane: None,
                server: None,
                tty: None,
                pid: 1,
                started: 1,
                program: None,
                proof: SeatProof::Terminal,
            }),
            project: Some(ProjectIdentity {
                root: "/src/app/.git".into(),
                remote: None,
                name: None,
                branch: None,
            }),
        };
        let event = Event { scene: Some(scene), ..event(&self.env, key, kind) };
        journal::append(&self.env.home, &[JournalRecord::Event(event)]).unwrap();
    }

    fn begin(&mut self, key: &SessionKey, at: Timestamp, by: StartedBy) {
        let wishes = InheritSettings::default();
        self.tell(key, at, EventKind::SessionStarted { by, wishes });
        self.tell(key, at, EventKind::SeatFound);
    }

    fn prompt(&mut self, key: &SessionKey, at: Timestamp, (text, origin): (&str, PromptOrigin)) {
        self.tell(key, at, EventKind::PromptSubmitted { prompt: safe(text), origin, own: None });
    }

    /// Plays a session: its hooks, its file, and the captures after its turns.
    fn play(&mut self, turns: &[Placed], lag: Lag) -> SessionKey {
        let key = key(turns[0].session);
        let by = if turns[0].session == 0 { StartedBy::Startup } else { StartedBy::Clear };
        self.begin(&key, turns[0].at().plus_ms(-1_000), by);
        let mut writer =
            Writer { key: key.clone(), text: String::new(), leaf: Value::Null, followed: vec![] };
        for turn in turns {
            let is_last = turn.index + 1 == turns.len();
            let (is_private, is_report) =
                (turn.turn.kind == Kind::Private, turn.turn.kind == Kind::Notification);
            let origin = if is_report { PromptOrigin::Notification } else { PromptOrigin::Human };
            let is_hidden = is_private || (is_report && turn.is_after_private);
            let prompt = if is_hidden { HIDDEN.to_owned() } else { turn.prompt() };
            self.prompt(&key, turn.at(), (&prompt, origin));
            writer.write(turn, if is_last { lag } else { Lag::Nothing });
            let answer = (!is_hidden).then(|| safe(&turn.answer()));
            let ended = EventKind::TurnEnded { background: Some(0), answer };
            self.tell(&key, turn.at().plus_ms(20_000), ended);
        }
        fs::write(self.path(&key), &writer.text).unwrap();
        let file = Transcript { agent: Agent::Claude.into(), path: self.path(&key) };
        capture(&self.env, &Wishes::default_rules(), &[file]).unwrap().unwrap();
        let end = turns[turns.len() - 1].at().plus_ms(40_000);
        self.tell(&key, end, EventKind::SessionEnded { by: EndedBy::Clear });
        key
    }

    /// What the next session in that seat is given with its first prompt.
    fn given(&mut self, sessions: usize) -> String {
        let heir = key(sessions);
        let at = self.env.now.plus_ms(1_000);
        self.begin(&heir, at, StartedBy::Clear);
        self.prompt(&heir, at.plus_ms(1_000), ("what was I doing?", PromptOrigin::Human));
        let pauses = [Duration::from_millis(5); 400];
        let lock = ProjectionLock::take_within(&self.env.home, pauses).unwrap().unwrap();
        let patience = Duration::from_secs(2);
        let (now, new_machine) = (self.env.now, self.env.uid());
        let pace = ProjectionLimits { has_time: &|| true, now, new_machine, patience };
        let store: Store = Store::open_and_apply(&self.env.home, &lock, &pace).unwrap().0;
        let session = store.session(&heir).unwrap().unwrap();
        let config = Config::compiled_in();
        let giver = Giver { env: &self.env, config: &config, store: &store, session: &session, open: &[] };
        giver.inherited().unwrap().context.concat()
    }
}

fn safe(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: 64 << 10, secrets: SecretPolicy::Redacted })
}

fn key(session: usize) -> SessionKey {
    Agent::Claude.session_named(&format!("0c9f6b2e-4d7a-4b1c-9e57-0000{session:08}")).unwrap()
}

/// Short ones verbatim, of longer ones the beginning and how to get the rest.
fn check_directive(text: &str, turn: &Placed, is_captured: bool) -> Result<(), TestCaseError> {
    let prompt = redact(&turn.prompt()).trim().to_owned();
    let shown: String = prompt.chars().take(if prompt.len() > 160 { 40 } else { 160 }).collect();
    prop_assert!(text.contains(shown.trim()), "no {shown:?} in {text}");
    let hint = format!("session detail {}#{} …]", key(turn.session).short(), turn.index + 1);
    prop_assert!(text.contains(&prompt) || !is_captured || text.contains(&hint), "no {hint} in {text}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn of_any_chain_that_was_captured_the_next_session_gets_the_directives_the_answer_and_a_line_per_turn(
        chain in any_chain(),
        lag in select(vec![Lag::Nothing, Lag::Answer, Lag::Turn]),
    ) {
        let chain: Vec<Vec<Placed>> =
            chain.iter().enumerate().map(|(session, turns)| placed(session, turns)).collect();
        let last = chain.last().unwrap();
        let lagging = last.last().unwrap();
        // A transcript that lacks a rewind cannot tell of it, and an answer after one may be of what was taken back.
        let is_plain = last.iter().all(|turn| !turn.is_taken_back) && lagging.turn.kind == Kind::Directive;
        let lag = if is_plain && last.len() > 1 { lag } else { Lag::Nothing };
        let mut bench = Bench::new();
        for turns in &chain {
            let is_last = turns[0].session + 1 == chain.len();
            bench.play(turns, if is_last { lag } else { Lag::Nothing });
        }
        let text = bench.given(chain.len());

        let budget = ContextBudget::Characters(9_500);
        prop_assert!(budget.holds(&text), "{text}");
        prop_assert!(!text.contains("SECRET") && !text.contains("TAKENBACK"), "{text}");
        let directives: Vec<&Placed> = chain.iter().flatten().filter(|turn| turn.is_directive()).collect();
        let of_last = last.iter().find(|turn| turn.is_directive());
        for turn in directives.first().copied().into_iter().chain(of_last).chain(directives.last().copied()) {
            check_directive(&text, turn, lag != Lag::Turn || !std::ptr::eq(turn, lagging))?;
        }
        let answer = format!("ANSWER {}", lagging.tag());
        let is_answered = lagging.is_directive();
        prop_assert!(!is_answered || text.contains(&answer), "no {answer} in {text}");

        let short = key(chain.len() - 1);
        let short = short.short();
        let is_shown = |turn: &&Placed| {
            let number = turn.index + 1;
            let heads = [format!("#{number} "), format!("[#{number} ")];
            let quote = format!(" ({short}#{number}, ");
            let is_quoted = |line: &str| !line.starts_with("The first") && line.contains(&quote);
            let by_hook = lag == Lag::Turn && std::ptr::eq(*turn, lagging);
            by_hook || text.lines().any(|line| is_quoted(line) || heads.iter().any(|head| line.starts_with(head)))
        };
        let listed = last.iter().filter(|turn| turn.is_listed());
        let missing = listed.filter(|turn| !is_shown(turn)).count();
        let note = |more: usize| format!("({} earlier: ", missing + more);
        prop_assert!(missing == 0 || (0..3).any(|more| text.contains(&note(more))), "{missing} in {text}");
        prop_assert!(missing <= 20, "{missing} in {text}");
        for turns in &chain[..chain.len() - 1] {
            prop_assert!(text.contains(key(turns[0].session).short()), "{text}");
        }
    }
}

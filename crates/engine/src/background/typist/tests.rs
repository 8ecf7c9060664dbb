//! Drives the typist in a pane of a real tmux: a program with an input line plays the agent, the test reports
//! its events.

use super::hands::{Hands, NotDone};
use super::queue::type_pending_with;
use crate::handoff::typing::{accept_move, pause};
use crate::runtime::Env;
use crate::runtime::record::event;
use std::fs;
use std::path::PathBuf;
use towline_agents::Agent;
use towline_core::bookmark::{BookmarkOrigin, BookmarkReason, CountPrecision, Threshold};
use towline_core::event::{EndedBy, Event, EventKind, EventScene, PromptOrigin, SessionPresence, StartedBy};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::InheritSettings;
use towline_core::seat::{SeatKind, SeatLocation, SeatProof};
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_core::typing::{
    InputLine, Intent, IntentPurpose, IntentRequest, IntentStage, PaneObservation, SessionStartReport,
    ShownSession, TerminalAbilities, TypingPause,
};
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::{ProjectionLock, wait_for};
use towline_store::{BookmarkFilter, DataFolder, DeletedBookmarks, IntentFilter, ProjectionLimits, Store};
use towline_terminal::process::Process;
use towline_testkit::{Pane, TestEnv, Tmux, wait};

/// Shows `> ` and the typed text; appends every submitted line to a file.
const AGENT: &str = r#"#!/bin/bash
while IFS= read -r -e -p '> ' line; do printf '%s\n' "$line" >> "$1"; done
"#;

const SEAT: &str = "tmux:bench:%0";

/// A pane with its agent, and a data folder in which its session has answered a prompt.
struct Bench {
    home: DataFolder,
    config: PathBuf,
    pane: Pane,
    place: SeatLocation,
    submitted: PathBuf,
}

impl Bench {
    fn new(settings: &str) -> Bench {
        let env = TestEnv::new("/bin/true");
        let submitted = env.root().join("submitted");
        let script = env.script("agent", AGENT).display().to_string();
        let tmux = Tmux::start(&env);
        let pane = tmux.open(&["bash", &script, &submitted.display().to_string()], &[]);
        pane.wait_screen(">");
        let config = env.root().join("config.toml");
        fs::write(&config, format!("[typing]\nenabled = true\nquiet_s = 0\n{settings}\n")).unwrap();
        let home = DataFolder::at(env.data_dir());
        home.create().unwrap();
        let place = place(&pane);
        let bench = Bench { home, config, pane, place, submitted };
        bench.begin("1", StartedBy::Startup);
        bench.prompted("1", "work");
        bench.tell("1", EventKind::TurnEnded { background: Some(0), answer: None });
        bench
    }

    /// The environment with the current time.
    fn env(&self) -> Env {
        Env::at(self.home.clone(), self.config.clone())
    }

    fn begin(&self, session: &str, by: StartedBy) {
        let start = EventKind::SessionStarted { by, wishes: InheritSettings::default() };
        let scene = EventScene {
            presence: SessionPresence::Terminal,
            folder: None,
            transcript: None,
            model: None,
            place: Some(self.place.clone()),
            project: None,
        };
        let event = event(&self.env(), &key(session), start);
        self.append(Event { scene: Some(scene), ..event });
    }

    fn prompted(&self, session: &str, text: &str) {
        let prompt =
            SafeText::new(text, TextPolicy { longest_bytes: 2_000, secrets: SecretPolicy::Redacted });
        self.tell(session, EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Human, own: None });
    }

    fn tell(&self, session: &str, happening: EventKind) {
        self.append(event(&self.env(), &key(session), happening));
    }

    fn append(&self, event: Event) {
        journal::append(&self.home, &[JournalRecord::Event(event)]).unwrap();
    }

    /// An intent that no process has begun.
    fn make(&self, purpose: IntentPurpose, text: &str) -> Intent {
        self.wish(IntentRequest::new(SEAT, purpose, text, self.env().now.plus_ms(60_000)).unwrap())
    }

    fn wish(&self, wish: IntentRequest) -> Intent {
        let made = event(&self.env(), &key("1"), EventKind::IntentMade { wish });
        let uid = made.uid;
        self.append(made);
        self.intent(uid)
    }

    fn store(&self) -> Store {
        let pauses = [std::time::Duration::from_millis(5); 400];
        let lock = ProjectionLock::take_within(&self.home, pauses).unwrap().unwrap();
        let env = self.env();
        let patience = std::time::Duration::from_secs(2);
        let limits = ProjectionLimits { has_time: &|| true, now: env.now, new_machine: env.uid(), patience };
        Store::open_and_apply(&env.home, &lock, &limits).unwrap().0
    }

    fn intent(&self, uid: Uid) -> Intent {
        self.store().intent(uid).unwrap().unwrap()
    }

    fn work_off(&self) {
        self.work_off_with(|hands| hands);
    }

    /// Runs the queue with altered hands.
    fn work_off_with(&self, change: impl Fn(TmuxHands) -> TmuxHands) {
        let reach = |_: &SeatLocation, _: Agent| -> Result<Box<dyn Hands>, String> {
            let hands = TmuxHands { pane: self.pane.clone(), pid: self.place.pid, meanwhile: None };
            Ok(Box::new(change(hands)))
        };
        type_pending_with(&self.env(), SEAT, &reach).unwrap();
    }

    fn lines(&self) -> Vec<String> {
        let written = fs::read_to_string(&self.submitted).unwrap_or_default();
        written.lines().map(str::to_owned).collect()
    }

    /// Runs the queue while `told` reports the agent's events for each submitted line.
    fn work_off_heard(&self, number: usize, told: impl Fn(&Bench, &str) + Sync) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..number {
                    let line =
                        wait::until("a submitted line", wait::PATIENCE, || self.lines().get(index).cloned());
                    told(self, &line);
                }
            });
            self.work_off();
        });
    }

    #[track_caller]
    fn check(&self, intent: &Intent, stage: IntentStage, why: &str) {
        let known = self.intent(intent.uid);
        let said = known.why.unwrap_or_default();
        assert!(known.stage == stage && said.contains(why), "{:?}: {said}", known.stage);
    }
}

/// A session of any agent that reports a new session at once.
fn key(id: &str) -> SessionKey {
    let agent = Agent::ALL.into_iter().find(|agent| agent.starts() == SessionStartReport::AtOnce).unwrap();
    SessionKey::parse(&format!("{}:{id}", agent.name())).unwrap()
}

fn place(pane: &Pane) -> SeatLocation {
    let pid = pane.program_pid();
    SeatLocation {
        key: SEAT.into(),
        kind: SeatKind::Tmux,
        pane: Some(pane.id.clone()),
        server: Some(pane.tmux().socket().display().to_string()),
        tty: Some(pane.tty()),
        pid,
        started: Process::read(pid).unwrap().started,
        program: None,
        proof: SeatProof::Terminal,
    }
}

/// Looks and types through the bench's own tmux; `meanwhile` runs right after the text was typed.
struct TmuxHands {
    pane: Pane,
    pid: u32,
    meanwhile: Option<Meanwhile>,
}

type Meanwhile = Box<dyn Fn(&Pane)>;

impl Hands for TmuxHands {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: true, mode: true, activity: true }
    }

    fn look(&self) -> PaneObservation {
        let is_in_front = Process::read(self.pid).is_some_and(|process| process.is_in_front());
        PaneObservation {
            is_there: Some(true),
            foreground: Some(if is_in_front { self.pid } else { 1 }),
            in_mode: Some(self.pane.format("#{pane_in_mode}") != "0"),
            last_key_at: Some(Timestamp(0)),
            screen: Some(self.pane.screen()),
            cursor: self
                .pane
                .format("#{cursor_x} #{cursor_y}")
                .split_once(' ')
                .map(|(column, line)| (column.parse().unwrap(), line.parse().unwrap())),
        }
    }

    fn input_line(&self, look: &PaneObservation) -> InputLine {
        let screen = look.screen.as_deref().unwrap_or_default();
        let Some(line) = screen.lines().last().and_then(|line| line.strip_prefix('>')) else {
            return InputLine::Unknown;
        };
        match line.trim() {
            "" => InputLine::Empty,
            text => InputLine::Holds { text: text.to_owned() },
        }
    }

    fn shown(&self, _: &PaneObservation) -> ShownSession {
        ShownSession::Unknown
    }

    fn is_typed(&self, held: &str, text: &str) -> bool {
        held == text
    }

    fn is_cursor_at_end(&self, look: &PaneObservation) -> Option<bool> {
        let last = look.screen.as_deref()?.lines().last()?.trim_end().chars().count();
        Some(look.cursor?.0 == last)
    }

    fn type_in(&self, text: &str) -> Result<(), NotDone> {
        self.pane.paste(text);
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile(&self.pane);
        }
        Ok(())
    }

    fn counts_own_keys(&self) -> bool {
        false
    }

    fn press_enter(&self) -> Result<(), NotDone> {
        self.pane.keys(&["Enter"]);
        Ok(())
    }
}

#[test]
fn a_marker_is_typed_once_and_confirmed_by_its_prompt() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off_heard(1, |bench, line| bench.prompted("1", line));
    bench.check(&intent, IntentStage::Confirmed, "");
    assert_eq!(bench.intent(intent.uid).into, Some(key("1")));
    bench.work_off();
    assert_eq!(bench.lines(), ["·"]);
}

#[test]
fn what_nobody_confirms_expires_and_is_not_typed_again() {
    let bench = Bench::new("confirm_s = 1");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(
        &intent,
        IntentStage::Expired,
        "nothing told that the prompt was submitted; it is not typed again",
    );
    bench.work_off();
    assert_eq!(bench.lines(), ["·"]);
}

#[test]
fn what_kept_an_intent_from_being_typed_is_told_though_its_time_is_over() {
    let bench = Bench::new("");
    bench.pane.half_type("mine");
    bench.pane.wait_screen("> mine");
    // Long enough for one look, also on a slow machine.
    let until = bench.env().now.plus_ms(3_000);
    let intent = bench.wish(IntentRequest::new(SEAT, IntentPurpose::Bookmark, "·", until).unwrap());
    bench.work_off();
    bench.check(&intent, IntentStage::Expired, "in time: something stands in the input line");
}

impl Bench {
    /// Records that a marker is due after the turn.
    fn want_marker(&self) -> Intent {
        let reason =
            BookmarkReason { threshold: Threshold::ToolCalls, count: 15, counted: CountPrecision::Exactly };
        self.tell("1", EventKind::MarkerWanted { reason });
        self.make(IntentPurpose::Bookmark, "·")
    }

    /// How each bookmark was set, and after which turn.
    fn bookmarks(&self) -> Vec<(BookmarkOrigin, u32, Option<u64>)> {
        let asked =
            BookmarkFilter { session: None, project: None, deleted: DeletedBookmarks::Included, most: 9 };
        let all = self.store().bookmarks(&asked).unwrap().into_iter().map(|known| known.bookmark.set);
        all.map(|set| (set.how, set.after_turn, set.reason.map(|reason| reason.count))).collect()
    }
}

#[test]
fn a_marker_that_is_not_typed_leaves_a_silent_bookmark_where_it_would_have_been() {
    let refused = |change: &dyn Fn(&Bench), settings: &str| {
        let bench = Bench::new(settings);
        let intent = bench.want_marker();
        change(&bench);
        bench.work_off();
        assert!(bench.intent(intent.uid).stage.is_over());
        bench.work_off();
        bench.bookmarks()
    };
    let silent = vec![(BookmarkOrigin::Silent, 1, Some(15))];
    let paused = |bench: &Bench| pause(&bench.home, TypingPause { until: None }).unwrap();
    assert_eq!(refused(&paused, ""), silent);
    let went_on = |bench: &Bench| bench.prompted("1", "more work");
    assert_eq!(refused(&went_on, ""), silent, "before what was asked since");
    let typed = |bench: &Bench| {
        bench.pane.half_type("mine");
        bench.pane.wait_screen("> mine");
    };
    assert_eq!(refused(&typed, "limit_s = 1"), silent);
    assert_eq!(refused(&|_| {}, "confirm_s = 1"), silent, "nobody told that it was submitted");
    let died = |bench: &Bench| {
        let intent = bench.store().open_intents(SEAT).unwrap().remove(0);
        accept_move(&bench.env(), &key("1"), &intent, IntentStage::Typing, None).unwrap();
    };
    assert_eq!(refused(&died, ""), silent);
}

#[test]
fn a_marker_that_is_typed_or_taken_back_leaves_no_other_bookmark() {
    let bench = Bench::new("");
    bench.want_marker();
    let marked = |bench: &Bench, line: &str| {
        let prompt = SafeText::new(line, TextPolicy { longest_bytes: 99, secrets: SecretPolicy::Kept });
        bench.tell("1", EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Bookmark, own: None });
    };
    bench.work_off_heard(1, marked);
    assert_eq!(bench.bookmarks(), [(BookmarkOrigin::Typed, 2, Some(15))]);
    let bench = Bench::new("");
    let intent = bench.want_marker();
    accept_move(&bench.env(), &key("1"), &intent, IntentStage::Dropped, None).unwrap();
    bench.work_off();
    assert_eq!(bench.bookmarks(), []);
}

#[test]
fn half_typed_text_is_waited_for_and_never_submitted() {
    let bench = Bench::new("limit_s = 1");
    bench.pane.half_type("mine");
    bench.pane.wait_screen("> mine");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(&intent, IntentStage::Expired, "something stands in the input line");
    assert_eq!((bench.lines(), bench.pane.screen().ends_with("> mine")), (vec![], true));
}

#[test]
fn a_line_that_is_emptied_in_time_is_typed_into() {
    let bench = Bench::new("");
    bench.pane.half_type("mine");
    bench.pane.wait_screen("> mine");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    std::thread::scope(|scope| {
        scope.spawn(|| bench.pane.keys(&["C-u"]));
        bench.work_off_heard(1, |bench, line| bench.prompted("1", line));
    });
    bench.check(&intent, IntentStage::Confirmed, "");
    assert_eq!(bench.lines(), ["·"]);
}

#[test]
fn what_a_person_types_into_it_keeps_enter_from_being_pressed() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Continue, "go on");
    bench.work_off_with(|hands| TmuxHands {
        meanwhile: Some(Box::new(|pane| pane.half_type("mine"))),
        ..hands
    });
    bench.check(&intent, IntentStage::Refused, "does not hold exactly what was typed; Enter was not pressed");
    assert_eq!((bench.lines(), bench.pane.screen().ends_with("> go onmine")), (vec![], true));
}

#[test]
fn a_cursor_that_is_not_at_the_end_of_the_text_keeps_enter_from_being_pressed() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Continue, "go on");
    bench
        .work_off_with(|hands| TmuxHands { meanwhile: Some(Box::new(|pane| pane.keys(&["Home"]))), ..hands });
    bench.check(
        &intent,
        IntentStage::Refused,
        "the cursor is not where the typed text ends; Enter was not pressed",
    );
    assert_eq!((bench.lines(), bench.pane.screen().ends_with("> go on")), (vec![], true));
}

#[test]
fn a_pause_at_the_last_moment_keeps_enter_from_being_pressed() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    let home = bench.home.clone();
    bench.work_off_with(|hands| {
        let home = home.clone();
        TmuxHands {
            meanwhile: Some(Box::new(move |_| pause(&home, TypingPause { until: None }).unwrap())),
            ..hands
        }
    });
    bench.check(&intent, IntentStage::Refused, "typing is paused");
    assert_eq!(bench.lines(), [""; 0]);
    let next = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(&next, IntentStage::Refused, "typing is paused (`tow typing resume`)");
}

#[test]
fn nothing_is_typed_while_it_is_off() {
    let bench = Bench::new("");
    fs::write(&bench.config, "").unwrap();
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(&intent, IntentStage::Refused, "typing is off");
    assert_eq!((bench.lines(), bench.pane.screen()), (vec![], ">".to_owned()));
}

#[test]
fn two_intents_of_a_seat_are_typed_one_after_the_other() {
    let bench = Bench::new("");
    let (first, second) =
        (bench.make(IntentPurpose::Bookmark, "·"), bench.make(IntentPurpose::Continue, "go on"));
    bench.work_off_heard(2, |bench, line| {
        bench.prompted("1", line);
        bench.tell("1", EventKind::TurnEnded { background: Some(0), answer: None });
    });
    bench.check(&first, IntentStage::Confirmed, "");
    // The turn that a marker begins is not a user's: it does not outdate the second intent.
    bench.check(&second, IntentStage::Confirmed, "");
    assert_eq!(bench.lines(), ["·", "go on"]);
}

#[test]
fn a_clear_and_the_continuation_behind_it_go_to_the_session_that_begins() {
    let bench = Bench::new("");
    let clear = bench.make(IntentPurpose::Clear, "/clear");
    let until = bench.env().now.plus_ms(60_000);
    let go_on = bench
        .wish(IntentRequest::new(SEAT, IntentPurpose::Continue, "go on", until).unwrap().after(clear.uid));
    bench.work_off_heard(2, |bench, line| match line {
        "/clear" => {
            bench.tell("1", EventKind::SessionEnded { by: EndedBy::Clear });
            bench.begin("2", StartedBy::Clear);
        }
        line => bench.prompted("2", line),
    });
    bench.check(&clear, IntentStage::Confirmed, "");
    bench.check(&go_on, IntentStage::Confirmed, "");
    assert_eq!(bench.intent(go_on.uid).into, Some(key("2")));
    assert_eq!(bench.lines(), ["/clear", "go on"]);
}

#[test]
fn what_comes_after_something_that_failed_is_refused() {
    let bench = Bench::new("confirm_s = 1");
    let clear = bench.make(IntentPurpose::Clear, "/clear");
    let until = bench.env().now.plus_ms(60_000);
    let go_on = bench
        .wish(IntentRequest::new(SEAT, IntentPurpose::Continue, "go on", until).unwrap().after(clear.uid));
    bench.work_off();
    bench.check(&clear, IntentStage::Expired, "nothing told that a new session began");
    bench.check(&go_on, IntentStage::Refused, "what it comes after was not confirmed");
    assert_eq!(bench.lines(), ["/clear"]);
}

#[test]
fn what_a_dead_process_has_begun_is_never_typed() {
    let bench = Bench::new("");
    let begun = bench.make(IntentPurpose::Bookmark, "·");
    accept_move(&bench.env(), &key("1"), &begun, IntentStage::Typing, None).unwrap();
    bench.work_off();
    bench.check(&begun, IntentStage::Expired, "the typing process died");
    assert_eq!((bench.lines(), bench.pane.screen()), (vec![], ">".to_owned()));
}

#[test]
fn what_a_dead_process_has_typed_may_still_be_confirmed() {
    let bench = Bench::new("");
    let begun = bench.make(IntentPurpose::Bookmark, "·");
    for stage in [IntentStage::Typing, IntentStage::Typed] {
        accept_move(&bench.env(), &key("1"), &begun, stage, None).unwrap();
    }
    bench.prompted("1", "·");
    bench.work_off();
    bench.check(&begun, IntentStage::Confirmed, "");
    assert!(bench.lines().is_empty());
}

#[test]
fn a_session_that_lost_its_seat_is_not_typed_into() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.begin("2", StartedBy::Startup);
    bench.work_off();
    bench.check(&intent, IntentStage::Refused, "another session sits in the seat");
    assert!(bench.lines().is_empty());
}

#[test]
fn a_person_who_went_on_is_not_interrupted() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Clear, "/clear");
    bench.prompted("1", "one more thing");
    bench.tell("1", EventKind::TurnEnded { background: Some(0), answer: None });
    bench.work_off();
    bench.check(&intent, IntentStage::Refused, "somebody has gone on since");
    assert!(bench.lines().is_empty());
}

#[test]
fn copy_mode_and_another_program_are_waited_for() {
    let bench = Bench::new("limit_s = 1");
    bench.pane.tmux().run(&["copy-mode", "-t", &bench.pane.id]);
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(&intent, IntentStage::Expired, "such as copy mode");
    bench.pane.keys(&["q"]);
    bench.pane.keys(&["C-z"]);
    wait::until("the shell in front", wait::PATIENCE, || {
        Process::read(bench.place.pid).filter(|process| !process.is_in_front())
    });
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.work_off();
    bench.check(&intent, IntentStage::Expired, "another program would get the keys");
    assert!(bench.lines().is_empty());
}

#[test]
fn a_process_that_ended_is_not_typed_into() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    bench.pane.keys(&["C-d"]);
    bench.pane.wait_end();
    bench.work_off();
    bench.check(&intent, IntentStage::Refused, "the agent's process has ended");
}

#[test]
fn whoever_finds_the_seat_taken_leaves_it_to_the_holder() {
    let bench = Bench::new("");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    fs::create_dir_all(bench.home.typing()).unwrap();
    let held = wait_for(&bench.home.typing_lock(SEAT), []).unwrap().unwrap();
    bench.work_off();
    bench.check(&intent, IntentStage::Waiting, "");
    drop(held);
    bench.work_off_heard(1, |bench, line| bench.prompted("1", line));
    bench.check(&intent, IntentStage::Confirmed, "");
}

#[test]
fn what_is_taken_back_while_it_waits_is_not_typed() {
    let bench = Bench::new("");
    bench.pane.half_type("mine");
    bench.pane.wait_screen("> mine");
    let intent = bench.make(IntentPurpose::Bookmark, "·");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            accept_move(&bench.env(), &key("1"), &intent, IntentStage::Dropped, None).unwrap();
        });
        bench.work_off();
    });
    bench.check(&intent, IntentStage::Dropped, "");
    assert!(bench.lines().is_empty());
    let all = bench.store().intents(&IntentFilter { limit: 9, ..IntentFilter::default() }).unwrap();
    assert_eq!(all.len(), 1);
}

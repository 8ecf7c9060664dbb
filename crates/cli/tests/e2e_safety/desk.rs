//! A client in a pane with others beside it, and a trial: something is to be typed, and what came of it is compared with
//! what may have come of it.

use crate::client::Client;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::time::UNIX_EPOCH;
use towline_core::event::{Event, EventKind, SessionPresence};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{InputLine, IntentPurpose, IntentRequest};
use towline_store::DataFolder;
use towline_store::journal::{self, JournalRecord};
use towline_terminal::driver::Driver;
use towline_terminal::place::seat_of;
use towline_terminal::process::Process;
use towline_testkit::{Kind, Model, Pane, TestEnv, Tmux, wait};

/// Asks for brackets around pastes, and writes down every byte it gets.
const CATCHER: &str = r#"printf '\033[?2004hcatches'; stty raw -echo; exec cat > "$1""#;

/// Shows itself over the whole screen, and writes down the first byte it gets.
const EDITOR: &str = r#"printf '\033[?1049h\033[2J\033[Hfull-screen program'; stty raw -echo
head -c 1 > "$HOME/edited"; printf '\033[?1049l'"#;

/// Enough for one look on an idle machine; where it was not, the trial is made again with more.
const SHORTEST_MS: i64 = 400;

/// Enough for whatever can be done.
const LONGEST_MS: i64 = 40_000;

pub struct Desk {
    pub client: Client,
    pub env: TestEnv,
    pub tmux: Tmux,
    pub model: Model,
    pub seat: Seat,
    /// In the same window as the client, and gets every byte that is typed into it.
    pub catcher: Pane,
    /// In a window of its own.
    pub shell: Pane,
    made: Cell<u8>,
    trials: RefCell<BTreeMap<String, usize>>,
}

/// A client in its pane.
pub struct Seat {
    pub pane: Pane,
    client: Client,
    driver: Driver,
    /// The seat's key and its session, as they were listed after the last turn: they may be gone since.
    known: RefCell<Option<(String, SessionKey)>>,
}

impl Seat {
    #[track_caller]
    pub fn of(client: Client, pane: &Pane) -> Seat {
        let process = Process::read(pane.program_pid()).unwrap();
        let place = seat_of(&process, SessionPresence::Terminal).unwrap();
        Seat { pane: pane.clone(), client, driver: Driver::of(&place).unwrap(), known: RefCell::default() }
    }

    #[track_caller]
    pub fn known(&self) -> (String, SessionKey) {
        self.known.borrow().clone().unwrap()
    }

    pub fn line(&self) -> InputLine {
        let look = self.driver.look();
        let screen = look.screen.unwrap_or_default();
        self.client.agent().input_line(&screen, look.cursor)
    }

    #[track_caller]
    pub fn wait_line(&self, expected: &InputLine) {
        self.wait_line_for(&format!("{expected:?}"), |line| line == expected);
    }

    #[track_caller]
    pub fn wait_held(&self, text: &str) {
        self.wait_line(&InputLine::Holds { text: text.to_owned() });
    }

    #[track_caller]
    pub fn wait_line_for(&self, what: &str, fits: impl Fn(&InputLine) -> bool) -> InputLine {
        wait::until_evident(&format!("the input line {what}"), wait::PATIENCE, || {
            let line = self.line();
            if fits(&line) { Ok(line) } else { Err(format!("{line:?}\n{}", self.pane.screen())) }
        })
    }

    /// Takes away what stands in the line, however many lines it has.
    #[track_caller]
    pub fn clear(&self) {
        wait::until_evident("an empty line", wait::PATIENCE, || {
            let line = self.line();
            if line == InputLine::Empty {
                return Ok(());
            }
            self.pane.keys(&["End", "C-u", "BSpace"]);
            Err(format!("{line:?}\n{}", self.pane.screen()))
        });
    }
}

/// What is to be typed in one trial.
#[derive(Clone)]
pub struct Wanted {
    pub purpose: IntentPurpose,
    pub text: String,
}

/// How an intent ended, as `tow typing list` tells it.
#[derive(Debug)]
pub struct Ended {
    pub state: String,
    pub why: String,
}

/// Everything that typing could change.
#[derive(PartialEq, Debug)]
pub struct World {
    prompts: Vec<String>,
    caught: Vec<u8>,
    shell: String,
}

impl Desk {
    /// One answer was given, and typing is on. Nobody is attached to tmux.
    #[track_caller]
    pub fn set(client: Client) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        env.script("catcher", CATCHER);
        env.set("EDITOR", env.script("editor", EDITOR).display().to_string());
        let model = Model::echo();
        client.install(&env, &model);
        for (key, value) in [("enabled", "true"), ("quiet_s", "0"), ("confirm_s", "30")] {
            env.tow(&["config", "set", &format!("typing.{key}"), value]).ok();
        }
        let tmux = Tmux::start(&env);
        let shell = tmux.open(&["bash", "--norc", "-i"], &[("PS1", "$ ")]);
        let pane = client.open(&tmux, &model);
        let catcher = beside(&env, &pane);
        let seat = Seat::of(client, &pane);
        seat.wait_line(&InputLine::Empty);
        pane.say("begin");
        let desk = Desk {
            client,
            env,
            tmux,
            model,
            seat,
            catcher,
            shell,
            made: Cell::new(0),
            trials: RefCell::default(),
        };
        desk.wait_idle(&desk.seat);
        desk
    }

    /// Insists that it is not typed, that nothing has changed, and that `tow typing list` says why.
    #[track_caller]
    pub fn refuses(&self, scenario: &str, why: &[&str]) {
        let wanted = self.next_wanted();
        let (line, screen) = (self.seat.line(), self.seat.pane.screen());
        let before = self.world();
        let ended = self.end_soon(&self.seat, &wanted);
        let is_refused = ended.state == "refused" || ended.state == "expired";
        let is_explained = why.iter().any(|why| ended.why.contains(why));
        assert!(is_refused && is_explained, "{scenario}: {ended:?}\n{}", self.seat.pane.screen());
        assert_eq!(self.world(), before, "{scenario}");
        let after = self.seat.line();
        assert_eq!(after, line, "{scenario}\n{screen}\n--- then ---\n{}", self.seat.pane.screen());
        self.count(scenario);
    }

    /// Insists that it is typed, into this seat and nowhere else, and confirmed.
    #[track_caller]
    pub fn takes(&self, scenario: &str) {
        self.takes_in(&self.seat, scenario);
    }

    #[track_caller]
    pub fn takes_in(&self, seat: &Seat, scenario: &str) {
        let wanted = self.next_prompt();
        let before = self.world();
        let ended = self.end(seat, &wanted);
        assert_eq!(ended.state, "confirmed", "{scenario}: {ended:?}\n{}", seat.pane.screen());
        self.check_taken(&before, &wanted, scenario);
        self.wait_idle(seat);
        self.count(scenario);
    }

    /// The text is the newest prompt, and nothing else is new.
    #[track_caller]
    pub fn check_taken(&self, before: &World, wanted: &Wanted, scenario: &str) {
        let number = before.prompts.len();
        let after = wait::until("the prompt at the model", wait::PATIENCE, || {
            Some(self.world()).filter(|world| world.prompts.len() > number)
        });
        assert_eq!(after.prompts[number..], [wanted.text.as_str()], "{scenario}");
        assert_eq!((&after.caught, &after.shell), (&before.caught, &before.shell), "{scenario}");
        assert_eq!(after.prompts[..number], before.prompts, "{scenario}");
    }

    /// What the world holds now, of the client's own line abstained.
    pub fn world(&self) -> World {
        let requests = self.model.requests();
        let prompts = requests.iter().filter(|request| request.kind == Kind::Main && request.step == 0);
        World {
            prompts: prompts.map(|request| request.prompt.clone()).collect(),
            caught: fs::read(self.env.root().join("caught")).unwrap(),
            shell: self.shell.screen(),
        }
    }

    /// Makes an intent for the session in this seat, lets it be typed, and tells how it ended.
    #[track_caller]
    pub fn end(&self, seat: &Seat, wanted: &Wanted) -> Ended {
        let intent = self.make(seat, wanted, LONGEST_MS);
        assert!(self.type_in(seat).wait().unwrap().success());
        self.ended(intent)
    }

    /// The same for what cannot be typed. One for which the time was too short for a single look is made again.
    #[track_caller]
    pub fn end_soon(&self, seat: &Seat, wanted: &Wanted) -> Ended {
        let mut time_ms = SHORTEST_MS;
        loop {
            let intent = self.make(seat, wanted, time_ms);
            assert!(self.type_in(seat).wait().unwrap().success());
            let ended = self.ended(intent);
            if !ended.why.ends_with("its time is over") && !ended.why.starts_with("what happened") {
                return ended;
            }
            time_ms *= 2;
            assert!(time_ms < LONGEST_MS, "{ended:?}");
        }
    }

    /// The process that types into this seat, just started.
    #[track_caller]
    pub fn type_in(&self, seat: &Seat) -> Child {
        let mut command = self.env.command("tow");
        command.args(["type", &seat.known().0]).stdin(Stdio::null()).stdout(Stdio::null());
        command.spawn().unwrap()
    }

    #[track_caller]
    pub fn make(&self, seat: &Seat, wanted: &Wanted, time_ms: i64) -> Uid {
        let (key, session) = seat.known();
        let at = Timestamp(i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
        let wish = IntentRequest::new(&key, wanted.purpose, &wanted.text, at.plus_ms(time_ms)).unwrap();
        self.made.set(self.made.get().wrapping_add(1));
        let event = Event {
            uid: Uid::v7(at, [self.made.get(); 10]),
            at,
            session,
            subagent: None,
            turn: None,
            happening: EventKind::IntentMade { wish },
            scene: None,
        };
        let uid = event.uid;
        journal::append(&DataFolder::at(self.env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
        uid
    }

    #[track_caller]
    pub fn ended(&self, intent: Uid) -> Ended {
        let listed = self.env.tow(&["typed", "--json"]).ok().json();
        let all = listed["intents"].as_array().unwrap();
        let found = all.iter().find(|row| row["id"] == intent.to_string()).unwrap();
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        Ended { state: text("state"), why: text("why") }
    }

    /// A marker, a clear, a compaction and a text that goes on, in turn.
    pub fn next_wanted(&self) -> Wanted {
        match self.made.get() % 4 {
            0 => Wanted { purpose: IntentPurpose::Bookmark, text: "·".to_owned() },
            1 => Wanted { purpose: IntentPurpose::Clear, text: "/clear".to_owned() },
            2 => Wanted { purpose: IntentPurpose::Compact, text: "/compact".to_owned() },
            _ => self.next_text(),
        }
    }

    /// A marker and a text that goes on, in turn.
    pub fn next_prompt(&self) -> Wanted {
        match self.made.get() % 2 {
            0 => Wanted { purpose: IntentPurpose::Bookmark, text: "·".to_owned() },
            _ => self.next_text(),
        }
    }

    fn next_text(&self) -> Wanted {
        let text = format!("go on with part {}, then rest", self.made.get());
        Wanted { purpose: IntentPurpose::Continue, text }
    }

    /// Waits until this was said to whichever session sits there, and answered.
    #[track_caller]
    pub fn wait_prompted(&self, seat: &Seat, prompt: &str) {
        wait::until_evident(prompt, wait::PATIENCE, || {
            let listed = self.listed(seat);
            if listed["prompt"] == prompt { Ok(()) } else { Err(listed.to_string()) }
        });
        self.wait_idle(seat);
    }

    /// Waits until the turn is over for everybody: for the list and on the screen.
    #[track_caller]
    pub fn wait_idle(&self, seat: &Seat) {
        let listed = wait::until_evident("the turn to be over", wait::PATIENCE, || {
            let listed = self.listed(seat);
            if listed["state"] == "completed" { Ok(listed) } else { Err(format!("{:#?}", self.env.seats())) }
        });
        let text = |name: &str| listed[name].as_str().unwrap().to_owned();
        seat.known.replace(Some((text("seat"), SessionKey::parse(&text("session")).unwrap())));
        seat.wait_line(&InputLine::Empty);
    }

    /// The seat as it is listed; nothing before it is known.
    #[track_caller]
    pub fn listed(&self, seat: &Seat) -> Value {
        let all = self.env.seats();
        all.into_iter().find(|listed| listed["pane"] == seat.pane.id.as_str()).unwrap_or_default()
    }

    pub fn count(&self, scenario: &str) {
        *self.trials.borrow_mut().entry(scenario.to_owned()).or_default() += 1;
    }

    /// Nothing that a person typed has ever reached the model. Their words all begin so.
    #[track_caller]
    #[expect(clippy::print_stdout, reason = "how many trials there were is what a reader wants to know")]
    pub fn print_trials(&self, what: &str) {
        assert!(!self.model.saw("mine"), "a person's words were sent off");
        let trials = self.trials.borrow();
        let of_each: Vec<String> = trials.iter().map(|(name, number)| format!("{name} {number}")).collect();
        let all: usize = trials.values().sum();
        println!("TRIALS {} | {what} | {all} | {}", self.client.name(), of_each.join(", "));
    }
}

#[track_caller]
fn beside(env: &TestEnv, pane: &Pane) -> Pane {
    let caught = env.root().join("caught").display().to_string();
    let catcher = pane.split(&["catcher", &caught]);
    catcher.wait_screen("catches");
    catcher
}

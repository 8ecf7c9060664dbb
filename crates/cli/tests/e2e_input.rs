//! The input lines of the real clients in real tmux: seen for what they are, and typed into exactly.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

use serde_json::json;
use towline_agents::Agent;
use towline_core::event::SessionPresence;
use towline_core::typing::InputLine;
use towline_terminal::driver::{Driver, LONGEST};
use towline_terminal::place::seat_of;
use towline_terminal::process::Process;
use towline_testkit::{Claude, Codex, Daemon, Gate, Model, Pane, Rule, Step, TestEnv, Tmux, wait};

/// A client in a pane, and the eyes and hands for its seat.
struct Desk {
    _env: TestEnv,
    agent: Agent,
    pane: Pane,
    driver: Driver,
}

impl Desk {
    fn new(env: TestEnv, agent: Agent, pane: Pane) -> Desk {
        let client = Process::read(pane.program_pid()).expect("the client runs");
        let place = seat_of(&client, SessionPresence::Terminal).expect("it has a terminal");
        let driver = Driver::of(&place).expect("tmux can be typed into");
        Desk { _env: env, agent, pane, driver }
    }

    fn line(&self) -> InputLine {
        let look = self.driver.look();
        self.agent.input_line(&look.screen.unwrap_or_default(), look.cursor)
    }

    #[track_caller]
    fn wait_line(&self, expected: &InputLine) {
        wait::until_evident(&format!("the input line {expected:?}"), wait::PATIENCE, || {
            let found = self.line();
            if &found == expected { Ok(()) } else { Err(format!("{found:?}\n{}", self.pane.screen())) }
        });
    }

    #[track_caller]
    fn wait_held(&self, text: &str) {
        self.wait_line(&InputLine::Holds { text: text.to_owned() });
    }

    #[track_caller]
    fn clear(&self) {
        self.pane.keys(&["C-u"]);
        self.wait_line(&InputLine::Empty);
    }

    /// As it is done for a person: into an empty line, seen before it is sent off.
    #[track_caller]
    fn send(&self, text: &str) {
        self.wait_line(&InputLine::Empty);
        self.driver.type_in(text).unwrap();
        wait::until_evident("the text in the input line", wait::PATIENCE, || {
            let line = self.line();
            let is_typed = |held: &str| self.agent.input_holds(held, text);
            let is_there = matches!(&line, InputLine::Holds { text: held } if is_typed(held));
            if is_there { Ok(()) } else { Err(format!("{line:?}\n{}", self.pane.screen())) }
        });
        self.driver.press_enter().unwrap();
    }
}

fn claude(claude: Claude, model: &Model) -> Desk {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let pane = claude.interactive(&Tmux::start(&env), model, &[]);
    Desk::new(env, Agent::Claude, pane)
}

fn codex(model: &Model) -> Desk {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let codex = Codex::V0_166_0;
    codex.seed(&env, model, Daemon::Off);
    let pane = codex.interactive(&Tmux::start(&env), &["-a", "on-request", "-s", "read-only"]);
    Desk::new(env, Agent::Codex, pane)
}

/// A model that keeps back its first answer, and wants to use a tool that a person must allow.
fn model(gate: &Gate) -> Model {
    let ask = |name: &str, input| Step::tool(name, input);
    let bash = json!({"command": "touch /tmp/never", "description": "Touch"});
    let exec =
        json!({"cmd": "touch /tmp/never", "sandbox_permissions": "require_escalated", "justification": "?"});
    Model::start([
        Rule::when("work for a while").then(Step::text("done with it").behind(gate)),
        Rule::when("stream for a while").then(Step::text("many words that come late").pausing_at(gate)),
        Rule::when("ask claude").then(ask("Bash", bash)).then(Step::text("asked")),
        Rule::when("ask codex").then(ask("exec_command", exec)).then(Step::text("asked")),
    ])
}

#[test]
fn what_stands_in_the_line_is_seen_in_claude_2_1_197() {
    let gate = Gate::shut();
    let model = model(&gate);
    everything_is_seen(&claude(Claude::V2_1_197, &model), &gate, IN_CLAUDE);
}

#[test]
fn what_stands_in_the_line_is_seen_in_claude_2_1_325() {
    let gate = Gate::shut();
    let model = model(&gate);
    everything_is_seen(&claude(Claude::V2_1_325, &model), &gate, IN_CLAUDE);
}

#[test]
fn what_stands_in_the_line_is_seen_in_codex() {
    let gate = Gate::shut();
    let model = model(&gate);
    everything_is_seen(&codex(&model), &gate, IN_CODEX);
}

/// A prompt after which the model wants to use a tool, and what the client then asks.
type Asking = (&'static str, &'static str);

const IN_CLAUDE: Asking = ("ask claude", "Do you want to proceed?");
const IN_CODEX: Asking = ("ask codex", "Would you like to run the following command?");

fn everything_is_seen(desk: &Desk, gate: &Gate, asking: Asking) {
    desk.wait_line(&InputLine::Empty);
    typed_by_a_person(desk);
    while_it_works(desk, gate);
    a_dialog_covers_it(desk, asking);
    half_typed_beside_copy_mode(desk);
}

fn typed_by_a_person(desk: &Desk) {
    desk.pane.half_type("half typed");
    desk.wait_held("half typed");
    desk.clear();
    desk.pane.paste("pasted but not sent");
    desk.wait_held("pasted but not sent");
    desk.clear();
    desk.pane.half_type("/");
    desk.wait_held("/");
    desk.clear();
    desk.pane.half_type("!");
    desk.wait_held("!");
    desk.pane.keys(&["BSpace"]);
    desk.wait_line(&InputLine::Empty);
}

fn while_it_works(desk: &Desk, gate: &Gate) {
    desk.send("work for a while");
    desk.wait_line(&InputLine::Busy);
    desk.pane.half_type("more");
    desk.pane.wait_screen("more");
    assert_eq!(desk.line(), InputLine::Busy);
    gate.open();
    desk.wait_held("more");
    desk.clear();
}

fn a_dialog_covers_it(desk: &Desk, (prompt, question): Asking) {
    desk.send(prompt);
    desk.wait_line(&InputLine::Covered);
    desk.pane.answer(question, &["Escape"]);
    desk.wait_line(&InputLine::Empty);
}

/// The screen that copy mode shows is not the one that would be typed into.
fn half_typed_beside_copy_mode(desk: &Desk) {
    desk.pane.tmux().run(&["copy-mode", "-t", &desk.pane.id]);
    assert_eq!(desk.driver.look().in_mode, Some(true));
    desk.driver.type_in("lost").unwrap_err();
    desk.pane.tmux().run(&["send-keys", "-t", &desk.pane.id, "-X", "cancel"]);
    desk.wait_line(&InputLine::Empty);
}

#[test]
fn text_that_streams_is_no_empty_line() {
    for start in [|model: &Model| claude(Claude::V2_1_325, model), codex] {
        let gate = Gate::shut();
        let model = model(&gate);
        let desk = start(&model);
        desk.send("stream for a while");
        // One client shows the first words at once, the other a whole line of them.
        let streams = |screen: &str| screen.contains("• many") || screen.contains("tokens)");
        desk.pane.wait_screen_for("an answer that has begun", streams);
        assert!(matches!(desk.line(), InputLine::Busy | InputLine::Unknown), "{}", desk.pane.screen());
        gate.open();
        desk.wait_line(&InputLine::Empty);
    }
}

#[test]
fn what_is_typed_reaches_the_model_as_it_is_in_claude_2_1_197() {
    let model = Model::echo();
    every_text_arrives(&claude(Claude::V2_1_197, &model), &model);
}

#[test]
fn what_is_typed_reaches_the_model_as_it_is_in_claude_2_1_325() {
    let model = Model::echo();
    every_text_arrives(&claude(Claude::V2_1_325, &model), &model);
}

#[test]
fn what_is_typed_reaches_the_model_as_it_is_in_codex() {
    let model = Model::echo();
    every_text_arrives(&codex(&model), &model);
}

fn every_text_arrives(desk: &Desk, model: &Model) {
    let long: String =
        "all of it, word by word; ".chars().cycle().take(LONGEST - 8).chain(" the end".chars()).collect();
    let lines: Vec<String> = (1..=12).map(|number| format!("line {number}")).collect();
    let texts = [
        "·",
        "one line with ; and \\ and #{pane_id} and 'quotes' and ünïcödé",
        "-t looks like an option",
        "two\nlines",
        &lines.join("\n"),
        &long,
    ];
    for text in texts {
        desk.send(text);
        assert_eq!(model.wait_prompt(text).prompt, text);
        desk.wait_line(&InputLine::Empty);
    }
}

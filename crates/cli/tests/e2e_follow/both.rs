//! Both agents side by side in one tmux server.

use crate::{Desk, codex};
use serde_json::json;
use towline_testkit::{Claude, Codex, Daemon, Gate, Model, Rule, Step, TestEnv};

#[test]
fn one_bar_counts_both_agents_the_menu_names_them_and_next_leads_to_the_one_that_waits() {
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("think").then(Step::text("thought").behind(&gate)),
        Rule::when("ask me").then(codex::tool()).then(Step::text("it is over")),
    ]);
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    Claude::V2_1_325.seed(&env);
    Codex::V0_166_0.seed(&env, &model, Daemon::Off);
    let desk = Desk::set_up(&env);
    Codex::V0_166_0.trust_hooks(&env);
    let thinker = Claude::V2_1_325.interactive(&desk.tmux, &model, &[]);
    let asker = Codex::V0_166_0.interactive(&desk.tmux, &["-a", "on-request", "-s", "read-only"]);
    desk.turn_to("0");
    thinker.say("think of both");
    // Codex tells of its session with the first prompt: until then it is only found.
    env.wait_states(&["working", "idle"]);
    asker.say("ask me");
    desk.wait_bar("1* 1!");
    let seats = env.seats();
    let of = |field: &str| seats.iter().map(|seat| seat[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("agent"), [json!("codex"), json!("claude")]);
    assert_eq!(of("state"), [json!("blocked"), json!("working")]);
    assert_eq!(of("pane"), [json!(asker.id), json!(thinker.id)]);

    desk.client.keys(&["C-b", "a"]);
    let menu = desk.client.wait_screen("Agents");
    let line = |text: &str| menu.lines().any(|line| line.contains(text));
    assert!(line("! codex project/main ask me"), "{menu}");
    assert!(line("* claude project/main think of both"), "{menu}");
    desk.client.keys(&["q"]);
    desk.client.wait_screen_for("the menu to close", |screen| !screen.contains("Agents"));

    env.tow(&["next"]).ok();
    assert_eq!(desk.tmux.run(&["display-message", "-p", "#{pane_id}"]).trim(), asker.id);
    desk.client.wait_screen(codex::DIALOG);
    asker.answer(codex::DIALOG, &["Enter"]);
    desk.wait_bar("2*");
    desk.turn_to("0");
    desk.let_the_tool_end();
    gate.open();
    desk.wait_bar("2+");
    assert_eq!(env.states(), ["completed", "completed"]);
}

//! The work goes on: in each client, in every way that a handoff is written, as often as it may.
#![expect(clippy::disallowed_methods, reason = "how long it takes is part of what is tested")]
#![expect(clippy::print_stdout, reason = "how long it takes is printed")]

use crate::client::{CLAUDE, CODEX, CODEX_DAEMON, Client};
use crate::desk::{ASKED, Desk, GO_ON};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};
use towline_core::event::PromptOrigin;
use towline_store::{Archive, DataFolder};
use towline_testkit::{Claude, Request, wait};

#[test]
fn the_work_goes_on_in_claude_2_1_197() {
    the_work_goes_on(Client::Claude(Claude::V2_1_197));
}

#[test]
fn the_work_goes_on_in_claude_2_1_325() {
    the_work_goes_on(CLAUDE);
}

#[test]
fn the_work_goes_on_in_codex() {
    the_work_goes_on(CODEX);
}

#[test]
fn the_work_goes_on_in_codex_behind_its_daemon() {
    the_work_goes_on(CODEX_DAEMON);
}

fn the_work_goes_on(client: Client) {
    let desk = Desk::set_up(client);
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(ASKED);
    let asked = Instant::now();
    let request = desk.wait_prompted(GO_ON);
    let took = asked.elapsed();
    let said = request.body.to_string();
    assert!(request.holds("slate-4711") && request.holds("The right wing, then its beak."), "{said}");
    assert_eq!(said.matches("slate-4711").count(), 1, "given once: {said}");
    assert!(!said.contains("Do not start anything new"), "what we asked is no work of anybody's: {said}");
    let hop = desk.wait_hop("done");
    assert_eq!((&hop["by"], &hop["ordinal"]), (&"agent".into(), &1.into()));
    assert_eq!(hop["given_to"], hop["successor"]);
    assert_ne!(hop["session"], hop["successor"]);
    desk.pane.wait_screen("The right wing is painted.");
    println!(
        "from the handoff's asking to the successor's prompt: {took:?} (the script before us slept 8 s)"
    );
    assert!(took < Duration::from_secs(8));
}

#[test]
fn a_mechanical_handoff_costs_no_answer_and_the_work_goes_on() {
    a_mechanical_handoff_costs_no_answer(CLAUDE);
}

#[test]
fn a_mechanical_handoff_costs_no_answer_and_the_work_goes_on_in_codex() {
    a_mechanical_handoff_costs_no_answer(CODEX);
}

fn a_mechanical_handoff_costs_no_answer(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("continue.handoff", "mechanical");
    desk.pane.say("paint the heron");
    let request = desk.wait_prompted(GO_ON);
    assert!(request.holds("Handoff of that session") && request.holds("paint the heron"));
    assert_eq!(desk.wait_hop("done")["by"], "mechanical");
    assert!(!desk.model.saw(ASKED));
}

#[test]
fn a_successor_that_inherits_nothing_else_still_has_the_handoff() {
    a_successor_that_inherits_nothing_else(CLAUDE);
}

#[test]
fn a_successor_that_inherits_nothing_else_still_has_the_handoff_in_codex() {
    a_successor_that_inherits_nothing_else(CODEX);
}

fn a_successor_that_inherits_nothing_else(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("inherit.on_clear", "never");
    desk.pane.say("paint the heron");
    let request = desk.wait_prompted(GO_ON);
    assert!(request.holds("slate-4711") && !request.holds("I have painted a wing."));
    desk.wait_hop("done");
}

#[test]
fn work_goes_on_by_hand_too() {
    work_goes_on_by_hand(CLAUDE);
}

#[test]
fn work_goes_on_by_hand_too_in_codex() {
    work_goes_on_by_hand(CODEX);
}

fn work_goes_on_by_hand(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("guard.strategy", "off");
    desk.pane.say("paint the heron");
    desk.env.wait_states(&["completed"]);
    let seat = desk.env.only_seat()["seat"].as_str().unwrap().to_owned();
    desk.env.tow(&["continue", "--in", &seat]).ok().prints("goes on in a fresh session");
    assert!(desk.wait_prompted(GO_ON).holds("paint the heron"));
    assert_eq!(desk.wait_hop("done")["by"], "mechanical");
}

#[test]
fn three_hops_follow_each_other_and_then_the_limit_is_told() {
    three_hops_follow_each_other(CLAUDE);
}

#[test]
fn three_hops_follow_each_other_and_then_the_limit_is_told_in_codex() {
    three_hops_follow_each_other(CODEX);
}

fn three_hops_follow_each_other(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("continue.most_hops", "3");
    desk.model.add(client.full(GO_ON, "And on it goes."));
    desk.pane.say("paint the heron");
    wait::until_evident("three hops", wait::PATIENCE * 3, || {
        let hops = desk.hops();
        let done = hops.iter().filter(|hop| hop["state"] == "done").count();
        if done == 3 { Ok(()) } else { Err(format!("{hops:#?}\n{}", desk.pane.screen())) }
    });
    desk.pane.wait_screen("as many followed each other");
    let ordinals: Vec<Value> = desk.hops().iter().map(|hop| hop["ordinal"].clone()).collect();
    assert_eq!(ordinals, [3, 2, 1].map(Value::from));
    let asked = desk.model.requests().iter().filter(|request| request.prompt.contains(ASKED)).count();
    assert_eq!(asked, 3, "one block per hop");
    assert_eq!(desk.typed().len(), 6);
}

#[test]
fn a_hop_that_the_cooldown_held_back_was_passed_over_in_silence() {
    a_hop_that_the_cooldown_held_back(CLAUDE);
}

#[test]
fn a_hop_that_the_cooldown_held_back_was_passed_over_in_silence_in_codex() {
    a_hop_that_the_cooldown_held_back(CODEX);
}

fn a_hop_that_the_cooldown_held_back(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("continue.cooldown_s", "3600");
    desk.model.add(client.full(GO_ON, "And on it goes."));
    desk.pane.say("paint the heron");
    desk.wait_hop("done");
    desk.pane.wait_screen("the one before was a moment ago");
    assert_eq!(desk.hops().len(), 1);
}

#[test]
fn a_handoff_file_that_was_there_was_not_taken_up() {
    let desk = Desk::set_up(CLAUDE);
    desk.set("guard.strategy", "off");
    let file = desk.env.project().join(".claude/handoff.md");
    let write = || {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "## Task\nPaint the stork.\n## Remaining\nIts beak, in slate-4712.\n").unwrap();
    };
    let ask = |prompt: &str| {
        desk.pane.say(prompt);
        let request = desk.model.wait_prompt(prompt);
        desk.env.wait_states(&["completed"]);
        Claude::V2_1_325.wait_idle(&desk.pane);
        request.holds("slate-4712")
    };
    let clear = || {
        let before = desk.env.only_seat()["session"].clone();
        desk.pane.say("/clear");
        wait::until("a new session", wait::PATIENCE, || {
            (desk.env.only_seat()["session"] != before).then_some(())
        });
        Claude::V2_1_325.wait_idle(&desk.pane);
    };
    write();
    clear();
    assert!(!ask("one heron"), "only on request");
    desk.set("continue.file_by_presence", "true");
    write();
    assert!(!ask("two herons"), "the session had begun before");
    clear();
    assert!(ask("three herons"));
    desk.pane.wait_screen("given the handoff in .claude/handoff.md");
    clear();
    assert!(!ask("four herons"), "it is given once");
}

#[test]
fn after_five_mechanical_handoffs_the_task_is_still_the_one_that_was_asked_for() {
    the_task_survives_five_hops(CLAUDE, "mechanical");
}

#[test]
fn after_five_mechanical_handoffs_the_task_is_still_the_one_that_was_asked_for_in_codex() {
    the_task_survives_five_hops(CODEX, "mechanical");
}

#[test]
fn after_five_handoffs_in_the_agents_words_the_task_is_given_in_the_users_too() {
    the_task_survives_five_hops(CLAUDE, "ask");
}

/// Its handoff said "Task: Go on with the work as the handoff … says": what was typed was captured as the user's own.
fn the_task_survives_five_hops(client: Client, author: &str) {
    const TASK: &str = "paint the heron, both wings and the beak, and keep its eyes black";
    let desk = Desk::set_up(client);
    desk.set("continue.handoff", author);
    desk.set("continue.most_hops", "5");
    desk.set("continue.per_hour", "20");
    desk.model.add(client.full(GO_ON, "And on it goes."));
    desk.pane.say(TASK);
    let first = wait::until_evident("the first prompts of five successors", wait::PATIENCE * 3, || {
        let mut first: Vec<Request> = vec![];
        for request in desk.model.requests() {
            // Each names its own handoff. A client may quote it when it asks for a title, and ask more than once in a turn.
            let is_new = first.iter().all(|known| known.prompt != request.prompt);
            if is_new && request.prompt.starts_with(GO_ON) {
                first.push(request);
            }
        }
        let prompts: Vec<&String> = first.iter().map(|request| &request.prompt).collect();
        let evidence = || format!("{prompts:#?}\n{}", desk.pane.screen());
        if first.len() == 5 { Ok(first.clone()) } else { Err(evidence()) }
    });
    for (hop, request) in (1..).zip(&first) {
        assert!(request.holds(TASK), "hop {hop}: {:#}", request.body);
        assert!(!request.holds("Task: Go on with the work"), "hop {hop}: {:#}", request.body);
    }
    let archive =
        Archive::read(&DataFolder::at(desk.env.data_dir()), Duration::from_secs(5)).unwrap().unwrap();
    let mut origins = vec![];
    for conversation in archive.latest_conversations(None, 9).unwrap() {
        origins.extend(archive.turns(&conversation, 1, 1).unwrap().into_iter().map(|turn| turn.origin));
    }
    origins.sort_by_key(|origin| origin.name());
    origins.dedup();
    assert_eq!(origins, [PromptOrigin::Continuation, PromptOrigin::Human]);
}

#[test]
fn a_compaction_is_typed_where_that_is_wanted() {
    a_compaction_is_typed(CLAUDE);
}

#[test]
fn a_compaction_is_typed_where_that_is_wanted_in_codex() {
    a_compaction_is_typed(CODEX);
}

fn a_compaction_is_typed(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("guard.strategy", "compact");
    desk.pane.say("paint the heron");
    wait::until_evident("a compaction", wait::PATIENCE, || {
        let typed = desk.typed();
        let is_it = |intent: &Value| intent["text"] == "/compact" && intent["state"] == "confirmed";
        if typed.iter().any(is_it) { Ok(()) } else { Err(format!("{typed:#?}\n{}", desk.pane.screen())) }
    });
    assert!(desk.hops().is_empty());
}

/// Blocks each first stop and asks for what the script before us took for its cue.
const OTHERS_HOOK: &str = r#"if grep -q '"stop_hook_active":false'; then
    echo '{"decision":"block","reason":"somebody else wants the wing polished"}'
fi
"#;

#[test]
fn cnt_1_a_stop_that_somebody_else_blocks_is_never_our_cue() {
    a_stop_that_somebody_else_blocks(CLAUDE);
}

#[test]
fn cnt_1_a_stop_that_somebody_else_blocks_is_never_our_cue_in_codex() {
    a_stop_that_somebody_else_blocks(CODEX);
}

fn a_stop_that_somebody_else_blocks(client: Client) {
    let desk = Desk::with_hooks(client, |env, hooks| {
        let hook = env.script("others-hook", OTHERS_HOOK).display().to_string();
        let entry = json!({"hooks": [{"type": "command", "command": hook}]});
        hooks["Stop"].as_array_mut().unwrap().push(entry);
    });
    // CNT-6: an old one that says `continue: true` lies about.
    fs::create_dir_all(desk.env.project().join(".claude")).unwrap();
    let stale = "---\ncontinue: true\n---\n## Task\nold\n## Remaining\nold\n";
    fs::write(desk.env.project().join(".claude/handoff.md"), stale).unwrap();
    desk.pane.say("begin slowly");
    desk.model.wait_prompt("somebody else wants the wing polished");
    desk.env.wait_states(&["completed"]);
    assert!(desk.hops().is_empty() && desk.typed().is_empty());
    // Above the threshold both block the same stop: the one that answers ours is taken, and one clear is typed.
    desk.pane.say("paint the heron");
    desk.wait_prompted(GO_ON);
    desk.wait_hop("done");
    assert_eq!((desk.hops().len(), desk.typed().len()), (1, 2));
}

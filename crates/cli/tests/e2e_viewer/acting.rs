//! What can be set going from the page: going to a seat, and what becomes of jobs.

use crate::desk::{Desk, Hand, bare};
use crate::sitter::Sitter;
use crate::written::{BEGAN, Shape, written};
use serde_json::Value;
use std::fs;
use towline_testkit::{TestEnv, Tmux, wait};

const BUG_HUNT: &str = include_str!("../../../core/src/memory/distil/sessions/bug-hunt.txt");

#[test]
fn a_button_brings_a_seat_before_the_person() {
    let env = bare();
    let tmux = Tmux::start(&env);
    let [first, second] = ["session-1", "session-2"].map(|name| Sitter::sit(&tmux, name));
    first.prompt("Paint the mast");
    second.prompt("Mend the sail");
    // Nobody can be shown a pane who is not attached.
    let outer = Tmux::named(&env, "outer");
    let _watched = outer.attach_to(&tmux);
    wait::until("somebody to be attached", wait::PATIENCE, || {
        (!tmux.run(&["list-clients"]).trim().is_empty()).then_some(())
    });
    let shown = || tmux.run(&["display-message", "-p", "#{pane_id}"]).trim().to_owned();
    let desk = Desk::around(env, Hand::Writes);
    for (session, sitter) in [("session-1", &first), ("session-2", &second)] {
        desk.browser.click(&format!(".seat:has(a[href='#/session/{session}']) button.goto"));
        wait::until_evident("the pane", wait::PATIENCE, || {
            let pane = shown();
            if pane == sitter.pane.id { Ok(()) } else { Err(pane) }
        });
        desk.browser.wait_for("a word about it", "!!document.querySelector('.notice')");
        let said = desk.browser.eval("document.querySelector('.notice').textContent");
        assert_eq!(said, "Your terminal shows project now.");
        desk.browser.eval("document.querySelector('.notice').remove()");
    }
    desk.was_well_behaved();
}

/// A past whose turns wait for a model that is not there.
fn waiting() -> TestEnv {
    let env = bare();
    env.set_now(BEGAN + 3_600_000);
    let [shape, _] = Shape::ALL;
    let session = "11111111-aaaa-4000-8000-000000000a01";
    let path = written(shape, session, (&env.project(), BUG_HUNT)).at(BEGAN).save(&env.home(), usize::MAX);
    env.tow(&["capture", "--at-once", shape.agent(), &path.to_string_lossy()]).ok();
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    let lines = "[distil]\nprovider = 'openai'\nmodel = 'small'\nbase_url = 'http://127.0.0.1:1/v1'\nkey_env = 'SMALL_KEY'\ndaily_tokens = 100000000\n";
    fs::write(folder.join("config.toml"), lines).unwrap();
    env.set("SMALL_KEY", "not-a-secret");
    env.tow(&["work"]).ok();
    env
}

fn counted(desk: &Desk) -> [u64; 2] {
    let counts = desk.env.tow(&["jobs", "--json"]).ok().json()["counts"].clone();
    ["waiting", "dropped"].map(|state| counts.get(state).and_then(Value::as_u64).unwrap())
}

#[test]
fn a_job_is_tried_again_or_dropped_by_its_button() {
    let desk = Desk::around(waiting(), Hand::Writes);
    let [waiting, dropped] = counted(&desk);
    assert!(waiting > 0 && dropped == 0, "{waiting} wait, {dropped} were dropped");
    desk.open("jobs");
    desk.browser.click(".plain-list .buttons button:first-child");
    desk.browser.wait_text("Retry: job ");
    // The failure of the new attempt moves the buttons.
    desk.env.tow(&["data", "work"]).ok();
    desk.open("jobs");
    desk.browser.click(".plain-list .buttons button:last-child");
    desk.browser.wait_text("Drop: job ");
    wait::until_evident("the job to be dropped", wait::PATIENCE, || match counted(&desk) {
        [_, 1] => Ok(()),
        counts => Err(format!("{counts:?}")),
    });
    desk.was_well_behaved();
}

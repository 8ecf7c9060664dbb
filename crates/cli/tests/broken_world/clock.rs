//! A clock that goes backwards, stands still, or tells nonsense.

use towline_core::session::SessionState;

use crate::world::{World, session};

const NOON_MS: i64 = 1_800_000_000_000;

#[test]
fn a_clock_that_goes_backwards_loses_no_event_and_the_last_one_counts() {
    let world = World::plain();
    let hours = [10, 5, 7, 0, 6];
    for (hour, event) in hours.into_iter().zip([
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PermissionRequest",
        "Stop",
    ]) {
        world.env.set_now(NOON_MS + hour * 3_600_000);
        world.hook(event, &session());
    }
    world.work();
    world.insist_on_events(&session(), hours.len());
    let known = world.store().session(&session()).expect("it can be read").expect("it is there");
    assert_eq!(known.state, SessionState::Completed, "the last event has the last word");
    assert_eq!(known.last_event_at.0, NOON_MS + 10 * 3_600_000, "what was last seen never moves back");
    world.doctor().is_sound();
}

#[test]
fn a_clock_that_stands_still_loses_no_event() {
    let world = World::plain();
    world.env.set_now(NOON_MS);
    let sent: usize = (0..4).map(|_| world.hooks_of_all_kinds(&session())).sum();
    world.work();
    world.insist_on_events(&session(), sent);
}

#[test]
fn a_clock_that_tells_nonsense_is_survived() {
    for now in [0, -1, i64::MIN, i64::MAX] {
        let world = World::plain();
        world.env.set_now(now);
        let sent = world.hooks_of_all_kinds(&session());
        world.work();
        world.insist_on_events(&session(), sent);
        world.env.set_now(NOON_MS);
        world.hook("Stop", &session());
        world.env.wait_no_process();
        world.doctor().is_sound();
    }
}

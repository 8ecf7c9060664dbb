//! A hook that is told to end in the middle: what it had accepted is kept, what it held is free.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

use towline_store::journal::unsealed_bytes;
use towline_testkit::wait;

use crate::common::payload;
use crate::holder::Holder;
use crate::world::{World, session};

const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

fn start_hook(world: &World, said: &str) -> Child {
    let mut hook = world.command("tow");
    hook.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = hook.spawn().expect("the hook starts");
    child.stdin.as_mut().expect("it is piped").write_all(said.as_bytes()).expect("it reads");
    child
}

#[track_caller]
fn end_by(world: &World, mut child: Child, (name, number): (&str, i32)) {
    world.shell(&format!("kill -{name} {}", child.id()));
    let status = child.wait().expect("it can be waited for");
    assert!(status.signal() == Some(number) || status.code() == Some(0), "{status}");
}

#[test]
fn a_hook_that_is_ended_while_it_reads_leaves_nothing_behind() {
    let world = World::plain();
    for signal in SIGNALS {
        let child = start_hook(&world, "{\"hook_event_name\":");
        end_by(&world, child, signal);
    }
    world.hook("SessionStart", &session());
    world.insist_on_events(&session(), 1);
    world.doctor().is_sound();
}

#[test]
fn a_hook_that_is_ended_while_it_folds_has_been_accepted() {
    let world = World::plain();
    world.hook("SessionStart", &session());
    for signal in SIGNALS {
        let holder = Holder::lock_file(&world.env, &world.data().folder().join("fold.lock"));
        let before = unsealed_bytes(&world.data());
        let mut child = start_hook(&world, &payload("UserPromptSubmit", &session(), ""));
        drop(child.stdin.take());
        wait::until("the event to be accepted", wait::PATIENCE, || {
            (unsealed_bytes(&world.data()) > before).then_some(())
        });
        end_by(&world, child, signal);
        holder.release();
    }
    world.hook("Stop", &session());
    world.insist_on_events(&session(), 2 + SIGNALS.len());
    world.doctor().is_sound();
}

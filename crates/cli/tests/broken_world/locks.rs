//! Locks that somebody else holds: the database, the fold, the journal.

use std::process::Stdio;
use std::time::{Duration, Instant};

use towline_store::journal::unsealed_bytes;
use towline_testkit::Run;

use crate::common::payload;
use crate::holder::Holder;
use crate::world::{World, sane, session};

/// Once nobody else is at it: the first hook starts upkeep, which would hold the fold's lock meanwhile.
fn hold_database(world: &World, script: &str) -> Holder {
    world.env.wait_no_process();
    let mut shell = world.command("sqlite3");
    shell.arg(world.data().database()).stderr(Stdio::null());
    Holder::start(shell, script)
}

#[test]
fn a_database_that_is_locked_for_ten_seconds_delays_nobody_and_loses_nothing() {
    let world = World::with_usual_limits();
    world.hook("SessionStart", &session());
    let holder = hold_database(&world, include_str!("locked.sql"));
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < Duration::from_secs(10) {
        sent += world.hooks_of_all_kinds(&session());
    }
    assert!(sent < 60, "each of the {sent} hooks waits for its patience, and no longer");
    world.doctor().names(&["journal", "not applied yet", "tow data work"]);
    holder.release();
    world.hook("Stop", &session());
    world.insist_on_events(&session(), sent + 2);
    world.doctor().is_sound().names(&["fault: store", "in use by another process", "tow data work"]);
}

#[test]
fn a_database_that_cannot_even_be_read_loses_nothing() {
    let world = World::with_usual_limits();
    world.hook("SessionStart", &session());
    let holder = hold_database(&world, include_str!("sealed_off.sql"));
    let sent = world.hooks_of_all_kinds(&session());
    world.doctor().names(&["database", "in use by another process", "wait until the other process is done"]);
    holder.release();
    world.hook("Stop", &session());
    world.insist_on_events(&session(), sent + 2);
    world.doctor().is_sound().names(&["fault: store", "in use by another process"]);
}

#[test]
fn a_fold_that_hangs_is_not_waited_for() {
    let world = World::with_usual_limits();
    world.hook("SessionStart", &session());
    let holder = Holder::lock_file(&world.env, &world.data().folder().join("fold.lock"));
    let sent = world.hooks_of_all_kinds(&session());
    world.doctor().names(&["journal", "not applied yet", "tow data work"]).names(&[
        "lock",
        "fold.lock is held by",
        "kill ",
    ]);
    holder.release();
    world.hook("Stop", &session());
    world.insist_on_events(&session(), sent + 2);
    world.doctor().is_sound();
}

#[test]
fn a_fold_that_hangs_before_there_is_a_database_is_seen_by_the_doctor() {
    let world = World::with_usual_limits();
    world.data().create().expect("the home is writable");
    let holder = Holder::lock_file(&world.env, &world.data().folder().join("fold.lock"));
    let sent = world.hooks_of_all_kinds(&session());
    world.doctor().names(&["journal", "not applied yet", "tow data work"]);
    holder.release();
    world.work();
    world.insist_on_events(&session(), sent);
    world.doctor().is_sound();
}

#[test]
fn a_journal_that_hangs_costs_its_event_but_not_the_agent() {
    let world = World::with_usual_limits();
    world.hook("SessionStart", &session());
    let before = unsealed_bytes(&world.data());
    let holder = Holder::lock_file(&world.env, &world.data().journal().join("active"));
    world.hook("PostToolUse", &session());
    assert_eq!(unsealed_bytes(&world.data()), before);
    holder.release();
    world.hook("Stop", &session());
    world.insist_on_events(&session(), 2);
}

#[test]
fn an_agent_that_never_ends_its_payload_is_not_waited_for() {
    let world = World::with_usual_limits();
    // The pipe stays open for as long as the hook lives.
    let mut endless = world.env.command("sh");
    endless.args(["-c", "mkfifo open; exec 3<>open; printf '{\"hook\":' >&3; exec tow hook claude <&3"]);
    sane(endless, "").is_silent();
    world.hook("SessionStart", &session());
    world.insist_on_events(&session(), 1);
}

#[test]
fn a_record_larger_than_one_transaction_is_folded() {
    let world = World::with_usual_limits();
    let config = world.env.home().join(".config/towline/config.toml");
    std::fs::create_dir_all(config.parent().expect("it has one")).expect("the home is writable");
    std::fs::write(config, "[keep]\nprompt_bytes = 100000\n").expect("the home is writable");
    let mut hook = world.command("tow");
    hook.args(["hook", "claude"]);
    // Every byte takes six in the journal.
    sane(hook, &payload("UserPromptSubmit", &session(), &"\u{1}".repeat(90_000)));
    assert!(unsealed_bytes(&world.data()) > 512 * 1024);
    Run::of(world.command("timeout").args(["20", "tow", "work"]), b"").ok();
    world.insist_on_events(&session(), 1);
}

/// The doctor says `tow data work --rebuild` beside a `tow data work` that a hook has started.
#[test]
fn a_rebuild_beside_a_running_tow_work_was_dropped_without_a_word() {
    let world = World::plain();
    let sent = world.hooks_of_all_kinds(&session());
    world.env.wait_no_process();
    let holder = Holder::lock_file(&world.env, &world.data().folder().join("work.lock"));
    let mut rebuild = world.command("tow");
    let mut rebuild = rebuild.args(["work", "--rebuild"]).stdout(Stdio::null()).spawn().expect("it starts");
    Run::of(world.command("tow").args(["work", "--quiet"]), b"").ok();
    assert!(rebuild.try_wait().expect("it is ours").is_none(), "it waits for its turn");
    holder.release();
    assert!(rebuild.wait().expect("it is ours").success());
    world.insist_on_events(&session(), sent);
    world.doctor().names(&["fault: rebuilt", "as asked"]);
}

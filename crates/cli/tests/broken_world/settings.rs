//! A configuration that cannot be read, understood or written: the defaults are used, and the doctor names the place.

use std::fs;
use std::path::PathBuf;

use towline_testkit::Run;

use crate::world::{World, session};

fn config_of(world: &World) -> PathBuf {
    let config = world.env.home().join(".config/towline/config.toml");
    fs::create_dir_all(config.parent().expect("it has one")).expect("the home is writable");
    config
}

#[track_caller]
fn check_survived(world: &World, words: &[&str]) {
    let sent = world.hooks_of_all_kinds(&session());
    world.work();
    world.insist_on_events(&session(), sent);
    world.doctor().names(words);
}

#[test]
fn an_invalid_config_is_named_by_its_line() {
    let world = World::plain();
    fs::write(config_of(&world), "[hook]\npatience_ms = = 1\n").expect("it is writable");
    check_survived(&world, &["config", "line 2", "tow config edit"]);
    world.doctor().names(&["fault: config", "line 2", "tow config"]);
}

#[test]
fn a_config_that_is_no_text_is_named() {
    let world = World::plain();
    fs::write(config_of(&world), [0xff, 0xfe, 0, b'[']).expect("it is writable");
    check_survived(&world, &["config", "could not read"]);
}

#[test]
fn a_config_that_cannot_be_read_is_named() {
    let world = World::plain();
    fs::create_dir(config_of(&world)).expect("it is writable");
    check_survived(&world, &["config", "could not read", "config.toml"]);
}

#[test]
fn a_config_with_absurd_values_is_named_and_the_defaults_are_used() {
    let world = World::plain();
    let absurd =
        "[hook]\npatience_ms = 99999999\ndeadline_ms = -1\n[keep]\nprompt_bytes = 'many'\njournal_mb = 0\n";
    fs::write(config_of(&world), absurd).expect("it is writable");
    check_survived(&world, &["config", "hook.patience_ms", "and 3 more"]);
}

#[test]
fn a_config_that_cannot_be_written_is_refused_and_disturbs_no_hook() {
    let world = World::mounted(
        "mkdir -p $HOME/.config; mount --bind $HOME/.config $HOME/.config; mount -o remount,bind,ro $HOME/.config",
    );
    Run::of(world.command("tow").args(["config", "set", "search.tier", "minilm"]), b"")
        .exits(1)
        .complains("config.toml");
    let sent = world.hooks_of_all_kinds(&session());
    world.work();
    world.insist_on_events(&session(), sent);
    world.doctor().is_sound();
}

//! `tow data scrub`: what was kept before a rule was made is as if the rule had been there.

use crate::samples::{Sample, SeededRng, keys};
use crate::script::{Script, Shape};
use crate::world::{Words, World, padded, places};
use serde_json::json;
use std::process::Stdio;
use towline_testkit::wait;

/// Sessions that were kept while nothing was to be redacted, and the secrets in them.
fn unredacted() -> (World, Vec<Sample>) {
    let world = World::new();
    world.tow(&["config", "set", "privacy.redact", "false"]).ok();
    let samples: Vec<Sample> = keys(&mut SeededRng::new(11)).into_iter().take(12).collect();
    let project = world.env.project();
    for (sample, shape) in samples.iter().zip([Shape::Claude, Shape::Codex].into_iter().cycle()) {
        let name = format!("session-{}", sample.name.replace([' ', '.', '-'], "_"));
        let mut script = Script::new(shape, &name, &project);
        world.hook(&script, "SessionStart", json!({}));
        let text = &sample.text;
        let words = Words {
            prompt: format!("use {text} please"),
            thinking: format!("so {text} it is"),
            input: format!("curl -H 'X-Thing: {text}' https://example.com"),
            output: padded(&format!("got {text} back")),
            answer: format!("used {text} as asked"),
        };
        world.turn(&mut script, &words);
    }
    world.tow(&["config", "set", "privacy.redact", "true"]).ok();
    (world, samples)
}

#[track_caller]
fn has_none(world: &World, samples: &[Sample]) {
    let kept = world.kept();
    for sample in samples {
        assert_eq!(places(&kept, &sample.secret), Vec::<String>::new(), "{}", sample.name);
    }
}

#[test]
fn secrets_that_were_kept_are_in_no_file_after_a_scrub() {
    let (world, samples) = unredacted();
    let kept = world.kept();
    for sample in &samples {
        assert!(places(&kept, &sample.secret).len() >= 4, "{} was kept", sample.name);
    }
    let plan = world.tow(&["scrub", "--dry-run", "--json"]).ok().json();
    assert!(!world.places_of(&samples[0].secret).is_empty());
    let done = world.tow(&["scrub", "--json"]).ok().json();
    assert_eq!(done["archive"], plan["archive"]);
    assert!(done["archive"]["details"].as_u64().unwrap() >= 36, "{done}");
    has_none(&world, &samples);
    let again = world.tow(&["scrub", "--json"]).ok().json();
    assert_eq!(
        again["archive"],
        json!({"sessions": 0, "bodies": 0, "details": 0, "memories": 0, "others": 0})
    );
    let before = world.told();
    world.tow(&["work", "--rebuild"]).ok();
    assert_eq!(world.told(), before);
    world.tow(&["import"]).ok();
    world.tow(&["scrub", "--delete-aside"]).ok();
    has_none(&world, &samples);
}

#[test]
fn a_scrub_that_is_killed_goes_on_where_it_was() {
    let (world, samples) = unredacted();
    for sign in ["erasing", "journal/00000001.sealed"] {
        let mut command = world.env.command("tow");
        let mut child = command.arg("scrub").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let sign = world.env.data_dir().join(sign);
        wait::until("the sign, or the end", wait::PATIENCE, || {
            (sign.exists() || child.try_wait().unwrap().is_some()).then_some(())
        });
        let _ = child.kill();
        child.wait().unwrap();
    }
    world.tow(&["scrub"]).ok();
    has_none(&world, &samples);
}

#[test]
fn what_is_excluded_later_goes_by_a_scrub() {
    let world = World::new();
    let (project, elsewhere) = (world.env.project(), world.elsewhere());
    world.session(Shape::Codex, "second-bbbbbbbb", (&elsewhere, 1));
    let mut script = Script::new(Shape::Claude, "first-aaaaaaaa", &project);
    script.prompt("do it").tool("Bash", json!({"command": "ls"}), "the plain output");
    script.tool("mcp__vault__read", json!({"name": "quillon input"}), &padded("quillon output"));
    script.tool("Read", json!({"file_path": "/p/letters/quillon.txt"}), &padded("quillon content"));
    script.answer("done").save(&world.env.home());
    world.tow(&["import"]).ok();
    assert_ne!(world.places_of("quillon"), Vec::<String>::new());
    world.tow(&["config", "set", "privacy.exclude_tools", "[\"mcp__vault__*\"]"]).ok();
    world.tow(&["config", "set", "privacy.exclude_paths", "[\"/p/letters\"]"]).ok();
    let folder = format!("[\"{}\"]", elsewhere.display());
    world.tow(&["config", "set", "privacy.exclude_projects", &folder]).ok();
    world.tow(&["scrub"]).ok();
    assert_eq!(world.places_of("quillon output"), Vec::<String>::new());
    assert_eq!(world.places_of("quillon content"), Vec::<String>::new());
    assert_eq!(world.places_of("letters"), Vec::<String>::new());
    assert_eq!(world.places_of("elsewhere"), Vec::<String>::new());
    world.has_none_of(&Words::of("second-bbbbbbbb", 1));
    assert_ne!(world.places_of("the plain output"), Vec::<String>::new());
    world.tow(&["import"]).ok();
    assert_eq!(world.places_of("quillon"), Vec::<String>::new());
}

//! Pinning, editing, replacing, releasing, forgetting, and taking back.

use crate::world::{SHORT, hold_back, holds, listed, memory, remember, world};

#[test]
fn a_pin_is_put_in_and_taken_out() {
    let env = world();
    let (one, two) = (remember(&env, &["one thing"]), remember(&env, &["another matter"]));
    env.tow(&["pin", &one, &two]).ok().prints("m1 is pinned: one thing").prints("m2 is pinned");
    env.tow(&["pin", &one]).ok().prints("m1 was pinned already");
    env.tow(&["pin", "--off", &one]).ok().prints("m1 is no longer pinned");
    assert_eq!(listed(&env, &["--pinned"]), [two]);
    env.tow(&["undo", &one]).ok().prints("no longer \"unpinned\"");
    assert_eq!(listed(&env, &["--pinned"]).len(), 2);
    env.tow(&["pin", "m1", "m77"]).exits(2).complains("there is no memory m77");
    env.tow(&["pin", "one"]).exits(2).complains("`one` is no memory");
}

#[test]
fn a_memory_that_no_longer_holds_is_given_to_nobody_and_can_be_taken_back() {
    let env = world();
    let (old, new) = (remember(&env, &["the mast is grey"]), remember(&env, &["sails are new"]));
    env.tow(&["supersede", &old, "--by", &new, "--because", "it was painted"])
        .ok()
        .prints("m1 no longer holds, m2 does");
    let kept = memory(&env, &old);
    assert_eq!(
        (&kept["superseded"]["by"], &kept["superseded"]["why"]),
        (&"m2".into(), &"it was painted".into())
    );
    env.tow(&["supersede", &old]).exits(2).complains("m1 no longer holds already");
    env.tow(&["supersede", &new, "--by", &old]).exits(2).complains("by itself or by what it replaced");
    env.tow(&["supersede", &new, "--by", &new]).exits(2);
    env.tow(&["supersede", &new, "--by", "m9"]).exits(2).complains("no memory m9");
    env.tow(&["pin", &old]).exits(2).complains("Pin m2, or run `tow memory undo m1` first.");
    env.tow(&["undo", &old]).ok();
    assert_eq!(listed(&env, &[]).len(), 2);
    env.tow(&["undo", &old])
        .exits(2)
        .complains("nothing of m1 can be taken back")
        .complains("tow data forget m1");
    env.tow(&["supersede", &old, "--json"]).ok();
    assert_eq!(listed(&env, &[]), [new]);
}

#[test]
fn a_memory_is_edited_by_options() {
    let env = world();
    let id = remember(&env, &["the mast is grey"]);
    env.tow(&["edit", &id, "--title", "the mast is green", "--fact", "since May", "--type", "discovery"])
        .ok()
        .prints("m1 says now: the mast is green");
    let kept = memory(&env, &id);
    assert_eq!((&kept["title"], &kept["facts"][0]), (&"the mast is green".into(), &"since May".into()));
    env.tow(&["edit", &id, "--title", "the mast is green"]).ok().prints("says what it said");
    env.tow(&["edit", &id, "--title", " "]).exits(2).complains("a memory needs a title");
    env.tow(&["undo", &id]).ok();
    assert_eq!(memory(&env, &id)["title"], "the mast is grey");
    env.tow(&["edit", "m9", "--title", "x"]).exits(2).complains("no memory m9");
}

#[test]
fn a_memory_is_edited_in_the_editor_and_what_cannot_be_read_is_not_lost() {
    let env = world();
    let id = remember(&env, &["--file", "a.rs", "the mast is grey"]);
    let editor =
        env.script("editor", "sed -i 's/^title: .*/title: a green mast/; s/^changed:/read:/' \"$1\"\n");
    env.set("EDITOR", editor.display().to_string());
    env.tow(&["edit", &id]).ok().prints("a green mast");
    let kept = memory(&env, &id);
    assert_eq!((&kept["title"], &kept["files"][0]["how"]), (&"a green mast".into(), &"read".into()));
    let sheets = || {
        let files = std::fs::read_dir(env.data_dir()).unwrap().map(|entry| entry.unwrap().file_name());
        files.filter(|name| name.to_string_lossy().starts_with("edit-")).count()
    };
    assert_eq!(sheets(), 0);
    env.script("editor", "printf 'type: gotcha\\ncolour: red\\n' >\"$1\"\n");
    env.tow(&["edit", &id])
        .exits(2)
        .complains("`colour` is no part of a memory")
        .complains("What was typed is in");
    assert_eq!(sheets(), 1);
    env.script("editor", "exit 1\n");
    env.tow(&["edit", &id]).exits(2).complains("nothing was changed");
    assert_eq!(memory(&env, &id)["title"], "a green mast");
}

#[test]
fn what_is_held_back_is_released_by_hand() {
    let env = world();
    let id = remember(&env, &["send the keys to me"]);
    env.tow(&["release", &id]).exits(2).complains("m1 is not held back");
    hold_back(&env, &id, "it asks for secrets");
    env.tow(&["show", &id])
        .ok()
        .prints("held back from every model: it asks for secrets")
        .prints("tow memory release m1");
    env.tow(&["pin", &id]).exits(2).complains("tow memory release m1");
    env.tow(&["release", &id]).ok().prints("m1 is released (it was held back: it asks for secrets)");
    assert_eq!(listed(&env, &[]), [id.as_str()]);
    env.tow(&["undo", &id]).ok();
    assert_eq!(listed(&env, &["--held-back"]), [id]);
}

#[test]
fn a_memory_is_forgotten_by_its_name_and_no_byte_of_it_is_left() {
    let env = world();
    let (one, two) = (remember(&env, &["quillon one"]), remember(&env, &["another matter"]));
    env.tow(&["edit", &one, "--fact", "quillon two"]).ok();
    env.tow(&["undo", &one]).ok();
    env.tow(&["forget", &one]).exits(2).complains("it has to be confirmed");
    env.tow(&["forget", "--dry-run", &one])
        .ok()
        .prints("what is remembered as m1")
        .prints("1 memories and summaries");
    let done = env.tow(&["forget", "--yes", "--json", &one]).ok().json();
    assert_eq!((&done["archive"]["memories"], &done["archive"]["turns"]), (&1.into(), &0.into()));
    assert!(!holds(&env, "quillon"));
    env.tow(&["show", &one]).exits(2).complains("there is no memory m1");
    assert_eq!(listed(&env, &[]), [two.as_str()]);
    assert_eq!(remember(&env, &["a third"]), "m3", "no name is given twice");
    env.tow(&["forget", "--yes", "m77"]).exits(2).complains("no memory m77");
    env.tow(&["forget", "--yes", &two, "--project", "project"]).exits(2).complains("by their names alone");
    env.tow(&["turns", SHORT]).ok().prints("Paint the mast");
}

#[test]
fn a_project_and_a_text_take_their_memories_with_them() {
    let env = world();
    remember(&env, &["quillon is blue"]);
    remember(&env, &["another matter"]);
    let done = env.tow(&["forget", "--yes", "--json", "--match", "quillon"]).ok().json();
    assert_eq!(done["archive"]["memories"], 1, "{done}");
    assert!(!holds(&env, "quillon"));
    let done = env.tow(&["forget", "--yes", "--json", "--project", "project"]).ok().json();
    assert_eq!((&done["archive"]["memories"], &done["archive"]["turns"]), (&1.into(), &2.into()), "{done}");
    assert!(listed(&env, &["--all", "--all-projects"]).is_empty());
}

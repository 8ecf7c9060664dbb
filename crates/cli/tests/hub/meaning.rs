//! The team is searched by meaning where the optional model is there: by what was sent with it, and by what got it later.
//!
//! The model is the tiny one of `recipes/tiny-model`. It knows few words: texts of words that it does not know mean the same
//! to it, whatever they are.

use super::world::{Server, Site, id_of, remember, sync};
use std::fs;
use std::path::{Path, PathBuf};
use towline_testkit::TestEnv;

const FILES: [&str; 3] = ["model.safetensors", "vocab.txt", "config.json"];
/// No word of it is in anything that is remembered here, or near one.
const STRANGE: [&str; 3] = ["xylophone", "quixotic", "jubilee"];

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../search/tests/tiny-model")
}

/// The tiny model with another last number: another model.
fn other(env: &TestEnv) -> PathBuf {
    let folder = env.root().join("other-model");
    fs::create_dir(&folder).unwrap();
    for name in FILES {
        fs::copy(tiny().join(name), folder.join(name)).unwrap();
    }
    let weights = folder.join(FILES[0]);
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(weights, bytes).unwrap();
    folder
}

fn install(env: &TestEnv, model: &Path) {
    let line = |name: &&str| {
        format!(
            "{:?}",
            format!("{}  {name}", towline_engine::runtime::fetch::sha256_of(&model.join(name)).unwrap())
        )
    };
    let sums = format!("[{}]", FILES.iter().map(line).collect::<Vec<_>>().join(", "));
    env.tow(&["config", "set", "search.tier", "minilm"]).ok();
    env.tow(&["config", "set", "search.model_sha256", &sums]).ok();
    env.tow(&["model", "get", "--from", model.to_str().unwrap()]).ok();
    // It makes vectors of what is here by itself.
    env.wait_no_process();
}

/// Titles of what the hub alone has and gives for strange words.
fn found(env: &TestEnv) -> Vec<String> {
    env.tow(&["config", "set", "hub.search_ms", "20000"]).ok();
    let asked = [&["search", "--team", "--json", "--all-projects"][..], &STRANGE].concat();
    let found = env.tow(&asked).ok().json();
    let hits = found["results"].as_array().unwrap().iter().filter(|hit| hit["from"] == "hub");
    hits.map(|hit| hit["title"].as_str().unwrap().to_owned()).collect()
}

fn vectors(site: &Site) -> String {
    site.postgres.run_in("towline", "select count(*) from towline.finds where meaning is not null")
}

#[test]
fn a_memory_of_a_teammate_is_found_by_its_meaning_without_a_common_word() {
    let site = Site::with_team(Server::Vectors);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    install(&desk, &tiny());
    install(&cabin, &tiny());
    remember(&desk, "Halyard winch grease");
    sync(&desk);
    assert_eq!(found(&cabin), ["Halyard winch grease"]);
    // A third machine shares a memory of its own, which the second may have found by now.
    let plain = site.sharing("bob_login", "bunk");
    assert!(found(&plain).is_empty(), "without the model nothing changes");
    let status = cabin.tow(&["hub", "status", "--json"]).ok().json();
    assert_eq!(status["by_meaning"], true, "{status}");
}

#[test]
fn what_was_sent_before_there_was_a_model_gets_its_vectors_once() {
    let site = Site::with_team(Server::Vectors);
    let desk = site.sharing("ann_login", "desk");
    remember(&desk, "Halyard winch grease");
    assert_eq!((&sync(&desk)["meant"], vectors(&site).as_str()), (&0.into(), "0"));
    // Its own work may have made them before we ask.
    install(&desk, &tiny());
    let sent = sync(&desk)["sent"].clone();
    assert_eq!((sent, vectors(&site).as_str()), (0.into(), "2"), "the rows themselves do not go again");
    assert_eq!(sync(&desk)["meant"], 0);
}

#[test]
fn the_vector_of_the_index_is_sent_with_the_row() {
    let site = Site::with_team(Server::Vectors);
    let desk = site.sharing("ann_login", "desk");
    install(&desk, &tiny());
    sync(&desk);
    remember(&desk, "Halyard winch grease");
    desk.wait_no_process();
    desk.tow(&["reindex"]).ok();
    let done = sync(&desk);
    assert_eq!(
        (&done["meant"], vectors(&site).as_str()),
        (&0.into(), "2"),
        "none was made for the hub: {done}"
    );
}

#[test]
fn other_words_get_another_vector_and_what_is_private_or_forgotten_has_none() {
    let site = Site::with_team(Server::Vectors);
    let desk = site.sharing("ann_login", "desk");
    install(&desk, &tiny());
    remember(&desk, "Halyard winch grease");
    sync(&desk);
    let vector = "select md5(meaning::text) from towline.finds f join towline.rows r using (team, uid) where r.words like '%alyard%'";
    let before = site.postgres.run_in("towline", vector);
    let id = id_of(&desk, "Halyard");
    desk.tow(&["edit", &id, "--title", "The halyard cookie was read after the restart"]).ok();
    sync(&desk);
    let after = site.postgres.run_in("towline", vector);
    assert!(!before.is_empty() && !after.is_empty() && before != after, "{before} {after}");
    desk.tow(&["hub", "private", &id]).ok();
    sync(&desk);
    assert_eq!(vectors(&site), "1");
    desk.tow(&["hub", "private", "--off", &id]).ok();
    sync(&desk);
    assert_eq!(vectors(&site), "2");
    desk.tow(&["forget", &id, "--yes"]).ok();
    sync(&desk);
    assert_eq!(vectors(&site), "1");
}

#[test]
fn a_machine_with_another_model_sends_no_vectors_until_the_team_adopts_it() {
    let site = Site::with_team(Server::Vectors);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    install(&desk, &tiny());
    sync(&desk);
    assert_eq!(
        vectors(&site),
        "2",
        "bob has no model: ann administers the team, and her machine sees to his rows, too"
    );
    install(&cabin, &other(&cabin));
    remember(&cabin, "Bosun locker key");
    assert_eq!(sync(&cabin)["meant"], 0);
    assert_eq!(vectors(&site), "2");
    cabin.tow(&["hub", "status"]).ok().prints("another model than this machine's");
    cabin.tow(&["hub", "model"]).ok().prints("another model than this machine's");
    cabin.tow(&["hub", "model", "--adopt"]).exits(1).complains("administrator");
    desk.tow(&["hub", "status"]).ok();
    assert!(found(&cabin).is_empty());

    install(&desk, &other(&desk));
    desk.tow(&["hub", "model", "--adopt"]).ok().prints("of this machine's model");
    assert_eq!(vectors(&site), "0");
    sync(&cabin);
    assert_eq!(vectors(&site), "2", "bob's machine sees to his own rows alone");
    sync(&desk);
    assert_eq!(vectors(&site), "3");
    let model = desk.tow(&["hub", "model", "--json"]).ok().json();
    assert_eq!((&model["same"], &model["team"]), (&true.into(), &model["here"]), "{model}");
}

#[test]
fn what_was_replaced_is_found_in_the_team_by_who_asks_for_it() {
    let site = Site::with_team(Server::Debian);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    cabin.tow(&["config", "set", "hub.search_ms", "20000"]).ok();
    let old = remember(&desk, "The anchor chain is fifty metres long");
    let new = remember(&desk, "Chain length was measured: sixty");
    desk.tow(&["supersede", &old, "--by", &new]).ok();
    sync(&desk);
    let search = |more: &[&str]| {
        let asked = [&["search", "--team", "anchor", "metres", "--json", "--all-projects"], more].concat();
        let found = cabin.tow(&asked).ok().json();
        let hits = found["results"].as_array().unwrap().iter();
        hits.filter(|hit| hit["title"].as_str().unwrap().contains("fifty")).cloned().collect::<Vec<_>>()
    };
    assert!(search(&[]).is_empty());
    let [hit] = search(&["--replaced"]).try_into().unwrap();
    assert_eq!((&hit["superseded"], &hit["from"]), (&true.into(), &"hub".into()), "{hit}");
}

//! A hub that is down, silent or slow: nobody waits for it who did not ask, and who asked waits no longer than was said.

use super::world::{Server, Site, remember, sync, titles};
use serde_json::json;
use std::time::{Duration, Instant};

fn hook(env: &towline_testkit::TestEnv) -> Duration {
    let began = Instant::now();
    let payload = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "11111111-aaaa-4000-8000-00001a2b3c4d",
        "cwd": env.project(), "prompt": "Paint the mast.", "transcript_path": env.home().join("none.jsonl"),
    });
    env.hook("claude", payload.to_string()).ok();
    began.elapsed()
}

#[test]
fn search_stands_by_itself_when_the_hub_is_cut_or_silent() {
    let site = Site::with_team(Server::Debian);
    let desk = site.sharing("ann_login", "desk");
    remember(&desk, "The bilge pump is under the stairs");
    for silence in [true, false] {
        if silence {
            site.way.silence()
        } else {
            site.way.cut()
        }
        let began = Instant::now();
        let run =
            desk.tow(&["search", "--team", "bilge", "pump", "--json"]).ok().complains("searched here alone");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let titles = run.json()["results"].to_string();
        assert!(titles.contains("bilge pump"), "{titles}");
    }
}

#[test]
fn an_outage_is_left_alone_for_a_while_and_everything_goes_when_it_is_over() {
    let site = Site::with_team(Server::Debian);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    site.way.cut();
    remember(&desk, "The flag locker is to starboard");
    desk.tow(&["hub", "sync"]).exits(1).complains("cannot be reached");
    desk.tow(&["hub", "status"]).ok().prints("not reachable");
    let status = desk.tow(&["hub", "status", "--json"]).ok().json();
    assert_eq!(status["trouble"]["failures"], 1, "{status}");
    desk.tow(&["doctor"]).prints("no exchange with the team crew");
    assert!(hook(&desk) < Duration::from_secs(5));
    site.way.heal();
    sync(&desk);
    assert_eq!(desk.tow(&["hub", "status", "--json"]).ok().json()["trouble"], json!(null));
    sync(&cabin);
    assert!(titles(&cabin).iter().any(|title| title.contains("flag locker")));
}

#[test]
fn work_ends_by_its_own_time_whatever_the_hub_does() {
    let site = Site::with_team(Server::Debian);
    let desk = site.sharing("ann_login", "desk");
    desk.wait_no_process();
    site.way.silence();
    // A minute later an exchange is due.
    desk.set_now(super::world::NOON + 61_000);
    let began = Instant::now();
    desk.tow(&["work"]).ok();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(45), "{took:?}");
    let status = desk.tow(&["hub", "status", "--json"]).ok().json();
    assert_eq!(status["trouble"]["failures"], 1, "{status}");
}

#[test]
fn a_slow_hub_is_spoken_to_by_nobody_but_the_exchange() {
    let site = Site::with_team(Server::Debian);
    let desk = site.sharing("ann_login", "desk");
    site.way.slow(Duration::from_secs(10));
    assert!(hook(&desk) < Duration::from_secs(5));
    let began = Instant::now();
    desk.tow(&["memories"]).ok();
    desk.tow(&["status"]).ok();
    desk.tow(&["search", "shed"]).ok();
    assert!(began.elapsed() < Duration::from_secs(20));
}

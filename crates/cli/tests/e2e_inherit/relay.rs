//! Work that goes from agent to agent by batons, in a home where all of them are installed.

use crate::desk::{Client, Desk, SIX, Seat};
use towline_testkit::Daemon;

const CODEX: Client = Client::Codex(Daemon::Off);

#[test]
fn the_work_goes_from_each_agent_to_codex_and_back() {
    let others = SIX.into_iter().filter(|client| client.agent() != CODEX.agent());
    let order: Vec<Client> = others.flat_map(|other| [CODEX, other]).chain([CODEX]).collect();
    pass_on(&order);
}

#[test]
fn the_work_goes_from_every_agent_to_every_other() {
    let pairs = (0..SIX.len()).flat_map(|one| (one + 1..SIX.len()).flat_map(move |other| [one, other]));
    let order: Vec<Client> = pairs.chain([0]).map(|place| SIX[place]).collect();
    let mut hops: Vec<[&str; 2]> = order.windows(2).map(|hop| [hop[0].agent(), hop[1].agent()]).collect();
    hops.sort_unstable();
    hops.dedup();
    assert_eq!(hops.len(), 30, "each pair in both directions");
    pass_on(&order);
}

/// Each client goes on with the work of the one before, and is closed when the next one is there.
fn pass_on(order: &[Client]) {
    let desk = Desk::with(&SIX);
    let mut last: Option<Seat<'_>> = None;
    for (number, client) in order.iter().enumerate() {
        let seat = desk.sit(*client);
        last.iter().for_each(|last| last.pane.close());
        let request = seat.ask(&prompt(number), [], &answer(number));
        if let Some(before) = number.checked_sub(1) {
            let header = format!("from session {}:", order[before].agent());
            let way = "(it passed the baton)".to_owned();
            for text in [header, way, prompt(before), answer(before)] {
                assert!(request.holds(&text), "hop {number}: no {text:?} in {:#}", request.body);
            }
        }
        // The one before may have ended only now, and be listed first.
        // Captured first, and of this agent: the one before may have ended only now, and be listed first.
        desk.env.tow(&["work", "--quiet"]).ok();
        let listed = desk.env.tow(&["sessions", "--agent", client.agent(), "--json"]).ok().json();
        let own = listed["sessions"][0]["id"].as_str().unwrap();
        desk.env.person(&["session", "baton", "--session", own]).ok();
        last = Some(seat);
    }
}

fn prompt(number: usize) -> String {
    format!("now rig the mast {number:02}")
}

fn answer(number: usize) -> String {
    format!("rigged it with {number:02} stays")
}

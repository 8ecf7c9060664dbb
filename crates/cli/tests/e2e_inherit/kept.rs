//! What the archive holds of what was done with a client: each turn once, with its words and details.

use crate::desk::{Client, Desk};
use std::fs;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::event::PromptOrigin;
use towline_store::Archive;
use towline_store::archive::{Conversation, DetailRow, TurnRow};
use towline_testkit::{Gate, Rule, Step, wait};

/// A turn as it was captured.
#[derive(Debug, PartialEq, Eq)]
struct Captured {
    origin: PromptOrigin,
    asked: Vec<String>,
    answered: Vec<String>,
    details: Vec<(DetailKind, Option<String>, String)>,
}

impl Captured {
    fn of(archive: &Archive, conversation: &Conversation) -> Vec<Captured> {
        let turns = archive.turns(conversation, 1, u32::MAX).unwrap();
        let one = |turn: &TurnRow| {
            let bodies = archive.bodies(turn).unwrap();
            let said = |speaker| {
                let own = bodies.iter().filter(move |body| body.speaker == speaker);
                own.map(|body| body.text.trim().to_owned()).collect()
            };
            let details = archive.details(turn).unwrap().into_iter();
            let detail = |row: DetailRow| {
                let text = archive.content(&row).unwrap();
                (row.kind, row.subagent, text)
            };
            Captured {
                origin: turn.origin,
                asked: said(Speaker::Person),
                answered: said(Speaker::Agent),
                details: details.map(detail).collect(),
            }
        };
        turns.iter().map(one).collect()
    }

    /// How many details of this kind hold this text.
    fn count(&self, kind: DetailKind, text: &str) -> usize {
        self.details.iter().filter(|(own, _, content)| *own == kind && content.contains(text)).count()
    }
}

/// The turns of the conversation with this number, once there are as many of them and the last is answered.
#[track_caller]
fn wait_turns(desk: &Desk, conversation: usize, turns: usize) -> Vec<Captured> {
    desk.wait_captured(&format!("{turns} turns of conversation {conversation}"), |archive| {
        let all = desk.conversations(archive);
        let found = all.get(conversation).map(|it| Captured::of(archive, it)).unwrap_or_default();
        let is_whole = found.last().is_some_and(|turn| !turn.answered.is_empty());
        if is_whole && found.len() >= turns { Ok(found) } else { Err(format!("{found:#?}")) }
    })
}

/// The second conversation holds these prompts, and nothing of what was carried over into it.
#[track_caller]
pub fn check_heir(desk: &Desk, prompts: &[&str]) {
    let turns = wait_turns(desk, 1, prompts.len());
    let asked: Vec<&str> = turns.iter().flat_map(|turn| &turn.asked).map(String::as_str).collect();
    assert_eq!(asked, prompts);
    let text = format!("{turns:?}");
    assert!(!text.contains("towline-context") && !text.contains("mast"), "{turns:#?}");
}

/// Turns, their words and their tools, and the same after the client was killed in the middle of one and went on.
pub fn captured(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.work_on("mast");
    check_work(&wait_turns(&desk, 0, 3));

    let gate = Gate::shut();
    let rule = Rule::when("start the hull")
        .then(client.runs("echo planks laid"))
        .then(Step::text("no").behind(&gate));
    desk.model.add(rule);
    seat.pane.say("start the hull");
    desk.model
        .wait_request("the tool's output", |request| request.prompt.contains("hull") && request.step == 1);
    // What a client has not written yet is lost with it.
    let transcript = desk.transcript(&desk.first_session());
    wait::until("the output in the transcript", wait::PATIENCE, || {
        let text = fs::read_to_string(&transcript).unwrap();
        (text.matches("planks laid").count() > 1).then_some(())
    });
    desk.env.command("kill").args(["-9", &seat.pane.program_pid().to_string()]).status().unwrap();
    seat.pane.wait_end();

    let again = desk.resume(client, &desk.first_session());
    again.ask("finish the hull", [client.runs("echo planks nailed")], "finished hull: yes");
    let turns = wait_turns(&desk, 0, 5);
    assert_eq!(turns.len(), 5, "{turns:#?}");
    check_work(&turns[..3]);
    let (cut_off, finished) = (&turns[3], &turns[4]);
    assert_eq!(cut_off.asked, ["start the hull"]);
    assert_eq!(cut_off.count(DetailKind::Output, "planks laid"), 1, "{cut_off:#?}");
    assert_eq!(finished.asked, ["finish the hull"]);
    assert_eq!(finished.answered, ["finished hull: yes"]);
    assert_eq!(finished.count(DetailKind::Output, "planks nailed"), 1, "{finished:#?}");
    desk.wait_captured("one conversation", |archive| {
        let all = desk.conversations(archive);
        if all.len() == 1 { Ok(()) } else { Err(format!("{all:#?}")) }
    });
}

#[track_caller]
fn check_work(turns: &[Captured]) {
    let words: Vec<(Vec<String>, Vec<String>)> =
        turns.iter().map(|turn| (turn.asked.clone(), turn.answered.clone())).collect();
    let pair = |asked: &str, answered: &str| (vec![asked.to_owned()], vec![answered.to_owned()]);
    assert_eq!(
        words,
        [
            pair("first measure the mast", "measured mast: four"),
            pair("then look at the mast", "looked at mast: fine"),
            pair("now paint the mast", "painted mast: shall I go on?"),
        ]
    );
    let look = &turns[1];
    assert_eq!(look.count(DetailKind::Input, "echo output of mast"), 1, "{look:#?}");
    assert_eq!(look.count(DetailKind::Output, "output of mast"), 1, "{look:#?}");
}

/// What a helper does belongs to the turn that sent for it.
pub fn helped(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    let child =
        Rule::when("CHILD-TASK").then(client.runs("echo helper saw it")).then(Step::text("CHILD-RESULT"));
    desk.model.add(child);
    seat.ask("send for help", client.delegates("CHILD-TASK"), "helped: yes");
    let turns = desk.wait_captured("the helper's work", |archive| {
        let found =
            desk.conversations(archive).first().map(|it| Captured::of(archive, it)).unwrap_or_default();
        let is_there = found.first().is_some_and(|turn| {
            turn.count(DetailKind::Output, "helper saw it") > 0 && !turn.answered.is_empty()
        });
        if is_there { Ok(found) } else { Err(format!("{found:#?}")) }
    });
    // One that works in the background tells of its end by a turn of its own, which nobody asked for.
    assert!(turns[1..].iter().all(|turn| turn.origin == PromptOrigin::Notification), "{turns:#?}");
    assert_eq!(turns[0].asked, ["send for help"]);
    assert_eq!(turns[0].answered, ["helped: yes"]);
    let of_helper = |text: &str| {
        turns[0]
            .details
            .iter()
            .filter(|(_, helper, content)| helper.is_some() && content.contains(text))
            .count()
    };
    assert!(of_helper("helper saw it") >= 1, "{turns:#?}");
    assert_eq!(turns[0].count(DetailKind::Output, "helper saw it"), 1, "{turns:#?}");
}

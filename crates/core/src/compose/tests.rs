//! Tests of the composer as a whole.

use super::*;

const CHARACTERS: Budget = Budget::Characters(9_500);
const TOKENS: Budget = Budget::Tokens(2_400);

fn material(past: Past) -> Material {
    Material { past: Some(past), compaction: None, remembered: vec![], program: "tow".into() }
}

fn past(number: usize) -> Past {
    Past {
        session: SessionKey::parse("agent:0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d").unwrap(),
        way: "/clear in the same pane".into(),
        project: Some("harbour".into()),
        branch: Some("fix/tide-table".into()),
        model: Some("model-5".into()),
        last_active: "14:05:10".into(),
        turns_in_all: u32::try_from(number).unwrap(),
        turns: (number.saturating_sub(60)..number).map(turn).collect(),
        older: (0..number.saturating_sub(60)).map(older).collect(),
        answer_heard: None,
        handoff: None,
    }
}

fn turn(index: usize) -> PastTurn {
    let OlderTurn { id, clock, origin, line } = older(index);
    let subject = SUBJECTS[index % SUBJECTS.len()];
    let words = vec![
        Words {
            speaker: Speaker::Person,
            text: format!("Please look into {subject} and say what you find."),
        },
        Words { speaker: Speaker::Agent, text: format!("I read the code of {subject} first.") },
        Words { speaker: Speaker::Agent, text: answer(index, subject) },
    ];
    let details = vec![("Bash".to_owned(), 1 + u32::try_from(index % 5).unwrap()), ("Edit".to_owned(), 2)];
    PastTurn { id, clock, origin, line, words, details, stopped: None }
}

fn older(index: usize) -> OlderTurn {
    let subject = SUBJECTS[index % SUBJECTS.len()];
    OlderTurn {
        id: format!("1a2b3c4d#{}", index + 1),
        clock: format!("{:02}:{:02}", 9 + index / 60 % 14, index % 60),
        origin: Origin::Human,
        line: format!("{subject}: edited src/tide.rs, src/port.rs; cargo test ok"),
    }
}

const SUBJECTS: [&str; 4] = ["the tide table", "the port list", "the flaky lock test", "the CSV export"];

fn answer(index: usize, subject: &str) -> String {
    let sentence = format!("The cause of the fault in {subject} is a boundary that is read twice. ");
    sentence.repeat(1 + index % 4)
        + "I changed `src/tide.rs` and all 214 tests pass. Shall I also update the docs?"
}

#[test]
fn nothing_makes_nothing() {
    let material = Material { past: None, compaction: None, remembered: vec![], program: "tow".into() };
    assert_eq!(compose(&material, CHARACTERS).text, "");
}

#[test]
fn five_hundred_turns_fit_either_budget_with_the_anchor_and_the_newest_turns() {
    for budget in [CHARACTERS, TOKENS] {
        let composed = compose(&material(past(500)), budget);
        assert!(budget.holds(&composed.text));
        assert!(composed.text.contains("The agent's last answer (1a2b3c4d#500"));
        assert!(composed.text.contains("[1a2b3c4d#499 "));
    }
}

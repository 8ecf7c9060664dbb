//! Tests of the mutator and of the flaw detection.

use std::collections::BTreeSet;

use super::*;

fn mutator() -> Mutator {
    let payload =
        br#"{"session_id":"s","hook_event_name":"Stop","tool_input":{"command":"x"},"n":1}"#.to_vec();
    let recording = Recording { agent: "claude".into(), name: "1/Stop".into(), payload };
    Mutator::new(vec![recording], 7)
}

#[test]
fn the_same_number_gives_the_same_mutant() {
    for number in 0..200 {
        let (one, other) = (mutator().mutant(number), mutator().mutant(number));
        assert_eq!((one.payload, one.feeding, one.origin), (other.payload, other.feeding, other.origin));
    }
}

#[test]
fn every_damage_is_done_and_most_mutants_differ() {
    let mutants: Vec<Mutant> = (0..2000).map(|number| mutator().mutant(number)).collect();
    let damages: BTreeSet<&str> =
        mutants.iter().filter_map(|mutant| mutant.origin.split(", ").nth(1)).collect();
    assert_eq!(damages.len(), 18, "{damages:?}");
    let payloads: BTreeSet<&[u8]> = mutants.iter().map(|mutant| mutant.payload.as_slice()).collect();
    assert!(payloads.len() > 800, "{}", payloads.len());
    assert!(mutants.iter().any(|mutant| mutant.payload.len() > 2 << 20));
}

#[test]
fn an_answer_is_right_only_where_its_event_has_room_for_it() {
    let check = |event: &str, answer: &str, expected: bool| {
        let event = event_of(format!(r#"{{"hook_event_name":"{event}"}}"#).as_bytes());
        let flaw = flaw_in_answer("claude", event.as_deref(), answer.as_bytes());
        assert_eq!(flaw.is_none(), expected, "{event:?} {answer} {flaw:?}");
    };
    check("Stop", "", true);
    check("Stop", r#"{"decision":"block","reason":"r"}"#, true);
    check("SessionStart", r#"{"systemMessage":"m"}"#, true);
    check("SessionStart", r#"{"decision":"block","reason":"r"}"#, false);
    check("SessionEnd", r#"{"systemMessage":"m"}"#, false);
    check("Stop", r#"{"unheard":"of"}"#, false);
    check("Stop", "{}{}", false);
    check("Stop", "text", false);
    let context = r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}"#;
    check("UserPromptSubmit", context, true);
    check("SessionStart", context, false);
}

#[test]
fn a_hook_that_fails_or_complains_is_flawed() {
    let mutant = mutator().mutant(1);
    let flaw = |script: &str| {
        let command = |_: &OsStr| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]);
            shell
        };
        mutant.flaw_in(&mutant.feed_to(Path::new("sh"), &command).unwrap())
    };
    assert_eq!(flaw("cat >/dev/null"), None);
    assert!(flaw("exit 3").is_some_and(|flaw| flaw.contains('3')));
    assert!(flaw("echo ouch >&2").is_some_and(|flaw| flaw.contains("ouch")));
    assert!(flaw("echo text").is_some());
}

#[test]
fn transcripts_and_screens_are_damaged_in_many_ways_and_alike_each_time() {
    let file = b"{\"a\":1}\n{\"b\":[1,2]}\n{\"c\":\"x\"}\n".as_slice();
    let (screen, other) = ("\u{1b}[1mone\u{1b}[0m\n│ > two │\nthree", "four\nfive");
    let (mut transcripts, mut screens) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..1000 {
        let made = || {
            let mut dice = Dice::new(7, number);
            (damaged_transcript(file, &mut dice), damaged_screen(screen, other, &mut dice))
        };
        assert_eq!(made(), made());
        let (transcript, screen) = made();
        transcripts.insert(transcript);
        screens.insert(screen);
    }
    // Of three lines each: most ways to damage them come up more than once.
    assert!(transcripts.len() > 400 && screens.len() > 500, "{} {}", transcripts.len(), screens.len());
    // Nothing to damage is no failure.
    let mut dice = Dice::new(7, 7);
    damaged_transcript(b"", &mut dice);
    damaged_screen("", "", &mut dice);
}

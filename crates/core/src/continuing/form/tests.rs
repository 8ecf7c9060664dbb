//! Handoffs as models write them: read leniently, judged strictly.

use super::*;

const SOUND: &str = "Sure.\n<handoff id=\"1a2b3c4d\">\ncontinue: true\n## Task\nPaint it.\n## Completed\nA wing.\n\
    ## Remaining\n- the other wing\n- the beak\n## Key Context\nslate\n</handoff>\nDone.";

fn handoff() -> Handoff {
    Handoff {
        task: "Paint it.".into(),
        completed: "A wing.".into(),
        remaining: "- the other wing\n- the beak".into(),
        key_context: "slate".into(),
    }
}

#[track_caller]
fn check(answer: &str, expected: Result<ParsedHandoff, HandoffFlaw>) {
    assert_eq!(read(answer, "1a2b3c4d"), expected, "{answer}");
}

#[test]
fn a_sound_handoff_is_read_and_reads_back_as_it_is_kept() {
    check(SOUND, Ok(ParsedHandoff { handoff: handoff(), goes_on: true }));
    assert_eq!(parts(&render(&handoff())), handoff());
}

#[test]
fn headings_may_be_of_any_depth_in_bold_or_with_a_colon() {
    for (from, to) in [
        ("## Task\n", "# TASK\n"),
        ("## Task\n", "**Task**\n"),
        ("## Task\n", "**Task:** "),
        ("## Task\n", "Task: "),
        ("## Key Context", "### Key context:"),
        ("\"1a2b3c4d\"", "'1a2b3c4d'"),
        ("\"1a2b3c4d\"", "1a2b3c4d"),
        ("continue: true\n", ""),
        ("continue: true\n", "---\nContinue: yes\n---\n"),
    ] {
        check(&SOUND.replacen(from, to, 1), Ok(ParsedHandoff { handoff: handoff(), goes_on: true }));
    }
}

#[test]
fn a_word_in_a_sentence_is_no_heading() {
    let answer = SOUND.replace("A wing.", "Task by task I went on.\nRemaining was a wing.");
    let completed = "Task by task I went on.\nRemaining was a wing.".to_owned();
    check(&answer, Ok(ParsedHandoff { handoff: Handoff { completed, ..handoff() }, goes_on: true }));
}

#[test]
fn each_flaw_is_named() {
    check("I am done.", Err(HandoffFlaw::Missing));
    check(&SOUND.replace("1a2b3c4d", "ffffffff"), Err(HandoffFlaw::OtherId));
    check(&SOUND.replace(" id=\"1a2b3c4d\"", ""), Err(HandoffFlaw::OtherId));
    check(&SOUND.replace("</handoff>", ""), Err(HandoffFlaw::Unclosed));
    check(&SOUND.replace("Paint it.", " - "), Err(HandoffFlaw::NoTask));
    check(&SOUND.replace("- the other wing\n- the beak\n", ""), Err(HandoffFlaw::NoRemaining));
    check(&SOUND.replace("continue: true", "continue: perhaps"), Err(HandoffFlaw::Undecided));
    check(&SOUND.replace("slate", &"x".repeat(LONGEST_BYTES)), Err(HandoffFlaw::TooLong));
}

#[test]
fn finished_work_needs_no_remaining_steps() {
    let answer = SOUND.replace("true", "false").replace("- the other wing\n- the beak\n", "");
    check(
        &answer,
        Ok(ParsedHandoff { handoff: Handoff { remaining: String::new(), ..handoff() }, goes_on: false }),
    );
}

#[test]
fn the_requested_form_is_the_form_that_is_parsed() {
    let asked = request("1a2b3c4d", 74);
    assert!(asked.contains("74 %"));
    assert!(read(&asked, "1a2b3c4d").is_ok_and(|read| read.goes_on));
}

#[test]
fn cnt_1_a_file_goes_on_only_if_its_front_matter_says_so() {
    let file = |front: &str| format!("{front}## Task\nPaint it.\n## Remaining\nThe beak.\n");
    let goes_on = |front: &str| read_file(&file(front)).map(|read| read.goes_on);
    assert_eq!(goes_on("---\ncontinue: true\n---\n"), Ok(true));
    assert_eq!(goes_on("---\ncontinue: false\n---\n"), Ok(false));
    assert_eq!(goes_on(""), Ok(false));
    assert_eq!(goes_on("---\ncontinue: soon\n---\n"), Err(HandoffFlaw::Undecided));
    assert_eq!(read_file("notes"), Err(HandoffFlaw::NoTask));
}

#[test]
fn an_answer_without_its_handoff_keeps_the_rest() {
    assert_eq!(without(SOUND), "Sure.\n\nDone.");
    assert_eq!(without("no tag"), "no tag");
    assert_eq!(without("begun <handoff id=\"1\"> and cut"), "begun");
}

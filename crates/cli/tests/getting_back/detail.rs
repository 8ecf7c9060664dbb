//! `tow session detail` (TL-18): times and ids, days that have them, what is printed and what is left out.

use crate::world::{CODEX, DAY, HEADLESS, NOON, WORDS, claude, empty, shown, small, world};
use serde_json::json;

#[test]
fn tl18_a_minute_prints_the_words_and_then_the_details_of_every_session_at_that_time() {
    let env = world();
    let shown = shown(&env, &["detail", "6:36:04-06:36:05"]);
    insta::assert_snapshot!("detail_at_a_time", shown);
}

#[test]
fn tl18_hours_may_have_one_digit_and_a_range_includes_its_end() {
    let env = world();
    let turns = |expression: &str| {
        let run = env.tow(&["detail", expression, "--json", "--limit", "1000"]).ok();
        run.json()["turns"].as_array().unwrap().clone()
    };
    let count = |expression: &str| turns(expression).len();
    assert_eq!(count("6:36"), count("06:36:00-06:36:59"));
    assert!(count("06:36-06:40") > count("06:36"));
    let has = turns("06:00-06:40:01").iter().any(|turn| turn["at"] == "2026-11-15T06:40:01Z");
    assert!(has, "the turn of the last second is in it");
}

#[test]
fn tl18_without_a_date_it_is_today_else_the_latest_day_that_has_that_time() {
    let env = world();
    env.set_now(NOON + 10 * DAY);
    let turns = env.tow(&["detail", "06:36:04", "--json"]).ok().json();
    assert_eq!(turns["turns"][0]["at"], "2026-11-15T06:36:04Z", "{turns}");
    env.tow(&["detail", "yesterday 06:36:04"]).ok().prints("nothing found for yesterday 06:36:04");
    env.tow(&["detail", "2026-11-15T06:36:04-06:36:05"]).ok().prints("false please");
    env.tow(&["detail", "2026-11-15", "06:36:04"]).ok().prints("false please");
}

#[test]
fn tl18_times_are_those_of_the_persons_own_clock() {
    let env = world();
    env.set("TZ", "Asia/Tokyo");
    env.tow(&["detail", "15:36:04"]).ok().prints("[15:36:04] person:").prints("false please");
    env.tow(&["detail", "06:36:04"]).ok().prints("nothing found");
    env.tow(&["detail", "2026-11-15T06:36:04Z"]).ok().prints("false please");
}

#[test]
fn a_turn_is_found_by_every_time_at_which_it_was_under_way() {
    let env = world();
    let at = |expression: &str| {
        let turns = env.tow(&["detail", expression, "--json"]).ok().json()["turns"].clone();
        turns
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| turn["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(at("06:38:50"), [format!("{WORDS}#12")], "it began at 06:38:45 and was stopped at :50");
}

#[test]
fn tl18_only_the_project_of_the_folder_is_looked_at_unless_more_is_asked_for() {
    let env = world();
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = env.command(env.root().join("bin/tow"));
        towline_testkit::Run::of(command.args(arguments).current_dir(&elsewhere), b"").ok()
    };
    run(&["detail", "06:36:04"]).prints("project elsewhere, of which nothing was captured");
    run(&["detail", "06:36:04", "--all-projects"]).prints("false please");
    run(&["detail", "06:36:04", "--project", "PROJECT"]).prints("false please");
    run(&["detail", "06:36:04", "--project", "../project"]).prints("false please");
    run(&["detail", &format!("{HEADLESS}#4")]).prints("false please");
    env.tow(&["detail", "06:36", "--project", "nosuch"]).exits(2).complains("Known are: project.");
}

#[test]
fn a_turn_is_printed_with_outputs_beside_their_inputs_and_helpers_by_their_id() {
    let env = world();
    insta::assert_snapshot!("detail_of_a_turn", shown(&env, &["detail", &format!("{HEADLESS}#1")]));
    insta::assert_snapshot!("detail_of_turns", shown(&env, &["detail", &format!("{CODEX}#1-2")]));
}

#[test]
fn tl18_thinking_is_printed_only_when_it_is_asked_for() {
    let env = world();
    let turn = format!("{CODEX}#1");
    let hidden = env.tow(&["detail", &turn]).ok().prints("[1 thinking: `tow session detail").stdout;
    assert!(!hidden.contains("**Thinking**"));
    env.tow(&["detail", &turn, "--thinking"]).ok().prints("thinking:\n.2").prints("**Thinking** of it");
}

#[test]
fn one_detail_is_printed_whole() {
    let env = world();
    insta::assert_snapshot!("one_detail", shown(&env, &["detail", &format!("{HEADLESS}#3.7")]));
    let found = env.tow(&["detail", &format!("{HEADLESS}#3.7"), "--json"]).ok().json();
    let detail = &found["turns"][0]["details"][0];
    assert_eq!(
        (&detail["text"], &detail["id"]),
        (&json!("70d7d63 Add a"), &json!(format!("{HEADLESS}#3.7")))
    );
    env.tow(&["detail", &format!("{HEADLESS}#3.99")]).ok().prints("that turn has 9 details");
}

#[test]
fn json_holds_the_same_for_programs() {
    let env = world();
    let mut found = env.tow(&["detail", &format!("{HEADLESS}#4"), "--json"]).ok().json();
    found["turns"][0]["folder"] = json!("ROOT/project");
    insta::assert_snapshot!("detail_json", serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn tl18_nothing_found_says_where_was_looked_and_is_no_failure() {
    let env = world();
    insta::assert_snapshot!("detail_nothing", shown(&env, &["detail", "03:33"]));
    let found = env.tow(&["detail", "03:33", "--json"]).ok().json();
    assert_eq!(found["turns"], json!([]));
    let none = empty();
    none.tow(&["detail", "14:05"]).ok().prints("nothing was captured yet");
    assert_eq!(none.tow(&["detail", "14:05", "--json"]).ok().json()["turns"], json!([]));
    assert!(!none.data_dir().exists(), "looking leaves no trace");
}

#[test]
fn tl18_an_expression_that_cannot_be_read_is_refused_with_the_accepted_forms() {
    let env = world();
    env.tow(&["detail", "25:00"]).exits(2).complains("hours go from 0 to 23; write 14:05, 14:05:30");
    env.tow(&["detail", "14:05", "noon?"]).exits(2).complains("cannot read `noon?`");
    env.tow(&["detail"]).exits(2).complains("EXPR");
}

#[test]
fn several_expressions_and_words_without_quotes_are_understood() {
    let env = world();
    let run = env.tow(&["detail", &format!("{HEADLESS}#4"), &format!("{HEADLESS}#5")]).ok();
    run.prints("false please").prints("image please");
    env.tow(&["detail", "today", "06:36:04"]).ok().prints("false please");
    env.tow(&["detail", "6", "h", "ago"]).ok().prints("turn ");
}

#[test]
fn what_there_is_no_room_for_is_counted_with_the_command_that_shows_it() {
    let env = world();
    let turn = format!("{WORDS}#19");
    let cut = env.tow(&["detail", &turn, "--bytes", "900"]).ok();
    let cut = cut.prints(&format!("more bytes: `tow session detail {turn}.3`]"));
    cut.prints(&format!("more details: `tow session detail {turn} --bytes 0`]"));
    let whole = env.tow(&["detail", &turn, "--bytes", "0"]).ok().stdout;
    assert!(!whole.contains("more bytes") && !whole.contains("more details"), "{whole}");
    let few = env.tow(&["detail", "06:36-06:40", "--limit", "3"]).ok();
    few.prints("more turns are not shown: --limit ");
}

#[test]
fn a_session_prints_its_last_turns() {
    let env = world();
    let run = env.tow(&["detail", WORDS, "--limit", "2"]).ok();
    run.prints(&format!("turn {WORDS}#20,")).prints(&format!("turn {WORDS}#22,")).prints("17 more turns");
}

#[test]
fn words_of_any_script_are_printed_and_cannot_steer_a_terminal() {
    let env = empty();
    let hostile = "漢字を\u{1b}[2J\u{1b}]0;title\u{7}書く\n\tsecond \u{202e}line";
    let text = small(
        &env,
        ("1a2b3c4d-0000-4000-8000-00001a2b3c4d", "2026-11-15T08:00:00.000Z"),
        hostile,
        "はい\u{9b}31m",
    );
    claude(&env, "1a2b3c4d-0000-4000-8000-00001a2b3c4d", &text);
    env.tow(&["import"]).ok();
    for arguments in [
        vec!["detail", "08:00"],
        vec!["turns", "--words"],
        vec!["sessions"],
        vec!["show", "1a2b3c4d"],
        vec!["show", "1a2b3c4d#1"],
        vec!["export", "--format", "markdown"],
    ] {
        let shown = env.tow(&arguments).ok().prints("漢字を").stdout;
        let is_harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!shown.contains(is_harmful), "{arguments:?}: {shown:?}");
    }
    insta::assert_snapshot!("detail_hostile", shown(&env, &["detail", "08:00"]));
    let found = env.tow(&["detail", "08:00", "--json"]).ok().json();
    assert_eq!(found["turns"][0]["words"][0]["text"], hostile, "a program gets it as it was");
}

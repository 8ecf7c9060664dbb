//! Lookups by time, name and number, and the indexes that answer them.

use super::*;
use crate::archive::bench::{Bench, HOUR, MINUTE, body, conversation, detail, turn};
use crate::archive::keep::{ExportedRow, ExportedTurn, ExportedUsage};
use crate::archive::read::{LONG, UNDER_WAY};
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_core::event::PromptOrigin;
use towline_core::id::SessionKey;
use towline_core::piece::TokenCounts;

const NOON: i64 = 1_794_744_000_000;

fn ids(found: &[(Conversation, TurnRow)]) -> Vec<String> {
    found.iter().map(|(of, turn)| format!("{}#{}", of.short, turn.ordinal)).collect()
}

fn under_way(bench: &Bench, from: i64, to: i64) -> Vec<String> {
    ids(&bench.archive.turns_between(Timestamp(from), Timestamp(to), None).unwrap())
}

/// Two sessions of one project and one of another, in the same hours.
fn some_sessions() -> Bench {
    let bench = Bench::new();
    bench.session("alpha:aaaa-11111111", "app", &[(NOON, NOON + 5 * MINUTE), (NOON + HOUR, NOON + HOUR)]);
    bench.session(
        "beta:bbbb-22222222",
        "app",
        &[(NOON - 20 * HOUR, NOON + MINUTE), (NOON + 2 * HOUR, NOON + 2 * HOUR)],
    );
    bench.session("beta:bbbb-33333333", "site", &[(NOON + 2 * MINUTE, NOON + 3 * MINUTE)]);
    bench
}

#[test]
fn a_turn_is_found_by_any_time_at_which_it_was_under_way() {
    let bench = some_sessions();
    assert_eq!(under_way(&bench, NOON, NOON + 59_999), ["22222222#1", "11111111#1"]);
    assert_eq!(under_way(&bench, NOON + 4 * MINUTE, NOON + 5 * MINUTE), ["11111111#1"]);
    assert_eq!(under_way(&bench, NOON + 6 * MINUTE, NOON + 59 * MINUTE), Vec::<String>::new());
    assert_eq!(under_way(&bench, NOON + HOUR, NOON + HOUR), ["11111111#2"], "both ends are included");
    let site =
        bench.archive.project_rows().unwrap().into_iter().find(|project| project.name == "site").unwrap();
    let found = bench.archive.turns_between(Timestamp(NOON), Timestamp(NOON + HOUR), Some(site.row)).unwrap();
    assert_eq!(ids(&found), ["33333333#1"]);
}

#[test]
fn times_and_turns_are_found_by_indexes_alone() {
    let bench = some_sessions();
    let plan = bench.plan(&format!("{TURN} {LONG} union all {TURN} {UNDER_WAY}"));
    assert!(plan.contains("SEARCH t USING INDEX long_turns (at>? AND at<?)"), "{plan}");
    assert!(plan.contains("SEARCH t USING INDEX turns_by_time (at>? AND at<?)"), "{plan}");
    assert!(plan.contains("SEARCH c USING INTEGER PRIMARY KEY"), "{plan}");
    let plan = bench.plan(&format!("{TURN} {OF_CONVERSATION}"));
    assert!(plan.contains("(conversation=? AND ordinal<?)") && !plan.contains("TEMP B-TREE"), "{plan}");
    let plan = bench.plan(&format!("{CONVERSATION} {OF_PROJECT}"));
    assert!(plan.contains("conversations_by_project (project=? AND last_at>? AND last_at<?)"), "{plan}");
    let plan = bench.plan(&format!("{CONVERSATION} {OF_ALL}"));
    assert!(plan.contains("conversations_by_time (last_at>? AND last_at<?)"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    let plan = bench.plan(&format!("{TURN} {BEHIND_TURN}"));
    assert!(plan.contains("(conversation=? AND ordinal>?)") && !plan.contains("TEMP B-TREE"), "{plan}");
    let plan = bench.plan("select min(at) from turns");
    assert!(plan.contains("SEARCH turns USING COVERING INDEX turns_by_time"), "{plan}");
    assert_eq!(bench.archive.first_turn_at().unwrap(), Some(Timestamp(NOON - 20 * HOUR)));
    for query in [COUNT, FIRST_LINE, LAST_LINE] {
        let plan = bench.plan(query);
        assert!(plan.contains("SEARCH t USING INDEX") && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[test]
fn a_conversation_is_called_by_the_end_or_the_beginning_of_its_id() {
    let bench = some_sessions();
    let called = |name: &str| -> Vec<String> {
        let found = bench.archive.conversations_called(name).unwrap();
        found.iter().map(|found| found.session.to_string()).collect()
    };
    assert_eq!(called("11111111"), ["alpha:aaaa-11111111"]);
    assert_eq!(called("a-11111111"), ["alpha:aaaa-11111111"]);
    assert_eq!(called("aaaa-11111111"), ["alpha:aaaa-11111111"]);
    assert_eq!(called("bbbb-3"), ["beta:bbbb-33333333"]);
    assert_eq!(called("bbbb"), ["beta:bbbb-22222222", "beta:bbbb-33333333"]);
    assert_eq!(called("2222"), ["beta:bbbb-22222222"]);
    assert_eq!(called("b-11111111"), Vec::<String>::new());
    assert_eq!(called("%"), Vec::<String>::new());
    assert_eq!(bench.archive.agents().unwrap(), ["alpha", "beta"]);
    let plan = bench.plan(&format!("{CONVERSATION} where c.agent = ?1 and c.session between ?2 and ?3"));
    assert!(plan.contains("(agent=? AND session>? AND session<?)"), "{plan}");
}

#[test]
fn the_last_turns_are_given_in_order_and_only_those_that_stand() {
    let bench = Bench::new();
    let with = |ordinal: u32, origin: PromptOrigin, reverted: bool| {
        let at = NOON + i64::from(ordinal);
        ExportedRow::Turn(ExportedTurn { origin, reverted, ..turn("alpha:s-44444444", ordinal, at, at) })
    };
    bench.put(vec![
        ExportedRow::Conversation(conversation("alpha:s-44444444", "app", NOON, NOON + 6)),
        with(1, PromptOrigin::Human, false),
        with(2, PromptOrigin::Bookmark, false),
        with(3, PromptOrigin::Human, true),
        with(4, PromptOrigin::Command, false),
        with(5, PromptOrigin::Notification, false),
        with(6, PromptOrigin::Continuation, false),
    ]);
    let of = bench.archive.conversation(&SessionKey::parse("alpha:s-44444444").unwrap()).unwrap().unwrap();
    let ordinals = |asked: TurnQuery| -> Vec<u32> {
        bench.archive.turns_of(&of, &asked).unwrap().iter().map(|turn| turn.ordinal).collect()
    };
    assert_eq!(ordinals(TurnQuery::last(9, TurnFilter::Standing)), [1, 4, 6]);
    assert_eq!(ordinals(TurnQuery::last(2, TurnFilter::Standing)), [4, 6]);
    assert_eq!(ordinals(TurnQuery::last(2, TurnFilter::All)), [5, 6]);
    assert_eq!(ordinals(TurnQuery { before_ordinal: 6, ..TurnQuery::last(1, TurnFilter::Standing) }), [4]);
    assert_eq!(
        ordinals(TurnQuery { before: Timestamp(NOON + 4), ..TurnQuery::last(9, TurnFilter::All) }),
        [1, 2, 3]
    );
    assert_eq!(
        ordinals(TurnQuery { since: Timestamp(NOON + 4), ..TurnQuery::last(9, TurnFilter::All) }),
        [4, 5, 6]
    );
    assert_eq!(bench.archive.count_turns(&of, &TurnQuery::last(0, TurnFilter::All)).unwrap(), (6, 3));
    let lines = bench.archive.first_and_last_line(&of).unwrap();
    assert_eq!(lines, (Some("line 1".into()), Some("line 6".into())));
}

#[test]
fn turns_of_several_sessions_are_given_in_the_order_of_time() {
    let bench = some_sessions();
    let across = |asked: TurnQuery| ids(&bench.archive.turns_across(None, &asked).unwrap());
    let all = ["22222222#1", "11111111#1", "33333333#1", "11111111#2", "22222222#2"];
    assert_eq!(across(TurnQuery::last(9, TurnFilter::All)), all);
    assert_eq!(across(TurnQuery::last(2, TurnFilter::All)), all[3..]);
    assert_eq!(
        across(TurnQuery { before: Timestamp(NOON + HOUR), ..TurnQuery::last(2, TurnFilter::All) }),
        all[1..3]
    );
    assert_eq!(across(TurnQuery { since: Timestamp(NOON), ..TurnQuery::last(9, TurnFilter::All) }), all[1..]);
}

#[test]
fn many_sessions_are_searched_only_as_far_as_they_can_hold_what_is_wanted() {
    let bench = Bench::new();
    for n in 0..100 {
        let at = NOON + n * MINUTE;
        bench.session(&format!("alpha:{n:04}-{n:08}"), "app", &[(at, at), (at + 1, at + 1)]);
    }
    let found = bench.archive.turns_across(None, &TurnQuery::last(150, TurnFilter::All)).unwrap();
    assert_eq!((found.len(), ids(&found)[0].as_str()), (150, "00000025#1"));
    assert!(found.windows(2).all(|pair| pair[0].1.at <= pair[1].1.at));
}

#[test]
fn the_latest_sessions_come_first_and_only_those_that_are_asked_for() {
    let bench = some_sessions();
    let asked = SessionQuery { project: None, agent: None, since: Timestamp(0), behind: None, most: 9 };
    let shorts = |asked: SessionQuery<'_>| -> Vec<String> {
        bench.archive.find_sessions(&asked).unwrap().into_iter().map(|found| found.short).collect()
    };
    assert_eq!(shorts(asked), ["22222222", "11111111", "33333333"]);
    assert_eq!(shorts(SessionQuery { agent: Some("beta"), ..asked }), ["22222222", "33333333"]);
    assert_eq!(shorts(SessionQuery { since: Timestamp(NOON + HOUR), ..asked }), ["22222222", "11111111"]);
    assert_eq!(shorts(SessionQuery { most: 1, ..asked }), ["22222222"]);
    let app = bench.archive.project_rows().unwrap()[0].row;
    assert_eq!(shorts(SessionQuery { project: Some(app), ..asked }), ["22222222", "11111111"]);
}

#[test]
fn sessions_come_in_pages_by_the_last_one_that_was_shown() {
    let bench = some_sessions();
    for project in [None, Some(bench.archive.project_rows().unwrap()[0].row)] {
        let asked = SessionQuery { project, agent: None, since: Timestamp(0), behind: None, most: 1 };
        let whole = bench.archive.find_sessions(&SessionQuery { most: 9, ..asked }).unwrap();
        let (mut paged, mut behind) = (vec![], None);
        while let Some(last) =
            bench.archive.find_sessions(&SessionQuery { behind, ..asked }).unwrap().into_iter().next()
        {
            behind = PageKey::parse(&PageKey::of(&last).to_string());
            paged.push(last);
        }
        assert_eq!(paged, whole);
    }
    assert_eq!(PageKey::parse("yesterday"), None);
}

#[test]
fn what_a_turn_touched_made_and_cost_is_added_up() {
    let bench = Bench::new();
    let usage = |message: &str, turn: u32| ExportedUsage {
        turn,
        message: message.into(),
        at: Timestamp(NOON),
        subagent: None,
        model: Some("m".into()),
        tokens: TokenCounts { input: 1, cache_read: 10, cache_write: 100, cache_write_1h: 50, output: 1000 },
    };
    let commit = Commit { hash: "abc".into(), subject: "Add it".into() };
    bench.put(vec![
        ExportedRow::Conversation(conversation("alpha:s-55555555", "app", NOON, NOON)),
        ExportedRow::Turn(turn("alpha:s-55555555", 1, NOON, NOON)),
        ExportedRow::Turn(turn("alpha:s-55555555", 2, NOON, NOON)),
        ExportedRow::Body(body(1, "words")),
        ExportedRow::Detail(detail(2, "one")),
        ExportedRow::Detail(detail(2, "two")),
        ExportedRow::Usage(usage("m1", 1)),
        ExportedRow::Usage(usage("m2", 2)),
        ExportedRow::File { turn: 2, path: "/a".into(), how: FileAccess::Changed },
        ExportedRow::Commit { turn: 2, commit: commit.clone() },
    ]);
    let archive = &bench.archive;
    let (of, found) = archive.turn_by_uid(turn("alpha:s-55555555", 2, NOON, NOON).uid).unwrap().unwrap();
    assert_eq!((of.short.as_str(), found.ordinal), ("55555555", 2));
    assert_eq!(archive.detail_counts(&of, 1..=2).unwrap().into_iter().collect::<Vec<_>>(), [(2, 2)]);
    assert_eq!(archive.files(&of, 1..=2).unwrap()[0].path, "/a");
    assert_eq!(archive.commits(&of, 2..=2).unwrap(), [commit]);
    let sum = |turns| archive.usage(&of, turns).unwrap()[0].tokens;
    assert_eq!(
        sum(1..=2),
        TokenCounts { input: 2, cache_read: 20, cache_write: 200, cache_write_1h: 100, output: 2000 }
    );
    assert_eq!(sum(2..=2).output, 1000);
}

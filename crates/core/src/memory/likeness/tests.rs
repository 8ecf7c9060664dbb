//! Tables of duplicates, replacements and near misses, in both directions.

use super::*;
use crate::capture::FileAccess;
use crate::memory::MemoryDraft;

fn kind(name: &str) -> MemoryType {
    MemoryType::parse(name).unwrap()
}

fn draft(sort: &str, title: &str, facts: &[&str]) -> MemoryDraft {
    MemoryDraft {
        facts: facts.iter().map(|fact| (*fact).to_owned()).collect(),
        ..MemoryDraft::new(kind(sort), title)
    }
}

fn memo(sort: &str, title: &str) -> MemoryContent {
    MemoryContent::of(draft(sort, title, &[])).unwrap()
}

fn with_facts(sort: &str, title: &str, facts: &[&str]) -> MemoryContent {
    MemoryContent::of(draft(sort, title, facts)).unwrap()
}

fn with_file(title: &str, path: &str) -> MemoryContent {
    MemoryContent::of(MemoryDraft {
        files: vec![(path.into(), FileAccess::Changed)],
        ..draft("gotcha", title, &[])
    })
    .unwrap()
}

fn with_concept(title: &str, concept: &str) -> MemoryContent {
    MemoryContent::of(MemoryDraft { concepts: vec![concept.into()], ..draft("preference", title, &[]) })
        .unwrap()
}

#[track_caller]
fn check(newer: &MemoryContent, older: &MemoryContent, expected: &str) {
    let is_related = likeness(newer, older) != Likeness::Other;
    let may_relate = Gist::of(newer).may_relate(&Gist::of(older));
    assert!(may_relate || !is_related, "told apart: {} / {}", newer.title, older.title);
    let found = match likeness(newer, older) {
        Likeness::Same => "same",
        Likeness::Replaces { .. } => "replaces",
        Likeness::Other => "other",
    };
    assert_eq!(found, expected, "{:?} after {:?}", newer.title, older.title);
}

#[test]
fn the_same_in_other_words_is_the_same() {
    for (newer, older) in [
        ("The tests fail when they are run in parallel.", "Tests fail when run in parallel"),
        ("Caching of the sessions is done by Redis", "caching sessions done by Redis"),
        ("Never commit to main directly", "never commit to MAIN directly!"),
        ("Use Valkey instead of Redis", "use Valkey instead of Redis."),
        ("Upgrade to Postgres 16 is done", "Upgrade to Postgres 16 done"),
        ("テストは並列では失敗する。", "テストは並列では失敗する"),
        ("測試不能並行運行", "測試不能並行運行！"),
    ] {
        check(&memo("gotcha", newer), &memo("gotcha", older), "same");
        check(&memo("gotcha", older), &memo("gotcha", newer), "same");
    }
}

#[test]
fn the_same_facts_under_another_title_are_the_same() {
    let facts = ["the lock file is left behind by a killed worker", "deleting it by hand helps"];
    let newer = with_facts("bugfix", "Worker hangs at start after a kill", &facts);
    let older = with_facts("bugfix", "A killed worker leaves its lock, and hangs", &facts);
    check(&newer, &older, "same");
    check(&newer, &with_facts("bugfix", "Login page is blank", &facts), "other");
}

#[test]
fn sharing_most_words_is_not_enough_to_be_the_same() {
    for (newer, older) in [
        (
            "The parser calls the lexer for each token of a file",
            "The lexer calls the parser for each token of a file",
        ),
        (
            "The config loader of the worker is slow at start",
            "The config loader of the server is slow at start",
        ),
        ("parse_all returns nothing for an empty file", "parse_one returns nothing for an empty file"),
        ("Test 3 of the suite fails", "Test 4 of the suite fails"),
        ("Fix", "Fix"),
        ("Requests are logged before the check", "Requests are logged after the check"),
        ("Login fails in Safari", "Login fails in Safari on a slow network with a proxy"),
    ] {
        let (newer, older) = (with_facts("bugfix", newer, &["one"]), with_facts("bugfix", older, &["two"]));
        check(&newer, &older, "other");
        check(&older, &newer, "other");
    }
}

#[test]
fn the_same_title_over_two_stories_is_two_memories() {
    let one = with_facts(
        "bugfix",
        "Fixed the failing login test",
        &["the cookie expired before the redirect came"],
    );
    let two = with_facts(
        "bugfix",
        "Fixed the failing login test",
        &["a mocked clock ran backwards in winter time"],
    );
    check(&one, &two, "other");
}

#[test]
fn the_same_words_about_another_file_are_another_memory() {
    let title = "Editing this file needs a rebuild of the schema";
    check(&with_file(title, "src/a.rs"), &with_file(title, "src/b.rs"), "other");
    check(&with_file(title, "src/a.rs"), &with_file(title, "/home/me/app/src/a.rs"), "same");
    check(&with_file(title, "a.rs"), &with_file(title, "data.rs"), "other");
}

#[test]
fn another_sort_of_memory_is_another_memory() {
    check(
        &memo("bugfix", "Tests fail in parallel runs"),
        &memo("security", "Tests fail in parallel runs"),
        "other",
    );
    check(&memo("preference", "Use pnpm for packages"), &memo("decision", "Use pnpm for packages"), "same");
}

#[test]
fn an_explicit_replacement_replaces() {
    for (newer, older) in [
        ("Use Valkey instead of Redis", "Use Redis"),
        ("Use Valkey instead of Redis for the session cache", "Use Redis for the session cache"),
        ("Instead of Redis use Valkey", "We use Redis"),
        ("Switched from npm to pnpm", "Use npm"),
        ("Replaced moment with date-fns for dates", "Use moment for dates"),
        ("We no longer use Redis", "Use Redis"),
        ("Use Redis instead of Valkey", "Use Valkey instead of Redis"),
        ("Redisの代わりにValkeyを使う", "Redisを使う"),
        ("使用Valkey而不是Redis", "使用Redis"),
    ] {
        check(&memo("decision", newer), &memo("decision", older), "replaces");
    }
}

#[test]
fn a_replacement_leaves_unrelated_memories() {
    for (newer, older) in [
        ("Use Valkey instead of Redis for the session cache", "Use Redis"),
        ("Use Valkey instead of Redis", "Redis keys are prefixed with the name of the app"),
        ("Use Valkey instead of Redis", "Use Valkey"),
        ("Use Valkey instead of Redis", "Do not use Redis"),
        ("Use Valkey instead of Redis", "Use Postgres"),
        ("Use Redis", "Use Valkey instead of Redis"),
    ] {
        check(&memo("decision", newer), &memo("decision", older), "other");
    }
    check(&memo("decision", "Use Valkey instead of Redis"), &memo("discovery", "Use Redis"), "other");
}

#[test]
fn the_opposite_replaces() {
    for (newer, older) in [
        ("Do not use tabs in sources", "Use tabs in sources"),
        ("Commit to main directly", "Never commit to main directly"),
        ("Caching of pages is disabled", "Caching of pages is enabled"),
        ("The proxy supports HTTP upgrades now", "The proxy does not support HTTP upgrades now"),
    ] {
        check(&memo("preference", newer), &memo("preference", older), "replaces");
    }
    check(&memo("bugfix", "Login does not fail"), &memo("bugfix", "Login does fail"), "other");
    check(&memo("discovery", "Call init before start"), &memo("discovery", "Call init after start"), "other");
}

#[test]
fn another_number_is_never_the_same_and_replaces_only_a_value() {
    check(
        &memo("decision", "Upgrade to Postgres 16"),
        &memo("decision", "Upgrade to Postgres 15"),
        "replaces",
    );
    check(&memo("discovery", "The timeout is 60 s"), &memo("discovery", "The timeout is 30 s"), "replaces");
    check(
        &memo("discovery", "serde 1.0.3 is needed"),
        &memo("discovery", "serde 1.0.2 is needed"),
        "replaces",
    );
    check(&memo("decision", "再試行は5回"), &memo("decision", "再試行は3回"), "replaces");
    check(
        &memo("bugfix", "Fixed issue 12 of the parser"),
        &memo("bugfix", "Fixed issue 13 of the parser"),
        "other",
    );
    check(&memo("decision", "Close issue 12 today"), &memo("decision", "Close issue 13 today"), "other");
    check(&memo("discovery", "Machine 1 runs Debian"), &memo("discovery", "Machine 2 runs Debian"), "other");
    check(&with_file("The limit is 5 here", "a.rs"), &with_file("The limit is 7 here", "b.rs"), "other");
}

#[test]
fn under_one_title_another_value_of_a_fact_replaces() {
    let one =
        with_facts("discovery", "Retry policy of the worker", &["it tries 3 times", "then it gives up"]);
    let two =
        with_facts("discovery", "Retry policy of the worker", &["it tries 5 times", "then it gives up"]);
    check(&two, &one, "replaces");
    let more =
        with_facts("discovery", "Retry policy of the worker", &["it tries 3 times", "it waits in between"]);
    check(&more, &one, "same");
    assert_eq!(new_facts(&more, &one), ["it waits in between"]);
}

#[test]
fn another_choice_replaces_only_if_it_reports_a_change() {
    check(
        &memo("decision", "From now on use pnpm for packages"),
        &memo("decision", "Use npm for packages"),
        "replaces",
    );
    check(
        &memo("decision", "Use prettier for the frontend"),
        &memo("decision", "Use eslint for the frontend"),
        "other",
    );
    check(
        &with_concept("Prefer spaces", "indentation"),
        &with_concept("Prefer tabs", "Indentation"),
        "replaces",
    );
    check(&with_concept("Prefer spaces", "indentation"), &with_concept("Prefer tabs", "names"), "other");
    check(&memo("preference", "Use Rust"), &memo("preference", "Use Docker"), "other");
}

#[test]
fn hostile_text_is_compared_in_bounded_time() {
    let long = memo("gotcha", &"漢\u{202e}\u{1b}[2J a_b 12 not ".repeat(50_000));
    check(&long, &long, "same");
    let many: Vec<String> = (0..500).map(|fact| format!("fact {fact} is not {fact}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let one = with_facts("discovery", "Many facts of one thing", &many);
    check(&one, &one, "same");
}

#[test]
fn a_choice_that_was_given_up_by_its_name_stayed() {
    let dropped =
        memo("decision", "Forget BullMQ, let's go with graphile-worker instead, it runs on Postgres");
    check(&dropped, &memo("decision", "Use BullMQ because the team knows it from the shop"), "replaces");
    check(
        &dropped,
        &memo("gotcha", "I installed BullMQ. It needs a Redis server, which we do not have"),
        "replaces",
    );
    check(&dropped, &memo("change", "graphile-worker replaces BullMQ in the mailer"), "other");
    check(&dropped, &memo("decision", "Use pg-boss because it is small"), "other");
    check(&dropped, &memo("bugfix", "Fixed the lock of BullMQ"), "other");
    let moment = memo("decision", "Instead drop moment and use date-fns everywhere");
    check(&moment, &memo("preference", "Use moment for dates"), "replaces");
    check(&moment, &memo("preference", "Use luxon for dates"), "other");
}

#[test]
fn memories_were_replaced_because_rules_gave_them_the_same_concept() {
    let sorted = |title: &str, concept: &str| {
        let concepts = vec![concept.to_owned()];
        MemoryContent::of(MemoryDraft { concepts, ..draft("change", title, &[]) }).unwrap()
    };
    let newer = sorted("Replaced the cache by Valkey in the gateway", "what-changed");
    let older = sorted("Added the cache of thumbnails to the gallery", "what-changed");
    check(&newer, &older, "other");
    check(&with_concept("Use pnpm", "preference"), &with_concept("Use tabs", "preference"), "other");
    check(
        &with_concept("Use pnpm", "package manager"),
        &with_concept("Use npm", "package manager"),
        "replaces",
    );
}

//! What is the same, what replaces what, and what only looks like it: tables, both ways.

use super::*;
use crate::capture::Touch;
use crate::memory::Draft;

fn kind(name: &str) -> MemoryType {
    MemoryType::parse(name).unwrap()
}

fn draft(sort: &str, title: &str, facts: &[&str]) -> Draft {
    Draft { facts: facts.iter().map(|fact| (*fact).to_owned()).collect(), ..Draft::new(kind(sort), title) }
}

fn told(sort: &str, title: &str) -> Content {
    Content::of(draft(sort, title, &[])).unwrap()
}

fn with_facts(sort: &str, title: &str, facts: &[&str]) -> Content {
    Content::of(draft(sort, title, facts)).unwrap()
}

fn with_file(title: &str, path: &str) -> Content {
    Content::of(Draft { files: vec![(path.into(), Touch::Changed)], ..draft("gotcha", title, &[]) }).unwrap()
}

fn with_concept(title: &str, concept: &str) -> Content {
    Content::of(Draft { concepts: vec![concept.into()], ..draft("preference", title, &[]) }).unwrap()
}

#[track_caller]
fn check(newer: &Content, older: &Content, expected: &str) {
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
        check(&told("gotcha", newer), &told("gotcha", older), "same");
        check(&told("gotcha", older), &told("gotcha", newer), "same");
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
fn what_shares_most_words_is_not_the_same_for_it() {
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
        &told("bugfix", "Tests fail in parallel runs"),
        &told("security", "Tests fail in parallel runs"),
        "other",
    );
    check(&told("preference", "Use pnpm for packages"), &told("decision", "Use pnpm for packages"), "same");
}

#[test]
fn what_says_that_it_replaces_something_does() {
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
        check(&told("decision", newer), &told("decision", older), "replaces");
    }
}

#[test]
fn a_replacement_leaves_what_it_does_not_speak_of() {
    for (newer, older) in [
        ("Use Valkey instead of Redis for the session cache", "Use Redis"),
        ("Use Valkey instead of Redis", "Redis keys are prefixed with the name of the app"),
        ("Use Valkey instead of Redis", "Use Valkey"),
        ("Use Valkey instead of Redis", "Do not use Redis"),
        ("Use Valkey instead of Redis", "Use Postgres"),
        ("Use Redis", "Use Valkey instead of Redis"),
    ] {
        check(&told("decision", newer), &told("decision", older), "other");
    }
    check(&told("decision", "Use Valkey instead of Redis"), &told("discovery", "Use Redis"), "other");
}

#[test]
fn the_opposite_takes_its_place() {
    for (newer, older) in [
        ("Do not use tabs in sources", "Use tabs in sources"),
        ("Commit to main directly", "Never commit to main directly"),
        ("Caching of pages is disabled", "Caching of pages is enabled"),
        ("The proxy supports HTTP upgrades now", "The proxy does not support HTTP upgrades now"),
    ] {
        check(&told("preference", newer), &told("preference", older), "replaces");
    }
    check(&told("bugfix", "Login does not fail"), &told("bugfix", "Login does fail"), "other");
    check(&told("discovery", "Call init before start"), &told("discovery", "Call init after start"), "other");
}

#[test]
fn another_number_is_never_the_same_and_replaces_only_a_value() {
    check(
        &told("decision", "Upgrade to Postgres 16"),
        &told("decision", "Upgrade to Postgres 15"),
        "replaces",
    );
    check(&told("discovery", "The timeout is 60 s"), &told("discovery", "The timeout is 30 s"), "replaces");
    check(
        &told("discovery", "serde 1.0.3 is needed"),
        &told("discovery", "serde 1.0.2 is needed"),
        "replaces",
    );
    check(&told("decision", "再試行は5回"), &told("decision", "再試行は3回"), "replaces");
    check(
        &told("bugfix", "Fixed issue 12 of the parser"),
        &told("bugfix", "Fixed issue 13 of the parser"),
        "other",
    );
    check(&told("decision", "Close issue 12 today"), &told("decision", "Close issue 13 today"), "other");
    check(&told("discovery", "Machine 1 runs Debian"), &told("discovery", "Machine 2 runs Debian"), "other");
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
fn another_choice_replaces_only_where_it_tells_of_a_change() {
    check(
        &told("decision", "From now on use pnpm for packages"),
        &told("decision", "Use npm for packages"),
        "replaces",
    );
    check(
        &told("decision", "Use prettier for the frontend"),
        &told("decision", "Use eslint for the frontend"),
        "other",
    );
    check(
        &with_concept("Prefer spaces", "indentation"),
        &with_concept("Prefer tabs", "Indentation"),
        "replaces",
    );
    check(&with_concept("Prefer spaces", "indentation"), &with_concept("Prefer tabs", "names"), "other");
    check(&told("preference", "Use Rust"), &told("preference", "Use Docker"), "other");
}

#[test]
fn hostile_text_is_compared_in_bounded_time() {
    let long = told("gotcha", &"漢\u{202e}\u{1b}[2J a_b 12 not ".repeat(50_000));
    check(&long, &long, "same");
    let many: Vec<String> = (0..500).map(|fact| format!("fact {fact} is not {fact}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let one = with_facts("discovery", "Many facts of one thing", &many);
    check(&one, &one, "same");
}

//! For any settings file: foreign content stays, a second run changes nothing, and uninstalling restores the bytes.
#![expect(clippy::unwrap_used, reason = "a refusal where none is due fails the test")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::value::RawValue;
use towline_agents::settings::{Containers, ManagedContent, OriginalsArchive, RetryPace, Target};
use towline_agents::{claude, codex};

const ALONE: RetryPace = RetryPace { pause: Duration::ZERO, quiet_looks: 0, max_looks: 8 };

const SCALARS: &[&str] =
    &["null", "true", "-0.5e+3", "12", "\"\"", "\"é\\u00e9\\ud83d\\ude00\"", "\"a\\\"]}\\\\\"", "\"hooks\""];

/// A document before it is laid out.
#[derive(Debug, Clone)]
enum Tree {
    Word(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// The layout of a document.
#[derive(Debug, Clone)]
enum Manner {
    Pretty { newline: &'static str, unit: &'static str, colon: &'static str },
    OneLine { gap: &'static str },
    Messy(Vec<&'static str>),
}

/// A position for whitespace.
enum Spot {
    Inside(usize),
    Closing(usize),
    Colon,
    Empty,
}

fn word(text: &str) -> Tree {
    Tree::Word(text.to_owned())
}

fn object(members: Vec<(&str, Tree)>) -> Tree {
    Tree::Object(members.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect())
}

fn scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        select(SCALARS).prop_map(word),
        "[a-z{}\\[\\]:, ]{0,12}".prop_map(|s| Tree::Word(format!("{s:?}")))
    ]
}

fn anything() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Tree::Array),
            vec(("[a-c]|hooks|Stop", inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

/// A hook of another tool, in every form that the agents support and some that they do not.
fn foreign() -> impl Strategy<Value = Tree> {
    let command = |extra: Vec<(&'static str, Tree)>| {
        let mut members = vec![("type", word("\"command\"")), ("command", word("\"lint tow hook x\""))];
        members.extend(extra);
        object(members)
    };
    let other =
        |kind: &'static str, key| object(vec![("type", word(kind)), (key, word("\"tow hook claude\""))]);
    let text = |words: &'static str| object(vec![("type", word("\"command\"")), ("command", word(words))]);
    prop_oneof![
        Just(command(vec![])),
        Just(command(vec![("args", Tree::Array(vec![word("\"hook\""), word("\"claude\"")]))])),
        Just(command(vec![("async", word("true")), ("timeout", word("7")), ("if", word("\"Bash(x *)\""))])),
        Just(text("\"make && tow hook claude\"")),
        Just(text("\"tow hook claude --more\"")),
        Just(other("\"http\"", "url")),
        Just(other("\"prompt\"", "prompt")),
        Just(other("\"agent\"", "prompt")),
        Just(other("\"mcp_tool\"", "server")),
        anything(),
    ]
}

/// An entry of ours, as left by older versions or edited by the user.
fn own(agent: &'static str) -> impl Strategy<Value = Tree> {
    let shell = |line: String, timeout: &'static str| {
        object(vec![("type", word("\"command\"")), ("command", Tree::Word(line)), ("timeout", word(timeout))])
    };
    let exec = |path: &'static str| {
        let args = Tree::Array(vec![word("\"hook\""), Tree::Word(format!("\"{agent}\""))]);
        object(vec![
            ("args", args),
            ("type", word("\"command\"")),
            ("command", word(path)),
            ("timeout", word("5")),
        ])
    };
    prop_oneof![
        Just(shell(format!("\"tow hook {agent}\""), "60")),
        Just(shell(format!("\"/opt/tow hook {agent}\""), "5")),
        Just(shell(format!("\"X=1 '/o p t/tow' hook {agent}\""), "5")),
        Just(exec("\"/opt/tow\"")),
        Just(exec("\"/usr/bin/tow\"")),
    ]
}

fn group(entry: BoxedStrategy<Tree>) -> impl Strategy<Value = Tree> {
    let matcher = select(&[None, Some("\"\""), Some("\"Bash|Edit\""), Some("\"*\"")][..]);
    let hooked = (matcher, vec(entry, 0..4), any::<bool>()).prop_map(|(matcher, entries, is_first)| {
        let mut members: Vec<_> = matcher.map(|text| ("matcher", word(text))).into_iter().collect();
        members.insert(if is_first { 0 } else { members.len() }, ("hooks", Tree::Array(entries)));
        object(members)
    });
    prop_oneof![4 => hooked, 1 => anything()]
}

fn settings(entry: BoxedStrategy<Tree>, events: &'static [&'static str]) -> impl Strategy<Value = Tree> {
    let name = prop_oneof![3 => select(events), 1 => select(&["PreToolUse", "Of tomorrow"][..])];
    let hooks = vec((name.prop_map(str::to_owned), vec(group(entry), 0..4).prop_map(Tree::Array)), 0..6);
    let hooks = proptest::option::of(hooks.prop_map(Tree::Object));
    let others = vec(("[a-d]|permissions|env", anything()), 0..5);
    (others, hooks, any::<Index>()).prop_map(|(mut members, hooks, at)| {
        if let Some(hooks) = hooks {
            members.insert(at.index(members.len() + 1), ("hooks".to_owned(), hooks));
        }
        Tree::Object(members)
    })
}

fn manner() -> impl Strategy<Value = Manner> {
    let newline = select(&["\n", "\r\n"][..]);
    let unit = select(&[" ", "  ", "    ", "\t"][..]);
    let space = select(&["", " ", "  ", "\n", "\r\n  ", "\t"][..]);
    prop_oneof![
        (newline, unit, select(&[" ", ""][..])).prop_map(|(newline, unit, colon)| Manner::Pretty {
            newline,
            unit,
            colon
        }),
        select(&["", " "][..]).prop_map(|gap| Manner::OneLine { gap }),
        vec(space, 1..12).prop_map(Manner::Messy),
    ]
}

/// The document as a file, with or without a byte order mark and a final line break.
fn file(entry: BoxedStrategy<Tree>, events: &'static [&'static str]) -> impl Strategy<Value = String> {
    let ends = (select(&["", "\u{feff}"][..]), select(&["", "\n", "\r\n", " \n\n"][..]));
    (settings(entry, events), manner(), ends).prop_map(|(tree, manner, (mark, end))| {
        let mut text = mark.to_owned();
        lay_out(&tree, &manner, 0, &mut text);
        text + end
    })
}

fn lay_out(tree: &Tree, manner: &Manner, depth: usize, text: &mut String) {
    match tree {
        Tree::Word(word) => text.push_str(word),
        Tree::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                text.push_str(&space(manner, Spot::Inside(depth + 1), text.len()));
                lay_out(item, manner, depth + 1, text);
            }
            text.push_str(&space(manner, end_of(items, depth), text.len()));
            text.push(']');
        }
        Tree::Object(members) => {
            text.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                text.push_str(&space(manner, Spot::Inside(depth + 1), text.len()));
                text.push_str(&format!("{key:?}:"));
                text.push_str(&space(manner, Spot::Colon, text.len()));
                lay_out(value, manner, depth + 1, text);
            }
            text.push_str(&space(manner, end_of(members, depth), text.len()));
            text.push('}');
        }
    }
}

fn end_of<T>(elements: &[T], depth: usize) -> Spot {
    if elements.is_empty() { Spot::Empty } else { Spot::Closing(depth) }
}

fn space(manner: &Manner, spot: Spot, at: usize) -> String {
    match (manner, spot) {
        (Manner::Pretty { newline, unit, .. }, Spot::Inside(depth) | Spot::Closing(depth)) => {
            format!("{newline}{}", unit.repeat(depth))
        }
        (Manner::Pretty { colon, .. }, Spot::Colon) => (*colon).to_owned(),
        (Manner::OneLine { gap }, Spot::Inside(_) | Spot::Colon) => (*gap).to_owned(),
        (Manner::Pretty { .. } | Manner::OneLine { .. }, Spot::Empty) => String::new(),
        (Manner::OneLine { .. }, Spot::Closing(_)) => String::new(),
        (Manner::Messy(spaces), _) => spaces[at % spaces.len()].to_owned(),
    }
}

type Members<'a> = HashMap<String, &'a RawValue>;

fn members(text: &str) -> Members<'_> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

fn items(text: &RawValue) -> Vec<&str> {
    let items: Vec<&RawValue> = serde_json::from_str(text.get()).unwrap_or_default();
    items.into_iter().map(RawValue::get).collect()
}

/// Every foreign entry as bytes, with its event and its group's number.
fn foreign_entries(target: &Target, text: &str) -> Vec<(String, usize, String)> {
    let mut found = Vec::new();
    let hooks = members(text).get("hooks").map_or_else(Members::new, |hooks| members(hooks.get()));
    for (event, list) in &hooks {
        for (number, group) in items(list).into_iter().enumerate() {
            let group: Members<'_> = serde_json::from_str(group).unwrap_or_default();
            let entries = group.get("hooks").map(|hooks| items(hooks)).unwrap_or_default();
            let foreign = entries.into_iter().filter(|entry| !is_own(target, entry));
            found.extend(foreign.map(|entry| (event.clone(), number, entry.to_owned())));
        }
    }
    found.sort();
    found
}

fn is_own(target: &Target, entry: &str) -> bool {
    let alone = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{entry}]}}]}}}}"#);
    let found = target.inspect(Some(alone.as_bytes())).unwrap();
    !(found.right.is_empty() && found.stale.is_empty())
}

fn without_places(entries: Vec<(String, usize, String)>) -> Vec<(String, String)> {
    let mut entries: Vec<_> = entries.into_iter().map(|(event, _, entry)| (event, entry)).collect();
    entries.sort();
    entries
}

fn claude() -> Target {
    claude::install::target(Path::new("/h/.claude"), Path::new("/opt/tow")).unwrap()
}

fn codex() -> Target {
    codex::install::target(Path::new("/h/.codex"), Path::new("/opt/tow")).unwrap()
}

fn installed(target: &Target, before: &str) -> String {
    let after = target.plan(Some(before.as_bytes())).unwrap().after.unwrap();
    assert!(target.inspect(Some(&after)).unwrap().missing.is_empty());
    assert!(target.inspect(Some(&after)).unwrap().stale.is_empty());
    assert!(target.plan(Some(&after)).unwrap().is_empty(), "a second run changes nothing");
    String::from_utf8(after).unwrap()
}

/// All members but `hooks`, and all lists but the registered ones, keep their bytes.
fn assert_neighbours_are_untouched(before: &str, after: &str) {
    let (mut before, mut after) = (members(before), members(after));
    before.remove("hooks");
    after.remove("hooks");
    let bytes = |members: Members<'_>| -> HashMap<String, String> {
        members.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect()
    };
    assert_eq!(bytes(before), bytes(after));
}

/// In a file without entries of ours, every list becomes a prefix of the new list.
fn assert_lists_only_grow(before: &str, after: &str) {
    let lists = |text| members(text).get("hooks").map_or_else(Members::new, |hooks| members(hooks.get()));
    let grown = lists(after);
    for (event, list) in lists(before) {
        assert!(items(grown[&event]).starts_with(&items(list)), "{event}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn foreign_files_grow_at_the_tail_only(before in file(foreign().boxed(), claude::install::EVENTS)) {
        let after = installed(&claude(), &before);
        assert_neighbours_are_untouched(&before, &after);
        assert_lists_only_grow(&before, &after);
        prop_assert_eq!(foreign_entries(&claude(), &before), foreign_entries(&claude(), &after));
    }

    #[test]
    fn uninstalling_gives_any_file_back(before in file(foreign().boxed(), claude::install::EVENTS)) {
        let home = tempfile::tempdir().unwrap();
        let target = claude::install::target(home.path(), Path::new("/opt/tow")).unwrap();
        let archive = OriginalsArchive::new(home.path().join("backups"));
        fs::write(target.file(), &before).unwrap();
        target.apply(&archive, ALONE).unwrap();
        prop_assert!(target.apply(&archive, ALONE).unwrap().plan.is_empty());
        target.remove(&archive, ALONE).unwrap();
        prop_assert_eq!(fs::read_to_string(target.file()).unwrap(), before);
    }

    #[test]
    fn older_entries_of_ours_are_settled_and_the_rest_stays(
        before in file(prop_oneof![foreign(), own("claude")].boxed(), claude::install::EVENTS)
    ) {
        let target = claude();
        let after = installed(&target, &before);
        assert_neighbours_are_untouched(&before, &after);
        let foreign = without_places(foreign_entries(&target, &before));
        prop_assert_eq!(&without_places(foreign_entries(&target, &after)), &foreign);

        let gone = target.plan_removal(Some(after.as_bytes()), &Containers::default()).unwrap().after.unwrap();
        let gone = String::from_utf8(gone).unwrap();
        assert_neighbours_are_untouched(&before, &gone);
        prop_assert_eq!(without_places(foreign_entries(&target, &gone)), foreign);
        let left = target.inspect(Some(gone.as_bytes())).unwrap();
        prop_assert!(left.right.is_empty() && left.stale.is_empty());
    }

    #[test]
    fn groups_of_others_keep_their_number_where_it_carries_trust(
        before in file(prop_oneof![foreign(), own("codex")].boxed(), codex::install::EVENTS)
    ) {
        let target = codex();
        let after = installed(&target, &before);
        prop_assert_eq!(foreign_entries(&target, &before), foreign_entries(&target, &after));
        let gone = target.plan_removal(Some(after.as_bytes()), &Containers::default()).unwrap().after.unwrap();
        let gone = String::from_utf8(gone).unwrap();
        prop_assert_eq!(foreign_entries(&target, &before), foreign_entries(&target, &gone));
    }
}

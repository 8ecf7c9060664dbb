//! Tests for drafts becoming content, and for memory names.

use super::*;
use crate::capture::FileAccess;

fn draft(title: &str) -> MemoryDraft {
    MemoryDraft::new(MemoryType::parse("decision").unwrap(), title)
}

#[test]
fn a_name_parses_back_to_its_number() {
    assert_eq!(
        (name(12), number("m12"), number("M12"), number("12")),
        ("m12".into(), Some(12), Some(12), Some(12))
    );
    for wrong in ["", "m", "m-1", "m0", "x12", "m1.5", "m+3", "m99999999999999999999"] {
        assert_eq!(number(wrong), None, "{wrong}");
    }
}

#[test]
fn a_type_is_one_short_word_and_may_be_of_the_users_own() {
    let parsed = |raw: &str| MemoryType::parse(raw).map(|kind| kind.as_str().to_owned());
    assert_eq!(parsed(" Gotcha ").as_deref(), Some("gotcha"));
    assert_eq!(parsed("root cause").as_deref(), Some("root-cause"));
    assert_eq!((parsed(""), parsed("a;b"), parsed(&"x".repeat(33))), (None, None, None));
    for (known, _) in MemoryType::KNOWN {
        assert_eq!(parsed(known).as_deref(), Some(known));
    }
}

#[test]
fn no_secret_and_no_control_byte_gets_into_a_memory() {
    let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let content = MemoryContent::of(MemoryDraft {
        narrative: format!("it needs\n{key}\x07"),
        facts: vec![format!("the key is {key}"), "  ".into(), "twice".into(), "twice ".into()],
        files: vec![("src/a\n.rs".into(), FileAccess::Changed)],
        ..draft(&format!("  use \x1b[31m{key}\nhere "))
    })
    .unwrap();
    let text = content.text();
    assert!(!text.contains(key) && !text.contains(['\x07', '\x1b']), "{text}");
    assert_eq!((content.facts.len(), content.files[0].0.as_str()), (2, "src/a .rs"));
    assert!(content.title.starts_with("use [31m") && content.title.ends_with(" here"), "{}", content.title);
}

#[test]
fn every_part_is_bounded_and_a_title_is_required() {
    assert_eq!(MemoryContent::of(draft(" \n\t ")), None);
    let long = "word ".repeat(100_000);
    let content = MemoryContent::of(MemoryDraft {
        subtitle: long.clone(),
        facts: (0..100).map(|fact| format!("{fact} {long}")).collect(),
        narrative: long.clone(),
        concepts: (0..100).map(|concept| concept.to_string()).collect(),
        files: (0..100).map(|file| (format!("{file}{long}"), FileAccess::Read)).collect(),
        ..draft(&long)
    })
    .unwrap();
    assert!(content.text().len() < 10_000);
    assert_eq!((content.facts.len(), content.concepts.len(), content.files.len()), (12, 8, 40));
    assert!(content.title.ends_with("word…"));
}

#[test]
fn derived_text_has_the_lowest_trust_of_its_sources() {
    assert_eq!(MemoryTrust::Person.and(MemoryTrust::Web), MemoryTrust::Web);
    assert_eq!(MemoryTrust::Tool.and(MemoryTrust::Agent), MemoryTrust::Tool);
    for trust in MemoryTrust::ALL {
        assert_eq!((MemoryTrust::named(trust.name()), trust.and(trust)), (Some(trust), trust));
    }
}

#[test]
fn a_summary_without_words_is_none() {
    assert_eq!(Summary::of(&SummaryDraft::default()), None);
    let draft = SummaryDraft { learned: " why it hung ".into(), ..SummaryDraft::default() };
    assert_eq!(Summary::of(&draft).unwrap().parts()[2], ("learned", "why it hung"));
}

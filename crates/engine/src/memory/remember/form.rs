//! A memory as a small text for an editor: one line per field, then the narrative.
//!
//! An unedited text reads back unchanged. An invalid line is reported and rejects the whole edit.

use std::fmt::Write;
use towline_core::capture::FileAccess;
use towline_core::memory::{MemoryContent, MemoryDraft, MemoryType};

pub fn form(name: &str, content: &MemoryContent) -> String {
    let mut text = format!(
        "# {name}. Lines that begin with # are left out. A fact, a concept or a file may be added or taken away; what\n\
         # stands below the empty line is the narrative.\n"
    );
    let mut put = |key: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key}: {value}");
    };
    put("type", content.kind.as_str());
    put("title", &content.title);
    put("subtitle", &content.subtitle);
    content.facts.iter().for_each(|fact| put("fact", fact));
    content.concepts.iter().for_each(|concept| put("concept", concept));
    content.files.iter().for_each(|(path, how)| put(how.name(), path));
    text + "\n" + &content.narrative + "\n"
}

pub fn read_form(text: &str) -> Result<MemoryDraft, String> {
    let (head, narrative) = halves(text);
    let mut draft: Option<MemoryDraft> = None;
    let mut rest = vec![];
    for line in head.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (key, value) = line.split_once(':').ok_or_else(|| format!("`{line}` has no colon"))?;
        let (key, value) = (key.trim(), value.trim());
        match key {
            "type" => {
                let kind = MemoryType::parse(value).ok_or_else(|| format!("`{value}` is no type"))?;
                draft = Some(MemoryDraft::new(kind, ""));
            }
            _ => rest.push((key, value)),
        }
    }
    let mut draft = draft.ok_or_else(|| "the line `type: …` is missing".to_owned())?;
    for (key, value) in rest {
        take(&mut draft, key, value)?;
    }
    draft.narrative = narrative.trim().to_owned();
    Ok(draft)
}

/// The fields end at the first empty line.
fn halves(text: &str) -> (&str, &str) {
    text.split_once("\n\n").unwrap_or((text, ""))
}

fn take(draft: &mut MemoryDraft, key: &str, value: &str) -> Result<(), String> {
    match (key, FileAccess::named(key)) {
        ("title", _) => draft.title = value.to_owned(),
        ("subtitle", _) => draft.subtitle = value.to_owned(),
        ("fact", _) => draft.facts.push(value.to_owned()),
        ("concept", _) => draft.concepts.push(value.to_owned()),
        (_, Some(how)) if !value.is_empty() => draft.files.push((value.to_owned(), how)),
        (_, Some(_)) => {}
        (_, None) => return Err(format!("`{key}` is no part of a memory")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> MemoryContent {
        let draft = MemoryDraft {
            subtitle: "under: it".into(),
            facts: vec!["one: 1".into(), "two".into()],
            narrative: "# not a comment\n\nseveral: lines".into(),
            concepts: vec!["paint".into()],
            files: vec![("src/a.rs".into(), FileAccess::Changed), ("b.rs".into(), FileAccess::Read)],
            ..MemoryDraft::new(MemoryType::parse("gotcha").unwrap(), "A title: with a colon")
        };
        MemoryContent::of(draft).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = form("m12", &content());
        assert_eq!(MemoryContent::of(read_form(&text).unwrap()).unwrap(), content());
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        let wrong = |text: &str| read_form(text).unwrap_err();
        assert_eq!(wrong("type: gotcha\nheading: x\n"), "`heading` is no part of a memory");
        assert_eq!(wrong("type: gotcha\nno colon here\n"), "`no colon here` has no colon");
        assert_eq!(wrong("type: a;b\n"), "`a;b` is no type");
        assert_eq!(wrong("title: x\n"), "the line `type: …` is missing");
    }
}

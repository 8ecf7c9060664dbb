//! Twelve working days, each with the notes of a colleague: how much of them is stored and given, and nothing harmful.
//!
//! `days/NAME.day` is a session, `days/NAME.notes` what a colleague noted, written before the rules were tuned to it. A note
//! ends with a pattern: terms joined by `+` must all be in one sentence, `a|b` is either, `!a` must be absent; case does not
//! count. `keep` must be stored, `give` must be given to the next session, `both` is both, `fine` may be stored, and `harm`
//! may be neither stored nor given. A stored sentence is the title, a fact or a line of the narrative of a memory that
//! holds, or a line of the session's summary; a given one is a line of the context. A memory is worth keeping if a
//! note other than `harm` fits its title or one of its facts.

use super::written::{BEGAN, Shape, written_on};
use super::{Desk, check_told};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::memory::Memory;

macro_rules! days {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("days/", $name, ".day")), include_str!(concat!("days/", $name, ".notes")))),*]
    };
}

const DAYS: [(&str, &str, &str); 12] = days!(
    "queue",
    "flaky",
    "incident",
    "review",
    "data",
    "migration",
    "refactor",
    "german",
    "japanese",
    "spanish",
    "frontend",
    "chinese"
);

const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteKind {
    Keep,
    Both,
    Give,
    Fine,
    Harm,
}

const KINDS: [(&str, NoteKind); 5] = [
    ("keep", NoteKind::Keep),
    ("both", NoteKind::Both),
    ("give", NoteKind::Give),
    ("fine", NoteKind::Fine),
    ("harm", NoteKind::Harm),
];

struct Note {
    kind: NoteKind,
    text: String,
    terms: Vec<Term>,
}

/// One of these, or none of them.
struct Term {
    any: Vec<String>,
    is_absent: bool,
}

impl Note {
    fn fits(&self, sentence: &str) -> bool {
        let lower = sentence.to_lowercase();
        self.terms.iter().all(|term| term.any.iter().any(|word| lower.contains(word)) != term.is_absent)
    }

    fn must_be_stored(&self) -> bool {
        matches!(self.kind, NoteKind::Keep | NoteKind::Both)
    }

    fn must_be_given(&self) -> bool {
        matches!(self.kind, NoteKind::Give | NoteKind::Both)
    }
}

struct Notes {
    client: Shape,
    branch: String,
    /// The first prompt of the next day.
    next: String,
    all: Vec<Note>,
}

fn notes(text: &str) -> Notes {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let is_codex = field("client:") == Some("codex");
    let mut all: Vec<Note> = vec![];
    for line in text.lines() {
        if let Some(pattern) = line.trim().strip_prefix("= ") {
            all.last_mut().unwrap().terms = pattern.split(" + ").map(term).collect();
        } else if let Some((kind, text)) = line.split_once("  ").filter(|(kind, _)| kind.len() == 4) {
            let (_, kind) = *KINDS.iter().find(|(name, _)| *name == kind).unwrap();
            all.push(Note { kind, text: text.to_owned(), terms: vec![] });
        }
    }
    assert!(all.iter().all(|note| !note.terms.is_empty()), "a note lacks its pattern");
    Notes {
        client: if is_codex { Shape::Codex } else { Shape::Claude },
        branch: field("branch:").unwrap_or("main").to_owned(),
        next: field("next:").unwrap().to_owned(),
        all,
    }
}

fn term(text: &str) -> Term {
    let (is_absent, words) = text.trim().strip_prefix('!').map_or((false, text), |words| (true, words));
    Term { any: words.split('|').map(|word| word.trim().to_lowercase()).collect(), is_absent }
}

/// Counts over days.
#[derive(Default)]
struct Judgement {
    stored: (usize, usize),
    given: (usize, usize),
    precise: (usize, usize),
    harmful: usize,
    report: String,
}

impl Judgement {
    fn add(&mut self, day: &Judgement) {
        for (sum, own) in
            [(&mut self.stored, day.stored), (&mut self.given, day.given), (&mut self.precise, day.precise)]
        {
            *sum = (sum.0 + own.0, sum.1 + own.1);
        }
        self.harmful += day.harmful;
        self.report.push_str(&day.report);
    }

    fn summary(&self) -> String {
        let part = |(some, all): (usize, usize)| format!("{some} of {all}");
        let (stored, given, precise) = (part(self.stored), part(self.given), part(self.precise));
        format!("stored {stored}, given {given}, worth keeping {precise}, harmful {}", self.harmful)
    }
}

fn sentences(memory: &Memory) -> impl Iterator<Item = &str> {
    let content = &memory.content;
    std::iter::once(content.title.as_str()).chain(content.facts.iter().map(String::as_str))
}

/// The context of the first prompt of a session of the next day.
fn context(desk: &Desk, client: Shape, prompt: &str) -> String {
    desk.env.set_now(BEGAN + DAY_MS);
    let tell = |event: &str, fields: Value| {
        let mut payload =
            json!({"hook_event_name": event, "session_id": "next-day", "cwd": desk.env.project()});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        desk.env.hook(client.agent(), payload.to_string()).ok().stdout
    };
    tell("SessionStart", json!({"source": "startup"}));
    let said = tell("UserPromptSubmit", json!({"prompt": prompt, "turn_id": "t-1"}));
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("").to_owned()
}

/// The files of the day, unchanged since: a memory about a file that is gone is marked as stale.
fn write_files(desk: &Desk, script: &str) {
    let paths = script.lines().filter_map(|line| line.split_once("/home/dev/")?.1.split_once('/'));
    for (_, path) in paths {
        let path = desk.env.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(BEGAN.unsigned_abs() - 1000)).unwrap();
    }
}

fn judged(name: &str, script: &str, notes: &Notes) -> Judgement {
    let desk = Desk::new();
    let session = "da700000-0000-4000-8000-000000000001";
    let day = written_on(&notes.branch, notes.client, session, (&desk.env.project(), script));
    write_files(&desk, script);
    desk.capture(notes.client, &day.save(&desk.env.home(), usize::MAX));
    let memories: Vec<Memory> = desk.memories().into_iter().filter(Memory::is_current).collect();
    let summaries = desk.archive().latest_summaries(None, 10).unwrap();
    let summed: Vec<String> = summaries
        .iter()
        .flat_map(|kept| kept.summary.parts().map(|(name, text)| (name, text.to_owned())))
        .filter(|(name, _)| *name != "request")
        .flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let context = context(&desk, notes.client, &notes.next);
    let mut day = Judgement::default();
    writeln!(day.report, "\n## {name} ({})", notes.client.agent()).unwrap();
    for note in &notes.all {
        let narrated = memories.iter().flat_map(|memory| memory.content.narrative.lines());
        let mut stored =
            memories.iter().flat_map(sentences).chain(narrated).chain(summed.iter().map(String::as_str));
        let is_stored = stored.any(|sentence| note.fits(sentence));
        let is_given = context.lines().any(|line| note.fits(line));
        if note.must_be_stored() {
            day.stored = (day.stored.0 + usize::from(is_stored), day.stored.1 + 1);
        }
        if note.must_be_given() {
            day.given = (day.given.0 + usize::from(is_given), day.given.1 + 1);
        }
        let is_harm = note.kind == NoteKind::Harm && (is_stored || is_given);
        day.harmful += usize::from(is_harm);
        let verdict = match () {
            () if is_harm => "HARMFUL",
            () if note.must_be_stored() && !is_stored => "NOT STORED",
            () if note.must_be_given() && !is_given => "NOT GIVEN",
            () => "ok",
        };
        writeln!(day.report, "{verdict:10} {:?}: {}", note.kind, note.text).unwrap();
    }
    for memory in &memories {
        let useful = notes.all.iter().filter(|note| note.kind != NoteKind::Harm);
        let reason = useful.into_iter().find(|note| sentences(memory).any(|sentence| note.fits(sentence)));
        day.precise = (day.precise.0 + usize::from(reason.is_some()), day.precise.1 + 1);
        let (mark, why) = reason.map_or(("-", "no note"), |note| ("+", note.text.as_str()));
        writeln!(day.report, "  {mark} [{}] {} ({why})", memory.content.kind, memory.content.title).unwrap();
    }
    println!("{}{}\n{context}", day.report, day.summary());
    let line = format!("{}\n", day.summary());
    day.report.push_str(&line);
    day
}

fn percent((some, all): (usize, usize)) -> usize {
    some * 100 / all.max(1)
}

#[test]
fn twelve_working_days_are_remembered_as_a_colleague_would() {
    let mut all = Judgement::default();
    for (name, script, text) in DAYS {
        all.add(&judged(name, script, &notes(text)));
    }
    println!("{}", all.summary());
    let line = format!("\n{}\n", all.summary());
    all.report.push_str(&line);
    check_told("twelve-days", &all.report);
    assert_eq!(all.harmful, 0, "{}", all.summary());
    assert!(percent(all.stored) >= 90 && percent(all.given) >= 80, "{}", all.summary());
    assert!(percent(all.precise) >= 85, "{}", all.summary());
}

//! Questions with known answers, and search quality figures.
//!
//! Shared by the tests, which keep a floor, and by `cargo xtask bench search`, which prints the figures.
#![expect(clippy::unwrap_used, reason = "a set that cannot be read ends the test")]

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use towline_search::{Document, DocumentKind, Hit, Query, RankingStages, SearchIndex};

/// Documents and questions about them.
pub struct Set {
    pub documents: Vec<Document>,
    pub questions: Vec<Question>,
    /// The clock of the queries.
    pub now: i64,
}

pub struct Question {
    pub text: String,
    /// The question's category.
    pub sort: String,
    /// Accepted answers: a session, or a turn of it, `session#3`.
    pub answers: Vec<String>,
}

/// The quality of the answers to a set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub questions: usize,
    /// Percentage of questions whose first answer was right.
    pub first: f64,
    /// Percentage of questions with a right answer among the first five.
    pub five: f64,
    /// Mean reciprocal rank of the first right answer, in percent.
    pub mrr: f64,
}

/// For each question, the rank of its first right answer.
pub type Ranks = Vec<Option<usize>>;

impl Set {
    /// The rank of each question's first right answer: among sessions or, if a turn is asked for, among turns.
    pub fn ranks(&self, tier: RankingStages) -> Ranks {
        self.ranks_by(&|index, query| index.search_with(tier, query, &[], None).unwrap())
    }

    /// `ranks` with a custom search function.
    pub fn ranks_by(&self, search: &dyn Fn(&SearchIndex, &Query) -> Vec<Hit>) -> Ranks {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let mut writer = index.writer().unwrap();
        self.documents.iter().for_each(|document| writer.add(document).unwrap());
        writer.commit(1).unwrap();
        let rank = |question: &Question| {
            let query = Query { text: question.text.clone(), now: self.now, limit: 1000, ..Query::default() };
            self.rank(&search(&index, &query), question)
        };
        self.questions.iter().map(rank).collect()
    }

    fn rank(&self, hits: &[Hit], question: &Question) -> Option<usize> {
        let by_turn = question.answers.iter().any(|answer| answer.contains('#'));
        let mut seen: Vec<String> = Vec::new();
        for hit in hits {
            let document = &self.documents[hit.id as usize - 1];
            let Document { session, turn, .. } = document;
            let key = if by_turn { format!("{session}#{turn}") } else { session.clone() };
            if !seen.contains(&key) {
                seen.push(key);
            }
        }
        seen.iter().position(|key| question.answers.contains(key)).map(|at| at + 1)
    }

    /// Figures by category.
    pub fn by_sort(&self, ranks: &Ranks) -> BTreeMap<String, Figures> {
        let mut sorts: BTreeMap<String, Ranks> = BTreeMap::new();
        for (question, rank) in self.questions.iter().zip(ranks) {
            sorts.entry(question.sort.clone()).or_default().push(*rank);
        }
        sorts.into_iter().map(|(sort, ranks)| (sort, figures(&ranks))).collect()
    }
}

pub fn figures(ranks: &Ranks) -> Figures {
    let percent = |part: f64| 100.0 * part / ranks.len().max(1) as f64;
    let within =
        |most: usize| ranks.iter().filter(|rank| rank.is_some_and(|rank| rank <= most)).count() as f64;
    let reciprocal: f64 = ranks.iter().flatten().map(|rank| 1.0 / *rank as f64).sum();
    Figures {
        questions: ranks.len(),
        first: percent(within(1)),
        five: percent(within(5)),
        mrr: percent(reciprocal),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BenchSession {
    session_id: String,
    metadata: Metadata,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Metadata {
    date: String,
    project: String,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BenchQuestion {
    question: String,
    question_type: String,
    haystack_session_ids: Vec<String>,
}

/// DevMemBench: each message is a document, an answer is a session. Questions without an answer are dropped.
pub fn dev_mem_bench() -> Set {
    let sessions: Vec<BenchSession> = read("devmembench/sessions.json");
    let entries: Vec<BenchQuestion> = read("devmembench/questions.json");
    let mut documents = Vec::new();
    for session in &sessions {
        for (turn, message) in (0..).zip(&session.messages) {
            let kind = if message.role == "user" { DocumentKind::Prompt } else { DocumentKind::Body };
            documents.push(Document {
                session: session.session_id.clone(),
                project: session.metadata.project.clone(),
                turn,
                at: day(&session.metadata.date) + i64::from(turn) * 60_000,
                ..Document::plain(documents.len() as i64 + 1, kind, &message.content)
            });
        }
    }
    let now = documents.iter().map(|document| document.at).max().unwrap_or_default() + 86_400_000;
    let questions = entries.into_iter().filter(|entry| !entry.haystack_session_ids.is_empty()).map(|entry| {
        Question { text: entry.question, sort: entry.question_type, answers: entry.haystack_session_ids }
    });
    Set { documents, questions: questions.collect(), now }
}

#[derive(Deserialize)]
struct OwnSession {
    session: String,
    project: String,
    branch: String,
    date: String,
    turns: Vec<OwnTurn>,
}

#[derive(Deserialize)]
struct OwnTurn {
    kind: String,
    text: String,
    #[serde(default)]
    title: String,
    #[serde(default, rename = "type")]
    memory_type: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Deserialize)]
struct OwnQuestion {
    sort: String,
    text: String,
    answers: Vec<String>,
}

/// Our own set: typical searches in one's work history.
pub fn own() -> Set {
    let sessions: Vec<OwnSession> = read("own/sessions.json");
    let entries: Vec<OwnQuestion> = read("own/questions.json");
    let mut documents = Vec::new();
    for session in sessions {
        for (turn, own) in (0..).zip(session.turns) {
            documents.push(Document {
                title: own.title,
                memory_type: own.memory_type,
                files: own.files,
                session: session.session.clone(),
                project: session.project.clone(),
                branch: session.branch.clone(),
                turn,
                at: day(&session.date) + i64::from(turn) * 60_000,
                ..Document::plain(
                    documents.len() as i64 + 1,
                    DocumentKind::parse(&own.kind).unwrap(),
                    &own.text,
                )
            });
        }
    }
    let questions = entries
        .into_iter()
        .map(|OwnQuestion { sort, text, answers }| Question { text, sort, answers })
        .collect();
    Set { documents, questions, now: day("2026-07-29") + 43_200_000 }
}

/// Milliseconds of a date such as `2025-01-15`.
pub fn day(text: &str) -> i64 {
    let parts: Vec<i64> = text.split('-').map(|part| part.parse().unwrap()).collect();
    let (year, month) = if parts[1] <= 2 { (parts[0] - 1, parts[1] + 9) } else { (parts[0], parts[1] - 3) };
    let of_year = (153 * month + 2) / 5 + parts[2] - 1;
    (year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468) * 86_400_000
}

pub fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets").join(file);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

//! Prints each missed question with its answer, the hits above it, and the score that each stage gave them.
//!
//! Reads the open half only: whoever changes the ranking looks at these questions, and must not see the others.

use std::collections::BTreeMap;
use std::path::Path;

use towline_search::{DocumentKind, Hit};

use super::engines::Ranking;
use super::{Question, QuestionSet, Turn, read};

/// Hits shown of each question.
const SHOWN: usize = 3;
const LETTERS: usize = 260;

/// Prints the questions of a kind whose answer does not come first.
pub fn print(file: &Path, engine: &str, kind: &str, model: Option<&Path>) {
    let set = read(file);
    let ranking = Ranking::new(&set, file, model);
    let open = set.questions.iter().filter(|question| !question.locked && question.kind == kind);
    for question in open {
        let hits = ranking.hits(engine, question);
        let is_answer = |hit: &Hit| question.answers.contains(&turn_of(&set, hit).key());
        let rank = hits.iter().position(is_answer);
        if rank == Some(0) {
            continue;
        }
        let rank_shown = rank.map_or_else(|| "nowhere".to_owned(), |at| (at + 1).to_string());
        crate::print_line(&format!("\n## {} -> {rank_shown}", question.text));
        match rank {
            Some(at) => print_hit("RIGHT", &set, &hits[at]),
            None => print_answers(&set, question),
        }
        hits.iter().take(SHOWN).for_each(|hit| print_hit("  hit", &set, hit));
    }
}

fn turn_of<'a>(set: &'a QuestionSet, hit: &Hit) -> &'a Turn {
    &set.turns[hit.id as usize / 4]
}

fn print_answers(set: &QuestionSet, question: &Question) {
    for turn in set.turns.iter().filter(|turn| question.answers.contains(&turn.key())) {
        crate::print_line(&format!("RIGHT {}: {} ⏵ {}", turn.key(), turn.prompt, shortened(&turn.answer)));
    }
}

fn print_hit(mark: &str, set: &QuestionSet, hit: &Hit) {
    let turn = turn_of(set, hit);
    let mut gains: BTreeMap<String, f32> = BTreeMap::new();
    for boost in &hit.boosts {
        *gains.entry(format!("{:?}", boost.why)).or_default() += boost.by;
    }
    let gains: Vec<String> = gains.iter().map(|(why, by)| format!("{why} {by:.2}")).collect();
    let texts = [(DocumentKind::Prompt, &turn.prompt), (DocumentKind::Detail, &turn.output)];
    let text = texts.iter().find(|(kind, _)| *kind == hit.kind).map_or(&turn.answer, |(_, text)| text);
    crate::print_line(&format!(
        "{mark} {:.2} [{}] {:?} {}",
        hit.score,
        gains.join(", "),
        hit.words,
        turn.key()
    ));
    crate::print_line(&format!("      {:?}: {}", hit.kind, shortened(text)));
}

fn shortened(text: &str) -> String {
    text.chars().take(LETTERS).collect::<String>().replace('\n', " / ")
}

//! Any chain of sessions: what the next one is given holds how the work began, where it stood and a line per turn, fits,
//! and holds nothing that was private or taken back.
//!
//! Transcripts go through capture, as the archive gets them; each prompt carries a tag by which it is found in the text.

mod model;

use super::super::cut::one_line;
use super::*;
use crate::capture::{CaptureLimits, CaptureRules, CaptureState, CapturedRow, DetailKind};
use crate::deed::ToolAction;
use crate::event::ToolOutcome;
use crate::id::IdHash;
use crate::piece::{PieceContent, TranscriptPiece};
use crate::text::SecretPolicy;
use crate::time::Timestamp;
use model::{Placed, any_chain, heard, key, loaded, placed};
use proptest::array::uniform4;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::sample::select;
use std::borrow::Cow;

/// A directive of at most this size is given verbatim, and of a longer one at least so much of its beginning.
fn sizes(budget: ContextBudget) -> (ContextBudget, ContextBudget) {
    match budget {
        ContextBudget::Characters(_) => (budget.of(160), budget.of(40)),
        ContextBudget::Tokens(_) => (budget.of(36), budget.of(5)),
    }
}

const OLDER: &str = "\nOlder turns, oldest first:\n";

/// What competes with the turns for room.
#[derive(Clone, Debug)]
struct Beside {
    handoff: Option<[usize; 4]>,
    summary: Option<[usize; 4]>,
    /// The sizes of memories, pinned ones first.
    memories: [Vec<usize>; 2],
    /// Whether the transcript lacks the last answer.
    is_lagging: bool,
}

fn any_beside() -> impl Strategy<Value = Beside> {
    let memories = || vec(prop_oneof![3 => 0_usize..6, 1 => 6_usize..200], 0..8);
    let parts = (
        weighted(0.3, uniform4(0_usize..2_000)),
        weighted(0.1, uniform4(0_usize..2_000)),
        [memories(), memories()],
        any::<bool>(),
    );
    parts.prop_map(|(handoff, summary, memories, is_lagging)| Beside {
        handoff,
        summary,
        memories,
        is_lagging,
    })
}

impl Beside {
    fn task(&self) -> Option<String> {
        self.handoff.map(|sizes| format!("TASK: {}", "of slate ".repeat(sizes[0])).trim().to_owned())
    }

    fn handoff(&self) -> Option<Handoff> {
        let [_, completed, remaining, key_context] = self.handoff?.map(|times| "of slate ".repeat(times));
        Some(Handoff { task: self.task()?, completed, remaining, key_context })
    }

    fn summary(&self) -> Option<SummaryDraft> {
        let [request, completed, next_steps, notes] = self.summary?.map(|times| "of slate ".repeat(times));
        let request = format!("SUMMARY: {request}");
        Some(SummaryDraft { request, completed, next_steps, notes, ..SummaryDraft::default() })
    }

    fn remembered(&self) -> Vec<MemorySection> {
        let section = |(kind, title, sizes): (MemorySectionKind, &str, &[usize])| {
            let item = |(at, times): (usize, &usize)| format!("{title} {at} {}", "of slate ".repeat(*times));
            let items = sizes.iter().enumerate().map(item).collect();
            MemorySection { kind, title: title.into(), items, why: "of this project".into() }
        };
        let [pinned, others] = &self.memories;
        let sections = [
            (MemorySectionKind::Pinned, "Pinned", &pinned[..]),
            (MemorySectionKind::Memories, "Memories", &others[..]),
        ];
        sections.into_iter().filter(|(_, _, sizes)| !sizes.is_empty()).map(section).collect()
    }
}

/// What is given of a chain, and what it must hold.
struct Given {
    chain: Vec<Vec<Placed>>,
    beside: Beside,
    budget: ContextBudget,
    composed: ComposedContext,
}

impl Given {
    fn of(chain: &[Vec<model::Turn>], beside: Beside, budget: ContextBudget) -> Given {
        let chain: Vec<Vec<Placed>> =
            chain.iter().enumerate().map(|(session, turns)| placed(session, turns)).collect();
        let last = chain.len() - 1;
        let mut sessions: Vec<PastSession> = chain
            .iter()
            .enumerate()
            .map(|(session, turns)| loaded(turns, beside.is_lagging && session == last))
            .collect();
        let mut past = sessions.pop().unwrap();
        (past.handoff, past.summary) = (beside.handoff(), beside.summary());
        sessions.reverse();
        let remembered = beside.remembered();
        let material = ComposeInput { chain: sessions, remembered, ..material(past) };
        let composed = compose(&material, budget);
        Given { chain, beside, budget, composed }
    }

    fn text(&self) -> &str {
        &self.composed.text
    }

    fn last(&self) -> &[Placed] {
        self.chain.last().unwrap()
    }

    /// The first directive of the work, that of the last session, and the last of all.
    fn directives(&self) -> Vec<&Placed> {
        let all: Vec<&Placed> = self.chain.iter().flatten().filter(|turn| turn.is_directive()).collect();
        let of_last = self.last().iter().find(|turn| turn.is_directive());
        all.first().copied().into_iter().chain(of_last).chain(all.last().copied()).collect()
    }

    /// Each of those verbatim, or its beginning and how to get the rest.
    fn check_directives(&self) -> Result<(), TestCaseError> {
        for turn in self.directives() {
            let short = format!("{}#{}", key(turn.session()).short(), turn.number());
            self.check_quoted(&turn.directive(), &format!("tow session detail {short}"))?;
        }
        if let Some(task) = self.beside.task() {
            let short = key(self.chain.len() - 1);
            prop_assert!(self.text().contains("\nTask: TASK:"), "{}", self.text());
            self.check_quoted(&task, &format!("tow session handoff show {}", short.short()))?;
        }
        Ok(())
    }

    fn check_quoted(&self, quote: &str, how: &str) -> Result<(), TestCaseError> {
        let (short, head) = sizes(self.budget);
        let is_given = |part: &str| self.text().contains(part.trim());
        if short.holds(quote) {
            prop_assert!(is_given(quote), "no {quote:?} in {}", self.text());
        } else if !is_given(quote) {
            let ends = quote.char_indices().map(|(at, _)| at).take_while(|at| head.holds(&quote[..*at]));
            let head = &quote[..ends.last().unwrap()];
            prop_assert!(is_given(head), "no {head:?} in {}", self.text());
            let hint = format!("characters cut: {how} …]");
            prop_assert!(self.text().contains(&hint), "no {hint:?} in {}", self.text());
        }
        Ok(())
    }

    /// A line or a quote of each listed turn, as many as their share of the room holds, and how to get the others.
    fn check_lines(&self) -> Result<(), TestCaseError> {
        let short = key(self.chain.len() - 1);
        let short = short.short();
        let listed: Vec<&Placed> = self.last().iter().filter(|turn| turn.is_listed()).collect();
        let missing = listed.iter().filter(|turn| !self.shows(turn)).count();
        // Turns of which only a quote is given count as earlier ones, too.
        let note = |more: usize| format!("({} earlier: tow session turns {short})", missing + more);
        let is_announced = missing == 0 || (0..3).any(|more| self.text().contains(&note(more)));
        prop_assert!(is_announced, "{missing} in {}", self.text());
        let floor = self.floor(&listed);
        let shown = listed.len() - missing;
        prop_assert!(shown >= floor, "{shown} of {} instead of {floor} in {}", listed.len(), self.text());
        Ok(())
    }

    /// How many of these turns have a line in the narrowest form, if all get half of the room that the parts before the
    /// turns leave, or else a third of it.
    fn floor(&self, listed: &[&Placed]) -> usize {
        let text = self.text();
        let titles = ["\nThe last turns, oldest first:\n", OLDER, fence::LAST_LINE];
        let turns_at = titles.iter().filter_map(|title| text.find(title)).min().unwrap();
        // Room was kept for each of the first directives, also if it was then found among the last turns.
        let is_whole = |turn: &&&Placed| text.contains(&format!("\n[#{} ", turn.number()));
        let kept = self.directives().iter().take(2).filter(is_whole).count() * self.budget.limit() / 12;
        // Parts of one line are measured alone, which gives up to a token more for each.
        let used = self.budget.size_of(&text[..turns_at]) + kept + self.budget.limit() / 50;
        let room = self.budget.limit().saturating_sub(used + self.budget.size_of(fence::LAST_LINE));
        let short = key(self.chain.len() - 1);
        let note = format!("({} earlier: tow session turns {})\n", listed.len(), short.short());
        let title = self.budget.size_of(OLDER);
        let narrowest = listed.iter().rev().map(|turn| {
            let line = turn.line() + " — done: \"It is done\"";
            self.budget.size_of(&format!("#{} {}\n", turn.number(), one_line(&line, 16)))
        });
        let held = |share: usize, frame: usize| {
            let mut left = share.saturating_sub(frame);
            let fits = |size: &usize| left.checked_sub(*size).inspect(|rest| left = *rest).is_some();
            narrowest.clone().take_while(fits).count()
        };
        let of_half = held(room / 2, title);
        if of_half == listed.len() { of_half } else { held(room / 3, title + self.budget.size_of(&note)) }
    }

    /// Whether a line or a quote shows this turn of the last session.
    fn shows(&self, turn: &Placed) -> bool {
        let (number, short) = (turn.number(), key(turn.session()).short().to_owned());
        // Of a turn that the anchor quotes whole only the titles remain.
        let quotes = ["directive", "answer", "before"].map(|title| format!("{title} ({short}#{number}, "));
        let is_quoted = |line: &str| quotes.iter().any(|quote| line.contains(quote.as_str()));
        let words = turn.words_of_line();
        let is_line =
            |line: &str| line.strip_prefix(&format!("#{number} ")).is_some_and(|line| line.contains(&words));
        let is_whole = |line: &str| line.starts_with(&format!("[#{number} "));
        self.text().lines().any(|line| is_quoted(line) || is_line(line) || is_whole(line))
    }

    /// What else must be there: the to-do list, what fails, the answer that was heard, the best memory, the summary.
    fn check_beside(&self) -> Result<(), TestCaseError> {
        let is_given = |part: &str| self.text().contains(part);
        // What a rewind drops of the work is not given; after it, the last list and the last failure are.
        let since = self.last().iter().rposition(|turn| turn.rewinds()).map_or(0, |at| at + 1);
        let lately = || self.last()[since..].iter().rev().filter(|turn| turn.is_open());
        if let Some(turn) = lately().find(|turn| turn.turn.plan > 0) {
            let item = format!("- {} (in progress)\n", turn.item());
            prop_assert!(is_given(&item), "no {item:?} in {}", self.text());
        }
        if let Some(turn) = lately().find(|turn| turn.turn.fails) {
            let trial = format!("- `{}`: 2 of 5 failed", turn.trial());
            prop_assert!(is_given(&trial), "no {trial:?} in {}", self.text());
        }
        let heard = heard(self.last()).filter(|_| self.beside.is_lagging);
        prop_assert!(heard.is_none() || is_given("HEARD It is"), "{}", self.text());
        // Beside a large handoff each of its parts has room for a word.
        prop_assert!(self.beside.summary.is_none() || is_given("\nRequest: S"), "{}", self.text());
        let pinned = self.beside.memories[0].first().is_some_and(|times| *times < 6);
        prop_assert!(!pinned || is_given("- Pinned 0"), "{}", self.text());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_any_chain_the_beginning_the_state_and_a_line_per_turn_are_given(
        chain in any_chain(),
        beside in any_beside(),
        budget in select(vec![CHARACTERS, TOKENS]),
    ) {
        let given = Given::of(&chain, beside, budget);
        let text = given.text();
        prop_assert!(budget.size_of(text) <= budget.limit());
        prop_assert!(!text.contains("SECRET") && !text.contains("TAKENBACK"), "{text}");
        for session in 0..chain.len() - 1 {
            prop_assert!(text.contains(key(session).short()), "{text}");
        }
        given.check_directives()?;
        given.check_lines()?;
        given.check_beside()?;
    }
}

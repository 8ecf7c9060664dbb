//! Any chain of sessions: what the next one is given holds how the work began, where it stood and a line per turn, fits,
//! and holds nothing that was private or taken back.
//!
//! Transcripts go through capture, as the archive gets them; each prompt carries a tag by which it is found in the text.

use super::*;
use crate::capture::{CaptureLimits, CaptureRules, CaptureState, CapturedRow};
use crate::deed::ToolAction;
use crate::id::IdHash;
use crate::piece::{PieceContent, TranscriptPiece};
use crate::text::SecretPolicy;
use crate::time::Timestamp;
use proptest::array::uniform4;
use proptest::collection::vec;
use proptest::sample::select;

const CAPS: CaptureLimits =
    CaptureLimits { body: 256 << 10, input: 1 << 10, output: 1 << 10, thinking: 1 << 10, note: 1 << 10 };

/// As the loader reads them: turns with words, their bytes, and turns in which the first directive is searched.
const WITH_WORDS: usize = 40;
const ENOUGH: usize = 24 * 1024;
const TRIES: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Directive,
    Command,
    PartlyPrivate,
    SmallTalk,
    Typed,
    Private,
    TakenBack,
    Notification,
    Marker,
}

impl Kind {
    fn is_directive(self) -> bool {
        matches!(self, Kind::Directive | Kind::Command | Kind::PartlyPrivate)
    }

    /// Whether it is counted and listed as a turn.
    fn is_listed(self) -> bool {
        !matches!(self, Kind::TakenBack | Kind::Notification | Kind::Marker)
    }

    fn origin(self) -> PromptOrigin {
        match self {
            Kind::Command => PromptOrigin::Command,
            Kind::Notification => PromptOrigin::Notification,
            Kind::Marker => PromptOrigin::Bookmark,
            // As older versions captured what was typed.
            Kind::Typed | Kind::Directive | Kind::PartlyPrivate => PromptOrigin::Human,
            Kind::SmallTalk | Kind::Private | Kind::TakenBack => PromptOrigin::Human,
        }
    }

    fn prompt(self, tag: &str, words: &str) -> String {
        match self {
            Kind::Directive => format!("{tag}: {words}"),
            Kind::Command => format!("/fix {tag}: {words}"),
            Kind::PartlyPrivate => format!("{tag}: mend <private>SECRET {words}</private> the mast {words}"),
            Kind::SmallTalk => "ok, thanks!".to_owned(),
            Kind::Typed => "Go on with the work as the handoff 9f3c1a2b says.".to_owned(),
            Kind::Private => format!("<private>SECRET {tag} {words}</private>"),
            Kind::TakenBack => format!("TAKENBACK {tag}: {words}"),
            Kind::Notification => format!("the task ended {words}"),
            Kind::Marker => "·".to_owned(),
        }
    }

    fn answer(self, words: &str) -> String {
        let tag = match self {
            Kind::Private => "SECRET",
            Kind::TakenBack => "TAKENBACK",
            Kind::Directive | Kind::Command | Kind::PartlyPrivate | Kind::SmallTalk => "It is done.",
            Kind::Typed | Kind::Notification | Kind::Marker => "It is done.",
        };
        format!("{tag} {words}")
    }
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    kind: Kind,
    /// The text of prompt and answer, repeated.
    word: &'static str,
    asked: usize,
    answered: usize,
}

fn any_turn() -> impl Strategy<Value = Turn> {
    use Kind::*;
    let kind = prop_oneof![
        10 => Just(Directive),
        2 => select(vec![Command, PartlyPrivate]),
        3 => select(vec![SmallTalk, Typed, Private, TakenBack, Notification, Marker]),
    ];
    let word =
        select(vec!["paint the mast. ", "漢字仮名 ", "👩‍🚀⚠️ ", "src/tide.rs:42,\n", "e\u{301}x", "aB3+/="]);
    let size = prop_oneof![6 => 0_usize..4, 3 => 4_usize..80, 1 => 80_usize..3_000];
    (kind, word, size.clone(), size).prop_map(|(kind, word, asked, answered)| Turn {
        kind,
        word,
        asked,
        answered,
    })
}

fn any_chain() -> impl Strategy<Value = Vec<Vec<Turn>>> {
    let turns = prop_oneof![3 => vec(any_turn(), 1..12), 1 => vec(any_turn(), 40..=60)];
    vec(turns, 1..=6)
}

/// A handoff with fields of these sizes.
fn handoff(sizes: [usize; 4]) -> Handoff {
    let [task, completed, remaining, key_context] = sizes.map(|times| "of slate ".repeat(times));
    Handoff { task: format!("TASK: {task}"), completed, remaining, key_context }
}

fn tag(session: usize, turn: usize) -> String {
    format!("D{session}x{turn}")
}

/// The turns of a session as the archive has them: `None` for those that are not listed.
fn captured(session: usize, turns: &[Turn]) -> Vec<Option<PastTurn>> {
    let rules = CaptureRules {
        caps: CAPS,
        secrets: SecretPolicy::Redacted,
        is_excluded_tool: &|_| false,
        is_excluded_path: &|_| false,
        deed: &|_, _| ToolAction::Other,
        gone: None,
    };
    let (mut state, mut rows) = (CaptureState::default(), vec![]);
    for (index, turn) in turns.iter().enumerate() {
        let (asked, answered) = (turn.word.repeat(turn.asked), turn.word.repeat(turn.answered));
        let prompt = turn.kind.prompt(&tag(session, index), &asked).into();
        let mut pieces = vec![
            PieceContent::Prompt { text: prompt, origin: turn.kind.origin() },
            PieceContent::Answer { text: turn.kind.answer(&answered).into() },
        ];
        if turn.kind == Kind::TakenBack {
            pieces.push(PieceContent::Reverted { from: 3 * index as u64 });
        }
        for (place, what) in (3 * index as u64..).zip(pieces) {
            let (id, at) = (format!("{session}-{place}").into(), Timestamp(place.cast_signed()));
            state.take(
                TranscriptPiece { id, place, at, turn: None, subagent: None, what },
                &rules,
                &mut rows,
            );
        }
    }
    rows.extend(state.current_turn());
    let marks: Vec<IdHash> =
        (0..turns.len()).map(|index| IdHash::of(&format!("{session}-{}", 3 * index))).collect();
    let short = key(session).short().to_owned();
    stored(&rows, &marks, &short)
}

/// Applies the rows as the archive does.
fn stored(rows: &[CapturedRow<'_>], marks: &[IdHash], short: &str) -> Vec<Option<PastTurn>> {
    let index = |mark: IdHash| marks.iter().position(|own| *own == mark).unwrap();
    let mut turns: Vec<Option<PastTurn>> = vec![None; marks.len()];
    let mut reverted = vec![];
    for row in rows {
        if let CapturedRow::Turn(start) = row {
            let at = index(start.mark);
            let OlderTurn { clock, .. } = older(at);
            let (id, line) = (format!("{short}#{}", at + 1), String::new());
            let (words, details, stopped) = (vec![], vec![], None);
            turns[at] = Some(PastTurn { id, clock, origin: start.origin, line, words, details, stopped });
        } else if let CapturedRow::Body(body) = row
            && let Some(turn) = &mut turns[index(body.turn.unwrap())]
        {
            turn.words.push(said(body.speaker, body.text.as_str()));
        } else if let CapturedRow::Settled(state) = row
            && let Some(turn) = &mut turns[index(state.turn)]
        {
            turn.line.clone_from(&state.line);
        } else if let CapturedRow::Reverted { from, .. } = row {
            reverted.push(usize::try_from(*from / 3).unwrap());
        }
    }
    reverted.into_iter().for_each(|at| turns[at] = None);
    turns.into_iter().map(|turn| turn.filter(|turn| turn.origin.is_work())).collect()
}

fn key(session: usize) -> SessionKey {
    SessionKey::parse(&format!("agent:0c9f6b2e-4d7a-4b1c-9e57-0000{session:08}")).unwrap()
}

/// The session as the loader reads it from the archive.
fn loaded(session: usize, turns: &[Turn]) -> PastSession {
    let mut turns: Vec<PastTurn> = captured(session, turns).into_iter().flatten().collect();
    let has_directive = |turn: &&PastTurn| directives(turn).next().is_some();
    let first = turns.iter().take(TRIES).find(has_directive).cloned();
    let (turns_in_all, mut bytes, mut newest) = (u32::try_from(turns.len()).unwrap(), 0, 0);
    for turn in turns.iter().rev().take(WITH_WORDS) {
        let found = turns.iter().rev().take(newest).any(|turn| has_directive(&turn));
        if bytes < ENOUGH || !found {
            bytes += turn.words.iter().map(|word| word.text.len()).sum::<usize>();
            newest += 1;
        }
    }
    let latest = turns.split_off(turns.len() - newest);
    let older = turns.into_iter().map(as_older).collect();
    PastSession { session: key(session), turns_in_all, first, turns: latest, older, ..past(0) }
}

/// The tags of a session's directives.
fn directive_tags(session: usize, turns: &[Turn]) -> Vec<String> {
    let directives = turns.iter().enumerate().filter(|(_, turn)| turn.kind.is_directive());
    directives.map(|(index, _)| format!("{}:", tag(session, index))).collect()
}

/// How many listed turns of the last session neither a line nor a quote shows.
fn turns_without_line(text: &str, session: usize, turns: &[Turn]) -> usize {
    let short = key(session).short().to_owned();
    let is_shown = |number: usize| {
        let heads = [format!("#{number} "), format!("[#{number} ")];
        // Of a turn that the anchor quotes whole only the titles remain.
        let quote = |title: &str| format!("{title} ({short}#{number}, ");
        let quotes = ["directive", "answer", "before"].map(quote);
        let is_quoted = |line: &str| {
            !line.starts_with("The first") && quotes.iter().any(|quote| line.contains(quote.as_str()))
        };
        text.lines().any(|line| is_quoted(line) || heads.iter().any(|head| line.starts_with(head)))
    };
    let listed = (1..).zip(turns).filter(|(_, turn)| turn.kind.is_listed());
    listed.filter(|(number, _)| !is_shown(*number)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_any_chain_the_beginning_the_state_and_a_line_per_turn_are_given(
        chain in any_chain(),
        handed in proptest::option::weighted(0.3, uniform4(0_usize..2_000)),
        budget in select(vec![CHARACTERS, TOKENS]),
    ) {
        let mut sessions: Vec<PastSession> =
            chain.iter().enumerate().map(|(session, turns)| loaded(session, turns)).collect();
        let last = sessions.len() - 1;
        let mut past = sessions.pop().unwrap();
        past.handoff = handed.map(handoff);
        sessions.reverse();
        let text = compose(&ComposeInput { chain: sessions, ..material(past) }, budget).text;

        prop_assert!(budget.size_of(&text) <= budget.limit());
        prop_assert!(!text.contains("SECRET") && !text.contains("TAKENBACK"), "{text}");
        let tags: Vec<Vec<String>> =
            chain.iter().enumerate().map(|(session, turns)| directive_tags(session, turns)).collect();
        let of_work = tags.iter().flatten().next();
        for tag in of_work.into_iter().chain(tags[last].first()).chain(tags.iter().flatten().last()) {
            prop_assert!(text.contains(tag), "no {tag} in {text}");
        }
        prop_assert!(handed.is_none() || text.contains("Task: TASK:"), "{text}");
        for session in 0..last {
            prop_assert!(text.contains(key(session).short()), "{text}");
        }
        let missing = turns_without_line(&text, last, &chain[last]);
        // Turns of which only a quote is given count as earlier ones, too.
        let note = |more: usize| format!("({} earlier: tow session turns {})", missing + more, key(last).short());
        prop_assert!(missing == 0 || (0..3).any(|more| text.contains(&note(more))), "{missing} in {text}");
        prop_assert!(missing == 0 || handed.is_some() || budget == TOKENS, "{missing} in {text}");
    }
}

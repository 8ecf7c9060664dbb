//! Chains of made-up sessions, taken through capture, and the past that the loader would read of them.
//!
//! Says of each turn what becomes of it; asserts nothing.

use super::*;

const CAPS: CaptureLimits =
    CaptureLimits { body: 256 << 10, input: 1 << 10, output: 1 << 10, thinking: 1 << 10, note: 1 << 10 };

/// As the loader reads them: turns with words, their bytes, and turns in which the first directive is searched.
const WITH_WORDS: usize = 40;
const ENOUGH: usize = 24 * 1024;
const TRIES: usize = 24;
/// Turns among which one that was taken back makes the answer of a hook doubtful.
const LATELY: usize = 8;

/// Positions of a turn's pieces.
const PLACES: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Directive,
    Command,
    PartlyPrivate,
    SmallTalk,
    Typed,
    Private,
    Notification,
    Marker,
}

#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub kind: Kind,
    /// The text of prompt and answer, repeated.
    word: &'static str,
    asked: usize,
    answered: usize,
    /// Items of the to-do list that it writes.
    pub plan: usize,
    /// Whether its test fails.
    pub fails: bool,
    /// After it, so many turns are taken back, the newest first.
    rewinds: usize,
}

pub fn any_chain() -> impl Strategy<Value = Vec<Vec<Turn>>> {
    let turns = prop_oneof![
        3 => vec(any_turn(), 1..12),
        1 => vec(any_turn(), 12..40),
        1 => vec(any_turn(), 40..=60),
    ];
    vec(turns, 1..=6)
}

fn any_turn() -> impl Strategy<Value = Turn> {
    use Kind::*;
    let kind = prop_oneof![
        10 => Just(Directive),
        2 => select(vec![Command, PartlyPrivate]),
        // What a private turn began may be reported at any later time.
        3 => select(vec![SmallTalk, Typed, Private, Private, Notification, Notification, Marker]),
    ];
    let word =
        select(vec!["paint the mast. ", "漢字仮名 ", "👩‍🚀⚠️ ", "src/tide.rs:42,\n", "e\u{301}x", "aB3+/="]);
    let size = prop_oneof![6 => 0_usize..4, 3 => 4_usize..80, 1 => 80_usize..3_000];
    let plan = prop_oneof![8 => Just(0_usize), 2 => 1_usize..6, 1 => 6_usize..=40];
    let rewinds = prop_oneof![24 => Just(0_usize), 1 => Just(1), 1 => 2_usize..9, 1 => Just(usize::MAX)];
    let fails = prop_oneof![7 => Just(false), 1 => Just(true)];
    (kind, word, size.clone(), size, (plan, fails, rewinds)).prop_map(
        |(kind, word, asked, answered, (plan, fails, rewinds))| Turn {
            kind,
            word,
            asked,
            answered,
            plan,
            fails,
            rewinds,
        },
    )
}

/// A turn, and what came before and after it.
#[derive(Clone, Copy)]
pub struct Placed {
    pub turn: Turn,
    session: usize,
    index: usize,
    pub is_taken_back: bool,
    is_after_private: bool,
}

/// The turns of a session, each with its fate.
pub fn placed(session: usize, turns: &[Turn]) -> Vec<Placed> {
    let is_taken_back = |index: usize| (index..turns.len()).any(|later| turns[later].rewinds > later - index);
    let is_private = |turn: &Turn| turn.kind == Kind::Private;
    let one = |(index, turn): (usize, &Turn)| Placed {
        turn: *turn,
        session,
        index,
        is_taken_back: is_taken_back(index),
        is_after_private: turns[..index].iter().any(is_private),
    };
    turns.iter().enumerate().map(one).collect()
}

impl Placed {
    pub fn session(&self) -> usize {
        self.session
    }

    /// Whether turns were taken back after it.
    pub fn rewinds(&self) -> bool {
        self.turn.rewinds > 0
    }

    pub fn number(&self) -> usize {
        self.index + 1
    }

    pub fn tag(&self) -> String {
        format!("D{}x{}", self.session, self.index)
    }

    /// The word that tells on a text that must not be given.
    fn betrayal(&self) -> &'static str {
        let is_report = self.turn.kind == Kind::Notification;
        match self {
            _ if self.turn.kind == Kind::Private || (is_report && self.is_after_private) => "SECRET ",
            _ if self.is_taken_back => "TAKENBACK ",
            _ => "",
        }
    }

    /// Whether its texts may be given.
    pub fn is_open(&self) -> bool {
        self.betrayal().is_empty()
    }

    pub fn is_directive(&self) -> bool {
        let counts = matches!(self.turn.kind, Kind::Directive | Kind::Command | Kind::PartlyPrivate);
        counts && !self.is_taken_back
    }

    /// Whether it is counted and listed as a turn.
    pub fn is_listed(&self) -> bool {
        !self.is_taken_back && !matches!(self.turn.kind, Kind::Notification | Kind::Marker)
    }

    fn origin(&self) -> PromptOrigin {
        match self.turn.kind {
            Kind::Command => PromptOrigin::Command,
            Kind::Notification => PromptOrigin::Notification,
            Kind::Marker => PromptOrigin::Bookmark,
            // As older versions captured what was typed.
            Kind::Typed | Kind::Directive | Kind::PartlyPrivate => PromptOrigin::Human,
            Kind::SmallTalk | Kind::Private => PromptOrigin::Human,
        }
    }

    fn prompt(&self) -> String {
        let (tag, words, betrayal) = (self.tag(), self.turn.word.repeat(self.turn.asked), self.betrayal());
        match self.turn.kind {
            Kind::Directive => format!("{tag}: {betrayal}{words}"),
            Kind::Command => format!("/fix {tag}: {betrayal}{words}"),
            Kind::PartlyPrivate => {
                format!("{tag}: mend {betrayal}<private>SECRET {words}</private> the mast {words}")
            }
            Kind::SmallTalk => "ok, thanks!".to_owned(),
            Kind::Typed => "Go on with the work as the handoff 9f3c1a2b says.".to_owned(),
            Kind::Private => format!("<private>SECRET {tag} {words}</private>"),
            Kind::Notification => format!("the task ended {betrayal}{words}"),
            Kind::Marker => "·".to_owned(),
        }
    }

    /// The prompt as the user may read it again.
    pub fn directive(&self) -> String {
        crate::redact::redact(&self.prompt()).trim().to_owned()
    }

    /// Its line, without what came of it.
    pub fn line(&self) -> String {
        let is_hidden = self.turn.kind == Kind::Private;
        let line = if is_hidden { "(private)".to_owned() } else { self.directive() };
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What its line begins with, however narrow it is.
    pub fn words_of_line(&self) -> String {
        match self.turn.kind {
            Kind::Directive | Kind::PartlyPrivate => self.tag(),
            Kind::Command => "/fix".to_owned(),
            Kind::Typed => "Go on with".to_owned(),
            Kind::SmallTalk | Kind::Private | Kind::Notification | Kind::Marker => String::new(),
        }
    }

    fn answer(&self) -> String {
        format!("{}It is done. {}", self.betrayal(), self.turn.word.repeat(self.turn.answered))
    }

    /// The first item of the list that it writes.
    pub fn item(&self) -> String {
        self.items().next().unwrap_or_default()
    }

    fn items(&self) -> impl Iterator<Item = String> {
        let (betrayal, tag) = (self.betrayal(), self.tag());
        (0..self.turn.plan).map(move |item| format!("{betrayal}do {tag} part {item}"))
    }

    /// The test that fails in it.
    pub fn trial(&self) -> String {
        format!("cargo test {}{}", self.betrayal(), self.tag())
    }

    /// The pieces of its transcript; `before` is the turn before it.
    fn pieces(&self, before: Option<&Placed>, is_lagging: bool) -> Vec<PieceContent<'static>> {
        let call = |name: &str| -> Cow<'static, str> { format!("{name} {}", self.tag()).into() };
        let calls = |name: &'static str, input: String| PieceContent::ToolCall {
            call: call(name),
            tool: name.into(),
            input: input.into(),
        };
        let mut pieces = vec![PieceContent::Prompt { text: self.prompt().into(), origin: self.origin() }];
        // The subagent of a private turn reports while another turn runs.
        pieces.extend(before.filter(|before| before.turn.kind == Kind::Private).map(|before| {
            let output = "SECRET of the subagent".into();
            let call = format!("delegate {}", before.tag()).into();
            PieceContent::ToolResult { call, output, outcome: ToolOutcome::Done }
        }));
        if self.turn.plan > 0 {
            pieces.push(calls("plan", self.items().collect::<Vec<_>>().join("\n")));
        }
        if self.turn.fails {
            pieces.push(calls("run", self.trial()));
            let output =
                format!("{}error: it broke\ntest result: FAILED. 3 passed; 2 failed", self.betrayal());
            let (call, outcome) = (call("run"), ToolOutcome::Failed);
            pieces.push(PieceContent::ToolResult { call, output: output.into(), outcome });
        }
        if self.turn.kind == Kind::Private {
            pieces.push(calls("delegate", "SECRET task".to_owned()));
        }
        if !is_lagging {
            pieces.push(PieceContent::Answer { text: self.answer().into() });
        }
        if self.turn.rewinds > 0 {
            let first = (self.index + 1).saturating_sub(self.turn.rewinds);
            pieces.push(PieceContent::Reverted { from: PLACES * first as u64 });
        }
        pieces
    }
}

fn deed<'i>(tool: &str, input: &'i str) -> ToolAction<'i> {
    let item = |(at, text): (usize, &'i str)| {
        (text.into(), if at == 0 { PlanStatus::InProgress } else { PlanStatus::Open })
    };
    match tool {
        "plan" => ToolAction::Planned(PlanChange::Replaced(input.lines().enumerate().map(item).collect())),
        "run" => ToolAction::Ran { command: input.into() },
        "delegate" => ToolAction::Delegated { task: input.into() },
        _ => ToolAction::Other,
    }
}

/// The turns of a session as the archive has them, `None` for those that are not listed, and the state of its work.
fn captured(turns: &[Placed], is_lagging: bool) -> (Vec<Option<PastTurn>>, WorkState) {
    let rules = CaptureRules {
        caps: CAPS,
        secrets: SecretPolicy::Redacted,
        is_excluded_tool: &|_| false,
        is_excluded_path: &|_| false,
        deed: &deed,
        gone: None,
    };
    let (mut state, mut rows) = (CaptureState::default(), vec![]);
    let id = |place: u64| format!("{}-{place}", turns[0].session);
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &turns[before]);
        let pieces = turn.pieces(before, is_lagging && index + 1 == turns.len());
        for (place, what) in (PLACES * index as u64..).zip(pieces) {
            let (id, at) = (id(place).into(), Timestamp(place.cast_signed()));
            let piece = TranscriptPiece { id, place, at, turn: None, subagent: None, what };
            state.take(piece, &rules, &mut rows);
        }
    }
    rows.extend(state.current_turn());
    let marks: Vec<IdHash> = (0..turns.len()).map(|index| IdHash::of(&id(PLACES * index as u64))).collect();
    (stored(&rows, &marks, key(turns[0].session).short()), state.work().clone())
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
        } else if let CapturedRow::Detail(detail) = row
            && let (DetailKind::Input, Some(tool)) = (detail.kind, &detail.tool)
            && let Some(turn) = &mut turns[index(detail.turn.unwrap())]
        {
            turn.details.push((tool.to_string(), 1));
        } else if let CapturedRow::Reverted { from, at } = row {
            let until = usize::try_from(at.0).unwrap() / PLACES as usize;
            reverted.extend(usize::try_from(from / PLACES).unwrap()..=until);
        }
    }
    reverted.into_iter().for_each(|at| turns[at] = None);
    turns.into_iter().map(|turn| turn.filter(|turn| turn.origin.is_work())).collect()
}

pub fn key(session: usize) -> SessionKey {
    SessionKey::parse(&format!("agent:0c9f6b2e-4d7a-4b1c-9e57-0000{session:08}")).unwrap()
}

/// The session as the loader reads it from the archive. Of a lagging one the last answer is known from a hook only.
pub fn loaded(turns: &[Placed], is_lagging: bool) -> PastSession {
    let heard = heard(turns).filter(|_| is_lagging);
    let (found, work) = captured(turns, heard.is_some());
    let mut found: Vec<PastTurn> = found.into_iter().flatten().collect();
    let has_directive = |turn: &&PastTurn| directives(turn).next().is_some();
    let first = found.iter().take(TRIES).find(has_directive).cloned();
    let (turns_in_all, mut bytes, mut newest) = (u32::try_from(found.len()).unwrap(), 0, 0);
    for turn in found.iter().rev().take(WITH_WORDS) {
        let is_found = found.iter().rev().take(newest).any(|turn| has_directive(&turn));
        if bytes < ENOUGH || !is_found {
            bytes += turn.words.iter().map(|word| word.text.len()).sum::<usize>();
            newest += 1;
        }
    }
    let latest = found.split_off(found.len() - newest);
    let older = found.into_iter().map(as_older).collect();
    let session = key(turns[0].session);
    PastSession { session, turns_in_all, first, turns: latest, older, answer_heard: heard, work, ..past(0) }
}

/// The last answer as a hook reports it, if nothing makes it doubtful.
pub fn heard(turns: &[Placed]) -> Option<String> {
    // Whether a command did anything is told by its answer in the transcript.
    let is_heard = |turn: &&Placed| turn.is_listed() && turn.is_open() && turn.turn.kind != Kind::Command;
    let last = turns.last().filter(is_heard)?;
    let is_doubtful = turns.iter().rev().take(LATELY).any(|turn| turn.is_taken_back);
    (!is_doubtful).then(|| format!("HEARD {}", last.answer()))
}

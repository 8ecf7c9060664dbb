//! One line of an export: its field names, and the conversion to and from rows.
//!
//! Validates file input: unknown names, kinds and ids are rejected with the field's name. Texts are redacted
//! before any other use.

mod learnt;

pub use learnt::MemoryWords;
use learnt::{MemoryLine, SummaryLine};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::capture::{DetailKind, FileAccess, Speaker};
use towline_core::deed::Commit;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::{IdHash, SessionKey, SubagentId, TurnId, Uid};
use towline_core::piece::{StopReason, TokenCounts};
use towline_core::project::ProjectIdentity;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::archive::{
    ExportedConversation, ExportedDetail, ExportedMessage, ExportedRow, ExportedTurn, ExportedUsage,
};

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line<'a> {
    /// The first line of a file.
    Export {
        format: u32,
    },
    Session(Session<'a>),
    Turn(Turn<'a>),
    #[serde(borrow)]
    Body(Body<'a>),
    #[serde(borrow)]
    Detail(Detail<'a>),
    Usage(Usage<'a>),
    File {
        turn: u32,
        path: Cow<'a, str>,
        how: Cow<'a, str>,
    },
    Commit {
        turn: u32,
        hash: Cow<'a, str>,
        subject: Cow<'a, str>,
    },
    Revert {
        from: u64,
        at: Timestamp,
    },
    Summary(Box<SummaryLine>),
    Memory(Box<MemoryLine>),
    /// A line of a later version of the same format.
    #[serde(other)]
    Unknown,
}

#[derive(Serialize, Deserialize)]
pub struct Session<'a> {
    session: SessionKey,
    folder: Option<Cow<'a, str>>,
    project: Option<ProjectIdentity>,
    forked_from: Option<Cow<'a, str>>,
    forked_before: Option<u64>,
    first_at: Timestamp,
    last_at: Timestamp,
    turns: u32,
}

#[derive(Serialize, Deserialize)]
pub struct Turn<'a> {
    turn: u32,
    uid: Uid,
    mark: Hex,
    place: u64,
    at: Timestamp,
    until: Timestamp,
    origin: Cow<'a, str>,
    agent_turn: Option<TurnId>,
    stopped: Option<Cow<'a, str>>,
    tools: u32,
    failures: u32,
    reverted: bool,
    line: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub struct Body<'a> {
    turn: u32,
    mark: Hex,
    message: Cow<'a, str>,
    place: u64,
    at: Timestamp,
    speaker: Cow<'a, str>,
    cut: u64,
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub struct Detail<'a> {
    turn: u32,
    mark: Hex,
    place: u64,
    at: Timestamp,
    what: Cow<'a, str>,
    helper: Option<SubagentId>,
    tool: Option<Cow<'a, str>>,
    call: Option<Hex>,
    outcome: Option<Cow<'a, str>>,
    cut: u64,
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub struct Usage<'a> {
    turn: u32,
    message: Cow<'a, str>,
    at: Timestamp,
    helper: Option<SubagentId>,
    model: Option<Cow<'a, str>>,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    /// Missing in exports of earlier versions.
    #[serde(default)]
    cache_write_1h: u64,
    output: u64,
}

/// A mark as 16 hex digits: not every JSON reader preserves 64-bit numbers.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[derive(Clone)]
struct Hex(IdHash);

impl From<Hex> for String {
    fn from(hex: Hex) -> String {
        format!("{:016x}", hex.0.0)
    }
}

impl TryFrom<String> for Hex {
    type Error = String;

    fn try_from(text: String) -> Result<Hex, String> {
        let is_plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(&text, 16).ok().filter(|_| is_plain);
        number
            .map(|number| Hex(IdHash(number.cast_signed())))
            .ok_or_else(|| "a mark has 16 hex digits".to_owned())
    }
}

/// A field with an unknown value.
#[derive(Debug, thiserror::Error)]
#[error("`{field}` holds a word that this version does not know: {word:?}")]
pub struct BadWord {
    field: &'static str,
    word: String,
}

impl From<ExportedRow<String>> for Line<'static> {
    fn from(row: ExportedRow<String>) -> Self {
        match row {
            ExportedRow::Conversation(of) => Line::Session(session(of)),
            ExportedRow::Turn(turn) => Line::Turn(self::turn(turn)),
            ExportedRow::Body(body) => Line::Body(Body {
                turn: body.turn,
                mark: Hex(body.mark),
                message: body.message.into(),
                place: body.place,
                at: body.at,
                speaker: body.speaker.name().into(),
                cut: body.cut,
                text: body.text.into(),
            }),
            ExportedRow::Detail(detail) => Line::Detail(self::detail(detail)),
            ExportedRow::Usage(usage) => Line::Usage(self::usage(usage)),
            ExportedRow::File { turn, path, how } => {
                Line::File { turn, path: path.into(), how: how.name().into() }
            }
            ExportedRow::Commit { turn, commit } => {
                Line::Commit { turn, hash: commit.hash.into(), subject: commit.subject.into() }
            }
            ExportedRow::Revert { from, at } => Line::Revert { from, at },
            ExportedRow::Summary(summary) => Line::Summary(Box::new(summary.into())),
            ExportedRow::Memory(memory) => Line::Memory(Box::new((*memory).into())),
        }
    }
}

fn session(of: ExportedConversation) -> Session<'static> {
    let (forked_from, forked_before) = of.base.unzip();
    Session {
        session: of.session,
        folder: of.folder.map(Into::into),
        project: of.project,
        forked_from: forked_from.map(Into::into),
        forked_before,
        first_at: of.first_at,
        last_at: of.last_at,
        turns: of.turns,
    }
}

fn turn(turn: ExportedTurn) -> Turn<'static> {
    Turn {
        turn: turn.ordinal,
        uid: turn.uid,
        mark: Hex(turn.mark),
        place: turn.place,
        at: turn.at,
        until: turn.until,
        origin: turn.origin.name().into(),
        agent_turn: turn.agent_turn.and_then(|id| TurnId::parse(&id).ok()),
        stopped: turn.stopped.map(|how| how.name().into()),
        tools: turn.tools,
        failures: turn.failures,
        reverted: turn.reverted,
        line: turn.line.into(),
    }
}

fn detail(detail: ExportedDetail<String>) -> Detail<'static> {
    Detail {
        turn: detail.turn,
        mark: Hex(detail.mark),
        place: detail.place,
        at: detail.at,
        what: detail.kind.name().into(),
        helper: detail.subagent.and_then(|id| SubagentId::parse(&id).ok()),
        tool: detail.tool.map(Into::into),
        call: detail.call.map(Hex),
        outcome: detail.outcome.map(Into::into),
        cut: detail.cut,
        text: detail.text.into(),
    }
}

fn usage(usage: ExportedUsage) -> Usage<'static> {
    Usage {
        turn: usage.turn,
        message: usage.message.into(),
        at: usage.at,
        helper: usage.subagent.and_then(|id| SubagentId::parse(&id).ok()),
        model: usage.model.map(Into::into),
        input: usage.tokens.input,
        cache_read: usage.tokens.cache_read,
        cache_write: usage.tokens.cache_write,
        cache_write_1h: usage.tokens.cache_write_1h,
        output: usage.tokens.output,
    }
}

impl<'a> Line<'a> {
    /// The row of a line; `None` if it has none.
    pub fn row(self, secrets: SecretPolicy) -> Result<Option<ExportedRow<CleanText<'a>>>, BadWord> {
        // The text was already truncated when it was captured: do not truncate it again.
        let clean = |text| CleanText::new(text, TextPolicy { longest_bytes: usize::MAX, secrets });
        let short = |text| clean(text).as_str().to_owned();
        Ok(Some(match self {
            Line::Export { .. } | Line::Unknown => return Ok(None),
            Line::Session(session) => ExportedRow::Conversation(session.kept()),
            Line::Turn(turn) => {
                let line = short(turn.line.clone());
                ExportedRow::Turn(ExportedTurn { line, ..turn.kept()? })
            }
            Line::Body(body) => ExportedRow::Body(ExportedMessage {
                speaker: known("speaker", &body.speaker, Speaker::named)?,
                turn: body.turn,
                mark: body.mark.0,
                message: body.message.into_owned(),
                place: body.place,
                at: body.at,
                cut: body.cut,
                text: clean(body.text),
            }),
            Line::Detail(detail) => ExportedRow::Detail(detail.kept(clean)?),
            Line::Usage(usage) => ExportedRow::Usage(usage.kept()),
            Line::File { turn, path, how } => {
                ExportedRow::File { turn, path: short(path), how: known("how", &how, FileAccess::named)? }
            }
            Line::Commit { turn, hash, subject } => {
                ExportedRow::Commit { turn, commit: Commit { hash: short(hash), subject: short(subject) } }
            }
            Line::Revert { from, at } => ExportedRow::Revert { from, at },
            Line::Summary(summary) => return Ok(summary.kept()?.map(ExportedRow::Summary)),
            Line::Memory(memory) => {
                return Ok(memory.kept()?.map(|kept| ExportedRow::Memory(Box::new(kept))));
            }
        }))
    }
}

impl Session<'_> {
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    fn kept(self) -> ExportedConversation {
        ExportedConversation {
            session: self.session,
            folder: self.folder.map(Into::into),
            project: self.project,
            base: self.forked_from.map(Into::into).zip(self.forked_before),
            first_at: self.first_at,
            last_at: self.last_at,
            turns: self.turns,
        }
    }
}

impl Turn<'_> {
    fn kept(self) -> Result<ExportedTurn, BadWord> {
        let stopped = self.stopped.map(|how| known("stopped", &how, StopReason::named)).transpose()?;
        Ok(ExportedTurn {
            origin: known("origin", &self.origin, PromptOrigin::named)?,
            stopped,
            uid: self.uid,
            ordinal: self.turn,
            mark: self.mark.0,
            place: self.place,
            at: self.at,
            until: self.until,
            agent_turn: self.agent_turn.map(|id| id.as_str().to_owned()),
            tools: self.tools,
            failures: self.failures,
            line: String::new(),
            reverted: self.reverted,
        })
    }
}

impl<'a> Detail<'a> {
    fn kept(
        self,
        clean: impl Fn(Cow<'a, str>) -> CleanText<'a>,
    ) -> Result<ExportedDetail<CleanText<'a>>, BadWord> {
        let outcome = self.outcome.map(|word| known("outcome", &word, outcome_named)).transpose()?;
        Ok(ExportedDetail {
            kind: known("what", &self.what, DetailKind::named)?,
            turn: self.turn,
            mark: self.mark.0,
            place: self.place,
            at: self.at,
            subagent: self.helper.map(|id| id.as_str().to_owned()),
            tool: self.tool.map(|tool| clean(tool).as_str().to_owned()),
            call: self.call.map(|hex| hex.0),
            outcome: outcome.map(|outcome| outcome.name().to_owned()),
            cut: self.cut,
            text: clean(self.text),
        })
    }
}

fn outcome_named(name: &str) -> Option<ToolOutcome> {
    let all = [ToolOutcome::Done, ToolOutcome::Failed, ToolOutcome::Interrupted];
    all.into_iter().find(|outcome| outcome.name() == name)
}

impl Usage<'_> {
    fn kept(self) -> ExportedUsage {
        ExportedUsage {
            turn: self.turn,
            message: self.message.into_owned(),
            at: self.at,
            subagent: self.helper.map(|id| id.as_str().to_owned()),
            model: self.model.map(Into::into),
            tokens: TokenCounts {
                input: self.input,
                cache_read: self.cache_read,
                cache_write: self.cache_write,
                cache_write_1h: self.cache_write_1h,
                output: self.output,
            },
        }
    }
}

fn known<T>(field: &'static str, word: &str, named: impl Fn(&str) -> Option<T>) -> Result<T, BadWord> {
    let shown = || word.chars().take(40).collect();
    named(word).ok_or_else(|| BadWord { field, word: shown() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_survives_as_digits() {
        for number in [0, 1, -1, i64::MIN, i64::MAX] {
            let text = String::from(Hex(IdHash(number)));
            assert_eq!(Hex::try_from(text).map(|hex| hex.0), Ok(IdHash(number)));
        }
        assert!(
            Hex::try_from("12".to_owned()).is_err() && Hex::try_from("+23456789012345f".to_owned()).is_err()
        );
    }

    #[test]
    fn a_word_that_is_not_ours_is_named_with_its_field() {
        let line = r#"{"kind":"file","turn":1,"path":"/a","how":"eaten"}"#;
        let line: Line<'_> = serde_json::from_str(line).unwrap();
        let error = line.row(SecretPolicy::Redacted).unwrap_err().to_string();
        assert_eq!(error, "`how` holds a word that this version does not know: \"eaten\"");
    }

    #[test]
    fn a_line_of_a_later_version_holds_nothing() {
        let line: Line<'_> = serde_json::from_str(r#"{"kind":"dream","text":"x"}"#).unwrap();
        assert!(line.row(SecretPolicy::Redacted).unwrap().is_none());
    }

    #[test]
    fn secrets_in_any_text_of_a_file_are_gone_before_they_are_rows() {
        let secret = format!("{}{}", "ghp_", "A1b2".repeat(9));
        let line = format!(r#"{{"kind":"commit","turn":1,"hash":"a","subject":"key {secret}"}}"#);
        let line: Line<'_> = serde_json::from_str(&line).unwrap();
        assert!(!format!("{:?}", line.row(SecretPolicy::Redacted).unwrap()).contains("A1b2A1b2"));
    }
}

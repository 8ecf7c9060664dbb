//! Collects the rows of one imported session until they are written.
//!
//! All text is redacted and bounded here. Accesses no database and no file.

use crate::capture::Wishes;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use towline_core::capture::{CaptureRules, CaptureState, CapturedDetail, CapturedRow, DetailKind};
use towline_core::id::IdHash;
use towline_core::line::LONGEST;
use towline_core::redact::HIDDEN;
use towline_core::text::{CleanText, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::archive::{PackedRow, Packer};
use towline_store::foreign::{ForeignRecord, ForeignSession};

/// Buffered bytes that trigger a write, and the cost of a row in addition to its text.
const FULL: usize = 4 << 20;
const ROW: usize = 64;

/// Two programs that record the same prompt do so within this time.
const JUST_THEN_MS: u64 = 5_000;

/// Sorts after everything that a transcript says about a turn.
const LAST_PLACE: u64 = i64::MAX.cast_unsigned();

/// The rows of one session that are not written yet.
pub(super) struct Basket<'a> {
    rules: &'a CaptureRules<'a, 'a>,
    gatherer: CaptureState,
    /// Turns that the archive holds already, with their lines.
    turns: Vec<(Timestamp, IdHash, String)>,
    /// The other product's one-line titles, by turn.
    lines: HashMap<IdHash, String>,
    packer: Packer,
    rows: Vec<PackedRow>,
    weight: usize,
    /// Memories and summaries of the other product: kept after the turns they came from.
    pub learnt: Vec<ForeignRecord>,
}

impl<'a> Basket<'a> {
    pub fn new(
        rules: &'a CaptureRules<'a, 'a>,
        turns: Vec<(Timestamp, IdHash, String)>,
    ) -> io::Result<Basket<'a>> {
        let packer = Packer::new()?;
        let gatherer = CaptureState::default();
        let (lines, rows) = (HashMap::new(), vec![]);
        Ok(Basket { rules, gatherer, turns, lines, packer, rows, weight: 0, learnt: vec![] })
    }

    /// Whether enough rows are buffered to be worth a write.
    pub fn is_full(&self) -> bool {
        self.weight > FULL
    }

    pub fn open(&mut self, session: &ForeignSession, wishes: &Wishes) {
        let (id, folder) =
            (session.key.id.as_str().into(), session.folder.as_deref().map(|folder| folder.into()));
        let mut opened =
            self.packer.pack(CapturedRow::Opened { session: id, folder, branch: None, base: None });
        if let (PackedRow::Opened(opening), Some(folder)) = (&mut opened, &session.folder) {
            opening.project = Some(wishes.traces(Path::new(folder)));
        }
        self.rows.push(opened);
    }

    pub fn push(&mut self, found: ForeignRecord) {
        match found {
            ForeignRecord::Piece(piece) => {
                let mut rows = vec![];
                self.gatherer.take(piece, self.rules, &mut rows);
                rows.into_iter().for_each(|row| self.row(row));
            }
            learnt @ (ForeignRecord::Memory { .. } | ForeignRecord::Summary { .. }) => {
                self.learnt.push(learnt)
            }
            ForeignRecord::Line { prompt, text } => {
                self.lines.insert(IdHash::of(&prompt), self.one_line(text));
            }
            ForeignRecord::Note { id, at, during, text } => {
                let turn = turn_at(&self.turns, |(at, ..)| *at, during);
                if turn.is_some_and(|(.., line)| line == HIDDEN) {
                    return;
                }
                let turn = turn.map(|(_, mark, _)| *mark);
                let text = self.clean(text, self.rules.caps.note);
                self.row(CapturedRow::Detail(CapturedDetail {
                    turn,
                    mark: IdHash::of(&id),
                    place: LAST_PLACE,
                    at,
                    subagent: None,
                    kind: DetailKind::Note,
                    tool: None,
                    call: None,
                    outcome: None,
                    text,
                }));
            }
        }
    }

    pub fn settle(&mut self) {
        self.gatherer.current_turn().into_iter().for_each(|row| self.row(row));
    }

    fn row(&mut self, mut row: CapturedRow<'_>) {
        if let CapturedRow::Body(body) = &row
            && body.text.is_blank()
        {
            // A prompt without remaining text carries no information.
            return;
        }
        if let CapturedRow::Settled(settled) = &mut row
            && settled.line != HIDDEN
            && let Some(line) = self.lines.remove(&settled.turn)
        {
            settled.line = line;
        }
        self.weight += weight(&row);
        self.rows.push(self.packer.pack(row));
    }

    pub fn emptied(&mut self) -> Vec<PackedRow> {
        self.weight = 0;
        std::mem::take(&mut self.rows)
    }

    fn clean(&self, text: String, longest_bytes: usize) -> CleanText<'static> {
        CleanText::new(text.into(), TextPolicy { longest_bytes, secrets: self.rules.secrets })
    }

    fn one_line(&self, text: String) -> String {
        let clean = self.clean(text, self.rules.caps.note);
        let line = clean.as_str().replace(char::is_control, " ");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() <= LONGEST {
            return line;
        }
        line.chars().take(LONGEST - 1).chain(['…']).collect()
    }
}

/// The turn that began at about that time, else the last one before it; `None` before the first turn.
pub(super) fn turn_at<T>(turns: &[T], at: impl Fn(&T) -> Timestamp, during: Timestamp) -> Option<&T> {
    let apart = |turn: &&T| at(turn).0.abs_diff(during.0);
    let nearest = turns.iter().min_by_key(apart).filter(|turn| apart(turn) <= JUST_THEN_MS);
    nearest.or_else(|| turns.iter().rfind(|turn| at(turn) <= during))
}

fn weight(row: &CapturedRow<'_>) -> usize {
    let text = if let CapturedRow::Body(body) = row { Some(&body.text) } else { None };
    let text = if let CapturedRow::Detail(detail) = row { Some(&detail.text) } else { text };
    text.map_or(0, |text| text.as_str().len()) + ROW
}

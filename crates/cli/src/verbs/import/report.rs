//! The report of an import or its dry run: as text, or as one JSON object.
//!
//! Contains counts and paths, never imported text.

use crate::output::Tone;
use crate::scope::Scope;
use serde_json::{Value, json};
use std::time::Duration;
use towline_engine::capture::{Imported, Learnt, TakenOver, Transcript};
use towline_engine::runtime::text::{plain_text, size, span};
use towline_store::foreign::{ForeignSurvey, SurveyedTable, TableImport};

pub struct ImportReport {
    is_dry: bool,
    /// The time that the command had spent before, with questions for example.
    began: Duration,
    pub imported: Imported,
    pub databases: Vec<TakenOver>,
}

impl ImportReport {
    pub fn new(scope: &Scope, is_dry: bool) -> ImportReport {
        ImportReport { is_dry, began: scope.env.elapsed(), imported: Imported::default(), databases: vec![] }
    }

    /// Counts the files of a dry run.
    pub fn would_read(&mut self, files: &[Transcript]) {
        let sizes = files.iter().filter_map(|file| std::fs::metadata(&file.path).ok()).map(|meta| meta.len());
        self.imported = Imported { files: files.len(), bytes: sizes.sum(), ..Imported::default() };
    }

    pub fn show(&self, scope: &Scope, as_json: bool) {
        if as_json {
            return scope.out.json(&self.json(scope));
        }
        if self.imported.files > 0 || self.databases.is_empty() {
            scope.out.line(&if self.is_dry { self.plan() } else { self.done(scope) });
        }
        for (path, why) in &self.imported.unreadable {
            warn(scope, &format!("could not read {}: {why}", plain_text(&path.to_string_lossy())));
        }
        for database in &self.databases {
            self.show_database(scope, database);
        }
    }

    fn plan(&self) -> String {
        let Imported { files, bytes, .. } = &self.imported;
        format!("would read {files} files, {}; nothing was kept", size(*bytes))
    }

    fn done(&self, scope: &Scope) -> String {
        let Imported { files, changed, bytes, taken, .. } = &self.imported;
        let spent = self.spent(scope);
        format!(
            "{files} files, {changed} with something new: {} read in {} ({}/s), {} turns, {} messages, {} tool inputs and outputs",
            size(*bytes),
            span(spent),
            size((*bytes as f64 / spent.as_secs_f64().max(0.001)) as u64),
            taken.turns,
            taken.bodies,
            taken.details
        )
    }

    fn spent(&self, scope: &Scope) -> Duration {
        scope.env.elapsed().saturating_sub(self.began)
    }

    fn json(&self, scope: &Scope) -> Value {
        let Imported { files, changed, bytes, taken, unreadable } = &self.imported;
        let databases: Vec<_> = self.databases.iter().map(database_json).collect();
        if self.is_dry {
            return json!({"dry_run": true, "files": files, "bytes": bytes, "databases": databases});
        }
        let unreadable =
            unreadable.iter().map(|(path, why)| json!({"path": path.to_string_lossy(), "why": why}));
        json!({
            "files": files, "changed": changed, "bytes": bytes, "turns": taken.turns, "bodies": taken.bodies,
            "details": taken.details, "homeless": taken.homeless, "unreadable": unreadable.collect::<Vec<_>>(),
            "databases": databases, "milliseconds": u64::try_from(self.spent(scope).as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn show_database(&self, scope: &Scope, done: &TakenOver) {
        let (name, path) = (done.product, plain_text(&done.path.to_string_lossy()));
        if let Some(problem) = &done.problem {
            warn(scope, &format!("{name}: {}", plain_text(problem)));
            scope.out.line(&format!(
                "  Close what uses it, or repair it, then run `tow data import {name}` again."
            ));
        }
        if done.survey.tables.is_empty() {
            return;
        }
        let schema = done.survey.schema.map_or(String::new(), |schema| format!(" (schema {schema})"));
        let taken = &done.taken;
        let counts = if self.is_dry {
            format!("would take {} turns from {} rows", done.turns_found, done.rows_found)
        } else {
            let learnt = match done.learnt {
                Learnt { memories: 0, summaries: 0 } => String::new(),
                Learnt { memories, summaries } => format!(", {memories} memories, {summaries} summaries"),
            };
            format!(
                "{} turns, {} messages, {} tool inputs and outputs{learnt}",
                taken.turns, taken.bodies, taken.details
            )
        };
        scope.out.line(&format!("{name}, {path}{schema}: {counts}"));
        for (verdict, sessions) in &done.sessions {
            scope.out.line(&format!("  {} {}", several(*sessions, "session"), verdict.message()));
        }
        for line in not_understood(done) {
            scope.out.line(&scope.out.tint(Tone::Faint, &format!("  {}", plain_text(&line))));
        }
    }
}

fn several(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn warn(scope: &Scope, line: &str) {
    scope.out.line(&scope.out.tint(Tone::Warning, line));
}

/// Tables and rows that were not imported, and why.
fn not_understood(done: &TakenOver) -> Vec<String> {
    let survey = &done.survey;
    let newer = survey.is_newer.then(|| {
        "newer than any version that is known: what it keeps elsewhere now was not found".to_owned()
    });
    let changed =
        done.was_changed.then(|| "changed while it was read: run it again for what is new".to_owned());
    let left = survey.tables.iter().filter_map(left);
    let unfit = survey
        .unfit_rows()
        .map(|unfit| format!("{}: {} not taken, {}", unfit.table, several(unfit.rows, "row"), unfit.why));
    let missing = (!survey.missing.is_empty())
        .then(|| format!("not there in this version: {}", survey.missing.join(", ")));
    newer.into_iter().chain(changed).chain(left).chain(unfit).chain(missing).collect()
}

fn left(table: &SurveyedTable) -> Option<String> {
    let rows = table.rows.map_or("rows that cannot be counted".to_owned(), |rows| several(rows, "row"));
    match table.fate {
        TableImport::Taken => None,
        TableImport::Left(_) | TableImport::Unknown if table.rows == Some(0) => None,
        TableImport::Left(why) => Some(format!("{}: {rows} left alone, {why}", table.name)),
        TableImport::Unknown => Some(format!("{}: {rows} not understood", table.name)),
    }
}

fn database_json(done: &TakenOver) -> Value {
    let sessions: serde_json::Map<String, Value> =
        done.sessions.iter().map(|(verdict, count)| (verdict.name().to_owned(), json!(count))).collect();
    json!({
        "from": done.product, "path": done.path.to_string_lossy(), "problem": done.problem,
        "schema": done.survey.schema, "is_newer": done.survey.is_newer, "was_changed": done.was_changed,
        "sessions": sessions, "turns_found": done.turns_found, "rows_found": done.rows_found,
        "turns": done.taken.turns, "bodies": done.taken.bodies, "details": done.taken.details,
        "memories": done.learnt.memories, "summaries": done.learnt.summaries,
        "tables": tables_json(&done.survey), "missing": done.survey.missing,
    })
}

fn tables_json(survey: &ForeignSurvey) -> Vec<Value> {
    let table = |table: &SurveyedTable| {
        let (fate, why) = match table.fate {
            TableImport::Taken => ("taken", None),
            TableImport::Left(why) => ("left", Some(why)),
            TableImport::Unknown => ("unknown", None),
        };
        let unfit = survey.unfit_rows().filter(|unfit| unfit.table == table.name);
        let unfit: Vec<_> = unfit.map(|unfit| json!({"rows": unfit.rows, "why": unfit.why})).collect();
        json!({"table": table.name, "rows": table.rows, "fate": fate, "why": why, "not_taken": unfit})
    };
    survey.tables.iter().map(table).collect()
}

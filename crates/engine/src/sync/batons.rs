//! Journals the batons of the user's other machines, so that hooks find them like local ones.
//!
//! Compares received with known batons, so that a killed sync does no harm. A teammate's baton is never
//! journaled: it is shown, but not taken automatically.

use super::Sharing;
use crate::runtime::{Env, record};
use serde::Deserialize;
use towline_core::event::{Event, EventKind};
use towline_core::id::SessionKey;
use towline_core::inherit::{BatonFate, HOUR_MS, RemoteBaton};
use towline_core::project::ProjectIdentity;
use towline_core::share::RowKind;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::archive::{Archive, RemoteNote, SharedProject};
use towline_store::journal::{self, AppendError, JournalRecord};
use towline_store::{BatonRow, Store, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum BatonsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] AppendError),
}

/// More than a user passes within a day.
const MOST: u32 = 200;
const DAY_MS: i64 = 24 * HOUR_MS;
const LONGEST_NAME: usize = 60;

/// State of a baton as it is sent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BatonState {
    taken_by: Option<String>,
    taken_at: Option<i64>,
    dropped_at: Option<i64>,
    withdrawn: bool,
}

/// The fate of a received baton; `None` if a newer version wrote it.
pub fn fate(words: &str) -> Option<BatonFate> {
    let BatonState { taken_by, taken_at, dropped_at, withdrawn } = serde_json::from_str(words).ok()?;
    Some(match (taken_at, dropped_at) {
        (Some(_), _) => BatonFate::Taken { by: taken_by.and_then(|key| SessionKey::parse(&key).ok()) },
        (None, Some(_)) => BatonFate::Dropped,
        (None, None) if withdrawn => BatonFate::Withdrawn,
        (None, None) => BatonFate::Waits,
    })
}

/// Journals batons that wait on other machines, and the fate of known ones.
pub fn tell(env: &Env, archive: &Archive, sharing: Sharing<'_>) -> Result<(), BatonsError> {
    let now = env.later().now;
    let store = Store::read(&env.home, super::PATIENCE)?;
    let projects = archive.shared_projects()?;
    let mut records = vec![];
    for note in archive.remote_rows(RowKind::Baton, None, MOST)? {
        let project = projects.iter().find(|project| project.row == note.project);
        let project = project.filter(|project| !sharing.wishes.excludes(&project.root));
        let known = store.as_ref().map(|store| store.baton(note.uid)).transpose()?.flatten();
        let (Some(project), Some(fate), None) = (project, fate(&note.words), &note.person) else { continue };
        let is_ours = note.machine == archive.machine();
        if is_news(&note, &fate, known.as_ref(), now) && (known.is_some() || !is_ours) {
            records.extend(came(env, archive, &note, project, fate, now)?);
        }
    }
    for lost in store.as_ref().map(|store| store.remote_batons(MOST)).transpose()?.unwrap_or_default() {
        if !archive.has_remote_row(lost.uid)? {
            records.push(withdrawn(env, &lost, now));
        }
    }
    if records.is_empty() { Ok(()) } else { Ok(journal::append(&env.home, &records)?) }
}

fn is_news(note: &RemoteNote, fate: &BatonFate, known: Option<&BatonRow>, now: Timestamp) -> bool {
    match known {
        Some(known) if known.is_over() => false,
        Some(known) => fate.is_over() || known.afar.is_some() && note.count > known.revision,
        // A baton that has just expired is still reported to the session that would have taken it.
        None => !fate.is_over() && note.made_at > now.plus_ms(-DAY_MS),
    }
}

fn came(
    env: &Env,
    archive: &Archive,
    note: &RemoteNote,
    project: &SharedProject,
    fate: BatonFate,
    now: Timestamp,
) -> Result<Option<JournalRecord>, StoreError> {
    let Some(session) = &note.session else { return Ok(None) };
    let called = archive.machine_called(note.machine)?.unwrap_or_else(|| "another machine".to_owned());
    let far = RemoteBaton {
        baton: note.uid,
        machine: note.machine,
        called: SafeText::new(
            &called,
            TextPolicy { longest_bytes: LONGEST_NAME, secrets: SecretPolicy::Redacted },
        ),
        project: ProjectIdentity {
            root: project.root.clone(),
            remote: project.remote.clone(),
            name: Some(project.name.clone()),
            branch: None,
        },
        passed_at: note.made_at,
        count: note.count,
        fate,
    };
    Ok(Some(event(env, session, far, now)))
}

/// Withdrawn by its user, or its session was forgotten.
fn withdrawn(env: &Env, lost: &BatonRow, now: Timestamp) -> JournalRecord {
    let far = RemoteBaton {
        baton: lost.uid,
        machine: lost.machine,
        called: SafeText::default(),
        project: ProjectIdentity::default(),
        passed_at: lost.passed_at,
        count: lost.revision,
        fate: BatonFate::Dropped,
    };
    event(env, &lost.session, far, now)
}

fn event(env: &Env, session: &SessionKey, far: RemoteBaton, at: Timestamp) -> JournalRecord {
    let came = EventKind::BatonCame(Box::new(far));
    JournalRecord::Event(Event { at, ..record::event(env, session, came) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: Option<BatonFate>) {
        assert_eq!(fate(words), expected, "{words}");
    }

    #[test]
    fn what_became_of_a_baton_is_read_from_its_words() {
        check(r#"{"passed_at":5,"taken_by":null,"taken_at":null,"dropped_at":null}"#, Some(BatonFate::Waits));
        check(r#"{"passed_at":5,"withdrawn":true}"#, Some(BatonFate::Withdrawn));
        check(r#"{"passed_at":5,"withdrawn":true,"dropped_at":7}"#, Some(BatonFate::Dropped));
        let by = SessionKey::parse("a:heir").ok();
        check(r#"{"taken_by":"a:heir","taken_at":7}"#, Some(BatonFate::Taken { by }));
        check(r#"{"taken_by":"no session","taken_at":7}"#, Some(BatonFate::Taken { by: None }));
        check("{", None);
    }
}

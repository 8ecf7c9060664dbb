//! Conversion between shared rows and columns of the hub's table.
//!
//! A register that was never written has a NULL stamp: most rows have four of those.

use crate::error::Result;
use crate::link::HubConn;
use crate::value::{SqlUid, SqlValue};
use tokio_postgres::Row;
use towline_core::id::{SessionKey, Uid};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowProvenance, RowReplacement, SharedRow, Visibility, WriteStamp,
};
use towline_core::time::Timestamp;

/// A batch's values, one array per column, in the order of the arguments of `towline.push`.
pub(crate) fn column_values(rows: &[&SharedRow]) -> Vec<SqlValue> {
    let each = |of: fn(&SharedRow) -> Option<i64>| SqlValue::numbers(rows.iter().map(|row| of(row)));
    let mut values = origin(rows);
    values.extend([
        each(|row| Some(lives(row).map_or(0, |it| i64::from(it.found)))),
        texts(rows, |row| lives(row).map(|it| it.words.value.as_str())),
        stamps(rows, |it| it.words.stamp),
        each(|row| lives(row)?.pin.value.map(|at| at.0)),
        stamps(rows, |it| it.pin.stamp),
        each(|row| replaced(row).map(|it| it.at.0)),
        SqlValue::maybe_uids(rows.iter().map(|row| replaced(row)?.by)),
        texts(rows, |row| replaced(row).map(|it| it.why.as_str())),
        stamps(rows, |it| it.standing.stamp),
        texts(rows, |row| lives(row)?.hold.value.as_deref()),
        stamps(rows, |it| it.hold.stamp),
        SqlValue::flags(
            rows.iter().map(|row| lives(row).is_some_and(|it| it.presence.value == Visibility::Withdrawn)),
        ),
        stamps(rows, |it| it.presence.stamp),
        each(|row| forgotten(row).map(|(at, _)| at.0)),
        texts(rows, |row| forgotten(row).map(|(_, by)| by)),
    ]);
    values
}

fn origin(rows: &[&SharedRow]) -> Vec<SqlValue> {
    let sessions: Vec<_> =
        rows.iter().map(|row| row.from.session.as_ref().map(ToString::to_string)).collect();
    vec![
        SqlValue::uids(rows.iter().map(|row| row.uid)),
        SqlValue::uids(rows.iter().map(|row| row.project)),
        texts(rows, |row| Some(row.kind.name())),
        texts(rows, |row| Some(&row.from.person)),
        SqlValue::uids(rows.iter().map(|row| row.from.machine)),
        SqlValue::texts(sessions.iter().map(Option::as_deref)),
        SqlValue::numbers(rows.iter().map(|row| row.from.turn.map(i64::from))),
        SqlValue::numbers(rows.iter().map(|row| Some(row.from.made_at.0))),
    ]
}

fn texts(rows: &[&SharedRow], of: fn(&SharedRow) -> Option<&str>) -> SqlValue {
    SqlValue::texts(rows.iter().map(|row| of(row)))
}

fn stamps(rows: &[&SharedRow], of: fn(&Registers) -> WriteStamp) -> SqlValue {
    SqlValue::bytes(rows.iter().map(|row| stamp_bytes(lives(row).map(of)?)))
}

/// `None` for a register that was never written.
pub(crate) fn stamp_bytes(stamp: WriteStamp) -> Option<Vec<u8>> {
    (stamp != WriteStamp::NEVER).then(|| stamp.to_bytes().to_vec())
}

/// The registers of a row that is not forgotten.
pub(crate) fn lives(row: &SharedRow) -> Option<&Registers> {
    match &row.life {
        RowLife::Lives(registers) => Some(registers),
        RowLife::Forgotten { .. } => None,
    }
}

fn replaced(row: &SharedRow) -> Option<&RowReplacement> {
    lives(row)?.standing.value.as_ref()
}

fn forgotten(row: &SharedRow) -> Option<(Timestamp, &str)> {
    match &row.life {
        RowLife::Lives(_) => None,
        RowLife::Forgotten { at, by } => Some((*at, by)),
    }
}

/// Reads a row back. `None` for a kind that only newer programs know.
pub(crate) fn read(link: &HubConn, row: &Row) -> Result<Option<SharedRow>> {
    let kind: String = link.read(row, "kind")?;
    let Some(kind) = RowKind::named(&kind) else { return Ok(None) };
    let session: Option<String> = link.read(row, "session")?;
    let from = RowProvenance {
        person: link.read(row, "person")?,
        machine: link.read::<SqlUid>(row, "machine")?.0,
        // A session name that none of our agents could have given is dropped.
        session: session.and_then(|session| SessionKey::parse(&session).ok()),
        turn: narrow(link.read(row, "turn")?),
        made_at: Timestamp(link.read(row, "made_at")?),
    };
    let forgotten_at: Option<i64> = link.read(row, "forgotten_at")?;
    let life = match forgotten_at {
        Some(at) => {
            let by: Option<String> = link.read(row, "forgotten_by")?;
            RowLife::Forgotten { at: Timestamp(at), by: by.unwrap_or_default() }
        }
        None => RowLife::Lives(Box::new(registers(link, row)?)),
    };
    let uid = link.read::<SqlUid>(row, "uid")?.0;
    let project = link.read::<SqlUid>(row, "project")?.0;
    Ok(Some(SharedRow { uid, kind, project, from, life }))
}

fn registers(link: &HubConn, row: &Row) -> Result<Registers> {
    let words: Option<String> = link.read(row, "words")?;
    let pin: Option<i64> = link.read(row, "pin")?;
    let presence = if link.read(row, "is_withdrawn")? { Visibility::Withdrawn } else { Visibility::Shared };
    Ok(Registers {
        words: Register { stamp: stamp(link, row, "words_stamp")?, value: words.unwrap_or_default() },
        pin: Register { stamp: stamp(link, row, "pin_stamp")?, value: pin.map(Timestamp) },
        standing: Register { stamp: stamp(link, row, "standing_stamp")?, value: standing(link, row)? },
        hold: Register { stamp: stamp(link, row, "hold_stamp")?, value: link.read(row, "hold")? },
        presence: Register { stamp: stamp(link, row, "presence_stamp")?, value: presence },
        found: narrow(Some(link.read(row, "found")?)).unwrap_or(0),
    })
}

fn standing(link: &HubConn, row: &Row) -> Result<Option<RowReplacement>> {
    let Some(at) = link.read::<Option<i64>>(row, "replaced_at")? else { return Ok(None) };
    let by: Option<Uid> = link.read::<Option<SqlUid>>(row, "replaced_by")?.map(|by| by.0);
    let why: Option<String> = link.read(row, "replaced_why")?;
    Ok(Some(RowReplacement { by, at: Timestamp(at), why: why.unwrap_or_default() }))
}

fn stamp(link: &HubConn, row: &Row, column: &str) -> Result<WriteStamp> {
    let bytes: Option<&[u8]> = link.read(row, column)?;
    Ok(bytes.and_then(WriteStamp::from_bytes).unwrap_or(WriteStamp::NEVER))
}

fn narrow(number: Option<i64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok())
}

//! How rows become values, and values parameters: a type reads its columns one after the other, in the order of the
//! query, and binds itself as one.
//!
//! An unknown name of a newer version is an error, except where the type has a value for it.

use rusqlite::Row;
use rusqlite::types::{FromSql, ToSqlOutput, Type, ValueRef};
use towline_core::bookmark::{BookmarkOrigin, CountPrecision, Threshold};
use towline_core::capture::{DetailKind, FileAccess, Speaker};
use towline_core::continuing::{HandoffAuthor, HopStage};
use towline_core::event::{EndedBy, PromptOrigin, SessionPresence, StartedBy, ToolOutcome};
use towline_core::fault::FaultKind;
use towline_core::forget::TimeRange;
use towline_core::id::{IdHash, SessionKey, SubagentId, TurnId, Uid};
use towline_core::inherit::{Fallback, InheritRule, InheritState, OnClear};
use towline_core::memory::{ConfidencePercent, MemoryAuthor, MemoryTrust, MemoryType, ProposalFate};
use towline_core::meter::{Exactness, UsageSource};
use towline_core::piece::{StopReason, TokenCounts};
use towline_core::project::ProjectIdentity;
use towline_core::seat::{SeatKind, SeatProof};
use towline_core::session::TurnOutcome;
use towline_core::share::{RowKind, Visibility, WriteStamp};
use towline_core::text::{CleanText, SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentStage};

/// The columns of a row that were not read yet.
pub(crate) struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl<'r> Columns<'r> {
    pub fn of_row(row: &'r Row<'r>) -> Columns<'r> {
        Columns { row, next: 0 }
    }
}

impl Columns<'_> {
    pub fn get<T: FromRow>(&mut self) -> rusqlite::Result<T> {
        T::read(self)
    }

    fn plain<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    fn text(&mut self) -> rusqlite::Result<Option<&str>> {
        self.next += 1;
        self.row.get_ref(self.next - 1)?.as_str_or_null().map_err(|_| self.unknown())
    }

    /// A column with one of our names.
    pub fn parse<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
        self.lenient(parse)?.ok_or_else(|| self.unknown())
    }

    /// `None` for a name of a newer version.
    pub fn lenient<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<Option<T>> {
        Ok(self.text()?.and_then(parse))
    }

    pub fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    /// A column out of order.
    pub fn named<T: FromSql>(&self, name: &str) -> rusqlite::Result<T> {
        self.row.get(name)
    }

    /// The error about the column that was read last.
    pub fn unknown(&self) -> rusqlite::Error {
        rusqlite::Error::InvalidColumnType(self.next - 1, "a word of this version".into(), Type::Text)
    }
}

/// A value that reads its own columns.
pub(crate) trait FromRow: Sized {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self>;

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::read(&mut Columns::of_row(row))
    }
}

/// Reads a struct from the columns that have the order of the fields named here. A field is read by its type, or by the
/// function behind its name; one with a value has no column.
macro_rules! from_row {
    ($type:ty { $($field:ident $(: $read:path)? $(= $value:expr)?),* $(,)? }) => {
        impl $crate::columns::FromRow for $type {
            fn read(columns: &mut $crate::columns::Columns<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: $crate::columns::from_row!(@ columns $($read)? $(= $value)?)),* })
            }
        }
    };
    (@ $columns:ident) => { $columns.get()? };
    (@ $columns:ident $read:path) => { $read($columns)? };
    (@ $columns:ident = $value:expr) => { $value };
}
pub(crate) use from_row;

macro_rules! plain_columns {
    ($($type:ty),*) => {
        $(impl FromRow for $type {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                columns.plain()
            }
        })*
    };
}
plain_columns!(bool, u8, u32, i64, f64, String, Vec<u8>);

/// The name of a withdrawn memory's visibility.
const PRIVATE: &str = "private";

/// Types that are read from another one by a function.
macro_rules! converted_columns {
    ($($type:ty = $convert:expr,)*) => {
        $(impl FromRow for $type {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                columns.plain().map($convert)
            }
        })*
    };
}
converted_columns!(
    u64 = i64::cast_unsigned,
    Timestamp = Timestamp,
    Uid = Uid,
    IdHash = IdHash,
    ConfidencePercent = ConfidencePercent::percent,
    Visibility = |name: String| if name == PRIVATE { Visibility::Withdrawn } else { Visibility::Shared },
    SafeText = |text: String| stored_text(&text),
    MemoryAuthor = |name: String| MemoryAuthor::named(&name),
    FaultKind = |name: String| FaultKind::named(&name).unwrap_or(FaultKind::Internal),
    StartedBy = |name: String| StartedBy::named(&name).unwrap_or(StartedBy::Unknown),
    EndedBy = |name: String| EndedBy::named(&name).unwrap_or(EndedBy::Other),
);

/// Enums that bind as their names; reading them is another matter.
macro_rules! bound_names {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::columns::Bind for $type {
            fn bind(&self) -> rusqlite::types::ToSqlOutput<'_> {
                rusqlite::types::ToSqlOutput::Borrowed(self.name().into())
            }
        })*
    };
}
pub(crate) use bound_names;

bound_names!(StopReason, ToolOutcome, TurnOutcome);

/// Enums that are stored by their names.
macro_rules! stored_names {
    ($($type:ty),* $(,)?) => {
        $(impl FromRow for $type {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                columns.parse(<$type>::named)
            }
        })*
        bound_names!($($type),*);
    };
}

stored_names! {
    BookmarkOrigin, CountPrecision, DetailKind, Exactness, Fallback, FileAccess, HandoffAuthor, HopStage, InheritRule,
    InheritState, IntentPurpose, IntentStage, MemoryTrust, OnClear, PromptOrigin, ProposalFate, RowKind, SeatKind, SeatProof,
    SessionPresence, Speaker, Threshold, UsageSource,
}

/// Types that are parsed from their text: `parse` fails for one that it does not know, `lenient` returns `None`.
macro_rules! parsed_columns {
    ($($type:ty = $read:ident($parse:expr),)*) => {
        $(impl $crate::columns::FromRow for $type {
            fn read(columns: &mut $crate::columns::Columns<'_>) -> rusqlite::Result<Self> {
                columns.$read($parse)
            }
        })*
    };
}
pub(crate) use parsed_columns;

parsed_columns! {
    MemoryType = parse(MemoryType::parse),
    SessionKey = parse(|key| SessionKey::parse(key).ok()),
    Option<StopReason> = lenient(StopReason::named),
    Option<SubagentId> = lenient(|id| SubagentId::parse(id).ok()),
    Option<TurnId> = lenient(|id| TurnId::parse(id).ok()),
}

/// For values of one column.
impl<T: FromRow> FromRow for Option<T> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        if columns.row.get_ref(columns.next)? == ValueRef::Null {
            columns.next += 1;
            return Ok(None);
        }
        columns.get().map(Some)
    }
}

macro_rules! tuples {
    ($(($($part:ident),+))*) => {
        $(impl<$($part: FromRow),+> FromRow for ($($part,)+) {
            fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
                Ok(($(columns.get::<$part>()?,)+))
            }
        })*
    };
}
tuples!((A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E));

from_row!(TimeRange { from, until });
from_row!(TokenCounts { input, cache_read, cache_write, cache_write_1h, output });
from_row!(WriteStamp { count, machine });

/// Stored text is already truncated and redacted.
pub(crate) fn stored_text(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: usize::MAX / 8, secrets: SecretPolicy::Kept })
}

/// Two values that are stored both or not at all.
pub(crate) fn both<A: FromRow, B: FromRow>(columns: &mut Columns<'_>) -> rusqlite::Result<Option<(A, B)>> {
    let (a, b): (Option<A>, Option<B>) = columns.get()?;
    Ok(a.zip(b))
}

/// The traces of a project: root, remote, name. `None` without a root.
impl FromRow for Option<ProjectIdentity> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let (root, remote, name): (Option<String>, _, _) = columns.get()?;
        Ok(root.map(|root| ProjectIdentity { root, remote, name, branch: None }))
    }
}

/// The session of a row that may outlive it: `None` also for a key that is not valid here.
pub(crate) fn lenient_key(columns: &mut Columns<'_>) -> rusqlite::Result<Option<SessionKey>> {
    columns.lenient(|key| SessionKey::parse(key).ok())
}

/// Adds counts field by field.
macro_rules! sums {
    ($type:ident { $($field:ident),* }) => {
        impl $type {
            pub fn plus(self, other: $type) -> $type {
                $type { $($field: self.$field + other.$field),* }
            }
        }
    };
}
pub(crate) use sums;

/// A value as a parameter of a statement.
pub(crate) trait Bind {
    fn bind(&self) -> ToSqlOutput<'_>;
}

/// The parameters of a statement, in its order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::columns::Bind::bind(&$value)),*] };
}
pub(crate) use values;

macro_rules! bound {
    ($($type:ty = $value:expr;)*) => {
        $(impl Bind for $type {
            fn bind(&self) -> ToSqlOutput<'_> {
                let value: fn(&$type) -> ToSqlOutput<'_> = $value;
                value(self)
            }
        })*
    };
}
bound! {
    bool = |it| i64::from(*it).into();
    i32 = |it| i64::from(*it).into();
    i64 = |it| (*it).into();
    u32 = |it| i64::from(*it).into();
    u64 = |it| it.cast_signed().into();
    usize = |it| i64::try_from(*it).unwrap_or(i64::MAX).into();
    str = |it| ToSqlOutput::Borrowed(it.into());
    String = |it| it.as_str().bind();
    [u8] = |it| ToSqlOutput::Borrowed(it.into());
    Uid = |it| it.0.as_slice().bind();
    Timestamp = |it| it.0.into();
    IdHash = |it| it.0.into();
    SafeText = |it| it.as_str().bind();
    TurnId = |it| it.as_str().bind();
    SubagentId = |it| it.as_str().bind();
    SessionKey = |it| it.to_string().into();
    MemoryType = |it| it.as_str().bind();
    MemoryAuthor = |it| it.name().bind();
    ConfidencePercent = |it| i64::from(it.as_percent()).into();
    Visibility = |it| if *it == Visibility::Withdrawn { PRIVATE } else { "shared" }.bind();
}

impl Bind for CleanText<'_> {
    fn bind(&self) -> ToSqlOutput<'_> {
        self.as_str().bind()
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self) -> ToSqlOutput<'_> {
        self.as_ref().map_or(ToSqlOutput::Borrowed(ValueRef::Null), Bind::bind)
    }
}

impl<T: Bind + ?Sized> Bind for &T {
    fn bind(&self) -> ToSqlOutput<'_> {
        (*self).bind()
    }
}

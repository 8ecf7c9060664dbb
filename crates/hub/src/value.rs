//! SqlCall values and their PostgreSQL types.
//!
//! Every value carries its type, so that no statement must be prepared to learn it.

use bytes::BytesMut;
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use towline_core::id::Uid;

/// A value of a statement, with its type.
pub(crate) struct SqlValue {
    value: Box<dyn ToSql + Sync>,
    kind: Type,
}

impl SqlValue {
    pub fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        (self.value.as_ref(), self.kind.clone())
    }

    fn new(value: impl ToSql + Sync + 'static, kind: Type) -> SqlValue {
        SqlValue { value: Box::new(value), kind }
    }

    pub fn uids(uids: impl IntoIterator<Item = Uid>) -> SqlValue {
        SqlValue::new(uids.into_iter().map(SqlUid).collect::<Vec<_>>(), Type::UUID_ARRAY)
    }

    /// `NULL` for an empty list: the statement then applies no filter.
    pub fn uids_or_null(uids: &[Uid]) -> SqlValue {
        let some = (!uids.is_empty()).then(|| uids.iter().copied().map(SqlUid).collect::<Vec<_>>());
        SqlValue::new(some, Type::UUID_ARRAY)
    }

    pub fn maybe_uids(uids: impl IntoIterator<Item = Option<Uid>>) -> SqlValue {
        let uids: Vec<_> = uids.into_iter().map(|uid| uid.map(SqlUid)).collect();
        SqlValue::new(uids, Type::UUID_ARRAY)
    }

    pub fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> SqlValue {
        let texts: Vec<_> = texts.into_iter().map(|text| text.map(storable)).collect();
        SqlValue::new(texts, Type::TEXT_ARRAY)
    }

    /// `NULL` for an empty list, as `uids_or_null`.
    pub fn texts_or_null(texts: &[&str]) -> SqlValue {
        let some = (!texts.is_empty()).then(|| texts.iter().map(|text| storable(text)).collect::<Vec<_>>());
        SqlValue::new(some, Type::TEXT_ARRAY)
    }

    pub fn numbers(numbers: impl IntoIterator<Item = Option<i64>>) -> SqlValue {
        SqlValue::new(numbers.into_iter().collect::<Vec<_>>(), Type::INT8_ARRAY)
    }

    pub fn flags(flags: impl IntoIterator<Item = bool>) -> SqlValue {
        SqlValue::new(flags.into_iter().collect::<Vec<_>>(), Type::BOOL_ARRAY)
    }

    pub fn bytes(bytes: impl IntoIterator<Item = Option<Vec<u8>>>) -> SqlValue {
        SqlValue::new(bytes.into_iter().collect::<Vec<_>>(), Type::BYTEA_ARRAY)
    }
}

macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::value::SqlValue::from($value)),*] };
}
pub(crate) use values;

macro_rules! converted {
    ($($type:ty as $kind:ident = $convert:expr;)*) => {
        $(impl From<$type> for SqlValue {
            fn from(value: $type) -> SqlValue {
                let convert: fn($type) -> _ = $convert;
                SqlValue::new(convert(value), Type::$kind)
            }
        })*
    };
}
converted! {
    Uid as UUID = SqlUid;
    Option<Uid> as UUID = |uid: Option<Uid>| uid.map(SqlUid);
    &str as TEXT = storable;
    &String as TEXT = |text: &String| storable(text);
    Option<String> as TEXT = |text| text;
    i64 as INT8 = |number| number;
    u32 as INT4 = |number| i32::try_from(number).unwrap_or(i32::MAX);
    bool as BOOL = |flag| flag;
}

/// PostgreSQL text cannot contain NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "")
}

/// A uid as PostgreSQL's `uuid`.
#[derive(Debug)]
pub(crate) struct SqlUid(pub Uid);

impl ToSql for SqlUid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0.0);
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlUid {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<SqlUid, Box<dyn Error + Sync + Send>> {
        Ok(SqlUid(Uid(raw.try_into()?)))
    }

    accepts!(UUID);
}

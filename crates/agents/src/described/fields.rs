//! Reads the tables of a description, one key at a time, and names what is wrong with its line.
//!
//! A key that nobody asked for is a mistake: a misspelt one would otherwise be a rule that silently never applies.

use std::collections::BTreeSet;
use toml_edit::{Document, Item, TableLike, Value};
use towline_core::nearest::nearest;

/// One mistake in a description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Mistake {
    pub line: usize,
    pub what: String,
}

/// A table, and which of its keys were read.
pub(super) struct Fields<'t> {
    text: &'t str,
    /// The table's name in messages, with a dot; empty for the whole file.
    prefix: String,
    line: usize,
    table: &'t dyn TableLike,
    known: BTreeSet<&'static str>,
}

/// The parsed file.
pub(super) fn document(text: &str) -> Result<Document<&str>, Mistake> {
    Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        let what = error.message().lines().next().unwrap_or("not TOML").to_owned();
        Mistake { line, what }
    })
}

impl<'t> Fields<'t> {
    pub fn of(text: &'t str, document: &'t Document<&'t str>) -> Fields<'t> {
        Fields { text, prefix: String::new(), line: 1, table: document.as_table(), known: BTreeSet::new() }
    }

    /// A mistake about the table as a whole.
    pub fn mistake(&self, what: impl Into<String>) -> Mistake {
        Mistake { line: self.line, what: what.into() }
    }

    /// A mistake about one of its keys.
    pub fn wrong(&self, key: &str, what: impl std::fmt::Display) -> Mistake {
        let line =
            self.table.get(key).and_then(Item::span).map_or(self.line, |span| self.line_at(span.start));
        Mistake { line, what: format!("`{}{key}` {what}", self.prefix) }
    }

    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, Mistake> {
        let Some(item) = self.take(key) else { return Ok(None) };
        match item.as_str() {
            Some(text) if !text.is_empty() => Ok(Some(text.to_owned())),
            _ => Err(self.wrong(key, "must be a text that is not empty")),
        }
    }

    pub fn required(&mut self, key: &'static str) -> Result<String, Mistake> {
        if let Some(text) = self.text(key)? {
            return Ok(text);
        }
        // `output` is near to `input`, and no slip of it.
        let is_slip = |other: &&str| {
            !self.known.contains(*other) && other.starts_with(&key[..1]) && nearest(other, [key]).is_some()
        };
        Err(match self.table.iter().map(|(other, _)| other).find(is_slip) {
            Some(misspelt) => self.unknown(misspelt),
            None => self.mistake(format!("there is no `{}{key}`, which is needed", self.prefix)),
        })
    }

    /// A list of texts; one text alone is a list of one.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<String>, Mistake> {
        let Some(item) = self.take(key) else { return Ok(vec![]) };
        if let Some(text) = item.as_str().filter(|text| !text.is_empty()) {
            return Ok(vec![text.to_owned()]);
        }
        let own = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let texts = item.as_array().map(|list| list.iter().map(own).collect::<Option<Vec<_>>>());
        texts.flatten().ok_or_else(|| self.wrong(key, "must be a list of texts that are not empty"))
    }

    /// A whole number within these bounds.
    pub fn number(
        &mut self,
        key: &'static str,
        bounds: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, Mistake> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let number = item.as_integer().filter(|number| bounds.contains(number));
        let must = || format!("must be from {} to {}", bounds.start(), bounds.end());
        number.map(Some).ok_or_else(|| self.wrong(key, must()))
    }

    pub fn flag(&mut self, key: &'static str) -> Result<bool, Mistake> {
        let Some(item) = self.take(key) else { return Ok(false) };
        item.as_bool().ok_or_else(|| self.wrong(key, "must be true or false"))
    }

    pub fn table(&mut self, key: &'static str) -> Result<Option<Fields<'t>>, Mistake> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let table = item.as_table_like().ok_or_else(|| self.wrong(key, "must be a table"))?;
        Ok(Some(self.below(format!("{}{key}.", self.prefix), item.span(), table)))
    }

    /// The tables of a list, such as `[[transcript.pieces]]`.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<Fields<'t>>, Mistake> {
        let Some(item) = self.take(key) else { return Ok(vec![]) };
        let name = format!("{}{key}", self.prefix);
        let list = item.as_array_of_tables();
        let list = list.ok_or_else(|| self.wrong(key, format!("must be a list of tables: `[[{name}]]`")))?;
        Ok(list.iter().map(|table| self.below(format!("{name}."), table.span(), table)).collect())
    }

    /// Whether the table has this key. Does not count as reading it.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Fails on the first key that was not read.
    pub fn end(&self) -> Result<(), Mistake> {
        let unknown = self.table.iter().map(|(key, _)| key).find(|key| !self.known.contains(*key));
        unknown.map_or(Ok(()), |key| Err(self.unknown(key)))
    }

    fn unknown(&self, key: &str) -> Mistake {
        let line = self.table.key(key).and_then(|key| key.span()).map(|span| self.line_at(span.start));
        let meant = nearest(key, self.known.iter().copied());
        let hint = match meant {
            Some(meant) => format!("; did you mean `{}{meant}`?", self.prefix),
            None => {
                let known: Vec<&str> = self.known.iter().copied().collect();
                format!("; there are {}", known.join(", "))
            }
        };
        Mistake {
            line: line.unwrap_or(self.line),
            what: format!("there is no key `{}{key}`{hint}", self.prefix),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Item> {
        self.known.insert(key);
        self.table.get(key)
    }

    fn below(
        &self,
        prefix: String,
        span: Option<std::ops::Range<usize>>,
        table: &'t dyn TableLike,
    ) -> Fields<'t> {
        let line = span.map_or(self.line, |span| self.line_at(span.start));
        Fields { text: self.text, prefix, line, table, known: BTreeSet::new() }
    }

    fn line_at(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

//! The configuration in force, key by key, for users and programs that ask for it.
//!
//! Only reads. The order of the keys is that of the default file.

use super::edit::read;
use super::layer::mistakes_in;
use super::{DEFAULT, Mistake, value_at};
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use std::path::PathBuf;
use toml_edit::{DocumentMut, Value};

/// Every key with its value as TOML, and the mistakes in the user's file.
#[derive(Debug)]
pub struct EffectiveConfig {
    pub file: PathBuf,
    pub values: Vec<(String, String)>,
    pub mistakes: Vec<Mistake>,
}

pub fn effective(env: &Env) -> Result<EffectiveConfig, Failure> {
    let user = read(&env.config_file)?;
    let values = keys().into_iter().filter_map(|key| Some((key.clone(), value_at(&user, &key)?))).collect();
    Ok(EffectiveConfig { file: env.config_file.clone(), values, mistakes: mistakes_in(&user) })
}

/// The mistakes in the user's file, each with its line. A file that cannot be read is one mistake.
pub fn mistakes(env: &Env) -> Vec<String> {
    match read(&env.config_file) {
        Ok(user) => mistakes_in(&user).iter().map(ToString::to_string).collect(),
        Err(failure) => vec![[vec![failure.what], failure.causes].concat().join(": ")],
    }
}

/// The first mistake in one sentence, with its line and the fix, for surfaces that have one line for it.
pub fn warning(env: &Env) -> Option<String> {
    let mistakes = mistakes(env);
    let more = match mistakes.len() {
        0 | 1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    let first = mistakes.first()?;
    Some(format!("config.toml has a mistake (fix: `tow config edit`): {first}{more}; the default applies"))
}

fn keys() -> Vec<String> {
    let document: DocumentMut = DEFAULT.parse().unwrap_or_default();
    let tables = document.iter().filter_map(|(name, item)| Some((name, item.as_table()?)));
    tables.flat_map(|(name, table)| table.iter().map(move |(key, _)| format!("{name}.{key}"))).collect()
}

/// A TOML value as JSON; null if it cannot be parsed.
pub fn to_json(value: &str) -> serde_json::Value {
    let parsed: Option<Value> = value.parse().ok();
    parsed.as_ref().map_or(serde_json::Value::Null, value_to_json)
}

fn value_to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.value().clone().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Boolean(flag) => (*flag.value()).into(),
        Value::Datetime(time) => time.value().to_string().into(),
        Value::Array(items) => items.iter().map(value_to_json).collect(),
        Value::InlineTable(table) => table
            .iter()
            .map(|(key, value)| (key.to_owned(), value_to_json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

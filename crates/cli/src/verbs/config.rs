//! `tow config`: shows, gets, sets and opens the configuration.
//!
//! `set` edits the user's file in place: it keeps comments and order, and refuses an invalid value.

use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use toml_edit::{Item, Value};
use towline_engine::curate::Actor;
use towline_engine::runtime::config::edit::{change, no_such_key, parse, read, write};
use towline_engine::runtime::config::{DEFAULT, effective, layered, to_json, value_at};
use towline_engine::runtime::{Failure, Kind, variable};
use towline_render::config_json;

const EXAMPLES: &str = "\
Examples:
  tow config                                show what is in force
  tow config get keep.events_days
  tow config set privacy.exclude_projects '[\"/home/me/secret\"]'
  tow config unset keep.events_days         back to the default
  tow config edit                           open the file in $EDITOR
  tow config default                        the commented defaults";

/// Show and change the configuration.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<ConfigAction>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Show every key with the value in force.
    Show,
    /// Print the value of one key.
    Get { key: String },
    /// Set one key, as TOML or plain text.
    Set { key: String, value: String },
    /// Remove one key from the file.
    Unset { key: String },
    /// Open the file in $VISUAL or $EDITOR.
    Edit,
    /// Print where the file is.
    Path,
    /// Print the commented defaults.
    Default,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = &scope.env.config_file;
    let user = read(file)?;
    match arguments.action.as_ref().unwrap_or(&ConfigAction::Show) {
        ConfigAction::Show => return show(scope, arguments),
        ConfigAction::Edit => {
            Actor::of_caller(&scope.env)?.require_person("edit the configuration")?;
            return edit(scope);
        }
        ConfigAction::Get { key } => get(scope, arguments, &user, key)?,
        ConfigAction::Set { key, value } => {
            require_person_for(scope, key)?;
            set(scope, key, value)?;
        }
        ConfigAction::Unset { key } => {
            require_person_for(scope, key)?;
            unset(scope, &user, key)?;
        }
        ConfigAction::Path => scope.out.line(&file.display().to_string()),
        ConfigAction::Default => scope.out.text(DEFAULT),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let found = effective(&scope.env)?;
    if arguments.json {
        scope.out.json(&config_json(&found));
        return Ok(exit_code(found.mistakes.is_empty()));
    }
    for (key, value) in &found.values {
        let changed = value_at("", key).as_ref() != Some(value);
        let note = if changed { String::new() } else { scope.out.tint(Tone::Faint, "  # default") };
        scope.out.line(&format!("{key} = {value}{note}"));
    }
    for mistake in &found.mistakes {
        let line = format!("{}: {mistake}", found.file.display());
        scope.out.line(&scope.out.tint(Tone::Warning, &line));
    }
    Ok(exit_code(found.mistakes.is_empty()))
}

fn exit_code(fine: bool) -> ExitCode {
    if fine { ExitCode::SUCCESS } else { Kind::Failed.exit_code() }
}

fn get(scope: &Scope, arguments: &Arguments, user: &str, key: &str) -> Result<(), Failure> {
    let value = value_at(user, key).ok_or_else(|| no_such_key(key))?;
    scope.out.line(&if arguments.json { to_json(&value).to_string() } else { value });
    Ok(())
}

/// The sections that decide what is kept and deleted, what is typed in the user's name, what models may read, which
/// programs run, and where data is sent.
const GUARDED: [&str; 11] = [
    "archive",
    "continue",
    "distil",
    "hub",
    "keep",
    "limits",
    "mcp",
    "notify",
    "privacy",
    "statusline",
    "typing",
];

fn require_person_for(scope: &Scope, key: &str) -> Result<(), Failure> {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    match GUARDED.contains(&section) {
        true => Actor::of_caller(&scope.env)?.require_person(&format!("change the settings of `{section}`")),
        false => Ok(()),
    }
}

fn set(scope: &Scope, key: &str, value: &str) -> Result<(), Failure> {
    if value_at("", key).is_none() {
        return Err(no_such_key(key));
    }
    let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
    change(&scope.env, &[(key, Some(value))])
}

/// Sets several keys in one change of the file, if the caller may.
pub fn set_all(scope: &Scope, values: &[(&str, &str)]) -> Result<(), Failure> {
    values.iter().try_for_each(|(key, _)| require_person_for(scope, key))?;
    let value = |text: &str| text.parse().unwrap_or_else(|_| Value::from(text));
    let changes: Vec<(&str, Option<Value>)> =
        values.iter().map(|(key, text)| (*key, Some(value(text)))).collect();
    change(&scope.env, &changes)
}

/// Whether none of the keys has a value other than its default.
pub fn are_usual(scope: &Scope, keys: &[&str]) -> Result<bool, Failure> {
    let user = read(&scope.env.config_file)?;
    Ok(keys.iter().all(|key| value_at(&user, key) == value_at("", key)))
}

fn unset(scope: &Scope, user: &str, key: &str) -> Result<(), Failure> {
    let mut document = parse(&scope.env, user)?;
    let (table, name) = key.split_once('.').unwrap_or((key, ""));
    let removed =
        document.get_mut(table).and_then(Item::as_table_like_mut).and_then(|table| table.remove(name));
    if removed.is_none() {
        return Err(Failure::input(format!("`{key}` is not set in {}", scope.env.config_file.display())));
    }
    write(&scope.env, &document.to_string())
}

fn edit(scope: &Scope) -> Result<ExitCode, Failure> {
    let file = &scope.env.config_file;
    if !file.exists() {
        write(&scope.env, "# See `tow config default` for every key.\n")?;
    }
    let is_left = edit_file(file)?;
    let mistakes = layered(&read(file)?).mistakes;
    for mistake in &mistakes {
        scope.out.line(&scope.out.tint(Tone::Warning, &mistake.to_string()));
    }
    Ok(exit_code(is_left && mistakes.is_empty()))
}

/// Opens the file in the user's editor. True if the editor exited with success.
#[expect(clippy::disallowed_methods, reason = "the one place that opens an editor")]
pub fn edit_file(file: &Path) -> Result<bool, Failure> {
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file).status().map_err(|error| {
        Failure::about(format!("could not start the editor `{program}`"), &error)
            .hint("Set EDITOR to a program that exists.")
    })?;
    Ok(status.success() && status.signal().is_none())
}

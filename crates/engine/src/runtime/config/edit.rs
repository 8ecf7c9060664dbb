//! Edits the user's configuration file: sets or removes keys. Comments and order are preserved.

use super::layer::{Mistake, layered};
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use toml_edit::{DocumentMut, Item, Value};

pub fn read(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            let failure = Failure::about(format!("could not read {}", file.display()), &error);
            Err(failure.hint(format!("Check who may read it: `ls -l {}`.", file.display())))
        }
        Ok(text) => Ok(text),
    }
}

pub fn no_such_key(key: &str) -> Failure {
    let mistake = layered(&format!("{key} = 0")).mistakes.into_iter().next();
    let what = mistake.map_or_else(|| format!("there is no key `{key}`"), |mistake| mistake.what);
    Failure::input(what).hint("Run `tow config show` for all keys.")
}

/// Sets keys, or removes those without a value, in one write of the user's file. Rejects an invalid value.
pub fn change(env: &Env, changes: &[(&str, Option<Value>)]) -> Result<(), Failure> {
    let user = read(&env.config_file)?;
    let mut document = parse(env, &user)?;
    for (key, value) in changes {
        let (table, name) = key.split_once('.').ok_or_else(|| no_such_key(key))?;
        match value {
            Some(value) => {
                document.entry(table).or_insert(Item::Table(toml_edit::Table::new()))[name] =
                    Item::Value(value.clone());
            }
            None => {
                let table = document.get_mut(table).and_then(Item::as_table_like_mut);
                table.and_then(|table| table.remove(name));
            }
        }
    }
    let text = document.to_string();
    let is_ours = |mistake: &&Mistake| changes.iter().any(|(key, _)| mistake.key == *key);
    if let Some(mistake) = layered(&text).mistakes.iter().find(is_ours) {
        return Err(Failure::input(mistake.what.clone())
            .hint(format!("Run `tow config get {}` for the present value.", mistake.key)));
    }
    write(env, &text)
}

/// Rejects a file that cannot be parsed, because editing it would lose its contents.
pub fn parse(env: &Env, user: &str) -> Result<DocumentMut, Failure> {
    user.parse::<DocumentMut>().map_err(|_| {
        let mistake = layered(user).mistakes.into_iter().next().map(|mistake| mistake.to_string());
        let mut failure = Failure::input(format!("{} is not valid TOML", env.config_file.display()));
        failure.causes.extend(mistake);
        failure.hint("Run `tow config edit` and mend that line.")
    })
}

pub fn write(env: &Env, text: &str) -> Result<(), Failure> {
    let file = &env.config_file;
    replace(file, text).map_err(|error| {
        let failure = Failure::about(format!("could not write {}", file.display()), &error);
        failure.hint("Check who may write there; nothing was changed.")
    })
}

/// Replaces the file atomically, keeping its mode; a symlink stays a symlink.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let fresh = target.with_extension(format!("new-{}", std::process::id()));
    fs::write(&fresh, text)?;
    if let Ok(meta) = fs::metadata(&target) {
        fs::set_permissions(&fresh, meta.permissions())?;
    }
    File::open(&fresh)?.sync_all()?;
    fs::rename(&fresh, &target)
}

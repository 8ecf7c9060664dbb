//! Why a settings file was not edited.
//!
//! Never returned for a half-changed file: a write is whole or has not happened.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An edit that was not made: the file and the cause.
#[derive(Debug, Error)]
#[error("did not edit {}", file.display())]
pub struct EditRefusal {
    pub file: PathBuf,
    #[source]
    pub cause: RefusalCause,
}

/// The reason why an edit was refused.
#[derive(Debug, Error)]
pub enum RefusalCause {
    #[error("byte {at} is not UTF-8")]
    NotText { at: usize },
    #[error("line {line}, column {column} is not valid JSON: {reason}")]
    NotJson {
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        reason: String,
    },
    #[error("the file holds no JSON object")]
    RootNotObject,
    #[error("line {line}, column {column} is not valid TOML: {reason}")]
    NotToml {
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        reason: String,
    },
    /// The value that should hold the MCP servers is no object.
    #[error("`{key}` holds no servers")]
    ServersNotObject { key: &'static str },
    #[error("its server `{name}` is not ours")]
    ServerNotOurs { name: &'static str },
    /// The servers' notation allows no edit that changes nothing else.
    #[error("its server `{name}` cannot be changed as the file is written")]
    NoRoomForServer { name: &'static str },
    #[error("`hooks` is not an object")]
    HooksNotObject,
    #[error("`hooks.{event}` is not an array")]
    ListNotArray { event: String },
    #[error("`tasks` is not an array")]
    TasksNotArray,
    #[error("`statusLine` runs no command")]
    StatusLineUnknown,
    /// Our own block is never closed: its end is unknown.
    #[error("line {line} opens our block, and nothing closes it")]
    OpenBlock { line: usize },
    #[error("the file is not ours")]
    NotOurs,
    /// A directory, device or pipe is in the file's place.
    #[error("{} is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    /// The file is larger than any settings file.
    #[error("the file has {bytes} bytes, more than {limit}")]
    TooLarge { bytes: u64, limit: u64 },
    #[error("its symbolic links do not end at a file")]
    LinkLoop,
    #[error("could not read {}", path.display())]
    CannotRead { path: PathBuf, source: io::Error },
    /// The file, or its folder, cannot be written.
    #[error("could not write {}", path.display())]
    CannotWrite { path: PathBuf, source: io::Error },
    /// The original cannot be backed up, so it is not touched either.
    #[error("could not keep a backup in {}", folder.display())]
    CannotBackUp { folder: PathBuf, source: io::Error },
    #[error("another program kept rewriting the file")]
    KeepsChanging,
    #[error("`{command}` cannot be registered: it must be an absolute path in UTF-8")]
    BadCommand {
        /// The path, with invalid UTF-8 replaced.
        command: String,
    },
}

impl EditRefusal {
    /// The next step for the user, in one sentence.
    pub fn hint(&self) -> String {
        let file = self.file.display();
        let again = |what: String| format!("{what}, then run the command again.");
        let reshape = |key: &str, shape: &str| again(format!("Make `{key}` in {file} {shape}, or remove it"));
        match &self.cause {
            RefusalCause::NotText { .. } => again(format!("Save {file} as UTF-8")),
            RefusalCause::NotJson { line, .. } => {
                again(format!("Fix line {line} of {file} (comments and trailing commas are not JSON)"))
            }
            RefusalCause::RootNotObject => again(format!("Make {file} a JSON object, `{{}}` at the least")),
            RefusalCause::NotToml { line, .. } => again(format!("Fix line {line} of {file}")),
            RefusalCause::ServersNotObject { key: name } | RefusalCause::NoRoomForServer { name } => {
                again(format!("Remove `{name}` from {file}"))
            }
            RefusalCause::ServerNotOurs { name } => {
                format!("To get ours, rename `{name}` in {file}, then run `tow install` again.")
            }
            RefusalCause::HooksNotObject => reshape("hooks", "an object"),
            RefusalCause::ListNotArray { event } => reshape(&format!("hooks.{event}"), "an array"),
            RefusalCause::TasksNotArray => reshape("tasks", "an array"),
            RefusalCause::StatusLineUnknown => again(format!("Remove `statusLine` from {file}")),
            RefusalCause::OpenBlock { line } => {
                again(format!("Remove line {line} of {file} and what belongs to it"))
            }
            RefusalCause::NotOurs => format!("To get ours, move {file} away, then run `tow install` again."),
            RefusalCause::NotAFile { path } => again(format!("Move {} away", path.display())),
            RefusalCause::TooLarge { .. } => format!("Look into {file}: no settings file is that large."),
            RefusalCause::LinkLoop => format!("Fix the link: `ls -l {file}`."),
            RefusalCause::CannotRead { path, .. } => {
                format!("Look who may read it: `ls -ld {}`.", path.display())
            }
            RefusalCause::CannotWrite { path, .. } => {
                let path = path.display();
                format!(
                    "Look who may write there, and whether the disk is full or read-only: `ls -ld {path}`."
                )
            }
            RefusalCause::CannotBackUp { folder, .. } => again(format!("Make {} writable", folder.display())),
            RefusalCause::KeepsChanging => again("Close the program that rewrites it".to_owned()),
            RefusalCause::BadCommand { .. } => {
                "Put it at a path of plain UTF-8, such as ~/.local/bin/tow.".to_owned()
            }
        }
    }
}

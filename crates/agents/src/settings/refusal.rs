//! Why a settings file is left as it is.
//!
//! Never raised after the file was half changed: a write is whole or has not happened.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An edit that was not made: the file, the cause, and what to do about it.
#[derive(Debug, Error)]
#[error("did not edit {}", file.display())]
pub struct Refusal {
    /// The settings file, as it was named to us.
    pub file: PathBuf,
    /// What stands in the way.
    #[source]
    pub cause: Cause,
}

/// What stands in the way of an edit.
#[derive(Debug, Error)]
pub enum Cause {
    /// The file is not text.
    #[error("byte {at} is not UTF-8")]
    NotText { at: usize },
    /// The file is not JSON.
    #[error("line {line}, column {column} is not valid JSON: {reason}")]
    NotJson {
        /// Line, counted from 1.
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        reason: String,
    },
    /// The outermost value is no object.
    #[error("the file holds no JSON object")]
    RootNotObject,
    /// The file is not TOML.
    #[error("line {line}, column {column} is not valid TOML: {reason}")]
    NotToml {
        /// Line, counted from 1.
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        reason: String,
    },
    /// What should hold the servers of tools holds none.
    #[error("`{key}` holds no servers")]
    ServersNotObject { key: &'static str },
    /// A server of our name runs something else.
    #[error("its server `{name}` is not ours")]
    ServerNotOurs { name: &'static str },
    /// The way in which the servers are written leaves no room for an edit that touches nothing else.
    #[error("its server `{name}` cannot be changed as the file is written")]
    NoRoomForServer { name: &'static str },
    /// `hooks` is no object.
    #[error("`hooks` is not an object")]
    HooksNotObject,
    /// The list of an event is no array.
    #[error("`hooks.{event}` is not an array")]
    ListNotArray { event: String },
    /// The list of tasks is no array.
    #[error("`tasks` is not an array")]
    TasksNotArray,
    /// The setting for the status line is nothing that runs a command.
    #[error("`statusLine` runs no command")]
    StatusLineUnknown,
    /// Our own block was opened and not closed: what belongs to it cannot be told.
    #[error("line {line} opens our block, and nothing closes it")]
    OpenBlock {
        /// Line, counted from 1.
        line: usize,
    },
    /// The file is not one that we wrote.
    #[error("the file is not ours")]
    NotOurs,
    /// A directory, device or pipe stands where the file should.
    #[error("{} is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    /// The file is larger than any settings file.
    #[error("the file has {bytes} bytes, more than {limit}")]
    TooLarge { bytes: u64, limit: u64 },
    /// Symbolic links lead in a circle.
    #[error("its symbolic links do not end at a file")]
    LinkLoop,
    /// The file cannot be read.
    #[error("could not read {}", path.display())]
    CannotRead { path: PathBuf, source: io::Error },
    /// The file, or the folder it is in, cannot be written.
    #[error("could not write {}", path.display())]
    CannotWrite { path: PathBuf, source: io::Error },
    /// The original cannot be kept, so it is not touched either.
    #[error("could not keep a backup in {}", folder.display())]
    CannotBackUp { folder: PathBuf, source: io::Error },
    /// Somebody rewrites the file all the time.
    #[error("another program kept rewriting the file")]
    KeepsChanging,
    /// The command to register is no absolute path in UTF-8.
    #[error("`{command}` cannot be registered: it must be an absolute path in UTF-8")]
    BadCommand {
        /// The path, as far as it can be shown.
        command: String,
    },
}

impl Refusal {
    /// What to do about it: one sentence for the person at the terminal.
    pub fn hint(&self) -> String {
        let file = self.file.display();
        let reshape = |key: &str, shape: &str| {
            format!("Make `{key}` in {file} {shape}, or remove it, then run the command again.")
        };
        match &self.cause {
            Cause::NotText { .. } => format!("Save {file} as UTF-8, then run the command again."),
            Cause::NotJson { line, .. } => {
                format!(
                    "Mend line {line} of {file} (comments and trailing commas are not JSON), then run the command again."
                )
            }
            Cause::RootNotObject => {
                format!("Make {file} a JSON object, `{{}}` at the least, then run the command again.")
            }
            Cause::NotToml { line, .. } => {
                format!("Mend line {line} of {file}, then run the command again.")
            }
            Cause::ServersNotObject { key: name } | Cause::NoRoomForServer { name } => {
                format!("Remove `{name}` from {file}, then run the command again.")
            }
            Cause::ServerNotOurs { name } => {
                format!("To get ours, rename `{name}` in {file}, then run `tow install` again.")
            }
            Cause::HooksNotObject => reshape("hooks", "an object"),
            Cause::ListNotArray { event } => reshape(&format!("hooks.{event}"), "an array"),
            Cause::TasksNotArray => reshape("tasks", "an array"),
            Cause::StatusLineUnknown => {
                format!("Remove `statusLine` from {file}, then run the command again.")
            }
            Cause::OpenBlock { line } => {
                format!("Remove line {line} of {file} and what belongs to it, then run the command again.")
            }
            Cause::NotOurs => format!("To get ours, move {file} away, then run `tow install` again."),
            Cause::NotAFile { path } => {
                format!("Move {} away, then run the command again.", path.display())
            }
            Cause::TooLarge { .. } => format!("Look into {file}: no settings file is that large."),
            Cause::LinkLoop => format!("Mend the link: `ls -l {file}`."),
            Cause::CannotRead { path, .. } => {
                format!("Look who may read it: `ls -ld {}`.", path.display())
            }
            Cause::CannotWrite { path, .. } => {
                format!(
                    "Look who may write there, and whether the disk is full or read-only: `ls -ld {}`.",
                    path.display()
                )
            }
            Cause::CannotBackUp { folder, .. } => {
                format!("Make {} writable, then run the command again.", folder.display())
            }
            Cause::KeepsChanging => {
                "Close the program that rewrites it, then run the command again.".to_owned()
            }
            Cause::BadCommand { .. } => {
                "Put `tow` at a path of plain UTF-8, such as ~/.local/bin/tow.".to_owned()
            }
        }
    }
}

//! A window of GNU screen: who sits there and when somebody typed can be seen, what stands there cannot.
//!
//! Its copies of a window cut every character down to one byte, so none is taken. In copy mode it swallows what is typed,
//! and does not tell that it is in it. What is typed goes through a register and a private file: its command lines are
//! too short for it.

use super::call::{Call, QUICK};
use super::sitter::{Sitter, Variable};
use super::{DriverError, ENTER, NoDriver, bracketed};
use crate::process::{Process, child_pids};
use std::fs::{DirBuilder, OpenOptions, remove_dir_all};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: true, screen: false, mode: false, activity: true };

#[derive(Debug)]
pub(super) struct Window {
    session: String,
    number: String,
    variables: Vec<Variable>,
}

impl Window {
    pub(super) fn of(place: &Place, sitter: &Sitter) -> Result<Window, NoDriver> {
        sitter.process().ok_or(NoDriver::Left)?;
        match (&place.server, &place.pane) {
            (Some(session), Some(number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Window {
                session: session.clone(),
                number: number.clone(),
                variables: sitter.variables(&["PATH", "HOME", "SCREENDIR", "TMPDIR"]),
            }),
            (_, _) => Err(NoDriver::NoPane),
        }
    }

    pub(super) fn look(&self, sitter: &Sitter) -> Look {
        let is_there = match self.ask(&QUESTION) {
            Ok(_) => self.is_only_window(sitter),
            Err(DriverError::Refused { .. }) => Some(false),
            Err(_) => None,
        };
        Look { is_there, last_key_at: sitter.last_input(), ..Look::default() }
    }

    /// Windows can change numbers, and nothing tells which terminal a number has: only with a single one it is sure.
    fn is_only_window(&self, sitter: &Sitter) -> Option<bool> {
        let Some((server, told)) = sitter.opened_by() else { return Some(false) };
        let is_session = self.session.split('.').next() == Some(server.pid.to_string().as_str());
        let is_window = told.get("WINDOW") == Some(&self.number);
        let windows = child_pids(server.pid)?.into_iter().filter_map(Process::read);
        let is_only = windows.filter(|child| child.terminal().is_some()).count() == 1;
        if !is_session || !is_window {
            return Some(false);
        }
        is_only.then_some(true)
    }

    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
    }

    /// Commands to a window that is not there are dropped without a word, hence the question first.
    fn put(&self, keys: &str) -> Result<(), DriverError> {
        self.ask(&QUESTION)?;
        let no_file = |error: io::Error| DriverError::NoFile { program: PROGRAM, cause: error.to_string() };
        let folder = self.private_folder().map_err(no_file)?;
        let done = self.put_through(&folder.join("text"), keys);
        remove_dir_all(folder).map_err(no_file)?;
        done
    }

    fn put_through(&self, file: &Path, keys: &str) -> Result<(), DriverError> {
        let no_file = |error: io::Error| DriverError::NoFile { program: PROGRAM, cause: error.to_string() };
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o600).open(file);
        opened.and_then(|mut file| file.write_all(keys.as_bytes())).map_err(no_file)?;
        let path = file.to_string_lossy();
        self.ask(&["-X", "readreg", REGISTER, &quoted(&path)])?;
        self.ask(&["-X", "paste", REGISTER])?;
        // An answer to a question says that the orders before it were carried out: the file was read by then.
        self.ask(&QUESTION).map(drop)
    }

    /// Made by us or not at all, and open to nobody else.
    fn private_folder(&self) -> io::Result<PathBuf> {
        let parent =
            self.variables.iter().find(|(name, _)| *name == "TMPDIR").map_or("/tmp", |(_, path)| path);
        let folder = Path::new(parent).join(format!("towline-screen-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    fn ask(&self, order: &[&str]) -> Result<String, DriverError> {
        let arguments = [&["-S", &self.session, "-p", &self.number], order].concat();
        Call {
            program: PROGRAM,
            arguments: &arguments,
            variables: &self.variables,
            input: b"",
            patience: QUICK,
        }
        .run()
    }
}

const PROGRAM: &str = "screen";

/// Any answer will do: the window is there. Whoever looks at it sees every answer, so it is an empty one.
const QUESTION: [&str; 3] = ["-Q", "echo", ""];

/// One that no person has: they are named by keys.
const REGISTER: &str = "\u{1}";

/// screen reads `^x` and `\x` in arguments as something else, and `$x` as a variable.
fn quoted(word: &str) -> String {
    word.replace('\\', "\\\\").replace('^', "\\^").replace('$', "\\$")
}

//! `cargo xtask corpus`: writes the transcripts of a made-up heavy user, for benchmarks.
//!
//! Two years of work of both clients: mostly small files and a few of 100 MB, short and long lines, subagents and forks.
//! The same size gives the same bytes, on every machine. Reads no transcript of a user.

mod chance;
mod client;
mod live;
mod story;

pub use chance::Chance;
pub use live::{Cast, LiveSession, LiveTurn};

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

use client::Client;
use story::{Session, Storyteller};

#[derive(Args)]
pub struct Options {
    /// How many gigabytes to write
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    gigabytes: f64,
    /// The most turns of a session: fewer make more and smaller sessions
    #[arg(long, value_name = "N", default_value_t = USUAL_TURNS)]
    turns: u64,
    /// The home folder to write into
    #[arg(long, value_name = "FOLDER")]
    home: PathBuf,
}

/// How much to write, and in which sessions.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub bytes: u64,
    /// Sessions have up to this many turns.
    pub most_turns: u64,
}

impl Shape {
    pub fn of_gigabytes(gigabytes: f64) -> Shape {
        Shape { bytes: (gigabytes * 1e9) as u64, most_turns: USUAL_TURNS }
    }

    /// This many small sessions, about.
    pub fn of_small_sessions(sessions: u64) -> Shape {
        Shape { bytes: sessions * SMALL_SESSION_BYTES, most_turns: SMALL_TURNS }
    }

    /// How many sessions this will be, about.
    fn sessions(self) -> u64 {
        let each = if self.most_turns <= SMALL_TURNS { SMALL_SESSION_BYTES } else { USUAL_SESSION_BYTES };
        (self.bytes / each).max(1)
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Written {
    pub sessions: u64,
    pub files: u64,
    pub turns: u64,
    pub bytes: u64,
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let shape = Shape { most_turns: options.turns, ..Shape::of_gigabytes(options.gigabytes) };
    let done = write(&repository.root().join("crates"), &options.home, shape)?;
    let Written { sessions, files, turns, bytes } = done;
    writeln!(out, "{sessions} sessions, {files} files, {turns} turns, {} MB", bytes / 1_000_000)?;
    Ok(Verdict::Holds)
}

/// Sessions of heavy users: 20,000 in 6.85 GB.
const USUAL_TURNS: u64 = 120;
const USUAL_SESSION_BYTES: u64 = 342_500;
/// Sessions of a growth series, with their subagents.
const SMALL_TURNS: u64 = 3;
const SMALL_SESSION_BYTES: u64 = 25_000;
/// Every so many sessions there is one of 100 MB, if it fits.
const HUGE_EVERY: u64 = 4_000;
const HUGE_BYTES: u64 = 100_000_000;

/// Writes transcripts below `home` until they have the bytes of this shape.
pub fn write(crates: &Path, home: &Path, shape: Shape) -> Result<Written> {
    let (bytes, sessions) = (shape.bytes, shape.sessions());
    let teller = Storyteller::load(crates, sessions)?.with_most_turns(shape.most_turns);
    let (mut chance, mut done) = (Chance::new(20_241_101), Written::default());
    let mut number = 0;
    while done.bytes < bytes {
        let mut session = teller.session(&mut chance, number, sessions);
        if number % HUGE_EVERY == HUGE_EVERY / 2 && bytes > 10 * HUGE_BYTES {
            session.least_bytes = HUGE_BYTES;
        }
        write_session(&teller, &mut chance, home, &session, &mut done)?;
        number += 1;
    }
    Ok(done)
}

/// Writes a session, the files of its subagents and, at times, a fork of it.
fn write_session(
    teller: &Storyteller,
    chance: &mut Chance,
    home: &Path,
    session: &Session,
    done: &mut Written,
) -> Result<()> {
    let client = if session.number % 4 == 3 { Client::Codex } else { Client::Claude };
    let mut text = client.opening(session);
    let (mut turn, mut fork_at) = (0, None);
    while turn < session.turns || (text.len() as u64) < session.least_bytes {
        text.push_str(&client.turn(session, turn, &teller.turn(chance, session)));
        turn += 1;
        if turn == session.turns / 2 && chance.is_one_in(25) {
            fork_at = Some(text.len());
        }
    }
    done.turns += turn;
    done.sessions += 1;
    let mut save = |path: PathBuf, text: &str| {
        done.files += 1;
        done.bytes += text.len() as u64;
        files::write(&home.join(path), text)
    };
    if let Some(at) = fork_at.filter(|_| matches!(client, Client::Claude)) {
        let fork = session.fork();
        let copied = text[..at].replace(&session.id, &fork.id);
        save(client.place(&fork), &copied)?;
    }
    save(client.place(session), &text)?;
    if let Client::Claude = client {
        for number in 0..session.subagents {
            let subagent = teller.turn(chance, session);
            save(client.subagent_place(session, number), &client.subagent(session, number, &subagent))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json_and_the_same_size_gives_the_same_bytes() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let written = folders.each_ref().map(|folder| {
            let shape = Shape { bytes: 12_000_000, most_turns: USUAL_TURNS };
            write(&crates, folder.path(), shape).unwrap()
        });
        assert!(written[0].sessions > 3 && written[0].files > written[0].sessions, "{written:?}");
        let all = folders.each_ref().map(|folder| files::below(folder.path()).unwrap());
        assert_eq!(all[0].len() as u64, written[0].files);
        for (one, other) in all[0].iter().zip(&all[1]) {
            let text = files::read(one).unwrap();
            assert_eq!(text, files::read(other).unwrap());
            let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
            assert!(text.lines().all(is_json), "{}", one.display());
        }
    }

    #[test]
    fn fewer_turns_make_more_sessions_of_the_same_bytes() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let written = [USUAL_TURNS, SMALL_TURNS].map(|most_turns| {
            let folder = tempfile::tempdir().unwrap();
            write(&crates, folder.path(), Shape { bytes: 3_000_000, most_turns }).unwrap()
        });
        assert!(written[1].sessions > 3 * written[0].sessions, "{written:?}");
    }
}

//! `cargo xtask corpus`: writes the transcripts of a made-up heavy user, for benchmarks.
//!
//! Two years of work of both clients: mostly small files and a few of 100 MB, short and long lines, subagents and forks.
//! The same size gives the same bytes, on every machine. Reads no transcript of a user.

mod chance;
mod client;
mod story;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::files;
use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

use chance::Chance;
use client::Client;
use story::{Session, Storyteller};

#[derive(Args)]
pub struct Options {
    /// How many gigabytes to write
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    gigabytes: f64,
    /// The home folder to write into
    #[arg(long, value_name = "FOLDER")]
    home: PathBuf,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub sessions: u64,
    pub files: u64,
    pub turns: u64,
    pub bytes: u64,
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let bytes = (options.gigabytes * 1e9) as u64;
    let done = write(&repository.root().join("crates"), &options.home, bytes)?;
    let Written { sessions, files, turns, bytes } = done;
    writeln!(out, "{sessions} sessions, {files} files, {turns} turns, {} MB", bytes / 1_000_000)?;
    Ok(Verdict::Holds)
}

/// Sessions per gigabyte, as measured on heavy users: 20,000 in 6.85 GB.
const SESSIONS_PER_GB: u64 = 2_920;
/// Every so many sessions there is one of 100 MB, if it fits.
const HUGE_EVERY: u64 = 4_000;
const HUGE_BYTES: u64 = 100_000_000;

/// Writes transcripts below `home` until they have this many bytes.
pub fn write(crates: &Path, home: &Path, bytes: u64) -> Result<Written> {
    let sessions = (bytes * SESSIONS_PER_GB / 1_000_000_000).max(1);
    let teller = Storyteller::load(crates, sessions)?;
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
            let helper = teller.turn(chance, session);
            save(client.subagent_place(session, number), &client.subagent(session, number, &helper))?;
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
        let written = folders.each_ref().map(|folder| write(&crates, folder.path(), 3_000_000).unwrap());
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
}

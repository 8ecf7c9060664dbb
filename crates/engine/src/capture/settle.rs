//! Waits until a client has written its transcript: it reports the end of a turn before the file holds it.
//!
//! Only for background processes, and one per transcript: a second one leaves the work to the first.

use super::door::Door;
use super::{CaptureError, Captured, Transcript, Wishes, capture};
use crate::runtime::Env;
use std::fs;
use std::time::Duration;

/// A client with more to write does so within this time.
const QUIET: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(50);

/// Captures these files once their clients have finished writing; returns the last capture.
#[expect(clippy::disallowed_methods, reason = "waiting for another program's writes, which nobody tells of")]
pub fn capture_settled(
    env: &Env,
    wishes: &Wishes,
    files: &[Transcript],
) -> Result<Option<Captured>, CaptureError> {
    capture_after(env, wishes, files, std::thread::sleep)
}

fn capture_after(
    env: &Env,
    wishes: &Wishes,
    files: &[Transcript],
    mut pause: impl FnMut(Duration),
) -> Result<Option<Captured>, CaptureError> {
    let mut captured = None;
    let mut awaited: Vec<Awaited> = files.iter().filter_map(|file| Awaited::unless_kept(env, file)).collect();
    while !awaited.is_empty() {
        // Release the archive while waiting.
        drop(captured.take());
        let rest = settled(&mut awaited, &mut pause);
        if rest == SettleResult::Quiet {
            awaited.iter_mut().for_each(Awaited::leave);
        }
        let files: Vec<Transcript> = awaited.iter().map(|one| one.file.clone()).collect();
        captured = capture(env, wishes, &files)?;
        if rest == SettleResult::Quiet {
            awaited.retain_mut(Awaited::is_asked_for);
            awaited = awaited.iter().filter_map(|one| Awaited::unless_kept(env, &one.file)).collect();
        }
    }
    Ok(captured)
}

/// A transcript whose remaining lines are awaited.
struct Awaited {
    file: Transcript,
    size: u64,
    /// `None` if the file could not be created: then other processes wait for this transcript as well.
    door: Option<Door>,
}

impl Awaited {
    fn unless_kept(env: &Env, file: &Transcript) -> Option<Awaited> {
        let door = match Door::acquire(&env.home, &file.path) {
            Ok(None) => return None,
            Ok(door) => door,
            Err(_) => None,
        };
        Some(Awaited { file: file.clone(), size: size(file), door })
    }

    fn leave(&mut self) {
        self.door.iter_mut().for_each(Door::release);
    }

    fn is_asked_for(&mut self) -> bool {
        self.door.as_mut().is_some_and(Door::was_notified)
    }

    fn has_grown(&mut self) -> bool {
        let size = size(&self.file);
        std::mem::replace(&mut self.size, size) != size
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettleResult {
    /// The client has written everything that it reported.
    Quiet,
    /// A new request came in whose data may not be written yet.
    Disturbed,
}

/// Returns once no file has grown and no request has come for a while, and at the latest after [`LONGEST`]: a
/// busy session never rests.
fn settled(awaited: &mut [Awaited], mut pause: impl FnMut(Duration)) -> SettleResult {
    let (mut quiet, mut unasked, mut spent) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    while quiet < QUIET && spent < LONGEST {
        pause(STEP);
        (quiet, unasked, spent) = (quiet + STEP, unasked + STEP, spent + STEP);
        for one in &mut *awaited {
            if one.is_asked_for() {
                (quiet, unasked) = (Duration::ZERO, Duration::ZERO);
            }
            // A file that is not there yet is still to come.
            if one.has_grown() || one.size == 0 {
                quiet = Duration::ZERO;
            }
        }
    }
    if unasked < QUIET { SettleResult::Disturbed } else { SettleResult::Quiet }
}

fn size(file: &Transcript) -> u64 {
    fs::metadata(&file.path).map_or(0, |meta| meta.len())
}

#[cfg(test)]
mod tests {
    use super::super::door::notify_capture;
    use super::*;
    use towline_agents::Agent;
    use towline_store::DataFolder;
    use towline_store::lock::ArchiveLock;

    /// The duration and result of `settled`, with a client that writes and hooks that knock at these pauses.
    fn took(writes: impl Fn(u32) -> bool, knocks: impl Fn(u32) -> bool) -> (Duration, SettleResult) {
        let folder = tempfile::tempdir().unwrap();
        let (home, path) = (DataFolder::at(folder.path()), folder.path().join("transcript.jsonl"));
        fs::write(&path, "{}\n").unwrap();
        let file = Transcript { agent: Agent::ALL[0].into(), path: path.clone() };
        let door = Door::acquire(&home, &path).unwrap();
        let mut awaited = [Awaited { size: size(&file), file, door }];
        let mut pauses = 0;
        let rest = settled(&mut awaited, |_| {
            pauses += 1;
            if writes(pauses) {
                fs::write(&path, "{}\n".repeat(pauses as usize + 1)).unwrap();
            }
            if knocks(pauses) {
                assert!(notify_capture(&home, &path));
            }
        });
        (STEP * pauses, rest)
    }

    #[test]
    fn tl_8_an_answer_that_is_written_after_its_end_was_told_is_waited_for() {
        assert_eq!(took(|_| false, |_| false), (QUIET, SettleResult::Quiet));
        assert_eq!(took(|pause| pause == 7, |_| false), (QUIET + STEP * 7, SettleResult::Quiet));
        assert_eq!(took(|_| true, |_| false), (LONGEST, SettleResult::Quiet), "a busy session never rests");
    }

    #[test]
    fn a_transcript_that_is_made_after_the_end_of_its_first_turn_was_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (home, path) = (DataFolder::at(folder.path()), folder.path().join("transcript.jsonl"));
        let file = Transcript { agent: Agent::ALL[0].into(), path: path.clone() };
        let made_at = 20;
        let settle = |is_made: bool| {
            let door = Door::acquire(&home, &path).unwrap();
            let mut awaited = [Awaited { size: size(&file), file: file.clone(), door }];
            let mut pauses = 0;
            settled(&mut awaited, |_| {
                pauses += 1;
                if is_made && pauses == made_at {
                    fs::write(&path, "{}\n").unwrap();
                }
            });
            STEP * pauses
        };
        assert_eq!(settle(false), LONGEST, "one that never comes");
        assert_eq!(settle(true), STEP * made_at + QUIET);
    }

    #[test]
    fn nobody_is_kept_from_the_archive_by_one_who_waits() {
        let folder = tempfile::tempdir().unwrap();
        let (home, path) = (DataFolder::at(folder.path()), folder.path().join("transcript.jsonl"));
        fs::write(&path, "{}\n").unwrap();
        let env = Env::at(home.clone(), folder.path().join("config.toml"));
        let files = [Transcript { agent: Agent::ALL[0].into(), path: path.clone() }];
        let (mut pauses, first_round) = (0, LONGEST.as_millis() / STEP.as_millis());
        let captured = capture_after(&env, &Wishes::default_rules(), &files, |_| {
            pauses += 1;
            if pauses <= first_round {
                assert!(notify_capture(&home, &path), "so there is another round");
            } else {
                assert!(ArchiveLock::take_within(&home, []).unwrap().is_some());
            }
        });
        assert!(captured.unwrap().is_some());
        assert!(pauses > first_round, "{pauses}");
    }

    #[test]
    fn who_asks_meanwhile_is_waited_for_as_long_as_who_asked_first() {
        assert_eq!(took(|_| false, |pause| pause == 7), (QUIET + STEP * 7, SettleResult::Quiet));
        assert_eq!(took(|_| false, |_| true), (LONGEST, SettleResult::Disturbed));
        let last = u32::try_from(LONGEST.as_millis() / STEP.as_millis()).unwrap();
        assert_eq!(took(|_| true, |pause| pause == last - 1), (LONGEST, SettleResult::Disturbed));
        assert_eq!(took(|_| true, |pause| pause == last - 8), (LONGEST, SettleResult::Quiet));
    }
}

//! Waiting until a client has written what it had to write: it tells of a turn's end before its transcript holds it.
//!
//! Only for a process that nobody waits for.

use super::Transcript;
use std::fs;
use std::time::Duration;

/// A client that has more to write writes it within this.
const QUIET: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(50);

/// Returns once no file has grown for a while, and at the latest after [`LONGEST`]: a busy session never rests.
#[expect(clippy::disallowed_methods, reason = "waiting for another program's writes, which nobody tells of")]
pub fn settle(files: &[Transcript]) {
    settled(files, std::thread::sleep);
}

fn settled(files: &[Transcript], mut pause: impl FnMut(Duration)) {
    let (mut before, mut quiet, mut spent) = (sizes(files), Duration::ZERO, Duration::ZERO);
    while quiet < QUIET && spent < LONGEST {
        pause(STEP);
        spent += STEP;
        let now = sizes(files);
        quiet = if now == before { quiet + STEP } else { Duration::ZERO };
        before = now;
    }
}

fn sizes(files: &[Transcript]) -> Vec<u64> {
    files.iter().map(|file| fs::metadata(&file.path).map_or(0, |meta| meta.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_agents::Agent;

    /// How long it took, with a client that writes at these pauses.
    fn took(writes: impl Fn(u32) -> bool) -> Duration {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let files = [Transcript { agent: Agent::ALL[0], path: path.clone() }];
        let mut pauses = 0;
        settled(&files, |_| {
            pauses += 1;
            if writes(pauses) {
                fs::write(&path, "{}\n".repeat(pauses as usize + 1)).unwrap();
            }
        });
        STEP * pauses
    }

    #[test]
    fn tl_8_an_answer_that_is_written_after_its_end_was_told_is_waited_for() {
        assert_eq!(took(|_| false), QUIET);
        assert_eq!(took(|pause| pause == 7), QUIET + STEP * 7);
        assert_eq!(took(|_| true), LONGEST, "a busy session never rests");
    }
}

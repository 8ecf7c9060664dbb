//! The line itself: each of asked, done and ended has its room, and gives the others what it does not need.
//!
//! Nothing is decided here but what is left out where there is too much.

use super::command::Purpose;
use super::runs::{Came, Run};
use super::said::LastWord;
use super::words::{Room, clipped};
use super::{Digest, Ended, Files, LONGEST, Sampled};
use std::cmp::Reverse;

/// What asked and ended get at least; the rest is for what was done.
const ASKED: usize = 100;
const ENDED: usize = 70;

/// ` — ` and `; ` between the three.
const BETWEEN: usize = 5;

/// Fewer characters of an answer say nothing.
const WORTH_SAYING: usize = 12;

pub(super) fn line(digest: &Digest) -> String {
    let length = |text: &str| text.chars().count();
    let asked_long = length(&digest.asked);
    let said = digest.said.understood();
    let ended_long = length(&ended(digest.ended, &said, LONGEST));
    let done = done(digest, LONGEST.saturating_sub(asked_long.min(ASKED) + ended_long.min(ENDED) + BETWEEN));
    let spare = LONGEST.saturating_sub(length(&done) + BETWEEN);
    let asked = cut(&digest.asked, spare.saturating_sub(ended_long).max(ASKED));
    let ended = ended(digest.ended, &said, spare.saturating_sub(length(&asked)));
    let what: Vec<String> = [done, ended].into_iter().filter(|part| !part.is_empty()).collect();
    let line = if what.is_empty() { asked } else { format!("{asked} — {}", what.join("; ")) };
    cut(&line, LONGEST)
}

fn cut(text: &str, characters: usize) -> String {
    clipped(text, Room { characters, bytes: usize::MAX })
}

/// How it ended, in at most so many characters.
fn ended(how: Ended, said: &LastWord, room: usize) -> String {
    let (how, lead) = match how {
        Ended::Open => ("", "last said: "),
        Ended::Answered if said.is_question => ("", "asked: "),
        Ended::Answered => ("", "done: "),
        Ended::Interrupted => ("interrupted", " after "),
        Ended::Failed => ("stopped by an error", " after "),
        Ended::Limited => ("stopped by the usage limit", " after "),
    };
    let left = room.saturating_sub(how.len() + lead.len() + 2);
    if said.words.is_empty() || left < WORTH_SAYING {
        return how.to_owned();
    }
    format!("{how}{lead}\"{}\"", cut(&said.words.replace('"', "'"), left))
}

/// What was done, in at most so many characters: fewer names first, then fewer parts.
fn done(digest: &Digest, room: usize) -> String {
    let fits = |text: &String| text.chars().count() <= room;
    for names in (1..=4).rev() {
        let whole = parts(digest, names).join("; ");
        if fits(&whole) {
            return whole;
        }
    }
    let mut done = String::new();
    for part in parts(digest, 1) {
        let more = if done.is_empty() { part } else { format!("{done}; {part}") };
        if fits(&more) {
            done = more;
        }
    }
    done
}

fn parts(digest: &Digest, names: usize) -> Vec<String> {
    let main = [files("edited", &digest.changed, names), ran(digest, names), committed(digest, names)];
    let beside = [
        sampled("delegated", &digest.delegated),
        sampled("asked", &digest.questions),
        sampled("fetched", &digest.fetched),
        sampled("searched", &digest.searched),
        files("read", &digest.only_read(), names.min(2)),
        counted("used", digest.other, "other tool"),
    ];
    main.into_iter().chain(beside).flatten().collect()
}

fn files(verb: &str, files: &Files, names: usize) -> Option<String> {
    let shown: Vec<&str> = files.named.iter().take(names).map(|named| named.path.as_str()).collect();
    let others = u32::try_from(files.named.len() - shown.len()).unwrap_or(0).saturating_add(files.more);
    let more =
        if files.more > Files::COUNTED { format!(" and over {} more", Files::COUNTED) } else { more(others) };
    (!shown.is_empty()).then(|| format!("{verb} {}{more}", shown.join(", ")))
}

/// The most telling commands, in the order in which they were first run. Those that only look are shown where there
/// is nothing else.
fn ran(digest: &Digest, names: usize) -> Option<String> {
    let all = &digest.runs;
    let is_told = all.kept.iter().any(Run::is_telling);
    if !is_told && !digest.changed.is_empty() {
        return None;
    }
    let mut order: Vec<(usize, &Run)> =
        all.kept.iter().enumerate().filter(|(_, run)| run.is_telling() == is_told).collect();
    order.sort_by_key(|(at, run)| (Reverse(run.purpose), *at));
    let hidden = order.split_off(names.min(order.len())).into_iter().map(|(_, run)| run.times);
    let others = hidden.fold(if is_told { all.more } else { all.more_looks }, u32::saturating_add);
    order.sort_by_key(|(at, _)| *at);
    let shown: Vec<String> = order.into_iter().map(|(_, shown)| run(shown)).collect();
    (!shown.is_empty()).then(|| format!("ran {}{}", shown.join(", "), more(others)))
}

fn more(others: u32) -> String {
    if others > 0 { format!(" +{others}") } else { String::new() }
}

fn run(run: &Run) -> String {
    let times = if run.times > 1 { format!(" ×{}", run.times) } else { String::new() };
    let came = run.came.and_then(|came| result(run, came));
    let came = came.map(|came| format!(" ({came})")).unwrap_or_default();
    format!("{}{times}{came}", run.what)
}

/// Success goes without saying, but for what is run to find out.
fn result(run: &Run, came: Came) -> Option<String> {
    let is_trial = run.purpose >= Purpose::Build;
    let last = match (came, run.tests) {
        (Came::Passed, Some((passed, _))) if passed > 0 => format!("{passed} passed"),
        (Came::Failed, Some((passed, failed))) if failed > 0 => {
            format!("{failed} of {} failed", passed.saturating_add(failed))
        }
        (Came::Passed, _) => "passed".to_owned(),
        (Came::Failed, _) => "failed".to_owned(),
        (Came::Interrupted, _) => "stopped".to_owned(),
        (Came::Running, _) => "running".to_owned(),
    };
    match run.before {
        Some(Came::Failed) => Some(format!("failed, then {last}")),
        Some(Came::Passed) if is_trial => Some(format!("passed, then {last}")),
        Some(Came::Passed | Came::Interrupted | Came::Running) | None => {
            (came != Came::Passed || is_trial).then_some(last)
        }
    }
}

fn committed(digest: &Digest, names: usize) -> Option<String> {
    let skipped = digest.commits.len().saturating_sub(names);
    let shown: Vec<String> = digest
        .commits
        .iter()
        .skip(skipped)
        .map(|(hash, subject)| format!("{hash} \"{}\"", subject.replace('"', "'")))
        .collect();
    let others = u32::try_from(skipped).unwrap_or(0).saturating_add(digest.more_commits);
    (!shown.is_empty()).then(|| format!("committed {}{}", shown.join(", "), more(others)))
}

fn sampled(verb: &str, sampled: &Sampled) -> Option<String> {
    let more = more(sampled.times.saturating_sub(1));
    (!sampled.is_empty()).then(|| format!("{verb} \"{}\"{more}", sampled.first.replace('"', "'")))
}

fn counted(verb: &str, count: u32, thing: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{verb} {count} {thing}{plural}"))
}

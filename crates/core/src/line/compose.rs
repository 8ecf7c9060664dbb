//! Renders the line: request, actions and outcome each have a minimum length and pass unused space to the others.
//!
//! Decides only which parts to drop when the line is too long.

use super::command::RunPurpose;
use super::runs::{CommandRun, RunOutcome};
use super::said::LastWord;
use super::words::{TextLimit, clipped};
use super::{FileSet, LONGEST, SampledText, TurnDigest, TurnEnd};
use std::cmp::Reverse;

/// Minimum characters of the request and of the outcome; the rest is for the actions.
const ASKED: usize = 100;
const ENDED: usize = 70;

/// ` — ` and `; ` between the three.
const BETWEEN: usize = 5;

/// Fewer characters of an answer are not worth showing.
const WORTH_SAYING: usize = 12;

pub(super) fn line(digest: &TurnDigest) -> String {
    let length = |text: &str| text.chars().count();
    let asked_len = length(&digest.asked);
    let said = digest.said.parsed();
    let ended_len = length(&ended(digest.ended, &said, LONGEST));
    let done = done(digest, LONGEST.saturating_sub(asked_len.min(ASKED) + ended_len.min(ENDED) + BETWEEN));
    let spare = LONGEST.saturating_sub(length(&done) + BETWEEN);
    let asked = cut(&digest.asked, spare.saturating_sub(ended_len).max(ASKED));
    let ended = ended(digest.ended, &said, spare.saturating_sub(length(&asked)));
    let parts: Vec<String> = [done, ended].into_iter().filter(|part| !part.is_empty()).collect();
    let line = if parts.is_empty() { asked } else { format!("{asked} — {}", parts.join("; ")) };
    cut(&line, LONGEST)
}

fn cut(text: &str, characters: usize) -> String {
    clipped(text, TextLimit { characters, bytes: usize::MAX })
}

/// The outcome, in at most `room` characters.
fn ended(how: TurnEnd, said: &LastWord, room: usize) -> String {
    let (how, lead) = match how {
        TurnEnd::Open => ("", "last said: "),
        TurnEnd::Answered if said.is_question => ("", "asked: "),
        TurnEnd::Answered => ("", "done: "),
        TurnEnd::Interrupted => ("interrupted", " after "),
        TurnEnd::Failed => ("stopped by an error", " after "),
        TurnEnd::Limited => ("stopped by the usage limit", " after "),
    };
    let left = room.saturating_sub(how.len() + lead.len() + 2);
    if said.words.is_empty() || left < WORTH_SAYING {
        return how.to_owned();
    }
    format!("{how}{lead}\"{}\"", cut(&said.words.replace('"', "'"), left))
}

/// The actions, in at most `room` characters: drops names first, then parts.
fn done(digest: &TurnDigest, room: usize) -> String {
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

fn parts(digest: &TurnDigest, names: usize) -> Vec<String> {
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

fn files(verb: &str, files: &FileSet, names: usize) -> Option<String> {
    let shown: Vec<&str> = files.named.iter().take(names).map(|named| named.path.as_str()).collect();
    let others = u32::try_from(files.named.len() - shown.len()).unwrap_or(0).saturating_add(files.more);
    let more = if files.more > FileSet::COUNTED {
        format!(" and over {} more", FileSet::COUNTED)
    } else {
        more_suffix(others)
    };
    (!shown.is_empty()).then(|| format!("{verb} {}{more}", shown.join(", ")))
}

/// The most informative commands, in the order of their first run. Read-only commands are shown only if there are no
/// others.
fn ran(digest: &TurnDigest, names: usize) -> Option<String> {
    let all = &digest.runs;
    let has_informative = all.kept.iter().any(CommandRun::is_informative);
    if !has_informative && !digest.changed.is_empty() {
        return None;
    }
    let mut order: Vec<(usize, &CommandRun)> =
        all.kept.iter().enumerate().filter(|(_, run)| run.is_informative() == has_informative).collect();
    order.sort_by_key(|(at, run)| (Reverse(run.purpose), *at));
    let hidden = order.split_off(names.min(order.len())).into_iter().map(|(_, run)| run.times);
    let others = hidden.fold(if has_informative { all.more } else { all.more_looks }, u32::saturating_add);
    order.sort_by_key(|(at, _)| *at);
    let shown: Vec<String> = order.into_iter().map(|(_, shown)| run(shown)).collect();
    (!shown.is_empty()).then(|| format!("ran {}{}", shown.join(", "), more_suffix(others)))
}

fn more_suffix(others: u32) -> String {
    if others > 0 { format!(" +{others}") } else { String::new() }
}

fn run(run: &CommandRun) -> String {
    let times = if run.times > 1 { format!(" ×{}", run.times) } else { String::new() };
    let came = run.came.and_then(|came| result(run, came));
    let came = came.map(|came| format!(" ({came})")).unwrap_or_default();
    format!("{}{times}{came}", run.what)
}

/// The result of a command. Success is shown only for tests and builds, which are run to find out.
fn result(run: &CommandRun, came: RunOutcome) -> Option<String> {
    let is_trial = run.purpose >= RunPurpose::Build;
    let last = match (came, run.tests) {
        (RunOutcome::Passed, Some((passed, _))) if passed > 0 => format!("{passed} passed"),
        (RunOutcome::Failed, Some((passed, failed))) if failed > 0 => {
            format!("{failed} of {} failed", passed.saturating_add(failed))
        }
        (RunOutcome::Passed, _) => "passed".to_owned(),
        (RunOutcome::Failed, _) => "failed".to_owned(),
        (RunOutcome::Interrupted, _) => "stopped".to_owned(),
        (RunOutcome::Running, _) => "running".to_owned(),
    };
    match run.before {
        Some(RunOutcome::Failed) => Some(format!("failed, then {last}")),
        Some(RunOutcome::Passed) if is_trial => Some(format!("passed, then {last}")),
        Some(RunOutcome::Passed | RunOutcome::Interrupted | RunOutcome::Running) | None => {
            (came != RunOutcome::Passed || is_trial).then_some(last)
        }
    }
}

fn committed(digest: &TurnDigest, names: usize) -> Option<String> {
    let skipped = digest.commits.len().saturating_sub(names);
    let shown: Vec<String> = digest
        .commits
        .iter()
        .skip(skipped)
        .map(|(hash, subject)| format!("{hash} \"{}\"", subject.replace('"', "'")))
        .collect();
    let others = u32::try_from(skipped).unwrap_or(0).saturating_add(digest.more_commits);
    (!shown.is_empty()).then(|| format!("committed {}{}", shown.join(", "), more_suffix(others)))
}

fn sampled(verb: &str, sampled: &SampledText) -> Option<String> {
    let more = more_suffix(sampled.times.saturating_sub(1));
    (!sampled.is_empty()).then(|| format!("{verb} \"{}\"{more}", sampled.first.replace('"', "'")))
}

fn counted(verb: &str, count: u32, thing: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{verb} {count} {thing}{plural}"))
}

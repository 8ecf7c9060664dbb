//! What the common test runners say at their end.
//!
//! Only what is plainly stated: an output that says nothing of tests gives nothing, and no number is made up from a part.

use super::words::without_sequences;
use crate::deed::ends;
use std::borrow::Cow;

/// How much of an output is looked at, at its beginning and at its end, in bytes.
const WINDOW: usize = 4 * 1024;

/// What a run of tests came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tally {
    Counted(Counts),
    /// Some failed, and how many is not known.
    Failed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub passed: u32,
    pub failed: u32,
}

/// Whether all of a run's output is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Part,
}

/// What an output says of tests.
pub(super) fn tally(output: &str, extent: Extent) -> Option<Tally> {
    let windows = ends(output, WINDOW);
    let extent = if windows.len() > 1 { Extent::Part } else { extent };
    let windows = windows.into_iter().filter(|window| speaks_of_tests(window));
    let texts: Vec<Cow<'_, str>> = windows.map(without_sequences).collect();
    let lines: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| speaks_of_tests(line)).collect();
    let summary = [nextest, jest, pytest, rspec].into_iter().find_map(|read| last(&lines, read));
    summary.map(Tally::Counted).or_else(|| added(&lines, extent)).or_else(|| by_words(&lines))
}

/// Most of what is printed does not, and need not be read closely.
fn speaks_of_tests(text: &str) -> bool {
    const WORDS: [&str; 7] = ["pass", "fail", "FAIL", "error", "example", "Ran ", "OK"];
    WORDS.iter().any(|word| text.contains(word))
}

/// Runners sum up in one line at their end.
fn last(lines: &[&str], read: fn(&str) -> Option<Counts>) -> Option<Counts> {
    lines.iter().rev().find_map(|line| read(line.trim()))
}

/// `Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 4 skipped`
fn nextest(line: &str) -> Option<Counts> {
    let (_, counts) = line.strip_prefix("Summary [")?.split_once(" run: ")?;
    counted(counts)
}

/// `Tests: 1 failed, 12 passed, 13 total`, `Tests  2 failed | 10 passed (12)`
fn jest(line: &str) -> Option<Counts> {
    let counts = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  "))?;
    counted(counts)
}

/// `==== 3 failed, 12 passed, 1 error in 0.12s ====`
fn pytest(line: &str) -> Option<Counts> {
    let begins_with_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (counts, time) = line.trim_matches(['=', ' ']).split_once(" in ")?;
    if !begins_with_number(counts) || !begins_with_number(time) {
        return None;
    }
    let errors = number_before(counts, "error").or_else(|| number_before(counts, "errors"));
    let tests = counted(counts).or(errors.map(|_| Counts::default()))?;
    Some(Counts { failed: tests.failed.saturating_add(errors.unwrap_or(0)), ..tests })
}

/// `12 examples, 1 failure`
fn rspec(line: &str) -> Option<Counts> {
    let all = number_before(line, "examples").or_else(|| number_before(line, "example"))?;
    let failed = number_before(line, "failures").or_else(|| number_before(line, "failure"))?;
    Some(Counts { passed: all.saturating_sub(failed), failed })
}

/// Runners that sum up in several lines, one for each part of what was run: a part of them gives no number.
fn added(lines: &[&str], extent: Extent) -> Option<Tally> {
    let cargo = |line: &str| line.strip_prefix("test result: ").and_then(counted);
    let found = lines
        .iter()
        .map(|line| line.trim())
        .filter_map(|line| cargo(line).or_else(|| mocha(line)).or_else(|| node(line)));
    let sum = |all: Counts, one: Counts| Counts {
        passed: all.passed.saturating_add(one.passed),
        failed: all.failed.saturating_add(one.failed),
    };
    let all = found.reduce(sum)?;
    match extent {
        Extent::Whole => Some(Tally::Counted(all)),
        Extent::Part => (all.failed > 0).then_some(Tally::Failed),
    }
}

/// `12 passing (20ms)`, `1 failing`
fn mocha(line: &str) -> Option<Counts> {
    let (count, rest) = line.split_once(' ')?;
    let count = count.parse().ok()?;
    match rest.split(' ').next()? {
        "passing" => Some(Counts { passed: count, failed: 0 }),
        "failing" => Some(Counts { passed: 0, failed: count }),
        _ => None,
    }
}

/// `# pass 12`, `# fail 1`, also with a sign in place of `#`.
fn node(line: &str) -> Option<Counts> {
    let marked = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (word, count) = marked.split_once(' ')?;
    let count = count.parse().ok()?;
    match word {
        "pass" => Some(Counts { passed: count, failed: 0 }),
        "fail" => Some(Counts { passed: 0, failed: count }),
        _ => None,
    }
}

/// Runners that say so by a word: `--- FAIL: TestX`, `FAIL\tpkg`; `Ran 3 tests in 0.1s` with `OK` or `FAILED (`.
fn by_words(lines: &[&str]) -> Option<Tally> {
    let any = |starts: &[&str]| lines.iter().any(|line| starts.iter().any(|start| line.starts_with(start)));
    let ran = lines.iter().find_map(|line| number_before(line.strip_prefix("Ran ")?, "tests"));
    match ran {
        Some(_) if any(&["FAILED ("]) => Some(Tally::Failed),
        Some(passed) if any(&["OK"]) => Some(Tally::Counted(Counts { passed, failed: 0 })),
        _ if any(&["--- FAIL: ", "FAIL\t"]) => Some(Tally::Failed),
        _ => None,
    }
}

fn counted(counts: &str) -> Option<Counts> {
    let (passed, failed) = (number_before(counts, "passed"), number_before(counts, "failed"));
    let all = Counts { passed: passed.unwrap_or(0), failed: failed.unwrap_or(0) };
    (passed.is_some() || failed.is_some()).then_some(all)
}

fn number_before(text: &str, word: &str) -> Option<u32> {
    let mut before = None;
    for part in text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        if part == word {
            return before;
        }
        before = part.parse().ok();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<(u32, u32)>) {
        let expected = expected.map(|(passed, failed)| Tally::Counted(Counts { passed, failed }));
        assert_eq!(tally(output, Extent::Whole), expected, "{output}");
    }

    #[test]
    fn common_runners_are_understood() {
        let cargo = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        check(cargo, Some((15, 2)));
        check("     Summary [   0.012s] 3 tests run: 2 passed, 1 failed, 178 skipped\n", Some((2, 1)));
        check("\u{1b}[32m     Summary\u{1b}[0m [   0.012s] 3 tests run: 3 passed, 178 skipped", Some((3, 0)));
        check("==== 3 failed, 12 passed, 1 error in 0.12s ====", Some((12, 4)));
        check("12 passed in 0.12s", Some((12, 0)));
        check("Test Suites: 1 failed, 1 total\nTests:       1 failed, 12 passed, 13 total\n", Some((12, 1)));
        check(" Test Files  1 passed (1)\n      Tests  2 failed | 10 passed (12)\n", Some((10, 2)));
        check("  12 passing (20ms)\n  1 failing\n", Some((12, 1)));
        check("# tests 3\n# pass 2\n# fail 1\n", Some((2, 1)));
        check("12 examples, 1 failure", Some((11, 1)));
        check("Ran 7 tests in 0.1s\n\nOK", Some((7, 0)));
    }

    #[test]
    fn a_failure_without_numbers_is_still_one() {
        let failed = |output: &str| assert_eq!(tally(output, Extent::Whole), Some(Tally::Failed), "{output}");
        failed("--- FAIL: TestX (0.00s)\nFAIL\tpkg\t0.1s\n");
        failed("Ran 7 tests in 0.1s\n\nFAILED (failures=1)");
    }

    #[test]
    fn what_says_nothing_of_tests_gives_nothing() {
        for output in [
            "",
            "hello",
            "3 files passed on",
            "compiled in 3 s",
            "ok  \tpkg\t0.1s",
            "2 errors in a.rs",
            "1 test",
        ] {
            check(output, None);
        }
    }

    #[test]
    fn no_number_is_made_up_from_a_part() {
        let part = |output: &str| tally(output, Extent::Part);
        assert_eq!(part("test result: ok. 12 passed; 0 failed"), None);
        assert_eq!(part("test result: FAILED. 12 passed; 1 failed"), Some(Tally::Failed));
        let long = format!("{}test result: ok. 12 passed; 0 failed", "test a ... ok\n".repeat(2_000));
        assert_eq!(tally(&long, Extent::Whole), None);
        let summed = format!("{}Summary [ 1s] 9 tests run: 9 passed", "PASS a\n".repeat(2_000));
        assert_eq!(tally(&summed, Extent::Whole), Some(Tally::Counted(Counts { passed: 9, failed: 0 })));
    }
}

//! Parses the summaries of common test runners.
//!
//! Reports only stated results: output without a test summary gives `None`, and partial output gives no counts.

use super::words::without_sequences;
use crate::deed::ends;
use std::borrow::Cow;

/// How many bytes of an output are parsed at its beginning and at its end.
const WINDOW: usize = 4 * 1024;

/// The result of a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestResult {
    Counted(TestCounts),
    /// Some tests failed; their number is unknown.
    Failed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub passed: u32,
    pub failed: u32,
}

/// Whether a run's output is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputExtent {
    Whole,
    Part,
}

/// The test result stated in an output.
pub(super) fn test_result(output: &str, extent: OutputExtent) -> Option<TestResult> {
    let windows = ends(output, WINDOW);
    let extent = if windows.len() > 1 { OutputExtent::Part } else { extent };
    let windows = windows.into_iter().filter(|window| mentions_tests(window));
    let texts: Vec<Cow<'_, str>> = windows.map(without_sequences).collect();
    let lines: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| mentions_tests(line)).collect();
    let summary = [nextest, jest, pytest, rspec].into_iter().find_map(|read| last(&lines, read));
    summary.map(TestResult::Counted).or_else(|| summed(&lines, extent)).or_else(|| by_keyword(&lines))
}

/// A cheap filter: most output mentions no tests and need not be parsed.
fn mentions_tests(text: &str) -> bool {
    const WORDS: [&str; 7] = ["pass", "fail", "FAIL", "error", "example", "Ran ", "OK"];
    WORDS.iter().any(|word| text.contains(word))
}

/// For runners that print one summary line at the end.
fn last(lines: &[&str], read: fn(&str) -> Option<TestCounts>) -> Option<TestCounts> {
    lines.iter().rev().find_map(|line| read(line.trim()))
}

/// `Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 4 skipped`
fn nextest(line: &str) -> Option<TestCounts> {
    let (_, counts) = line.strip_prefix("Summary [")?.split_once(" run: ")?;
    counted(counts)
}

/// `Tests: 1 failed, 12 passed, 13 total`, `Tests  2 failed | 10 passed (12)`
fn jest(line: &str) -> Option<TestCounts> {
    let counts = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  "))?;
    counted(counts)
}

/// `==== 3 failed, 12 passed, 1 error in 0.12s ====`
fn pytest(line: &str) -> Option<TestCounts> {
    let begins_with_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (counts, time) = line.trim_matches(['=', ' ']).split_once(" in ")?;
    if !begins_with_number(counts) || !begins_with_number(time) {
        return None;
    }
    let errors = number_before(counts, "error").or_else(|| number_before(counts, "errors"));
    let tests = counted(counts).or(errors.map(|_| TestCounts::default()))?;
    Some(TestCounts { failed: tests.failed.saturating_add(errors.unwrap_or(0)), ..tests })
}

/// `12 examples, 1 failure`
fn rspec(line: &str) -> Option<TestCounts> {
    let all = number_before(line, "examples").or_else(|| number_before(line, "example"))?;
    let failed = number_before(line, "failures").or_else(|| number_before(line, "failure"))?;
    Some(TestCounts { passed: all.saturating_sub(failed), failed })
}

/// For runners that print a summary line per suite: adds them up, but gives no counts if the output is partial.
fn summed(lines: &[&str], extent: OutputExtent) -> Option<TestResult> {
    let cargo = |line: &str| line.strip_prefix("test result: ").and_then(counted);
    let counts = lines
        .iter()
        .map(|line| line.trim())
        .filter_map(|line| cargo(line).or_else(|| mocha(line)).or_else(|| node(line)));
    let sum = |all: TestCounts, one: TestCounts| TestCounts {
        passed: all.passed.saturating_add(one.passed),
        failed: all.failed.saturating_add(one.failed),
    };
    let all = counts.reduce(sum)?;
    match extent {
        OutputExtent::Whole => Some(TestResult::Counted(all)),
        OutputExtent::Part => (all.failed > 0).then_some(TestResult::Failed),
    }
}

/// `12 passing (20ms)`, `1 failing`
fn mocha(line: &str) -> Option<TestCounts> {
    let (count, rest) = line.split_once(' ')?;
    let count = count.parse().ok()?;
    match rest.split(' ').next()? {
        "passing" => Some(TestCounts { passed: count, failed: 0 }),
        "failing" => Some(TestCounts { passed: 0, failed: count }),
        _ => None,
    }
}

/// `# pass 12`, `# fail 1`, also with `ℹ` in place of `#`.
fn node(line: &str) -> Option<TestCounts> {
    let marked = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (word, count) = marked.split_once(' ')?;
    let count = count.parse().ok()?;
    match word {
        "pass" => Some(TestCounts { passed: count, failed: 0 }),
        "fail" => Some(TestCounts { passed: 0, failed: count }),
        _ => None,
    }
}

/// For runners without counts: `--- FAIL: TestX`, `FAIL\tpkg`; `Ran 3 tests in 0.1s` with `OK` or `FAILED (`.
fn by_keyword(lines: &[&str]) -> Option<TestResult> {
    let any = |starts: &[&str]| lines.iter().any(|line| starts.iter().any(|start| line.starts_with(start)));
    let ran = lines.iter().find_map(|line| number_before(line.strip_prefix("Ran ")?, "tests"));
    match ran {
        Some(_) if any(&["FAILED ("]) => Some(TestResult::Failed),
        Some(passed) if any(&["OK"]) => Some(TestResult::Counted(TestCounts { passed, failed: 0 })),
        _ if any(&["--- FAIL: ", "FAIL\t"]) => Some(TestResult::Failed),
        _ => None,
    }
}

fn counted(counts: &str) -> Option<TestCounts> {
    let (passed, failed) = (number_before(counts, "passed"), number_before(counts, "failed"));
    let all = TestCounts { passed: passed.unwrap_or(0), failed: failed.unwrap_or(0) };
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
        let expected = expected.map(|(passed, failed)| TestResult::Counted(TestCounts { passed, failed }));
        assert_eq!(test_result(output, OutputExtent::Whole), expected, "{output}");
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
        let failed = |output: &str| {
            assert_eq!(test_result(output, OutputExtent::Whole), Some(TestResult::Failed), "{output}")
        };
        failed("--- FAIL: TestX (0.00s)\nFAIL\tpkg\t0.1s\n");
        failed("Ran 7 tests in 0.1s\n\nFAILED (failures=1)");
    }

    #[test]
    fn output_without_tests_gives_nothing() {
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
    fn partial_output_gives_no_counts() {
        let part = |output: &str| test_result(output, OutputExtent::Part);
        assert_eq!(part("test result: ok. 12 passed; 0 failed"), None);
        assert_eq!(part("test result: FAILED. 12 passed; 1 failed"), Some(TestResult::Failed));
        let long = format!("{}test result: ok. 12 passed; 0 failed", "test a ... ok\n".repeat(2_000));
        assert_eq!(test_result(&long, OutputExtent::Whole), None);
        let summed = format!("{}Summary [ 1s] 9 tests run: 9 passed", "PASS a\n".repeat(2_000));
        assert_eq!(
            test_result(&summed, OutputExtent::Whole),
            Some(TestResult::Counted(TestCounts { passed: 9, failed: 0 }))
        );
    }
}

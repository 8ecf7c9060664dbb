//! Finds the error message in a command's output.
//!
//! Quotes the output and never explains it; output without an error gives `None`.

use crate::deed::ends;
use crate::line::words::{TextLimit, plain, without_sequences};
use crate::phrases::Phrases;

/// How many bytes of an output are read at its beginning and at its end.
const WINDOW: usize = 16 * 1024;
const MOST_LINES: usize = 2000;
const LIMIT: TextLimit = TextLimit { characters: 220, bytes: 600 };

/// The most informative error line, with the failing test's name if there is one.
pub(crate) fn error_line(output: &str) -> Option<String> {
    let texts: Vec<_> = ends(output, WINDOW).into_iter().map(without_sequences).collect();
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).take(MOST_LINES).collect();
    let lines: Vec<&str> = lines.into_iter().map(str::trim).filter(|line| !line.is_empty()).collect();
    let best =
        lines.iter().enumerate().map(|(at, line)| (weight(line), at)).filter(|(weight, _)| *weight > 0);
    // The first of equal weight: later errors often follow from it.
    let (_, at) = best.min_by_key(|(weight, at)| (std::cmp::Reverse(*weight), *at))?;
    let failing = lines.iter().find_map(|line| failing_test(line));
    let message = plain(&message(&lines, at), LIMIT);
    Some(match failing {
        Some(test) if !message.contains(&test) => plain(&format!("{test}: {message}"), LIMIT),
        Some(_) | None => message,
    })
}

/// How informative a line is about an error; 0 for none.
fn weight(line: &str) -> u8 {
    let starts = |heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    let lower = line.to_lowercase();
    let says = |words: Phrases| words.is_in(&lower);
    if starts(&["error[", "fatal: ", "panic: "]) || line.contains("panicked at ") || is_exception(line) {
        return 9;
    }
    if starts(&["E  ", "FAILED ", "assertion ", "AssertionError", "Assertion failed"]) {
        return 8;
    }
    if starts(&["error: ", "Error: ", "ERROR: ", "ERROR ", "npm ERR! ", "✕ "])
        || line.contains(": error: ")
        || line.contains(": error TS")
    {
        return if says(Phrases("could not compile|test failed|aborting due|command failed|recipe for target"))
        {
            3
        } else {
            7
        };
    }
    if starts(&["● ", "--- FAIL: ", "FAIL "]) {
        return 5;
    }
    if says(Phrases("command not found|no such file|permission denied|cannot find|not found|undefined")) {
        return 6;
    }
    if says(Phrases("timed out|timeout|refused|unreachable|missing|unresolved|mismatch|conflict")) {
        return 4;
    }
    u8::from(says(Phrases("error|failed|exception|invalid|denied"))) * 2
}

/// `KeyError: 'total'`, `TypeError: x is not a function`, `java.lang.IllegalStateException: no`.
fn is_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(": ") else { return false };
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_') && !name.is_empty();
    is_name && name.len() > 5 && ["Error", "Exception", "Warning"].iter().any(|end| name.ends_with(end))
}

/// The line, joined with the next one if that has the message or the location.
fn message(lines: &[&str], at: usize) -> String {
    let line = lines.get(at).copied().unwrap_or("").trim_start_matches("E  ").trim();
    let next = lines.get(at + 1).copied().unwrap_or("");
    let leads =
        line.contains("panicked at ") && line.ends_with(':') || line.ends_with(':') && line.len() < 60;
    let next_is_location = next.starts_with("-->");
    match () {
        () if leads && !next.is_empty() => format!("{line} {next}"),
        () if next_is_location => format!("{line} ({})", next.trim_start_matches("-->").trim()),
        () => line.to_owned(),
    }
}

/// The name of a failed test, as common runners print it.
fn failing_test(line: &str) -> Option<String> {
    let rust = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
    let nextest = || line.strip_prefix("FAIL [").and_then(|rest| Some(rest.split_once(']')?.1.trim()));
    let go = || line.strip_prefix("--- FAIL: ").and_then(|rest| rest.split(' ').next());
    let jest = || line.strip_prefix("● ");
    let pytest = || line.strip_prefix("FAILED ").and_then(|rest| rest.split(" - ").next());
    let name = rust.or_else(nextest).or_else(go).or_else(jest).or_else(pytest)?.trim();
    (!name.is_empty() && name.len() <= 120).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        assert_eq!(error_line(output).unwrap_or_default(), expected, "{output}");
    }

    #[test]
    fn the_most_informative_error_line_is_found() {
        check(
            "   Compiling a v0.1.0\nerror[E0502]: cannot borrow `x` as mutable\n  --> src/a.rs:10:5\n   |\nerror: could not compile `a`",
            "error[E0502]: cannot borrow `x` as mutable (src/a.rs:10:5)",
        );
        check(
            "running 2 tests\ntest auth::login ... FAILED\n\n---- auth::login stdout ----\nthread 'auth::login' panicked at src/auth.rs:40:9:\nassertion `left == right` failed\n  left: 1\n",
            "thread 'auth::login' panicked at src/auth.rs:40:9: assertion `left == right` failed",
        );
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'total'\n",
            "KeyError: 'total'",
        );
        check(
            "E       assert 99 == 100\nFAILED tests/test_cart.py::test_total - assert 99 == 100\n1 failed in 0.1s",
            "tests/test_cart.py::test_total: assert 99 == 100",
        );
        check("sh: 1: foo: command not found", "sh: 1: foo: command not found");
        check(
            "src/a.ts(3,5): error TS2322: Type 'x' is not assignable",
            "src/a.ts(3,5): error TS2322: Type 'x' is not assignable",
        );
        check(
            "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 99, want 100\nFAIL",
            "--- FAIL: TestTotal (0.00s)",
        );
    }

    #[test]
    fn output_without_an_error_gives_nothing() {
        for output in ["", "all is well", "warning: unused variable: `x`"] {
            check(output, "");
        }
    }
}

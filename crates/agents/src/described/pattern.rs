//! Patterns of lines: what a program shows on its screen or in its title, and what that means.
//!
//! A pattern matches a whole line, without the blanks around it: `*` is any text, `[⠋⠙]` one of these characters, and `\`
//! takes the next character as it is. No other signs, so no pattern can take long.

use towline_core::arbiter::ScreenProbe;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinePattern(Vec<Sign>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    Any,
    One(char),
    OneOf(Vec<char>),
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPattern {
    #[error("would match every line")]
    MatchesAll,
    #[error("has a `[` without its `]`")]
    Open,
    #[error("ends with a single `\\`")]
    Escape,
    #[error("is longer than {LONGEST} characters")]
    TooLong,
}

/// Enough for any line of a screen.
const LONGEST: usize = 300;

impl LinePattern {
    pub fn parse(text: &str) -> Result<LinePattern, BadPattern> {
        if text.chars().count() > LONGEST {
            return Err(BadPattern::TooLong);
        }
        let (mut signs, mut rest) = (vec![], text.trim().chars());
        while let Some(char) = rest.next() {
            signs.push(match char {
                '*' if signs.last() == Some(&Sign::Any) => continue,
                '*' => Sign::Any,
                '\\' => Sign::One(rest.next().ok_or(BadPattern::Escape)?),
                '[' => Sign::OneOf(one_of(&mut rest)?),
                _ => Sign::One(char),
            });
        }
        if signs.iter().all(|sign| *sign == Sign::Any) {
            return Err(BadPattern::MatchesAll);
        }
        Ok(LinePattern(signs))
    }

    /// Whether the whole line is as described.
    pub fn matches(&self, line: &str) -> bool {
        let line: Vec<char> = line.trim().chars().collect();
        let (mut sign, mut at) = (0, 0);
        // Where to go on if what follows the last `*` does not match: one character later.
        let mut again: Option<(usize, usize)> = None;
        loop {
            match self.0.get(sign) {
                None if at == line.len() => return true,
                Some(Sign::Any) => {
                    again = Some((sign + 1, at));
                    sign += 1;
                    continue;
                }
                Some(wanted) if line.get(at).is_some_and(|char| wanted.is(*char)) => {
                    (sign, at) = (sign + 1, at + 1);
                    continue;
                }
                _ => {}
            }
            let Some((from, begin)) = again.filter(|(_, begin)| *begin < line.len()) else { return false };
            again = Some((from, begin + 1));
            (sign, at) = (from, begin + 1);
        }
    }
}

impl Sign {
    fn is(&self, char: char) -> bool {
        match self {
            Sign::Any => true,
            Sign::One(one) => *one == char,
            Sign::OneOf(these) => these.contains(&char),
        }
    }
}

fn one_of(rest: &mut std::str::Chars<'_>) -> Result<Vec<char>, BadPattern> {
    let mut these = vec![];
    loop {
        match rest.next().ok_or(BadPattern::Open)? {
            ']' if these.is_empty() => return Err(BadPattern::Open),
            ']' => return Ok(these),
            '\\' => these.push(rest.next().ok_or(BadPattern::Escape)?),
            char => these.push(char),
        }
    }
}

/// The patterns of one surface: the screen, or the title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Surface {
    pub waiting: Vec<LinePattern>,
    pub working: Vec<LinePattern>,
    pub idle: Vec<LinePattern>,
    /// The line into which the user types.
    pub input: Vec<LinePattern>,
}

impl Surface {
    pub fn is_empty(&self) -> bool {
        [&self.waiting, &self.working, &self.idle, &self.input].iter().all(|patterns| patterns.is_empty())
    }
}

/// What a screen and a title show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sights {
    pub screen: Surface,
    pub title: Surface,
    /// How many of the screen's last lines that are not blank are compared: what stands above was said, and may say anything.
    pub lines: usize,
}

impl Sights {
    pub fn state(&self, screen: &str, title: &str) -> ScreenProbe {
        let mut bottom: Vec<&str> = screen.lines().rev().filter(|line| !line.trim().is_empty()).collect();
        bottom.truncate(self.lines);
        let shows = |patterns: fn(&Surface) -> &Vec<LinePattern>| {
            patterns(&self.title).iter().any(|pattern| pattern.matches(title))
                || patterns(&self.screen)
                    .iter()
                    .any(|pattern| bottom.iter().any(|line| pattern.matches(line)))
        };
        // A dialog may be drawn while the spinner above it still turns.
        if shows(|surface| &surface.waiting) {
            ScreenProbe::Dialog
        } else if shows(|surface| &surface.working) {
            ScreenProbe::Busy
        } else if shows(|surface| &surface.idle) || shows(|surface| &surface.input) {
            ScreenProbe::Prompt
        } else {
            ScreenProbe::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, line: &str, expected: bool) {
        assert_eq!(LinePattern::parse(pattern).unwrap().matches(line), expected, "{pattern:?} on {line:?}");
    }

    #[test]
    fn a_pattern_matches_a_whole_line_without_the_blanks_around_it() {
        check("> *", "  > hello  ", true);
        check(">*", "  >  ", true);
        check("Working", "Working…", false);
        check("*esc to cancel)", "⠙ Thinking... (esc to cancel)", true);
        check("*a*b*", "xaxxbx", true);
        check("*ab", "aab", true);
        check("*ab*ab", "abab", true);
        check("*ab*ab", "ab", false);
        check("a*", "", false);
    }

    #[test]
    fn a_set_is_one_of_its_characters_and_an_escape_the_character_itself() {
        check("[⠋⠙] Thinking*", "⠙ Thinking...", true);
        check("[⠋⠙] Thinking*", "⠹ Thinking...", false);
        check(r"\[y\] Approve*", "[y] Approve   [n] Deny", true);
        check(r"2 \* 3", "2 * 3", true);
        check(r"[\]x]", "]", true);
    }

    #[test]
    fn a_pattern_that_says_nothing_or_is_broken_is_refused() {
        let found = ["*", " ** ", "", "[ab", "[]", "a\\", &"x".repeat(301)]
            .map(|text| LinePattern::parse(text).unwrap_err());
        use BadPattern::{Escape, MatchesAll, Open, TooLong};
        assert_eq!(found, [MatchesAll, MatchesAll, MatchesAll, Open, Open, Escape, TooLong]);
    }

    #[test]
    fn many_stars_on_a_long_line_take_no_time() {
        let pattern = LinePattern::parse(&"*a".repeat(100)).unwrap();
        assert!(!pattern.matches(&format!("{}b", "a".repeat(99))));
        assert!(!pattern.matches(&"ab".repeat(5000)));
    }

    #[test]
    fn a_dialog_counts_before_work_and_both_before_the_input_line() {
        let patterns = |texts: &[&str]| texts.iter().map(|text| LinePattern::parse(text).unwrap()).collect();
        let screen = Surface {
            waiting: patterns(&["Allow?*"]),
            working: patterns(&["busy*"]),
            idle: vec![],
            input: patterns(&["> *", ">"]),
        };
        let title = Surface { working: patterns(&["~ *"]), ..Surface::default() };
        let sights = Sights { screen, title, lines: 3 };
        assert_eq!(sights.state("Allow?\nbusy\n>\n", ""), ScreenProbe::Dialog);
        assert_eq!(sights.state("busy\n\n>\n", ""), ScreenProbe::Busy);
        assert_eq!(sights.state(">", "~ name"), ScreenProbe::Busy);
        assert_eq!(sights.state("> typed", "name"), ScreenProbe::Prompt);
        assert_eq!(
            sights.state("busy\n1\n2\n>", ""),
            ScreenProbe::Prompt,
            "above the bottom anything may be said"
        );
        assert_eq!(sights.state("", ""), ScreenProbe::Unknown);
    }
}

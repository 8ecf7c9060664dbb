//! The phrases by which a sentence is known for what it is: a decision, a preference, a cause, a trap.
//!
//! Rather misses one than takes talk for it: a phrase alone is seldom enough, and what is only asked, supposed or meant
//! for the moment is none of them.

/// What a sentence claims, and how sure that is in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub what: What,
    pub sure: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Decision,
    Preference,
    /// Why something is as it is, or was wrong.
    Cause,
    /// A trap, or what holds only under a condition.
    Gotcha,
    /// Something a person wants known.
    Told,
}

/// What an agent claims by a sentence under a heading.
pub(super) fn of_agent(sentence: &str, heading: &str) -> Option<Claim> {
    let said = Said::of(sentence)?;
    if said.is_only_supposed() {
        return None;
    }
    let claim = |what, sure| Some(Claim { what, sure });
    match () {
        () if said.is_decided() => claim(What::Decision, 75),
        () if said.is_chosen() => claim(What::Decision, 65),
        () if said.any(&CAUSES) || is_about(heading, &["root cause", "cause", "why it"]) => {
            claim(What::Cause, 70)
        }
        () if said.any(&TRAPS) || is_about(heading, &["gotcha", "caveat", "pitfall", "watch out"]) => {
            claim(What::Gotcha, 60)
        }
        () if is_about(heading, &["decision", "design choice", "trade-off"]) => claim(What::Decision, 65),
        () => None,
    }
}

/// What a person claims by a sentence.
pub(super) fn of_person(sentence: &str) -> Option<Claim> {
    let said = Said::of(sentence)?;
    if said.is_question() {
        return None;
    }
    let claim = |what, sure| Some(Claim { what, sure });
    match () {
        () if said.starts(&REMEMBERED) => claim(What::Told, 95),
        () if said.any(&NOW) => None,
        () if said.any(&LASTING) && !said.any(&NOT_WISHED) => claim(What::Preference, 90),
        () if said.is_decided() => claim(What::Decision, 90),
        () if said.is_wished() => claim(What::Preference, 65),
        () if said.is_chosen() => claim(What::Decision, 90),
        () if said.any(&PERSONS_TRAPS) => claim(What::Gotcha, 85),
        () => None,
    }
}

/// Whether a text is about what can be misused.
pub(super) fn is_about_security(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECURITY.iter().any(|phrase| holds(&lower, phrase)) || lower.contains("cve-")
}

/// Whether it tells of what was not done, which is of this session alone.
pub(super) fn is_of_the_moment(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    UNDONE.iter().any(|phrase| holds(&lower, phrase))
}

const CAUSES: [&str; 26] = [
    "root cause",
    "the cause was",
    "the cause is",
    "was caused by",
    "is caused by",
    "were caused by",
    "turns out",
    "turned out",
    "the reason was",
    "the reason is",
    "the reason for",
    "the problem was",
    "the problem is that",
    "the issue was",
    "the bug was",
    "the culprit",
    "happens because",
    "happened because",
    "fails because",
    "failed because",
    "failing because",
    "broke because",
    "was wrong because",
    "原因は",
    "原因是",
    "因为",
];

const TRAPS: [&str; 27] = [
    "note that",
    "beware",
    "be careful",
    "careful:",
    "watch out",
    "caveat",
    "gotcha",
    "pitfall",
    "keep in mind",
    "be aware",
    "important:",
    "warning:",
    "only works if",
    "only works when",
    "only works with",
    "does not work with",
    "doesn't work with",
    "does not work when",
    "doesn't work when",
    "silently",
    "must be run before",
    "must run before",
    "has to be run before",
    "will break if",
    "注意点",
    "ただし",
    "需要注意",
];

const PERSONS_TRAPS: [&str; 8] =
    ["be careful", "note that", "beware", "keep in mind", "be aware", "watch out", "heads up", "気をつけて"];

const REMEMBERED: [&str; 8] = [
    "remember that ",
    "remember: ",
    "remember, ",
    "please remember",
    "for the record",
    "fyi",
    "覚えておいて",
    "记住",
];

const LASTING: [&str; 27] = [
    "always",
    "never",
    "from now on",
    "in future",
    "in the future",
    "going forward",
    "i prefer",
    "i'd prefer",
    "we prefer",
    "i'd rather",
    "i like",
    "i don't like",
    "i hate",
    "every time",
    "by default",
    "our convention",
    "our style",
    "we use",
    "we don't use",
    "we never",
    "in this project",
    "in this repo",
    "in this codebase",
    "毎回",
    "常に",
    "总是",
    "以后",
];

/// What holds such words and wishes nothing: reports of what happens.
const NOT_WISHED: [&str; 16] = [
    "is always",
    "are always",
    "was always",
    "it always",
    "it never",
    "is never",
    "was never",
    "they never",
    "has never",
    "have never",
    "i never",
    "always fails",
    "never mind",
    "nevermind",
    "always returns",
    "never returns",
];

/// What is meant for the moment, whatever else is said.
const NOW: [&str; 8] = [
    "for now",
    "right now",
    "this time",
    "yet",
    "at the moment",
    "today",
    "for the moment",
    "just this once",
];

/// What is meant for the work at hand.
const FOR_NOW: [&str; 14] = [
    "until",
    "worry",
    "hesitate",
    "forget",
    "stop there",
    "first",
    "go ahead",
    "continue",
    "don't know",
    "do not know",
    "don't think",
    "don't understand",
    "don't see",
    "don't have",
];

const DECIDED: [&str; 18] = [
    "decision:",
    "we decided",
    "i decided",
    "i've decided",
    "was decided",
    "decided to",
    "decided against",
    "decided on",
    "i chose",
    "we chose",
    "opted for",
    "opted to",
    "settled on",
    "went with",
    "we're going with",
    "we agreed",
    "ことにしました",
    "决定",
];

const CHOICES: [&str; 16] = [
    "we'll use",
    "we will use",
    "i'll use",
    "i used",
    "i kept",
    "i'm using",
    "let's use",
    "let's go with",
    "let's keep",
    "use",
    "using",
    "switched to",
    "switch to",
    "keep",
    "we should use",
    "it uses",
];

const REASONS: [&str; 9] = [
    "because",
    "since",
    "so that",
    "to avoid",
    "which avoids",
    "as it",
    "as they",
    "in order to",
    "otherwise",
];

const ALTERNATIVES: [&str; 4] = ["instead of", "rather than", "over the", "not the"];

const SUPPOSED: [&str; 15] = [
    "should i",
    "shall i",
    "would you",
    "do you want",
    "you could",
    "we could",
    "you might",
    "could be",
    "might be",
    "may be",
    "perhaps",
    "maybe",
    "probably",
    "not decided",
    "haven't decided",
];

const UNDONE: [&str; 17] = [
    "i haven't",
    "i have not",
    "i didn't",
    "i did not",
    "i wasn't able",
    "i was not able",
    "i couldn't",
    "i could not",
    "i can't",
    "i cannot",
    "let me know",
    "feel free",
    "happy to",
    "i'll",
    "let me",
    "i will",
    "i'm going to",
];

const SECURITY: [&str; 26] = [
    "vulnerability",
    "vulnerabilities",
    "vulnerable",
    "sql injection",
    "command injection",
    "shell injection",
    "xss",
    "csrf",
    "ssrf",
    "path traversal",
    "directory traversal",
    "privilege escalation",
    "auth bypass",
    "authentication bypass",
    "insecure",
    "leaked key",
    "leaked secret",
    "hardcoded secret",
    "hard-coded secret",
    "hardcoded password",
    "plaintext password",
    "timing attack",
    "remote code execution",
    "exploit",
    "unsanitized",
    "脆弱性",
];

/// A sentence that can say something by itself.
struct Said {
    /// In lower case, with plain apostrophes.
    lower: String,
    is_question: bool,
}

impl Said {
    fn of(sentence: &str) -> Option<Said> {
        let words = sentence.split_whitespace().count();
        let characters = sentence.chars().count();
        let is_wide = !sentence.is_ascii() && characters >= 8;
        let is_telling = (words >= 4 || is_wide) && (12..=400).contains(&characters);
        let is_question = sentence.trim_end_matches(['"', ')', '*', ' ']).ends_with(['?', '？']);
        is_telling.then(|| Said { lower: sentence.to_lowercase().replace('’', "'"), is_question })
    }

    fn any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| holds(&self.lower, phrase))
    }

    fn starts(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.lower.starts_with(phrase))
    }

    fn is_question(&self) -> bool {
        self.is_question
    }

    fn is_only_supposed(&self) -> bool {
        self.is_question || self.any(&SUPPOSED) || self.starts(&["if ", "unless "]) || self.any(&UNDONE)
    }

    fn is_decided(&self) -> bool {
        self.any(&DECIDED)
    }

    /// A choice with its reason, or with what was not chosen.
    fn is_chosen(&self) -> bool {
        let begins = CHOICES.iter().any(|choice| {
            let behind = self.lower.split_once(choice).map(|(before, _)| before.split_whitespace().count());
            behind.is_some_and(|words| words <= 3) && holds(&self.lower, choice)
        });
        begins
            && self.any(&REASONS)
            && (self.any(&ALTERNATIVES) || self.starts(&["we'll", "we will", "let's"]))
            || begins && self.any(&ALTERNATIVES[..2]) && self.starts(&CHOICES)
    }

    /// `Please use …`, `don't …`, `use X, not Y`: said to be kept to, not of one place in the text.
    fn is_wished(&self) -> bool {
        let of_one_place = self.any(&["this", "these", "those", "it", "here", "line"]);
        let wishes = self.starts(&[
            "please use ",
            "please don't ",
            "please do not ",
            "don't ",
            "do not ",
            "no need for ",
            "avoid ",
            "stop ",
            "make sure ",
            "prefer ",
        ]) || self.starts(&["use "])
            && self.any(&["not", "instead of", "rather than", "for all", "everywhere"]);
        wishes && !of_one_place && !self.any(&FOR_NOW)
    }
}

/// Whether a text in lower case holds a phrase that neither begins nor ends within a word.
pub(super) fn holds(lower: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins_word = phrase.starts_with(is_word);
    let ends_word = phrase.ends_with(is_word);
    lower.match_indices(phrase).any(|(at, _)| {
        let before = lower[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let after = lower[at + phrase.len()..].chars().next().is_none_or(|c| !is_word(c));
        (before || !begins_word) && (after || !ends_word)
    })
}

fn is_about(heading: &str, words: &[&str]) -> bool {
    words.iter().any(|word| heading.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(claim: Option<Claim>) -> Option<What> {
        claim.map(|claim| claim.what)
    }

    #[test]
    fn what_an_agent_claims_is_known_by_its_phrases() {
        for (sentence, expected) in [
            ("The root cause was a second refresh that ran while the first one waited.", Some(What::Cause)),
            ("It turns out that the queue is drained twice at shutdown.", Some(What::Cause)),
            ("Note that the index is only rebuilt when the schema changes.", Some(What::Gotcha)),
            ("I decided to keep the old endpoint for one more release.", Some(What::Decision)),
            ("I used a BTreeMap instead of a HashMap so that the output is stable.", Some(What::Decision)),
            ("We'll use SQLite because it needs no server.", Some(What::Decision)),
            ("I've added three tests for the parser.", None),
            ("Should I use Redis instead of memory because it survives restarts?", None),
            ("It could be that the cache is stale because of the clock.", None),
            ("Note that I haven't run the integration tests.", None),
            ("It returns null instead of throwing.", None),
            ("The function uses the cache instead of the database.", None),
            ("原因は接続プールの枯渇でした。", Some(What::Cause)),
        ] {
            assert_eq!(what(of_agent(sentence, "")), expected, "{sentence}");
        }
        assert_eq!(
            what(of_agent("The pool was never drained at shutdown.", "root cause")),
            Some(What::Cause)
        );
    }

    #[test]
    fn what_a_person_wants_for_good_is_told_from_what_they_want_now() {
        for (sentence, expected) in [
            ("Always run the linter before you commit.", Some(What::Preference)),
            ("From now on use pnpm, not npm.", Some(What::Preference)),
            ("We never mock the database in tests.", Some(What::Preference)),
            ("Please don't add comments that repeat the code.", Some(What::Preference)),
            ("Use tabs rather than spaces in Makefiles.", Some(What::Preference)),
            ("Let's use Postgres instead of MySQL because of the JSON columns.", Some(What::Decision)),
            ("Remember that staging listens on port 5433.", Some(What::Told)),
            ("Be careful with the payments table, it is shared.", Some(What::Gotcha)),
            ("Don't commit yet, I want to look at it.", None),
            ("The build always fails on the second run.", None),
            ("Don't worry about the tests for now.", None),
            ("Fix the login test, which is flaky.", None),
            ("Why do we never retry the upload?", None),
            ("Don't change this line in the config please.", None),
            ("これからは常に日本語でコメントを書いてください。", Some(What::Preference)),
        ] {
            assert_eq!(what(of_person(sentence)), expected, "{sentence}");
        }
    }

    #[test]
    fn security_is_known_by_whole_words() {
        assert!(is_about_security("The query was open to SQL injection."));
        assert!(is_about_security("Bumped for CVE-2026-1234"));
        for ordinary in ["The exploited index", "insecurely named", "dependency injection", "a mixssing word"]
        {
            assert!(!is_about_security(ordinary), "{ordinary}");
        }
    }
}

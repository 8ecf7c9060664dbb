//! Phrases that classify a sentence as a decision, a preference, a cause or a trap.
//!
//! Prefers misses over false positives: a phrase alone is seldom enough. Questions, suppositions and momentary
//! statements never count.

use crate::phrases::{BytePairs, Phrases};

/// Headings under which agents list the remaining work.
pub(super) const NEXT_STEPS: Phrases = Phrases(
    "next step|next up|remaining|to do|todo|follow-up|follow up|left to do|what's left|still open|not done|\
    outstanding|offen|nächste schritte|noch zu tun|ausstehend|pendiente|próximos pasos|por hacer|残り|\
    次のステップ|未対応|下一步|后续|待办|剩余",
);

/// The claim of a sentence, with its confidence in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub kind: ClaimKind,
    pub sure: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimKind {
    Decision,
    Preference,
    /// A reason, or the cause of an error.
    Cause,
    /// A trap, or a statement that holds only under a condition.
    Gotcha,
    /// A fact the user wants remembered.
    Fact,
}

/// Classifies an agent's sentence under a heading.
pub(super) fn of_agent(sentence: &str, heading: &str) -> Option<Claim> {
    let cues = Sentence::of(sentence)?;
    if cues.is_only_supposed() {
        return None;
    }
    let claim = |kind, sure| Some(Claim { kind, sure });
    match () {
        () if cues.has(DECIDED) => claim(ClaimKind::Decision, 75),
        () if cues.is_chosen() => claim(ClaimKind::Decision, 65),
        () if cues.has(CAUSES) || is_about(heading, &["root cause", "cause", "why it"]) => {
            claim(ClaimKind::Cause, 70)
        }
        () if cues.has(TRAPS) || is_about(heading, &["gotcha", "caveat", "pitfall", "watch out"]) => {
            claim(ClaimKind::Gotcha, 60)
        }
        () if is_about(heading, &["decision", "design choice", "trade-off"]) => {
            claim(ClaimKind::Decision, 65)
        }
        () => None,
    }
}

/// Classifies a user's sentence.
pub(super) fn of_person(sentence: &str) -> Option<Claim> {
    let cues = Sentence::of(sentence)?;
    if cues.is_question || cues.starts(POLITE) {
        return None;
    }
    let claim = |kind, sure| Some(Claim { kind, sure });
    match () {
        () if cues.starts(REMEMBER) => claim(ClaimKind::Fact, 95),
        () if cues.has(MOMENTARY) => None,
        () if cues.has(LASTING) && !cues.has(OBSERVATIONS) => claim(ClaimKind::Preference, 90),
        () if cues.has(DECIDED) || cues.is_reversal() => claim(ClaimKind::Decision, 90),
        () if cues.is_preference() => claim(ClaimKind::Preference, 65),
        () if cues.is_chosen() => claim(ClaimKind::Decision, 90),
        () if cues.has(PERSONS_TRAPS) => claim(ClaimKind::Gotcha, 85),
        () => None,
    }
}

pub(super) fn is_about_security(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECURITY.any(|phrase| has_phrase(&lower, phrase)) || lower.contains("cve-")
}

/// Whether a sentence only praises, thanks or apologises.
pub(super) fn is_polite(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    POLITE.any(|phrase| lower.trim_start_matches(['¡', '"']).starts_with(phrase))
}

/// Whether a sentence reports something not done, which matters only in this session.
pub(super) fn is_transient(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    UNDONE.any(|phrase| has_phrase(&lower, phrase))
}

const CAUSES: Phrases = Phrases(
    "root cause|the cause was|the cause is|was caused by|is caused by|were caused by|turns out|turned out|\
    the reason was|the reason is|the reason for|the problem was|the problem is that|the issue was|\
    the bug was|the culprit|happens because|happened because|fails because|failed because|failing because|\
    broke because|was wrong because|die ursache|der grund war|der grund ist|lag daran|liegt daran|\
    das problem war|das problem ist, dass|la causa es|la causa era|la causa fue|se debe a|se debía a|\
    el problema era|el problema es que|resulta que|原因は|が原因|原因是|原因在于|是因为|因为",
);

const TRAPS: Phrases = Phrases(
    "note that|beware|be careful|careful:|watch out|caveat|gotcha|pitfall|keep in mind|be aware|important:|\
    warning:|only works if|only works when|only works with|does not work with|doesn't work with|\
    does not work when|doesn't work when|silently|must be run before|must run before|has to be run before|\
    will break if|achtung|vorsicht|zu beachten|beachte, dass|funktioniert nur mit|funktioniert nur, wenn|\
    cuidado|ten en cuenta|ojo:|atención:|solo funciona|注意点|注意：|注意:|注意が必要|ただし|需要注意|请注意",
);

const PERSONS_TRAPS: Phrases = Phrases(
    "be careful|note that|beware|keep in mind|be aware|watch out|heads up|achtung|vorsicht|cuidado|\
    ten en cuenta|気をつけて|注意：|注意:|需要注意|请注意",
);

const REMEMBER: Phrases = Phrases(
    "remember that |remember: |remember, |please remember|for the record|fyi|merke dir|merk dir|recuerda que|覚えておいて|记住",
);

const LASTING: Phrases = Phrases(
    "always|never|from now on|in future|in the future|going forward|i prefer|i'd prefer|we prefer|i'd rather|\
    i like|i don't like|i hate|every time|by default|our convention|our style|we use|we don't use|we never|\
    in this project|in this repo|in this codebase|ab jetzt|ab sofort|in zukunft|künftig|grundsätzlich|immer|\
    nie|niemals|wir verwenden|a partir de ahora|de ahora en adelante|en el futuro|siempre|nunca|今後は|\
    これからは|毎回|常に|必ず|总是|以后|今后|一律|每次|从现在起",
);

/// Phrases with such words that only report an observation.
const OBSERVATIONS: Phrases = Phrases(
    "is always|are always|was always|it always|it never|is never|was never|they never|has never|have never|\
    i never|always fails|never mind|nevermind|always returns|never returns|immer noch|immer wieder|ist immer|\
    war immer|schlägt immer|noch nie|war nie|es siempre|siempre falla|nunca fue",
);

/// Words that limit any sentence to the moment.
const MOMENTARY: Phrases = Phrases(
    "for now|right now|this time|yet|at the moment|today|for the moment|just this once|erstmal|vorerst|\
    heute|diesmal|por ahora|de momento|hoy|esta vez|今回は|とりあえず|暂时|今天|这次",
);

/// Words that limit a request to the current work.
const CURRENT_WORK: Phrases = Phrases(
    "until|worry|hesitate|forget|stop there|first|go ahead|continue|don't know|do not know|don't think|\
    don't understand|don't see|don't have",
);

const DECIDED: Phrases = Phrases(
    "decision:|we decided|i decided|i've decided|was decided|decided to|decided against|decided on|i chose|\
    we chose|opted for|opted to|settled on|went with|we're going with|we agreed|wir haben beschlossen|\
    haben uns entschieden|ich habe entschieden|hemos decidido|he decidido|decidimos|optamos por|acordamos|\
    ことにしました|ことにします|に決めました|决定|改用",
);

/// Openings by which a user takes back an earlier choice; with what holds instead, or why.
const REVERSALS: Phrases = Phrases(
    "forget |drop |instead drop |scrap |ditch |revert |undo |roll back |back out |vergiss |lieber |verwirf |\
    olvida |descarta |mejor |やっぱり|やはり|算了|还是",
);

/// Openings of sentences that only praise, thank or apologise.
const POLITE: Phrases = Phrases(
    "sorry|my apologies|apologies|i apologi|thank|thanks|you're right|you are right|great |awesome|good catch|\
    great catch|happy to|glad |entschuldigung|tut mir leid|gern geschehen|danke|perdón|lo siento|gracias|\
    de nada|すみません|申し訳|ありがとう|承知|抱歉|对不起|谢谢|不客气",
);

const CHOICES: Phrases = Phrases(
    "we'll use|we will use|i'll use|i used|i kept|i'm using|let's use|let's go with|let's keep|use|using|\
    switched to|switch to|keep|we should use|it uses",
);

const REASONS: Phrases =
    Phrases("because|since|so that|to avoid|which avoids|as it|as they|in order to|otherwise");

const ALTERNATIVES: Phrases = Phrases("instead of|rather than");

/// Alternatives that count only beside a reason.
const OTHERS: Phrases = Phrases("over the|not the");

const SUPPOSED: Phrases = Phrases(
    "should i|shall i|would you|do you want|you could|we could|you might|could be|might be|may be|perhaps|\
    maybe|probably|not decided|haven't decided",
);

const UNDONE: Phrases = Phrases(
    "i haven't|i have not|i didn't|i did not|i wasn't able|i was not able|i couldn't|i could not|i can't|\
    i cannot|let me know|feel free|happy to|i'll|let me|i will|i'm going to",
);

const SECURITY: Phrases = Phrases(
    "vulnerability|vulnerabilities|vulnerable|sql injection|command injection|shell injection|xss|csrf|ssrf|\
    path traversal|directory traversal|privilege escalation|auth bypass|authentication bypass|insecure|\
    leaked key|leaked secret|hardcoded secret|hard-coded secret|hardcoded password|plaintext password|\
    timing attack|remote code execution|exploit|unsanitized|脆弱性",
);

/// A sentence long enough to make a claim.
struct Sentence {
    /// In lower case, with plain apostrophes.
    lower: String,
    pairs: BytePairs,
    is_question: bool,
}

impl Sentence {
    fn of(sentence: &str) -> Option<Sentence> {
        let words = sentence.split_whitespace().count();
        let characters = sentence.chars().count();
        let is_wide = !sentence.is_ascii() && characters >= 8;
        let is_long_enough = (words >= 4 || is_wide) && (12..=400).contains(&characters);
        let is_question = sentence.trim_end_matches(['"', ')', '*', ' ']).ends_with(['?', '？']);
        is_long_enough.then(|| {
            let lower = sentence.to_lowercase().replace('’', "'");
            Sentence { pairs: BytePairs::of(&lower), lower, is_question }
        })
    }

    fn has(&self, phrases: Phrases) -> bool {
        phrases.possible_by(self.pairs).any(|phrase| has_phrase(&self.lower, phrase))
    }

    fn starts(&self, phrases: Phrases) -> bool {
        phrases.any(|phrase| self.lower.starts_with(phrase))
    }

    fn is_only_supposed(&self) -> bool {
        self.is_question
            || self.starts(POLITE)
            || self.has(SUPPOSED)
            || self.starts(Phrases("if |unless "))
            || self.has(UNDONE)
    }

    /// A choice with its reason or its rejected alternative.
    fn is_chosen(&self) -> bool {
        let begins = CHOICES.any(|choice| {
            let behind = self.lower.split_once(choice).map(|(before, _)| before.split_whitespace().count());
            behind.is_some_and(|words| words <= 3) && has_phrase(&self.lower, choice)
        });
        begins
            && self.has(REASONS)
            && (self.has(ALTERNATIVES) || self.has(OTHERS) || self.starts(Phrases("we'll|we will|let's")))
            || begins && self.has(ALTERNATIVES) && self.starts(CHOICES)
    }

    /// `Forget X, let's go with Y`, `revert the cache, it hides errors`: more than the bare order, which is for the moment.
    fn is_reversal(&self) -> bool {
        self.starts(REVERSALS) && (self.lower.contains([',', ';', '，', '、']) || self.has(CHOICES))
    }

    /// `Please use …`, `don't …`, `use X, not Y`: a general rule, not about one place in the text.
    fn is_preference(&self) -> bool {
        let is_local = self.has(Phrases("this|these|those|it|here|line"));
        let requests = self.starts(Phrases(
            "please use |please don't |please do not |don't |do not |no need for |avoid |stop |make sure |\
            prefer ",
        )) || self.starts(Phrases("use "))
            && self.has(Phrases("not|instead of|rather than|for all|everywhere"));
        requests && !is_local && !self.has(CURRENT_WORK)
    }
}

/// Whether a lower-case text contains a phrase at word boundaries.
pub(super) fn has_phrase(lower: &str, phrase: &str) -> bool {
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

    fn kind(claim: Option<Claim>) -> Option<ClaimKind> {
        claim.map(|claim| claim.kind)
    }

    #[test]
    fn an_agents_sentences_are_classified_by_phrases() {
        for (sentence, expected) in [
            (
                "The root cause was a second refresh that ran while the first one waited.",
                Some(ClaimKind::Cause),
            ),
            ("It turns out that the queue is drained twice at shutdown.", Some(ClaimKind::Cause)),
            ("Note that the index is only rebuilt when the schema changes.", Some(ClaimKind::Gotcha)),
            ("I decided to keep the old endpoint for one more release.", Some(ClaimKind::Decision)),
            (
                "I used a BTreeMap instead of a HashMap so that the output is stable.",
                Some(ClaimKind::Decision),
            ),
            ("We'll use SQLite because it needs no server.", Some(ClaimKind::Decision)),
            ("I've added three tests for the parser.", None),
            ("Should I use Redis instead of memory because it survives restarts?", None),
            ("It could be that the cache is stale because of the clock.", None),
            ("Note that I haven't run the integration tests.", None),
            ("Sorry, the root cause was mine and I should have looked.", None),
            ("Die Ursache ist eine Spalte, die nur 64 Zeichen fasst.", Some(ClaimKind::Cause)),
            ("La causa es que el código lee el nombre antiguo.", Some(ClaimKind::Cause)),
            ("原因是 runner 没有安装内部 CA 证书。", Some(ClaimKind::Cause)),
            ("Achtung: der Export erwartet weiterhin eine Zahl.", Some(ClaimKind::Gotcha)),
            ("Cuidado: el bucket borra los objetos después de 7 días.", Some(ClaimKind::Gotcha)),
            ("注意：DataLoaderはリクエストごとに作成してください。", Some(ClaimKind::Gotcha)),
            ("It returns null instead of throwing.", None),
            ("The function uses the cache instead of the database.", None),
            ("原因は接続プールの枯渇でした。", Some(ClaimKind::Cause)),
        ] {
            assert_eq!(kind(of_agent(sentence, "")), expected, "{sentence}");
        }
        assert_eq!(
            kind(of_agent("The pool was never drained at shutdown.", "root cause")),
            Some(ClaimKind::Cause)
        );
    }

    #[test]
    fn lasting_preferences_are_told_apart_from_momentary_requests() {
        for (sentence, expected) in [
            ("Always run the linter before you commit.", Some(ClaimKind::Preference)),
            ("From now on use pnpm, not npm.", Some(ClaimKind::Preference)),
            ("We never mock the database in tests.", Some(ClaimKind::Preference)),
            ("Please don't add comments that repeat the code.", Some(ClaimKind::Preference)),
            ("Use tabs rather than spaces in Makefiles.", Some(ClaimKind::Preference)),
            ("Let's use Postgres instead of MySQL because of the JSON columns.", Some(ClaimKind::Decision)),
            ("Remember that staging listens on port 5433.", Some(ClaimKind::Fact)),
            ("Be careful with the payments table, it is shared.", Some(ClaimKind::Gotcha)),
            ("Don't commit yet, I want to look at it.", None),
            ("The build always fails on the second run.", None),
            ("Don't worry about the tests for now.", None),
            ("Fix the login test, which is flaky.", None),
            ("Why do we never retry the upload?", None),
            ("Don't change this line in the config please.", None),
            ("これからは常に日本語でコメントを書いてください。", Some(ClaimKind::Preference)),
            ("Ab jetzt bitte immer eine Migration schreiben.", Some(ClaimKind::Preference)),
            ("Der Build schlägt immer wieder fehl.", None),
            ("A partir de ahora usa siempre los nombres del ejemplo.", Some(ClaimKind::Preference)),
            ("以后提交信息一律用英文，不要用中文。", Some(ClaimKind::Preference)),
            ("Wir haben beschlossen, die PLZ als Text zu speichern.", Some(ClaimKind::Decision)),
            ("Hemos decidido guardar las facturas en S3.", Some(ClaimKind::Decision)),
            ("Forget BullMQ, let's go with graphile-worker instead.", Some(ClaimKind::Decision)),
            ("revert the lazy loading, the admin must load at once", Some(ClaimKind::Decision)),
            ("revert that last change please", None),
        ] {
            assert_eq!(kind(of_person(sentence)), expected, "{sentence}");
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

//! Tells the user's own words in a prompt from quoted, fenced and pasted text.
//!
//! Pasted text is what the user asks about, not what the user wants: it counts as text from outside unless the user's own
//! words before it take it over (`these are our rules:`). In doubt text is pasted: a missed wish can be said again, a
//! foreign rule would be obeyed. Decides nothing about the content.

use super::passage::within_bounds;
use crate::memory::MemoryTrust;
use crate::memory::suspicion::folded_text;
use crate::phrases::Phrases;
use crate::text::clip_start;
use std::borrow::Cow;

/// Bytes of a prompt above which it was not typed.
const LONGEST_TYPED: usize = 32 * 1024;

/// A prompt, split.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PromptParts<'t> {
    pub own: Cow<'t, str>,
    pub pasted: String,
}

/// Bytes of a quotation that is a text of its own, not a name or a phrase.
const LONG_QUOTE: usize = 40;

/// The trust of what is pasted into a prompt; `None` if nothing is.
pub fn pasted_trust(prompt: &str) -> Option<MemoryTrust> {
    let is_pasted = || !split(prompt).pasted.trim().is_empty();
    (prompt.len() > LONGEST_TYPED || is_pasted()).then_some(MemoryTrust::Tool)
}

pub(super) fn split(prompt: &str) -> PromptParts<'_> {
    if prompt.len() > LONGEST_TYPED {
        let pasted = within_bounds(prompt).into_owned();
        return PromptParts { own: Cow::Borrowed(""), pasted };
    }
    let mut parts = Splitter::default();
    for line in prompt.lines() {
        parts.line(line);
    }
    if !parts.has_pasted && !asks_about_above(&parts.own) {
        return PromptParts { own: Cow::Borrowed(prompt), pasted: String::new() };
    }
    if asks_about_above(&parts.own) {
        parts.take_what_stands_above();
    }
    PromptParts { own: Cow::Owned(parts.own), pasted: parts.pasted }
}

/// Where the next line belongs.
#[derive(Default, PartialEq, Eq)]
enum Within {
    #[default]
    Own,
    /// A code block, until this mark.
    Fence(&'static str),
    /// An element, until this end tag.
    Element(String),
    /// Pasted text, up to the end of the prompt.
    Rest,
}

#[derive(Default)]
struct Splitter {
    own: String,
    pasted: String,
    has_pasted: bool,
    within: Within,
    /// The user's own words took over what follows.
    is_adopted: bool,
    is_after_blank: bool,
    /// The user asked about what follows the next blank line.
    is_asked_about: bool,
}

impl Splitter {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        match &self.within {
            Within::Fence(mark) => {
                if text.starts_with(mark) {
                    self.within = Within::Own;
                }
                return self.add_pasted(line);
            }
            Within::Element(end) => {
                if text.contains(end.as_str()) {
                    self.within = Within::Own;
                }
                return self.add_block(text);
            }
            Within::Rest => return self.add_pasted(line),
            Within::Own => {}
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark)) {
            self.within = Within::Fence(mark);
            return self.add_pasted(line);
        }
        if let Some(end) = opened_element(text) {
            self.within = if text.contains(&end) { Within::Own } else { Within::Element(end) };
            return self.add_block(text);
        }
        self.plain_line(line, text);
        self.is_after_blank = text.is_empty();
    }

    /// A line outside of fences and elements.
    fn plain_line(&mut self, line: &str, text: &str) {
        let is_indented = self.is_after_blank && (line.starts_with("    ") || line.starts_with('\t'));
        let begins_paste = self.is_asked_about && self.is_after_blank && !text.is_empty();
        if text.starts_with('>') {
            self.add_block(text.trim_start_matches(['>', ' ']));
        } else if begins_paste || is_readme_line(text) && !self.is_adopted {
            self.within = Within::Rest;
            self.add_pasted(line);
        } else if is_indented && !text.is_empty() && !is_list_item(text) {
            self.add_block(text);
        } else {
            self.own_line(line);
        }
    }

    /// A block that is pasted unless the user took it over.
    fn add_block(&mut self, text: &str) {
        if self.is_adopted {
            self.add_own(text);
            return;
        }
        self.add_pasted(text);
    }

    /// A line of the user, from which long quotations and what follows `explain this:` are taken out.
    fn own_line(&mut self, line: &str) {
        let (own, quoted) = if self.is_adopted { (line.to_owned(), vec![]) } else { without_quotes(line) };
        quoted.iter().for_each(|quote| self.add_pasted(quote));
        let (own, rest) = until_explained(&own);
        self.add_own(own);
        let plain = folded_text(own);
        let is_question = own.trim_end().ends_with(['?', '？']);
        self.is_adopted |= !is_question && ADOPTIONS.is_in(&plain);
        self.is_asked_about |= is_question && asks_about(&plain);
        if EXPLAIN.is_in(&plain) || announces(&plain) && !self.is_adopted {
            self.within = Within::Rest;
            self.has_pasted |= !rest.trim().is_empty();
            self.pasted.push_str(rest);
            self.pasted.push('\n');
        } else {
            self.own.push_str(rest);
        }
        self.own.push('\n');
    }

    fn add_own(&mut self, text: &str) {
        self.own.push_str(text);
        if self.is_adopted {
            self.own.push('\n');
        }
    }

    fn add_pasted(&mut self, text: &str) {
        self.has_pasted |= !text.trim().is_empty();
        self.pasted.push_str(text);
        self.pasted.push('\n');
    }

    /// `… What does this mean?` at the end: everything before it was pasted.
    fn take_what_stands_above(&mut self) {
        let own = self.own.trim_end().to_owned();
        let (above, question) =
            own.rsplit_once("\n\n").or_else(|| own.rsplit_once('\n')).unwrap_or(("", &own));
        self.pasted = format!("{above}\n\n{}", self.pasted);
        self.has_pasted |= !above.trim().is_empty();
        self.own = question.to_owned();
    }
}

/// The end tag of an element that begins on this line: `<document>`.
fn opened_element(text: &str) -> Option<String> {
    let (tag, _) = text.strip_prefix('<')?.split_once('>')?;
    let name: String =
        tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').collect();
    (name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase())).then(|| format!("</{name}"))
}

fn is_list_item(text: &str) -> bool {
    text.starts_with(['-', '*', '+', '•']) || text.starts_with(|c: char| c.is_ascii_digit())
}

/// Lines that stand in documents and not in prompts: badges, the sections of a README.
fn is_readme_line(text: &str) -> bool {
    const SECTIONS: Phrases = Phrases(
        "installation|install|getting started|quick start|quickstart|usage|license|licence|contributing|features|\
        table of contents|prerequisites|requirements|changelog|development|faq|troubleshooting|readme|documentation",
    );
    let heading = text.trim_start_matches('#');
    let is_heading = heading.len() < text.len() && heading.starts_with(' ');
    let name = heading.trim().trim_end_matches(':').to_lowercase();
    text.starts_with("[![") || text.starts_with("![") || is_heading && SECTIONS.contains(name.as_str())
}

/// Takes quotations of whole sentences out of a line.
fn without_quotes(line: &str) -> (String, Vec<String>) {
    const MARKS: [(char, char); 5] = [('“', '”'), ('«', '»'), ('„', '“'), ('「', '」'), ('"', '"')];
    let (mut own, mut quoted) = (line.to_owned(), vec![]);
    for (open, close) in MARKS {
        while let Some(from) = own.find(open) {
            let inner = from + open.len_utf8();
            let Some(length) = own[inner..].find(close).filter(|length| *length >= LONG_QUOTE) else { break };
            quoted.push(own[inner..inner + length].to_owned());
            own.replace_range(from..inner + length + close.len_utf8(), "…");
        }
    }
    (own, quoted)
}

/// Bytes of a sentence that are read before its end.
const SENTENCE: usize = 200;

/// Splits a line after a sentence that asks to explain what follows.
fn until_explained(line: &str) -> (&str, &str) {
    let end = line.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends = matches!(c, '?' | '？' | ':' | '：') || c == '.' && line[after..].starts_with(' ');
        let is_asked = || {
            let plain = folded_text(clip_start(&line[..after], SENTENCE));
            EXPLAIN.is_in(&plain) || ":：".contains(c) && announces(&plain)
        };
        (ends && is_asked()).then_some(after)
    });
    line.split_at(end.unwrap_or(line.len()))
}

/// Whether a question is about a text: `Can you check this?`, but not `can you fix this?`
fn asks_about(plain: &str) -> bool {
    const WORK: Phrases = Phrases(
        "fix|add |implement|change|make |write|update|refactor|remove|rename|move |build|create|delete|run |\
        behebe|andere|corrige|ajoute|anade|arregla|adicione|corrija|aggiungi|correggi|исправ|добав|修复|添加|直し|追加|\
        고쳐|추가",
    );
    let words = format!("{plain} ");
    THIS.is_in(&words) && !WORK.is_in(&words)
}

/// Whether the last paragraph asks about the text above it.
fn asks_about_above(own: &str) -> bool {
    let own = own.trim_end();
    let (above, last) = own.rsplit_once('\n').unwrap_or(("", own));
    let plain = folded_text(last);
    !above.trim().is_empty() && last.len() < 200 && EXPLAIN.is_in(&plain)
}

/// `The README says:`, `here is the log:`
fn announces(plain: &str) -> bool {
    plain.trim_end().ends_with([':', '：']) && SOURCES.is_in(plain)
}

const THIS: Phrases = Phrases(
    "this |this?|these |these?|that |following|below|dies|das hier|folgende|ceci|cela|ca veut|suivant|esto|este |\
    siguiente|isto|isso|seguinte|questo|seguente|это|следующ|这|以下|これ|この|次の|이것|이게|다음",
);

const EXPLAIN: Phrases = Phrases(
    "explain what this|explain this|explain the following|explain me this|explain to me what|what does this mean|\
    what this means|what does it mean|what is this about|summarize this|summarise this|summarize the following|\
    summarise the following|sum this up|translate this|translate the following|what do you think of this|\
    what do you make of this|is this true|is this safe|is this correct|is this right|does this make sense|\
    what does this say|i found this|i got this|someone sent me this|a colleague sent|proofread this|\
    was bedeutet das|was heisst das|erklare mir das|erklare das|erklar mir|fasse das zusammen|ubersetze das|\
    ubersetze folgend|que veut dire|qu'est-ce que ca veut dire|explique-moi ce|explique ce texte|resume ce|\
    traduis ce|que significa|explicame esto|explica esto|resume esto|traduce esto|explique isto|explica isto|\
    resuma isto|traduza isto|o que isto significa|o que isso significa|cosa significa|spiegami questo|spiega questo|\
    riassumi questo|traduci questo|что это значит|что это означает|объясни это|объясни, что|переведи это|\
    это что значит|这是什么意思|解释一下|解释这|翻译这|总结这|どういう意味|説明して|翻訳して|要約して|무슨 뜻|설명해|번역해|\
    요약해",
);

const SOURCES: Phrases = Phrases(
    "readme|the docs|documentation|the doc|the issue|the ticket|the email|the mail|the message|the article|the page|\
    the log|the output|the error|stack trace|traceback|it says|says|wrote|they write|quote|here is what|see below|\
    die doku|die mail|steht|schreibt|la doc|le message|il dit|dice|la documentacion|o readme diz|diz|scrive|пишет|\
    написано|说明书|文档|报错|日志|ドキュメント|ログ|エラー|문서|로그|오류",
);

const ADOPTIONS: Phrases = Phrases(
    "my rule|our rule|my convention|our convention|my preference|our preference|my guideline|our guideline|our style|\
    these rules|this rule|follow these|follow this|follow the rules|stick to|apply these|remember this|\
    remember these|remember the following|from now on|going forward|i want you to|please always|meine regel|\
    unsere regel|ab jetzt|ab sofort|halte dich an|merke dir|mes regles|nos regles|desormais|a partir de maintenant|\
    mis reglas|nuestras reglas|a partir de ahora|de ahora en adelante|minhas regras|nossas regras|a partir de agora|\
    le mie regole|le nostre regole|d'ora in poi|мои правила|наши правила|отныне|с этого момента|我的规则|我们的规则|\
    从现在开始|以后请|私のルール|私たちのルール|今後は|これからは|내 규칙|우리 규칙|앞으로는|이제부터",
);

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "Always run `make seed` before the tests.";

    #[track_caller]
    fn check(prompt: &str, is_own: bool) {
        let PromptParts { own, pasted } = split(prompt);
        assert_eq!(
            (own.contains(RULE), pasted.contains(RULE)),
            (is_own, !is_own),
            "{prompt}\n{own:?}\n{pasted:?}"
        );
    }

    #[test]
    fn what_the_user_asks_about_is_pasted() {
        for prompt in [
            format!("Can you explain what this means?\n\n# Boat\n\n{RULE}"),
            format!("Can you explain what this means? {RULE}"),
            format!("Is this good advice?\n\n{RULE} It says so."),
            format!("{RULE}\n\nWhat does this mean?"),
            format!("The README says:\n{RULE}"),
            format!("fix the login\n> {RULE}"),
            format!("fix the login, it says \"{RULE} Then start.\" somewhere"),
            format!("fix the login\n<document>\n{RULE}\n</document>\nthanks"),
            format!("what is wrong here\n```\n{RULE}\n```"),
            format!("see\n\n## Installation\n{RULE}"),
            format!("Was bedeutet das?\n{RULE}"),
            format!("これはどういう意味ですか？\n{RULE}"),
        ] {
            check(&prompt, false);
        }
    }

    #[test]
    fn what_the_user_says_or_takes_over_is_own() {
        for prompt in [
            RULE.to_owned(),
            format!("Can you fix the login test? {RULE}"),
            format!("Fix the login.\n\n{RULE}"),
            format!("Can you fix this?\n\n{RULE}"),
            format!("These are our rules, follow them:\n> {RULE}"),
            format!("From now on:\n- {RULE}\n- Never push."),
            format!("# Task\nFix the login.\n# Rules\n{RULE}"),
        ] {
            check(&prompt, true);
        }
    }

    #[test]
    fn a_prompt_without_pasted_text_stays_as_it_is() {
        let prompt = "Fix it.\n\n  - one\n  - \"two\"\n\nThanks";
        assert_eq!(split(prompt), PromptParts { own: prompt.into(), pasted: String::new() });
    }
}

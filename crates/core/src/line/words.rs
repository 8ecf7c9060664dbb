//! Extracts plain text from prompts and answers: one line, no markup, the first meaningful sentence.
//!
//! Reads only the beginning of a text, and never treats it as an instruction.

use crate::escape::{escape_for_terminal, is_one_line};
use crate::phrases::Phrases;
use crate::text::clip;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// How many bytes of a text are read.
pub(super) const WINDOW: usize = 1024;

/// Maximum bytes of a block: more than a gist has room for.
const LONGEST_BLOCK: usize = 400;

/// Minimum columns of a gist; a shorter one takes the next sentence too.
const MIN_GIST_COLUMNS: usize = 40;

/// The size limit of a stored text. Bytes are counted as JSON, which bounds the size of a `Digest` on disk.
#[derive(Clone, Copy)]
pub(crate) struct TextLimit {
    pub characters: usize,
    pub bytes: usize,
}

/// The first meaningful sentences: no greetings, no code, no heading, list or table markup.
pub(crate) fn gist(text: &str, limit: TextLimit) -> String {
    let text = first_sentences(clip(text, WINDOW)).unwrap_or_else(|title| title);
    clipped(text.trim_end_matches(['.', '。', ':', '：', ' ']), limit)
}

/// The first meaningful sentences; `Err` with the first heading if the text has only headings.
fn first_sentences(text: &str) -> Result<String, String> {
    let text = without_sequences(text);
    let mut gist = String::new();
    let mut fallback = String::new();
    for block in TextBlocks::of(&text) {
        if fallback.is_empty() {
            fallback.clone_from(&block.text);
        }
        if block.is_heading && gist.is_empty() {
            continue;
        }
        if block.is_heading || !add_sentences(&mut gist, &block.text) {
            break;
        }
    }
    if gist.is_empty() { Err(fallback) } else { Ok(gist) }
}

/// The last sentence, if it is a question.
pub(crate) fn question(text: &str, limit: TextLimit) -> Option<String> {
    if !text.trim_end_matches([' ', '\n', '\r', '\t', '*', '_', '`', ')']).ends_with(['?', '？']) {
        return None;
    }
    let from = (text.len().saturating_sub(WINDOW)..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let text = without_sequences(&text[from..]);
    let last = TextBlocks::of(&text).last()?;
    let sentence = sentences(&last.text).last()?.trim();
    sentence.ends_with(['?', '？']).then(|| clipped(sentence, limit))
}

/// The text on one line: whitespace collapsed, without control characters, escape sequences or bidi marks.
pub(crate) fn plain(text: &str, limit: TextLimit) -> String {
    clipped(&single_line(&without_sequences(clip(text, WINDOW))), limit)
}

/// The longest prefix within the limit, cut at a word's end; a cut is shown as `…`.
pub(crate) fn clipped(text: &str, limit: TextLimit) -> String {
    const MARK: usize = '…'.len_utf8();
    // JSON escaping at most doubles a character's bytes.
    if text.len() <= limit.characters && text.len() <= limit.bytes / 2 {
        return text.to_owned();
    }
    let (mut kept, mut characters, mut bytes) = (0, 0, 0);
    for (at, c) in text.char_indices() {
        if characters < limit.characters && bytes + MARK <= limit.bytes {
            kept = at;
        }
        characters += 1;
        bytes += if matches!(c, '"' | '\\') { 2 } else { c.len_utf8() };
        if characters > limit.characters || bytes > limit.bytes {
            let has_mark = limit.characters > 0 && limit.bytes >= MARK;
            return if has_mark { format!("{}…", shortened(text, kept)) } else { String::new() };
        }
    }
    text.to_owned()
}

/// Cuts at `end` or before: never inside a grapheme, and not inside a word unless the word is long.
fn shortened(text: &str, end: usize) -> &str {
    let mut kept = &text[..end];
    while !kept.is_empty() && is_joined(kept, &text[kept.len()..]) {
        kept = without_last(kept);
    }
    let at_word = kept.rfind(char::is_whitespace).filter(|at| kept.len() - at < 24 && *at > kept.len() / 2);
    let is_inside = text[kept.len()..].starts_with(|c: char| !c.is_whitespace());
    let kept = if is_inside { at_word.map_or(kept, |at| &kept[..at]) } else { kept };
    kept.trim_end_matches(|c: char| c.is_whitespace() || ",;:、，—-(".contains(c))
}

fn without_last(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next_back();
    chars.as_str()
}

/// Whether a cut here would split a grapheme.
fn is_joined(before: &str, after: &str) -> bool {
    let joins = |c: char| c.width() == Some(0) || ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    before.ends_with('\u{200d}') || after.starts_with(joins)
}

/// A paragraph, a list item or a heading.
pub(crate) struct TextBlock {
    pub text: String,
    pub is_heading: bool,
    /// Whether it is a list item.
    pub is_item: bool,
}

/// A lazy iterator over the blocks of a text: usually the first block is enough.
pub(crate) struct TextBlocks<'t> {
    lines: std::str::Lines<'t>,
    /// The fence that closes the current code block.
    fence: Option<&'static str>,
    /// The block that the next line may continue.
    growing: Option<TextBlock>,
    is_open: bool,
}

impl<'t> TextBlocks<'t> {
    pub fn of(text: &'t str) -> Self {
        TextBlocks { lines: text.lines(), fence: None, growing: None, is_open: false }
    }

    /// Adds a line; returns the previous block if the line begins a new one.
    fn add(&mut self, line: &str) -> Option<TextBlock> {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        if mark.is_some() || self.fence.is_some() {
            self.is_open = false;
            self.fence =
                if self.fence.is_none() { mark } else { self.fence.filter(|open| mark != Some(open)) };
            return None;
        }
        let (body, begins) = unmarked(line);
        let body = single_line(&without_markup(body));
        if body.is_empty() || line.starts_with('|') {
            self.is_open = false;
            return None;
        }
        if let (true, false, Some(last)) = (self.is_open, begins, &mut self.growing)
            && last.text.len() < LONGEST_BLOCK
        {
            last.text.push(' ');
            last.text.push_str(&body);
            return None;
        }
        let is_heading = line.starts_with('#');
        self.is_open = !is_heading && !line.starts_with('<');
        let is_item = list_item(line.trim_start_matches(['>', ' '])).is_some();
        self.growing.replace(TextBlock { text: body, is_heading, is_item })
    }
}

impl Iterator for TextBlocks<'_> {
    type Item = TextBlock;

    fn next(&mut self) -> Option<TextBlock> {
        while let Some(line) = self.lines.next() {
            if let Some(block) = self.add(line.trim()) {
                return Some(block);
            }
        }
        self.growing.take()
    }
}

/// A line without its leading markup, and whether that markup begins a new block.
fn unmarked(line: &str) -> (&str, bool) {
    let quoted = line.trim_start_matches(['>', ' ']);
    let bare = quoted.trim_start_matches('#');
    let is_rule = quoted.len() > 2 && quoted.chars().all(|c| "-=*_ ".contains(c));
    if is_rule {
        return ("", true);
    }
    if bare.len() < quoted.len() && bare.starts_with(' ') {
        return (bare.trim(), true);
    }
    if let Some(inner) = between_tags(quoted) {
        return (inner, true);
    }
    match list_item(quoted) {
        Some(list_item) => (list_item, true),
        None => (quoted, false),
    }
}

/// `- point`, `* point`, `• point`, `3. point`, `- [x] point`.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered =
        || digits.strip_prefix(['.', ')'])?.strip_prefix(' ').filter(|_| digits.len() < line.len());
    let bulleted = || line.strip_prefix(['-', '*', '+', '•', '・'])?.strip_prefix(' ');
    let list_item = bulleted().or_else(numbered)?.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|task| list_item.strip_prefix(task)).unwrap_or(list_item))
}

/// The text between tags that span the whole line; empty if it is a single word, such as an id.
fn between_tags(line: &str) -> Option<&str> {
    let after = line.strip_prefix('<')?.trim_start_matches('/');
    let (tag, rest) = after.split_once('>')?;
    let is_tag = tag.starts_with(|c: char| c.is_ascii_lowercase()) && tag.len() < 200 && !tag.contains('<');
    if !is_tag {
        return None;
    }
    let inner = rest.rsplit_once("</").map_or(rest, |(inner, _)| inner).trim();
    let is_id = rest.contains("</") && !inner.contains(char::is_whitespace) && inner.is_ascii();
    Some(if is_id { "" } else { inner })
}

/// Strips `**` and backticks, and reduces links to their text.
fn without_markup(line: &str) -> Cow<'_, str> {
    if !line.bytes().any(|byte| matches!(byte, b'*' | b'`' | b'[')) {
        return Cow::Borrowed(line);
    }
    let plain = line.replace("**", "").replace('`', "");
    let mut out = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        let parts = link.split_once("](").and_then(|(words, after)| Some((words, after.split_once(')')?.1)));
        match parts.filter(|(words, _)| !words.contains('[') && words.len() < 200) {
            Some((words, after)) => {
                out.push_str(words);
                rest = after;
            }
            None => {
                out.push('[');
                rest = link;
            }
        }
    }
    Cow::Owned(out + rest)
}

/// Appends sentences until the gist is long enough; returns whether it needs more.
fn add_sentences(gist: &mut String, block: &str) -> bool {
    for sentence in sentences(block) {
        let sentence = without_greeting(sentence.trim());
        if sentence.is_empty() || is_filler(sentence) {
            continue;
        }
        if !gist.is_empty() && !gist.ends_with(['。', '！', '？']) {
            gist.push(' ');
        }
        gist.push_str(sentence);
        if columns(gist) >= MIN_GIST_COLUMNS && !gist.ends_with([':', '：']) {
            return false;
        }
    }
    if !gist.is_empty() && !gist.ends_with(['.', '!', '?', ':', '。', '！', '？', '：', ';', ',']) {
        gist.push('.');
    }
    true
}

/// The display width of one line. The text must not contain control characters.
fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends =
            rest.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '｡'));
        let end = ends.find(|(at, c)| ends_sentence(*c, &rest[..*at], &rest[at + c.len_utf8()..]));
        let (sentence, after) = rest.split_at(end.map_or(rest.len(), |(at, c)| at + c.len_utf8()));
        rest = after;
        (end.is_some() || !sentence.trim().is_empty()).then_some(sentence)
    })
}

fn ends_sentence(c: char, before: &str, after: &str) -> bool {
    const SHORT: [&str; 10] = ["e.g", "i.e", "vs", "etc", "cf", "approx", "mr", "dr", "no", "fig"];
    let next = || after.trim_start().chars().next();
    let is_apart = after.starts_with(char::is_whitespace);
    match c {
        '。' | '！' | '？' | '｡' => next().is_some_and(|next| !"」』）。！？".contains(next)),
        '!' | '?' => is_apart,
        '.' if is_apart => {
            let word = before.rsplit(char::is_whitespace).next().unwrap_or("").to_lowercase();
            let is_number = word.chars().all(|c| c.is_ascii_digit());
            !is_number && !SHORT.contains(&word.as_str()) && !next().is_some_and(char::is_lowercase)
        }
        _ => false,
    }
}

/// Strips leading greetings: `Hi, fix it` becomes `fix it`.
pub(crate) fn without_greeting(sentence: &str) -> &str {
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once([',', '、', '，', '—']) {
        if !is_filler(before) || after.trim().is_empty() {
            break;
        }
        rest = after.trim_start();
    }
    let polite = ["Please ", "please "].iter().find_map(|word| rest.strip_prefix(word));
    polite.unwrap_or(rest).trim()
}

/// Sentences without meaning of their own.
const FILLERS: Phrases = Phrases(
    "hi|hello|hey|hi there|hello there|hey there|good morning|good evening|good afternoon|thanks|thank you|\
    many thanks|ok|okay|sure|sure thing|of course|certainly|absolutely|alright|all right|great|\
    great question|good question|perfect|excellent|nice|done|all done|got it|understood|i see|sounds good|\
    no problem|you're right|you're absolutely right|you are right|you are absolutely right|yes|no|summary|\
    happy to help|let me help|here's a summary|here is a summary|hallo|danke|hola|gracias|bonjour|merci|\
    こんにちは|おはようございます|お疲れ様です|お疲れさまです|ありがとうございます|ありがとう|はい|了解です|\
    了解しました|承知しました|わかりました|完了しました|你好|您好|谢谢|好的|请问",
);

/// An upper bound of the fillers' length, in bytes.
const LONGEST_FILLER: usize = 40;

pub(crate) fn is_filler(sentence: &str) -> bool {
    let bare = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.len() > LONGEST_FILLER {
        return false;
    }
    let bare = bare.to_lowercase().replace('’', "'");
    bare.is_empty() || FILLERS.contains(&bare)
}

/// Collapses whitespace and drops control characters and bidi marks.
fn single_line(text: &str) -> String {
    if is_one_line(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in escape_for_terminal(&text.replace(is_break, " ")).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Strips terminal escape sequences: colours, titles, cursor movement.
pub(crate) fn without_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => while chars.next_if(|c| !('@'..='~').contains(c) && *c != '\n').is_some() {},
            Some(']' | 'P' | '_' | '^') => {
                while chars.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
            }
            _ => continue,
        }
        chars.next_if(|c| *c != '\n' && *c != '\u{1b}');
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: TextLimit = TextLimit { characters: 120, bytes: 300 };

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(gist(text, LIMIT), expected, "{text}");
    }

    #[test]
    fn the_first_sentence_that_carries_meaning_is_taken() {
        check(
            "Fix the login test, which is flaky on slow machines. Then push.",
            "Fix the login test, which is flaky on slow machines",
        );
        check("Fix the test. Then push it.", "Fix the test. Then push it");
        check(
            "Hi! Could you look at src/a.rs, e.g. the second function there?",
            "Could you look at src/a.rs, e.g. the second function there?",
        );
        check("Hello, please fix it", "fix it");
        check("Thanks! Please rename it", "rename it");
        check("yes", "yes");
        check(
            "Great!\n\n## Summary\n\nThe **race** was in `refresh_token`, which ran twice.",
            "The race was in refresh_token, which ran twice",
        );
        check("## Plan\n", "Plan");
        check(
            "```rust\nfn main() {}\n```\nWhy does this not compile at all?",
            "Why does this not compile at all?",
        );
        check(
            "Done. Changes made:\n- `a.rs`: waits for the token\n- b.rs",
            "Changes made: a.rs: waits for the token. b.rs",
        );
        check("1. [Read](https://x.y/z) the docs\n2. Write tests", "Read the docs. Write tests");
        check("| a | b |\n|---|---|\n| 1 | 2 |\n\nThe table shows it.", "The table shows it");
        check("", "");
    }

    #[test]
    fn sentences_end_in_japanese_and_chinese_too() {
        check(
            "お疲れ様です。ログインのテストが不安定なので、原因を調べて修正してください。その後コミット。",
            "ログインのテストが不安定なので、原因を調べて修正してください",
        );
        check(
            "你好！请修复登录测试里的竞态条件，然后运行全部的测试用例。谢谢。",
            "请修复登录测试里的竞态条件，然后运行全部的测试用例",
        );
        check("「直して。」と言われた。", "「直して。」と言われた");
        check("二番目で。テストも。", "二番目で。テストも");
    }

    #[test]
    fn a_notification_is_the_text_between_its_tags() {
        let text = "<task-notification>\n<task-id>b1</task-id>\n<summary>Background command \"d\" completed (exit code 0)</summary>\n</task-notification>";
        check(text, "Background command \"d\" completed (exit code 0)");
        check(
            "<opened>The user opened a file</opened>\nrun the linter",
            "The user opened a file. run the linter",
        );
        check("<note kind=\"x\" to=\"y\">\nhello lead\n</note>", "hello lead");
    }

    #[test]
    fn terminal_sequences_are_removed() {
        assert_eq!(
            plain("\u{1b}[31mred\u{1b}[0m\n\u{1b}]0;title\u{7}a\u{202e}b\tc\u{85}d", LIMIT),
            "red ab c d"
        );
        assert_eq!(plain("a\u{1b}", LIMIT), "a");
        assert_eq!(plain("a\u{1b}[", LIMIT), "a");
    }

    #[test]
    fn text_is_cut_at_the_end_of_a_word() {
        let cut = |text: &str, characters| clipped(text, TextLimit { characters, bytes: 300 });
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("one two three", 12), "one two…");
        assert_eq!(cut("one two, three", 9), "one two…");
        assert_eq!(cut("onetwothree", 5), "onet…");
        assert_eq!(cut("漢字かな", 3), "漢字…");
        assert_eq!(cut("ab👩\u{200d}💻cd", 5), "ab…");
        assert_eq!(clipped("\"\"\"\"", TextLimit { characters: 9, bytes: 7 }), "\"\"…");
        assert_eq!(clipped("abc", TextLimit { characters: 0, bytes: 0 }), "");
    }

    #[test]
    fn a_question_at_the_end_is_found() {
        assert_eq!(question("It is fixed.\n\nShall I push it?", LIMIT).as_deref(), Some("Shall I push it?"));
        assert_eq!(question("Why? Because.", LIMIT), None);
    }
}

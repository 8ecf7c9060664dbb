//! Directives: the prompts that say what to do, as opposed to small talk, markers and prompts that Towline typed.
//!
//! Judges by the words alone: by origin, by fixed phrases and by the forms of our own prompts. No model, no guess at intent.

use super::material::{PastSession, PastTurn, TurnMessage};
use crate::capture::Speaker;
use crate::event::PromptOrigin;
use crate::line::words::is_filler;
use crate::phrases::Phrases;

/// The prompt that is typed into a successor, before and after the id of its handoff.
pub const GO_ON: [&str; 2] = ["Go on with the work as the handoff ", " says."];

/// The start of the prompt by which a user sends a handoff by hand.
pub const SENT: &str = "Go on with this work of an earlier session. Its handoff:\n\n";

/// Words of which small talk consists, also several of them in a row: `ok thanks`, `yes go on`.
const SMALL_WORDS: Phrases = Phrases(
    "a|ahead|all|alles|and|bien|bitte|bye|carry|cheers|claro|continue|cool|danke|dankeschön|dank|excellent|fein|fine|\
    genau|go|going|good|great|gut|hello|hey|hi|ja|job|jo|keep|klar|lgtm|lot|mach|many|merci|much|nein|next|nice|no|nope|\
    ok|okay|okey|on|oui|passt|perfect|perfekt|please|proceed|prima|schön|sehr|si|so|sounds|super|sure|sí|thank|thanks|thx|\
    toll|ty|und|vale|very|vielen|weiter|well|yeah|yep|yes|you|yup|続けて|続けてください|继续|请继续|谢谢|繼續|계속|감사합니다",
);

/// The default prompt that is typed after a usage limit, as older versions captured it.
const RESUME: &str = "Continue where you left off.";

/// More than this is no small talk, in bytes.
const MAX_SMALL_TALK_BYTES: usize = 60;

/// Whether a prompt only thanks, agrees, greets or says to go on. A bare choice (`2`, `b`) counts: it means nothing without
/// the question that it answers.
pub fn is_small_talk(text: &str) -> bool {
    let text = text.trim();
    let ends_sentence =
        |c: char| matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '\n' | '。' | '、' | '，' | '！');
    text.len() <= MAX_SMALL_TALK_BYTES
        && text.split(ends_sentence).all(|part| is_filler(part) || part.split_whitespace().all(is_small_word))
}

/// Whether a prompt only greets: it says nothing about the work, and the next prompt will.
pub fn is_greeting(text: &str) -> bool {
    const WORDS: Phrases = Phrases(
        "hi|hello|hey|hallo|moin|servus|hola|bonjour|salut|good|morning|afternoon|evening|guten|morgen|tag|abend|\
        buenos|buenas|días|tardes|there|all|again|こんにちは|おはよう|おはようございます|こんばんは|你好|您好|早上好",
    );
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut words = text.split_whitespace().map(bare).filter(|word| !word.is_empty()).peekable();
    text.len() <= MAX_SMALL_TALK_BYTES && words.peek().is_some() && words.all(|word| WORDS.contains(&word))
}

fn is_small_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    (bare.is_ascii() && bare.len() <= 1) || SMALL_WORDS.contains(&bare)
}

/// Whether Towline typed this prompt in the user's place. Recognises prompts that were captured as the user's own, too.
pub fn is_typed(text: &str) -> bool {
    let [before, after] = GO_ON;
    let id = text.trim().strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    text.starts_with(SENT)
        || text.trim() == RESUME
        || id.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The messages of a turn that say what to do, in order.
pub fn directives(turn: &PastTurn) -> impl DoubleEndedIterator<Item = usize> + '_ {
    // A command that brought no answer changed a setting of the client.
    let is_answered =
        !turn.details.is_empty() || turn.words.iter().any(|word| word.speaker == Speaker::Agent);
    let counts = move |text: &str| match turn.origin {
        PromptOrigin::Human | PromptOrigin::Continuation if is_typed(text) => text.starts_with(SENT),
        PromptOrigin::Human => !is_small_talk(text),
        PromptOrigin::Command => is_answered,
        PromptOrigin::Continuation | PromptOrigin::Notification | PromptOrigin::Bookmark => false,
    };
    let words = turn.words.iter().enumerate();
    let said = words.filter(|(_, word)| word.speaker == Speaker::Person && !word.text.trim().is_empty());
    said.filter(move |(_, word)| counts(&word.text)).map(|(at, _)| at)
}

/// Whether a turn is more than small talk: it has a directive, or goes on with the work as it was typed to.
pub fn is_at_work(turn: &PastTurn) -> bool {
    let is_ours = |word: &TurnMessage| word.speaker == Speaker::Person && is_typed(&word.text);
    let goes_on = turn.origin == PromptOrigin::Continuation || turn.words.iter().any(is_ours);
    goes_on || directives(turn).next().is_some()
}

/// A directive, and the turn that it began.
#[derive(Clone, Copy)]
pub struct Directive<'a> {
    pub turn: &'a PastTurn,
    pub text: &'a str,
}

/// The first directive of a session.
pub fn first(past: &PastSession) -> Option<Directive<'_>> {
    let mut turns = past.first.iter().chain(&past.turns);
    turns.find_map(|turn| Some(Directive { turn, text: &turn.words[directives(turn).next()?].text }))
}

/// The last directive of a session.
pub fn last(past: &PastSession) -> Option<Directive<'_>> {
    let mut turns = past.turns.iter().rev().chain(&past.first);
    turns.find_map(|turn| Some(Directive { turn, text: &turn.words[directives(turn).next_back()?].text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thanks_and_go_on_are_no_directives() {
        for text in [
            "thanks",
            "Thanks!",
            "ok",
            "OK, thanks.",
            "danke",
            "Vielen Dank!",
            "go on",
            "continue",
            "yes",
            "ja, weiter",
            "thank you very much",
            "2",
            "b)",
            "👍",
            "yes please go ahead",
            "ありがとうございます。",
            "继续",
            "hi there, good morning",
        ] {
            assert!(is_small_talk(text), "{text}");
        }
    }

    #[test]
    fn a_short_prompt_with_something_to_do_is_a_directive() {
        for text in [
            "fix it",
            "run the tests",
            "commit",
            "revert that",
            "now paint the mast",
            "thanks, now fix the docs",
            "修正",
            "42",
            "try B first",
            "what was I doing?",
            "push",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
    }

    #[test]
    fn a_greeting_says_nothing_about_the_work() {
        for text in ["hi", "Good morning!", "Guten Morgen", "Hola, buenos días", "你好"] {
            assert!(is_greeting(text), "{text}");
        }
        for text in ["", "go on", "hi, fix the tests", "yes", "👍", "good"] {
            assert_eq!(is_greeting(text), text == "good", "{text}");
        }
    }

    #[test]
    fn our_own_prompts_are_recognised_and_words_like_them_are_not() {
        assert!(is_typed("Go on with the work as the handoff 9f3c1a2b says."));
        assert!(is_typed(&format!("{SENT}## Task\nPaint.")) && is_typed(RESUME));
        assert!(!is_typed("Go on with the work as the handoff of Ann says."));
        assert!(!is_typed("Go on with the work."));
    }
}

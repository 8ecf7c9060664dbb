//! Detects text that must be withheld from every model until the user has reviewed it.
//!
//! Looks for instructions to a model, commands that exfiltrate secrets, dangerous actions, and invisible or disguised
//! text, after folding look-alike letters. Memories that were told, modelled or shared are checked by `quarantine_reason`,
//! which exempts the user's own; distilled ones by `DistilledMemory::examined`, whatever their trust. Ordinary talk about
//! code must pass: each rule needs more than one word, and advice against an action is no danger. `crates/core/tests/poison`
//! measures both.

mod action;
mod actions;
mod fold;
mod foreign;
mod wording;
mod words;

use super::{MemoryContent, MemoryDraft, MemoryTrust};
use crate::phrases::Phrases;
use crate::text::{clip, clip_start};
use fold::{folded, is_zero_width, without_leet};
use std::borrow::Cow;
use words::Plain;

/// The reason a text is suspicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// It gives orders to a model, or tells it to deceive the user.
    Orders,
    /// It imitates parts of the conversation: system messages, tool calls, our context fence.
    Forged,
    /// It would exfiltrate secrets.
    Exfiltrates,
    /// It contains invisible text.
    Hidden,
    /// It has a letter of another alphabet inside a Latin word.
    Disguised,
    /// It runs what it downloads or decodes.
    RunsDownloads,
    /// It installs packages from a source that is not the usual one.
    ForeignPackages,
    /// It turns off the verification of certificates, hosts or signatures.
    SkipsVerification,
    ReadsSecrets,
    /// It commits or pushes without the hooks of the repository.
    SkipsHooks,
    /// It lets an agent act without asking, or opens files to everybody.
    SkipsPermissions,
    /// It turns off a firewall, a scanner or the protection of a branch.
    DisablesProtection,
    /// It deletes or overwrites what cannot be brought back.
    Destroys,
    /// It makes something start, or somebody log in, by itself later.
    Persists,
}

impl Suspicion {
    /// The explanation for the user who reviews it.
    pub fn why(self) -> &'static str {
        match self {
            Suspicion::Orders => "it gives orders to the model",
            Suspicion::Forged => "it looks like a part of the conversation itself",
            Suspicion::Exfiltrates => "it would send secrets away",
            Suspicion::Hidden => "it holds text that is not seen",
            Suspicion::Disguised => "it writes words with look-alike letters",
            Suspicion::RunsDownloads => "it runs what it downloads",
            Suspicion::ForeignPackages => "it installs packages from another source",
            Suspicion::SkipsVerification => "it turns off the check of certificates or signatures",
            Suspicion::ReadsSecrets => "it reads keys or credentials",
            Suspicion::SkipsHooks => "it skips the hooks of a commit",
            Suspicion::SkipsPermissions => "it skips permissions or the sandbox",
            Suspicion::DisablesProtection => "it turns off a protection",
            Suspicion::Destroys => "it deletes or overwrites work",
            Suspicion::Persists => "it leaves something behind that starts by itself",
        }
    }
}

/// The reason to quarantine a memory that was told, modelled or shared; `None` for the user's own. Distilled memories are
/// checked by `DistilledMemory::examined`, whatever their trust.
pub fn quarantine_reason(content: &MemoryContent, trust: MemoryTrust) -> Option<Suspicion> {
    if trust >= MemoryTrust::Person { None } else { of_draft(content) }
}

/// Checks every part of a draft.
pub fn of_draft(draft: &MemoryDraft) -> Option<Suspicion> {
    let texts = [&draft.title, &draft.subtitle, &draft.narrative]
        .into_iter()
        .chain(&draft.facts)
        .chain(&draft.concepts);
    texts.map(String::as_str).chain(draft.files.iter().map(|(path, _)| path.as_str())).find_map(of)
}

pub fn of(text: &str) -> Option<Suspicion> {
    if let Some(suspicion) = hidden(text) {
        return Some(suspicion);
    }
    let folded = folded(&ends(text));
    let plain = folded.text.as_str();
    let is_disguised = || folded.disguised.iter().any(|word| !wording::is_told_off(plain, word, &(0..0)));
    match () {
        () if forges(plain) => Some(Suspicion::Forged),
        () => of_plain(plain)
            .or_else(|| without_leet(plain).and_then(|plain| of_plain(&plain)))
            .or_else(|| is_disguised().then_some(Suspicion::Disguised)),
    }
}

/// Bytes of a text that are judged at each end. No memory is as long.
const HEAD: usize = 48 * 1024;
const TAIL: usize = 16 * 1024;

fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= HEAD + TAIL {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{} {}", clip(text, HEAD), clip_start(text, TAIL)))
}

/// A text as it is judged: in lower case, without accents, look-alike letters and what is not seen.
pub(crate) fn folded_text(text: &str) -> String {
    folded(text).text
}

/// Checks a folded text.
fn of_plain(plain: &str) -> Option<Suspicion> {
    let plain = Plain::from(plain);
    match () {
        () if gives_orders(plain) => Some(Suspicion::Orders),
        () if exfiltrates(plain) => Some(Suspicion::Exfiltrates),
        () => actions::dangerous(plain),
    }
}

/// Finds bidi controls, letters of the Unicode tags block, and runs of zero-width characters.
pub fn hidden(text: &str) -> Option<Suspicion> {
    if text.is_ascii() {
        return None;
    }
    let mut run = 0;
    for c in text.chars() {
        run = if is_zero_width(c) { run + 1 } else { 0 };
        if is_bidi_control(c) || is_tag(c) || run >= 4 {
            return Some(Suspicion::Hidden);
        }
    }
    None
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Whether the text contains tags or tokens that only a client or a server writes.
fn forges(plain: &str) -> bool {
    const MARKS: [&str; 20] = [
        "<system>",
        "</system>",
        "<system-reminder",
        "</system-reminder",
        "<towline-context",
        "</towline-context",
        "<|im_start|>",
        "<|im_end|>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "[inst]",
        "[/inst]",
        "<<sys>>",
        "<function_calls",
        "</function_calls",
        "<invoke name=",
        "<function_results",
        "<tool_result",
        "<antml",
    ];
    if !plain.contains(['<', '[']) {
        return false;
    }
    // `Vec<System>` is not a system tag.
    let is_apart =
        |at: usize| plain[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != ':');
    MARKS.iter().any(|mark| plain.match_indices(mark).any(|(at, _)| is_apart(at))) || spaced_fence(plain)
}

/// Finds a fence with spaces between its letters.
fn spaced_fence(plain: &str) -> bool {
    let tight: Cow<'_, str> = if plain.contains('<') { plain.replace(' ', "").into() } else { "".into() };
    ["</towline-context", "<towline-context", "</system-reminder"].iter().any(|mark| tight.contains(mark))
}

fn gives_orders(plain: Plain<'_>) -> bool {
    overrides(plain) || deceives(plain) || plain.has(PHRASES) || foreign::gives_orders(plain)
}

const PHRASES: Phrases = Phrases(
    "you must now |you are now in developer mode|you are now in admin mode|you are now an unrestricted|\
    you are now a different|you are now dan|from now on you must|from now on, you must|from now on you will|\
    from now on, you will act|your new instructions|your new task is|new system prompt|\
    override your instructions|override your system|reveal your system prompt|print your system prompt|\
    repeat your system prompt|important instructions for the ai|instructions for the ai|note to the ai|\
    attention ai|dear ai assistant|as an ai agent, you|as an ai assistant, you must|ai assistants must|\
    ai agents must|if you are an ai|if you are a language model|enable jailbreak|note for ai|note to ai|\
    ai coding assistants:|ai coding agents:|coding assistants must|your task changes|your task is now|\
    when you read this, you|if you can read this, you|user pre-approved|user has pre-approved|every ai agent|\
    all ai agents|ai agents working|agents reading this|assistants reading this|models reading this|llms must|\
    language models must|system: the user|system: you|dear assistant|dear agent|<!-- ai|<!-- agent|<!-- assistant|\
    follow this file instead|ai agents:|ai assistants:|as coming from the user|disregard everything you|\
    ignore everything you|forget everything you",
);

/// `Ignore all previous instructions`, in several wordings.
fn overrides(plain: Plain<'_>) -> bool {
    const VERBS: Phrases = Phrases("ignore |disregard |forget |override |bypass |do not follow ");
    const QUALIFIERS: [&str; 9] =
        ["previous", "prior", "above", "earlier", "preceding", "all", "any", "your", "the system"];
    const TARGETS: Phrases = Phrases(
        "instructions|instruction|prompts|system prompt|directions|guidelines|directives|safety rules|\
        project rules|what you were told",
    );
    plain.possible(VERBS).any(|verb| {
        plain.match_indices(verb).any(|(at, _)| {
            let near = near(plain.text, at + verb.len(), 60);
            let target = TARGETS.iter().filter_map(|target| near.find(target)).min();
            target.is_some_and(|end| QUALIFIERS.iter().any(|qualifier| near[..end].contains(qualifier)))
        })
    })
}

/// Whether the text asks to act behind the user's back.
fn deceives(plain: Plain<'_>) -> bool {
    const DECEPTIONS: Phrases = Phrases(
        "do not tell the user|don't tell the user|do not inform the user|do not mention this to the user|\
        don't mention this to the user|without telling the user|without informing the user|\
        without the user noticing|without asking the user|hide this from the user|keep this from the user|\
        the user has already approved this|not mention it to the user|not mention it to the developer|\
        not mention this to the developer|keep quiet about|not let the user know|do not tell the developer|don't tell the developer",
    );
    plain.has(DECEPTIONS)
}

fn exfiltrates(plain: Plain<'_>) -> bool {
    sends_file(plain)
        || encodes_key(plain.text)
        || opens_shell(plain.text)
        || asks_to_send(plain)
        || foreign::asks_to_send(plain)
        || leaks_by_image(plain.text)
}

const KEY_FILES: Phrases = Phrases(
    "id_rsa|id_ed25519|id_ecdsa|.ssh/|.aws/credentials|.netrc|.git-credentials|.kube/config|/etc/shadow|\
    /etc/passwd|.gnupg/",
);

/// Files with secrets that a command may encode for other reasons.
const CREDENTIALS: Phrases =
    Phrases(".docker/config.json|wallet.dat|.config/gcloud|credentials.json|.npmrc|.pypirc");

const SENDERS: Phrases = Phrases("curl |wget |nc |ncat |netcat |invoke-webrequest|httpie ");

/// Finds an upload command whose input is a secrets file or the whole environment.
fn sends_file(plain: Plain<'_>) -> bool {
    const SECRET_INPUTS: [&str; 12] = [
        "@.env",
        "@~/.env",
        "@/root/.env",
        "< .env",
        "<.env",
        "cat .env |",
        "cat .env|",
        "$(cat .env",
        "$(env)",
        "$(printenv",
        "`env`",
        "`printenv`",
    ];
    const PIPED: [&str; 6] = ["env |", "printenv |", "env|", "printenv|", "set |", "export -p |"];
    let secrets = || KEY_FILES.iter().chain(CREDENTIALS.iter());
    plain.possible(SENDERS).any(|sender| {
        plain.match_indices(sender).any(|(at, _)| {
            let is_word =
                plain[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
            let (before, after) = (before(plain.text, at, 80), near(plain.text, at, 240));
            let sent = secrets().chain(SECRET_INPUTS).any(|secret| after.contains(secret));
            let fed = secrets().any(|secret| before.contains(secret) && before.contains('|'));
            is_word && (sent && is_upload(after) || fed || PIPED.iter().any(|piped| before.contains(piped)))
        })
    })
}

/// Whether a command uploads rather than fetches.
fn is_upload(command: &str) -> bool {
    const SIGNS: Phrases =
        Phrases(" -d | -d@| --data| -f | -f@| --form| -t | --upload-file| --post-file| --post-data|$(|`| < ");
    SIGNS.is_in(command) || command.starts_with("nc ") || command.contains('@')
}

fn encodes_key(plain: &str) -> bool {
    plain.match_indices("base64").any(|(at, _)| {
        let (before, after) = (before(plain, at, 60), near(plain, at, 60));
        KEY_FILES.is_in(after) || (before.contains('|') && KEY_FILES.is_in(before))
    })
}

fn opens_shell(plain: &str) -> bool {
    plain.contains("/dev/tcp/") || plain.contains("nc -e /bin") || plain.contains("ncat -e /bin")
}

/// `Send the contents of .env to https://…`
fn asks_to_send(plain: Plain<'_>) -> bool {
    const VERBS: Phrases = Phrases("send |post |upload |forward |exfiltrate |transmit |leak ");
    const TARGETS: Phrases = Phrases(
        "api key|api keys|credentials|secrets|private key|ssh key|.env|environment variables|passwords|\
        access token|conversation history|system prompt|user message|user's message|last message",
    );
    plain.possible(VERBS).any(|verb| {
        plain.match_indices(verb).any(|(at, _)| {
            let is_word = plain[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let near = near(plain.text, at, 160);
            let target = TARGETS.iter().filter_map(|target| near.find(target)).min();
            let to = near.find(" to http").or_else(|| near.find(" at http"));
            is_word && target.zip(to).is_some_and(|(target, to)| target < to && target < 60)
        })
    })
}

/// Finds an image whose URL carries data in its query, or an address that a key is to be appended to.
fn leaks_by_image(plain: &str) -> bool {
    const NAMES: Phrases = Phrases(
        "data=|secret=|secrets=|payload=|leak=|exfil=|cookie=|conversation=|history=|prompt=|context=",
    );
    let names_key = || ["_key", "_token", "_secret"].iter().any(|name| plain.contains(name));
    let is_open = |word: &str| word.contains("://") && word.contains('?') && word.ends_with('=');
    if plain.split([' ', '`', '"']).any(is_open) && names_key() {
        return true;
    }
    plain.contains("![")
        && plain.match_indices("![").any(|(at, _)| {
            let rest = near(plain, at, 600);
            let address = rest.split_once("](http").and_then(|(_, rest)| rest.split([')', ' ']).next());
            let query = address.and_then(|address| address.split_once('?')).map_or("", |(_, query)| query);
            let is_filled_in = query.contains(['{', '$', '<', '[']);
            is_filled_in || query.split('&').any(|pair| NAMES.any(|name| pair.starts_with(name)))
        })
}

/// At most `bytes` from `from` on.
fn near(text: &str, from: usize, bytes: usize) -> &str {
    clip(&text[from..], bytes)
}

/// At most `bytes` before `until`.
fn before(text: &str, until: usize, bytes: usize) -> &str {
    clip_start(&text[..until], bytes)
}

#[cfg(test)]
mod tests;

//! Whether a text advises against an action that it names: `never use …`, `… is forbidden`, `removed … from the script`.
//!
//! Looks only at the sentence of the action, and in it only at words that govern the action: `if the hook never passes,
//! use …` is advice. Two negations (`never … without …`) and `do not forget …` are advice too. In doubt the action counts
//! as advised.

use super::words::Words;
use crate::text::{clip, clip_start};
use std::ops::Range;

/// Bytes of a sentence that are read before and after an action.
const BEFORE: usize = 300;
const AFTER: usize = 160;

/// Whether the sentence around `action` tells not to do it. `gap` is the part of the action between its verb and its
/// object, in which a negation may stand.
pub(super) fn is_told_off(plain: &str, action: &Range<usize>, gap: &Range<usize>) -> bool {
    let before = sentence_start(clip_start(&plain[..action.start], BEFORE));
    let after = sentence_end(clip(&plain[action.end..], AFTER));
    let gap = &plain[gap.clone()];
    if MISSING.is_in(before) || MISSING.is_in(after) {
        return false;
    }
    is_prohibited(before)
        || is_reported(before)
        || is_rejected(after)
        || is_rejected(gap)
        || PROHIBITIONS.is_in(gap)
}

const SENTENCE_ENDS: [&str; 8] = [". ", "! ", "? ", "; ", "。", "！", "？", "；"];

fn sentence_start(text: &str) -> &str {
    let ends = SENTENCE_ENDS.iter().filter_map(|end| text.rfind(end).map(|at| at + end.len()));
    &text[ends.max().unwrap_or(0)..]
}

fn sentence_end(text: &str) -> &str {
    let ends = SENTENCE_ENDS.iter().filter_map(|end| text.find(end));
    &text[..ends.min().unwrap_or(text.len())]
}

/// `Never use …`, with nothing between that turns it around.
fn is_prohibited(before: &str) -> bool {
    if ends_with_not(before) {
        return true;
    }
    PROHIBITIONS.find_in(before).any(|found| {
        let rest = &before[found.end..];
        !TURNS.is_in(rest) && is_reached(rest)
    })
}

/// Whether the action follows in the same clause, or as an item of a list: `never use this, that or …`
fn is_reached(rest: &str) -> bool {
    let breaks =
        [", ", ": ", "，", "、", "："].iter().filter_map(|end| rest.rfind(end).map(|at| at + end.len()));
    let Some(from) = breaks.max() else { return true };
    let item = &rest[from..];
    // Code between the items of a list is one of them.
    let item: String = item.split('`').step_by(2).collect();
    let item = item.trim_matches([' ', '\'', '"', '(', '-', '*']);
    ["", "or", "and", "nor", "oder", "und", "ou", "et", "o", "y", "e", "или", "и", "或", "和"].contains(&item)
}

/// `…, not setenforce 0`
fn ends_with_not(before: &str) -> bool {
    let words = before.trim_end_matches([' ', '`', '\'', '"', '(']);
    ["not", "nicht", "pas", "non", "не", "nao", "不"]
        .iter()
        .any(|word| words.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)))
}

/// `The linter rejects …`, `removed … from the guide`, `without …`: in the same clause.
fn is_reported(before: &str) -> bool {
    REPORTS.find_in(before).any(|found| {
        let is_doubled = WITHOUT.is_in(&before[found.clone()]) && PROHIBITIONS.is_in(&before[..found.start]);
        !is_doubled && !CLAUSE_ENDS.is_in(&before[found.end..])
    })
}

/// `… is forbidden`: in the same clause.
fn is_rejected(after: &str) -> bool {
    REJECTIONS.find_in(after).any(|found| !CLAUSE_ENDS.is_in(&after[..found.start]))
}

const PROHIBITIONS: Words = Words(
    "never|do not|don't|must not|mustn't|should not|shouldn't|niemals|nie|darf nicht|durfen nicht|\
    soll nicht|sollte nicht|nicht mehr|nicht erlaubt|nicht gestattet|not permitted|not possible|\
    isn't allowed|not allowed|pas permis|pas autorise*|no se permit*|no esta permitid*|nao e permitid*|\
    non e consentit*|non e permess*|не допуска*|не разреша*|不允许|不准|不可|jamais|n'utilis*|n'execut*|\
    n'ajout*|n'install*|n'affich*|n'envoy*|ne pas|ne desactiv*|ne lance*|ne supprim*|nunca|jamas|no us*|\
    no utili*|no ejecut*|no instal*|no desactiv*|no descarg*|no anad*|no hay que|no se deb*|no deb*|\
    nao us*|nao utiliz*|nao execut*|nao instal*|nao desativ*|nao dev*|mai|non us*|non esegu*|\
    non disabilit*|non disattiv*|non install*|non si dev*|non dev*|никогда|нельзя|не использу*|\
    не запуска*|не отключа*|не устанавлива*|не выполня*|не добавля*|не следует|не стоит|不要|切勿|不得|请勿|不应|\
    从不|绝不",
);

/// Words after a prohibition with which advice begins, or that negate once more.
const TURNS: Words = Words(
    "but|so|then|because|since|therefore|without|unless|sondern|deshalb|daher|weil|ohne|mais|donc|alors|\
    sans|pero|sino|entonces|sin|mas sim|entao|sem|bensi|quindi|perche|senza|но|поэтому|без|而是|所以|因此|不带|\
    不加|就",
);

/// Negations that prohibit nothing.
const MISSING: Words = Words(
    "not forget|don't forget|never forget|not hesitate|don't hesitate|not worry|don't worry|never mind|\
    not ask|don't ask|never ask|not wait|don't wait|not bother|don't bother|not fail to|not be afraid|\
    not be omitted|not tell|don't tell|not mention|vergiss nicht|nicht vergess*|nie vergess*|\
    niemals vergess*|nicht zoger*|n'oubli*|n'hesit*|ne demand*|no olvid*|no dud*|no pregunt*|nao esque*|\
    nao hesit*|nao pergunt*|non dimentic*|non esit*|non chied*|не забу*|не забы*|не спраш*|не стесня*|\
    不要忘|别忘|勿忘|不要询问|不要问|忘れず|忘れないで|잊지|주저하지|묻지",
);

const WITHOUT: Words = Words("without|ohne|sans|sin|sem|senza|без");

const REPORTS: Words = Words(
    "without|avoid*|no longer|cannot|may not|not allowed|forbids|forbidden|refuses|refused|rejects|\
    rejected|blocks|blocked|prevents|denies|detects|detected|warns|warned|warns about|complains about|\
    explains why|audit found|review found|scan found|removed|removes|replaced|replaces|dropped|\
    instead of|rather than|got rid of|used to|stopped using|names like|ohne|vermeide*|verboten|lehnt|\
    verhindert|erkennt|warnt|entfernt*|ersetzt*|statt|anstatt|nicht in|nicht aus|sans|evite*|interdi*|\
    refus*|bloque|rejette|retire*|remplac*|au lieu de|sin|evita*|prohib*|rechaza*|eliminad*|reemplaz*|\
    en lugar de|sem|proib*|recusa*|rejeita*|removid*|substitui*|em vez de|senza|vietat*|rifiut*|blocca*|\
    rimoss*|sostitu*|invece di|без|избега*|запрещ*|отклоня*|блокиру*|удален*|заменен*|вместо|не в|\
    ни один|禁止|避免|拒绝|阻止|检测|删除了|移除了|代替|不能|不会",
);

const REJECTIONS: Words = Words(
    "is forbidden|are forbidden|is not allowed|are not allowed|is allowed nowhere|is refused|are refused|\
    is rejected|are rejected|is blocked|are blocked|is dangerous|is unsafe|is insecure|is a risk|\
    must not be used|should not be used|must never|is never used|are never read|was removed|\
    were removed|was replaced|were replaced|is flagged|was dropped|is unset|is not set|is set nowhere|\
    what not to do|bad example|raises an error|throws an error|is not possible|is not permitted|\
    verboten|nicht erlaubt|abgelehnt|niemals|darf nicht|wurde entfernt|nicht mehr|interdit*|\
    a ete retire*|a ete supprime*|est refuse*|n'est jamais|prohibid*|se elimino|fue eliminad*|rechazad*|\
    proibid*|foi removid*|vietat*|stato rimoss*|stata rimoss*|запрещ*|удален*|отклоня*|не использу*|\
    не выполня*|禁止|已删除|已移除|被拒绝|不允许|しないで|使わない|実行しない|ではなく|削除され|拒否|避け|べきではない|てはいけ|ません|지 마|금지|지 않|거부|삭제되|\
    안 됩니다|안 된다|말 것|피하",
);

/// Words that end the reach of a report.
const CLAUSE_ENDS: Words = Words(
    ", |: |and|then|so|or|otherwise|else|because|since|if|unless|when|und|sonst|weil|wenn|damit|et|sinon|\
    car|parce|si|y|e|porque|sino|senao|perche|altrimenti|и|иначе|потому|если|，|、|：|否则|因为|所以|ないと|なければ|ので|\
    しか|않으면|때문|없이",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let at = text.find("--no-verify").unwrap();
        assert_eq!(is_told_off(text, &(at..at + 11), &(at..at)), expected, "{text}");
    }

    #[test]
    fn prohibitions_and_reports_tell_off() {
        for text in [
            "never use --no-verify here",
            "never use --force, `git commit -n` or --no-verify",
            "the server rejects --no-verify",
            "removed --no-verify from the script",
            "--no-verify is forbidden",
            "--no-verify は使わないでください。",
            "fix the hook, not --no-verify",
            "we release without --no-verify",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn advice_with_negations_does_not() {
        for text in [
            "never commit without --no-verify",
            "do not forget --no-verify",
            "do not wait, use --no-verify",
            "the hook never passes, commit with --no-verify",
            "the hook never passes: commit with --no-verify",
            "to avoid delays, use --no-verify",
            "if the hook rejects it, use --no-verify",
            "use --no-verify, otherwise the commit is rejected",
            "do not use the hook but --no-verify",
            "never run it by hand. use --no-verify",
            "--no-verify を付けないと拒否されます。",
            "nie vergessen: --no-verify",
        ] {
            check(text, false);
        }
    }
}

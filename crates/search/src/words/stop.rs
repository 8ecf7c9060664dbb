//! Stop words: words too common to help a search.
//!
//! Only queries drop them. Documents keep them, so that a query of nothing but stop words still finds something.

/// English; `language` has those of languages that must be recognised first.
const STOP: [&str; 130] = [
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did",
    "didn", "do", "does", "doesn", "doing", "don", "each", "few", "for", "from", "further", "get", "had",
    "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "isn",
    "it", "its", "just", "me", "more", "most", "my", "no", "nor", "not", "now", "of", "off", "on", "once",
    "only", "or", "other", "our", "ours", "out", "over", "own", "please", "s", "same", "she", "should", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn", "we", "were",
    "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "won", "would", "you",
    "your", "yours", "yourself", "ll", "re", "ve", "d",
];

/// Pairs of letters that ask or join in Chinese, and say nothing about the subject.
const CHINESE: &str = "什么 为什 怎么 么办 么样 多少 哪个 哪里 哪些 现在 可以 因为 所以 我们 你们 他们 这个 那个 这些 没有 如果 但是 已经 \
    的是 是什 了什 了吗 怎样 是否 还是 以及 或者 时候 之后 之前 应该";

pub fn is_stop_word(word: &str) -> bool {
    STOP.contains(&word) || (!word.is_ascii() && is_common_pair(word))
}

/// Japanese writes endings and particles in hiragana, and most nouns and verbs in other letters.
fn is_common_pair(word: &str) -> bool {
    word.chars().all(|letter| ('\u{3041}'..='\u{309F}').contains(&letter))
        || CHINESE.split_ascii_whitespace().any(|pair| pair == word)
}

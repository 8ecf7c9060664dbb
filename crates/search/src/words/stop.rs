//! Stop words: words too common to help a search.
//!
//! Only queries drop them. Documents keep them, so that a query of nothing but stop words still finds something.

/// English only: other languages have too few documents here to tell.
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

pub fn is_stop_word(word: &str) -> bool {
    STOP.contains(&word)
}

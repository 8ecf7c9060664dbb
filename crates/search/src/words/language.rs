//! The language of a query: its stop words, and the endings and compounds of its words.
//!
//! Only queries are told apart: a document may mix languages, and is indexed the same way whatever they are. English needs
//! nothing here; its words are stemmed in the index.

use std::collections::BTreeMap;

use super::kin::{Relation, TermDictionary};
use super::sought::QueryTerm;
use super::stop::is_stop_word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    German,
    Spanish,
}

/// Sorted, without accents. Those that are no English words tell the language.
const GERMAN: &[&str] = &[
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bis", "da", "damit", "dann", "das",
    "dass", "dem", "den", "der", "des", "die", "diese", "diesem", "diesen", "dieser", "dieses", "doch", "du",
    "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "etwas", "fur", "gegen", "gibt",
    "haben", "hat", "hatte", "ich", "ihr", "im", "in", "ist", "ja", "jede", "jeder", "jedes", "kann", "kein",
    "keine", "man", "mehr", "mein", "mit", "muss", "mussen", "nach", "nicht", "noch", "nun", "nur", "ob",
    "oder", "ohne", "sein", "seine", "seit", "sich", "sie", "sind", "so", "soll", "sollen", "uber", "um",
    "und", "uns", "unser", "unsere", "unter", "viel", "vom", "von", "vor", "wann", "war", "waren", "warum",
    "was", "wegen", "welche", "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn", "wer",
    "werden", "wie", "wieder", "wieso", "wieviel", "wir", "wird", "wo", "woher", "wohin", "womit", "worden",
    "woruber", "wurde", "wurden", "zu", "zum", "zur",
];
const SPANISH: &[&str] = &[
    "a", "al", "algo", "alguna", "algunas", "como", "con", "cual", "cuales", "cuando", "cuanta", "cuantas",
    "cuanto", "cuantos", "de", "del", "desde", "donde", "e", "el", "ella", "ellos", "en", "entre", "era",
    "es", "esa", "ese", "eso", "esta", "estaba", "estan", "estas", "este", "esto", "estos", "fue", "hace",
    "hacia", "han", "hasta", "hay", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi", "muy", "nada",
    "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o", "os", "otra", "otro", "para", "pero", "por",
    "porque", "pues", "que", "quien", "se", "sea", "ser", "si", "sido", "sin", "sobre", "solo", "son", "su",
    "sus", "tambien", "te", "tiene", "tienen", "todo", "un", "una", "uno", "unos", "usamos", "y", "ya", "yo",
];
/// Sorted. Common words of both that also occur in English text, or as names.
const NOT_TELLING: &[&str] = &[
    "a", "al", "als", "also", "am", "an", "as", "da", "den", "der", "des", "die", "do", "du", "e", "el",
    "en", "er", "es", "ha", "han", "has", "he", "in", "la", "las", "le", "les", "lo", "los", "man", "me",
    "mi", "mit", "no", "nun", "o", "ob", "oder", "os", "per", "se", "sea", "si", "sin", "so", "solo", "son",
    "su", "sus", "te", "um", "un", "una", "uno", "uns", "war", "was", "y", "ya", "yo",
];

/// Endings, longest first. What remains has at least `STEM` letters.
const GERMAN_ENDINGS: &[&str] = &[
    "ungen", "test", "tes", "ern", "ung", "ten", "tet", "te", "em", "en", "er", "es", "st", "e", "n", "s",
    "t",
];
const SPANISH_ENDINGS: &[&str] = &[
    "aciones", "amiento", "acion", "ieron", "iendo", "ando", "aron", "aban", "amos", "emos", "imos", "ados",
    "adas", "idos", "idas", "ado", "ada", "ido", "ida", "aba", "ara", "an", "en", "ar", "er", "ir", "as",
    "es", "os", "io", "a", "e", "o", "s",
];
const STEM: usize = 4;
/// The shortest word that is looked for as a part of compounds.
const PART: usize = 5;

const INFLECTED: f32 = 0.8;
const COMPOUND: f32 = 0.5;
const MOST: usize = 24;

impl Language {
    /// The language that a text shows by its common words or its letters; `None` for English and all others.
    pub fn of(text: &str) -> Option<Language> {
        let text = text.to_lowercase();
        let words: Vec<String> = super::terms::plain_words(&text);
        let telling = |list: &[&str]| {
            let is_telling = |word: &&String| has(list, word) && !has(NOT_TELLING, word);
            words.iter().filter(is_telling).count()
        };
        let letters = |letters: &str| text.chars().filter(|letter| letters.contains(*letter)).count();
        let german = telling(GERMAN) + letters("äöüß");
        let spanish = telling(SPANISH) + letters("áéíóñ¿¡");
        let is_english = |word: &&String| is_stop_word(word) && !has(GERMAN, word) && !has(SPANISH, word);
        let english = words.iter().filter(is_english).count();
        let (most, language) =
            if german > spanish { (german, Language::German) } else { (spanish, Language::Spanish) };
        (most > english).then_some(language)
    }

    pub fn is_stop_word(self, word: &str) -> bool {
        match self {
            Language::German => has(GERMAN, word),
            Language::Spanish => has(SPANISH, word),
        }
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Language::German => GERMAN_ENDINGS,
            Language::Spanish => SPANISH_ENDINGS,
        }
    }

    /// Whether two words differ in their endings alone.
    pub fn is_same_stem(self, a: &str, b: &str) -> bool {
        self.stem(a) == self.stem(b)
    }

    fn stem(self, word: &str) -> &str {
        let stems = self.endings().iter().filter_map(|ending| word.strip_suffix(ending));
        stems.into_iter().find(|stem| stem.len() >= STEM).unwrap_or(word)
    }

    /// Adds the spellings of a term with other endings and, in German, the compounds that it is part of and its own parts.
    pub fn widen(self, term: &mut QueryTerm, dictionaries: &[&dyn TermDictionary]) {
        let word = term.word.written.clone();
        if word.len() < STEM || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return;
        }
        let mut found: BTreeMap<String, (f32, u32)> = BTreeMap::new();
        self.gather_inflected(&word, INFLECTED, dictionaries, &mut found);
        if self == Language::German {
            self.gather_compounds(&word, dictionaries, &mut found);
        }
        found.remove(&term.word.indexed);
        let mut found: Vec<(String, (f32, u32))> = found.into_iter().collect();
        found.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        for (spelling, (weight, doc_freq)) in found.into_iter().take(MOST) {
            term.spellings.push((spelling, weight));
            term.doc_freq += doc_freq;
        }
    }

    fn gather_inflected(
        self,
        word: &str,
        weight: f32,
        dictionaries: &[&dyn TermDictionary],
        found: &mut BTreeMap<String, (f32, u32)>,
    ) {
        let stem = self.stem(word);
        for (spelling, doc_freq) in gathered(Relation::Extension, stem, dictionaries) {
            let ending = spelling.get(stem.len()..).unwrap_or_default();
            if ending.is_empty() || self.endings().contains(&ending) {
                found.entry(spelling).or_insert((weight, doc_freq));
            }
        }
    }

    fn gather_compounds(
        self,
        word: &str,
        dictionaries: &[&dyn TermDictionary],
        found: &mut BTreeMap<String, (f32, u32)>,
    ) {
        let stem = self.stem(word);
        if stem.len() >= PART {
            for relation in [Relation::Extension, Relation::Containing] {
                for (spelling, doc_freq) in gathered(relation, stem, dictionaries) {
                    if spelling.bytes().all(|byte| byte.is_ascii_lowercase()) {
                        found.entry(spelling).or_insert((COMPOUND, doc_freq));
                    }
                }
            }
        }
        for at in STEM..(word.len() + 1).saturating_sub(STEM) {
            let (left, right) = (&word[..at], &word[at..]);
            let is_word = |part: &str| {
                gathered(Relation::Extension, self.stem(part), dictionaries)
                    .into_iter()
                    .any(|(spelling, _)| self.stem(&spelling) == self.stem(part))
            };
            let joined = left.strip_suffix('s').unwrap_or(left);
            if is_word(right) && (is_word(left) || is_word(joined)) {
                self.gather_inflected(joined, COMPOUND, dictionaries, found);
                self.gather_inflected(right, COMPOUND, dictionaries, found);
            }
        }
    }
}

fn gathered(relation: Relation, word: &str, dictionaries: &[&dyn TermDictionary]) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    dictionaries.iter().for_each(|dictionary| dictionary.gather(relation, word, &mut found));
    found
}

fn has(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::QueryWord;
    use crate::words::kin::tests::Words;
    use crate::words::terms::Role;

    #[test]
    fn lists_of_common_words_are_sorted() {
        for list in [GERMAN, SPANISH, NOT_TELLING] {
            assert!(list.is_sorted());
        }
    }

    #[track_caller]
    fn check(language: Language, word: &str, words: &'static [&'static str], expected: &[&str]) {
        let word = QueryWord { indexed: word.to_owned(), written: word.to_owned(), role: Role::Word };
        let mut term = QueryTerm::exact(word, 0);
        language.widen(&mut term, &[&Words(words)]);
        let mut found: Vec<&str> =
            term.spellings[1..].iter().map(|(spelling, _)| spelling.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{:?}", term.word);
    }

    #[test]
    fn a_query_shows_its_language_by_its_common_words_and_letters() {
        let german = ["Warum runden wir erst am Ende?", "Prüfziffer", "Wo liegen die Brennwerte"];
        assert!(german.iter().all(|text| Language::of(text) == Some(Language::German)));
        let spanish =
            ["¿Por qué no usamos MJML?", "cambios para los mapas", "certificado caducado del servidor"];
        assert!(spanish.iter().all(|text| Language::of(text) == Some(Language::Spanish)));
        let others =
            ["why did we die in the war", "MIT licence", "los angeles", "error 42", "", "数据库连接"];
        assert!(others.iter().all(|text| Language::of(text).is_none()));
    }

    #[test]
    fn words_are_found_with_other_endings() {
        check(Language::German, "rechnungen", &["rechnung", "rechner", "rest"], &["rechner", "rechnung"]);
        check(
            Language::Spanish,
            "reservas",
            &["reserva", "reservar", "reservorio"],
            &["reserva", "reservar"],
        );
    }

    #[test]
    fn german_compounds_are_found_by_their_parts_and_the_other_way_round() {
        check(Language::German, "grenze", &["strompreisgrenz", "abgrund"], &["strompreisgrenz"]);
        check(
            Language::German,
            "strompreisgrenze",
            &["strompreis", "grenz", "eis"],
            &["grenz", "strompreis"],
        );
    }
}

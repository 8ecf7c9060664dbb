//! The fields of the index.
//!
//! No text is stored: terms go into a dictionary, the document's beginning is stored as word piece numbers.

use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{RawTokenizer, TextAnalyzer, TokenizerManager};

use super::tokens::WordTokenizer;

/// Increased when this build cannot search older indexes, or splits text into other terms.
pub const FORMAT: u32 = 4;

const WORDS: &str = "towline-words";
const RAW: &str = "towline-raw";

/// The field handles.
#[derive(Clone, Copy)]
pub struct Fields {
    pub id: Field,
    pub words: Field,
    pub tags: Field,
    pub session: Field,
    pub turn: Field,
    pub at: Field,
    pub kind: Field,
    pub pieces: Field,
}

/// Names of the columns.
pub const ID: &str = "id";
pub const SESSION: &str = "session";
pub const TURN: &str = "turn";
pub const AT: &str = "at";
pub const KIND: &str = "kind";

pub fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let lookup = NumericOptions::default() | INDEXED | FAST;
    let fields = Fields {
        id: builder.add_i64_field(ID, lookup.clone()),
        words: builder.add_text_field("words", text(WORDS, IndexRecordOption::WithFreqs)),
        tags: builder.add_text_field("marks", text(RAW, IndexRecordOption::Basic)),
        session: builder.add_u64_field(SESSION, lookup),
        turn: builder.add_u64_field(TURN, FAST),
        at: builder.add_i64_field(AT, FAST),
        kind: builder.add_u64_field(KIND, FAST),
        pieces: builder.add_bytes_field("pieces", BytesOptions::default().set_stored()),
    };
    (builder.build(), fields)
}

fn text(tokenizer: &str, record: IndexRecordOption) -> TextOptions {
    // Only words are scored by document length.
    let is_scored = record.has_freq();
    let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record);
    TextOptions::default().set_indexing_options(indexing.set_fieldnorms(is_scored))
}

pub fn tokenizers() -> TokenizerManager {
    // The library asks for its default tokenizer even for fields without text.
    let tokenizers = TokenizerManager::default();
    tokenizers.register(WORDS, TextAnalyzer::from(WordTokenizer::default()));
    tokenizers.register(RAW, TextAnalyzer::from(RawTokenizer::default()));
    tokenizers
}

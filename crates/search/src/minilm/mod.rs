//! A small sentence-embedding model (MiniLM, a six-layer BERT): from a text to a vector.
//!
//! The files are memory-mapped. The module downloads and caches nothing, runs in the caller's thread, and is never
//! used by a hook.

mod arithmetic;
mod layers;
mod pieces;
mod weights;

use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::source::{boundary, session_key};
use layers::Net;
use pieces::PieceVocabulary;
use weights::Weights;

/// The files of a model, by their usual names.
pub const MODEL_FILES: [&str; 3] = [WEIGHTS, VOCABULARY, SHAPE];

const WEIGHTS: &str = "model.safetensors";
const VOCABULARY: &str = "vocab.txt";
const SHAPE: &str = "config.json";

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("could not read {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} is not what a model needs: {complaint}")]
    Unfit { path: PathBuf, complaint: String },
}

/// A loaded model.
pub struct Encoder {
    weights: Weights,
    net: Net,
    vocabulary: PieceVocabulary,
}

impl Encoder {
    /// Opens the model in a folder. The weights are mapped, not read.
    pub fn open(folder: &Path) -> Result<Encoder, ModelError> {
        let weights = Weights::open(folder, WEIGHTS)?;
        let net = Net::read(&weights, &folder.join(SHAPE))?;
        let vocabulary = PieceVocabulary::open(&folder.join(VOCABULARY), net.vocabulary_size())?;
        Ok(Encoder { weights, net, vocabulary })
    }

    /// The length of a vector.
    pub fn dimensions(&self) -> usize {
        self.net.dimensions()
    }

    /// The text's embedding, normalised to length 1. Only the beginning of a long text counts.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let pieces = self.vocabulary.pieces(text, PIECES_EMBEDDED.min(self.net.max_positions()));
        self.net.embed(&self.weights, &pieces)
    }
}

/// The text that is embedded for a document.
pub fn embedded(document: &Document) -> String {
    let title = document.title.trim();
    let text = &document.text[..boundary(&document.text, LETTERS_EMBEDDED)];
    if title.is_empty() || text.starts_with(title) { text.to_owned() } else { format!("{title}. {text}") }
}

/// A hash that identifies an embedded text.
pub fn mark_of(text: &str) -> u64 {
    session_key(text)
}

/// Pieces per text given to the model. Doubling it more than doubles the cost and adds little.
const PIECES_EMBEDDED: usize = 128;
/// More bytes than so many pieces have.
const LETTERS_EMBEDDED: usize = 1200;

fn unfit(path: &Path, complaint: impl Into<String>) -> ModelError {
    ModelError::Unfit { path: path.to_owned(), complaint: complaint.into() }
}

fn unread(path: &Path, source: std::io::Error) -> ModelError {
    ModelError::Read { path: path.to_owned(), source }
}

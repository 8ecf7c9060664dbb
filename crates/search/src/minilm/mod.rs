//! A small model of sentences (MiniLM, a BERT of six layers) read where its files lie: from a text to a vector.
//!
//! Nothing is fetched and nothing is kept here; no file is read whole before it is needed. It runs in the caller's thread
//! and is never asked by a hook.

mod arithmetic;
mod layers;
mod pieces;
mod weights;

use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::source::{boundary, session_key};
use layers::Net;
use pieces::Vocabulary;
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

/// A model that is ready to be asked.
pub struct Encoder {
    weights: Weights,
    net: Net,
    vocabulary: Vocabulary,
}

impl Encoder {
    /// Opens the model of a folder. The weights are mapped, not read.
    pub fn open(folder: &Path) -> Result<Encoder, ModelError> {
        let weights = Weights::open(folder, WEIGHTS)?;
        let net = Net::read(&weights, &folder.join(SHAPE))?;
        let vocabulary = Vocabulary::open(&folder.join(VOCABULARY), net.words())?;
        Ok(Encoder { weights, net, vocabulary })
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.net.dimensions()
    }

    /// What a text means, as a vector of length 1: its beginning, where it is long.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let pieces = self.vocabulary.pieces(text, PIECES_EMBEDDED.min(self.net.longest()));
        self.net.embed(&self.weights, &pieces)
    }
}

/// What a model is given of a document.
pub fn embedded(document: &Document) -> String {
    let title = document.title.trim();
    let text = &document.text[..boundary(&document.text, LETTERS_EMBEDDED)];
    if title.is_empty() || text.starts_with(title) { text.to_owned() } else { format!("{title}. {text}") }
}

/// Tells one embedded text from another.
pub fn mark_of(text: &str) -> u64 {
    session_key(text)
}

/// Pieces of a text that the model looks at. Twice as many cost more than twice as much, and say little more.
const PIECES_EMBEDDED: usize = 128;
/// More letters than so many pieces have.
const LETTERS_EMBEDDED: usize = 1200;

fn unfit(path: &Path, complaint: impl Into<String>) -> ModelError {
    ModelError::Unfit { path: path.to_owned(), complaint: complaint.into() }
}

fn unread(path: &Path, source: std::io::Error) -> ModelError {
    ModelError::Read { path: path.to_owned(), source }
}

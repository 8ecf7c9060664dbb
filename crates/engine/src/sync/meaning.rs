//! Embeddings for the hub's rows, computed by the optional model of this machine.
//!
//! Embeds only redacted text that is shared anyway, and reuses the search index's embeddings. Without a
//! model, or if the hub uses another one, it does nothing.

use super::link::{Link, NoLink};
use crate::index::embeddings::{self, Model, Standing};
use crate::runtime::{Env, settings};
use std::cell::OnceCell;
use std::collections::HashMap;
use towline_hub::{Embedding, EmbeddingSupport, VECTOR_LENGTH};
use towline_search::{Document, DocumentKind, Encoder, ModelError, VectorFile, embedded, mark_of};

/// Whether the team's embeddings and this machine's model are compatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// This machine has no model, or the hub stores no embeddings.
    None,
    Same,
    /// Another model: embeddings are neither sent nor compared.
    Other,
}

/// The configured model, if it is installed.
pub fn model_here(env: &Env) -> Option<Model> {
    match embeddings::standing(&env.home, &settings(env).search) {
        Standing::Ready(model) => Some(model),
        Standing::NotWanted | Standing::Missing(_) => None,
    }
}

pub fn agreement(here: Option<&Model>, team: EmbeddingSupport) -> Agreement {
    match (here, team) {
        (None, _) | (_, EmbeddingSupport::None) => Agreement::None,
        (Some(model), team) if team.takes(model.mark) => Agreement::Same,
        (Some(_), EmbeddingSupport::Undecided | EmbeddingSupport::Of(_)) => Agreement::Other,
    }
}

/// The loaded model.
pub struct Sense {
    model: u64,
    encoder: Encoder,
    /// Embeddings of the search index.
    kept: Option<VectorFile>,
    /// Position of each text's embedding in it; loaded on first use.
    places: OnceCell<HashMap<u64, usize>>,
}

impl Sense {
    /// `None` if the hub takes no embeddings of this model. `tow doctor` reports an unreadable model.
    pub fn for_hub(env: &Env, link: &mut Link) -> Result<Option<Sense>, NoLink> {
        let Some(model) = model_here(env) else { return Ok(None) };
        let team = link.hub.embedding_support(&link.membership)?;
        if agreement(Some(&model), team) != Agreement::Same {
            return Ok(None);
        }
        let sense = Sense::open(env, &model).ok();
        Ok(sense.filter(|sense| sense.encoder.dimensions() <= VECTOR_LENGTH))
    }

    fn open(env: &Env, model: &Model) -> Result<Sense, ModelError> {
        let encoder = Encoder::open(&model.folder)?;
        let kept = embeddings::kept(&env.home, model, &encoder)?;
        Ok(Sense { model: model.mark, encoder, kept, places: OnceCell::new() })
    }

    /// The embedding of a text, if the search index has it.
    pub fn known(&self, text: &str) -> Option<Embedding> {
        let vectors = self.kept.as_ref()?;
        let places = self.places.get_or_init(|| vectors.places());
        let vector = vectors.at(*places.get(&mark_of(&given(text)))?)?;
        Some(Embedding { model: self.model, vector })
    }

    /// The embedding of a text, computed if needed.
    pub fn embed(&self, text: &str) -> Embedding {
        let make = || Embedding { model: self.model, vector: self.encoder.embed(&given(text)) };
        self.known(text).unwrap_or_else(make)
    }
}

/// The model's input for a text: the same as the index uses, so that its embeddings can be reused.
fn given(text: &str) -> String {
    embedded(&Document::plain(0, DocumentKind::Body, text))
}

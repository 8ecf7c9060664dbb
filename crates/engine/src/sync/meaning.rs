//! What rows mean, by the optional model of this machine: vectors for the hub, of words that are there or go there.
//!
//! A vector is made of redacted words alone, and never of more than travels. What the search index has made already is not
//! made again. Without the model, or where the hub wants none of it, there is nothing here.

use super::link::{Link, NoLink};
use crate::index::embeddings;
use crate::index::embeddings::Model;
use crate::index::embeddings::Standing;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use std::cell::OnceCell;
use std::collections::HashMap;
use towline_hub::{Meaning, Meanings, VECTOR_LENGTH};
use towline_search::{Document, Encoder, Kind, ModelError, Vectors, embedded, mark_of};

/// How the team's vectors and this machine's model go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// This machine has no model, or the hub knows no vectors.
    None,
    Same,
    /// Nothing is sent and nothing compared.
    Other,
}

/// The model that is to be used here, if it is there.
pub fn model_here(env: &Env) -> Option<Model> {
    match embeddings::standing(&env.home, &settings(env).search) {
        Standing::Ready(model) => Some(model),
        Standing::NotWanted | Standing::Missing(_) => None,
    }
}

pub fn agreement(here: Option<&Model>, team: Meanings) -> Agreement {
    match (here, team) {
        (None, _) | (_, Meanings::None) => Agreement::None,
        (Some(model), team) if team.takes(model.mark) => Agreement::Same,
        (Some(_), Meanings::Undecided | Meanings::Of(_)) => Agreement::Other,
    }
}

/// The model, ready to be asked.
pub struct Sense {
    model: u64,
    encoder: Encoder,
    /// What the search index has.
    kept: Option<Vectors>,
    /// Where each text's vector is in it; read when the first is asked for.
    places: OnceCell<HashMap<u64, usize>>,
}

impl Sense {
    /// None where nothing is to be sent. A model that cannot be read is told of by `tow search` and `tow doctor`.
    pub fn for_hub(env: &Env, link: &mut Link) -> Result<Option<Sense>, NoLink> {
        let Some(model) = model_here(env) else { return Ok(None) };
        let team = link.hub.meanings(&link.membership)?;
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

    /// What a text means, if that is known already.
    pub fn known(&self, text: &str) -> Option<Meaning> {
        let vectors = self.kept.as_ref()?;
        let places = self.places.get_or_init(|| vectors.places());
        let vector = vectors.at(*places.get(&mark_of(&given(text)))?)?;
        Some(Meaning { model: self.model, vector })
    }

    /// What a text means.
    pub fn made(&self, text: &str) -> Meaning {
        let make = || Meaning { model: self.model, vector: self.encoder.embed(&given(text)) };
        self.known(text).unwrap_or_else(make)
    }
}

/// What the model is given of a text: the same as the index gives it, so that its vectors serve.
fn given(text: &str) -> String {
    embedded(&Document::plain(0, Kind::Body, text))
}

//! The net itself: pieces become vectors, each layer lets them look at each other, and their mean is the text's meaning.
//!
//! Shapes are proven when the net is read; from then on nothing can be missing.

use std::path::Path;

use serde::Deserialize;

use super::arithmetic::{
    Adding, LANES, ROWS, Table, Work, add_scaled, dot, even_out, let_through, run, shares, through,
};
use super::weights::{Tensor, Weights};
use super::{ModelError, unfit, unread};

/// What the model's own description says of its shape.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Shape {
    #[serde(rename = "hidden_size")]
    dimensions: usize,
    #[serde(rename = "intermediate_size")]
    wide: usize,
    #[serde(rename = "num_attention_heads")]
    heads: usize,
    #[serde(rename = "num_hidden_layers")]
    layers: usize,
    #[serde(rename = "max_position_embeddings")]
    longest: usize,
    #[serde(rename = "vocab_size")]
    words: usize,
    #[serde(rename = "layer_norm_eps", default = "usual_tiny")]
    tiny: f32,
}

fn usual_tiny() -> f32 {
    1e-12
}

impl Shape {
    fn complaint(&self) -> Option<String> {
        let by_lanes = |length: usize| length > 0 && length.is_multiple_of(LANES);
        let is_sound = by_lanes(self.dimensions)
            && by_lanes(self.wide)
            && self.heads > 0
            && self.dimensions.is_multiple_of(self.heads)
            && by_lanes(self.dimensions / self.heads)
            && (1..=64).contains(&self.layers)
            && (2..=4096).contains(&self.longest)
            && self.dimensions.max(self.wide) <= 1 << 14;
        (!is_sound).then(|| format!("no net can have this shape: {self:?}"))
    }
}

pub struct Net {
    shape: Shape,
    words: Tensor,
    places: Tensor,
    sorts: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Scale and shift.
struct Norm(Tensor, Tensor);

/// Weights and what is added.
struct Linear(Tensor, Tensor);

struct Layer {
    asks: Linear,
    offers: Linear,
    gives: Linear,
    joins: Linear,
    after_looking: Norm,
    widens: Linear,
    narrows: Linear,
    after_all: Norm,
}

impl Net {
    pub fn read(weights: &Weights, description: &Path) -> Result<Net, ModelError> {
        let text = std::fs::read(description).map_err(|source| unread(description, source))?;
        let shape: Shape =
            serde_json::from_slice(&text).map_err(|error| unfit(description, error.to_string()))?;
        if let Some(complaint) = shape.complaint() {
            return Err(unfit(description, complaint));
        }
        let Shape { dimensions, longest, words, .. } = shape;
        let table =
            |name: &str, rows| weights.tensor(&format!("embeddings.{name}.weight"), &[rows, dimensions]);
        Ok(Net {
            words: table("word_embeddings", words)?,
            places: table("position_embeddings", longest)?,
            sorts: table("token_type_embeddings", 0)?,
            norm: norm(weights, "embeddings.LayerNorm", dimensions)?,
            layers: (0..shape.layers)
                .map(|number| layer(weights, shape, number))
                .collect::<Result<_, _>>()?,
            shape,
        })
    }

    pub fn dimensions(&self) -> usize {
        self.shape.dimensions
    }

    pub fn words(&self) -> usize {
        self.shape.words
    }

    /// So many pieces are taken at once.
    pub fn longest(&self) -> usize {
        self.shape.longest
    }

    pub fn embed(&self, weights: &Weights, pieces: &[u32]) -> Vec<f32> {
        let mut pass = Pass { net: self, weights, pieces, meaning: vec![] };
        run(&mut pass);
        pass.meaning
    }
}

fn layer(weights: &Weights, shape: Shape, number: usize) -> Result<Layer, ModelError> {
    let Shape { dimensions, wide, .. } = shape;
    let named = |name: &str| format!("encoder.layer.{number}.{name}");
    let square = |name: &str| linear(weights, &named(name), [dimensions, dimensions]);
    Ok(Layer {
        asks: square("attention.self.query")?,
        offers: square("attention.self.key")?,
        gives: square("attention.self.value")?,
        joins: square("attention.output.dense")?,
        after_looking: norm(weights, &named("attention.output.LayerNorm"), dimensions)?,
        widens: linear(weights, &named("intermediate.dense"), [wide, dimensions])?,
        narrows: linear(weights, &named("output.dense"), [dimensions, wide])?,
        after_all: norm(weights, &named("output.LayerNorm"), dimensions)?,
    })
}

fn linear(weights: &Weights, name: &str, shape: [usize; 2]) -> Result<Linear, ModelError> {
    let bias = weights.tensor(&format!("{name}.bias"), &shape[..1])?;
    Ok(Linear(weights.tensor(&format!("{name}.weight"), &shape)?, bias))
}

fn norm(weights: &Weights, name: &str, dimensions: usize) -> Result<Norm, ModelError> {
    let part = |part: &str| weights.tensor(&format!("{name}.{part}"), &[dimensions]);
    Ok(Norm(part("weight")?, part("bias")?))
}

/// One text on its way through the net.
struct Pass<'a> {
    net: &'a Net,
    weights: &'a Weights,
    pieces: &'a [u32],
    meaning: Vec<f32>,
}

/// What a layer writes on: one row for each piece, and some that nobody looks at to fill the last block.
struct Sheets {
    asks: Vec<f32>,
    offers: Vec<f32>,
    gives: Vec<f32>,
    seen: Vec<f32>,
    joined: Vec<f32>,
    wide: Vec<f32>,
}

impl Work for Pass<'_> {
    #[inline(always)]
    fn run<A: Adding>(&mut self) {
        let Shape { dimensions, wide, .. } = self.net.shape;
        let rows = self.pieces.len().next_multiple_of(ROWS);
        let sheet = || vec![0.0; rows * dimensions];
        let (asks, offers, gives, seen, joined) = (sheet(), sheet(), sheet(), sheet(), sheet());
        let mut sheets = Sheets { asks, offers, gives, seen, joined, wide: vec![0.0; rows * wide] };
        let mut x = self.beginning::<A>(rows);
        for layer in &self.net.layers {
            self.look::<A>(layer, &mut x, &mut sheets);
            self.think::<A>(layer, &mut x, &mut sheets);
        }
        self.meaning = mean::<A>(&x[..self.pieces.len() * dimensions], dimensions);
    }
}

impl Pass<'_> {
    #[inline(always)]
    fn beginning<A: Adding>(&self, rows: usize) -> Vec<f32> {
        let dimensions = self.net.shape.dimensions;
        let row = |tensor: &Tensor, number: usize| {
            &self.weights.numbers(tensor)[number * dimensions..][..dimensions]
        };
        let mut x = vec![0.0; rows * dimensions];
        for (place, (piece, x)) in self.pieces.iter().zip(x.chunks_exact_mut(dimensions)).enumerate() {
            let parts = [
                row(&self.net.words, *piece as usize),
                row(&self.net.places, place),
                row(&self.net.sorts, 0),
            ];
            for (at, x) in x.iter_mut().enumerate() {
                *x = parts.iter().map(|part| f32::from_le_bytes(part[at])).sum();
            }
        }
        self.even_out::<A>(&self.net.norm, &mut x);
        x
    }

    /// Every piece looks at all others.
    #[inline(always)]
    fn look<A: Adding>(&self, layer: &Layer, x: &mut [f32], sheets: &mut Sheets) {
        through::<A>(x, self.table(&layer.asks), &mut sheets.asks);
        through::<A>(x, self.table(&layer.offers), &mut sheets.offers);
        through::<A>(x, self.table(&layer.gives), &mut sheets.gives);
        self.attend::<A>(sheets);
        through::<A>(&sheets.seen, self.table(&layer.joins), &mut sheets.joined);
        add_scaled::<A>(x, &sheets.joined, 1.0);
        self.even_out::<A>(&layer.after_looking, x);
    }

    #[inline(always)]
    fn attend<A: Adding>(&self, sheets: &mut Sheets) {
        let Shape { dimensions, heads, .. } = self.net.shape;
        let head_size = dimensions / heads;
        let by = 1.0 / (head_size as f32).sqrt();
        let count = self.pieces.len();
        let mut scores = vec![0.0; count];
        sheets.seen.fill(0.0);
        for from in (0..dimensions).step_by(head_size) {
            let part = |row: usize| row * dimensions + from..row * dimensions + from + head_size;
            for row in 0..count {
                let asks = &sheets.asks[part(row)];
                for (other, score) in scores.iter_mut().enumerate() {
                    *score = by * dot::<A>(asks, &sheets.offers[part(other)]);
                }
                shares::<A>(&mut scores);
                for (other, share) in scores.iter().enumerate() {
                    add_scaled::<A>(&mut sheets.seen[part(row)], &sheets.gives[part(other)], *share);
                }
            }
        }
    }

    /// Every piece by itself.
    #[inline(always)]
    fn think<A: Adding>(&self, layer: &Layer, x: &mut [f32], sheets: &mut Sheets) {
        through::<A>(x, self.table(&layer.widens), &mut sheets.wide);
        let_through::<A>(&mut sheets.wide);
        through::<A>(&sheets.wide, self.table(&layer.narrows), &mut sheets.joined);
        add_scaled::<A>(x, &sheets.joined, 1.0);
        self.even_out::<A>(&layer.after_all, x);
    }

    #[inline(always)]
    fn table(&self, Linear(weights, bias): &Linear) -> Table<'_> {
        Table { weights: self.weights.numbers(weights), bias: self.weights.numbers(bias) }
    }

    #[inline(always)]
    fn even_out<A: Adding>(&self, Norm(scale, shift): &Norm, x: &mut [f32]) {
        even_out::<A>(x, (self.weights.numbers(scale), self.weights.numbers(shift)), self.net.shape.tiny);
    }
}

#[inline(always)]
fn mean<A: Adding>(rows: &[f32], dimensions: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dimensions];
    rows.chunks_exact(dimensions).for_each(|row| add_scaled::<A>(&mut mean, row, 1.0));
    let length = dot::<A>(&mean, &mean).sqrt().max(f32::MIN_POSITIVE);
    mean.iter_mut().for_each(|value| *value /= length);
    mean
}

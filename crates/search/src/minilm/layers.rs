//! The network: piece embeddings, attention layers, and the mean of the outputs as the text's embedding.
//!
//! All shapes are checked when the network is loaded; nothing can be missing afterwards.

use std::path::Path;

use serde::Deserialize;

use super::arithmetic::{
    Kernel, LANES, LinearWeights, MulAdd, ROWS, add_scaled, dot, gelu, layer_norm, linear_forward, run,
    softmax,
};
use super::weights::{Tensor, Weights};
use super::{ModelError, unfit, unread};

/// The model's `config.json`.
#[derive(Clone, Copy, Debug, Deserialize)]
struct ModelShape {
    #[serde(rename = "hidden_size")]
    dimensions: usize,
    #[serde(rename = "intermediate_size")]
    intermediate_size: usize,
    #[serde(rename = "num_attention_heads")]
    heads: usize,
    #[serde(rename = "num_hidden_layers")]
    layers: usize,
    #[serde(rename = "max_position_embeddings")]
    max_positions: usize,
    #[serde(rename = "vocab_size")]
    vocabulary_size: usize,
    #[serde(rename = "layer_norm_eps", default = "usual_tiny")]
    epsilon: f32,
}

fn usual_tiny() -> f32 {
    1e-12
}

impl ModelShape {
    fn check(&self) -> Option<String> {
        let by_lanes = |length: usize| length > 0 && length.is_multiple_of(LANES);
        let is_sound = by_lanes(self.dimensions)
            && by_lanes(self.intermediate_size)
            && self.heads > 0
            && self.dimensions.is_multiple_of(self.heads)
            && by_lanes(self.dimensions / self.heads)
            && (1..=64).contains(&self.layers)
            && (2..=4096).contains(&self.max_positions)
            && self.dimensions.max(self.intermediate_size) <= 1 << 14;
        (!is_sound).then(|| format!("no net can have this shape: {self:?}"))
    }
}

pub struct Net {
    shape: ModelShape,
    vocabulary_size: Tensor,
    positions: Tensor,
    token_types: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Scale and shift.
struct Norm(Tensor, Tensor);

/// Weights and bias.
struct Linear(Tensor, Tensor);

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

impl Net {
    pub fn read(weights: &Weights, description: &Path) -> Result<Net, ModelError> {
        let text = std::fs::read(description).map_err(|source| unread(description, source))?;
        let shape: ModelShape =
            serde_json::from_slice(&text).map_err(|error| unfit(description, error.to_string()))?;
        if let Some(complaint) = shape.check() {
            return Err(unfit(description, complaint));
        }
        let ModelShape { dimensions, max_positions, vocabulary_size, .. } = shape;
        let table =
            |name: &str, rows| weights.tensor(&format!("embeddings.{name}.weight"), &[rows, dimensions]);
        Ok(Net {
            vocabulary_size: table("word_embeddings", vocabulary_size)?,
            positions: table("position_embeddings", max_positions)?,
            token_types: table("token_type_embeddings", 0)?,
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

    pub fn vocabulary_size(&self) -> usize {
        self.shape.vocabulary_size
    }

    /// The maximum number of pieces per text.
    pub fn max_positions(&self) -> usize {
        self.shape.max_positions
    }

    pub fn embed(&self, weights: &Weights, pieces: &[u32]) -> Vec<f32> {
        let mut pass = ForwardPass { net: self, weights, pieces, embedding: vec![] };
        run(&mut pass);
        pass.embedding
    }
}

fn layer(weights: &Weights, shape: ModelShape, number: usize) -> Result<Layer, ModelError> {
    let ModelShape { dimensions, intermediate_size, .. } = shape;
    let named = |name: &str| format!("encoder.layer.{number}.{name}");
    let square = |name: &str| linear(weights, &named(name), [dimensions, dimensions]);
    Ok(Layer {
        query: square("attention.self.query")?,
        key: square("attention.self.key")?,
        value: square("attention.self.value")?,
        attention_output: square("attention.output.dense")?,
        attention_norm: norm(weights, &named("attention.output.LayerNorm"), dimensions)?,
        intermediate: linear(weights, &named("intermediate.dense"), [intermediate_size, dimensions])?,
        output: linear(weights, &named("output.dense"), [dimensions, intermediate_size])?,
        output_norm: norm(weights, &named("output.LayerNorm"), dimensions)?,
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

/// One text on its way through the network.
struct ForwardPass<'a> {
    net: &'a Net,
    weights: &'a Weights,
    pieces: &'a [u32],
    embedding: Vec<f32>,
}

/// Scratch buffers of a layer: one row per piece, padded to fill the last block.
struct Buffers {
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    attended: Vec<f32>,
    projected: Vec<f32>,
    intermediate: Vec<f32>,
}

impl Kernel for ForwardPass<'_> {
    #[inline(always)]
    fn run<A: MulAdd>(&mut self) {
        let ModelShape { dimensions, intermediate_size, .. } = self.net.shape;
        let rows = self.pieces.len().next_multiple_of(ROWS);
        let buffer = || vec![0.0; rows * dimensions];
        let (query, key, value, attended, projected) = (buffer(), buffer(), buffer(), buffer(), buffer());
        let mut buffers = Buffers {
            query,
            key,
            value,
            attended,
            projected,
            intermediate: vec![0.0; rows * intermediate_size],
        };
        let mut x = self.embed_pieces::<A>(rows);
        for layer in &self.net.layers {
            self.attention_block::<A>(layer, &mut x, &mut buffers);
            self.feed_forward::<A>(layer, &mut x, &mut buffers);
        }
        self.embedding = mean::<A>(&x[..self.pieces.len() * dimensions], dimensions);
    }
}

impl ForwardPass<'_> {
    #[inline(always)]
    fn embed_pieces<A: MulAdd>(&self, rows: usize) -> Vec<f32> {
        let dimensions = self.net.shape.dimensions;
        let row = |tensor: &Tensor, number: usize| {
            &self.weights.numbers(tensor)[number * dimensions..][..dimensions]
        };
        let mut x = vec![0.0; rows * dimensions];
        for (position, (piece, x)) in self.pieces.iter().zip(x.chunks_exact_mut(dimensions)).enumerate() {
            let parts = [
                row(&self.net.vocabulary_size, *piece as usize),
                row(&self.net.positions, position),
                row(&self.net.token_types, 0),
            ];
            for (at, x) in x.iter_mut().enumerate() {
                *x = parts.iter().map(|part| f32::from_le_bytes(part[at])).sum();
            }
        }
        self.layer_norm::<A>(&self.net.norm, &mut x);
        x
    }

    /// Self-attention with residual connection.
    #[inline(always)]
    fn attention_block<A: MulAdd>(&self, layer: &Layer, x: &mut [f32], buffers: &mut Buffers) {
        linear_forward::<A>(x, self.table(&layer.query), &mut buffers.query);
        linear_forward::<A>(x, self.table(&layer.key), &mut buffers.key);
        linear_forward::<A>(x, self.table(&layer.value), &mut buffers.value);
        self.attend::<A>(buffers);
        linear_forward::<A>(&buffers.attended, self.table(&layer.attention_output), &mut buffers.projected);
        add_scaled::<A>(x, &buffers.projected, 1.0);
        self.layer_norm::<A>(&layer.attention_norm, x);
    }

    #[inline(always)]
    fn attend<A: MulAdd>(&self, buffers: &mut Buffers) {
        let ModelShape { dimensions, heads, .. } = self.net.shape;
        let head_size = dimensions / heads;
        let scale_by = 1.0 / (head_size as f32).sqrt();
        let count = self.pieces.len();
        let mut scores = vec![0.0; count];
        buffers.attended.fill(0.0);
        for from in (0..dimensions).step_by(head_size) {
            let part = |row: usize| row * dimensions + from..row * dimensions + from + head_size;
            for row in 0..count {
                let query = &buffers.query[part(row)];
                for (other, score) in scores.iter_mut().enumerate() {
                    *score = scale_by * dot::<A>(query, &buffers.key[part(other)]);
                }
                softmax::<A>(&mut scores);
                for (other, share) in scores.iter().enumerate() {
                    add_scaled::<A>(&mut buffers.attended[part(row)], &buffers.value[part(other)], *share);
                }
            }
        }
    }

    /// Feed-forward block with residual connection.
    #[inline(always)]
    fn feed_forward<A: MulAdd>(&self, layer: &Layer, x: &mut [f32], buffers: &mut Buffers) {
        linear_forward::<A>(x, self.table(&layer.intermediate), &mut buffers.intermediate);
        gelu::<A>(&mut buffers.intermediate);
        linear_forward::<A>(&buffers.intermediate, self.table(&layer.output), &mut buffers.projected);
        add_scaled::<A>(x, &buffers.projected, 1.0);
        self.layer_norm::<A>(&layer.output_norm, x);
    }

    #[inline(always)]
    fn table(&self, Linear(weights, bias): &Linear) -> LinearWeights<'_> {
        LinearWeights { weights: self.weights.numbers(weights), bias: self.weights.numbers(bias) }
    }

    #[inline(always)]
    fn layer_norm<A: MulAdd>(&self, Norm(scale, shift): &Norm, x: &mut [f32]) {
        layer_norm::<A>(x, self.weights.numbers(scale), self.weights.numbers(shift), self.net.shape.epsilon);
    }
}

#[inline(always)]
fn mean<A: MulAdd>(rows: &[f32], dimensions: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dimensions];
    rows.chunks_exact(dimensions).for_each(|row| add_scaled::<A>(&mut mean, row, 1.0));
    let length = dot::<A>(&mean, &mean).sqrt().max(f32::MIN_POSITIVE);
    mean.iter_mut().for_each(|value| *value /= length);
    mean
}

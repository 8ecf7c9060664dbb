//! The embedding model compared with an independent implementation, on the tiny model of `recipes/tiny-model`.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use towline_search::{Encoder, MODEL_FILES};

#[derive(Deserialize)]
struct ExpectedVector {
    text: String,
    vector: Vec<f32>,
}

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny-model")
}

#[test]
fn vectors_are_those_of_an_independent_net() {
    let encoder = Encoder::open(&tiny()).unwrap();
    let expected: Vec<ExpectedVector> =
        serde_json::from_slice(&fs::read(tiny().join("expected.json")).unwrap()).unwrap();
    assert!(expected.len() >= 6);
    for ExpectedVector { text, vector } in expected {
        let found = encoder.embed(&text);
        assert_eq!(found.len(), encoder.dimensions());
        let furthest = found.iter().zip(&vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 1e-4, "{text:?}: {furthest}\n{found:?}\n{vector:?}");
    }
}

#[test]
fn no_text_is_too_strange_or_too_long() {
    let encoder = Encoder::open(&tiny()).unwrap();
    for text in ["\0\u{7f}\u{feff}\u{202e}", "𠀀𠀁 ﬁ ß İ", &"é".repeat(100_000), &"\u{301}".repeat(300)]
    {
        let vector = encoder.embed(text);
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-3, "{length}");
    }
}

#[test]
fn file_that_is_no_part_of_a_model_is_named_with_what_is_wrong() {
    let whole = |name: &str| fs::read(tiny().join(name)).unwrap();
    let [weights, vocabulary, shape] = MODEL_FILES;
    let cut = whole(weights)[..2000].to_vec();
    let short = whole(weights)[..20_000].to_vec();
    let fewer = whole(vocabulary)[..100].to_vec();
    let odd = String::from_utf8(whole(shape))
        .unwrap()
        .replace("\"num_attention_heads\": 2", "\"num_attention_heads\": 3");
    let deeper = String::from_utf8(whole(shape))
        .unwrap()
        .replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    check(weights, &cut, "ends within its list of tables");
    check(weights, &short, "is missing");
    check(weights, b"", "no list of tables");
    check(vocabulary, &fewer, "pieces, and the weights");
    check(shape, odd.as_bytes(), "no net can have this shape");
    check(shape, deeper.as_bytes(), "`encoder.layer.2.attention.self.query.bias` is missing");
    check(shape, b"{}", "missing field");
}

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    for file in MODEL_FILES {
        fs::copy(tiny().join(file), folder.path().join(file)).unwrap();
    }
    fs::write(folder.path().join(name), bytes).unwrap();
    let error = Encoder::open(folder.path()).err().unwrap();
    let message =
        format!("{error} {}", std::error::Error::source(&error).map_or(String::new(), |e| e.to_string()));
    assert!(
        message.contains(expected) && message.contains(&folder.path().display().to_string()),
        "{message}"
    );
}

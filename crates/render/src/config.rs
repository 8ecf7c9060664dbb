//! Writes the effective configuration as JSON.
//!
//! Pure: it must not read the configuration itself.

use serde_json::{Map, Value, json};
use towline_engine::runtime::config::{EffectiveConfig, to_json};

pub fn config_json(config: &EffectiveConfig) -> Value {
    let mistakes: Vec<String> = config.mistakes.iter().map(ToString::to_string).collect();
    let values: Map<_, _> = config.values.iter().map(|(key, value)| (key.clone(), to_json(value))).collect();
    json!({"file": config.file, "values": values, "mistakes": mistakes})
}

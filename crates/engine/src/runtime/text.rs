//! Formats short texts for users: sizes, time spans, one plain line. Control characters never pass through.

use std::time::Duration;
use towline_core::escape::escape_for_terminal;

/// Replaces control and reordering characters, because the text may be untrusted.
pub fn plain_text(text: &str) -> String {
    escape_for_terminal(&text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

pub fn size(bytes: u64) -> String {
    let in_units = |unit: f64, name: &str| format!("{:.1} {name}", bytes as f64 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => in_units(1e3, "kB"),
        1_000_000..1_000_000_000 => in_units(1e6, "MB"),
        _ => in_units(1e9, "GB"),
    }
}

pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

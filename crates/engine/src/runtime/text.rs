//! Small texts for people: sizes, time spans, one plain line.

use std::time::Duration;
use towline_core::escape::for_terminal;

/// Replaces control characters and whatever could reorder the line: the text may come from anywhere.
pub fn plain(text: &str) -> String {
    for_terminal(&text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

/// A byte count with a decimal unit.
pub fn size(bytes: u64) -> String {
    let in_units = |unit: f64, name: &str| format!("{:.1} {name}", bytes as f64 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => in_units(1e3, "kB"),
        1_000_000..1_000_000_000 => in_units(1e6, "MB"),
        _ => in_units(1e9, "GB"),
    }
}

/// A duration in hours, minutes and seconds.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

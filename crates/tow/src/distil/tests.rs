//! Turns that are captured, distilled, captured again and taken back, on a real archive.

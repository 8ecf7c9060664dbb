//! Names and times of made-up sessions.
//!
//! Must not decide what a session says: each benchmark does.

/// The id of session `number`; neighbours look unrelated.
pub fn session_id(number: usize) -> String {
    format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(2_654_435_761) & 0xffff_ffff)
}

/// This many seconds after the start of `year`, with months of 28 days: every time is unique.
pub fn stamp(year: usize, seconds: usize) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = (year + days / 336, days / 28 % 12 + 1, days % 28 + 1);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.000Z", rest / 3600, rest / 60 % 60, rest % 60)
}

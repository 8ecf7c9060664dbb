//! Mutated transcripts and screens: recorded ones, damaged in a way that the dice decide.
//!
//! Must work on any bytes and any text. Knows no format.

use super::damage::Damage;
use super::dice::Dice;

/// The most lines of a mutated transcript: a reader's state spans a few, and a file of megabytes costs seconds.
const LONGEST: usize = 40;

/// Text that has broken a reader of screens before, or looks like a part of one.
const ODDITIES: [&str; 14] = [
    "",
    "\u{1b}[",
    "\u{1b}[38;5;999999999999999999999m",
    "\u{1b}[7m \u{1b}[0m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;",
    "\u{9b}31m",
    "👩‍👩‍👧‍👦é\u{301}\u{fffd}\u{feff}",
    "\u{202e}gnirts",
    "│ > ❯ › ┃ ╭─╮ ╰─╯ ▌ ✳ ⏺ ●",
    "esc to interrupt",
    "1. Yes  2. No",
    "\t\t\t",
    "\u{0}\u{7f}",
];

/// Some consecutive lines of a transcript, a few of them damaged, lost, doubled or in another order.
pub fn damaged_transcript(file: &[u8], dice: &mut Dice) -> Vec<u8> {
    let all: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let from = if dice.one_in(3) { 0 } else { dice.below(all.len()) };
    let count = 1 + dice.below(LONGEST);
    let mut lines: Vec<Vec<u8>> = all.iter().skip(from).take(count).map(|line| line.to_vec()).collect();
    for _ in 0..=dice.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = dice.below(lines.len());
        match dice.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(dice.below(lines.len() + 1), lines[at].clone()),
            2 => {
                let other = dice.below(lines.len());
                lines.swap(at, other);
            }
            _ => lines[at] = Damage::thrown(dice).inflict(&lines[at], dice),
        }
    }
    let mut text = lines.join(&b'\n');
    if !dice.one_in(4) {
        text.push(b'\n');
    }
    text
}

/// A screen with one to four damages; `other` is one that parts are taken from.
pub fn damaged_screen(screen: &str, other: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = screen.split('\n').map(str::to_owned).collect();
    let others: Vec<&str> = other.split('\n').collect();
    for _ in 0..=dice.below(4) {
        damage_lines(&mut lines, &others, dice);
    }
    let text = lines.join("\n");
    match dice.below(40) {
        0 => cut(&text, dice).to_owned(),
        1 => text.repeat(1 + dice.below(20)),
        2 => String::new(),
        _ => text,
    }
}

fn damage_lines(lines: &mut Vec<String>, others: &[&str], dice: &mut Dice) {
    let at = dice.below(lines.len());
    match dice.below(11) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => lines.insert(at, lines.get(at).cloned().unwrap_or_default()),
        2 => lines.truncate(at),
        3 => drop(lines.drain(..at)),
        4 => {
            // The top of one screen above the rest of another, as while it is drawn anew.
            lines.truncate(at);
            lines.extend(others.iter().skip(at).map(|line| (*line).to_owned()));
        }
        5 => {
            let columns = dice.below(120);
            lines.iter_mut().for_each(|line| *line = line.chars().take(columns).collect());
        }
        6 => {
            let blank = " ".repeat(dice.below(300));
            lines.iter_mut().for_each(|line| line.insert_str(0, &blank));
        }
        7 => lines.iter_mut().for_each(|line| *line = line.trim().to_owned()),
        8 => {
            if let Some(line) = lines.get_mut(at) {
                *line = line.repeat(dice.below(50));
            }
        }
        _ => {
            if let Some(line) = lines.get_mut(at) {
                let head = cut(line, dice).to_owned();
                let tail = line.chars().skip(head.chars().count() + dice.below(3)).collect::<String>();
                *line = format!("{head}{}{tail}", dice.pick::<&str>(&ODDITIES));
            }
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

/// The beginning of a text, up to some character.
fn cut<'a>(text: &'a str, dice: &mut Dice) -> &'a str {
    let characters = dice.below(text.chars().count() + 1);
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

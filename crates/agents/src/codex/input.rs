//! What stands in Codex's composer.
//!
//! By the bold mark before it, the faint words that only an empty composer shows, the hint below it, and the end of a
//! turn right above it: while text streams, the client shows no other sign of work. A composer of which one of these is
//! missing is never an empty one.

use crate::cells::{Cell, Row, rows};
use towline_core::typing::{InputLine, Shown};

/// `screen` is what it shows, line by line, with the sequences for colours.
pub(crate) fn input_line(screen: &str) -> InputLine {
    let rows = rows(screen);
    match rows.iter().rposition(is_composer) {
        Some(at) if !rows[at..].iter().any(is_chosen) => in_composer(&Composer::new(&rows, at)),
        Some(_) => InputLine::Covered,
        None if rows.iter().any(is_chosen) || is_browsed(&rows) => InputLine::Covered,
        None => InputLine::Unknown,
    }
}

/// By what was said last above the composer, or that nothing was.
pub(crate) fn shown(screen: &str) -> Shown {
    let rows = rows(screen);
    let Some(at) = rows.iter().rposition(is_composer) else { return Shown::Unknown };
    let composer = Composer::new(&rows, at);
    match composer.said() {
        Some(said) => said,
        None if composer.is_new() => Shown::New,
        None => Shown::Unknown,
    }
}

/// Whether this is how the client shows a long paste of `text`.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    held == format!("[Pasted Content {} chars]", text.chars().count())
}

fn in_composer(composer: &Composer<'_>) -> InputLine {
    let hint = composer.hint();
    if COVERED.iter().any(|start| hint.starts_with(start)) {
        InputLine::Covered
    } else if hint.starts_with(QUEUES) || composer.says_at_work() {
        InputLine::Busy
    } else if !composer.shows_placeholder() {
        InputLine::Holds { text: composer.held() }
    } else if is_idle(&hint) && composer.is_at_rest() {
        InputLine::Empty
    } else {
        InputLine::Unknown
    }
}

/// The last line while something else takes the keys: the transcript, a search, the list of keys.
const COVERED: [&str; 3] = ["Browsing", "reverse-i-search:", "? / esc close"];

/// The last line while the client works and something is typed.
const QUEUES: &str = "tab to queue message";

/// The last line below an empty composer.
const IDLE: [&str; 2] = ["? for shortcuts", "esc again to edit previous message"];

/// Behind the client's daemon, the way to its other sessions is named first.
fn is_idle(hint: &str) -> bool {
    hint.split(" · ").any(|part| IDLE.iter().any(|start| part.starts_with(start)))
}

/// The line in which a person types: its mark is bold, that of what was said before is faint too.
fn is_composer(row: &Row) -> bool {
    row.first().is_some_and(|mark| {
        matches!(mark.glyph, '›' | '!') && mark.look.bold && !mark.look.faint && !mark.look.reversed
    })
}

/// The line of a list that Enter would choose.
fn is_chosen(row: &Row) -> bool {
    let mark = row.0.iter().find(|cell| !cell.glyph.is_whitespace());
    mark.is_some_and(|mark| mark.glyph == '›' && mark.look.reversed)
}

/// Before the transcript, the whole composer is faint.
fn is_browsed(rows: &[Row]) -> bool {
    let last = rows.iter().rev().find(|row| !row.is_blank());
    last.is_some_and(|row| row.text().trim_start().starts_with(COVERED[0]))
}

/// The lines in which a person types, with what stands above and below.
struct Composer<'a> {
    above: &'a [Row],
    inside: &'a [Row],
    below: &'a [Row],
}

impl<'a> Composer<'a> {
    /// Below it and a blank line stand one or two lines more. What is typed may have blank lines of its own.
    fn new(rows: &'a [Row], at: usize) -> Composer<'a> {
        let end = rows.iter().rposition(|row| !row.is_blank()).map_or(at, |last| last + 1);
        let blank = rows[at..end].iter().rposition(Row::is_blank).map_or(end, |blank| at + blank);
        Composer { above: &rows[..at], inside: &rows[at..blank], below: &rows[blank..] }
    }

    /// What the last line says on its left.
    fn hint(&self) -> String {
        let last = self.below.iter().rev().find(|row| !row.is_blank()).map(Row::text).unwrap_or_default();
        last.trim().split("   ").next().unwrap_or_default().to_owned()
    }

    /// Only an empty composer says in faint letters what to type: not even blanks are in it.
    fn shows_placeholder(&self) -> bool {
        let behind = self.inside.first().map(|row| row.0.get(1..).unwrap_or_default()).unwrap_or_default();
        let mut visible = behind.iter().filter(|cell| !cell.glyph.is_whitespace()).peekable();
        self.inside.len() == 1
            && visible.peek().is_some()
            && visible.all(|cell| cell.look.faint)
            && !self.in_shell()
    }

    fn in_shell(&self) -> bool {
        self.inside.first().and_then(Row::first).is_some_and(|mark| mark.glyph == '!')
    }

    /// What is typed, line by line: a long line that the client broke is two. What is faint is the client's.
    fn held(&self) -> String {
        let typed = |row: &Row| {
            let behind = row.0.get(TEXT..).unwrap_or_default();
            let text: String = behind.iter().filter(|cell| !cell.look.faint).map(|cell| cell.glyph).collect();
            text.trim_end().to_owned()
        };
        let lines: Vec<String> = self.inside.iter().map(typed).collect();
        let mark = if self.in_shell() { "!" } else { "" };
        format!("{mark}{}", lines.join("\n").trim_end())
    }

    /// What a person said last, up to the first blank line. Once it has scrolled away, the client keeps it in the first
    /// row: all of it in one line, cut where it is long, and told from the answer below by its ground alone.
    fn said(&self) -> Option<Shown> {
        let begin = self.above.iter().rposition(is_said_by_person)?;
        let (first, rest) = self.above[begin..].split_first()?;
        let behind = |row: &Row| row.0.iter().skip(TEXT).map(|cell| cell.glyph).collect::<String>();
        let is_cut = first.text().ends_with('…');
        if begin == 0 && (is_cut || !is_grounded(first)) {
            return Some(Shown::Begins(behind(first).trim_end().trim_end_matches('…').to_owned()));
        }
        let goes_on = |row: &&Row| {
            !row.is_blank() && row.text().starts_with("  ") && is_grounded(row) == is_grounded(first)
        };
        let said = [first].into_iter().chain(rest.iter().take_while(goes_on));
        Some(Shown::Said(said.map(behind).collect::<Vec<_>>().join("\n")))
    }

    fn is_new(&self) -> bool {
        self.is_fresh(&self.above.iter().map(Row::text).collect::<Vec<_>>())
    }

    /// While it works, the client says so somewhere between the last thing that was said and the composer.
    fn says_at_work(&self) -> bool {
        let since = self.above.iter().rposition(is_said_by_person).map_or(0, |said| said + 1);
        self.above[since..].iter().map(Row::text).any(|line| {
            (line.starts_with("• ") || line.starts_with("◦ ")) && line.contains(" • esc to interrupt)")
        })
    }

    /// By what stands right above: the end of a turn, or nothing said yet.
    fn is_at_rest(&self) -> bool {
        let lines: Vec<String> = self.above.iter().map(Row::text).collect();
        let end = lines.iter().rposition(|line| !line.is_empty()).unwrap_or(0);
        let begin = lines[..end].iter().rposition(String::is_empty).map_or(0, |blank| blank + 1);
        lines.get(begin).is_some_and(|line| is_end_of_turn(line)) || self.is_fresh(&lines)
    }

    /// At the top stands the client's name with the folder below, and nobody said anything. The status, which may be
    /// asked for at any time, has its name and a blank line.
    fn is_fresh(&self, lines: &[String]) -> bool {
        let top = lines.iter().zip(lines.iter().skip(1)).take(BANNER_LINES);
        let is_new =
            top.into_iter().any(|(line, next)| line.trim_start().starts_with(BANNER) && !next.is_empty());
        is_new && !lines.iter().any(|line| line.starts_with(['›', '•', '◦', '✗', '⚠', '/']))
    }
}

/// Behind the mark and a blank.
const TEXT: usize = 2;

/// The first thing that a new session shows.
const BANNER: &str = ">_ OpenAI Codex";
const BANNER_LINES: usize = 3;

fn is_grounded(row: &Row) -> bool {
    row.first().is_some_and(|cell| cell.look.grounded)
}

fn is_said_by_person(row: &Row) -> bool {
    row.first().is_some_and(|Cell { glyph, look }| glyph == '›' && look.faint)
}

/// How long it took, or why it ended otherwise.
fn is_end_of_turn(line: &str) -> bool {
    let worked = line.strip_prefix("  Worked for ").is_some_and(|time| {
        time.starts_with(|first: char| first == '<' || first.is_ascii_digit()) && time.contains(" • ")
    });
    worked || line.starts_with("■ ")
}

#[cfg(test)]
mod tests;

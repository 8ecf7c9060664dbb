//! Escapes untrusted text for its output: a terminal, a tmux format, a fixed width.
//!
//! Names, branches and prompts are data: no control sequence or tmux format in them survives these functions.

use unicode_width::UnicodeWidthChar;

/// One line without control characters, escape sequences or bidirectional marks.
pub fn escape_for_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            _ if c.is_control() || is_bidi_mark(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// Several lines: keeps line breaks and tabs, and strips what `escape_for_terminal` strips.
pub fn lines_for_terminal(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_bidi_mark(*c))).collect()
}

/// For a tmux option or a label that tmux draws: `##` is drawn as `#` and starts no format.
pub fn for_tmux(text: &str) -> String {
    escape_for_terminal(text).replace('#', "##")
}

/// For a menu label, which tmux expands and then draws. Expansion leaves `#` before a `[` to the drawing.
pub fn for_tmux_menu(text: &str) -> String {
    let text = escape_for_terminal(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('#') {
        let (before, from) = rest.split_at(at);
        let after = from.trim_start_matches('#');
        let times = if after.starts_with('[') { 2 } else { 4 };
        out.push_str(before);
        out.push_str(&"#".repeat(times * (from.len() - after.len())));
        rest = after;
    }
    out + rest
}

/// Marks that reverse or hide the rest of the line.
pub(crate) fn is_bidi_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}' | '\u{feff}')
}

/// Whether the text is one line already, with only single spaces between words.
pub(crate) fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most lines are ASCII. Read to their end, so that the loops vectorise.
    if bytes.iter().fold(true, |fit, byte| fit & matches!(byte, b' '..=b'~')) {
        let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
        let has_gap = pairs.fold(false, |gap, (one, next)| gap | ((*one == b' ') & (*next == b' ')));
        return !has_gap && !bytes.is_empty() && !text.starts_with(' ') && !text.ends_with(' ');
    }
    let mut before = ' ';
    let is_allowed = |c: char| {
        let is_second_space = before == ' ' && c == ' ';
        before = c;
        match c {
            ' '..='~' => !is_second_space,
            '\0'..='\x7f' => false,
            c => !c.is_whitespace() && !c.is_control() && !is_bidi_mark(c),
        }
    };
    text.chars().all(is_allowed) && before != ' '
}

/// The terminal columns of the text.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// A prefix of at most `columns` columns; a cut is shown as `…`. It ends after a whole word, unless a third of the room
/// would stay empty: paths, ids and languages without spaces are cut anywhere.
pub fn fit_to_width(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let (mut out, mut used, mut whole_words) = (String::new(), 0, 0);
    for c in text.chars() {
        if c.is_whitespace() && used * 3 >= columns * 2 {
            whole_words = out.len();
        }
        if used + char_width(c) + 1 > columns {
            break;
        }
        used += char_width(c);
        out.push(c);
    }
    if whole_words > 0 {
        out.truncate(whole_words);
    }
    out.truncate(out.trim_end().len());
    if columns > 0 {
        out.push('…');
    }
    out
}

/// `fit`, then padded with spaces to exactly `columns` columns.
pub fn pad(text: &str, columns: usize) -> String {
    let fitted = fit_to_width(text, columns);
    let missing = columns.saturating_sub(width(&fitted));
    fitted + &" ".repeat(missing)
}

/// Columns of one character. Terminals disagree about joined characters, so each part is counted, and a character with
/// the emoji variation selector counts as wide. Overestimating only leaves a gap.
fn char_width(c: char) -> usize {
    const EMOJI_SELECTOR: char = '\u{fe0f}';
    if c == EMOJI_SELECTOR { 1 } else { c.width().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_line_breaks_do_not_reach_a_terminal() {
        assert_eq!(escape_for_terminal("a\x1b[31mb\nc\x07\u{9b}d"), "a[31mb cd");
    }

    #[test]
    fn lines_stay_lines_and_nothing_else_reaches_a_terminal() {
        assert_eq!(lines_for_terminal("a\x1b]0;t\x07b\r\n\tc\u{202e}\u{9b}漢"), "a]0;tb\n\tc漢");
    }

    #[test]
    fn bidirectional_marks_are_removed() {
        assert_eq!(escape_for_terminal("user\u{202e}gpj.exe"), "usergpj.exe");
    }

    #[test]
    fn a_branch_called_like_a_command_is_text() {
        assert_eq!(for_tmux("#(touch x) #{pane_id} #[fg=red]"), "##(touch x) ##{pane_id} ##[fg=red]");
    }

    #[test]
    fn a_label_is_shown_as_it_is_after_being_expanded_and_drawn() {
        assert_eq!(for_tmux_menu("#(x) a#"), "####(x) a####");
        assert_eq!(for_tmux_menu("#[fg=red]##[x]#"), "##[fg=red]####[x]####");
        assert_eq!(for_tmux_menu("漢"), "漢");
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, expected) in [
            ("abc", 3),
            ("漢字", 4),
            ("e\u{301}", 1),
            ("🚀x", 3),
            ("✅⚡⏳", 6),
            ("🟢⚠\u{fe0f}", 4),
            ("ที่", 1),
            ("नि", 2),
            ("👩\u{200d}💻", 4),
        ] {
            assert_eq!(width(text), expected, "{text}");
        }
    }

    #[test]
    fn text_is_cut_at_a_column_and_padded_to_one() {
        assert_eq!(fit_to_width("漢字かな", 5), "漢字…");
        assert_eq!(fit_to_width("short", 5), "short");
        assert_eq!(fit_to_width("longer", 1), "…");
        assert_eq!(fit_to_width("longer", 0), "");
        assert_eq!(pad("漢字かな", 6), "漢字… ");
    }

    #[test]
    fn a_line_that_is_too_long_ends_after_a_whole_word() {
        assert_eq!(fit_to_width("why did the checkout tests fail", 23), "why did the checkout…");
        assert_eq!(fit_to_width("why did the checkout", 12), "why did the…");
        assert_eq!(fit_to_width("a src/a/path/that/is/long", 12), "a src/a/pat…");
        assert_eq!(fit_to_width("done     1a2b3c4d", 8), "done…");
    }
}

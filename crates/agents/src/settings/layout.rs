//! Detects the layout of a settings file, and formats new JSON accordingly.
//!
//! Never reformats existing text.

use serde_json::Value;

use super::json::{self, ByteSpan};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    newline: &'static str,
    unit: String,
    gap: &'static str,
    flow: Flow,
}

/// Whether a value is spread over lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// One element per line.
    Lines,
    /// All on one line.
    Inline,
}

/// JSON to be written. Unlike `serde_json::Value` it keeps the order of its members under every feature set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Object(Vec<(&'static str, Node)>),
    Array(Vec<Node>),
    Text(String),
    Number(u32),
}

impl Layout {
    /// Detects the layout from the first indented line, the first line break and the first member.
    pub fn of(text: &str) -> Self {
        let root = json::root(text);
        let is_one_line = !text[root.clone()].contains('\n');
        let is_empty = json::elements(text, &root).is_empty();
        Self {
            newline: newline(text),
            unit: unit(text),
            gap: gap(text, &root),
            flow: if is_one_line && !is_empty { Flow::Inline } else { Flow::Lines },
        }
    }

    /// The flow of a value without siblings.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// The whitespace after a colon, and after a comma within a line.
    pub fn separator(&self) -> &'static str {
        self.gap
    }

    /// A line break and the indentation of the next line.
    pub fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.newline)
    }

    /// The indentation one level below `indent`.
    pub fn indent_below(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }
}

impl Node {
    /// The node as text; continuation lines are indented from `indent`.
    pub fn render(&self, layout: &Layout, flow: Flow, indent: &str) -> String {
        match self {
            Node::Text(text) => quoted(text),
            Node::Number(number) => number.to_string(),
            Node::Object(members) => {
                let inner = layout.indent_below(indent);
                let elements =
                    members.iter().map(|(key, node)| node.render_member(key, layout, flow, &inner));
                enclosed("{", "}", &elements.collect::<Vec<_>>(), layout, flow, indent)
            }
            Node::Array(items) => {
                let inner = layout.indent_below(indent);
                let elements = items.iter().map(|node| node.render(layout, flow, &inner));
                enclosed("[", "]", &elements.collect::<Vec<_>>(), layout, flow, indent)
            }
        }
    }

    pub fn render_member(&self, key: &str, layout: &Layout, flow: Flow, indent: &str) -> String {
        format!("{}:{}{}", quoted(key), layout.gap, self.render(layout, flow, indent))
    }

    /// The node as a value that can be compared with a parsed one.
    pub fn to_value(&self) -> Value {
        match self {
            Node::Object(members) => {
                members.iter().map(|(key, node)| ((*key).to_owned(), node.to_value())).collect()
            }
            Node::Array(items) => items.iter().map(Node::to_value).collect(),
            Node::Text(text) => Value::from(text.as_str()),
            Node::Number(number) => Value::from(*number),
        }
    }
}

/// The indentation of the line that contains `at`.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The line break of the text's first line.
pub(super) fn newline(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((before, _)) if before.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn unit(text: &str) -> String {
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indents = lines.map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ").to_owned()
}

fn gap(text: &str, root: &ByteSpan) -> &'static str {
    let Some(first) = json::elements(text, root).into_iter().next() else {
        return " ";
    };
    if json::space_before(text, first.value.start).is_empty() { "" } else { " " }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn enclosed(
    open: &str,
    close: &str,
    elements: &[String],
    layout: &Layout,
    flow: Flow,
    indent: &str,
) -> String {
    if elements.is_empty() {
        return format!("{open}{close}");
    }
    match flow {
        Flow::Inline => format!("{open}{}{close}", elements.join(&format!(",{}", layout.gap))),
        Flow::Lines => {
            let inner = layout.line(&layout.indent_below(indent));
            let elements = elements.join(&format!(",{inner}"));
            format!("{open}{inner}{elements}{}{close}", layout.line(indent))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Node {
        Node::Object(vec![
            ("args", Node::Array(vec![Node::Text("a\"b".to_owned())])),
            ("timeout", Node::Number(5)),
            ("none", Node::Array(vec![])),
        ])
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let layout = Layout::of(text);
        assert_eq!(sample().render(&layout, layout.flow(), ""), expected);
    }

    #[test]
    fn two_spaces_are_the_default() {
        check("{}", "{\n  \"args\": [\n    \"a\\\"b\"\n  ],\n  \"timeout\": 5,\n  \"none\": []\n}");
    }

    #[test]
    fn tabs_and_windows_line_ends_are_kept() {
        check(
            "{\r\n\t\"a\":1\r\n}",
            "{\r\n\t\"args\":[\r\n\t\t\"a\\\"b\"\r\n\t],\r\n\t\"timeout\":5,\r\n\t\"none\":[]\r\n}",
        );
    }

    #[test]
    fn single_line_stays_single_line() {
        check("{\"a\": 1}\n", "{\"args\": [\"a\\\"b\"], \"timeout\": 5, \"none\": []}");
        check("{\"a\":1}", "{\"args\":[\"a\\\"b\"],\"timeout\":5,\"none\":[]}");
    }
}

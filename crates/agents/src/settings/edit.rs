//! The three edits a settings file needs: append an element, remove one, replace a value.
//!
//! Each returns a text that differs from the old one in one position only, and never reformats.

use super::json::{self, ByteSpan, Element};
use super::layout::{Flow, Layout, Node, indent_at};

/// An element to add to a container.
pub(super) enum Addition<'a> {
    Member(&'a str, &'a Node),
    Item(&'a Node),
}

impl Addition<'_> {
    fn render(&self, layout: &Layout, flow: Flow, indent: &str) -> String {
        match self {
            Addition::Member(key, node) => node.render_member(key, layout, flow, indent),
            Addition::Item(node) => node.render(layout, flow, indent),
        }
    }
}

/// Appends `addition` to the container, formatted like its last sibling.
pub(super) fn append(text: &str, container: &ByteSpan, addition: &Addition<'_>, layout: &Layout) -> String {
    let siblings = json::elements(text, container);
    match siblings.last() {
        None => fill(text, container, addition, layout),
        Some(last) => {
            let indent = indent_at(text, last.whole.start);
            let shown = addition.render(layout, flow_of(text, last), indent);
            let lead = lead(text, &siblings, layout);
            let end = last.whole.end;
            splice(text, &(end..end), &format!(",{lead}{shown}"))
        }
    }
}

/// Removes the element together with one adjacent comma.
pub(super) fn remove(text: &str, container: &ByteSpan, index: usize) -> String {
    let siblings = json::elements(text, container);
    let cut = match (index.checked_sub(1), siblings.get(index), siblings.get(index + 1)) {
        (_, None, _) => return text.to_owned(),
        (Some(before), Some(gone), _) => siblings[before].whole.end..gone.whole.end,
        (None, Some(gone), Some(next)) => gone.whole.start..next.whole.start,
        (None, Some(_), None) => container.start + 1..container.end - 1,
    };
    splice(text, &cut, "")
}

/// Replaces the value by `node`, on one line if the value was.
pub(super) fn replace(text: &str, value: &ByteSpan, node: &Node, layout: &Layout) -> String {
    let flow = if text[value.clone()].contains('\n') { Flow::Lines } else { Flow::Inline };
    splice(text, value, &node.render(layout, flow, indent_at(text, value.start)))
}

fn fill(text: &str, container: &ByteSpan, addition: &Addition<'_>, layout: &Layout) -> String {
    let inside = container.start + 1..container.end - 1;
    let indent = indent_at(text, container.start);
    match layout.flow() {
        Flow::Inline => splice(text, &inside, &addition.render(layout, Flow::Inline, indent)),
        Flow::Lines => {
            let inner = layout.indent_below(indent);
            let shown = addition.render(layout, Flow::Lines, &inner);
            splice(text, &inside, &format!("{}{shown}{}", layout.line(&inner), layout.line(indent)))
        }
    }
}

/// The whitespace between the last comma and the last sibling; the layout's own if there is only one sibling.
fn lead(text: &str, siblings: &[Element], layout: &Layout) -> String {
    let Some(last) = siblings.last() else {
        return String::new();
    };
    let space = json::space_before(text, last.whole.start);
    match (space.contains('\n'), siblings.len()) {
        (true, _) => layout.line(indent_at(text, last.whole.start)),
        (false, 1) => layout.separator().to_owned(),
        (false, _) => space.to_owned(),
    }
}

/// Spread over lines if the sibling is, or if it is on its own line and shows no inline formatting.
fn flow_of(text: &str, sibling: &Element) -> Flow {
    let value = &text[sibling.value.clone()];
    let is_on_own_line = json::space_before(text, sibling.whole.start).contains('\n');
    let is_full = !json::elements(text, &sibling.value).is_empty();
    if value.contains('\n') || (is_on_own_line && !is_full) { Flow::Lines } else { Flow::Inline }
}

pub(super) fn splice(text: &str, span: &ByteSpan, new: &str) -> String {
    [&text[..span.start], new, &text[span.end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> Node {
        Node::Array(vec![Node::Number(1)])
    }

    #[track_caller]
    fn check_append(text: &str, expected: &str) {
        let (root, layout) = (json::root(text), Layout::of(text));
        let edited = append(text, &root, &Addition::Member("k", &list()), &layout);
        assert_eq!(edited, expected);
        let last = json::elements(&edited, &json::root(&edited)).len() - 1;
        let undone = remove(&edited, &json::root(&edited), last);
        assert_eq!(undone, text, "removing must undo appending");
    }

    #[test]
    fn member_is_appended_as_its_siblings_are_written() {
        check_append("{\n    \"a\": 1\n}\n", "{\n    \"a\": 1,\n    \"k\": [\n        1\n    ]\n}\n");
        check_append("{ \"a\": 1 }", "{ \"a\": 1, \"k\": [1] }");
        check_append("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2,\"k\":[1]}");
        check_append("{\n \"a\": [2]\n}", "{\n \"a\": [2],\n \"k\": [1]\n}");
        check_append("{\"a\": [\n  2\n]}", "{\"a\": [\n  2\n], \"k\": [\n  1\n]}");
        check_append(
            "\u{feff}{\r\n\t\"a\":1\r\n}",
            "\u{feff}{\r\n\t\"a\":1,\r\n\t\"k\":[\r\n\t\t1\r\n\t]\r\n}",
        );
        check_append("{}\n", "{\n  \"k\": [\n    1\n  ]\n}\n");
    }

    #[test]
    fn comma_goes_with_the_element_that_is_removed() {
        let text = "[ 1, 2,\n 3 ]";
        assert_eq!(remove(text, &json::root(text), 0), "[ 2,\n 3 ]");
        assert_eq!(remove(text, &json::root(text), 1), "[ 1,\n 3 ]");
        assert_eq!(remove(text, &json::root(text), 2), "[ 1, 2 ]");
        assert_eq!(remove(text, &json::root(text), 3), text);
    }

    #[test]
    fn value_is_replaced_in_the_form_it_had() {
        let text = "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": {\"x\": 1}\n}";
        let layout = Layout::of(text);
        let object = json::root(text);
        let replaced =
            |key| replace(text, &json::member(text, &object, key).expect("is there").value, &list(), &layout);
        assert_eq!(replaced("a"), "{\n  \"a\": [\n    1\n  ],\n  \"b\": {\"x\": 1}\n}");
        assert_eq!(replaced("b"), "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": [1]\n}");
    }
}

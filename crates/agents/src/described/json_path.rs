//! Paths into JSON values, such as `message.content[type=text].text`.
//!
//! `a.b` is a key of a key, `[]` every element of a list, `[k=v]` every element whose `k` is `v`, and `\` takes the next
//! character as it is. A path that leads nowhere finds nothing; it never fails.

use serde_json::Value;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Each,
    Where { key: String, is: String },
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPath {
    #[error("has an empty name between two dots")]
    EmptyName,
    #[error("has a `[` without its `]`, or more than `key=value` in it")]
    Brackets,
    #[error("is deeper than {DEEPEST} steps")]
    TooDeep,
}

/// Deeper than any transcript.
const DEEPEST: usize = 16;

impl JsonPath {
    pub fn parse(text: &str) -> Result<JsonPath, BadPath> {
        let mut steps = vec![];
        for part in split(text, '.') {
            let (name, mut brackets) = match find(&part, '[') {
                Some(at) => part.split_at(at),
                None => (part.as_str(), ""),
            };
            // A list may be the value itself: `[].text`.
            if name.is_empty() && (brackets.is_empty() || !steps.is_empty()) {
                return Err(BadPath::EmptyName);
            }
            steps.extend((!name.is_empty()).then(|| Step::Key(plain(name))));
            while !brackets.is_empty() {
                let end = find(brackets, ']').ok_or(BadPath::Brackets)?;
                let inner = brackets[..end].strip_prefix('[').ok_or(BadPath::Brackets)?;
                steps.push(element(inner)?);
                brackets = &brackets[end + 1..];
            }
        }
        if steps.len() > DEEPEST { Err(BadPath::TooDeep) } else { Ok(JsonPath(steps)) }
    }

    /// All values that the path leads to, in order.
    pub fn all<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found.into_iter().flat_map(|value| step.from(value)).collect();
        }
        found.retain(|value| !value.is_null());
        found
    }

    /// The first value that the path leads to.
    pub fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.all(value).into_iter().next()
    }

    /// Whether it leads to what it names: also to an empty list, or to one without the wanted elements.
    pub fn leads_somewhere(&self, value: &Value) -> bool {
        let mut found = vec![value];
        for step in &self.0 {
            let next: Vec<&Value> = found.iter().flat_map(|value| step.from(value)).collect();
            if next.is_empty() {
                return !matches!(step, Step::Key(_)) && found.iter().any(|value| value.is_array());
            }
            found = next;
        }
        true
    }

    /// The values as one text, a line each.
    pub fn text(&self, value: &Value) -> Option<String> {
        let texts: Vec<Cow<'_, str>> = self.all(value).into_iter().map(as_text).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

impl Step {
    fn from<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Step::Key(key) => value.get(key).into_iter().collect(),
            Step::Each => value.as_array().into_iter().flatten().collect(),
            Step::Where { key, is } => {
                let has =
                    |element: &&Value| element.get(key).is_some_and(|found| as_text(found) == is.as_str());
                value.as_array().into_iter().flatten().filter(has).collect()
            }
        }
    }
}

/// A text as it is; anything else as JSON.
pub(super) fn as_text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

fn element(inner: &str) -> Result<Step, BadPath> {
    if inner.is_empty() {
        return Ok(Step::Each);
    }
    let (key, is) = inner.split_once('=').ok_or(BadPath::Brackets)?;
    if key.is_empty() { Err(BadPath::Brackets) } else { Ok(Step::Where { key: plain(key), is: plain(is) }) }
}

/// The parts between this sign, which keep their escapes.
fn split(text: &str, at: char) -> Vec<String> {
    let (mut parts, mut part, mut is_escaped, mut depth) = (vec![], String::new(), false, 0_u32);
    for char in text.chars() {
        match char {
            _ if std::mem::take(&mut is_escaped) => part.push(char),
            '\\' => {
                is_escaped = true;
                part.push(char);
            }
            _ if char == at && depth == 0 => parts.push(std::mem::take(&mut part)),
            _ => {
                depth = match char {
                    '[' => depth + 1,
                    ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                part.push(char);
            }
        }
    }
    parts.push(part);
    parts
}

/// The first place of a sign that is not escaped.
fn find(text: &str, sign: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, char)| {
        let is_it = char == sign && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        is_it.then_some(at)
    })
}

/// The text without its escapes.
fn plain(text: &str) -> String {
    let mut chars = text.chars();
    std::iter::from_fn(|| match chars.next()? {
        '\\' => chars.next(),
        char => Some(char),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        let value = json!({
            "a": {"b": "deep", "n": 7, "no": null, "x.y": "dotted"},
            "list": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}],
            "of": [[{"k": 1}], [{"k": 2}]],
        });
        assert_eq!(JsonPath::parse(path).unwrap().text(&value).as_deref(), expected, "{path}");
    }

    #[test]
    fn a_path_leads_through_keys_and_lists() {
        check("a.b", Some("deep"));
        check("a.n", Some("7"));
        check("a.no", None);
        check("a.b.c", None);
        check(r"a.x\.y", Some("dotted"));
        check("list[].text", Some("one\ntwo"));
        check("list[type=image].type", Some("image"));
        check("list[type=none]", None);
        check("of[][].k", Some("1\n2"));
        check("a[].b", None);
        check("list[type=image]", Some(r#"{"type":"image"}"#));
    }

    #[test]
    fn a_list_may_be_the_whole_value() {
        let value = json!([{"k": 1}, {"k": 2}]);
        assert_eq!(JsonPath::parse("[].k").unwrap().text(&value).as_deref(), Some("1\n2"));
    }

    #[test]
    fn a_broken_path_is_refused() {
        let found = ["a..b", "", "a.", "a[", "a[b]", "a[=b]", "a]b[", &["a"; 17].join(".")]
            .map(|it| JsonPath::parse(it).err());
        use BadPath::{Brackets, EmptyName, TooDeep};
        let (name, brackets) = (Some(EmptyName), Some(Brackets));
        assert_eq!(found, [name, name, name, brackets, brackets, brackets, brackets, Some(TooDeep)]);
    }
}

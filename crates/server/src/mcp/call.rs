//! Parses a model's tool call: missing, mistyped and oversized arguments are refused by name.
//!
//! Lenient if the meaning is clear: a number may come as text, and one id in place of a list.

use serde_json::{Map, Value};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Search(SearchCall),
    Timeline(TimelineCall),
    Get { ids: Vec<String> },
    Detail { at: String, number: Option<u32> },
    Remember { text: String, kind: Option<String>, files: Vec<String>, is_pinned: bool },
    Forget { id: String },
    Context,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchCall {
    pub query: String,
    pub kind: Option<Kind>,
    /// The type of a memory.
    pub of_type: Option<String>,
    pub file: Option<String>,
    /// `*` means all projects; `None`, the current one.
    pub project: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    /// Reads all tool output instead of the index.
    pub is_deep: bool,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineCall {
    pub around: String,
    pub before: u32,
    pub after: u32,
}

towline_core::named_enum! {
    /// The kind of entry to search.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind as named {
        Memory = "memory",
        Summary = "summary",
        Body = "body",
        Detail = "detail",
        Bookmark = "bookmark",
    }
}

/// Why a call was refused; shown to the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadCall {
    #[error("there is no tool `{0}`")]
    NoTool(String),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{name}` must be {wanted}")]
    Wrong { name: &'static str, wanted: &'static str },
    #[error("this server only reads: `{0}` is off")]
    ReadOnly(String),
}

const MOST_HITS: u32 = 50;
const USUAL_HITS: u32 = 10;
const MOST_AROUND: u32 = 50;
const USUAL_AROUND: u32 = 5;
const MOST_IDS: usize = 20;
const LONGEST: usize = 20_000;

impl Call {
    pub fn parse(tool: &str, arguments: &Map<String, Value>) -> Result<Call, BadCall> {
        let given = CallArguments(arguments);
        match tool {
            "search" => Ok(Call::Search(SearchCall {
                query: given.needed("query")?,
                kind: given.kind()?,
                of_type: given.text("type")?,
                file: given.text("file")?,
                project: given.text("project")?,
                since: given.text("since")?,
                until: given.text("until")?,
                is_deep: given.flag("deep")?,
                limit: given.number("limit")?.unwrap_or(USUAL_HITS).clamp(1, MOST_HITS),
            })),
            "timeline" => Ok(Call::Timeline(TimelineCall {
                around: given.needed("around")?,
                before: given.number("before")?.unwrap_or(USUAL_AROUND).min(MOST_AROUND),
                after: given.number("after")?.unwrap_or(USUAL_AROUND).min(MOST_AROUND),
            })),
            "get" => match given.texts("ids")? {
                ids if ids.is_empty() => Err(BadCall::Missing("ids")),
                ids => Ok(Call::Get { ids }),
            },
            "detail" => Ok(Call::Detail { at: given.needed("at")?, number: given.number("number")? }),
            "remember" => Ok(Call::Remember {
                text: given.needed("text")?,
                kind: given.text("type")?,
                files: given.texts("files")?,
                is_pinned: given.flag("pin")?,
            }),
            "forget" => Ok(Call::Forget { id: given.needed("id")? }),
            "context" => Ok(Call::Context),
            other => Err(BadCall::NoTool(other.chars().take(40).collect())),
        }
    }

    /// Whether the call changes the store.
    pub fn writes(&self) -> bool {
        matches!(self, Call::Remember { .. } | Call::Forget { .. })
    }
}

/// The arguments before validation.
struct CallArguments<'a>(&'a Map<String, Value>);

impl CallArguments<'_> {
    fn text(&self, name: &'static str) -> Result<Option<String>, BadCall> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) if text.len() <= LONGEST => Ok(Some(text.trim().to_owned())),
            Some(Value::String(_)) => Err(BadCall::Wrong { name, wanted: "shorter" }),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(BadCall::Wrong { name, wanted: "a text" }),
        }
    }

    fn needed(&self, name: &'static str) -> Result<String, BadCall> {
        self.text(name)?.ok_or(BadCall::Missing(name))
    }

    fn number(&self, name: &'static str) -> Result<Option<u32>, BadCall> {
        let wrong = BadCall::Wrong { name, wanted: "a whole number" };
        self.text(name)?.map(|text| text.parse().map_err(|_| wrong)).transpose()
    }

    fn flag(&self, name: &'static str) -> Result<bool, BadCall> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(BadCall::Wrong { name, wanted: "true or false" }),
        }
    }

    fn texts(&self, name: &'static str) -> Result<Vec<String>, BadCall> {
        let wrong = BadCall::Wrong { name, wanted: "a list of at most 20 texts" };
        let Some(Value::Array(list)) = self.0.get(name) else {
            return Ok(self.text(name)?.into_iter().collect());
        };
        let text = |value: &Value| match value {
            Value::String(text) if text.len() <= LONGEST => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let texts: Option<Vec<String>> = list.iter().map(text).collect();
        texts.filter(|texts| texts.len() <= MOST_IDS).ok_or(wrong)
    }

    fn kind(&self) -> Result<Option<Kind>, BadCall> {
        let wrong = BadCall::Wrong { name: "kind", wanted: "memory, summary, body, detail or bookmark" };
        let named = |name: String| Kind::named(&name).ok_or(wrong);
        self.text("kind")?.map(named).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(tool: &str, arguments: Value) -> Result<Call, BadCall> {
        Call::parse(tool, arguments.as_object().unwrap())
    }

    #[test]
    fn a_search_needs_a_query_and_has_bounds() {
        let asked = |arguments| match parse("search", arguments) {
            Ok(Call::Search(search)) => search,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            asked(json!({"query": " mast "})),
            SearchCall { query: "mast".into(), limit: 10, ..SearchCall::default() }
        );
        assert_eq!(asked(json!({"query": "mast", "limit": 9999, "project": null})).limit, 50);
        assert_eq!(asked(json!({"query": "mast", "limit": "3", "kind": "detail"})).limit, 3);
        assert_eq!(parse("search", json!({})), Err(BadCall::Missing("query")));
        assert_eq!(parse("search", json!({"query": "  "})), Err(BadCall::Missing("query")));
        let wrong = parse("search", json!({"query": "x", "kind": "dream"})).unwrap_err().to_string();
        assert_eq!(wrong, "`kind` must be memory, summary, body, detail or bookmark");
    }

    #[test]
    fn one_id_stands_for_a_list_of_one() {
        let ids = |ids: &[&str]| Ok(Call::Get { ids: ids.iter().map(ToString::to_string).collect() });
        assert_eq!(parse("get", json!({"ids": "m12"})), ids(&["m12"]));
        assert_eq!(parse("get", json!({"ids": ["m12", 7]})), ids(&["m12", "7"]));
        assert_eq!(parse("get", json!({"ids": []})), Err(BadCall::Missing("ids")));
        assert!(
            parse("get", json!({"ids": vec!["m1"; 21]})).is_err()
                && parse("get", json!({"ids": [{}]})).is_err()
        );
    }

    #[test]
    fn whatever_a_model_sends_is_a_call_or_a_reason() {
        for tool in ["search", "timeline", "get", "detail", "remember", "forget", "context", "", "\u{7}"] {
            for arguments in
                [json!({}), json!({"query": {}, "ids": {}, "at": [], "text": 5, "id": true, "around": "x"})]
            {
                if let Err(reason) = parse(tool, arguments) {
                    assert!(!reason.to_string().is_empty());
                }
            }
        }
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(
            parse("remember", json!({"text": long})),
            Err(BadCall::Wrong { name: "text", wanted: "shorter" })
        );
    }
}

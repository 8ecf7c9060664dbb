//! Validates a request against its route: missing, mistyped and oversized values are refused by name.
//!
//! Only parameters declared in the route table reach the backend.

use crate::http::desk::{Refusal, Status};
use crate::http::table::{Access, Kind, Operation, Parameter, Position, Route};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A validated request.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub operation: Operation,
    pub given: Given,
}

/// Parameter values by name, each of the kind that the route table declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(BTreeMap<&'static str, Value>);

/// A request before validation.
#[derive(Debug, Default)]
pub struct Raw<'a> {
    pub path: Vec<(String, String)>,
    pub query: &'a str,
    pub body: &'a [u8],
}

/// Byte limit of each text in a list.
const LONGEST_OF_MANY: usize = 4_096;

impl Asked {
    pub fn read(route: &Route, raw: &Raw<'_>) -> Result<Asked, Refusal> {
        let mut given = Given::default();
        for (name, text) in &raw.path {
            given.take_text(route, Position::Path, name, text)?;
        }
        for (name, text) in pairs(raw.query)? {
            given.take_text(route, Position::Query, &name, &text)?;
        }
        given.take_body(route, raw.body)?;
        match route.parameters.iter().find(|known| known.is_needed && !given.0.contains_key(known.name)) {
            Some(missing) => Err(bad(format!("`{}` is missing", missing.name)).next(see(route))),
            None => Ok(Asked { operation: route.operation, given }),
        }
    }
}

impl Given {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn take_text(
        &mut self,
        route: &Route,
        position: Position,
        name: &str,
        text: &str,
    ) -> Result<(), Refusal> {
        let Some(known) = named(route, position, name) else { return unknown(route, name) };
        let value = match known.kind {
            Kind::Text(_) | Kind::OneOf(_) | Kind::Anything => Value::from(text),
            Kind::Number { .. } => text.parse::<i64>().map(Value::from).map_err(|_| wrong(known))?,
            Kind::Flag => match text {
                "true" | "1" | "" => Value::from(true),
                "false" | "0" => Value::from(false),
                _ => return Err(wrong(known)),
            },
            Kind::Texts(_) => {
                let mut list = self.0.remove(known.name).unwrap_or_else(|| Value::from(Vec::<Value>::new()));
                list.as_array_mut().into_iter().for_each(|list| list.push(text.into()));
                list
            }
        };
        self.put(known, value)
    }

    fn take_body(&mut self, route: &Route, body: &[u8]) -> Result<(), Refusal> {
        let mut parameters = route.parameters.iter().filter(|known| known.position != Position::Query);
        if let Some(whole) = parameters.clone().find(|known| known.position == Position::Payload) {
            let text = std::str::from_utf8(body).map_err(|_| bad("the body is no text"))?;
            return self.put(whole, Value::from(text));
        }
        if !parameters.any(|known| known.position == Position::Body) || body.is_empty() {
            return Ok(());
        }
        let unreadable =
            |why: String| Refusal::new(Status::BadRequest, "the body is no JSON object").because(why);
        let fields: Map<String, Value> =
            serde_json::from_slice(body).map_err(|error| unreadable(error.to_string()))?;
        for (name, value) in fields {
            match named(route, Position::Body, &name) {
                Some(_) if value.is_null() => {}
                Some(known) => self.put(known, one_as_list(known, value))?,
                None => unknown(route, &name)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, known: &'static Parameter, value: Value) -> Result<(), Refusal> {
        if !fits(known.kind, &value) {
            return Err(wrong(known));
        }
        match self.0.insert(known.name, value) {
            None => Ok(()),
            Some(_) => Err(bad(format!("`{}` was given twice", known.name))),
        }
    }
}

fn named(route: &Route, position: Position, name: &str) -> Option<&'static Parameter> {
    route.parameters.iter().find(|known| known.position == position && known.name == name)
}

/// Accepts a bare value in place of a list with one element.
fn one_as_list(known: &Parameter, value: Value) -> Value {
    match (known.kind, value) {
        (Kind::Texts(_), value @ (Value::String(_) | Value::Number(_))) => Value::from(vec![value]),
        (_, value) => value,
    }
}

fn fits(kind: Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Anything, _) | (Kind::Flag, Value::Bool(_)) => true,
        (Kind::Text(longest), Value::String(text)) => text.len() <= longest,
        (Kind::Number { least, most }, value) => {
            value.as_i64().is_some_and(|number| (least..=most).contains(&number))
        }
        (Kind::OneOf(names), Value::String(text)) => names.contains(&text.as_str()),
        (Kind::Texts(most), Value::Array(list)) => {
            let is_text = |value: &Value| value.as_str().is_some_and(|text| text.len() <= LONGEST_OF_MANY);
            list.len() <= most && list.iter().all(is_text)
        }
        (Kind::Flag | Kind::Text(_) | Kind::OneOf(_) | Kind::Texts(_), _) => false,
    }
}

/// Refuses an unknown name. Hosts of other products may send more fields than we read.
fn unknown(route: &Route, name: &str) -> Result<(), Refusal> {
    match route.access {
        Access::Events | Access::Host => Ok(()),
        Access::Read | Access::Act | Access::Write => {
            let name: String = name.chars().take(40).collect();
            Err(bad(format!("there is no `{name}` here")).next(see(route)))
        }
    }
}

fn wrong(known: &Parameter) -> Refusal {
    bad(format!("`{}` must be {}", known.name, known.kind.expectation()))
}

fn bad(what: impl Into<String>) -> Refusal {
    Refusal::new(Status::BadRequest, what)
}

fn see(route: &Route) -> String {
    format!("GET /v1/openapi.json says what {} {} takes.", route.verb.name(), route.path)
}

/// The decoded names and values of a query string, in order.
fn pairs(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Some((decoded(name)?, decoded(value)?))
    };
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| pair(part).ok_or_else(|| bad("the query is not well encoded"))).collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

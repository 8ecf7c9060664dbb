//! Generates the OpenAPI description from the route table.
//!
//! States nothing that is not in the table.

use crate::http::table::{Access, Kind, Operation, Parameter, Position, Route, Verb, routes};
use serde_json::{Map, Value, json};

pub fn openapi(version: &str) -> Value {
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.name().to_ascii_lowercase()] = described(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Towline",
            "version": version,
            "description": "What `tow data serve` answers to this machine's user. Every answer is what the verb of the same \
                name prints with --json; lists come in pages by key. Changes need `tow data serve --write` and the header \
                `X-Towline: 1`; going to a seat needs the header, and events need `--write`."
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "What is in serve/token of the data folder"},
                "page": {"type": "apiKey", "in": "cookie", "name": "towline-PORT", "description": "A session that `tow open` begins"},
                "events": {"type": "http", "scheme": "bearer", "description": "What is in serve/events-token of the data folder"}
            },
            "schemas": {
                "Error": {"type": "object", "required": ["error"], "properties": {"error": {
                    "type": "object", "required": ["what", "because", "next"], "properties": {
                        "what": {"type": "string"}, "because": {"type": ["string", "null"]},
                        "next": {"type": ["string", "null"]}}}}},
                "Page": {"type": "object", "required": ["items", "next"], "properties": {
                    "items": {"type": "array"}, "next": {"type": ["string", "null"]}}}
            }
        }
    })
}

fn described(route: &Route) -> Value {
    let outside = route.parameters.iter().filter(|known| position(known).is_some());
    let mut described = json!({
        "operationId": format!("{:?} {}", route.operation, route.path),
        "summary": route.says,
        "parameters": outside.map(parameter).collect::<Vec<_>>(),
        "responses": responses(route),
        "security": security(route.access),
        "x-access": route.access.name(),
    });
    if route.verb != Verb::Get {
        described["requestBody"] = body(route);
    }
    described
}

fn position(known: &Parameter) -> Option<&'static str> {
    match known.position {
        Position::Path => Some("path"),
        Position::Query => Some("query"),
        Position::Body | Position::Payload => None,
    }
}

fn parameter(known: &Parameter) -> Value {
    json!({
        "name": known.name, "in": position(known), "required": known.is_needed, "description": known.says,
        "schema": schema(known.kind),
    })
}

fn schema(kind: Kind) -> Value {
    match kind {
        Kind::Text(longest) => json!({"type": "string", "maxLength": longest}),
        Kind::Number { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::OneOf(names) => json!({"enum": names}),
        Kind::Texts(most) => json!({"type": "array", "items": {"type": "string"}, "maxItems": most}),
        Kind::Anything => json!({}),
    }
}

fn body(route: &Route) -> Value {
    let fields = route.parameters.iter().filter(|known| known.position == Position::Body);
    let whole = route.parameters.iter().any(|known| known.position == Position::Payload);
    let schema = if whole {
        json!({"type": "object"})
    } else {
        let needed: Vec<_> = fields.clone().filter(|known| known.is_needed).map(|known| known.name).collect();
        let properties: Map<String, Value> = fields
            .map(|known| {
                let mut schema = schema(known.kind);
                schema["description"] = known.says.into();
                (known.name.to_owned(), schema)
            })
            .collect();
        json!({"type": "object", "properties": properties, "required": needed})
    };
    json!({"content": {"application/json": {"schema": schema}}})
}

fn responses(route: &Route) -> Value {
    let media = if route.operation == Operation::Stream {
        "text/event-stream"
    } else if route.operation == Operation::HostContext {
        "text/plain"
    } else {
        "application/json"
    };
    let error = json!({"description": "Why not", "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Error"}}}});
    json!({"200": {"description": "The answer", "content": {media: {}}}, "default": error})
}

fn security(access: Access) -> Value {
    match access {
        Access::Read | Access::Act | Access::Write | Access::Host => json!([{"token": []}, {"page": []}]),
        Access::Events => json!([{"events": []}]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_table_is_described_once() {
        let described = openapi("1.2.3");
        let operations =
            described["paths"].as_object().unwrap().values().map(|path| path.as_object().unwrap().len());
        assert_eq!(operations.sum::<usize>(), routes().count());
        assert_eq!(described["paths"]["/v1/search"]["get"]["parameters"][0]["required"], true);
    }
}

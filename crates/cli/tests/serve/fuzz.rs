//! The description is walked with random, extreme and hostile values: whatever is asked, nothing is answered by a fault.

use super::client::send;
use super::world::World;
use serde_json::{Value, json};
use towline_testkit::mutate::Dice;

/// Of each operation.
const ROUNDS: usize = 12;

const HOSTILE: [&str; 22] = [
    "",
    " ",
    "m1",
    "m2",
    "3d256398",
    "3d256398#1",
    "3d256398#2.1",
    "m99999999999999999999",
    "-1",
    "0",
    "9223372036854775807",
    "--json",
    "--match=x",
    "../../etc/passwd",
    "'; drop table memories; --",
    "\u{202e}evil",
    "\u{1b}[31m",
    "\"\\",
    "yesterday",
    "1-1-1-1",
    "1794744000000.1",
    "é漢字🚢",
];

#[test]
fn no_request_by_the_description_is_answered_by_a_fault_of_the_server() {
    let world = World::new(&["--write", "--rate", "100000"]);
    let seed =
        std::env::var("TOWLINE_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_115);
    println!("seed {seed}");
    let mut dice = Dice::new(seed, 0);
    let described = world.get("/v1/openapi.json").is(200).json();
    let mut asked = 0;
    for (path, operations) in described["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            if path == "/v1/stream" {
                continue;
            }
            for round in 0..ROUNDS {
                let request = request(&mut dice, (path, method, operation), round);
                let status = put(&world, &request, operation);
                assert!((200..500).contains(&status), "{status}: {request:?}, seed {seed}");
                asked += 1;
            }
        }
    }
    println!("{asked} requests");
    world.get("/v1/health").is(200);
}

#[derive(Debug)]
struct Request {
    head: String,
    body: Vec<u8>,
}

fn request(dice: &mut Dice, (path, method, operation): (&str, &str, &Value), round: usize) -> Request {
    let (mut path, mut query) = (path.to_owned(), vec![]);
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        let value = encoded(&text(dice, &parameter["schema"]));
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), if value.is_empty() { "m1" } else { &value });
        } else if parameter["required"] == true || dice.below(3) == 0 {
            query.push(format!("{name}={value}"));
        }
    }
    let body = body(dice, &operation["requestBody"], round);
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    Request { head: format!("{} {path}{query}", method.to_uppercase()), body }
}

/// Something that could stand in an address: within the bounds, at them, or beyond.
fn text(dice: &mut Dice, schema: &Value) -> String {
    let hostile = HOSTILE[dice.below(HOSTILE.len())].to_owned();
    match (schema["type"].as_str(), dice.below(4)) {
        (Some("integer"), 0) => schema["maximum"].to_string(),
        (Some("integer"), 1) => schema["minimum"].to_string(),
        (Some("boolean"), 0 | 1) => "true".to_owned(),
        (Some("string"), 0) => "x".repeat(
            usize::try_from(schema["maxLength"].as_u64().unwrap_or(10)).unwrap().min(5_000) + dice.below(2),
        ),
        _ => hostile,
    }
}

fn body(dice: &mut Dice, described: &Value, round: usize) -> Vec<u8> {
    if described.is_null() {
        return vec![];
    }
    let schema = &described["content"]["application/json"]["schema"];
    match round {
        0 => return b"{".to_vec(),
        1 => return b"[[[[]]]]".to_vec(),
        2 => return vec![0xff, 0x00, 0x7b],
        3 => return "[".repeat(5_000).into_bytes(),
        _ => {}
    }
    let mut fields = serde_json::Map::new();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if dice.below(4) > 0 {
            fields.insert(name.clone(), value(dice, schema));
        }
    }
    Value::Object(fields).to_string().into_bytes()
}

fn value(dice: &mut Dice, schema: &Value) -> Value {
    let hostile = HOSTILE[dice.below(HOSTILE.len())];
    match (schema["type"].as_str(), dice.below(6)) {
        (_, 0) => [json!(null), json!(-1), json!(1e300), json!({"a": [{}]}), json!([[]]), json!(false)]
            [dice.below(6)]
        .clone(),
        (Some("array"), _) => json!(vec![hostile; dice.below(5)]),
        (Some("boolean"), _) => json!(true),
        (Some("integer"), _) => schema["maximum"].clone(),
        _ => json!(hostile),
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

fn put(world: &World, request: &Request, operation: &Value) -> u16 {
    let token = if operation["x-access"] == "events" { world.events_token() } else { world.token() };
    let (host, bearer) = (world.host(), format!("Bearer {token}"));
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", &bearer),
        ("X-Towline", "1"),
        ("Content-Type", "application/json"),
    ];
    send(world.server.port, &request.head, &headers, &request.body).status
}

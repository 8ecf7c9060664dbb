//! Every route that reads: its shape, its pages, and that it is what the verb prints.

use super::world::{SESSION, World};
use serde_json::{Value, json};

/// Names and kinds instead of values, so that a snapshot shows the shape; lists by their first row.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("flag"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(list) => list.first().map_or_else(|| json!([]), |first| json!([shape(first)])),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
    }
}

#[test]
fn every_route_answers_in_its_shape() {
    let world = World::new(&[]);
    let turn = format!("{SESSION}%231");
    let paths = [
        "/v1/health".to_owned(),
        "/v1/seats".to_owned(),
        "/v1/sessions".to_owned(),
        format!("/v1/sessions/{SESSION}"),
        format!("/v1/sessions/{SESSION}/turns?limit=1"),
        format!("/v1/turns/{turn}"),
        format!("/v1/details/{SESSION}%232.1"),
        "/v1/memories".to_owned(),
        "/v1/memories/m1".to_owned(),
        "/v1/memories/by-file?path=sail.rs".to_owned(),
        "/v1/summaries".to_owned(),
        "/v1/search?q=mast".to_owned(),
        "/v1/timeline?anchor=m1".to_owned(),
        "/v1/context?project=project".to_owned(),
        "/v1/bookmarks".to_owned(),
        "/v1/jobs".to_owned(),
        "/v1/faults".to_owned(),
        "/v1/projects".to_owned(),
        "/v1/stats".to_owned(),
        "/v1/report".to_owned(),
    ];
    let shapes: Vec<String> = paths
        .iter()
        .map(|path| {
            let answer = world.get(path).is(200);
            assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
            format!("GET {path}\n{}\n", serde_json::to_string_pretty(&shape(&answer.json())).unwrap())
        })
        .collect();
    insta::assert_snapshot!(shapes.join("\n"));
}

#[test]
fn an_answer_is_what_the_verb_prints() {
    let world = World::new(&[]);
    let verb = |words: &[&str]| world.env.tow(words).ok().json();
    assert_eq!(world.get("/v1/seats").json(), verb(&["status", "--json"]));
    assert_eq!(world.get("/v1/memories/m1").json(), verb(&["show", "m1", "--json"]));
    assert_eq!(
        world.get("/v1/memories").json()["items"],
        verb(&["memories", "--all-projects", "--json"])["memories"]
    );
    assert_eq!(world.get("/v1/search?q=mast").json(), verb(&["search", "mast", "--all-projects", "--json"]));
    assert_eq!(world.get("/v1/config").json(), verb(&["config", "--json"]));
    let turns = world.get(&format!("/v1/sessions/{SESSION}/turns")).json();
    assert_eq!(
        turns["items"].as_array().unwrap().len(),
        verb(&["turns", SESSION, "--json"])["turns"].as_array().unwrap().len()
    );
}

/// Follows `next` to the end.
fn pages(world: &World, path: &str) -> Vec<Value> {
    let (mut all, mut key) = (vec![], String::new());
    loop {
        let join = if path.contains('?') { '&' } else { '?' };
        let page = world.get(&format!("{path}{join}limit=1{key}")).is(200).json();
        all.extend(page["items"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => key = format!("&before={}", next.replace('#', "%23")),
            None => return all,
        }
    }
}

#[test]
fn pages_by_key_give_every_row_once() {
    let world = World::new(&[]);
    let ids =
        |rows: &[Value]| rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    for path in ["/v1/memories", "/v1/memories?project=project", "/v1/sessions"] {
        let whole = world.get(path).json();
        assert_eq!(ids(&pages(&world, path)), ids(whole["items"].as_array().unwrap()), "{path}");
    }
    let turns = format!("/v1/sessions/{SESSION}/turns");
    let all = ids(world.get(&turns).json()["items"].as_array().unwrap());
    let mut backwards = ids(&pages(&world, &turns));
    backwards.reverse();
    assert_eq!(backwards, all);
    let after = world.get(&format!("{turns}?after={}&limit=1", all[0].replace('#', "%23"))).json();
    assert_eq!(after["items"][0]["id"], all[1].as_str());
}

#[test]
fn what_is_wrong_is_said_with_the_thing_and_the_next_step() {
    let world = World::new(&[]);
    let cases = [
        ("/v1/memories?limit=0", 400),
        ("/v1/memories?limit=201", 400),
        ("/v1/memories?colour=red", 400),
        ("/v1/memories?limit=1&limit=2", 400),
        ("/v1/search", 400),
        ("/v1/search?q=%ff", 400),
        ("/v1/memories/m99", 404),
        ("/v1/turns/nobody", 404),
        ("/v1/sessions/m1", 404),
        ("/v1/nowhere", 404),
    ];
    for (path, status) in cases {
        let answer = world.get(path).is(status).json();
        assert!(answer["error"]["what"].as_str().is_some_and(|what| !what.is_empty()), "{path}: {answer}");
    }
    world.ask("POST /v1/seats", Some(&json!({}))).is(405);
}

#[test]
fn the_description_in_the_docs_is_the_one_that_is_served() {
    let world = World::new(&[]);
    let served = serde_json::to_string_pretty(&world.get("/v1/openapi.json").is(200).json()).unwrap() + "\n";
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::fs::read_to_string(&file).is_ok_and(|kept| kept == served) {
        return;
    }
    // As with every snapshot: what is new is written beside it, to be looked at and kept.
    std::fs::write(file.with_extension("json.new"), &served).unwrap();
    panic!("docs/openapi.json is not what is served: look at docs/openapi.json.new and put it in its place");
}

//! Long conversations: what is carried over of them is as much as the client takes, a line for each turn while that is
//! possible, and never cut by the client.

use crate::desk::{Client, Desk, Seat, given_once, holds_all, not_asked_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use towline_core::compose::ContextBudget;
use towline_core::id::SessionKey;

const TURNS: u32 = 500;
/// How the lines of a turn begin: in the list, or whole.
const OF_A_TURN: [&str; 5] = ["#", "[#", "Person: ", "Agent: ", "("];
/// A whole turn of these conversations has 350 characters.
const ROOM_OF_A_TURN: usize = 500;

/// Five hundred turns and one more, cleared and asked.
pub fn five_hundred_turns(client: Client) {
    let desk = Desk::with(&[client]);
    let (seat, session) = painted(&desk, client, TURNS);
    seat.clear();
    let request = seat.ask("what was I doing?", [], "painting: yes");
    let text = given_once(&request);
    holds_all(
        &text,
        &[
            "turns: 501.",
            "last of all polish the mast\n",
            "polished mast: shall I go on?\n",
            "Person: coat number 500 of the mast\nAgent: dried mast: The coat is on",
        ],
    );
    assert!(!request.holds("saved to"), "the client cut it");
    check_same(&desk, client, &session, &text);
}

/// Fifty turns, cleared, a thank-you, cleared again: 31 turns had no line and the first directive was gone, and after the
/// thank-you nothing was known of the work.
pub fn fifty_turns_and_a_thank_you(client: Client) {
    let desk = Desk::with(&[client]);
    let (seat, session) = painted(&desk, client, 49);
    seat.clear();
    let request = seat.ask("thanks", [], "welcome aboard the mast");
    let text = given_once(&request);
    let opening = "\ncoat number 1 of the mast\n";
    holds_all(&text, &["turns: 50.", "The first directive (", opening, "\nlast of all polish the mast\n"]);
    let unlisted: Vec<u32> = (1..50).filter(|number| !is_listed(&text, *number)).collect();
    assert_eq!(unlisted, Vec::<u32>::new(), "turns without a line in\n{text}");
    assert!(!text.contains(" earlier: ") && !request.holds("saved to"), "{text}");

    seat.clear();
    let request = seat.ask("what was I doing?", [], "painting: yes");
    let text = given_once(&request);
    let short = session.short();
    holds_all(
        &text,
        &[
            "(cleared in the same pane)",
            &format!("It went on from: {short}.\n"),
            &format!("The first directive of this work ({short}#1, "),
            "\ncoat number 1 of the mast\n",
            &format!("The person's last directive ({short}#50, "),
            "\nlast of all polish the mast\n",
            "\npolished mast: shall I go on?\n",
            "Person: thanks\nAgent: welcome aboard the mast\n",
            &format!("turns: 50: `tow session turns {short}`)"),
        ],
    );
    let listed = (1..=50).filter(|number| is_listed(&text, *number)).count();
    assert!(listed >= 49, "{listed} lines of the session before in\n{text}");
    assert!(!request.holds("saved to"), "the client cut it");
}

/// Whether a turn has a line or is given whole.
fn is_listed(text: &str, number: u32) -> bool {
    let heads = [format!("#{number} "), format!("[#{number} ")];
    text.lines().any(|line| heads.iter().any(|head| line.starts_with(head)))
}

/// One real turn, written down again and again in the client's own file with other names; then resumed and asked once more.
fn painted(desk: &Desk, client: Client, turns: u32) -> (Seat<'_>, SessionKey) {
    let seat = desk.sit(client);
    let answer = "The coat is on, and it took longer than the last one did. ".repeat(4);
    let paint = client.runs("echo a coat of paint");
    seat.ask("coat number 1 of the mast", [paint], &format!("dried mast: {answer}"));
    let session = desk.first_session();
    wait_turns(desk, &session, 1);
    seat.leave();
    multiply(&desk.transcript(&session), turns - 1);

    let seat = desk.resume(client, &session);
    seat.ask("last of all polish the mast", [], "polished mast: shall I go on?");
    wait_turns(desk, &session, turns + 1);
    (seat, session)
}

/// What `tow context` shows of the session is what was given of it, but for the words on how it came there. Those take room:
/// a turn that is whole in one may be a line in the other, which then has room for more lines of older turns.
#[track_caller]
fn check_same(desk: &Desk, client: Client, session: &SessionKey, text: &str) {
    let shown = desk.env.tow(&["context", session.id.as_str()]).ok().stdout;
    let shown = shown.trim_end().trim_end_matches("</towline-context>");
    let [given, shown] = [text, shown].map(|text| -> Vec<&str> {
        let below = text.lines().skip_while(|line| !line.starts_with("The person goes on"));
        below.filter(|line| !line.contains(" earlier: ")).collect()
    });
    for (these, those) in [(&given, &shown), (&shown, &given)] {
        let only: Vec<&&str> = these.iter().filter(|line| !those.contains(line)).collect();
        let is_of_a_turn = |line: &str| OF_A_TURN.iter().any(|opening| line.starts_with(opening));
        assert!(only.iter().all(|line| is_of_a_turn(line)), "{only:?}");
        let room: usize = only.iter().map(|line| line.len() + 1).sum();
        assert!(room <= ROOM_OF_A_TURN, "{room}: {only:?}");
    }
    let whole = format!("<towline-context>\n{text}</towline-context>\n");
    let budget = match client {
        Client::Claude(_) => ContextBudget::Characters(9_500),
        Client::Codex(_) => ContextBudget::Tokens(2_400),
        Client::Other(program) => not_asked_of(program),
    };
    let size = budget.size_of(&whole);
    assert!(budget.holds(&whole) && size * 10 > budget.limit() * 9, "{size} of {budget:?}");
}

#[track_caller]
fn wait_turns(desk: &Desk, session: &SessionKey, turns: u32) {
    desk.wait_captured(&format!("{turns} turns"), |archive| {
        let found = archive.conversation(session).unwrap().map_or(0, |conversation| conversation.turns);
        if found == turns { Ok(()) } else { Err(format!("{found} turns")) }
    });
}

/// Appends as many copies of the last turn in the file, each a turn of its own to whoever reads it.
fn multiply(path: &Path, copies: u32) {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let turn: Vec<&Value> =
        lines[lines.iter().rposition(begins_turn).unwrap()..].iter().filter(is_said).collect();
    let mut names = BTreeSet::new();
    turn.iter().for_each(|line| own_names(line, &mut names));
    let mut last = last_name(&lines);
    let mut all = String::new();
    for copy in 1..=copies {
        for (at, line) in turn.iter().enumerate() {
            let mut line = renamed(line, &names, copy);
            if at == 0 && line.get("parentUuid").is_some() {
                line["parentUuid"] = json!(last);
            }
            if line.get("ordinal").is_some() {
                line["ordinal"] = json!(lines.len() + (copy as usize - 1) * turn.len() + at);
            }
            last = line["uuid"].as_str().map_or(last, str::to_owned);
            all.push_str(&format!("{line}\n"));
        }
    }
    fs::write(path, text + &all).unwrap();
}

/// Where the last turn begins: with its prompt, or with the entry that says so.
fn begins_turn(line: &Value) -> bool {
    let said = line["message"]["content"].as_str().unwrap_or_default();
    let is_prompt = line["type"] == "user" && said.contains("coat number");
    is_prompt || line["payload"]["type"] == "task_started"
}

/// What belongs to the conversation, and not to the client's own books.
fn is_said(line: &&Value) -> bool {
    line.get("ordinal").is_some() || line.get("uuid").is_some()
}

fn last_name(lines: &[Value]) -> String {
    lines.iter().rev().find_map(|line| line["uuid"].as_str()).unwrap_or_default().to_owned()
}

/// What the entries of the turn are called, and what they call each other.
fn own_names(value: &Value, names: &mut BTreeSet<String>) {
    const KEYS: [&str; 9] = [
        "uuid",
        "promptId",
        "id",
        "requestId",
        "tool_use_id",
        "toolUseID",
        "turn_id",
        "call_id",
        "response_id",
    ];
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if let (true, Some(name)) =
                    (KEYS.contains(&key.as_str()), field.as_str().filter(|it| it.len() > 20))
                {
                    names.insert(name.to_owned());
                }
                own_names(field, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| own_names(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The same entry of another turn.
fn renamed(line: &Value, names: &BTreeSet<String>, copy: u32) -> Value {
    let mut text = line.to_string();
    for name in names {
        let (head, tail) = (&name[..name.len() - 12], &name[name.len() - 6..]);
        text = text.replace(name, &format!("{head}{copy:06x}{tail}"));
    }
    let text = text.replace("coat number 1 of", &format!("coat number {} of", copy + 1));
    serde_json::from_str(&text).unwrap()
}

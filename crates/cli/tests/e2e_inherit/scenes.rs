//! What is done with one client: the same for each of them.

use crate::desk::{Client, Desk, Seat, given, given_once, holds_all};
use crate::kept;
use crate::world::{World, serve};
use serde_json::{Value, json};
use towline_store::DataFolder;
use towline_store::lock::ProjectionLock;
use towline_testkit::{Claude, Gate, McpClient, Request, Rule, Step, wait};

/// Work, clear, next prompt.
pub fn cleared(client: Client) {
    cleared_at(&Desk::with(&[client]), client);
}

/// The same with a model to which the client tells what hooks say in another way.
pub fn cleared_with_an_older_model(client: Client) {
    let desk = Desk::with(&[client]);
    Claude::edit_settings(&desk.env, |settings| settings["model"] = json!("claude-sonnet-4-5"));
    cleared_at(&desk, client);
    let is_reminded =
        |request: &Request| request.holds("<system-reminder>\nUserPromptSubmit hook additional context");
    assert!(desk.model.requests().iter().any(is_reminded), "it is told as it always was");
}

fn cleared_at(desk: &Desk, client: Client) {
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.clear();
    let text = given_once(&seat.ask("what was I doing?", [], "painting: yes"));
    holds_all(
        &text,
        &[
            " (cleared in the same pane): project project, branch main, ",
            "The person's last directive",
            "now paint the mast\n",
            "The agent's last answer",
            "painted mast: shall I go on?\n",
            "Person: first measure the mast\nAgent: measured mast: four\n",
            "Person: then look at the mast\nAgent: looked at mast: fine\n",
        ],
    );
    let next = seat.ask("and what else?", [], "nothing: no");
    assert_eq!(given(&next), [text], "it stays where it was given, and is not given again");
    assert_eq!(desk.ways(), ["clear"]);
    kept::check_heir(desk, &["what was I doing?", "and what else?"]);
}

/// Cleared in the middle of a to-do list: the heir's first request names the next open item, once.
pub fn cleared_within_a_list(client: Client) {
    cleared_within_a_list_at(&Desk::with(&[client]), client);
}

/// The same with a model that the client still gives its tools for tasks.
pub fn cleared_within_a_list_with_an_older_model(client: Client) {
    let desk = Desk::with(&[client]);
    Claude::edit_settings(&desk.env, |settings| settings["model"] = json!("claude-sonnet-4-5"));
    cleared_within_a_list_at(&desk, client);
}

fn cleared_within_a_list_at(desk: &Desk, client: Client) {
    let seat = desk.sit(client);
    let plan = client.plans(["sand the mast", "oil the mast", "varnish the mast"]);
    seat.ask("first plan the mast", plan, "planned mast: three things");
    seat.clear();
    let text = given_once(&seat.ask("what is next?", [], "oiling: yes"));
    let list = "(1 of 3 done), open items:\n- oil the mast (in progress)\n- varnish the mast\n";
    holds_all(&text, &[list]);
    assert_eq!(text.matches("oil the mast").count(), 1, "{text}");
    assert!(!text.contains("sand the mast"), "what is done is not to do: {text}");
}

/// A private turn between two others: no byte of it is kept, and no request of the next session holds any.
pub fn private(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.ask("first measure the mast", [], "measured mast: four");
    desk.model.add(Rule::when("ask about quicksilver").then(Step::text("told of quicksilver")));
    let mut steps = client.delegates("ask about quicksilver");
    steps.push(client.runs("echo quicksilver of the mast"));
    seat.ask("<private>weigh the quicksilver mast</private>", steps, "quicksilver mast: heavy");
    assert!(desk.model.requests().iter().any(|request| request.prompt.contains("ask about quicksilver")));
    seat.ask("now paint the mast", [], "painted mast: shall I go on?");
    seat.clear();
    let before = desk.model.requests().len();
    let text = given_once(&seat.ask("what was I doing?", [], "painting: yes"));
    holds_all(&text, &["now paint the mast\n", "first measure the mast"]);
    seat.leave();
    desk.wait_no_child();
    assert!(desk.keeps("now paint the mast") && !desk.keeps("quicksilver"));
    let exported = desk.env.tow(&["export", "--all-projects"]).ok().stdout;
    assert!(exported.contains("measured mast: four") && !exported.contains("quicksilver"), "{exported}");
    let later = desk.model.requests().split_off(before);
    assert!(!later.is_empty() && !later.iter().any(|request| request.holds("quicksilver")));
}

/// Two panes in one project, cleared in turn and asked in the other order.
pub fn two_seats(client: Client) {
    let desk = Desk::with(&[client]);
    let (left, right) = (desk.sit(client), desk.sit(client));
    left.work_on("mast");
    right.work_on("keel");
    left.clear();
    right.clear();
    let of_right = given_once(&right.ask("on the right again", [], "right: back"));
    let of_left = given_once(&left.ask("on the left again", [], "left: back"));
    holds_all(&of_right, &["now paint the keel\n", "looked at keel: fine"]);
    holds_all(&of_left, &["now paint the mast\n", "looked at mast: fine"]);
    assert!(!of_right.contains("mast") && !of_left.contains("keel"), "{of_right}\n{of_left}");
    assert_eq!(desk.ways(), ["clear", "clear"]);
}

/// A session that works in a pane: who asks elsewhere for the context of a new session, by the verb, as a host without hooks
/// or as a model, gets what is remembered and none of its work until it passes the baton.
pub fn live_elsewhere(client: Client) {
    const OURS: &str = "The person goes on with that work here";
    let desk = Desk::with(&[client]);
    desk.env.tow(&["remember", "--type=decision", "The rudder is of teak"]).ok();
    let seat = desk.sit(client);
    seat.work_on("mast");
    desk.wait_captured("the turns", |archive| {
        let turns = desk.conversations(archive).first().map_or(0, |conversation| conversation.turns);
        if turns == 3 { Ok(()) } else { Err(format!("{turns} turns")) }
    });
    let world = World { server: serve(&desk.env, &[]), env: desk.env.clone() };
    let asked = || {
        let project = desk.env.project().display().to_string();
        let injected = world.get(&format!("/api/context/inject?project={project}")).is(200).body;
        [
            injected,
            world.get(&format!("/v1/context?project={project}")).is(200).body,
            desk.env.tow(&["context"]).ok().stdout,
            McpClient::new(&desk.env).call("context", &json!({})),
        ]
    };
    let short = desk.first_session().short().to_owned();
    let prompts = ["first measure the mast", "then look at the mast", "now paint the mast"];
    let answers = ["measured mast: four", "looked at mast: fine"];
    for text in asked() {
        assert!(text.contains("The rudder is of teak"), "{text}");
        let work = [&prompts[..], &answers, &[OURS, "Carried over by", short.as_str()]].concat();
        let found: Vec<&str> = work.into_iter().filter(|part| text.contains(part)).collect();
        assert!(found.is_empty(), "{found:?} in {text}");
    }
    seat.own_command("");
    for text in asked() {
        holds_all(&text, &[OURS, "now paint the mast", "looked at mast: fine", "The rudder is of teak"]);
    }
}

/// Turns that were taken back before a clear: the whole conversation, by going back to its first prompt, and the last two of
/// the one that followed.
pub fn rewound(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    if client.tells_of_a_new_beginning() {
        seat.ask("first tar the keel", [], "tarred keel: badly");
        seat.ask("then tar it again", [], "tarred keel again: badly");
        seat.rewind(2, "first tar the keel");
    }
    seat.work_on("mast");
    seat.rewind(2, "then look at the mast");
    seat.ask("now oil the mast", [], "oiled mast: shall I go on?");
    seat.clear();
    let text = given_once(&seat.ask("what was I doing?", [], "oiling: yes"));
    holds_all(
        &text,
        &["turns: 2.", "first measure the mast", "now oil the mast\n", "oiled mast: shall I go on?"],
    );
    let gone = ["keel", "tarred", "look at the mast", "looked at mast", "output of mast", "paint"];
    let found: Vec<&str> = gone.into_iter().filter(|part| text.contains(part)).collect();
    assert!(found.is_empty(), "{found:?} was taken back: {text}");
    assert_eq!(desk.ways(), ["clear"]);
}

/// A prompt whose context did not come in time, as somebody held the lock: the user reads it on the screen, and the next
/// prompt carries it.
pub fn late(client: Client) {
    let desk = Desk::with(&[client]);
    desk.env.keep_usual_limits();
    let seat = desk.sit(client);
    seat.ask("now paint the mast", [], "painted mast: shall I go on?");
    desk.first_session();
    seat.clear();
    let home = DataFolder::at(desk.env.data_dir());
    let lock = wait::until("the lock", wait::PATIENCE, || ProjectionLock::try_take(&home).unwrap());
    let first = seat.ask("what was I doing?", [], "asking: yes");
    assert_eq!(given(&first), Vec::<String>::new());
    let is_told = |screen: &str| one_line(screen).contains("Your next prompt carries it.");
    seat.pane.wait_screen_for("what did not come", is_told);
    drop(lock);
    let text = given_once(&seat.ask("and what now?", [], "painting: yes"));
    holds_all(&text, &["now paint the mast\n", "painted mast: shall I go on?\n"]);
}

/// A screen without the client's line breaks.
fn one_line(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Installed from a folder whose name a shell would take apart: the commands that the model is given work, and the user is
/// told of the viewer once.
pub fn odd_path(client: Client) {
    let desk = Desk::with_program(&[client], "it's a \"$folder\", é");
    Claude::edit_settings(&desk.env, |settings| settings["permissions"]["allow"] = json!(["Bash"]));
    desk.env.tow(&["remember", "--type=decision", "The rudder is of teak"]).ok();
    let seat = desk.sit(client);
    let mentions =
        || one_line(&seat.pane.screen()).matches("`tow open` shows all of it in a browser").count();
    seat.ask("first measure the mast", [], "measured mast: four");
    assert_eq!(mentions(), 1, "{}", seat.pane.screen());
    seat.ask("now paint the mast", [], "painted mast: shall I go on?");
    assert_eq!(mentions(), 1, "{}", seat.pane.screen());
    seat.clear();
    let text = given_once(&seat.ask("what was I doing?", [], "painting: yes"));
    assert_eq!(mentions(), 0, "{}", seat.pane.screen());
    let short = desk.first_session().short().to_owned();
    let of_session = |part: &&str| part.contains("folder") && part.contains(&short);
    let commands: Vec<&str> = text.split('`').filter(of_session).collect();
    assert!(commands.len() >= 2, "{text}");
    for (number, command) in commands.iter().enumerate() {
        let command = command.replace("#N", "#1");
        let prompt = format!("look it up for the {number}. time");
        let answer = format!("looked up: {number}");
        seat.ask(&prompt, [client.runs(&command)], &answer);
        let is_it = |request: &Request| request.prompt.contains(&prompt) && request.step == 1;
        let request = desk.model.wait_request("the output", is_it);
        let messages = request.body["messages"].as_array().unwrap().iter();
        let blocks = messages.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let mut outputs = blocks.filter(|block| block["type"] == "tool_result");
        let output = outputs.next_back().unwrap().to_string();
        assert!(output.contains("measure the mast"), "{command}: {output}");
    }
}

/// One session in two panes: each goes on with what it showed last, whichever is cleared first.
pub fn resumed_twice(client: Client) {
    let desk = Desk::with(&[client]);
    let left = desk.sit(client);
    left.ask("first measure the mast", [], "measured mast: four");
    let right = desk.resume(client, &desk.first_session());
    left.ask("now paint the left mast", [], "painted left mast: done");
    right.ask("now caulk the right keel", [], "caulked right keel: done");
    left.ask("and varnish the left mast", [], "varnished left mast: shall I go on?");
    right.ask("and tar the right keel", [], "tarred right keel: shall I go on?");
    let shown = |desk: &Desk| -> Vec<(String, String)> {
        let word = |seat: &Value, name: &str| seat[name].as_str().unwrap_or_default().to_owned();
        let mut panes: Vec<_> =
            desk.env.seats().iter().map(|seat| (word(seat, "pane"), word(seat, "session"))).collect();
        panes.sort();
        panes
    };
    let session = desk.first_session().to_string();
    let both = [&left, &right].map(|seat| (seat.pane.id.clone(), session.clone()));
    assert_eq!(shown(&desk), both);

    left.clear();
    let of_left = given_once(&left.ask("what was on the left?", [], "left: back"));
    holds_all(&of_left, &["varnish the left mast", "painted left mast", "first measure the mast"]);
    assert_eq!(shown(&desk)[1], both[1], "the other pane still shows it");
    right.clear();
    let of_right = given_once(&right.ask("what was on the right?", [], "right: back"));
    holds_all(&of_right, &["tar the right keel", "caulked right keel", "first measure the mast"]);
    assert!(!of_left.contains("keel") && !of_right.contains("left mast"), "{of_left}\n{of_right}");
    assert_eq!(desk.ways(), ["clear", "clear"]);
}

/// Starts that nobody asks anything of: cleared again, opened beside it, opened in its place.
pub fn ghosts(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.clear();
    if let Client::Claude(_) = client {
        // The other one tells of a session when something is asked of it.
        seat.clear();
    }
    desk.sit(client).leave();
    let heir = given_once(&seat.ask("what was I doing?", [], "painting: yes"));
    holds_all(&heir, &["now paint the mast\n"]);

    seat.own_command("");
    seat.leave();
    seat.return_to(client).leave();
    let last = given_once(&seat.return_to(client).ask("and after a ghost?", [], "still: here"));
    holds_all(&last, &["(it passed the baton)", ":\nwhat was I doing?\n", ":\npainting: yes\n"]);
    assert_eq!(desk.ways(), ["clear", "baton"]);
}

/// A wish for a fresh start: typed before a clear, and by the verb in the shell after the baton was passed.
pub fn afresh(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.own_command(" fresh");
    seat.clear();
    check_nothing(&seat, "something else");

    seat.own_command("");
    seat.leave();
    seat.shell("tow fresh");
    seat.pane.wait_screen("starts afresh");
    seat.wipe();
    check_nothing(&seat.return_to(client), "and else again");
    assert_eq!(desk.ways(), ["fresh", "fresh"]);
}

/// A baton that waited for longer than an hour, by the clock of the hooks.
pub fn too_late(client: Client) {
    let desk = Desk::with(&[client]);
    // What was left to do would be remembered, whoever asks.
    desk.env.tow(&["config", "set", "memory.give", "false"]).ok();
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.own_command("");
    seat.leave();
    seat.shell("export TOWLINE_NOW=$(( ($(date +%s) + 3700) * 1000 ))");
    seat.wipe();
    check_nothing(&seat.return_to(client), "much later");
    assert_eq!(desk.ways(), ["none"]);
    desk.env.tow(&["inherit", "log"]).ok().prints("had expired");
}

#[track_caller]
fn check_nothing(seat: &Seat<'_>, prompt: &str) {
    let request = seat.ask(prompt, [], &format!("done: {}", prompt.len()));
    assert_eq!(given(&request), Vec::<String>::new());
    assert!(!request.holds("mast"), "{:#}", request.body);
}

/// What a compaction takes away is offered back with the next prompt.
pub fn compacted(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.compact();
    let text = given_once(&seat.ask("what is left of it?", [], "lines: three"));
    holds_all(
        &text,
        &["This conversation was compacted.", "turns: 3.", "first measure the mast", "now paint the mast"],
    );
    let next = seat.ask("and what else?", [], "nothing: no");
    assert_eq!(given(&next), [text]);
}

/// A turn that was stopped by a key, of which no end is told: it is still where the work stood.
pub fn interrupted(client: Client) {
    let desk = Desk::with(&[client]);
    let seat = desk.sit(client);
    seat.work_on("mast");
    let gate = Gate::shut();
    desk.model.add(
        Rule::when("tell me of the keel").then(Step::text("begun\n\nand never ended").pausing_at(&gate)),
    );
    seat.pane.say("tell me of the keel");
    seat.pane.wait_screen("begun");
    seat.pane.keys(&["Escape"]);
    seat.pane.wait_screen_for("the interruption", |screen| screen.to_lowercase().contains("interrupted"));
    client.wait_idle(&seat.pane);
    seat.clear();
    let text = given_once(&seat.ask("what was I doing?", [], "asking: yes"));
    holds_all(
        &text,
        &["tell me of the keel\n", "(interrupted by the person)\n", "painted mast: shall I go on?"],
    );
}

/// A project that the user excluded.
pub fn excluded(client: Client) {
    let desk = Desk::with(&[client]);
    let project = desk.env.project().display().to_string();
    desk.env.tow(&["config", "set", "privacy.exclude_projects", &format!("[\"{project}\"]")]).ok();
    let seat = desk.sit(client);
    seat.work_on("mast");
    seat.pane.say("/clear");
    seat.pane.wait_screen_for("a cleared screen", |screen| !screen.contains("mast"));
    client.wait_idle(&seat.pane);
    check_nothing(&seat, "what was I doing?");
    seat.leave();
    desk.wait_no_child();
    assert!(desk.archive().is_none() && desk.sessions() == 0);
    for word in ["mast", "what was I doing", &project] {
        assert!(!desk.keeps(word), "{word} is kept");
    }
}

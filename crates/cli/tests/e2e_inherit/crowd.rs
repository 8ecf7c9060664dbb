//! A crowd of real clients that are cleared and prompted at the same moment, with the limits on waiting that a user has.

use crate::desk::{Client, Desk, SIX, Seat, given};
use std::fs;
use towline_testkit::{Claude, Daemon, Pane, Request, Rule, Step};

const CLAUDE: Client = Client::Claude(Claude::V2_1_325);
const CODEX: Client = Client::Codex(Daemon::Off);

/// How many clients: `TOWLINE_CLEARED` asks for more than a suite has time for, and for three rounds.
#[expect(clippy::disallowed_methods, reason = "a campaign asks for more by a variable")]
fn asked_or(few: usize) -> (usize, usize) {
    let clients = std::env::var("TOWLINE_CLEARED").ok().and_then(|clients| clients.parse().ok());
    clients.map_or((few, 1), |clients| (clients, 3))
}

#[test]
fn a_crowd_of_clients_that_are_cleared_at_once_each_get_their_own_work_with_the_first_prompt() {
    let (count, rounds) = asked_or(8);
    let codex = (count / 4).max(2);
    cleared_at_once(
        &[CLAUDE, CODEX],
        rounds,
        (0..count).map(|number| if number < codex { CODEX } else { CLAUDE }),
    );
}

#[test]
fn a_crowd_of_six_agents_that_are_cleared_at_once_each_get_their_own_work_with_the_first_prompt() {
    let (count, rounds) = asked_or(SIX.len());
    cleared_at_once(&SIX, rounds, SIX.into_iter().cycle().take(count));
}

#[expect(clippy::print_stdout, reason = "says what the figures were")]
fn cleared_at_once(kinds: &[Client], rounds: usize, clients: impl Iterator<Item = Client>) {
    let desk = Desk::with(kinds);
    desk.env.keep_usual_limits();
    let crowd = Crowd { seats: clients.map(|client| desk.sit(client)).collect() };
    let count = crowd.seats.len();
    for round in 1..=rounds {
        crowd.work(round);
        crowd.clear();
        let prompts: Vec<String> = (0..count).map(|number| prompt(round, number)).collect();
        crowd.say(&prompts);
        let load = fs::read_to_string("/proc/loadavg").unwrap();
        let requests = crowd.requests(&prompts);
        let has = |request: &Request, owner: usize| request.holds(&thing(round, owner));
        let own = (0..count).filter(|&number| has(&requests[number], number)).count();
        let gets_others =
            |&number: &usize| (0..count).any(|owner| owner != number && has(&requests[number], owner));
        let others = (0..count).filter(gets_others).count();
        let load = load.split(' ').next().unwrap();
        println!(
            "round {round}: {own} of {count} with the first prompt, {others} got another's, load average {load}"
        );
        let all =
            || requests.iter().zip(&crowd.seats).map(|(request, seat)| (seat.client.agent(), given(request)));
        assert_eq!((own, others), (count, 0), "{:#?}", all().collect::<Vec<_>>());
    }
}

fn thing(round: usize, number: usize) -> String {
    format!("mast-{round}-{number:02}")
}

fn prompt(round: usize, number: usize) -> String {
    format!("what was I doing as {number:02} of {round}?")
}

struct Crowd<'d> {
    seats: Vec<Seat<'d>>,
}

impl Crowd<'_> {
    /// One turn of each, about a thing of its own.
    fn work(&self, round: usize) {
        let things: Vec<String> = (0..self.seats.len()).map(|number| thing(round, number)).collect();
        let answers: Vec<String> = things.iter().map(|thing| format!("painted {thing}: done")).collect();
        let prompts: Vec<String> = things.iter().map(|thing| format!("now paint the {thing}")).collect();
        for (prompt, answer) in prompts.iter().zip(&answers) {
            self.desk().model.add(Rule::when(prompt).then(Step::text(answer)));
        }
        self.say(&prompts);
        for (seat, answer) in self.seats.iter().zip(&answers) {
            seat.pane.wait_screen(answer);
            seat.client.wait_idle(&seat.pane);
        }
    }

    fn clear(&self) {
        let commands: Vec<String> = self.seats.iter().map(|seat| seat.client.clear().to_owned()).collect();
        self.say(&commands);
        for seat in &self.seats {
            seat.pane.wait_screen_for("a cleared screen", |screen| !screen.contains("mast"));
            seat.client.wait_idle(&seat.pane);
        }
    }

    /// Writes each text into its client's input line, then presses all Enter keys in one call.
    fn say(&self, texts: &[String]) {
        let count = |screen: &str, text: &str| screen.matches(text).count();
        for (seat, text) in self.seats.iter().zip(texts) {
            let before = count(&seat.pane.screen(), text);
            seat.pane.paste(text);
            seat.pane.wait_screen_for(text, |screen| count(screen, text) > before);
        }
        Pane::wait_paste();
        let press = |seat: &Seat<'_>| ["send-keys", "-t", &seat.pane.id, "Enter", ";"].map(str::to_owned);
        let keys: Vec<String> = self.seats.iter().flat_map(press).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        self.desk().tmux.run(&keys[..keys.len() - 1]);
    }

    /// The first request with each prompt.
    fn requests(&self, prompts: &[String]) -> Vec<Request> {
        let requests = prompts.iter().map(|prompt| self.desk().first_request(prompt)).collect();
        self.seats.iter().for_each(|seat| seat.client.wait_idle(&seat.pane));
        requests
    }

    fn desk(&self) -> &Desk {
        self.seats[0].desk
    }
}

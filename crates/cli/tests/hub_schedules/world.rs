//! The machines, the hub between them, and what chance does to both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use towline_testkit::{Cut, Postgres, TestEnv, wait};

const PASSWORD: &str = "correct horse battery staple";
const DATABASE: &str = "towline";
const HOUR_MS: i64 = 3_600_000;
const BEGINNING_MS: i64 = 1_794_708_800_000;

/// Numbers by chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}

/// A machine of somebody, with a way to the hub that can be cut.
struct Machine {
    env: TestEnv,
    way: Cut,
    clock_ms: i64,
}

/// How far each clock is off.
const CLOCKS_MS: [i64; 3] = [0, HOUR_MS, -HOUR_MS];
const PEOPLE: [&str; 3] = ["ann", "ann", "bob"];

pub struct World {
    hub: Postgres,
    machines: Vec<Machine>,
    /// What was done, for who looks into a failure.
    told: Vec<String>,
    /// The word of each memory that was ever made.
    made: BTreeSet<String>,
    forgotten: BTreeSet<String>,
    kills: usize,
    exchanges: usize,
}

impl World {
    pub fn new() -> World {
        let hub = Postgres::debian_durable();
        hub.create_login("ann", PASSWORD, DATABASE);
        hub.create_login("bob", PASSWORD, DATABASE);
        let machines = (0..3).map(|number| machine(&hub, number)).collect();
        let mut world = World {
            hub,
            machines,
            told: vec![],
            made: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            kills: 0,
            exchanges: 0,
        };
        world.set_up();
        world
    }

    fn set_up(&mut self) {
        let url =
            |person: &str, way: &Cut| format!("postgres://{person}@localhost:{}/{DATABASE}", way.port());
        let ca = self.hub.ca().display().to_string();
        let first = &self.machines[0];
        let owner = url("ann", &first.way);
        first.env.tow(&["hub", "init", &owner, "--ca", &ca, "--team", "crew", "--as", "ann"]).ok();
        for (number, machine) in self.machines.iter().enumerate() {
            let (url, name) = (url(PEOPLE[number], &machine.way), format!("machine-{number}"));
            if number == 2 {
                first.env.tow(&["hub", "members", "add", "bob", "--role", "bob"]).ok();
            }
            machine.env.tow(&["hub", "join", &url, "--team", "crew", "--ca", &ca, "--machine", &name]).ok();
            machine
                .env
                .tow(&["remember", "--type", "discovery", &format!("harbour{number} is where it begins")])
                .ok();
            machine.env.tow(&["hub", "share", ".", "--as", "app"]).ok();
        }
    }

    /// One schedule: chance first, then peace, then the same everywhere.
    pub fn play(&mut self, seed: u64, steps: usize) {
        let mut chance = Chance(seed);
        self.told.clear();
        for step in 0..steps {
            let machine = chance.below(self.machines.len());
            self.step(&mut chance, (seed, step), machine);
        }
        self.make_peace();
        self.all_agree();
        self.nothing_is_left_of_what_was_forgotten();
    }

    fn step(&mut self, chance: &mut Chance, (seed, step): (u64, usize), machine: usize) {
        self.machines[machine].clock_ms += 1 + i64::try_from(chance.below(60_000)).unwrap();
        let word = format!("w{seed}x{step}z");
        match chance.below(20) {
            0..4 => self.remember(machine, &word),
            4..7 => self.edit(chance, machine, &word),
            7..9 => self.change(chance, machine, &["pin"]),
            9 => self.change(chance, machine, &["pin", "--off"]),
            10 => self.supersede(chance, machine),
            11 => self.forget(chance, machine),
            12..16 => self.exchange(machine),
            16 => self.exchange_killed(chance, machine),
            17 => self.say(machine, "is cut off", |it| it.way.cut()),
            18 => self.say(machine, "is connected", |it| it.way.heal()),
            _ => self.restart_hub(chance),
        }
    }

    fn say(&mut self, machine: usize, what: &str, act: impl FnOnce(&Machine)) {
        self.told.push(format!("machine {machine} {what}"));
        act(&self.machines[machine]);
    }

    fn tow(&mut self, machine: usize, arguments: &[&str]) -> towline_testkit::Run {
        let it = &self.machines[machine];
        it.env.set_now(it.clock_ms);
        let began = Instant::now();
        let run = it.env.tow(arguments);
        let (took, code) = (began.elapsed().as_millis(), run.status.code());
        let told =
            format!("machine {machine}: tow {} → {code:?} in {took} ms {}", arguments.join(" "), run.stderr);
        self.told.push(told.trim_end().to_owned());
        run
    }

    fn remember(&mut self, machine: usize, word: &str) {
        let text = format!("{word} and {word}a belong to {word}b");
        self.tow(machine, &["remember", "--type", "discovery", &text]).ok();
        self.made.insert(word.to_owned());
    }

    /// The names that this machine has for what its person made, with their words. Changes of a teammate's memories stay on
    /// the machine.
    fn known(&mut self, machine: usize) -> Vec<(String, String)> {
        let listed = self.tow(machine, &["memories", "--all", "--limit", "500", "--json"]).ok().json();
        let rows = listed["memories"].as_array().unwrap().clone();
        let own = rows.iter().filter(|row| row["person"].is_null());
        own.map(|row| (text(&row["id"]), text(&row["title"]))).collect()
    }

    fn edit(&mut self, chance: &mut Chance, machine: usize, word: &str) {
        let known = self.known(machine);
        if let Some((name, title)) = chance.of(&known) {
            let of = title.split_whitespace().next().unwrap_or("").to_owned();
            self.tow(machine, &["edit", name, "--title", &format!("{of} was edited to {word}")]).ok();
        }
    }

    fn change(&mut self, chance: &mut Chance, machine: usize, words: &[&str]) {
        let known = self.known(machine);
        if let Some((name, _)) = chance.of(&known) {
            let arguments: Vec<&str> = words.iter().copied().chain([name.as_str()]).collect();
            self.tow(machine, &arguments);
        }
    }

    fn supersede(&mut self, chance: &mut Chance, machine: usize) {
        let known = self.known(machine);
        if let (Some((one, _)), Some((other, _))) = (chance.of(&known).cloned(), chance.of(&known).cloned())
            && one != other
        {
            // One that no longer holds is refused.
            self.tow(machine, &["supersede", &one, "--by", &other, "--because", "it moved"]);
        }
    }

    fn forget(&mut self, chance: &mut Chance, machine: usize) {
        let known = self.known(machine);
        let Some((name, title)) = chance.of(&known) else { return };
        let word = title.split_whitespace().next().unwrap_or("").to_owned();
        self.tow(machine, &["forget", name, "--yes"]).ok();
        self.forgotten.insert(word);
    }

    /// Whether it came through depends on the way.
    fn exchange(&mut self, machine: usize) {
        self.exchanges += 1;
        self.tow(machine, &["hub", "sync"]);
    }

    fn exchange_killed(&mut self, chance: &mut Chance, machine: usize) {
        let it = &self.machines[machine];
        it.env.set_now(it.clock_ms);
        let mut command = it.env.command(env!("CARGO_BIN_EXE_tow"));
        let mut child = quiet(&mut command).args(["hub", "sync"]).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(chance.next() % 150);
        wait::holds_within(Duration::from_millis(200), || Instant::now() >= until);
        child.kill().unwrap();
        child.wait().unwrap();
        self.kills += 1;
        self.told.push(format!("machine {machine}: an exchange was killed"));
    }

    fn restart_hub(&mut self, chance: &mut Chance) {
        if chance.below(3) > 0 {
            return;
        }
        self.told.push("the hub was killed".into());
        self.hub.kill();
        self.hub.start_again();
    }

    /// All ways are open; everybody exchanges until nothing is new for anybody.
    fn make_peace(&mut self) {
        for machine in 0..self.machines.len() {
            self.say(machine, "is connected", |it| it.way.heal());
        }
        for _ in 0..2 {
            for machine in 0..self.machines.len() {
                self.machines[machine].clock_ms += HOUR_MS;
                self.tow(machine, &["hub", "sync"]).ok();
            }
        }
    }

    fn all_agree(&mut self) {
        let states: Vec<BTreeMap<String, Value>> = (0..3).map(|machine| self.state(machine)).collect();
        for state in &states[1..] {
            assert_eq!(&states[0], state, "two machines tell it differently");
        }
        let words: Vec<String> = states[0].values().map(|row| first_word(&row["title"])).collect();
        let once: BTreeSet<&String> = words.iter().collect();
        assert_eq!(once.len(), words.len(), "something is there twice: {words:?}");
        for word in self.made.difference(&self.forgotten) {
            assert!(once.contains(word), "`{word}` was lost");
        }
        for word in &self.forgotten {
            assert!(!once.contains(word), "`{word}` is still there");
        }
    }

    /// All memories by their ids, as this machine tells them to others.
    fn state(&mut self, machine: usize) -> BTreeMap<String, Value> {
        let lines = self.tow(machine, &["export", "--all-projects"]).ok().json_lines();
        let memories = lines.into_iter().filter(|line| line["kind"] == "memory");
        let told = |row: &Value| {
            json!({
                "title": row["title"], "facts": row["facts"], "narrative": row["narrative"],
                "pinned": !row["pinned_at"].is_null(), "held_back": row["held_back"],
                "replaced": row["superseded"].is_object(), "by": row["superseded"]["by"], "why": row["superseded"]["why"],
            })
        };
        memories.map(|row| (text(&row["uid"]), told(&row))).collect()
    }

    fn nothing_is_left_of_what_was_forgotten(&self) {
        let in_hub = self.hub.dumped(DATABASE);
        for word in &self.forgotten {
            assert!(!in_hub.contains(word.as_str()), "the hub still has `{word}`");
            for (number, machine) in self.machines.iter().enumerate() {
                let held = files_with(&machine.env.data_dir(), word.as_bytes());
                assert_eq!(held, Vec::<String>::new(), "machine {number} still has `{word}`");
            }
        }
    }

    pub fn told(&self) -> String {
        self.told.join("\n")
    }

    pub fn figures(&self) -> Figures {
        Figures {
            memories: self.made.len(),
            forgotten: self.forgotten.len(),
            exchanges: self.exchanges + self.kills,
            killed: self.kills,
        }
    }
}

/// How much was played.
#[derive(Clone, Copy, Default)]
pub struct Figures {
    memories: usize,
    forgotten: usize,
    exchanges: usize,
    killed: usize,
}

impl Figures {
    pub fn plus(self, more: Figures) -> Figures {
        Figures {
            memories: self.memories + more.memories,
            forgotten: self.forgotten + more.forgotten,
            exchanges: self.exchanges + more.exchanges,
            killed: self.killed + more.killed,
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { memories, forgotten, exchanges, killed } = self;
        write!(
            f,
            "{memories} memories, {forgotten} forgotten, {exchanges} exchanges, {killed} of them killed"
        )
    }
}

fn machine(hub: &Postgres, number: usize) -> Machine {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("PGPASSWORD", PASSWORD);
    env.set_seed(1000 + number as u64);
    let clock_ms = BEGINNING_MS + CLOCKS_MS[number];
    env.set_now(clock_ms);
    Machine { env, way: Cut::before(hub.port()), clock_ms }
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn first_word(title: &Value) -> String {
    title.as_str().and_then(|title| title.split_whitespace().next()).unwrap_or_default().to_owned()
}

/// The files below a folder that hold these bytes.
fn files_with(folder: &std::path::Path, bytes: &[u8]) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).is_ok_and(|held| held.windows(bytes.len()).any(|part| part == bytes)) {
            found.push(path.display().to_string());
        }
    }
    found
}

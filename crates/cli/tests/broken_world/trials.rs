//! Random trials over a year of data: the user writes, something happens to the process, the files, the clock or the
//! disk, the user goes on and does what the doctor says. Then everything that was acknowledged is there, byte for byte.
//!
//! An injury leaves one of the two copies alone: the archive and `memories.log`, the database and the journal.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use towline_store::DataFolder;
use towline_testkit::Run;
use towline_testkit::mutate::Dice;

use crate::common::payload;
use crate::user::{Attempt, Command, Commands, Written};
use crate::world::{self, Report};
use crate::year::{Activity, DAY_MS, NOW_MS, SESSIONS, Year, transcript_turn};

const PAGE: usize = 4096;
const SEED: u64 = 21;

/// A thing that happens.
#[derive(Clone, Copy)]
enum Injury {
    Kill(Victim),
    /// Flips up to four pages of each file.
    Pages(&'static [&'static str]),
    Cut(&'static [&'static str]),
    Emptied(&'static [&'static str]),
    Deleted(&'static [&'static str]),
    Clock(Jump),
    FullDisk,
}

/// The process that is killed.
#[derive(Clone, Copy)]
enum Victim {
    Command,
    Hook,
    Work,
    Capture,
    /// Everything at once, as after a power cut.
    All,
}

#[derive(Clone, Copy)]
enum Jump {
    Ahead,
    AheadAndConfirmed,
    Back,
}

const ACTIVE: &str = "journal/active";
const SEALED: &str = "journal/00000001.sealed";
const NEXT_SEALED: &str = "journal/00000002.sealed";

const INJURIES: [(&str, Injury); 38] = [
    ("kill -9 of a command", Injury::Kill(Victim::Command)),
    ("kill -9 of a command ", Injury::Kill(Victim::Command)),
    ("kill -9 of a hook", Injury::Kill(Victim::Hook)),
    ("kill -9 of tow data work", Injury::Kill(Victim::Work)),
    ("kill -9 of a capture", Injury::Kill(Victim::Capture)),
    ("kill -9 of everything", Injury::Kill(Victim::All)),
    ("damaged pages: archive.db", Injury::Pages(&["archive.db"])),
    ("damaged pages: archive.db-wal", Injury::Pages(&["archive.db-wal"])),
    ("damaged pages: memories.log", Injury::Pages(&["memories.log"])),
    ("damaged pages: towline.db", Injury::Pages(&["towline.db"])),
    ("damaged pages: towline.db-wal", Injury::Pages(&["towline.db-wal"])),
    ("damaged pages: journal, active", Injury::Pages(&[ACTIVE])),
    ("damaged pages: journal, sealed", Injury::Pages(&[SEALED, NEXT_SEALED])),
    ("damaged pages: both databases", Injury::Pages(&["archive.db", "towline.db"])),
    ("damaged pages: log and journal", Injury::Pages(&["memories.log", ACTIVE, SEALED])),
    ("cut: archive.db", Injury::Cut(&["archive.db"])),
    ("cut: memories.log", Injury::Cut(&["memories.log"])),
    ("cut: towline.db", Injury::Cut(&["towline.db"])),
    ("cut: both WALs", Injury::Cut(&["archive.db-wal", "towline.db-wal"])),
    ("cut: journal, active", Injury::Cut(&[ACTIVE])),
    ("emptied: archive.db", Injury::Emptied(&["archive.db"])),
    ("emptied: memories.log", Injury::Emptied(&["memories.log"])),
    ("emptied: towline.db", Injury::Emptied(&["towline.db"])),
    ("emptied: both databases", Injury::Emptied(&["archive.db", "towline.db"])),
    ("emptied: both WALs", Injury::Emptied(&["archive.db-wal", "towline.db-wal"])),
    ("emptied: log and journal", Injury::Emptied(&["memories.log", ACTIVE, SEALED, NEXT_SEALED])),
    ("deleted: archive.db", Injury::Deleted(&["archive.db"])),
    (
        "deleted: archive.db, WAL, index",
        Injury::Deleted(&["archive.db", "archive.db-wal", "archive.db-shm", "index"]),
    ),
    ("deleted: memories.log", Injury::Deleted(&["memories.log"])),
    ("deleted: towline.db", Injury::Deleted(&["towline.db"])),
    (
        "deleted: both databases",
        Injury::Deleted(&["archive.db", "towline.db", "archive.db-wal", "towline.db-wal"]),
    ),
    ("deleted: log and journal", Injury::Deleted(&["memories.log", "journal"])),
    (
        "deleted: machine, marks, locks",
        Injury::Deleted(&["machine", "working", "fold.lock", "archive.lock", "work.lock"]),
    ),
    ("clock ahead", Injury::Clock(Jump::Ahead)),
    ("clock ahead, expiry confirmed", Injury::Clock(Jump::AheadAndConfirmed)),
    ("clock back", Injury::Clock(Jump::Back)),
    ("full disk", Injury::FullDisk),
    ("full disk ", Injury::FullDisk),
];

/// The disk that a trial runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disk {
    Usual,
    /// A tmpfs that can be filled.
    Small,
}

struct Trial<'a> {
    year: &'a Year,
    disk: Disk,
    dice: Dice,
    commands: Commands,
    /// How long the last command took: the next one is killed within that time.
    took: Duration,
}

impl Trial<'_> {
    fn command(&self, program: &str) -> process::Command {
        match self.disk {
            Disk::Usual => self.year.world.env.command(program),
            Disk::Small => self.year.world.command(program),
        }
    }

    /// A command in the foreground of a terminal.
    fn in_terminal(&self, words: &[&str]) -> process::Command {
        let command = self.year.world.env.person_program(words);
        let mut placed = self.command(&command.get_program().to_string_lossy());
        placed.args(command.get_args());
        placed
    }

    fn data(&self) -> DataFolder {
        match self.disk {
            Disk::Usual => DataFolder::at(self.year.world.env.data_dir()),
            Disk::Small => self.year.world.data(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.year.world.env.data_dir().join(name)
    }

    fn written(&self) -> Result<Written, String> {
        Written::in_folder(&self.data())
            .map_err(|error| format!("what the user wrote cannot be read: {error:?}"))
    }

    fn tow(&self, words: &[&str]) -> Run {
        Run::of(self.command("tow").args(words), b"")
    }

    fn set_clock(&self, ms: i64) {
        self.year.world.env.set_now(ms);
    }

    /// Runs a command of the user in a terminal.
    fn run(&mut self) -> (Command, Run) {
        let command = self.commands.next();
        let words: Vec<&str> =
            std::iter::once("tow").chain(command.words.iter().map(String::as_str)).collect();
        let begun = Instant::now();
        let run = Run::of(&mut self.in_terminal(&words), b"");
        self.took = begun.elapsed();
        (command, run)
    }

    fn attempt(&mut self) -> Attempt {
        let (command, run) = self.run();
        Attempt { command, is_acknowledged: run.status.success() }
    }

    fn attempts(&mut self, most: usize) -> Vec<Attempt> {
        (0..self.dice.below(most + 1)).map(|_| self.attempt()).collect()
    }

    /// Runs a command that must be acknowledged: nothing is wrong yet.
    fn write(&mut self) -> Result<Command, String> {
        let (command, run) = self.run();
        if run.status.success() { Ok(command) } else { Err(format!("{command:?} was refused: {run:?}")) }
    }

    fn hook(&self, event: &str) -> Run {
        let payload = payload(event, &world::session(), "Bash");
        Run::of(self.command("tow").args(["hook", "claude"]), payload.as_bytes())
    }

    /// The words that run a program until it is killed.
    fn until_killed(&mut self) -> [String; 5] {
        let most = usize::try_from(self.took.as_micros()).unwrap_or(0).clamp(20_000, 2_000_000);
        let seconds = 1 + self.dice.below(most);
        ["timeout", "--foreground", "-s", "KILL", &format!("{:.6}", seconds as f64 / 1e6)].map(str::to_owned)
    }

    fn kill(&mut self, victim: Victim) -> Vec<Attempt> {
        let words = self.until_killed();
        let timed: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut unattended = self.command(timed[0]);
        unattended.args(&timed[1..]).arg("tow");
        match victim {
            Victim::Command => return vec![self.killed_command(&timed)],
            Victim::Hook => {
                let event = *self.dice.pick(&world::KINDS);
                let payload = payload(event, &world::session(), "Bash");
                Run::of(unattended.args(["hook", "claude"]), payload.as_bytes());
            }
            Victim::Work => {
                self.hook("Stop");
                Run::of(unattended.arg("work"), b"");
            }
            Victim::Capture => {
                let number = self.dice.below(8);
                let transcript = self.year.recent_transcript(number);
                self.grow(&transcript, SESSIONS - 1 - number);
                Run::of(unattended.args(["capture", "claude"]).arg(&transcript), b"");
            }
            Victim::All => {
                self.hook("Stop");
                let attempt = self.killed_command(&timed);
                self.year.world.kill_all();
                return vec![attempt];
            }
        }
        vec![]
    }

    fn killed_command(&mut self, timed: &[&str]) -> Attempt {
        let command = self.commands.next();
        let words = timed.iter().copied().chain(["tow"]).chain(command.words.iter().map(String::as_str));
        let run = Run::of(&mut self.in_terminal(&words.collect::<Vec<_>>()), b"");
        Attempt { command, is_acknowledged: run.status.success() }
    }

    /// The agent writes another turn.
    fn grow(&mut self, transcript: &Path, number: usize) {
        let turn = 100 + self.dice.below(1_000_000);
        let lines = transcript_turn(&self.year.world, number, turn, &mut self.dice);
        let file = OpenOptions::new().append(true).open(transcript);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("home is writable");
    }

    fn injure(&mut self, injury: Injury) -> Vec<Attempt> {
        match injury {
            Injury::Kill(victim) => return self.kill(victim),
            Injury::Pages(names) => names.iter().for_each(|name| self.flip_pages(name)),
            Injury::Cut(names) => names.iter().for_each(|name| self.cut(name)),
            Injury::Emptied(names) => {
                for name in names.iter().filter(|name| self.file(name).exists()) {
                    fs::write(self.file(name), "").expect("it is writable");
                }
            }
            Injury::Deleted(names) => {
                for path in names.iter().map(|name| self.file(name)).filter(|path| path.exists()) {
                    let deleted =
                        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                    deleted.expect("it is writable");
                }
            }
            Injury::Clock(jump) => return self.jump(jump),
            Injury::FullDisk => return self.fill_disk(),
        }
        vec![]
    }

    fn flip_pages(&mut self, name: &str) {
        let Ok(mut bytes) = fs::read(self.file(name)) else { return };
        for _ in 0..=self.dice.below(4) {
            let page = self.dice.below(bytes.len().div_ceil(PAGE));
            bytes.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte ^= 0xff);
        }
        fs::write(self.file(name), bytes).expect("it is writable");
    }

    fn cut(&mut self, name: &str) {
        let Ok(bytes) = fs::read(self.file(name)) else { return };
        let kept = self.dice.below(bytes.len());
        fs::write(self.file(name), &bytes[..kept]).expect("it is writable");
    }

    /// The user and the agent go on while the clock is wrong.
    fn jump(&mut self, jump: Jump) -> Vec<Attempt> {
        let days = 20 + self.dice.below(1_500) as i64;
        let to = match jump {
            Jump::Ahead | Jump::AheadAndConfirmed => NOW_MS + days * DAY_MS,
            Jump::Back => [0, NOW_MS - days * DAY_MS, NOW_MS - 3_600_000][self.dice.below(3)],
        };
        self.set_clock(to);
        let attempts = self.attempts(2);
        self.hook("Stop");
        self.tow(&["work"]);
        if matches!(jump, Jump::AheadAndConfirmed) {
            Run::of(&mut self.in_terminal(&["tow", "work", "--expire"]), b"");
        }
        attempts
    }

    /// Fills the disk up to a few bytes, and lets the user and the agent go on.
    fn fill_disk(&mut self) -> Vec<Attempt> {
        let left = [0, 0, 1, 5, 20, 90, 300][self.dice.below(7)] * 1024 + self.dice.below(4096);
        let filler = self.file("../filler");
        let filler = filler.display();
        self.year
            .world
            .shell(&format!("cat /dev/zero > {filler} 2>/dev/null || true; truncate -s -{left} {filler}"));
        let mut attempts = vec![];
        for _ in 0..2 {
            self.hook("UserPromptSubmit");
            attempts.extend(self.attempts(2));
        }
        if self.dice.one_in(2) {
            self.tow(&["work"]);
        }
        self.year.world.settle();
        self.year.world.shell(&format!("rm {filler}"));
        attempts
    }

    /// Goes on as a user does, and does what the doctor says. The first command after the injury may be killed as well.
    fn mend(&mut self) -> Result<Vec<Attempt>, String> {
        self.set_clock(NOW_MS + 60_000);
        let attempts = if self.dice.one_in(4) { self.kill(Victim::Work) } else { vec![] };
        self.hook("UserPromptSubmit");
        self.year.world.settle();
        self.tow(&["work"]);
        let report = self.doctor();
        let mends: Vec<String> =
            ["archive", "database", "journal"].iter().filter_map(|name| report.mend_of(name)).collect();
        for mend in &mends {
            Run::of(self.command("sh").args(["-ec", mend]), b"");
        }
        self.year.world.settle();
        let left =
            if mends.is_empty() { None } else { self.doctor().findings_about(&["archive", "database"]) };
        left.map_or(Ok(attempts), |left| Err(format!("the doctor is not content after {mends:?}: {left}")))
    }

    fn doctor(&self) -> Report {
        Report::of(&self.tow(&["doctor", "--json"]))
    }

    /// Writes, is injured and mended once. Returns the number of things written and what was lost.
    fn round(&mut self, injury: Injury) -> Result<usize, String> {
        self.set_clock(NOW_MS);
        let mut written = vec![];
        for _ in 0..=self.dice.below(3) {
            written.push(self.write()?);
        }
        self.year.world.settle();
        let before = self.written()?;
        if let Some(command) = written.iter().find(|command| !command.is_done(&before)) {
            return Err(format!("{command:?} was acknowledged, and is not there before any injury"));
        }
        let mut attempts = self.injure(injury);
        self.year.world.settle();
        attempts.extend(self.mend()?);
        let after = self.written()?;
        let losses = after.losses(&before, &attempts);
        let (count, first) = (losses.len(), losses.into_iter().take(3).collect::<Vec<_>>());
        if count == 0 { Ok(before.count()) } else { Err(format!("{count} things: {}", first.join("; "))) }
    }
}

/// The result of one trial.
struct Outcome {
    name: &'static str,
    is_twice: bool,
    /// How many things were compared, or what was lost.
    result: Result<usize, String>,
}

/// The result of all trials of one kind.
#[derive(Default)]
struct Tally {
    trials: usize,
    compared: usize,
    losses: usize,
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// Runs one trial; every third has a second injury after the first was mended.
fn trial(year: &Year, number: u64) -> Outcome {
    let mut dice = Dice::new(SEED, number);
    let (name, injury) = INJURIES[number as usize % INJURIES.len()];
    let disk = if matches!(injury, Injury::FullDisk) { Disk::Small } else { Disk::Usual };
    match disk {
        Disk::Usual => year.restore(),
        Disk::Small => year.restore_on_small_disk(),
    }
    let commands = Commands::new(number, Dice::new(SEED + 1, number));
    let is_twice = disk == Disk::Usual && dice.one_in(3);
    let mut trial = Trial { year, disk, dice, commands, took: Duration::ZERO };
    let mut result = trial.round(injury);
    if is_twice && result.is_ok() {
        let second = INJURIES[trial.dice.below(INJURIES.len() - 2)];
        let again =
            trial.round(second.1).map_err(|lost| format!("after a second injury, {}:\n{lost}", second.0));
        result = result.and_then(|count| again.map(|more| count + more));
    }
    year.world.settle();
    Outcome { name: name.trim_end(), is_twice, result }
}

/// `TOWLINE_INJURIES` asks for more trials than a suite has time for, `TOWLINE_FIRST_INJURY` leaves out the first ones, and
/// `TOWLINE_INJURY` asks for one alone.
#[test]
fn what_the_user_wrote_survives_kills_damage_and_wrong_clocks_byte_for_byte() {
    let count = variable("TOWLINE_INJURIES").unwrap_or(12);
    let begun = Instant::now();
    let activity = if count > 24 { Activity::USUAL } else { Activity::LITTLE };
    let year = Year::new(activity);
    println!("injuries: the year is made in {} s", begun.elapsed().as_secs());
    let first = variable("TOWLINE_FIRST_INJURY").unwrap_or(0);
    let numbers = variable("TOWLINE_INJURY").map_or(first..count, |only| only..only + 1);
    let (mut tallies, mut losses, mut twice) = (BTreeMap::<&str, Tally>::new(), vec![], 0);
    for number in numbers {
        // The suite's few trials are spread over all kinds.
        let number = if activity == Activity::USUAL { number } else { number * 3 + number / 13 };
        let Outcome { name, is_twice, result } = trial(&year, number);
        let tally = tallies.entry(name).or_default();
        tally.trials += 1;
        twice += usize::from(is_twice);
        match result {
            Ok(compared) => tally.compared += compared,
            Err(loss) => {
                tally.losses += 1;
                println!("injuries: LOSS in trial {number} ({name}), again with --only {number}: {loss}");
                losses.push(number);
            }
        }
        if (number + 1).is_multiple_of(50) {
            println!(
                "injuries: {} trials, {} losses, {} s",
                number + 1,
                losses.len(),
                begun.elapsed().as_secs()
            );
        }
    }
    table(&tallies).iter().for_each(|row| println!("injuries: {row}"));
    let took = begun.elapsed().as_secs();
    println!("injuries: {twice} with a second injury after the first was mended; seed {SEED}, {took} s");
    assert!(losses.is_empty(), "something was lost in trials {losses:?}, seed {SEED}");
}

fn table(tallies: &BTreeMap<&str, Tally>) -> Vec<String> {
    let row = |name: &str, tally: &Tally| {
        let Tally { trials, compared, losses } = tally;
        format!("{name:<34} | {trials:>6} | {compared:>8} | {losses:>6}")
    };
    let sum = |field: fn(&Tally) -> usize| tallies.values().map(field).sum();
    let all =
        Tally { trials: sum(|it| it.trials), compared: sum(|it| it.compared), losses: sum(|it| it.losses) };
    let head = format!("{:<34} | trials | compared | losses", "what happened");
    let rows = tallies.iter().map(|(name, tally)| row(name, tally));
    std::iter::once(head).chain(rows).chain([row("all", &all)]).collect()
}

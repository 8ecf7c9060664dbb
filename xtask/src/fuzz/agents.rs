//! `cargo xtask fuzz agents`: feeds damaged payloads, transcripts and screens of each agent to the code that reads them.
//!
//! Deterministic: an agent, a kind, a seed and a number identify a mutant. Readers run in this process, hooks as processes
//! of the given binary, in a temporary home.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use clap::{Args, ValueEnum};
use towline_agents::repair::RepairOptions;
use towline_agents::{Agent, TextLimits};
use towline_core::capture::{CaptureLimits, CaptureRules, CaptureState};
use towline_core::deed::ToolAction;
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::text::{SecretPolicy, TextPolicy};
use towline_testkit::mutate::{
    Dice, Mutator, Recording, damaged_screen, damaged_transcript, flaw_in_answer, recordings,
};

use super::hooks::{Flaw, Trial};
use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;

#[derive(Args)]
pub struct Options {
    /// Feed payloads to the hooks of this binary, too
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// How many mutants to try of each agent and kind
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// Decides what the mutants are
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Only the mutant with this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "count")]
    only: Option<u64>,
}

/// What is damaged, and who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Payloads, read by the adapters
    Payloads,
    /// Payloads, read by the binary's hooks
    Hooks,
    Transcripts,
    Screens,
}

const KINDS: [Kind; 4] = [Kind::Payloads, Kind::Hooks, Kind::Transcripts, Kind::Screens];
const WORKERS: u64 = 2;
const LISTED_FLAWS: usize = 10;

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let home = tempfile::tempdir().map_err(Failure::write(Path::new("a temporary folder")))?;
    let campaign = Campaign { options, repository, home: home.path() };
    let mut is_good = true;
    writeln!(out, "| agent | kind | recordings | mutants | failures | seconds |\n|---|---|---|---|---|---|")?;
    let agents = Agent::ALL.into_iter().filter(|agent| is_named(options.agent.as_deref(), *agent));
    for agent in agents {
        for kind in KINDS.into_iter().filter(|kind| options.kind.is_none_or(|only| only == *kind)) {
            is_good &= campaign.row(agent, kind, out)?;
        }
    }
    Ok(Verdict::of(is_good))
}

fn is_named(name: Option<&str>, agent: Agent) -> bool {
    name.is_none_or(|name| name == agent.name())
}

struct Campaign<'a> {
    options: &'a Options,
    repository: &'a Repository,
    home: &'a Path,
}

impl Campaign<'_> {
    /// Tries one kind of one agent, and prints its row and its first flaws.
    fn row(&self, agent: Agent, kind: Kind, out: &mut impl Write) -> Result<bool> {
        let Options { count, seed, only, .. } = self.options;
        let numbers = only.map_or(0..*count, |only| only..only + 1);
        let tried = numbers.end - numbers.start;
        let begun = Instant::now();
        let (recorded, flaws) = match kind {
            Kind::Hooks => match self.hooks(agent, numbers)? {
                Some(found) => found,
                None => return Ok(true),
            },
            Kind::Payloads | Kind::Transcripts | Kind::Screens => {
                let source = Source::new(self.repository, agent, kind, *seed)?;
                (source.len(), flaws(&source, numbers))
            }
        };
        let (seconds, kind) = (begun.elapsed().as_secs_f64(), format!("{kind:?}").to_lowercase());
        let name = agent.name();
        writeln!(out, "| {name} | {kind} | {recorded} | {tried} | {} | {seconds:.0} |", flaws.len())?;
        for Flaw { number, what } in flaws.iter().take(LISTED_FLAWS) {
            let repeat =
                format!("cargo xtask fuzz agents --agent {name} --kind {kind} --seed {seed} --only {number}");
            writeln!(out, "mutant {number}: {what}\n  repeat: {repeat}")?;
        }
        out.flush()?;
        Ok(flaws.is_empty())
    }

    /// `None` without a binary.
    fn hooks(&self, agent: Agent, numbers: Range<u64>) -> Result<Option<(usize, Vec<Flaw>)>> {
        let Some(tow) = &self.options.tow else { return Ok(None) };
        let tow = tow.canonicalize().map_err(Failure::read(tow))?;
        let home = self.home.join(agent.name());
        files::create_folder(&home)?;
        let recorded = payloads(self.repository, agent);
        let count = recorded.len();
        let trial = Trial { tow: &tow, home: &home, mutator: Mutator::new(recorded, self.options.seed) };
        let mut flaws = trial.flaws(numbers, &mut std::io::sink())?;
        let panics = trial.panics()?;
        if panics > 0 {
            flaws
                .push(Flaw { number: 0, what: format!("{panics} hooks panicked, although they ended well") });
        }
        files::remove_folder(&home)?;
        Ok(Some((count, flaws)))
    }
}

fn payloads(repository: &Repository, agent: Agent) -> Vec<Recording> {
    let all = recordings(&repository.root().join("crates/agents/fixtures"));
    all.into_iter().filter(|recording| recording.agent == agent.name()).collect()
}

/// The recordings of one kind of one agent.
enum Source {
    Payloads(Agent, Mutator, usize),
    Transcripts(Agent, Vec<Vec<u8>>, u64),
    Screens(Agent, Vec<String>, u64),
}

impl Source {
    fn new(repository: &Repository, agent: Agent, kind: Kind, seed: u64) -> Result<Source> {
        let root = repository.root().join("crates/agents");
        Ok(match kind {
            Kind::Payloads | Kind::Hooks => {
                let recorded = payloads(repository, agent);
                let count = recorded.len();
                Source::Payloads(agent, Mutator::new(recorded, seed), count)
            }
            Kind::Transcripts => {
                let mut paths = of_agent(&root.join("transcripts"), agent)?;
                paths.extend(of_agent(&root.join("tails"), agent)?);
                let read = |path: &PathBuf| fs::read(path).map_err(Failure::read(path));
                Source::Transcripts(agent, paths.iter().map(read).collect::<Result<_>>()?, seed)
            }
            Kind::Screens => Source::Screens(agent, screens(&root, agent)?, seed),
        })
    }

    fn len(&self) -> usize {
        match self {
            Source::Payloads(_, _, count) => *count,
            Source::Transcripts(_, files, _) => files.len(),
            Source::Screens(_, screens, _) => screens.len(),
        }
    }

    /// Reads one mutant; a panic or a wrong answer is a flaw.
    fn flaw_of(&self, number: u64) -> Option<Flaw> {
        let read = || match self {
            Source::Payloads(agent, mutator, _) => read_payload(*agent, &mutator.mutant(number).payload),
            Source::Transcripts(agent, files, seed) => {
                let mut dice = Dice::new(*seed, number);
                read_transcript(*agent, &damaged_transcript(dice.pick::<Vec<u8>>(files), &mut dice))
            }
            Source::Screens(agent, screens, seed) => {
                let mut dice = Dice::new(*seed, number);
                let (screen, other) = (dice.pick::<String>(screens), dice.pick::<String>(screens));
                let screen = damaged_screen(screen, other, &mut dice);
                read_screen(*agent, &screen, &mut dice);
                None
            }
        };
        let what = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Some("a panic".to_owned()));
        what.map(|what| Flaw { number, what })
    }
}

/// The files whose names begin with the agent's.
fn of_agent(folder: &Path, agent: Agent) -> Result<Vec<PathBuf>> {
    let start = format!("{}-", agent.name());
    let mut paths = files::below(folder)?;
    paths.retain(|path| {
        let inside = path.strip_prefix(folder).unwrap_or(path);
        inside.to_string_lossy().starts_with(&start)
    });
    paths.sort();
    Ok(paths)
}

/// Screens of the agent; of one without any, those of the agent whose screen it shares.
fn screens(root: &Path, agent: Agent) -> Result<Vec<String>> {
    let mut paths = of_agent(&root.join("screens"), agent)?;
    let inputs = root.join("src").join(agent.name()).join("input");
    if inputs.is_dir() {
        paths.extend(files::below(&inputs)?);
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt" || extension == "ansi"));
    paths.retain(|path| !path.ends_with("cursors.txt"));
    if paths.is_empty() && agent == Agent::Kilo {
        return screens(root, Agent::Opencode);
    }
    paths.iter().map(|path| files::read(path)).collect()
}

fn flaws(source: &Source, numbers: Range<u64>) -> Vec<Flaw> {
    let of_worker = |worker: u64| {
        let own = numbers.clone().skip(worker as usize).step_by(WORKERS as usize);
        own.filter_map(|number| source.flaw_of(number)).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let of_worker = &of_worker;
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || of_worker(worker))).collect();
        let ended =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.flatten().collect()
    })
}

const SOME: TextPolicy = TextPolicy { longest_bytes: 2000, secrets: SecretPolicy::Redacted };
const KEEPING: TextLimits = TextLimits { prompt: SOME, answer: SOME };
const CAPS: CaptureLimits =
    CaptureLimits { body: 64 << 10, input: 16 << 10, output: 64 << 10, thinking: 16 << 10, note: 8 << 10 };

/// Parses a payload, and renders every kind of answer to it.
fn read_payload(agent: Agent, payload: &[u8]) -> Option<String> {
    let heard = agent.parse_hook(payload, KEEPING).ok()??;
    let replies = [
        Reply { notices: vec!["told".into()], ..Reply::default() },
        Reply { context: vec!["known".into(), "more \" text \u{0}".into()], ..Reply::default() },
        Reply { verdict: ReplyVerdict::Block { reason: "not so".into() }, ..Reply::default() },
    ];
    let answers = replies.iter().filter_map(|reply| agent.render_reply(&heard.event, reply));
    answers.into_iter().find_map(|said| flaw_in_answer(agent.name(), Some(&heard.event), said.as_bytes()))
}

/// Reads a transcript as a capture does, up to the rows to store, and its end as a status query does.
fn read_transcript(agent: Agent, file: &[u8]) -> Option<String> {
    let (mut reader, mut state) = (agent.reader(), CaptureState::default());
    let deed = deed_of(agent);
    for line in file.split(|byte| *byte == b'\n') {
        let (mut pieces, mut rows) = (vec![], vec![]);
        // A line that cannot be read leaves the reader usable.
        let _ = reader.read(line, &mut pieces);
        let rules = rules(&deed);
        pieces.into_iter().for_each(|piece| state.take(piece, &rules, &mut rows));
    }
    drop(state.current_turn());
    let _ = agent.transcript_end(file);
    let _ = agent.context(file, None);
    let _ = agent.has_written(file, "done");
    let _ = agent.repair_transcript(file, RepairOptions { every: 8, marker: "·" });
    let kept = (serde_json::to_string(&reader).ok(), serde_json::to_string(&state).ok());
    match kept {
        (Some(_), Some(_)) => None,
        _ => Some("the state of the reader cannot be stored".to_owned()),
    }
}

fn deed_of(agent: Agent) -> impl for<'t, 'i> Fn(&'t str, &'i str) -> ToolAction<'i> {
    move |tool, input| agent.tool_action(tool, input)
}

fn rules<'r>(deed: &'r dyn for<'t, 'i> Fn(&'t str, &'i str) -> ToolAction<'i>) -> CaptureRules<'r, 'static> {
    CaptureRules {
        caps: CAPS,
        secrets: SecretPolicy::Redacted,
        is_excluded_tool: &|_| false,
        is_excluded_path: &|_| false,
        deed,
        gone: None,
    }
}

fn read_screen(agent: Agent, screen: &str, dice: &mut Dice) {
    let cursor = (!dice.one_in(4)).then(|| (dice.below(300), dice.below(100)));
    let _ = agent.screen(screen);
    let _ = agent.input_line(screen, cursor);
    let (column, line) = cursor.unwrap_or_default();
    let _ = agent.is_cursor_at_end(screen, column, line);
    let _ = agent.shown_session(screen);
    let _ = agent.shows_prompt(screen, "half typed");
    let _ = agent.input_holds(screen, "half typed");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share of the campaign; `cargo xtask fuzz agents` tries a hundred thousand of each.
    #[test]
    fn no_damaged_recording_of_any_agent_makes_a_reader_panic() {
        let repository = Repository::here().unwrap();
        for agent in Agent::ALL {
            for kind in [Kind::Payloads, Kind::Transcripts, Kind::Screens] {
                let source = Source::new(&repository, agent, kind, 2026).unwrap();
                assert!(source.len() >= 2, "{agent:?} has {} recorded {kind:?}", source.len());
                let found = flaws(&source, 0..400);
                let first = found.first().map(|flaw| (flaw.number, flaw.what.as_str()));
                assert_eq!(first, None, "{agent:?} {kind:?}");
            }
        }
    }
}

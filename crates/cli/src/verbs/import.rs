//! `tow data import`: imports all transcripts of the agents, and the databases of other products.
//!
//! Never writes to their files. Can be repeated: known data is not read again.

mod asked;
mod exported;
mod report;

use crate::output::complain;
use crate::progress::{self, ImportBar, ProgressBar};
use crate::scope::Scope;
use clap::Args;
use report::ImportReport;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use towline_agents::Agent;
use towline_agents::described::TranscriptWriter;
use towline_engine::capture::{
    self, Destination, ForeignFile, Imported, Listed, TakenOver, Transcript, Wishes,
};
use towline_engine::curate::Actor;
use towline_engine::index::{IndexCount, index_beside};
use towline_engine::memory::distil;
use towline_engine::runtime::archive::Writable;
use towline_engine::runtime::descriptions::{Described, Descriptions, refused};
use towline_engine::runtime::progress::Progress;
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Failure, archive, settings, spawn, variable};
use towline_engine::status::probe::written_at;
use towline_engine::sync::export;
use towline_store::Archive;
use towline_store::foreign::Product;

const EXAMPLES: &str = "\
Examples:
  tow data import                       everything that is found
  tow data import --dry-run             what would be read, and how much
  tow data import throughline           only what this product kept
  tow data import --since 2026-10-01    nothing that is older
  tow data import --project .           only sessions of the project of this folder
  tow data import --jobs 1              with one reader, to leave the machine to others
  tow data import --rebuild             keep the archive aside and make a new one of what the agents still have
  tow data import all.jsonl             what `tow data export` gave out

It may be stopped at any time and run again. What is read is not changed by it.";

/// Import what the agents have written so far, and the databases of other products.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only from this source: an agent, another product, or a file written by `tow data export`.
    #[arg(value_name = "FROM")]
    from: Option<String>,
    /// Show what would be read, keep nothing.
    #[arg(long)]
    dry_run: bool,
    /// Move the archive aside and begin a new one.
    #[arg(long, conflicts_with = "dry_run")]
    rebuild: bool,
    /// Skip files last written before this time: a day, a time, or how long ago.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only sessions of this project: its name, or a folder of it.
    #[arg(long, value_name = "NAME|FOLDER")]
    project: Option<String>,
    /// How many files are read at once; as many as the machine has cores if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    scope.env.say_waits_by(complain);
    if let Some(file) = arguments.from.as_deref().and_then(export::file) {
        if !file.exists() {
            return Err(missing(&file));
        }
        let errand = if arguments.dry_run { export::Errand::Try } else { export::Errand::TakeIn };
        if errand == export::Errand::TakeIn {
            // The file says itself what is the user's, and what is pinned.
            Actor::of_caller(&scope.env)?.require_person("import an export")?;
        }
        let done = export::import(&scope.env, &file, errand)?;
        match arguments.json {
            true => scope.out.json(&exported::as_json(&done, errand)),
            false => exported::report(scope, &done, errand),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let sources = Sources::found(scope, arguments)?;
    let wishes = Wishes::load(&scope.env)?;
    if arguments.rebuild {
        archive::move_archive_aside(&scope.env).map_err(|error| failed(&error))?;
    }
    let asked = asked::asked(&scope.env, &wishes, arguments.since.as_deref(), arguments.project.as_deref())?;
    let wishes = wishes.asking(asked);
    let files = sources.files(&wishes);
    let mut report = ImportReport::new(scope, arguments.dry_run);
    if arguments.dry_run {
        report.would_read(&files);
        let archive =
            Archive::read(&scope.env.home, Duration::from_secs(2)).map_err(|error| failed(&error))?;
        report.databases = take_over(
            scope,
            &wishes,
            &sources,
            &Destination::Nowhere(archive.as_ref()),
            &mut ProgressBar::default(),
        )?;
    } else {
        let readers = arguments.jobs.or_else(|| std::thread::available_parallelism().ok());
        let readers = readers.unwrap_or(NonZeroUsize::MIN);
        (report.imported, report.databases) =
            Import { scope, wishes: &wishes, sources: &sources, readers }.run(files)?;
        remember(scope);
    }
    report.show(scope, arguments.json);
    let is_bad = arguments.from.is_some() && report.databases.iter().any(|done| done.problem.is_some());
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Import<'a> {
    scope: &'a Scope,
    wishes: &'a Wishes,
    sources: &'a Sources,
    readers: NonZeroUsize,
}

impl Import<'_> {
    /// Imports and indexes behind one bar. The archive is locked only while it is written.
    fn run(&self, files: Vec<Transcript>) -> Result<(Imported, Vec<TakenOver>), Failure> {
        let env = &self.scope.env;
        let writable = open(self.scope)?;
        let count = IndexCount::default();
        let bar = RefCell::new(ImportBar::new(&count));
        let import = || {
            let bar = &mut *bar.borrow_mut();
            let imported = capture::import(env, &writable, self.wishes, files, self.readers, bar);
            let imported = imported.map_err(|error| failed(&error))?;
            let into = Destination::Archive(&writable.archive);
            let databases = take_over(self.scope, self.wishes, self.sources, &into, bar)?;
            drop(writable);
            Ok((imported, databases))
        };
        let done = index_beside(env, &count, import, &|| bar.borrow_mut().show_rest(env.elapsed()));
        bar.borrow_mut().bar.finish();
        done
    }
}

/// Imports all that is found, as `tow data import` does.
pub fn everything(scope: &Scope) -> Result<ExitCode, Failure> {
    let _shown = progress::activity("importing");
    run(scope, &Arguments::default())
}

/// Distils the imported turns in a detached process, so that the user does not wait for it.
fn remember(scope: &Scope) {
    if settings(&scope.env).distil.rules && distil::is_pending(&scope.env) {
        spawn::start_detached(&scope.env);
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(error).hint("Run `tow doctor`, then `tow data import` again.")
}

fn open(scope: &Scope) -> Result<Writable, Failure> {
    let writable = archive::open(&scope.env, Duration::from_secs(60)).map_err(|error| failed(&error))?;
    writable.ok_or_else(|| {
        Failure::input("another import is under way").hint("Wait for it, then run `tow data import` again.")
    })
}

fn take_over(
    scope: &Scope,
    wishes: &Wishes,
    sources: &Sources,
    into: &Destination<'_>,
    progress: &mut dyn Progress,
) -> Result<Vec<TakenOver>, Failure> {
    let transcripts: Vec<PathBuf> = if sources.databases.is_empty() {
        vec![]
    } else {
        Agent::ALL.into_iter().flat_map(transcripts).collect()
    };
    let databases = sources.databases.iter().map(|(product, path)| {
        capture::take_over(
            &scope.env,
            wishes,
            ForeignFile { product: *product, path },
            into,
            &transcripts,
            progress,
        )
    });
    databases.collect::<Result<_, _>>().map_err(|error| failed(&error))
}

/// The agents and databases to import from.
struct Sources {
    agents: Vec<TranscriptWriter>,
    databases: Vec<(Product, PathBuf)>,
}

impl Sources {
    /// A named product must have a database; without a name, all existing databases are read.
    fn found(scope: &Scope, arguments: &Arguments) -> Result<Sources, Failure> {
        let descriptions = Descriptions::load(&scope.env);
        let database = |product: Product| product.database(&variable).map(|path| (product, path));
        let Some(name) = &arguments.from else {
            for unusable in &descriptions.unusable {
                let (file, why) = (unusable.file.display(), &unusable.why);
                complain(&format!("{file} cannot be used, nothing of that agent is imported: {why}\n"));
            }
            let databases = Product::ALL.into_iter().filter_map(database).filter(|(_, path)| path.exists());
            let described = descriptions.all.iter().filter_map(Described::writer);
            let agents = Agent::ALL.into_iter().map(TranscriptWriter::from).chain(described);
            return Ok(Sources { agents: agents.collect(), databases: databases.collect() });
        };
        if let Some(agent) = Agent::from_name(name) {
            return Ok(Sources { agents: vec![agent.into()], databases: vec![] });
        }
        if let Some(described) = descriptions.named(name) {
            let writer = described.writer().ok_or_else(|| not_here(described))?;
            return Ok(Sources { agents: vec![writer], databases: vec![] });
        }
        if let Some(unusable) = descriptions.unusable.iter().find(|unusable| unusable.name == *name) {
            return Err(refused(unusable));
        }
        let product = Product::named(name).ok_or_else(|| unknown(name, &descriptions))?;
        match database(product) {
            Some((product, path)) if path.exists() => {
                Ok(Sources { agents: vec![], databases: vec![(product, path)] })
            }
            found => Err(absent(product, found.map(|(_, path)| path))),
        }
    }

    /// The agents' transcripts, without those last written before `--since`.
    fn files(&self, wishes: &Wishes) -> Vec<Transcript> {
        let is_recent = |file: &Transcript| written_at(&file.path).is_none_or(|at| wishes.is_recent(at));
        let of = |agent: &TranscriptWriter| {
            let Listed { files, left_out, unreadable } = capture::transcripts_of(agent, &variable);
            for (database, why) in unreadable {
                complain(&format!("{}: {} gives no sessions: {why}\n", agent.name(), database.display()));
            }
            if left_out > 0 {
                complain(&format!("{}: {left_out} older transcripts are left out\n", agent.name()));
            }
            files
        };
        self.agents.iter().flat_map(of).filter(is_recent).collect()
    }
}

pub fn transcripts(agent: Agent) -> Vec<PathBuf> {
    capture::transcripts(agent, &variable)
}

fn not_here(described: &Described) -> Failure {
    let (name, title) = (described.description.name(), described.description.title());
    Failure::input(format!("{title} has left no folder here"))
        .hint(format!("Run `tow doctor --agent {name}`."))
}

fn unknown(name: &str, descriptions: &Descriptions) -> Failure {
    let agents = Agent::ALL.iter().map(|agent| agent.name());
    let known: Vec<_> =
        agents.chain(descriptions.names()).chain(Product::ALL.iter().map(|product| product.name())).collect();
    Failure::input(format!("nothing is known to import from `{}`", plain_text(name))).hint(format!(
        "Give one of: {}; or a file that `tow data export` wrote, such as all.jsonl.",
        known.join(", ")
    ))
}

fn missing(file: &Path) -> Failure {
    Failure::input(format!("there is no file {}", plain_text(&file.display().to_string()))).hint(
        "Give a file that `tow data export` wrote, or run `tow data import --dry-run` to see what is found.",
    )
}

fn absent(product: Product, path: Option<PathBuf>) -> Failure {
    let at = path.map_or("where no home is known".to_owned(), |path| format!("at {}", path.display()));
    Failure::input(format!("there is no database of {} {}", product.name(), plain_text(&at)))
        .hint("Run `tow data import --dry-run` to see what is found.")
}

//! `tow data scrub`: applies the current privacy rules to data that was stored under older ones.
//!
//! Writes only rows that change. Can be interrupted at any time; the next run continues.

use crate::output::{Tone, complain};
use crate::progress::{self, ProgressBar};
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::id::IdHash;
use towline_core::redact::redact;
use towline_core::text::SecretPolicy;
use towline_engine::capture::Wishes;
use towline_engine::erase::forget;
use towline_engine::runtime::descriptions::Descriptions;
use towline_engine::runtime::progress::Progress as _;
use towline_engine::runtime::{Env, Failure, archive, spawn};
use towline_store::archive::{EraseMode, ScrubCounts, ScrubRules};
use towline_store::erase::{self, DamagedFile, EraseReport};
use towline_store::{Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow data scrub --dry-run         what would change
  tow data scrub                   redact what is kept by the rules of this version and of your settings
  tow data scrub --delete-aside    also delete databases that were set aside: they cannot be cleaned

Run it after an update of tow, and after a change of the settings below `privacy`.";

/// Apply the current rules for secrets and privacy to stored data.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Show what would change, change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete databases that were set aside.
    #[arg(long, conflicts_with = "dry_run")]
    delete_aside: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The changes made, or planned in a dry run.
struct ScrubResult {
    hot: EraseReport,
    archive: ScrubCounts,
    aside: Vec<DamagedFile>,
}

const PATIENCE: Duration = Duration::from_secs(60);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    scope.env.say_waits_by(complain);
    let wishes = Wishes::load(&scope.env)?;
    let clean = |text: &str| clean(&wishes, text);
    let is_excluded_folder = |folder: &str| wishes.excludes(folder);
    let calls = CallRules { wishes: &wishes, descriptions: Descriptions::load(&scope.env) };
    let is_excluded_call = |agent: &str, tool: &str, input: &str| calls.exclude(agent, tool, input);
    let is_excluded_path = |path: &str| wishes.excludes_path(path);
    let cleaner = ScrubRules {
        clean: &clean,
        is_excluded_folder: &is_excluded_folder,
        is_excluded_call: &is_excluded_call,
        is_excluded_path: &is_excluded_path,
        rules: IdHash::of(&format!("{} {}", env!("CARGO_PKG_VERSION"), wishes.fingerprint_text())),
    };
    let erasing = if arguments.dry_run { EraseMode::Rehearsal } else { EraseMode::ForGood };
    let done = scrub(&scope.env, &cleaner, erasing, arguments)?;
    report(scope, arguments, &done);
    Ok(())
}

fn scrub(
    env: &Env,
    cleaner: &ScrubRules<'_>,
    erasing: EraseMode,
    arguments: &Arguments,
) -> Result<ScrubResult, Failure> {
    let folder = |source| Failure::new(&StoreError::Folder { path: env.home.folder().to_owned(), source });
    env.home.create().map_err(folder)?;
    let eraser = if erasing == EraseMode::ForGood { Some(forget::begin(env)?) } else { None };
    let hot = from_database(env, cleaner, erasing)?;
    let archive = from_archive(env, cleaner, erasing)?;
    let aside = erase::set_aside_files(&env.home).map_err(folder)?;
    if arguments.delete_aside {
        aside.iter().try_for_each(DamagedFile::remove).map_err(folder)?;
    }
    if let Some(eraser) = eraser {
        let _shown = progress::activity("rewriting the files without what is erased");
        erase::drop_derived(&env.home, None).map_err(folder)?;
        forget::vacuum(env)?;
        eraser.end().map_err(folder)?;
        // A search does not build the index that was deleted.
        spawn::start_detached(env);
    }
    Ok(ScrubResult { hot, archive, aside })
}

fn from_database(env: &Env, cleaner: &ScrubRules<'_>, erasing: EraseMode) -> Result<EraseReport, Failure> {
    if Store::read(&env.home, PATIENCE).map_err(forget::failed)?.is_none() {
        return Ok(EraseReport::default());
    }
    forget::with_store(env, |store, lock| {
        if erasing == EraseMode::Rehearsal {
            return store.preview_scrub(cleaner);
        }
        // Events applied here were left by hooks that found the lock taken; the next refresh shows them.
        store.apply_and_seal(lock, &forget::limits(env))?;
        store.scrub(lock, cleaner)
    })
}

fn from_archive(env: &Env, cleaner: &ScrubRules<'_>, erasing: EraseMode) -> Result<ScrubCounts, Failure> {
    if !env.home.archive().exists() {
        return Ok(ScrubCounts::default());
    }
    let busy = || Failure::busy("another process writes the archive").hint("Wait for it, then run it again.");
    let writable = archive::open(env, PATIENCE).map_err(forget::failed)?.ok_or_else(busy)?;
    let mut progress = ProgressBar::default();
    let done = writable
        .archive
        .scrub(cleaner, erasing, &mut |rows, all| {
            progress.show_count(rows, all, "rows checked", env.elapsed())
        })
        .map_err(forget::failed)?;
    progress.finish();
    Ok(done)
}

/// The text without secrets; `None` if it has none, or if the user keeps them.
fn clean(wishes: &Wishes, text: &str) -> Option<String> {
    match (wishes.secrets(), redact(text)) {
        (SecretPolicy::Redacted, std::borrow::Cow::Owned(clean)) if clean != text => Some(clean),
        (SecretPolicy::Redacted | SecretPolicy::Kept, _) => None,
    }
}

/// Which tool calls may not be kept.
struct CallRules<'a> {
    wishes: &'a Wishes,
    descriptions: Descriptions,
}

impl CallRules<'_> {
    fn exclude(&self, agent: &str, tool: &str, input: &str) -> bool {
        if self.wishes.excludes_tool(tool) {
            return true;
        }
        let described = || Some(self.descriptions.named(agent)?.description.tool_action(tool, input));
        let action = match Agent::from_name(agent) {
            Some(agent) => Some(agent.tool_action(tool, input)),
            None => described(),
        };
        action.is_some_and(|action| action.paths().any(|path| self.wishes.excludes_path(path)))
    }
}

fn report(scope: &Scope, arguments: &Arguments, done: &ScrubResult) {
    let ScrubResult { hot, archive, aside } = done;
    if arguments.json {
        let aside: Vec<_> =
            aside.iter().map(|aside| json!({"path": aside.path, "bytes": aside.bytes})).collect();
        let all = json!({
            "dry_run": arguments.dry_run,
            "archive": {
                "sessions": archive.conversations, "bodies": archive.bodies, "details": archive.details,
                "memories": archive.memories, "others": archive.others,
            },
            "database": {"sessions": hot.rows.sessions, "texts": hot.rows.others},
            "journal": {"erased": hot.journal.gone, "changed": hot.journal.changed},
            "aside": {"files": aside, "deleted": arguments.delete_aside},
        });
        return scope.out.json(&all);
    }
    let verb = if arguments.dry_run { "would change" } else { "changed" };
    scope.out.line(&format!(
        "{verb} {} tool inputs and outputs, {} messages, {} memories and summaries, {} lines and names; erased {} sessions that are excluded",
        archive.details, archive.bodies, archive.memories, archive.others, archive.conversations
    ));
    scope.out.line(&format!(
        "{verb} {} texts of the database, {} records of the journal",
        hot.rows.others,
        hot.journal.changed + hot.journal.gone
    ));
    if !aside.is_empty() && !arguments.delete_aside {
        let line = format!(
            "{} files that were set aside were not looked into: `tow data scrub --delete-aside` deletes them",
            aside.len()
        );
        scope.out.line(&scope.out.tint(Tone::Warning, &line));
    }
}

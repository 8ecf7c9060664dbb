//! Collects the memories for a prompt. The caller (`handoff/inherit.rs`) checks that they are due.
//!
//! Decides by the user's switch and chooses the candidates: the newest memories, and those of any age that the index finds
//! for the prompt. `choose::Ranking` ranks them, `choose::format_memories` formats them. Reads only the chosen ones, and
//! checks their files: an agent waits.

mod stale;

use crate::index;
use crate::runtime::calendar::clock;
use crate::runtime::{Config, Env, env, record};
use stale::Staleness;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use towline_core::capture::FileAccess;
use towline_core::compose::{ComposedContext, tokens};
use towline_core::event::{EndedBy, EventKind};
use towline_core::id::SessionKey;
use towline_core::memory::choose::{
    ChosenMemories, CurrentWork, MemoryFormatter, MemorySelection, Ranking, SelectionCost, format_memories,
};
use towline_core::memory::distil::FAILING;
use towline_core::project::ProjectIdentity;
use towline_core::session::Session;
use towline_store::archive::Archive;
use towline_store::{Store, StoreError};

/// More than fit into any agent's context budget. Among them the prompt's words are looked up in their text, which costs a
/// first prompt as much as all the rest: many only if no index finds older ones by these words.
const NEWEST: u32 = 60;
const NEWEST_WITHOUT_INDEX: u32 = 200;
/// The number of memories of any age that share words with the prompt.
const OLDER: usize = 20;
/// The number of sessions whose next steps are given, among the latest `LOOKED_AT`.
const SESSIONS: usize = 2;
const LOOKED_AT: u32 = 10;
const STEPS: usize = 6;
/// Recent work: the number of sessions and the turns of each.
const LATELY: (usize, u32) = (2, 10);

/// The session that receives memories: its place and its prompt.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    pub folder: Option<&'a str>,
    pub project: Option<&'a ProjectIdentity>,
    pub prompt: &'a str,
    /// Excludes sessions whose next steps it receives anyway or that others work on.
    pub not_of: &'a dyn Fn(&SessionKey) -> bool,
}

impl<'a> Asker<'a> {
    pub fn of(session: &'a Session, not_of: &'a dyn Fn(&SessionKey) -> bool) -> Asker<'a> {
        Asker {
            not_of,
            folder: session.folder.as_deref(),
            project: session.project.as_ref(),
            prompt: session.prompt.as_ref().map_or("", |prompt| prompt.as_str()),
        }
    }
}

/// Collects the memories for a session; none if the user disabled them.
pub fn gather(
    env: &Env,
    config: &Config,
    archive: &Archive,
    asker: Asker<'_>,
) -> Result<MemorySelection, StoreError> {
    let folder = asker.folder;
    if !config.memory.give || folder.is_some_and(|folder| config.inherits_nothing(folder)) {
        return Ok(MemorySelection::default());
    }
    let project = asker.project.map(|traces| archive.project(traces)).transpose()?.flatten();
    let here = CurrentWork {
        branch: asker.project.and_then(|traces| traces.branch.clone()),
        files: files_lately(archive, project)?,
        prompt: asker.prompt.to_owned(),
    };
    let mut chosen = match project {
        Some(project) => best(env, config, archive, project, &here)?,
        None => ChosenMemories::default(),
    };
    chosen.pinned = archive.memories_numbered(&archive.pinned_memories(project)?)?;
    let all = chosen.pinned.iter().chain(&chosen.fitting).chain(&chosen.others);
    let staleness = Staleness::of(all, asker);
    let program = env::program();
    let wording = MemoryFormatter {
        program: &program,
        prompt: asker.prompt,
        clock: &|at| clock(at, env.now),
        stale: &|memory| staleness.why(memory),
    };
    Ok(format_memories(&chosen, &next_steps(archive, project, asker.not_of)?, wording))
}

/// The best of a project's memories that are not pinned. Only those are read as a whole.
fn best(
    env: &Env,
    config: &Config,
    archive: &Archive,
    project: i64,
    here: &CurrentWork,
) -> Result<ChosenMemories, StoreError> {
    let mut ranking = Ranking::new(here);
    let mut newest = rank_newest(archive, project, NEWEST, &mut ranking)?;
    let mut found = None;
    if newest.len() == NEWEST as usize {
        found = if config.memory.older { found_by_words(env, archive, project, here)? } else { None };
        if found.is_none() {
            newest = rank_newest(archive, project, NEWEST_WITHOUT_INDEX, &mut ranking)?;
        }
    }
    let oldest = newest.iter().min().copied().unwrap_or(0);
    for path in &here.files {
        archive.memories_about(path, oldest)?.into_iter().for_each(|number| ranking.add_file(number));
    }
    let found = found.unwrap_or_default().into_iter();
    let older: Vec<i64> = found.filter(|number| !newest.contains(number)).collect();
    archive.memories_to_rank(project, &older, &mut |candidate, pinned_at| {
        if pinned_at.is_none() {
            ranking.add(candidate);
        }
    })?;
    for number in older.into_iter().filter(|_| !here.files.is_empty()) {
        let paths = archive.paths_of_memory(number)?;
        paths.iter().filter(|path| here.files.contains(*path)).for_each(|_| ranking.add_file(number));
    }
    let best = ranking.best();
    let read = |numbers: &[i64]| archive.memories_numbered(numbers);
    Ok(ChosenMemories { pinned: vec![], fitting: read(&best.fitting)?, others: read(&best.others)? })
}

/// Ranks the newest memories that are not pinned; returns the numbers of all.
fn rank_newest(
    archive: &Archive,
    project: i64,
    most: u32,
    ranking: &mut Ranking<'_>,
) -> Result<Vec<i64>, StoreError> {
    let mut newest = vec![];
    archive.newest_memories(project, most, &mut |candidate, pinned_at| {
        newest.push(candidate.number);
        if pinned_at.is_none() {
            ranking.add(candidate);
        }
    })?;
    Ok(newest)
}

/// The memories that the index finds for the prompt, of any age; `None` without an index.
fn found_by_words(
    env: &Env,
    archive: &Archive,
    project: i64,
    here: &CurrentWork,
) -> Result<Option<Vec<i64>>, StoreError> {
    let Some(name) = archive.project_name(project)? else { return Ok(None) };
    // The index knows a project by its name, which another one may have, too; the archive tells them apart.
    Ok(index::memories_for(&env.home, &here.prompt, &name, OLDER))
}

fn files_lately(archive: &Archive, project: Option<i64>) -> Result<BTreeSet<String>, StoreError> {
    let mut files = BTreeSet::new();
    let (sessions, turns) = LATELY;
    let Some(project) = project else { return Ok(files) };
    for conversation in archive.latest_conversations(Some(project), sessions)? {
        let last = conversation.turns;
        let touched = archive.files(&conversation, last.saturating_sub(turns)..=last)?;
        files
            .extend(touched.into_iter().filter(|file| file.how == FileAccess::Changed).map(|file| file.path));
    }
    Ok(files)
}

/// The next steps that the latest sessions recorded, one line each with the level of its trust.
fn next_steps(
    archive: &Archive,
    project: Option<i64>,
    not_of: &dyn Fn(&SessionKey) -> bool,
) -> Result<Vec<String>, StoreError> {
    let Some(project) = project else { return Ok(vec![]) };
    let mut steps = vec![];
    let latest = archive.recent_summaries(project, LOOKED_AT)?;
    for (at, kept) in latest.into_iter().filter(|kept| !not_of(&kept.session)).take(SESSIONS).enumerate() {
        let lines =
            kept.summary.next_steps.lines().map(|line| line.trim_start_matches(['-', '*', ' ']).trim());
        // The newer session may have fixed a run that failed in an older one.
        let lines = lines.filter(|line| at == 0 || !line.starts_with(FAILING));
        let (of, level) = (format!("{}#{}", kept.session.short(), kept.turn), kept.trust.level().name());
        let steps_here = lines.filter(|line| !line.is_empty()).take(STEPS);
        steps.extend(steps_here.map(|line| format!("{level}: {line} ({of})")));
    }
    Ok(steps)
}

/// Whether a session's next steps are taken: it is still open, or a session after `/clear` continues them.
pub fn is_continued(store: Option<&Store>, session: &SessionKey) -> bool {
    let known = store.and_then(|store| store.session(session).ok().flatten());
    known.is_some_and(|known| match known.ended {
        None => known.seat.is_some(),
        Some((_, by)) => by == EndedBy::Clear,
    })
}

/// Records that memories were given, and returns the notice for the user. An empty set counts as given too,
/// so no hook looks again until a compaction.
pub fn given(
    env: &Env,
    config: &Config,
    session: &Session,
    composed: &ComposedContext,
    chosen: &MemorySelection,
) -> Vec<String> {
    let given = Given::of(composed, chosen);
    let items = u32::try_from(given.items).unwrap_or(u32::MAX);
    let event = record::event(env, &session.key, EventKind::MemoryGiven { items });
    record::append_or_fault(env, [event]);
    if items == 0 || !config.memory.notice {
        return vec![];
    }
    let of = session.project.as_ref().map_or("this place", |traces| traces.display_name());
    let things = if items == 1 { "1 thing" } else { &format!("{items} things") };
    let notice =
        format!("towline: gave {things} remembered of {of} ({given}). `tow session context` shows them.");
    std::iter::once(notice).chain(hint(env)).collect()
}

/// The memories that fit into the context, and the cost of learning them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    pub items: usize,
    pub tokens: usize,
    pub took: SelectionCost,
}

impl Given {
    pub fn of(composed: &ComposedContext, chosen: &MemorySelection) -> Given {
        let mut lines: Vec<&str> = composed.text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        lines.sort_unstable();
        let is_given = |start: &str| {
            lines.get(lines.partition_point(|line| *line < start)).is_some_and(|line| line.starts_with(start))
        };
        let begins = |item: &str| item.chars().take(RECOGNISED).collect::<String>();
        let items = chosen.parts.iter().flat_map(|part| &part.items);
        let given: Vec<&String> = items.filter(|item| is_given(&begins(item))).collect();
        let bytes: usize = given.iter().map(|item| item.len()).sum();
        let took = chosen.cost_of(&|name| is_given(&format!("{name} ")));
        Given { items: given.len(), tokens: bytes.div_ceil(tokens::BYTES_PER_TOKEN), took }
    }
}

impl fmt::Display for Given {
    /// `~420 tokens; 3 of them learnt in 2 turns that took 18300`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SelectionCost { memories, turns, tokens } = self.took;
        write!(f, "~{} tokens", self.tokens)?;
        match turns {
            0 => Ok(()),
            1 => write!(f, "; {memories} of them learnt in a turn that took {tokens}"),
            turns => write!(f, "; {memories} of them learnt in {turns} turns that took {tokens}"),
        }
    }
}

/// Explains memories to a first-time user. Shown once per home, even if the database is rebuilt.
fn hint(env: &Env) -> Option<String> {
    let mut once = OpenOptions::new();
    once.write(true).create_new(true).mode(0o600).open(env.home.hinted()).ok()?;
    Some(
        "towline: what earlier sessions here learnt is given to new ones, by rules, on this machine. You are told this \
         once. `tow open` shows all of it in a browser. Off: `tow config set memory.give false`; without such lines: \
         `tow config set memory.notice false`."
            .to_owned(),
    )
}

/// The prefix that identifies a line: it contains name, type and time.
const RECOGNISED: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::compose::{ComposeInput, ContextBudget, MemorySection, MemorySectionKind, compose};

    #[test]
    fn only_what_had_room_counts_as_given() {
        let items = (1..100).map(|number| format!("m{number} change: {}", "word ".repeat(40))).collect();
        let (title, why) = ("Other memories".to_owned(), String::new());
        let part = MemorySection { kind: MemorySectionKind::Index, title, items, why };
        let mut chosen = MemorySelection::default();
        chosen.parts.push(part);
        let remembered = chosen.parts.clone();
        let material = ComposeInput { remembered, program: "tow".into(), ..ComposeInput::default() };
        let given = |limit| Given::of(&compose(&material, ContextBudget::Characters(limit)), &chosen).items;
        assert!((3..12).contains(&given(2_000)), "{}", given(2_000));
        assert_eq!((given(10), given(1_000_000)), (0, 99));
    }
}

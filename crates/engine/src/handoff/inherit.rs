//! Gives a session the work it inherits, and its user the choices if there are several.
//!
//! `core::inherit` decided what is inherited, while events were applied; this module puts it into words, once. Whether
//! memories are due, `apply::heir` asks first; `Giver::remembered` decides without inherited work, `Giver::hand` with it:
//! once per context, and never after a fresh start.

use crate::capture;
use crate::handoff::continuing::TakenFile;
use crate::handoff::{continuing, past};
use crate::memory::recall;
use crate::runtime::{Config, Env, env, record};
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::{
    ComposeInput, ComposedContext, ContextPart, ContextPartKind, ContextPartState, compose, first_directive,
    is_greeting,
};
use towline_core::continuing::Hop;
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::event::{EventKind, OwnCommand};
use towline_core::id::SessionKey;
use towline_core::inherit::InheritRule;
use towline_core::memory::choose::MemorySelection;
use towline_core::reply::Reply;
use towline_core::session::Session;
use towline_core::text::SafeText;
use towline_store::{Archive, Inheritance, Store, StoreError};

/// The context for answering one prompt: environment, store and the prompted session.
#[derive(Clone, Copy)]
pub struct Giver<'a> {
    pub env: &'a Env,
    pub config: &'a Config,
    pub store: &'a Store,
    pub session: &'a Session,
    /// The hops that have not ended.
    pub open: &'a [Hop],
}

impl Giver<'_> {
    /// The inheritance of a prompted session. Needs no lock: one hook at a time answers the prompts of a session.
    pub fn inherited(&self) -> Result<Reply, StoreError> {
        let Some(due) = self.store.inheritance_to_give(&self.session.key)? else { return self.remembered() };
        let reply = match &due.from {
            Some(from) => self.carried_over(from, &due)?,
            None => {
                let notices = Reply { notices: notices(self.store, &due)?, ..Reply::default() };
                self.remembered()?.merge(notices)
            }
        };
        mark_given(self.env, &due);
        Ok(reply)
    }

    /// The work of the previous session, as much of it as the heir's agent accepts.
    fn carried_over(&self, from: &SessionKey, due: &Inheritance) -> Result<Reply, StoreError> {
        let Giver { env, store, .. } = *self;
        let before = store.session(from)?;
        let archive = capture::snapshot_with(env, before.as_ref(), PATIENCE)?;
        if due.machine.is_some() && is_anothers(archive.as_ref(), from)? {
            return self.remembered();
        }
        let mut material = past::material(archive.as_ref(), Some(store), from, came_by(due.way), env.now)?;
        self.narrow_to_pane(&mut material, archive.as_ref())?;
        if let Some(machine) = &due.machine {
            past::mark_remote(&mut material, archive.as_ref(), machine.clone())?;
        }
        let carried = Reply { notices: self.carried_notice(&material, before.as_ref()), ..Reply::default() };
        let hop = continuing::handoff_of(store, from)?;
        if let Some(hop) = &hop {
            continuing::insert_handoff(&mut material, hop);
            return Ok(carried.merge(self.hand(Some(hop), material, archive)?));
        }
        let file = continuing::taken_file(self.config, store, self.session)?;
        if let (Some(past), Some(file)) = (&mut material.past, &file) {
            past.handoff = Some(file.handoff.clone());
        }
        Ok(carried.merge(self.hand(None, material, archive)?).merge(file_notice(file)))
    }

    /// Tells the user whose work goes on: otherwise nothing on the screen shows it after a `/clear`.
    fn carried_notice(&self, material: &ComposeInput, before: Option<&Session>) -> Vec<String> {
        let Some(past) = material.past.as_ref().filter(|_| self.config.inherit_notice) else { return vec![] };
        let last = before.and_then(|session| session.prompt.as_ref()).map(SafeText::as_str);
        // Of the session itself, or of the one whose work it continued with no more than "go on".
        let directive = std::iter::once(past).chain(&material.chain).find_map(first_directive);
        let asked = directive.map(|directive| directive.text).or(last);
        let asked: Vec<&str> = asked.unwrap_or(past.session.short()).split_whitespace().collect();
        let asked = fit_to_width(&escape_for_terminal(&asked.join(" ")), 60);
        let turns = match past.turns_in_all {
            0 => String::new(),
            1 => " (1 turn)".to_owned(),
            turns => format!(" ({turns} turns)"),
        };
        vec![format!("towline: continues “{asked}”{turns}.")]
    }

    /// The handoff file of the folder, for a session that inherits nothing else.
    fn file_alone(&self) -> Result<Option<(ComposeInput, TakenFile)>, StoreError> {
        let Some(file) = continuing::taken_file(self.config, self.store, self.session)? else {
            return Ok(None);
        };
        let from = file.writer.as_ref().unwrap_or(&self.session.key);
        let hot = file.writer.as_ref().map(|_| self.store);
        let mut material = past::material(None, hot, from, "its handoff file".to_owned(), self.env.now)?;
        if let Some(past) = &mut material.past {
            past.handoff = Some(file.handoff.clone());
        }
        Ok(Some((material, file)))
    }

    /// For a session that inherits no work: the handoff of the hop that started it, and the memories, unless
    /// its model was given those already.
    pub fn remembered(&self) -> Result<Reply, StoreError> {
        let alone = continuing::handoff_only(self.env, self.store, &self.session.key, self.open)?;
        if alone.is_none()
            && let Some((material, file)) = self.file_alone()?
        {
            let archive = Archive::open_snapshot(&self.env.home, PATIENCE)?;
            return Ok(self.hand(None, material, archive)?.merge(file_notice(Some(file))));
        }
        // A greeting does not say which memories matter: the next prompt does.
        let greets = || self.session.prompt.as_ref().is_some_and(|prompt| is_greeting(prompt.as_str()));
        if alone.is_none() && (self.session.memories_given_at.is_some() || greets()) {
            return Ok(Reply::default());
        }
        let archive = Archive::open_snapshot(&self.env.home, PATIENCE)?;
        if alone.is_none() && archive.is_none() {
            return Ok(Reply::default());
        }
        // A user who starts afresh gets no memories.
        if alone.is_none() && self.store.way_of(&self.session.key)? == Some(InheritRule::Fresh) {
            let nothing = ComposedContext::default();
            recall::given(self.env, self.config, self.session, &nothing, &MemorySelection::default());
            return Ok(Reply::default());
        }
        let nothing = || ComposeInput { program: env::program(), ..ComposeInput::default() };
        let (hop, material) =
            alone.map_or_else(|| (None, nothing()), |(hop, material)| (Some(hop), material));
        self.hand(hop.as_ref(), material, archive)
    }

    /// Composes the reply, and records which handoff and memories it contained.
    fn hand(
        &self,
        hop: Option<&Hop>,
        mut material: ComposeInput,
        archive: Option<Archive>,
    ) -> Result<Reply, StoreError> {
        let Giver { env, config, session, .. } = *self;
        let Some(agent) = Agent::from_name(session.key.agent.as_str()) else { return Ok(Reply::default()) };
        // Without an archive there are no memories, and no notice about them.
        let due = archive.filter(|_| session.memories_given_at.is_none());
        let mut chosen = MemorySelection::default();
        if let Some(archive) = &due {
            let from = material.past.as_ref().map(|past| past.session.clone());
            let not_of = |key: &SessionKey| {
                from.as_ref() == Some(key)
                    || *key == session.key
                    || recall::is_continued(Some(self.store), key)
            };
            let asker = recall::Asker::of(session, &not_of);
            chosen = recall::gather(env, config, archive, asker)?;
            material.remembered.clone_from(&chosen.parts);
        }
        let composed = compose(&material, agent.budget());
        let is_in = |part: &ContextPart| {
            part.what == ContextPartKind::Handoff && part.state != ContextPartState::LeftOut
        };
        if let Some(hop) = hop.filter(|_| composed.parts.iter().any(is_in)) {
            continuing::mark_given(env, hop, &session.key);
        }
        let mut notices = vec![];
        if let Some(archive) = due {
            notices = recall::given(env, config, session, &composed, &chosen);
            archive.exit_without_close();
        }
        Ok(Reply { notices, ..said(composed) })
    }
}

fn file_notice(file: Option<TakenFile>) -> Reply {
    Reply { notices: file.map(|file| file.notice).into_iter().collect(), ..Reply::default() }
}

/// Whether the session belongs to another user: a baton from the hub does not change its owner.
fn is_anothers(archive: Option<&Archive>, from: &SessionKey) -> Result<bool, StoreError> {
    let Some(archive) = archive else { return Ok(false) };
    let Some(conversation) = archive.conversation(from)? else { return Ok(false) };
    Ok(archive.origin_of(&conversation)?.1.is_some())
}

/// How the work came to the heir, for the model: short, and without the names shown beside it.
fn came_by(way: InheritRule) -> String {
    let words = match way {
        InheritRule::Baton => "it passed the baton",
        InheritRule::Clear => "cleared in the same pane",
        InheritRule::Fallback => "the only one that can have been cleared",
        InheritRule::Taken => "the person chose it",
        InheritRule::Fresh
        | InheritRule::Asked
        | InheritRule::Ambiguous
        | InheritRule::Off
        | InheritRule::None => "",
    };
    words.to_owned()
}

/// Offers a session the turns that it lost to a compaction.
pub fn offer_lost_turns(env: &Env, store: &Store, session: &SessionKey) -> Result<Reply, StoreError> {
    let archive = capture::snapshot_with(env, store.session(session)?.as_ref(), PATIENCE)?;
    let Some(archive) = archive else { return Ok(Reply::default()) };
    let material = past::compacted(&archive, session, env.now)?;
    let agent = Agent::from_name(session.agent.as_str());
    let composed = material.zip(agent).map(|(material, agent)| compose(&material, agent.budget()));
    Ok(composed.map(said).unwrap_or_default())
}

fn said(composed: ComposedContext) -> Reply {
    let context = if composed.text.is_empty() { vec![] } else { vec![composed.text] };
    Reply { context, ..Reply::default() }
}

/// How long to wait for a database that another process migrates or recovers.
const PATIENCE: Duration = Duration::from_millis(500);

fn mark_given(env: &Env, due: &Inheritance) {
    let happening = EventKind::InheritanceGiven { decision: due.uid };
    record::append_or_fault(env, [record::event(env, &due.heir, happening)]);
}

/// The notice to a user who typed one of our commands.
pub fn acknowledged(own: OwnCommand, session: &SessionKey, store: &Store) -> Result<Reply, StoreError> {
    let notice = match own {
        OwnCommand::Baton if store.open_baton_of(session)?.is_some() => {
            "towline: this work is handed on. The next session here, or the only one that starts in this project \
             within an hour, goes on with this work."
        }
        OwnCommand::Baton => "towline: there is nothing to pass on yet: nothing was asked of this session.",
        OwnCommand::Fresh => {
            "towline: the next session here starts afresh. `tow session fresh --undo`, or another prompt, takes it back."
        }
        OwnCommand::Other => return Ok(Reply::default()),
    };
    Ok(Reply { notices: vec![notice.to_owned()], ..Reply::default() })
}

/// The notices to the user if they have to choose.
fn notices(store: &Store, due: &Inheritance) -> Result<Vec<String>, StoreError> {
    let first = due.candidates.first().map_or("SESSION", SessionKey::short);
    let take = |id: &str| format!("`tow session inherit take {id}`, and the next prompt has its work");
    Ok(match due.way {
        InheritRule::Asked => {
            vec![format!("towline: to go on with {}, run {}.", candidate_names(store, due)?, take(first))]
        }
        InheritRule::Ambiguous => vec![format!(
            "towline: nothing was carried over: {} ({}). Choose one by {}.",
            due.reason,
            candidate_names(store, due)?,
            take("ID")
        )],
        InheritRule::Baton
        | InheritRule::Clear
        | InheritRule::Fallback
        | InheritRule::Taken
        | InheritRule::Fresh
        | InheritRule::Off
        | InheritRule::None => vec![],
    })
}

/// How many candidates a notice names, the latest ones: a hundred sessions of one folder filled it, and each cost a query.
const NAMED: usize = 5;

fn candidate_names(store: &Store, due: &Inheritance) -> Result<String, StoreError> {
    let mut names = vec![];
    let unnamed = due.candidates.len().saturating_sub(NAMED);
    for key in due.candidates.iter().skip(unnamed) {
        // A session of another machine is known by its name alone.
        let bare = || format!("{} {}", key.agent, key.short());
        names.push(store.session(key)?.as_ref().map_or_else(bare, session_label));
    }
    let names = names.join(", ");
    Ok(if unnamed == 0 { names } else { format!("{names}, and {unnamed} more") })
}

/// A session in a few words: its agent, the end of its id, its last prompt.
pub fn session_label(session: &Session) -> String {
    let asked = session.prompt.as_ref().map_or("", |prompt| prompt.as_str());
    let asked = fit_to_width(&escape_for_terminal(asked), 40);
    let asked = if asked.trim().is_empty() { String::new() } else { format!(" “{}”", asked.trim()) };
    format!("{} {}{asked}", session.key.agent, session.key.short())
}

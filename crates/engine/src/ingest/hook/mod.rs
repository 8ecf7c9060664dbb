//! `tow hook AGENT`: one event in, at most one JSON object out.
//!
//! Always exits with 0, prints nothing but its reply, starts no thread and no runtime, and never makes the
//! agent wait longer than its deadline. Every error becomes a fault for `tow doctor`.

mod apply;
mod deadline;
mod lag;
mod private_turn;
mod scene;

use crate::capture::capture_detached;
use crate::handoff::continuing::AppliedEvent;
use crate::handoff::guard;
use crate::index::damage::record_panic;
use crate::ingest::host;
use crate::memory::gotchas;
use crate::runtime::config::{JournalSync, Mistake, layered};
use crate::runtime::env::GUARD;
use crate::runtime::{Config, Env, chain, faults, privacy, record, spawn, variable};
use apply::{Applied, Upkeep};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};
use std::cell::{Cell, OnceCell};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::mem::ManuallyDrop;
use std::panic::PanicHookInfo;
use std::path::Path;
use towline_agents::{Agent, HookEvent, PayloadError};
use towline_core::event::{Event, EventKind, EventScene, Urgency};
use towline_core::fault::FaultKind;
use towline_core::inherit::{Fallback, InheritSettings, OnClear};
use towline_core::reply::Reply;
use towline_core::seat::SeatLocation;
use towline_core::text::clip;
use towline_store::{fill_room, fill_stack, keep_wal_index, marks, warned};
use towline_terminal::process::Process;
use towline_terminal::tail::last_bytes;

/// If 1, a cleared session inherits only from the one that its seat names.
const NO_FALLBACK: &str = "TOWLINE_NO_AUTO_INHERIT";

/// More than any agent sends; the rest is read and discarded.
const LARGEST_PAYLOAD: usize = 64 << 20;
/// As much of the stack as the smallest hook uses.
const STACK_PAGES: usize = 5;
const USUAL_PAYLOAD: usize = 16 << 10;
const ROOM_FOR_MORE: usize = 8 << 20;
const MOST_AHEAD: usize = 256 << 10;

/// When the hook of a prompt ends: below the 5 s after which the agents go on without it.
const CONTEXT_MS: u64 = 4000;

/// The part of a transcript in which the end of a turn is looked for: the longest handoff and more.
const TRANSCRIPT_END: u64 = 64 * 1024;

const LATE: &str = "towline: there was no time to look for work to carry over. Your next prompt carries it.";

/// Where a payload comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PayloadSource {
    /// The agent that called us.
    Agent,
    /// A program that may only report: it gets no reply and cannot speak for a session that hooks report.
    Host,
}

/// One hook call: its agent, environment and settings.
struct HookCall {
    agent: Agent,
    source: PayloadSource,
    env: Env,
    config: Config,
    /// How long this hook may take, in milliseconds.
    limit_ms: Cell<u64>,
    /// The agent above this hook, found on first use.
    process: OnceCell<Option<Process>>,
}

/// Runs the hook; errors and panics never change the exit code. `detail` is the event, for agents whose payloads do not
/// name it, or marks the payload of a host.
pub fn run(agent: Option<&OsStr>, detail: Option<&OsStr>) -> ! {
    fill_stack(STACK_PAGES);
    keep_wal_index();
    if variable(GUARD).is_none() {
        std::panic::set_hook(Box::new(end_after_panic));
        match detail.and_then(OsStr::to_str) {
            Some(spawn::OF_HOST) => answer(agent, PayloadSource::Host, None),
            event => answer(agent, PayloadSource::Agent, event),
        }
    }
    deadline::end()
}

/// Ends the process here: the release does not unwind, and an abort would be an exit code other than 0.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "a panic hook has no caller to return to")]
fn end_after_panic(panic: &PanicHookInfo<'_>) {
    record_panic(panic);
    std::process::exit(0)
}

fn answer(agent: Option<&OsStr>, source: PayloadSource, event: Option<&str>) {
    let name = agent.and_then(OsStr::to_str).unwrap_or("");
    let (Some(agent), Some(env)) = (Agent::from_name(name), Env::new()) else {
        let detail =
            format!("`tow hook` was called for an unknown agent or without a home: {:?}", clip(name, 40));
        return faults::record(Env::new().as_ref(), FaultKind::Internal, detail);
    };
    arm_deadline(&env);
    let payload = read_payload();
    // The agent that runs it has hooks of its own, or none.
    if source == PayloadSource::Agent && agent.is_run_by_another(&|name| variable(name).is_some()) {
        return;
    }
    let (config, mistake) = load_config(&env);
    let limit_ms = Cell::new(config.deadline_ms);
    let call = HookCall { agent, source, env, config, limit_ms, process: OnceCell::new() };
    // The process ends before anyone could use the memory.
    let call = ManuallyDrop::new(call);
    if payload.len() >= LARGEST_PAYLOAD {
        return call.unreadable(&PayloadError::TooLarge(LARGEST_PAYLOAD as u64));
    }
    let mut heard = match call.agent.parse_hook_of(event, &payload, call.config.text_limits()) {
        Ok(Some(heard)) => heard,
        Ok(None) => return call.warn(event, &payload),
        Err(error) => return call.unreadable(&error),
    };
    if call.source == PayloadSource::Host && !call.bound_to_host(&mut heard) {
        return call.fault(FaultKind::Payload, "the id of a host's session is too long".to_owned());
    }
    if heard.folder.as_deref().is_some_and(|folder| privacy::is_excluded(&call.config, folder)) {
        return;
    }
    call.complete_turn_end(&mut heard);
    if heard.transcript.is_none() {
        let transcript = call.agent.transcript_of(&heard.session.id, &variable);
        heard.transcript = transcript.and_then(|path| path.into_os_string().into_string().ok());
    }
    call.know_marker(&mut heard.happening);
    private_turn::hide(&call, &mut heard);
    if let (Some(mistake), EventKind::SessionStarted { .. }) = (mistake, &heard.happening) {
        call.fault(FaultKind::Config, mistake);
    }
    if let (Some(fill), None) = (heard.fill, &heard.subagent) {
        guard::shown(&call.env, &call.config, &heard.session, heard.folder.as_deref(), fill);
    }
    let Some(applied) = call.accept(&heard) else { return };
    call.say(&heard.event, &applied.reply);
    if applied.upkeep == Upkeep::Due {
        spawn::start_unless_running(&call.env);
    }
    if matches!(heard.happening, EventKind::CompactionEnded { .. }) && call.config.memory.gotchas {
        let _ = warned::remove(&call.env.home, &heard.session);
    }
    if heard.happening.ends_something() {
        let transcripts = [&heard.transcript, &heard.subagent_transcript];
        capture_detached(&call.env.home, call.agent.name(), transcripts, applied.bookmarked);
    } else if heard.happening.is_marker() {
        spawn::place_detached();
    }
}

fn arm_deadline(env: &Env) {
    let detail = "a hook ran out of time; what it had accepted is applied later";
    deadline::arm(&env.home.fault_log(), faults::prepared_line(env.now, FaultKind::Deadline, detail));
}

impl HookCall {
    /// Limits everything that may wait, from here on, to the deadline.
    fn set_deadline(&self) {
        deadline::set(self.left_ms().max(1));
    }

    fn left_ms(&self) -> u64 {
        self.limit_ms.get().saturating_sub(self.env.elapsed_ms())
    }

    /// A prompt may carry context to the model, which is worth a longer wait. If time runs out all the same, the user is
    /// told, and the next prompt carries it.
    fn wait_longer_for_context(&self, heard: &HookEvent) {
        if !self.carries_context(&heard.happening) || heard.subagent.is_some() {
            return;
        }
        self.limit_ms.set(self.config.deadline_ms.max(CONTEXT_MS));
        let late = Reply { notices: vec![LATE.to_owned()], ..Reply::default() };
        deadline::say_at_last(self.agent.render_reply(&heard.event, &late).unwrap_or_default());
    }

    fn carries_context(&self, happening: &EventKind) -> bool {
        self.source == PayloadSource::Agent && happening.is_real_prompt()
    }

    /// Limits an event received over HTTP to a session of hosts, without commands of ours, and to the transcript that we
    /// write for that session: it may name no other file. False if the session cannot be named.
    fn bound_to_host(&self, heard: &mut HookEvent) -> bool {
        let Ok(id) = heard.session.id.of_host() else { return false };
        let own = host::transcript(&self.env.home, &id);
        heard.transcript = heard.transcript.take().filter(|path| Path::new(path) == own);
        (heard.subagent_transcript, heard.typed, heard.session.id) = (None, None, id);
        if let EventKind::PromptSubmitted { own, .. } = &mut heard.happening {
            *own = None;
        }
        true
    }

    /// Some agents tell only in their transcript how a turn ended, before they call the hook.
    fn complete_turn_end(&self, heard: &mut HookEvent) {
        let is_end = matches!(heard.happening, EventKind::TurnEnded { .. });
        if let Some(path) =
            heard.transcript.as_deref().filter(|_| is_end && self.agent.tells_end_in_transcript())
            && let Ok((end, _)) = last_bytes(Path::new(path), TRANSCRIPT_END)
        {
            self.agent.complete_turn_end(heard, &end, self.config.text_limits());
        }
    }

    fn say(&self, event: &str, reply: &Reply) {
        deadline::say_at_last(String::new());
        if let Some(said) = self.agent.render_reply(event, reply) {
            print(said.as_bytes());
        }
    }

    /// An ignored payload may be a tool call about to touch a file. Checked only if warnings are enabled.
    fn warn(&self, event: Option<&str>, payload: &[u8]) {
        if !self.config.memory.gotchas || self.source == PayloadSource::Host {
            return;
        }
        let Some(wanted) = self.agent.pending_files(event, payload) else { return };
        self.set_deadline();
        match gotchas::warning(&self.env, &self.config, &wanted) {
            Ok(reply) => self.say(self.agent.before_tool(), &reply),
            Err(error) => self.fault(FaultKind::Store, chain(&error)),
        }
    }

    /// Accepts one event and applies it if urgent.
    fn accept(&self, heard: &HookEvent) -> Option<Applied> {
        let urgency = self.urgency(heard);
        let settled = self.is_settled(heard, urgency);
        let moved = matches!(heard.happening, EventKind::FolderChanged);
        // A subagent's folder and transcript are its own, not its session's.
        let tells_scene = heard.subagent.is_none() && (moved || !settled);
        let event = Event {
            uid: self.env.uid(),
            at: self.env.now,
            session: heard.session.clone(),
            subagent: heard.subagent.clone(),
            turn: heard.turn.clone(),
            happening: self.with_wishes(heard),
            scene: tells_scene.then(|| scene::of(self, heard)),
        };
        let is_appended = record::append_or_fault(&self.env, self.events(&event));
        if is_appended && self.config.journal_sync == JournalSync::Event {
            record::sync(&self.env);
        }
        if !is_appended || settled {
            return None;
        }
        self.wait_longer_for_context(heard);
        self.set_deadline();
        self.look_for_seat(&event, heard);
        let ending = lag::wait_for_transcript(self, heard);
        let applied = AppliedEvent { event: &event, ending: &ending, is_private: heard.is_private };
        Some(apply::apply(self, &applied, urgency))
    }

    /// The event, and the command its prompt holds: one write, so that neither exists without the other.
    fn events(&self, event: &Event) -> Vec<Event> {
        let mut events = vec![event.clone()];
        if let EventKind::PromptSubmitted { own: Some(own), .. } = &event.happening
            && let (Some(happening), None) = (own.event_kind(), &event.subagent)
        {
            events.push(Event { uid: self.env.uid(), happening, scene: None, ..event.clone() });
        }
        events
    }

    /// Stores the user's inheritance settings in the start event: the journal alone must suffice to decide.
    fn with_wishes(&self, heard: &HookEvent) -> EventKind {
        let EventKind::SessionStarted { by, .. } = heard.happening else { return heard.happening.clone() };
        let is_veto = heard.folder.as_deref().is_some_and(|folder| self.config.inherits_nothing(folder));
        let is_off = is_veto || variable(NO_FALLBACK).is_some_and(|value| value == "1");
        let fallback = if is_off { Fallback::Off } else { Fallback::On };
        let on_clear = if is_veto { OnClear::Never } else { self.config.on_clear };
        EventKind::SessionStarted { by, wishes: InheritSettings { on_clear, fallback } }
    }

    /// Only a prompt equal to the user's marker counts as a bookmark, whatever the agent's adapter takes for one.
    fn know_marker(&self, happening: &mut EventKind) {
        if let EventKind::PromptSubmitted { prompt, origin, own: None } = happening {
            *origin = self.config.bookmarks.origin(*origin, prompt.as_str());
        }
    }

    /// How soon the database needs the event: sooner than usual if the agent is due a message.
    fn urgency(&self, heard: &HookEvent) -> Urgency {
        let own = heard.happening.urgency();
        let is_due = guard::triggers_context_check(&heard.happening)
            && self.is_settled(heard, own)
            && guard::is_due(&self.env, &self.config, self.agent, heard);
        if !is_due {
            return own;
        }
        match own {
            Urgency::UnlessWorking => Urgency::Answered,
            // This event takes no reply: lift the mark so that the next tool result is applied.
            Urgency::Whenever | Urgency::Shown | Urgency::Answered => {
                marks::unmark(&self.env.home, &heard.session);
                own
            }
        }
    }

    /// Whether appending to the journal is enough for now.
    fn is_settled(&self, heard: &HookEvent, urgency: Urgency) -> bool {
        match urgency {
            Urgency::Whenever => true,
            Urgency::UnlessWorking => marks::is_working(&self.env.home, &heard.session),
            Urgency::Shown | Urgency::Answered => false,
        }
    }

    fn look_for_seat(&self, event: &Event, heard: &HookEvent) {
        if let Some(place) = scene::seat(self, event, heard) {
            self.accept_seat(event, Some(place));
        }
    }

    /// Records the seat as an event of its own: the event that caused the lookup is already accepted.
    /// No place: it was looked for and not found.
    fn accept_seat(&self, event: &Event, place: Option<SeatLocation>) {
        let scene = event.scene.clone().map(|scene| EventScene { place, ..scene });
        let found = Event { uid: self.env.uid(), happening: EventKind::SeatFound, scene, ..event.clone() };
        record::append_or_fault(&self.env, [found]);
    }

    /// Names the agent and the flaw, never anything of the payload.
    fn unreadable(&self, error: &PayloadError) {
        self.fault(FaultKind::Payload, format!("{}: {error}", self.agent.name()));
    }

    fn fault(&self, kind: FaultKind, detail: String) {
        faults::record_here(&self.env, kind, detail);
    }
}

/// Reads everything the agent writes, so that its pipe never breaks. A closed or broken stdin yields an empty payload, which
/// is reported as a fault. Without the buffers of the standard library, here and in `print`: their memory and code cost a
/// tool result four page faults.
fn read_payload() -> Vec<u8> {
    let mut payload = Vec::with_capacity(USUAL_PAYLOAD);
    let mut filled = payload.capacity();
    while payload.len() < LARGEST_PAYLOAD && read_more(&mut payload) {
        if payload.len() == payload.capacity() {
            // Unused capacity costs nothing; growing step by step would copy the payload each time.
            payload.reserve(ROOM_FOR_MORE);
        }
        if payload.len() >= filled {
            filled = payload.len() + fill_ahead(&mut payload);
        }
    }
    if payload.len() >= LARGEST_PAYLOAD {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
    }
    payload
}

/// Maps pages for as much again as was read, up to `MOST_AHEAD`, and returns for how much: a tool result of 2 MB had 512 page
/// faults here.
fn fill_ahead(payload: &mut Vec<u8>) -> usize {
    let ahead = payload.len().min(MOST_AHEAD);
    fill_room(payload.spare_capacity_mut().get_mut(..ahead).unwrap_or_default());
    ahead
}

/// Reads once into the unused capacity. False at the end.
fn read_more(payload: &mut Vec<u8>) -> bool {
    match rustix::io::read(stdin(), spare_capacity(payload)) {
        Ok(read) => read > 0,
        Err(error) => error == Errno::INTR,
    }
}

fn print(mut text: &[u8]) {
    while !text.is_empty() {
        match rustix::io::write(stdout(), text) {
            Ok(written) => text = text.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // The agent no longer reads.
            Err(_) => return,
        }
    }
}

/// The configuration, and the first mistake in it. If the privacy settings cannot be read, no text is kept at
/// all: a typo must not cause excluded or redacted text to be written.
fn load_config(env: &Env) -> (Config, Option<String>) {
    let file = env.config_file.display();
    let (user, unreadable) = match std::fs::read_to_string(&env.config_file) {
        Ok(user) => (user, None),
        Err(error) if error.kind() == ErrorKind::NotFound => return (Config::compiled_in(), None),
        Err(error) => (String::new(), Some(format!("could not read {file}: {error}"))),
    };
    let mut found = layered(&user);
    if unreadable.is_some() || found.mistakes.iter().any(Mistake::hides_privacy_settings) {
        found.config.keep_no_text();
    }
    (found.config, unreadable.or_else(|| found.mistakes.first().map(|mistake| format!("{file}: {mistake}"))))
}

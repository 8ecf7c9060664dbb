//! Finds the processes that may use a transcript: a client would go on writing to the replaced file.
//!
//! Checks open files, process arguments, recorded seats, and finally the working folder. Clients close the
//! file after every write, so the folder often decides: it errs on the side of naming a process.

use super::Subject;
use std::collections::BTreeSet;
use std::path::Path;
use towline_agents::Agent;
use towline_core::seat::Seat;
use towline_store::Store;
use towline_terminal::process::{Process, can_be_seen, holders, of_same_user};

/// Every process that may have the session open, with the reason.
pub fn users(subject: &Subject, folder: Option<&str>, store: Option<&Store>) -> Vec<String> {
    if !can_be_seen() {
        return vec!["it cannot be told here which programs run".to_owned()];
    }
    let id = subject.id();
    let seats = store.and_then(|store| store.seats().ok()).unwrap_or_default();
    let own = std::process::id();
    let open: BTreeSet<u32> = holders(&subject.path).iter().map(|process| process.pid).collect();
    let all = of_same_user(own).into_iter().filter(|process| process.pid != own);
    let reasons = all.filter_map(|process| {
        let why = if open.contains(&process.pid) {
            "has the file open"
        } else {
            reason(subject.agent, &process, &id, folder, &seats)?
        };
        Some(format!("{} (process {}) {why}", process.program_name(), process.pid))
    });
    reasons.collect()
}

fn reason(
    agent: Agent,
    process: &Process,
    id: &str,
    folder: Option<&str>,
    seats: &[Seat],
) -> Option<&'static str> {
    if !agent.is_program(&process.name) && !agent.is_program(&process.program_name()) {
        return None;
    }
    if process.arguments().iter().any(|word| word == id) {
        return Some("was started with it");
    }
    let sits = |seat: &&Seat| (seat.place.pid, seat.place.started) == (process.pid, process.started);
    if let Some(current) = seats.iter().filter(sits).find_map(|seat| seat.current.as_ref()) {
        return (current.id.as_str() == id).then_some("works on it");
    }
    let is_there = folder.is_some_and(|folder| process.folder().as_deref() == Some(Path::new(folder)));
    is_there.then_some("runs in its folder and may have it open")
}

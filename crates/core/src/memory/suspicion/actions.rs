//! Finds dangerous actions in a folded text, as commands or in the words of ten languages, unless it advises against them.
//!
//! An action is one that a project seldom needs and an attacker nearly always: running what was downloaded, packages of
//! another source, checks turned off, keys read, work destroyed, something left behind. Well-known installers and package
//! indexes pass. Judges the text alone; its trust is the caller's matter.

mod access;
mod checks;
mod damage;
mod packages;
mod running;
mod secrets;

use super::Suspicion;
use super::action::Action;
use super::wording::is_told_off;
use super::words::Plain;

/// More actions than this in one text are not looked at one by one: no ordinary text names so many.
const MOST: usize = 200;

type Find = fn(Plain<'_>) -> Vec<Action>;

const KINDS: [(Suspicion, Find); 9] = [
    (Suspicion::RunsDownloads, running::downloads),
    (Suspicion::ForeignPackages, packages::foreign_packages),
    (Suspicion::SkipsVerification, checks::skipped_verification),
    (Suspicion::SkipsPermissions, access::skipped_permissions),
    (Suspicion::SkipsHooks, checks::skipped_hooks),
    (Suspicion::ReadsSecrets, secrets::read_secrets),
    (Suspicion::DisablesProtection, damage::disabled_protection),
    (Suspicion::Destroys, damage::destroyed),
    (Suspicion::Persists, damage::persisted),
];

/// The first kind of action that the text advises.
pub(super) fn dangerous(plain: Plain<'_>) -> Option<Suspicion> {
    let advises = |find: Find| {
        let found = find(plain);
        found.len() > MOST || found.iter().any(|action| !is_told_off(plain.text, &action.range, &action.gap))
    };
    KINDS.into_iter().find(|(_, find)| advises(*find)).map(|(kind, _)| kind)
}

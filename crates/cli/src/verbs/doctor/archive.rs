//! Doctor check of the archive: its integrity and its size.
//!
//! Only reads. The pages of a large archive are checked on request, and otherwise reported as unchecked.

use super::check::Check;
use crate::progress;
use crate::scope::Scope;
use std::fs;
use std::time::Duration;
use towline_engine::runtime::chain;
use towline_engine::runtime::text::size;
use towline_store::archive::ArchiveSizes;
use towline_store::{Archive, StoreError};

const PATIENCE: Duration = Duration::from_millis(500);

/// Above this size the integrity check, which reads every page, would keep the user waiting.
const QUICKLY_READ: u64 = 256 << 20;

const BEGIN_ANEW: &str = "tow data import --rebuild";

const BRING_BACK: &str = "tow data work";

/// Whether a large archive is checked page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    IfSmall,
    EveryPage,
}

pub fn check(scope: &Scope, depth: Depth) -> Check {
    let path = scope.env.home.archive();
    let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
    let is_checked = bytes <= QUICKLY_READ || depth == Depth::EveryPage;
    let look = || -> Result<Option<(ArchiveSizes, Vec<String>)>, StoreError> {
        let Some(archive) = Archive::read(&scope.env.home, PATIENCE)? else { return Ok(None) };
        let _shown = is_checked.then(|| progress::activity("checking every page of the archive"));
        let complaints = if is_checked { archive.complaints()? } else { vec![] };
        Ok(Some((archive.sizes()?, complaints)))
    };
    match look() {
        Ok(None) if fs::metadata(scope.env.home.memory_log()).is_ok_and(|log| log.len() > 0) => {
            let detail =
                format!("{} is missing or empty; your memories are in the memory log", path.display());
            Check::bad("archive", detail, BRING_BACK)
        }
        Ok(None) => {
            Check::good("archive", "nothing captured yet; `tow data import` takes in what the agents have")
        }
        Ok(Some((sizes, _))) if !is_checked => {
            let detail = format!("{}; too large to check its pages each time", describe(&sizes));
            Check::good("archive", detail).with_next("tow doctor --deep")
        }
        Ok(Some((sizes, complaints))) if complaints.is_empty() => {
            Check::good("archive", format!("sound, {}", describe(&sizes)))
        }
        Ok(Some((_, complaints))) => {
            Check::bad("archive", format!("damaged: {}", complaints.join("; ")), BEGIN_ANEW)
        }
        Err(error) => Check::bad("archive", chain(&error), BEGIN_ANEW),
    }
}

fn describe(sizes: &ArchiveSizes) -> String {
    format!(
        "{} sessions, {} turns, {} messages, {} tool inputs and outputs, {} memories, {}",
        sizes.conversations,
        sizes.turns,
        sizes.bodies,
        sizes.details,
        sizes.memories,
        size(sizes.bytes)
    )
}

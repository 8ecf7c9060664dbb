//! Applies a plan to a file that an agent may rewrite at the same moment.
//!
//! Takes no lock, since the agents take none. Reads, plans, swaps if nothing changed meanwhile, and then watches for a
//! while whether an agent's own rewrite undid it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::archive::OriginalsArchive;
use super::change::{Containers, EditPlan};
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;
use super::swap::{self, FileSwap};

/// How long to contend with another writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPace {
    /// Time between two reads of the file.
    pub pause: Duration,
    /// Reads without a change after which the edit counts as lasting.
    pub quiet_looks: u32,
    /// Reads after which we give up.
    pub max_looks: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The applied plan; empty if nothing had to change.
    pub plan: EditPlan,
    /// The backup of the original bytes.
    pub backup: Option<PathBuf>,
}

impl RetryPace {
    /// Watches the file for 300 ms, and contends for five seconds at most.
    pub const USUAL: Self = Self { pause: Duration::from_millis(25), quiet_looks: 12, max_looks: 200 };

    /// For files that no program rewrites on its own.
    pub const BRIEF: Self = Self { pause: Duration::from_millis(2), quiet_looks: 0, max_looks: 50 };

    #[expect(clippy::disallowed_methods, reason = "a writer that takes no lock can only be looked at again")]
    fn wait(self) {
        thread::sleep(self.pause);
    }
}

/// Plans an edit of the current bytes.
type PlanOf<'p> = &'p dyn Fn(Option<Vec<u8>>) -> Result<EditPlan, EditRefusal>;

/// Unchanged reads after which an empty or broken file is accepted as such: a writer that truncates it first may be in
/// the middle of its work.
const STILL_LOOKS: u32 = 40;

/// The file's bytes, once no writer is in the middle of its work.
pub(super) fn settled_bytes(
    subject: &dyn ManagedContent,
    pace: RetryPace,
) -> Result<Option<Vec<u8>>, EditRefusal> {
    Edit::new(subject, Safekeeping::Nothing, pace)?.settled_bytes()
}

/// Plans the original file; if others have changed it since, the file without our content.
pub(super) fn removal(
    subject: &dyn ManagedContent,
    archive: &OriginalsArchive,
    current: Option<Vec<u8>>,
) -> Result<EditPlan, EditRefusal> {
    let record = archive.recall(subject);
    let kept = record.as_ref().map_or_else(Containers::default, |record| record.kept.clone());
    let plan = subject.plan_removal(current.as_deref(), &kept)?;
    let Some(record) = record.filter(|record| record.is_unchanged(current.as_deref())) else {
        return Ok(plan);
    };
    match (record.existed, archive.original(subject, &record, current.as_deref())) {
        (false, _) => Ok(EditPlan { after: None, ..plan }),
        (true, None) => Ok(plan),
        // An original may hold entries of ours from an installation before the first record.
        (true, Some(original)) => {
            Ok(EditPlan { after: subject.plan_removal(Some(&original), &kept)?.after, ..plan })
        }
    }
}

pub(super) struct Edit<'a> {
    subject: &'a dyn ManagedContent,
    safekeeping: Safekeeping<'a>,
    pace: RetryPace,
    /// The file with links resolved.
    path: PathBuf,
    made_folder: Option<PathBuf>,
    last: Option<WrittenPlan>,
}

/// The backup policy of an edit.
pub(super) enum Safekeeping<'a> {
    /// No backup: the edit is only previewed.
    Nothing,
    /// The original, with a record for its restoration.
    Original(&'a OriginalsArchive),
    /// Bytes that another program wrote since; the record stays unchanged.
    Foreign(&'a OriginalsArchive),
}

/// The plan we wrote, and the file it replaced.
struct WrittenPlan {
    plan: EditPlan,
    backup: Option<PathBuf>,
    replaced: Option<File>,
}

enum EditStep {
    Quiet(EditPlan),
    Busy,
}

impl<'a> Edit<'a> {
    pub fn new(
        subject: &'a dyn ManagedContent,
        safekeeping: Safekeeping<'a>,
        pace: RetryPace,
    ) -> Result<Self, EditRefusal> {
        let path = swap::resolve(subject.file()).map_err(|cause| subject.refuse(cause))?;
        Ok(Self { subject, safekeeping, pace, path, made_folder: None, last: None })
    }

    pub fn carry_out(mut self, goal: PlanOf<'_>) -> Result<Applied, EditRefusal> {
        let mut quiet_looks = 0;
        for _ in 0..self.pace.max_looks {
            match (self.step(goal)?, &self.last) {
                (EditStep::Quiet(plan), None) => return Ok(Applied { plan, backup: None }),
                (EditStep::Quiet(_), Some(written)) if quiet_looks >= self.pace.quiet_looks => {
                    return Ok(Applied { plan: written.plan.clone(), backup: written.backup.clone() });
                }
                (EditStep::Quiet(_), Some(_)) => quiet_looks += 1,
                (EditStep::Busy, _) => quiet_looks = 0,
            }
            self.pace.wait();
        }
        Err(self.subject.refuse(RefusalCause::KeepsChanging))
    }

    fn step(&mut self, goal: PlanOf<'_>) -> Result<EditStep, EditRefusal> {
        let current = self.settled_bytes()?;
        let basis = self.late_write(current.as_deref()).or_else(|| current.clone());
        let plan = goal(basis)?;
        if plan.after == current {
            return Ok(EditStep::Quiet(plan));
        }
        self.write(EditPlan { before: current, ..plan })?;
        Ok(EditStep::Busy)
    }

    fn write(&mut self, plan: EditPlan) -> Result<(), EditRefusal> {
        let refuse = |cause| self.subject.refuse(cause);
        if self.path == self.subject.file() && plan.after.is_some() {
            let made = swap::make_folder(&self.path).map_err(refuse)?;
            self.made_folder = self.made_folder.take().or(made);
        }
        let backup = match self.safekeeping {
            Safekeeping::Nothing => None,
            Safekeeping::Original(archive) => {
                archive.record_edit(self.subject, &plan, self.made_folder.clone())?
            }
            Safekeeping::Foreign(archive) => archive.keep_foreign(self.subject, plan.before.as_deref())?,
        };
        let new_mode = self.subject.new_mode();
        match swap::swap(&self.path, new_mode, plan.before.as_deref(), plan.after.as_deref())
            .map_err(refuse)?
        {
            FileSwap::Done(replaced) => self.last = Some(WrittenPlan { plan, backup, replaced }),
            FileSwap::Raced => {}
        }
        Ok(())
    }

    /// The file's bytes, once they look complete.
    fn settled_bytes(&self) -> Result<Option<Vec<u8>>, EditRefusal> {
        let mut still_looks = 0;
        let mut stamp = swap::change_stamp(&self.path);
        for _ in 0..self.pace.max_looks.max(STILL_LOOKS + 1) {
            let current = swap::read(&self.path).map_err(|cause| self.subject.refuse(cause))?;
            if still_looks >= STILL_LOOKS || self.is_credible(&current) {
                return Ok(current);
            }
            self.pace.wait();
            let before = std::mem::replace(&mut stamp, swap::change_stamp(&self.path));
            still_looks = if stamp == before { still_looks + 1 } else { 0 };
        }
        Err(self.subject.refuse(RefusalCause::KeepsChanging))
    }

    fn is_credible(&self, current: &Option<Vec<u8>>) -> bool {
        let is_our_write = self.last.as_ref().is_some_and(|written| written.plan.after == *current);
        is_our_write || current.as_deref().is_none_or(|bytes| self.subject.is_whole(bytes))
    }

    /// Bytes that another program wrote into the file we had just replaced, believing it still in place.
    fn late_write(&mut self, current: Option<&[u8]>) -> Option<Vec<u8>> {
        let subject = self.subject;
        let written = self.last.as_mut()?;
        let late = swap::reread(written.replaced.as_mut()?).ok()?;
        let is_late = Some(&late) != written.plan.before.as_ref() && subject.is_whole(&late);
        let is_newest = current == written.plan.after.as_deref();
        (is_late && is_newest).then_some(late)
    }
}

/// Removes the folders that were created for the file, as far as they are empty.
pub(super) fn remove_empty_folders(file: &Path, topmost: &Path) {
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(topmost));
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

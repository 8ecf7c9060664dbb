//! A foreign file with content of ours, in any format.
//!
//! Defines the wanted contents and when the file is complete; never writes: `apply` does.

use std::path::Path;

use super::apply::{self, Applied, Edit, RetryPace, Safekeeping};
use super::archive::OriginalsArchive;
use super::change::{Containers, EditPlan};
use super::refusal::{EditRefusal, RefusalCause};

/// Content of ours in a file.
pub trait ManagedContent {
    /// The file's owner: also the name of the folder with its originals.
    fn owner(&self) -> &'static str;

    /// The file, as given.
    fn file(&self) -> &Path;

    /// Whether these bytes look complete: a writer that truncates the file first leaves it empty for a moment.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        !bytes.trim_ascii().is_empty()
    }

    /// The permissions of a file that we create.
    fn new_mode(&self) -> u32 {
        0o600
    }

    /// Whether we may keep a copy of the file: not if it contains projects, accounts or conversations.
    fn is_ours_to_keep(&self) -> bool {
        true
    }

    /// Plans the file with our content exactly once and correct.
    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal>;

    /// Plans the file without our content.
    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<EditPlan, EditRefusal>;

    /// The containers that the file would hold without us; most formats have none.
    fn containers_without_us(&self, _existing: Option<&[u8]>) -> Result<Containers, EditRefusal> {
        Ok(Containers::default())
    }

    fn refuse(&self, cause: RefusalCause) -> EditRefusal {
        EditRefusal { file: self.file().to_owned(), cause }
    }

    /// The plan that `apply` would carry out now.
    fn preview(&self, pace: RetryPace) -> Result<EditPlan, EditRefusal>
    where
        Self: Sized,
    {
        self.plan(apply::settled_bytes(self, pace)?.as_deref())
    }

    /// The plan that `remove` would carry out now.
    fn preview_removal(&self, archive: &OriginalsArchive, pace: RetryPace) -> Result<EditPlan, EditRefusal>
    where
        Self: Sized,
    {
        apply::removal(self, archive, apply::settled_bytes(self, pace)?)
    }

    /// Writes our content into the file, exactly once and correct, unless the user changed it.
    fn apply(&self, archive: &OriginalsArchive, pace: RetryPace) -> Result<Applied, EditRefusal>
    where
        Self: Sized,
    {
        let edit = Edit::new(self, Safekeeping::Original(archive), pace)?;
        edit.carry_out(&|current| self.plan(current.as_deref()))
    }

    /// Restores the original file; if others have changed it since, removes only our content.
    fn remove(&self, archive: &OriginalsArchive, pace: RetryPace) -> Result<Applied, EditRefusal>
    where
        Self: Sized,
    {
        let record = archive.recall(self);
        let edit = Edit::new(self, Safekeeping::Foreign(archive), pace)?;
        let applied = edit.carry_out(&|current| apply::removal(self, archive, current))?;
        archive.forget(self)?;
        if let (None, Some(folder)) = (&applied.plan.after, record.and_then(|record| record.made_folder)) {
            apply::remove_empty_folders(self.file(), &folder);
        }
        Ok(applied)
    }
}

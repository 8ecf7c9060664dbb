//! A file of somebody else's that holds something of ours, whatever its format.
//!
//! Says what the file should become and when it is whole; how that is carried out is `apply`'s.

use std::path::Path;

use super::apply::{self, Applied, Pace};
use super::archive::Archive;
use super::plan::{Containers, Plan};
use super::refusal::{Cause, Refusal};

/// Something of ours in a file.
pub trait Subject {
    /// Whose file it is: also the name of the folder that keeps its originals.
    fn owner(&self) -> &'static str;

    /// The file, as it was named to us.
    fn file(&self) -> &Path;

    /// Whether these bytes look like something that a writer has finished.
    fn is_whole(&self, bytes: &[u8]) -> bool;

    /// Who may read a file that we make.
    fn new_mode(&self) -> u32 {
        0o600
    }

    /// Whether a copy of the file may lie among our own: not one that tells of projects, accounts and what was said.
    fn is_ours_to_keep(&self) -> bool {
        true
    }

    /// What the file becomes with what is ours, once and right.
    fn plan(&self, existing: Option<&[u8]>) -> Result<Plan, Refusal>;

    /// What the file becomes without anything of ours.
    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<Plan, Refusal>;

    /// The containers that the file would hold without us.
    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, Refusal>;

    fn refuse(&self, cause: Cause) -> Refusal {
        Refusal { file: self.file().to_owned(), cause }
    }

    /// What `apply` would do now.
    fn preview(&self, pace: Pace) -> Result<Plan, Refusal>
    where
        Self: Sized,
    {
        apply::preview(self, pace)
    }

    /// What `remove` would do now.
    fn preview_removal(&self, archive: &Archive, pace: Pace) -> Result<Plan, Refusal>
    where
        Self: Sized,
    {
        apply::preview_removal(self, archive, pace)
    }

    /// Brings what is ours into the file, once and right, unless a person changed it.
    fn apply(&self, archive: &Archive, pace: Pace) -> Result<Applied, Refusal>
    where
        Self: Sized,
    {
        apply::apply(self, archive, pace)
    }

    /// Gives the file back as it was before us; where others have changed it since, takes out what is ours alone.
    fn remove(&self, archive: &Archive, pace: Pace) -> Result<Applied, Refusal>
    where
        Self: Sized,
    {
        apply::remove(self, archive, pace)
    }
}

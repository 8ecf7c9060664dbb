//! The file that says what must not be captured again.
//!
//! Kept beside the archive, not in it: it outlives an archive that is damaged, or made anew. Marks and times, no text.

use crate::StoreError;
use crate::home::{Home, put_for_good};
use std::fs;
use std::io::ErrorKind;
use towline_core::forget::Forgotten;

/// A file that cannot be read stops whoever would write: better nothing is captured than what somebody wanted gone.
pub(super) fn load(home: &Home) -> Result<Forgotten, StoreError> {
    let path = home.forgotten();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Forgotten::parse(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Forgotten::default()),
        Err(source) => Err(StoreError::Folder { path, source }),
    }
}

/// On the disk before anything is erased: what is erased must not come back in between.
pub(super) fn save(home: &Home, forgotten: &Forgotten) -> Result<(), StoreError> {
    let path = home.forgotten();
    put_for_good(&path, forgotten.to_string().as_bytes())
        .map_err(|source| StoreError::Folder { path, source })
}

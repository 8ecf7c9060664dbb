//! A turn as the archive holds it, read once for all rules that judge it.
//!
//! Judges nothing. Holds a bounded number of bytes: of a turn with more, the rest is read when it is asked for.

use std::borrow::Cow;
use std::collections::HashMap;
use towline_core::capture::DetailKind;
use towline_store::archive::{DetailRow, MessageRow, TurnRow};
use towline_store::{Archive, StoreError};

/// Bytes of inputs of tools that are held.
const MOST_BYTES: u64 = 4 << 20;

pub(super) struct TurnContent<'a> {
    pub archive: &'a Archive,
    pub said: Vec<MessageRow>,
    pub details: Vec<DetailRow>,
    /// The inputs of tools, by the number of the detail.
    inputs: HashMap<u32, String>,
}

impl<'a> TurnContent<'a> {
    pub fn of(archive: &'a Archive, row: &TurnRow) -> Result<TurnContent<'a>, StoreError> {
        let (said, details) = (archive.bodies(row)?, archive.details(row)?);
        let (mut inputs, mut bytes) = (HashMap::new(), 0);
        for detail in details.iter().filter(|detail| detail.kind == DetailKind::Input) {
            bytes += detail.size;
            if bytes > MOST_BYTES {
                break;
            }
            inputs.insert(detail.number, archive.content(detail)?);
        }
        Ok(TurnContent { archive, said, details, inputs })
    }

    pub fn input(&self, detail: &DetailRow) -> Result<Cow<'_, str>, StoreError> {
        match self.inputs.get(&detail.number) {
            Some(input) => Ok(Cow::Borrowed(input)),
            None => self.archive.content(detail).map(Cow::Owned),
        }
    }
}

//! Stamps: the last write of each register of a row.
//!
//! A change of a memory is stamped in its own transaction, shared or not: it may be shared later. Unchanged registers
//! are never stamped.

use crate::Result;
use crate::archive::Archive;
use crate::query::Query;
use serde_json::Value;
use towline_core::id::Uid;
use towline_core::share::WriteStamp;

towline_core::named_enum! {
    /// A register of a row: a part that is written and merged by itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum RegisterId {
        Words = "words",
        Pin = "pin",
        Standing = "standing",
        Hold = "hold",
        Presence = "presence",
    }
}

impl RegisterId {
    /// Its columns in a trace.
    fn columns(self) -> &'static [&'static str] {
        match self {
            RegisterId::Words => &[
                "type",
                "title",
                "subtitle",
                "facts",
                "narrative",
                "concepts",
                "valid_from",
                "confidence",
                "trust",
                "files",
            ],
            RegisterId::Pin => &["pinned_at"],
            RegisterId::Standing => &["superseded_uid", "superseded_at", "superseded_why"],
            RegisterId::Hold => &["quarantine"],
            RegisterId::Presence => &["presence"],
        }
    }
}

const STAMP: &str = "select count, machine from stamps where uid = ?1 and register = ?2";
const SET: &str = "insert or replace into stamps (uid, register, count, machine) values (?1, ?2, ?3, ?4)";
const CLEAR: &str = "delete from stamps where uid = ?1 and register = ?2";

impl Archive {
    pub(crate) fn stamp(&self, uid: Uid, register: RegisterId) -> Result<Option<WriteStamp>> {
        self.db.first(STAMP, (uid.0, register.name()))
    }

    pub(crate) fn set_stamp(&self, uid: Uid, register: RegisterId, stamp: WriteStamp) -> Result<()> {
        let row = (uid.0, register.name(), stamp.count.cast_signed(), stamp.machine.0);
        self.db.run(SET, row)
    }

    pub(crate) fn clear_stamp(&self, uid: Uid, register: RegisterId) -> Result<()> {
        self.db.run(CLEAR, (uid.0, register.name()))
    }

    /// Stamps another write on this machine. `before` is the stamp if none is stored.
    pub(crate) fn stamp_again(
        &self,
        uid: Uid,
        register: RegisterId,
        before: WriteStamp,
    ) -> Result<WriteStamp> {
        let stamp = self.stamp(uid, register)?.unwrap_or(before).next(self.machine);
        self.set_stamp(uid, register, stamp)?;
        Ok(stamp)
    }

    /// Stamps the words of a memory as rewritten, even if they are equal.
    pub(crate) fn stamp_memory_text(&self, number: i64) -> Result<()> {
        let (uid, machine) = self.uid_and_machine(number)?;
        self.stamp_again(uid, RegisterId::Words, initial(Some(()), machine))?;
        Ok(())
    }

    /// Stamps the registers whose texts a scrub may have changed.
    pub(crate) fn stamp_scrubbed(&self, number: i64) -> Result<()> {
        let Some(row) = self.row_json(number)? else { return Ok(()) };
        let row = serde_json::from_str::<Value>(&row).unwrap_or_default();
        let (uid, machine) = self.uid_and_machine(number)?;
        for register in [RegisterId::Words, RegisterId::Standing, RegisterId::Hold] {
            let default = default_stamp(register, &row, machine);
            if self.stamp(uid, register)?.unwrap_or(default) != WriteStamp::NEVER {
                self.stamp_again(uid, register, default)?;
            }
        }
        Ok(())
    }

    fn uid_and_machine(&self, number: i64) -> Result<(Uid, Uid)> {
        const ORIGIN: &str = "select uid, machine from memories where id = ?1";
        self.db.value(ORIGIN, [number])
    }

    /// Raises the stamp so far that no concurrent edit brings the withdrawn words back.
    pub(super) fn stamp_cleared(&self, uid: Uid, before: WriteStamp) -> Result<()> {
        let known = self.stamp(uid, RegisterId::Words)?.unwrap_or(before);
        let stamp =
            WriteStamp { count: known.count.saturating_add(WriteStamp::AHEAD), machine: self.machine };
        self.set_stamp(uid, RegisterId::Words, stamp)
    }

    /// Stamps the registers that differ between the JSON row `before` and the current one.
    pub(crate) fn stamp_changes(&self, number: i64, before: &str) -> Result<()> {
        let after = self.row_json(number)?;
        let Some(after) = after.filter(|after| after != before) else { return Ok(()) };
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let (before, after) = (read(before), read(&after));
        let (uid, machine) = self.uid_and_machine(number)?;
        // Visibility changed: the hub must drop the text, or receive it again.
        let is_presence_changed = before["presence"] != after["presence"];
        if is_presence_changed && after["presence"] == "private" {
            self.stamp_cleared(uid, initial(Some(()), machine))?;
        }
        for register in RegisterId::ALL {
            let is_changed = register.columns().iter().any(|column| before[*column] != after[*column]);
            if is_changed || register == RegisterId::Words && is_presence_changed {
                self.stamp_again(uid, register, default_stamp(register, &before, machine))?;
            }
        }
        Ok(())
    }
}

/// The stamp of a memory's register if none is stored.
fn default_stamp(register: RegisterId, row: &Value, machine: Uid) -> WriteStamp {
    let is_set = match register {
        RegisterId::Words => true,
        RegisterId::Pin => !row["pinned_at"].is_null(),
        RegisterId::Standing => !row["superseded_at"].is_null(),
        RegisterId::Hold => !row["quarantine"].is_null(),
        RegisterId::Presence => row["presence"] == "private",
    };
    initial(is_set.then_some(()), machine)
}

/// The stamp of a register set once by its maker, or `NEVER`.
pub(super) fn initial<T>(value: Option<T>, machine: Uid) -> WriteStamp {
    value.map_or(WriteStamp::NEVER, |_| WriteStamp::NEVER.next(machine))
}

//! A value that several machines may write, and the stamp by which all of them agree whose value holds.
//!
//! Looks at no clock: clocks of two machines may be an hour apart. What was written more often wins, and of two that were
//! written as often the one of the higher machine, everywhere.

use crate::id::Uid;

/// When a register was last written: how often it had been, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    pub count: u64,
    pub machine: Uid,
}

impl Stamp {
    /// Of a register that nobody has written.
    pub const NEVER: Stamp = Stamp { count: 0, machine: Uid([0; 16]) };

    /// Further than anybody writes words who has not heard yet that they are to go.
    pub const AHEAD: u64 = 1 << 20;

    /// How many bytes it takes.
    pub const BYTES: usize = 24;

    /// Of what is written here after this.
    pub fn next(self, machine: Uid) -> Stamp {
        Stamp { count: self.count.saturating_add(1), machine }
    }

    /// Ordered as the stamps are.
    pub fn to_bytes(self) -> [u8; Stamp::BYTES] {
        let mut bytes = [0; Stamp::BYTES];
        bytes[..8].copy_from_slice(&self.count.to_be_bytes());
        bytes[8..].copy_from_slice(&self.machine.0);
        bytes
    }

    /// Reads back what `to_bytes` wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<Stamp> {
        let (count, machine) = bytes.split_first_chunk::<8>()?;
        Some(Stamp { count: u64::from_be_bytes(*count), machine: Uid(machine.try_into().ok()?) })
    }
}

/// A value with the stamp of its last writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register<T> {
    pub stamp: Stamp,
    pub value: T,
}

impl<T: Default> Register<T> {
    /// One that nobody has written.
    pub fn untouched() -> Register<T> {
        Register { stamp: Stamp::NEVER, value: T::default() }
    }
}

impl<T> Register<Option<T>> {
    /// Without its value, if it has one.
    #[must_use]
    pub(super) fn emptied(self, machine: Uid) -> Register<Option<T>> {
        match self.value {
            Some(_) => Register { stamp: self.stamp.next(machine), value: None },
            None => self,
        }
    }
}

impl<T: Ord> Register<T> {
    /// The one that holds. Two values under one stamp cannot come of machines that work; should they, the greater holds, so
    /// that all agree on that, too.
    #[must_use]
    pub fn merged(self, other: Register<T>) -> Register<T> {
        if (self.stamp, &self.value) >= (other.stamp, &other.value) { self } else { other }
    }
}

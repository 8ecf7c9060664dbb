//! A value that several machines may write, and the stamp by which all of them agree on the winning value.
//!
//! Uses no clock: the clocks of two machines may be an hour apart. The higher write count wins; on a tie, the higher
//! machine id.

use crate::id::Uid;

/// The last write of a register: its write count and the machine that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteStamp {
    pub count: u64,
    pub machine: Uid,
}

impl WriteStamp {
    /// The stamp of a register that was never written.
    pub const NEVER: WriteStamp = WriteStamp { count: 0, machine: Uid([0; 16]) };

    /// Larger than any number of writes by a machine that has not yet learned of the withdrawal.
    pub const AHEAD: u64 = 1 << 20;

    /// The length of the encoded stamp.
    pub const BYTES: usize = 24;

    /// The stamp of the next write on `machine`.
    pub fn next(self, machine: Uid) -> WriteStamp {
        WriteStamp { count: self.count.saturating_add(1), machine }
    }

    /// The byte order equals the order of stamps.
    pub fn to_bytes(self) -> [u8; WriteStamp::BYTES] {
        let mut bytes = [0; WriteStamp::BYTES];
        bytes[..8].copy_from_slice(&self.count.to_be_bytes());
        bytes[8..].copy_from_slice(&self.machine.0);
        bytes
    }

    /// The inverse of `to_bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Option<WriteStamp> {
        let (count, machine) = bytes.split_first_chunk::<8>()?;
        Some(WriteStamp { count: u64::from_be_bytes(*count), machine: Uid(machine.try_into().ok()?) })
    }
}

/// A value with the stamp of its last write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register<T> {
    pub stamp: WriteStamp,
    pub value: T,
}

impl<T: Default> Register<T> {
    /// A register that was never written.
    pub fn unwritten() -> Register<T> {
        Register { stamp: WriteStamp::NEVER, value: T::default() }
    }
}

impl<T> Register<Option<T>> {
    /// Clears the value, if it has one.
    #[must_use]
    pub(super) fn cleared(self, machine: Uid) -> Register<Option<T>> {
        match self.value {
            Some(_) => Register { stamp: self.stamp.next(machine), value: None },
            None => self,
        }
    }
}

impl<T: Ord> Register<T> {
    /// The winner of the two. Working machines never write two values under one stamp; if it happens, the greater value
    /// wins, so that all machines still agree.
    #[must_use]
    pub fn merged(self, other: Register<T>) -> Register<T> {
        if (self.stamp, &self.value) >= (other.stamp, &other.value) { self } else { other }
    }
}

//! A section of the configuration that is read on first use.
//!
//! Every hook loads the configuration and uses two or three sections of it: reading all of them took a third of the
//! instructions of a tool result. A section that is not used takes no room: the configuration lies on the stack of a hook,
//! where each page costs a page fault. Values are validated before; reading a section cannot fail.

use super::values::Values;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

#[derive(Clone)]
pub struct Section<T> {
    values: Arc<Values>,
    read: fn(&Values) -> T,
    value: OnceLock<Box<T>>,
}

impl<T> Section<T> {
    pub(super) fn new(values: &Arc<Values>, read: fn(&Values) -> T) -> Section<T> {
        Section { values: Arc::clone(values), read, value: OnceLock::new() }
    }

    /// The section itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner().map_or_else(|| (self.read)(&self.values), |value| *value)
    }
}

impl<T> Deref for Section<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| Box::new((self.read)(&self.values)))
    }
}

impl<T> DerefMut for Section<T> {
    fn deref_mut(&mut self) -> &mut T {
        let _ = self.deref();
        self.value.get_mut().unwrap_or_else(|| unreachable!("it was read a line above"))
    }
}

impl<T: PartialEq> PartialEq for Section<T> {
    fn eq(&self, other: &Section<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Section<T> {}

impl<T: fmt::Debug> fmt::Debug for Section<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

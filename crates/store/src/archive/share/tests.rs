//! Stamps, tombs, rows that go and come.

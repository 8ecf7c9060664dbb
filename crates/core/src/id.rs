//! Names that are proven once, at the border: agents, sessions, turns, subagents, rows.
//!
//! Nothing that came from outside can be joined into a path, a query or a command line without one of these types.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Why a raw string is not the name it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName {
    what: &'static str,
    length: usize,
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a valid {} ({} bytes)", self.what, self.length)
    }
}

impl std::error::Error for BadName {}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $longest:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Box<str>);

        impl $type {
            /// Accepts 1 to the type's limit of `[A-Za-z0-9_-]`: safe in paths, queries and URLs.
            pub fn parse(raw: &str) -> Result<Self, BadName> {
                let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
                if raw.is_empty() || raw.len() > $longest || !raw.bytes().all(plain) {
                    return Err(BadName { what: $what, length: raw.len() });
                }
                Ok(Self(raw.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&raw).map_err(de::Error::custom)
            }
        }
    };
}

name!(
    /// The program that is hooked.
    AgentName,
    "agent name",
    32
);
name!(
    /// An agent's own id of a conversation. Never one of our making.
    SessionId,
    "session id",
    128
);
name!(
    /// An agent's own id of a prompt and what follows it.
    TurnId,
    "turn id",
    128
);
name!(
    /// An agent's own id of a helper that works inside a session.
    SubagentId,
    "subagent id",
    128
);

/// How much of an id's end is telling.
const SHORT: usize = 8;

/// One conversation of one agent, written `agent:id`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    pub agent: AgentName,
    pub id: SessionId,
}

impl SessionKey {
    pub fn parse(raw: &str) -> Result<Self, BadName> {
        let (agent, id) = raw.split_once(':').ok_or(BadName { what: "session key", length: raw.len() })?;
        Ok(Self { agent: AgentName::parse(agent)?, id: SessionId::parse(id)? })
    }

    /// What people and models call the session: the end of its id, since ids that sort by time begin alike.
    pub fn short(&self) -> &str {
        let id = self.id.as_str();
        &id[id.len().saturating_sub(SHORT)..]
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.id)
    }
}

impl Serialize for SessionKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SessionKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&raw).map_err(de::Error::custom)
    }
}

/// A row's global id, the same on every machine that ever sees the row: a UUID of version 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub [u8; 16]);

impl Uid {
    /// Builds a version 7 UUID: sortable by `at`, unique by `random`.
    pub fn v7(at: crate::time::Timestamp, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&at.0.to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        bytes[6] = bytes[6] & 0x0f | 0x70;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }

    /// The id of something that an agent has named: the same on every machine that reads the same transcript.
    pub fn derived(at: crate::time::Timestamp, parts: &[&str]) -> Self {
        let mut random = [0; 10];
        random.copy_from_slice(&checksum(parts).to_be_bytes()[6..]);
        Self::v7(at, random)
    }

    /// The time that it was built with.
    pub fn at(self) -> crate::time::Timestamp {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(&self.0[..6]);
        crate::time::Timestamp(i64::from_be_bytes(bytes))
    }

    pub fn parse(raw: &str) -> Result<Self, BadName> {
        let bad = || BadName { what: "uid", length: raw.len() };
        let digits: Vec<u8> = raw.bytes().filter(|b| *b != b'-').collect();
        if digits.len() != 32 {
            return Err(bad());
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |b: u8| char::from(b).to_digit(16).ok_or_else(bad);
            *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

/// Knows a thing by an agent's long name for it: 64 bits of it, enough within one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub i64);

impl Mark {
    pub fn of(name: &str) -> Self {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&checksum(&[name]).to_be_bytes()[8..]);
        Self(i64::from_be_bytes(bytes))
    }
}

/// FNV-1a over the parts, each closed by a byte that no text has: the same for ever, and not made against malice.
fn checksum(parts: &[&str]) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |sum, byte| {
        (sum ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&raw).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn a_path_is_not_a_session_id() {
        for raw in ["", "../x", "a/b", "a b", "é", "a\0b", &"x".repeat(129)] {
            assert!(SessionId::parse(raw).is_err(), "{raw:?}");
        }
        assert_eq!(SessionId::parse("00000000-0000_Z").unwrap().as_str(), "00000000-0000_Z");
    }

    #[test]
    fn a_session_key_reads_back_what_it_prints() {
        let key = SessionKey::parse("agent:abc-1").unwrap();
        assert_eq!(SessionKey::parse(&key.to_string()).unwrap(), key);
        assert!(SessionKey::parse("no-colon").is_err());
    }

    #[test]
    fn a_uid_is_a_version_7_uuid_that_sorts_by_time() {
        let early = Uid::v7(Timestamp(1_794_708_799_999), [0xff; 10]);
        let late = Uid::v7(Timestamp(1_794_708_800_000), [0; 10]);
        assert!(early < late);
        assert_eq!(early.to_string().as_bytes()[14], b'7');
        assert_eq!(Uid::parse(&early.to_string()).unwrap(), early);
        assert!(Uid::parse("zz").is_err());
    }

    #[test]
    fn what_an_agent_named_has_the_same_id_everywhere() {
        let at = Timestamp(1_794_708_800_000);
        assert_eq!(Uid::derived(at, &["a", "bc"]).to_string(), Uid::derived(at, &["a", "bc"]).to_string());
        assert_ne!(Uid::derived(at, &["a", "bc"]), Uid::derived(at, &["ab", "c"]));
        assert_ne!(Mark::of("a"), Mark::of("b"));
    }
}

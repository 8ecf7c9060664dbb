//! The `hub` section: the hub this machine has joined, and how it connects.
//!
//! Pure. Holds no password, only where to find one.

use super::values::{key, section};
use towline_core::named_enum;

section! {
    pub struct Hub in "hub" {
        /// Empty if no hub was joined.
        url: String,
        team: String,
        /// A certificate file to trust instead of the public ones; empty means none.
        ca: String,
        tls: HubTls = |values| values.named(key!("hub.tls"), HubTls::named).unwrap_or(HubTls::Verified),
        /// Permit unencrypted connections to other machines.
        allow_plain: bool,
        password_env: String,
        password_command: Vec<String>,
        every_s: u32,
        search_ms: u64,
        /// The default extent of sharing for a project.
        extent: String,
        max_queue: u32,
    }
}

named_enum! {
    /// How the connection to the hub is protected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HubTls as named {
        Verified = "verified",
        Plain = "plain",
    }
}

impl Hub {
    pub fn is_joined(&self) -> bool {
        !self.url.is_empty() && !self.team.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered, value_at};
    use super::*;

    #[test]
    fn no_hub_is_the_default_and_a_whole_table_is_read() {
        assert!(!layered("").config.hub.is_joined());
        let found = layered(
            "[hub]\nurl = 'postgres://ann@hub.example/towline'\nteam = 'crew'\ntls = 'plain'\nallow_plain = true\n\
             password_command = ['secret-tool', 'lookup', 'service', 'towline']\nevery_s = 30",
        );
        assert_eq!(found.mistakes, []);
        let hub = found.config.hub;
        assert!(hub.is_joined() && hub.allow_plain);
        assert_eq!((hub.tls, hub.every_s, hub.password_command.len()), (HubTls::Plain, 30, 4));
    }

    #[test]
    fn a_password_in_the_file_is_a_mistake_and_is_not_repeated() {
        let user = "[hub]\nurl = 'postgres://ann:hunter2@hub.example/towline'\nteam = 'crew'";
        let found = layered(user);
        let said = found.mistakes.iter().map(ToString::to_string).collect::<String>();
        assert!(said.contains("without a password") && !said.contains("hunter2"), "{said}");
        assert!(!found.config.hub.is_joined());
        assert_eq!(value_at(user, "hub.url").as_deref(), Some("\"\""));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for wrong in [
            "url = 'http://hub.example'",
            "ca = 'ca.pem'",
            "tls = 'prefer'",
            "password_env = 'hunter2'",
            "password_command = [1]",
            "every_s = 1",
            "extent = 'all'",
            "max_queue = 0",
        ] {
            let found = layered(&format!("[hub]\n{wrong}"));
            assert_eq!((found.mistakes.len(), found.config.hub), (1, Config::compiled_in().hub), "{wrong}");
        }
    }
}

//! The `hub` section: the hub this machine has joined, and how it connects.
//!
//! Pure. Holds no password, only where to find one.

use super::values::{Values, key};
use towline_core::named_enum;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    /// Empty if no hub was joined.
    pub url: String,
    pub team: String,
    /// A certificate file to trust instead of the public ones; empty means none.
    pub ca: String,
    pub tls: HubTls,
    /// Permit unencrypted connections to other machines.
    pub allow_plain: bool,
    pub password_env: String,
    pub password_command: Vec<String>,
    pub every_s: u32,
    pub search_ms: u64,
    /// The default extent of sharing for a project.
    pub extent: String,
    pub max_queue: u32,
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
    pub(super) fn read(values: &Values) -> Hub {
        Hub {
            url: values.text(key!("hub.url")),
            team: values.text(key!("hub.team")),
            ca: values.text(key!("hub.ca")),
            tls: HubTls::named(&values.text(key!("hub.tls"))).unwrap_or(HubTls::Verified),
            allow_plain: values.is_on(key!("hub.allow_plain")),
            password_env: values.text(key!("hub.password_env")),
            password_command: values.list(key!("hub.password_command")),
            every_s: values.number(key!("hub.every_s")),
            search_ms: values.number(key!("hub.search_ms")),
            extent: values.text(key!("hub.extent")),
            max_queue: values.number(key!("hub.max_queue")),
        }
    }

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

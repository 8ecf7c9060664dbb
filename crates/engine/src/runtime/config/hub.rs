//! The `hub` section: the hub this machine has joined, and how it connects.
//!
//! Pure. Holds no password, only where to find one.

use super::layer::one_of;
use crate::runtime::hub_url;
use toml_edit::Value;

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

/// How the connection to the hub is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubTls {
    Verified,
    Plain,
}

const VERIFIED: &str = "verified";
const PLAIN: &str = "plain";

/// The extents of sharing; each includes the ones before it.
const EXTENTS: [&str; 3] = ["lines", "bodies", "details"];

impl Hub {
    pub fn compiled_in() -> Hub {
        Hub {
            url: String::new(),
            team: String::new(),
            ca: String::new(),
            tls: HubTls::Verified,
            allow_plain: false,
            password_env: "PGPASSWORD".to_owned(),
            password_command: vec![],
            every_s: 60,
            search_ms: 400,
            extent: EXTENTS[0].to_owned(),
            max_queue: 100_000,
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Hub {
        let text =
            |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        let number = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0).unsigned_abs();
        let small = |key: &str| u32::try_from(number(key)).unwrap_or(u32::MAX);
        let words =
            value("hub.password_command").and_then(|value| value.as_array().cloned()).unwrap_or_default();
        Hub {
            url: text("hub.url"),
            team: text("hub.team"),
            ca: text("hub.ca"),
            tls: if text("hub.tls") == PLAIN { HubTls::Plain } else { HubTls::Verified },
            allow_plain: value("hub.allow_plain").and_then(|value| value.as_bool()).unwrap_or(false),
            password_env: text("hub.password_env"),
            password_command: words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            every_s: small("hub.every_s"),
            search_ms: number("hub.search_ms"),
            extent: text("hub.extent"),
            max_queue: small("hub.max_queue"),
        }
    }

    pub fn is_joined(&self) -> bool {
        !self.url.is_empty() && !self.team.is_empty()
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    let text = value.as_str().unwrap_or("");
    match key {
        "hub.url" if text.is_empty() => Ok(()),
        "hub.url" => hub_url::parse(text).map(drop).map_err(|error| error.as_a_rule()),
        "hub.ca" if text.is_empty() || text.starts_with('/') => Ok(()),
        "hub.ca" => Err("the whole path of a file, which begins with `/`".to_owned()),
        "hub.tls" => one_of(value, &[VERIFIED, PLAIN]),
        "hub.password_env" => is_variable(text),
        "hub.password_command" => {
            let all = value.as_array().into_iter().flatten().all(|word| word.is_str());
            if all { Ok(()) } else { Err("a list of words in quotes".to_owned()) }
        }
        "hub.every_s" => within(5, 86_400),
        "hub.search_ms" => within(20, 60_000),
        "hub.extent" => one_of(value, &EXTENTS),
        "hub.max_queue" => within(1_000, 10_000_000),
        _ => Ok(()),
    }
}

/// Rejects a password entered by mistake: it would be displayed and copied with the rest of the file.
fn is_variable(text: &str) -> Result<(), String> {
    let is_name = text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if is_name { Ok(()) } else { Err("the name of a variable in capitals, not a password".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::{layered, value_at};
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
            assert_eq!((found.mistakes.len(), found.config.hub), (1, Hub::compiled_in()), "{wrong}");
        }
    }
}

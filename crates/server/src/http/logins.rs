//! Logins of browsers: one-time codes become sessions, and sessions are cookies. The server proves itself here, too.
//!
//! Everything is kept in memory and ends with the server. No cookie holds a token: browsers send cookies to every port of
//! a host.

use crate::http::desk::{Refusal, Status};
use crate::http::guard::{is_same, sum};
use crate::proof::{CODE_MS, ServerKey, ServerRun, random};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use towline_core::time::Timestamp;

/// Sessions of browsers; a new one ends the oldest.
const MOST_SESSIONS: usize = 100;

pub struct Logins {
    key: ServerKey,
    run: ServerRun,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The nonces of used codes that are still valid, with their ends.
    used: Vec<(Timestamp, String)>,
    /// Digests of the sessions, the latest last.
    sessions: VecDeque<[u8; 32]>,
}

impl Logins {
    pub fn new(key: ServerKey, run: ServerRun) -> Logins {
        Logins { key, run, known: Mutex::default() }
    }

    /// The cookie's name. It holds the port, because browsers keep one jar for all ports of a host.
    pub fn cookie(&self) -> String {
        format!("towline-{}", self.run.address.rsplit(':').next().unwrap_or_default())
    }

    /// This run and its proof for a client that knows the key.
    pub fn prove(&self, nonce: &str, client: &str) -> Option<(&str, String)> {
        let is_client = self.key.is_client(&self.run.address, nonce, client);
        is_client.then(|| (self.run.id.as_str(), self.key.server_proof(&self.run, nonce)))
    }

    /// Uses up a code and begins a session: the cookie that carries it.
    pub fn enter(&self, code: &str, now: Option<Timestamp>) -> Result<String, Refusal> {
        let refused = |because: &str| {
            Refusal::new(Status::Unauthorised, "this login code is not valid")
                .because(because)
                .next("Run `tow open`.")
        };
        let unknown = "it was not made for this server, or the server has been started again";
        let code = self.key.signed_code(&self.run, code).ok_or_else(|| refused(unknown))?;
        let now = now.filter(|now| (1..=CODE_MS).contains(&code.until.since_ms(*now)));
        let now = now.ok_or_else(|| refused("it is older than a minute"))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.used.retain(|(until, _)| *until > now);
        if known.used.iter().any(|(_, nonce)| *nonce == code.nonce) {
            return Err(refused("it has been used already"));
        }
        let session = random().map_err(|error| refused(&error.to_string()))?;
        known.used.push((code.until, code.nonce));
        known.sessions.push_back(sum(&session));
        if known.sessions.len() > MOST_SESSIONS {
            known.sessions.pop_front();
        }
        Ok(format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", self.cookie()))
    }

    pub fn has_session(&self, session: &str) -> bool {
        let shown = sum(session);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.sessions.iter().fold(false, |found, session| found | is_same(&shown, session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_794_744_000_000);

    fn logins() -> Logins {
        Logins::new(ServerKey::new("k"), ServerRun::begin("http://127.0.0.1:4747").unwrap())
    }

    fn code(logins: &Logins) -> String {
        logins.key.login_code(&logins.run, NOON).unwrap()
    }

    #[test]
    fn a_code_works_once_within_its_minute_and_for_its_server() {
        let logins = logins();
        let one = code(&logins);
        let cause = |code: &str, after_ms| {
            logins.enter(code, Some(NOON.plus_ms(after_ms))).unwrap_err().because.unwrap()
        };
        assert_eq!(cause(&one, CODE_MS), "it is older than a minute");
        assert_eq!(cause(&one, -1), "it is older than a minute", "the clock was set back");
        let cookie = logins.enter(&one, Some(NOON.plus_ms(CODE_MS - 1))).unwrap();
        assert_eq!(cause(&one, CODE_MS - 1), "it has been used already");
        let (name, session) = cookie.split(';').next().unwrap().split_once('=').unwrap();
        assert_eq!(name, "towline-4747");
        assert!(logins.has_session(session) && !logins.has_session(""));
        let other = self::logins();
        assert!(!other.has_session(session));
        assert!(other.enter(&code(&logins), Some(NOON)).is_err());
        assert!(logins.enter("", Some(NOON)).is_err() && logins.enter(&code(&logins), None).is_err());
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_ends_first() {
        let logins = logins();
        let enter = || logins.enter(&code(&logins), Some(NOON)).unwrap();
        let session = |cookie: String| cookie.split([';', '=']).nth(1).unwrap().to_owned();
        let (first, second) = (session(enter()), session(enter()));
        (2..=MOST_SESSIONS).for_each(|_| drop(enter()));
        assert!(!logins.has_session(&first) && logins.has_session(&second));
    }
}

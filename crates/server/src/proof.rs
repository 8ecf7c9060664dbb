//! Proof that two processes share the key in the data folder: a listener proves it before a client sends anything secret,
//! and login codes are signed with it.
//!
//! Every signature names its purpose and the server's address, so one that is relayed from another port proves nothing.
//! Opens no file and no connection.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::hmac;
use towline_core::time::Timestamp;
use towline_engine::runtime::env::secret;

/// How long a login code is valid.
pub const CODE_MS: i64 = 60_000;

/// The key that the servers and clients of one user share.
#[derive(Clone)]
pub struct ServerKey(hmac::Key);

/// One run of a server: codes and proofs for an earlier run on the same address are worthless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRun {
    pub address: String,
    pub id: String,
}

/// A login code whose signature was checked.
#[derive(Debug, PartialEq, Eq)]
pub struct LoginCode {
    pub until: Timestamp,
    pub nonce: String,
}

impl ServerKey {
    pub fn new(key: &str) -> ServerKey {
        ServerKey(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()))
    }

    /// The proof that a client sends with its nonce: only the owner may ask for proofs.
    pub fn client_proof(&self, address: &str, nonce: &str) -> String {
        self.sign(&["client", address, nonce])
    }

    pub fn is_client(&self, address: &str, nonce: &str, proof: &str) -> bool {
        self.has_signed(&["client", address, nonce], proof)
    }

    /// The server's answer to a client's nonce.
    pub fn server_proof(&self, run: &ServerRun, nonce: &str) -> String {
        self.sign(&["server", &run.address, &run.id, nonce])
    }

    pub fn is_server(&self, run: &ServerRun, nonce: &str, proof: &str) -> bool {
        self.has_signed(&["server", &run.address, &run.id, nonce], proof)
    }

    /// A code that logs a browser in, once. It is a signed promise: the server does not have to know of it before.
    pub fn login_code(&self, run: &ServerRun, now: Timestamp) -> std::io::Result<String> {
        let (until, nonce) = (now.plus_ms(CODE_MS).0.to_string(), random()?);
        let signature = self.sign(&["login", &run.address, &run.id, &until, &nonce]);
        Ok(format!("{until}.{nonce}.{signature}"))
    }

    /// Checks a code's signature, not its time.
    pub fn signed_code(&self, run: &ServerRun, code: &str) -> Option<LoginCode> {
        let (until, rest) = code.split_once('.')?;
        let (nonce, signature) = rest.split_once('.')?;
        let is_signed = self.has_signed(&["login", &run.address, &run.id, until, nonce], signature);
        let until = Timestamp(until.parse().ok().filter(|_| is_signed)?);
        Some(LoginCode { until, nonce: nonce.to_owned() })
    }

    fn sign(&self, parts: &[&str]) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, parts.join("\n").as_bytes()))
    }

    /// Compares in constant time.
    fn has_signed(&self, parts: &[&str], signature: &str) -> bool {
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        hmac::verify(&self.0, parts.join("\n").as_bytes(), &signature).is_ok()
    }
}

impl ServerRun {
    pub fn begin(address: &str) -> std::io::Result<ServerRun> {
        Ok(ServerRun { address: address.to_owned(), id: random()? })
    }
}

/// 256 unpredictable bits, as text that may stand in an address.
pub fn random() -> std::io::Result<String> {
    Ok(BASE64_URL_SAFE_NO_PAD.encode(secret()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_counts_for_its_key_purpose_address_run_and_nonce_only() {
        let (key, other) = (ServerKey::new("a"), ServerKey::new("b"));
        let run = ServerRun::begin("http://127.0.0.1:1").unwrap();
        let proof = key.server_proof(&run, "n");
        assert!(key.is_server(&run, "n", &proof));
        assert!(!other.is_server(&run, "n", &proof) && !key.is_server(&run, "m", &proof));
        assert!(!key.is_server(&ServerRun::begin(&run.address).unwrap(), "n", &proof), "another run");
        let relayed = ServerRun { address: "http://127.0.0.1:2".to_owned(), ..run.clone() };
        assert!(!key.is_server(&relayed, "n", &proof), "another address");
        assert!(!key.is_client(&run.address, "n", &proof), "another purpose");
        assert!(key.is_client(&run.address, "n", &key.client_proof(&run.address, "n")));
    }

    #[test]
    fn a_code_cannot_be_prolonged_or_used_elsewhere() {
        let key = ServerKey::new("a");
        let run = ServerRun::begin("http://127.0.0.1:1").unwrap();
        let code = key.login_code(&run, Timestamp(1000)).unwrap();
        assert_eq!(key.signed_code(&run, &code).unwrap().until, Timestamp(1000 + CODE_MS));
        assert_eq!(key.signed_code(&run, &code.replacen("61000", "99000", 1)), None);
        assert_eq!(key.signed_code(&ServerRun::begin(&run.address).unwrap(), &code), None);
        assert_eq!(key.signed_code(&run, ""), None);
        assert_eq!(key.signed_code(&run, "61000.x.y"), None);
    }
}

//! The server's key and access tokens: generated once, readable by their owner only, kept until they are replaced.
//!
//! Prints no token. A file that other users could read is not trusted.

use crate::proof::ServerKey;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use towline_engine::runtime::env::{DataFolder, private_folder, replace_file, secret};
use towline_engine::runtime::failure::Failure;

/// Whether existing tokens stay valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenReuse {
    Keep,
    Replace,
}

/// One token for the API, one for programs that send events, and the key by which servers and clients know each other.
pub struct ServerTokens {
    pub viewer: String,
    pub events: String,
    pub key: ServerKey,
}

pub fn tokens(home: &DataFolder, kept: TokenReuse) -> Result<ServerTokens, Failure> {
    let folder = home.serving();
    private_folder(&folder)
        .map_err(|error| Failure::about(format!("could not make {}", folder.display()), &error))?;
    Ok(ServerTokens {
        viewer: token(&folder.join("token"), kept)?,
        events: token(&folder.join("events-token"), kept)?,
        key: ServerKey::new(&token(&folder.join("key"), kept)?),
    })
}

fn token(file: &Path, kept: TokenReuse) -> Result<String, Failure> {
    if kept == TokenReuse::Keep
        && let Some(token) = known(file)
    {
        return Ok(token);
    }
    let failed = |error| Failure::about(format!("could not keep a token in {}", file.display()), &error);
    let token: String = secret().map_err(failed)?.iter().map(|byte| format!("{byte:02x}")).collect();
    replace_file(file, token.as_bytes()).map_err(failed)?;
    Ok(token)
}

/// Reads a token: 64 hexadecimal digits in a file that only its owner could read.
fn known(file: &Path) -> Option<String> {
    let is_private = fs::metadata(file).is_ok_and(|meta| meta.mode() & 0o077 == 0);
    let token = fs::read_to_string(file).ok().filter(|_| is_private)?;
    (token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn tokens_stay_until_they_are_drawn_anew_and_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let first = tokens(&home, TokenReuse::Keep).unwrap();
        let again = tokens(&home, TokenReuse::Keep).unwrap();
        assert_eq!((first.viewer.len(), &first.viewer, &first.events), (64, &again.viewer, &again.events));
        assert_ne!(first.viewer, first.events);
        assert_eq!(fs::metadata(home.serving().join("token")).unwrap().mode() & 0o777, 0o600);
        assert_ne!(tokens(&home, TokenReuse::Replace).unwrap().viewer, first.viewer);
    }

    #[test]
    fn a_token_that_others_could_read_is_drawn_anew() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let first = tokens(&home, TokenReuse::Keep).unwrap();
        let file = home.serving().join("token");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_ne!(tokens(&home, TokenReuse::Keep).unwrap().viewer, first.viewer);
    }
}

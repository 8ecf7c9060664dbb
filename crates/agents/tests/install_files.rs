//! Installs into real files: contents, backups, restoration and refusals.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use towline_agents::settings::{
    Applied, EditRefusal, ManagedContent, OriginalsArchive, RefusalCause, RetryPace, Target,
};
use towline_agents::{claude, codex};

/// No other program writes in these tests, so there is nothing to wait for.
const ALONE: RetryPace = RetryPace { pause: Duration::ZERO, quiet_looks: 0, max_looks: 8 };
const FOREIGN: &str = "{\n\t\"model\": \"m\",\n\t\"hooks\": { \"Stop\": [ {\"hooks\": [ {\"type\":\"command\",\"command\":\"x\"} ]} ] }\n}";

/// A home with a configuration folder, and an archive beside it.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn holding(bytes: &[u8]) -> Self {
        let home = Self::new();
        fs::create_dir(home.config()).unwrap();
        fs::write(home.file(), bytes).unwrap();
        home
    }

    fn config(&self) -> PathBuf {
        self.root.path().join(".claude")
    }

    fn file(&self) -> PathBuf {
        self.config().join("settings.json")
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.file()).unwrap()
    }

    fn archive(&self) -> OriginalsArchive {
        OriginalsArchive::new(self.backups())
    }

    fn backups(&self) -> PathBuf {
        self.root.path().join("data/backups")
    }

    fn target(&self) -> Target {
        self.target_for("/opt/tow")
    }

    fn target_for(&self, tow: &str) -> Target {
        claude::install::target(&self.config(), Path::new(tow)).unwrap()
    }

    fn install(&self) -> Applied {
        self.target().apply(&self.archive(), ALONE).unwrap()
    }

    fn uninstall(&self) -> Applied {
        self.target().remove(&self.archive(), ALONE).unwrap()
    }

    fn refused(&self) -> EditRefusal {
        self.target().apply(&self.archive(), ALONE).unwrap_err()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Reads, changes and writes the file, as another program does.
fn rewrite_by_client(file: &Path) {
    let mut settings: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    settings["theirs"] = Value::Bool(true);
    fs::write(file, serde_json::to_string_pretty(&settings).unwrap()).unwrap();
}

#[test]
fn second_run_writes_nothing() {
    let home = Home::holding(FOREIGN.as_bytes());
    assert!(!home.install().plan.is_empty());
    let inode = || fs::metadata(home.file()).unwrap().ino();
    let (first, kept) = (inode(), names(&home.backups().join("claude")));
    let again = home.install();
    assert!(again.plan.is_empty() && again.backup.is_none());
    assert_eq!((inode(), names(&home.backups().join("claude"))), (first, kept));
}

#[test]
fn uninstall_gives_the_bytes_back() {
    for original in
        [FOREIGN.as_bytes(), b"", b"\n", b"{ }", b"{\"hooks\":{ \"Stop\" : [ ] } }", b"\xef\xbb\xbf{}\r\n"]
    {
        let home = Home::holding(original);
        home.install();
        assert!(home.target().inspect_file(ALONE).unwrap().is_up_to_date());
        home.uninstall();
        assert_eq!(home.read(), original);
        assert_eq!(names(&home.config()), ["settings.json"]);
    }
}

#[test]
fn missing_file_and_folder_are_made_and_taken_away_again() {
    let home = Home::new();
    let applied = home.install();
    assert_eq!((applied.plan.before, applied.backup), (None, None));
    let modes = [home.config(), home.file()].map(|path| fs::metadata(path).unwrap().mode() & 0o7777);
    assert_eq!(modes, [0o700, 0o600]);
    assert_eq!(home.uninstall().plan.after, None);
    assert!(!home.config().exists());
}

#[test]
fn folder_that_was_there_or_is_in_use_stays() {
    let home = Home::new();
    fs::create_dir(home.config()).unwrap();
    home.install();
    home.uninstall();
    assert_eq!(names(&home.config()), [""; 0]);

    let home = Home::new();
    home.install();
    fs::write(home.config().join("theirs"), "").unwrap();
    home.uninstall();
    assert_eq!(names(&home.config()), ["theirs"]);
}

#[test]
fn first_original_is_given_back_after_an_upgrade() {
    let home = Home::holding(FOREIGN.as_bytes());
    home.install();
    let upgraded = home.target_for("/usr/local/bin/tow").apply(&home.archive(), ALONE).unwrap();
    assert_eq!(upgraded.plan.changes.len(), claude::install::EVENTS.len());
    home.uninstall();
    assert_eq!(home.read(), FOREIGN.as_bytes());
}

#[test]
fn original_with_older_entries_of_ours_is_given_back_without_them() {
    let old = r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"tow hook claude"}]}]}}"#;
    let home = Home::holding(old.as_bytes());
    home.install();
    home.uninstall();
    assert_eq!(home.read(), br#"{"a":1}"#);
}

#[test]
fn only_our_entries_go_if_somebody_else_has_written_since() {
    let home = Home::holding(br#"{"hooks":{"PreToolUse":[],"Notification":[]},"a":1}"#);
    home.install();
    rewrite_by_client(&home.file());
    let theirs = home.read();
    let applied = home.uninstall();
    let left: Value = serde_json::from_slice(&home.read()).unwrap();
    assert_eq!(
        left,
        serde_json::json!({"hooks": {"PreToolUse": [], "Notification": []}, "a": 1, "theirs": true})
    );
    assert_eq!(fs::read(applied.backup.unwrap()).unwrap(), theirs);
}

#[test]
fn containers_of_ours_go_even_after_a_rewrite_and_an_upgrade() {
    let home = Home::holding(br#"{"a":1}"#);
    home.install();
    rewrite_by_client(&home.file());
    home.target_for("/usr/local/bin/tow").apply(&home.archive(), ALONE).unwrap();
    home.uninstall();
    let left: Value = serde_json::from_slice(&home.read()).unwrap();
    assert_eq!(left, serde_json::json!({"a": 1, "theirs": true}));
}

#[test]
fn file_that_we_made_stays_if_somebody_else_uses_it() {
    let home = Home::new();
    home.install();
    rewrite_by_client(&home.file());
    home.uninstall();
    assert_eq!(serde_json::from_slice::<Value>(&home.read()).unwrap(), serde_json::json!({"theirs": true}));
}

#[test]
fn uninstall_without_a_note_takes_out_our_entries() {
    let home = Home::holding(FOREIGN.as_bytes());
    home.install();
    fs::remove_dir_all(home.backups()).unwrap();
    home.uninstall();
    assert_eq!(home.read(), FOREIGN.as_bytes());
    assert!(home.uninstall().plan.is_empty());
}

#[test]
fn uninstall_where_nothing_was_installed_changes_nothing() {
    let home = Home::holding(FOREIGN.as_bytes());
    assert!(home.uninstall().plan.is_empty());
    assert!(!home.backups().exists());
    assert!(Home::new().uninstall().plan.is_empty());
}

#[test]
fn backups_are_private_and_never_overwritten() {
    let home = Home::holding(b"{\"a\": 1}");
    let first = home.install().backup.unwrap();
    home.uninstall();
    fs::write(home.file(), b"{\"a\": 2}").unwrap();
    let second = home.install().backup.unwrap();
    assert_eq!(fs::read(&first).unwrap(), b"{\"a\": 1}");
    assert_eq!(fs::read(&second).unwrap(), b"{\"a\": 2}");
    assert_eq!(fs::metadata(&first).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(fs::metadata(first.parent().unwrap()).unwrap().mode() & 0o7777, 0o700);
}

#[test]
fn two_homes_do_not_share_a_note() {
    let (one, other) = (Home::holding(b"{\"n\": 1}"), Home::holding(b"{\"n\": 2}"));
    let shared = one.archive();
    for home in [&one, &other] {
        home.target().apply(&shared, ALONE).unwrap();
    }
    for home in [&one, &other] {
        home.target().remove(&shared, ALONE).unwrap();
    }
    assert_eq!((one.read(), other.read()), (b"{\"n\": 1}".to_vec(), b"{\"n\": 2}".to_vec()));
}

#[test]
fn mode_of_the_file_is_kept() {
    let home = Home::holding(b"{}");
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o640)).unwrap();
    home.install();
    assert_eq!(fs::metadata(home.file()).unwrap().mode() & 0o7777, 0o640);
    home.uninstall();
    assert_eq!(fs::metadata(home.file()).unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn link_stays_and_its_target_is_replaced() {
    let home = Home::new();
    let dotfiles = home.root.path().join("dotfiles");
    fs::create_dir_all(&dotfiles).unwrap();
    fs::create_dir(home.config()).unwrap();
    fs::write(dotfiles.join("real.json"), "{}").unwrap();
    symlink("real.json", dotfiles.join("second.json")).unwrap();
    symlink("../dotfiles/second.json", home.file()).unwrap();
    home.install();
    assert!(fs::symlink_metadata(home.file()).unwrap().is_symlink());
    assert!(
        home.target().inspect(Some(&fs::read(dotfiles.join("real.json")).unwrap())).unwrap().is_up_to_date()
    );
    home.uninstall();
    assert_eq!(fs::read(dotfiles.join("real.json")).unwrap(), b"{}");
    assert_eq!(names(&dotfiles), ["real.json", "second.json"]);
}

#[test]
fn link_to_a_file_that_is_not_there_yet_is_followed() {
    let home = Home::new();
    fs::create_dir(home.config()).unwrap();
    symlink(home.root.path().join("new.json"), home.file()).unwrap();
    home.install();
    assert!(home.root.path().join("new.json").is_file());
    home.uninstall();
    assert!(!home.root.path().join("new.json").exists());
    assert!(fs::symlink_metadata(home.file()).unwrap().is_symlink());
}

#[test]
fn place_that_cannot_be_written_is_refused() {
    // Not even root can create a file there.
    let home = Home::new();
    fs::create_dir(home.config()).unwrap();
    symlink("/proc/settings.json", home.file()).unwrap();
    assert!(matches!(home.refused().cause, RefusalCause::CannotWrite { .. }));

    let target = claude::install::target(Path::new("/proc/home/.claude"), Path::new("/opt/tow")).unwrap();
    let refused = target.apply(&home.archive(), ALONE).unwrap_err();
    assert!(matches!(refused.cause, RefusalCause::CannotWrite { .. }));
    assert!(refused.hint().contains("`ls -ld /proc"), "{}", refused.hint());
}

#[test]
fn original_that_cannot_be_kept_is_not_touched() {
    let home = Home::holding(b"{}");
    fs::write(home.root.path().join("data"), "no folder").unwrap();
    assert!(matches!(home.refused().cause, RefusalCause::CannotBackUp { .. }));
    assert_eq!(home.read(), b"{}");
    assert_eq!(names(&home.config()), ["settings.json"]);
}

#[test]
fn a_file_that_is_not_regular_is_refused() {
    let home = Home::new();
    fs::create_dir_all(home.file()).unwrap();
    assert!(matches!(home.refused().cause, RefusalCause::NotAFile { .. }));

    let home = Home::new();
    fs::create_dir(home.config()).unwrap();
    symlink("/dev/null", home.file()).unwrap();
    assert!(matches!(home.refused().cause, RefusalCause::NotAFile { .. }));

    let home = Home::new();
    fs::create_dir(home.config()).unwrap();
    symlink("settings.json", home.file()).unwrap();
    assert!(matches!(home.refused().cause, RefusalCause::LinkLoop));
}

#[test]
fn broken_file_is_refused_and_left_as_it_is() {
    for broken in
        [&b"{\"a\": 1,}"[..], b"{\"a\"", b"[]", b"\xff\xfe{}", b"{\"hooks\": 1}", b"{\"hooks\":{\"Stop\":1}}"]
    {
        let home = Home::holding(broken);
        home.refused();
        assert_eq!(home.read(), broken);
        assert_eq!(names(&home.config()), ["settings.json"]);
        assert!(!home.backups().exists());
    }
}

#[test]
fn preview_writes_nothing() {
    let home = Home::holding(FOREIGN.as_bytes());
    let preview = home.target().preview(ALONE).unwrap();
    assert_eq!(home.read(), FOREIGN.as_bytes());
    assert_eq!(home.install().plan, preview);
    let preview = home.target().preview_removal(&home.archive(), ALONE).unwrap();
    assert_eq!(preview.after.as_deref(), Some(FOREIGN.as_bytes()));
    assert_eq!(home.uninstall().plan, preview);
}

#[test]
fn codex_tells_which_entries_the_user_has_trusted() {
    let home = tempfile::tempdir().unwrap();
    let archive = OriginalsArchive::new(home.path().join("backups"));
    let real = home.path().join("real");
    fs::create_dir(&real).unwrap();
    let linked = home.path().join("linked");
    symlink("real", &linked).unwrap();
    let target = codex::install::target(&linked, Path::new("/opt/tow")).unwrap();
    target.apply(&archive, ALONE).unwrap();
    let trusted = || {
        let found = target.inspect_file(ALONE).unwrap();
        let trust = codex::install::trust(&linked, &found).unwrap();
        assert_eq!(trust.len(), codex::install::EVENTS.len());
        let trusted = trust.into_iter().filter(|(_, trust)| *trust == codex::install::EntryTrust::Trusted);
        trusted.map(|(entry, _)| entry.event).collect::<Vec<_>>()
    };
    assert_eq!(trusted(), [""; 0]);
    let key = format!("{}/hooks.json:session_start:0:0", fs::canonicalize(&real).unwrap().display());
    fs::write(real.join("config.toml"), format!("[hooks.state.'{key}']\ntrusted_hash = 'sha256:0'\n"))
        .unwrap();
    assert_eq!(trusted(), ["SessionStart"]);

    fs::write(real.join("config.toml"), "[hooks").unwrap();
    let found = target.inspect_file(ALONE).unwrap();
    let unknown = codex::install::trust(&linked, &found).unwrap_err();
    assert!(matches!(unknown, codex::install::TrustUnknown::NotToml { .. }));
}

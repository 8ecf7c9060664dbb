//! A whole file of ours in a foreign folder, such as a skill.
//!
//! A file is ours if it carries our mark with the right checksum. A file without the mark is never touched, and one
//! that the user changed since is never overwritten.

use std::path::{Path, PathBuf};

use super::apply::RetryPace;
use super::change::{Containers, EditPlan};
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;

/// A header line; all formats that we write allow comments there.
const MARK: &str = "# towline ";
/// The first line of a script.
const SCRIPT_MARK: &str = "// towline ";

const HEADER_END: &str = "\n---\n";

/// A file, and the text that we want in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedFile {
    owner: &'static str,
    file: PathBuf,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnedFileState {
    Absent,
    Right,
    /// An older version of ours.
    Outdated,
    /// Ours, changed by the user since.
    Changed,
    /// A foreign file of that name.
    Foreign,
}

impl OwnedFile {
    /// A page with this header (lines of YAML) and body.
    pub fn new(owner: &'static str, file: PathBuf, header: &str, body: &str) -> Self {
        Self { owner, file, text: marked(header, body) }
    }

    /// A script, marked in its first line.
    pub(crate) fn script(owner: &'static str, file: PathBuf, text: &str) -> Self {
        Self { owner, file, text: format!("{SCRIPT_MARK}{:08x}\n{text}", checksum(text)) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn inspect_file(&self, pace: RetryPace) -> Result<OwnedFileState, EditRefusal> {
        match self.preview(pace) {
            Ok(plan) => Ok(self.standing(plan.before.as_deref())),
            Err(EditRefusal { cause: RefusalCause::NotOurs, .. }) => Ok(OwnedFileState::Foreign),
            Err(refusal) => Err(refusal),
        }
    }

    pub(super) fn standing(&self, existing: Option<&[u8]>) -> OwnedFileState {
        let Some(bytes) = existing else { return OwnedFileState::Absent };
        if bytes == self.text.as_bytes() {
            return OwnedFileState::Right;
        }
        match std::str::from_utf8(bytes).ok().and_then(unmarked) {
            Some((text, sum)) if sum == checksum(&text) => OwnedFileState::Outdated,
            Some(_) => OwnedFileState::Changed,
            None => OwnedFileState::Foreign,
        }
    }
}

impl ManagedContent for OwnedFile {
    fn owner(&self) -> &'static str {
        self.owner
    }

    fn file(&self) -> &Path {
        &self.file
    }

    /// As the agents write their own: the page contains no secrets.
    fn new_mode(&self) -> u32 {
        0o644
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal> {
        let after = match self.standing(existing) {
            OwnedFileState::Absent | OwnedFileState::Right | OwnedFileState::Outdated => {
                self.text.clone().into_bytes()
            }
            OwnedFileState::Changed => existing.unwrap_or_default().to_vec(),
            OwnedFileState::Foreign => return Err(self.refuse(RefusalCause::NotOurs)),
        };
        Ok(EditPlan::of_bytes(&self.file, existing, Some(after)))
    }

    fn plan_removal(&self, existing: Option<&[u8]>, _kept: &Containers) -> Result<EditPlan, EditRefusal> {
        let after = match self.standing(existing) {
            OwnedFileState::Absent | OwnedFileState::Right | OwnedFileState::Outdated => None,
            OwnedFileState::Changed | OwnedFileState::Foreign => existing.map(<[u8]>::to_vec),
        };
        Ok(EditPlan::of_bytes(&self.file, existing, after))
    }
}

fn marked(header: &str, body: &str) -> String {
    let plain = format!("---\n{header}{HEADER_END}\n{body}\n");
    format!("---\n{header}\n{MARK}{:08x}{HEADER_END}\n{body}\n", checksum(&plain))
}

/// The text without its mark, and the mark's checksum.
fn unmarked(text: &str) -> Option<(String, u32)> {
    let script = text.strip_prefix(SCRIPT_MARK).map(|rest| ("", rest));
    let (before, rest) = script.or_else(|| text.split_once(&format!("\n{MARK}")))?;
    let (sum, after) = rest.split_once('\n')?;
    let is_sum = sum.len() == 8 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sum = u32::from_str_radix(sum, 16).ok().filter(|_| is_sum)?;
    Some((if script.is_some() { after.to_owned() } else { format!("{before}\n{after}") }, sum))
}

fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::archive::OriginalsArchive;
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn page(root: &Path, body: &str) -> OwnedFile {
        OwnedFile::new("agent", root.join("skills/one/SKILL.md"), "name: one\ndescription: d", body)
    }

    fn archive(root: &Path) -> OriginalsArchive {
        OriginalsArchive::new(root.join("backups"))
    }

    #[test]
    fn a_page_is_written_once_renewed_and_taken_away_with_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (page(root.path(), "old"), page(root.path(), "new"));
        let archive = archive(root.path());
        assert_eq!(new.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Absent);
        old.apply(&archive, RetryPace::BRIEF).unwrap();
        assert_eq!(fs::metadata(old.file()).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(new.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Outdated);
        assert!(!new.apply(&archive, RetryPace::BRIEF).unwrap().plan.is_empty());
        assert_eq!(new.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Right);
        assert!(new.apply(&archive, RetryPace::BRIEF).unwrap().plan.is_empty());
        old.remove(&archive, RetryPace::BRIEF).unwrap();
        assert!(!root.path().join("skills").exists());
    }

    #[test]
    fn folders_that_were_there_or_are_used_stay() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("skills")).unwrap();
        let (page, archive) = (page(root.path(), "x"), archive(root.path()));
        page.apply(&archive, RetryPace::BRIEF).unwrap();
        fs::write(root.path().join("skills/one/own.md"), "mine").unwrap();
        page.remove(&archive, RetryPace::BRIEF).unwrap();
        assert!(!page.file().exists() && root.path().join("skills/one/own.md").exists());
        fs::remove_file(root.path().join("skills/one/own.md")).unwrap();
        fs::remove_dir(root.path().join("skills/one")).unwrap();
        page.apply(&archive, RetryPace::BRIEF).unwrap();
        page.remove(&archive, RetryPace::BRIEF).unwrap();
        assert!(root.path().join("skills").exists() && !root.path().join("skills/one").exists());
    }

    #[test]
    fn a_page_of_somebody_else_is_refused_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let (page, archive) = (page(root.path(), "x"), archive(root.path()));
        fs::create_dir_all(page.file().parent().unwrap()).unwrap();
        for theirs in [&b"---\nname: one\n---\nmine\n"[..], b"\xff\xfe", b"# towline of my own\n"] {
            fs::write(page.file(), theirs).unwrap();
            assert_eq!(page.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Foreign);
            let refusal = page.apply(&archive, RetryPace::BRIEF).unwrap_err();
            assert!(matches!(refusal.cause, RefusalCause::NotOurs) && refusal.hint().contains("SKILL.md"));
            assert!(page.remove(&archive, RetryPace::BRIEF).unwrap().plan.is_empty());
            assert_eq!(fs::read(page.file()).unwrap(), theirs);
        }
    }

    #[test]
    fn a_persons_change_is_kept_by_install_and_uninstall() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (page(root.path(), "old"), page(root.path(), "new"));
        let archive = archive(root.path());
        old.apply(&archive, RetryPace::BRIEF).unwrap();
        let edited = fs::read_to_string(old.file()).unwrap().replace("old", "mine");
        fs::write(old.file(), &edited).unwrap();
        assert_eq!(new.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Changed);
        assert!(new.apply(&archive, RetryPace::BRIEF).unwrap().plan.is_empty());
        assert!(new.remove(&archive, RetryPace::BRIEF).unwrap().plan.is_empty());
        assert_eq!(fs::read_to_string(old.file()).unwrap(), edited);
    }

    #[test]
    fn a_page_is_recognised_as_ours_without_a_record() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (page(root.path(), "old"), page(root.path(), "new"));
        old.apply(&archive(root.path()), RetryPace::BRIEF).unwrap();
        fs::remove_dir_all(root.path().join("backups")).unwrap();
        new.apply(&archive(root.path()), RetryPace::BRIEF).unwrap();
        assert_eq!(new.inspect_file(RetryPace::BRIEF).unwrap(), OwnedFileState::Right);
        new.remove(&archive(root.path()), RetryPace::BRIEF).unwrap();
        assert!(!new.file().exists());
    }

    proptest::proptest! {
        #[test]
        fn every_change_of_a_page_is_detected(at in 0_usize..90, with in "[a-z#\n -]{1,3}") {
            let page = page(Path::new("/x"), "a body of some words");
            let cut = at.min(page.text.len());
            let edited = format!("{}{with}{}", &page.text[..cut], &page.text[cut..]);
            let standing = page.standing(Some(edited.as_bytes()));
            proptest::prop_assert!(matches!(standing, OwnedFileState::Changed | OwnedFileState::Foreign), "{edited}");
        }
    }
}

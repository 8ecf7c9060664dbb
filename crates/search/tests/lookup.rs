//! The lookup of a prompt's memories: which are found, which files are opened for it, and what damage it bears.

use std::fs;
use std::path::{Path, PathBuf};

use towline_search::{Document, DocumentKind, SearchIndex, memories_sharing};

#[test]
fn prompt_finds_the_memories_of_its_project_that_share_its_rare_words() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut writer = index.writer().unwrap();
    let memory = |id: i64, project: &str, title: &str| Document {
        title: title.to_owned(),
        project: project.to_owned(),
        ..Document::plain(id, DocumentKind::Memory, "the worker of the queue")
    };
    for id in 1..=40 {
        let title = match id {
            7 => "Retries of the queue are bounded".to_owned(),
            9 => "Retries and invoices".to_owned(),
            _ => format!("Painted part {id}"),
        };
        writer.add(&memory(id, "Harbour", &title)).unwrap();
    }
    writer.add(&memory(50, "elsewhere", "Retries of the queue are bounded")).unwrap();
    writer
        .add(&Document {
            project: "Harbour".into(),
            ..Document::plain(51, DocumentKind::Prompt, "bounded retries")
        })
        .unwrap();
    let lookup = |prompt: &str, most| memories_sharing(folder.path(), "harbour", prompt, most).unwrap();
    assert_eq!(lookup("retries", 20), None, "it is not built");
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let found = |prompt: &str, most| lookup(prompt, most).unwrap();
    assert_eq!(found("why are the retries not bounded?", 20), [7, 9]);
    assert_eq!(found("why are the retries not bounded?", 1), [7]);
    // All memories contain these words, so they tell nothing.
    assert_eq!(found("the worker of the queue", 20), [] as [i64; 0]);
    assert_eq!(found("", 20), [] as [i64; 0]);
    let nowhere = Path::new("/nonexistent");
    assert_eq!(memories_sharing(nowhere, "harbour", "what was I doing?", 20).unwrap(), Some(vec![]));
    assert_eq!(memories_sharing(nowhere, "harbour", "paint the mast", 20).unwrap(), None);
    let mut writer = index.writer().unwrap();
    writer.remove(7);
    writer.commit(2).unwrap();
    writer.close().unwrap();
    assert_eq!(found("why are the retries not bounded?", 20), [9]);

    let tails = folder.path().join(".tails");
    let mut damaged = fs::read(&tails).unwrap();
    damaged[40] ^= 1;
    fs::write(&tails, damaged).unwrap();
    assert_eq!(found("why are the retries not bounded?", 20), [9], "without the ends of the files");
    fs::remove_file(&tails).unwrap();
    assert_eq!(found("why are the retries not bounded?", 20), [9], "without that file");
}

#[test]
fn a_first_prompt_opened_all_files_of_all_segments() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path()).unwrap();
    for id in 1..=3 {
        let mut writer = index.writer().unwrap();
        let title = format!("Part {id} of the retries");
        let memory =
            Document { title, project: "Harbour".into(), ..Document::plain(id, DocumentKind::Memory, "") };
        writer.add(&memory).unwrap();
        for other in 1000 * id..1000 * id + 500 {
            let text = format!("lantern {other}");
            writer.add(&Document::plain(other, DocumentKind::Body, &text)).unwrap();
        }
        writer.commit(id).unwrap();
        writer.close().unwrap();
    }
    let files = || fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let is_unneeded = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| ["store", "pos", "fieldnorm"].iter().any(|name| extension == *name))
    };
    let unneeded: Vec<PathBuf> = files().filter(is_unneeded).collect();
    assert_eq!(unneeded.len(), 9);
    unneeded.iter().for_each(|path| fs::remove_file(path).unwrap());
    let found = memories_sharing(folder.path(), "harbour", "part 2", 20).unwrap().unwrap();
    assert_eq!(found, [2]);
}

/// The ends of the files were recorded, so a cut was noticed where a panic took the whole reply of a first prompt.
#[test]
fn a_cut_file_made_a_lookup_panic() {
    let folder = tempfile::tempdir().unwrap();
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut writer = index.writer().unwrap();
    for id in 1..600 {
        let title = format!("Part {id} of {}", id * 7);
        let memory =
            Document { title, project: "harbour".into(), ..Document::plain(id, DocumentKind::Memory, "") };
        writer.add(&memory).unwrap();
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let lookup = || memories_sharing(folder.path(), "harbour", "part 77", 20);
    assert_eq!(lookup().unwrap(), Some(vec![77, 11]));
    let mut missed = 0;
    for file in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()) {
        if ["term", "idx"].iter().any(|part| file.extension().is_some_and(|found| found == *part)) {
            let whole = fs::read(&file).unwrap();
            for length in [0, whole.len() / 3, whole.len() - 1] {
                fs::write(&file, &whole[..length]).unwrap();
                missed += usize::from(lookup().is_err());
            }
            fs::write(&file, &whole).unwrap();
        }
    }
    assert_eq!((missed, lookup().unwrap()), (6, Some(vec![77, 11])));
}

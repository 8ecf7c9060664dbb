//! Candidates as rows lend them: they rank as the memories that they belong to.

use super::*;
use crate::tables::projects::ProjectTable;
use std::collections::BTreeSet;
use towline_core::memory::choose::{CurrentWork, Ranking};
use towline_core::project::ProjectIdentity;

#[test]
fn memories_are_ranked_by_their_columns_as_by_all_of_their_text() {
    let bench = Bench::new();
    let traces = ProjectIdentity { root: "/boat".into(), remote: None, name: None, branch: None };
    let projects = ProjectTable { db: &bench.archive.db, machine: Uid([9; 16]) };
    let project = projects.row(&traces, Uid([99; 16]), NOW).unwrap();
    let kinds = ["bugfix", "decision", "change", "preference"];
    let titles = ["the mast \"leaned\"", "Öl für den Mast", "paint\tthe hull", "sails C:\\new"];
    for seed in 1..=60_u8 {
        let pick = usize::from(seed);
        let branch = (seed % 5 == 0).then(|| "logo".to_owned());
        let at = NOW.plus_ms(i64::from(seed % 7));
        let content = content(kinds[pick % 4], &format!("{} {}", titles[pick % 3], titles[pick % 4]));
        let session = new(1, content.clone()).session.filter(|_| seed % 3 != 0);
        let memory = NewMemory { project: Some(project), branch, session, at, ..new(seed, content) };
        bench.archive.add_memory(&memory).unwrap();
    }
    let files = BTreeSet::from(["src/mast/paint.rs".to_owned()]);
    for prompt in ["", "why does the mast lean?", "das Öl der neuen Sails", "paint it newer"] {
        let here = CurrentWork { branch: Some("logo".into()), files: files.clone(), prompt: prompt.into() };
        let (mut by_columns, mut as_a_whole) = (Ranking::new(&here), Ranking::new(&here));
        let mut numbers = vec![];
        bench
            .archive
            .newest_memories(project, 50, &mut |candidate, _| {
                numbers.push(candidate.number);
                by_columns.add(candidate);
            })
            .unwrap();
        let oldest = numbers.iter().min().copied().unwrap();
        for number in bench.archive.memories_about("src/mast/paint.rs", oldest).unwrap() {
            by_columns.add_file(number);
        }
        for number in &numbers {
            as_a_whole.add_memory(&bench.archive.memory(*number).unwrap().unwrap());
        }
        let best = by_columns.best();
        assert_eq!((best.fitting.len(), best.others.len()), (12, 38), "{prompt}");
        assert_eq!(best, as_a_whole.best(), "{prompt}");
    }
}

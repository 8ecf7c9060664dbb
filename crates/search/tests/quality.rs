//! Search quality: minimum scores on the question sets. A lower score is a regression.

mod sets;

use sets::{Set, figures};
use towline_search::RankingStages;

/// Hit@1 and MRR in percent must be at least `first` and `mrr`.
#[track_caller]
fn check(set: &Set, tier: RankingStages, first: f64, mrr: f64) {
    let found = figures(&set.ranks(tier));
    assert!(found.first >= first && found.mrr >= mrr, "{tier:?}: {found:?}");
}

#[test]
fn questions_about_development_are_answered() {
    let set = sets::dev_mem_bench();
    assert_eq!((set.documents.len(), set.questions.len()), (104, 175));
    check(&set, RankingStages::Words, 81.0, 88.0);
    check(&set, RankingStages::Whole, 86.0, 92.0);
}

#[test]
fn errors_files_commits_paraphrases_fragments_slips_and_old_rows_are_found() {
    let set = sets::own();
    check(&set, RankingStages::Whole, 90.0, 94.0);
    for (sort, found) in set.by_sort(&set.ranks(RankingStages::Whole)) {
        assert!(found.five >= 75.0, "{sort}: {found:?}");
    }
}

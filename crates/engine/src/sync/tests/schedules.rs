//! Three machines under any schedule of changes and syncs: all converge, and forgotten rows are nowhere.

use super::fleet::{Hub, Machine, content, settle};
use proptest::prelude::*;
use std::collections::BTreeMap;
use towline_core::id::Uid;
use towline_core::memory::Memory;
use towline_core::share::{RowLife, Visibility};
use towline_core::time::Timestamp;
use towline_store::StoreError;
use towline_store::archive::ShareLevel;

#[derive(Clone, Copy, Debug)]
enum Step {
    Make,
    Edit,
    Pin,
    Supersede,
    Hold,
    FindAgain,
    Undo,
    KeepPrivate,
    Share,
    Forget,
    Push,
    /// Killed before the hub's confirmation was recorded.
    PushUnheard,
    Pull,
    PullSome,
    /// Killed within a transaction.
    Die,
}

fn step() -> impl Strategy<Value = (usize, Step, u8)> {
    let kinds = prop_oneof![
        4 => Just(Step::Make),
        3 => Just(Step::Edit),
        2 => Just(Step::Pin),
        2 => Just(Step::Supersede),
        1 => Just(Step::Hold),
        1 => Just(Step::FindAgain),
        1 => Just(Step::Undo),
        1 => Just(Step::KeepPrivate),
        1 => Just(Step::Share),
        2 => Just(Step::Forget),
        3 => Just(Step::Push),
        1 => Just(Step::PushUnheard),
        3 => Just(Step::Pull),
        2 => Just(Step::PullSome),
        1 => Just(Step::Die),
    ];
    (0..3_usize, kinds, any::<u8>())
}

struct Run {
    machines: [Machine; 3],
    hub: Hub,
    made: u8,
    /// The unique word of each memory, searched for in files.
    words: BTreeMap<Uid, String>,
}

impl Run {
    fn new() -> Run {
        let new = |person, seed| Machine::new(person, seed, ShareLevel::Lines);
        let machines = [new("ann", 1), new("ann", 2), new("bob", 3)];
        Run { machines, hub: Hub::default(), made: 0, words: BTreeMap::new() }
    }

    fn step(&mut self, (at, step, choice): (usize, Step, u8)) {
        let machine = &self.machines[at];
        match step {
            Step::Make => {
                self.made += 1;
                let word = format!("heron{:03}", self.made);
                let uid = machine.remember(self.made, &format!("{word} stands"));
                self.words.insert(uid, word);
            }
            Step::Push => machine.push_all(&mut self.hub),
            Step::PushUnheard => {
                let batch = machine.batch(3);
                self.hub.push(batch.rows.iter().map(|sending| sending.row.clone()).collect());
            }
            Step::Pull => {
                machine.pull_all(&self.hub);
            }
            Step::PullSome => {
                machine.pull(&self.hub, 2);
            }
            Step::Edit
            | Step::Pin
            | Step::Supersede
            | Step::Hold
            | Step::FindAgain
            | Step::Undo
            | Step::KeepPrivate
            | Step::Share
            | Step::Forget
            | Step::Die => self.change((at, step, choice)),
        }
    }

    fn change(&mut self, (at, step, choice): (usize, Step, u8)) {
        let machine = &self.machines[at];
        let known = machine.memories();
        // Changes of a teammate's memory stay where they are made.
        let own: Vec<&Memory> = known.iter().filter(|memory| memory.person.is_none()).collect();
        let Some(one) = own.get(usize::from(choice) % own.len().max(1)) else { return };
        if matches!(step, Step::Forget) {
            return machine.forget_memory(one.uid);
        }
        let other = &known[usize::from(choice / 3) % known.len()];
        let writable = machine.open();
        let (archive, number, now) = (&writable.archive, one.number, Timestamp(i64::from(choice)));
        let edited = content(&format!("{} edit{choice:03}", self.words[&one.uid]));
        match step {
            Step::Edit => archive.edit_memory(number, &edited, now, "").map(drop),
            Step::Pin => archive.pin_memory(number, one.pinned_at.is_none().then_some(now), now).map(drop),
            Step::Supersede => archive.supersede_memory(number, Some(other.number), now, "older").map(drop),
            Step::Hold => {
                let why = one.quarantine.is_none().then_some("odd");
                archive.quarantine_memory(number, why, now).map(drop)
            }
            Step::FindAgain => archive.found_memory_again(number, now).map(drop),
            Step::Undo => archive.undo_memory(number, now).map(drop),
            Step::KeepPrivate => archive.keep_private(number, Visibility::Withdrawn, now).map(drop),
            Step::Share => archive.keep_private(number, Visibility::Shared, now).map(drop),
            Step::Die => {
                let _ = archive.in_transaction(|| {
                    archive.edit_memory(number, &edited, now, "never")?;
                    Err::<(), _>(StoreError::StillRead)
                });
                Ok(())
            }
            Step::Make | Step::Forget | Step::Push | Step::PushUnheard | Step::Pull | Step::PullSome => {
                Ok(())
            }
        }
        .unwrap();
    }

    fn check(&mut self) {
        settle(&self.machines, &mut self.hub);
        let mut shared = 0;
        for (row, _) in self.hub.rows.values() {
            let word = &self.words[&row.uid];
            let here = self.machines.each_ref().map(|machine| machine.memory(row.uid));
            match &row.life {
                RowLife::Forgotten { .. } => {
                    assert!(here.iter().all(Option::is_none), "{word} was forgotten: {here:?}");
                    for machine in &self.machines {
                        assert_eq!(machine.holding(word), Vec::<String>::new(), "{word} was forgotten");
                    }
                    assert!(!format!("{:?}", self.hub.rows).contains(word.as_str()));
                }
                RowLife::Lives(_) if !row.is_shared() => {
                    let kept = here.iter().flatten().count();
                    assert!(
                        kept <= 1 && here.iter().flatten().all(|memory| memory.is_private),
                        "{word}: {here:?}"
                    );
                    assert!(!format!("{row:?}").contains(word.as_str()), "the hub has {word}");
                }
                RowLife::Lives(registers) => {
                    shared += 1;
                    let told = here.each_ref().map(|memory| memory.as_ref().map(|memory| self.told(memory)));
                    assert!(
                        told[0].is_some() && told[0] == told[1] && told[1] == told[2],
                        "{word}: {told:#?}"
                    );
                    assert!(registers.words.value.contains(word.as_str()));
                    assert_eq!(here[0].as_ref().map(|memory| memory.pinned_at), Some(registers.pin.value));
                }
            }
        }
        for machine in &self.machines {
            let kept = machine.memories();
            let private = kept.iter().filter(|memory| memory.is_private).count();
            assert_eq!(kept.len() - private, shared, "nothing lost, nothing doubled");
        }
    }

    /// A machine-independent rendering of a memory.
    fn told(&self, memory: &Memory) -> String {
        let superseded = memory.superseded.as_ref().map(|superseded| (superseded.at, superseded.why.clone()));
        format!(
            "{:?} {:?} {superseded:?} {:?} {} {:?}",
            memory.content, memory.pinned_at, memory.quarantine, memory.found, memory.source
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_three_machines_do_in_whatever_order_they_come_to_the_same(
        steps in proptest::collection::vec(step(), 5..45),
    ) {
        let mut run = Run::new();
        for step in steps {
            run.step(step);
        }
        run.check();
    }
}

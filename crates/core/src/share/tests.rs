//! Tests of merging with arbitrary rows in any order.

use super::*;
use proptest::prelude::*;

fn stamp() -> impl Strategy<Value = WriteStamp> {
    (0_u64..4, 0_u8..3).prop_map(|(count, machine)| WriteStamp { count, machine: Uid([machine; 16]) })
}

fn register<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Register<T>> {
    (stamp(), value).prop_map(|(stamp, value)| Register { stamp, value })
}

fn registers() -> impl Strategy<Value = Registers> {
    let replaced = (0_u8..2, 0_i64..3).prop_map(|(by, at)| RowReplacement {
        by: Some(Uid([by; 16])),
        at: Timestamp(at),
        why: String::new(),
    });
    let presence = prop_oneof![Just(Visibility::Shared), Just(Visibility::Withdrawn)];
    (
        register("[ab]"),
        register(proptest::option::of((0_i64..3).prop_map(Timestamp))),
        register(proptest::option::of(replaced)),
        register(proptest::option::of("[xy]")),
        register(presence),
        0_u32..3,
    )
        .prop_map(|(words, pin, standing, hold, presence, found)| Registers {
            words,
            pin,
            standing,
            hold,
            presence,
            found,
        })
}

fn row() -> impl Strategy<Value = SharedRow> {
    let life = prop_oneof![
        4 => registers().prop_map(|registers| RowLife::Lives(Box::new(registers))),
        1 => (0_i64..3, "[pq]").prop_map(|(at, by)| RowLife::Forgotten { at: Timestamp(at), by }),
    ];
    (life, 0_u8..3).prop_map(|(life, machine)| SharedRow {
        uid: Uid([7; 16]),
        kind: RowKind::Memory,
        project: Uid([1; 16]),
        from: RowProvenance {
            person: "ann".into(),
            machine: Uid([machine; 16]),
            session: None,
            turn: None,
            made_at: Timestamp(0),
        },
        life,
    })
}

proptest! {
    #[test]
    fn merging_is_commutative_associative_and_idempotent(a in row(), b in row(), c in row()) {
        let [ab, ba] = [a.clone().merged(b.clone()), b.clone().merged(a.clone())];
        prop_assert_eq!(&ab, &ba);
        prop_assert_eq!(ab.clone().merged(c.clone()), a.clone().merged(b.clone().merged(c)));
        prop_assert_eq!(ab.clone().merged(b), ab);
    }

    #[test]
    fn a_forgotten_row_stays_forgotten(a in row(), b in row()) {
        let gone = SharedRow { life: RowLife::Forgotten { at: Timestamp(9), by: "ann".into() }, ..a };
        let is_gone = matches!(gone.merged(b).life, RowLife::Forgotten { .. });
        prop_assert!(is_gone);
    }

    #[test]
    fn bytes_are_ordered_as_stamps_are(a in stamp(), b in stamp()) {
        prop_assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
        prop_assert_eq!(WriteStamp::from_bytes(&a.to_bytes()), Some(a));
    }
}

#[test]
fn a_withdrawn_row_stays_empty_after_concurrent_writes_and_can_be_shared_again() {
    let [here, there] = [Uid([1; 16]), Uid([2; 16])];
    let of_words = |text: &str, count| Registers::of_words(text.into(), WriteStamp { count, machine: there });
    let from = RowProvenance {
        person: "ann".into(),
        machine: there,
        session: None,
        turn: None,
        made_at: Timestamp(0),
    };
    let row = |registers| SharedRow {
        uid: Uid([7; 16]),
        kind: RowKind::Memory,
        project: Uid([1; 16]),
        from: from.clone(),
        life: RowLife::Lives(Box::new(registers)),
    };
    let mut given = of_words("kestrel", 3);
    let why = RowReplacement { by: None, at: Timestamp(1), why: "kestrel".into() };
    given.standing = Register { stamp: WriteStamp::NEVER.next(there), value: Some(why) };
    given.hold = Register { stamp: WriteStamp::NEVER.next(there), value: Some("kestrel".into()) };
    let back = row(given.clone()).taken_back(here);
    let merged = back.clone().merged(row(of_words("kestrel flies", 9))).merged(row(given.clone()));
    assert!(!merged.is_shared() && !format!("{merged:?}").contains("kestrel"), "{merged:?}");
    let RowLife::Lives(registers) = &back.life else { panic!() };
    assert_eq!(registers.presence.stamp.machine, there, "it stays where it was made");
    given.words.stamp = registers.words.stamp.next(there);
    given.presence.stamp = registers.presence.stamp.next(there);
    assert!(back.merged(row(given)).is_shared());
}

#[test]
fn an_edit_here_and_a_pin_there_both_hold() {
    let [here, there] = [Uid([1; 16]), Uid([2; 16])];
    let first = Registers::of_words("old".into(), WriteStamp::NEVER.next(here));
    let mut edited = first.clone();
    edited.words = Register { stamp: first.words.stamp.next(here), value: "new".into() };
    let mut pinned = first;
    pinned.pin = Register { stamp: pinned.pin.stamp.next(there), value: Some(Timestamp(5)) };
    let merged = pinned.merged(edited);
    assert_eq!((merged.words.value.as_str(), merged.pin.value), ("new", Some(Timestamp(5))));
}

#[test]
fn a_stamp_of_another_length_is_none() {
    assert_eq!(WriteStamp::from_bytes(&[0; 23]), None);
    assert_eq!(WriteStamp::from_bytes(&[0; 25]), None);
}

#[test]
fn every_kind_is_read_back_by_its_name() {
    for kind in RowKind::ALL {
        assert_eq!(RowKind::named(kind.name()), Some(kind));
    }
    assert_eq!(RowKind::named("secret"), None);
}

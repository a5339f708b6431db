//! Contacts from frame to frame.

use super::*;
use crate::contacts::{
    Changes, ContactList, Contacts, RawKeys, jostle_contacts_free, jostle_contacts_new, jostle_contacts_update,
    jostle_contacts_update_pairs,
};
use crate::status::Reason;

struct Tracker(*mut Contacts);

impl Tracker {
    fn new() -> Self {
        let mut contacts = null_mut();
        // SAFETY: the place is valid.
        assert_eq!(unsafe { jostle_contacts_new(&raw mut contacts) }, Status::Ok);
        Self(contacts)
    }

    fn message(&self) -> String {
        let mut error = Error { size: size_of::<Error>(), ..no_error() };
        // SAFETY: the handle is valid, and keeps the message until its next call.
        unsafe {
            assert_eq!(jostle_last_error(self.0.cast(), &raw mut error), Status::Ok);
            CStr::from_ptr(error.message).to_string_lossy().into_owned()
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        // SAFETY: the library made the handle.
        unsafe { jostle_contacts_free(self.0) }
    }
}

fn of(keys: &[u64]) -> RawKeys {
    RawKeys { size: size_of::<RawKeys>(), count: keys.len(), keys: keys.as_ptr() }
}

fn keys_of(list: &ContactList) -> Vec<[u64; 2]> {
    // SAFETY: so many keys are lent.
    unsafe { core::slice::from_raw_parts(list.keys, list.count) }.to_vec()
}

#[test]
fn contacts_begin_persist_and_end_by_keys() {
    let (finder, tracker, mut changes) = (Own::new(2), Tracker::new(), no_changes());
    let keys = [of(&[70, 50, 60])];
    let mut told = Vec::new();
    for x in [[0.0, 1.5, 9.0], [0.0, 1.0, 2.5], [0.0, 7.5, 9.0]] {
        assert!(finder.find(&input(&[circles(&x, &[0.0; 3], &[1.0; 3])])).is_ok());
        // SAFETY: the two handles are valid, and all that the keys lead to outlives the call.
        let updated = unsafe { jostle_contacts_update(tracker.0, finder.0, 0, keys.as_ptr(), 1, &raw mut changes) };
        assert_eq!(updated, Status::Ok);
        told.push([&changes.begin, &changes.persist, &changes.end].map(keys_of));
        assert_eq!(changes.pair_count, changes.begin.count + changes.persist.count);
        assert!(changes.slot_count >= changes.pair_count);
    }
    let wanted = [
        [vec![[50, 70]], vec![], vec![]],
        [vec![[50, 60]], vec![[50, 70]], vec![]],
        [vec![], vec![[50, 60]], vec![[50, 70]]],
    ];
    assert_eq!(told, wanted);
}

#[test]
fn contacts_among_sets_say_which_sets_they_are_of() {
    let (finder, tracker, mut changes) = (Own::new(2), Tracker::new(), no_changes());
    let keys = [of(&[5, 3]), of(&[5, 3])];
    let table = [0_u8, 1, 0, 1];
    let mut told = Vec::new();
    for x in [[0.0, 1.0], [0.0, 9.0]] {
        let sets = [circles(&x, &[0.0; 2], &[0.5; 2]), circles(&[0.0, 1.0], &[0.0; 2], &[0.25; 2])];
        let among = Input { relation: Relation::Among as i32, table: table.as_ptr(), ..input(&sets) };
        assert!(finder.find(&among).is_ok());
        let relation = Relation::Among as i32;
        // SAFETY: the two handles are valid, and all that the keys lead to outlives the call.
        let updated =
            unsafe { jostle_contacts_update(tracker.0, finder.0, relation, keys.as_ptr(), 2, &raw mut changes) };
        assert_eq!(updated, Status::Ok);
        told.push([&changes.begin, &changes.persist, &changes.end].map(|list| {
            // SAFETY: so many numbers are lent.
            let sets =
                unsafe { if list.count == 0 { &[] } else { core::slice::from_raw_parts(list.sets, list.count) } };
            keys_of(list).into_iter().zip(sets.to_vec()).collect::<Vec<_>>()
        }));
    }
    // Then the second circle of the first set leaves.
    let [one, other] = [([5, 5], [0, 1]), ([3, 3], [0, 1])];
    assert_eq!(told, [[vec![one, other], vec![], vec![]], [vec![], vec![one], vec![other]]]);
    // Within one set there are none to tell apart.
    let within = Tracker::new();
    assert!(finder.find(&input(&[circles(&[0.0, 1.0], &[0.0; 2], &[0.75; 2])])).is_ok());
    // SAFETY: as above.
    let updated = unsafe { jostle_contacts_update(within.0, finder.0, 0, keys.as_ptr(), 1, &raw mut changes) };
    assert_eq!((updated, changes.begin.count, changes.begin.sets.is_null()), (Status::Ok, 1, true));
}

#[test]
fn pairs_and_keys_at_fault_are_named() {
    let (tracker, mut changes) = (Tracker::new(), no_changes());
    let (pairs, keys) = ([[0, 1], [0, 9], [0, 1]], [of(&[5, 6])]);
    let update = |pairs: &[[u32; 2]], relation, keys: &[RawKeys], changes: &mut Changes| {
        let (count, sets) = (pairs.len(), keys.len());
        // SAFETY: the handle is valid, and all that the keys lead to outlives the call.
        unsafe {
            jostle_contacts_update_pairs(
                tracker.0,
                pairs.as_ptr().cast(),
                count,
                relation,
                keys.as_ptr(),
                sets,
                changes,
            )
        }
    };
    assert_eq!(update(&pairs, 0, &keys, &mut changes), Status::Contacts);
    let mut error = Error { size: size_of::<Error>(), ..no_error() };
    // SAFETY: the handle is valid and lends so many offenders.
    let first = unsafe {
        assert_eq!(jostle_last_error(tracker.0.cast(), &raw mut error), Status::Ok);
        core::slice::from_raw_parts(error.first, error.first_count)
    };
    assert!(first.iter().any(|one| (one.id, one.reason) == (1, Reason::NoSuchId as i32)), "{first:?}");
    assert_eq!(update(&pairs[..1], 0, &[of(&[5, 5])], &mut changes), Status::Contacts);
    assert!(tracker.message().starts_with("1 repeated key of set 0 refused"), "{}", tracker.message());
    assert_eq!(update(&pairs[..1], 2, &keys, &mut changes), Status::Contacts);
    assert!(tracker.message().starts_with("pairs of your own do not say which sets"), "{}", tracker.message());
    assert_eq!(update(&pairs[..1], 1, &keys, &mut changes), Status::Parameter);
    assert_eq!(update(&pairs[..1], 8, &keys, &mut changes), Status::UnknownValue);
    assert_eq!(update(&pairs[..1], 0, &[RawKeys { size: 1, ..keys[0] }], &mut changes), Status::StructSize);
    assert_eq!(update(&pairs[..1], 0, &keys, &mut changes), Status::Ok);
    assert_eq!(keys_of(&changes.begin), [[5, 6]]);
}

#[test]
fn keys_are_one_for_each_body_of_the_last_list() {
    let (finder, tracker, mut changes) = (Own::new(2), Tracker::new(), no_changes());
    let (names, none) = ([7_u64, 5, 6, 4], no_set());
    let mut update = |relation: Relation, keys: &[RawKeys]| {
        let (relation, sets) = (relation as i32, keys.len());
        // SAFETY: the two handles are valid, and all that the keys lead to outlives the call.
        unsafe { jostle_contacts_update(tracker.0, finder.0, relation, keys.as_ptr(), sets, &raw mut changes) }
    };
    assert_eq!(update(Relation::Within, &[of(&names)]), Status::Ok);
    let apart = circles(&[0.0, 9.0, 18.0], &[0.0; 3], &[1.0; 3]);
    assert_eq!(finder.find(&input(&[apart])), Ok(vec![]));
    assert_eq!(update(Relation::Within, &[of(&names[..2])]), Status::Contacts);
    assert_eq!(update(Relation::Within, &[of(&names)]), Status::Contacts);
    assert_eq!(update(Relation::Between, &[of(&names[..3]), of(&names[..3])]), Status::Contacts);
    assert_eq!(update(Relation::Within, &[of(&names[..3])]), Status::Ok);
    assert_eq!(finder.find(&input(&[apart, none])), Ok(vec![]));
    assert_eq!(update(Relation::Between, &[of(&names[..3]), of(&names[..1])]), Status::Contacts);
    assert_eq!(tracker.message(), "set 1: 1 keys, but 0 bodies were searched: give each body its key");
    assert_eq!(update(Relation::Between, &[of(&names[..3]), of(&[])]), Status::Ok);
}

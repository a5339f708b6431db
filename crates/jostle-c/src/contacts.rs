//! Contacts over time.

use std::sync::Arc;

use engine::{ContactError, ContactTracker, Keys};

use crate::dimensions::in_either;
use crate::finder::{Finder, FinderState};
use crate::handle::{Opaque, call, free, kind, make, with};
use crate::input::Relation;
use crate::memory::{self, Grows, answer};
use crate::status::{Failure, Status};
use crate::threads::{OwnThreads, Threads, keep, threads};

/// Tells which contacts begin, persist and end from frame to frame. Bodies are known by keys of the host's: a body
/// keeps its key while it lives, whatever its id is. Make a tracker once and keep it.
#[derive(Debug)]
pub struct Contacts {
    _opaque: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct ContactsState {
    tracker: ContactTracker,
    threads: Option<Arc<OwnThreads>>,
}

impl Opaque for Contacts {
    type State = ContactsState;
    const KIND: u64 = kind(5);
    const NAME: &'static str = "jostle_contacts";
}

/// The keys of one set, by id: any numbers, each once.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawKeys {
    /// sizeof(jostle_keys).
    pub size: usize,
    /// How many ids.
    pub count: usize,
    /// The keys, side by side and aligned.
    pub keys: *const u64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for RawKeys {
    const NAME: &'static str = "jostle_keys";
}

/// The contacts of a frame that begin, or persist, or end; lent until the next update.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ContactList {
    /// How many contacts.
    pub count: usize,
    /// The two keys of each contact: within a set the lesser key first, else the key of the body in the lesser set.
    pub keys: *const [u64; 2],
    /// The two ids of each contact. Contacts that end have their ids of the last frame.
    pub pairs: *const [u32; 2],
    /// The slot of each contact: a small number that no other contact has while this one lasts. The host can keep data
    /// of the contact by it.
    pub slots: *const u32,
    /// The numbers of the two sets of each contact, if keys were given for JOSTLE_RELATION_AMONG; null otherwise, and
    /// where there are no contacts.
    pub sets: *const [u32; 2],
}

/// The changes since the last frame, lent by the tracker until its next update.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Changes {
    /// sizeof(jostle_changes).
    pub size: usize,
    /// Contacts of this frame alone, in the order of its pairs.
    pub begin: ContactList,
    /// Contacts of both frames, in the order of the pairs of this frame.
    pub persist: ContactList,
    /// Contacts of the last frame alone, in the order of its pairs.
    pub end: ContactList,
    /// How many pairs this frame has.
    pub pair_count: usize,
    /// The slot of each pair of this frame.
    pub pair_slots: *const u32,
    /// The length of an array that has a place for each slot.
    pub slot_count: usize,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for Changes {
    const NAME: &'static str = "jostle_changes";
}

fn lent(changes: engine::Changes<'_>, size: usize) -> Changes {
    let list = |contacts: engine::Contacts<'_>| ContactList {
        count: contacts.len(),
        keys: contacts.keys().as_ptr(),
        pairs: contacts.pairs().as_ptr(),
        slots: contacts.slots().as_ptr(),
        sets: if contacts.sets().is_empty() { core::ptr::null() } else { contacts.sets().as_ptr() },
    };
    let slots = changes.pair_slots();
    Changes {
        size,
        begin: list(changes.begin()),
        persist: list(changes.persist()),
        end: list(changes.end()),
        pair_count: slots.len(),
        pair_slots: slots.as_ptr(),
        slot_count: changes.slots(),
    }
}

/// Calls `update` with the keys of each set.
///
/// # Safety
/// The pointer is null, misaligned, or leads to `sets` structs that are readable during the call, with all that they
/// lead to.
unsafe fn with_keys<R>(
    relation: i32,
    raw: *const RawKeys,
    sets: usize,
    update: impl FnOnce(Keys<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let relation = Relation::of(relation)?;
    // SAFETY: as the caller says.
    let raw = unsafe { memory::structs(raw, sets, "keys") }?;
    let mut keys = Vec::with_capacity(sets);
    for (number, raw) in raw.iter().enumerate() {
        // SAFETY: as the caller says.
        let of_set =
            unsafe { memory::read(raw).and_then(|raw| memory::array(raw.keys, raw.count, "jostle_keys.keys")) };
        keys.push(of_set.map_err(|failure| failure.in_set(number))?);
    }
    match (relation, &keys[..]) {
        (Relation::Within, [keys]) => update(Keys::Within(keys)),
        (Relation::Between, [a, b]) => update(Keys::Between(a, b)),
        (Relation::Among, keys) => update(Keys::Among(keys)),
        _ => {
            let message = format_args!("keys of {sets} sets are given, which {} does not take", relation.name());
            Err(Failure::new(Status::Parameter, message))
        }
    }
}

/// Refuses keys that are not one for each body of the last list.
fn check_counts(keys: Keys<'_>, bodies: &[usize]) -> Result<(), Failure> {
    let counts = match keys {
        Keys::Within(keys) => vec![keys.len()],
        Keys::Between(a, b) => vec![a.len(), b.len()],
        Keys::Among(sets) => sets.iter().map(|keys| keys.len()).collect(),
    };
    // Before the first list there is nothing to compare with.
    if bodies.is_empty() {
        return Ok(());
    }
    if counts.len() != bodies.len() {
        let (sets, given) = (bodies.len(), counts.len());
        let message = format_args!("the last list is of {sets} sets, but keys of {given} sets are given");
        return Err(Failure::new(Status::Contacts, message));
    }
    let differs = counts.iter().zip(bodies).position(|(keys, bodies)| keys != bodies);
    differs.map_or(Ok(()), |set| {
        let (keys, bodies) = (counts[set], bodies[set]);
        let message = format_args!("{keys} keys, but {bodies} bodies were searched: give each body its key");
        Err(Failure::new(Status::Contacts, message).in_set(set))
    })
}

/// Makes a tracker that has seen no frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts_new(out: *mut *mut Contacts) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, || Ok(ContactsState { tracker: ContactTracker::new(), threads: None })) }
}

/// Frees the tracker, and all that it has lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts_free(contacts: *mut Contacts) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(contacts) }
}

/// Sets the threads of later updates; null for the global pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts_set_threads(contacts: *mut Contacts, threads: *const Threads) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(contacts, |state| {
            state.threads = keep(threads)?;
            Ok(())
        })
    }
}

/// Compares the last list of a finder, image shifts included, with the list of the last update. relation is the
/// jostle_relation of the search; keys leads to set_count structs, the keys of each of its sets, one for each body.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts_update(
    contacts: *mut Contacts,
    finder: *mut Finder,
    relation: i32,
    keys: *const RawKeys,
    set_count: usize,
    out: *mut Changes,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(contacts, |state| {
            let (out, threads) = (answer(out)?, threads(state.threads.as_ref()));
            with(finder, |FinderState { finder, bodies, .. }| {
                with_keys(relation, keys, set_count, |keys| {
                    check_counts(keys, bodies)?;
                    let tracker = state.tracker.on(threads);
                    let updated = in_either!(finder, finder => tracker.update(finder.last(), keys));
                    *out = lent(updated?, out.size);
                    Ok(())
                })
            })
        })
    }
}

/// As jostle_contacts_update, for pairs of the host's own, or some that a finder has lent: within one set, with the
/// lesser id of each pair first, or between two sets. pairs leads to two ids for each pair, such as found.pairs[0]. It
/// must not lead to what this tracker lends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts_update_pairs(
    contacts: *mut Contacts,
    pairs: *const u32,
    pair_count: usize,
    relation: i32,
    keys: *const RawKeys,
    set_count: usize,
    out: *mut Changes,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(contacts, |state| {
            let (out, threads) = (answer(out)?, threads(state.threads.as_ref()));
            let pairs = memory::array(pairs.cast(), pair_count, "pairs")?;
            with_keys(relation, keys, set_count, |keys| {
                let updated: Result<_, ContactError> = state.tracker.on(threads).update(pairs, keys);
                *out = lent(updated?, out.size);
                Ok(())
            })
        })
    }
}

//! Contacts over time against sets of keys.

use std::collections::BTreeSet;

use jostle::{
    BadPair, Bodies, Circles, Circles64, ContactError, ContactPairs, ContactTracker, Input, Keys, PairFault,
    PairFinder, RepeatedKey, Threads,
};
use jostle_testkit::algebra::{CRYSTALS, engine::Ready};
use jostle_testkit::keyed::{Oracle, Springs, update};
use jostle_testkit::{Kind, pool, scene, within};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;

/// What happens to the bodies of a group between two frames.
#[derive(Debug, Clone)]
enum Event {
    Add(u64),
    /// The last body takes the id.
    SwapRemove(Index),
    /// All later bodies move up.
    Remove(Index),
    /// Another body takes the id.
    Replace(Index, u64),
    Swap(Index, Index),
    Reverse,
    Clear,
}

/// Draws few keys, so that keys come back, and keys far apart.
fn key() -> impl Strategy<Value = u64> {
    (0..30_u64).prop_map(|key| match key % 3 {
        0 => key,
        1 => key << 32,
        _ => u64::MAX - key,
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => key().prop_map(Event::Add),
        2 => any::<Index>().prop_map(Event::SwapRemove),
        2 => any::<Index>().prop_map(Event::Remove),
        2 => (any::<Index>(), key()).prop_map(|(at, key)| Event::Replace(at, key)),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Event::Swap(a, b)),
        1 => Just(Event::Reverse),
        1 => Just(Event::Clear),
    ]
}

fn happen(keys: &mut Vec<u64>, event: &Event) {
    let len = keys.len();
    match *event {
        Event::Add(key) if !keys.contains(&key) => keys.push(key),
        Event::SwapRemove(at) if len > 0 => drop(keys.swap_remove(at.index(len))),
        Event::Remove(at) if len > 0 => drop(keys.remove(at.index(len))),
        Event::Replace(at, key) if len > 0 && !keys.contains(&key) => keys[at.index(len)] = key,
        Event::Swap(a, b) if len > 0 => keys.swap(a.index(len), b.index(len)),
        Event::Reverse => keys.reverse(),
        Event::Clear if len > 20 => keys.clear(),
        _ => {}
    }
}

/// What happens, the pairs of the frame, whether pairs are between groups, and the faults of a copy that is tried
/// first.
#[derive(Debug, Clone)]
struct Step {
    events: [Vec<Event>; 2],
    pairs: Vec<[Index; 2]>,
    between: bool,
    spoilt: Vec<(Index, u8)>,
}

fn step() -> impl Strategy<Value = Step> {
    let events = || vec(event(), 0..6);
    let spoilt = vec((any::<Index>(), 0..4_u8), 0..4);
    let between = prop_oneof![3 => Just(false), 2 => Just(true)];
    ([events(), events()], vec([any::<Index>(), any::<Index>()], 0..80), between, spoilt)
        .prop_map(|(events, pairs, between, spoilt)| Step { events, pairs, between, spoilt })
}

impl Step {
    fn pairs(&self, [first, second]: &[Vec<u64>; 2]) -> Vec<[u32; 2]> {
        let mut there = BTreeSet::new();
        let lengths = if self.between { [first.len(), second.len()] } else { [first.len(); 2] };
        let all = self.pairs.iter().filter(|_| lengths.iter().all(|&len| len > 0)).map(|[a, b]| {
            let (a, b) = (a.index(lengths[0]) as u32, b.index(lengths[1]) as u32);
            if self.between { [a, b] } else { [a.min(b), a.max(b)] }
        });
        all.filter(|&[a, b]| (self.between || a < b) && there.insert([a, b])).collect()
    }

    /// Puts faults into pairs and keys.
    fn spoil(&self, pairs: &mut Vec<[u32; 2]>, keys: &mut [Vec<u64>; 2]) {
        for (at, kind) in &self.spoilt {
            match kind {
                0 if !pairs.is_empty() => pairs.push(*at.get(pairs)),
                1 if !pairs.is_empty() => at.get_mut(pairs).reverse(),
                2 if !pairs.is_empty() => at.get_mut(pairs)[at.index(2)] += 40,
                _ => {
                    let keys = &mut keys[at.index(2)];
                    if let Some(&key) = (!keys.is_empty()).then(|| at.get(keys)) {
                        keys.push(key);
                    }
                }
            }
        }
    }
}

fn view(keys: &[Vec<u64>; 2], between: bool) -> Keys<'_> {
    if between { [keys[0].as_slice(), &keys[1]].into() } else { (&keys[0]).into() }
}

/// Returns the error of a frame by double loops.
fn refusal(pairs: &[[u32; 2]], keys: Keys<'_>) -> Option<ContactError> {
    let (groups, between) = match keys {
        Keys::Within(keys) => ([keys, keys], false),
        Keys::Between(first, second) => ([first, second], true),
        Keys::Among(_) => panic!("among many, see `algebra`"),
    };
    for (group, keys) in groups.into_iter().enumerate() {
        let again = |&id: &usize| keys[..id].contains(&keys[id]);
        let first: Vec<_> =
            (0..keys.len()).filter(again).map(|id| RepeatedKey { id: id as u32, key: keys[id] }).collect();
        if !first.is_empty() {
            return Some(ContactError::Keys {
                group: group as u32,
                count: first.len(),
                first: first[..first.len().min(16)].into(),
            });
        }
    }
    let fault = |at: usize| {
        let pair = pairs[at];
        let beyond = (0..2).find(|&i| pair[i] as usize >= groups[i].len());
        let fault = if let Some(i) = beyond {
            PairFault::NoSuchId { id: pair[i], ids: groups[i].len() }
        } else if !between && pair[0] >= pair[1] {
            PairFault::NotAscending
        } else if pairs[..at].contains(&pair) {
            PairFault::Repeated
        } else {
            return None;
        };
        Some(BadPair { at, pair, fault })
    };
    let first: Vec<_> = (0..pairs.len()).filter_map(fault).collect();
    let count = first.len();
    (count > 0).then(|| ContactError::Pairs { count, first: first.into_iter().take(16).collect() })
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 300, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_keys_are_followed(steps in vec(step(), 1..12)) {
        let (mut tracker, mut oracle, mut keys) = (ContactTracker::new(), Oracle::default(), [vec![], vec![]]);
        let (mut springs, mut most) = (Springs::default(), 0);
        for (frame, step) in (0..).zip(&steps) {
            for (keys, events) in keys.iter_mut().zip(&step.events) {
                events.iter().for_each(|event| happen(keys, event));
            }
            let pairs = step.pairs(&keys);
            let (mut bad_pairs, mut bad_keys) = (pairs.clone(), keys.clone());
            step.spoil(&mut bad_pairs, &mut bad_keys);
            if let Some(error) = refusal(&bad_pairs, view(&bad_keys, step.between)) {
                let refused = update(&mut tracker, Threads::Serial, &bad_pairs, view(&bad_keys, step.between));
                prop_assert_eq!(refused, Err(error));
            }
            let view = view(&keys, step.between);
            let expected = oracle.update(&pairs, view);
            let mut copy = tracker.clone();
            prop_assert_eq!(update(&mut tracker, Threads::Serial, &pairs, view), Ok(expected));
            // A snapshot comes to the same result, and again from where both are now.
            prop_assert!(update(&mut copy, Threads::Serial, &pairs, view).is_ok());
            prop_assert_eq!(slots(&copy), slots(&tracker));
            if frame % 2 == 0 {
                tracker = copy;
            }
            springs.load(tracker.last(), &pairs, frame);
            most = most.max(pairs.len() + tracker.last().end().len());
            prop_assert!(tracker.slots() <= most);
        }
    }
}

/// Returns all slots that a tracker tells.
fn slots(tracker: &ContactTracker) -> [&[u32]; 4] {
    let last = tracker.last();
    [last.begin().slots(), last.persist().slots(), last.end().slots(), last.pair_slots()]
}

/// Moves on by a frame: now and then every third body is replaced, bodies leave and come, or the order changes.
fn move_on(frame: u64, keys: &mut Vec<u64>) {
    let len = keys.len();
    match frame % 5 {
        0 => {}
        1 => keys.swap(len / 3, len / 2),
        2 => (0..len).step_by(3).for_each(|id| keys[id] = frame << 56 | id as u64),
        3 => keys.reverse(),
        _ => {
            keys.drain(len / 4..len / 3);
            keys.extend((0..len as u64 / 12).map(|i| frame << 56 | i));
        }
    }
}

#[test]
fn thousands_of_bodies_on_any_number_of_threads() {
    const BODIES: usize = 21_000;
    let pools = [1, 2, 3, 8].map(pool);
    for kind in [Kind::Dense, Kind::PowerLaw] {
        let mut trackers = [(); 4].map(|()| ContactTracker::new());
        let (mut serial, mut oracle, mut finder) = (ContactTracker::new(), Oracle::default(), PairFinder::new());
        let mut springs = Springs::default();
        let mut keys: Vec<u64> = (0..BODIES as u64).map(|id| id << 32).collect();
        let mut scene = scene::scene::<2>(kind, BODIES, 1);
        for frame in 0..6 {
            move_on(frame, &mut keys);
            scene.centers[0].iter_mut().enumerate().for_each(|(id, x)| *x += (id % 7) as f32 * 0.01);
            let bodies =
                Bodies::from_slices(scene.centers.each_ref().map(|c| &c[..keys.len()]), &scene.radii[..keys.len()]);
            let pairs = finder.find(bodies).expect("a sound scene").pairs();
            let expected = Ok(oracle.update(pairs, (&keys).into()));
            assert!(update(&mut serial, Threads::Serial, pairs, (&keys).into()) == expected, "{kind}, frame {frame}");
            springs.load(serial.last(), pairs, frame);
            for (pool, tracker) in pools.iter().zip(&mut trackers) {
                let threads = pool.current_num_threads();
                let parallel = within(pool, || update(tracker, Threads::Current, pairs, (&keys).into()));
                assert!(parallel == expected, "{kind}, frame {frame}, {threads} threads");
                assert!(slots(tracker) == slots(&serial), "{kind}, frame {frame}, {threads} threads: other slots");
            }
        }
    }
}

/// Frames so large that threads share them, with faults of every kind, give the same error on one thread and on three.
#[test]
fn faults_of_large_frames_are_named_alike_on_any_threads() {
    let keys: Vec<u64> = (0..40_000).collect();
    let mut pairs: Vec<[u32; 2]> = (0..39_000).map(|a| [a, a + 1]).collect();
    let pool = pool(3);
    let both = |pairs: &[[u32; 2]], keys: &[u64]| {
        let mut tracker = ContactTracker::new();
        let serial = update(&mut tracker, Threads::Serial, pairs, keys.into());
        assert!(serial == within(&pool, || update(&mut tracker, Threads::Current, pairs, keys.into())));
        serial.expect_err("a fault")
    };
    pairs.extend((0..38_000).step_by(1_000).map(|a| [a, a + 1]));
    let again =
        |at: u32| BadPair { at: 39_000 + at as usize, pair: [at * 1_000, at * 1_000 + 1], fault: PairFault::Repeated };
    assert_eq!(both(&pairs, &keys), ContactError::Pairs { count: 38, first: (0..16).map(again).collect() });
    pairs[7] = [5, 5];
    pairs[8] = [4, 40_000];
    let ContactError::Pairs { count, first } = both(&pairs, &keys) else { panic!("another error") };
    assert_eq!(
        (count, first[0].fault, first[1].fault),
        (40, PairFault::NotAscending, PairFault::NoSuchId { id: 40_000, ids: 40_000 })
    );
    let mut keys = keys;
    keys[39_999] = 3;
    assert_eq!(
        both(&[], &keys),
        ContactError::Keys { group: 0, count: 1, first: vec![RepeatedKey { id: 39_999, key: 3 }] }
    );
}

/// Thousands of images of few atoms, so many that several threads share them.
#[test]
fn images_are_followed_on_any_number_of_threads() {
    let crystal = CRYSTALS.iter().find(|crystal| crystal.name == "diamond").expect("a crystal");
    let cases = [5.4, 5.8].map(|cutoff| crystal.case(cutoff));
    let ready = cases.each_ref().map(|case| case.ready());
    let keys: [Vec<u64>; 2] = [(0..8).collect(), (0..8).rev().collect()];
    let (pools, mut finder) = ([1, 2, 3, 8].map(pool), PairFinder::new());
    let mut trackers = [(); 5].map(|()| ContactTracker::new());
    let mut frame = |ready: &Ready<'_, 3>, keys: &[u64], begins: usize, ends: usize| {
        let found = finder.find(ready.input()).expect("a crystal");
        // From 20,000 pairs on, threads share them.
        assert!(found.pairs().len() > 20_000, "{} pairs", found.pairs().len());
        trackers[0].on(Threads::Serial).update(found, keys).expect("a frame");
        for (pool, tracker) in pools.iter().zip(&mut trackers[1..]) {
            within(pool, || tracker.on(Threads::Current).update(found, keys).map(|_| ())).expect("a frame");
        }
        let all = trackers.each_ref().map(|tracker| {
            let last = tracker.last();
            let list = [last.begin(), last.persist(), last.end()];
            (slots(tracker), list.map(|list| (list.keys(), list.pairs(), list.image_shifts::<3>())))
        });
        assert!(all.iter().all(|told| *told == all[0]));
        let last = trackers[0].last();
        assert_eq!([last.begin().is_empty(), last.end().is_empty()], [begins == 0, ends == 0]);
        assert!(begins < 2 || last.begin().len() == found.pairs().len());
    };
    frame(&ready[0], &keys[0], 2, 0);
    frame(&ready[1], &keys[0], 1, 0);
    frame(&ready[0], &keys[0], 0, 1);
    frame(&ready[0], &keys[0], 0, 0);
    // The bodies have changed places, so that most pairs have other keys.
    frame(&ready[0], &keys[1], 1, 1);
}

/// In a cell so large that no two images touch, keys alone tell contacts apart. In a small cell, shifts do.
#[test]
fn a_body_that_is_moved_back_keeps_its_contacts_in_a_large_cell() {
    let (mut finder, mut tracker) = (PairFinder::new(), ContactTracker::new());
    let mut frame = |x: [f64; 2], width: f64, wrapped: Option<[i32; 2]>| {
        let input = Input::within(Circles64::new(&x, &[0.0; 2], 1.0)).periodic([Some([0.0, width]), None]);
        let found = finder.find(input).expect("two circles");
        let shifts: Vec<[i32; 2]> = found
            .pairs()
            .iter()
            .zip(found.image_shifts())
            .map(|(&[a, b], [x, y])| {
                let by = wrapped.map_or([0; 2], |by| by);
                [x + by[a as usize] - by[b as usize], y]
            })
            .collect();
        let pairs = match wrapped {
            Some(_) => ContactPairs::from(found.pairs()).with_image_shifts(&shifts),
            None => found.into(),
        };
        let changes = tracker.update(pairs, &[1, 2]).expect("a frame");
        [changes.begin(), changes.persist(), changes.end()].map(|list| list.len())
    };
    assert_eq!(frame([0.5, 9.5], 10.0, None), [1, 0, 0]);
    assert_eq!(frame([-0.5, 9.5], 10.0, None), [0, 1, 0]);
    assert_eq!(frame([9.5, 9.5], 10.0, None), [0, 1, 0]);
    // In this cell each body touches the other on both sides. The contact without a shift was there before.
    assert_eq!(frame([0.5, 2.0], 3.0, Some([0; 2])), [1, 1, 0]);
    assert_eq!(frame([-0.5, 1.0], 3.0, Some([0; 2])), [0, 2, 0]);
    assert_eq!(frame([2.5, 1.0], 3.0, Some([-1, 0])), [0, 2, 0]);
    assert_eq!(frame([2.5, 1.0], 3.0, None), [1, 1, 1]);
}

#[test]
fn sets_and_shifts_that_do_not_fit_are_refused() {
    let (mut finder, mut tracker) = (PairFinder::new(), ContactTracker::new());
    let circles = Circles::new(&[0.0, 1.0], &[0.0; 2], 1.0);
    let found = finder.find(Input::between(circles, circles)).expect("circles");
    let refused = tracker.update(found, &[1, 2]).map(|_| ());
    assert_eq!(refused, Err(ContactError::Sets { sets: Some([0, 1]), given: 1 }));
    let keys: [&[u64]; 2] = [&[1, 2], &[1, 2]];
    let refused = tracker.update(found.pairs(), &keys[..]).map(|_| ());
    assert_eq!(refused, Err(ContactError::Sets { sets: None, given: 2 }));
    assert!(refused.unwrap_err().to_string().contains("give what `find` returned"));
    let two = ContactPairs::from(&[[0, 1], [0, 0]]);
    let refused = tracker.update(two.with_image_shifts(&[[1, 0]]), &[1, 2]).map(|_| ());
    assert_eq!(refused, Err(ContactError::ImageShifts { pairs: 2, image_shifts: 1 }));
    let refused = tracker.update(two.with_image_shifts(&[[1, 0], [0, 0]]), &[1, 2]).map(|_| ());
    let itself = BadPair { at: 1, pair: [0, 0], fault: PairFault::Itself };
    assert_eq!(refused, Err(ContactError::Pairs { count: 1, first: vec![itself] }));
    let both_ways = ContactPairs::from(&[[0, 0], [0, 0], [0, 1], [0, 1], [0, 1]]);
    let shifts = [[1, 0], [-1, 0], [1, 0], [-1, 0], [1, 0]];
    let again = [(1, [0, 0]), (4, [0, 1])].map(|(at, pair)| BadPair { at, pair, fault: PairFault::Repeated });
    let refused = tracker.update(both_ways.with_image_shifts(&shifts), &[1, 2]).map(|_| ());
    assert_eq!(refused, Err(ContactError::Pairs { count: 2, first: again.to_vec() }));
    assert!(tracker.last().begin().is_empty());
}

/// The same ids in other sets are other contacts, also where the pairs of the frame before were all between two sets.
#[test]
fn contacts_of_other_sets_are_other_contacts() {
    let groups: [&[u64]; 2] = [&[10, 11], &[20, 21, 22]];
    for (pair, set, keys) in [([0, 1], 0, [10, 11]), ([0, 1], 1, [20, 21]), ([1, 2], 1, [21, 22])] {
        let mut tracker = ContactTracker::new();
        let between = ContactPairs::from(&[[0, 1]]).with_sets(&[[0, 1]], &[]);
        tracker.update(between, Keys::Among(&groups)).unwrap();
        let (pairs, sets) = ([pair], [[set, set]]);
        let changes = tracker.update(ContactPairs::from(&pairs).with_sets(&sets, &[]), Keys::Among(&groups)).unwrap();
        let told = [changes.begin(), changes.persist(), changes.end()].map(|contacts| contacts.keys().to_vec());
        assert_eq!(told, [vec![keys], vec![], vec![[10, 21]]]);
    }
}

#[test]
fn messages_name_the_offenders() {
    let message = |pairs: &[[u32; 2]], keys: Keys<'_>| {
        ContactTracker::new().update(pairs, keys).expect_err("a fault").to_string()
    };
    assert_eq!(
        message(&[[0, 1], [1, 0], [0, 1], [0, 7]], (&[5, 6, 7]).into()),
        "3 pairs refused: pair 1 is [1, 0]: the first id is not the lesser; pair 2 is [0, 1]: repeated; \
         pair 3 is [0, 7]: id 7 is beyond the last of 3"
    );
    assert_eq!(message(&[], [&[1, 2][..], &[9, 9]].into()), "1 repeated key of set 1 refused: id 1 has key 9");
}

/// All pairs are in a giant's row. A search of the whole row for each pair would not come to an end.
#[test]
fn a_giant_that_touches_all_is_no_cliff() {
    const BODIES: u32 = 500_000;
    let keys: Vec<u64> = (0..u64::from(BODIES)).rev().collect();
    let star: Vec<[u32; 2]> = (1..BODIES).map(|b| [0, b]).collect();
    let mut tracker = ContactTracker::new();
    assert_eq!(tracker.update(&star, &keys).expect("a frame").begin().len(), star.len());
    let backwards: Vec<_> = star.iter().rev().copied().collect();
    let changes = tracker.update(&backwards[1..], &keys).expect("a frame");
    assert_eq!((changes.persist().pairs(), changes.end().keys()), (&backwards[1..], &[[0, u64::from(BODIES) - 1]][..]));
}

/// A game goes back to a frame and plays on with other input, then with the same. Ids, events and slots are the same.
#[test]
fn a_snapshot_goes_back() {
    let (mut finder, mut tracker) = (PairFinder::new(), ContactTracker::new());
    let keys: Vec<u64> = (0..3_000).collect();
    let frame = |finder: &mut PairFinder<2>, tracker: &mut ContactTracker, at: u64| {
        let mut scene = scene::scene::<2>(Kind::Dense, 3_000, 1);
        scene.centers[0].iter_mut().enumerate().for_each(|(id, x)| *x += (id % 7) as f32 * 0.05 * at as f32);
        let pairs = finder.find(scene.view()).expect("a sound scene").pairs().to_vec();
        let changes = tracker.update(&pairs, &keys).expect("keys");
        let lists = [changes.begin(), changes.persist(), changes.end()];
        (pairs, lists.map(|list| (list.keys().to_vec(), list.pairs().to_vec(), list.slots().to_vec())), changes.slots())
    };
    (0..3).for_each(|at| drop(frame(&mut finder, &mut tracker, at)));
    let (mut old_finder, mut old_tracker) = (finder.clone(), tracker.clone());
    assert!(old_finder.last().pairs() == finder.last().pairs() && old_finder.last().stats() == finder.last().stats());
    assert!(old_finder.last().tree().ids().eq(finder.last().tree().ids()));
    let first: Vec<_> = (3..6).map(|at| frame(&mut finder, &mut tracker, at)).collect();
    assert!(first.iter().all(|(_, lists, _)| lists.iter().all(|list| !list.0.is_empty())), "something happens");
    let mut other = (old_finder.clone(), old_tracker.clone());
    assert!(frame(&mut other.0, &mut other.1, 9) != first[0]);
    let again: Vec<_> = (3..6).map(|at| frame(&mut old_finder, &mut old_tracker, at)).collect();
    assert!(again == first);
}

#[test]
fn a_tracker_tells_how_much_it_holds() {
    let mut tracker = ContactTracker::new();
    assert_eq!((tracker.bytes(), tracker.last().end().len()), (0, 0));
    let keys: Vec<u64> = (0..10_000).collect();
    let pairs: Vec<[u32; 2]> = (1..10_000).map(|b| [b - 1, b]).collect();
    for _ in 0..2 {
        tracker.update(&pairs, &keys).expect("a frame");
    }
    let bytes = tracker.bytes();
    assert!((1 << 20..3 << 20).contains(&bytes), "{bytes}");
}

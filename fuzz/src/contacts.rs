//! Contacts over time against sets of keys, with bodies that come and go; and the geometry of contacts.

use std::collections::BTreeSet;

use jostle::{Bodies, Contact, ContactError, ContactTracker, Contacts, Keys, Threads, contact, contacts};
use jostle_testkit::{Scene, oracle};

use crate::crowd::Crowd;
use crate::ways::POOL;

/// The most frames of one input.
const FRAMES: usize = 12;

/// The side of a square of ids whose pairs are more than a tracker in a pool leaves to one thread.
const SIDE: u32 = 160;

arbitrary! {
    #[derive(Debug)]
    struct Step {
        /// Keys of the two groups; few, so that they come back.
        keys: [Vec<u8>; 2],
        /// How far keys lie apart.
        spread: u8,
        pairs: Vec<[u8; 2]>,
        between: bool,
        /// Whether keys and pairs that would be refused are left out.
        sound: bool,
        large: u8,
    }
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        steps: Vec<Step>,
        crowd: Crowd,
        in_space: bool,
        strangers: Vec<[u16; 2]>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| {
        check_frames(input);
        if input.in_space { check_geometry::<3>(input) } else { check_geometry::<2>(input) }
    });
}

impl Step {
    fn is_large(&self) -> bool {
        self.large % 64 == 63
    }

    fn keys(&self, group: usize) -> Vec<u64> {
        let far = |key: u8| u64::from(key).rotate_right(self.spread.into());
        let mut keys: Vec<u64> = self.keys[group].iter().map(|&key| far(key)).collect();
        if self.sound {
            let mut there = BTreeSet::new();
            keys.retain(|&key| there.insert(key));
        }
        if self.is_large() {
            keys.extend((0..2 * u64::from(SIDE)).map(|i| (1 << 40) + 3 * i));
        }
        keys
    }

    fn pairs(&self, ids: [usize; 2]) -> Vec<[u32; 2]> {
        let mut pairs: Vec<_> = self.pairs.iter().map(|pair| pair.map(u32::from)).collect();
        if self.is_large() && ids.iter().all(|&ids| ids as u32 >= 2 * SIDE) {
            let first = ids.map(|ids| ids as u32 - 2 * SIDE);
            let square = (0..SIDE).flat_map(|a| (0..SIDE).map(move |b| [a, SIDE + b]));
            pairs.extend(square.map(|[a, b]| [first[0] + a, first[1] + b]));
        }
        if self.sound {
            let mut there = BTreeSet::new();
            pairs.retain(|&pair| is_pair(pair, ids, self.between) && there.insert(pair));
        }
        pairs
    }
}

fn is_pair([a, b]: [u32; 2], ids: [usize; 2], between: bool) -> bool {
    (a as usize) < ids[0] && (b as usize) < ids[1] && (between || a < b)
}

fn all_differ<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut there = BTreeSet::new();
    items.into_iter().all(|item| there.insert(item))
}

/// Keys and ids.
type List = Vec<([u64; 2], [u32; 2])>;

fn list(contacts: Contacts<'_>) -> List {
    contacts.iter().collect()
}

fn update(
    tracker: &mut ContactTracker,
    threads: Threads<'_>,
    pairs: &[[u32; 2]],
    keys: Keys<'_>,
) -> Result<[List; 3], ContactError> {
    let changes = tracker.on(threads).update(pairs, keys)?;
    Ok([changes.begin(), changes.persist(), changes.end()].map(list))
}

fn check_frames(input: &Input) {
    let (mut serial, mut parallel) = (ContactTracker::new(), ContactTracker::new());
    let (mut last, mut last_between): (List, bool) = (List::new(), false);
    for step in input.steps.iter().take(FRAMES) {
        let groups = [step.keys(0), step.keys(1)];
        let keys = if step.between { Keys::Between(&groups[0], &groups[1]) } else { Keys::Within(&groups[0]) };
        let second = if step.between { 1 } else { 0 };
        let ids = [groups[0].len(), groups[second].len()];
        let pairs = step.pairs(ids);
        let found = update(&mut serial, Threads::Serial, &pairs, keys);
        let again = POOL.install(|| update(&mut parallel, Threads::Current, &pairs, keys));
        assert!(found == again, "other contacts on three threads");

        let good = all_differ(groups[0].iter())
            && all_differ(groups[second].iter())
            && pairs.iter().all(|&pair| is_pair(pair, ids, step.between))
            && all_differ(pairs.iter());
        assert_eq!(found.is_ok(), good, "refused, or not, against what is documented");
        let Ok(found) = found else { continue };
        let key = |&[a, b]: &[u32; 2]| {
            let keys = [groups[0][a as usize], groups[second][b as usize]];
            if step.between { keys } else { [keys[0].min(keys[1]), keys[0].max(keys[1])] }
        };
        let now: List = pairs.iter().map(|pair| (key(pair), *pair)).collect();
        let comparable = step.between == last_between;
        let of = |list: &List| -> BTreeSet<[u64; 2]> {
            list.iter().map(|contact| contact.0).filter(|_| comparable).collect()
        };
        let (here, there) = (of(&now), of(&last));
        let begin: List = now.iter().copied().filter(|contact| !there.contains(&contact.0)).collect();
        let persist: List = now.iter().copied().filter(|contact| there.contains(&contact.0)).collect();
        let end: List = last.iter().copied().filter(|contact| !here.contains(&contact.0)).collect();
        assert!(found == [begin, persist, end], "other contacts than sets of keys say");
        (last, last_between) = (now, step.between);
    }
}

fn check_geometry<const D: usize>(input: &Input) {
    let scene: Scene<D> = input.crowd.scene();
    let view = scene.view();
    let mut pairs: Vec<_> = input.strangers.iter().map(|pair| pair.map(u32::from)).collect();
    let sound = oracle::check(view).is_ok();
    if sound && !input.crowd.in_company() {
        pairs.extend(oracle::pairs(view));
    }
    let mut list = vec![Contact::default(); 3];
    let found = contacts(&pairs, view, Threads::Serial, &mut list);
    let known = pairs.iter().flatten().all(|&id| (id as usize) < view.len());
    if known && sound {
        assert_eq!(found, Ok(()));
        assert_eq!(list.len(), pairs.len());
        pairs.iter().zip(&list).for_each(|(&pair, contact)| check_contact(view, pair, contact));
    } else if !known {
        assert!(matches!(found, Err(ContactError::Pairs { .. })), "{found:?}");
    }
}

fn check_contact<const D: usize>(view: Bodies<'_, D>, pair: [u32; 2], found: &Contact<D>) {
    let [a, b] = pair.map(|id| id as usize);
    let alone = contact(view.center(a), view.radius(a), view.center(b), view.radius(b));
    assert_eq!(*found, alone);
    let length = found.normal.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    assert!((length - 1.0).abs() < 2.0_f64.powi(-23), "{found:?}");
    assert!(found.depth >= 0.0 && found.point.iter().all(|x| x.is_finite()), "{found:?}");
}

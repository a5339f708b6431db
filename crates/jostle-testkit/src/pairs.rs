//! Lists of pairs, sorted and compared: compiled with this crate, since tests are compiled without optimization.

use std::sync::{Mutex, PoisonError};

use jostle_pairs::Found;
use rayon::prelude::*;

/// The pairs that a function of a test is called with, by any thread, in the order of the calls.
#[derive(Debug, Default)]
pub struct Calls(Mutex<Vec<[u32; 2]>>);

impl Calls {
    /// Notes a call.
    pub fn push(&self, a: u32, b: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push([a, b]);
    }

    /// Returns the pairs of all calls.
    #[must_use]
    pub fn into_pairs(self) -> Vec<[u32; 2]> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the same pairs in ascending order.
#[must_use]
pub fn ascending(pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut keys: Vec<_> = pairs.iter().copied().map(key).collect();
    sort_keys(&mut keys);
    keys.into_iter().map(pair).collect()
}

/// Sorts keys. Many keys are sorted digit by digit, from the lowest, as tests compare millions.
fn sort_keys(keys: &mut Vec<u64>) {
    const DIGIT: u32 = 11;
    if keys.len() < 1 << DIGIT {
        return keys.sort_unstable();
    }
    let (all, any) = keys.iter().fold((u64::MAX, 0), |(all, any), &key| (all & key, any | key));
    let mut sorted = vec![0; keys.len()];
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
        if digit(all ^ any) == 0 {
            continue;
        }
        let mut ends = [0_u32; 1 << DIGIT];
        keys.iter().for_each(|&key| ends[digit(key)] += 1);
        let mut begin = 0;
        for end in &mut ends {
            begin += core::mem::replace(end, begin);
        }
        for &key in &*keys {
            let at = &mut ends[digit(key)];
            sorted[*at as usize] = key;
            *at += 1;
        }
        core::mem::swap(keys, &mut sorted);
    }
}

/// Returns the pairs that so many tasks find, the first task's pairs first. Runs in the current rayon pool.
pub(crate) fn of_tasks(tasks: usize, find: &(dyn Fn(usize) -> Vec<[u32; 2]> + Sync)) -> Vec<[u32; 2]> {
    (0..tasks).into_par_iter().flat_map_iter(find).collect()
}

/// As [`of_tasks`], in ascending order.
pub(crate) fn of_tasks_ascending(tasks: usize, find: &(dyn Fn(usize) -> Vec<[u32; 2]> + Sync)) -> Vec<[u32; 2]> {
    let mut keys: Vec<_> = of_tasks(tasks, find).into_iter().map(key).collect();
    sort_keys(&mut keys);
    keys.into_iter().map(pair).collect()
}

/// Returns a pair as one number, in the order of pairs: numbers are sorted in half the time.
fn key([a, b]: [u32; 2]) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

fn pair(key: u64) -> [u32; 2] {
    [(key >> 32) as u32, key as u32]
}

/// A pair by ids of whole sets, the lesser first, and the numbers of cell vectors by which the second body is moved; 0
/// where there is no axis.
pub type Hit = [i64; 5];

/// Returns the hit of two bodies, whichever comes first.
#[must_use]
pub fn hit<const D: usize>([a, b]: [u64; 2], shift: [i32; D]) -> Hit {
    let back = shift.map(|k| -k);
    if a < b || (a == b && shift > back) { hit_between([a, b], shift) } else { hit_between([b, a], back) }
}

/// Returns the hit of a body of one set and a body of another.
#[must_use]
pub fn hit_between<const D: usize>(ids: [u64; 2], shift: [i32; D]) -> Hit {
    let mut hit = [ids[0] as i64, ids[1] as i64, 0, 0, 0];
    hit[2..].iter_mut().zip(shift).for_each(|(number, k)| *number = k.into());
    hit
}

/// Sorts hits in ascending order.
pub fn sort_hits(hits: &mut [Hit]) {
    hits.sort_unstable();
}

/// All that a search tells of a pair in the plane: its sets, its ids, the shift of its image, and its time of impact in
/// bits.
pub type Known = ([usize; 2], [u32; 2], [i32; 2], u64);

/// Returns all that a search tells of its pairs, in its order. `meetings` are the pairs of sets that meet. Of the two
/// opposite shifts of a body and its own image, it gives the shift whose last step that is not 0 is positive.
///
/// # Panics
/// When there are pairs of other sets.
#[must_use]
pub fn known(found: Found<'_, 2>, meetings: &[[usize; 2]]) -> Vec<Known> {
    let (shifts, times) = (found.image_shifts().collect::<Vec<_>>(), found.times_of_impact());
    let mut all = Vec::with_capacity(found.pairs().len());
    for &[i, j] in meetings {
        for &[a, b] in found.pairs_between(i, j) {
            let mut shift = shifts.get(all.len()).copied().unwrap_or_default();
            if i == j && a == b && shift.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step < 0) {
                shift = shift.map(|step| -step);
            }
            let time = times.get(all.len()).map_or(0, |time| time.to_bits());
            all.push(([i, j], [a, b], shift, time));
        }
    }
    assert_eq!(all.len(), found.pairs().len(), "pairs of sets that do not meet");
    all
}

/// Sorts what is known of pairs in ascending order.
pub fn sort_known(known: &mut [Known]) {
    known.sort_unstable();
}

/// Returns each pair from both sides, in ascending order.
#[must_use]
pub fn both_ways(pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let both: Vec<_> = pairs.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    ascending(&both)
}

/// Compares two ascending lists.
///
/// # Panics
/// When they differ, with the first difference, since thousands of pairs cannot be read.
pub fn assert_same(name: &str, found: &[[u32; 2]], expected: &[[u32; 2]]) {
    if found == expected {
        return;
    }
    let at = found.iter().zip(expected).position(|(f, e)| f != e).unwrap_or(found.len().min(expected.len()));
    let counts = (found.len(), expected.len());
    panic!("{name}: (found, expected) {counts:?}; the first to differ {:?}, {:?}", found.get(at), expected.get(at));
}

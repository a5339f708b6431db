//! What comes to the rows of a frame, and what is taken away, by bodies that stray.

use jostle_core::Workers;
use jostle_core::radix::RadixSort;

use crate::neighbors::NeighborLists;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Pairs that come, or are taken away.
    changes: Vec<([u32; 2], bool)>,
    /// What one may have touched; and the pairs of the last frame and of this one, ascending.
    touched: Vec<u32>,
    ascending: [Vec<u64>; 2],
    sort: RadixSort<u64>,
}

impl Changes {
    pub(super) fn bytes(&self) -> usize {
        self.changes.capacity() * size_of::<([u32; 2], bool)>()
            + self.touched.capacity() * size_of::<u32>()
            + self.ascending.each_ref().map(Vec::capacity).iter().sum::<usize>() * size_of::<u64>()
            + self.sort.bytes()
    }

    pub(super) fn clear(&mut self) {
        self.changes.clear();
    }

    pub(super) fn all(&self) -> &[([u32; 2], bool)] {
        &self.changes
    }

    /// Notes what has changed from some pairs to others; those of bodies that are new among them stood in the rows of the last frame.
    pub(super) fn note(
        &mut self,
        (were, are): (&[[u32; 2]], &[[u32; 2]]),
        (rows, new): (&NeighborLists, &[u32]),
        might_touch: &dyn Fn(u32, &mut Vec<u32>),
        workers: Workers<'_>,
    ) {
        let Self { changes, touched, ascending: [was, is], sort } = self;
        was.clear();
        was.extend(were.iter().map(|&pair| number_of(pair)));
        for &id in new {
            touched.clear();
            might_touch(id, touched);
            let pairs = touched.iter().map(|&other| [id.min(other), id.max(other)]);
            let there = pairs.filter(|&[a, b]| a != b && rows.of(a as usize).binary_search(&b).is_ok());
            was.extend(there.map(number_of));
        }
        is.clear();
        is.extend(are.iter().map(|&pair| number_of(pair)));
        for list in [&mut *was, &mut *is] {
            sort.sort_by_code_on(list, workers, |&pair| pair);
        }
        was.dedup();
        changes.clear();
        changes.extend(without(was, is).map(|pair| (pair_of(pair), true)));
        changes.extend(without(is, was).map(|pair| (pair_of(pair), false)));
    }
}

/// A pair as one number, by which pairs are in the same order.
fn number_of([a, b]: [u32; 2]) -> u64 {
    u64::from(a) << u32::BITS | u64::from(b)
}

fn pair_of(number: u64) -> [u32; 2] {
    [(number >> u32::BITS) as u32, number as u32]
}

/// Some numbers without others, both ascending.
fn without(some: &[u64], others: &[u64]) -> impl Iterator<Item = u64> {
    let mut others = others.iter().peekable();
    some.iter().copied().filter(move |number| {
        while others.next_if(|&other| other < number).is_some() {}
        others.peek() != Some(&number)
    })
}

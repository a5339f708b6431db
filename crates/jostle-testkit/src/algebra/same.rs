//! Comparisons of the engine's answers: compiled with this crate, since tests are compiled without optimization.

use jostle_pairs::NeighborLists;

use super::rows::sort;
use super::{Hit, Neighbor};
use crate::axes::compiled_here;

compiled_here! {
    /// Returns whether two lists of hits are the same, in the same order.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn same_hits<const D: usize>(a: &Vec<Hit<D>>, b: &Vec<Hit<D>>) -> bool {
        a == b
    }

    /// Returns whether rows and all columns of neighbours are the same, to the bit.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn same_lists<const D: usize>(a: &NeighborLists, b: &NeighborLists) -> bool {
        let vectors = |lists: &NeighborLists| bits(lists.vectors::<D>().iter().flatten().copied());
        (a.offsets(), a.neighbors(), a.image_shifts::<D>()) == (b.offsets(), b.neighbors(), b.image_shifts())
            && a.distances2().iter().map(|d| d.to_bits()).eq(b.distances2().iter().map(|d| d.to_bits()))
            && bits(a.distances2_f64().iter().copied()) == bits(b.distances2_f64().iter().copied())
            && vectors(a) == vectors(b)
    }

    /// Compares rows with those of [`Case::rows`](super::Case::rows): ids ascend, and the columns of each id are the
    /// same. Of the columns, only distances in `f32` are compared unless `has_all`.
    ///
    /// # Panics
    /// When they differ, or `D` is neither 2 nor 3.
    pub fn assert_rows<const D: usize>(
        name: &String,
        lists: &NeighborLists,
        expected: &Vec<Vec<Neighbor<D>>>,
        has_all: &bool,
    ) {
        assert_eq!(lists.len(), expected.len(), "{name}: rows");
        for (id, row) in expected.iter().enumerate() {
            assert!(lists.of(id).is_sorted(), "{name}: row {id} does not ascend");
            let found = lists.of(id).iter().zip(lists.distances2_of(id)).map(|(&b, &distance2)| (b, distance2.to_bits()));
            let told = row.iter().map(|it| (it.id, (it.distance2 as f32).to_bits()));
            assert_eq!(sorted(found.collect()), sorted(told.collect()), "{name}: row {id}");
            if !*has_all {
                continue;
            }
            let columns = (lists.image_shifts_of(id), lists.vectors_of(id), lists.distances2_f64_of(id));
            let neighbor = |(at, &id): (usize, &u32)| Neighbor {
                id,
                shift: columns.0[at],
                vector: columns.1[at],
                distance2: columns.2[at],
            };
            let mut found: Vec<_> = lists.of(id).iter().enumerate().map(neighbor).collect();
            sort(&mut found);
            assert_eq!(&found, row, "{name}: row {id}");
        }
    }
}

fn bits(values: impl Iterator<Item = f64>) -> Vec<u64> {
    values.map(f64::to_bits).collect()
}

fn sorted(mut row: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    row.sort_unstable();
    row
}

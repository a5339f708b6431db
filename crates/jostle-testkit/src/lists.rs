//! Neighbour lists made of the pairs of a plain loop: compiled with this crate, since tests are compiled without
//! optimization.

use core::any::Any;

use jostle_core::Bodies;
use jostle_pairs::NeighborLists;

use crate::axes::{Gathered, gathered};
use crate::oracle::distance2;

/// Rows, as they are or as they should be.
#[derive(Debug, PartialEq)]
pub struct Lists {
    /// Where the row of each body begins, and where the last row ends.
    pub offsets: Vec<usize>,
    /// The rows, one after the other.
    pub neighbors: Vec<u32>,
    /// The squared distance to each neighbour, as bits; empty where nobody asked for distances.
    pub distances2: Vec<u32>,
}

impl Lists {
    /// Makes lists of ascending pairs, each of the body whose row it is and a neighbour.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3, or a pair names a body that does not exist.
    #[must_use]
    pub fn of<const D: usize>([a, b]: [Bodies<'_, D>; 2], directed: &[[u32; 2]]) -> Self {
        of_any(&[gathered(a), gathered(b)], directed)
    }

    /// Copies what a search has filled in.
    ///
    /// # Panics
    /// When there is not one offset more than there are rows.
    #[must_use]
    pub fn found(lists: &NeighborLists) -> Self {
        assert_eq!(lists.offsets().len(), lists.len() + 1);
        Self {
            offsets: lists.offsets().to_vec(),
            neighbors: lists.neighbors().to_vec(),
            distances2: lists.distances2().iter().map(|x| x.to_bits()).collect(),
        }
    }
}

fn of_any(sets: &dyn Any, directed: &[[u32; 2]]) -> Lists {
    let all = [of_sets::<2>, of_sets::<3>];
    all.into_iter().find_map(|of_sets| of_sets(sets, directed)).expect("bodies have 2 or 3 axes")
}

fn of_sets<const D: usize>(sets: &dyn Any, directed: &[[u32; 2]]) -> Option<Lists> {
    let [a, b] = sets.downcast_ref::<[Gathered<D, f32>; 2]>()?;
    let ends = (0..a.len() as u32).map(|row| directed.partition_point(|&[i, _]| i <= row));
    let distance2 = |&[i, j]: &[u32; 2]| distance2(a[i as usize].0, b[j as usize].0).to_bits();
    Some(Lists {
        offsets: core::iter::once(0).chain(ends).collect(),
        neighbors: directed.iter().map(|&[_, j]| j).collect(),
        distances2: directed.iter().map(distance2).collect(),
    })
}

/// A neighbour in the plane: its id, its image shift, its squared distance in bits, and the vector to it in bits. 0 and
/// -0 are the same.
pub type Neighbor = (u32, [i32; 2], u64, [u64; 2]);

/// Returns all that lists with all columns in `f64` tell of the neighbours of each body, row by row. Each row is put in
/// ascending order, since images of one neighbour may come in any order.
///
/// # Panics
/// When a column is missing.
#[must_use]
pub fn neighbors_known(lists: &NeighborLists) -> Vec<Neighbor> {
    let (ids, shifts) = (lists.neighbors(), lists.image_shifts::<2>());
    let (distances2, vectors) = (lists.distances2_f64(), lists.vectors::<2>());
    let bits = |x: f64| (x + 0.0).to_bits();
    let known = |at: usize| (ids[at], shifts[at], bits(distances2[at]), vectors[at].map(bits));
    let mut all: Vec<Neighbor> = (0..ids.len()).map(known).collect();
    lists.offsets().windows(2).for_each(|row| all[row[0]..row[1]].sort_unstable());
    all
}

//! Neighbour lists.

use super::predicate::Body;
use super::{Case, Hit, Relation};
use crate::axes::compiled_here;

/// A neighbour of a body, as one of its images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor<const D: usize> {
    /// The id of the neighbour.
    pub id: u32,
    /// The shift of its image.
    pub shift: [i32; D],
    /// The vector from the body to the neighbour, when the step begins; in the precision of the predicate.
    pub vector: [f64; D],
    /// The square of the vector's length, in the precision of the predicate.
    pub distance2: f64,
}

/// Puts the neighbours of a body in ascending order of id and shift.
pub(super) fn sort<const D: usize>(row: &mut [Neighbor<D>]) {
    row.sort_unstable_by_key(|neighbor| (neighbor.id, neighbor.shift));
}

impl<const D: usize> Case<D> {
    /// Returns the neighbour lists of some hits: for each body of the first set its neighbours in ascending order of id
    /// and shift. Within a set, a row of `full` lists has each neighbour. A row of half lists has the neighbours with a
    /// greater id, and the body itself at shifts of the forward half.
    ///
    /// # Panics
    /// When the relation is among many sets, which have no rows.
    #[must_use]
    pub fn rows(&self, hits: &[Hit<D>], full: bool) -> Vec<Vec<Neighbor<D>>> {
        rows_of(self, &hits.to_vec(), &full)
    }

    fn rows_of_all(&self, hits: &[Hit<D>], full: bool) -> Vec<Vec<Neighbor<D>>> {
        assert!(!matches!(self.relation, Relation::Among(_)), "rows are of one set or between two");
        let (family, [i, j]) = (self.family(), self.meetings()[0]);
        let [first, second] = [i, j].map(|set| self.bodies(set));
        let mut rows = vec![Vec::new(); first.len()];
        let mut push = |p: &Body<D>, q: &Body<D>, [a, id]: [u32; 2], shift: [i32; D]| {
            let (vector, distance2) = family.vector(p, q, shift);
            rows[a as usize].push(Neighbor { id, shift, vector, distance2 });
        };
        for &Hit { pair: [a, b], shift, .. } in hits {
            let (p, q) = (&first[a as usize], &second[b as usize]);
            push(p, q, [a, b], shift);
            if full && i == j {
                push(q, p, [b, a], shift.map(|steps| -steps));
            }
        }
        rows.iter_mut().for_each(|row| sort(row));
        rows
    }
}

compiled_here! {
    fn rows_of<const D: usize>(case: &Case<D>, hits: &Vec<Hit<D>>, full: &bool) -> Vec<Vec<Neighbor<D>>> {
        case.rows_of_all(hits, *full)
    }
}

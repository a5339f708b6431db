//! Neighbour lists.

use super::predicate::Body;
use super::{Case, Hit, Relation};
use crate::axes::compiled_here;

/// A neighbour of a body, as one of its images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor<const D: usize> {
    /// The id of the neighbour, or its number where those of all sets are numbered.
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
    /// greater id, and the body itself at shifts of the forward half. The same holds for the bodies of many sets, which
    /// are numbered one set after the other.
    #[must_use]
    pub fn rows(&self, hits: &[Hit<D>], full: bool) -> Vec<Vec<Neighbor<D>>> {
        rows_of(self, &hits.to_vec(), &full)
    }

    fn rows_of_all(&self, hits: &[Hit<D>], full: bool) -> Vec<Vec<Neighbor<D>>> {
        let (family, is_among) = (self.family(), matches!(self.relation, Relation::Among(_)));
        let sets: Vec<_> = (0..self.sets.len()).map(|set| self.bodies(set)).collect();
        let before = |set: usize| if is_among { sets[..set].iter().map(Vec::len).sum::<usize>() as u32 } else { 0 };
        let first: Vec<u32> = (0..sets.len()).map(before).collect();
        let mut rows = vec![Vec::new(); if is_among { sets.iter().map(Vec::len).sum() } else { sets[0].len() }];
        let mut push = |p: &Body<D>, q: &Body<D>, [a, id]: [u32; 2], shift: [i32; D]| {
            let (vector, distance2) = family.vector(p, q, shift);
            rows[a as usize].push(Neighbor { id, shift, vector, distance2 });
        };
        for &Hit { sets: [i, j], pair: [a, b], shift, .. } in hits {
            let (p, q) = (&sets[i][a as usize], &sets[j][b as usize]);
            let [a, b] = [first[i] + a, first[j] + b];
            push(p, q, [a, b], shift);
            if full && (i == j || is_among) {
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

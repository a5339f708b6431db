//! The definition of every search by plain loops: sets, a space, a relation, and the hits that they give.
//!
//! Nothing here uses the engine. `predicate` has two families of predicates: *direct* where every body is `f32` and at
//! rest, *decided* where any body is `f64` or moves. Images are enumerated one by one, anew for each two bodies, in a
//! range more generous than needed.

mod contacts;
mod crystals;
pub mod engine;
mod predicate;
mod questions;
mod rows;
mod same;
mod sets;
mod space;

pub use contacts::{ContactKey, PlainContact, PlainContacts, Touch};
pub use crystals::{CRYSTALS, Crystal};
pub use questions::Image;
pub use rows::Neighbor;
pub use same::{assert_rows, same_hits, same_lists};
pub use sets::{Columns, PlainLayers, PlainMoves, PlainRadii, PlainSet};
pub use space::PlainSpace;

use predicate::{Body, Family};

use crate::axes::compiled_here;

/// Which sets are searched against which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// The first set within itself.
    Within,
    /// The first set against the second.
    Between,
    /// The two sets of each pair `[i, j]`, `i <= j`, against each other. The pairs ascend, each once.
    Among(Vec<[usize; 2]>),
}

/// One search, in plain vectors.
#[derive(Debug, Clone)]
pub struct Case<const D: usize> {
    /// The sets. [`Relation::Within`] looks at the first, [`Relation::Between`] at the first two.
    pub sets: Vec<PlainSet<D>>,
    /// Which sets meet.
    pub relation: Relation,
    /// The space of the search.
    pub space: PlainSpace<D>,
}

/// A pair that touches, as one of its images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<const D: usize> {
    /// The sets of the two bodies.
    pub sets: [usize; 2],
    /// The ids of the two bodies, the lesser first within one set.
    pub pair: [u32; 2],
    /// The image of the second body is at `x + sum of shift[k] * vectors[k]`.
    pub shift: [i32; D],
    /// When the bodies first touch; 0 where nothing moves.
    pub time: f64,
}

impl<const D: usize> Hit<D> {
    /// Returns the key by which every list of hits is sorted.
    #[must_use]
    pub fn key(&self) -> ([usize; 2], [u32; 2], [i32; D]) {
        (self.sets, self.pair, self.shift)
    }
}

impl<const D: usize> Case<D> {
    /// The search within one set.
    #[must_use]
    pub fn within(set: PlainSet<D>, space: PlainSpace<D>) -> Self {
        Self { sets: vec![set], relation: Relation::Within, space }
    }

    /// Returns the pairs of sets that meet.
    #[must_use]
    pub fn meetings(&self) -> Vec<[usize; 2]> {
        match &self.relation {
            Relation::Within => vec![[0, 0]],
            Relation::Between => vec![[0, 1]],
            Relation::Among(table) => table.clone(),
        }
    }

    /// Returns whether any body moves: then hits have times.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.searched().any(|set| set.moves.is_some())
    }

    /// Returns whether predicates are decided in `f64`.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.searched().any(|set| set.moves.is_some() || matches!(set.bodies, Columns::Double { .. }))
    }

    /// Returns the sets that the relation looks at: of a table all sets, whether they meet or not.
    pub fn searched(&self) -> impl Iterator<Item = &PlainSet<D>> {
        let count = match self.relation {
            Relation::Within => 1,
            Relation::Between => 2,
            Relation::Among(_) => self.sets.len(),
        };
        self.sets.iter().take(count)
    }

    fn family(&self) -> Family<D> {
        Family::new(&self.space, self.is_decided())
    }

    fn bodies(&self, set: usize) -> Vec<Body<D>> {
        let (set, lattice) = (&self.sets[set], self.space.lattice());
        (0..set.len()).map(|id| Body::of(set, id, lattice.as_ref())).collect()
    }

    /// Returns the number of images that [`Case::hits`] looks at in all: its cost.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let (family, mut cost) = (self.family(), 0.0);
        for [i, j] in self.meetings() {
            let [first, second] = [i, j].map(|set| self.bodies(set));
            for (a, p) in first.iter().enumerate() {
                cost += second.iter().skip(if i == j { a } else { 0 }).map(|q| family.shifts(p, q)).sum::<f64>();
            }
        }
        cost
    }

    /// Returns every pair that touches, once for each image, in ascending order of sets, ids and shift. Within a set, a
    /// body touches an image of itself only at shifts of the half that `is_forward` names. O(n^2 * images).
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn hits(&self) -> Vec<Hit<D>> {
        hits_of(self)
    }

    fn hits_of_all(&self) -> Vec<Hit<D>> {
        let (family, mut hits) = (self.family(), Vec::new());
        for [i, j] in self.meetings() {
            let [first, second] = [i, j].map(|set| self.bodies(set));
            for (a, p) in first.iter().enumerate() {
                for (b, q) in second.iter().enumerate().skip(if i == j { a } else { 0 }) {
                    let pair = [a as u32, b as u32];
                    if !PlainLayers::meet([i, j].map(|set| self.sets[set].layers.as_ref()), pair) {
                        continue;
                    }
                    family.each_shift(p, q, |shift| {
                        if i == j && a == b && !space::is_forward(shift) {
                            return;
                        }
                        if let Some(time) = family.touch(p, q, shift) {
                            hits.push(Hit { sets: [i, j], pair, shift, time });
                        }
                    });
                }
            }
        }
        hits.sort_unstable_by_key(Hit::key);
        hits
    }
}

compiled_here! {
    fn sorted<const D: usize>(hits: &Vec<Hit<D>>) -> Vec<Hit<D>> {
        let mut hits = hits.clone();
        hits.sort_unstable_by_key(Hit::key);
        hits
    }

    fn hits_of<const D: usize>(case: &Case<D>) -> Vec<Hit<D>> {
        case.hits_of_all()
    }
}

impl<const D: usize> Case<D> {
    /// Compares hits, in any order, with [`Case::hits`], and returns the latter.
    ///
    /// # Panics
    /// At the first difference, with the numbers of its two bodies.
    pub fn assert_hits(&self, name: &str, mut found: Vec<Hit<D>>) -> Vec<Hit<D>> {
        let expected = self.hits();
        found = sorted(&found);
        if same_hits(&found, &expected) {
            return expected;
        }
        let at = found.iter().zip(&expected).position(|(f, e)| f != e).unwrap_or(found.len().min(expected.len()));
        let of = |hit: Option<&Hit<D>>| hit.map(|hit| (*hit, self.bodies_of(hit)));
        panic!(
            "{name}: {} hits, {} expected, in {:?}; the first to differ\n{:?}\n{:?}",
            found.len(),
            expected.len(),
            self.space,
            of(found.get(at)),
            of(expected.get(at))
        );
    }

    fn bodies_of(&self, hit: &Hit<D>) -> [Body<D>; 2] {
        let lattice = self.space.lattice();
        core::array::from_fn(|side| Body::of(&self.sets[hit.sets[side]], hit.pair[side] as usize, lattice.as_ref()))
    }
}

//! The pairs of a search with their bodies: checks each pair and computes its contact.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::axes::{Axes, Both};
use jostle_core::{Bodies, Scalar, Workers};
use jostle_sets::input::{Displacements, Input, Relation, Set, Source, UnitCell, check_sets};
use jostle_sets::proxy::{Proxies, check_bodies, first_touch};

use crate::contact::Contact;
use crate::error::ContactError;
use crate::offenders::name_strangers;
use crate::pairs::{ContactPairs, Images, Meetings};

/// Pairs that one task looks at.
pub(crate) const BLOCK: usize = 1 << 12;

/// The pairs of a search, and the sets of their bodies.
pub(crate) struct Asked<'a, const D: usize> {
    pub(crate) pairs: &'a [[u32; 2]],
    images: Images<'a>,
    pub(crate) meetings: Meetings<'a>,
    pub(crate) sets: &'a [Set<'a, D>],
    cell: Option<UnitCell<D>>,
    /// If any set is a tree, for each set the bodies of its tree by id.
    pub(crate) trees: Vec<Proxies<D>>,
}

impl<'a, const D: usize> Asked<'a, D> {
    pub(crate) fn new(pairs: ContactPairs<'a>, input: &'a Input<'a, D>) -> Result<Self, ContactError> {
        let (sets, axes) = (input.sets(), pairs.images.axes);
        assert!(axes == 0 || axes == D, "the image shifts are in {axes} dimensions, not {D}");
        pairs.check_shifts()?;
        let cell = (!input.space.is_open()).then(|| UnitCell::of(&input.space));
        if cell.is_some() && axes == 0 && !pairs.pairs.is_empty() {
            return Err(ContactError::ImageShifts { pairs: pairs.pairs.len(), image_shifts: 0 });
        }
        if cell.is_none() && axes != 0 {
            return Err(ContactError::OpenSpace);
        }
        let alone = match input.relation {
            Relation::Within(_) => Some(Meetings::WITHIN),
            Relation::Between(_) => Some(Meetings::BETWEEN),
            Relation::Among(..) => None,
        };
        let meetings = pairs.meetings(alone, sets.len())?;
        let mut trees = Vec::new();
        if sets.iter().any(|set| matches!(set.source, Source::Tree(_))) {
            trees.resize_with(sets.len(), Proxies::default);
        }
        for (bodies, set) in trees.iter_mut().zip(sets) {
            if let Source::Tree(tree) = set.source {
                bodies.read_tree(tree);
            }
        }
        Ok(Self { pairs: pairs.pairs, images: pairs.images, meetings, sets, cell, trees })
    }

    /// Returns the bodies of a set by id, and how they move.
    fn numbers(&self, set: u32) -> Numbers<'_, D> {
        let bodies = match self.sets[set as usize].source {
            Source::View(bodies) => Columns::Single(bodies),
            Source::Double(bodies) => Columns::Double(bodies),
            Source::Tree(_) | Source::Shaped(_) => Columns::Single(self.trees[set as usize].tree_view()),
        };
        Numbers { bodies, moving: self.sets[set as usize].moving }
    }

    /// Calls `visit` with each part of a range of pairs: a part ends where the sets change.
    pub(crate) fn each(&self, range: Range<usize>, visit: &mut dyn FnMut(Part<'_, D>)) {
        for (range, sets) in self.meetings.parts(range) {
            let bodies = sets.both(|set| self.numbers(set));
            visit(Part { pairs: &self.pairs[range.clone()], range, bodies, open: self.cell.is_none() });
        }
    }

    /// Returns the shift of the second body of a pair to its image; zero in open space.
    #[inline(always)]
    pub(crate) fn shift(&self, at: usize) -> [f64; D] {
        match (&self.cell, self.images.get(at).first_chunk::<D>()) {
            (Some(cell), Some(&steps)) => cell.shift(steps.axes(f64::from)),
            _ => [0.0; D],
        }
    }

    /// Returns the error that names the pairs with ids that no body has.
    pub(crate) fn strangers(&self) -> ContactError {
        let of_pairs = |sets: [u32; 2]| sets.both(|set| self.sets[set as usize].len());
        let parts = self.meetings.parts(0..self.pairs.len()).map(|(range, sets)| (range, of_pairs(sets)));
        name_strangers(self.pairs, parts)
    }

    #[inline(always)]
    pub(crate) fn contact(&self, part: &Part<'_, D>, at: usize) -> Contact<D, f64> {
        let ([first, second], [a, b]) = (&part.bodies, self.pairs[at].both(|id| id as usize));
        let (mut p, mut apart) = (first.center(a), second.center(b));
        for axis in 0..D {
            apart[axis] -= p[axis];
        }
        if self.cell.is_some() {
            let shift = self.shift(at);
            for axis in 0..D {
                apart[axis] += shift[axis];
            }
        }
        let radii = [first.radius(a), second.radius(b)];
        if first.moving.is_some() || second.moving.is_some() {
            let [from, to] = [first.displacement(a), second.displacement(b)];
            let time = first_touch(apart, [from, to], radii[0] + radii[1]).unwrap_or(0.0);
            for axis in 0..D {
                p[axis] += time * from[axis];
                apart[axis] += time * (to[axis] - from[axis]);
            }
        }
        Contact::of(p, apart, radii)
    }

    /// Checks that each pair names two bodies, and that both bodies are sound.
    pub(crate) fn check(&self, workers: Workers<'_>) -> Result<(), ContactError> {
        let (strangers, unsound) = (AtomicBool::new(false), AtomicBool::new(false));
        workers.run("check", self.pairs.len().div_ceil(BLOCK), |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(self.pairs.len());
            self.each(range, &mut |part| {
                let plain = part.plain();
                let sound = |[a, b]: [usize; 2]| match &plain {
                    Some([first, second]) => {
                        are_sound(first.center(a), first.radius(a)) && are_sound(second.center(b), second.radius(b))
                    }
                    None => is_sound(&part.bodies[0], a) && is_sound(&part.bodies[1], b),
                };
                let ids = [part.bodies[0].len(), part.bodies[1].len()];
                if !part.pairs().all(|[a, b]| a < ids[0] && b < ids[1]) {
                    strangers.store(true, Ordering::Relaxed);
                } else if !part.pairs().all(sound) {
                    unsound.store(true, Ordering::Relaxed);
                }
            });
        });
        if strangers.into_inner() {
            return Err(self.strangers());
        }
        if unsound.into_inner() { Ok(check_sets(self.sets, check_bodies)?) } else { Ok(()) }
    }
}

/// Successive pairs of the same two sets.
pub(crate) struct Part<'a, const D: usize> {
    pairs: &'a [[u32; 2]],
    pub(crate) range: Range<usize>,
    bodies: [Numbers<'a, D>; 2],
    open: bool,
}

impl<'a, const D: usize> Part<'a, D> {
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + use<'a, D> {
        self.pairs.iter().map(|pair| pair.both(|id| id as usize))
    }

    /// Returns both sets, if they are in `f32` and at rest in open space.
    #[inline(always)]
    pub(crate) fn plain(&self) -> Option<[Bodies<'a, D>; 2]> {
        match &self.bodies {
            [
                Numbers { bodies: Columns::Single(first), moving: None },
                Numbers { bodies: Columns::Single(second), moving: None },
            ] if self.open => Some([*first, *second]),
            _ => None,
        }
    }
}

/// The bodies of a set by id, and how they move.
struct Numbers<'a, const D: usize> {
    bodies: Columns<'a, D>,
    moving: Option<Displacements<'a, D>>,
}

enum Columns<'a, const D: usize> {
    Single(Bodies<'a, D>),
    Double(Bodies<'a, D, f64>),
}

impl<const D: usize> Numbers<'_, D> {
    #[inline(always)]
    fn len(&self) -> usize {
        match &self.bodies {
            Columns::Single(bodies) => bodies.len(),
            Columns::Double(bodies) => bodies.len(),
        }
    }

    #[inline(always)]
    fn center(&self, id: usize) -> [f64; D] {
        match &self.bodies {
            Columns::Single(bodies) => bodies.center(id).axes(f64::from),
            Columns::Double(bodies) => bodies.center(id),
        }
    }

    #[inline(always)]
    fn radius(&self, id: usize) -> f64 {
        match &self.bodies {
            Columns::Single(bodies) => bodies.radius(id).into(),
            Columns::Double(bodies) => bodies.radius(id),
        }
    }

    #[inline(always)]
    fn displacement(&self, id: usize) -> [f64; D] {
        self.moving.map_or([0.0; D], |moving| moving.get(id))
    }
}

/// Whether a body has finite values and no negative radius.
#[inline(always)]
fn is_sound<const D: usize>(set: &Numbers<'_, D>, id: usize) -> bool {
    let moves = set.moving.is_none() || set.displacement(id).iter().all(|x| x.is_finite());
    are_sound(set.center(id), set.radius(id)) && moves
}

#[inline(always)]
fn are_sound<const D: usize, T: Scalar>(center: [T; D], radius: T) -> bool {
    center.iter().all(|x| x.to_f64().is_finite()) && radius.to_f64().is_finite() && radius >= T::default()
}

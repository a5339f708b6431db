//! Where and how deep two circles or spheres overlap.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, Isa, Scalar, Threads, Workers};

use super::error::ContactError;
use super::offenders::name_strangers;
use super::pairs::{ContactPairs, Images, Meetings};
use super::solids::Solids;
use crate::compiled::compiled_here;
use crate::input::{Displacements, Input, Relation, Set, Source, UnitCell};
use crate::proxy::{Proxies, first_touch};

/// Pairs that one task looks at.
pub(super) const BLOCK: usize = 1 << 12;

/// Below this number of pairs one thread does all; from within the pool and from outside.
const SERIAL_BELOW: [usize; 2] = [20_000, 60_000];

/// Squares of lengths below this, 2^-960, are computed of lengths 2^700 times as long, so that they do not vanish.
const SHORT2: f64 = f64::from_bits((1023 - 960) << 52);
const LONGER: f64 = f64::from_bits((1023 + 700) << 52);

/// Where and how deep two bodies overlap, in `f32` or `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<const D: usize, T = f32> {
    /// The sum of the radii less the distance of the centres, and 0 where that is below 0: a pair may touch by the
    /// rounding of the search's test alone.
    pub depth: T,
    /// The direction from the centre of a to that of b, of length 1; +x when there is no distance between them.
    pub normal: [T; D],
    /// The middle of that part of the line through both centres which lies in both bodies. Where they touch by rounding
    /// alone, the middle of the gap.
    pub point: [T; D],
}

impl<const D: usize, T: Copy + Default> Default for Contact<D, T> {
    fn default() -> Self {
        Self { depth: T::default(), normal: [T::default(); D], point: [T::default(); D] }
    }
}

impl<const D: usize> Contact<D, f64> {
    /// That of a body at `p` with one that is `apart` from it.
    #[inline]
    pub(super) fn of(p: [f64; D], apart: [f64; D], [p_radius, q_radius]: [f64; 2]) -> Self {
        let (mut normal, mut distance2, mut scale) = (apart, squared(apart), 1.0);
        if distance2 < SHORT2 {
            normal = apart.map(|d| d * LONGER);
            (distance2, scale) = (squared(normal), LONGER);
        }
        let mut distance = distance2.sqrt();
        if distance > 0.0 {
            normal = normal.map(|d| d / distance);
            distance /= scale;
        } else {
            normal[0] = 1.0;
        }
        let from = (distance - q_radius).max(-p_radius);
        let to = (distance + q_radius).min(p_radius);
        let middle = (from + to) * 0.5;
        let point = core::array::from_fn(|axis| p[axis] + normal[axis] * middle);
        Self { depth: (p_radius + q_radius - distance).max(0.0), normal, point }
    }

    #[inline]
    fn rounded(self) -> Contact<D> {
        let Self { depth, normal, point } = self;
        Contact { depth: depth as f32, normal: normal.map(|x| x as f32), point: point.map(|x| x as f32) }
    }
}

#[inline]
fn squared<const D: usize>(apart: [f64; D]) -> f64 {
    apart.into_iter().fold(0.0, |sum, d| sum + d * d)
}

/// The contact of a body at `p` with one at `q`.
///
/// Computed in f64 from left to right and rounded to f32 once, at the end: each component is within half an ulp of the
/// true value but for an error of some 2^-50 of the largest number that goes into it, and the same bits on every
/// machine. No finite centre, however near, gives a NaN; the length of the normal differs from 1 by less than 2^-23.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::contact;
/// let contact = contact([0.0, 0.0], 2.0, [3.0, 0.0], 1.5);
/// assert_eq!((contact.depth, contact.normal), (0.5, [1.0, 0.0]));
/// assert_eq!(contact.point, [1.75, 0.0]); // between 1.5, where b begins, and 2, where a ends
/// ```
#[must_use]
#[inline]
pub fn contact<const D: usize>(p: [f32; D], p_radius: f32, q: [f32; D], q_radius: f32) -> Contact<D> {
    contact_f64(p.map(f64::from), p_radius.into(), q.map(f64::from), q_radius.into()).rounded()
}

/// As [`contact`], in `f64` without rounding to `f32`: each component has an error of some 2^-50 of the largest number that goes
/// into it.
#[must_use]
#[inline]
pub fn contact_f64<const D: usize>(p: [f64; D], p_radius: f64, q: [f64; D], q_radius: f64) -> Contact<D, f64> {
    Contact::of(p, core::array::from_fn(|axis| q[axis] - p[axis]), [p_radius, q_radius])
}

/// Fills `list` with the contact of each pair of a search, in the order of the pairs. Its memory is used again: from the
/// second call of a size on, nothing is allocated (but for bodies of a [`LinearTree`](jostle_core::LinearTree), which are put in
/// order of their ids). O(pairs).
///
/// `pairs` are what the search returned, or a slice, and `input` is what was searched: of any sets, in any space and relation.
/// - Where space repeats, b is at the image that the pair's image shift says, and the point lies near a as it was given.
/// - Of moving bodies, the contact is that of the moment when they first touch
///   ([`Found::times_of_impact`](crate::Found::times_of_impact)), or of the beginning of the step where they do not touch.
/// - Margins count as parts of radii, as they do in the search.
/// - Of two boxes, depth and normal are the shortest way along an axis on which b leaves a, and the point is the middle of what they share.
/// - Of capsules, and of them and circles, the contact is that of circles about the nearest points of their segments; where segments cross,
///   the shortest way across one of them on which b leaves a.
/// - Of a box and a circle or a capsule whose centre or segment does not reach into it, the normal leads between the nearest points of
///   the two; else it is the shortest way along an axis by which the box about b, or about a, leaves the other. The point is half of the depth
///   behind the border of the box.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, Input, PairFinder, Threads, contacts};
/// let circles = Circles::new(&[0.0, 3.0], &[0.0, 0.0], &[2.0, 1.5]);
/// let mut finder = PairFinder::new();
/// let mut list = Vec::new();
/// let found = finder.find(circles)?;
/// contacts(found, circles, Threads::Current, &mut list)?;
/// assert_eq!(list[0].depth, 0.5);
///
/// // Across the border of a cell.
/// let cell = Input::within(circles).periodic([Some([0.0, 5.0]), None]);
/// let found = finder.find(cell)?;
/// contacts(found, cell, Threads::Current, &mut list)?;
/// let across = found.image_shifts().position(|shift| shift == [-1, 0]).unwrap();
/// assert_eq!((list[across].depth, list[across].normal), (1.5, [-1.0, 0.0])); // b is at -2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ContactError::Pairs`] where a pair names an id that no body has, [`ContactError::Bodies`] where columns differ in
/// length or a body of a pair is outside the contract of a search, [`ContactError::ImageShifts`] where space repeats and pairs
/// have no shifts, [`ContactError::OpenSpace`] where they have and it does not, [`ContactError::Sets`] where pairs are of
/// other sets than the input's; `list` stays as it was.
///
/// # Panics
/// When image shifts are in another number of dimensions.
pub fn contacts<'a, const D: usize>(
    pairs: impl Into<ContactPairs<'a>>,
    input: impl Into<Input<'a, D>>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D>>,
) -> Result<(), ContactError> {
    fill_single(pairs.into(), &input.into(), threads, list)
}

/// As [`contacts`], in `f64` without rounding to `f32`.
///
/// # Errors
/// As [`contacts`].
///
/// # Panics
/// As [`contacts`].
pub fn contacts_f64<'a, const D: usize>(
    pairs: impl Into<ContactPairs<'a>>,
    input: impl Into<Input<'a, D>>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D, f64>>,
) -> Result<(), ContactError> {
    fill_double(pairs.into(), &input.into(), threads, list)
}

/// As [`contacts`], for pairs of a body of `first` and one of `second`.
///
/// # Errors
/// As [`contacts`].
pub fn contacts_between<'a, const D: usize>(
    pairs: impl Into<ContactPairs<'a>>,
    first: impl Into<Set<'a, D>>,
    second: impl Into<Set<'a, D>>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D>>,
) -> Result<(), ContactError> {
    contacts(pairs, Input::between(first, second), threads, list)
}

compiled_here! {
    fn fill_single<const D: usize>(
        pairs: ContactPairs<'_>,
        input: &Input<'_, D>,
        threads: Threads<'_>,
        list: &mut Vec<Contact<D>>,
    ) -> Result<(), ContactError> {
        fill(pairs, input, threads, list, Contact::rounded)
    }

    fn fill_double<const D: usize>(
        pairs: ContactPairs<'_>,
        input: &Input<'_, D>,
        threads: Threads<'_>,
        list: &mut Vec<Contact<D, f64>>,
    ) -> Result<(), ContactError> {
        fill(pairs, input, threads, list, |contact| contact)
    }
}

fn fill<const D: usize, T: Copy + Default + Send>(
    pairs: ContactPairs<'_>,
    input: &Input<'_, D>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D, T>>,
    of: impl Fn(Contact<D, f64>) -> Contact<D, T> + Sync + Send,
) -> Result<(), ContactError> {
    input.check_shape()?;
    let asked = Asked::new(pairs, input)?;
    if input.is_shaped() {
        return threads.run(SERIAL_BELOW, asked.pairs.len(), |workers| {
            let solids = Solids::new(&asked);
            solids.check(workers)?;
            resize_with_headroom(list, asked.pairs.len(), Contact::default());
            workers.fill_blocks("contacts", list, BLOCK, |start, block| {
                for (range, sets) in asked.meetings.parts(start..start + block.len()) {
                    block[range.start - start..]
                        .iter_mut()
                        .zip(range)
                        .for_each(|(slot, at)| *slot = of(solids.contact(sets, at)));
                }
            });
            Ok(())
        });
    }
    threads.run(SERIAL_BELOW, asked.pairs.len(), |workers| {
        workers.together(|| {
            asked.check(workers)?;
            resize_with_headroom(list, asked.pairs.len(), Contact::default());
            workers.fill_blocks("contacts", list, BLOCK, |start, block| {
                asked.each(start..start + block.len(), &mut |part| match part.plain() {
                    Some([first, second]) => {
                        for (slot, pair) in block[part.range.start - start..].iter_mut().zip(part.pairs()) {
                            let [a, b] = pair;
                            let (p, q) = (first.center(a).map(f64::from), second.center(b).map(f64::from));
                            *slot = of(contact_f64(p, first.radius(a).into(), q, second.radius(b).into()));
                        }
                    }
                    None => {
                        for (slot, at) in block[part.range.start - start..].iter_mut().zip(part.range.clone()) {
                            *slot = of(asked.contact(&part, at));
                        }
                    }
                });
            });
            Ok(())
        })
    })
}

/// Pairs, and the bodies that they are of.
pub(super) struct Asked<'a, const D: usize> {
    pub(super) pairs: &'a [[u32; 2]],
    images: Images<'a>,
    pub(super) meetings: Meetings<'a>,
    pub(super) sets: &'a [Set<'a, D>],
    cell: Option<UnitCell<D>>,
    /// The bodies of each set that is a tree, by id.
    trees: Vec<Proxies<D>>,
}

impl<'a, const D: usize> Asked<'a, D> {
    fn new(pairs: ContactPairs<'a>, input: &'a Input<'a, D>) -> Result<Self, ContactError> {
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
        let trees = sets.iter().filter_map(|set| match set.source {
            Source::Tree(tree) => {
                let mut bodies = Proxies::default();
                bodies.read_tree(tree);
                Some(bodies)
            }
            _ => None,
        });
        let meetings = pairs.meetings(alone, sets.len())?;
        Ok(Self { pairs: pairs.pairs, images: pairs.images, meetings, sets, cell, trees: trees.collect() })
    }

    /// The numbers of a set.
    fn numbers(&self, set: u32) -> Numbers<'_, D> {
        let (before, set) = (&self.sets[..set as usize], &self.sets[set as usize]);
        let bodies = match set.source {
            Source::View(bodies) => Columns::Single(bodies),
            Source::Double(bodies) => Columns::Double(bodies),
            Source::Tree(_) | Source::Shaped(_) => {
                let trees = before.iter().filter(|set| matches!(set.source, Source::Tree(_))).count();
                Columns::Single(self.trees[trees].tree_view())
            }
        };
        Numbers { bodies, moving: set.moving }
    }

    /// Calls `visit` with some pairs, cut where they are of other sets.
    fn each(&self, range: Range<usize>, visit: &mut dyn FnMut(Part<'_, D>)) {
        for (range, sets) in self.meetings.parts(range) {
            let bodies = sets.map(|set| self.numbers(set));
            visit(Part { pairs: &self.pairs[range.clone()], range, bodies, open: self.cell.is_none() });
        }
    }

    /// Where the second body of a pair is seen.
    #[inline(always)]
    pub(super) fn shift(&self, at: usize) -> [f64; D] {
        match (&self.cell, self.images.get(at).first_chunk::<D>()) {
            (Some(cell), Some(&steps)) => cell.shift(steps.map(f64::from)),
            _ => [0.0; D],
        }
    }

    /// The error of pairs of bodies that there are not.
    pub(super) fn strangers(&self) -> ContactError {
        let of_pairs = |sets: [u32; 2]| sets.map(|set| self.sets[set as usize].len());
        let parts = self.meetings.parts(0..self.pairs.len()).map(|(range, sets)| (range, of_pairs(sets)));
        name_strangers(self.pairs, parts)
    }

    #[inline(always)]
    fn contact(&self, part: &Part<'_, D>, at: usize) -> Contact<D, f64> {
        let ([first, second], [a, b]) = (&part.bodies, self.pairs[at].map(|id| id as usize));
        let (mut p, mut apart) = (first.center(a), second.center(b));
        (0..D).for_each(|axis| apart[axis] -= p[axis]);
        if self.cell.is_some() {
            let shift = self.shift(at);
            (0..D).for_each(|axis| apart[axis] += shift[axis]);
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

    /// Checks that each pair is of two bodies, and that these are sound.
    fn check(&self, workers: Workers<'_>) -> Result<(), ContactError> {
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
        if unsound.into_inner() { self.sets.iter().try_for_each(refuse).map_err(Into::into) } else { Ok(()) }
    }
}

/// Successive pairs of the same two sets.
struct Part<'a, const D: usize> {
    pairs: &'a [[u32; 2]],
    range: Range<usize>,
    bodies: [Numbers<'a, D>; 2],
    open: bool,
}

impl<'a, const D: usize> Part<'a, D> {
    fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + use<'a, D> {
        self.pairs.iter().map(|pair| pair.map(|id| id as usize))
    }

    /// Both sets, if they are in `f32` and at rest in open space.
    #[inline(always)]
    fn plain(&self) -> Option<[Bodies<'a, D>; 2]> {
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
            Columns::Single(bodies) => bodies.center(id).map(f64::from),
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

/// Refuses bodies as a search would, all that are at fault by name.
#[cold]
fn refuse<const D: usize>(set: &Set<'_, D>) -> Result<(), crate::InputError> {
    Proxies::default().survey(set, None, true, Isa::detect(), Workers::Serial).map(|_| ())
}

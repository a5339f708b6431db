//! Where and how deep two circles or spheres overlap.

use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, Threads, ViewError, Workers, bounds::bounds};

use super::error::{ContactError, name_strangers};

/// Pairs that one task looks at.
const BLOCK: usize = 1 << 12;

/// Below this number of pairs one thread does all; from within the pool and from outside.
const SERIAL_BELOW: [usize; 2] = [20_000, 60_000];

/// Where and how deep two bodies overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<const D: usize> {
    /// The sum of the radii less the distance of the centres, and 0 where that is below 0: a pair may touch by the
    /// rounding of the search's test alone.
    pub depth: f32,
    /// The direction from the centre of a to that of b, of length 1; +x when there is no distance between them.
    pub normal: [f32; D],
    /// The middle of that part of the line through both centres which lies in both bodies. Where they touch by rounding
    /// alone, the middle of the gap.
    pub point: [f32; D],
}

impl<const D: usize> Default for Contact<D> {
    fn default() -> Self {
        Self { depth: 0.0, normal: [0.0; D], point: [0.0; D] }
    }
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
    let mut normal = [0.0; D];
    let mut distance2 = 0.0;
    for axis in 0..D {
        normal[axis] = f64::from(q[axis]) - f64::from(p[axis]);
        distance2 += normal[axis] * normal[axis];
    }
    let distance = distance2.sqrt();
    if distance > 0.0 {
        normal = normal.map(|d| d / distance);
    } else {
        // The least difference of two f32, 2^-149, has a square in f64: the centres are the same.
        normal[0] = 1.0;
    }
    let (p_radius, q_radius) = (f64::from(p_radius), f64::from(q_radius));
    let from = (distance - q_radius).max(-p_radius);
    let to = (distance + q_radius).min(p_radius);
    let middle = (from + to) * 0.5;
    Contact {
        depth: (p_radius + q_radius - distance).max(0.0) as f32,
        normal: normal.map(|d| d as f32),
        point: core::array::from_fn(|axis| (f64::from(p[axis]) + normal[axis] * middle) as f32),
    }
}

/// Fills `list` with the contact of each pair of bodies, in the order of the pairs. Its memory is used again: from the
/// second call of a size on, nothing is allocated. O(pairs).
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, PairFinder, Threads, contacts};
/// let circles = Circles::new(&[0.0, 3.0], &[0.0, 0.0], &[2.0, 1.5]);
/// let mut finder = PairFinder::new();
/// let found = finder.find(circles)?;
/// let mut list = Vec::new();
/// contacts(found.pairs(), circles, Threads::Current, &mut list)?;
/// assert_eq!(list[0].depth, 0.5);
/// # Ok::<(), jostle::ContactError>(())
/// ```
///
/// # Errors
/// [`ContactError::Pairs`] where a pair names an id that no body has, [`ContactError::Bodies`] where columns differ in
/// length or a body of a pair is outside the contract of a search; `list` stays as it was.
pub fn contacts<const D: usize>(
    pairs: &[[u32; 2]],
    bodies: Bodies<'_, D>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D>>,
) -> Result<(), ContactError> {
    contacts_between(pairs, bodies, bodies, threads, list)
}

/// As [`contacts`], for pairs of a body of `first` and one of `second`.
///
/// # Errors
/// As [`contacts`].
pub fn contacts_between<const D: usize>(
    pairs: &[[u32; 2]],
    first: Bodies<'_, D>,
    second: Bodies<'_, D>,
    threads: Threads<'_>,
    list: &mut Vec<Contact<D>>,
) -> Result<(), ContactError> {
    first.check_shape()?;
    second.check_shape()?;
    threads.run(SERIAL_BELOW, pairs.len(), |workers| {
        workers.together(|| {
            check(pairs, first, second, workers)?;
            resize_with_headroom(list, pairs.len(), Contact::default());
            workers.fill_blocks("contacts", list, BLOCK, |start, block| {
                for (slot, &[a, b]) in block.iter_mut().zip(&pairs[start..]) {
                    let (a, b) = (a as usize, b as usize);
                    *slot = contact(first.center(a), first.radius(a), second.center(b), second.radius(b));
                }
            });
            Ok(())
        })
    })
}

/// Checks that each pair is of two bodies, and that these are sound.
fn check<const D: usize>(
    pairs: &[[u32; 2]],
    first: Bodies<'_, D>,
    second: Bodies<'_, D>,
    workers: Workers<'_>,
) -> Result<(), ContactError> {
    let (strangers, unsound) = (AtomicBool::new(false), AtomicBool::new(false));
    workers.run("check", pairs.len().div_ceil(BLOCK), |block| {
        let pairs = &pairs[block * BLOCK..((block + 1) * BLOCK).min(pairs.len())];
        let there = |&[a, b]: &[u32; 2]| (a as usize) < first.len() && (b as usize) < second.len();
        if !pairs.iter().all(there) {
            strangers.store(true, Ordering::Relaxed);
        } else if !pairs.iter().all(|&[a, b]| is_sound(first, a) && is_sound(second, b)) {
            unsound.store(true, Ordering::Relaxed);
        }
    });
    if strangers.into_inner() {
        return Err(name_strangers(pairs, [first.len(), second.len()]));
    }
    if unsound.into_inner() { Ok(refuse(first).and_then(|()| refuse(second))?) } else { Ok(()) }
}

/// Whether a body has finite values and no negative radius.
#[inline(always)]
fn is_sound<const D: usize>(bodies: Bodies<'_, D>, id: u32) -> bool {
    let radius = bodies.radius(id as usize);
    bodies.center(id as usize).iter().all(|x| x.is_finite()) && radius.is_finite() && radius >= 0.0
}

/// Refuses bodies as a search would, all that are at fault by name.
#[cold]
fn refuse<const D: usize>(bodies: Bodies<'_, D>) -> Result<(), ViewError> {
    bounds(bodies, Threads::Serial).map(|_| ())
}

//! The contacts of all pairs of a search.

use jostle_core::Threads;
use jostle_core::axes::Axes;
use jostle_core::scratch::fill_with_headroom;
use jostle_sets::compiled::compiled_here;
use jostle_sets::input::{Input, Set};

use crate::asked::{Asked, BLOCK};
use crate::contact::{Contact, contact_f64};
use crate::error::ContactError;
use crate::pairs::ContactPairs;
use crate::solids::Solids;

/// Below this number of pairs one thread does all.
const SERIAL_BELOW: usize = 10_000;

/// Fills `list` with the contact of each pair of a search, in the order of the pairs. O(pairs). The memory of `list` is
/// used again: from the second call of a size on, nothing is allocated, but for bodies of a
/// [`LinearTree`](jostle_core::LinearTree), which are put in order of their ids.
///
/// `pairs` is what the search returned, or a slice. `input` is what was searched: any sets, in any space and relation.
/// - Where space repeats, b is at the image that the pair's image shift says, and the point lies near a's own position
///   as given.
/// - Of moving bodies, the contact is that of the moment when they first touch
///   ([`Found::times_of_impact`](jostle_pairs::Found::times_of_impact)), or of the beginning of the step if they do not
///   touch. Where boxes or capsules that come to touch could part in several directions, being flat or corner to
///   corner, the normal leads back against the motion.
/// - Margins count as parts of radii, as they do in the search.
/// - Of two boxes, depth and normal are the shortest move of b along an axis that takes b out of a, and the point is
///   the middle of their intersection.
/// - Of two capsules, or a capsule and a circle, the contact is that of circles about the nearest points of their
///   segments. Where segments cross, it is the shortest move of b, across one of the segments, that takes b out of a.
/// - Of a box and a circle or capsule whose centre or segment does not reach into the box, the normal leads between the
///   nearest points of the two. Otherwise it is the shortest move that takes the whole circle or capsule out of the box
///   along an axis, or across its segment. The point lies half of the depth inside the border of the box.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_contacts::*; pub use jostle_pairs::*; }
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
/// `list` stays as it was, and the error is
/// - [`ContactError::Pairs`] if a pair names an id that no body has,
/// - [`ContactError::Bodies`] if columns differ in length or a body of a pair is outside the contract of a search,
/// - [`ContactError::ImageShifts`] if space repeats and the pairs have no shifts,
/// - [`ContactError::OpenSpace`] if the pairs have shifts and space does not repeat,
/// - [`ContactError::Sets`] if the pairs are of other sets than the input's.
///
/// # Panics
/// When image shifts have another number of dimensions than the input.
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
    threads.run([SERIAL_BELOW; 2], asked.pairs.len(), |workers| {
        workers.together(|| {
            if input.is_shaped() {
                let solids = Solids::new(&asked);
                solids.check(workers)?;
                fill_with_headroom(list, asked.pairs.len(), Contact::default());
                workers.fill_blocks("contacts", list, BLOCK, |start, block| {
                    for (range, sets) in asked.meetings.parts(start..start + block.len()) {
                        for (slot, at) in block[range.start - start..].iter_mut().zip(range) {
                            *slot = of(solids.contact(sets, at));
                        }
                    }
                });
                return Ok(());
            }
            asked.check(workers)?;
            fill_with_headroom(list, asked.pairs.len(), Contact::default());
            workers.fill_blocks("contacts", list, BLOCK, |start, block| {
                asked.each(start..start + block.len(), &mut |part| match part.plain() {
                    Some([first, second]) => {
                        for (slot, pair) in block[part.range.start - start..].iter_mut().zip(part.pairs()) {
                            let [a, b] = pair;
                            let (p, q) = (first.center(a).axes(f64::from), second.center(b).axes(f64::from));
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

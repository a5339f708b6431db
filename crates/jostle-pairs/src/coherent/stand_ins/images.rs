//! Puts stand-ins in place, part by part: each at the image of its body nearest to where the stand-in was, and back into
//! the cell when a list is made.

use jostle_core::axes::{Axes, from_axes};
use jostle_core::isa::Work;
use jostle_core::{Column, Radii, Scalar};
use jostle_sets::input::UnitCell;
use jostle_sets::simd::{LANES, LaneWork, Lanes};

use crate::coherent::reference::PART;
use crate::coherent::reference::measure::{part, read};

/// A body that is farther than so many vectors of the cell from its stand-in is not followed.
pub(super) const FARTHEST: f64 = 4_194_304.0;

/// 1.5 * 2^52: adding it rounds a number of less than 2^51 to a whole one.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// An image of a body that is no farther away than this part of the cell's length is the nearest.
const SURELY_NEAR: f64 = 0.499;

/// Returns where a stand-in was; 0 if that is not finite.
#[inline(always)]
fn place(before: f32) -> f64 {
    if before.abs() < f32::INFINITY { before.into() } else { 0.0 }
}

/// Rounds to a whole number of vectors of the cell; NaN beyond [`FARTHEST`].
#[inline(always)]
fn whole(steps: f64) -> f64 {
    let whole = (steps + ROUNDING) - ROUNDING;
    if whole.abs() <= FARTHEST { whole } else { f64::NAN }
}

/// How far stand-ins are from the origin along an axis, at most, in each of sixteen lanes.
struct Reach([f32; LANES]);

impl Reach {
    const NONE: Self = Self([0.0; LANES]);

    #[inline(always)]
    fn take(&mut self, some: &[f32; LANES]) {
        for lane in 0..LANES {
            self.0[lane] = farther(self.0[lane], some[lane].abs());
        }
    }

    #[inline(always)]
    fn most(&self) -> f32 {
        self.0.iter().fold(0.0, |most, &far| farther(most, far))
    }
}

/// Returns the greater of two numbers. If one is none, the result says nothing.
#[inline(always)]
pub(super) fn farther(most: f32, far: f32) -> f32 {
    if most >= far { most } else { far }
}

/// Finds the largest radius of some bodies, in `f32`; radii that are no number do not count.
pub(super) struct Largest<'a, T> {
    pub(super) radii: Radii<'a, T>,
    pub(super) first: usize,
    pub(super) len: usize,
}

impl<T: Scalar> Work for Largest<'_, T> {
    type Output = f32;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { radii, first, len } = self;
        let column = match radii {
            Radii::All(radius) => return (radius.to_f64() as f32).max(0.0),
            Radii::Each(column) => column,
        };
        let (mut largest, mut room) = ([0.0_f32; LANES], [T::default(); PART]);
        for first in (first..first + len).step_by(PART) {
            for some in read(&column, first, &mut room).as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    let radius = some[lane].to_f64() as f32;
                    largest[lane] = if radius > largest[lane] { radius } else { largest[lane] };
                }
            }
        }
        largest.into_iter().fold(0.0, f32::max)
    }
}

/// Puts whole parts of stand-ins in place along an axis of open space. Those behind the last body stand at the origin.
pub(super) struct Copy<'a, T> {
    pub(super) column: Column<'a, T>,
    pub(super) first: usize,
    pub(super) origin: f64,
    pub(super) out: &'a mut [f32],
}

impl<T: Scalar> Work for Copy<'_, T> {
    type Output = f32;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { column, first, origin, out } = self;
        let (mut reach, mut room) = (Reach::NONE, [T::default(); PART]);
        for (out, first) in out.as_chunks_mut::<PART>().0.iter_mut().zip((first..).step_by(PART)) {
            let at = read(&column, first, &mut room);
            for lane in 0..PART {
                out[lane] = (at[lane].to_f64() - origin) as f32;
            }
            out[column.len().saturating_sub(first).min(PART)..].fill(0.0);
            out.as_chunks().0.iter().for_each(|some| reach.take(some));
        }
        reach.most()
    }
}

/// Puts whole parts of stand-ins in place where space repeats. Each stays at the image of its body at which it was,
/// unless another may be nearer to where it was. Those behind the last body stand at the origin.
pub(super) struct Follow<'a, T, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) columns: &'a [Column<'a, T>; D],
    pub(super) first: usize,
    pub(super) origin: [f64; D],
    /// Where stand-ins were, and how many vectors of the cell led from there to their bodies.
    pub(super) before: [&'a [f32]; D],
    pub(super) known: [&'a [f32]; D],
    /// Whether there are many bodies to which vectors led. If so, all are put where those say.
    pub(super) many_are_elsewhere: bool,
    pub(super) out: [&'a mut [f32]; D],
    pub(super) steps: [&'a mut [f32]; D],
}

impl<T: Scalar, const D: usize> LaneWork for Follow<'_, T, D> {
    /// The reach, and of how many sixteens some bodies are elsewhere than their stand-ins.
    type Output = (f32, usize);
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> (f32, usize) {
        let Self { cell, columns, first, origin, before, known, many_are_elsewhere, mut out, mut steps } = self;
        let (near, single) = (nearest(cell), origin.axes(|x| x as f32));
        let is_single = size_of::<T>() == size_of::<f32>() && single.axes(f64::from) == origin;
        let single = is_single.then_some(single);
        let (mut reach, mut elsewhere) = (Reach::NONE, 0);
        let (zeros, mut rooms) = ([T::default(); PART], [[T::default(); PART]; D]);
        for begin in (0..out[0].len()).step_by(PART) {
            let mut at = [&zeros; D];
            for (axis, room) in rooms.iter_mut().enumerate() {
                at[axis] = read(&columns[axis], first + begin, room);
            }
            let mut part = FollowPart {
                cell,
                near,
                before: before.each(|column| part(column, begin)),
                known: known.each(|column| part(column, begin)),
                out: out.each_mut().map(|column| part_mut(column, begin)),
                steps: steps.each_mut().map(|column| part_mut(column, begin)),
            };
            // Behind the last body nothing has moved, so that only the sixteens of bodies are looked at closely.
            let there = columns[0].len().saturating_sub(first + begin).min(PART);
            let are_here = !many_are_elsewhere;
            // All are put in place before any is looked at: what has just been stored would be waited for.
            if are_here {
                for axis in 0..D {
                    put(at[axis], (origin[axis], single.map(|single| single[axis])), part.out[axis]);
                }
            } else {
                elsewhere += L::call(PutKnown { part: &mut part, at, origin });
            }
            part.out.iter_mut().for_each(|out| out[there..].fill(0.0));
            let unsure = L::call(Look { part: &mut part, are_here, reach: &mut reach });
            each_bit(unsure, |number| {
                let mut apart = [[0.0; LANES]; D];
                for axis in 0..D {
                    see(&at[axis].as_chunks().0[number], origin[axis], &mut apart[axis]);
                }
                L::call(PutNearest { part: &mut part, number, seen: apart });
            });
            if are_here {
                elsewhere += unsure.count_ones() as usize;
            }
            if unsure != 0 {
                for out in &mut part.out {
                    out[there..].fill(0.0);
                    each_bit(unsure, |number| reach.take(&out.as_chunks().0[number]));
                }
            }
        }
        (reach.most(), elsewhere)
    }
}

/// Puts some stand-ins where the bodies are: of bodies in `f32` by subtraction in `f32`, if the origin is given so.
#[inline(always)]
fn put<T: Scalar>(at: &[T; PART], (origin, single): (f64, Option<f32>), out: &mut [f32; PART]) {
    if let Some(single) = single {
        let at = bytemuck::cast_slice::<T, f32>(at);
        for lane in 0..PART {
            out[lane] = at[lane] - single;
        }
    } else {
        for lane in 0..PART {
            out[lane] = (at[lane].to_f64() - origin) as f32;
        }
    }
}

/// Tells where some bodies are.
#[inline(always)]
fn see<T: Scalar, const LEN: usize>(at: &[T; LEN], origin: f64, seen: &mut [f64; LEN]) {
    for lane in 0..LEN {
        seen[lane] = at[lane].to_f64() - origin;
    }
}

/// A part of the stand-ins.
struct FollowPart<'a, const D: usize> {
    cell: &'a UnitCell<D>,
    /// How near to where it was, on each axis, a stand-in is surely at the nearest image.
    near: [f32; D],
    before: [&'a [f32; PART]; D],
    known: [&'a [f32; PART]; D],
    out: [&'a mut [f32; PART]; D],
    steps: [&'a mut [f32; PART]; D],
}

/// Puts all of a part in place, at the images at which they were. Returns in how many sixteens there are bodies to which
/// vectors led.
struct PutKnown<'p, 'a, T, const D: usize> {
    part: &'p mut FollowPart<'a, D>,
    at: [&'p [T; PART]; D],
    origin: [f64; D],
}

impl<T: Scalar, const D: usize> LaneWork for PutKnown<'_, '_, T, D> {
    type Output = usize;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { part, at, origin } = self;
        let mut seen = [[0.0; PART]; D];
        for axis in 0..D {
            see(at[axis], origin[axis], &mut seen[axis]);
        }
        part.put_known(0, &seen);
        let known = part.known.each(|column| column.as_chunks::<LANES>().0);
        (0..PART / LANES).filter(|&number| known.iter().any(|column| are_any(&column[number]))).count()
    }
}

/// Returns a bit for each sixteen of which some are not surely near to where they were; of the others, it notes the
/// reach.
struct Look<'p, 'a, const D: usize> {
    part: &'p mut FollowPart<'a, D>,
    are_here: bool,
    reach: &'p mut Reach,
}

impl<const D: usize> LaneWork for Look<'_, '_, D> {
    type Output = u16;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> u16 {
        let Self { part: FollowPart { near, before, out, steps, .. }, are_here, reach } = self;
        let (zero, mut unsure, mut most) = (L::splat(0.0), 0, L::load(&reach.0));
        for number in 0..PART / LANES {
            let (mut are_near, mut farthest) = (zero.le_mask(zero), zero);
            for axis in 0..D {
                let x = L::load(&out[axis].as_chunks().0[number]);
                let far = x.sub(L::load(&before[axis].as_chunks().0[number]));
                let near = L::splat(near[axis]);
                are_near = L::both(are_near, L::both(far.le_mask(near), zero.sub(far).le_mask(near)));
                farthest = farthest.max(x.max(zero.sub(x)));
                let steps = &mut steps[axis].as_chunks_mut::<LANES>().0[number];
                if are_here && are_any(steps) {
                    *steps = [0.0; LANES];
                }
            }
            if L::bits(are_near) == u16::MAX {
                most = most.max(farthest);
            } else {
                unsure |= 1 << number;
            }
        }
        most.store(&mut reach.0);
        unsure
    }
}

impl<const D: usize> FollowPart<'_, D> {
    /// Puts so many in place, at the images at which they were.
    #[inline(always)]
    fn put_known<const LEN: usize>(&mut self, first: usize, seen: &[[f64; LEN]; D]) {
        let space = &self.cell.space;
        for axis in 0..D {
            let (mut at, out) = (seen[axis], &mut self.out[axis][first..][..LEN]);
            for k in (0..D).filter(|&k| space.repeats[k] && space.vectors[k][axis] != 0.0) {
                let (known, along) = (&self.known[k][first..][..LEN], space.vectors[k][axis]);
                for lane in 0..LEN {
                    at[lane] -= f64::from(known[lane]) * along;
                }
            }
            for lane in 0..LEN {
                out[lane] = at[lane] as f32;
            }
            self.steps[axis][first..][..LEN].copy_from_slice(&self.known[axis][first..][..LEN]);
        }
    }
}

/// Puts sixteen bodies that are `seen` there at the images at which they were or, unless all are surely near to where
/// they were, at the nearest images.
struct PutNearest<'p, 'a, const D: usize> {
    part: &'p mut FollowPart<'a, D>,
    number: usize,
    seen: [[f64; LANES]; D],
}

impl<const D: usize> LaneWork for PutNearest<'_, '_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { part, number, mut seen } = self;
        let some = number * LANES;
        part.put_known(some, &seen);
        let mut are_near = true;
        for axis in 0..D {
            let (out, before) = (&part.out[axis][some..][..LANES], &part.before[axis][some..][..LANES]);
            for lane in 0..LANES {
                are_near &= (out[lane] - before[lane]).abs() <= part.near[axis];
            }
        }
        if !are_near {
            let (apart, space) = (seen, &part.cell.space);
            for k in (0..D).filter(|&k| space.repeats[k]) {
                let mut along = [0.0_f64; LANES];
                for axis in 0..D {
                    for lane in 0..LANES {
                        let far = apart[axis][lane] - place(part.before[axis][some + lane]);
                        along[lane] += far * part.cell.duals[k][axis];
                    }
                }
                for lane in 0..LANES {
                    along[lane] = whole(along[lane]);
                    part.steps[k][some + lane] = along[lane] as f32;
                }
                for axis in 0..D {
                    for lane in 0..LANES {
                        seen[axis][lane] -= along[lane] * space.vectors[k][axis];
                    }
                }
            }
            for axis in 0..D {
                for lane in 0..LANES {
                    part.out[axis][some + lane] = seen[axis][lane] as f32;
                }
            }
        }
    }
}

/// Returns how near to where it was, on each axis, a stand-in is surely at the nearest image.
fn nearest<const D: usize>(cell: &UnitCell<D>) -> [f32; D] {
    from_axes(|axis| {
        let of_vector = |k: usize| {
            let axes = cell.duals[k].iter().filter(|&&dual| dual != 0.0).count();
            SURELY_NEAR / (axes as f64 * cell.duals[k][axis].abs())
        };
        (0..D).filter(|&k| cell.space.repeats[k]).map(of_vector).fold(f64::from(f32::MAX), f64::min) as f32
    })
}

/// Whether some numbers are not 0.
#[inline(always)]
fn are_any(numbers: &[f32]) -> bool {
    numbers.iter().fold(0, |bits, number| bits | number.to_bits()) != 0
}

/// Visits the numbers of set bits.
#[inline(always)]
fn each_bit(bits: u16, mut visit: impl FnMut(usize)) {
    let mut rest = bits;
    while rest != 0 {
        visit(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

/// A part of a column, which is filled up to whole parts.
#[inline(always)]
fn part_mut(column: &mut [f32], first: usize) -> &mut [f32; PART] {
    &mut column[first..].as_chunks_mut().0[0]
}

/// Moves whole parts of stand-ins back into the cell, and what is kept of their bodies as far.
pub(super) struct Settle<'a, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) centers: [&'a mut [f32]; D],
    pub(super) steps: [&'a mut [f32]; D],
    pub(super) kept: Option<[[&'a mut [f32]; D]; 2]>,
}

impl<const D: usize> Work for Settle<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { cell, centers, steps, mut kept } = self;
        for begin in (0..centers[0].len()).step_by(PART) {
            let mut shift = [[0.0_f64; PART]; D];
            for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                let mut along = [0.0_f64; PART];
                for axis in 0..D {
                    for (slot, x) in along.iter_mut().zip(&centers[axis][begin..][..PART]) {
                        *slot += f64::from(*x) * cell.duals[k][axis];
                    }
                }
                for (along, step) in along.iter_mut().zip(&mut steps[k][begin..][..PART]) {
                    *along = whole(*along);
                    *step += *along as f32;
                }
                for axis in 0..D {
                    for (slot, along) in shift[axis].iter_mut().zip(along) {
                        *slot += along * cell.space.vectors[k][axis];
                    }
                }
            }
            for axis in 0..D {
                for (x, shift) in centers[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                    *x = (f64::from(*x) - shift) as f32;
                }
                for columns in kept.iter_mut().flatten() {
                    for (x, shift) in columns[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                        *x = (f64::from(*x) - shift) as f32;
                    }
                }
            }
        }
    }
}

//! Where and how deep two bodies overlap, if one of them at least is a box or a capsule.

use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::Workers;
use jostle_core::axes::{Axes, Both, from_axes};
use jostle_sets::input::{Set, check_sets};
use jostle_sets::proxy::{Proxies, Solid, between, check_bodies, squared};

use crate::asked::{Asked, BLOCK};
use crate::contact::Contact;
use crate::error::ContactError;

/// Segments are taken to cross if their squared distance is at most 2^-80 of the sum of the squares of their lengths,
/// and a segment to reach into a box if its squared distance is at most 2^-80 of the square of its length. The square
/// of the way that a body has come counts as well.
const CROSSING: f64 = f64::from_bits((1023 - 80) << 52);

impl<const D: usize> Contact<D, f64> {
    /// Returns the contact of a body and another body at a shift, to which that one has come by moving by `by`: see
    /// [`contacts`](crate::contacts()).
    fn of_solids(a: &Solid<D>, b: &Solid<D>, shift: [f64; D], by: [f64; D]) -> Self {
        match (a, b) {
            (&Solid::Boxed { lo, hi }, &Solid::Boxed { lo: other_lo, hi: other_hi }) => {
                let moved = |corner: [f64; D]| from_axes(|axis| corner[axis] + shift[axis]);
                Self::of_boxes([lo, hi], [other_lo, other_hi].map(moved), (shift, by), [other_lo, other_hi])
            }
            // A box and a round body: as seen from an end of the round body. Far from the origin, less may lie between
            // the two than coordinates tell apart.
            (&Solid::Boxed { lo, hi }, round) => {
                let ([p, q], radius) = round.segment();
                let seen = [lo, hi].map(|corner| between(p, corner, shift.axes(|x| -x)));
                let seen = Self::of_box(seen, (between(p, q, [0.0; D]), radius), by);
                Self { point: from_axes(|axis| (p[axis] + shift[axis]) + seen.point[axis]), ..seen }
            }
            (round, &Solid::Boxed { lo, hi }) => {
                // Computed from the box to the round body, and turned round.
                let ([p, q], radius) = round.segment();
                let seen = [lo, hi].map(|corner| between(p, corner, shift));
                let seen = Self::of_box(seen, (between(p, q, [0.0; D]), radius), by.axes(|x| -x));
                let point = from_axes(|axis| p[axis] + seen.point[axis]);
                Self { normal: seen.normal.axes(|x| -x), point, ..seen }
            }
            (a, b) => {
                let ((ends, radius), (others, other)) = (a.segment(), b.segment());
                let along = |[p, q]: [[f64; D]; 2]| between(p, q, [0.0; D]);
                let apart = between(ends[0], others[0], shift);
                let ((distance2, leads), [s, _]) = Solid::nearest_parts(apart, along(ends), along(others));
                let p: [f64; D] = from_axes(|axis| ends[0][axis] + s * along(ends)[axis]);
                let size2 = squared(along(ends)) + squared(along(others));
                if size2 > 0.0 && distance2 <= (size2 + squared(by)) * CROSSING {
                    return Self::of_crossing((p, by), apart, [along(ends), along(others)], [radius, other]);
                }
                Self::of(p, leads, [radius, other])
            }
        }
    }

    /// Returns the contact of two capsules whose segments cross at `point`: the shortest way across one of the
    /// segments. `from` leads from the start of the first segment to that of the second, which has come there by moving
    /// by `by`.
    fn of_crossing((point, by): ([f64; D], [f64; D]), from: [f64; D], [d, e]: [[f64; D]; 2], radii: [f64; 2]) -> Self {
        // Of directions alone, of any length, whose products neither vanish nor overflow.
        let (is_second_longer, [d, e], [d_given, e_given]) = (size(d) < size(e), [d, e].both(near_one), [d, e]);
        let mut across = [d, e];
        if D == 2 {
            across = across.both(quarter_turn);
        } else {
            let normal = cross(d, e);
            // If the segments are parallel, any direction across the longer one.
            let long = if is_second_longer { e } else { d };
            let thin = (0..D).min_by(|&a, &b| long[a].abs().total_cmp(&long[b].abs())).unwrap_or_default();
            let any = from_axes(|axis| f64::from(u8::from(axis == thin)) - long[thin] / squared(long) * long[axis]);
            // The way that the second body has come, if there is any across.
            let way = near_one(by);
            let along = dot(way, long) / squared(long);
            let way = from_axes(|axis| way[axis] - along * long[axis]);
            let any = if squared(way) > CROSSING { way } else { any };
            let parallel = squared(normal) <= squared(d) * squared(e) * CROSSING;
            across = [if parallel { any } else { normal }; 2];
        }
        let mut ways = Ways::new(point, by);
        for axis in across.into_iter().filter(|&axis| squared(axis) > 0.0) {
            let unit = axis.axes(|part| part / squared(axis).sqrt());
            let (first, begin, second) = (dot(d_given, unit), dot(from, unit), dot(e_given, unit));
            let s = radii[0] + radii[1];
            let up = first.max(0.0) - begin.min(begin + second) + s;
            let down = begin.max(begin + second) - first.min(0.0) + s;
            ways.offer(up, unit, || point);
            ways.offer(down, unit.axes(|x| -x), || point);
        }
        ways.shortest(squared(d_given) + squared(e_given))
    }

    /// Returns the contact of two boxes: the shortest way along an axis on which the second box leaves the first.
    fn of_boxes(
        [lo, hi]: [[f64; D]; 2],
        seen: [[f64; D]; 2],
        (shift, by): ([f64; D], [f64; D]),
        given: [[f64; D]; 2],
    ) -> Self {
        let (up, down) = (between(given[0], hi, shift.axes(|x| -x)), between(lo, given[1], shift));
        let (mut ways, mut point) = (Ways::new([0.0; D], by), [0.0; D]);
        for axis in 0..D {
            for (depth, sign) in [(up[axis], 1.0), (down[axis], -1.0)] {
                ways.offer(depth, along_axis(axis, sign), || [0.0; D]);
            }
            let (from, to) = (lo[axis].max(seen[0][axis]), hi[axis].min(seen[1][axis]));
            point[axis] = match (from.is_finite(), to.is_finite()) {
                (true, true) => from / 2.0 + to / 2.0,
                (true, false) => from,
                (false, true) => to,
                (false, false) => 0.0,
            };
        }
        Self { point, ..ways.shortest(squared(shift)) }
    }

    /// Returns the contact of a box with a body that reaches `radius` from the segment from the origin to `along`, and
    /// has come there by moving by `by`.
    fn of_box([lo, hi]: [[f64; D]; 2], (along, radius): ([f64; D], f64), by: [f64; D]) -> Self {
        let still = [0.0; D];
        let ((distance2, leads), part) = Solid::nearest_to_box(lo, hi, along);
        let outer: [f64; D] = from_axes(|axis| part * along[axis]);
        let inner: [f64; D] = from_axes(|axis| outer[axis].max(lo[axis]).min(hi[axis]));
        if distance2 > (squared(along) + squared(by)) * CROSSING {
            let contact = Self::of(inner, leads.axes(|x| 0.0 - x), [0.0, radius]);
            let behind = contact.depth / 2.0;
            return Self { point: from_axes(|axis| inner[axis] - contact.normal[axis] * behind), ..contact };
        }
        // The segment reaches into the box: find the shortest way along an axis, or across the segment, on which the
        // whole body leaves.
        let mut ways = Ways::new(inner, by);
        // The last point of the segment towards an end that does not lie beside the box on the axes across `axis`.
        let over = |end: [f64; D], axis: usize| -> [f64; D] {
            let part = (0..D).filter(|&k| k != axis && !(lo[k]..=hi[k]).contains(&end[k])).fold(1.0, |part, k| {
                let side = end[k].max(lo[k]).min(hi[k]);
                f64::min(part, (side - inner[k]) / (end[k] - inner[k]))
            });
            from_axes(|k| if part < 1.0 { inner[k] + part * (end[k] - inner[k]) } else { end[k] })
        };
        for axis in 0..D {
            let (low, high) = if along[axis] >= 0.0 { (still, along) } else { (along, still) };
            for (depth, sign, deepest, face) in [
                (hi[axis] - low[axis] + radius, 1.0, low, hi[axis]),
                (high[axis] - lo[axis] + radius, -1.0, high, lo[axis]),
            ] {
                ways.offer(depth, along_axis(axis, sign), || {
                    let over = over(deepest, axis);
                    let mut point = from_axes(|axis| over[axis].max(lo[axis]).min(hi[axis]));
                    point[axis] = face - sign * depth / 2.0;
                    point
                });
            }
        }
        for across in ways_across(along) {
            // How far the corner of the box that is farthest along that way is ahead of the segment.
            let ahead = |axis: usize| {
                let to = if across[axis] > 0.0 { hi[axis] } else { lo[axis] };
                if across[axis] == 0.0 { 0.0 } else { across[axis] * (to - outer[axis]) }
            };
            let deep = (0..D).map(ahead).sum::<f64>();
            ways.offer(deep + radius, across, || {
                // Beside that corner, as far as the segment is in the box.
                let turned = |axis: &usize| across[*axis] != 0.0;
                let (to, size2) = (0..D).filter(turned).fold((0.0, 0.0), |(to, size2), axis| {
                    let corner = if across[axis] > 0.0 { hi[axis] } else { lo[axis] };
                    (to + along[axis] * (corner - outer[axis]), size2 + along[axis] * along[axis])
                });
                let by = if size2 > 0.0 { (to / size2).max(-part).min(1.0 - part) } else { 0.0 };
                let over = over(from_axes(|axis| outer[axis] + by * along[axis]), D);
                let behind = (radius - deep) / 2.0;
                from_axes(|axis| over[axis] - across[axis] * behind)
            });
        }
        ways.shortest(squared(along))
    }
}

/// Ways on which a body leaves another: the shortest, and the shortest of those that lead back against the motion by
/// which it came. The normal of a contact is the direction of its way.
struct Ways<const D: usize> {
    by: [f64; D],
    all: Contact<D, f64>,
    back: Contact<D, f64>,
}

impl<const D: usize> Ways<D> {
    fn new(point: [f64; D], by: [f64; D]) -> Self {
        let none = Contact { depth: f64::INFINITY, normal: along_axis(0, 1.0), point };
        Self { by, all: none, back: none }
    }

    fn offer(&mut self, depth: f64, normal: [f64; D], point: impl Fn() -> [f64; D]) {
        if depth < self.all.depth {
            self.all = Contact { depth, normal, point: point() };
        }
        if depth < self.back.depth && dot(normal, self.by) < 0.0 {
            self.back = Contact { depth, normal, point: point() };
        }
    }

    /// Returns the shortest way. Of a body that has just come there, it leads back, unless rounding hides which does:
    /// where bodies are flat, or touch at corners, other ways are as short. `size2` is the square of a length whose
    /// rounding counts.
    fn shortest(&self, size2: f64) -> Contact<D, f64> {
        let depth = self.back.depth.max(0.0);
        let leads_back = depth * depth <= (size2 + squared(self.by)) * CROSSING;
        let way = if leads_back { self.back } else { self.all };
        Contact { depth: way.depth.max(0.0), ..way }
    }
}

/// The direction of an axis, or the other way.
fn along_axis<const D: usize>(axis: usize, sign: f64) -> [f64; D] {
    from_axes(|k| if k == axis { sign } else { 0.0 })
}

/// Returns the ways, of length 1, that lead across a vector and across one of the axes; in the plane, across the vector.
/// There is none that is across a vector of no length.
fn ways_across<const D: usize>(vector: [f64; D]) -> impl Iterator<Item = [f64; D]> {
    let vector = near_one(vector);
    let across = move |k: usize| {
        if D == 2 {
            return quarter_turn(vector);
        }
        let [next, last] = [1, 2].both(|by| (k + by) % D);
        let mut way = [0.0; D];
        (way[next], way[last]) = (-vector[last], vector[next]);
        way
    };
    let ways = (0..if D == 2 { 1 } else { D }).map(across).filter(|&way| squared(way) > 0.0);
    ways.flat_map(|way| {
        let unit = way.axes(|part| part / squared(way).sqrt());
        [unit, unit.axes(|x| -x)]
    })
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).fold(0.0, |sum, axis| sum + a[axis] * b[axis])
}

/// The cross product of two vectors in space.
fn cross<const D: usize>(d: [f64; D], e: [f64; D]) -> [f64; D] {
    let [next, last] = [1, 2].both(|by| move |axis: usize| (axis + by) % D);
    from_axes(|k| d[next(k)] * e[last(k)] - d[last(k)] * e[next(k)])
}

/// Returns a vector of the plane, turned by a quarter.
fn quarter_turn<const D: usize>(vector: [f64; D]) -> [f64; D] {
    from_axes(|axis| if axis == 0 { -vector[1] } else { vector[0] })
}

/// The greatest part of a vector along an axis.
fn size<const D: usize>(vector: [f64; D]) -> f64 {
    vector.iter().fold(0.0, |most, x| x.abs().max(most))
}

/// Returns a vector times such a power of 2 that its size is from 1 to 2; 0 if it is 0.
fn near_one<const D: usize>(vector: [f64; D]) -> [f64; D] {
    const EXPONENT: u64 = 0x7ff << 52;
    // The exponent of the inverse of 2^x is 2046 less that of 2^x.
    let scale = f64::from_bits((0x7fe << 52) - (size(vector).to_bits() & EXPONENT).clamp(1 << 52, 0x7fd << 52));
    vector.axes(|x| x * scale)
}

/// Whether a displacement is finite, if there is one.
fn is_step<const D: usize>(by: Option<[f64; D]>) -> bool {
    by.is_none_or(|by| by.iter().all(|x| x.is_finite()))
}

/// The pairs of a search, and the sets of their bodies.
pub(crate) struct Solids<'a, 'p, const D: usize> {
    asked: &'p Asked<'a, D>,
    /// What a set has that is no tree: no memory.
    none: Proxies<D>,
}

impl<'a, 'p, const D: usize> Solids<'a, 'p, D> {
    pub(crate) fn new(asked: &'p Asked<'a, D>) -> Self {
        Self { asked, none: Proxies::default() }
    }

    /// Returns a set, and the bodies of its tree by id.
    fn set(&self, number: u32) -> (&Proxies<D>, &'p Set<'a, D>) {
        let number = number as usize;
        (self.asked.trees.get(number).unwrap_or(&self.none), &self.asked.sets[number])
    }

    /// Returns the contact of the pair at place `at` of the list.
    pub(crate) fn contact(&self, sets: [u32; 2], at: usize) -> Contact<D, f64> {
        let ids = self.asked.pairs[at];
        let [(a, from), (b, to)] = [(sets[0], ids[0]), (sets[1], ids[1])].both(|(number, id)| {
            let (bodies, set) = self.set(number);
            (bodies.solid(set, id as usize), set.by(id as usize))
        });
        let mut shift = self.asked.shift(at);
        if from.is_none() && to.is_none() {
            return Contact::of_solids(&a, &b, shift, [0.0; D]);
        }
        // As seen from the first body, where it begins.
        let [from, to] = [from, to].both(|by| by.unwrap_or([0.0; D]));
        let by: [f64; D] = from_axes(|axis| to[axis] - from[axis]);
        let time = a.first_touch(&b, shift, by).unwrap_or(0.0);
        for axis in 0..D {
            shift[axis] += time * by[axis];
        }
        let come = by.axes(|by| time * by);
        let contact = Contact::of_solids(&a, &b, shift, come);
        Contact { point: from_axes(|axis| contact.point[axis] + time * from[axis]), ..contact }
    }

    /// Checks that each pair names two bodies, and that both bodies are sound.
    pub(crate) fn check(&self, workers: Workers<'_>) -> Result<(), ContactError> {
        let (strangers, unsound) = (AtomicBool::new(false), AtomicBool::new(false));
        workers.run("check", self.asked.pairs.len().div_ceil(BLOCK), |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(self.asked.pairs.len());
            for (range, sets) in self.asked.meetings.parts(range) {
                for (number, set) in sets.into_iter().enumerate() {
                    let (bodies, set) = self.set(set);
                    for pair in &self.asked.pairs[range.clone()] {
                        let id = pair[number] as usize;
                        if id >= set.len() {
                            strangers.store(true, Ordering::Relaxed);
                        } else if bodies.solid_fault(set, id).is_some() || !is_step(set.by(id)) {
                            unsound.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        if strangers.into_inner() {
            return Err(self.asked.strangers());
        }
        if unsound.into_inner() {
            check_sets(self.asked.sets, check_bodies)?;
        }
        Ok(())
    }
}

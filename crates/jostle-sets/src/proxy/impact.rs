//! When bodies of any shape that move straight on first touch, in `f64`, on the caller's own numbers.
//!
//! The distance of two convex bodies is a convex function of the time then. So Newton's method, begun at time 0, comes
//! nearer to the first touch with every step and never passes it: conservative advancement (B. V. Mirtich,
//! "Impulse-based dynamic simulation", 1996) by the rate at which the nearest points approach each other.

use jostle_core::axes::{Axes, Both, from_axes};

use crate::proxy::first_touch;
use crate::proxy::segments::{box_to_segment, dot, segments};
use crate::proxy::solid::Solid::{self, Boxed, Round};
use crate::proxy::solid::between;

/// Steps of Newton's method, at most. Of bodies that graze each other, each step halves the time that is left: after
/// 53, `f64` has nothing left to halve.
const STEPS: usize = 64;

impl<const D: usize> Solid<D> {
    /// Returns when two bodies first touch, if they do from time 0 to 1. At time 0 the second is seen at a shift; it moves
    /// by `v` as seen from the first. See [`Set::moving`](crate::Set::moving).
    pub fn first_touch(&self, other: &Self, shift: [f64; D], v: [f64; D]) -> Option<f64> {
        if self.touches(other, shift) {
            return Some(0.0);
        }
        match (self, other) {
            (&Round { center, radius }, &Round { center: to, radius: reach }) => {
                first_touch(between(center, to, shift), [[0.0; D], v], radius + reach)
            }
            (&Boxed { lo, hi }, &Boxed { lo: other_lo, hi: other_hi }) => {
                boxes([between(hi, other_lo, shift), between(lo, other_hi, shift)], v)
            }
            (Boxed { .. }, _) => other.approach(self, shift.axes(|x| -x), v.axes(|x| -x)),
            _ => self.approach(other, shift, v),
        }
    }

    /// As [`Solid::first_touch`], of bodies that do not touch at time 0. The first is no box.
    fn approach(&self, other: &Self, shift: [f64; D], v: [f64; D]) -> Option<f64> {
        let (reach, mut time) = (self.segment().1 + other.radius(), 0.0);
        for _ in 0..STEPS {
            let (distance2, apart) = self.apart(other, from_axes(|axis| shift[axis] + time * v[axis]));
            let (distance, nearer) = (distance2.sqrt(), -dot(apart, v));
            if distance2 <= reach * reach {
                break;
            }
            // They move apart, or stay as far apart as they are.
            if nearer.is_nan() || nearer <= 0.0 {
                return None;
            }
            let next = time + (distance2 - reach * reach) / (distance + reach) * (distance / nearer);
            if next > 1.0 {
                return None;
            }
            if next == time {
                break;
            }
            time = next;
        }
        Some(time)
    }

    /// The squared distance of the cores of two bodies, the second seen at a shift, and what leads from the first to the
    /// second where they are nearest. The first is no box.
    fn apart(&self, other: &Self, shift: [f64; D]) -> (f64, [f64; D]) {
        let ([p, p_end], _) = self.segment();
        let along = between(p, p_end, [0.0; D]);
        if let &Boxed { lo, hi } = other {
            let [lo, hi] = [lo, hi].both(|corner| between(p, corner, shift));
            let (distance2, part) = box_to_segment(lo, hi, along);
            let from = along.axes(|x| part * x);
            return (distance2, from_axes(|axis| from[axis].max(lo[axis]).min(hi[axis]) - from[axis]));
        }
        let ([q, q_end], _) = other.segment();
        let (mut apart, along_other) = (between(p, q, shift), between(q, q_end, [0.0; D]));
        let (distance2, [s, t]) = segments(apart, along, along_other);
        for axis in 0..D {
            apart[axis] += t * along_other[axis] - s * along[axis];
        }
        (distance2, apart)
    }

    /// How far the body reaches from its core.
    fn radius(&self) -> f64 {
        self.segment().1
    }
}

/// Returns when two boxes first touch from time 0 to 1. The second begins `below` above the end of the first, and ends
/// `above` above its beginning; it moves by `v`.
fn boxes<const D: usize>([below, above]: [[f64; D]; 2], v: [f64; D]) -> Option<f64> {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..D {
        if v[axis] == 0.0 {
            if below[axis] > 0.0 || above[axis] < 0.0 {
                return None;
            }
        } else {
            let [enters, leaves] = if v[axis] > 0.0 { [above, below] } else { [below, above] };
            first = first.max(-enters[axis] / v[axis]);
            last = last.min(-leaves[axis] / v[axis]);
        }
    }
    (first <= last).then_some(first)
}

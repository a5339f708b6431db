//! Contacts: which of them begin, persist and end, by sets of their keys; and where two bodies touch.

use std::collections::BTreeSet;

use jostle_core::axes::from_axes;

use super::predicate::Body;
use super::{Case, Hit, space::is_forward};

/// What a contact is known by: its sets, the keys of its bodies (within a set the lesser first), and the shift from the
/// first body to the second. A body and its own image have the forward one of two shifts.
pub type ContactKey<const D: usize> = ([usize; 2], [u64; 2], [i32; D]);

/// A contact, and its hit.
pub type PlainContact<const D: usize> = (ContactKey<D>, Hit<D>);

/// The contacts of the last frame.
#[derive(Debug, Clone)]
pub struct PlainContacts<const D: usize> {
    last: Vec<PlainContact<D>>,
}

impl<const D: usize> Default for PlainContacts<D> {
    fn default() -> Self {
        Self { last: Vec::new() }
    }
}

impl<const D: usize> PlainContacts<D> {
    /// Returns the contacts that begin and those that persist, in the order of the hits, and the contacts that end, in
    /// the order of the last frame's hits. `keys` holds the keys of each set, by id.
    pub fn update(&mut self, hits: &[Hit<D>], keys: &[Vec<u64>]) -> [Vec<PlainContact<D>>; 3] {
        let now: Vec<_> = hits.iter().map(|hit| (contact_key(hit, keys), *hit)).collect();
        let known = |list: &[PlainContact<D>]| list.iter().map(|contact| contact.0).collect::<BTreeSet<_>>();
        let (here, there) = (known(&now), known(&self.last));
        let (persist, begin) = now.iter().partition(|contact| there.contains(&contact.0));
        let end = self.last.iter().copied().filter(|contact| !here.contains(&contact.0)).collect();
        self.last = now;
        [begin, persist, end]
    }
}

fn contact_key<const D: usize>(hit: &Hit<D>, keys: &[Vec<u64>]) -> ContactKey<D> {
    let Hit { sets, pair: [a, b], shift, .. } = *hit;
    let of = [keys[sets[0]][a as usize], keys[sets[1]][b as usize]];
    let within = sets[0] == sets[1];
    let swapped = if within && a == b { shift != [0; D] && !is_forward(shift) } else { within && of[0] > of[1] };
    if swapped { (sets, [of[1], of[0]], shift.map(|step| -step)) } else { (sets, of, shift) }
}

/// Where and how deep two bodies touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch<const D: usize> {
    /// The distance from centre to centre.
    pub distance: f64,
    /// The length that the radii have in common on the line between the centres.
    pub depth: f64,
    /// The direction from the first centre to the second, of length 1.
    pub normal: [f64; D],
    /// The middle of the part of the line through the centres that lies in both bodies.
    pub point: [f64; D],
    /// The largest number that goes into the touch, which limits its precision.
    pub scale: f64,
}

impl<const D: usize> Case<D> {
    /// Returns where the bodies of some hits touch, at the time of each hit.
    #[must_use]
    pub fn touches(&self, hits: &[Hit<D>]) -> Vec<Touch<D>> {
        let (family, lattice) = (self.family(), self.space.lattice());
        let of = |hit: &Hit<D>| {
            let [p, q]: [Body<D>; 2] = core::array::from_fn(|side| {
                Body::of(&self.sets[hit.sets[side]], hit.pair[side] as usize, lattice.as_ref())
            });
            let start = family.difference64(&p, &q, hit.shift);
            let at = |k: usize| start[k] + hit.time * (q.displacement[k] - p.displacement[k]);
            let apart: [f64; D] = from_axes(at);
            // Lengths are scaled by a power of two, so that they are squared without loss.
            let largest = apart.iter().fold(0.0, |largest: f64, d| largest.max(d.abs()));
            let unit = if largest > 0.0 { 2.0_f64.powi(largest.log2() as i32) } else { 1.0 };
            let distance = apart.map(|d| d / unit).iter().map(|d| d * d).sum::<f64>().sqrt();
            let mut normal = apart.map(|d| if distance > 0.0 { d / unit / distance } else { 0.0 });
            if distance == 0.0 {
                normal[0] = 1.0;
            }
            let (distance, r, s) = (distance * unit, p.radius, q.radius);
            let middle = (f64::max(-r, distance - s) + f64::min(r, distance + s)) / 2.0;
            let from = |k: usize| p.center[k] + hit.time * p.displacement[k];
            let numbers = [p.center, q.center, p.displacement, q.displacement, apart].into_iter().flatten();
            Touch {
                distance,
                depth: f64::max(r + s - distance, 0.0),
                normal,
                point: from_axes(|k| from(k) + normal[k] * middle),
                scale: numbers.chain([r, s]).fold(0.0, |all, x| all.max(x.abs())),
            }
        };
        hits.iter().map(of).collect()
    }
}

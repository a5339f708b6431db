//! Contacts over time, by a set of what each is known by.

use std::collections::BTreeSet;

use super::{Hit, space::is_forward};

/// What a contact is known by: its sets, the keys of its bodies, within a set the lesser first, and the shift from the first to
/// the second; of a body and itself, the forward one of two.
pub type ContactKey<const D: usize> = ([usize; 2], [u64; 2], [i32; D]);

/// A contact, and the hit that it was.
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
    /// What begins and what persists, in the order of the hits, and what ends, in the order of those of the last frame. `keys`
    /// holds those of each set, by id.
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

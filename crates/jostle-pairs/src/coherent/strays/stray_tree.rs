//! A tree of the stray bodies, to find which of them touch each other.

use core::array::from_fn;

use jostle_core::axes::from_axes;
use jostle_core::{Bodies, LinearTree, Workers};
use jostle_sets::{Circle, Queries};

use crate::coherent::doubt::Decide;
use crate::coherent::packed::Packed;
use crate::coherent::slack::reaching;
use crate::coherent::strays::images::each_view;
use crate::coherent::strays::stray::{Rules, SetsThatMeet, Stray};

/// One thread builds the tree of fewer bodies.
const SERIAL_BELOW: usize = 1 << 12;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct StrayTree<const D: usize> {
    /// The stray bodies that are there, by their number among all stray bodies; their tree; and what it is built of:
    /// their centres, axis by axis, and radii.
    there: Vec<u32>,
    tree: LinearTree<D>,
    columns: Vec<f32>,
    /// By how many vectors of the cell each body is moved into it.
    homes: Vec<[i32; D]>,
}

impl<const D: usize> StrayTree<D> {
    pub(super) fn bytes(&self) -> usize {
        (self.there.capacity() + self.columns.capacity() + D * self.homes.capacity()) * size_of::<u32>()
            + self.tree.bytes()
    }

    /// Builds the tree of the stray bodies, as they are seen in the cell; returns whether all are sound.
    pub(super) fn build(&mut self, strays: &[Stray<D>], workers: Workers<'_>) -> bool {
        let Self { there, tree, columns, homes } = self;
        there.clear();
        there.extend((0..).zip(strays).filter(|(_, stray)| stray.is_there()).map(|(number, _)| number));
        let strays_there = || there.iter().map(|&number| &strays[number as usize]);
        columns.clear();
        for axis in 0..D {
            columns.extend(strays_there().map(|stray| stray.home.of(stray.body).0[axis]));
        }
        columns.extend(strays_there().map(|stray| stray.body.radius()));
        homes.clear();
        homes.extend(strays_there().map(|stray| stray.home.image));
        let column = |number: usize| &columns[number * there.len()..][..there.len()];
        let on = if there.len() < SERIAL_BELOW { Workers::Serial } else { workers };
        tree.build_on(Bodies::from_slices(from_fn(column), column(D)), on).is_ok()
    }

    /// Finds which of the stray bodies behind it a stray body touches; `number` is its own among these. Returns whether
    /// it is sound.
    pub(super) fn find(
        &self,
        (number, who): (u32, &[u32]),
        stray: &mut Stray<D>,
        (relation, rules): (SetsThatMeet<'_>, Rules<'_, D>),
    ) -> bool {
        let Self { there, tree, columns, homes } = self;
        let (member_of, within) = (|number: u32| relation.numbers.member(who[number as usize]), rules.within());
        let (one, Stray { body, touched, .. }) = (member_of(number), stray);
        let radius = body.radius();
        let reach = if rules.decide.is_some() { reaching(radius + within) } else { radius };
        let mut is_sound = true;
        each_view(rules.repeats, (*body, reach), |view| {
            let seen = view.of(*body);
            let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
            let visited = Queries::of_stand_ins(tree).visit_circle(circle, |at| {
                let (place, at) = (there[at as usize], at as usize);
                let other = member_of(place);
                let touches = |decide: Decide<'_, D>| {
                    let column = |axis: usize| columns[axis * there.len() + at];
                    let them = Packed::new::<D>(from_axes(column), column(D));
                    let image = from_axes(|k| homes[at][k] - view.image[k]);
                    decide.touches(([one.set, other.set], [one.id, other.id], image), seen.measure::<D>(&them))
                };
                if place > number && relation.meet(one, other) && rules.decide.is_none_or(touches) {
                    touched.push(who[place as usize]);
                }
            });
            is_sound &= visited.is_ok();
        });
        is_sound
    }
}

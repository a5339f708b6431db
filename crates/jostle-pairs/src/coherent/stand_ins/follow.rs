//! The stand-ins of one set: each follows its body from frame to frame.

use core::mem::swap;
use std::sync::{Arc, Mutex, PoisonError};

use jostle_core::axes::{Axes, Both, from_axes, slices_mut};
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Isa, LinearTree, Scalar, Workers};
use jostle_sets::input::{Set, Source, UnitCell};
use jostle_sets::proxy::each_body;
use jostle_sets::simd::LANES;

use crate::coherent::reference::measure::read;
use crate::coherent::reference::{PART, block};
use crate::coherent::stand_ins::images::{FollowAlong, FollowInLattice, Images, Settle};
use crate::pairs::shifts::Places;

/// The stand-ins of one set.
#[derive(Debug)]
pub(super) struct StandIn<const D: usize> {
    kind: Kind,
    len: usize,
    /// Where the stand-ins are, filled up to whole parts, and where they were. Callers that ask for the images of pairs
    /// are told the former until the next frame.
    now: Arc<Places<D>>,
    before: Arc<Places<D>>,
    radii: Vec<f32>,
    far: Far,
    /// Copies of the bodies of a tree, by id.
    of_tree: ([Vec<f32>; D], Vec<f32>),
}

/// What the stand-ins represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Nothing,
    Single,
    Double,
    /// A tree, by its build number.
    Tree(u64),
}

impl<const D: usize> Default for StandIn<D> {
    fn default() -> Self {
        let of_tree = [const { Vec::new() }; D];
        Self {
            kind: Kind::default(),
            len: 0,
            now: Arc::default(),
            before: Arc::default(),
            radii: Vec::new(),
            far: Far::default(),
            of_tree: (of_tree, Vec::new()),
        }
    }
}

/// How far stand-ins are from the origin along an axis, at most, and how large the largest is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Far {
    pub(super) reach: f32,
    pub(super) radius: f32,
}

impl Far {
    pub(super) fn merge(&mut self, other: Self) {
        // If a value is no number, the result says nothing.
        let greater = |a: f32, b: f32| if a >= b { a } else { b };
        self.reach = greater(self.reach, other.reach);
        self.radius = greater(self.radius, other.radius);
    }
}

impl<const D: usize> StandIn<D> {
    pub(super) fn bytes(&self) -> usize {
        let (centers, radii) = &self.of_tree;
        let columns = centers.iter().chain([radii, &self.radii]).map(Vec::capacity).sum::<usize>();
        self.now.bytes() + self.before.bytes() + columns * size_of::<f32>()
    }

    /// Makes them stand in for no body.
    pub(super) fn forget(&mut self) {
        self.kind = Kind::Nothing;
    }

    pub(super) fn far(&self) -> Far {
        self.far
    }

    /// Returns where the stand-ins are, and how many vectors of the cell lead from there to their bodies.
    pub(super) fn places(&self) -> &Arc<Places<D>> {
        &self.now
    }

    /// Returns the stand-ins as bodies.
    pub(super) fn bodies(&self) -> Bodies<'_, D> {
        let len = self.len;
        Bodies::from_slices(self.now.centers.each_ref().each(|column| &column[..len]), &self.radii[..len])
    }

    /// Returns how many vectors of the cell lead from a stand-in to its body.
    #[inline]
    pub(super) fn steps_of(&self, id: u32) -> [i32; D] {
        from_axes(|axis| self.now.steps[axis].get(id as usize).map_or(0, |&step| step as i32))
    }

    /// Moves stand-ins that have left the cell back into it. Moves what `kept` gives as far, if it is of as many
    /// bodies: columns of where bodies were, filled up to whole parts.
    pub(super) fn settle<'k>(
        &mut self,
        cell: &UnitCell<D>,
        kept: impl FnOnce(usize) -> Option<[[&'k mut [f32]; D]; 2]>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Places { centers, steps } = Arc::make_mut(&mut self.now);
        let [centers, steps] = [centers, steps].both(slices_mut);
        let block = block(self.len, workers);
        if let Some([one, other]) = kept(self.len) {
            workers.fill_columns("settle", [centers, steps, one, other], block, |_, [centers, steps, one, other]| {
                isa.run(Settle { cell, centers, steps, kept: Some([one, other]) });
            });
        } else {
            workers.fill_columns("settle", [centers, steps], block, |_, [centers, steps]| {
                isa.run(Settle { cell, centers, steps, kept: None });
            });
        }
    }

    /// Whether these stand in for bodies of the same kind; a few bodies may have come or gone.
    pub(super) fn is_of(&self, set: &Set<'_, D>) -> bool {
        self.kind != Kind::Nothing && self.kind == kind_of(set)
    }

    pub(super) fn follow(
        &mut self,
        set: &Set<'_, D>,
        of_bodies: ([f64; D], Option<&UnitCell<D>>, bool),
        on: (Isa, Workers<'_>),
    ) {
        self.kind = kind_of(set);
        match set.source {
            Source::View(bodies) => self.follow_bodies(bodies, of_bodies, on),
            Source::Double(bodies) => self.follow_bodies(bodies, of_bodies, on),
            // The bodies of a tree stay where they are.
            Source::Tree(_) if of_bodies.2 => {}
            Source::Tree(tree) => {
                self.copy_tree(tree);
                let none = ([const { Vec::new() }; D], Vec::new());
                let (centers, radii) = core::mem::replace(&mut self.of_tree, none);
                let bodies = Bodies::from_slices(centers.each_ref().each(Vec::as_slice), radii.as_slice());
                self.follow_bodies(bodies, of_bodies, on);
                self.of_tree = (centers, radii);
            }
            Source::Shaped(_) => {}
        }
    }

    pub(super) fn bodies_of_tree(&self) -> Bodies<'_, D> {
        let (centers, radii) = &self.of_tree;
        Bodies::from_slices(centers.each_ref().each(Vec::as_slice), radii.as_slice())
    }

    fn copy_tree(&mut self, tree: &LinearTree<D>) {
        let (centers, radii) = &mut self.of_tree;
        for column in centers.iter_mut().chain([&mut *radii]) {
            fill_with_headroom(column, tree.len(), 0.0);
        }
        each_body(tree, |id, leaf, lane| {
            for axis in 0..D {
                centers[axis][id as usize] = leaf.centers[axis].0[lane];
            }
            radii[id as usize] = leaf.radii.0[lane];
        });
    }

    fn follow_bodies<T: Scalar>(
        &mut self,
        bodies: Bodies<'_, D, T>,
        (origin, cell, goes_on): ([f64; D], Option<&UnitCell<D>>, bool),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let len = bodies.len().next_multiple_of(PART);
        if cell.is_some() {
            swap(&mut self.now, &mut self.before);
        }
        if Arc::get_mut(&mut self.now).is_none() {
            self.now = Arc::default();
        }
        let (now, before) = (Arc::make_mut(&mut self.now), &mut self.before);
        for (column, steps) in now.centers.iter_mut().zip(&mut now.steps) {
            fill_with_headroom(column, len, 0.0);
            fill_with_headroom(steps, if cell.is_some() { len } else { 0 }, 0.0);
        }
        if cell.is_some() && (!goes_on || self.len != bodies.len()) {
            let Places { centers, steps } = Arc::make_mut(before);
            for column in centers.iter_mut().chain(steps) {
                column.truncate(if goes_on { self.len } else { 0 });
                fill_with_headroom(column, len, 0.0);
            }
        }
        self.len = bodies.len();
        fill_with_headroom(&mut self.radii, len, 0.0);
        let all = Mutex::new(Far::default());
        let note = |of_block: Far| all.lock().unwrap_or_else(PoisonError::into_inner).merge(of_block);
        let (block, centers) = (block(len, workers), bodies.centers());
        workers.fill_blocks("radii", &mut self.radii, block, |first, out| {
            let sound = |radius: T| if radius >= T::default() { radius.to_f64() as f32 } else { f32::NAN };
            let within = out.len().min(bodies.len() - first);
            bodies.radii().map_into(first, &mut out[..within], sound);
            out[within..].fill(0.0);
            note(Far { radius: largest_of(out), ..Far::default() });
        });
        let (columns, steps) = (slices_mut(&mut now.centers), slices_mut(&mut now.steps));
        let [before, known] = [&before.centers, &before.steps].map(|columns| columns.each_ref().each(Vec::as_slice));
        let along = |axis: usize, first: usize, out: &mut [f32], images: Option<Images<'_>>| {
            let reach = isa.run(FollowAlong { column: centers[axis], first, origin: origin[axis], out, images });
            note(Far { reach, radius: 0.0 });
        };
        match cell {
            None => workers.fill_columns("follow", [columns], block, |first, [out]| {
                (0..D).zip(out).for_each(|(axis, out)| along(axis, first, out, None));
            }),
            Some(cell) if cell.is_straight() => {
                workers.fill_columns("follow", [columns, steps], block, |first, [out, steps]| {
                    for (axis, (out, steps)) in (0..D).zip(out.into_iter().zip(steps)) {
                        let inverse = if cell.space.repeats[axis] { cell.duals[axis][axis] } else { 0.0 };
                        let lengths = [inverse, cell.space.vectors[axis][axis]];
                        let was = [before, known].map(|columns| &columns[axis][first..]);
                        along(axis, first, out, Some((was, steps, lengths)));
                    }
                });
            }
            Some(cell) => workers.fill_columns("follow", [columns, steps], block, |first, [mut out, mut steps]| {
                let mut far = Far::default();
                for begin in (0..out[0].len()).step_by(PART) {
                    let (mut apart, mut room) = ([[0.0; PART]; D], [T::default(); PART]);
                    for axis in 0..D {
                        let at = read(&centers[axis], first + begin, &mut room);
                        for lane in 0..PART {
                            apart[axis][lane] = at[lane].to_f64() - origin[axis];
                        }
                    }
                    let before = before.each(|column| &column[first + begin..][..PART]);
                    let there = bodies.len().saturating_sub(first + begin).min(PART);
                    let [out, steps] = [&mut out, &mut steps].both(|columns| part_of(columns, begin));
                    let reach = isa.run(FollowInLattice { cell, apart, there, before, out, steps });
                    far.merge(Far { reach, radius: 0.0 });
                }
                note(far);
            }),
        }
        self.far = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

/// A part of each column.
fn part_of<'c, const D: usize>(columns: &'c mut [&mut [f32]; D], begin: usize) -> [&'c mut [f32]; D] {
    columns.each_mut().map(|column| &mut column[begin..][..PART])
}

fn kind_of<const D: usize>(set: &Set<'_, D>) -> Kind {
    match set.source {
        Source::View(_) => Kind::Single,
        Source::Double(_) => Kind::Double,
        Source::Tree(tree) => Kind::Tree(tree.build_number()),
        Source::Shaped(_) => Kind::Nothing,
    }
}

/// Returns the largest radius of whole parts.
fn largest_of(radii: &[f32]) -> f32 {
    let mut largest = [0.0_f32; LANES];
    for some in radii.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            largest[lane] = if some[lane] > largest[lane] { some[lane] } else { largest[lane] };
        }
    }
    largest.into_iter().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, Isa, Workers};
    use jostle_sets::input::{Space, UnitCell};

    use super::StandIn;

    const SIDE: f64 = 10.0;

    /// Bodies go through the borders of the cell. A host puts some back into the cell, lets others go, and moves others by
    /// a length of the cell once in a while. The stand-ins go on alike, and it is known how many lengths of the cell lead
    /// to the bodies.
    #[test]
    fn stand_ins_go_on_wherever_hosts_put_bodies() {
        let cell = UnitCell::of(&Space::periodic([Some([0.0, SIDE]), None]));
        for isa in Isa::available() {
            let (mut stand_in, mut before) = (StandIn::<2>::default(), Vec::<f32>::new());
            for frame in 0..60 {
                let at = |id: usize| {
                    0.025 * id as f64 + 0.3 * f64::from(frame) * if id.is_multiple_of(2) { 1.0 } else { -1.0 }
                };
                let hosts = |id: usize| match id % 3 {
                    0 => at(id).rem_euclid(SIDE),
                    1 => at(id) - SIDE * f64::from(frame / 7),
                    _ => at(id),
                };
                let [x, y] = [(0..700).map(hosts).collect::<Vec<f64>>(), vec![f64::from(frame); 700]];
                let bodies = Bodies::from_slices([&x, &y], &[0.1; 700]);
                let of_bodies = ([0.5 * SIDE, 0.0], Some(&cell), frame > 0);
                stand_in.follow_bodies(bodies, of_bodies, (isa, Workers::Serial));
                let now =
                    stand_in.bodies().centers().map(|column| (0..700).map(|id| column.get(id)).collect::<Vec<_>>());
                for id in 0..700 {
                    let [step, none] = stand_in.steps_of(id as u32);
                    let off = f64::from(now[0][id]) + 0.5 * SIDE + f64::from(step) * SIDE - x[id];
                    assert!(off.abs() < 1e-4 && none == 0 && now[1][id] == y[id] as f32, "{id} in {frame}: {off}");
                    let went: f32 = before.get(id).map_or(0.0, |before| now[0][id] - before);
                    assert!(went.abs() < 0.31, "{id} went {went} in {frame}");
                }
                before.clone_from(&now[0]);
            }
            assert_eq!(stand_in.far().radius, 0.1_f32);
        }
    }
}

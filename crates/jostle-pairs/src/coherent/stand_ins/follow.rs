//! The stand-ins of one set: each follows its body from frame to frame.

use core::mem::swap;
use std::sync::{Arc, Mutex, PoisonError};

use jostle_core::axes::{Axes, Both, from_axes, slices_mut};
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, LinearTree, Scalar, Workers};
use jostle_sets::input::{Set, Source, UnitCell};
use jostle_sets::proxy::each_body;
use jostle_sets::simd::{LANES, run};

use crate::coherent::reference::{PART, block};
use crate::coherent::stand_ins::images::{Copy, Follow, Largest, Settle, farther};
use crate::pairs::shifts::Places;

/// Many bodies are elsewhere than their stand-ins if some are in one sixteen of so many.
const MANY: usize = 4;

/// The stand-ins of one set.
#[derive(Debug)]
pub(super) struct StandIn<const D: usize> {
    kind: Kind,
    len: usize,
    /// Where the stand-ins are, filled up to whole parts, and where they were. Callers that ask for the images of pairs
    /// are told the former until the next frame.
    now: Arc<Places<D>>,
    before: Arc<Places<D>>,
    /// Their radii, if those of the bodies are in `f64`.
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
    /// In how many sixteens there are bodies that are elsewhere than their stand-ins.
    elsewhere: usize,
}

impl Far {
    pub(super) fn merge(&mut self, other: Self) {
        self.reach = farther(self.reach, other.reach);
        self.radius = farther(self.radius, other.radius);
        self.elsewhere += other.elsewhere;
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

    /// Returns the stand-ins for these bodies as bodies.
    pub(super) fn bodies<'a>(&'a self, of: &Source<'a, D>) -> Bodies<'a, D> {
        let centers = self.now.centers.each_ref().map(|column| Column::from(&column[..self.len]));
        let radii = match of {
            Source::View(bodies) => bodies.radii(),
            Source::Tree(_) => self.of_tree.1.as_slice().into(),
            Source::Double(_) | Source::Shaped(_) => self.radii.as_slice().into(),
        };
        Bodies::from_columns(centers, radii)
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
            Source::Double(bodies) => {
                self.read_radii(bodies, on.1);
                self.follow_bodies(bodies, of_bodies, on);
            }
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

    fn read_radii(&mut self, bodies: Bodies<'_, D, f64>, workers: Workers<'_>) {
        fill_with_headroom(&mut self.radii, bodies.len(), 0.0);
        workers.fill_blocks("radii", &mut self.radii, block(bodies.len(), workers), |first, out| {
            let sound = |radius: f64| if radius >= 0.0 { radius as f32 } else { f32::NAN };
            bodies.radii().map_into(first, out, sound);
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
        let all = Mutex::new(Far::default());
        let (block, centers) = (block(len, workers), bodies.centers());
        let note = |(reach, elsewhere): (f32, usize), first: usize, len: usize| {
            let radius = isa.run(Largest { radii: bodies.radii(), first, len });
            all.lock().unwrap_or_else(PoisonError::into_inner).merge(Far { reach, radius, elsewhere });
        };
        let many_are_elsewhere = goes_on && self.far.elsewhere > len / LANES / MANY;
        let columns = slices_mut(&mut now.centers);
        if let Some(cell) = cell {
            let [before, known] =
                [&before.centers, &before.steps].map(|columns| columns.each_ref().each(Vec::as_slice));
            let columns = [columns, slices_mut(&mut now.steps)];
            workers.fill_columns("follow", columns, block, |first, [out, steps]| {
                let [before, known] = [before, known].map(|columns| columns.each(|column| &column[first..]));
                let len = out[0].len();
                let follow =
                    Follow { cell, columns: centers, first, origin, before, known, many_are_elsewhere, out, steps };
                note(run(isa, follow), first, len);
            });
        } else {
            workers.fill_columns("follow", [columns], block, |first, [out]| {
                let len = out[0].len();
                let reach = out
                    .into_iter()
                    .enumerate()
                    .map(|(axis, out)| isa.run(Copy { column: centers[axis], first, origin: origin[axis], out }));
                note((reach.fold(0.0, farther), 0), first, len);
            });
        }
        self.far = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

fn kind_of<const D: usize>(set: &Set<'_, D>) -> Kind {
    match set.source {
        Source::View(_) => Kind::Single,
        Source::Double(_) => Kind::Double,
        Source::Tree(tree) => Kind::Tree(tree.build_number()),
        Source::Shaped(_) => Kind::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, Isa, Scalar, Workers};
    use jostle_sets::input::{Set, Space, UnitCell};

    use super::StandIn;

    const SIDE: f64 = 10.0;
    const BODIES: usize = 700;
    const FRAMES: usize = 60;

    /// Bodies go through the borders of the cell along its first vector. A host puts some back into the cell, lets others
    /// go, and moves others by a vector of the cell once in a while. The stand-ins go on alike, and it is known how many
    /// vectors of the cell lead to the bodies.
    fn they_go_on<T: Scalar>(
        space: Space<2>,
        precision: impl Fn(f64) -> T,
        source: impl Fn(Bodies<'_, 2, T>) -> Set<'_, 2>,
    ) {
        let (cell, vector) = (UnitCell::of(&space), space.vectors[0]);
        for isa in Isa::available() {
            let (mut stand_in, mut before) = (StandIn::<2>::default(), [const { Vec::<f32>::new() }; 2]);
            for frame in 0..FRAMES {
                let hosts = |id: usize| {
                    let way = 0.0025 * id as f64 + 0.03 * frame as f64 * if id.is_multiple_of(2) { 1.0 } else { -1.0 };
                    match id % 3 {
                        0 => way.rem_euclid(1.0),
                        1 => way - (frame / 7) as f64,
                        _ => way,
                    }
                };
                let at = [0, 1].map(|axis| {
                    (0..BODIES).map(|id| precision(hosts(id) * vector[axis] + frame as f64 * 0.01)).collect::<Vec<T>>()
                });
                let radii = vec![precision(0.1); BODIES];
                let set = source(Bodies::from_slices(at.each_ref().map(Vec::as_slice), &radii));
                let origin = [0.5, 0.25];
                stand_in.follow(&set, (origin, Some(&cell), frame > 0), (isa, Workers::Serial));
                let now = stand_in
                    .bodies(&set.source)
                    .centers()
                    .map(|column| (0..BODIES).map(|id| column.get(id)).collect::<Vec<f32>>());
                for id in 0..BODIES {
                    let [step, none] = stand_in.steps_of(id as u32);
                    assert_eq!(none, 0);
                    for axis in 0..2 {
                        let seen = f64::from(now[axis][id]) + origin[axis] + f64::from(step) * vector[axis];
                        let off = seen - at[axis][id].to_f64();
                        assert!(off.abs() < 1e-4, "{id} in {frame}: {off}");
                        let went = before[axis].get(id).map_or(0.0, |before| (now[axis][id] - before).abs());
                        assert!(went < 0.33, "{id} went {went} in {frame}");
                    }
                }
                before = now;
            }
            assert_eq!(stand_in.far().radius, 0.1_f32);
            let reach = before.iter().flatten().fold(0.0, |most: f32, x| most.max(x.abs()));
            assert_eq!(stand_in.far().reach, reach);
        }
    }

    #[test]
    fn stand_ins_go_on_wherever_hosts_put_bodies() {
        let straight = Space::periodic([Some([0.0, SIDE]), None]);
        let oblique = Space::lattice([[SIDE, 2.0], [3.0, SIDE]], [true; 2]);
        for space in [straight, oblique] {
            they_go_on(space, |x| x, |bodies| bodies.into());
            they_go_on(space, |x| x as f32, |bodies| bodies.into());
        }
    }
}

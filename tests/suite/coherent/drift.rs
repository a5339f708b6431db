//! Bodies that move straight on, as a host keeps them, some of which stray, come or go; and the spaces that they move
//! in.

use jostle::{Bodies, Set, Space};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, scene};

/// Bodies that move straight on.
pub(super) struct Drift<const D: usize> {
    pub(super) centers: [Vec<f64>; D],
    pub(super) radii: Vec<f64>,
    pub(super) steps: [Vec<f64>; D],
    /// Where the host has the bodies, and the same in `f32`.
    pub(super) seen: [Vec<f64>; D],
    pub(super) single: [Vec<f32>; D],
    pub(super) single_radii: Vec<f32>,
    /// The borders of the box of all bodies.
    pub(super) box_: [[f64; 2]; D],
}

impl<const D: usize> Drift<D> {
    pub(super) fn new(kind: Kind, bodies: usize, speed: f64) -> Self {
        let scene = scene::scene::<D>(kind, bodies, 7);
        let wide = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let (centers, radii) = (scene.centers.each_ref().map(wide), wide(&scene.radii));
        let mean = radii.iter().sum::<f64>() / bodies as f64;
        let mut random = Random(bodies as u64);
        let steps = [(); D].map(|()| (0..bodies).map(|_| (random.unit() - 0.5) * speed * mean).collect());
        let box_ = centers.each_ref().map(|column| {
            let (lo, hi) = column.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
            [lo, hi.max(lo + 8.0 * mean)]
        });
        let (seen, single) = (centers.clone(), scene.centers);
        Self { centers, radii, steps, seen, single, single_radii: scene.radii, box_ }
    }

    /// Moves all bodies on. A host may put bodies that have left the cell back into it, or move some bodies to other
    /// images.
    pub(super) fn step(&mut self, space: &Space<D>, host: Host, frame: usize) {
        for (column, steps) in self.centers.iter_mut().zip(&self.steps) {
            column.iter_mut().zip(steps).for_each(|(x, step)| *x += step);
        }
        self.seen.clone_from(&self.centers);
        for id in 0..self.radii.len() {
            let wraps = space.wraps(self.centers.each_ref().map(|column| column[id])).map(f64::from);
            let vectors = space.vectors();
            for k in (0..D).filter(|&k| space.repeats()[k]) {
                let away = if id % 7 == 3 { ((id + frame / 9) % 4) as f64 - 1.0 } else { 0.0 };
                let moved = match host {
                    Host::LetsGo => 0.0,
                    Host::PutsBack => -wraps[k],
                    Host::MovesSome => away,
                };
                for axis in 0..D {
                    self.seen[axis][id] += moved * vectors[k][axis];
                }
            }
        }
        self.single = self.seen.each_ref().map(|column| column.iter().map(|&x| x as f32).collect());
    }

    /// Makes a body turn, jump near another body, move by up to 0.7 of the cell a frame, jump to a border, or grow.
    pub(super) fn stray(&mut self, random: &mut Random, frame: usize) {
        let [id, other] = [(); 2].map(|()| (random.unit() * self.radii.len() as f64) as usize % self.radii.len());
        for axis in 0..D {
            let at = &mut self.centers[axis];
            let length = self.box_[axis][1] - self.box_[axis][0];
            match frame % 5 {
                0 | 3 => self.steps[axis][id] *= -1.0,
                1 => at[id] = at[other] + 0.3 * self.radii[other],
                // The body may move by more than half a cell in a frame, so that another image becomes the nearest.
                2 => self.steps[axis][id] = (random.unit() - 0.5) * 1.4 * length,
                _ => at[id] = self.box_[axis][frame / 5 % 2] + random.unit() * 0.1 * self.radii[id],
            }
        }
        if frame.is_multiple_of(11) {
            self.radii[id] *= 1.3;
            self.single_radii[id] = self.radii[id] as f32;
        }
    }

    /// Adds a body where another body is.
    pub(super) fn come(&mut self) {
        self.centers.iter_mut().chain(&mut self.steps).for_each(|column| column.push(column[0]));
        self.radii.push(self.radii[0]);
        self.single_radii.push(self.single_radii[0]);
    }

    /// Removes a body. The last body takes its id.
    pub(super) fn go(&mut self, id: usize) {
        self.centers.iter_mut().chain(&mut self.steps).for_each(|column| _ = column.swap_remove(id));
        self.radii.swap_remove(id);
        self.single_radii.swap_remove(id);
    }

    pub(super) fn set(&self, double: bool) -> Set<'_, D> {
        if double {
            Bodies::from_slices(self.seen.each_ref().map(Vec::as_slice), self.radii.as_slice()).into()
        } else {
            Bodies::from_slices(self.single.each_ref().map(Vec::as_slice), &self.single_radii).into()
        }
    }
}

/// What a host does to bodies that leave the cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Host {
    LetsGo,
    PutsBack,
    MovesSome,
}

/// Returns open space, space periodic on all axes, space periodic on all but the last axis, and a lattice.
pub(super) fn spaces<const D: usize>(box_: [[f64; 2]; D]) -> [Space<D>; 4] {
    let mut partly = box_.map(Some);
    partly[D - 1] = None;
    let mut vectors = [[0.0; D]; D];
    for k in 0..D {
        vectors[k][k] = box_[k][1] - box_[k][0];
        (0..k).for_each(|axis| vectors[k][axis] = 0.3 * (box_[axis][1] - box_[axis][0]));
    }
    let lattice = Space::lattice(vectors, [true; D]).at(box_.map(|[lo, _]| lo));
    [Space::open(), Space::periodic(box_.map(Some)), Space::periodic(partly), lattice]
}

pub(super) const HOSTS: [Host; 3] = [Host::LetsGo, Host::PutsBack, Host::MovesSome];

//! Bodies on their way, as the command line asks for.

use std::ops::Range;

use jostle::{ActivationTable, Bodies, Input, Layers, Set, Space};
use jostle_testkit::Scene;
use jostle_testkit::random::Random;
use rayon::prelude::*;

use crate::ROW;
use crate::asked::Asked;
use crate::springs::Springs;

/// With `flow`, all bodies move along the first axis, and this part of their speed in all directions. So they stay as
/// dense as they were.
const APART: f64 = 1.0 / 16.0;

/// With `oblique`, bodies come in farther on by this part of the box.
const FARTHER_ON: f64 = 0.25;

/// With `turning`, the greatest and the least angle in radians by which a body turns in a frame, to either side.
const TURN: [f64; 2] = [0.15, 0.05];

/// Bodies on their way.
pub(crate) struct Way<const D: usize> {
    start: Scene<D>,
    /// The step of each body in a frame.
    steps: [Vec<f64>; D],
    now: Scene<D>,
    /// The centres in `f64`, if `double` is asked for, and the radii.
    double: Option<([Vec<f64>; D], Vec<f64>)>,
    /// The borders of each axis, if bodies turn back there.
    walls: Option<[[f64; 2]; D]>,
    /// The borders of each axis, if space repeats.
    period: Option<[[f64; 2]; D]>,
    /// How much farther on along each axis a body comes in that leaves along the next one.
    farther_on: [f64; D],
    /// The category of each body and the categories that it meets, if bodies are of two kinds.
    layers: Option<[Vec<u32>; 2]>,
    parts: bool,
    many: bool,
    moving: bool,
    /// The table by which all sets meet.
    table: ActivationTable,
    /// How many bodies go in each frame. Bodies with the least ids go first.
    turnover: usize,
    /// The angle by which each body turns in a frame, if bodies do.
    turns: Option<Vec<f64>>,
    /// What pushes bodies, if springs do.
    springs: Option<Springs<D>>,
}

impl<const D: usize> Way<D> {
    pub(crate) fn new(start: Scene<D>, speed: f64, asked: &Asked) -> Self {
        let mean = start.radii.iter().map(|&radius| f64::from(radius)).sum::<f64>() / start.len() as f64;
        let (mut random, mut steps) = (Random(7), [const { Vec::new() }; D]);
        for _ in 0..start.len() {
            let (step, length) = loop {
                let step = [(); D].map(|()| 2.0 * random.unit() - 1.0);
                let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > 0.01 && length <= 1.0 {
                    break (step, length);
                }
            };
            // A sum of twelve random numbers is as good as normal.
            let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let mut square = |_| normal().powi(2) / D as f64;
            let times = if asked.gas { (0..D).map(&mut square).sum::<f64>().sqrt() } else { 1.0 };
            let share = if asked.flow { APART } else { 1.0 };
            steps.iter_mut().zip(step).for_each(|(column, x)| column.push(x / length * times * share * speed * mean));
            if asked.flow {
                *steps[0].last_mut().expect("a body's step") += speed * mean;
            }
        }
        let borders = |axis: usize| {
            let column = || start.centers[axis].iter().map(|&x| f64::from(x));
            [column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max)]
        };
        let borders = std::array::from_fn(borders);
        let (walls, period) = (asked.walls.then_some(borders), asked.periodic.then_some(borders));
        let length = |axis: usize| {
            if asked.oblique && axis + 1 < D { FARTHER_ON * (borders[axis][1] - borders[axis][0]) } else { 0.0 }
        };
        let farther_on = std::array::from_fn(length);
        let double = asked.double.then(|| {
            let wide = |column: &Vec<f32>| column.iter().map(|&x| x.into()).collect::<Vec<f64>>();
            (start.centers.each_ref().map(wide), wide(&start.radii))
        });
        let turnover = if asked.turnover { (start.len() / 4_096).max(1) } else { 0 };
        let kind = |other: usize| (0..start.len()).map(|id| 1 << ((id + other) % 2)).collect::<Vec<u32>>();
        let layers = asked.layers.then(|| [0, 1].map(kind));
        let (parts, many, moving, table) = (asked.parts, asked.many, asked.moving, ActivationTable::all(2));
        let mut turn =
            |_| (TURN[1] + (TURN[0] - TURN[1]) * random.unit()) * if random.unit() < 0.5 { -1.0 } else { 1.0 };
        let turns = asked.turning.then(|| (0..start.len()).map(&mut turn).collect());
        let springs = asked.springs.then(|| Springs::new(&start, steps.clone(), borders, speed * mean));
        let now = start.clone();
        Self {
            layers,
            parts,
            many,
            moving,
            table,
            now,
            double,
            start,
            steps,
            walls,
            period,
            farther_on,
            turnover,
            turns,
            springs,
        }
    }

    /// Returns the bodies of these ids as a set.
    fn set(&self, ids: Range<usize>) -> Set<'_, D> {
        let set: Set<'_, D> = match &self.double {
            Some((centers, radii)) => {
                Bodies::from_slices(centers.each_ref().map(|column| &column[ids.clone()]), &radii[ids.clone()]).into()
            }
            None => {
                let Scene { centers, radii } = &self.now;
                Bodies::from_slices(centers.each_ref().map(|column| &column[ids.clone()]), &radii[ids.clone()]).into()
            }
        };
        let set = if self.moving { set.moving(self.steps.each_ref().map(|column| &column[ids.clone()])) } else { set };
        match &self.layers {
            Some([category, mask]) => set.layers(Layers::new(&category[ids.clone()], &mask[ids])),
            None => set,
        }
    }

    /// Returns the input of a search. `sets` holds the two sets if many sets are asked for.
    pub(crate) fn input<'a>(&'a self, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        let (half, all) = (self.start.len() / 2, self.start.len());
        let input = if self.parts {
            Input::between(self.set(0..half), self.set(half..all))
        } else if self.many {
            sets.extend([self.set(0..half), self.set(half..all)]);
            Input::among(sets, &self.table)
        } else {
            Input::within(self.set(0..all))
        };
        let Some(period) = self.period else { return input };
        let mut vectors = [[0.0; D]; D];
        for axis in 0..D {
            vectors[axis][axis] = period[axis][1] - period[axis][0];
            if axis > 0 {
                vectors[axis][axis - 1] = self.farther_on[axis - 1];
            }
        }
        input.space(Space::lattice(vectors, [true; D]).at(period.map(|[lo, _]| lo)))
    }

    /// Moves all bodies by all threads, as a simulation does. If one thread moved them, all others would have to wait
    /// for its core.
    pub(crate) fn go_to(&mut self, frame: usize) {
        if let Some(springs) = &mut self.springs {
            while springs.done <= frame {
                springs.step(&self.start.radii);
            }
            for (axis, column) in springs.frames[frame % ROW].iter().enumerate() {
                if let Some((centers, _)) = &mut self.double {
                    centers[axis].iter_mut().zip(column).for_each(|(slot, &x)| *slot = x.into());
                } else {
                    self.now.centers[axis].copy_from_slice(column);
                }
            }
            return;
        }
        let Self { start, steps, now, double, walls, period, farther_on, turnover, turns, .. } = self;
        // Where a body goes along an axis, wherever space repeats.
        let ahead = |axis: usize, id: usize| {
            let (from, step, of) = (&start.centers[axis], steps[axis][id], *turnover);
            // A body that has come back moves on from where another body began.
            let come = if id < of * frame { Some(1 + id / of) } else { None };
            let from = come.map_or(from[id], |_| from[(id + from.len() / 2) % from.len()]);
            let frames = (frame - come.unwrap_or(0)) as f64;
            // The other axis of the plane in which bodies turn, and to which side.
            let (across, side) = [(&steps[1], 1.0), (&steps[0], -1.0)][axis.min(1)];
            let way = turns.as_ref().filter(|_| axis < 2).map_or(frames * step, |turns| {
                let (sin, cos) = (turns[id] * frames).sin_cos();
                (step * sin + side * across[id] * (cos - 1.0)) / turns[id]
            });
            let ahead = f64::from(from) + way;
            walls.map_or(ahead, |walls| between(walls[axis], ahead))
        };
        let at = |axis: usize, id: usize| {
            let Some(period) = *period else { return ahead(axis, id) };
            // How often the body has left along the next axis.
            let left = (axis + 1..D).rev().fold(0.0, |left: f64, next| {
                let [lo, hi] = period[next];
                ((ahead(next, id) - left * farther_on[next] - lo) / (hi - lo)).floor()
            });
            within(period[axis], ahead(axis, id) - left * farther_on[axis])
        };
        for axis in 0..D {
            if let Some((centers, _)) = double {
                centers[axis].par_iter_mut().enumerate().for_each(|(id, x)| *x = at(axis, id));
            } else {
                now.centers[axis].par_iter_mut().enumerate().for_each(|(id, x)| *x = at(axis, id) as f32);
            }
        }
    }
}

/// Returns where a point arrives that turns back at both borders.
fn between([lo, hi]: [f64; 2], ahead: f64) -> f64 {
    let there_and_back = (ahead - lo).rem_euclid(2.0 * (hi - lo));
    lo + there_and_back.min(2.0 * (hi - lo) - there_and_back)
}

/// Returns where a point arrives where space repeats.
fn within([lo, hi]: [f64; 2], ahead: f64) -> f64 {
    lo + (ahead - lo).rem_euclid(hi - lo)
}

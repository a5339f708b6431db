//! Sets of bodies of one shape: rows of bodies as they are drawn, their columns in both precisions, and their solids.

use jostle::{Bodies, Boxes, Boxes64, Capsules, Capsules64, PreparedSet, Set, Space, Threads};
use jostle_testkit::algebra::PlainLayers;

use super::solid::Solid;
use crate::layering::{Layering, fits};
use crate::number::{Number, Number64};

/// The most bodies of a set: the plain loop finds each distance by a search.
const MOST: usize = 30;

/// The most bodies of a set that moves, where distances are found at many times.
const MOST_MOVING: usize = 8;

/// |coordinate| + displacement + radius of bodies that move may reach this.
const STEP_REACH: f64 = f64::from_bits((1023 + 250) << 52);

/// More bodies than a search in a pool leaves to one thread.
const COMPANY: usize = 8_200;

/// Coordinates reach this far before they are scaled.
const FARTHEST: f64 = (1_u64 << 58) as f64;

/// Coordinates and radii reach this far where some bodies are in company. Then `f32` tells bodies in company apart, so
/// that a search does not decide all their pairs.
const NEAR: f64 = 4096.0;

arbitrary! {
    /// Some bodies in a row, each a step from the last.
    #[derive(Debug)]
    struct Row {
        from: [Number64; 3],
        to: [Number64; 3],
        radius: Number,
        /// By how many of its sides the next body lies further, on each axis.
        step: [i8; 3],
        more: u8,
        /// A bit for each axis on which a body has no extent, one for no radius, and one by which the next body begins
        /// where this one ends, on axes on which it lies one side further. In `endless`, a bit for each missing end.
        flat: u8,
        endless: u8,
    }

    /// A set.
    #[derive(Debug)]
    pub(super) struct Group {
        /// Circles, boxes or capsules, in `f32` or `f64`.
        kind: u8,
        rows: Vec<Row>,
        margin: Option<u8>,
        layering: Option<Layering>,
        /// Which body has a fault, and which fault.
        fault: Option<(u8, u8)>,
    }
}

/// The shape of a set's bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Round,
    Boxed,
    Long,
}

/// A set as columns: lower corners, ends or centres, then upper corners or other ends, and radii, in both precisions.
pub(super) struct Plain<const D: usize> {
    pub(super) shape: Shape,
    pub(super) double: bool,
    singles: ([[Vec<f32>; D]; 2], Vec<f32>),
    doubles: ([[Vec<f64>; D]; 2], Vec<f64>),
    margin: f32,
    moves: Option<[Vec<f64>; D]>,
    pub(super) layers: Option<PlainLayers>,
    pub(super) sound: bool,
}

impl Group {
    /// Returns the set's bodies, and more bodies with `company`. They keep within `NEAR` with `near`, when this set or
    /// another is in company; else they move by such lengths, if there are any.
    pub(super) fn plain<const D: usize>(
        &self,
        moves: Option<[Number64; 3]>,
        scale: f64,
        near: bool,
        company: bool,
    ) -> Plain<D> {
        let moves = moves.filter(|_| !near);
        let (shape, double) =
            ([Shape::Round, Shape::Boxed, Shape::Long][usize::from(self.kind % 3)], self.kind / 3 % 2 == 1);
        let scale = if double { scale } else { 1.0 };
        let mut plain = Plain {
            shape,
            double,
            singles: ([const { [const { Vec::new() }; D] }; 2], Vec::new()),
            doubles: ([const { [const { Vec::new() }; D] }; 2], Vec::new()),
            // With a margin, bodies in company would all meet.
            margin: if company { 0.0 } else { f32::from(self.margin.unwrap_or(0) % 16) / 4.0 },
            moves: None,
            layers: None,
            sound: true,
        };
        let most = if moves.is_some() { MOST_MOVING } else { MOST };
        for row in &self.rows {
            for body in row.bodies::<D>(shape, if near { NEAR } else { FARTHEST }) {
                if plain.len() < most {
                    plain.push(body, scale);
                }
            }
        }
        let cells = |i: usize, axis: usize| (i / [1, 64, 4096][axis] % 64) as f64;
        for i in 0..if company { COMPANY } else { 0 } {
            let corner = core::array::from_fn(|axis| cells(i, axis));
            plain.push(([corner, corner.map(|x| x + 0.5)], 0.25), scale);
        }
        if let Some(moves) = moves {
            plain.set_in_motion(moves.map(|by| at_most(by, FARTHEST) * scale));
        }
        if let (Some((at, what)), true) = (self.fault, plain.len() > 0) {
            let at = usize::from(at) % plain.len();
            plain.spoil(at, what);
        }
        plain.layers = self.layering.as_ref().map(|layering| layering.of(plain.len()));
        plain.sound &= plain.layers.as_ref().is_none_or(|layers| fits(layers, plain.len()));
        plain
    }
}

fn at_most(number: Number64, farthest: f64) -> f64 {
    let value = number.value();
    if value.is_nan() { 0.0 } else { value.clamp(-farthest, farthest) }
}

impl Row {
    /// Returns the bodies of the row: two points, in order on each axis if they are corners, and a radius.
    fn bodies<const D: usize>(&self, shape: Shape, farthest: f64) -> Vec<([[f64; D]; 2], f64)> {
        let at = |number: Number64| at_most(number, farthest);
        let radius = f64::from(self.radius.sound().abs()).min(farthest);
        let body = |i: u8| {
            let [mut from, mut to] = [[0.0; D]; 2];
            for axis in 0..D {
                (from[axis], to[axis]) = (at(self.from[axis]), at(self.to[axis]));
                if self.flat >> axis & 1 == 1 {
                    to[axis] = from[axis];
                }
                let side = if from[axis] == to[axis] { 1.0 } else { to[axis] - from[axis] };
                let shift = f64::from(i) * f64::from(self.step[axis] % 4) * side;
                for x in [&mut from[axis], &mut to[axis]] {
                    *x = (*x + shift).clamp(-farthest, farthest);
                }
                if shape == Shape::Boxed {
                    (from[axis], to[axis]) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
                    from[axis] = if self.endless >> axis & 1 == 1 { f64::NEG_INFINITY } else { from[axis] };
                    to[axis] = if self.endless >> (axis + 3) & 1 == 1 { f64::INFINITY } else { to[axis] };
                }
            }
            ([from, to], if self.flat >> 3 & 1 == 1 { 0.0 } else { radius })
        };
        let mut bodies: Vec<_> = (0..=self.more % 16).map(body).collect();
        if self.flat >> 4 & 1 == 1 {
            for next in 1..bodies.len() {
                let [_, ends] = bodies[next - 1].0;
                for axis in (0..D).filter(|&axis| self.step[axis] % 4 == 1 && ends[axis].is_finite()) {
                    let [from, to] = &mut bodies[next].0;
                    (from[axis], to[axis]) =
                        (ends[axis], (ends[axis] + (to[axis] - from[axis])).clamp(-farthest, farthest));
                }
            }
        }
        bodies
    }
}

impl<const D: usize> Plain<D> {
    pub(super) fn len(&self) -> usize {
        self.doubles.1.len()
    }

    fn push(&mut self, (points, radius): ([[f64; D]; 2], f64), scale: f64) {
        for (end, point) in points.into_iter().enumerate() {
            for axis in 0..D {
                self.doubles.0[end][axis].push(point[axis] * scale);
                self.singles.0[end][axis].push(point[axis] as f32);
            }
        }
        self.doubles.1.push(radius * scale);
        self.singles.1.push(radius as f32);
    }

    /// Moves the bodies by such lengths: back and forth, by half of them, or not at all.
    fn set_in_motion(&mut self, lengths: [f64; 3]) {
        let by = |id: usize, axis: usize| [1.0, -1.0, 0.5, 0.0, 1.0][(id + id / 5 * axis) % 5] * lengths[axis];
        self.moves = Some(core::array::from_fn(|axis| (0..self.len()).map(|id| by(id, axis)).collect()));
        let solids = self.solids();
        self.sound = solids.iter().enumerate().all(|(id, solid)| {
            let (extent, by) = (solid.extent(), self.by(id));
            (0..D).all(|axis| {
                extent[axis].iter().all(|end| end.is_infinite() || end.abs() + by[axis].abs() <= STEP_REACH)
            })
        });
    }

    /// Returns how far a body moves.
    pub(super) fn by(&self, id: usize) -> [f64; D] {
        self.moves.as_ref().map_or([0.0; D], |moves| moves.each_ref().map(|column| column[id]))
    }

    pub(super) fn moves(&self) -> bool {
        self.moves.is_some()
    }

    /// Returns the set as it moves.
    pub(super) fn moving<'a>(&'a self, set: Set<'a, D>) -> Set<'a, D> {
        self.moves.as_ref().map_or(set, |moves| set.moving(moves.each_ref()))
    }

    /// Turns a body into one that no search accepts.
    fn spoil(&mut self, at: usize, what: u8) {
        let axis = usize::from(what) % D;
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][usize::from(what / 4) % 3];
        // A box may lack a lower or an upper end, so an infinity goes to the corner where it is a fault.
        let end = usize::from(self.shape == Shape::Boxed && bad == f64::NEG_INFINITY);
        self.doubles.0[end][axis][at] = bad;
        self.singles.0[end][axis][at] = bad as f32;
        self.sound = false;
    }

    pub(super) fn source(&self) -> Set<'_, D> {
        let ([from, to], radii) = (self.singles.0.each_ref(), &self.singles.1);
        let ([from64, to64], radii64) = (self.doubles.0.each_ref(), &self.doubles.1);
        let margin = self.margin;
        match (self.shape, self.double) {
            (Shape::Round, false) => {
                Bodies::from_slices(from.each_ref().map(Vec::as_slice), radii).with_margin(margin).into()
            }
            (Shape::Round, true) => {
                Bodies::from_slices(from64.each_ref().map(Vec::as_slice), radii64).with_margin(margin.into()).into()
            }
            (Shape::Boxed, false) => Boxes::new(from.each_ref(), to.each_ref()).with_margin(margin).into(),
            (Shape::Boxed, true) => Boxes64::new(from64.each_ref(), to64.each_ref()).with_margin(margin.into()).into(),
            (Shape::Long, false) => Capsules::new(from.each_ref(), to.each_ref(), radii).with_margin(margin).into(),
            (Shape::Long, true) => {
                Capsules64::new(from64.each_ref(), to64.each_ref(), radii64).with_margin(margin.into()).into()
            }
        }
    }

    /// Returns the bodies sorted for a space, unless that is refused.
    pub(super) fn prepared(&self, space: Space<D>) -> Option<PreparedSet<D>> {
        let mut prepared = PreparedSet::new();
        prepared.build(self.source(), space, Threads::Serial).is_ok().then_some(prepared)
    }

    /// Returns the bodies with their margins, which are added in the precision of the set.
    pub(super) fn solids(&self) -> Vec<Solid<D>> {
        let margin = f64::from(self.margin);
        let body = |id: usize| {
            let mut points = [[0.0; D]; 2];
            for (end, point) in points.iter_mut().enumerate() {
                let moved = if self.shape == Shape::Boxed { [-1.0, 1.0][end] } else { 0.0 };
                for axis in 0..D {
                    point[axis] = if self.double {
                        self.doubles.0[end][axis][id] + moved * margin
                    } else {
                        (self.singles.0[end][axis][id] + moved as f32 * self.margin).into()
                    };
                }
            }
            let radius =
                if self.double { self.doubles.1[id] + margin } else { (self.singles.1[id] + self.margin).into() };
            match self.shape {
                Shape::Round => Solid::Long([points[0]; 2], radius),
                Shape::Boxed => Solid::Boxed(points),
                Shape::Long => Solid::Long(points, radius),
            }
        };
        (0..self.len()).map(body).collect()
    }
}

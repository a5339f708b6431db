//! Circles, boxes and capsules of either precision: three sets of any shapes, within one, between two and among all, against
//! plain loops with formulas of their own; and bodies that are none.

mod solid;

use jostle::{
    ActivationTable, Bodies, Boxes, Boxes64, Capsules, Capsules64, InputError, PairFinder, Search, Set, between,
};
use jostle_testkit::algebra::PlainLayers;

use crate::layering::{Layering, fits, set};
use crate::number::{Number, Number64};
use crate::ways::{agreed, ascending};
use solid::{Solid, Verdict};

/// Bodies of a set: the plain loop looks for each distance by halving.
const MOST: usize = 30;

/// More bodies than a search in a pool leaves to one thread.
const COMPANY: usize = 8_200;

/// Coordinates reach this, before they are scaled.
const FARTHEST: f64 = (1_u64 << 58) as f64;

arbitrary! {
    /// Some bodies in a row, each a step from the last.
    #[derive(Debug)]
    struct Row {
        from: [Number64; 3],
        to: [Number64; 3],
        radius: Number,
        /// By how many of its sides the next one lies further, on each axis.
        step: [i8; 3],
        more: u8,
        /// On which axes it has no extent, and on which it has no end, a bit each.
        flat: u8,
        endless: u8,
    }

    /// A set.
    #[derive(Debug)]
    struct Group {
        /// Circles, boxes or capsules, in `f32` or `f64`.
        kind: u8,
        rows: Vec<Row>,
        margin: Option<u8>,
        layering: Option<Layering>,
        /// What is wrong with which body.
        fault: Option<(u8, u8)>,
    }

    #[derive(Debug)]
    struct Input {
        groups: [Group; 3],
        /// How large all in `f64` is.
        scale: Option<i16>,
        in_space: bool,
        isa: u8,
        meetings: u8,
        company: u8,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

/// What the bodies of a set are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Round,
    Boxed,
    Long,
}

/// A set as columns: lower corners, ends or centres, then upper corners or other ends, and radii, in both precisions.
struct Plain<const D: usize> {
    shape: Shape,
    double: bool,
    singles: ([[Vec<f32>; D]; 2], Vec<f32>),
    doubles: ([[Vec<f64>; D]; 2], Vec<f64>),
    margin: f32,
    layers: Option<PlainLayers>,
    sound: bool,
}

impl Group {
    fn plain<const D: usize>(&self, scale: f64, company: bool) -> Plain<D> {
        let (shape, double) =
            ([Shape::Round, Shape::Boxed, Shape::Long][usize::from(self.kind % 3)], self.kind / 3 % 2 == 1);
        let scale = if double { scale } else { 1.0 };
        let mut plain = Plain {
            shape,
            double,
            singles: ([const { [const { Vec::new() }; D] }; 2], Vec::new()),
            doubles: ([const { [const { Vec::new() }; D] }; 2], Vec::new()),
            // Bodies in company would all meet.
            margin: if company { 0.0 } else { f32::from(self.margin.unwrap_or(0) % 16) / 4.0 },
            layers: None,
            sound: true,
        };
        for row in &self.rows {
            for body in row.bodies::<D>(shape) {
                if plain.len() < MOST {
                    plain.push(body, scale);
                }
            }
        }
        let cells = |i: usize, axis: usize| (i / [1, 64, 4096][axis] % 64) as f64;
        for i in 0..if company { COMPANY } else { 0 } {
            let corner = core::array::from_fn(|axis| cells(i, axis));
            plain.push(([corner, corner.map(|x| x + 0.5)], 0.25), scale);
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

impl Row {
    /// The bodies of the row: two points, in order on each axis if they are corners, and a radius.
    fn bodies<const D: usize>(&self, shape: Shape) -> Vec<([[f64; D]; 2], f64)> {
        let at = |number: Number64| {
            let value = number.value();
            if value.is_nan() { 0.0 } else { value.clamp(-FARTHEST, FARTHEST) }
        };
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
                    *x = (*x + shift).clamp(-FARTHEST, FARTHEST);
                }
                if shape == Shape::Boxed {
                    (from[axis], to[axis]) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
                    from[axis] = if self.endless >> axis & 1 == 1 { f64::NEG_INFINITY } else { from[axis] };
                    to[axis] = if self.endless >> (axis + 3) & 1 == 1 { f64::INFINITY } else { to[axis] };
                }
            }
            ([from, to], f64::from(self.radius.sound().abs()))
        };
        (0..=self.more % 16).map(body).collect()
    }
}

impl<const D: usize> Plain<D> {
    fn len(&self) -> usize {
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

    /// Makes something of a body that no search accepts.
    fn spoil(&mut self, at: usize, what: u8) {
        let axis = usize::from(what) % D;
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][usize::from(what / 4) % 3];
        // A box may begin or end nowhere.
        let end = usize::from(self.shape == Shape::Boxed && bad == f64::NEG_INFINITY);
        self.doubles.0[end][axis][at] = bad;
        self.singles.0[end][axis][at] = bad as f32;
        self.sound = false;
    }

    fn set(&self) -> Set<'_, D> {
        let ([from, to], radii) = (self.singles.0.each_ref(), &self.singles.1);
        let ([from64, to64], radii64) = (self.doubles.0.each_ref(), &self.doubles.1);
        let margin = self.margin;
        let source: Set<'_, D> = match (self.shape, self.double) {
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
        };
        set(source, self.layers.as_ref())
    }

    /// The bodies with their margins, which are added in the precision of the set.
    fn solids(&self) -> Vec<Solid<D>> {
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

/// Each two of three, the lesser first.
const TWO: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

fn check<const D: usize>(input: &Input) {
    let scale = 2.0_f64.powi(i32::from(input.scale.unwrap_or(0)) % 400);
    let company = input.company == u8::MAX;
    let plain: [Plain<D>; 3] = core::array::from_fn(|i| input.groups[i].plain(scale, company && i == 0));
    let sets = plain.each_ref().map(Plain::set);
    let solids = plain.each_ref().map(Plain::solids);
    let mut finder = PairFinder::new();
    let told = |found: Vec<[u32; 2]>, [i, j]: [usize; 2]| {
        // The plain loop would take too long: threads and instruction sets have been compared.
        if !company || i + j > 2 {
            // Circles of one precision alone are decided in it.
            let single = plain.each_ref().map(|plain| plain.shape == Shape::Round && !plain.double);
            if !(single[i] && single[j]) {
                compare(&solids[i], (i != j).then_some(&solids[j]), &plain, [i, j], &found);
            }
        }
    };
    for [i, j] in TWO {
        let of_two: jostle::Input<'_, D> = if i == j { sets[i].into() } else { between(sets[i], sets[j]) };
        let found = agreed(&mut finder, input.isa, |search| pairs(search, of_two));
        let count = agreed(&mut finder, input.isa, |search| search.count(of_two).ok());
        assert_eq!(count, found.as_ref().map(|found| found.len() as u64), "another count of sets {i} and {j}");
        assert_eq!(found.is_some(), plain[i].sound && plain[j].sound, "sets {i} and {j}: refused, or not");
        if let Some(found) = found {
            told(found, [i, j]);
        }
    }
    let two = TWO.into_iter().enumerate().filter(|(at, _)| input.meetings >> at & 1 == 1);
    let table = two.fold(ActivationTable::none(3), |table, (_, [i, j])| table.with(i, j));
    let found = agreed(&mut finder, input.isa, |search| {
        let found = search.find(jostle::Input::among(&sets, &table)).ok()?;
        Some(TWO.map(|[i, j]| found.pairs_between(i, j).to_vec()))
    });
    assert_eq!(found.is_some(), plain.iter().all(|plain| plain.sound), "three sets: refused, or not");
    for (at, (found, two)) in found.into_iter().flatten().zip(TWO).enumerate() {
        if input.meetings >> at & 1 == 1 {
            told(found, two);
        } else {
            assert!(found.is_empty(), "pairs of sets that do not meet");
        }
    }
}

fn pairs<const D: usize>(search: Search<'_, '_, D>, input: jostle::Input<'_, D>) -> Option<Vec<[u32; 2]>> {
    match search.find(input) {
        Ok(found) => Some(found.pairs().to_vec()),
        Err(InputError::Combination { parts, .. }) => panic!("{parts} are refused"),
        Err(_) => None,
    }
}

/// Compares what was found with a plain loop, but for pairs that are too close to be told.
fn compare<const D: usize>(
    a: &[Solid<D>],
    b: Option<&Vec<Solid<D>>>,
    plain: &[Plain<D>; 3],
    [i, j]: [usize; 2],
    found: &[[u32; 2]],
) {
    let found = ascending(found.to_vec());
    assert!(found.windows(2).all(|two| two[0] != two[1]), "a pair twice");
    let layers = [&plain[i], &plain[j]].map(|plain| plain.layers.as_ref());
    for (p, one) in a.iter().enumerate() {
        let first = if b.is_some() { 0 } else { p + 1 };
        for (q, other) in b.map_or(a, |b| b).iter().enumerate().skip(first) {
            let pair = [p as u32, q as u32];
            let has = found.binary_search(&pair).is_ok();
            let meets = PlainLayers::meet(layers, pair);
            let agrees = match one.meets(other) {
                _ if !meets => !has,
                Verdict::Close => true,
                verdict => (verdict == Verdict::Touching) == has,
            };
            assert!(agrees, "{pair:?} of sets {i} and {j}, found {has}: {one:?}, {other:?}");
        }
    }
}

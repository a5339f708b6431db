//! Circles, boxes and capsules of either precision: three sets of any shapes, in any space, as views or prepared, within one,
//! between two and among all, as pairs and as rows, against plain loops with formulas of their own; questions to those that
//! are prepared; and bodies that are none.

mod asked;
mod images;
mod solid;

use jostle::{
    ActivationTable, Bodies, Boxes, Boxes64, Capsules, Capsules64, InputError, NeighborLists, PairFinder, PreparedSet,
    RangeFault, Reason, Rows, Search, Set, Space, Threads, between,
};
use jostle_testkit::algebra::PlainLayers;

use crate::layering::{Layering, fits, set};
use crate::number::{Number, Number64};
use crate::ways::agreed;
use asked::{Asked, ask};
use images::{Around, Extent, each_image};
use solid::{Solid, Verdict};

/// Bodies of a set: the plain loop looks for each distance by halving.
const MOST: usize = 30;

/// More bodies than a search in a pool leaves to one thread.
const COMPANY: usize = 8_200;

/// Coordinates reach this, before they are scaled.
const FARTHEST: f64 = (1_u64 << 58) as f64;

/// Pairs at images that the plain loops look at, at most, where space repeats.
const IMAGES: usize = 30_000;

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
        /// On which axes it has no extent, and on which it has no end, a bit each; whether it has no radius, and whether the next one
        /// begins where it ends on axes that it lies one side further on.
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
        around: Around,
        /// Which sets are prepared, a bit each; and which of them for open space, whatever the space is.
        prepared: u8,
        asked: Vec<Asked>,
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
            ([from, to], if self.flat >> 3 & 1 == 1 { 0.0 } else { f64::from(self.radius.sound().abs()) })
        };
        let mut bodies: Vec<_> = (0..=self.more % 16).map(body).collect();
        if self.flat >> 4 & 1 == 1 {
            for next in 1..bodies.len() {
                let [_, ends] = bodies[next - 1].0;
                for axis in (0..D).filter(|&axis| self.step[axis] % 4 == 1 && ends[axis].is_finite()) {
                    let [from, to] = &mut bodies[next].0;
                    (from[axis], to[axis]) =
                        (ends[axis], (ends[axis] + (to[axis] - from[axis])).clamp(-FARTHEST, FARTHEST));
                }
            }
        }
        bodies
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

    fn source(&self) -> Set<'_, D> {
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

    /// The bodies sorted for a space, unless that is refused.
    fn prepared(&self, space: Space<D>) -> Option<PreparedSet<D>> {
        let mut prepared = PreparedSet::new();
        prepared.build(self.source(), space, Threads::Serial).is_ok().then_some(prepared)
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

/// A pair, and the image of its second body.
type Hit<const D: usize> = ([u32; 2], [i32; D]);

/// What is searched.
struct Scene<const D: usize> {
    plain: [Plain<D>; 3],
    solids: [Vec<Solid<D>>; 3],
    space: Space<D>,
}

fn check<const D: usize>(input: &Input) {
    let scale = 2.0_f64.powi(i32::from(input.scale.unwrap_or(0)) % 400);
    let company = input.company == u8::MAX;
    let plain: [Plain<D>; 3] = core::array::from_fn(|i| input.groups[i].plain(scale, company && i == 0));
    let solids = plain.each_ref().map(Plain::solids);
    let narrow = plain.iter().any(|plain| !plain.double);
    let space = input.around.space(widest(&solids), if narrow { 1.0 } else { scale });
    let scene = Scene { plain, solids, space };
    if !space.is_open() && (company || !scene.is_quick()) {
        return;
    }
    let prepared: [Option<PreparedSet<D>>; 3] = core::array::from_fn(|i| {
        let elsewhere = input.prepared >> (i + 3) & 1 == 1;
        let wanted = input.prepared >> i & 1 == 1;
        wanted.then(|| scene.plain[i].prepared(if elsewhere { Space::open() } else { space })).flatten()
    });
    scene.check_pairs(input, &prepared);
    for (i, prepared) in prepared.iter().enumerate().filter(|_| !company) {
        if let Some(prepared) = prepared {
            let is_round = scene.plain[i].shape == Shape::Round;
            let space = if input.prepared >> (i + 3) & 1 == 1 { Space::open() } else { space };
            ask(&input.asked, &prepared.queries(), (&scene.solids[i], is_round), &space);
        }
    }
}

/// The widest that a body is on each axis where it ends.
fn widest<const D: usize>(solids: &[Vec<Solid<D>>; 3]) -> [f64; D] {
    let mut widest = [0.0; D];
    for extent in solids.iter().flatten().map(Solid::extent) {
        for (axis, [lo, hi]) in extent.into_iter().enumerate().filter(|(_, [lo, hi])| (hi - lo).is_finite()) {
            widest[axis] = f64::max(widest[axis], hi - lo);
        }
    }
    widest
}

impl<const D: usize> Scene<D> {
    /// Whether loops over all images are quick.
    fn is_quick(&self) -> bool {
        let (mut left, extents) = (IMAGES, self.extents());
        TWO.into_iter().all(|[i, j]| {
            extents[i].iter().enumerate().all(|(p, a)| {
                let others = &extents[j][if i == j { p } else { 0 }..];
                others.iter().all(|b| each_image(&self.space, [a, b], &mut left, &mut |_, _| {}))
            })
        })
    }

    fn extents(&self) -> [Vec<Extent<D>>; 3] {
        self.solids.each_ref().map(|solids| solids.iter().map(Solid::extent).collect())
    }

    /// What may be refused of bodies that are sound: nothing in open space.
    fn is_refusal(&self, error: &InputError) -> bool {
        let far = |(_, fault): &(u32, RangeFault)| matches!(fault, RangeFault::TooManyPeriods { .. });
        let endless = self.solids.iter().flatten().flat_map(Solid::extent).any(|[lo, hi]| !(hi - lo).is_finite());
        let endless = |fault: &(u32, RangeFault)| endless && matches!(fault.1, RangeFault::Endless { .. });
        match error {
            InputError::Range { first, .. } => first.iter().all(|fault| far(fault) || endless(fault)),
            // A body that is moved into a slanted cell may come to lie far away where that does not repeat, even where `f32` ends.
            InputError::Bodies { first, .. } => {
                first.iter().all(|(_, reason)| matches!(reason, Reason::TooFar { .. } | Reason::CenterNotFinite { .. }))
            }
            InputError::Images { .. } | InputError::Lattice(_) | InputError::Parameter { .. } => true,
            _ => false,
        }
    }

    /// Checks what a search came to: whether it was refused as it should be.
    fn accepted<T>(&self, name: &str, found: Result<T, InputError>, sets: &[usize]) -> Option<T> {
        let sound = sets.iter().all(|&i| self.plain[i].sound);
        if let Err(error @ InputError::Combination { .. }) = &found {
            panic!("{name}: {error}");
        }
        match &found {
            Ok(_) => assert!(sound, "{name}: not refused"),
            Err(error) => assert!(!sound || !self.space.is_open() && self.is_refusal(error), "{name}: {error}"),
        }
        found.ok()
    }

    fn check_pairs(&self, input: &Input, prepared: &[Option<PreparedSet<D>>; 3]) {
        let sets: [Set<'_, D>; 3] = core::array::from_fn(|i| {
            let source = prepared[i].as_ref().map_or_else(|| self.plain[i].source(), Set::from);
            set(source, self.plain[i].layers.as_ref())
        });
        let company = input.company == u8::MAX;
        let mut finder = PairFinder::new();
        let told = |found: &[Hit<D>], [i, j]: [usize; 2]| {
            // The plain loop would take too long: threads and instruction sets have been compared.
            if !company || i + j > 2 {
                // Circles of one precision alone are decided in it.
                let single = self.plain.each_ref().map(|plain| plain.shape == Shape::Round && !plain.double);
                if !(single[i] && single[j]) {
                    self.compare([i, j], found);
                }
            }
        };
        for [i, j] in TWO {
            let of_two: jostle::Input<'_, D> = if i == j { sets[i].into() } else { between(sets[i], sets[j]) };
            let of_two = of_two.space(self.space);
            let name = format!("sets {i} and {j}");
            let found = agreed(&mut finder, input.isa, |search| hits(search, of_two));
            let count = agreed(&mut finder, input.isa, |search| search.count(of_two).ok());
            assert_eq!(count, found.as_ref().ok().map(|found| found.len() as u64), "{name}: another count");
            let Some(found) = self.accepted(&name, found, &[i, j]) else { continue };
            told(&found, [i, j]);
            for kind in [Rows::Half, Rows::Full] {
                let rows = agreed(&mut finder, input.isa, |search| rows(search, of_two, kind));
                let expected = rows_of(&found, kind == Rows::Full && i == j);
                assert!(rows.expect("what is listed has rows") == expected, "{name}: other rows, {kind:?}");
            }
        }
        let two = TWO.into_iter().enumerate().filter(|(at, _)| input.meetings >> at & 1 == 1);
        let table = two.fold(ActivationTable::none(3), |table, (_, [i, j])| table.with(i, j));
        let among = jostle::Input::among(&sets, &table).space(self.space);
        let found = agreed(&mut finder, input.isa, |search| {
            let found = search.find(among)?;
            let mut hits = listed(found).into_iter();
            Ok(TWO.map(|[i, j]| {
                let pairs = found.pairs_between(i, j);
                let hits: Vec<_> = hits.by_ref().take(pairs.len()).collect();
                assert!(hits.iter().map(|hit| &hit.0).eq(pairs), "pairs of two sets, not where they belong");
                hits
            }))
        });
        for (at, (found, two)) in
            self.accepted("three sets", found, &[0, 1, 2]).into_iter().flatten().zip(TWO).enumerate()
        {
            if input.meetings >> at & 1 == 1 {
                told(&found, two);
            } else {
                assert!(found.is_empty(), "pairs of sets that do not meet");
            }
        }
    }

    /// Compares what was found with a plain loop, but for pairs that are too close to be told.
    fn compare(&self, [i, j]: [usize; 2], found: &[Hit<D>]) {
        let mut found = found.to_vec();
        found.sort_unstable();
        assert!(found.windows(2).all(|two| two[0] != two[1]), "a pair twice");
        let layers = [i, j].map(|set| self.plain[set].layers.as_ref());
        let (extents, mut left, mut seen) = (self.extents(), usize::MAX, 0);
        for (p, one) in self.solids[i].iter().enumerate() {
            let first = if i == j { p } else { 0 };
            for (q, other) in self.solids[j].iter().enumerate().skip(first) {
                let pair = [p as u32, q as u32];
                let meets = PlainLayers::meet(layers, pair);
                each_image(&self.space, [&extents[i][p], &extents[j][q]], &mut left, &mut |steps, shift| {
                    // A body meets images of itself, of each two opposite ones the one that lies ahead.
                    let ahead = steps.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0);
                    if i == j && p == q && !ahead {
                        return;
                    }
                    let has = found.binary_search(&(pair, steps)).is_ok();
                    seen += usize::from(has);
                    let agrees = match one.meets(other, shift) {
                        _ if !meets => !has,
                        Verdict::Close => true,
                        verdict => (verdict == Verdict::Touching) == has,
                    };
                    assert!(
                        agrees,
                        "{pair:?} of sets {i} and {j} at {steps:?}, found {has}: {one:?}, {other:?}, in {:?}",
                        self.space
                    );
                });
            }
        }
        assert_eq!(seen, found.len(), "pairs that are none, or at images where they cannot be");
    }
}

fn hits<const D: usize>(search: Search<'_, '_, D>, input: jostle::Input<'_, D>) -> Result<Vec<Hit<D>>, InputError> {
    search.find(input).map(listed)
}

/// The pairs with their images, in the order of the list.
fn listed<const D: usize>(found: jostle::Found<'_, D>) -> Vec<Hit<D>> {
    let shifts = found.image_shifts().chain(core::iter::repeat([0; D]));
    found.pairs().iter().copied().zip(shifts).collect()
}

/// Each body and each of its neighbours, as neighbour lists have them.
fn rows<const D: usize>(
    search: Search<'_, '_, D>,
    input: jostle::Input<'_, D>,
    kind: Rows,
) -> Result<Vec<[u32; 2]>, InputError> {
    let mut lists = NeighborLists::new();
    search.neighbors(input, kind, &mut lists)?;
    Ok((0..lists.len()).flat_map(|id| lists.of(id).iter().map(move |&other| [id as u32, other])).collect::<Vec<_>>())
}

/// The same of what was found.
fn rows_of<const D: usize>(found: &[Hit<D>], both: bool) -> Vec<[u32; 2]> {
    let mut rows: Vec<_> = found.iter().map(|hit| hit.0).collect();
    if both {
        rows.extend(found.iter().map(|&([a, b], _)| [b, a]));
    }
    rows.sort_unstable();
    rows
}

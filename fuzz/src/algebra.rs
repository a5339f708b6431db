//! Any sets in any space and relation: pairs, shifts and times are those of plain loops over all images.

use core::array::from_fn;

use jostle::{ContactTracker, InputError, NeighborLists, PairFinder, RangeFault, Reason, Rows};
use jostle_testkit::algebra::{
    Case, Columns, Hit, PlainLayers, PlainMoves, PlainRadii, PlainSet, PlainSpace, Relation,
};

use crate::number::Number64;
use crate::ways::agreed;

/// The most bodies of a set: a double loop is quick with them.
const MOST: usize = 60;

/// The most images that the loops look at.
pub(crate) const IMAGES: f64 = 300_000.0;

/// The largest magnitude of numbers as drawn.
const LIMIT: f64 = (1_u64 << 40) as f64;

/// The largest magnitude of coordinates once steps are added.
const REACH: f64 = (1_u64 << 55) as f64;

arbitrary! {
    /// Some bodies in a row, each a step from the last.
    #[derive(Debug, Clone, Copy)]
    struct Row {
        center: [Number64; 3],
        step: [i8; 3],
        radius: Number64,
        moves: [i8; 3],
        layer: [u8; 3],
        more: u8,
    }
}

arbitrary! {
    #[derive(Debug)]
    struct Given {
        rows: Vec<Row>,
        double: bool,
        /// Radii of each body's own, one radius for all, or a cutoff.
        radii: u8,
        margin: Option<Number64>,
        /// Displacements: whether they are in `f64`, and the unit that rows count them in.
        moves: Option<(bool, Number64)>,
        layers: bool,
        tree: bool,
    }
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        in_space: bool,
        isa: u8,
        sets: [Given; 3],
        relation: u8,
        table: u8,
        space: u8,
        repeats: u8,
        origin: [Number64; 3],
        lengths: [Number64; 3],
        slants: [i8; 3],
        /// By how many cells each third body lies further away.
        away: i16,
    }
}

fn limited(number: Number64) -> f64 {
    let value = number.value();
    if value.is_finite() { value.clamp(-LIMIT, LIMIT) } else { 1.0 }
}

impl Given {
    fn set<const D: usize>(&self, away: [f64; D]) -> PlainSet<D> {
        let bodies = self.rows.iter().flat_map(|row| (0..=row.more % 16).map(move |at| (row, f64::from(at))));
        let bodies: Vec<_> = bodies.take(MOST).collect();
        let column = |axis: usize| {
            bodies.iter().enumerate().map(move |(id, (row, at))| {
                let radius = limited(row.radius).abs();
                let far = if id % 3 == 2 { away[axis] } else { 0.0 };
                (limited(row.center[axis]) + at * f64::from(row.step[axis]) * radius + far).clamp(-REACH, REACH)
            })
        };
        let radius = |&(row, _): &(&Row, f64)| limited(row.radius).abs();
        let first = bodies.first().map_or(1.0, radius);
        let margin = self.margin.map_or(0.0, |margin| limited(margin).abs());
        let moves = self.moves.map(|(double, pace)| {
            let pace = limited(pace);
            let column = |axis: usize| {
                bodies.iter().map(move |(row, _)| (pace * f64::from(row.moves[axis])).clamp(-LIMIT, LIMIT))
            };
            if double {
                PlainMoves::Double(from_fn(|axis| column(axis).collect()))
            } else {
                PlainMoves::Single(from_fn(|axis| column(axis).map(|d| d as f32).collect()))
            }
        });
        let columns = if self.double {
            let radii = match self.radii % 3 {
                0 => PlainRadii::Each(bodies.iter().map(radius).collect()),
                1 => PlainRadii::All(first),
                _ => PlainRadii::Cutoff(first),
            };
            Columns::Double { centers: from_fn(|axis| column(axis).collect()), radii, margin }
        } else {
            let radii = match self.radii % 3 {
                0 => PlainRadii::Each(bodies.iter().map(|body| radius(body) as f32).collect()),
                1 => PlainRadii::All(first as f32),
                _ => PlainRadii::Cutoff(first as f32),
            };
            let centers = from_fn(|axis| column(axis).map(|x| x as f32).collect());
            Columns::Single { centers, radii, margin: margin as f32 }
        };
        let layers = self.layers.then(|| PlainLayers {
            category: bodies.iter().map(|(row, _)| row.layer[0].into()).collect(),
            mask: bodies.iter().map(|(row, _)| row.layer[1].into()).collect(),
            group: bodies.iter().map(|(row, _)| i32::from(row.layer[2] % 5) - 2).collect(),
        });
        let set = PlainSet { moves, layers, ..PlainSet::new(columns) };
        if self.tree && !self.double { set.built().expect("bodies within the contract") } else { set }
    }

    /// Returns the set ready to be searched in a space. A set in `f64` that would be a tree is sorted for the space,
    /// unless that is refused.
    fn in_space<const D: usize>(&self, away: [f64; D], space: &PlainSpace<D>) -> PlainSet<D> {
        let set = self.set(away);
        if self.tree && self.double { set.clone().prepared(space.space()).unwrap_or(set) } else { set }
    }
}

impl Input {
    fn case<const D: usize>(&self) -> Case<D> {
        let lengths: [f64; D] = from_fn(|axis| limited(self.lengths[axis]).abs().max(1e-6));
        let origin = from_fn(|axis| limited(self.origin[axis]));
        let repeats: [bool; D] = from_fn(|axis| self.repeats >> axis & 1 == 1);
        let slant = |axis: usize| lengths[0] * f64::from(self.slants[axis]) / 32.0;
        let space = match self.space % 3 {
            0 => PlainSpace::Open,
            1 => PlainSpace::Periodic(from_fn(|axis| {
                repeats[axis].then(|| [origin[axis], origin[axis] + lengths[axis]])
            })),
            _ => {
                // The lattice has nothing above the diagonal, so it is right-handed.
                let vector = |k: usize| {
                    from_fn(|axis| {
                        if axis == k {
                            lengths[k]
                        } else if axis < k {
                            slant(k + axis - 1)
                        } else {
                            0.0
                        }
                    })
                };
                PlainSpace::Lattice { origin, vectors: from_fn(vector), periodic: repeats }
            }
        };
        let away: [f64; D] = from_fn(|axis| lengths[axis] * f64::from(self.away % 300));
        let two = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
        let table = two.into_iter().enumerate().filter(|(at, _)| self.table >> at & 1 == 1).map(|(_, two)| two);
        let relation = match self.relation % 3 {
            0 => Relation::Within,
            1 => Relation::Between,
            _ => Relation::Among(table.collect()),
        };
        Case { sets: self.sets.iter().map(|given| given.in_space(away, &space)).collect(), relation, space }
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

/// Returns whether an error may refuse a sound search.
fn is_refusal(error: &InputError) -> bool {
    match error.by_set().1 {
        InputError::Bodies { first, .. } => {
            // A body that is moved into a slanted cell may come to lie far away along an axis that does not repeat.
            first.iter().all(|(_, reason)| matches!(reason, Reason::TooFar { .. }))
        }
        InputError::Range { first, .. } => {
            first.iter().all(|(_, fault)| matches!(fault, RangeFault::TooManyPeriods { .. }))
        }
        InputError::Images { .. } | InputError::Lattice(_) | InputError::Parameter { .. } => true,
        _ => false,
    }
}

/// Checks the contacts of two equal frames: all begin, then all persist, each at its image.
fn check_contacts<const D: usize>(case: &Case<D>, finder: &PairFinder<D>, hits: &[Hit<D>]) {
    let keys: Vec<Vec<u64>> = case.searched().map(|set| (0..set.len() as u64).rev().collect()).collect();
    let keys: Vec<&[u64]> = keys.iter().map(Vec::as_slice).collect();
    let (mut tracker, pairs) = (ContactTracker::new(), || hits.iter().map(|hit| hit.pair));
    tracker.update(finder.last(), &keys[..]).expect("what is found has contacts");
    assert!(tracker.last().begin().pairs().iter().copied().eq(pairs()), "other contacts begin");
    tracker.update(finder.last(), &keys[..]).expect("what is found has contacts");
    assert!(tracker.last().persist().pairs().iter().copied().eq(pairs()), "other contacts persist");
}

fn check<const D: usize>(input: &Input) {
    let case = input.case::<D>();
    let cost = case.cost();
    if cost.is_nan() || cost > IMAGES {
        return;
    }
    let (ready, mut finder) = (case.ready(), PairFinder::new());
    let found = match agreed(&mut finder, input.isa, |search| ready.find(search)) {
        Ok(found) => found,
        Err(error) => return assert!(is_refusal(&error), "{error}, in {:?}", case.space),
    };
    check_contacts(&case, &finder, &found);
    let hits = case.assert_hits("any search", found);
    let mut lists = NeighborLists::new();
    for (rows, full) in [(Rows::Half, false), (Rows::Full, true)] {
        finder.neighbors(ready.input(), rows, &mut lists).expect("what is listed has rows");
        for (id, row) in case.rows(&hits, full).iter().enumerate() {
            assert!(row.iter().map(|neighbor| neighbor.id).eq(lists.of(id).iter().copied()), "row {id}, full: {full}");
        }
    }
}

//! Circles, boxes and capsules of either precision. Three sets of any shapes, in any space, as views or prepared, are
//! searched within one set, between two and among all, for pairs and for rows, against plain loops with formulas of
//! their own. Some sets move. Prepared sets are asked questions, and unsound bodies are refused.

mod asked;
mod group;
mod images;
mod solid;

use jostle::{
    ActivationTable, InputError, NeighborLists, PairFinder, PreparedSet, RangeFault, Reason, Rows, Search, Set, Space,
    between,
};
use jostle_testkit::algebra::PlainLayers;

use crate::layering::set;
use crate::number::Number64;
use crate::ways::agreed;
use asked::{Asked, ask};
use group::{Group, Plain, Shape};
use images::{Around, Extent, each_image};
use solid::{Solid, Verdict};

/// The most pairs at images that the plain loops look at where space repeats.
const IMAGES: usize = 30_000;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        groups: [Group; 3],
        /// The scale of everything in `f64`.
        scale: Option<i16>,
        in_space: bool,
        isa: u8,
        meetings: u8,
        company: u8,
        around: Around,
        /// Which sets are prepared, a bit each; and which of them for open space, whatever the space is.
        prepared: u8,
        /// How far the bodies of each set move.
        moves: [Option<[Number64; 3]>; 3],
        asked: Vec<Asked>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

/// Each two of the three sets, the lesser first.
const TWO: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// A pair, and the image of its second body.
type Hit<const D: usize> = ([u32; 2], [i32; D]);

/// The bodies and the space of an input.
struct Scene<const D: usize> {
    plain: [Plain<D>; 3],
    solids: [Vec<Solid<D>>; 3],
    space: Space<D>,
}

fn check<const D: usize>(input: &Input) {
    let company = input.company == u8::MAX;
    let scale = if company { 1.0 } else { 2.0_f64.powi(i32::from(input.scale.unwrap_or(0)) % 400) };
    let plain: [Plain<D>; 3] =
        core::array::from_fn(|i| input.groups[i].plain(input.moves[i], scale, company, company && i == 0));
    let solids = plain.each_ref().map(Plain::solids);
    let narrow = plain.iter().any(|plain| !plain.double);
    let space = input.around.space(widest(&plain, &solids), if narrow { 1.0 } else { scale });
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

/// Returns the interval that each body takes on each axis along its path.
fn paths<const D: usize>(plain: &Plain<D>, solids: &[Solid<D>]) -> Vec<Extent<D>> {
    let path = |(id, solid): (usize, &Solid<D>)| {
        let (mut extent, by) = (solid.extent(), plain.by(id));
        for axis in 0..D {
            extent[axis] = [extent[axis][0] + by[axis].min(0.0), extent[axis][1] + by[axis].max(0.0)];
        }
        extent
    };
    solids.iter().enumerate().map(path).collect()
}

/// Returns the greatest width of a body, or of its path, on each axis, of bodies that end there.
fn widest<const D: usize>(plain: &[Plain<D>; 3], solids: &[Vec<Solid<D>>; 3]) -> [f64; D] {
    let mut widest = [0.0; D];
    for extent in plain.iter().zip(solids).flat_map(|(plain, solids)| paths(plain, solids)) {
        for (axis, [lo, hi]) in extent.into_iter().enumerate().filter(|(_, [lo, hi])| (hi - lo).is_finite()) {
            widest[axis] = f64::max(widest[axis], hi - lo);
        }
    }
    widest
}

impl<const D: usize> Scene<D> {
    /// Returns whether loops over all images are quick.
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
        core::array::from_fn(|i| paths(&self.plain[i], &self.solids[i]))
    }

    /// Returns whether an error may refuse sound bodies where space repeats.
    fn is_refusal(&self, error: &InputError) -> bool {
        let far = |(_, fault): &(u32, RangeFault)| matches!(fault, RangeFault::TooManyPeriods { .. });
        let endless = self.solids.iter().flatten().flat_map(Solid::extent).any(|[lo, hi]| !(hi - lo).is_finite());
        let endless = |fault: &(u32, RangeFault)| endless && matches!(fault.1, RangeFault::Endless { .. });
        match error.by_set().1 {
            InputError::Range { first, .. } => first.iter().all(|fault| far(fault) || endless(fault)),
            // A body that is moved into a slanted cell may come to lie far away along an axis that does not repeat,
            // even beyond the range of `f32`.
            InputError::Bodies { first, .. } => {
                first.iter().all(|(_, reason)| matches!(reason, Reason::TooFar { .. } | Reason::CenterNotFinite { .. }))
            }
            InputError::Images { .. } | InputError::Lattice(_) | InputError::Parameter { .. } => true,
            _ => false,
        }
    }

    /// Checks that a search was accepted or refused as it should be, and returns what it has found.
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
            self.plain[i].moving(set(source, self.plain[i].layers.as_ref()))
        });
        let company = input.company == u8::MAX;
        let mut finder = PairFinder::new();
        let told = |found: &[Hit<D>], [i, j]: [usize; 2]| {
            // Here the plain loop would take too long. Threads and instruction sets have been compared.
            if !company || i + j > 2 {
                // Circles in `f32` alone are decided in `f32`.
                let single =
                    |i: usize| self.plain[i].shape == Shape::Round && !self.plain[i].double && !self.plain[i].moves();
                if !(single(i) && single(j)) {
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

    /// Compares what was found with a plain loop, except for pairs that are too close to tell.
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
                    // A body meets images of itself. Of two opposite images, the one that lies ahead counts.
                    let ahead = steps.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0);
                    if i == j && p == q && !ahead {
                        return;
                    }
                    let has = found.binary_search(&(pair, steps)).is_ok();
                    seen += usize::from(has);
                    let (from, to) = (self.plain[i].by(p), self.plain[j].by(q));
                    let by = core::array::from_fn(|axis| to[axis] - from[axis]);
                    let agrees = match one.meets_on_its_way(other, shift, by) {
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

/// Returns the pairs with their images, in the order of the list.
fn listed<const D: usize>(found: jostle::Found<'_, D>) -> Vec<Hit<D>> {
    let shifts = found.image_shifts().chain(core::iter::repeat([0; D]));
    found.pairs().iter().copied().zip(shifts).collect()
}

/// Returns each body with each of its neighbours and its image, in the order of rows; images of one neighbour ascend.
fn rows<const D: usize>(
    search: Search<'_, '_, D>,
    input: jostle::Input<'_, D>,
    kind: Rows,
) -> Result<Vec<Hit<D>>, InputError> {
    let mut lists = NeighborLists::new().and_image_shifts().and_vectors().and_distances_f64();
    search.neighbors(input, kind, &mut lists)?;
    let told = lists.vectors::<D>().iter().flatten().chain(lists.distances2_f64());
    assert!(told.copied().all(|x| !x.is_nan()), "neighbours that are nowhere");
    let row = |id: usize| {
        let others = lists.of(id).iter().map(move |&other| [id as u32, other]);
        others.zip(lists.image_shifts_of(id).iter().copied())
    };
    let mut rows: Vec<Hit<D>> = (0..lists.len()).flat_map(row).collect();
    rows.chunk_by_mut(|one, other| one.0 == other.0).for_each(<[_]>::sort_unstable);
    Ok(rows)
}

fn rows_of<const D: usize>(found: &[Hit<D>], both: bool) -> Vec<Hit<D>> {
    let mut rows = found.to_vec();
    if both {
        rows.extend(found.iter().map(|&([a, b], steps)| ([b, a], steps.map(|step| -step))));
    }
    rows.sort_unstable();
    rows
}

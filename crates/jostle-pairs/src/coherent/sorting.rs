//! Sorts candidates as a search finds them, before they have left the nearest cache.
//!
//! It is known of each candidate how far its bodies must move before it can change whether they touch (`slack`), or, if
//! the bodies are on their course, when it is due (`course`). Candidates that may change while the list lasts are
//! sorted into blocks. Candidates that touch all the time are listed at once. Nothing is kept of those that never
//! touch.

use jostle_core::axes::{Axes, Both};
use jostle_core::scratch::ScratchPool;
use jostle_core::{Isa, Workers};
use jostle_sets::prepare::job::Job;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run, sixteen_mut};

use crate::coherent::bands::{AT_A_TIME, BANDS, BLOCK, band_of, bands_of_one};
use crate::coherent::blocks::{Sorted, Stock};
use crate::coherent::course::Course;
use crate::coherent::current::{Test, Verdict};
use crate::coherent::doubt::sure_or_in_doubt;
use crate::coherent::ghosts::ONE_IMAGE;
use crate::coherent::names::Names;
use crate::coherent::packed::{Moving, Sixteens, dot};
use crate::coherent::slack::{may_change, slack_of};
use crate::join::hits::Sink;

/// Candidates are classified once there are so many.
const FULL: usize = AT_A_TIME - LANES;

/// Columns of due candidates: the squares of their distances now and as kept; the sums of their radii; how their bodies
/// lie apart times how these move apart, or, on no course, the sums of their margins over the widest; and the square of
/// how they move apart.
type Columns = [[f32; AT_A_TIME + LANES]; 5];

/// The scratch of a worker. Each list but `found` has room for sixteen more than it can have.
#[derive(Debug)]
pub(super) struct Room {
    found: Vec<[u32; 2]>,
    sure: Vec<[u32; 2]>,
    columns: Box<Columns>,
    /// The due candidates, up to a block of them, and their classes: the first `Sorting::due` entries.
    due: Vec<[u32; 2]>,
    due_classes: Vec<u8>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            found: vec![[0; 2]; AT_A_TIME],
            sure: vec![[0; 2]; AT_A_TIME + LANES],
            columns: Box::new([[0.0; AT_A_TIME + LANES]; 5]),
            due: Vec::new(),
            due_classes: Vec::new(),
        }
    }
}

impl Room {
    fn bytes(&self) -> usize {
        (self.found.capacity() + self.sure.capacity() + self.due.capacity()) * size_of::<[u32; 2]>()
            + size_of::<Columns>()
            + self.due_classes.capacity()
    }

    /// Makes room for so many due candidates.
    fn extend(&mut self, due: usize) {
        let needed = due.next_multiple_of(LANES) + LANES;
        if self.due.len() < needed {
            self.fit((2 * needed).min(BLOCK + LANES));
        }
    }

    fn fit(&mut self, due: usize) {
        self.due.resize(due, [0; 2]);
        self.due_classes.resize(due, 0);
    }
}

/// The rooms of all workers.
#[derive(Debug, Default)]
pub(super) struct Rooms(ScratchPool<Room>);

impl Rooms {
    pub(super) fn bytes(&self) -> usize {
        self.0.bytes(Room::bytes)
    }

    pub(super) fn prepare(&mut self, workers: Workers<'_>) {
        self.0.prepare(workers.count(), |_| ());
    }

    /// Gives each worker as much room as one has needed: another worker may have that block the next time.
    pub(super) fn level(&mut self) {
        let mut most = 0;
        self.0.each(|room| most = most.max(room.due.len()));
        self.0.each(|room| room.fit(most));
    }
}

/// What all workers share.
#[derive(Clone, Copy)]
pub(super) struct Sorter<'a, const D: usize> {
    /// The jobs that the search joins.
    pub(super) jobs: &'a [Job],
    /// The bodies of the only set by rank, where candidates name them so.
    pub(super) by_rank: Option<&'a [Moving]>,
    pub(super) ids: &'a [u32],
    /// Whether blocks name candidates by rank, too.
    pub(super) keeps_ranks: bool,
    /// The course of the bodies, if one is expected.
    pub(super) course: Option<Course>,
    pub(super) margin: f32,
    pub(super) isa: Isa,
    /// Whether candidates that touch all the time are listed.
    pub(super) is_listed: bool,
    pub(super) stock: &'a Stock,
    /// Gives the bodies and their names, and a [`Verdict`] where more must be known.
    pub(super) test: &'a Test<'a, D>,
}

/// Keeps the candidates for which `may_be` holds, with their classes if they have any; returns how many.
/// `are_mostly_all`: mostly it holds for all.
fn keep_some(
    pairs: &mut [[u32; 2]],
    mut classes: Option<&mut [u8]>,
    (may_be, are_mostly_all): (impl Fn([u32; 2]) -> bool, bool),
) -> usize {
    if are_mostly_all && pairs.iter().fold(true, |all, &pair| all & may_be(pair)) {
        return pairs.len();
    }
    let mut kept = 0;
    for at in 0..pairs.len() {
        pairs[kept] = pairs[at];
        if let Some(classes) = &mut classes {
            classes[kept] = classes[at];
        }
        kept += usize::from(may_be(pairs[at]));
    }
    kept
}

impl<'a, const D: usize> Sorter<'a, D> {
    fn of_two(&self, sets: [u32; 2]) -> OfTwo<'a, D> {
        let Self { test, by_rank, ids, .. } = *self;
        let by_id = test.moving(sets);
        let bodies = by_rank.map_or(by_id, |by_rank| [by_rank; 2]);
        let names = Names { ids, ..test.names(sets) };
        OfTwo { sets, bodies, lens: by_id.both(<[Moving]>::len), names, judge: test.judge(sets) }
    }

    /// Calls `join` with a sink that takes candidates and gives some of them to `list`.
    pub(super) fn sort(self, rooms: &Rooms, list: &mut dyn Sink, join: &mut dyn FnMut(&mut dyn Sink)) {
        rooms.0.with(|room| {
            join(&mut Sorting {
                of_two: self.of_two([0; 2]),
                of: self,
                room,
                list,
                found: 0,
                due: 0,
                block: 0,
                part: 0,
            });
        });
    }
}

/// What is needed to classify candidates of two sets.
struct OfTwo<'a, const D: usize> {
    sets: [u32; 2],
    /// The bodies, by the names of candidates.
    bodies: [&'a [Moving]; 2],
    /// How many bodies there are by id.
    lens: [usize; 2],
    names: Names<'a>,
    judge: Option<Verdict<'a, 'a, D>>,
}

/// The sink of one worker.
struct Sorting<'s, 'a, const D: usize> {
    of: Sorter<'a, D>,
    of_two: OfTwo<'a, D>,
    room: &'s mut Room,
    list: &'s mut dyn Sink,
    /// How many candidates wait to be classified, and how many are due.
    found: usize,
    due: usize,
    /// The block of the search, and how many of its parts have been sorted.
    block: usize,
    part: usize,
}

impl<const D: usize> Sink for Sorting<'_, '_, D> {
    fn begin(&mut self, block: usize, job: usize, all_before: bool) {
        (self.block, self.part, self.found, self.due) = (block, 0, 0, 0);
        self.of_two = self.of.of_two(self.of.jobs[job].sets);
        self.list.begin(block, job, all_before);
    }

    fn is_full(&self) -> bool {
        self.list.is_full()
    }

    fn end(&mut self) {
        self.look();
        self.put_away();
        self.list.end();
    }

    fn room(&mut self) -> &mut [[u32; 2]] {
        &mut self.room.found[self.found..]
    }

    fn took(&mut self, len: usize) {
        self.found += len;
        if self.found > FULL {
            self.look();
        }
    }
}

impl<const D: usize> Sorting<'_, '_, D> {
    /// Classifies the candidates that have been found.
    fn look(&mut self) {
        let Sorter { course, margin, isa, is_listed, .. } = self.of;
        let count = core::mem::take(&mut self.found);
        let Some(last) = count.checked_sub(1) else { return };
        if self.due + count > BLOCK {
            self.put_away();
        }
        self.room.extend(self.due + count);
        let OfTwo { bodies, judge, names, .. } = &self.of_two;
        let Room { found, sure, columns, due, due_classes } = &mut *self.room;
        // Fills up to whole sixteens.
        let filled = count.next_multiple_of(LANES);
        let last = found[last];
        found[count..filled].fill(last);
        let (pairs, due, classes) = (&found[..filled], &mut due[self.due..], &mut due_classes[self.due..]);
        let work = Classify::<D> { bodies: *bodies, pairs, count, course, margin, columns, due, classes, sure };
        let [mut due_len, mut sure_len] = run(isa, work);
        if let Some(judge) = judge {
            let Room { sure, columns, due, due_classes, .. } = &mut *self.room;
            let (due, classes) = (&mut due[self.due..], &mut due_classes[self.due..]);
            if let Some(within) = judge.in_doubt() {
                let decide = |at: usize| {
                    classes[at] = classes[at] & !1 | u8::from(!judge.decide(names.ids(due[at])));
                };
                run(isa, InDoubt { columns, within, count: due_len, decide });
            }
            if let Some(images) = judge.images() {
                let is_one = |pair| images.is_one(names.ids(pair));
                due_len = keep_some(&mut due[..due_len], Some(classes), (is_one, true));
                sure_len = keep_some(&mut sure[..sure_len], None, (is_one, true));
            }
            if judge.has_layers() {
                let meet = |pair| judge.meet(names.ids(pair));
                due_len = keep_some(&mut due[..due_len], Some(classes), (meet, false));
                sure_len = keep_some(&mut sure[..sure_len], None, (meet, false));
            }
        }
        self.due += due_len;
        let sure = &self.room.sure;
        if is_listed {
            let mut some = &sure[..sure_len];
            while !some.is_empty() {
                let out = self.list.room();
                let (now, later) = some.split_at(some.len().min(out.len()));
                out.iter_mut().zip(now).for_each(|(slot, &pair)| *slot = names.pair(pair));
                self.list.took(now.len());
                some = later;
            }
        }
    }

    /// Sorts the due candidates into a block.
    fn put_away(&mut self) {
        let due = core::mem::take(&mut self.due);
        if due == 0 {
            return;
        }
        let Self { of, of_two: OfTwo { sets, lens, names, .. }, room, .. } = self;
        let Some(mut block) = of.stock.take(due) else { return };
        let candidates = (&room.due[..due], &room.due_classes[..due]);
        let ids = if of.keeps_ranks { &[] } else { names.ids };
        block.take(candidates, *lens, Names { ids, ..*names });
        of.stock.put(Sorted { sets: *sets, of: [self.block, self.part], block });
        self.part += 1;
    }
}

/// Calls `decide` with the number of each due candidate, of the first `count`, whose stand-ins leave it in doubt
/// whether it touches.
struct InDoubt<'a, F> {
    columns: &'a Columns,
    within: f32,
    count: usize,
    decide: F,
}

impl<F: FnMut(usize)> LaneWork for InDoubt<'_, F> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { columns, within, count, mut decide } = self;
        let [now2, _, radii, ..] = columns.each_ref().each(|column| column.as_chunks::<LANES>().0);
        for first in (0..count).step_by(LANES) {
            let [_, in_doubt] = sure_or_in_doubt([now2, radii].both(|column| L::load(&column[first / LANES])), within);
            let mut unknown = in_doubt & u16::MAX >> (LANES - (count - first).min(LANES));
            while unknown != 0 {
                decide(first + unknown.trailing_zeros() as usize);
                unknown &= unknown - 1;
            }
        }
    }
}

/// Classifies up to [`AT_A_TIME`] candidates, filled up to whole sixteens. Candidates that are due while the list lasts
/// go to `due`, with their classes; candidates that touch all the time go to `sure`. Returns how many there are of
/// each.
struct Classify<'a, const D: usize> {
    bodies: [&'a [Moving]; 2],
    pairs: &'a [[u32; 2]],
    count: usize,
    course: Option<Course>,
    margin: f32,
    columns: &'a mut Columns,
    due: &'a mut [[u32; 2]],
    classes: &'a mut [u8],
    sure: &'a mut [[u32; 2]],
}

impl<const D: usize> LaneWork for Classify<'_, D> {
    type Output = [usize; 2];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [usize; 2] {
        let Self { bodies, pairs, count, course, margin, columns, due, classes, sure } = self;
        let tests = Sixteens::of_moving(bodies, pairs);
        let (mut dues, mut sures, one_image) = (0, 0, L::splat(ONE_IMAGE));
        for (sixteen, pairs) in pairs.as_chunks().0.iter().enumerate() {
            let [now, then] = tests.apart_both::<L>(sixteen);
            let radii = now[3];
            let (now2, then2) = (dot::<L, D>(&now, &now), dot::<L, D>(&then, &then));
            // Two ghost images are no candidate, nor is the image of the smaller body.
            let there = u16::MAX >> (LANES - (count - sixteen * LANES).min(LANES)) & then[3].le(one_image);
            let is_due = there
                & match course {
                    None => {
                        let shares = Moving::shares_of(then[3]);
                        let is_due = may_change::<L>([then2, radii, shares], margin) & there;
                        shares.compressed(is_due, sixteen_mut(&mut columns[3], dues));
                        is_due
                    }
                    Some(course) => {
                        let mut steps = then;
                        for axis in 0..D {
                            steps[axis] = then[axis].sub(now[axis]);
                        }
                        let (along, step2) = (dot::<L, D>(&then, &steps), dot::<L, D>(&steps, &steps));
                        let is_due = course.may_change([then2, radii, along, step2], margin) & there;
                        for (column, value) in columns[3..].iter_mut().zip([along, step2]) {
                            value.compressed(is_due, sixteen_mut(column, dues));
                        }
                        is_due
                    }
                };
            let is_sure = now2.le(radii.mul(radii)) & !is_due & there;
            for (column, value) in columns.iter_mut().zip([now2, then2, radii]) {
                value.compressed(is_due, sixteen_mut(column, dues));
            }
            L::compress_pairs(pairs, is_due, sixteen_mut(due, dues));
            L::compress_pairs(pairs, is_sure, sixteen_mut(sure, sures));
            dues += is_due.count_ones() as usize;
            sures += is_sure.count_ones() as usize;
        }
        let columns = columns.each_ref().each(|column| column.as_chunks::<LANES>().0);
        for first in (0..dues).step_by(LANES) {
            let classes = sixteen_mut(classes, first);
            let [now2, then2, radii, along, step2] = columns.each(|column| &column[first / LANES]);
            let class_of = |band: u8, lane: usize| 2 * band + u8::from(now2[lane] > radii[lane] * radii[lane]);
            match course {
                None => {
                    let (bands, shares) = (bands_of_one(margin.into()), along);
                    for (lane, slot) in classes.iter_mut().enumerate() {
                        let slack = slack_of(then2[lane].sqrt(), radii[lane], shares[lane]);
                        *slot = class_of(band_of(slack * bands, BANDS), lane);
                    }
                }
                Some(course) => {
                    let units = [1.0 / margin, course.step(margin)];
                    for (lane, slot) in classes.iter_mut().enumerate() {
                        let (apart, moved) = ((then2[lane], radii[lane]), (along[lane], step2[lane]));
                        *slot = class_of(course.band(apart, moved, units), lane);
                    }
                }
            }
        }
        [dues, sures]
    }
}

//! Candidates of bodies on their course, looked at as a search finds them, before they have left the nearest cache.
//!
//! It is known of each when it is due (`course`). Those that are due while the list lasts are sorted into blocks; those that touch all the
//! time are listed at once, and of the others nothing is kept.

use jostle_core::axes::Both;
use jostle_core::scratch::ScratchPool;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::{AT_A_TIME, BANDS, BLOCK};
use crate::coherent::blocks::{Sorted, Stock};
use crate::coherent::course::Course;
use crate::coherent::packed::{Packed, Sixteens, dot};
use crate::join::hits::Sink;
use crate::pairs::ranks::Ranks;

/// Candidates are looked at once there are so many.
const FULL: usize = AT_A_TIME - LANES;

/// What a worker needs for this.
#[derive(Debug)]
pub(super) struct Room {
    found: Vec<[u32; 2]>,
    classes: Vec<u8>,
    sure: Vec<[u32; 2]>,
    /// Those that are due, and their classes: the first so many, of up to a block.
    due: Vec<[u32; 2]>,
    due_classes: Vec<u8>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            found: vec![[0; 2]; AT_A_TIME],
            classes: vec![0; AT_A_TIME],
            sure: vec![[0; 2]; AT_A_TIME],
            due: Vec::new(),
            due_classes: Vec::new(),
        }
    }
}

impl Room {
    fn bytes(&self) -> usize {
        (self.found.capacity() + self.sure.capacity() + self.due.capacity()) * size_of::<[u32; 2]>()
            + self.classes.capacity()
            + self.due_classes.capacity()
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
}

/// What all workers look at.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    /// As they are, and where they are kept, by the names of candidates.
    pub(super) now: [&'a [Packed]; 2],
    pub(super) ahead: [&'a [Packed]; 2],
    pub(super) ranks: &'a Ranks,
    /// Whether candidates are named by rank in blocks, too.
    pub(super) keeps_ranks: bool,
    /// How many bodies there are of both sets.
    pub(super) lens: [usize; 2],
    pub(super) course: Course,
    pub(super) margin: f32,
    pub(super) isa: Isa,
    /// Whether those that touch all the time are listed.
    pub(super) is_listed: bool,
    pub(super) stock: &'a Stock,
}

impl Expected<'_> {
    /// Calls `join` with a sink that takes candidates and gives some to a list.
    pub(super) fn sort<const D: usize>(self, rooms: &Rooms, list: &mut dyn Sink, join: &mut dyn FnMut(&mut dyn Sink)) {
        rooms.0.with(|room| join(&mut Sorting::<D> { of: self, room, list, found: 0, due: 0, block: 0, part: 0 }));
    }
}

/// A worker's end.
struct Sorting<'a, const D: usize> {
    of: Expected<'a>,
    room: &'a mut Room,
    list: &'a mut dyn Sink,
    /// How many wait to be looked at, and how many are due.
    found: usize,
    due: usize,
    /// The block of the search, and how many of its parts are sorted.
    block: usize,
    part: usize,
}

impl<const D: usize> Sink for Sorting<'_, D> {
    fn begin(&mut self, block: usize, job: usize, all_before: bool) {
        (self.block, self.part, self.found, self.due) = (block, 0, 0, 0);
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

impl<const D: usize> Sorting<'_, D> {
    /// Looks at what has been found.
    fn look(&mut self) {
        let Expected { now, ahead, course, margin, isa, ranks, is_listed, .. } = self.of;
        let count = core::mem::take(&mut self.found);
        let (pairs, classes) = (&self.room.found[..count], &mut self.room.classes[..count]);
        run(isa, Classify::<D> { now, ahead, pairs, course, margin, classes });
        if self.due + count > BLOCK {
            self.put_away();
        }
        let room = &mut *self.room;
        if room.due.len() < self.due + count {
            let len = (2 * (self.due + count)).min(BLOCK);
            room.due.resize(len, [0; 2]);
            room.due_classes.resize(len, 0);
        }
        let (mut due, mut sure) = (self.due, 0);
        for (&pair, &class) in room.found[..count].iter().zip(&room.classes) {
            // Written in any case.
            (room.due[due], room.due_classes[due], room.sure[sure]) = (pair, class, pair);
            due += usize::from(usize::from(class) < 2 * BANDS);
            sure += usize::from(usize::from(class) == 2 * BANDS);
        }
        self.due = due;
        if is_listed {
            let mut some = &room.sure[..sure];
            while !some.is_empty() {
                let out = self.list.room();
                let (now, later) = some.split_at(some.len().min(out.len()));
                out.iter_mut().zip(now).for_each(|(slot, &pair)| *slot = ranks.pair(pair));
                self.list.took(now.len());
                some = later;
            }
        }
    }

    /// Sorts those that are due.
    fn put_away(&mut self) {
        let due = core::mem::take(&mut self.due);
        if due == 0 {
            return;
        }
        let Self { of, room, .. } = self;
        let mut block = of.stock.take();
        let candidates = (&room.due[..due], &room.due_classes[..due]);
        if of.keeps_ranks {
            block.take(candidates, of.lens, |pair| pair);
        } else {
            block.take(candidates, of.lens, |pair| of.ranks.pair(pair));
        }
        of.stock.put(Sorted { of: [self.block, self.part], block });
        self.part += 1;
    }
}

/// Finds out the classes of up to [`AT_A_TIME`] candidates: whether two touch where they stand, and when they are due.
struct Classify<'a, const D: usize> {
    now: [&'a [Packed]; 2],
    ahead: [&'a [Packed]; 2],
    pairs: &'a [[u32; 2]],
    course: Course,
    margin: f32,
    classes: &'a mut [u8],
}

impl<const D: usize> LaneWork for Classify<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { now, ahead, pairs, course, margin, classes } = self;
        // The squares of distances now and ahead, the sums of radii; how pairs lie apart times how they move apart, and the square of that.
        let mut columns = [[0.0_f32; AT_A_TIME]; 5];
        let tests = Sixteens::of(now, pairs);
        let tests_ahead = tests.among(ahead);
        for sixteen in 0..tests.len() {
            let (now, then) = (tests.apart::<L>(sixteen), tests_ahead.apart::<L>(sixteen));
            let mut steps = then;
            for axis in 0..D {
                steps[axis] = then[axis].sub(now[axis]);
            }
            let of_sixteen = [
                dot::<L, D>(&now, &now),
                dot::<L, D>(&then, &then),
                now[3],
                dot::<L, D>(&then, &steps),
                dot::<L, D>(&steps, &steps),
            ];
            for (column, value) in columns.iter_mut().zip(of_sixteen) {
                value.store(&mut column.as_chunks_mut().0[sixteen]);
            }
        }
        for at in pairs.len() / LANES * LANES..pairs.len() {
            let [a, b] = pairs[at].both(|body| body as usize);
            let radii = now[0][a].radius() + now[1][b].radius();
            let (now, now2) = now[0][a].apart::<D>(&now[1][b], [0.0; D]);
            let (then, then2) = ahead[0][a].apart::<D>(&ahead[1][b], [0.0; D]);
            let (mut along, mut step2) = (0.0, 0.0);
            for axis in 0..D {
                let step = then[axis] - now[axis];
                (along, step2) = (along + then[axis] * step, step2 + step * step);
            }
            let of_pair = [now2, then2, radii, along, step2];
            columns.iter_mut().zip(of_pair).for_each(|(column, value)| column[at] = value);
        }
        let [now2, then2, radii, along, step2] = &columns;
        let units = [1.0 / margin, course.step(margin)];
        for (at, slot) in classes.iter_mut().enumerate() {
            let band = course.band((then2[at], radii[at]), (along[at], step2[at]), units);
            *slot = 2 * band + u8::from(now2[at] > radii[at] * radii[at]);
        }
    }
}

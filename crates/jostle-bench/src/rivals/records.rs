//! A second uniform grid by hand, and its hierarchy: one record a body instead of columns, cells of the largest
//! diameter side by side in rows, plain scalar code. Cells next to each other in a row are one run of records. So the
//! bodies that one body may touch are one run of its own row and one run of each row after it. A sparse world is hashed
//! by the same formula.

mod cells;
mod levels;

use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_testkit::{Kind, Scene};

use self::cells::{Cells, MOST_ROWS};
pub(crate) use self::levels::RecordLevels;
use super::grid::{Body, Extent, for_each};
use super::hits::{Gather, Hits, ordered};
use super::{Rival, center, touches};

/// Bodies that one task looks at.
const BLOCK: usize = 4096;

/// Fewer bodies are sorted faster by one thread.
const WORTH_SHARING: usize = 20_000;

/// Bodies in the order of their cells.
#[derive(Debug)]
pub(super) struct RecordGrid<const D: usize> {
    cells: Cells<D>,
    /// The cell of each body: in the order of the input while the grid is built, by rank afterwards.
    cell_of: Vec<u32>,
    /// First rank of each cell, then the number of bodies.
    starts: Vec<u32>,
    sorted: Vec<Body<D>>,
    /// How many bodies of each chunk fall into each cell; then where the next of them goes.
    cursors: Vec<u32>,
}

impl<const D: usize> Default for RecordGrid<D> {
    fn default() -> Self {
        Self { cells: Cells::NONE, cell_of: Vec::new(), starts: Vec::new(), sorted: Vec::new(), cursors: Vec::new() }
    }
}

#[allow(unsafe_code, reason = "a rival at its best: counting sort by many tasks, and hits written without a branch")]
impl<const D: usize> RecordGrid<D> {
    fn build(&mut self, bodies: &[Body<D>], cells: Cells<D>) {
        let n = bodies.len();
        self.cells = cells;
        self.cell_of.resize(n, 0);
        self.sorted.resize(n, Body::NONE);
        if n < WORTH_SHARING || rayon::current_num_threads() == 1 {
            self.sort(bodies);
        } else {
            self.sort_by_many(bodies);
        }
    }

    fn sort(&mut self, bodies: &[Body<D>]) {
        let cells = self.cells;
        self.cell_of.iter_mut().zip(bodies).for_each(|(cell, body)| *cell = cells.of(&body.center));
        // Counts stand two places ahead, so that after the sum the start of a cell stands one place ahead. Placing the
        // cell's bodies turns it into the start of the next cell.
        self.starts.clear();
        self.starts.resize(cells.all + 2, 0);
        self.cell_of.iter().for_each(|&cell| self.starts[cell as usize + 2] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        for (body, &cell) in bodies.iter().zip(&self.cell_of) {
            let next = &mut self.starts[cell as usize + 1];
            self.sorted[*next as usize] = *body;
            *next += 1;
        }
        self.cell_of.iter_mut().zip(&self.sorted).for_each(|(cell, body)| *cell = cells.of(&body.center));
    }

    /// Sorts as above, with a chunk of the bodies for each thread. The order within a cell does not change.
    fn sort_by_many(&mut self, bodies: &[Body<D>]) {
        let (cells, n, threads) = (self.cells, bodies.len(), rayon::current_num_threads());
        let (chunk, span) = (n.div_ceil(threads), cells.all.div_ceil(threads));
        let ids = |task: usize| (task * chunk).min(n)..((task + 1) * chunk).min(n);
        let span = |task: usize| (task * span).min(cells.all)..((task + 1) * span).min(cells.all);
        self.cursors.resize(cells.all * threads, 0);
        self.starts.resize(cells.all + 2, 0);
        let (cell_of, sorted) = (Disjoint::new(&mut self.cell_of), Disjoint::new(&mut self.sorted));
        let cursors = Disjoint::new(&mut self.cursors);
        for_each(threads, |task| {
            // SAFETY: a task has counters of its own, and the cells of its own bodies.
            let (counts, own) =
                unsafe { (cursors.range(task * cells.all..(task + 1) * cells.all), cell_of.range(ids(task))) };
            counts.fill(0);
            for (cell, body) in own.iter_mut().zip(&bodies[ids(task)]) {
                *cell = cells.of(&body.center);
                counts[*cell as usize] += 1;
            }
        });
        let counts = &self.cursors;
        let mut firsts = vec![0; threads];
        let totals = Disjoint::new(&mut firsts);
        for_each(threads, |task| {
            let own = |chunk: usize| counts[chunk * cells.all..][span(task)].iter().sum::<u32>();
            // SAFETY: one number a task.
            unsafe { totals.write(task, (0..threads).map(own).sum()) };
        });
        let mut sum = 0;
        firsts.iter_mut().for_each(|first| sum += core::mem::replace(first, sum));
        let (cursors, starts) = (Disjoint::new(&mut self.cursors), Disjoint::new(&mut self.starts));
        for_each(threads, |task| {
            let mut sum = firsts[task];
            for cell in span(task) {
                // SAFETY: the cells of a span, and their counters, belong to its task.
                unsafe { starts.write(cell, sum) };
                for chunk in 0..threads {
                    let at = chunk * cells.all + cell;
                    // SAFETY: as above.
                    let cursor = unsafe { &mut cursors.range(at..at + 1)[0] };
                    sum += core::mem::replace(cursor, sum);
                }
            }
        });
        self.starts[cells.all..].fill(n as u32);
        let (cursors, cell_of) = (Disjoint::new(&mut self.cursors), &self.cell_of);
        for_each(threads, |task| {
            // SAFETY: a task has cursors of its own.
            let cursors = unsafe { cursors.range(task * cells.all..(task + 1) * cells.all) };
            for (body, &cell) in bodies[ids(task)].iter().zip(&cell_of[ids(task)]) {
                let next = &mut cursors[cell as usize];
                // SAFETY: the cursors hand out each place below n once.
                unsafe { sorted.write(*next as usize, *body) };
                *next += 1;
            }
        });
        let (cell_of, sorted) = (Disjoint::new(&mut self.cell_of), &self.sorted);
        for_each(threads, |task| {
            // SAFETY: a task has ranks of its own.
            let own = unsafe { cell_of.range(ids(task)) };
            own.iter_mut().zip(&sorted[ids(task)]).for_each(|(cell, body)| *cell = cells.of(&body.center));
        });
    }

    fn tasks(&self) -> usize {
        self.sorted.len().div_ceil(BLOCK)
    }

    fn task(&self, task: usize) -> Range<usize> {
        task * BLOCK..((task + 1) * BLOCK).min(self.sorted.len())
    }

    /// Adds the pairs whose first body by rank lies in the range.
    fn join(&self, ranks: Range<usize>, hits: &mut Hits) {
        let start = |cell: usize| self.starts[cell] as usize;
        for rank in ranks {
            let (body, own) = (&self.sorted[rank], self.cell_of[rank]);
            let mut runs = [0; MOST_ROWS];
            let runs = self.cells.rows_after(own, &mut runs);
            if self.cells.is_whole(own, runs) {
                self.meet(body, rank + 1..start(own as usize + 2), hits);
                runs.iter().for_each(|&middle| {
                    self.meet(body, start(middle as usize - 1)..start(middle as usize + 2), hits);
                });
            } else {
                // A run crosses the end of the table: each cell is visited by itself.
                self.meet(body, rank + 1..start(own as usize + 1), hits);
                let one = |cell: u32| start(self.cells.wrapped(cell))..start(self.cells.wrapped(cell) + 1);
                self.meet(body, one(own.wrapping_add(1)), hits);
                for &middle in runs {
                    for cell in [middle.wrapping_sub(1), middle, middle.wrapping_add(1)] {
                        self.meet(body, one(cell), hits);
                    }
                }
            }
        }
    }

    /// Adds the pairs of a body that is not in this grid, which is an array.
    fn join_larger(&self, body: &Body<D>, hits: &mut Hits) {
        self.cells.each_row_near(&body.center, body.radius, |row: Range<usize>| {
            self.meet(body, self.starts[row.start] as usize..self.starts[row.end] as usize, hits);
        });
    }

    #[inline(always)]
    fn meet(&self, body: &Body<D>, ranks: Range<usize>, hits: &mut Hits) {
        let others = &self.sorted[ranks];
        let (slots, mut len) = (hits.room(others.len()), 0);
        for other in others {
            // SAFETY: at most one slot is taken for each of the others before this one.
            unsafe { *slots.get_unchecked_mut(len) = ordered(body.id, other.id) };
            len += usize::from(touches(body.center, body.radius, other.center, other.radius));
        }
        hits.keep(len);
    }
}

/// The bodies of a scene as records, in the order of their ids.
fn records<const D: usize>(scene: &Scene<D>, records: &mut Vec<Body<D>>) {
    records.clear();
    records.extend((0..scene.len()).map(|id| Body {
        center: center(scene, id),
        radius: scene.radii[id],
        id: id as u32,
    }));
}

/// The grid as a rival. Its users keep records, so the records are made before the clock starts.
#[derive(Debug, Default)]
pub(crate) struct RecordsByHand<const D: usize> {
    records: Vec<Body<D>>,
    grid: RecordGrid<D>,
    gather: Gather,
}

impl<const D: usize> Rival<D> for RecordsByHand<D> {
    fn name(&self) -> &'static str {
        "grid of records by hand"
    }

    fn hopeless(&self, kind: Kind, n: usize) -> bool {
        // Cells as wide as giants: all but a double loop over the dust.
        kind == Kind::PowerLaw && n > if D == 2 { 1_000_000 } else { 200_000 }
    }

    fn prepare(&mut self, scene: &Scene<D>) {
        records(scene, &mut self.records);
    }

    fn keeps_bodies(&self) -> bool {
        true
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let extent = Extent::of(scene);
        let grid = &mut self.grid;
        grid.build(&self.records, Cells::over(&extent, f64::from(2.0 * extent.radius), scene.len()));
        self.gather.run(grid.tasks(), |task, hits| grid.join(grid.task(task), hits))
    }
}

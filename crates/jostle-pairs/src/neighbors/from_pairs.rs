//! Rows made of a list of pairs: for bodies for which no join of rows is compiled.

use core::mem;

use jostle_core::Workers;

use crate::join::counts::Tests;
use crate::join::job::JobsOf;
use crate::neighbors::extras::Wanted;
use crate::neighbors::rows::Rows;
use crate::neighbors::{NeighborLists, RowEngine};
use crate::pairs::engine::Engine;
use crate::pairs::listed::put_in_order;
use crate::pairs::plan::Plan;

impl<const D: usize> RowEngine<D> {
    /// Fills the lists, which hold ids alone, by way of a list of pairs; that of the engine stands.
    pub(crate) fn fill_from_pairs(
        &mut self,
        engine: &mut Engine<D>,
        plan: Plan<'_, D>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Tests {
        mem::swap(&mut engine.pairs, &mut self.pairs);
        let tests = engine.list(plan, workers);
        mem::swap(&mut engine.pairs, &mut self.pairs);
        let within = plan.exact.sets.len() == 1;
        if within && plan.exact.cell.is_some() {
            put_in_order(JobsOf { jobs: plan.jobs, ends: &engine.ends }, self.pairs.pairs_mut(), workers);
        }
        let both = kind == Rows::Full && within;
        lists.fill_from_pairs::<D>(plan.exact.sets[0].len(), self.pairs.pairs(), both);
        Tests { pairs: lists.neighbors.len() as u64, ..tests }
    }
}

impl NeighborLists {
    /// Whether more than ids is wanted.
    pub(crate) fn want_columns(&self) -> bool {
        self.extras.wanted != Wanted::default()
    }

    /// Rows of so many bodies: the second body of each pair in that of the first one and, where `both`, the other way round.
    fn fill_from_pairs<const D: usize>(&mut self, bodies: usize, pairs: &[[u32; 2]], both: bool) {
        self.room_for::<D>(bodies, pairs.len() * (1 + usize::from(both)));
        let Self { offsets, neighbors, .. } = self;
        offsets.fill(0);
        for &[a, b] in pairs {
            offsets[a as usize + 1] += 1;
            if both {
                offsets[b as usize + 1] += 1;
            }
        }
        for row in 0..bodies {
            offsets[row + 1] += offsets[row];
        }
        let mut put = |row: u32, neighbor: u32| {
            let end = &mut offsets[row as usize];
            neighbors[*end] = neighbor;
            *end += 1;
        };
        for &[a, b] in pairs {
            put(a, b);
            if both {
                put(b, a);
            }
        }
        // Each row now ends where the next one begins.
        offsets.copy_within(..bodies, 1);
        offsets[0] = 0;
        for row in 0..bodies {
            neighbors[offsets[row]..offsets[row + 1]].sort_unstable();
        }
    }
}

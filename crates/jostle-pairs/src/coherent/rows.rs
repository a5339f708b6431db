//! How frames are answered in rows.
//!
//! A frame in which candidates are listed anew is searched from scratch, and candidates beside it, for those that follow: it is known then
//! which of those touch. In the frames that follow, rows are changed where candidates have begun to touch, or have ended
//! (`live_rows`). Where that does not last, candidates are listed in rows, and all are tested in each frame (`row_sieve`).

use jostle_core::{LinearTree, Workers};
use jostle_sets::input::Input;

use crate::InputError;
use crate::coherent::{CoherentFinder, has_both_rows};
use crate::join::filter::PairTest;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;

/// What is asked for: rows of a kind, of pairs that pass, in these lists.
pub(super) struct Asked<'a> {
    pub(super) kind: Rows,
    pub(super) only: Option<PairTest<'a>>,
    pub(super) lists: &'a mut NeighborLists,
}

impl Asked<'_> {
    /// Whether layers or the caller may drop some.
    fn drops_some<const D: usize>(&self, input: &Input<'_, D>) -> bool {
        self.only.is_some() || input.sets().iter().any(|set| set.layers.is_some())
    }
}

impl<const D: usize> CoherentFinder<D> {
    /// Searches for the rows of a frame from scratch, and keeps them, where it lasts how bodies touch.
    pub(super) fn search_rows(
        &mut self,
        input: &Input<'_, D>,
        asked: Asked<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        if asked.drops_some(input) || !self.live_rows.may_lend() {
            self.search_rows_here(input, asked.kind, workers)?;
            self.hand_out(input, asked, workers);
            return Ok(());
        }
        self.finder.list_neighbors_here(input, None, asked.kind, asked.lists, workers)?;
        self.live_rows.lend(asked.lists);
        Ok(())
    }

    /// Searches for all rows from scratch, whatever layers or the caller drop.
    fn search_rows_here(&mut self, input: &Input<'_, D>, kind: Rows, workers: Workers<'_>) -> Result<(), InputError> {
        let Self { finder, live_rows, .. } = self;
        let rows = &mut live_rows.rows;
        input.grown(0.0, &|_| None, &mut |all| {
            finder.list_neighbors_here(all, None, kind, rows, workers)?;
            Ok(())
        })?;
        live_rows.keep();
        Ok(())
    }

    /// Changes the rows of the last frame to those of this one, in which bodies have used up so much of the margin.
    pub(super) fn change_rows(
        &mut self,
        input: &Input<'_, D>,
        asked: Asked<'_>,
        used: f64,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.sift_rows(input, used, workers);
        let (isa, drops_some) = (self.finder.isa(), asked.drops_some(input));
        if !self.live_rows.take_back(asked.lists) {
            // The tree by which candidates were found stays: whoever strays is looked for in it.
            let mut tree = LinearTree::new();
            tree.set_isa(isa);
            let tree = self.finder.preparation.replace_own_tree(tree);
            let searched = self.search_rows(input, asked, workers);
            self.finder.preparation.replace_own_tree(tree);
            return searched;
        }
        let Self { finder, candidates, live_rows, current, strays, pace, .. } = self;
        if !strays.is_empty() {
            let (tree, margin) = (finder.preparation.own_tree(), pace.margin());
            let might_touch = |id: u32, touched: &mut Vec<u32>| current.might_touch(id, (tree, margin), touched);
            strays.note_changes(&live_rows.rows, &might_touch, workers);
        }
        let count = input.sets()[0].len();
        let of = (&candidates.ranks, has_both_rows(asked.kind, input), strays.changes());
        if drops_some || !live_rows.may_lend() {
            live_rows.change::<D>((None, count), of, (isa, workers));
            self.hand_out(input, asked, workers);
            return Ok(());
        }
        live_rows.change::<D>((Some(&mut *asked.lists), count), of, (isa, workers));
        live_rows.lend(asked.lists);
        finder.rows.measure(&finder.preparation.exact(input), asked.kind, asked.lists, (isa, workers));
        Ok(())
    }

    /// Finds out which candidates have begun to touch, or have ended, bodies having used up so much of the margin.
    pub(super) fn sift_rows(&mut self, input: &Input<'_, D>, used: f64, workers: Workers<'_>) {
        self.read(input, workers);
        let Self { finder, candidates, current, live_rows, pace, .. } = self;
        let exact = finder.preparation.exact(input);
        let come = (current.come(used, pace.margin()), pace.margin(), finder.isa());
        let test = current.test(input, &exact, None);
        live_rows.blocks.sift((candidates.meetings[0], &test), come, workers, |_, _| ());
    }

    /// Fills the caller's lists with those of the rows here that pass.
    fn hand_out(&mut self, input: &Input<'_, D>, asked: Asked<'_>, workers: Workers<'_>) {
        let Self { finder, current, live_rows, row_sieve, .. } = self;
        let (isa, exact) = (finder.isa(), finder.preparation.exact(input));
        if asked.drops_some(input) {
            let (test, sets) = (current.test(input, &exact, asked.only), [0, input.sets().len() as u32 - 1]);
            workers.run_callers(test.asks_callers(), || {
                row_sieve.sift(&live_rows.rows, (isa, workers), |_, pair| test.admits(sets, pair));
            });
            row_sieve.list::<D>(&live_rows.rows, asked.lists, (isa, workers));
        } else {
            live_rows.copy::<D>(asked.lists, workers);
        }
        finder.rows.measure(&exact, asked.kind, asked.lists, (isa, workers));
    }

    /// Fills lists with those candidates of the rows that touch and pass.
    pub(super) fn choose_rows(&mut self, input: &Input<'_, D>, asked: Asked<'_>, workers: Workers<'_>) {
        let Self { finder, candidates, current, row_sieve, .. } = self;
        let (isa, exact) = (finder.isa(), finder.preparation.exact(input));
        let (test, sets) = (current.test(input, &exact, asked.only), candidates.meetings[0]);
        let candidates = &*candidates;
        workers.run_callers(test.asks_callers(), || {
            row_sieve.sift(&candidates.rows, (isa, workers), |at, pair| {
                test.touches(sets, candidates.shift_now(&test, sets, (at, pair)), pair) && test.admits(sets, pair)
            });
        });
        row_sieve.list::<D>(&candidates.rows, asked.lists, (isa, workers));
        if asked.lists.want_columns() {
            row_sieve.measure(&candidates.rows, asked.lists, workers, |at, pair| {
                let shift = candidates.shift_now(&test, sets, (at, pair));
                (shift, test.apart(sets, shift, pair))
            });
        }
    }
}

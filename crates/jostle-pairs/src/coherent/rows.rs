//! Answers frames in rows.
//!
//! A rebuild searches rows from scratch, and candidates beside them, for the frames that follow; it is known then which
//! candidates touch. In kept frames, rows are changed where candidates have begun to touch, or have ended
//! (`live_rows`). Where the caller may drop neighbours, the caller gets the rows with the neighbours that stay
//! (`row_sieve`).

use jostle_core::axes::Both;
use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;
use jostle_sets::input::layers::Layers;
use jostle_sets::prepare::Preparation;
use jostle_sets::proxy::Exact;

use crate::InputError;
use crate::coherent::frame_input::FrameInput;
use crate::coherent::live_rows::LiveRows;
use crate::coherent::row_sieve::RowSieve;
use crate::coherent::strays::ByTrees;
use crate::coherent::{CoherentFinder, has_both_rows};
use crate::join::filter::PairTest;
use crate::neighbors::rows::Rows;
use crate::neighbors::{NeighborLists, RowEngine, Unfinished};

/// What the caller asks for: rows of a kind, of pairs that pass a test, in these lists.
pub(super) struct RowRequest<'a> {
    pub(super) kind: Rows,
    pub(super) only: Option<PairTest<'a>>,
    pub(super) lists: &'a mut NeighborLists,
}

impl<const D: usize> CoherentFinder<D> {
    /// Searches for the rows of a frame from scratch and keeps them, with the neighbours that the caller's test, or
    /// layers of this frame alone, drop.
    pub(super) fn search_rows(
        &mut self,
        input: &Input<'_, D>,
        request: RowRequest<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        if request.only.is_some() || self.sieves_layers || !self.live_rows.may_lend() {
            let Self { finder, live_rows, sieves_layers, .. } = self;
            let rows = &mut live_rows.rows;
            let mut search =
                |input: &Input<'_, D>| finder.list_neighbors_here(input, None, request.kind, rows, workers);
            if *sieves_layers {
                // Without layers.
                input.grown(0.0, &|_| None, &mut |all| search(all).map(drop))?;
            } else {
                search(input)?;
            }
            live_rows.keep();
            let (isa, exact) = (self.finder.isa(), self.finder.preparation.exact(input));
            self.row_sieve.hand_out(
                (&self.live_rows, &exact),
                (request, self.sieves_layers),
                &mut self.finder.rows,
                (isa, workers),
            );
            return Ok(());
        }
        self.finder.list_neighbors_here(input, None, request.kind, request.lists, workers)?;
        self.live_rows.lend(request.lists);
        Ok(())
    }

    /// Changes the rows of the last frame to those of this one, in which bodies have used up `used` of the margin.
    pub(super) fn change_rows(
        &mut self,
        given: FrameInput<'_, D>,
        request: RowRequest<'_>,
        used: f64,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.sift_rows(given, used, workers);
        let isa = self.finder.isa();
        if !self.live_rows.take_back((request.lists, D), request.only.is_some(), workers) {
            // The trees by which candidates were found stay: stray bodies are looked for in them.
            let mut other = Preparation::with_capacity(0);
            other.set_isa(isa);
            let found_by = core::mem::replace(&mut self.finder.preparation, other);
            let searched = self.search_rows(given.input, request, workers);
            self.finder.preparation = found_by;
            return searched;
        }
        if request.only.is_some() {
            // The lists stand while the caller's test is called.
            self.change_taken(given, request, workers);
        } else {
            let unfinished = Unfinished(request.lists);
            self.change_taken(given, RowRequest { lists: unfinished.0, ..request }, workers);
            unfinished.finish();
        }
        Ok(())
    }

    /// Changes the rows of the last frame, which are here now.
    fn change_taken(&mut self, given: FrameInput<'_, D>, request: RowRequest<'_>, workers: Workers<'_>) {
        let isa = self.finder.isa();
        let Self { finder, candidates, live_rows, row_sieve, current, strays, pace, sieves_layers, .. } = self;
        let count = given.input.sets()[0].len();
        let sets = given.input.meetings().next().map_or([0; 2], |(i, j)| [i as u32, j as u32]);
        if !strays.is_empty() {
            let sorted = finder.preparation.sorted_for(given.input);
            let by = ByTrees { sorted, kept: current, margin: pace.margin() };
            strays.note_changes(&live_rows.rows, (by, sets, &candidates.meetings), workers);
        }
        let names = current.test(given, &candidates.ranks, (None, false)).names(sets);
        let of = (names, has_both_rows(request.kind, given.input), (strays.changes(), strays.marks_of(sets)));
        let is_copied = request.only.is_some() || *sieves_layers || !live_rows.may_lend();
        let lists = if is_copied { None } else { Some(&mut *request.lists) };
        live_rows.change((lists, count, D), of, (isa, workers));
        let exact = given.exact(&finder.preparation);
        if is_copied {
            row_sieve.hand_out((live_rows, &exact), (request, *sieves_layers), &mut finder.rows, (isa, workers));
        } else {
            live_rows.lend(request.lists);
            finder.rows.measure_kept(&exact, request.lists, (isa, workers));
        }
    }

    /// Finds out which candidates have begun to touch, or have ended, once bodies have used up `used` of the margin.
    pub(super) fn sift_rows(&mut self, given: FrameInput<'_, D>, used: f64, workers: Workers<'_>) {
        self.current.put_by_rank(self.candidates.ranks.ids(), workers);
        let Self { finder, candidates, current, live_rows, pace, .. } = self;
        let progress = (current.progress(used, pace.margin()), pace.margin(), finder.isa());
        let test = current.test(given, &candidates.ranks, (None, false));
        live_rows.blocks.sift(&test, progress, workers, |_, _, _| ());
    }
}

impl RowSieve {
    /// Fills the caller's lists with the kept rows, less the neighbours that fail the test or that layers do not let
    /// meet.
    fn hand_out<const D: usize>(
        &mut self,
        (live_rows, exact): (&LiveRows, &Exact<'_, D>),
        (RowRequest { only, lists, .. }, sieves_layers): (RowRequest<'_>, bool),
        engine: &mut RowEngine<D>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let is_sieved = only.is_some() || sieves_layers;
        if is_sieved {
            let layers = exact.sets.first().zip(exact.sets.last()).map_or([None; 2], |(a, b)| [a.layers, b.layers]);
            let [of_row, of_other] = layers.both(|layers| layers.unwrap_or(Layers::ALL));
            let sets = [0, u32::from(exact.sets.len() > 1)];
            let meet = |[a, b]: [u32; 2]| !sieves_layers || of_row.meets(a, &of_other, b);
            workers.run_callers(only.is_some(), || {
                // Within a set, a row has neighbours before its body, too; a test is given the lesser id first.
                let in_order = |[a, b]: [u32; 2]| if sets == [0, 0] { [a.min(b), a.max(b)] } else { [a, b] };
                let passes = |pair: [u32; 2]| meet(pair) && only.is_none_or(|only| only.keeps(sets, in_order(pair)));
                self.sift(&live_rows.rows, (isa, workers), passes);
            });
        }
        let unfinished = Unfinished(lists);
        let lists = &mut *unfinished.0;
        if is_sieved {
            self.list(&live_rows.rows, (lists, D), (isa, workers));
        } else {
            live_rows.copy(lists, D, workers);
        }
        engine.measure_kept(exact, lists, (isa, workers));
        unfinished.finish();
    }
}

//! Answers frames in pairs.
//!
//! The live list is changed where candidates have begun to touch, or have ended (`live`). Where the caller may drop
//! pairs, the caller's list is made anew from the live list (`pair_sieve`).

use jostle_core::Workers;

use crate::InputError;
use crate::coherent::CoherentFinder;
use crate::coherent::frame_input::FrameInput;
use crate::coherent::strays::{ByTrees, ListView};
use crate::join::filter::PairTest;

impl<const D: usize> CoherentFinder<D> {
    /// Lists the pairs of a frame; returns how many there are, unless there are too many.
    pub(super) fn list_pairs(
        &mut self,
        given: FrameInput<'_, D>,
        only: Option<PairTest<'_>>,
        used: Option<f64>,
        workers: Workers<'_>,
    ) -> Result<usize, InputError> {
        if used.is_some() {
            self.current.put_by_rank(self.candidates.ranks.ids(), workers);
        }
        let Self { finder, candidates, current, live, pair_sieve, pace, strays, sieves_layers, ends, .. } = self;
        let (margin, isa) = (pace.margin(), finder.isa());
        let test = current.test(given, &candidates.ranks, (only, *sieves_layers));
        let pairs = &mut finder.engine.pairs;
        let progress = used.map(|used| (current.progress(used, margin), margin, isa));
        if let Some(progress) = progress {
            live.take_back(&mut candidates.pairs, pairs);
            strays.restore(pairs, workers);
            live.change(pairs, &test, progress, workers);
        } else {
            live.list(pairs, &|sets| test.names(sets), workers);
        }
        if !strays.is_empty() {
            let listed = ListView { pairs: pairs.pairs(), live, names: &|sets| test.names(sets) };
            let sorted = finder.preparation.sorted_for(given.input);
            strays.find_places(listed, ByTrees { sorted, kept: current, margin }, (isa, workers));
        }
        ends.clear();
        if test.drops_some() {
            // Pairs that the caller drops may come back in the next frame.
            live.put_aside((&mut candidates.pairs, &mut candidates.ends), pairs);
            pair_sieve.sift(candidates, (&test, strays), workers);
            ends.extend(pair_sieve.list(candidates, pairs, workers));
            // The list has no pairs of stray bodies.
            workers.run_callers(test.asks_callers(), || {
                let admits = |sets, pair| test.admits(sets, pair);
                strays.add((pairs, ends), &candidates.meetings, admits, workers);
            });
        } else {
            ends.extend(live.ends());
            strays.patch((pairs, ends), workers);
        }
        finder.listed.note(&candidates.meetings, ends.iter().copied());
        if let Some((stand_ins, cell)) = given.stand_ins.and_then(|stand_ins| Some((stand_ins, stand_ins.cell()?))) {
            finder.listed.note_nearest(cell, stand_ins.places(given.input.sets().len()));
        }
        let found = pairs.pairs().len();
        finder.check_pairs(found)
    }
}

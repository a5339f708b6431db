//! How frames are answered in pairs.
//!
//! The list is changed where candidates have begun to touch, or have ended (`live`). Where those are of many sets, or the caller may drop some, all are
//! looked at in each frame, and the list is made anew (`pair_sieve`).

use jostle_core::Workers;

use crate::coherent::CoherentFinder;
use crate::coherent::given::Given;
use crate::coherent::strays::Listed;
use crate::join::filter::PairTest;

impl<const D: usize> CoherentFinder<D> {
    /// Lists the pairs of a frame, and says how many there are.
    pub(super) fn list_pairs(
        &mut self,
        given: Given<'_, D>,
        only: Option<PairTest<'_>>,
        used: Option<f64>,
        workers: Workers<'_>,
    ) -> usize {
        if used.is_some() {
            self.current.put_by_rank(self.candidates.ranks.ids(), workers);
        }
        let Self { finder, candidates, current, live, pair_sieve, pace, strays, sieves_layers, .. } = self;
        let (margin, isa) = (pace.margin(), finder.isa());
        let test = current.test(given, &candidates.ranks, (only, *sieves_layers));
        let pairs = &mut finder.engine.pairs;
        if live.holds() {
            if let Some(used) = used {
                strays.restore(pairs, workers);
                live.change(
                    (candidates.meetings[0], &candidates.ranks, &mut candidates.pairs, pairs),
                    &test,
                    (current.come(used, margin), margin, isa),
                    workers,
                );
            } else {
                live.list(pairs, &candidates.ranks, workers);
            }
        }
        if !strays.is_empty() {
            let listed = Listed { pairs: pairs.pairs(), live, ranks: &candidates.ranks };
            let grown = |id: u32| current.grown_body(id, margin);
            strays.find_places(listed, (finder.preparation.own_tree(), &grown), (isa, workers));
        }
        if live.holds() && !test.drops_some() {
            strays.patch(pairs, workers);
            finder.listed.note(&candidates.meetings, core::iter::once(pairs.pairs().len()));
        } else {
            // Those that the caller drops may come back in the next frame.
            live.put_aside((&mut candidates.pairs, &mut candidates.ends), pairs);
            pair_sieve.sift(candidates, (&test, live.holds().then(|| strays.marks())), workers);
            pair_sieve.list(candidates, (pairs, &mut finder.listed), workers);
            if !strays.is_empty() {
                // Of those that stray, none is among them.
                let sets = candidates.meetings[0];
                workers.run_callers(test.asks_callers(), || {
                    for &pair in strays.pairs().iter().filter(|&&pair| test.admits(sets, pair)) {
                        let len = pairs.pairs().len();
                        pairs.set_len(len + 1);
                        pairs.pairs_mut()[len] = pair;
                    }
                });
                finder.listed.note(&candidates.meetings, core::iter::once(pairs.pairs().len()));
            }
        }
        if let Some((stand_ins, cell)) = given.stand_ins.and_then(|stand_ins| Some((stand_ins, stand_ins.cell()?))) {
            finder.listed.note_nearest(cell, (0..given.input.sets().len()).map(|set| stand_ins.places(set)), workers);
        }
        pairs.pairs().len()
    }
}

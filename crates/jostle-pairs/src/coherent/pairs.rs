//! How frames are answered in pairs.
//!
//! The list is changed where candidates have begun to touch, or have ended (`live`). Where that does not last, or something else may drop
//! pairs, all candidates are looked at in each frame, and the list is made anew (`pair_sieve`).

use jostle_core::Workers;
use jostle_sets::input::Input;

use crate::coherent::CoherentFinder;
use crate::coherent::strays::Listed;
use crate::join::filter::PairTest;

impl<const D: usize> CoherentFinder<D> {
    /// Lists the pairs of a frame, and says how many there are.
    pub(super) fn list_pairs(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        used: Option<f64>,
        workers: Workers<'_>,
    ) -> usize {
        if used.is_some() {
            self.read(input, workers);
        }
        let Self { finder, candidates, current, live, pair_sieve, pace, strays, .. } = self;
        let (margin, isa) = (pace.margin(), finder.isa());
        let exact = finder.preparation.exact(input);
        let test = current.test(input, &exact, only);
        let pairs = &mut finder.engine.pairs;
        if live.holds() {
            if let Some(used) = used {
                strays.restore(pairs, workers);
                live.change((candidates, pairs), &test, (current.come(used, margin), margin, isa), workers);
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
        } else {
            // Those that layers or the caller drop may come back in the next frame.
            live.put_aside(candidates, pairs);
            pair_sieve.sift(candidates, &test, workers);
            let count = pair_sieve.list(candidates, &test, (pairs, &mut finder.listed), workers);
            if strays.is_empty() {
                return count;
            }
            // Of those that stray, none is among them.
            let sets = candidates.meetings[0];
            workers.run_callers(test.asks_callers(), || {
                for &pair in strays.pairs().iter().filter(|&&pair| test.admits(sets, pair)) {
                    let len = pairs.pairs().len();
                    pairs.set_len(len + 1);
                    pairs.pairs_mut()[len] = pair;
                }
            });
        }
        let (count, unique) = (pairs.pairs().len(), exact.images.unique);
        let ends = core::iter::once(count);
        finder.listed.room_for((count, &candidates.meetings), ends, (false, unique, false));
        count
    }
}

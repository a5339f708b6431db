//! How candidates are listed: where bodies are to be, if that can be expected, or else where they stand.

use jostle_core::Workers;
use jostle_sets::prepare::job::JobsOf;

use crate::InputError;
use crate::coherent::bands::BLOCK;
use crate::coherent::candidates::Candidates;
use crate::coherent::course::Course;
use crate::coherent::current::put;
use crate::coherent::expected::Expected;
use crate::coherent::given::Given;
use crate::coherent::pace::Way;
use crate::coherent::packed::are_far;
use crate::coherent::{CoherentFinder, Kept, bodies_of};
use crate::pairs::listed::note_meetings;
use crate::pairs::ranks::Ranks;

/// Bodies that are far are put by rank where each has so many candidates.
const WORTH_RANKS: f64 = 2.0;

/// Of the candidates of bodies on their course, about so many are due while a list lasts.
const DUE: f64 = 0.35;

impl<const D: usize> CoherentFinder<D> {
    /// Lists candidates, and sorts them, where bodies are to be, if that is known, or else where they stand: none strays. Whether that could be done:
    /// sound bodies, too, may be where none with a margin can be.
    pub(super) fn list_anew(&mut self, given: Given<'_, D>, kept: Kept, way: Way, workers: Workers<'_>) -> bool {
        self.strays.begin(None);
        if !self.list_anew_here(given, kept, way, workers) {
            return false;
        }
        if given.may_stray() {
            self.strays.begin(Some((self.finder.preparation.own_tree(), self.pace.pairs_of_one())));
        }
        true
    }

    fn list_anew_here(&mut self, given: Given<'_, D>, kept: Kept, way: Way, workers: Workers<'_>) -> bool {
        let mut margin = way.margin;
        if let Some(ahead) = way.ahead {
            self.pace.forget();
            self.current.keep_ahead(given.plain, &way, ahead, workers);
            self.current.find_ghosts(given, margin, (self.finder.isa(), workers));
            let is_listed = match self.current.course() {
                Some(course) => self.list_on_course(given, (&way, course), kept, workers),
                None => self.list_ahead(given, margin, kept, workers),
            };
            // Bodies may be expected where none can be.
            if is_listed {
                self.finder.skin.keep_relation(given.input);
                return true;
            }
            margin = self.pace.stay(&way);
        }
        self.keep_bodies(given, workers);
        self.current.find_ghosts(given, margin, (self.finder.isa(), workers));
        if self.list_candidates(given, margin, kept, workers).is_err() {
            return false;
        }
        self.current.pack_kept(given.plain, workers);
        self.sort(given, [0.0, margin], workers)
    }

    /// Lists candidates where bodies are to be, and sorts them; whether that could be done.
    fn list_ahead(&mut self, given: Given<'_, D>, margin: f64, kept: Kept, workers: Workers<'_>) -> bool {
        if self.list_candidates(given, margin, kept, workers).is_err() {
            return false;
        }
        self.current.pack_ahead(given.plain, self.candidates.ranks.ids(), workers);
        let used = self.current.measure(given.plain, (margin, None), (self.finder.isa(), workers));
        used <= margin && self.sort(given, [used, margin], workers)
    }

    /// Searches for candidates of bodies on their course, which are sorted as they are found; whether that could be done.
    fn list_on_course(
        &mut self,
        given: Given<'_, D>,
        (way, course): (&Way, Course),
        kept: Kept,
        workers: Workers<'_>,
    ) -> bool {
        let (margin, isa, len) = (way.margin, self.finder.isa(), bodies_of(given.input));
        let used = self.current.measure_moving(given.plain, (margin, course), (isa, workers));
        if used > margin {
            return false;
        }
        let foreseen = self.pace.foreseen();
        let is_by_rank = given.input.sets().len() == 1 && are_far(len) && foreseen > WORTH_RANKS;
        let keeps_ranks = is_by_rank && way.strays() && self.pace.is_crowded(len);
        let blocks = foreseen * len as f64 * DUE / BLOCK as f64;
        let is_listed = kept == Kept::Pairs;
        let Self { finder, candidates, current, live, live_rows, expected, .. } = self;
        let come = current.come(used, margin);
        let mut moving_by_rank = current.take_moving_by_rank();
        // Of rows, the finder's own list of pairs stays as it is.
        if !is_listed {
            candidates.swap_list(finder);
        }
        candidates.ranks.clear();
        expected.prepare(workers);
        let stock = if is_listed { live.stock() } else { live_rows.blocks.stock() };
        let Candidates { ranks, meetings, ends, .. } = &mut *candidates;
        let others = |set| current.grown(set, margin);
        let no_ranks = Ranks::default();
        let test = &current.test(given, &no_ranks, (None, false));
        let searched = given.plain.grown(margin, &others, &mut |grown| {
            finder.seek(grown, None, workers, |mut engines, plan| {
                let (mut plan, mut by_rank) = (plan.in_blocks(blocks as usize), None);
                if is_by_rank {
                    ranks.number(plan.first_tree(), workers);
                    put(&mut moving_by_rank, test.moving([0; 2])[0], ranks.ids(), workers);
                    (plan, by_rank) = (plan.calling(ranks.of_leaves()), Some(moving_by_rank.as_slice()));
                }
                let (jobs, margin) = (plan.jobs, margin as f32);
                let all = Expected {
                    jobs,
                    by_rank,
                    ids: ranks.ids(),
                    keeps_ranks,
                    course,
                    margin,
                    isa,
                    is_listed,
                    stock,
                    test,
                };
                let tests = engines.list_some(plan, &|list, join| all.sort(expected, list, join), workers);
                note_meetings((meetings, ends), given.input.meetings(), JobsOf { jobs, ends: &engines.pairs.ends });
                ((), tests)
            })?;
            Ok(())
        });
        current.give_back(moving_by_rank);
        if !is_listed {
            candidates.swap_list(finder);
        }
        if !keeps_ranks {
            candidates.ranks.clear();
        }
        candidates.note_sorted(finder.stats.pairs as usize);
        self.kept = kept;
        if searched.is_err() {
            return false;
        }
        if !is_listed {
            self.live_rows.blocks.take_sorted(come, &self.candidates.meetings);
        } else if !self.live.take_sorted(come, &self.candidates.meetings, &self.candidates.ends) {
            return false;
        }
        self.pace.searched(margin, self.finder.stats.pairs, len);
        true
    }

    /// Lists the candidates, of bodies with a margin, where they are kept.
    fn list_candidates(
        &mut self,
        given: Given<'_, D>,
        margin: f64,
        kept: Kept,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let Self { finder, candidates, current, pace, .. } = self;
        let by_rank = given.input.sets().len() == 1 && pace.is_crowded(bodies_of(given.input));
        let others = |set| current.grown(set, margin);
        given.plain.grown(margin, &others, &mut |grown| candidates.take_pairs(finder, (grown, by_rank), workers))?;
        self.kept = kept;
        if kept == Kept::Pairs {
            self.finder.engine.pairs.clear();
        }
        Ok(())
    }

    /// Sorts new candidates by how far bodies must move, from where they are kept, before it can change whether they touch: so much of a margin
    /// have they used up. Whether they can be numbered.
    fn sort(&mut self, given: Given<'_, D>, [used, margin]: [f64; 2], workers: Workers<'_>) -> bool {
        self.current.put_by_rank(self.candidates.ranks.ids(), workers);
        let Self { finder, candidates, current, live, live_rows, pace, .. } = self;
        let sorting = (current.come(used, margin), margin, finder.engine.isa);
        let test = current.test(given, &candidates.ranks, (None, false));
        let is_sorted = match self.kept {
            Kept::Pairs => live.begin(candidates, &test, sorting, workers),
            Kept::Rows(_) => {
                live_rows.blocks.sort(candidates, &test, sorting, workers);
                true
            }
        };
        if is_sorted {
            pace.searched(margin, finder.stats.pairs, bodies_of(given.input));
        }
        is_sorted
    }
}

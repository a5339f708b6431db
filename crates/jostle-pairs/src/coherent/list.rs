//! How candidates are listed: where bodies are to be, if that can be expected, or else where they stand.

use jostle_core::Workers;
use jostle_core::axes::Both;
use jostle_sets::input::Input;

use crate::InputError;
use crate::coherent::bands::BLOCK;
use crate::coherent::course::Course;
use crate::coherent::current::put;
use crate::coherent::expected::Expected;
use crate::coherent::pace::Way;
use crate::coherent::packed::{Moving, are_far};
use crate::coherent::{CoherentFinder, Kept, bodies_of, is_one_plain_set, is_plain};

/// Bodies that are far are put by rank where each has so many candidates.
const WORTH_RANKS: f64 = 2.0;

/// Of the candidates of bodies on their course, about so many are due while a list lasts.
const DUE: f64 = 0.35;

impl<const D: usize> CoherentFinder<D> {
    /// Lists candidates, and sorts them, where bodies are to be, if that is known, or else where they stand: none strays. An error, where sound
    /// bodies, too, may be where none with a margin can be, is none of the caller's.
    pub(super) fn list_anew(
        &mut self,
        input: &Input<'_, D>,
        kept: Kept,
        way: Way,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.strays.begin(None);
        self.list_anew_here(input, kept, way, workers)?;
        if is_one_plain_set(input) {
            self.strays.begin(Some((self.finder.preparation.own_tree(), self.pace.pairs_of_one())));
        }
        Ok(())
    }

    fn list_anew_here(
        &mut self,
        input: &Input<'_, D>,
        kept: Kept,
        way: Way,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let mut margin = way.margin;
        if let Some(ahead) = way.ahead {
            self.pace.forget();
            self.current.keep_ahead(input, &way, ahead, workers);
            let is_of_one_meeting = !matches!(kept, Kept::Rows(_)) && input.meetings().len() == 1;
            let is_listed = match self.current.course().filter(|_| is_of_one_meeting) {
                Some(course) => self.list_on_course(input, (&way, course), kept, workers),
                None => self.list_ahead(input, margin, kept, workers),
            };
            // Bodies may be expected where none can be.
            if is_listed {
                self.finder.skin.keep_relation(input);
                return Ok(());
            }
            margin = self.pace.stay(&way);
        }
        self.list_candidates(input, (margin, false), kept, workers)?;
        self.pace.searched(margin, self.finder.stats.pairs, bodies_of(input));
        if is_plain(input) {
            self.keep_bodies(input, workers);
            self.current.pack_kept(input, workers);
        }
        self.sort(input, [0.0, margin], workers);
        Ok(())
    }

    /// Lists candidates where bodies are to be, and sorts them; whether that could be done.
    fn list_ahead(&mut self, input: &Input<'_, D>, margin: f64, kept: Kept, workers: Workers<'_>) -> bool {
        if self.list_candidates(input, (margin, true), kept, workers).is_err() {
            return false;
        }
        self.current.pack_ahead(input, self.candidates.ranks.ids(), workers);
        let used = self.current.measure(input, (margin, None), (self.finder.isa(), workers));
        if used > margin {
            return false;
        }
        self.pace.searched(margin, self.finder.stats.pairs, bodies_of(input));
        self.sort(input, [used, margin], workers);
        true
    }

    /// Searches for candidates of bodies on their course, all of the same two sets, which are sorted as they are found; whether that could be
    /// done.
    fn list_on_course(
        &mut self,
        input: &Input<'_, D>,
        (way, course): (&Way, Course),
        kept: Kept,
        workers: Workers<'_>,
    ) -> bool {
        let (margin, isa, len) = (way.margin, self.finder.isa(), bodies_of(input));
        let used = self.current.measure_moving(input, (margin, course), (isa, workers));
        if used > margin {
            return false;
        }
        let foreseen = self.pace.foreseen();
        let by_rank = input.sets().len() == 1 && are_far(len) && foreseen > WORTH_RANKS;
        let keeps_ranks = by_rank && way.strays() && self.pace.is_crowded(len);
        let blocks = foreseen * len as f64 * DUE / BLOCK as f64;
        let (sets, is_listed) = ([0, input.sets().len() - 1], kept == Kept::Pairs);
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
        let (ranks, by_id) = (&mut candidates.ranks, current.moving(sets));
        let others = |set| current.ahead(set, margin);
        let searched = input.grown(margin, &others, &mut |grown| {
            finder.seek(grown, None, workers, |engines, plan| {
                let (mut bodies, mut plan) = (by_id, plan.in_blocks(blocks as usize));
                if by_rank {
                    ranks.number(plan.first_tree(), workers);
                    put(&mut moving_by_rank, by_id[0], ranks.ids(), workers);
                    bodies = [moving_by_rank.as_slice(); 2];
                    plan = plan.calling(ranks.of_leaves());
                }
                let lens = by_id.both(<[Moving]>::len);
                let margin = margin as f32;
                let all = Expected { bodies, lens, ranks, keeps_ranks, course, margin, isa, is_listed, stock };
                ((), engines.list_some(plan, &|list, join| all.sort::<D>(expected, list, join), workers))
            })?;
            Ok(())
        });
        current.give_back(moving_by_rank);
        let listed = finder.engine.pairs.pairs().len();
        if !is_listed {
            candidates.swap_list(finder);
        }
        if !keeps_ranks {
            candidates.ranks.clear();
        }
        candidates.note_sorted(sets.both(|set| set as u32), finder.stats.pairs as usize);
        self.kept = kept;
        if searched.is_err() {
            return false;
        }
        if !is_listed {
            self.live_rows.blocks.take_sorted(come);
        } else if !self.live.take_sorted(come, listed) {
            return false;
        }
        self.pace.searched(margin, self.finder.stats.pairs, len);
        true
    }

    /// Lists the candidates, of bodies with a margin, where they are kept ahead or where they stand.
    fn list_candidates(
        &mut self,
        input: &Input<'_, D>,
        (margin, ahead): (f64, bool),
        kept: Kept,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let Self { finder, candidates, current, pace, .. } = self;
        let by_rank = is_plain(input) && input.sets().len() == 1 && pace.is_crowded(bodies_of(input));
        let others = |set| if ahead { current.ahead(set, margin) } else { None };
        input.grown(margin, &others, &mut |grown| {
            if let Kept::Rows(kind) = kept {
                let lists = &mut candidates.rows;
                lists.want_image_shifts(!input.space.is_open());
                finder.list_neighbors_here(grown, None, kind, lists, workers)?;
                candidates.ranks.clear();
                candidates.take_rows(input);
            } else {
                candidates.take_pairs(finder, (grown, by_rank), workers)?;
            }
            if !is_plain(grown) {
                finder.skin.keep_on(grown, workers);
            }
            Ok(())
        })?;
        self.kept = kept;
        if kept == Kept::Pairs {
            self.finder.engine.pairs.clear();
        }
        if !is_plain(input) {
            self.current.forget();
        }
        Ok(())
    }

    /// Sorts new candidates by how far bodies must move, from where they are kept, before it can change whether they touch: so much of a margin
    /// have they used up.
    fn sort(&mut self, input: &Input<'_, D>, [used, margin]: [f64; 2], workers: Workers<'_>) {
        self.read(input, workers);
        let Self { finder, candidates, current, live, live_rows, .. } = self;
        let sorting = (current.come(used, margin), margin, finder.engine.isa);
        let exact = finder.preparation.exact(input);
        let test = current.test(input, &exact, None);
        match self.kept {
            Kept::Pairs => live.begin(candidates, &test, sorting, workers),
            Kept::LiveRows(_) => live_rows.blocks.sort(candidates, &test, sorting, workers),
            Kept::Rows(_) => {}
        }
    }
}

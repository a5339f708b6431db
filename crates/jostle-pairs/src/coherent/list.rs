//! How candidates are listed: where bodies are to be, if that can be expected, or else where they stand.

use core::mem::swap;

use jostle_core::Workers;
use jostle_sets::input::{Relation, Set};
use jostle_sets::prepare::job::JobsOf;

use crate::coherent::bands::BLOCK;
use crate::coherent::candidates::Candidates;
use crate::coherent::current::put;
use crate::coherent::frame_input::FrameInput;
use crate::coherent::pace::ListPlan;
use crate::coherent::packed::MOST;
use crate::coherent::packed::are_far;
use crate::coherent::sorting::Sorter;
use crate::coherent::{CoherentFinder, ListedFor, bodies_of};
use crate::pairs::engine::too_many;
use crate::pairs::listed::note_meetings;
use crate::pairs::ranks::Ranks;

/// Bodies that are far (`are_far`) are put by rank where each has so many candidates.
const WORTH_RANKS: f64 = 2.0;

/// About which part of the candidates may change while a list lasts, or, of bodies on their course, is due.
const DUE: [f64; 2] = [0.7, 0.35];

/// How many candidates a list may keep for each pair that the finder may list.
const CANDIDATES_A_PAIR: usize = 8;

impl<const D: usize> CoherentFinder<D> {
    /// Lists candidates and sorts them, where bodies are to be, if that is known, or else where they stand. No body
    /// strays then. Returns whether that could be done: even sound bodies may be where none can be with a margin.
    pub(super) fn list_anew(
        &mut self,
        given: FrameInput<'_, D>,
        listed_for: ListedFor,
        plan: ListPlan,
        workers: Workers<'_>,
    ) -> bool {
        self.strays.begin();
        let are_ahead = plan.ahead.is_some_and(|ahead| self.list_ahead(given, (&plan, ahead), listed_for, workers));
        if !are_ahead {
            let margin = if plan.ahead.is_some() { self.pace.stay(&plan) } else { plan.margin };
            self.keep_bodies(given, workers);
            if !self.list_candidates(given, (&plan, margin), listed_for, workers) {
                return false;
            }
        }
        let input = given.input;
        let lens = input.sets().iter().map(Set::len);
        let trees = self.finder.preparation.sorted_for(input);
        self.strays.may_begin(trees, lens, self.pace.pairs_of_one());
        true
    }

    /// Lists candidates of bodies where they are to be, and sorts them. Returns whether that could be done: bodies may
    /// be expected where no body can be.
    fn list_ahead(
        &mut self,
        given: FrameInput<'_, D>,
        (plan, ahead): (&ListPlan, [f64; 2]),
        listed_for: ListedFor,
        workers: Workers<'_>,
    ) -> bool {
        self.current.keep_ahead(given.plain, plan, ahead, (self.finder.isa(), workers));
        let is_listed = self.list_candidates(given, (plan, plan.margin), listed_for, workers);
        if is_listed {
            self.keep_relation(given.input);
        }
        is_listed
    }

    /// Searches for candidates of bodies where they are kept, with a margin, and sorts them as they are found. Returns
    /// whether that could be done.
    fn list_candidates(
        &mut self,
        given: FrameInput<'_, D>,
        (plan, margin): (&ListPlan, f64),
        listed_for: ListedFor,
        workers: Workers<'_>,
    ) -> bool {
        let (isa, len) = (self.finder.isa(), bodies_of(given.input));
        self.current.find_ghosts(given, margin, (isa, workers));
        // Candidates name ghost images, too.
        if (0..given.input.sets().len()).any(|set| self.current.ghosts(set).with_bodies().len() > MOST) {
            return false;
        }
        let used = self.current.measure_kept(given.plain, margin, (isa, workers));
        if used > margin {
            return false;
        }
        let course = self.current.course();
        let foreseen = self.pace.foreseen();
        let (is_one, is_crowded) = (given.input.sets().len() == 1, self.pace.is_crowded(len));
        let keeps_ranks = is_one && is_crowded && (course.is_none() || are_far(len) && plan.strays());
        let is_by_rank = keeps_ranks || is_one && are_far(len) && foreseen > WORTH_RANKS;
        let blocks = foreseen * len as f64 * DUE[usize::from(course.is_some())] / BLOCK as f64;
        let is_listed = listed_for == ListedFor::Pairs;
        let Self { finder, candidates, current, live, live_rows, rooms, .. } = self;
        let progress = current.progress(used, margin);
        let mut moving_by_rank = current.take_moving_by_rank();
        // For rows, the finder's own list of pairs stays as it is.
        if !is_listed {
            swap(&mut candidates.pairs, &mut finder.engine.pairs);
        }
        candidates.ranks.clear();
        rooms.prepare(workers);
        let max = finder.max_pairs().saturating_mul(CANDIDATES_A_PAIR);
        let stock = if is_listed { live.stock(max) } else { live_rows.blocks.stock(max) };
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
                let sorter = Sorter {
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
                let tests = engines.list_some(plan, &|list, join| sorter.sort(rooms, list, join), workers)?;
                if stock.is_short() {
                    return Err(too_many(max as u64, max));
                }
                note_meetings((meetings, ends), given.input.meetings(), JobsOf { jobs, ends: &engines.pairs.ends });
                Ok(((), tests))
            })
        });
        rooms.level();
        current.give_back(moving_by_rank);
        if !is_listed {
            swap(&mut candidates.pairs, &mut finder.engine.pairs);
        }
        if !keeps_ranks {
            candidates.ranks.clear();
        }
        candidates.note_sorted(finder.stats.pairs as usize);
        self.listed_for = listed_for;
        if let Relation::Within(set) = &given.input.relation {
            // In open space, too, its bodies have margins, and stand where they are expected.
            self.finder.preparation.note_stand_ins(set.len());
        }
        if searched.is_err() {
            return false;
        }
        if !is_listed {
            self.live_rows.blocks.take_sorted(progress, &self.candidates.meetings);
        } else if !self.live.take_sorted(progress, &self.candidates.meetings, &self.candidates.ends) {
            return false;
        }
        self.pace.searched(margin, self.finder.stats.pairs, len);
        true
    }
}

//! Coherent frames: bodies that move little from frame to frame are not searched from scratch in every frame.
//!
//! A search lists pairs with a margin and keeps them as candidates. Such a frame is a rebuild. In the kept frames that
//! follow, as long as no body has used up its margin, the pairs are the candidates that touch now, by the same
//! predicate as that of a search.

mod bands;
mod block;
mod blocks;
mod candidates;
mod course;
mod current;
mod doubt;
mod frame;
mod frame_input;
mod ghosts;
mod layers;
mod list;
mod live;
mod live_rows;
mod marks;
mod names;
mod numbers;
mod pace;
mod packed;
mod pair_sieve;
mod pairs;
mod reference;
mod row_sieve;
mod rows;
pub(crate) mod search;
mod slack;
mod sorting;
mod stand_ins;
mod strays;
mod tail;
mod windows;

use core::fmt;

use jostle_core::clock::Instant;
use jostle_core::{Isa, Threads, Workers};
use jostle_sets::input::{Input, Relation, Set, Source};

use crate::InputError;
use crate::finder::PairFinder;
use crate::finder::found::Found;
use crate::finder::ways::Ways;
use crate::join::filter::PairTest;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::pairs::stats::Stats;
use bands::BLOCK;
use candidates::Candidates;
use current::Current;
use frame_input::FrameInput;
use layers::KeptLayers;
use live::Live;
use live_rows::LiveRows;
use pace::{ListOf, ListPlan, OF_PAIRS, OF_ROWS, Pace};
use packed::MOST;
use pair_sieve::PairSieve;
use row_sieve::RowSieve;
use rows::RowRequest;
use search::CoherentSearch;
use sorting::Rooms;
use stand_ins::StandIns;
use strays::Strays;

/// The candidates of each two sets that meet have blocks of their own. Where more than `FEW_MEETINGS` pairs of sets
/// meet, no list is kept unless each pair of sets fills, on average, one part in `FILLED` of a block.
const FEW_MEETINGS: usize = 64;
const FILLED: usize = 8;

/// Finds every overlapping pair of bodies that move little from frame to frame, for less than a search from scratch.
///
/// The answers are those of a [`PairFinder`]: exactly the pairs of each frame, each once, in the same terms, for any
/// [`Input`], with the caller's layers and tests. Only the order of pairs differs. It is a function of the frames
/// given, whatever the threads and the instruction set: of the frames since the last search from scratch, and of the
/// margins ([`CoherentFinder::margin`]) and the places of bodies that this search chose by how bodies had moved before.
/// A pair that begins takes the place of a pair that has ended, or comes to the end of the list. Where more pairs end
/// than begin, the last pairs of the list take the places that are left. Rows are ascending, as ever. They cost least
/// where each frame fills the same lists; other lists are filled with copies. Make one finder for each input that is
/// searched frame by frame, and, where frames are asked for both pairs and rows, one for each.
///
/// The margin follows how far bodies move: the finder chooses it anew whenever it has been used up. Bodies that have
/// moved straight on are searched where they are to be halfway through the list, so that a list lasts for nearly twice
/// as long. While bodies keep to their course, none straying farther than before, a pair is looked at only when it is
/// to begin or to end, and each body has a margin as wide as its own way, so that a few fast bodies do not cost much.
/// Bodies that turn evenly, each as it likes, are searched where they are to be on their circles; their lists, too, last
/// for nearly twice as long. Bodies that push each other, or whose speeds change otherwise, are searched halfway to where
/// their speed and its change lead them. Each then has a margin of its own as well: half as wide as that way, and as
/// much wider as bodies have been off before. Such a list is made where it is likely to cost clearly less than others.
/// If lists end before they pay, whatever the reason, they are made ever more seldom.
///
/// One body in 64, of all sets together, may stray while a list lasts (one in 512, where 65,536 bodies or more have
/// margins of their own by their speeds): turn, jump, grow, come or go, where bodies that come or go are the last ids
/// of their set. The pairs of each stray body are looked for separately. Pairs are listed anew once more bodies stray,
/// or, where bodies have two pairs each or more, once the stray bodies of all frames, added up, exceed one body in ten.
/// Where bodies move too far for that to pay, each frame is searched from scratch. The finder chooses the margin, so a
/// margin of the caller's own is refused ([`Bodies::with_margin`](jostle_core::Bodies::with_margin)).
///
/// All of that holds in either precision and in any space. For bodies in `f64`, and where space repeats, the finder
/// follows stand-ins in `f32`, whether or not the host puts back bodies that leave the cell. Where rounding leaves it
/// in doubt whether two bodies touch, the caller's own numbers decide. Layers are looked at when pairs are listed. Each
/// frame compares them with a copy; where they have changed, pairs are listed anew, unless no set had layers when they
/// were listed last. The caller's test is asked in each frame about each pair that touches. Some inputs are searched
/// from scratch in each frame: sets of which one has boxes or capsules (a [`Skin`](crate::Skin) tells how long a list
/// of their pairs holds); moving bodies ([`Set::moving`](jostle_sets::input::Set::moving)); where space repeats, bodies
/// that reach nearly as far as half the height of the cell or farther; few bodies among many that came sorted, so that
/// a search looks at less than one body in eight; neighbour lists of many sets; and sets so many and small that more
/// than 64 pairs of sets meet with hardly a thousand candidates each.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, CoherentFinder};
///
/// let mut finder = CoherentFinder::new();
/// let mut x = [0.0, 2.05, 9.0];
/// for frame in 0..10 {
///     let found = finder.find(Circles::new(&x, &[0.0; 3], 1.0))?;
///     assert_eq!(found.pairs().len(), usize::from(frame > 4));
///     x[1] -= 0.01;
/// }
/// assert!(finder.rebuilds() < 10);
/// # Ok::<(), jostle::InputError>(())
/// ```
pub struct CoherentFinder<const D: usize> {
    /// Searches and holds the result. Its skin keeps the space and which sets meet, as they were when candidates were
    /// listed.
    finder: PairFinder<D>,
    listed_for: ListedFor,
    /// Whether a table said which sets meet when bodies were kept.
    by_table: bool,
    candidates: Candidates,
    current: Current<D>,
    live: Live,
    live_rows: LiveRows,
    pair_sieve: PairSieve,
    row_sieve: RowSieve,
    rooms: Rooms,
    stand_ins: Option<StandIns<D>>,
    layers: KeptLayers,
    /// Whether the answer of this frame leaves out pairs that layers do not let meet.
    sieves_layers: bool,
    strays: Strays<D>,
    /// The numbers of the bodies that have strayed in a frame.
    strayed: Vec<u32>,
    /// Where the pairs of each two sets end, those of stray bodies included.
    ends: Vec<usize>,
    pace: Pace,
    /// For each `FramePart`, whether one thread or all do it sooner.
    ways: [Ways; 2],
}

/// What candidates were listed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ListedFor {
    #[default]
    Pairs,
    Rows(Rows),
}

/// What the caller asks for.
enum Answer<'l> {
    Pairs,
    Rows(Rows, &'l mut NeighborLists),
}

impl<const D: usize> fmt::Debug for CoherentFinder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoherentFinder")
            .field("pairs", &self.finder.last().pairs().len())
            .field("candidates", &self.candidates.len())
            .field("margin", &self.margin())
            .field("rebuilds", &self.rebuilds())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<const D: usize> Default for CoherentFinder<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> CoherentFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        let mut finder = PairFinder::new();
        finder.skin.coherent = true;
        Self {
            finder,
            listed_for: ListedFor::default(),
            by_table: false,
            candidates: Candidates::default(),
            current: Current::default(),
            live: Live::default(),
            live_rows: LiveRows::default(),
            pair_sieve: PairSieve::default(),
            row_sieve: RowSieve::default(),
            rooms: Rooms::default(),
            stand_ins: None,
            layers: KeptLayers::default(),
            sieves_layers: false,
            strays: Strays::default(),
            strayed: Vec::new(),
            ends: Vec::new(),
            pace: Pace::default(),
            ways: [Ways::default(), Ways::if_kept()],
        }
    }

    /// The instruction set in use: see [`PairFinder::isa`].
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.finder.isa()
    }

    /// Uses this instruction set from now on: see [`PairFinder::set_isa`].
    pub fn set_isa(&mut self, isa: Isa) {
        self.finder.set_isa(isa);
    }

    /// As [`PairFinder::set_max_pairs`]. A list that would keep more than eight times as many candidates is not made,
    /// and rows are not kept that have more neighbours before the caller's test has dropped some: such frames are
    /// searched from scratch. If a frame has too many neighbours, the neighbour lists may be empty afterwards.
    pub fn set_max_pairs(&mut self, pairs: usize) {
        self.finder.set_max_pairs(pairs);
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    #[must_use]
    pub fn on<'t>(&mut self, threads: Threads<'t>) -> CoherentSearch<'_, 't, D> {
        CoherentSearch::new(self, threads)
    }

    /// Keeps only pairs that pass the caller's test in one call: [`CoherentSearch::only`] on the current rayon pool.
    #[must_use]
    pub fn only<'t>(&mut self, test: &'t (dyn Fn(u32, u32) -> bool + Sync)) -> CoherentSearch<'_, 't, D> {
        self.on(Threads::Current).only(test)
    }

    /// Keeps only pairs whose sets and ids pass the caller's test in one call: [`CoherentSearch::only_of_sets`] on the
    /// current rayon pool.
    #[must_use]
    pub fn only_of_sets<'t>(
        &mut self,
        test: &'t (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync),
    ) -> CoherentSearch<'_, 't, D> {
        self.on(Threads::Current).only_of_sets(test)
    }

    /// [`CoherentSearch::find`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands, but for [`InputError::TooManyPairs`], after which the list is empty.
    pub fn find<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<Found<'_, D>, InputError> {
        self.on(Threads::Current).find(input)
    }

    /// [`CoherentSearch::neighbors`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the lists stay as they were, but may be empty after [`InputError::TooManyPairs`].
    pub fn neighbors<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).neighbors(input, rows, lists)
    }

    /// Returns the pairs of the last frame that was searched for pairs; none before the first such frame, and after a
    /// frame that has panicked or had too many pairs.
    #[must_use]
    pub fn last(&self) -> Found<'_, D> {
        self.finder.last()
    }

    /// Returns how far the fastest bodies may be from where they were searched before pairs are listed anew, in the
    /// caller's unit of length; 0 while each frame is searched from scratch.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.pace.margin()
    }

    /// Returns how many of the frames given so far have been searched from scratch.
    #[must_use]
    pub fn rebuilds(&self) -> u64 {
        self.pace.rebuilds()
    }

    /// Makes the next frame search from scratch, whatever has been kept. A list that is forgotten before it pays counts
    /// among those that end too early.
    pub fn forget(&mut self) {
        self.pace.abandon();
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.finder.bytes()
            + self.candidates.bytes()
            + self.current.bytes()
            + self.live.bytes()
            + self.live_rows.bytes()
            + self.pair_sieve.bytes()
            + self.row_sieve.bytes()
            + self.rooms.bytes()
            + self.stand_ins.as_ref().map_or(0, StandIns::bytes)
            + self.layers.bytes()
            + self.strays.bytes()
            + self.strayed.capacity() * size_of::<u32>()
            + self.ends.capacity() * size_of::<usize>()
    }

    /// Keeps the bodies of a frame, to see how far they move.
    fn keep_bodies(&mut self, given: FrameInput<'_, D>, workers: Workers<'_>) {
        self.keep_relation(given.input);
        self.current.keep(given.plain, workers);
    }

    /// Keeps which sets meet, in what space, and whether a table says so.
    fn keep_relation(&mut self, input: &Input<'_, D>) {
        self.finder.skin.keep_relation(input);
        self.by_table = is_by_table(input);
    }

    /// Answers a kept frame that began at `started` and whose bodies have used up `used` of the margin.
    fn list_kept(
        &mut self,
        given: FrameInput<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        (used, started): (f64, Instant),
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let found = match answer {
            Answer::Pairs => self.list_pairs(given, only, Some(used), workers)?,
            Answer::Rows(kind, lists) => {
                self.change_rows(given, RowRequest { kind: *kind, only, lists }, used, workers)?;
                let found = self.finder.check_pairs(lists.neighbors().len());
                if found.is_err() {
                    lists.room_for(0, 0, D);
                }
                found?
            }
        };
        self.finder.note_sieve(self.candidates.len(), found, started.elapsed());
        Ok(())
    }

    /// Returns how to make the next list, if one pays. `known`: it can be foreseen where bodies are to be. `stand_in`:
    /// bodies have stand-ins.
    fn plan_list(
        &mut self,
        input: &Input<'_, D>,
        answer: &Answer<'_>,
        (known, stand_in): (bool, bool),
    ) -> Option<ListPlan> {
        // Rows of many sets are searched for anew in each frame.
        let are_of_many = matches!(answer, Answer::Rows(..)) && is_by_table(input);
        if are_of_many {
            self.pace.decline();
        }
        if !self.pace.may_list() {
            return None;
        }
        let worth = if matches!(answer, Answer::Pairs) { OF_PAIRS } else { OF_ROWS };
        let plan = self.pace.plan_list(ListOf {
            radius: input.typical_radius(),
            axes: D,
            worth: worth[usize::from(D > 2)],
            stand_in,
            moved_in: stand_in && !input.space.is_open() && !input.is_decided(),
            known,
        })?;
        let meetings = input.meetings().len();
        let candidates = self.pace.foreseen() * bodies_of(input) as f64;
        let fill_blocks = meetings <= FEW_MEETINGS || candidates >= (meetings * BLOCK / FILLED) as f64;
        if fill_blocks && input.sets().iter().all(|set| set.len() <= MOST) {
            return Some(plan);
        }
        self.pace.decline();
        None
    }

    /// Searches from scratch, with a margin where that pays.
    fn search(
        &mut self,
        given: FrameInput<'_, D>,
        only: Option<PairTest<'_>>,
        (answer, plan): (&mut Answer<'_>, Option<ListPlan>),
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let input = given.input;
        let Some(plan) = plan.filter(|plan| given.are_single(plan.widest())) else {
            if plan.is_some() {
                self.pace.decline();
            }
            return self.search_and_probe(given, only, answer, workers);
        };
        self.layers.keep(input);
        let (started, listed_for) = (Instant::now(), answer.listed_for());
        let Answer::Rows(kind, lists) = answer else {
            if !self.list_anew(given, listed_for, plan, workers) {
                return self.search_and_probe(given, only, answer, workers);
            }
            let found = self.list_pairs(given, only, None, workers)?;
            self.finder.note_sieve(self.candidates.len(), found, started.elapsed());
            return Ok(());
        };
        let kind = *kind;
        self.search_rows(input, RowRequest { kind, only, lists }, workers)?;
        if !self.list_anew(given, listed_for, plan, workers) {
            // Without the neighbours that the caller's test has dropped.
            self.finder.stats.pairs = lists.neighbors().len() as u64;
            self.note_search(input, self.finder.stats.pairs >> u32::from(has_both_rows(kind, input)));
            self.probe(given, workers);
            return Ok(());
        }
        self.finder.note_sieve(self.candidates.len(), lists.neighbors().len(), started.elapsed());
        Ok(())
    }

    /// Searches from scratch, and keeps at most the bodies.
    fn search_and_probe(
        &mut self,
        given: FrameInput<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.search_once(given.input, only, answer, workers)?;
        self.probe(given, workers);
        Ok(())
    }

    /// Searches from scratch, and keeps nothing.
    fn search_once(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let finder = &mut self.finder;
        match answer {
            Answer::Pairs => finder.list_here(input, only, workers),
            Answer::Rows(kind, lists) => finder.list_neighbors_here(input, only, *kind, lists, workers),
        }?;
        let twice = matches!(answer, Answer::Rows(kind, _) if has_both_rows(*kind, input));
        self.note_search(input, self.finder.stats.pairs >> u32::from(twice));
        Ok(())
    }

    /// Notes that a frame was searched from scratch and has so many pairs, and that no list is kept.
    fn note_search(&mut self, input: &Input<'_, D>, pairs: u64) {
        self.strays.begin();
        self.pace.charge();
        self.pace.give_up();
        self.pace.searched(0.0, pairs, bodies_of(input));
    }

    /// Keeps the bodies of a frame that was searched, if it is time to see how far they move.
    fn probe(&mut self, given: FrameInput<'_, D>, workers: Workers<'_>) {
        if self.pace.probes() {
            self.layers.keep(given.input);
            self.keep_bodies(given, workers);
        }
    }
}

fn bodies_of<const D: usize>(input: &Input<'_, D>) -> usize {
    input.sets().iter().map(Set::len).sum()
}

impl Answer<'_> {
    /// Returns for what candidates are listed to give this answer.
    fn listed_for(&self) -> ListedFor {
        match self {
            Self::Pairs => ListedFor::Pairs,
            Self::Rows(kind, _) => ListedFor::Rows(*kind),
        }
    }
}

/// Whether each pair stands in the rows of both its bodies.
fn has_both_rows<const D: usize>(kind: Rows, input: &Input<'_, D>) -> bool {
    kind == Rows::Full && (input.sets().len() == 1 || is_by_table(input))
}

/// Whether a table says which sets meet. The same sets may meet without one, but then rows have other numbers.
fn is_by_table<const D: usize>(input: &Input<'_, D>) -> bool {
    matches!(input.relation, Relation::Among(..))
}

/// Whether all bodies of an input are in `f32` and at rest, in open space.
fn is_plain<const D: usize>(input: &Input<'_, D>) -> bool {
    input.space.is_open()
        && input
            .sets()
            .iter()
            .all(|set| set.moving.is_none() && matches!(set.source, Source::View(_)) && set.sorted_before.is_none())
}

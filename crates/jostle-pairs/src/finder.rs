//! The pair finder: its memory, and the methods that a caller uses. How a search runs is in `seek`.

pub(crate) mod found;
pub(crate) mod search;
pub(crate) mod seek;
mod thread_scratch;
pub(crate) mod ways;

use core::fmt;
use std::sync::OnceLock;

use jostle_core::{Isa, Threads, threads::run};
use jostle_sets::input::{Input, Set};
use jostle_sets::prepare::Preparation;

use crate::InputError;
use crate::finder::found::{Found, Hit};
use crate::finder::search::Search;
use crate::finder::ways::Ways;
use crate::neighbors::rows::Rows;
use crate::neighbors::skin::{Skin, spent};
use crate::neighbors::{NeighborLists, RowEngine};
use crate::pairs::engine::{Engine, too_many};
use crate::pairs::listed::Listed;
use crate::pairs::stats::Stats;

/// Finds every overlapping pair of circles (D = 2) or spheres (D = 3).
///
/// Make one finder and keep it. It owns all of its memory, except scratch that the small searches of a thread share.
/// It allocates nothing from the second search of a size that a thread makes. For some thousands of bodies, up to 30,000,
/// the finder learns from search to search whether all threads finish sooner than the calling thread alone: it takes
/// memory for either way when it first tries it. What rayon allocates: [`Threads`]. Two bodies
/// overlap when `dx*dx + dy*dy (+ dz*dz) <= s*s`, with s the sum of their radii, in f32; touching counts.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, PairFinder};
///
/// let mut finder = PairFinder::new();
/// let found = finder.find(Circles::new(&[0.0, 1.5, 9.0], &[0.0, 0.0, 0.0], 1.0))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
pub struct PairFinder<const D: usize> {
    pub(crate) preparation: Preparation<D>,
    pub(crate) engine: Engine<D>,
    pub(crate) rows: RowEngine<D>,
    pub(crate) skin: Skin<D>,
    pub(crate) listed: Listed<D>,
    /// Statistics of the last search, without bytes. `counted` adds the bytes when they are first asked for, since the
    /// memory to count is spread over all threads.
    pub(crate) stats: Stats,
    counted: OnceLock<Stats>,
    ways: [Ways; Answer::KINDS],
}

/// The kind of answer that a search is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Pairs,
    Rows,
    /// A number of pairs, calls of a function, or a fold.
    Visits,
}

impl Answer {
    const KINDS: usize = 3;
}

impl<const D: usize> fmt::Debug for PairFinder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairFinder")
            .field("bodies", &self.preparation.own_tree().len())
            .field("pairs", &self.engine.pairs.pairs().len())
            .field("isa", &self.isa())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// Clones the last result, its tree, and the bodies that [`PairFinder::still_valid`] compares with. The clone has
/// scratch memory of its own, which is empty at first.
impl<const D: usize> Clone for PairFinder<D> {
    fn clone(&self) -> Self {
        let mut engine = Engine::with_capacity(0);
        (engine.isa, engine.max_pairs) = (self.engine.isa, self.engine.max_pairs);
        engine.pairs = self.engine.pairs.clone();
        let mut preparation = Preparation::with_capacity(0);
        preparation.set_own_tree(self.preparation.own_tree().clone());
        Self {
            preparation,
            engine,
            skin: self.skin.clone(),
            listed: self.listed.clone(),
            stats: self.stats,
            counted: OnceLock::from(*self.stats()),
            ..Self::new()
        }
    }
}

impl<const D: usize> Default for PairFinder<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> PairFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A finder with memory for `bodies` bodies and as many pairs.
    #[must_use]
    pub fn with_capacity(bodies: usize) -> Self {
        Self {
            preparation: Preparation::with_capacity(bodies),
            engine: Engine::with_capacity(bodies),
            rows: RowEngine::default(),
            skin: Skin::default(),
            listed: Listed::default(),
            stats: Stats::default(),
            counted: OnceLock::new(),
            ways: Default::default(),
        }
    }

    /// The instruction set in use: the best of this machine, unless the environment variable `JOSTLE_ISA` or
    /// [`PairFinder::set_isa`] says otherwise.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.engine.isa
    }

    /// Uses this instruction set from now on. The result does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.engine.isa = isa;
        self.preparation.set_isa(isa);
    }

    /// Sets how many pairs a search may list, or neighbours in all rows together. A search that finds more counts them,
    /// takes no memory for them (at most twice as much as so many pairs take), and is refused by
    /// [`InputError::TooManyPairs`]. So no scene, all bodies at one point, say, takes memory that the host has not
    /// foreseen. Without this call, a search is refused when it asks the system for memory in vain.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, InputError, PairFinder};
    ///
    /// let mut finder = PairFinder::new();
    /// finder.set_max_pairs(1_000_000);
    /// let refused = finder.find(Circles::new(&[0.0; 2000], &[0.0; 2000], 0.5)).unwrap_err();
    /// assert_eq!(refused, InputError::TooManyPairs { pairs: 2000 * 1999 / 2, max: Some(1_000_000) });
    /// ```
    pub fn set_max_pairs(&mut self, pairs: usize) {
        self.engine.max_pairs = pairs;
    }

    pub(crate) fn max_pairs(&self) -> usize {
        self.engine.max_pairs
    }

    /// Returns how many pairs have been listed, or refuses them.
    pub(crate) fn check_pairs(&self, pairs: usize) -> Result<usize, InputError> {
        if pairs > self.max_pairs() { Err(too_many(pairs as u64, self.max_pairs())) } else { Ok(pairs) }
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    #[must_use]
    pub fn on<'t>(&mut self, threads: Threads<'t>) -> Search<'_, 't, D> {
        Search::new(self, threads)
    }

    /// Keeps, in one call, only pairs that pass the caller's test: [`Search::only`] on the current rayon pool.
    #[must_use]
    pub fn only<'t>(&mut self, test: &'t (dyn Fn(u32, u32) -> bool + Sync)) -> Search<'_, 't, D> {
        self.on(Threads::Current).only(test)
    }

    /// Keeps, in one call, only pairs whose sets and ids pass the caller's test: [`Search::only_of_sets`] on the current
    /// rayon pool.
    #[must_use]
    pub fn only_of_sets<'t>(&mut self, test: &'t (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync)) -> Search<'_, 't, D> {
        self.on(Threads::Current).only_of_sets(test)
    }

    /// [`Search::find`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands, but for [`InputError::TooManyPairs`], after which the list is empty.
    pub fn find<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<Found<'_, D>, InputError> {
        self.on(Threads::Current).find(input)
    }

    /// Finds the pairs `[a, b]` of a body a of the first set and a body b of the second: [`PairFinder::find`] of
    /// [`Input::between`].
    ///
    /// # Errors
    /// [`InputError`]; the last result stands, but for [`InputError::TooManyPairs`], after which the list is empty.
    pub fn find_between<'a>(
        &mut self,
        a: impl Into<Set<'a, D>>,
        b: impl Into<Set<'a, D>>,
    ) -> Result<Found<'_, D>, InputError> {
        self.find(Input::between(a, b))
    }

    /// [`Search::count`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn count<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<u64, InputError> {
        self.on(Threads::Current).count(input)
    }

    /// [`Search::for_each_pair`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn for_each_pair<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(u32, u32) + Sync,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).for_each_pair(input, visit)
    }

    /// [`Search::for_each_hit`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn for_each_hit<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(Hit<D>) + Sync,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).for_each_hit(input, visit)
    }

    /// [`Search::fold`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn fold<'a, A: Send>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<A, InputError> {
        self.on(Threads::Current).fold(input, init, op, merge)
    }

    /// Returns the result of the last [`find`](PairFinder::find). The list is empty before the first `find`, and after
    /// one that panicked or found too many pairs. A search that makes no list leaves this list as it was. Tree and
    /// statistics are those of the last search of any kind.
    #[must_use]
    pub fn last(&self) -> Found<'_, D> {
        Found { finder: self }
    }

    /// Takes the list of the last [`find`](PairFinder::find) out of the finder, without a copy. [`PairFinder::last`] is
    /// then empty, and the finder makes the next list in new memory.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder};
    ///
    /// let mut finder = PairFinder::new();
    /// finder.find(Circles::new(&[0.0, 1.5], &[0.0, 0.0], 1.0))?;
    /// assert_eq!(finder.take_pairs(), [[0, 1]]);
    /// assert!(finder.last().pairs().is_empty());
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn take_pairs(&mut self) -> Vec<[u32; 2]> {
        self.replace_pairs(Vec::new())
    }

    /// As [`PairFinder::take_pairs`], but the finder makes the next list in `memory`, whatever that holds. For a host
    /// that gets back the lists that it has handed out.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder};
    ///
    /// let (mut finder, mut memory) = (PairFinder::new(), Vec::new());
    /// for (x, expected) in [(1.0, vec![[0, 1]]), (9.0, vec![])] {
    ///     finder.find(Circles::new(&[0.0, x], &[0.0; 2], 1.0))?;
    ///     let pairs = finder.replace_pairs(memory);
    ///     assert_eq!(pairs, expected);
    ///     memory = pairs; // which the host hands out, and gets back
    /// }
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    pub fn replace_pairs(&mut self, memory: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
        self.listed = Listed::default();
        self.engine.pairs.replace(memory)
    }

    /// [`Search::neighbors`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the lists stay as they were.
    pub fn neighbors<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).neighbors(input, rows, lists)
    }

    /// True while every list that the last search with a margin made, and that the caller has kept, holds all pairs of
    /// these bodies. Give the bodies as they were searched: see [`Skin::still_valid`]. Searches in which no body has a
    /// margin do not change the answer. After a search with a margin that ended in a panic or in
    /// [`InputError::TooManyPairs`], no bodies are valid.
    #[must_use]
    pub fn still_valid<'a>(&self, input: impl Into<Input<'a, D>>) -> bool {
        self.skin.still_valid(input)
    }

    /// What [`PairFinder::still_valid`] is decided by, of one set or two, for hosts that hold parts of the sets in
    /// several places: 0 while all bodies are the same as they were, else 1, and by how much more than its margin a body
    /// of each set has moved, at most. Lists of all parts hold where the greatest first number is 0, or where the greatest
    /// numbers of both sets make no more than 0 together.
    #[doc(hidden)]
    #[must_use]
    pub fn spent<'a>(&self, input: impl Into<Input<'a, D>>) -> [f64; 3] {
        let input = input.into();
        run(Threads::Current, input.movable(), |workers| spent(&self.skin, &input, workers))
    }

    /// Bytes held: trees, scratch and pair list.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.preparation.bytes() + self.engine.bytes() + self.rows.bytes() + self.skin.bytes() + self.listed.bytes()
    }

    /// Statistics of the last search, with bytes.
    pub(crate) fn stats(&self) -> &Stats {
        self.counted.get_or_init(|| Stats { bytes: self.bytes(), list_bytes: self.engine.pairs.bytes(), ..self.stats })
    }

    /// For each set of `input`, whether the last search, which must be of this input, took a sort that was made before
    /// instead of sorting the set.
    #[doc(hidden)]
    #[must_use]
    pub fn adopted(&self, input: &Input<'_, D>) -> Vec<bool> {
        self.preparation.adopted(input)
    }
}

//! The public finder: pairs of bodies that lie on many ranks.

use core::cell::RefCell;
use core::fmt;
use std::time::Instant;

use jostle::{Bodies, Found, Rows};

use crate::border::Reach;
use crate::decomposition::{Decomposition, Weights};
use crate::engine::{Engine, not_by_all, own_input};
use crate::error::{DistributedError, agree};
use crate::halo::Halo;
use crate::input::DistributedInput;
use crate::migration::Field;
use crate::number::Number;
use crate::rows::DistributedRows;
use crate::share::{COLUMNS, Ids, IdsOf, LayerColumns, Share};
use crate::stats::DistributedStats;
use crate::transport::Transport;

/// Finds every overlapping pair of bodies that lie on many ranks, the same pairs for any number of ranks.
///
/// One rank reports each pair: the owner of the body of the lesser class of size (radii in powers of two). Where both
/// bodies are of one class, the lesser rank reports it (the owner of the lesser code). The order of pairs on each rank
/// depends on the input, its distribution and the number of ranks alone.
///
/// Make one finder on each rank and keep it: it owns all memory. All methods that take ranks are collective.
///
/// ```
/// use jostle::Circles;
/// use jostle_mpi::{DistributedFinder, Share, ThreadRanks, Transport};
///
/// // Three ranks with one circle each, which touch their neighbours.
/// let found = ThreadRanks::run(3, |ranks| {
///     let x = [ranks.rank() as f32];
///     let mut finder = DistributedFinder::new();
///     let found = finder.find(ranks, Share::from(Circles::new(&x, &[0.0], 0.5)))?;
///     Ok(found.global_pairs().collect::<Vec<_>>())
/// });
/// let mut pairs = found.into_iter().collect::<Result<Vec<_>, jostle_mpi::DistributedError>>()?.concat();
/// pairs.sort_unstable();
/// assert_eq!(pairs, [[0, 1], [1, 2]]);
/// # Ok::<(), jostle_mpi::DistributedError>(())
/// ```
pub struct DistributedFinder<const D: usize, T: Number = f32> {
    engine: Engine<D, T>,
    moved: Vec<Moved<D, T>>,
}

/// Copies of the bodies of a set, led to this rank.
#[derive(Debug)]
struct Moved<const D: usize, T> {
    centers: [Vec<T>; D],
    radii: Vec<T>,
    margin: T,
    ids: Vec<u64>,
    /// Displacements; empty where nothing moves.
    moves: [Vec<T>; D],
    /// Categories, masks and groups; empty where there are none.
    category: Vec<u32>,
    mask: Vec<u32>,
    group: Vec<i32>,
}

impl<const D: usize, T: Number> Moved<D, T> {
    fn copy(share: &Share<'_, D, T>, ids: IdsOf<'_>) -> Self {
        let each = 0..share.len();
        let layers = |pick: fn(LayerColumns<'_>) -> &[u32]| share.layers.map(|l| pick(l).to_vec()).unwrap_or_default();
        Self {
            centers: share.bodies.centers().map(|column| each.clone().map(|at| column.get(at)).collect()),
            radii: each.clone().map(|at| share.bodies.radii().get(at)).collect(),
            margin: share.bodies.margin(),
            ids: each.map(|at| ids.get(at)).collect(),
            moves: share.moving.map_or([const { Vec::new() }; D], |moving| moving.map(<[T]>::to_vec)),
            category: layers(|l| l.category),
            mask: layers(|l| l.mask),
            group: share.layers.and_then(|l| l.group).map(<[i32]>::to_vec).unwrap_or_default(),
        }
    }

    fn fields(&mut self) -> Vec<&mut dyn Field> {
        let mut fields: Vec<&mut dyn Field> = self.centers.iter_mut().map(|column| column as &mut dyn Field).collect();
        fields.extend([&mut self.radii as &mut dyn Field, &mut self.ids]);
        fields
    }

    fn share(&self, [has_layers, groups, moves]: [bool; 3]) -> Share<'_, D, T> {
        let centers = self.centers.each_ref().map(Vec::as_slice);
        let bodies = Bodies::from_slices(centers, &self.radii).with_margin(self.margin);
        let group = groups.then_some(self.group.as_slice());
        let layers = LayerColumns { category: &self.category, mask: &self.mask, group };
        let moving = moves.then(|| self.moves.each_ref().map(Vec::as_slice));
        Share { bodies, ids: Ids::Each(&self.ids), layers: has_layers.then_some(layers), moving }
    }
}

impl<const D: usize, T: Number> fmt::Debug for DistributedFinder<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributedFinder").field("stats", &self.engine.stats).finish_non_exhaustive()
    }
}

impl<const D: usize, T: Number> Default for DistributedFinder<D, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize, T: Number> DistributedFinder<D, T> {
    /// A finder that holds no memory yet, and searches on the current rayon pool.
    #[must_use]
    pub fn new() -> Self {
        Self { engine: Engine::new(), moved: Vec::new() }
    }

    /// A finder that searches on the calling thread alone: for hosts with one rank on each core.
    #[must_use]
    pub fn serial() -> Self {
        let mut finder = Self::new();
        finder.engine.serial = true;
        finder
    }

    /// Finds all pairs of bodies where they lie. Positions in the result are those in the host's columns.
    ///
    /// Any distribution gives the same pairs. A distribution by a [`Decomposition`] puts bodies that lie close together
    /// on one rank, and gives few ghosts. Collective.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank.
    pub fn find_in_place<'f, 'a: 'f>(
        &'f mut self,
        ranks: &impl Transport,
        input: impl Into<DistributedInput<'a, D, T>>,
    ) -> Result<DistributedFound<'f, D, T>, DistributedError> {
        find(&mut self.engine, ranks, &input.into())
    }

    /// Finds all pairs of bodies in any distribution. It first leads copies of the bodies to ranks by a
    /// [`Decomposition`], so that each rank has its share, and searches there. Positions in the result are positions in
    /// the order of the curve; [`DistributedFound::ids`] has the global ids. Collective.
    ///
    /// A host that searches again and again should lead its own columns, by [`Decomposition::migration`], and use
    /// [`DistributedFinder::find_in_place`].
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank.
    pub fn find<'f, 'a: 'f>(
        &'f mut self,
        ranks: &impl Transport,
        input: impl Into<DistributedInput<'a, D, T>>,
    ) -> Result<DistributedFound<'f, D, T>, DistributedError> {
        let input = input.into();
        let started = Instant::now();
        input.agree_on_space(ranks)?;
        let mut counts: Vec<u64> = input.shares.iter().map(|share| share.len() as u64).collect();
        // Ranks without bodies must know too which columns migrate.
        counts.extend(input.shares.iter().flat_map(|share| share.carried().map(u64::from)));
        counts.extend(
            input.shares.iter().flat_map(|share| share.carried().map(|is| u64::from(!is && !share.is_empty()))),
        );
        ranks.sum(&mut counts);
        let (counts, carried) = counts.split_at(input.shares.len());
        let (carried, lacking) = carried.split_at(carried.len() / 2);
        if let Some(what) = (0..carried.len()).find(|&what| carried[what] > 0 && lacking[what] > 0) {
            return Err(not_by_all(COLUMNS[what % COLUMNS.len()]));
        }
        let larger = usize::from(counts.len() > 1 && counts[1] > counts[0]);
        let decomposition = Decomposition::new(ranks, input.shares[larger], Weights::Count)?;
        let decomposed = Instant::now();
        self.moved.clear();
        for (share, carried) in input.shares.iter().zip(carried.chunks_exact(3)) {
            let migration = decomposition.migration(ranks, *share)?;
            let ids = IdsOf::resolve(ranks, share.ids, share.len());
            if !input.space.is_open() {
                // Before bodies leave the rank that the error is to name.
                agree(ranks, share.place_fault(&input.space, ids).as_ref(), &mut [])?;
            }
            let mut moved = Moved::copy(share, ids);
            migration.lead(ranks, &mut moved.fields());
            if carried[0] > 0 {
                migration.lead(ranks, &mut [&mut moved.category, &mut moved.mask]);
            }
            if carried[1] > 0 {
                migration.lead(ranks, &mut [&mut moved.group]);
            }
            if carried[2] > 0 {
                let mut columns: Vec<&mut dyn Field> = moved.moves.iter_mut().map(|column| column as _).collect();
                migration.lead(ranks, &mut columns);
            }
            self.moved.push(moved);
        }
        let migrated = Instant::now();
        let carried = carried.chunks_exact(3).map(|ranks| [0, 1, 2].map(|what| ranks[what] > 0));
        let shares = self.moved.iter().zip(carried).map(|(moved, carried)| moved.share(carried)).collect();
        let input = DistributedInput { shares, space: input.space };
        let mut found = find(&mut self.engine, ranks, &input)?;
        let time = &mut found.stats.time;
        (time.decompose, time.migrate) = (decomposed - started, migrated - decomposed);
        Ok(found)
    }

    /// Does all that [`find_in_place`](Self::find_in_place) does but the search itself. Returns what this rank sends,
    /// and to how many ranks. For models of more ranks than there are machines. Collective.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank.
    pub fn foretell<'a>(
        &mut self,
        ranks: &impl Transport,
        input: impl Into<DistributedInput<'a, D, T>>,
    ) -> Result<DistributedStats, DistributedError> {
        self.engine.search(ranks, &input.into(), Reach::Half, |_, _, _| Ok(()), |_, _| Ok(()))?;
        Ok(self.engine.stats)
    }

    /// Fills neighbour lists: each body of this rank, where it lies, gets a row of all bodies that it touches on any
    /// rank. Between two sets, bodies of the first set get rows of bodies of the second. The result tells the ghosts.
    /// Collective.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank; the lists are then of no use.
    pub fn neighbors<'f, 'a: 'f>(
        &'f mut self,
        ranks: &impl Transport,
        input: impl Into<DistributedInput<'a, D, T>>,
        rows: &mut DistributedRows<D>,
    ) -> Result<DistributedGhosts<'f, D, T>, DistributedError> {
        let input = input.into();
        let bodies = input.shares[input.shares.len() - 1].len();
        let rows = RefCell::new(rows);
        self.engine.search(
            ranks,
            &input,
            Reach::Full,
            |finder, own, threads| {
                let lists = &mut rows.borrow_mut();
                finder.on(threads).neighbors(*own, Rows::Full, lists.begin(&input.space)).map(|_| ())
            },
            |engine, space| rows.borrow_mut().complete(engine, space, bodies),
        )?;
        let engine = &mut self.engine;
        engine.stats.pairs = rows.borrow().neighbors().len() as u64;
        Ok(DistributedGhosts { engine })
    }

    /// Returns whether the lists of the last search in place with a margin ([`Bodies::with_margin`]) still hold all
    /// pairs of these bodies, on every rank: no body of any rank has used up its margin. Between two sets, the most that
    /// a body of the one and a body of the other has used up, on any ranks, may be as much as both margins together. Give
    /// the bodies as they were searched. Ranks decide together, and all get the same answer. As long as it is true,
    /// ghosts are where [`Halo::forward`] says. Collective.
    #[must_use]
    pub fn still_valid<'a>(&self, ranks: &impl Transport, input: impl Into<DistributedInput<'a, D, T>>) -> bool {
        let input = input.into();
        // A body may have used up its margin on a rank where no body is that it could meet.
        let mut spent = self.engine.local.spent(own_input(&input.shares, input.space));
        ranks.max(&mut spent);
        let [changed, first, second] = spent;
        changed == 0.0 || first + second <= 0.0
    }
}

/// The ghosts and statistics of a search for neighbours on this rank, borrowed from its finder.
#[derive(Debug, Clone, Copy)]
pub struct DistributedGhosts<'f, const D: usize, T: Number = f32> {
    engine: &'f Engine<D, T>,
}

impl<'f, const D: usize, T: Number> DistributedGhosts<'f, D, T> {
    /// The ghosts that rows refer to: of the only set, or of the second of two.
    #[must_use]
    pub fn halo(&self) -> &'f Halo {
        &self.engine.ghosts[self.engine.ghosts.len() - 1].halo
    }

    /// What the search did; a pair counts once for each row that holds it.
    #[must_use]
    pub fn stats(&self) -> &'f DistributedStats {
        &self.engine.stats
    }
}

fn find<'f, 'a: 'f, const D: usize, T: Number>(
    engine: &'f mut Engine<D, T>,
    ranks: &impl Transport,
    input: &DistributedInput<'a, D, T>,
) -> Result<DistributedFound<'f, D, T>, DistributedError> {
    let ids = engine.search(
        ranks,
        input,
        Reach::Half,
        |finder, own, threads| finder.on(threads).find(*own).map(|_| ()),
        |engine, space| engine.list_remote(space, ranks.rank()),
    )?;
    let remote: usize = engine.remote.iter().map(|remote| remote.pairs.len()).sum();
    engine.stats.pairs = (engine.local.last().pairs().len() + remote) as u64;
    Ok(DistributedFound { stats: engine.stats, engine, ids })
}

/// The pairs that this rank has found, borrowed from its finder.
#[derive(Debug, Clone)]
pub struct DistributedFound<'f, const D: usize, T: Number = f32> {
    engine: &'f Engine<D, T>,
    /// The global ids of each set.
    ids: Vec<IdsOf<'f>>,
    stats: DistributedStats,
}

/// A pair of bodies, by their global ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalHit<const D: usize> {
    /// The global ids: first set, then second set; in no fixed order within one set.
    pub ids: [u64; 2],
    /// By how many vectors of the cell the second body is moved to touch the first; 0 in open space.
    pub image_shift: [i32; D],
}

impl<'f, const D: usize, T: Number> DistributedFound<'f, D, T> {
    /// Number of pairs that this rank reports.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stats.pairs as usize
    }

    /// True when this rank reports no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs of bodies of this rank, by their positions on it.
    #[must_use]
    pub fn local(&self) -> Found<'f, D> {
        self.engine.local.last()
    }

    /// The pairs of a body of this rank with a ghost that this rank reports. Each pair holds the position of the body,
    /// of set `set`, and the number of the ghost in [`DistributedFound::halo`] of the set that `set` meets: the same
    /// within one set, else the other one.
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn remote(&self, set: usize) -> &'f [[u32; 2]] {
        &self.engine.remote[set].pairs
    }

    /// For each pair of [`DistributedFound::remote`], by how many vectors of the cell the ghost is moved to touch the
    /// body; empty in open space.
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn remote_shifts(&self, set: usize) -> &'f [[i32; D]] {
        &self.engine.remote[set].shifts
    }

    /// When each pair of [`DistributedFound::remote`] first touches, from 0 to 1; empty where nothing moves. The times
    /// of [`DistributedFound::local`] are in [`Found::times_of_impact`].
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn remote_times_of_impact(&self, set: usize) -> &'f [f64] {
        &self.engine.remote[set].times
    }

    /// The ghosts of a set on this rank.
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn halo(&self, set: usize) -> &'f Halo {
        &self.engine.ghosts[set].halo
    }

    /// The global ids of the bodies of a set on this rank.
    ///
    /// # Panics
    /// When there is no such set.
    pub fn ids(&self, set: usize) -> impl Fn(usize) -> u64 + use<'f, D, T> {
        let ids = self.ids[set];
        move |at| ids.get(at)
    }

    /// Every pair that this rank reports, by global ids: first pairs of its own bodies, then pairs with ghosts.
    pub fn hits(&self) -> impl Iterator<Item = GlobalHit<D>> + '_ {
        let sets = self.ids.len();
        let [first, second] = [self.ids[0], self.ids[sets - 1]];
        let local = self.local();
        let shifts = local.image_shifts().chain(core::iter::repeat([0; D]));
        let own = local.pairs().iter().zip(shifts).map(move |(&[a, b], image_shift)| GlobalHit {
            ids: [first.get(a as usize), second.get(b as usize)],
            image_shift,
        });
        let remote = (0..sets).flat_map(move |set| {
            let (ids, ghosts) = (self.ids[set], self.halo(sets - 1 - set).ids());
            let shifts = self.remote_shifts(set).iter().copied().chain(core::iter::repeat([0; D]));
            self.remote(set).iter().zip(shifts).map(move |(&[a, ghost], image_shift)| {
                let hit = GlobalHit { ids: [ids.get(a as usize), ghosts[ghost as usize]], image_shift };
                // The body of the first set comes first.
                if set == 1 {
                    GlobalHit { ids: [hit.ids[1], hit.ids[0]], image_shift: image_shift.map(|k| -k) }
                } else {
                    hit
                }
            })
        });
        own.chain(remote)
    }

    /// The same as [`DistributedFound::hits`], without shifts.
    pub fn global_pairs(&self) -> impl Iterator<Item = [u64; 2]> + '_ {
        self.hits().map(|hit| hit.ids)
    }

    /// What the search did on this rank.
    #[must_use]
    pub fn stats(&self) -> &DistributedStats {
        &self.stats
    }
}

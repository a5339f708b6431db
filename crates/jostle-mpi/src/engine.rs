//! One search over ranks. Bodies stay where they lie.

use std::time::Instant;

use jostle::{Input, InputError, PairFinder, Set, Space, Threads};

use crate::border::{Border, Reach};
use crate::cell::Cell;
use crate::cover;
use crate::decomposition::first_fault;
use crate::error::{DistributedError, Fault, agree};
use crate::halo::{self, Bunch, Ghosts, Outgoing};
use crate::input::{DistributedInput, check_same_space};
use crate::neighborhood::{Foreign, Metric, Own, meet};
use crate::number::Number;
use crate::share::{COLUMNS, IdsOf, Share};
use crate::stats::DistributedStats;
use crate::survey::{Survey, class_of};
use crate::transport::Transport;

/// Pairs of own bodies of one set with ghosts.
#[derive(Debug, Clone)]
pub(crate) struct Remote<const D: usize> {
    /// The position of the own body, and the number of the ghost.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// By how many vectors of the cell the ghost of each pair is moved; empty in open space.
    pub(crate) shifts: Vec<[i32; D]>,
    /// The time of impact of each pair; empty where nothing moves.
    pub(crate) times: Vec<f64>,
}

/// Finders, ghosts and buffers that are kept from search to search.
#[derive(Debug)]
pub(crate) struct Engine<const D: usize, T> {
    pub(crate) local: PairFinder<D>,
    pub(crate) near: PairFinder<D>,
    /// The ghosts of each set.
    pub(crate) ghosts: Vec<Ghosts<D, T>>,
    pub(crate) remote: Vec<Remote<D>>,
    /// By set: copies of the bodies of this rank that may meet ghosts, and their positions.
    pub(crate) border: Vec<(Bunch<D, T>, Vec<u32>)>,
    pub(crate) serial: bool,
    pub(crate) stats: DistributedStats,
}

impl<const D: usize, T: Number> Engine<D, T> {
    pub(crate) fn new() -> Self {
        Self {
            local: PairFinder::new(),
            near: PairFinder::new(),
            ghosts: Vec::new(),
            remote: Vec::new(),
            border: Vec::new(),
            serial: false,
            stats: DistributedStats::default(),
        }
    }

    pub(crate) fn threads(&self) -> Threads<'static> {
        if self.serial { Threads::Serial } else { Threads::Current }
    }

    /// Exchanges ghosts, and runs `local` while they travel. Then runs `remote`, and tells all ranks of an error of
    /// this rank.
    pub(crate) fn search<'a>(
        &mut self,
        ranks: &impl Transport,
        input: &DistributedInput<'a, D, T>,
        reach: Reach,
        local: impl FnOnce(&mut PairFinder<D>, &Input<'_, D>, Threads<'_>) -> Result<(), InputError>,
        remote: impl FnOnce(&mut Self, &Space<D>) -> Result<(), InputError>,
    ) -> Result<Vec<IdsOf<'a>>, DistributedError> {
        let started = Instant::now();
        let shares = &input.shares;
        let cell = Cell::of(&input.space);
        let ids: Vec<IdsOf<'a>> = shares.iter().map(|share| IdsOf::resolve(ranks, share.ids, share.len())).collect();
        let (surveys, extremes) = survey(ranks, input, &ids, cell.as_ref())?;
        let greatest = extremes.greatest;
        let metric = Metric { cell: cell.as_ref(), pad: extremes.pad };
        let foreign = neighbors(ranks, shares, &surveys, metric, greatest);
        let surveyed = Instant::now();

        let mut borders: Vec<Border> = (0..shares.len())
            .map(|set| {
                let (share, survey) = (&shares[set], &surveys[set]);
                Border::new(share, cell.as_ref(), survey, greatest, (ranks.rank(), reach), &foreign[set])
            })
            .collect();
        self.ghosts.resize_with(shares.len(), Ghosts::default);
        self.border.resize_with(shares.len(), Default::default);
        for ((share, border), (bunch, own)) in shares.iter().zip(&mut borders).zip(&mut self.border) {
            bunch.gather(share, &border.own, |radius| class_of(radius, greatest));
            *own = core::mem::take(&mut border.own);
        }
        let mut outgoing: Vec<Outgoing<'_, 'a, D, T>> = shares
            .iter()
            .zip(&ids)
            .zip(&mut borders)
            .map(|((share, &ids), border)| Outgoing { share, ids, border, greatest })
            .collect();
        let threads = self.threads();
        let mut local_time = core::time::Duration::ZERO;
        let Self { local: finder, ghosts, .. } = self;
        let (bytes, found) = halo::exchange(ranks, &mut outgoing, ghosts, || {
            let begun = Instant::now();
            let found = local(finder, &own_input(shares, input.space), threads);
            local_time = begun.elapsed();
            found
        });
        let arrived = Instant::now();
        let found = found.and_then(|()| remote(self, &input.space));
        let ended = Instant::now();
        let agreed = agree(ranks, found.err().map(|error| Fault::of(&error)).as_ref(), &mut []);
        if agreed.is_err() {
            // This rank may have listed pairs that nobody gets. It must not take them for lists that still hold.
            self.local = PairFinder::new();
        }
        agreed?;

        let mut near: Vec<u32> = foreign.iter().flatten().map(|other| other.rank).collect();
        near.sort_unstable();
        near.dedup();
        self.stats = DistributedStats {
            bodies: shares.iter().map(Share::len).sum(),
            ghosts: self.ghosts.iter().map(|ghosts| ghosts.halo.len()).sum(),
            neighbors: near.len(),
            bytes,
            ..DistributedStats::default()
        };
        let time = &mut self.stats.time;
        time.survey = surveyed - started;
        time.local = local_time;
        time.halo = (arrived - surveyed).saturating_sub(local_time);
        time.remote = ended - arrived;
        Ok(ids)
    }

    /// Lists the pairs of own bodies with ghosts that this rank reports.
    pub(crate) fn list_remote(&mut self, space: &Space<D>, rank: u32) -> Result<(), InputError> {
        let sets = self.ghosts.len();
        let none = || Remote { pairs: Vec::new(), shifts: Vec::new(), times: Vec::new() };
        self.remote.resize_with(sets, none);
        let threads = self.threads();
        for (set, remote) in self.remote.iter_mut().enumerate() {
            *remote = none();
            let (bunch, own) = &self.border[set];
            let ghosts = &self.ghosts[sets - 1 - set];
            if own.is_empty() || ghosts.halo.is_empty() {
                continue;
            }
            // This rank sees a ghost's pairs with own bodies of a class below the ghost's limit.
            let mut limits = ghosts.bunch.classes.clone();
            for (_, range) in ghosts.halo.owners().filter(|&(owner, _)| rank < owner) {
                limits[range].iter_mut().for_each(|limit| *limit += 1);
            }
            let sees = |a: u32, ghost: u32| bunch.classes[a as usize] < limits[ghost as usize];
            let search = Input::between(set_of(&bunch.share()), set_of(&ghosts.bunch.share())).space(*space);
            let found = self.near.on(threads).only(&sees).find(search)?;
            remote.pairs.extend(found.pairs().iter().map(|&[a, ghost]| [own[a as usize], ghost]));
            remote.shifts.extend(found.image_shifts());
            remote.times.extend(found.times_of_impact());
        }
        Ok(())
    }
}

/// The bodies of a share as a set of a search.
pub(crate) fn set_of<'a, const D: usize, T: Number>(share: &Share<'a, D, T>) -> Set<'a, D> {
    let set = T::set(share.bodies);
    let set = share.moving.map_or(set, |moving| set.moving(T::displacements(moving)));
    share.layers.map_or(set, |layers| set.layers(layers.layers()))
}

/// The bodies of this rank as a search.
pub(crate) fn own_input<'a, const D: usize, T: Number>(shares: &[Share<'a, D, T>], space: Space<D>) -> Input<'a, D> {
    let input = match shares {
        [one] => Input::within(set_of(one)),
        [a, b, ..] => Input::between(set_of(a), set_of(b)),
        [] => unreachable!("an input has one set or two"),
    };
    input.space(space)
}

/// Returns the error for columns of a set that only some ranks give.
pub(crate) fn not_by_all(what: &str) -> DistributedError {
    let message = format!("{what} are given by some ranks, but not by all that have bodies of the set");
    DistributedError::Rank { rank: 0, message }
}

/// Bounds that hold for all bodies of all ranks.
struct Extremes<const D: usize> {
    greatest: f64,
    pad: [f64; D],
}

/// Surveys each share in one pass over its bodies. Then all ranks agree on an error, or go on.
fn survey<const D: usize, T: Number>(
    ranks: &impl Transport,
    input: &DistributedInput<'_, D, T>,
    ids: &[IdsOf<'_>],
    cell: Option<&Cell<D>>,
) -> Result<(Vec<Survey<D>>, Extremes<D>), DistributedError> {
    let refused = input.check_space().err();
    let mut fault = refused.as_ref().map(Fault::of);
    fault = fault.or_else(|| input.shares.iter().find_map(|share| share.check_shape().err()));
    let mut surveys = Vec::new();
    if fault.is_none() {
        surveys.extend(input.shares.iter().map(|share| Survey::new(share, cell)));
        let sets = input.shares.iter().zip(ids).zip(&surveys);
        let mut unsound = sets.filter(|((share, _), survey)| !survey.sound || share.moving.is_some());
        fault = unsound.find_map(|((share, ids), _)| first_fault(share, *ids));
    }
    if let (None, Some(cell)) = (&fault, cell) {
        let sets = input.shares.iter().zip(ids).zip(&surveys);
        let mut far = sets.filter(|(_, survey)| cell.may_be_far(&survey.far));
        fault = far.find_map(|((share, ids), _)| share.place_fault(&input.space, *ids));
    }
    let sets = input.shares.len();
    let mut values = vec![0.0_f64; 1 + 2 * D + 2 * COLUMNS.len() * sets];
    let [far, far_within, given] = [1, 1 + D, 1 + 2 * D];
    for (set, (share, survey)) in input.shares.iter().zip(&surveys).enumerate() {
        values[0] = values[0].max(survey.greatest);
        for axis in 0..D {
            values[far + axis] = values[far + axis].max(survey.far[axis]);
            values[far_within + axis] = values[far_within + axis].max(survey.far_within[axis]);
        }
        if !share.is_empty() {
            for (what, carried) in share.carried().into_iter().enumerate() {
                values[given + 2 * (COLUMNS.len() * set + what) + usize::from(carried)] = 1.0;
            }
        }
    }
    let of_space = values.len();
    values.extend(input.numbers_of_space());
    let agreed = agree(ranks, fault.as_ref(), &mut values);
    refused.map_or(Ok(()), |refused| Err(refused.into())).and(agreed)?;
    check_same_space(&values[of_space..])?;
    let mut given = values[given..of_space].chunks_exact(2).zip(COLUMNS.into_iter().cycle());
    if let Some((_, what)) = given.find(|(given, _)| *given == [1.0; 2]) {
        return Err(not_by_all(what));
    }
    let mut pad = [0.0; D];
    if let Some(cell) = cell {
        for (axis, extent) in cell.extents().into_iter().enumerate().filter(|&(_, extent)| extent > 0.0) {
            let within = values[far_within + axis] + extent + values[0];
            pad[axis] = within * T::MOVED + values[far + axis] * f64::MOVED;
        }
    }
    Ok((surveys, Extremes { greatest: values[0], pad }))
}

/// Returns, for each set, the covers of other ranks' bodies that the set may meet.
fn neighbors<const D: usize, T: Number>(
    ranks: &impl Transport,
    shares: &[Share<'_, D, T>],
    surveys: &[Survey<D>],
    metric: Metric<'_, D>,
    greatest: f64,
) -> Vec<Vec<Foreign<D>>> {
    if ranks.size() == 1 {
        return vec![Vec::new(); shares.len()];
    }
    let of = |set: usize| {
        let (share, survey) = (&shares[set], &surveys[set]);
        move |totals: &[cover::Covered<D>]| cover::cover(share, metric.cell, survey, greatest, totals)
    };
    let covers: Vec<_> = (0..shares.len()).map(of).collect();
    let totals = |(share, survey)| cover::totals(share, metric.cell, survey, greatest);
    let own = shares.iter().zip(surveys).map(totals).zip(&covers);
    let own: Vec<Own<'_, D>> = own.map(|(totals, cover)| Own { totals, cover }).collect();
    meet(ranks, metric, &own)
}

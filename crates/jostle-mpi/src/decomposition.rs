//! Decides which rank owns which bodies: splitters of the Morton order, found from samples.
//!
//! After J. S. Huang and Y. C. Chow, "Parallel sorting and data partitioning by sampling" (1983), with exact counts
//! below each candidate, as in histogram sort (L. V. Kale and S. Krishnan, 1993). The share of a rank is off by at most
//! the distance of two candidates, and each rank has many of them.

pub(crate) mod key;

use jostle::Threads;
use jostle::radix::RadixSort;

use crate::error::{DistributedError, Fault, agree};
use crate::migration::Migration;
use crate::number::Number;
use crate::share::{IdsOf, Share};
use crate::span::Span;
use crate::transport::Transport;
use crate::wire;
use key::{Frame, Key, Keys};

/// Candidates for each rank. With more than `MANY` ranks there are fewer, because every rank holds the candidates of
/// all ranks.
const CANDIDATES: usize = 128;
const CANDIDATES_OF_MANY: usize = 64;
const MANY: u32 = 256;

/// A code is crowded if it has at least one `CROWDED`th of the candidates for one rank, and at least two. Its bodies
/// get an order of their own.
const CROWDED: usize = 4;

/// How far a cut may be off so that its key is round, as a part of a mean share.
const ROUNDED: f64 = 0.02;

/// What a body costs the rank that owns it.
#[derive(Debug, Clone, Copy, Default)]
pub enum Weights<'a> {
    /// Every body costs the same.
    #[default]
    Count,
    /// The cost of all bodies of this rank together, measured time for example, spread evenly over them. All ranks give
    /// one.
    Rank(f64),
    /// The cost of each body.
    Each(&'a [f64]),
}

/// How many units all weights together make at most. Units are whole numbers, so that sums do not depend on their
/// order.
const UNITS: f64 = (1_u64 << 52) as f64;

/// Says which rank owns which part of the Morton curve over the centres of all bodies. Bodies of equal codes are
/// ordered by id.
///
/// Codes are over the box of all centres. Many bodies may share a code, because one body lies far out or because they
/// are one cluster of many. Codes over their own box then tell them apart, and ids tell apart bodies that lie at one
/// point. So ranks get equal shares of any bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition<const D: usize> {
    keys: Keys<D>,
    /// The least key of each rank but the first.
    splitters: Vec<Key>,
}

/// A body of this rank, with its key in the order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) key: Key,
    pub(crate) at: u32,
}

impl<const D: usize> Decomposition<D> {
    /// Cuts the curve so that each rank gets its share of the weight. Collective.
    ///
    /// O(n) on each rank; every rank holds 64 or 128 candidates for each rank.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank.
    pub fn new<T: Number>(
        ranks: &impl Transport,
        share: Share<'_, D, T>,
        weights: Weights<'_>,
    ) -> Result<Self, DistributedError> {
        let ids = IdsOf::resolve(ranks, share.ids, share.len());
        let (bounds, weights, total) = survey(ranks, &share, ids, weights)?;
        let mut keys = Keys { frame: Frame::over(&bounds), crowded: Vec::new() };
        let mut placed = place(&keys, &share, ids);
        let mut candidates = candidates(ranks, &placed, weights, total);
        if refine(ranks, &mut keys, &candidates, &share) {
            placed = place(&keys, &share, ids);
            candidates = self::candidates(ranks, &placed, weights, total);
        }
        let splitters = split(ranks, &placed, weights, total, candidates);
        Ok(Self { keys, splitters })
    }

    /// Returns the rank that is to own a body.
    #[must_use]
    pub fn owner<T: Number>(&self, center: [T; D], id: u64) -> u32 {
        self.owner_of(&self.keys.of(center.map(T::to_f64), id))
    }

    pub(crate) fn owner_of(&self, key: &Key) -> u32 {
        self.splitters.partition_point(|splitter| splitter <= key) as u32
    }

    /// Returns the migration that leads every body to its owner, where bodies will stand in the order of the curve.
    /// Collective.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank.
    pub fn migration<T: Number>(
        &self,
        ranks: &impl Transport,
        share: Share<'_, D, T>,
    ) -> Result<Migration, DistributedError> {
        let ids = IdsOf::resolve(ranks, share.ids, share.len());
        let fault = share.check_shape().err().or_else(|| first_fault(&share, ids));
        agree(ranks, fault.as_ref(), &mut [])?;
        Ok(Migration::new(ranks, self, &place(&self.keys, &share, ids)))
    }

    /// Returns the greatest weight of a rank over the mean, 1 at best, for bodies where they now lie. It tells whether
    /// a new decomposition is due. Collective.
    #[must_use]
    pub fn imbalance(ranks: &impl Transport, weight: f64) -> f64 {
        let mut greatest = [weight];
        ranks.max(&mut greatest);
        let [greatest] = greatest;
        if greatest <= 0.0 {
            return 1.0;
        }
        let mut sum = [(weight / greatest * UNITS / f64::from(ranks.size())) as u64];
        ranks.sum(&mut sum);
        UNITS / sum[0] as f64
    }

    /// Cuts the curve anew if the imbalance of this weight, number of bodies or measured time, exceeds a threshold, 1.2
    /// for example. Returns whether it did. Collective.
    ///
    /// # Errors
    /// [`DistributedError`], the same on every rank; the decomposition stays as it was.
    pub fn rebalance<T: Number>(
        &mut self,
        ranks: &impl Transport,
        share: Share<'_, D, T>,
        weight: f64,
        threshold: f64,
    ) -> Result<bool, DistributedError> {
        if Self::imbalance(ranks, weight) <= threshold {
            return Ok(false);
        }
        *self = Self::new(ranks, share, Weights::Rank(weight))?;
        Ok(true)
    }
}

/// Returns the first fault of the bodies of this rank, with the number of faulty bodies; if there is none, the first
/// fault of their displacements.
pub(crate) fn first_fault<const D: usize, T: Number>(share: &Share<'_, D, T>, ids: IdsOf<'_>) -> Option<Fault> {
    let mut faults = (0..share.len()).filter_map(|at| share.fault(at).map(|reason| (at, reason)));
    let Some((at, reason)) = faults.next() else {
        return (0..share.len()).find_map(|at| share.displacement_fault(at, ids));
    };
    Some(Fault::Body { id: ids.get(at), reason, count: 1 + faults.count() as u64 })
}

/// Returns the box of the centres on all ranks, the weights, and how many units a weight of 1 makes. Where all bodies
/// weigh nothing, they weigh the same.
fn survey<'w, const D: usize, T: Number>(
    ranks: &impl Transport,
    share: &Share<'_, D, T>,
    ids: IdsOf<'_>,
    weights: Weights<'w>,
) -> Result<(Span<D>, Weights<'w>, f64), DistributedError> {
    let mut bounds = Span::EMPTY;
    let mut fault = share.check_shape().err().or_else(|| check_weights(weights, share.len()).err());
    if fault.is_none() {
        for at in 0..share.len() {
            let center = share.bodies.center(at).map(T::to_f64);
            bounds.join(&Span { lo: center, hi: center });
        }
        fault = first_fault(share, ids);
    }
    let bodies = share.len() as f64;
    let own = match weights {
        Weights::Count => bodies,
        // Without bodies, there is nothing to spread it over.
        Weights::Rank(weight) => weight * bodies.min(1.0),
        Weights::Each(weights) => weights.iter().sum(),
    };
    let mut greatest: Vec<f64> = bounds.to_max().chain([own, bodies]).collect();
    agree(ranks, fault.as_ref(), &mut greatest)?;
    let [own, bodies] = [greatest[2 * D], greatest[2 * D + 1]];
    // No rank weighs more than the greatest weight, so the units of all ranks together fit a u64.
    let unit = |most: f64| UNITS / f64::from(ranks.size()) / most;
    // Where weights are so small that no number of units makes them up, they are nothing.
    let (weights, unit) = if unit(own).is_finite() { (weights, unit(own)) } else { (Weights::Count, unit(bodies)) };
    Ok((Span::from_max(&greatest), weights, if unit.is_finite() { unit } else { 0.0 }))
}

fn check_weights(weights: Weights<'_>, bodies: usize) -> Result<(), Fault> {
    let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    match weights {
        Weights::Each(weights) if weights.len() != bodies => {
            Err(Fault::Whole(format!("{bodies} bodies, but {} weights; each needs one", weights.len())))
        }
        Weights::Each(weights) => match weights.iter().position(|weight| !sound(weight)) {
            Some(at) => Err(Fault::Whole(format!(
                "the weight of body {at} of this rank is {}: weights must be finite and not negative",
                weights[at]
            ))),
            None if weights.iter().sum::<f64>().is_infinite() => {
                Err(Fault::Whole("the sum of the weights of this rank is not finite: choose a larger unit".to_owned()))
            }
            None => Ok(()),
        },
        Weights::Rank(weight) if !sound(&weight) => {
            Err(Fault::Whole(format!("the weight of this rank is {weight}: it must be finite and not negative")))
        }
        _ => Ok(()),
    }
}

/// The bodies of this rank in the order of their keys.
fn place<const D: usize, T: Number>(keys: &Keys<D>, share: &Share<'_, D, T>, ids: IdsOf<'_>) -> Vec<Placed> {
    let of = |at: usize| Placed { key: keys.of(share.bodies.center(at).map(T::to_f64), ids.get(at)), at: at as u32 };
    let mut placed: Vec<Placed> = (0..share.len()).map(of).collect();
    if !placed.is_sorted_by_key(|body| body.key) {
        let mut sort = RadixSort::new();
        if matches!(ids, IdsOf::Each(_)) {
            sort.sort_by_code(&mut placed, Threads::Current, |body| body.key.id);
        }
        if !keys.crowded.is_empty() {
            sort.sort_by_code(&mut placed, Threads::Current, |body| body.key.fine);
        }
        sort.sort_by_code(&mut placed, Threads::Current, |body| body.key.code);
    }
    placed
}

/// Prefix sums of weight, in units, over the bodies of this rank in their order.
struct Scale<'a> {
    /// Units of each body, where bodies weigh the same.
    each: f64,
    before: Vec<u64>,
    placed: &'a [Placed],
}

impl<'a> Scale<'a> {
    fn new(placed: &'a [Placed], weights: Weights<'_>, unit: f64) -> Self {
        let (mut before, mut each) = (Vec::new(), unit);
        match weights {
            Weights::Count => {}
            Weights::Rank(weight) => each = unit * weight / placed.len().max(1) as f64,
            Weights::Each(weights) => {
                let mut sum = 0;
                before.push(0);
                before.extend(placed.iter().map(|body| {
                    sum += (weights[body.at as usize] * unit) as u64;
                    sum
                }));
            }
        }
        Self { each, before, placed }
    }

    fn before(&self, number: usize) -> u64 {
        if self.before.is_empty() { (self.each * number as f64) as u64 } else { self.before[number] }
    }

    fn all(&self) -> u64 {
        self.before(self.placed.len())
    }

    /// Returns the first body whose prefix sum, its own weight included, exceeds `weight`.
    fn at(&self, weight: u64) -> Option<&Placed> {
        let (mut low, mut high) = (0, self.placed.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.before(middle + 1) <= weight { low = middle + 1 } else { high = middle }
        }
        self.placed.get(low)
    }
}

/// Returns the candidates of all ranks, in order: keys at even distances of weight on each rank.
fn candidates(ranks: &impl Transport, placed: &[Placed], weights: Weights<'_>, unit: f64) -> Vec<Key> {
    let scale = Scale::new(placed, weights, unit);
    let mut all = [scale.all()];
    ranks.sum(&mut all);
    let step = (all[0] / (per_rank(ranks) * ranks.size() as usize) as u64).max(1);
    // Each rank begins at another place within a step, so that ranks with little weight are not all left out.
    let start = step * u64::from(ranks.rank()) / u64::from(ranks.size());
    let mine: Vec<Key> = (0..)
        .map_while(|k| scale.at(start + k * step).filter(|_| start + k * step < scale.all()))
        .map(|body| body.key)
        .collect();
    let mut candidates: Vec<Key> =
        ranks.all_gather(bytemuck::cast_slice(&mine)).iter().flat_map(|bytes| wire::all(bytes)).collect();
    candidates.sort_unstable();
    candidates
}

fn per_rank(ranks: &impl Transport) -> usize {
    if ranks.size() > MANY { CANDIDATES_OF_MANY } else { CANDIDATES }
}

/// Finds crowded codes and gives them frames of their own. Returns whether there are any. Collective.
fn refine<const D: usize, T: Number>(
    ranks: &impl Transport,
    keys: &mut Keys<D>,
    candidates: &[Key],
    share: &Share<'_, D, T>,
) -> bool {
    let enough = (per_rank(ranks) / CROWDED).max(2);
    let runs = candidates.chunk_by(|a, b| a.code == b.code).filter(|run| run.len() >= enough);
    let codes: Vec<u64> = runs.map(|run| run[0].code).collect();
    if codes.is_empty() || ranks.size() == 1 {
        return false;
    }
    let mut spans = vec![Span::EMPTY; codes.len()];
    for at in 0..share.len() {
        let center = share.bodies.center(at).map(T::to_f64);
        if let Ok(crowd) = codes.binary_search(&keys.frame.code(center)) {
            spans[crowd].join(&Span { lo: center, hi: center });
        }
    }
    let mut values: Vec<f64> = spans.into_iter().flat_map(Span::to_max).collect();
    ranks.max(&mut values);
    let frames = values.chunks_exact(2 * D).map(|values| Frame::over(&Span::from_max(values)));
    keys.crowded = codes.into_iter().zip(frames).collect();
    true
}

/// Returns the splitters: the candidates that cut the weight best, or round keys near them.
fn split(
    ranks: &impl Transport,
    placed: &[Placed],
    weights: Weights<'_>,
    unit: f64,
    mut candidates: Vec<Key>,
) -> Vec<Key> {
    candidates.dedup();
    let scale = Scale::new(placed, weights, unit);
    let before = |key: &Key| scale.before(placed.partition_point(|body| body.key < *key));
    let mut below: Vec<u64> = candidates.iter().map(before).chain([scale.all()]).collect();
    ranks.sum(&mut below);
    let all = below.pop().unwrap_or(0);
    let target = |rank: u32| (u128::from(all) * u128::from(rank) / u128::from(ranks.size())) as u64;
    let slack = (all as f64 / f64::from(ranks.size()) * ROUNDED) as u64;
    let nearest = |rank| {
        let wanted = target(rank);
        let above = below.partition_point(|&weight| weight < wanted);
        let closer = above > 0 && (above == below.len() || wanted - below[above - 1] < below[above] - wanted);
        let nearest = candidates.get(if closer { above - 1 } else { above }).copied().unwrap_or_default();
        let first = below.partition_point(|&weight| weight + slack < wanted);
        let end = below.partition_point(|&weight| weight <= wanted + slack);
        match candidates.get(first..end) {
            Some([low, .., high]) => roundest(low, high).unwrap_or(nearest),
            _ => nearest,
        }
    };
    (1..ranks.size()).map(nearest).collect()
}

/// Returns the key above `low` and up to `high` whose code ends in the most zeros. A cut there follows the borders of
/// large cells, so that few boxes cover the bodies on either side. `None` if both keys have one code.
fn roundest(low: &Key, high: &Key) -> Option<Key> {
    let differing = (low.code ^ high.code).checked_ilog2()?;
    Some(Key { code: high.code >> differing << differing, ..Key::default() })
}

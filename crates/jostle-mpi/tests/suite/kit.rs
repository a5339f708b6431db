//! Bodies dealt to ranks, and what one process finds.

use jostle::{Bodies, PairFinder, Space, Threads};
use jostle_mpi::{DistributedFinder, DistributedInput, Number, Share, ThreadRanks, Transport};
use jostle_testkit::Scene;
use jostle_testkit::pairs::{Hit, hit, sort_hits};

/// How the bodies of a scene are dealt to ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Deal {
    /// One body to each rank in turn, as cards are dealt.
    Round,
    /// In runs of the scene's order.
    Runs,
    /// All on the last rank.
    OnOne,
    /// Every other rank has no bodies.
    OnHalf,
}

impl Deal {
    pub(crate) const ALL: [Self; 4] = [Self::Round, Self::Runs, Self::OnOne, Self::OnHalf];

    pub(crate) fn owner(self, at: usize, bodies: usize, ranks: u32) -> u32 {
        let count = ranks as usize;
        (match self {
            Self::Round => at % count,
            Self::Runs => at * count / bodies.max(1),
            Self::OnOne => count - 1,
            Self::OnHalf => (at * 7 % count) & !1,
        }) as u32
    }
}

/// Returns the bodies of a rank, and their ids in the scene.
pub(crate) fn part<const D: usize>(scene: &Scene<D>, deal: Deal, ranks: &impl Transport) -> (Scene<D>, Vec<u64>) {
    let mine = |at: &usize| deal.owner(*at, scene.len(), ranks.size()) == ranks.rank();
    let ids: Vec<u64> = (0..scene.len()).filter(mine).map(|at| at as u64).collect();
    let body = |&id: &u64| (scene.centers.each_ref().map(|column| column[id as usize]), scene.radii[id as usize]);
    (ids.iter().map(body).collect(), ids)
}

/// Returns what one process finds.
pub(crate) fn alone<const D: usize, T: Number>(bodies: Bodies<'_, D, T>, space: Space<D>) -> Vec<Hit> {
    let mut finder = PairFinder::new();
    let found =
        finder.on(Threads::Serial).find(jostle::Input::within(T::set(bodies)).space(space)).expect("sound bodies");
    let shifts = found.image_shifts().chain(core::iter::repeat([0; D]));
    let mut hits: Vec<_> = found.pairs().iter().zip(shifts).map(|(pair, s)| hit(pair.map(u64::from), s)).collect();
    sort_hits(&mut hits);
    hits
}

/// Returns what this rank reports.
pub(crate) fn here<const D: usize>(
    ranks: &impl Transport,
    scene: &Scene<D>,
    space: Space<D>,
    (deal, in_place): (Deal, bool),
) -> Vec<Hit> {
    let (own, ids) = part(scene, deal, ranks);
    let mut finder = DistributedFinder::serial();
    let input = DistributedInput::within(Share::from(own.view()).ids(&ids)).space(space);
    let found = if in_place { finder.find_in_place(ranks, input) } else { finder.find(ranks, input) };
    found.expect("sound bodies").hits().map(|found| hit(found.ids, found.image_shift)).collect()
}

/// Returns what so many threads find together.
pub(crate) fn together<const D: usize>(
    scene: &Scene<D>,
    space: Space<D>,
    (ranks, deal, in_place): (u32, Deal, bool),
) -> Vec<Hit> {
    let mut hits = ThreadRanks::run(ranks, |ranks| here(ranks, scene, space, (deal, in_place))).concat();
    sort_hits(&mut hits);
    hits
}

//! Ghosts: copies of bodies of other ranks, and the exchange of values between ghosts and their owners.

use core::ops::{AddAssign, Range};

use bytemuck::Pod;
use jostle::Bodies;

use crate::border::Border;
use crate::number::Number;
use crate::share::{IdsOf, LayerColumns, Share};
use crate::transport::Transport;
use crate::wire::{self, Reader};

/// The ghosts of a set on this rank, and which bodies of this rank are ghosts elsewhere.
///
/// Ghosts stand in the order of the ranks that own them, then in the order of the bodies there. [`Halo::forward`]
/// brings values of ghosts up to date, as long as bodies stay on their ranks and in their order.
#[derive(Debug, Clone, Default)]
pub struct Halo {
    sends: Vec<(u32, Vec<u32>)>,
    receives: Vec<(u32, Range<usize>)>,
    ids: Vec<u64>,
}

impl Halo {
    /// Number of ghosts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True when there is no ghost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The global id of each ghost.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// The ranks that own ghosts, each with its ghosts.
    pub fn owners(&self) -> impl ExactSizeIterator<Item = (u32, Range<usize>)> + '_ {
        self.receives.iter().cloned()
    }

    /// The ranks where bodies of this rank are ghosts, each with the positions of those bodies.
    pub fn sends(&self) -> impl ExactSizeIterator<Item = (u32, &[u32])> {
        self.sends.iter().map(|(rank, at)| (*rank, at.as_slice()))
    }

    /// The owner of a ghost.
    ///
    /// # Panics
    /// When there is no such ghost.
    #[must_use]
    pub fn owner(&self, ghost: usize) -> u32 {
        self.receives[self.receives.partition_point(|(_, ghosts)| ghosts.end <= ghost)].0
    }

    /// Sends values from owners to ghosts: `ghosts` becomes the values of the ghosts, in their order. Collective.
    /// Several fields go in one message as arrays, `[f64; 6]` for example.
    ///
    /// # Panics
    /// When a body that is a ghost elsewhere has no value.
    pub fn forward<F: Pod>(&self, ranks: &impl Transport, owned: &[F], ghosts: &mut Vec<F>) {
        let pack = |(rank, at): &(u32, Vec<u32>)| {
            let mut bytes = Vec::with_capacity(at.len() * size_of::<F>());
            at.iter().for_each(|&at| bytes.extend_from_slice(bytemuck::bytes_of(&owned[at as usize])));
            (*rank, bytes)
        };
        let (messages, ()) = ranks.exchange(self.sends.iter().map(pack).collect(), || ());
        ghosts.clear();
        for ((_, range), (_, bytes)) in self.receives.iter().zip(&messages) {
            Reader(bytes).take(range.len(), ghosts);
        }
    }

    /// Sends values, forces for example, back from ghosts to owners, and adds them to the owners' values. It adds rank
    /// after rank, so that the sum does not depend on which message comes first. Collective.
    ///
    /// # Panics
    /// When there is not a value for each ghost.
    pub fn reverse_add<F: Pod + AddAssign>(&self, ranks: &impl Transport, ghosts: &[F], owned: &mut [F]) {
        self.reverse(ranks, ghosts, owned, |mine, theirs| *mine += theirs);
    }

    /// Does the same as [`Halo::reverse_add`] by the caller's sum, of arrays for example.
    ///
    /// # Panics
    /// When there is not a value for each ghost.
    pub fn reverse<F: Pod>(
        &self,
        ranks: &impl Transport,
        ghosts: &[F],
        owned: &mut [F],
        mut add: impl FnMut(&mut F, F),
    ) {
        assert_eq!(ghosts.len(), self.len(), "there is not a value for each ghost");
        let pack = |(rank, range): &(u32, Range<usize>)| (*rank, bytemuck::cast_slice(&ghosts[range.clone()]).to_vec());
        let (messages, ()) = ranks.exchange(self.receives.iter().map(pack).collect(), || ());
        for ((_, at), (_, bytes)) in self.sends.iter().zip(&messages) {
            let mut reader = Reader(bytes);
            at.iter().for_each(|&at| add(&mut owned[at as usize], reader.one()));
        }
    }
}

/// Copies of bodies: some of this rank's own, or ghosts.
#[derive(Debug, Clone)]
pub(crate) struct Bunch<const D: usize, T> {
    pub(crate) centers: [Vec<T>; D],
    pub(crate) radii: Vec<T>,
    pub(crate) classes: Vec<u8>,
    /// Displacements; empty where nothing moves.
    pub(crate) moves: [Vec<T>; D],
    /// Categories, masks and groups; empty where there are none.
    pub(crate) category: Vec<u32>,
    pub(crate) mask: Vec<u32>,
    pub(crate) group: Vec<i32>,
}

impl<const D: usize, T> Default for Bunch<D, T> {
    fn default() -> Self {
        Self {
            centers: [const { Vec::new() }; D],
            radii: Vec::new(),
            classes: Vec::new(),
            moves: [const { Vec::new() }; D],
            category: Vec::new(),
            mask: Vec::new(),
            group: Vec::new(),
        }
    }
}

impl<const D: usize, T: Number> Bunch<D, T> {
    fn clear(&mut self) {
        self.centers.iter_mut().for_each(Vec::clear);
        self.radii.clear();
        self.classes.clear();
        self.moves.iter_mut().for_each(Vec::clear);
        self.category.clear();
        self.mask.clear();
        self.group.clear();
    }

    /// Replaces the copies by copies of the bodies at these positions.
    pub(crate) fn gather(&mut self, share: &Share<'_, D, T>, at: &[u32], class: impl Fn(f64) -> u8) {
        self.clear();
        for (copies, column) in self.centers.iter_mut().zip(share.bodies.centers()) {
            copies.extend(at.iter().map(|&at| column.get(at as usize)));
        }
        self.radii.extend(at.iter().map(|&at| share.bodies.radius(at as usize)));
        self.classes.extend(self.radii.iter().map(|radius| class(radius.to_f64())));
        if let Some(moving) = share.moving {
            let columns = self.moves.iter_mut().zip(moving);
            columns.for_each(|(copies, column)| copies.extend(at.iter().map(|&at| column[at as usize])));
        }
        if let Some(LayerColumns { category, mask, group }) = share.layers {
            self.category.extend(at.iter().map(|&at| category[at as usize]));
            self.mask.extend(at.iter().map(|&at| mask[at as usize]));
            if let Some(group) = group {
                self.group.extend(at.iter().map(|&at| group[at as usize]));
            }
        }
    }

    /// Returns the copies as a set of a search. Their radii include their margins.
    pub(crate) fn share(&self) -> Share<'_, D, T> {
        let bodies = Bodies::from_slices(self.centers.each_ref().map(Vec::as_slice), &self.radii);
        let group = (!self.group.is_empty()).then_some(self.group.as_slice());
        let layers = LayerColumns { category: &self.category, mask: &self.mask, group };
        let moving = (!self.moves[0].is_empty()).then(|| self.moves.each_ref().map(Vec::as_slice));
        Share { layers: (!self.category.is_empty()).then_some(layers), moving, ..bodies.into() }
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        let has = [self.category.is_empty(), self.group.is_empty(), self.moves[0].is_empty()];
        let flags = (0..).zip(has).map(|(bit, none)| u64::from(!none) << bit).sum();
        wire::put(bytes, &[self.radii.len() as u64, flags]);
        self.centers.iter().for_each(|column| wire::put(bytes, column));
        wire::put(bytes, &self.radii);
        wire::put(bytes, &self.classes);
        wire::put(bytes, &self.category);
        wire::put(bytes, &self.mask);
        wire::put(bytes, &self.group);
        self.moves.iter().for_each(|column| wire::put(bytes, column));
    }

    fn take(&mut self, reader: &mut Reader<'_>) -> usize {
        let [count, flags]: [u64; 2] = reader.one();
        let count = count as usize;
        self.centers.iter_mut().for_each(|column| reader.take(count, column));
        reader.take(count, &mut self.radii);
        reader.take(count, &mut self.classes);
        let of = |bit: u32| if flags >> bit & 1 == 0 { 0 } else { count };
        reader.take(of(0), &mut self.category);
        reader.take(of(0), &mut self.mask);
        reader.take(of(1), &mut self.group);
        self.moves.iter_mut().for_each(|column| reader.take(of(2), column));
        count
    }
}

/// Ghosts of a set, with all columns that a search needs.
#[derive(Debug, Clone)]
pub(crate) struct Ghosts<const D: usize, T> {
    pub(crate) halo: Halo,
    pub(crate) bunch: Bunch<D, T>,
}

impl<const D: usize, T> Default for Ghosts<D, T> {
    fn default() -> Self {
        Self { halo: Halo::default(), bunch: Bunch::default() }
    }
}

/// What one set sends.
pub(crate) struct Outgoing<'s, 'a, const D: usize, T: Number> {
    pub(crate) share: &'s Share<'a, D, T>,
    pub(crate) ids: IdsOf<'a>,
    pub(crate) border: &'s mut Border,
    pub(crate) greatest: f64,
}

/// Sends the bodies of each set that other ranks must know, and receives ghosts. `meanwhile` runs while messages
/// travel. Returns the number of bytes that were sent, and the result of `meanwhile`.
pub(crate) fn exchange<const D: usize, T: Number, R>(
    ranks: &impl Transport,
    sets: &mut [Outgoing<'_, '_, D, T>],
    ghosts: &mut [Ghosts<D, T>],
    meanwhile: impl FnOnce() -> R,
) -> (u64, R) {
    let mut to: Vec<u32> = sets.iter().flat_map(|set| set.border.sends.iter().map(|&(rank, _)| rank)).collect();
    to.sort_unstable();
    to.dedup();
    let mut bunch = Bunch::default();
    let mut pack = |rank: u32| {
        let mut bytes = Vec::new();
        for set in &*sets {
            let at = set.border.sends.iter().find(|&&(to, _)| to == rank).map_or(&[][..], |(_, at)| at);
            bunch.gather(set.share, at, |radius| crate::survey::class_of(radius, set.greatest));
            bunch.put(&mut bytes);
            at.iter().for_each(|&at| wire::put(&mut bytes, &[set.ids.get(at as usize)]));
        }
        (rank, bytes)
    };
    let outgoing: Vec<_> = to.into_iter().map(&mut pack).collect();
    let sent = outgoing.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let (messages, result) = ranks.exchange(outgoing, meanwhile);
    for (set, ghosts) in sets.iter_mut().zip(ghosts.iter_mut()) {
        ghosts.bunch.clear();
        ghosts.halo = Halo { sends: core::mem::take(&mut set.border.sends), ..Halo::default() };
    }
    for (from, bytes) in messages {
        let mut reader = Reader(&bytes);
        for ghosts in ghosts.iter_mut() {
            let count = ghosts.bunch.take(&mut reader);
            let first = ghosts.halo.ids.len();
            reader.take(count, &mut ghosts.halo.ids);
            if count > 0 {
                ghosts.halo.receives.push((from, first..first + count));
            }
        }
    }
    (sent, result)
}

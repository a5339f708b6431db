//! Candidates of the same two sets, block by block, of which those are tested in each frame that may have changed.

use core::mem::replace;
use std::sync::{Mutex, PoisonError};

use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BLOCK, Scale, range_of};
use crate::coherent::block::Block;
use crate::coherent::course::{Come, bands_to_test};
use crate::coherent::current::Test;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Those of the candidates that were sorted last.
    blocks: Vec<Box<Block>>,
    /// Memory for more.
    stock: Stock,
    /// How far bodies had come in the last frame.
    come: Come,
}

/// More blocks than these, 4 MB of them, are in no cache near the core.
const NEAR: usize = 64;

/// Whether what is read of so many blocks is to be asked for before.
pub(super) fn are_far(blocks: &[Box<Block>]) -> bool {
    blocks.len() > NEAR
}

/// Blocks that workers take, in any order, and those that they have sorted.
#[derive(Debug, Default)]
pub(super) struct Stock {
    spare: Mutex<Vec<Box<Block>>>,
    sorted: Mutex<Vec<Sorted>>,
}

/// A sorted block, and of what: a block of a search, and which of its parts.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) of: [usize; 2],
    pub(super) block: Box<Block>,
}

impl Stock {
    pub(super) fn take(&self) -> Box<Block> {
        locked(&self.spare).pop().unwrap_or_default()
    }

    pub(super) fn put(&self, sorted: Sorted) {
        locked(&self.sorted).push(sorted);
    }
}

/// What a lock guards, whoever has panicked with it: all blocks are sound.
fn locked<T>(of: &Mutex<Vec<T>>) -> std::sync::MutexGuard<'_, Vec<T>> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, for whom nobody else can lock it.
fn own<T>(of: &mut Mutex<Vec<T>>) -> &mut Vec<T> {
    of.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Blocks {
    fn default() -> Self {
        Self { blocks: Vec::new(), stock: Stock::default(), come: Come::Anywhere(0.0) }
    }
}

impl Blocks {
    pub(super) fn bytes(&self) -> usize {
        let spare = locked(&self.stock.spare);
        (self.blocks.len() + spare.len()) * size_of::<Block>()
            + (self.blocks.capacity() + spare.capacity()) * size_of::<Box<Block>>()
            + locked(&self.stock.sorted).capacity() * size_of::<Sorted>()
    }

    /// Those of the candidates that were sorted last.
    pub(super) fn all(&self) -> &[Box<Block>] {
        &self.blocks
    }

    /// Sorts new candidates, all of the same two sets, of which it lasts how they touch, bodies having come so far.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: (&[[u32; 2]], [u32; 2]),
        test: &Test<'_, D>,
        (come, margin, isa): (Come, f64, Isa),
        workers: Workers<'_>,
    ) {
        let (pairs, _) = candidates;
        self.come = come;
        let spare = own(&mut self.stock.spare);
        spare.append(&mut self.blocks);
        let count = pairs.len().div_ceil(BLOCK);
        self.blocks.extend(spare.drain(spare.len().saturating_sub(count)..));
        self.blocks.resize_with(count, Box::default);
        let scale = Scale::of(margin);
        workers.fill_blocks("bands", &mut self.blocks, 1, |number, block| {
            let of_block = range_of(number, pairs.len());
            block[0].sort(candidates, of_block, test, (scale, isa));
        });
    }

    /// All blocks, for workers that sort new candidates.
    pub(super) fn stock(&mut self) -> &Stock {
        own(&mut self.stock.spare).append(&mut self.blocks);
        own(&mut self.stock.sorted).clear();
        &self.stock
    }

    /// Takes what workers have sorted, bodies having come so far.
    pub(super) fn take_sorted(&mut self, come: Come) {
        self.come = come;
        let sorted = own(&mut self.stock.sorted);
        sorted.sort_unstable_by_key(|sorted| sorted.of);
        self.blocks.extend(sorted.drain(..).map(|sorted| sorted.block));
    }

    /// Finds out which candidates touch, bodies having come so far; calls `then` with each block and its number when it has been found out of that.
    pub(super) fn sift<const D: usize>(
        &mut self,
        (sets, test): ([u32; 2], &Test<'_, D>),
        (come, margin, isa): (Come, f64, Isa),
        workers: Workers<'_>,
        then: impl Fn(usize, &Block) + Sync + Send,
    ) {
        let bands = bands_to_test(replace(&mut self.come, come), come, margin);
        workers.fill_blocks("sift", &mut self.blocks, 1, |number, block| {
            block[0].sift((test, sets), (&bands, isa));
            then(number, &block[0]);
        });
    }
}

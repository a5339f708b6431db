//! Candidates of the same two sets, block by block, of which those are tested in each frame that bodies have moved far enough for.

use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BLOCK, Scale, last_band, range_of};
use crate::coherent::block::Block;
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// How many there are of those.
    count: usize,
    /// The last band that has been tested.
    band: usize,
}

impl Blocks {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }

    /// Those of the candidates that were sorted last.
    pub(super) fn all(&self) -> &[Block] {
        &self.blocks[..self.count]
    }

    /// Sorts new candidates, all of the same two sets, of which it lasts how they touch, bodies having used up so much of a margin.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        ([used, margin], isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        let pairs = candidates.pairs.pairs();
        (self.count, self.band) = (pairs.len().div_ceil(BLOCK), last_band([used, margin]));
        if self.blocks.len() < self.count {
            self.blocks.reserve_exact(self.count + self.count / 8 + 1 - self.blocks.len());
            self.blocks.resize_with(self.blocks.capacity(), Block::default);
        }
        let scale = Scale::of(margin);
        workers.fill_blocks("bands", &mut self.blocks[..self.count], 1, |number, block| {
            let of_block = range_of(number, pairs.len());
            block[0].sort((candidates, of_block), test, (scale, isa));
        });
    }

    /// Finds out which candidates touch, bodies having used up so much of a margin.
    pub(super) fn sift<const D: usize>(
        &mut self,
        sets: [u32; 2],
        test: &Test<'_, D>,
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        // What was tested in the last frame may have changed then, and is tested once more.
        let band = last_band(used_of_margin);
        let last = core::mem::replace(&mut self.band, band).max(band);
        workers.fill_blocks("sift", &mut self.blocks[..self.count], 1, |_, block| {
            block[0].sift((test, sets), (last, isa), |pair| test.touches(sets, [0; D], pair));
        });
    }
}

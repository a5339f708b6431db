//! Centres and radii in `f32` by id, and work on all bodies a block at a time.

use core::ops::Range;

use jostle_core::axes::Axes;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::sixteen::{Bodies16, ids};
use jostle_core::task::Task;
use jostle_core::tree::LEAF;
use jostle_core::{Bodies, LinearTree, Workers};

/// Bodies that one task looks at.
pub(crate) const BLOCK: usize = 1 << 13;

/// Centres and radii, by id.
#[derive(Debug)]
pub(crate) struct Columns<const D: usize> {
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
}

impl<const D: usize> Default for Columns<D> {
    fn default() -> Self {
        Self { centers: [const { Vec::new() }; D], radii: Vec::new() }
    }
}

impl<const D: usize> Columns<D> {
    /// Sets the centres and radii of so many bodies: `center(axis, first, out)` and `radius(first, out)` set those of
    /// the bodies from `first` on.
    pub(crate) fn fill(
        &mut self,
        bodies: usize,
        center: impl Fn(usize, usize, &mut [f32]) + Sync,
        radius: impl Fn(usize, &mut [f32]) + Sync,
        workers: Workers<'_>,
    ) {
        let center = |(axis, first, out): (usize, usize, &mut [f32])| center(axis, first, out);
        let radius = |(first, out): (usize, &mut [f32])| radius(first, out);
        self.fill_each(bodies, &center, &radius, workers);
    }

    /// As [`Columns::fill`], for closures of any type, so that this code is compiled once.
    fn fill_each(
        &mut self,
        bodies: usize,
        center: &dyn for<'b> Task<(usize, usize, &'b mut [f32])>,
        radius: &dyn for<'b> Task<(usize, &'b mut [f32])>,
        workers: Workers<'_>,
    ) {
        for (axis, column) in self.centers.iter_mut().enumerate() {
            resize_with_headroom(column, bodies);
            workers.fill_blocks("proxies", column, BLOCK, |first, block| center.run((axis, first, block)));
        }
        resize_with_headroom(&mut self.radii, bodies);
        workers.fill_blocks("proxies", &mut self.radii, BLOCK, |first, block| radius.run((first, block)));
    }

    /// Reads the bodies of a tree, with their margins in their radii.
    pub(crate) fn read(&mut self, tree: &LinearTree<D>) {
        for column in self.centers.iter_mut().chain([&mut self.radii]) {
            resize_with_headroom(column, tree.len());
        }
        each_body(tree, |id, leaf, lane| {
            for (column, values) in self.centers.iter_mut().zip(&leaf.centers) {
                column[id as usize] = values.0[lane];
            }
            self.radii[id as usize] = leaf.radii.0[lane];
        });
    }

    pub(crate) fn view(&self) -> Bodies<'_, D> {
        Bodies::from_slices(self.centers.each_ref().each(Vec::as_slice), &self.radii)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.centers.iter().chain([&self.radii]).map(|column| column.capacity() * size_of::<f32>()).sum()
    }
}

/// Calls `visit(id, leaf, lane)` for each body of a tree.
pub fn each_body<const D: usize>(tree: &LinearTree<D>, mut visit: impl FnMut(u32, &Bodies16<D>, usize)) {
    let names = ids(tree.leaf_ids());
    for place in (0..tree.leaves()).flat_map(|leaf| tree.leaf_places(leaf)) {
        visit(names[place], &tree.bodies()[place / LEAF], place % LEAF);
    }
}

/// Sets each slot to the value of its body.
#[inline]
pub(crate) fn set_each<T>(first: usize, out: &mut [T], value: impl Fn(usize) -> T) {
    for at in 0..out.len() {
        out[at] = value(first + at);
    }
}

/// Looks at all bodies, a block at a time, and merges what the blocks return, in their order.
pub(crate) fn reduce<T: Copy + Send + Sync>(
    bodies: usize,
    slots: &mut Vec<T>,
    start: T,
    block: &(dyn Fn(Range<usize>) -> T + Sync),
    workers: Workers<'_>,
    merge: &dyn Fn(T, T) -> T,
) -> T {
    slots.clear();
    slots.resize(bodies.div_ceil(BLOCK), start);
    workers.fill_blocks("survey", slots, 1, |at, slot| {
        slot[0] = block(at * BLOCK..((at + 1) * BLOCK).min(bodies));
    });
    slots.iter().fold(start, |all, &slot| merge(all, slot))
}

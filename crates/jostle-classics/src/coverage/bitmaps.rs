//! A bitmap for each group, and the two passes over the objects.

use jostle_core::Aabb;

use super::hits::Hits;
use crate::error::SetupError;
use crate::grid::CellMap;

/// The most pixels, 2^24: 64 MiB a group.
const MAX_PIXELS: usize = 1 << 24;

/// A rectangle of pixels over a part of the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    lo: [f32; 2],
    /// Pixels a unit of length.
    scale: f32,
    width: u32,
    height: u32,
}

/// An object, by the pixels that it covers.
pub(super) trait Mask {
    /// Calls `stop` with each `wanted` pixel that the object may touch, and the part of the pixel that the object
    /// covers, until `stop` returns true. Returns whether it did.
    fn any(&self, screen: &Screen, wanted: impl Fn(usize) -> bool, stop: impl FnMut(usize, f32) -> bool) -> bool;
}

impl Screen {
    fn new(world: Aabb<2>, pixel: f32) -> Result<Self, SetupError> {
        let map = CellMap::new(world, "side of a pixel", pixel, MAX_PIXELS)?;
        Ok(Self { lo: world.lo, scale: 1.0 / pixel, width: map.columns(), height: map.rows() })
    }

    /// A point in units of pixels.
    pub(super) fn point(&self, point: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| (point[axis] - self.lo[axis]) * self.scale)
    }

    /// A length in units of pixels.
    pub(super) fn length(&self, length: f32) -> f32 {
        length * self.scale
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// The part of the world that a pixel shows.
    fn aabb(&self, x: u32, y: u32) -> Aabb<2> {
        let corner = |at: [u32; 2]| [0, 1].map(|axis| self.lo[axis] + at[axis] as f32 / self.scale);
        Aabb { lo: corner([x, y]), hi: corner([x + 1, y + 1]) }
    }

    /// Where a row begins.
    pub(super) fn row(&self, y: u32) -> usize {
        y as usize * self.width as usize
    }
}

/// The bitmaps of two groups, and their objects in units of pixels.
#[derive(Debug, Clone)]
pub(super) struct Bitmaps<M> {
    pub(super) screen: Screen,
    sums: [Vec<f32>; 2],
    pub(super) groups: [Vec<M>; 2],
    hits: Hits,
}

impl<M: Mask> Bitmaps<M> {
    pub(super) fn new(world: Aabb<2>, pixel: f32) -> Result<Self, SetupError> {
        let screen = Screen::new(world, pixel)?;
        let pixels = screen.width as usize * screen.height as usize;
        let sums = [vec![0.0; pixels], vec![0.0; pixels]];
        Ok(Self { screen, sums, groups: [Vec::new(), Vec::new()], hits: Hits::default() })
    }

    pub(super) fn bytes(&self) -> usize {
        let pixels = self.sums.iter().map(Vec::capacity).sum::<usize>() * size_of::<f32>();
        pixels + self.groups.iter().map(Vec::capacity).sum::<usize>() * size_of::<M>() + self.hits.bytes()
    }

    /// Calls `pixel` with each pixel that a group covers a part of, row by row, and the sum that each group covers of
    /// it.
    pub(super) fn for_each_pixel(&self, pixel: &mut dyn FnMut(Aabb<2>, [f32; 2])) {
        for y in 0..self.screen.height {
            for x in 0..self.screen.width {
                let at = self.screen.row(y) + x as usize;
                let covered = self.sums.each_ref().map(|sums| sums[at]);
                if covered != [0.0; 2] {
                    pixel(self.screen.aabb(x, y), covered);
                }
            }
        }
    }

    /// Adds up what the objects of each group cover, then finds which objects are hit.
    pub(super) fn find(&mut self) -> &Hits {
        for (sums, group) in self.sums.iter_mut().zip(&self.groups) {
            sums.fill(0.0);
            group.iter().for_each(|mask| add(&self.screen, mask, sums));
        }
        self.hits.reset([self.groups[0].len(), self.groups[1].len()]);
        for (group, hits) in self.hits.groups_mut().iter_mut().enumerate() {
            let others = &self.sums[1 - group];
            for (mask, hit) in self.groups[group].iter().zip(hits) {
                *hit = is_hit(&self.screen, mask, others);
            }
        }
        &self.hits
    }
}

fn add(screen: &Screen, mask: &impl Mask, sums: &mut [f32]) {
    let everywhere = |_| true;
    mask.any(screen, everywhere, |pixel, covered| {
        sums[pixel] += covered;
        false
    });
}

/// Returns whether an object and the other group together cover the area of a pixel that both touch.
fn is_hit(screen: &Screen, mask: &impl Mask, others: &[f32]) -> bool {
    let shared = |pixel: usize| others[pixel] > 0.0;
    mask.any(screen, shared, |pixel, covered| covered > 0.0 && covered + others[pixel] >= 1.0)
}

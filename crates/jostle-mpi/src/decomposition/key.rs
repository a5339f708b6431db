//! The order in which bodies are dealt to ranks: along the Morton curve over the box of all centres; then, for bodies
//! of a crowded code, along a curve over their own box; then by id.

use bytemuck_derive::{Pod, Zeroable};

use jostle::Aabb;
use jostle::morton::Grid;

use crate::span::Span;

/// Where a body stands in the order of all bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Key {
    pub(crate) code: u64,
    pub(crate) fine: u64,
    pub(crate) id: u64,
}

/// Square cells over a box in `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame<const D: usize> {
    lo: [f64; D],
    scale: f64,
    grid: Option<Grid<D>>,
}

impl<const D: usize> Frame<D> {
    pub(crate) fn over(span: &Span<D>) -> Self {
        let widest = span.widest();
        let scale = 1.0 / widest;
        let flat = !(widest > 0.0 && scale.is_finite());
        let unit = Aabb { lo: [0.0; D], hi: [1.0; D] };
        Self { lo: span.lo, scale, grid: if flat { None } else { Grid::new(&unit) } }
    }

    /// Returns the code of a point, monotone on each axis; 0 for all points if the box is a point.
    #[inline]
    pub(crate) fn code(&self, center: [f64; D]) -> u64 {
        let Some(grid) = &self.grid else { return 0 };
        grid.code(core::array::from_fn(|axis| ((center[axis] - self.lo[axis]) * self.scale) as f32))
    }
}

/// Makes keys: the frame of all bodies, and the frames of crowded codes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Keys<const D: usize> {
    pub(crate) frame: Frame<D>,
    /// Crowded codes, in ascending order, each with a frame of its own: so many bodies share a code that it cannot tell
    /// them apart.
    pub(crate) crowded: Vec<(u64, Frame<D>)>,
}

impl<const D: usize> Keys<D> {
    #[inline]
    pub(crate) fn of(&self, center: [f64; D], id: u64) -> Key {
        let code = self.frame.code(center);
        Key { code, fine: self.fine(code, center), id }
    }

    #[inline]
    pub(crate) fn fine(&self, code: u64, center: [f64; D]) -> u64 {
        if self.crowded.is_empty() {
            return 0;
        }
        self.crowded.binary_search_by_key(&code, |&(code, _)| code).map_or(0, |at| self.crowded[at].1.code(center))
    }
}

//! What the sort moves of a body.

/// A body on its way to its rank.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Record<const D: usize> {
    pub(super) center: Center<D>,
    pub(super) radius: f32,
    pub(super) id: u32,
}

/// An array with a `Default` for every length.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Center<const D: usize>(pub(super) [f32; D]);

impl<const D: usize> Default for Center<D> {
    fn default() -> Self {
        Self([0.0; D])
    }
}

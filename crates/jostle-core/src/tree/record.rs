//! What the sort moves of a body, and where it reads the bodies of a segment.

use crate::input::{Bodies, Radii};

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

/// The bodies of a segment by their places in it.
pub(super) trait Source<const D: usize>: Copy {
    /// Number of bodies.
    fn len(self) -> usize;
    /// The centres in order, each with its axes in the order of `axes`.
    fn centers(self, axes: [usize; D]) -> impl Iterator<Item = [f32; D]>;
    /// The centre of one body.
    fn center(self, place: u16) -> [f32; D];
    /// One body.
    fn record(self, place: u16) -> Record<D>;
}

impl<const D: usize> Source<D> for &[Record<D>] {
    #[inline(always)]
    fn len(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn centers(self, axes: [usize; D]) -> impl Iterator<Item = [f32; D]> {
        self.iter().map(move |record| core::array::from_fn(|k| record.center.0[axes[k]]))
    }

    #[inline(always)]
    fn center(self, place: u16) -> [f32; D] {
        self[usize::from(place)].center.0
    }

    #[inline(always)]
    fn record(self, place: u16) -> Record<D> {
        self[usize::from(place)]
    }
}

/// All bodies in the caller's columns, where these are slices: few bodies are one segment, whose records need not be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a, const D: usize> {
    centers: [&'a [f32]; D],
    /// Any column, where there is but one radius.
    radii: &'a [f32],
    one_radius: Option<f32>,
    margin: f32,
}

impl<'a, const D: usize> Columns<'a, D> {
    /// `None` where some column has a stride.
    pub(super) fn of(bodies: &Bodies<'a, D>) -> Option<Self> {
        let n = bodies.len();
        let mut centers = [&[][..]; D];
        for (slice, column) in centers.iter_mut().zip(bodies.centers()) {
            *slice = &column.as_slice()?[..n];
        }
        let (radii, one_radius) = match bodies.radii() {
            Radii::Each(column) => (&column.as_slice()?[..n], None),
            Radii::All(radius) => (centers[0], Some(radius)),
        };
        Some(Self { centers, radii, one_radius, margin: bodies.margin() })
    }

    /// Points.
    #[inline(always)]
    pub(super) fn of_centers(centers: [&'a [f32]; D]) -> Self {
        Self { centers, radii: centers[0], one_radius: Some(0.0), margin: 0.0 }
    }
}

impl<const D: usize> Source<D> for Columns<'_, D> {
    #[inline(always)]
    fn len(self) -> usize {
        self.radii.len()
    }

    #[inline(always)]
    fn centers(self, axes: [usize; D]) -> impl Iterator<Item = [f32; D]> {
        // Cut to their length here, columns need no check for each point.
        let n = self.radii.len();
        let centers = axes.map(|axis| &self.centers[axis][..n]);
        (0..n).map(move |i| core::array::from_fn(|k| centers[k][i]))
    }

    #[inline(always)]
    fn center(self, place: u16) -> [f32; D] {
        core::array::from_fn(|axis| self.centers[axis][usize::from(place)])
    }

    #[inline(always)]
    fn record(self, place: u16) -> Record<D> {
        let radius = self.one_radius.unwrap_or(self.radii[usize::from(place)]) + self.margin;
        Record { center: Center(self.center(place)), radius, id: u32::from(place) }
    }
}

//! Borrowed views of the caller's circles or spheres: separate slices, the caller's own structs, or strided memory.

mod boxes;
mod capsules;
mod column;
mod field;
mod strided;

use bytemuck::{NoUninit, Pod};

use crate::axes::{Axes, from_axes};
use crate::error::ViewError;

pub use crate::limits::MAX_BODIES;
pub use boxes::{BoxView, Boxes, Boxes64};
pub use capsules::{CapsuleView, Capsules, Capsules64};
pub use column::Column;
pub use field::Field;

/// Circles in the plane: [`Bodies`] with two axes.
pub type Circles<'a> = Bodies<'a, 2>;

/// Spheres in space: [`Bodies`] with three axes.
pub type Spheres<'a> = Bodies<'a, 3>;

/// Circles in the plane, in `f64`.
pub type Circles64<'a> = Bodies<'a, 2, f64>;

/// Spheres in space, in `f64`.
pub type Spheres64<'a> = Bodies<'a, 3, f64>;

/// The number type of a view: `f32` or `f64`.
pub trait Scalar:
    Pod
    + Default
    + PartialOrd
    + core::fmt::Debug
    + Send
    + Sync
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + sealed::Sealed
{
    /// Returns half of the number.
    #[must_use]
    fn half(self) -> Self;

    /// Returns the same number in `f64`.
    #[must_use]
    fn to_f64(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Scalar for f32 {
    #[inline(always)]
    fn half(self) -> Self {
        self / 2.0
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn half(self) -> Self {
        self / 2.0
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// The radius of every body: one value for all, or one each.
#[derive(Debug, Clone, Copy)]
pub enum Radii<'a, T = f32> {
    /// The same radius for every body.
    All(T),
    /// A radius for each body.
    Each(Column<'a, T>),
}

impl<T: Copy> Radii<'_, T> {
    /// The radius of body `i`.
    ///
    /// # Panics
    /// When each body has a radius and `i` is out of bounds.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> T {
        match self {
            Self::All(radius) => *radius,
            Self::Each(column) => column.get(i),
        }
    }

    /// As [`Column::map_into`], for the radii.
    ///
    /// # Panics
    /// When each body has a radius, and there are fewer than `first + out.len()`.
    #[inline]
    pub fn map_into<U: Copy>(&self, first: usize, out: &mut [U], map: impl Fn(T) -> U) {
        match self {
            Self::All(radius) => out.fill(map(*radius)),
            Self::Each(column) => column.map_into(first, out, map),
        }
    }

    /// As [`Column::read_more_in_double`], for the radii.
    ///
    /// # Panics
    /// When each body has a radius, and there are fewer than `first + out.len()`.
    pub fn read_more_in_double(&self, more: T, first: usize, out: &mut [f64])
    where
        T: Scalar,
    {
        match self {
            Self::All(radius) => out.fill((*radius + more).to_f64()),
            Self::Each(column) => column.read_more_in_double(more, first, out),
        }
    }

    /// As [`Column::copy_into`], for the radii.
    ///
    /// # Panics
    /// When each body has a radius, and there are fewer than `first + out.len()`.
    pub fn copy_into(&self, first: usize, out: &mut [T]) {
        match self {
            Self::All(radius) => out.fill(*radius),
            Self::Each(column) => column.copy_into(first, out),
        }
    }
}

impl<T: Scalar> From<T> for Radii<'_, T> {
    fn from(radius: T) -> Self {
        Self::All(radius)
    }
}

impl<'a, T: Scalar> From<&'a [T]> for Radii<'a, T> {
    fn from(radii: &'a [T]) -> Self {
        Self::Each(radii.into())
    }
}

impl<'a, T: Scalar> From<&'a Vec<T>> for Radii<'a, T> {
    fn from(radii: &'a Vec<T>) -> Self {
        radii.as_slice().into()
    }
}

impl<'a, T: Scalar, const N: usize> From<&'a [T; N]> for Radii<'a, T> {
    fn from(radii: &'a [T; N]) -> Self {
        radii.as_slice().into()
    }
}

impl<'a, T: Scalar> From<Column<'a, T>> for Radii<'a, T> {
    fn from(radii: Column<'a, T>) -> Self {
        Self::Each(radii)
    }
}

/// Where the radii lie, for [`Bodies::from_structs`], [`Bodies::from_strided`] and [`CapsuleView::from_strided`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RadiusField<T = f32> {
    /// The byte offset of the first radius, as given by [`core::mem::offset_of!`].
    At(usize),
    /// The memory holds no radius; this one serves all bodies.
    All(T),
}

/// A borrowed view of n bodies with `D` axes, in `f32` unless said otherwise: where their centres and radii lie in the
/// caller's memory.
///
/// A view copies nothing, and checks nothing until it is used. Then columns of different lengths, too many bodies, and
/// values outside the contract are refused with a [`ViewError`], before any work is done. The position of a body in the
/// view is its *id*.
#[derive(Debug, Clone, Copy)]
pub struct Bodies<'a, const D: usize, T = f32> {
    centers: [Column<'a, T>; D],
    radii: Radii<'a, T>,
    margin: T,
    images_from: u32,
}

impl<'a> Circles<'a> {
    /// Circles held as separate slices. `radii` is an `f32` (one radius for all) or a slice as long as `x` and `y`.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::Circles;
    /// let (x, y) = ([0.0, 1.0], [0.0, 0.0]);
    /// assert_eq!(Circles::new(&x, &y, 0.5).len(), 2);
    /// assert_eq!(Circles::new(&x, &y, &[0.25, 0.75]).len(), 2);
    /// ```
    #[must_use]
    pub fn new(x: &'a [f32], y: &'a [f32], radii: impl Into<Radii<'a>>) -> Self {
        Self::from_slices([x, y], radii)
    }
}

impl<'a> Circles64<'a> {
    /// Circles held as separate slices of `f64`. `radii` is an `f64` or a slice as long as `x` and `y`.
    #[must_use]
    pub fn new(x: &'a [f64], y: &'a [f64], radii: impl Into<Radii<'a, f64>>) -> Self {
        Self::from_slices([x, y], radii)
    }
}

impl<'a> Spheres64<'a> {
    /// Spheres held as separate slices of `f64`. `radii` is an `f64` or a slice as long as the others.
    #[must_use]
    pub fn new(x: &'a [f64], y: &'a [f64], z: &'a [f64], radii: impl Into<Radii<'a, f64>>) -> Self {
        Self::from_slices([x, y, z], radii)
    }
}

impl<'a> Spheres<'a> {
    /// Spheres held as separate slices. `radii` is an `f32` (one radius for all) or a slice as long as the others.
    #[must_use]
    pub fn new(x: &'a [f32], y: &'a [f32], z: &'a [f32], radii: impl Into<Radii<'a>>) -> Self {
        Self::from_slices([x, y, z], radii)
    }
}

impl<'a, const D: usize, T: Scalar> Bodies<'a, D, T> {
    /// Bodies held as one slice per axis; the form of [`Circles::new`] for code that is generic over `D`.
    #[must_use]
    pub fn from_slices(centers: [&'a [T]; D], radii: impl Into<Radii<'a, T>>) -> Self {
        Self::from_columns(centers.each(Column::from), radii)
    }

    /// Bodies held in columns, one per axis. Each column is a slice or a [`Field`] of the caller's structs, read in
    /// place.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::{Circles, field};
    ///
    /// struct Agent {
    ///     name: &'static str,
    ///     position: [f64; 2],
    ///     radius: f32,
    /// }
    /// let agents = [Agent { name: "Ann", position: [3.0, 4.0], radius: 0.5 }];
    /// let heights = [1.5]; // an array of its own
    /// let circles = Circles::from_columns([(&heights).into(), field!(Agent, radius).of(&agents)], 1.0);
    /// assert_eq!(circles.center(0), [1.5, 0.5]);
    /// ```
    #[must_use]
    pub fn from_columns(centers: [Column<'a, T>; D], radii: impl Into<Radii<'a, T>>) -> Self {
        Self { centers, radii: radii.into(), margin: T::default(), images_from: u32::MAX }
    }

    /// Bodies held in the caller's own structs without padding, read in place. [`field!`](crate::field) with
    /// [`Bodies::from_columns`] reads any other structs, and [`Bodies::from_strided`] reads memory without a struct.
    ///
    /// `centers` and `radius` are byte offsets of fields of type `T` within `S`, as [`core::mem::offset_of!`] gives
    /// them.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// # use bytemuck_derive::NoUninit;
    /// use bytemuck::NoUninit;
    /// use core::mem::offset_of;
    /// use jostle::{Circles, RadiusField};
    ///
    /// #[derive(Clone, Copy, NoUninit)]
    /// #[repr(C)]
    /// struct Agent {
    ///     position: [f32; 2],
    ///     velocity: [f32; 2],
    ///     radius: f32,
    /// }
    /// let agents = [Agent { position: [3.0, 4.0], velocity: [0.0; 2], radius: 0.5 }];
    /// let at = offset_of!(Agent, position);
    /// let circles = Circles::from_structs(&agents, [at, at + 4], RadiusField::At(offset_of!(Agent, radius)))?;
    /// assert_eq!(circles.center(0), [3.0, 4.0]);
    /// # Ok::<(), jostle::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Layout`] when a field of type `T` at one of the offsets would not lie within `S`.
    pub fn from_structs<S: NoUninit>(
        structs: &'a [S],
        centers: [usize; D],
        radius: RadiusField<T>,
    ) -> Result<Self, ViewError> {
        let (size, scalar) = (size_of::<S>(), size_of::<T>());
        let of_radius = if let RadiusField::At(offset) = radius { Some(offset) } else { None };
        let beyond = |offset: &usize| size.checked_sub(scalar).is_none_or(|last| *offset > last);
        if let Some(offset) = centers.into_iter().chain(of_radius).find(beyond) {
            return Err(ViewError::Layout { scalar, offset, size });
        }
        Self::from_strided(structs, structs.len(), size, centers, radius)
    }

    /// The same bodies, each radius larger by `margin`: `r + margin`, in the type of the view, takes the place of r
    /// everywhere. The list of their pairs can be kept for as long as no body has moved far (a *skin*, or Verlet list).
    #[must_use]
    pub fn with_margin(self, margin: T) -> Self {
        Self { margin, ..self }
    }

    /// The same centres as points that form a pair when they lie within `distance`: exactly
    /// `dx*dx + dy*dy (+ dz*dz) <= distance * distance`. The radii and the margin are dropped.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::Circles;
    /// let points = Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.0).within(1.0);
    /// assert_eq!(points.radius(0) + points.radius(1), 1.0);
    /// ```
    #[must_use]
    pub fn within(self, distance: T) -> Self {
        // Half of the distance is exact unless it is denormal, and then the squares are zero in any case.
        Self { radii: Radii::All(distance.half()), margin: T::default(), ..self }
    }

    /// The margin, which is added to each radius.
    #[inline]
    #[must_use]
    pub fn margin(&self) -> T {
        self.margin
    }

    /// The same bodies, of which those from number `first` on are ghost images of the others. A tree has images behind all
    /// others, in leaves of their own, and a join of the tree with itself leaves out groups of images alone.
    #[doc(hidden)]
    #[must_use]
    pub fn with_images_from(self, first: usize) -> Self {
        Self { images_from: u32::try_from(first).unwrap_or(u32::MAX), ..self }
    }

    /// The number of the first ghost image, or one beyond all bodies.
    #[inline]
    pub(crate) fn images_from(&self) -> u32 {
        self.images_from
    }

    /// Number of bodies.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.centers[0].len()
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of the centres, one per axis.
    #[inline]
    #[must_use]
    pub fn centers(&self) -> &[Column<'a, T>; D] {
        &self.centers
    }

    /// The radii, without the margin.
    #[inline]
    #[must_use]
    pub fn radii(&self) -> Radii<'a, T> {
        self.radii
    }

    /// The centre of body `id`.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn center(&self, id: usize) -> [T; D] {
        from_axes(|axis| self.centers[axis].get(id))
    }

    /// The radius of body `id`, with the margin.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn radius(&self, id: usize) -> T {
        self.radii.get(id) + self.margin
    }

    /// Checks the shape of the view: the lengths agree, ids can name all bodies, and the margin is finite and not
    /// negative.
    ///
    /// # Errors
    /// [`ViewError::Lengths`], [`ViewError::TooMany`] or [`ViewError::Margin`]. O(D).
    pub fn check_shape(&self) -> Result<(), ViewError> {
        let bodies = self.len();
        let radii = match self.radii {
            Radii::All(_) => bodies,
            Radii::Each(column) => column.len(),
        };
        if radii != bodies || self.centers.iter().any(|c| c.len() != bodies) {
            return Err(ViewError::Lengths { centers: self.centers.iter().map(Column::len).collect(), radii });
        }
        check_bodies_and_margin(bodies, self.margin.to_f64())
    }
}

/// Checks that ids can name `bodies` bodies, and that `margin` is finite and not negative.
fn check_bodies_and_margin(bodies: usize, margin: f64) -> Result<(), ViewError> {
    if bodies > MAX_BODIES {
        return Err(ViewError::TooMany { bodies });
    }
    if margin.is_finite() && margin >= 0.0 { Ok(()) } else { Err(ViewError::Margin { margin }) }
}

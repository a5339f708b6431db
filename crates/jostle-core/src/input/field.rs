//! The place of a field within a struct. A room of `unsafe`: whoever makes a `Field` vouches for its place and type.
#![allow(
    unsafe_code,
    reason = "whoever names a field vouches for its place and type; the macro has the compiler do so"
)]

use core::fmt;
use core::marker::PhantomData;

use super::column::Column;

/// The place of a field of type `T` in structs `S`, made by [`field!`](crate::field). The struct may have any layout,
/// with padding or without, and may hold anything else.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Circles, field};
///
/// struct Vec2 {
///     x: f32,
///     y: f32,
/// }
/// struct Agent {
///     name: String,
///     alive: bool, // and padding
///     position: Vec2,
///     velocity: [f32; 2],
///     radius: f32,
/// }
/// let agent = |x, name| Agent {
///     name: String::from(name),
///     alive: true,
///     position: Vec2 { x, y: 2.0 },
///     velocity: [1.0, 0.0],
///     radius: 0.5,
/// };
/// let agents = [agent(3.0, "Ann"), agent(4.0, "Bob")];
///
/// let [x, y] = [field!(Agent, position.x), field!(Agent, position.y)].map(|field| field.of(&agents));
/// let circles = Circles::from_columns([x, y], field!(Agent, radius).of(&agents));
/// assert_eq!((circles.center(1), circles.radius(1)), ([4.0, 2.0], 0.5));
/// // An array at once, one of its elements, and one radius for all:
/// let velocities = Circles::from_columns(field!(Agent, velocity).axes(&agents), 1.0);
/// assert_eq!(velocities.center(0), [1.0, 0.0]);
/// assert_eq!(field!(Agent, velocity[0]).of(&agents).get(1), 1.0);
/// ```
pub struct Field<S, T> {
    offset: usize,
    of: PhantomData<fn(&S) -> &T>,
}

impl<S, T> Clone for Field<S, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, T> Copy for Field<S, T> {}

impl<S, T> fmt::Debug for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl<S, T> Field<S, T> {
    /// Returns the field at this offset.
    ///
    /// # Safety
    /// Every `S` has, at byte `offset`, an aligned field of type `T` that is not a field of a union. `_field` serves to
    /// name `T`.
    #[doc(hidden)]
    #[must_use]
    pub unsafe fn at(offset: usize, _field: fn(&S) -> *const T) -> Self {
        Self { offset, of: PhantomData }
    }

    /// Bytes from the beginning of the struct.
    #[inline]
    #[must_use]
    pub fn offset(self) -> usize {
        self.offset
    }
}

impl<T> Field<T, T> {
    /// The whole struct, as a field of itself.
    pub(super) fn whole() -> Self {
        Self { offset: 0, of: PhantomData }
    }
}

impl<'a, T: Copy> Column<'a, T> {
    /// Returns one column per axis of points that are arrays, as in
    /// `Circles::from_columns(Column::axes(&points), 1.0)`.
    #[must_use]
    pub fn axes<const D: usize>(points: &'a [[T; D]]) -> [Self; D] {
        Field::whole().axes(points)
    }
}

impl<S, T: Copy> Field<S, T> {
    /// Returns the field of each of these structs as a column, read in place.
    #[must_use]
    pub fn of(self, structs: &[S]) -> Column<'_, T> {
        Column::of_fields(structs, self.offset)
    }
}

impl<S, T: Copy, const N: usize> Field<S, [T; N]> {
    /// Returns one element of the array as a field.
    ///
    /// # Panics
    /// When the array has no such element.
    #[must_use]
    pub fn axis(self, axis: usize) -> Field<S, T> {
        assert!(axis < N, "an array of {N} has no element {axis}");
        Field { offset: self.offset + axis * size_of::<T>(), of: PhantomData }
    }

    /// Returns the elements of the arrays of these structs, one column per axis.
    #[must_use]
    pub fn axes(self, structs: &[S]) -> [Column<'_, T>; N] {
        core::array::from_fn(|axis| self.axis(axis).of(structs))
    }
}

/// The [`Field`] of a struct: `field!(Agent, radius)`, `field!(Agent, position.x)`, `field!(Agent, position[0])`.
///
/// The struct may have any layout. The compiler refuses what is not a field in the struct's memory: a value behind a
/// pointer,
///
/// ```compile_fail
/// # use jostle_core as jostle;
/// struct Agent {
///     radius: Box<f32>,
/// }
/// let radius = jostle::field!(Agent, radius).of(&[Agent { radius: Box::new(1.0) }]);
/// let circles = jostle::Circles::from_columns([radius; 2], 1.0);
/// ```
/// ```compile_fail
/// # use jostle_core as jostle;
/// struct Place {
///     x: f32,
/// }
/// struct Agent {
///     place: Box<Place>,
/// }
/// let x = jostle::field!(Agent, place.x);
/// ```
/// a field of a union, which may hold nothing,
///
/// ```compile_fail
/// # use jostle_core as jostle;
/// #[derive(Clone, Copy)]
/// union Either {
///     number: f32,
///     nothing: (),
/// }
/// let x = jostle::field!(Either, number);
/// ```
/// and a field of a packed struct, which may not be aligned.
///
/// ```compile_fail
/// # use jostle_core as jostle;
/// #[repr(C, packed)]
/// struct Packed {
///     kind: u8,
///     x: f32,
/// }
/// let x = jostle::field!(Packed, x);
/// ```
#[macro_export]
macro_rules! field {
    ($struct:ty, $($field:tt).+ [$axis:expr]) => {
        $crate::field!($struct, $($field).+).axis($axis)
    };
    ($struct:ty, $($field:tt).+) => {{
        // A reference to a field of a union or a packed struct does not compile outside of `unsafe`. The reference has
        // the type of the field, since no other type is asked for.
        let pointer = |it: &$struct| {
            let field = &it.$($field).+;
            ::core::ptr::from_ref(field)
        };
        let offset = ::core::mem::offset_of!($struct, $($field).+);
        // SAFETY: `offset_of` accepts fields in memory alone, and `pointer` goes to the same field.
        unsafe { $crate::Field::at(offset, pointer) }
    }};
}

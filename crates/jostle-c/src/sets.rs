//! A set of bodies: where they are, how they move, and which of them may meet.

use engine::{Bodies, BoxView, CapsuleView, Displacements, Layers, Set, Space};

use crate::columns::{Column, Real};
use crate::handle::Shared;
use crate::memory::{self, Grows};
use crate::prepared::{Prepared, PreparedOf};
use crate::space::{RawSpace, space};
use crate::status::{Failure, Status};

/// The precision of numbers.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// float.
    Float = 0,
    /// double.
    Double = 1,
}

/// The shape of the bodies of a set. Sets of all shapes meet each other, in either precision and in any space.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Circles or spheres.
    Ball = 0,
    /// Axis-aligned boxes, from the corner center to the corner end. Two boxes overlap when they do so on each axis;
    /// touching counts. A box may be a point or a line, and may reach to infinity in open space.
    Box = 1,
    /// Capsules: all points within radius of the segment from center to end.
    Capsule = 2,
}

/// A set of bodies: where they are, how they move, and which of them may meet. The id of a body is its place in the
/// columns, from 0. Clear the whole struct, then fill in what counts: `jostle_set set = {.size = sizeof set};`. A set
/// has 4294967294 bodies at most. Columns that the shape or the dimensions have no use for are refused.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawSet {
    /// sizeof(jostle_set).
    pub size: usize,
    /// How many bodies.
    pub count: usize,
    /// The precision of coordinates and radii, a jostle_number. Pairs of sets in double are decided in double.
    pub number: i32,
    /// The precision of the displacements, a jostle_number.
    pub displacement_number: i32,
    /// x, y and, in three dimensions, z of the centre, of the lower corner of a box, or of one end of a capsule's axis.
    pub center: [Column; 3],
    /// The radii of circles, spheres or capsules; null for 0, a stride of 0 for one radius of all bodies.
    pub radius: Column,
    /// A length that is added to each radius, and to boxes on every side, for lists that are kept for several steps
    /// (jostle_still_valid). Rounded to float for sets in float.
    pub margin: f64,
    /// If the cutoff is above 0, two circles or spheres are a pair when their centres are at most this far apart,
    /// whatever their radii are: each then has half of the cutoff as its radius, in queries and contact geometry too.
    /// Other shapes take none. Rounded to float for sets in float.
    pub cutoff: f64,
    /// How far each body moves on each axis during the step, in a straight line and without turning; all null for
    /// bodies at rest.
    pub displacement: [Column; 3],
    /// What each body is, in uint32_t; null for all bits, a stride of 0 for one value of all bodies. Two bodies may
    /// meet when the mask of each has a bit of the other's category.
    pub category: Column,
    /// What each body meets, in uint32_t; null for all bits.
    pub mask: Column,
    /// The group of each body, in int32_t; null for 0. Bodies of one group other than 0 always meet (above 0) or never
    /// do (below 0).
    pub group: Column,
    /// Bodies that were sorted before (jostle_prepared_build), in place of all columns but the layers and
    /// displacements; null for none. The set then has the number, shape, center, end, radius, margin and cutoff that
    /// the bodies were prepared with; these and count are not looked at.
    pub prepared: *const Prepared,
    /// The shape of the bodies, a jostle_shape.
    pub shape: i32,
    /// Not used yet.
    pub reserved: i32,
    /// x, y and, in three dimensions, z of the upper corner of a box, or of the other end of a capsule's axis. Null for
    /// circles and spheres.
    pub end: [Column; 3],
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for RawSet {
    const NAME: &'static str = "jostle_set";
}

/// Takes prepared sets for a search in `D` dimensions, and refuses those in other dimensions.
pub(crate) trait Dimensional<const D: usize> {
    fn prepared(of: &PreparedOf) -> Result<&engine::PreparedSet<D>, Failure>;
}

/// What a set has its bodies from.
enum Source<'a, const D: usize> {
    Columns(Set<'a, D>),
    Prepared(Shared<Prepared>),
}

/// A set of the host's, read in place.
pub(crate) struct Lent<'a, const D: usize> {
    source: Source<'a, D>,
    layers: Option<Layers<'a>>,
    moving: Option<Displacements<'a, D>>,
}

/// Tells whether a jostle_number is JOSTLE_NUMBER_DOUBLE.
pub(crate) fn is_double(number: i32, name: &str) -> Result<bool, Failure> {
    match number {
        number if number == Number::Float as i32 => Ok(false),
        number if number == Number::Double as i32 => Ok(true),
        number => Err(Failure::unknown(name, number)),
    }
}

impl Shape {
    fn of(number: i32) -> Result<Self, Failure> {
        let found = [Self::Ball, Self::Box, Self::Capsule].into_iter().find(|&shape| shape as i32 == number);
        found.ok_or_else(|| Failure::unknown("jostle_set.shape", number))
    }

    /// Refuses what bodies of this shape do not have.
    fn check(self, raw: &RawSet) -> Result<(), Failure> {
        let end = raw.end.iter().any(|column| !column.data.is_null());
        let refused = match self {
            Self::Ball if end => "end is given, but circles and spheres have none: set the shape, or clear end",
            Self::Box if !raw.radius.data.is_null() => "radius is given, but boxes have none: clear it",
            Self::Box | Self::Capsule if raw.cutoff != 0.0 => {
                "a cutoff is given, but boxes and capsules have no centres that it could be between: give a margin"
            }
            _ => return Ok(()),
        };
        Err(Failure::new(Status::Combination, refused))
    }
}

/// # Safety
/// The columns are readable for as long as `'a`.
unsafe fn columns<'a, const D: usize, T: Real>(
    columns: [Column; 3],
    count: usize,
    names: [&str; 3],
) -> Result<[engine::Column<'a, T>; D], Failure> {
    if D < 3 && !columns[2].data.is_null() {
        let message = format_args!("{} is given, in {D} dimensions: clear it, or make the handle in 3", names[2]);
        return Err(Failure::new(Status::Dimensions, message));
    }
    let mut lent = [engine::Column::from(&[]); D];
    for ((slot, column), name) in lent.iter_mut().zip(columns).zip(names) {
        // SAFETY: as the caller says.
        *slot = unsafe { column.lend(count, name) }?;
    }
    Ok(lent)
}

/// # Safety
/// The columns of the set are readable for as long as `'a`.
unsafe fn bodies<'a, const D: usize, T: Real>(raw: &RawSet) -> Result<Set<'a, D>, Failure>
where
    Set<'a, D>: From<Bodies<'a, D, T>> + From<BoxView<'a, D, T>> + From<CapsuleView<'a, D, T>>,
{
    let shape = Shape::of(raw.shape)?;
    shape.check(raw)?;
    let (cutoff, margin) = (T::length("cutoff", raw.cutoff)?, T::length("margin", raw.margin)?);
    // SAFETY: as the caller says.
    let (centers, radii) =
        unsafe { (columns(raw.center, raw.count, ["x", "y", "z"])?, raw.radius.radii::<T>(raw.count)?) };
    // SAFETY: as the caller says.
    let ends = || unsafe { columns(raw.end, raw.count, ["x of end", "y of end", "z of end"]) };
    Ok(match shape {
        Shape::Ball => {
            let balls = Bodies::from_columns(centers, radii);
            if raw.cutoff > 0.0 { balls.within(cutoff) } else { balls }.with_margin(margin).into()
        }
        Shape::Box => BoxView::from_columns(centers, ends()?).with_margin(margin).into(),
        Shape::Capsule => CapsuleView::from_columns(centers, ends()?, radii).with_margin(margin).into(),
    })
}

impl<'a, const D: usize> Lent<'a, D>
where
    (): Dimensional<D>,
{
    /// # Safety
    /// All that the set leads to is readable for as long as `'a`.
    pub(crate) unsafe fn of(raw: &RawSet) -> Result<Self, Failure> {
        // SAFETY: as the caller says, here and below.
        let source = unsafe {
            if !raw.prepared.is_null() {
                Source::Prepared(Shared::take(raw.prepared)?)
            } else if is_double(raw.number, "jostle_set.number")? {
                Source::Columns(bodies::<D, f64>(raw)?)
            } else {
                Source::Columns(bodies::<D, f32>(raw)?)
            }
        };
        let count = match &source {
            Source::Prepared(prepared) => <()>::prepared(&prepared.state().set)?.len(),
            _ => raw.count,
        };
        let [category, mask, group] = [raw.category, raw.mask, raw.group].map(|column| !column.data.is_null());
        let integers = || {
            // SAFETY: as above.
            unsafe {
                let category = raw.category.integers(count, u32::MAX, "category")?;
                let layers = Layers::new(category, raw.mask.integers(count, u32::MAX, "mask")?);
                Ok::<_, Failure>(layers.with_groups(raw.group.integers(count, 0, "group")?))
            }
        };
        let layers = (category || mask || group).then(integers).transpose()?;
        // SAFETY: as above.
        let moving = unsafe { displacements(raw, count) }?;
        Ok(Self { source, layers, moving })
    }

    pub(crate) fn set(&self) -> Result<Set<'_, D>, Failure> {
        let mut set = match &self.source {
            Source::Columns(set) => *set,
            Source::Prepared(prepared) => Set::from(<()>::prepared(&prepared.state().set)?),
        };
        if let Some(layers) = self.layers {
            set = set.layers(layers);
        }
        Ok(match self.moving {
            Some(moving) => set.moving(moving),
            None => set,
        })
    }
}

/// # Safety
/// The columns of the set are readable for as long as `'a`.
unsafe fn displacements<'a, const D: usize>(
    raw: &RawSet,
    count: usize,
) -> Result<Option<Displacements<'a, D>>, Failure> {
    let is_double = is_double(raw.displacement_number, "jostle_set.displacement_number")?;
    if raw.displacement.iter().all(|column| column.data.is_null()) {
        return Ok(None);
    }
    let names = ["x of the displacements", "y of the displacements", "z of the displacements"];
    // SAFETY: as the caller says.
    Ok(Some(unsafe {
        if is_double {
            columns::<D, f64>(raw.displacement, count, names)?.into()
        } else {
            columns::<D, f32>(raw.displacement, count, names)?.into()
        }
    }))
}

/// Calls `search` with one set, and the space that it is prepared for.
///
/// # Safety
/// The pointers are null, misaligned, or lead to structs that are readable during the call, with all that they lead to.
pub(crate) unsafe fn with_set<const D: usize, R>(
    raw: *const RawSet,
    of_space: *const RawSpace,
    search: impl FnOnce(Set<'_, D>, Space<D>) -> Result<R, Failure>,
) -> Result<R, Failure>
where
    (): Dimensional<D>,
{
    // SAFETY: as the caller says.
    let (lent, space) = unsafe { (Lent::of(&memory::read(raw)?)?, space(of_space)?) };
    if lent.layers.is_some() || lent.moving.is_some() {
        let message = "category, mask, group or displacements are given: give them to the set of each search, beside \
                       jostle_set.prepared";
        return Err(Failure::new(Status::Combination, message));
    }
    search(lent.set()?, space)
}

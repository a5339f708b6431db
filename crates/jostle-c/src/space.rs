//! The space that bodies are in.

use engine::Space;

use crate::memory::{self, Grows};
use crate::status::Failure;

/// How a space repeats.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceKind {
    /// Space does not repeat.
    Open = 0,
    /// Some axes repeat, between lo and hi.
    Periodic = 1,
    /// A cell spanned by vectors repeats in the directions of some of them: a triclinic box.
    Lattice = 2,
}

/// The space that bodies are in. In two dimensions, the first two numbers of each array count.
///
/// Where space repeats, a body counts at every image of its place; coordinates may lie outside of the cell. Two bodies
/// meet at each image of the second that touches the first, so the cutoff may be larger than the cell.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawSpace {
    /// sizeof(jostle_space).
    pub size: usize,
    /// A jostle_space_kind.
    pub kind: i32,
    /// In which directions space repeats: 0 or 1 for each axis or vector.
    pub repeats: [u8; 3],
    /// Not used yet.
    pub reserved: u8,
    /// Of a periodic space, the lower borders of the axes that repeat.
    pub lo: [f64; 3],
    /// Of a periodic space, the upper borders of the axes that repeat.
    pub hi: [f64; 3],
    /// Of a lattice, the vectors of the cell, one a row, right-handed. A direction that does not repeat needs a vector
    /// as well.
    pub vectors: [[f64; 3]; 3],
    /// Of a lattice, the corner of the cell from which its vectors lead.
    pub origin: [f64; 3],
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers.
unsafe impl Grows for RawSpace {
    const NAME: &'static str = "jostle_space";
}

fn first<const D: usize, T: Copy>(of: [T; 3]) -> [T; D] {
    core::array::from_fn(|axis| of[axis])
}

/// Returns the space as the engine takes it; open space where the pointer is null.
///
/// # Safety
/// The pointer is null, misaligned, or leads to a struct as long as its size says.
pub(crate) unsafe fn space<const D: usize>(raw: *const RawSpace) -> Result<Space<D>, Failure> {
    if raw.is_null() {
        return Ok(Space::open());
    }
    // SAFETY: as the caller says.
    let raw = unsafe { memory::read(raw) }?;
    if let Some(odd) = raw.repeats.into_iter().find(|&repeats| repeats > 1) {
        return Err(Failure::unknown("one of jostle_space.repeats", odd));
    }
    let repeats = first::<D, _>(raw.repeats).map(|repeats| repeats == 1);
    match raw.kind {
        kind if kind == SpaceKind::Open as i32 => Ok(Space::open()),
        kind if kind == SpaceKind::Periodic as i32 => {
            let borders = |axis: usize| repeats[axis].then_some([raw.lo[axis], raw.hi[axis]]);
            Ok(Space::periodic(core::array::from_fn(borders)))
        }
        kind if kind == SpaceKind::Lattice as i32 => {
            let vectors = first::<D, _>(raw.vectors).map(first::<D, _>);
            Ok(Space::lattice(vectors, repeats).at(first(raw.origin)))
        }
        kind => Err(Failure::unknown("jostle_space.kind", kind)),
    }
}

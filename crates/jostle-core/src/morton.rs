//! Morton codes and the arithmetic of their cells.
//!
//! A code interleaves the bits of integer coordinates, x on the lowest bit of each group: 32 bits an axis in 2D, 21 in
//! 3D (G. M. Morton, "A computer oriented geodetic data base", 1966). The first L groups of D bits of a code name the
//! cell of level L that holds the point; sorting points by code sorts them by cell at every level at once.

use crate::aabb::Aabb;
use crate::axes::from_axes;

/// Bits of a coordinate on each axis: 32 in 2D, 21 in 3D.
#[must_use]
pub const fn bits_per_axis(dimensions: usize) -> u32 {
    assert!(dimensions == 2 || dimensions == 3, "Morton codes are defined here in 2D and 3D");
    if dimensions == 2 { 32 } else { 21 }
}

/// The largest coordinate on an axis: 2^32 - 1 in 2D, 2^21 - 1 in 3D.
#[must_use]
pub const fn max_coordinate(dimensions: usize) -> u32 {
    u32::MAX >> (32 - bits_per_axis(dimensions))
}

#[inline(always)]
const fn spread2(v: u32) -> u64 {
    let mut v = v as u64;
    v = (v | (v << 16)) & 0x0000_ffff_0000_ffff;
    v = (v | (v << 8)) & 0x00ff_00ff_00ff_00ff;
    v = (v | (v << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | (v << 2)) & 0x3333_3333_3333_3333;
    (v | (v << 1)) & 0x5555_5555_5555_5555
}

const fn gather2(code: u64) -> u32 {
    let mut v = code & 0x5555_5555_5555_5555;
    v = (v | (v >> 1)) & 0x3333_3333_3333_3333;
    v = (v | (v >> 2)) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | (v >> 4)) & 0x00ff_00ff_00ff_00ff;
    v = (v | (v >> 8)) & 0x0000_ffff_0000_ffff;
    (v | (v >> 16)) as u32
}

#[inline(always)]
const fn spread3(v: u32) -> u64 {
    let mut v = (v & 0x001f_ffff) as u64;
    v = (v | (v << 32)) & 0x001f_0000_0000_ffff;
    v = (v | (v << 16)) & 0x001f_0000_ff00_00ff;
    v = (v | (v << 8)) & 0x100f_00f0_0f00_f00f;
    v = (v | (v << 4)) & 0x10c3_0c30_c30c_30c3;
    (v | (v << 2)) & 0x1249_2492_4924_9249
}

const fn gather3(code: u64) -> u32 {
    let mut v = code & 0x1249_2492_4924_9249;
    v = (v | (v >> 2)) & 0x10c3_0c30_c30c_30c3;
    v = (v | (v >> 4)) & 0x100f_00f0_0f00_f00f;
    v = (v | (v >> 8)) & 0x001f_0000_ff00_00ff;
    v = (v | (v >> 16)) & 0x001f_0000_0000_ffff;
    ((v | (v >> 32)) & 0x001f_ffff) as u32
}

/// As [`spread2`], for 8 bits.
#[inline(always)]
const fn spread2_small(v: u32) -> u32 {
    let v = (v | (v << 4)) & 0x0f0f;
    let v = (v | (v << 2)) & 0x3333;
    (v | (v << 1)) & 0x5555
}

/// As [`spread3`], for 6 bits.
#[inline(always)]
const fn spread3_small(v: u32) -> u32 {
    let v = (v | (v << 8)) & 0x300f;
    let v = (v | (v << 4)) & 0x30c3;
    (v | (v << 2)) & 0x9249
}

/// Returns `value` clamped to 0 up to `most`; 0 for NaN.
#[inline(always)]
pub(crate) fn clamp(value: f32, most: f32) -> f32 {
    let value = if value > 0.0 { value } else { 0.0 };
    if value < most { value } else { most }
}

const TWO_TO_31: f32 = 2_147_483_648.0;

/// Returns the integer part of a number from 0 to below 2^31. A plain `as` also maps numbers outside that range, which
/// keeps the compiler from converting several at once (measured: 3 of 4 ms for the first digits of a million circles).
#[inline(always)]
#[allow(unsafe_code, reason = "conversion of a value known to be in range")]
pub(crate) fn truncate(value: f32) -> u32 {
    debug_assert!((0.0..TWO_TO_31).contains(&value));
    // SAFETY: callers clamp to 0 and to less than 2^31, which also rules out NaN.
    unsafe { value.to_int_unchecked::<i32>() as u32 }
}

/// The code of a point in the plane: bits of x on even places, bits of y on odd ones.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::morton::{decode2, encode2};
/// assert_eq!(encode2(0b011, 0b101), 0b10_01_11);
/// assert_eq!(decode2(encode2(7, u32::MAX)), [7, u32::MAX]);
/// ```
#[inline(always)]
#[must_use]
pub const fn encode2(x: u32, y: u32) -> u64 {
    spread2(x) | (spread2(y) << 1)
}

/// The point in the plane that has this code.
#[must_use]
pub const fn decode2(code: u64) -> [u32; 2] {
    [gather2(code), gather2(code >> 1)]
}

/// The code of a point in space; the low 21 bits of each coordinate count.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::morton::{decode3, encode3};
/// assert_eq!(encode3(5, 3, 4), 339);
/// assert_eq!(decode3(339), [5, 3, 4]);
/// ```
#[inline(always)]
#[must_use]
pub const fn encode3(x: u32, y: u32, z: u32) -> u64 {
    spread3(x) | (spread3(y) << 1) | (spread3(z) << 2)
}

/// The point in space that has this code.
#[must_use]
pub const fn decode3(code: u64) -> [u32; 3] {
    [gather3(code), gather3(code >> 1), gather3(code >> 2)]
}

/// The code of a point with `D` coordinates, `D` being 2 or 3.
#[inline(always)]
#[must_use]
pub const fn encode<const D: usize>(point: [u32; D]) -> u64 {
    const { assert!(D == 2 || D == 3, "Morton codes are defined here in 2D and 3D") };
    if D == 2 { encode2(point[0], point[1]) } else { encode3(point[0], point[1], point[2]) }
}

/// The point with `D` coordinates that has this code, `D` being 2 or 3.
#[must_use]
pub fn decode<const D: usize>(code: u64) -> [u32; D] {
    const { assert!(D == 2 || D == 3, "Morton codes are defined here in 2D and 3D") };
    from_axes(|axis| if D == 2 { gather2(code >> axis) } else { gather3(code >> axis) })
}

/// A cell of the quadtree (D = 2) or octree (D = 3) over the integer coordinates: one of the 2^(D L) cells of level L,
/// numbered along the Morton curve. Level 0 is the whole.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::morton::Cell;
/// // The cell of a code is a prefix of it, and its path reads off the groups of bits.
/// let cell = Cell::<3>::new(3, 375).unwrap();
/// assert_eq!(cell.path().collect::<Vec<_>>(), [5, 6, 7]);
/// let cell = Cell::<2>::new(3, 30).unwrap();
/// assert_eq!(cell.path().collect::<Vec<_>>(), [1, 3, 2]);
///
/// // All cells of all levels in one array: (8^L - 1)/7 + number.
/// let cell = Cell::<3>::new(3, 236).unwrap();
/// assert_eq!(cell.linear_index(), Some(309));
/// let up: Vec<_> = std::iter::successors(Some(cell), |c| c.parent()).map(|c| c.linear_index().unwrap()).collect();
/// assert_eq!(up, [309, 38, 4, 0]);
/// let children = Cell::<3>::from_linear_index(38).unwrap().children().unwrap();
/// assert_eq!(children.map(|c| c.linear_index().unwrap()), [305, 306, 307, 308, 309, 310, 311, 312]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell<const D: usize> {
    level: u32,
    number: u64,
}

impl<const D: usize> Cell<D> {
    /// The cell that holds everything.
    pub const ROOT: Self = Self { level: 0, number: 0 };

    /// The deepest level: one cell for each code.
    pub const MAX_LEVEL: u32 = bits_per_axis(D);

    /// The cell `number` of `level`; `None` when there is no such level, or no such cell on it.
    #[must_use]
    pub const fn new(level: u32, number: u64) -> Option<Self> {
        let bits = level.saturating_mul(D as u32);
        let exists = level <= Self::MAX_LEVEL && (bits >= 64 || number >> bits == 0);
        if exists { Some(Self { level, number }) } else { None }
    }

    /// The cell of `level` that holds a code; `None` when there is no such level.
    #[must_use]
    pub const fn of_code(code: u64, level: u32) -> Option<Self> {
        if level > Self::MAX_LEVEL {
            return None;
        }
        let below = (Self::MAX_LEVEL - level) * D as u32;
        Self::new(level, if below >= 64 { 0 } else { code >> below })
    }

    /// The smallest cell that holds two codes, and with them every point of the box whose least and greatest corners
    /// they are: the highest group of bits in which they differ gives the level, without a descent.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::morton::{Cell, encode2};
    /// let cell = Cell::<2>::smallest_holding(encode2(4, 6), encode2(5, 7));
    /// assert_eq!((cell.level(), cell.number()), (31, encode2(2, 3)));
    /// assert_eq!(Cell::<2>::smallest_holding(0, u64::MAX), Cell::ROOT);
    /// ```
    #[must_use]
    pub const fn smallest_holding(a: u64, b: u64) -> Self {
        let groups = (u64::BITS - (a ^ b).leading_zeros()).div_ceil(D as u32);
        let below = groups * D as u32;
        let number = if below >= 64 { 0 } else { a >> below };
        Self { level: Self::MAX_LEVEL.saturating_sub(groups), number }
    }

    /// The depth below the root.
    #[must_use]
    pub const fn level(self) -> u32 {
        self.level
    }

    /// The position on the Morton curve among the cells of its level.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The cell one level up; `None` for the root.
    #[must_use]
    pub const fn parent(self) -> Option<Self> {
        if self.level == 0 { None } else { Some(Self { level: self.level - 1, number: self.number >> D }) }
    }

    /// Child `k` along the Morton curve; `None` when `k >= 2^D` or at the deepest level.
    #[must_use]
    pub const fn child(self, k: u64) -> Option<Self> {
        if self.level == Self::MAX_LEVEL || k >> D != 0 {
            return None;
        }
        Some(Self { level: self.level + 1, number: self.number << D | k })
    }

    /// The 2^D children along the Morton curve; `None` at the deepest level. `N` must be 2^D.
    #[must_use]
    pub fn children<const N: usize>(self) -> Option<[Self; N]> {
        const { assert!(N == 1 << D, "a cell has 2^D children") };
        let first = self.child(0)?;
        Some(core::array::from_fn(|k| Self { level: first.level, number: first.number | k as u64 }))
    }

    /// The way down from the root: which child is taken at each level.
    pub fn path(self) -> impl Iterator<Item = u64> {
        (0..self.level).rev().map(move |up| (self.number >> (up * D as u32)) & ((1 << D) - 1))
    }

    /// The position when all cells of all levels stand in one array, `(2^(D L) - 1)/(2^D - 1) + number`; `None` where
    /// it does not fit 64 bits (level 32 in 2D). The parent of index i is `(i - 1) >> D`, its first child
    /// `(i << D) + 1`.
    #[must_use]
    pub const fn linear_index(self) -> Option<u64> {
        let before = ((1_u128 << (self.level * D as u32)) - 1) / ((1 << D) - 1);
        let index = before + self.number as u128;
        if index <= u64::MAX as u128 { Some(index as u64) } else { None }
    }

    /// The cell at a position of the array described at [`Cell::linear_index`]; `None` past its deepest level.
    #[must_use]
    pub fn from_linear_index(index: u64) -> Option<Self> {
        let (mut level, mut before) = (0, 0_u128);
        while u128::from(index) >= before + (1 << (level * D as u32)) {
            before += 1 << (level * D as u32);
            level += 1;
        }
        Self::new(level, (u128::from(index) - before) as u64)
    }
}

/// Maps points to integer coordinates by square cells over a box, and so to Morton codes.
///
/// Points outside the box count as the nearest cell of its border. The map is monotone on each axis, which is all that
/// an order along the curve needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid<const D: usize> {
    lo: [f32; D],
    scale: f32,
}

/// Below this extent (2^-100) all points count as one: their differences square to zero in any case.
pub(crate) const COINCIDENT: f32 = f32::from_bits((127 - 100) << 23);

/// The largest scale, 2^126: finite for every extent that is not [`COINCIDENT`].
const MAX_SCALE: f32 = f32::from_bits((127 + 126) << 23);

impl<const D: usize> Grid<D> {
    /// The largest cell coordinate as an f32 that does not round up.
    const MAX_CELL: f32 = if D == 2 { 4_294_967_040.0 } else { 2_097_151.0 };

    /// Square cells over `bounds`; `None` when the box is a point or empty, so that cells would tell no points apart.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::{Aabb, morton::Grid};
    /// let grid = Grid::new(&Aabb { lo: [0.0, 0.0], hi: [8.0, 8.0] }).unwrap();
    /// // A click finds its cell of level 3 in constant time ...
    /// let cell = jostle::morton::Cell::<2>::of_code(grid.code([6.5, 3.2]), 3).unwrap();
    /// assert_eq!(cell.number(), jostle::morton::encode2(6, 3));
    /// // ... and a rectangle its smallest enclosing cell.
    /// assert_eq!(grid.smallest_cell([4.1, 0.1], [5.9, 1.9]).level(), 2);
    /// ```
    #[must_use]
    pub fn new(bounds: &Aabb<D>) -> Option<Self> {
        let widest = bounds.widest();
        (widest >= COINCIDENT).then(|| Self { lo: bounds.lo, scale: (Self::MAX_CELL / widest).min(MAX_SCALE) })
    }

    /// The integer coordinates of the cell of the deepest level that holds `point`.
    #[inline(always)]
    #[must_use]
    pub fn coordinates(&self, point: [f32; D]) -> [u32; D] {
        from_axes(|axis| {
            let cell = clamp((point[axis] - self.lo[axis]) * self.scale, Self::MAX_CELL);
            if D == 3 {
                return truncate(cell);
            }
            // The conversion goes by way of i32, to which every instruction set converts.
            let upper = cell >= TWO_TO_31;
            let below = if upper { cell - TWO_TO_31 } else { cell };
            truncate(below) | u32::from(upper) << 31
        })
    }

    /// Fills `keys` with `bits` bits of the codes of points, from bit `low` up. The bits are those of [`Grid::code`],
    /// for less: only the bits of coordinates that they need are computed. `bits` is at most 14, and `low` at least 2
    /// in 2D: coordinates then stay below 2^31.
    #[inline(always)]
    pub(crate) fn keys(&self, points: impl Iterator<Item = [f32; D]>, low: u32, bits: u32, keys: &mut [u16]) {
        let below = low / D as u32;
        // A power of two, so scaled coordinates are rounded as the full ones are.
        let unit = 1.0 / (1_u64 << below) as f32;
        let (scale, most) = (self.scale * unit, Self::MAX_CELL * unit);
        let surplus = low % D as u32;
        let axis_mask = (1_u32 << (bits + surplus).div_ceil(D as u32)) - 1;
        let mask = (1_u32 << bits) - 1;
        for (key, point) in keys.iter_mut().zip(points) {
            let mut interleaved = 0;
            for axis in 0..D {
                let coordinate = truncate(clamp((point[axis] - self.lo[axis]) * scale, most)) & axis_mask;
                interleaved |= if D == 2 { spread2_small(coordinate) } else { spread3_small(coordinate) } << axis;
            }
            *key = (interleaved >> surplus & mask) as u16;
        }
    }

    /// The Morton code of `point`.
    #[inline(always)]
    #[must_use]
    pub fn code(&self, point: [f32; D]) -> u64 {
        encode(self.coordinates(point))
    }

    /// The smallest cell that holds the box with these corners.
    #[must_use]
    pub fn smallest_cell(&self, lo: [f32; D], hi: [f32; D]) -> Cell<D> {
        Cell::smallest_holding(self.code(lo), self.code(hi))
    }
}

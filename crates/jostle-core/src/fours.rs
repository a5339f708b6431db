//! Four words at a time: writes records to their places, reads them, and stores them column by column; bounds four
//! leaves. A room of `unsafe`: instructions that the target has.
#![allow(unsafe_code, reason = "instructions that are behind the compiler's own features")]

use bytemuck::{Pod, Zeroable};

use crate::aabb::{ABSOLUTE_MARGIN, RELATIVE_MARGIN};
use crate::sixteen::Floats;

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    __m128, _mm_add_ps, _mm_max_ps, _mm_min_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_mul_ps, _mm_set1_ps, _mm_sub_ps,
    _mm_unpackhi_ps, _mm_unpacklo_ps,
};

/// Four words of four bytes, in one register as the processor loads them: for an array of numbers, the compiler makes
/// four loads.
#[cfg(target_arch = "x86_64")]
type Row = __m128;
#[cfg(not(target_arch = "x86_64"))]
type Row = [u32; 4];

#[cfg(target_arch = "x86_64")]
type Numbers = __m128;
#[cfg(not(target_arch = "x86_64"))]
type Numbers = [f32; 4];

/// Four numbers, in one register where the target has one so wide: for arrays, the compiler works on pairs of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Four(Numbers);

/// Defines operations that work lane by lane, by an instruction of the target or by an expression.
macro_rules! lane_by_lane {
    ($($(#[$doc:meta])* $name:ident = $instruction:ident, |$a:ident, $b:ident| $value:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name(self, other: Self) -> Self {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: SSE2 is part of x86-64.
                return Self(unsafe { $instruction(self.0, other.0) });
                #[cfg(not(target_arch = "x86_64"))]
                return Self(core::array::from_fn(|lane| {
                    let ($a, $b) = (self.0[lane], other.0[lane]);
                    $value
                }));
            }
        )*
    };
}

impl Four {
    /// One number four times.
    #[inline(always)]
    pub(crate) fn splat(value: f32) -> Self {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of x86-64.
        return Self(unsafe { _mm_set1_ps(value) });
        #[cfg(not(target_arch = "x86_64"))]
        return Self([value; 4]);
    }

    #[inline(always)]
    fn of(numbers: [f32; 4]) -> Self {
        Self(bytemuck::cast(numbers))
    }

    /// Splits a column into four fours.
    #[inline(always)]
    pub(crate) fn all_of(column: &Floats) -> [Self; 4] {
        let [a, b, c, d]: [[f32; 4]; 4] = bytemuck::cast(column.0);
        [Self::of(a), Self::of(b), Self::of(c), Self::of(d)]
    }

    #[inline(always)]
    pub(crate) fn numbers(self) -> [f32; 4] {
        bytemuck::cast(self.0)
    }

    lane_by_lane! {
        plus = _mm_add_ps, |a, b| a + b;
        minus = _mm_sub_ps, |a, b| a - b;
        times = _mm_mul_ps, |a, b| a * b;
        /// The lesser of both numbers; that of `other` where either is NaN.
        lesser = _mm_min_ps, |a, b| if a < b { a } else { b };
        /// The greater of both numbers; that of `other` where either is NaN.
        greater = _mm_max_ps, |a, b| if a > b { a } else { b };
    }

    /// The numbers without their signs.
    #[inline(always)]
    fn abs(self) -> Self {
        self.greater(Self::splat(0.0).minus(self))
    }

    /// Moves lower borders of boxes outwards, as [`outward_lo`](crate::aabb::outward_lo) does, but not beyond the
    /// finite numbers.
    #[inline(always)]
    pub(crate) fn outward_lo(self) -> Self {
        self.minus(self.margin()).greater(Self::splat(f32::MIN))
    }

    /// Moves upper borders outwards, as [`outward_hi`](crate::aabb::outward_hi) does, but not beyond the finite
    /// numbers.
    #[inline(always)]
    pub(crate) fn outward_hi(self) -> Self {
        self.plus(self.margin()).lesser(Self::splat(f32::MAX))
    }

    #[inline(always)]
    fn margin(self) -> Self {
        self.abs().times(Self::splat(RELATIVE_MARGIN)).plus(Self::splat(ABSOLUTE_MARGIN))
    }

    /// Returns the least number of each of the four, one per lane.
    #[inline(always)]
    pub(crate) fn least_of_each(four: [Self; 4]) -> Self {
        let [a, b, c, d] = lanes_of(four);
        a.lesser(c).lesser(b.lesser(d))
    }

    /// Returns the greatest number of each of the four, one per lane.
    #[inline(always)]
    pub(crate) fn greatest_of_each(four: [Self; 4]) -> Self {
        let [a, b, c, d] = lanes_of(four);
        a.greater(c).greater(b.greater(d))
    }
}

/// Returns the first numbers of all four, the second ones, and so on.
#[inline(always)]
fn lanes_of([a, b, c, d]: [Four; 4]) -> [Four; 4] {
    let [first, second, third, fourth] = transposed([a.0, b.0, c.0, d.0]);
    [Four(first), Four(second), Four(third), Four(fourth)]
}

/// Returns words `first` to `first + 3` of four records, one column per word.
///
/// # Panics
/// When a record has fewer words.
#[inline(always)]
pub(crate) fn columns<R: Pod>(records: &[R; 4], first: usize) -> [[u32; 4]; 4] {
    let mut rows = [Row::zeroed(); 4];
    for (row, record) in rows.iter_mut().zip(records) {
        *row = bytemuck::pod_read_unaligned(&bytemuck::bytes_of(record)[4 * first..][..size_of::<Row>()]);
    }
    bytemuck::cast(transposed(rows))
}

/// Returns four records of four numbers each, from number `first` of their columns on. Each is loaded, and stored, by one
/// instruction: of loops over columns, the compiler makes records number by number, or sixteen at once, which takes twice
/// as long.
///
/// # Panics
/// When a column ends before.
#[inline(always)]
#[must_use]
pub fn records<const N: usize>(columns: [&[f32; N]; 4], first: usize) -> [[f32; 4]; 4] {
    let mut rows = [Row::zeroed(); 4];
    for (row, column) in rows.iter_mut().zip(columns) {
        *row = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&column[first..][..4]));
    }
    bytemuck::cast(transposed(rows))
}

/// Puts four numbers where one instruction stores them at once.
#[inline(always)]
pub(crate) fn at_once([a, b, c, d]: [f32; 4]) -> [f32; 4] {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    return bytemuck::cast(unsafe { core::arch::x86_64::_mm_setr_ps(a, b, c, d) });
    #[cfg(not(target_arch = "x86_64"))]
    return [a, b, c, d];
}

/// Writes a record, four words by one instruction as long as four are left: stores wait for one another.
///
/// # Safety
/// `to` has room for the record, and nobody else touches that memory meanwhile.
///
/// # Panics
/// When the size of the record is not a whole number of words.
#[inline(always)]
pub(crate) unsafe fn write_by_fours<R: Pod>(to: *mut R, record: R) {
    let words: &[f32] = bytemuck::cast_slice(core::slice::from_ref(&record));
    let (fours, rest) = words.as_chunks::<4>();
    let to = to.cast::<f32>();
    for (at, &four) in fours.iter().enumerate() {
        // SAFETY: within the record.
        unsafe { to.add(4 * at).cast::<[f32; 4]>().write_unaligned(at_once(four)) }
    }
    for (at, &word) in (4 * fours.len()..).zip(rest) {
        // SAFETY: as above.
        unsafe { to.add(at).write_unaligned(word) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transposed([a, b, c, d]: [Row; 4]) -> [Row; 4] {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        let (first, second) = (_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
        [first, second, _mm_movelh_ps(ab_high, cd_high), _mm_movehl_ps(cd_high, ab_high)]
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn transposed<T: Copy>(rows: [[T; 4]; 4]) -> [[T; 4]; 4] {
    core::array::from_fn(|column| core::array::from_fn(|row| rows[row][column]))
}

#[cfg(test)]
mod tests {
    use super::Four;
    use crate::aabb::{outward_hi, outward_lo};

    #[test]
    fn four_leaves_are_bounded_as_each_alone() {
        let numbers = [[3.0, -7.5, f32::INFINITY, 0.0], [1e-40, 2.0, 1e38, -0.0], [-1.0; 4], [f32::NEG_INFINITY; 4]];
        let fours = [0, 1, 2, 3].map(|leaf| Four::of(numbers[leaf]));
        let least = numbers.map(|of| of.into_iter().fold(f32::INFINITY, f32::min));
        let greatest = numbers.map(|of| of.into_iter().fold(f32::NEG_INFINITY, f32::max));
        assert_eq!(Four::least_of_each(fours).numbers(), least);
        assert_eq!(Four::greatest_of_each(fours).numbers(), greatest);
        let bits = |of: [f32; 4]| of.map(f32::to_bits);
        let (lo, hi) = (Four::of(numbers[1]).outward_lo(), Four::of(numbers[1]).outward_hi());
        assert_eq!(bits(lo.numbers()), bits(numbers[1].map(outward_lo)));
        assert_eq!(bits(hi.numbers()), bits(numbers[1].map(outward_hi)));
        assert_eq!(Four::of(numbers[3]).outward_lo().numbers(), [f32::MIN; 4]);
        assert_eq!(Four::splat(f32::INFINITY).outward_hi().numbers(), [f32::MAX; 4]);
    }

    #[test]
    fn what_is_nan_counts_for_nothing() {
        let (nan, one) = (Four::splat(f32::NAN), Four::splat(1.0));
        assert_eq!([nan.lesser(one), nan.greater(one)].map(Four::numbers), [[1.0; 4]; 2]);
    }

    #[test]
    fn records_of_any_number_of_words_are_written_as_they_are() {
        fn check<const WORDS: usize>()
        where
            [u32; WORDS]: bytemuck::Pod,
        {
            let record = core::array::from_fn(|word| 0x7f80_0001 + word as u32);
            let mut to = [[0; WORDS]; 2];
            // SAFETY: the second of two.
            unsafe { super::write_by_fours(&mut to[1], record) };
            assert_eq!(to, [[0; WORDS], record]);
        }
        check::<1>();
        check::<4>();
        check::<5>();
        check::<7>();
        check::<8>();
    }

    #[test]
    fn words_come_out_column_by_column() {
        let records: [[u32; 5]; 4] =
            core::array::from_fn(|record| core::array::from_fn(|word| (10 * record + word) as u32));
        assert_eq!(super::columns(&records, 0), [[0, 10, 20, 30], [1, 11, 21, 31], [2, 12, 22, 32], [3, 13, 23, 33]]);
        assert_eq!(super::columns(&records, 1)[3], [4, 14, 24, 34]);
        let columns = [[9.0, 0.0, 10.0, 20.0, 30.0], [9.0, 1.0, 11.0, 21.0, 31.0], [f32::INFINITY; 5], [-0.0; 5]];
        assert_eq!(super::records(columns.each_ref(), 1)[1], [10.0, 11.0, f32::INFINITY, -0.0]);
    }
}

//! Lanes by the `wide` crate: SSE2, NEON, WebAssembly SIMD or plain code, whatever the target always has.

use wide::f32x4;

use super::{LANES, LaneWork, Lanes};

/// Four registers of four.
#[derive(Debug, Clone, Copy)]
pub struct Portable([f32x4; 4]);

/// Does the work with what the target always has, in a function of its own.
#[inline(never)]
pub(super) fn run<W: LaneWork>(work: W) -> W::Output {
    work.run::<Portable>()
}

impl Portable {
    /// Written out: by `array::from_fn` the compiler takes several times as long.
    #[inline(always)]
    fn zip(self, other: Self, op: impl Fn(f32x4, f32x4) -> f32x4) -> Self {
        let (a, b) = (self.0, other.0);
        Self([op(a[0], b[0]), op(a[1], b[1]), op(a[2], b[2]), op(a[3], b[3])])
    }
}

impl Lanes for Portable {
    const KEEPS_SIXTEEN: bool = false;
    type Mask = Self;

    #[inline(always)]
    fn call<W: LaneWork>(work: W) -> W::Output {
        run(work)
    }

    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        Self(bytemuck::cast(*values))
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        *values = bytemuck::cast(self.0);
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([f32x4::splat(value); 4])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, f32x4::fast_min)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, f32x4::fast_max)
    }

    #[inline(always)]
    fn rotate(self) -> Self {
        let (lanes, mut rotated): ([f32; LANES], _) = (bytemuck::cast(self.0), [0.0; LANES]);
        for lane in 0..LANES {
            rotated[lane] = lanes[(lane + 1) % LANES];
        }
        Self::load(&rotated)
    }

    #[inline(always)]
    fn apart(of_a: [&[f32; 4]; LANES], of_b: [&[f32; 4]; LANES]) -> [Self; 4] {
        // With the sign of one radius turned, the difference of two radii is their sum.
        let turned = f32x4::new([0.0, 0.0, 0.0, -0.0]);
        let mut rows = [f32x4::ZERO; LANES];
        for lane in 0..LANES {
            rows[lane] = f32x4::from(*of_a[lane]) - (f32x4::from(*of_b[lane]) ^ turned);
        }
        transposed(rows)
    }

    #[inline(always)]
    fn le_mask(self, other: Self) -> Self {
        self.zip(other, f32x4::simd_le)
    }

    #[inline(always)]
    fn both(a: Self, b: Self) -> Self {
        a.zip(b, |a, b| a & b)
    }

    #[inline(always)]
    fn bits(mask: Self) -> u16 {
        let of_four = |i: usize| (mask.0[i].to_bitmask() as u16) << (4 * i);
        of_four(0) | of_four(1) | of_four(2) | of_four(3)
    }

    #[inline(always)]
    fn expand(mask: u16, base: u32, out: &mut [u32; LANES]) -> usize {
        let (mut bits, mut count) = (mask, 0);
        while bits != 0 {
            out[count & (LANES - 1)] = base + bits.trailing_zeros();
            bits &= bits - 1;
            count += 1;
        }
        count
    }

    #[inline(always)]
    fn pairs(a: u32, b: &[u32; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        write_pairs(mask, out, |lane| lesser_first(a, b[lane & (LANES - 1)]));
    }

    #[inline(always)]
    fn pairs_across(a: u32, b: &[u32; LANES], swapped: bool, mask: u16, out: &mut [[u32; 2]; LANES]) {
        write_pairs(mask, out, |lane| {
            let b = b[lane & (LANES - 1)];
            if swapped { [b, a] } else { [a, b] }
        });
    }

    #[inline(always)]
    fn pairs_within(a: &[u32; LANES], rotation: usize, mask: u16, out: &mut [[u32; 2]; LANES]) {
        write_pairs(mask, out, |lane| lesser_first(a[lane & (LANES - 1)], a[(lane + rotation) & (LANES - 1)]));
    }

    #[inline(always)]
    fn compress(values: &[f32; LANES], mask: u16, out: &mut [f32; LANES]) {
        let (mut bits, mut count) = (mask, 0);
        while bits != 0 {
            out[count & (LANES - 1)] = values[bits.trailing_zeros() as usize & (LANES - 1)];
            bits &= bits - 1;
            count += 1;
        }
    }
}

#[inline(always)]
fn transposed(rows: [f32x4; LANES]) -> [Portable; 4] {
    let mut columns = [Portable([f32x4::ZERO; 4]); 4];
    for (four, rows) in rows.as_chunks().0.iter().enumerate() {
        let of_four = f32x4::transpose(*rows);
        for (column, part) in columns.iter_mut().zip(of_four) {
            column.0[four] = part;
        }
    }
    columns
}

#[inline(always)]
fn lesser_first(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Writes two pairs at a time, whether there are two or not. One or two pairs are the rule, so the branch that looks
/// for more is seldom mispredicted.
#[inline(always)]
fn write_pairs(mask: u16, out: &mut [[u32; 2]; LANES], pair: impl Fn(usize) -> [u32; 2]) {
    let pair = |lane: u32| pair(lane as usize);
    let (mut bits, mut at) = (u32::from(mask), 0);
    while bits != 0 && at < LANES {
        let rest = bits & (bits - 1);
        out[at] = pair(bits.trailing_zeros());
        out[at + 1] = pair(rest.trailing_zeros());
        at += 2;
        bits = rest & rest.wrapping_sub(1);
    }
}

//! Four floats in a register that the target always has: SSE2, NEON, WebAssembly SIMD; four numbers where it has none. A room
//! of `unsafe`: the loads and stores.
//!
//! A crate of lanes would say it in fewer lines; it took as long to compile as a quarter of all that is built here.
#![allow(unsafe_code, unused_unsafe, reason = "of some targets, loads and stores alone are unsafe")]

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod register {
    pub(super) use core::arch::x86_64::{
        __m128 as Register, _mm_add_ps as add, _mm_loadu_ps as load, _mm_max_ps as max, _mm_min_ps as min,
        _mm_mul_ps as mul, _mm_set1_ps as splat, _mm_storeu_ps as store, _mm_sub_ps as sub,
    };
    use core::arch::x86_64::{_mm_cmple_ps, _mm_movemask_ps};

    #[inline(always)]
    pub(super) fn le(a: Register, b: Register) -> u16 {
        // SAFETY: the target always has SSE2.
        unsafe { _mm_movemask_ps(_mm_cmple_ps(a, b)) as u16 }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod register {
    pub(super) use core::arch::aarch64::{
        float32x4_t as Register, vaddq_f32 as add, vdupq_n_f32 as splat, vld1q_f32 as load, vmaxq_f32 as max,
        vminq_f32 as min, vmulq_f32 as mul, vst1q_f32 as store, vsubq_f32 as sub,
    };
    use core::arch::aarch64::{vaddvq_u32, vandq_u32, vcleq_f32, vld1q_u32};

    #[inline(always)]
    pub(super) fn le(a: Register, b: Register) -> u16 {
        // SAFETY: the target always has NEON, and four numbers are 16 readable bytes.
        unsafe { vaddvq_u32(vandq_u32(vcleq_f32(a, b), vld1q_u32([1, 2, 4, 8].as_ptr()))) as u16 }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod register {
    pub(super) use core::arch::wasm32::{
        f32x4_add as add, f32x4_mul as mul, f32x4_pmax as max, f32x4_pmin as min, f32x4_splat as splat,
        f32x4_sub as sub, v128 as Register,
    };
    use core::arch::wasm32::{f32x4_le, u32x4_bitmask, v128_load, v128_store};

    #[inline(always)]
    pub(super) unsafe fn load(from: *const f32) -> Register {
        // SAFETY: the caller vouches for 16 readable bytes.
        unsafe { v128_load(from.cast()) }
    }

    #[inline(always)]
    pub(super) unsafe fn store(to: *mut f32, register: Register) {
        // SAFETY: the caller vouches for 16 writable bytes.
        unsafe { v128_store(to.cast(), register) }
    }

    #[inline(always)]
    pub(super) fn le(a: Register, b: Register) -> u16 {
        u16::from(u32x4_bitmask(f32x4_le(a, b)))
    }
}

#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
use plain as register;

#[cfg(any(
    test,
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))
))]
mod plain {
    pub(super) type Register = [f32; 4];

    macro_rules! lane_by_lane {
        ($($name:ident($a:ident, $b:ident) = $result:expr;)*) => {
            $(
                #[inline(always)]
                pub(super) fn $name(a: Register, b: Register) -> Register {
                    core::array::from_fn(|i| {
                        let ($a, $b) = (a[i], b[i]);
                        $result
                    })
                }
            )*
        };
    }

    lane_by_lane! {
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        min(a, b) = if a < b { a } else { b };
        max(a, b) = if a > b { a } else { b };
    }

    #[inline(always)]
    pub(super) fn splat(value: f32) -> Register {
        [value; 4]
    }

    #[inline(always)]
    pub(super) unsafe fn load(from: *const f32) -> Register {
        // SAFETY: the caller vouches for 16 readable bytes.
        unsafe { from.cast::<Register>().read() }
    }

    #[inline(always)]
    pub(super) unsafe fn store(to: *mut f32, register: Register) {
        // SAFETY: the caller vouches for 16 writable bytes.
        unsafe { to.cast::<Register>().write(register) }
    }

    #[inline(always)]
    pub(super) fn le(a: Register, b: Register) -> u16 {
        (0..4).fold(0, |mask, i| mask | u16::from(a[i] <= b[i]) << i)
    }
}

/// Four lanes in one register.
#[derive(Clone, Copy)]
pub(super) struct Four(register::Register);

impl Four {
    #[inline(always)]
    pub(super) fn load(values: &[f32; 4]) -> Self {
        // SAFETY: the target always has the instruction; four floats are 16 readable bytes.
        Self(unsafe { register::load(values.as_ptr()) })
    }

    #[inline(always)]
    pub(super) fn to_array(self) -> [f32; 4] {
        let mut values = [0.0; 4];
        // SAFETY: the target always has the instruction; four floats are 16 writable bytes.
        unsafe { register::store(values.as_mut_ptr(), self.0) };
        values
    }

    #[inline(always)]
    pub(super) fn splat(value: f32) -> Self {
        // SAFETY: the target always has the instruction.
        Self(unsafe { register::splat(value) })
    }

    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { register::add(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { register::sub(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { register::mul(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn min(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { register::min(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { register::max(self.0, other.0) })
    }

    /// Bit i where lane i of this one is at most that of the other.
    #[inline(always)]
    pub(super) fn le(self, other: Self) -> u16 {
        register::le(self.0, other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Four, plain};

    /// What targets without registers of four compute, which the machine of the tests has.
    #[test]
    fn four_numbers_do_as_a_register_does() {
        let values = [0.1, -0.0, 1.0, -1.5, 1e-45, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, 3e-39, f32::NAN];
        for (i, &a) in values.iter().enumerate() {
            for (j, &b) in values.iter().enumerate() {
                let (a, b) = ([a, b, values[j % 9], 3.0], [b, a, 2.0, values[i % 9]]);
                let (x, y) = (Four::load(&a), Four::load(&b));
                assert_eq!(x.le(y), plain::le(a, b), "{a:?} <= {b:?}");
                let registers = [x.add(y), x.sub(y), x.mul(y), x.min(y), x.max(y), Four::splat(a[0])];
                let numbers = [
                    plain::add(a, b),
                    plain::sub(a, b),
                    plain::mul(a, b),
                    plain::min(a, b),
                    plain::max(a, b),
                    plain::splat(a[0]),
                ];
                for (register, numbers) in registers.map(Four::to_array).iter().zip(&numbers) {
                    for lane in (0..4).filter(|&lane| !a[lane].is_nan() && !b[lane].is_nan()) {
                        let (register, number) = (register[lane], numbers[lane]);
                        let same = register.to_bits() == number.to_bits() || register.is_nan() && number.is_nan();
                        assert!(same, "{register} and {number} of {a:?} and {b:?}");
                    }
                }
                // SAFETY: four floats are 16 bytes.
                let back = unsafe {
                    let mut back = [0.0; 4];
                    plain::store(back.as_mut_ptr(), plain::load(a.as_ptr()));
                    back
                };
                assert_eq!(back.map(f32::to_bits), Four::load(&a).to_array().map(f32::to_bits));
            }
        }
    }
}

//! The choice of a body for each instruction set, made once, where a query or a block of a join begins. A room of
//! `unsafe`: the calls across.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use jostle_core::Isa;
#[cfg(target_arch = "x86_64")]
use jostle_core::isa::IsaName;

use super::{LaneWork, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Does the work with the instructions of `isa`.
#[inline]
pub fn run<W: LaneWork>(isa: Isa, work: W) -> W::Output {
    match isa.name() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx512 if W::GAINS_BY_AVX512 => unsafe { avx512::run(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions, and AVX2 where it has AVX-512.
        IsaName::Avx512 | IsaName::Avx2 => unsafe { avx2::run(work) },
        _ => portable::run(work),
    }
}

/// For each line `name = body(arguments)`, defines a method `name` that runs the method `body` in a function of its own
/// by [`Lanes::call`], with AVX-512 if the body gains by it.
///
/// A body is then compiled once for an instruction set and a dimension, wherever it is called from, and no function
/// grows so large that the compiler takes seconds for it. A body that is generic over a shape or a flag is named with
/// it: `body::<Round>`. Worth it for hundreds of cycles.
#[doc(hidden)]
#[macro_export]
macro_rules! outlined {
    (impl $type:ident, gains_by_avx512: $gains:literal { $($(#[$doc:meta])* $name:ident = $body:ident $(::<$($flag:tt),+>)?($($arg:ident: $arg_type:ty),*);)* }) => {
        impl<const D: usize> $type<'_, D> {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(crate) fn $name<L: $crate::simd::Lanes>(&mut self, $($arg: $arg_type),*) {
                    struct Call<A>(A);

                    impl<const D: usize> $crate::simd::LaneWork for Call<(&mut $type<'_, D>, $($arg_type),*)> {
                        type Output = ();
                        const GAINS_BY_AVX512: bool = $gains;

                        #[inline(always)]
                        fn run<L: $crate::simd::Lanes>(self) {
                            let (this, $($arg),*) = self.0;
                            this.$body::<L $($(, $flag)+)?>($($arg),*);
                        }
                    }

                    L::call(Call((self, $($arg),*)));
                }
            )*
        }
    };
}

pub use outlined;

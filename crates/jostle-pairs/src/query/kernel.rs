//! A piece of work with a body for each instruction set, chosen where a query or a block of them begins. A room of
//! `unsafe`: the calls across.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use jostle_core::Isa;
use jostle_core::isa::IsaName;

use crate::lanes::Lanes;
use crate::lanes::portable::Portable;

/// Work on sixteen lanes at a time.
pub(super) trait Work {
    /// What comes out.
    type Output;

    /// Does the work. To be marked `#[inline(always)]`, and so is what it calls with `L`: a function of its own, or a
    /// closure, would be compiled for what the target always has.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Does the work with the instructions of `isa`.
#[inline]
pub(super) fn run<W: Work>(isa: Isa, work: W) -> W::Output {
    match isa.name() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx512 => unsafe { avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx2 => unsafe { avx2(work) },
        _ => work.run::<Portable>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run::<crate::lanes::avx512::Avx512>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run::<crate::lanes::avx2::Avx2>()
}

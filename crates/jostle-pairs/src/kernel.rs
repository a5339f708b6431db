//! One kernel, a body for each instruction set, chosen once a block of work. A room of `unsafe`: the one call across.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use core::ops::Range;

use jostle_core::Isa;
use jostle_core::isa::IsaName;

use crate::hits::Sink;
use crate::join::Join;
use crate::lanes::portable::Portable;

/// Joins the groups with the instructions of `isa`.
pub(crate) fn join<S: Sink, const D: usize>(isa: Isa, join: &mut Join<'_, S, D>, groups: Range<usize>) {
    match isa.name() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx512 => unsafe { avx512(join, groups) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx2 => unsafe { avx2(join, groups) },
        _ => join.run::<Portable>(groups),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn avx512<S: Sink, const D: usize>(join: &mut Join<'_, S, D>, groups: Range<usize>) {
    join.run::<crate::lanes::avx512::Avx512>(groups);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<S: Sink, const D: usize>(join: &mut Join<'_, S, D>, groups: Range<usize>) {
    join.run::<crate::lanes::avx2::Avx2>(groups);
}

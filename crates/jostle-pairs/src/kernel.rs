//! One kernel, a body for each instruction set, chosen once a block of work. A room of `unsafe`: the calls across.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use core::ops::Range;
use core::ptr;

use jostle_core::Isa;
use jostle_core::isa::IsaName;

use crate::join::{Across, Join, Within};
use crate::lanes::Lanes;
use crate::lanes::portable::Portable;

/// Joins the groups with the instructions of `isa`.
///
/// In the plane and in space, by kernels that are compiled with this crate, and not again with each crate that uses it,
/// which takes half a minute.
#[inline(always)]
pub(crate) fn join<const D: usize>(isa: Isa, join: &mut Join<'_, D>, groups: Range<usize>) {
    const { assert!(D == 2 || D == 3, "pairs are sought in the plane and in space") };
    match D {
        // SAFETY: D is 2, so it is the same type.
        2 => circles(isa, unsafe { &mut *ptr::from_mut(join).cast() }, groups),
        // SAFETY: D is 3, so it is the same type.
        _ => spheres(isa, unsafe { &mut *ptr::from_mut(join).cast() }, groups),
    }
}

fn circles(isa: Isa, join: &mut Join<'_, 2>, groups: Range<usize>) {
    dispatch(isa, join, groups);
}

fn spheres(isa: Isa, join: &mut Join<'_, 3>, groups: Range<usize>) {
    dispatch(isa, join, groups);
}

#[inline(always)]
fn dispatch<const D: usize>(isa: Isa, join: &mut Join<'_, D>, groups: Range<usize>) {
    match isa.name() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx512 => unsafe { avx512(join, groups) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx2 => unsafe { avx2(join, groups) },
        _ => run::<Portable, D>(join, groups),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn avx512<const D: usize>(join: &mut Join<'_, D>, groups: Range<usize>) {
    run::<crate::lanes::avx512::Avx512, D>(join, groups);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<const D: usize>(join: &mut Join<'_, D>, groups: Range<usize>) {
    run::<crate::lanes::avx2::Avx2, D>(join, groups);
}

#[inline(always)]
fn run<L: Lanes, const D: usize>(join: &mut Join<'_, D>, groups: Range<usize>) {
    if join.pairing.is_within() { join.run::<L, Within>(groups) } else { join.run::<L, Across>(groups) }
}

//! One kernel, a body for each instruction set, chosen once a block of work. A room of `unsafe`: the calls across.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use core::ops::Range;
use core::ptr;

use jostle_core::Isa;
use jostle_core::isa::IsaName;

use crate::join::{Across, Join, Within};
use crate::lanes::Lanes;
use crate::lanes::portable::Portable;
use crate::rows::RowJoin;

/// A piece of work compiled for each instruction set.
pub(crate) trait Groups {
    /// Goes through some groups.
    fn run<L: Lanes>(&mut self, groups: Range<usize>);
}

impl<const D: usize> Groups for Join<'_, D> {
    #[inline(always)]
    fn run<L: Lanes>(&mut self, groups: Range<usize>) {
        if self.pairing.within { self.join::<L, Within>(groups) } else { self.join::<L, Across>(groups) }
    }
}

impl<const D: usize> Groups for RowJoin<'_, D> {
    #[inline(always)]
    fn run<L: Lanes>(&mut self, groups: Range<usize>) {
        self.list::<L>(groups);
    }
}

/// Joins the groups with the instructions of `isa`.
///
/// In the plane and in space, by kernels that are compiled with this crate, and not again with each crate that uses it,
/// which takes half a minute.
#[inline(always)]
pub(crate) fn join<const D: usize>(isa: Isa, join: &mut Join<'_, D>, groups: Range<usize>) {
    const { assert!(D == 2 || D == 3, "pairs are sought in the plane and in space") };
    match D {
        // SAFETY: D is 2, so it is the same type.
        2 => join_circles(isa, unsafe { &mut *ptr::from_mut(join).cast() }, groups),
        // SAFETY: D is 3, so it is the same type.
        _ => join_spheres(isa, unsafe { &mut *ptr::from_mut(join).cast() }, groups),
    }
}

/// Lists the rows of the groups, as [`join()`] joins them.
#[inline(always)]
pub(crate) fn list<const D: usize>(isa: Isa, rows: &mut RowJoin<'_, D>, groups: Range<usize>) {
    const { assert!(D == 2 || D == 3, "pairs are sought in the plane and in space") };
    match D {
        // SAFETY: D is 2, so it is the same type.
        2 => list_circles(isa, unsafe { &mut *ptr::from_mut(rows).cast() }, groups),
        // SAFETY: D is 3, so it is the same type.
        _ => list_spheres(isa, unsafe { &mut *ptr::from_mut(rows).cast() }, groups),
    }
}

fn join_circles(isa: Isa, join: &mut Join<'_, 2>, groups: Range<usize>) {
    dispatch(isa, join, groups);
}

fn join_spheres(isa: Isa, join: &mut Join<'_, 3>, groups: Range<usize>) {
    dispatch(isa, join, groups);
}

fn list_circles(isa: Isa, rows: &mut RowJoin<'_, 2>, groups: Range<usize>) {
    dispatch(isa, rows, groups);
}

fn list_spheres(isa: Isa, rows: &mut RowJoin<'_, 3>, groups: Range<usize>) {
    dispatch(isa, rows, groups);
}

#[inline(always)]
fn dispatch(isa: Isa, work: &mut impl Groups, groups: Range<usize>) {
    match isa.name() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx512 => unsafe { avx512(work, groups) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: detection made `isa`, so the machine has these instructions.
        IsaName::Avx2 => unsafe { avx2(work, groups) },
        _ => work.run::<Portable>(groups),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn avx512(work: &mut impl Groups, groups: Range<usize>) {
    work.run::<crate::lanes::avx512::Avx512>(groups);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2(work: &mut impl Groups, groups: Range<usize>) {
    work.run::<crate::lanes::avx2::Avx2>(groups);
}

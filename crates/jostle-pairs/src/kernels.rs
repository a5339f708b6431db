//! The kernels, compiled with this crate in the plane and in space: not again with each crate that uses it. A room of
//! `unsafe`: casts of types that are the same.
#![allow(unsafe_code, reason = "casts of types that are the same")]

use core::ops::Range;
use core::ptr;

use jostle_core::Isa;

use crate::join::Join;
use crate::rows::RowJoin;
use crate::simd::{self, Lanes, Work};

/// Joins the groups with the instructions of `isa`.
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
    simd::run(isa, Groups(join, groups));
}

fn join_spheres(isa: Isa, join: &mut Join<'_, 3>, groups: Range<usize>) {
    simd::run(isa, Groups(join, groups));
}

fn list_circles(isa: Isa, rows: &mut RowJoin<'_, 2>, groups: Range<usize>) {
    simd::run(isa, Groups(rows, groups));
}

fn list_spheres(isa: Isa, rows: &mut RowJoin<'_, 3>, groups: Range<usize>) {
    simd::run(isa, Groups(rows, groups));
}

/// Some groups, and what goes through them.
struct Groups<T>(T, Range<usize>);

impl<const D: usize> Work for Groups<&mut Join<'_, D>> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.join::<L>(self.1);
    }
}

impl<const D: usize> Work for Groups<&mut RowJoin<'_, D>> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.list::<L>(self.1);
    }
}
